package kernelmachine

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// With a kernel k(x, z)B the coefficients are those of equation (15) with G ⊗ B in its Kronecker
// form, for B of full rank, of rank one and with targets missing; a file keeps B.
func TestVVMRWithAKernelOfOutputs(t *testing.T) {
	ctx := context.Background()
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.3}
	x, lap, targets := vvmrData(t, 40, 13, 3)
	for name, b := range map[string]*mat.Dense{
		"full rank": mat.NewDense(3, 3, []float64{2, 0.5, -0.3, 0.5, 1, 0.2, -0.3, 0.2, 0.7}),
		"rank one":  mat.NewDense(3, 3, []float64{1, 2, -1, 2, 4, -2, -1, -2, 1}),
	} {
		for _, missing := range []bool{false, true} {
			given := *targets
			given.Y = mat.DenseCopyOf(targets.Y)
			if missing {
				given.Y.Set(2, 1, math.NaN())
			}
			o, err := solvers.NewOutputKernel(ctx, b)
			if err != nil {
				t.Fatal(err)
			}
			closeTo(t, name+": Q", o.Matrix(o.Scaled(0)), b, 1e-14)
			values := models.Values{"kernel": "gaussian", "sigma": "1.3", "gamma-a": "1e-3", "gamma-i": "0.02", "power": "2", "laplacian": "normalized"}
			in := &models.Input{Points: x, Targets: &given, Graph: models.NewGraph(lap.Graph()), OutputKernel: b, Values: values}
			fitted, err := VVMRLearner{}.Fit(ctx, in)
			if err != nil {
				t.Fatal(err)
			}
			m := fitted.(*VVMR)
			s := VVMRSettings{Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 0.02, Power: 2, Laplacian: sparse.Normalized}}
			closeTo(t, name, m.Values, kroneckerVVMR(t, x, k, lap.With(2, 0), &given, o, s), 1e-7)
			if !(m.Residual <= 1e-8) || !strings.Contains(m.Summary().Text, "kernel of outputs given") {
				t.Errorf("%s: %s", name, m.Summary().Text)
			}
			path := filepath.Join(t.TempDir(), "m.npz")
			if err := models.Save(path, m, nil); err != nil {
				t.Fatal(err)
			}
			loaded, _, err := load(path)
			if err != nil {
				t.Fatal(err)
			}
			closeTo(t, name+": B of the file", loaded.(*VVMR).OutputKernel, b, 0)
			in.Values = models.Values{"gamma-a": "1", "gamma-i": "0", "gamma-o": "0.5"}
			if _, err := (VVMRLearner{}).Fit(ctx, in); err == nil || !strings.Contains(err.Error(), "output-kernel") {
				t.Errorf("γ_O with a kernel of outputs: %v", err)
			}
		}
	}
}
