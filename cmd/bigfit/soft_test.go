package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// crowdNames are the classes of the blobs by name.
var crowdNames = []string{"ash", "birch", "cedar"}

// groups returns the classes of the blobs as positions.
func groups() []int64 {
	_, y := blobs(blobCount, 0)
	classes := slices.Compact(slices.Sorted(slices.Values(y)))
	for i, v := range y {
		y[i] = int64(slices.Index(classes, v))
	}
	return y
}

// crowdFile writes the answers of annotators with some accuracies for the points from, from+step, …, and returns the truth.
func crowdFile(t *testing.T, path string, from, step int, accuracy ...float64) []int64 {
	t.Helper()
	y := groups()
	rng := rand.New(rand.NewPCG(4, uint64(from)))
	text := "id,label,annotator\n"
	for i := from; i < blobCount; i += step {
		for k, right := range accuracy {
			class := int(y[i])
			if rng.Float64() >= right {
				class = (class + 1 + rng.IntN(2)) % 3
			}
			text += fmt.Sprintf("%d,%s,w%d\n", i, crowdNames[class], k)
		}
	}
	file(t, path, text)
	return y
}

// right returns the share of the answers in a csv file that have the right name.
func right(t *testing.T, path string, y []int64) float64 {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(readFile(t, path))), "\n")[1:]
	good := 0.0
	for i, line := range lines {
		if strings.Split(line, ",")[1] == crowdNames[y[i]] {
			good++
		}
	}
	return good / float64(len(lines))
}

// The road of a crowd: fit, suspects, more answers, predictions.
func TestCrowd(t *testing.T) {
	intoBlobs(t)
	y := crowdFile(t, "crowd.csv", 0, 3, 0.9, 0.6, 0.6)
	var s struct {
		Labeled   int
		Consensus struct {
			Annotators []struct {
				Name     string
				Labels   int
				Accuracy float64
			}
			Points, Disagreeing int
			Graph               bool
		}
	}
	for _, model := range []string{"auto", "lgc", "poisson"} {
		must(t, json.Unmarshal([]byte(succeed(t, "fit", "--model", model, "X.npy", "crowd.csv", "-o", "m.npz", "--json", "-q")), &s))
		c := s.Consensus
		if s.Labeled != 30 || c.Points != 30 || len(c.Annotators) != 3 || !c.Graph || c.Disagreeing < 5 {
			t.Fatalf("%s: %+v", model, s)
		}
		if a := c.Annotators; !(a[0].Accuracy > a[1].Accuracy && a[0].Accuracy > a[2].Accuracy) || a[0].Name != "w0" || a[0].Labels != 30 {
			t.Errorf("%s: %+v", model, a)
		}
		succeed(t, "suspects", "m.npz", "-o", "s.csv", "-q")
		succeed(t, "next", "m.npz", "-n", "3", "-q")

		// Answers that are there already count once.
		crowdFile(t, "more.csv", 1, 6, 0.9, 0.6, 0.6, 0.8)
		must(t, json.Unmarshal([]byte(succeed(t, "update", "m.npz", "-y", "more.csv", "-o", "m2.npz", "--json", "-q")), &s))
		if s.Labeled != 45 || len(s.Consensus.Annotators) != 4 || s.Consensus.Annotators[0].Labels != 45 {
			t.Errorf("%s after the update: %+v", model, s)
		}
		again := succeed(t, "update", "m2.npz", "-y", "more.csv", "-o", "m3.npz", "--json", "-q")
		must(t, json.Unmarshal([]byte(again), &s))
		if s.Labeled != 45 || s.Consensus.Annotators[0].Labels != 45 {
			t.Errorf("%s after the same answers: %+v", model, s)
		}
		succeed(t, "predict", "m2.npz", "-X", "X.npy", "-o", "p.csv", "-q")
		if share := right(t, "p.csv", y); share < 0.9 {
			t.Errorf("%s: %.2f are right", model, share)
		}
		succeed(t, "info", "m2.npz")
	}

	// A learner without a graph takes the consensus without one.
	must(t, json.Unmarshal([]byte(succeed(t, "fit", "--model", "knn", "X.npy", "crowd.csv", "-o", "k.npz", "--json", "-q")), &s))
	if s.Consensus.Graph {
		t.Error("knn has a graph")
	}
	file(t, "forget.csv", "row\n0\n3\n")
	must(t, json.Unmarshal([]byte(succeed(t, "update", "m.npz", "--forget", "forget.csv", "-o", "m4.npz", "--json", "-q")), &s))
	if s.Labeled != 28 || s.Consensus.Points != 28 {
		t.Errorf("after points left: %+v", s)
	}

	few := groups()
	for i := range few {
		if i%9 > 0 {
			few[i] = -1
		}
	}
	must(t, npy.WriteFile("few.npy", nil, few))
	succeed(t, "fit", "--model", "lgc", "X.npy", "few.npy", "-o", "hard.npz", "-q")
	file(t, "twice.csv", "id,label,annotator\n0,ash,a\n0,birch,a\n3,birch,a\n")
	file(t, "nobody.csv", "id,label,annotator\n0,ash,a\n0,birch,\n")
	refused(t, []string{"fit", "X.npy", "twice.csv", "-o", "z.npz"}, "line 2", "annotator \"a\"", "line 3")
	refused(t, []string{"fit", "X.npy", "nobody.csv", "-o", "z.npz"}, "line 3", "annotator is missing")
	refused(t, []string{"fit", "X.npy", "crowd.csv", "--labels-as", "labels", "-o", "z.npz"}, "leave one of them out")
	refused(t, []string{"fit", "X.npy", "crowd.csv", "--labels", "5", "-o", "z.npz"}, "--labels draws")
	refused(t, []string{"fit", "--model", "svm", "X.npy", "crowd.csv", "-o", "z.npz"}, "svm takes no probabilities", "lgc")
	refused(t, []string{"fit", "X.npy", "crowd.csv", "--label-noise", "0.1", "-o", "z.npz"}, "--label-noise is for one label")
	refused(t, []string{"update", "m.npz", "-y", "few.npy", "-o", "z.npz"}, "consensus of annotators", "column annotator")
	refused(t, []string{"update", "hard.npz", "-y", "crowd.csv", "-o", "z.npz"}, "no annotators", "fit anew")
}

// refused demands that a command is refused as bad input, with some words.
func refused(t *testing.T, args []string, words ...string) {
	t.Helper()
	fail(t, 2, words, args...)
}

// Commands that judge labels, or measure by them, take the consensus of annotators as the label of a point.
func TestCrowdIsJudged(t *testing.T) {
	intoBlobs(t)
	y := crowdFile(t, "crowd.csv", 0, 1, 0.9, 0.9, 0.9)
	text := "id,label\n"
	for i, class := range y {
		text += fmt.Sprintf("%d,%s\n", i, crowdNames[class])
	}
	file(t, "truth.csv", text)

	var sum auditSummary
	must(t, json.Unmarshal([]byte(succeed(t, "audit", "X.npy", "crowd.csv", "--json")), &sum))
	if sum.Labels == nil || sum.Labels.Labeled != blobCount {
		t.Errorf("audit: %+v", sum.Labels)
	}
	succeed(t, "suspects", "X.npy", "crowd.csv", "-o", "suspects.csv")

	// Three answers of nine in ten that are right leave about three wrong in a hundred.
	var measured struct{ Error float64 }
	must(t, json.Unmarshal([]byte(succeed(t, "eval", "crowd.csv", "truth.csv", "--json")), &measured))
	if !(measured.Error > 0 && measured.Error < 0.1) {
		t.Errorf("eval: an error of %g", measured.Error)
	}
}

// Probabilities of an array and of a table are the same labels; probabilities of one class are hard labels.
func TestProbabilitiesAsLabels(t *testing.T) {
	intoBlobs(t)
	y := groups()
	p := make([]float64, 0, 3*blobCount)
	one := make([]float64, 0, 3*blobCount)
	few := make([]int64, blobCount)
	text := "id,ash,birch,cedar\n"
	for i, class := range y {
		few[i] = -1
		row := []float64{math.NaN(), math.NaN(), math.NaN()}
		sure := []float64{0, 0, 0}
		if i%5 == 0 {
			few[i] = class
			row = []float64{0.1, 0.1, 0.1}
			row[class] = 0.8
			sure[class] = 1
			text += fmt.Sprintf("%d,%v,%v,%v\n", i, row[0], row[1], row[2])
		}
		p = append(p, row...)
		one = append(one, sure...)
	}
	must(t, npy.WriteFile("P.npy", []int{blobCount, 3}, p))
	must(t, npy.WriteFile("one.npy", []int{blobCount, 3}, one))
	must(t, npy.WriteFile("few.npy", nil, few))
	file(t, "P.csv", text)

	for _, y := range [][]string{{"P.npy", "--classes", "ash,birch,cedar"}, {"P.csv"}, {"P.csv", "--labels-as", "probabilities"}} {
		succeed(t, append([]string{"fit", "X.npy"}, append(y, "-o", "m.npz", "-q")...)...)
		succeed(t, "predict", "m.npz", "-X", "X.npy", "-o", strings.Join(y, "_")+".csv", "-q")
	}
	first := string(readFile(t, "P.npy_--classes_ash,birch,cedar.csv"))
	for _, other := range []string{"P.csv.csv", "P.csv_--labels-as_probabilities.csv"} {
		if string(readFile(t, other)) != first {
			t.Errorf("%s: other answers than of the array", other)
		}
	}

	succeed(t, "fit", "X.npy", "one.npy", "--labels-as", "probabilities", "-o", "one.npz", "-q")
	succeed(t, "fit", "X.npy", "few.npy", "-o", "few.npz", "-q")
	for _, m := range []string{"one", "few"} {
		succeed(t, "predict", m+".npz", "-X", "X.npy", "-o", m+".csv", "-q")
	}
	if string(readFile(t, "one.csv")) != string(readFile(t, "few.csv")) {
		t.Error("probabilities of one class give other answers than labels")
	}

	// An update joins probabilities, and refuses classes.
	if text := succeed(t, "update", "m.npz", "-y", "P.csv", "-o", "m2.npz", "-q"); !strings.Contains(text, "18 equal") {
		t.Errorf("%q", text)
	}
	refused(t, []string{"update", "m.npz", "-y", "few.npy", "-o", "z.npz"}, "are probabilities", "--labels-as")
	refused(t, []string{"fit", "--model", "svm", "X.npy", "P.npy", "-o", "z.npz"}, "svm takes no probabilities of classes", "tikhonov")
	refused(t, []string{"fit", "X.npy", "P.npy", "--classes", "a,b", "-o", "z.npz"}, "3 columns", "2 classes")
	refused(t, []string{"fit", "X.npy", "few.npy", "--classes", "a,b", "-o", "z.npz"}, "few.npy", "1 column")
	refused(t, []string{"fit", "X.npy", "P.npy", "--labels-as", "maybe", "-o", "z.npz"}, "auto, labels or probabilities")
	refused(t, []string{"fit", "X.npy", "P.csv", "--labels-as", "probabilities", "--classes", "a,b,c", "-o", "z.npz"}, "header names")
	refused(t, []string{"fit", "--model", "svr", "--gamma-a", "1", "X.npy", "P.npy", "--labels-as", "probabilities", "-o", "z.npz"},
		"models of classes")
	file(t, "bad.csv", "id,a,b\n0,0.5,0.5\n1,0.5,0.1\n")
	refused(t, []string{"fit", "X.npy", "bad.csv", "--labels-as", "probabilities", "-o", "z.npz"}, "point 1", "sum to 0.6")
	file(t, "twice.csv", "id,a,b\n0,0.5,0.5\n0,0.4,0.6\n")
	refused(t, []string{"fit", "X.npy", "twice.csv", "--labels-as", "probabilities", "-o", "z.npz"}, "line 2 and line 3")
}

// Weights of labels: 0 is no label, 1 is none, and a table names its column weight.
func TestLabelWeights(t *testing.T) {
	intoBlobs(t)
	y := groups()
	few, less := make([]int64, blobCount), make([]int64, blobCount)
	w, ones := make([]float64, blobCount), make([]float64, blobCount)
	text := "id,weight\n"
	for i, class := range y {
		few[i], less[i] = -1, -1
		ones[i] = 1
		if i%5 == 0 {
			few[i] = class
			if i%2 == 0 {
				less[i] = class
				w[i] = 1
			}
			text += fmt.Sprintf("%d,%v\n", i, w[i])
		}
	}
	must(t, npy.WriteFile("few.npy", nil, few))
	must(t, npy.WriteFile("less.npy", nil, less))
	must(t, npy.WriteFile("w.npy", nil, w))
	must(t, npy.WriteFile("ones.npy", nil, ones))
	file(t, "w.csv", text)
	answers := func(args ...string) string {
		succeed(t, append([]string{"fit", "X.npy"}, append(args, "-o", "m.npz", "-q")...)...)
		succeed(t, "predict", "m.npz", "-X", "X.npy", "-o", "p.csv", "-q")
		return string(readFile(t, "p.csv"))
	}
	want := answers("less.npy")
	for _, file := range []string{"w.npy", "w.csv", "w.csv:weight"} {
		if answers("few.npy", "--label-weights", file) != want {
			t.Errorf("%s: other answers than without the labels of weight 0", file)
		}
	}
	if answers("few.npy", "--label-weights", "ones.npy") != answers("few.npy") {
		t.Error("weights of one change answers")
	}

	w[0], w[10] = 3, 0.5
	must(t, npy.WriteFile("w.npy", nil, w))
	for _, model := range []string{"auto", "lgc", "tikhonov", "poisson", "reweighted", "knn"} {
		succeed(t, "fit", "--model", model, "X.npy", "few.npy", "--label-weights", "w.npy", "-o", "m.npz", "-q")
		succeed(t, "suspects", "m.npz", "-o", "s.csv", "-q")
	}
	refused(t, []string{"fit", "--model", "rls-linear", "X.npy", "few.npy", "--label-weights", "w.npy", "--parts", "2", "--work", "parts", "-o", "z.npz"},
		"--label-weights is not for fits in parts")
	refused(t, []string{"fit", "--model", "svm", "X.npy", "few.npy", "--label-weights", "w.npy", "-o", "z.npz"}, "no weights of labels", "lgc")
	w[5] = -1
	must(t, npy.WriteFile("w.npy", nil, w))
	refused(t, []string{"fit", "X.npy", "few.npy", "--label-weights", "w.npy", "-o", "z.npz"}, "w.npy", "point 5 is -1")
	must(t, npy.WriteFile("short.npy", nil, w[:7]))
	refused(t, []string{"fit", "X.npy", "few.npy", "--label-weights", "short.npy", "-o", "z.npz"}, "short.npy")
}

// Labels that are wrong at random: the model answers with what the neighbours say.
func TestLabelNoise(t *testing.T) {
	intoBlobs(t)
	y := groups()
	few := make([]int64, blobCount)
	for i, class := range y {
		few[i] = -1
		if i%2 == 0 {
			few[i] = class
		}
		if i%20 == 0 {
			few[i] = (class + 1) % 3
		}
	}
	must(t, npy.WriteFile("few.npy", nil, few))
	mistakes := func(args ...string) int {
		succeed(t, append([]string{"fit", "--model", "lgc", "X.npy", "few.npy", "--predictions", "a.csv", "-o", "m.npz", "-q"}, args...)...)
		wrong := 0
		for i, line := range strings.Split(strings.TrimSpace(string(readFile(t, "a.csv"))), "\n")[1:] {
			if strings.Split(line, ",")[1] != fmt.Sprint(y[i]) {
				wrong++
			}
		}
		return wrong
	}
	if plain, clean, estimated := mistakes(), mistakes("--label-noise", "0.1"), mistakes("--label-noise", "estimate"); plain < 5 ||
		clean > 1 || estimated > 1 {
		t.Errorf("%d answers are wrong, %d with a noise of 0.1, %d with an estimate", plain, clean, estimated)
	}
	// Without a graph the given class has the share 1 − ε.
	succeed(t, "fit", "--model", "knn", "X.npy", "few.npy", "--label-noise", "0.1", "-o", "m.npz", "-q")
	refused(t, []string{"fit", "--model", "knn", "X.npy", "few.npy", "--label-noise", "estimate", "-o", "z.npz"}, "no graph", "number")
	refused(t, []string{"fit", "X.npy", "few.npy", "--label-noise", "2", "-o", "z.npz"}, "between 0 and 1")
	refused(t, []string{"fit", "--model", "svm", "X.npy", "few.npy", "--label-noise", "0.1", "-o", "z.npz"}, "probabilities")
}
