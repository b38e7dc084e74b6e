package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pca"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// byHand makes the graph of 8 neighbours, projected on components if there are any,
// from the packages below.
func byHand(t *testing.T, x data.Points, components int) (*sparse.CSR, data.Points) {
	t.Helper()
	if components > 0 {
		c, err := pca.New(t.Context(), x, components)
		if err != nil {
			t.Fatal(err)
		}
		if x, err = c.Apply(x); err != nil {
			t.Fatal(err)
		}
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(t.Context(), ix, knn.GraphSettings{K: 8, Weights: knn.Heat})
	if err != nil {
		t.Fatal(err)
	}
	return w, x
}

// heat are settings whose graph is that of byHand.
func heat(components int) *pipeline.GraphSettings {
	return &pipeline.GraphSettings{PCA: components, Graph: knn.GraphSettings{Weights: knn.Heat}, Method: knn.Brute}
}

// fit fits a learner of [all.Learners].
func fit(t *testing.T, p *pipeline.Pipeline, name string, in *models.Input, g *pipeline.GraphSettings) models.Model {
	t.Helper()
	m, _ := fitComplete(t, p, name, in, g)
	return m
}

// fitComplete is fit with the complete input.
func fitComplete(t *testing.T, p *pipeline.Pipeline, name string, in *models.Input, g *pipeline.GraphSettings) (models.Model, *models.Input) {
	t.Helper()
	m, complete, err := p.FitComplete(t.Context(), all.Learner(name), in, g)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m, complete
}

// A fit through the pipeline is the family's own function on what is made by hand.
func TestFitEqualsTheFamilies(t *testing.T) {
	x, y := few(t, 120)
	query, _ := clusters(30, 2)
	norms := regularizer.Regularizer{GammaA: 1e-3, GammaI: 1e-2}
	values := models.Values{"gamma-a": "1e-3", "gamma-i": "1e-2"}
	for _, components := range []int{0, 3} {
		w, _ := byHand(t, x, components)
		l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
		if err != nil {
			t.Fatal(err)
		}
		p := &pipeline.Pipeline{Seed: 3}

		own, err := propagation.Fit(t.Context(), w, nil, y, &propagation.Settings{Method: propagation.LGC, Alpha: 0.9})
		if err != nil {
			t.Fatal(err)
		}
		m := fit(t, p, "lgc", &models.Input{Points: x, Targets: y, Values: models.Values{"alpha": "0.9"}}, heat(components))
		sameBits(t, "lgc", training(t, m), &models.Prediction{Classes: own.Labels, Scores: own.Scores})

		straight, err := linear.Fit(t.Context(), x, l, y, &linear.Settings{Regularizer: norms}, nil)
		if err != nil {
			t.Fatal(err)
		}
		m = fit(t, p, "laprls-linear", &models.Input{Points: x, Targets: y, Values: values}, heat(components))
		sameBits(t, "laprls-linear", predict(t, m, query), predict(t, straight, query))

		k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 2}
		machine, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Points: x, Kernel: k, Laplacian: l}, y, &kernelmachine.Settings{Method: kernelmachine.SVM, Regularizer: norms})
		if err != nil {
			t.Fatal(err)
		}
		m = fit(t, p, "lapsvm", &models.Input{Points: x, Targets: y, Values: values.With(models.Values{"sigma": "2"})}, heat(components))
		sameBits(t, "lapsvm", predict(t, m, query), predict(t, machine, query))

		c := w.Components()
		e, err := lanczos.Laplacian(t.Context(), l, c, &lanczos.Settings{K: 6, Tolerance: 1e-8, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		classifier, err := eigenmap.Fit(t.Context(), e, c, y.ClassLabels(), &eigenmap.Settings{Eigenvectors: 6})
		if err != nil {
			t.Fatal(err)
		}
		m = fit(t, p, "eigenmap", &models.Input{Points: x, Targets: y, Values: models.Values{"eigenvectors": "6"}}, heat(components))
		if got, want := training(t, m).Classes, classifier.Transduce(e, c, y.ClassLabels()); !reflect.DeepEqual(got, want) {
			t.Errorf("eigenmap: classes %v, want %v", got, want)
		}
	}
}

// With γ_I = 0 no graph is made.
func TestFitWithoutAGraph(t *testing.T) {
	x, y := few(t, 60)
	seen := &recorder{}
	p := &pipeline.Pipeline{Observer: seen}
	in := &models.Input{Points: x, Targets: y, Values: models.Values{"gamma-a": "1e-3", "gamma-i": "0"}}
	m, complete := fitComplete(t, p, "laprls-linear", in, nil)
	seen.want(t, "γ_I = 0", "announce fit", "begin fit", "end")
	if complete.Graph != nil {
		t.Error("a graph was made")
	}
	plain := fit(t, p, "rls-linear", &models.Input{Points: x, Targets: y, Values: models.Values{"gamma-a": "1e-3"}}, nil)
	sameBits(t, "γ_I = 0", predict(t, m, x), predict(t, plain, x))
}

// A graph and eigenpairs that are given give the bits of those that are made.
func TestGivenGraphAndPairs(t *testing.T) {
	x, y := few(t, 120)
	query, _ := clusters(30, 2)
	seen := &recorder{}
	p := &pipeline.Pipeline{Seed: 5, Observer: seen}
	values := models.Values{"eigenvectors": "5", "laplacian": "normalized"}
	want, made := fitComplete(t, p, "eigenmap", &models.Input{Points: x, Targets: y, Values: values}, heat(2))
	seen.want(t, "all is made", "announce fit", "announce pca", "begin pca", "end", "announce neighbours", "begin graph", "end",
		"announce eigenpairs", "begin eigenpairs", "end", "begin fit", "end")
	if made.Graph == nil || made.Graph.PCA == nil || made.Pairs == nil || made.Laplacian != sparse.Normalized || made.Seed != 5 {
		t.Fatalf("what was made is not in the complete input: %+v", made)
	}

	onGraph := &models.Input{Points: x, Targets: y, Values: values, Graph: made.Graph}
	m := fit(t, p, "eigenmap", onGraph, heat(2))
	seen.want(t, "on a graph", "announce fit", "announce eigenpairs", "begin eigenpairs", "end", "begin fit", "end")
	sameBits(t, "on a graph", training(t, m), training(t, want))
	sameBits(t, "on a graph, new points", predict(t, m, query), predict(t, want, query))

	// A graph without points is joined with those of the input.
	bare := &models.Input{Points: x, Targets: y, Values: values, Graph: models.NewGraph(made.Graph.W), Pairs: made.Pairs, Laplacian: sparse.Normalized}
	bare.Graph.Method, bare.Graph.Edges = made.Graph.Method, made.Graph.Edges
	given := bare.Graph
	m = fit(t, p, "eigenmap", bare, heat(2))
	seen.want(t, "on pairs", "announce fit", "announce pca", "begin pca", "end", "begin fit", "end")
	sameBits(t, "on pairs", training(t, m), training(t, want))
	sameBits(t, "on pairs, new points", predict(t, m, query), predict(t, want, query))
	if given.Points != nil {
		t.Error("the graph that was given is changed")
	}

	// Without points the model answers for its own alone.
	alone := &models.Input{Targets: y, Values: values, Graph: models.NewGraph(made.Graph.W)}
	m = fit(t, p, "eigenmap", alone, nil)
	sameBits(t, "without points", training(t, m), training(t, want))
	if _, err := m.Predict(t.Context(), query, nil); !errors.Is(err, models.ErrNoPoints) {
		t.Errorf("new points for a graph alone: %v", err)
	}

	// A learner that takes points looks at the graph's edges only.
	norms := models.Values{"gamma-a": "1e-3", "gamma-i": "1e-2"}
	want = fit(t, p, "laprls-linear", &models.Input{Points: x, Targets: y, Values: norms}, heat(2))
	m = fit(t, p, "laprls-linear", &models.Input{Points: x, Targets: y, Values: norms, Graph: models.NewGraph(made.Graph.W)}, nil)
	sameBits(t, "laprls-linear on a graph", predict(t, m, query), predict(t, want, query))
}

// Stages come one after the other, each announced, begun and ended once.
func TestObserver(t *testing.T) {
	x, y := few(t, 2000) // with fewer, eigenpairs take one step
	seen := &recorder{}
	p := &pipeline.Pipeline{Observer: seen}
	in := &models.Input{Points: x, Targets: y, Values: models.Values{"eigenvectors": "5"}}
	m, complete := fitComplete(t, p, "eigenmap", in, &pipeline.GraphSettings{})
	seen.want(t, "eigenmap", "announce fit", "note", "announce neighbours", "begin graph", "update", "end",
		"announce eigenpairs", "begin eigenpairs", "update", "end", "begin fit", "update", "end")
	if _, err := p.Predict(t.Context(), m, x, models.PredictSettings{}, true); err != nil {
		t.Fatal(err)
	}
	seen.want(t, "predict", "announce prediction", "begin predict", "update", "end")
	if _, _, err := p.Neighbors(t.Context(), x, heat(0)); err != nil {
		t.Fatal(err)
	}
	seen.want(t, "neighbours", "announce neighbours", "begin neighbours", "update", "end")
	if _, err := p.Eigenpairs(t.Context(), complete.Graph, &pipeline.EigsSettings{K: 3}, nil); err != nil {
		t.Fatal(err)
	}
	seen.want(t, "eigenpairs", "announce eigenpairs", "begin eigenpairs", "update", "end")

	// What is refused does not begin, nor does anything after it.
	for stage, events := range map[string][]string{
		"fit":        {"announce fit"},
		"pca":        {"announce fit", "announce pca"},
		"neighbours": {"announce fit", "announce pca", "begin pca", "end", "announce neighbours"},
		"eigenpairs": {"announce fit", "announce pca", "begin pca", "end", "announce neighbours", "begin graph", "end", "announce eigenpairs"},
	} {
		seen.refuse = stage
		m, err := p.Fit(t.Context(), all.Learner("eigenmap"), &models.Input{Points: x, Targets: y}, heat(2))
		if m != nil || err == nil || !strings.Contains(err.Error(), stage+" is refused") {
			t.Errorf("%s: %v", stage, err)
		}
		seen.want(t, stage+" is refused", events...)
	}
}

// What needs more memory than there may be is refused before it begins.
func TestMemory(t *testing.T) {
	x, y := few(t, 600)
	in := func() *models.Input {
		return &models.Input{Points: x, Targets: y, Values: models.Values{"gamma-a": "1", "gamma-i": "1"}}
	}
	seen := &recorder{}
	observed := &pipeline.Pipeline{Observer: seen}
	m := fit(t, observed, "laprls", in(), heat(2))
	costs := seen.costs
	seen.want(t, "laprls", "announce fit", "announce pca", "begin pca", "end", "announce neighbours", "begin graph", "end", "begin fit", "end")
	if _, err := observed.Predict(t.Context(), m, x, models.PredictSettings{}, false); err != nil {
		t.Fatal(err)
	}
	prediction := seen.costs["prediction"]
	for _, stage := range []string{"fit", "pca", "neighbours"} {
		if c := costs[stage]; c.Bytes <= 0 || c.Remedy == "" {
			t.Errorf("%s is announced with %+v", stage, c)
		}
	}
	largest := max(costs["fit"].Bytes, costs["pca"].Bytes, costs["neighbours"].Bytes)
	enough := &pipeline.Pipeline{Memory: largest}
	if _, err := enough.Fit(t.Context(), all.Learner("laprls"), in(), heat(2)); err != nil {
		t.Errorf("with as much as is announced: %v", err)
	}
	short := &pipeline.Pipeline{Memory: costs["fit"].Bytes - 1}
	if m, err := short.Fit(t.Context(), all.Learner("laprls"), in(), heat(2)); m != nil || err == nil || !strings.Contains(err.Error(), costs["fit"].Remedy) {
		t.Errorf("with less: %v", err)
	}
	short.Memory = costs["neighbours"].Bytes - 1
	if g, err := short.Graph(t.Context(), x, heat(0)); g != nil || err == nil || !strings.Contains(err.Error(), "neighbours needs") {
		t.Errorf("a graph with less: %v", err)
	}
	short.Memory = prediction.Bytes - 1
	if p, err := short.Predict(t.Context(), m, x, models.PredictSettings{}, false); p != nil || err == nil || !strings.Contains(err.Error(), "prediction needs") {
		t.Errorf("answers with less: %v", err)
	}
	// Eigenpairs are found in less memory before they are refused.
	many, _ := clusters(3000, 3)
	g, err := observed.Graph(t.Context(), many, heat(0))
	if err != nil {
		t.Fatal(err)
	}
	seen.want(t, "a graph", "announce prediction", "begin predict", "end", "announce neighbours", "begin graph", "end")
	if _, err := observed.Eigenpairs(t.Context(), &g.Graph, &pipeline.EigsSettings{K: 3}, nil); err != nil {
		t.Fatal(err)
	}
	roomy := seen.costs["eigenpairs"].Bytes
	short.Memory = roomy - 1
	if _, err := short.Eigenpairs(t.Context(), &g.Graph, &pipeline.EigsSettings{K: 3}, nil); err != nil {
		t.Errorf("eigenpairs in a smaller basis: %v", err)
	}
	// Also where the graph that is held leaves less than the limit.
	beside := &pipeline.Pipeline{Memory: roomy, Observer: &holder{left: roomy - 1}}
	if _, err := beside.Eigenpairs(t.Context(), &g.Graph, &pipeline.EigsSettings{K: 3}, nil); err != nil {
		t.Errorf("eigenpairs beside the graph: %v", err)
	}
	short.Memory = 1000
	if r, err := short.Eigenpairs(t.Context(), &g.Graph, &pipeline.EigsSettings{K: 3}, nil); r != nil || err == nil || !strings.Contains(err.Error(), "fewer eigenpairs") {
		t.Errorf("eigenpairs in 1000 bytes: %v", err)
	}
}

// holder is an observer of a run that has so many bytes left beside what it holds.
type holder struct {
	recorder
	left int64
}

func (h *holder) Announce(stage string, c stage.Cost) error {
	if c.Bytes > h.left {
		return fmt.Errorf("%s needs %d bytes, %d are left", stage, c.Bytes, h.left)
	}
	return h.recorder.Announce(stage, c)
}

// Errors that come with a result come with a model.
func TestUsableErrors(t *testing.T) {
	x, y := few(t, 120)
	p := &pipeline.Pipeline{}
	slow := models.Values{"gamma-a": "1e-6", "gamma-i": "1", "max-iterations": "1", "tolerance": "1e-14"}
	m, err := p.Fit(t.Context(), all.Learner("tikhonov"), &models.Input{Points: x, Targets: y, Values: slow}, heat(0))
	if m == nil || !errors.Is(err, cg.ErrNotConverged) || !models.Usable(err) {
		t.Errorf("not converged: a model: %v, %v", m != nil, err)
	}

	// Two clouds 10⁸ apart: within one, NN-descent, which measures in float32, does
	// not tell the points from each other.
	const n = 400
	rng := rand.New(rand.NewPCG(1, 1))
	far, class := data.NewDense[float64](n, 8), make([]int64, n)
	for i := range n {
		for j := range far.Row(i) {
			far.Row(i)[j] = rng.NormFloat64()
		}
		far.Row(i)[0] += 1e8 * float64(i%2)
		class[i] = int64(i % 2)
	}
	targets := modeltest.ClassTargets(t, data.NewLabels(class, nil).Keep([]int{0, 1, 2, 3}))
	s := &pipeline.GraphSettings{Recall: 1}
	in := &models.Input{Points: far, Targets: targets}
	m, complete, err := p.FitComplete(t.Context(), all.Learner("harmonic"), in, s)
	if m == nil || !errors.Is(err, knn.ErrRecall) || !models.Usable(err) {
		t.Fatalf("recall 1: a model: %v, %v", m != nil, err)
	}
	if answers := training(t, m).Len(); answers != n || complete.Graph.Index == nil || complete.Graph.Method != knn.NNDescent {
		t.Errorf("answers for %d points, by %v", answers, complete.Graph.Method)
	}
	// Both at once.
	m, err = p.Fit(t.Context(), all.Learner("tikhonov"), &models.Input{Points: far, Targets: targets, Values: slow}, s)
	if m == nil || !errors.Is(err, knn.ErrRecall) || !errors.Is(err, cg.ErrNotConverged) || !models.Usable(err) {
		t.Errorf("recall 1 and not converged: a model: %v, %v", m != nil, err)
	}
	g, short := p.Graph(t.Context(), far, s)
	if g == nil || !errors.Is(short, knn.ErrRecall) || g.Settings.Found == nil || !(g.Settings.Found.Share < 1) {
		t.Errorf("a graph: %v, %v", g != nil, short)
	}
}

func TestFitRefuses(t *testing.T) {
	x, y := few(t, 60)
	p := &pipeline.Pipeline{}
	small, _ := clusters(7, 2)
	norms := models.Values{"gamma-a": "1", "gamma-i": "1"}
	for _, c := range []struct {
		learner string
		in      models.Input
		g       *pipeline.GraphSettings
		want    string
	}{
		{"laprls", models.Input{Targets: y, Values: norms}, nil, "laprls needs points"},
		{"harmonic", models.Input{Targets: y}, nil, "harmonic needs points or a graph"},
		{"harmonic", models.Input{Points: x}, nil, "no targets"},
		{"harmonic", models.Input{Points: small, Targets: y}, nil, "targets for 60 points, there are 7"},
		{"harmonic", models.Input{Points: x, Targets: y, Values: models.Values{"alpha": "1"}}, nil, `unknown parameter "alpha"`},
		{"harmonic", models.Input{Points: x, Targets: y}, &pipeline.GraphSettings{Graph: knn.GraphSettings{K: 60}}, "at most 59 neighbours"},
		{"harmonic", models.Input{Points: x, Targets: y}, &pipeline.GraphSettings{PCA: 5}, "component"},
		{"eigenmap", models.Input{Points: x, Targets: y, Values: models.Values{"eigenvectors": "61"}}, nil, "eigenvectors is 61"},
		{"laprls", models.Input{Points: x, Targets: y, Values: norms, Graph: models.NewGraph(&sparse.CSR{Rows: 7, Cols: 7, Ptr: make([]int64, 8)})}, nil, "a graph of 7 points for targets of 60"},
	} {
		m, err := p.Fit(t.Context(), all.Learner(c.learner), &c.in, c.g)
		if m != nil || err == nil || !strings.Contains(param.Plain(err.Error()), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.learner, err, c.want)
		}
	}
	for _, name := range []string{"harmonic", "eigenmap", "rls-linear"} {
		in := &models.Input{Points: x, Targets: y}
		if name == "rls-linear" {
			in.Values = models.Values{"gamma-a": "1"}
		}
		if m, err := p.Fit(cancelled(), all.Learner(name), in, nil); m != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v, %v", name, m, err)
		}
	}
}
