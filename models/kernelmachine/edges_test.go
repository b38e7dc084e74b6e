package kernelmachine_test

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	. "github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// At γ_O = 1 an output without an edge in the graph of outputs is 0, and Σ_c √d_c f_c is; the summary says
// both, and nothing below 1.
func TestVVMRWarnsAtOne(t *testing.T) {
	c := newReference(t, 18, 9, 3, false)
	path := mat.NewDense(3, 3, []float64{0, 2, 0, 2, 0, 0, 0, 0, 0}) // output 2 has no edge
	o, err := solvers.NewOutputs(t.Context(), sparse.FromDense(path))
	if err != nil {
		t.Fatal(err)
	}
	l, err := sparse.NewLaplacian(c.graph, sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	for _, gamma := range []float64{1, 0.9} {
		s := &VVMRSettings{Regularizer: regularizer.Regularizer{GammaA: 1e-2, GammaI: 1e-2}, GammaO: gamma}
		m, err := FitVVMR(t.Context(), &Data{Points: c.Points, Kernel: c.kernel, Laplacian: l}, c.targets, o, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		warnings := strings.Join(m.Summary().Warnings, "\n")
		if gamma < 1 {
			if warnings != "" {
				t.Errorf("γ_O = %g: %s", gamma, warnings)
			}
			continue
		}
		size := mat.Norm(m.Values, math.Inf(1))
		n, _ := m.Values.Dims()
		for i := range n {
			row := m.Values.RawRowView(i)
			if !(math.Abs(row[2]) <= 1e-12*size) || !(math.Abs(row[0]+row[1]) <= 1e-10*size) {
				t.Errorf("point %d has the values %v", i, row)
			}
		}
		for _, part := range []string{"gamma-o", "in common", "1 output without an edge", "is 0 everywhere (2)"} {
			if !strings.Contains(warnings, part) {
				t.Errorf("%q lacks %q", warnings, part)
			}
		}
	}
}

// A machine that stops short says what it reached and what was asked of it.
func TestUnconvergedSaysTheGap(t *testing.T) {
	c := newReference(t, 18, 8, 1, false)
	for i := range 8 {
		c.targets.Y.Set(i, 0, []float64{1, 1, -1, 1, -1, -1, -1, 1}[i])
	}
	c.targets.Classes = []int64{0, 1}
	l, err := sparse.NewLaplacian(c.graph, sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	d := &Data{Points: c.Points, Kernel: c.kernel, Laplacian: l}
	// The tolerance is below what rounding leaves of so flat an objective.
	s := &Settings{Method: SVM, Tolerance: 1e-15,
		Regularizer: regularizer.Regularizer{GammaA: 1e-12, GammaI: 1e-2, Power: 3}}
	m, err := Fit(t.Context(), d, c.targets, s)
	if m == nil || !errors.Is(err, solvers.ErrNotConverged) {
		t.Fatalf("machine %v, error %v", m != nil, err)
	}
	want := regexp.MustCompile(`^1 of 1 quadratic programs: .*not converged: .*[0-9].* is allowed; the duality gap is ` +
		`[0-9.e+-]+ of the objective, with a ‹tolerance› of 1e-15`)
	if !want.MatchString(err.Error()) {
		t.Errorf("the error is %q", err)
	}
	t.Log(err)
}
