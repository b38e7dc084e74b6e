package main

import (
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
)

// The report of a model has the sections of the report of its fit; a model that keeps no points
// asks for them.
func TestReportOfModel(t *testing.T) {
	grown(t)
	succeed(t, "fit", "--model", "lgc", "X.npy", "few.npy", "-o", "m.npz", "--report", "fit.html", "-q")
	succeed(t, "report", "m.npz", "-o", "again.html", "-q")
	heads := func(path string) []string {
		var out []string
		for _, part := range strings.Split(string(readFile(t, path)), "<h2")[1:] {
			head, _, _ := strings.Cut(part, "</h2>")
			out = append(out, head)
		}
		return out
	}
	first, again := heads("fit.html"), heads("again.html")
	if len(first) < 4 || strings.Join(first, "|") != strings.Join(again, "|") {
		t.Errorf("sections %q of the fit and %q of the model", first, again)
	}

	// Points that joined are in the report of the updated model.
	succeed(t, "update", "m.npz", "new.npy", "-o", "m2.npz", "-q")
	succeed(t, "report", "m2.npz", "-o", "grown.html", "-q")
	if !strings.Contains(string(readFile(t, "grown.html")), "180 points") {
		t.Error("the report of the updated model does not count its points")
	}

	succeed(t, "fit", "--model", "rls", "--gamma-a", "0.01", "X.npy", "few.npy", "-o", "rls.npz", "-q")
	fail(t, 2, []string{"give the labels of all points with -y"}, "report", "rls.npz", "-o", "rls.html")
	succeed(t, "report", "rls.npz", "-X", "X.npy", "-y", "few.npy", "-o", "rls.html", "-q")
	fail(t, 2, []string{"html"}, "report", "m.npz", "-o", "m.pdf")
}

// The probabilities of the training points come with the fit and with an update.
func TestTrainingProbabilities(t *testing.T) {
	grown(t)
	read := func(path string, rows int) []float64 {
		p, err := data.ReadValues(path, data.ReadOptions{})
		must(t, err)
		if n, c := p.Dims(); n != rows || c != 3 {
			t.Fatalf("%s is %d×%d", path, n, c)
		}
		return p.RawMatrix().Data
	}
	succeed(t, "fit", "--model", "lgc", "X.npy", "few.npy", "-o", "m.npz", "--proba", "p.npy", "-q")
	succeed(t, "predict", "m.npz", "-o", "a.npy", "--proba", "q.npy", "-q")
	p, q := read("p.npy", 90), read("q.npy", 90)
	for i := range p {
		if p[i] != q[i] {
			t.Fatalf("entry %d is %v from the fit and %v from predict", i, p[i], q[i])
		}
	}
	succeed(t, "update", "m.npz", "new.npy", "-o", "m2.npz", "--proba", "u.npy", "-q")
	read("u.npy", 180)
	fail(t, 2, []string{"classes"}, "fit", "--model", "lgc", "X.npy", "few.npy", "--calibrate", "none", "--proba", "p.npy")
	fail(t, 2, []string{"classes"}, "fit", "--model", "svr", "X.npy", "few.npy", "--proba", "p.npy")
}
