package solvers_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// heatedPath returns the equation with K = I on a path of n vertices.
func heatedPath(t *testing.T, n int, time float64) *solvers.HeatProblem {
	t.Helper()
	w := &sparse.CSR{Rows: n, Cols: n, Ptr: []int64{0}}
	gram := mat.NewDense(n, n, nil)
	for i := range n {
		gram.Set(i, i, 1)
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < n {
				w.Col = append(w.Col, int32(j))
				w.Val = append(w.Val, 1)
			}
		}
		w.Ptr = append(w.Ptr, int64(len(w.Col)))
	}
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	heat, err := sparse.NewHeat(l, time)
	if err != nil {
		t.Fatal(err)
	}
	return &solvers.HeatProblem{Gram: gram, Laplacian: l, T: time, Heat: heat, Gamma: 0.5, Ridge: 0.25, Labeled: []int{0, 2, 5}}
}

func silent(float64, string) {}

// With K = I the warped kernel of a path is Σ v_i v_iᵀ ρ/(ρ + γe^{tλ_i}), with eigenpairs that are
// known.
func TestHeatedOfIdentity(t *testing.T) {
	const n = 12
	for _, time := range []float64{0.1, 3, 50, 1e4} {
		p := heatedPath(t, n, time)
		h, err := solvers.NewHeated(t.Context(), p, silent)
		if err != nil {
			t.Fatal(err)
		}
		z, expand, loss, err := h.LabelGram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if z.Shift != 0 || !(loss > 0 && loss < 1e-12) {
			t.Errorf("t = %g: shift %g, loss %g", time, z.Shift, loss)
		}
		vector := func(i, k int) float64 {
			if k == 0 {
				return 1 / math.Sqrt(n)
			}
			return math.Sqrt(2./n) * math.Cos(math.Pi*float64(k)*(float64(i)+0.5)/n)
		}
		for q, j := range p.Labeled {
			for i := range n {
				var want float64
				for k := range n {
					lambda := 2 - 2*math.Cos(math.Pi*float64(k)/n)
					want += vector(i, k) * vector(j, k) * p.Ridge / (p.Ridge + p.Gamma*math.Exp(time*lambda))
				}
				if e := math.Abs(expand.At(i, q) - want); !(e <= 1e-13) {
					t.Errorf("t = %g, point %d, label %d: off by %.1e", time, i, j, e)
				}
			}
		}
	}
}

func TestHeatedOfNothing(t *testing.T) {
	p := heatedPath(t, 12, 10)
	p.Loss = true
	h, err := solvers.NewHeated(t.Context(), p, silent)
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Fit(t.Context(), mat.NewDense(3, 2, nil))
	if err != nil || mat.Norm(r.Alpha, 1) != 0 || r.Residual != 0 || r.Loss != 0 {
		t.Errorf("targets of zero: %+v, %v", r, err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := solvers.NewHeated(canceled, p, silent); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := h.Fit(canceled, mat.NewDense(3, 2, nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	for want, entry := range map[string]float64{"not positive semidefinite": -1, "zero at all points": 0} {
		for i := range 12 {
			p.Gram.Set(i, i, entry*float64(i-1))
		}
		if _, err := solvers.NewHeated(t.Context(), p, silent); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
