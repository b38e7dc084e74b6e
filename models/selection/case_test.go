package selection_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/models/selection"
)

// kind is a kind of targets: so many classes, or values, or labels of which a point
// may have several.
type kind int

const (
	values kind = 0
	labels kind = -1
)

// newCase is a small set of clusters on a line, of which some points have a target:
// a class, two smooth values, or three labels of which some are missing.
func newCase(t testing.TB, n, known int, k kind) *selection.Data {
	t.Helper()
	c := max(int(k), 0)
	rng := rand.New(rand.NewPCG(4, uint64(c)))
	x := data.NewDense[float64](n, 4)
	classes, given := make([]int64, n), make([]bool, n)
	y, several := mat.NewDense(n, 2, nil), mat.NewDense(n, 3, nil)
	for i := range n {
		classes[i] = int64(3 * (i % max(c, 1)))
		for j := range 4 {
			x.Row(i)[j] = rng.NormFloat64()
		}
		x.Row(i)[0] += 0.6 * float64(classes[i])
		y.SetRow(i, []float64{math.Sin(x.Row(i)[0]) + 0.1*rng.NormFloat64(), x.Row(i)[1]})
		for j := range 3 {
			several.Set(i, j, math.Copysign(1, x.Row(i)[j]+0.3*rng.NormFloat64()))
		}
		if i%4 == 1 {
			several.Set(i, i%3, math.NaN())
		}
	}
	for q, i := range rng.Perm(n) {
		if given[i] = q < known; !given[i] {
			y.SetRow(i, []float64{math.NaN(), math.NaN()})
			several.SetRow(i, []float64{math.NaN(), math.NaN(), math.NaN()})
		}
	}
	d := &selection.Data{Points: x, Edges: knn.GraphSettings{K: 5}}
	var err error
	switch k {
	case values:
		d.Targets, err = models.ValueTargets(y)
	case labels:
		d.Targets, err = multilabel.LabelTargets(several, []int64{2, 5, 7})
	default:
		d.Targets, err = models.ClassTargets(data.NewLabels(classes, given))
	}
	if err != nil {
		t.Fatal(err)
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Neighbors, err = ix.Self(context.Background(), 9); err != nil {
		t.Fatal(err)
	}
	return d
}

// axes parses "gamma-a 1e-3 1, sigma 2", a list of names with their values.
func axes(text string) map[string][]string {
	out := map[string][]string{}
	for _, part := range strings.Split(text, ",") {
		if words := strings.Fields(part); len(words) > 0 {
			out[words[0]] = words[1:]
		}
	}
	return out
}

// fixed parses "kernel linear, intercept true".
func fixed(text string) models.Values {
	out := models.Values{}
	for name, list := range axes(text) {
		out[name] = list[0]
	}
	return out
}

// gridOf is a grid of a learner of [all.Learners].
func gridOf(learner, fix, vary string, neighbors ...int) *selection.Grid {
	return &selection.Grid{Learner: all.Learner(learner), Fixed: fixed(fix), Axes: axes(vary), Neighbors: neighbors}
}

func search(t testing.TB, d *selection.Data, g *selection.Grid, s *selection.Settings) *selection.Result {
	t.Helper()
	r, err := selection.Search(context.Background(), d, g, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// alone fits a setting to targets, by itself, and answers for points.
func alone(t *testing.T, d *selection.Data, l models.Learner, s selection.Setting, y *models.Targets, points []int, seed uint64) models.Answer {
	t.Helper()
	in := &models.Input{Points: d.Points, Targets: y, Outputs: d.Outputs, Values: s.Values, Seed: seed}
	if s.Neighbors > 0 {
		w, _, err := knn.FromNeighbors(d.Neighbors, knn.GraphSettings{K: s.Neighbors, Weights: d.Edges.Weights})
		if err != nil {
			t.Fatal(err)
		}
		in.Graph = models.NewGraph(w)
	}
	if paired, ok := l.(models.Paired); ok {
		k, laplacian, tolerance, err := paired.Pairs(in)
		if err != nil {
			t.Fatal(err)
		}
		matrix, err := in.LaplacianOf(laplacian)
		if err != nil {
			t.Fatal(err)
		}
		in.Laplacian = laplacian
		if in.Pairs, err = lanczos.Laplacian(t.Context(), matrix, in.Graph.Components, &lanczos.Settings{K: k, Tolerance: tolerance}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := l.Fit(t.Context(), in)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	if m, ok := m.(models.Trained); ok {
		return models.AnswerAt(m.Training(true), points, nil)
	}
	return models.AnswerOf(m.Predict(t.Context(), data.Select(d.Points, points), nil))
}
