package propagation

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// softTargets draws distributions over three classes for count of the points, with weights if asked for.
func softTargets(t *testing.T, seed uint64, n, count int, weighted bool) *models.Targets {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 21))
	shares := mat.NewDense(n, 3, nil)
	weights := make([]float64, n)
	for _, i := range rng.Perm(n)[:count] {
		row := shares.RawRowView(i)
		var sum float64
		for k := range row {
			row[k] = rng.Float64()
			sum += row[k]
		}
		for k := range row {
			row[k] /= sum
		}
		weights[i] = 0.25 + 3*rng.Float64()
	}
	out, err := models.ShareTargets(shares, []int64{1, 4, 9}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if weighted {
		if out, err = out.Weighted(weights); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var softMethods = []Settings{
	{Method: LGC},
	{Method: Harmonic},
	{Method: Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 1e-2, GammaI: 0.3}},
	{Method: Poisson},
}

// Leaving out a soft label, with weights and without, is a fit to the others.
func TestLeaveOneOutOfSoftLabels(t *testing.T) {
	for k, s := range softMethods {
		for _, weighted := range []bool{false, true} {
			if weighted && s.Method == Harmonic {
				continue
			}
			w := weightedGraph(t, uint64(k), 30, 12)
			targets := softTargets(t, uint64(k), w.Rows, 14, weighted)
			p, err := NewProblem(w, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Tolerance = 1e-12
			scores, known, err := p.LeaveOneOut(context.Background(), targets, &s, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			for q, i := range targets.Labeled {
				rest := targets.Keep(targets.Except([]int{q}))
				own := s
				ratio := targets.TotalWeight() / rest.TotalWeight()
				own.Regularizer.GammaA *= ratio
				own.Regularizer.GammaI *= ratio
				f, err := p.Fit(context.Background(), rest, &own)
				if err != nil {
					t.Fatal(err)
				}
				for c, want := range f.Scores.RawRowView(i) {
					if got := scores.At(q, c); known[q] && !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
						t.Errorf("%v, weights %v: point %d, class %d: %v, a fit says %v", s.Method, weighted, i, c, got, want)
					}
				}
			}
		}
	}
}

// A weight of two is two labels of the point: twice the sources, or the same least squares if all have it.
func TestWeightOfTwo(t *testing.T) {
	for k, s := range softMethods {
		if s.Method == Harmonic {
			continue
		}
		w := weightedGraph(t, uint64(k), 40)
		once := softTargets(t, 7, w.Rows, 9, false)
		twos := make([]float64, w.Rows)
		for i := range twos {
			twos[i] = 2
		}
		twice, err := once.Weighted(twos)
		if err != nil {
			t.Fatal(err)
		}
		s.Tolerance = 1e-12
		a, err := Fit(context.Background(), w, nil, once, &s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Fit(context.Background(), w, nil, twice, &s)
		if err != nil {
			t.Fatal(err)
		}
		want := mat.DenseCopyOf(a.Scores)
		if s.Method != Tikhonov {
			want.Scale(2, want)
		}
		if !mat.EqualApprox(b.Scores, want, 1e-8) {
			t.Errorf("%v: other scores with a weight of 2", s.Method)
		}
	}
}

// Harmonic functions keep distributions, and have no weights.
func TestHarmonicSoft(t *testing.T) {
	w := weightedGraph(t, 3, 40)
	y := softTargets(t, 3, w.Rows, 6, false)
	f, err := Fit(context.Background(), w, nil, y, &Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for q, i := range y.Labeled {
		for c, v := range y.SharesTo(nil, q) {
			if math.Abs(f.Scores.At(i, c)-v) > 1e-12 {
				t.Fatalf("point %d has %v, labeled %v", i, f.Scores.RawRowView(i), y.SharesTo(nil, q))
			}
		}
	}
	if _, err := Fit(context.Background(), w, nil, softTargets(t, 3, w.Rows, 6, true), &Settings{}); err == nil {
		t.Error("weights are no error")
	}
}

// Where all labels of a component have one most probable class nothing flows, and its points have their mean.
func TestPoissonOfAgreeingLabels(t *testing.T) {
	w := weightedGraph(t, 4, 20, 9)
	of := w.Components().Of
	shares := mat.NewDense(w.Rows, 2, nil)
	seen := 0
	for i, c := range of {
		if c == 0 && seen < 3 {
			shares.SetRow(i, []float64{0.6 + 0.1*float64(seen), 0.4 - 0.1*float64(seen)})
			seen++
		}
		if c == 1 {
			shares.SetRow(i, []float64{float64(i % 2), float64(1 - i%2)})
		}
	}
	y, err := models.ShareTargets(shares, []int64{0, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Fit(context.Background(), w, nil, y, &Settings{Method: Poisson})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range of {
		if c == 0 && (math.Abs(f.Scores.At(i, 0)-0.7) > 1e-12 || f.Labels[i] != 0) {
			t.Fatalf("point %d has %v", i, f.Scores.RawRowView(i))
		}
	}
}

// Moments serve soft labels with weights as they serve hard ones.
func TestMomentsOfSoftLabels(t *testing.T) {
	w := weightedGraph(t, 5, 60)
	y := softTargets(t, 5, w.Rows, 16, true)
	p, err := NewProblem(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	split, err := y.SplitAt([]int{0, 1, 2, 4, 5, 7, 8, 9, 11, 13, 15})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Settings{{Method: LGC, Alpha: 0.9, Tolerance: 1e-3}, {Method: Tikhonov, Tolerance: 1e-3,
		Regularizer: regularizer.Regularizer{GammaA: 0.01, GammaI: 0.1, Laplacian: sparse.Normalized}}} {
		filled, err := s.fill(y)
		if err != nil {
			t.Fatal(err)
		}
		terms, r := filled.terms(p.Len())
		if terms == 0 {
			t.Fatalf("%v: no moments", s.Method)
		}
		var at []int32
		for _, i := range y.Labeled {
			at = append(at, p.place[i])
		}
		m, err := p.moments(context.Background(), at, terms)
		if err != nil {
			t.Fatal(err)
		}
		got, err := filled.fromBlock(m.matrix(r), split, p.Len(), r)
		if err != nil {
			t.Fatal(err)
		}
		exact := s
		exact.Tolerance = 1e-10
		f, err := p.Fit(context.Background(), split.Train, &exact)
		if err != nil {
			t.Fatal(err)
		}
		size := mat.Norm(f.Scores, math.Inf(1))
		for row, i := range split.Points {
			for c, want := range f.Scores.RawRowView(i) {
				if math.Abs(got.At(row, c)-want) > 1e-2*size {
					t.Errorf("%v: point %d, class %d: %v, a fit says %v", s.Method, i, c, got.At(row, c), want)
				}
			}
		}
	}
}
