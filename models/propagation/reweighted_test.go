package propagation

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// denseReweighted returns γ and f by full matrices: the pseudo-inverse of L is that of
// L + Σ 11ᵀ/n over the components, on vectors of sum zero.
func denseReweighted(t *testing.T, w *sparse.CSR, at []int, y *mat.Dense) (gamma []float64, f *mat.Dense) {
	t.Helper()
	n, c := w.Rows, w.Components()
	full, l := denseGraph(w, sparse.Combinatorial)
	reached := c.Reached(at)
	labels := make([]float64, c.Count())
	b := mat.NewDense(n, 1, nil)
	for _, i := range at {
		b.Set(i, 0, 1)
		labels[c.Of[i]]++
	}
	for i := range n {
		size := float64(c.Sizes[c.Of[i]])
		b.Set(i, 0, b.At(i, 0)-labels[c.Of[i]]/size)
		for j := range n {
			if c.Of[i] == c.Of[j] {
				l.Set(i, j, l.At(i, j)+1/size)
			}
		}
	}
	v := solveDense(t, l, b)
	gamma = slices.Repeat([]float64{1}, n)
	for i := range n {
		if !reached[i] {
			continue
		}
		low, high := math.Inf(1), math.Inf(-1)
		for j := range n {
			if c.Of[i] == c.Of[j] {
				low, high = min(low, v.At(j, 0)), max(high, v.At(j, 0))
			}
		}
		gamma[i] = (v.At(i, 0)-low)/(high-low) + 1e-5
	}
	// Rows of labeled points, and of those out of reach, are those of the identity.
	_, m := y.Dims()
	a, right := mat.NewDense(n, n, nil), mat.NewDense(n, m, nil)
	for i := range n {
		if slices.Contains(at, i) || !reached[i] {
			a.Set(i, i, 1)
			if q := slices.Index(at, i); q >= 0 {
				right.SetRow(i, y.RawRowView(q))
			}
			continue
		}
		for j := range n {
			weight := gamma[i] * gamma[j] * full.At(i, j)
			a.Set(i, j, a.At(i, j)-weight)
			a.Set(i, i, a.At(i, i)+weight)
		}
	}
	return gamma, solveDense(t, a, right)
}

// TestReweightedDense: γ and f are those of full matrices, also where a component has no
// label.
func TestReweightedDense(t *testing.T) {
	for seed := range uint64(6) {
		w := weightedGraph(t, seed, 50)
		if seed >= 3 {
			w = weightedGraph(t, seed, 40, 15)
		}
		n := w.Rows
		c := w.Components()
		rng := rand.New(rand.NewPCG(seed, 6))
		class := map[int]int64{}
		for len(class) < 5 {
			if i := rng.IntN(n); c.Of[i] == c.Of[0] {
				class[i] = int64(len(class) % 3)
			}
		}
		y := modeltest.Labels(n, class)
		targets := modeltest.ClassTargets(t, y)
		at := y.Labeled()
		coded := mat.NewDense(len(at), 3, nil)
		for q, i := range at {
			coded.Set(q, int(y.Index[i]), 1)
		}
		gamma, f := denseReweighted(t, w, at, coded)
		p, err := NewProblem(w, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, got, err := FitReweighted(t.Context(), w, p, targets, &Settings{Tolerance: 1e-13})
		if err != nil {
			t.Fatal(err)
		}
		checkNear(t, "γ", mat.NewDense(n, 1, got), mat.NewDense(n, 1, gamma), 1e-9)
		checkNear(t, "f", g.Scores, f, 1e-6) // weights are down to 1e-10 of the largest
		if want := n - int(c.Sizes[c.Of[0]]); g.Unreached != want {
			t.Errorf("%d points out of reach, want %d", g.Unreached, want)
		}
	}
}

// TestReweightedFewLabels: with one label a class, harmonic functions give nearly all
// points one class, and this does not.
func TestReweightedFewLabels(t *testing.T) {
	x, truth := synthetic.Digits(2000, 3)
	problem := modeltest.NewProblem(t, x, knn.GraphSettings{K: 10, Weights: knn.SelfTuning}, sparse.Combinatorial, 1)
	var rows []int
	for c := range truth.Classes {
		rows = append(rows, slices.Index(truth.Index, int32(c)))
	}
	y := truth.Keep(rows)
	targets := modeltest.ClassTargets(t, y)
	p, err := NewProblem(problem.W, nil)
	if err != nil {
		t.Fatal(err)
	}
	harmonic, err := p.Fit(t.Context(), targets, &Settings{})
	if err != nil {
		t.Fatal(err)
	}
	g, _, err := FitReweighted(t.Context(), problem.W, p, targets, &Settings{})
	if err != nil {
		t.Fatal(err)
	}
	before, after := metrics.ErrorRate(harmonic.Labels, truth, y), metrics.ErrorRate(g.Labels, truth, y)
	t.Logf("errors: harmonic %.3f, reweighted %.3f", before, after)
	if !(after < 0.8*before) {
		t.Errorf("error %.3f, of harmonic functions %.3f", after, before)
	}
}

// TestReweightedPredict: new points have the mean of their neighbours by γ_i w_i.
func TestReweightedPredict(t *testing.T) {
	x, truth := synthetic.Digits(200, 5)
	y, err := truth.Draw(20, 1)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, s, err := knn.NewGraph(t.Context(), ix, knn.GraphSettings{K: 5, Weights: knn.Heat})
	if err != nil {
		t.Fatal(err)
	}
	in := &models.Input{Graph: models.NewGraph(w), Targets: modeltest.ClassTargets(t, y)}
	in.Graph.Points, in.Graph.Edges, in.Graph.Method = x, s, knn.Brute
	fitted, err := ReweightedLearner{}.Fit(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	m := fitted.(*Reweighted)
	query, _ := synthetic.Digits(30, 6)
	got, err := m.Predict(t.Context(), query, nil)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := ix.Query(t.Context(), query, 5)
	if err != nil {
		t.Fatal(err)
	}
	want := mat.NewDense(30, len(y.Classes), nil)
	for i := range 30 {
		index, dist := nb.Row(i)
		var total float64
		for p, weight := range s.EdgeWeights(dist) {
			v := weight * m.Gamma[index[p]]
			total += v
			for c := range y.Classes {
				want.Set(i, c, want.At(i, c)+v*m.Scores.At(int(index[p]), c))
			}
		}
		for c := range y.Classes {
			want.Set(i, c, want.At(i, c)/total)
		}
	}
	checkNear(t, "new points", got.Scores, want, 1e-12)
	if text := m.Summary().Text; !strings.Contains(text, "iterations") {
		t.Errorf("summary %q", text)
	}
}
