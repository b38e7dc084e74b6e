package propagation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/regularizer"
)

// TestLeaveOneOut compares the formulas with as many fits.
func TestLeaveOneOut(t *testing.T) {
	for _, c := range []struct {
		seed            uint64
		labels, classes int
		settings        Settings
	}{
		{1, 14, 3, Settings{Method: LGC}},
		{2, 9, 2, Settings{Method: LGC, Alpha: 0.5}},
		{3, 14, 3, Settings{Method: Harmonic}},
		{4, 40, 4, Settings{Method: Harmonic, MassNormalization: true}},
		{5, 14, 3, Settings{Method: Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 1e-2, GammaI: 0.3}}},
		{6, 9, 2, Settings{Method: Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 2, Power: 2}}},
		{7, 14, 3, Settings{Method: Poisson}},
		{8, 30, 2, Settings{Method: Poisson}},
	} {
		t.Run(fmt.Sprintf("%v %d", c.settings.Method, c.seed), func(t *testing.T) {
			w := weightedGraph(t, c.seed, 30, 12, 7, 1, 1)
			y := drawClasses(c.seed, w.Rows, c.labels, c.classes)
			targets := modeltest.ClassTargets(t, y)
			p, err := NewProblem(w, nil)
			if err != nil {
				t.Fatal(err)
			}
			c.settings.Tolerance = 1e-12
			scores, known, err := p.LeaveOneOut(context.Background(), targets, &c.settings, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			of := w.Components().Of
			l, seen := float64(len(targets.Labeled)), 0
			for q, i := range targets.Labeled {
				rest := targets.Keep(targets.Except([]int{q}))
				others := false
				for _, j := range rest.Labeled {
					others = others || of[j] == of[i]
				}
				if known[q] != others {
					t.Errorf("point %d: known is %v, other labels in its component: %v", i, known[q], others)
				}
				if !others {
					continue
				}
				s := c.settings
				s.MassNormalization = false
				s.Regularizer.GammaA *= l / (l - 1)
				s.Regularizer.GammaI *= l / (l - 1)
				f, err := p.Fit(context.Background(), rest, &s)
				if err != nil {
					t.Fatal(err)
				}
				for k, want := range f.Scores.RawRowView(i) {
					if got := scores.At(q, k); !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
						t.Errorf("point %d, class %d: %v without its label, a fit says %v", i, k, got, want)
					}
				}
				seen++
			}
			if seen < 5 {
				t.Fatalf("only %d labels compared", seen)
			}
		})
	}
}

// Values of a regression are left out as well, and what one point says of another does
// not depend on blocks.
func TestLeaveOneOutValues(t *testing.T) {
	w := weightedGraph(t, 11, 40)
	values := mat.NewDense(40, 1, nil)
	for i := range 40 {
		values.Set(i, 0, math.NaN())
		if i%3 == 0 {
			values.Set(i, 0, float64(i))
		}
	}
	targets, err := models.ValueTargets(values)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProblem(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &Settings{Method: Harmonic, Tolerance: 1e-12}
	got, _, err := p.LeaveOneOut(context.Background(), targets, s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for q, i := range targets.Labeled {
		f, err := p.Fit(context.Background(), targets.Keep(targets.Except([]int{q})), s)
		if err != nil {
			t.Fatal(err)
		}
		if want := f.Scores.At(i, 0); !(math.Abs(got.At(q, 0)-want) <= 1e-6*(1+math.Abs(want))) {
			t.Errorf("point %d: %v without its value, a fit says %v", i, got.At(q, 0), want)
		}
	}
	if _, _, err := p.LeaveOneOut(context.Background(), modeltest.ClassTargets(t, data.NewLabels([]int64{0, 1}, nil)), s, 0, 0); err == nil {
		t.Error("targets of two points for a graph of 40 are no error")
	}
}

// TestProbes compares scores of groups of labels with those of single labels, on graphs whose labels are
// far from each other.
func TestProbes(t *testing.T) {
	methods := []Method{LGC, Harmonic, Poisson}
	sum := make([]float64, len(methods))
	const graphs = 6
	for seed := range uint64(graphs) {
		w := weightedGraph(t, 21+seed, 1500)
		targets := modeltest.ClassTargets(t, drawClasses(21+seed, w.Rows, 45, 3))
		p, err := NewProblem(w, nil)
		if err != nil {
			t.Fatal(err)
		}
		for at, method := range methods {
			s := &Settings{Method: method, Tolerance: 1e-10}
			exact, known, err := p.LeaveOneOut(t.Context(), targets, s, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			about, knownToo, err := p.LeaveOneOut(t.Context(), targets, s, 15, 7)
			if err != nil {
				t.Fatal(err)
			}
			again, _, err := p.LeaveOneOut(t.Context(), targets, s, 15, 7)
			if err != nil || !mat.Equal(about, again) {
				t.Errorf("%v: the same seed gave other scores, or %v", method, err)
			}
			if !slices.Equal(known, knownToo) {
				t.Errorf("%v: %v known, want %v", method, knownToo, known)
			}

			var diff mat.Dense
			diff.Sub(about, exact)
			e := mat.Norm(&diff, 2) / mat.Norm(exact, 2)
			t.Logf("%v: scores differ by %.3f of their norm", method, e)
			if e == 0 {
				t.Errorf("%v: no label shares a group", method)
			}
			sum[at] += e / graphs
		}
	}
	for at, method := range methods {
		if !(sum[at] < 0.15) {
			t.Errorf("%v: scores differ by %.3f of their norm in the mean", method, sum[at])
		}
	}
}
