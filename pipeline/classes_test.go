package pipeline_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// With the Laplacian of ClassGraph, the intrinsic norm is the sum of those
// within the classes.
func TestClassGraph(t *testing.T) {
	x, y := clusters(90, 3)
	whole := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Combinatorial, 1).W
	weights := []float64{2, 0, 0.5}
	w, err := pipeline.ClassGraph(whole, y, weights)
	if err != nil {
		t.Fatal(err)
	}
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	f, lf := mat.NewDense(90, 1, nil), mat.NewDense(90, 1, nil)
	for i := range 90 {
		f.Set(i, 0, math.Sin(float64(i)))
	}
	l.MulTo(lf, f)
	var want float64
	for i := range 90 {
		for j := range i {
			if y.Index[i] == y.Index[j] {
				want += weights[y.Index[i]] * whole.At(i, j) * math.Pow(f.At(i, 0)-f.At(j, 0), 2)
			}
		}
	}
	if got := mat.Dot(f.ColView(0), lf.ColView(0)); !(math.Abs(got-want) <= 1e-12*want) {
		t.Errorf("the norm is %v, want %v", got, want)
	}
	for _, bad := range [][]float64{{1, 2}, {1, -1, 1}, {1, math.NaN(), 1}, {1, math.Inf(1), 1}} {
		if _, err := pipeline.ClassGraph(whole, y, bad); err == nil {
			t.Errorf("weights %v were taken", bad)
		}
	}
	if _, err := pipeline.ClassGraph(whole, data.NewLabels(make([]int64, 3), nil), []float64{1}); err == nil {
		t.Error("labels of other points were taken")
	}
}

// Class weights in the settings of a fit are those of ClassGraph, and need a label
// for every point.
func TestFitWithClassWeights(t *testing.T) {
	x, y := clusters(90, 3)
	weights := []float64{2, 0.25, 0.5}
	p := &pipeline.Pipeline{}
	plain, err := p.Graph(t.Context(), x, &pipeline.GraphSettings{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := pipeline.ClassGraph(plain.W, y, weights)
	if err != nil {
		t.Fatal(err)
	}
	l := propagation.Learner{Method: propagation.Tikhonov}
	values := models.Values{"gamma-a": "0.1", "gamma-i": "0.1"}
	in := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, y), Values: values}
	m, err := p.Fit(t.Context(), l, in, &pipeline.GraphSettings{ClassWeights: weights})
	if err != nil {
		t.Fatal(err)
	}
	byHand := &models.Input{Targets: in.Targets, Values: values, Graph: models.NewGraph(w)}
	want, err := l.Fit(t.Context(), byHand)
	if err != nil {
		t.Fatal(err)
	}
	if !modeltest.SamePrediction(training(t, m), training(t, want)) {
		t.Error("other scores than on ClassGraph")
	}
	without, err := p.Fit(t.Context(), l, &models.Input{Points: x, Targets: in.Targets, Values: values}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if modeltest.SamePrediction(training(t, m), training(t, without)) {
		t.Error("the weights make no difference")
	}
	some := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, y.Keep([]int{0, 1, 2, 3})), Values: values}
	if _, err := p.Fit(t.Context(), l, some, &pipeline.GraphSettings{ClassWeights: weights}); err == nil || !strings.Contains(err.Error(), "a class for every point") {
		t.Errorf("weights with points without a label: %v", err)
	}
}

// With class graphs every class has the graph of its own points, as NewGraph makes it of them alone, and
// laprls on the result is laprls on that graph given by hand. It is another one than the edges within
// classes of the graph of all points.
func TestFitWithClassGraphs(t *testing.T) {
	x, y := clusters(90, 3)
	// Classes that lie inside one another, so that neighbours of all points are of other classes.
	for i := range y.Index {
		y.Index[i] = int32(i*7%11) % 3
	}
	weights := []float64{2, 0.25, 0.5}
	byHand := mat.NewDense(90, 90, nil)
	for c := range 3 {
		var own []int
		for i, k := range y.Index {
			if int(k) == c {
				own = append(own, i)
			}
		}
		w := modeltest.NewProblem(t, data.Select(x, own), knn.GraphSettings{K: 6}, sparse.Combinatorial, 1).W
		for p, i := range own {
			for q, j := range own {
				byHand.Set(i, j, weights[c]*w.At(p, q))
			}
		}
	}

	p := &pipeline.Pipeline{}
	l := propagation.Learner{Method: propagation.Tikhonov}
	values := models.Values{"gamma-a": "0.1", "gamma-i": "0.1"}
	in := &models.Input{Points: x, Targets: modeltest.ClassTargets(t, y), Values: values}
	s := &pipeline.GraphSettings{Graph: knn.GraphSettings{K: 6}, ClassWeights: weights, ClassGraphs: true}
	m, err := p.Fit(t.Context(), l, in, s)
	if err != nil {
		t.Fatal(err)
	}
	want, err := l.Fit(t.Context(), &models.Input{Targets: in.Targets, Values: values,
		Graph: models.NewGraph(sparse.FromDense(byHand))})
	if err != nil {
		t.Fatal(err)
	}
	if !modeltest.SamePrediction(training(t, m), training(t, want)) {
		t.Error("other scores than on the graphs of the classes")
	}
	kept := *s
	kept.ClassGraphs = false
	restricted, err := p.Fit(t.Context(), l, in, &kept)
	if err != nil {
		t.Fatal(err)
	}
	if modeltest.SamePrediction(training(t, m), training(t, restricted)) {
		t.Error("the graphs of the classes are the edges of the graph of all points")
	}

	for _, c := range []struct {
		what string
		in   *models.Input
		s    pipeline.GraphSettings
		want string
	}{
		{"no weights", in, pipeline.GraphSettings{ClassGraphs: true}, "class-weights"},
		{"no points", &models.Input{Targets: in.Targets, Values: values, Graph: models.NewGraph(sparse.FromDense(byHand))}, *s, "need points"},
	} {
		if _, err := p.Fit(t.Context(), l, c.in, &c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}
