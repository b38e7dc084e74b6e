package kernelmachine_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// small are weights and powers at which the warped kernel is lost in rounding.
func small(kind sparse.Kind, visit func(r regularizer.Regularizer)) {
	for p := 3; p <= 5; p++ {
		for _, gammaI := range []float64{1e-3, 1} {
			visit(regularizer.Regularizer{GammaA: 1e-12, GammaI: gammaI, Power: p, Laplacian: kind})
		}
	}
}

// newWarped returns the problem of c and its warped kernel among the labeled points.
func newWarped(t *testing.T, c *reference, kind sparse.Kind, r regularizer.Regularizer) (*kernelmachine.Problem, *kernelmachine.Warped) {
	t.Helper()
	l, err := sparse.NewLaplacian(c.graph, kind)
	if err != nil {
		t.Fatal(err)
	}
	p, err := kernelmachine.NewProblem(t.Context(), &kernelmachine.Data{Points: c.Points, Kernel: c.kernel, Laplacian: l})
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.Warp(t.Context(), r, c.targets.Labeled)
	if err != nil {
		t.Fatalf("%s: %v", r.Describe(), err)
	}
	return p, w
}

// Least squares on a warped kernel, with all its labels, some, and some held out, as a
// cross-validation does, are equation (8) in numbers of many digits.
func TestWarpedLeastSquaresIsExact(t *testing.T) {
	c := newReference(t, 18, 7, 2, false)
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		exact, worst := bigLaplacian(c.graph, kind), 0.0
		check := func(what string, f mat.Matrix, want bigMatrix, r regularizer.Regularizer) {
			e := farFrom(f, want)
			if worst = math.Max(worst, e); !(e <= 1e-8) {
				t.Errorf("%s, %s: off by %.1e", what, r.Describe(), e)
			}
		}
		small(kind, func(r regularizer.Regularizer) {
			p, w := newWarped(t, c, kind, r)
			s := &kernelmachine.Settings{Regularizer: r}
			m, err := w.Fit(t.Context(), c.targets, s)
			if err != nil {
				t.Fatal(err)
			}
			check("all labels", p.Outputs(m), equation8(c.gram, exact, c.targets, r), r)
			if !(m.Residual > 0 && m.Residual < 1e-5) {
				t.Errorf("%s: residual %v", r.Describe(), m.Residual)
			}
			kept, held := []int{0, 1, 3, 4, 6}, []int{2, 5}
			some := c.targets.Keep(kept)
			want := equation8(c.gram, exact, some, r)
			if m, err = w.Fit(t.Context(), some, s); err != nil {
				t.Fatal(err)
			}
			check("some labels", p.Outputs(m), want, r)
			h, err := w.HoldOut(t.Context(), kept, held)
			if err != nil {
				t.Fatal(err)
			}
			f, err := h.Fit(t.Context(), some, s)
			if err != nil {
				t.Fatal(err)
			}
			check("held out", f, bigMatrix{want[2], want[5]}, r)
		})
		t.Logf("%v: off by at most %.1e", kind, worst)
	}
}

// The coefficients β that the outputs of LapSVM stand for, in numbers of many digits, are
// those of the quadratic program (11): within their bounds, of sum 0, and between them at the
// margin only.
func TestLapSVMWithoutAmbientNorm(t *testing.T) {
	const l = 8
	c := newReference(t, 18, l, 1, false)
	for i := range l { // classes that no slowly varying function separates
		c.targets.Y.Set(i, 0, []float64{1, 1, -1, 1, -1, -1, -1, 1}[i])
	}
	c.targets.Classes = []int64{0, 1}
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		exact := bigLaplacian(c.graph, kind)
		small(kind, func(r regularizer.Regularizer) {
			p, w := newWarped(t, c, kind, r)
			m, err := w.Fit(t.Context(), c.targets, &kernelmachine.Settings{Method: kernelmachine.SVM, Regularizer: r, Tolerance: 1e-8})
			if err != nil {
				t.Errorf("%s: %v", r.Describe(), err)
				return
			}
			f, b := p.Outputs(m), m.Intercepts[0]
			h, beta := warpedReference(c, exact, r), newBig(l, 1)
			for i := range l {
				beta[i][0].SetFloat64(f.At(i, 0) - b)
			}
			h.solve(beta)
			sum, upper := 0.0, 1/(2.*l) // of γ_A times β
			for i := range l {
				y := c.targets.Y.At(i, 0)
				v, _ := beta[i][0].Float64()
				sum += v
				v, margin := v*y/upper, y*f.At(i, 0)
				if !(v >= -1e-4 && v <= 1+1e-4) || v > 1e-4 && !(margin <= 1+1e-5) || v < 1-1e-4 && !(margin >= 1-1e-5) {
					t.Errorf("%v, %s: point %d with %v of the bound at margin %v", kind, r.Describe(), i, v, margin)
				}
			}
			if !(math.Abs(sum) <= 1e-4*upper) {
				t.Errorf("%v, %s: β add up to %v", kind, r.Describe(), sum)
			}
			if !(m.Residual > 0 && m.Residual < 1e-5) {
				t.Errorf("%s: residual %v", r.Describe(), m.Residual)
			}
			if _, err := w.Fit(t.Context(), c.targets, &kernelmachine.Settings{Method: kernelmachine.SVM, Regularizer: r, MaxIterations: 1}); !errors.Is(err, solvers.ErrNotConverged) {
				t.Errorf("one step: %v", err)
			}
		})
	}
}

// warpedReference returns K̃/γ_A among the labeled points.
func warpedReference(c *reference, laplacian bigMatrix, r regularizer.Regularizer) bigMatrix {
	n, l := len(c.gram), len(c.targets.Labeled)
	b, e := newBig(n, n), newBig(n, l)
	for i := range n {
		b[i][i].SetFloat64(r.GammaI)
		if i < l {
			e[i][i].SetInt64(1)
		}
	}
	for range r.Power {
		b = laplacian.times(b)
	}
	a := b.times(c.gram)
	for i := range a {
		a[i][i].Add(a[i][i], number(r.GammaA))
	}
	a.solve(e)
	return c.gram.times(e)[:l]
}
