package synthetic

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
)

// Shape of the manifold that Manifold draws from.
const (
	manifoldBend      = 0.8 // Lipschitz constant of the curved part, below 1
	manifoldFrequency = 8.0 // standard deviation of the entries of Ω
)

// Manifold draws n points on a random smooth manifold of dimension intrinsic in
// the ambient space: the n×ambient set of
//
//	x = Q(u − ½) + (ρ/‖Ω‖₂) sin(Ωu + φ) + noise·ε
//
// where u is uniform in the cube [0, 1]^intrinsic, one for each point, and Q
// (orthonormal columns), Ω (normal entries of standard deviation 8) and φ
// (uniform in [0, 2π)) are drawn once; ε is standard normal in the ambient
// space, so noise is a standard deviation per coordinate.
//
// The first term is a flat cube, the second bends it. Because sin(Ωu + φ) is
// Lipschitz with constant ‖Ω‖₂ and ρ = 0.8, without noise
//
//	0.2 ‖u − v‖ ≤ ‖x(u) − x(v)‖ ≤ 1.8 ‖u − v‖
//
// so the manifold has exactly the intrinsic dimension and nowhere meets itself;
// its radius of curvature is about a quarter of the cube's side.
//
// Point i depends on the arguments other than n, and on i: a smaller set is a
// prefix of a larger one. The cost is O(n·ambient·intrinsic). Manifold panics
// unless n ≥ 1, 1 ≤ intrinsic ≤ ambient and noise is finite and not negative.
func Manifold(n, ambient, intrinsic int, noise float64, seed uint64) *data.Dense[float32] {
	return ManifoldRows(0, n, ambient, intrinsic, noise, seed)
}

// ManifoldRows returns the points first, …, end − 1 of [Manifold], for sets that are written block by
// block. It panics unless 0 ≤ first < end, and where Manifold does.
func ManifoldRows(first, end, ambient, intrinsic int, noise float64, seed uint64) *data.Dense[float32] {
	if first < 0 || end <= first || intrinsic < 1 || intrinsic > ambient || !validNoise(noise) {
		panic(fmt.Sprintf("synthetic: Manifold of points %d to %d in %d dimensions, %d intrinsic, with noise %v",
			first, end, ambient, intrinsic, noise))
	}
	n := end - first
	q, omega, phase, bend := manifoldMap(ambient, intrinsic, seed)
	x := data.NewDense[float32](n, ambient)
	const grain = 512
	latent := make([][]float64, par.Workers(n, grain))
	par.ForWorker(n, grain, func(worker, lo, hi int) {
		if latent[worker] == nil {
			latent[worker] = make([]float64, intrinsic)
		}
		u := latent[worker]
		for i := lo; i < hi; i++ {
			rng := pointRand(seed, streamManifold, first+i)
			for j := range u {
				u[j] = rng.Float64()
			}
			// Coordinate a: the flat cube and the sine that bends it.
			row := x.Row(i)
			for a := range row {
				qa := q[a*intrinsic:][:len(u)]
				oa := omega[a*intrinsic:][:len(u)]
				flat := 0.0
				angle := phase[a]
				for j, uj := range u {
					flat += qa[j] * (uj - 0.5)
					angle += oa[j] * uj
				}
				v := flat + bend*math.Sin(angle)
				if noise > 0 {
					v += noise * rng.NormFloat64()
				}
				row[a] = float32(v)
			}
		}
	})

	return x
}

// manifoldMap draws the matrices that all points of a manifold share: Q and Ω, row-major
// ambient×intrinsic, φ, and the factor ρ/‖Ω‖₂.
func manifoldMap(ambient, intrinsic int, seed uint64) (q, omega, phase []float64, bend float64) {
	rng := pointRand(seed, streamManifold, -1)
	normal := func(scale float64) []float64 {
		a := make([]float64, ambient*intrinsic)
		for i := range a {
			a[i] = scale * rng.NormFloat64()
		}
		return a
	}

	// The left singular vectors of a normal matrix are a uniform random frame.
	frame := mat.NewDense(ambient, intrinsic, normal(1))
	var svd mat.SVD
	factorize(&svd, frame, mat.SVDThinU)
	var left mat.Dense
	svd.UTo(&left)
	frame.Copy(&left)
	omega = normal(manifoldFrequency)
	phase = make([]float64, ambient)
	for a := range phase {
		phase[a] = 2 * math.Pi * rng.Float64()
	}
	factorize(&svd, mat.NewDense(ambient, intrinsic, omega), mat.SVDNone)
	return frame.RawMatrix().Data, omega, phase, manifoldBend / svd.Values(nil)[0]
}

func factorize(svd *mat.SVD, a mat.Matrix, kind mat.SVDKind) {
	if !svd.Factorize(a, kind) {
		panic("synthetic: the singular values of a normal matrix did not converge")
	}
}
