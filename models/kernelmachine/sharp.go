package kernelmachine

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
)

// sharpFaults are the faults of parameters that do not go with a sharp kernel for the intrinsic norm.
func (o *options) sharpFaults() error {
	if o.IntrinsicSigma == 0 {
		return nil
	}
	var faults []error
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"heat", o.Heat > 0}, {"power", o.Power > 1}, {"penalty-coefficients", o.Coefficients != nil},
		{"laplacian", o.Laplacian != 0}, {"scaling", o.Scaling == regularizer.PerEdge},
	} {
		if f.given {
			faults = append(faults, models.Faultf("%s is for a graph, and %s takes its place; leave one of them out",
				param.Name(f.name), param.Name("intrinsic-sigma")))
		}
	}
	if o.Kernel.Given() {
		faults = append(faults, models.Faultf("%s needs points, of which %s makes values; %s %s has none",
			param.Name("intrinsic-sigma"), param.Name("intrinsic-sigma"), param.Name("kernel"), expansion.Precomputed))
	}
	return errors.Join(faults...)
}

// hessianFaults are the faults of parameters that do not go with the Hessian energy.
func (o *options) hessianFaults() error {
	if o.Hessian == 0 {
		return nil
	}
	var faults []error
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"heat", o.Heat > 0}, {"power", o.Power > 1}, {"penalty-coefficients", o.Coefficients != nil},
		{"laplacian", o.Laplacian != 0}, {"intrinsic-sigma", o.IntrinsicSigma > 0},
	} {
		if f.given {
			faults = append(faults, models.Faultf("%s names another intrinsic norm than %s; leave one of them out",
				param.Name(f.name), param.Name("hessian")))
		}
	}
	if o.Kernel.Given() {
		faults = append(faults, models.Faultf("%s needs points, of which %s %s has values alone", param.Name("hessian"),
			param.Name("kernel"), expansion.Precomputed))
	}
	return errors.Join(faults...)
}

// bySharpKernel warps the kernel by M = (γ_I s/γ_A) K_s⁻¹ with the Gram matrix K_s of a Gaussian kernel: 2006,
// Remark 4 of section 2.2. Neither matrix is inverted, as with r = γ_I s/γ_A
//
//	(I + MK)⁻¹ = (K_s + rK)⁻¹K_s,  K̃ = K(K_s + rK)⁻¹K_s,
//
// which makes sense where K_s is singular too. It takes a Cholesky factorization of n³/3 operations, 2n²l for the
// solution, and n² values more; with equal points, where K_s + rK is singular, an eigendecomposition of 5n³
// operations and 3n² values.
func (w *Warped) bySharpKernel(ctx context.Context, s *Settings) error {
	p := w.problem
	if p.data.Values != nil {
		return errors.New("kernelmachine: a sharp kernel for the intrinsic norm needs points, and values of the kernel are given")
	}
	n, _ := p.gram.Dims()
	l := len(w.points)
	sharp := kernel.Source{Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: s.IntrinsicSigma}, Points: p.data.Points}
	var err error
	if w.sharp, err = gramOf(ctx, p.data, sharp, n); err != nil {
		return err
	}

	// (K_s + rK) α = K_sE for the columns of the points of w.
	p.data.report(1, 3, "factorization")
	a := mat.DenseCopyOf(w.sharp)
	dense.AddScaled(a, 1, w.reg.Intrinsic(n, nil)/w.reg.GammaA, p.gram)
	w.expand = mat.NewDense(n, l, nil)
	for i := range n {
		to := w.expand.RawRowView(i)
		for q, j := range w.points {
			to[q] = w.sharp.At(i, j)
		}
	}
	lost := fmt.Errorf("kernelmachine: the kernels with σ = %g and of the machine are singular together, up to rounding; "+
		"%s must be smaller, so that its kernel is sharp", s.IntrinsicSigma, param.Name("intrinsic-sigma"))
	if err := solveSemidefinite(ctx, a, w.expand); err != nil {
		return err
	}

	// K̃ is symmetric but for what rounding lost.
	rows := dense.Gather(mat.NewDense(l, n, nil), p.gram, w.points)
	w.gram.Z = mat.NewDense(l, l, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, rows, w.expand, 0, w.gram.Z)
	if !(dense.Symmetrize(w.gram.Z) <= maxLoss) {
		return lost
	}
	return ctx.Err()
}

// solveSemidefinite overwrites b with a⁺b and a with what is left of it, for b in the range of a, which is
// positive semidefinite.
func solveSemidefinite(ctx context.Context, a, b *mat.Dense) error {
	whole := mat.DenseCopyOf(a)
	err := dense.Cholesky(ctx, a)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		dense.SolveLower(dense.NoTrans, a, b)
		dense.SolveLower(dense.Transposed, a, b)
		return ctx.Err()
	}

	// The eigenvectors with eigenvalues of rounding size have nothing of b.
	values, vectors, err := dense.EigenSym(ctx, whole)
	if err != nil {
		return err
	}
	n, c := b.Dims()
	in := mat.NewDense(n, c, nil)
	dense.Gemm(dense.Transposed, dense.NoTrans, 1, vectors, b, 0, in)
	least := 1e-14 * float64(n) * values[n-1]
	for j, v := range values {
		row := in.RawRowView(j)
		for q := range row {
			if v > least {
				row[q] /= v
			} else {
				row[q] = 0
			}
		}
	}
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, vectors, in, 0, b)
	return ctx.Err()
}

// sharpResidual returns ‖K_s(Eβ − α) − rKα‖/‖K_sEβ‖, the residual of the equation α = Eβ − rK_s⁻¹Kα, multiplied by
// K_s, for β at the given points.
func (w *Warped) sharpResidual(alpha, beta *mat.Dense, points []int) float64 {
	n, c := alpha.Dims()
	right := mat.NewDense(n, c, nil)
	for q, i := range points {
		copy(right.RawRowView(i), beta.RawRowView(q))
	}
	whole := mat.NewDense(n, c, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, w.sharp, right, 0, whole)
	size := mat.Norm(whole, 2)
	if size == 0 {
		return 0
	}
	dense.Gemm(dense.NoTrans, dense.NoTrans, -1, w.sharp, alpha, 1, whole)
	dense.Gemm(dense.NoTrans, dense.NoTrans, -w.reg.Intrinsic(n, nil)/w.reg.GammaA, w.problem.gram, alpha, 1, whole)
	return mat.Norm(whole, 2) / size
}
