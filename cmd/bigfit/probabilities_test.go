package main

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
)

// intoHalf goes to a directory with the points of [intoBlobs] and half.npy, the labels of
// every other point, −1 elsewhere.
func intoHalf(t *testing.T) {
	t.Helper()
	intoBlobs(t)
	_, y := blobs(blobCount, 0)
	for i := range y {
		if i%2 > 0 {
			y[i] = -1
		}
	}
	must(t, npy.WriteFile("half.npy", nil, y))
}

// Every learner of classes gives probabilities: a row a point, of sum 1, high for the right
// class of clouds apart; and no others do.
func TestProbabilitiesOfAll(t *testing.T) {
	intoHalf(t)
	_, y := blobs(blobCount, 1)
	for _, l := range all.Learners {
		info := l.Info()
		line := append([]string{"fit", "--model", info.Name, "-X", "X.npy", "-y", "half.npy", "-o", "m.npz", "-q", "--calibrate", "5"}, strings.Fields(flagsFor[info.Name])...)
		if !info.Learns.Has(models.LearnsClasses) {
			continue
		}
		succeed(t, line...)
		succeed(t, "predict", "m.npz", "-X", "new.npy", "-o", "p.csv", "--proba", "proba.npy", "-q")
		p, err := data.ReadValues("proba.npy", data.ReadOptions{})
		must(t, err)
		if n, c := p.Dims(); n != blobCount || c != 3 {
			t.Fatalf("%s: probabilities of %d×%d", info.Name, n, c)
		}
		var right float64
		for i, class := range y {
			row := p.RawRowView(i)
			if sum := row[0] + row[1] + row[2]; !(math.Abs(sum-1) < 1e-9) || !(slices.Min(row) >= 0) {
				t.Fatalf("%s: point %d has the probabilities %v", info.Name, i, row)
			}
			right += row[class/10] / blobCount
		}
		if !(right > 0.8) {
			t.Errorf("%s: the true class has the probability %.2f on average", info.Name, right)
		}
		if head, _, _ := strings.Cut(string(readFile(t, "p.csv")), "\n"); head != "row,label,p,second,margin" {
			t.Errorf("%s: p.csv begins with %q", info.Name, head)
		}
	}
	succeed(t, "fit", "--model", "oneclass", "-X", "X.npy", "-y", "half.npy", "-o", "inside.npz", "-q")
	fail(t, 2, []string{"no probabilities"}, "predict", "inside.npz", "-X", "new.npy", "-o", "no.npy", "--proba", "q.npy")
	fail(t, 2, []string{"knows no points outside"}, "fit", "--model", "oneclass", "-X", "X.npy", "-y", "half.npy", "-o", "no.npz", "--calibrate", "5")
}

// With one label a class the labels alone say that none can be held out: no fold is fitted, for a learner whose fits take
// as long as the whole, and for one that leaves its labels out by itself. With five labels a class some are held out.
func TestNoFoldsForFewLabels(t *testing.T) {
	intoHalf(t)
	_, y := blobs(blobCount, 0)
	for _, model := range []string{"cut", "lgc", "poisson"} {
		for each, want := range map[int]string{1: "calibration: the probabilities are rough, as there are too few labels to hold", 5: "calibration "} {
			given := make([]int64, len(y))
			left := map[int64]int{}
			for i, class := range y {
				if given[i] = -1; left[class] < each {
					given[i] = class
					left[class]++
				}
			}
			must(t, npy.WriteFile("few.npy", nil, given))
			o := bigfit(t, "fit", "X.npy", "few.npy", "--model", model, "-o", "m.npz")
			stage := slices.ContainsFunc(strings.Split(o.stderr, "\n"), func(line string) bool { return strings.HasPrefix(line, "calibration ") })
			if o.code != 0 || !strings.Contains(o.stderr, want) || stage == (each == 1) {
				t.Errorf("%s, %d labels a class: a calibration %t\n%s", model, each, stage, o.stderr)
			}
		}
	}
}

// A fit with given shares of classes has probabilities from the first label on, with folds that lack a class of one label too, and
// the shares of the other classes serve there; tune chooses with them.
func TestSharesWithFewLabels(t *testing.T) {
	intoHalf(t)
	_, y := blobs(blobCount, 0)
	few := slices.Repeat([]int64{-1}, blobCount)
	seen := map[int64]int{}
	for i, c := range y {
		if seen[c]++; seen[c] == 1 || c != 20 && seen[c] <= 4 { // one label of the third class, four of the others
			few[i] = c
		}
	}
	must(t, npy.WriteFile("few.npy", nil, few))
	for _, l := range all.Learners {
		if !slices.ContainsFunc(l.Params(), func(p models.Param) bool { return p.Named }) {
			continue
		}
		name := l.Info().Name
		line := append([]string{"--model", name, "-X", "X.npy", "-y", "few.npy", "--priors", "2,1,1"}, strings.Fields(flagsFor[name])...)
		line = slices.DeleteFunc(line, func(s string) bool { return s == "--class-mass" })
		out := succeed(t, append([]string{"fit", "-o", "m.npz"}, line...)...)
		if strings.Contains(out, "names 3 shares") {
			t.Errorf("%s: %s", name, out)
		}
		succeed(t, "predict", "m.npz", "-X", "new.npy", "-o", "p.csv", "--proba", "proba.npy", "-q")
	}
	succeed(t, "tune", "--model", "lgc", "-X", "X.npy", "-y", "few.npy", "--priors", "2,1,1", "--alpha", "0.9,0.99", "--folds", "3", "-q")
}

func TestRejectAndEval(t *testing.T) {
	intoHalf(t)
	must(t, npy.WriteFile("names.npy", nil, named(t, "half.npy")))
	must(t, npy.WriteFile("truth.npy", nil, named(t, "newy.npy")))
	succeed(t, "fit", "--model", "knn", "--vote", "9", "-X", "X.npy", "-y", "half.npy", "-o", "m.npz", "-q")
	succeed(t, "fit", "--model", "knn", "--vote", "9", "-X", "X.npy", "-y", "names.npy", "-o", "mn.npz", "-q")
	for model, truth := range map[string]string{"m.npz": "newy.npy", "mn.npz": "truth.npy"} {
		text := succeed(t, "predict", model, "-X", "new.npy", "-o", "p.csv", "--proba", "p.npy", "--reject", "0.999999", "-q")
		if !strings.Contains(text, "90 unsure") {
			t.Errorf("%s: %q", model, text)
		}
		fail(t, 2, []string{"all points are answered"}, "eval", "-y", truth, "--predictions", "p.csv")
		succeed(t, "predict", model, "-X", "new.npy", "-o", "p.csv", "--proba", "p.npy", "--reject", "0.5", "-q")
		var r struct {
			Points, Unsure int
			Probabilities  struct {
				Points   int
				ECE      float64 `json:"ece"`
				LogLoss  float64 `json:"log_loss"`
				Bins     []any   `json:"reliability"`
				Coverage []struct{ Threshold, Coverage float64 }
			}
		}
		line := []string{"eval", "-y", truth, "--predictions", "p.csv", "--proba", "p.npy", "--reliability", "r.svg", "--json"}
		must(t, json.Unmarshal([]byte(succeed(t, line...)), &r))
		if p := r.Probabilities; r.Points+r.Unsure != blobCount || p.Points != blobCount || !(p.ECE < 0.1) || !(p.LogLoss < 0.3) || len(p.Bins) != 15 || p.Coverage[0].Coverage != 1 {
			t.Errorf("%s: %+v", model, r)
		}
		if svg := string(readFile(t, "r.svg")); !strings.Contains(svg, "share of right answers") {
			t.Errorf("the reliability diagram is %.200s", svg)
		}
		if text := succeed(t, line[:len(line)-1]...); !strings.Contains(text, "expected calibration error") || !strings.Contains(text, "answered if p ≥") {
			t.Errorf("%s", text)
		}
	}
	succeed(t, "predict", "m.npz", "-X", "new.npy", "-o", "r.npy", "--reject", "0.999999", "-q")
	if y, err := data.ReadValues("r.npy", data.ReadOptions{}); err != nil || y.At(0, 0) != -1 {
		t.Errorf("an unsure integer is %v, %v", y.At(0, 0), err)
	}
	succeed(t, "fit", "--model", "knn", "-X", "X.npy", "-y", "half.npy", "-o", "plain.npz", "-q", "--calibrate", "none")
	fail(t, 2, []string{"no probabilities", "--calibrate 10"}, "predict", "plain.npz", "-X", "new.npy", "-o", "no.npy", "--reject", "0.5")
	for line, want := range map[string]string{
		"predict m.npz -X new.npy -o no.npy --reject 2":                                                  "--reject is 2",
		"predict m.npz -X new.npy -o no.npy --interval 0.9":                                              "--interval is for values",
		"fit --model knn -X X.npy -y half.npy -o no.npz --calibrate 1":                                   "neither auto, none",
		"eval -y newy.npy --predictions p.csv --reliability no.svg":                                      "--proba",
		"eval -y newy.npy --predictions p.csv --proba p.npy --reliability no.doc":                        "must end in",
		"fit --model lgc -X X.npy -y y.npy -o no.npz --class-weights 1,1,1 --calibrate 5 --unlabeled -9": "--class-weights",
	} {
		if o := bigfit(t, strings.Fields(line)...); o.code == 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: exit code %d, %s", line, o.code, o.stderr)
		}
	}
}

// named returns the labels of a file as names, empty for −1.
func named(t *testing.T, path string) []string {
	t.Helper()
	y, err := data.ReadLabels(path, data.LabelOptions{})
	must(t, err)
	out := make([]string, y.Len())
	for i, c := range y.Index {
		if c != data.Unlabeled {
			out[i] = []string{"ape", "bee", "cat"}[c]
		}
	}
	return out
}

func TestIntervals(t *testing.T) {
	intoBlobs(t)
	x, _ := blobs(blobCount, 0)
	y, some := make([]float64, blobCount), make([]float64, blobCount)
	for i := range y {
		y[i] = float64(x[4*i])/20 + float64(i*7%11)/10
		if some[i] = y[i]; i%3 == 0 {
			some[i] = math.NaN()
		}
	}
	must(t, npy.WriteFile("v.npy", nil, y))
	must(t, npy.WriteFile("some.npy", nil, some))
	succeed(t, "fit", "--model", "rls", "--gamma-a", "1e-3", "-X", "X.npy", "-y", "some.npy", "-o", "m.npz", "-q")
	if text := succeed(t, "info", "m.npz"); !strings.Contains(text, "intervals by 60 points held out in 10 folds") {
		t.Errorf("%s", text)
	}
	for _, file := range []string{"p.csv", "p.npz"} {
		succeed(t, "predict", "m.npz", "-X", "X.npy", "-o", file, "--interval", "0.9", "-q")
		var r struct {
			Intervals struct{ Coverage, Width float64 }
		}
		must(t, json.Unmarshal([]byte(succeed(t, "eval", "-y", "v.npy", "--predictions", file+":value", "--interval", file, "--regression", "--json", "-q")), &r))
		if c := r.Intervals.Coverage; !(c > 0.8 && c <= 1) || !(r.Intervals.Width > 0.2) {
			t.Errorf("%s: %+v", file, r)
		}
	}
	fail(t, 2, []string{".npz"}, "predict", "m.npz", "-X", "X.npy", "-o", "no.npy", "--interval", "0.9")
	fail(t, 2, []string{"give more labels"}, "predict", "m.npz", "-X", "X.npy", "-o", "no.csv", "--interval", "0.999")
}

// An update keeps the calibration without new labels, and fits it anew with them.
func TestUpdateCalibrated(t *testing.T) {
	intoHalf(t)
	succeed(t, "fit", "--model", "lgc", "-X", "X.npy", "-y", "half.npy", "-o", "m.npz", "-q")
	held := func(path string) float64 {
		var r struct {
			Model struct{ Calibration struct{ Held float64 } }
		}
		must(t, json.Unmarshal([]byte(succeed(t, "info", path, "--json")), &r))
		return r.Model.Calibration.Held
	}
	succeed(t, "update", "m.npz", "-X", "new.npy", "-o", "same.npz", "-q")
	succeed(t, "update", "m.npz", "-X", "new.npy", "-y", "newy.npy", "-o", "more.npz", "-q")
	if a, b, c := held("m.npz"), held("same.npz"), held("more.npz"); a != 45 || b != 45 || c != 135 {
		t.Errorf("held out %v, after an update without labels %v, with labels %v", a, b, c)
	}
}
