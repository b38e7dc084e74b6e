package main

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
)

// scaledSummary is the part of fit and info about a machine that is not exact.
type scaledSummary struct {
	Model    string
	Error    *float64
	Settings struct{ Approximation, Sampling string }
	Report   struct {
		Landmarks, Iterations   int
		KernelError             float64 `json:"kernel_error"`
		Change, Flips, Residual float64
	} `json:"approximation_report"`
}

func parseScaled(t *testing.T, text string) (s scaledSummary) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return s
}

// furthest returns the largest difference between two files of scores.
func furthest(t *testing.T, a, b string) (far float64) {
	t.Helper()
	x, err := data.ReadValues(a, data.ReadOptions{})
	must(t, err)
	y, err := data.ReadValues(b, data.ReadOptions{})
	must(t, err)
	for i, v := range x.RawMatrix().Data {
		far = math.Max(far, math.Abs(v-y.RawMatrix().Data[i]))
	}
	return far
}

// Every model by every approximation goes from points to predictions, with the same bytes
// on any number of threads; where nothing is left out of the kernel it is the exact
// machine.
func TestApproximations(t *testing.T) {
	intoValues(t)
	const regularized = "--gamma-a 1e-2 --gamma-i 1e-2 --laplacian normalized --sigma 30"
	for _, c := range []struct {
		line, approximation, about string
		exact                      float64 // how far scores may be from exact ones; 0: they differ
	}{
		{"--model laprls --landmarks 90 " + regularized, "nystrom", "landmarks (rpcholesky), kernel error", 1e-6},
		{"--model laprls --approximation matrix-free --landmarks 9 --tolerance 1e-9 " + regularized, "matrix-free", "to a residual of", 1e-6},
		{"--model laprls --features 4000 --seed 3 " + regularized, "fourier", "4000 Fourier features, kernel error", 0.2},
		{"--model laprls --approximation nystrom --landmarks 20 --sampling kmeans++ --intercept " + regularized, "nystrom", "20 landmarks (kmeans++)", 0},
		{"--model lapsvm --landmarks 20 --sampling uniform " + regularized, "nystrom", "squared hinge", 0},
		{"--model lapsvm --approximation fourier " + regularized, "fourier", "2000 Fourier features", 0},
		{"--model rls --approximation nystrom --gamma-a 1e-2 --kernel polynomial --offset 1 --scale 1e-3", "nystrom", "landmarks", 1e-6},
		{"--model rls --approximation matrix-free --gamma-a 1e-2 --tolerance 1e-9", "matrix-free", "iterations", 1e-6},
		{"--model svm --features 200 --kernel laplace --gamma-a 1e-2", "fourier", "200 Fourier features", 0},
	} {
		fit := append([]string{"fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "30", "--calibrate", "none"}, strings.Fields(c.line)...)
		s := parseScaled(t, succeed(t, append(fit, "--predictions", "train.npy", "--threads", "1", "--json")...))
		if s.Settings.Approximation != c.approximation || s.Error == nil || *s.Error > 7 || !(s.Report.KernelError >= 0) {
			t.Errorf("%s: %+v", c.line, s)
		}
		if free := c.approximation == "matrix-free"; free != (s.Report.Residual > 0) || free == (s.Report.Change > 0) {
			t.Errorf("%s: %+v", c.line, s.Report)
		}
		file, train := readFile(t, "model.npz"), readFile(t, "train.npy")
		if out := succeed(t, append(fit, "--predictions", "train.npy", "--threads", "2")...); !strings.Contains(out, c.about) {
			t.Errorf("%s: no %q in %s", c.line, c.about, out)
		}
		if !bytes.Equal(file, readFile(t, "model.npz")) || !bytes.Equal(train, readFile(t, "train.npy")) {
			t.Errorf("%s: two threads give other bytes", c.line)
		}
		succeed(t, "predict", "model.npz", "-X", "X.npy", "-o", "again.npy", "--scores", "scaled.npy")
		if !bytes.Equal(train, readFile(t, "again.npy")) {
			t.Errorf("%s: predict differs from fit --predictions", c.line)
		}
		if e := errorOf(t, "predict", "model.npz", "-X", "new.npy", "-y", "newy.npy"); e > 7 {
			t.Errorf("%s: error %v on new points", c.line, e)
		}
		fail(t, 2, []string{"3", "4"}, "predict", "model.npz", "-X", threeColumns(t), "-o", "none.npy")
		if out := succeed(t, "info", "model.npz"); !strings.Contains(out, c.about) {
			t.Errorf("%s: no %q in %s", c.line, c.about, out)
		}
		info := struct{ Model scaledSummary }{}
		must(t, json.Unmarshal([]byte(succeed(t, "info", "model.npz", "--json")), &info))
		if info.Model.Report != s.Report || info.Model.Settings != s.Settings {
			t.Errorf("%s: info says %+v, fit %+v", c.line, info.Model, s)
		}
		if c.exact == 0 {
			continue
		}
		var exactly []string
		words := strings.Fields(c.line)
		for i := 0; i < len(words); i += 2 {
			if !strings.Contains("--approximation --landmarks --features --tolerance", words[i]) {
				exactly = append(exactly, words[i:i+2]...)
			}
		}
		succeed(t, append([]string{"fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "30", "--calibrate", "none", "-o", "exact.npz"}, exactly...)...)
		succeed(t, "predict", "exact.npz", "-X", "X.npy", "-o", "again.npy", "--scores", "exact.npy")
		if far := furthest(t, "exact.npy", "scaled.npy"); !(far <= c.exact) {
			t.Errorf("%s: scores differ from exact ones by %v", c.line, far)
		}
	}
}

// A number may come from the environment, and says nothing about other models.
func TestApproximationFromEnvironment(t *testing.T) {
	intoBlobs(t)
	t.Setenv("BIGFIT_LANDMARKS", "20")
	fit := []string{"fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "30", "--gamma-a", "1e-2", "--json"}
	if s := parseScaled(t, succeed(t, append(fit, "--model", "rls")...)); s.Settings.Approximation != "nystrom" || s.Report.Landmarks != 20 {
		t.Errorf("%+v", s)
	}
	for _, line := range []string{"--model rls --approximation exact", "--model rls-linear"} {
		if s := parseScaled(t, succeed(t, append(fit, strings.Fields(line)...)...)); s.Settings.Approximation == "nystrom" {
			t.Errorf("%s: %+v", line, s)
		}
	}
}
