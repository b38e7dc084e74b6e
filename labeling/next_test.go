package labeling_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// The graph that a model keeps is the one it was fitted to.
func TestKeptGraph(t *testing.T) {
	x, targets := few(t, 200)
	for _, s := range []pipeline.GraphSettings{
		{Graph: knn.GraphSettings{K: 5}},
		{Graph: knn.GraphSettings{K: 6, Weights: knn.SelfTuning}},
		{Graph: knn.GraphSettings{K: 6, Weights: knn.Shared}},
		{PCA: 2, Graph: knn.GraphSettings{K: 5, Weights: knn.Heat}},
	} {
		in := &models.Input{Points: x, Targets: targets}
		m, complete, err := (&pipeline.Pipeline{}).FitComplete(t.Context(), all.Learner("lgc"), in, &s)
		if err != nil {
			t.Fatal(err)
		}
		g, kept, err := pipeline.KeptGraph(m)
		if err != nil {
			t.Fatal(err)
		}
		if data.HashPoints(g.W) != data.HashPoints(complete.Graph.W) {
			t.Errorf("%+v: the graph is not that of the fit", s)
		}
		if !slices.Equal(kept.Targets.Labeled, targets.Labeled) {
			t.Errorf("the labeled points are %v", kept.Targets.Labeled)
		}
	}
	for name, want := range map[string]string{"knn": "keeps no graph but its labeled points; give all points with ‹X›", "rls": "do not keep the graph"} {
		in := &models.Input{Points: x, Targets: targets, Values: models.Values{}}
		if name == "rls" {
			in.Values = models.Values{"gamma-a": "0.01"}
		}
		m, err := (&pipeline.Pipeline{}).Fit(t.Context(), all.Learner(name), in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := pipeline.KeptGraph(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
}

// Eigenvectors of a graph with many components are those of the largest, and zero elsewhere.
func TestFieldPairsOfManyComponents(t *testing.T) {
	var i, j []int32
	var v []float64
	n := 0
	path := func(length int) {
		for q := range length - 1 {
			a := int32(n + q)
			i, j, v = append(i, a, a+1), append(j, a+1, a), append(v, 1, 1)
		}
		n += length
	}
	for range 40 {
		path(2)
	}
	path(50)
	for range 40 {
		path(1)
	}
	path(60)
	w, err := sparse.FromTriplets(n, n, i, j, v)
	if err != nil {
		t.Fatal(err)
	}
	g := models.NewGraph(w)
	r, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{}}).FieldPairs(t.Context(), g, 6)
	if err != nil {
		t.Fatal(err)
	}
	rows, cols := r.Vectors.Dims()
	if rows != n || cols != 12 || len(r.Values) != 12 {
		t.Fatalf("%d×%d eigenvectors and %d values of %d points", rows, cols, len(r.Values), n)
	}
	var gram mat.Dense
	gram.Mul(r.Vectors.T(), r.Vectors)
	for a := range cols {
		for b := range cols {
			want := 0.0
			if a == b {
				want = 1
			}
			if !(math.Abs(gram.At(a, b)-want) <= 1e-6) {
				t.Fatalf("the vectors %d and %d have the product %v", a, b, gram.At(a, b))
			}
		}
	}
	nonzero := 0
	for i := range n {
		if mat.Norm(r.Vectors.RowView(i), 2) > 0 {
			nonzero++
		}
	}
	if nonzero != 50+60+4*2 {
		t.Errorf("%d points have a row that is not zero; the 6 largest components have 118", nonzero)
	}
	choices, err := (labeling.Planner{Pipeline: &pipeline.Pipeline{}}).Next(t.Context(), &labeling.Candidates{Graph: g, Pairs: r},
		&labeling.NextSettings{Settings: active.Settings{Rule: active.VOpt, Count: 4}})
	if err != nil {
		t.Fatal(err)
	}
	if first, second := g.Components.Sizes[choices[0].Component], g.Components.Sizes[choices[1].Component]; first != 60 || second != 50 {
		t.Errorf("the first components have %d and %d points", first, second)
	}
}
