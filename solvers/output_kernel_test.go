package solvers_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/solvers"
)

// What is no kernel of outputs is refused, with the place, the value and the remedy.
func TestOutputKernelFaults(t *testing.T) {
	for want, b := range map[string]*mat.Dense{
		"2×3": mat.NewDense(2, 3, nil),
		"row 1, column 0 is NaN; the kernel of the outputs must be finite":                                                  mat.NewDense(2, 2, []float64{1, 0, math.NaN(), 1}),
		"row 1, column 0 is 0.5, and row 0, column 1 is 0.25; the kernel of the outputs must be symmetric: give (B + Bᵀ)/2": mat.NewDense(2, 2, []float64{1, 0.25, 0.5, 1}),
		"eigenvalue 0 is -1 and the largest 3; the kernel of the outputs must be positive semidefinite: add at least 1 to":  mat.NewDense(2, 2, []float64{1, 2, 2, 1}),
		"all entries are 0": mat.NewDense(2, 2, nil),
	} {
		if _, err := solvers.NewOutputKernel(t.Context(), b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
