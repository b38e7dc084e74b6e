package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// Frequencies draws the ω_j of the features
//
//	φ_{2j}(x) = √(2/D) cos ω_jᵀx,  φ_{2j+1}(x) = √(2/D) sin ω_jᵀx,
//
// as a d×D/2 matrix. φ(x)ᵀφ(z) is k(x, z) on average. For the Gaussian kernel the ω_j are normal with
// variance 1/σ². For the Laplace kernel they are divided by the magnitude of a standard normal
// variable, which makes a Cauchy distribution. The first features of a larger D are the features of
// a smaller one, up to the factor.
//
// Rahimi & Recht, Random features for large-scale kernel machines, NIPS 2007.
func Frequencies(k Kernel, d, features int, seed uint64) (*mat.Dense, error) {
	if k.Kind != Gaussian && k.Kind != Laplace {
		return nil, fmt.Errorf(
			"models: Fourier features are for the Gaussian and the Laplace kernel, not for the %v one", k.Kind)
	}

	rng := rand.New(rand.NewPCG(seed, 0x666f7572696572)) // "fourier"
	w := mat.NewDense(d, features/2, nil)
	for j := range features / 2 {
		// Directions are normal; the length of ω follows the spectrum of the kernel.
		scale := 1 / k.Sigma
		if k.Kind == Laplace {
			scale /= math.Abs(rng.NormFloat64())
		}
		for i := range d {
			w.Set(i, j, scale*rng.NormFloat64())
		}
	}

	return w, nil
}

// FourierTo sets dst to the features of the rows lo to hi of x. The bits of a row depend on its point
// alone.
func FourierTo(dst *mat.Dense, x data.Points, lo, hi int, frequencies *mat.Dense) {
	_, half := frequencies.Dims()
	angles := mat.NewDense(hi-lo, half, nil)
	if m, ok := x.(*sparse.CSR); ok {
		// A product of sparse rows reads their entries alone.
		rows := make([]int, hi-lo)
		for i := range rows {
			rows[i] = lo + i
		}
		data.Select(m, rows).(*sparse.CSR).MulTo(angles, frequencies)
	} else {
		_, d := x.Dims()
		block, _ := data.Block(x, nil, lo, hi, 0, d)
		dense.SteadyProduct(angles, block, frequencies)
	}

	scale := math.Sqrt(1 / float64(half))
	par.For(hi-lo, 64, func(a, b int) {
		for i := a; i < b; i++ {
			to := dst.RawRowView(i)
			for j, v := range angles.RawRowView(i) {
				sin, cos := math.Sincos(v)
				to[2*j] = scale * cos
				to[2*j+1] = scale * sin
			}
		}
	})
}

// FourierError returns the root mean square of φ(x)ᵀφ(z) − k(x, z) over 1000 pairs
// of rows of phi, the features of x.
func FourierError(phi *mat.Dense, x data.Points, k Kernel, seed uint64) (float64, error) {
	const pairs = 1000
	n, _ := phi.Dims()
	rng := rand.New(rand.NewPCG(seed, 0x7061697273)) // "pairs"
	one := mat.NewDense(1, 1, nil)
	var sum float64
	for range pairs {
		// Pairs of one point count too: φ(x)ᵀφ(x) is 1, so their error is 0 for both kernels.
		i := rng.IntN(n)
		j := rng.IntN(n)
		if err := Cross(one, data.Select(x, []int{i}), data.Select(x, []int{j}), k); err != nil {
			return 0, err
		}
		e := mat.Dot(phi.RowView(i), phi.RowView(j)) - one.At(0, 0)
		sum += e * e
	}

	return math.Sqrt(sum / pairs), nil
}
