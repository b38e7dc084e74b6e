package cg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/sparse"
)

// A chebyshevStep is the step z₊ = z + momentum·(z − z₋) + rate·(r − A·z) of
// Chebyshev's iteration.
type chebyshevStep struct{ momentum, rate float64 }

// chebyshevSteps returns the steps of the iteration on [low, high] that begins
// with z = r/((low+high)/2). The residual is T_k((low+high−2λ)/(high−low)) over
// its value at 0, with k one more than the number of steps (Golub & Varga, Numer.
// Math. 3, 1961).
func chebyshevSteps(low, high float64, degree int) []chebyshevStep {
	middle, half := (high+low)/2, (high-low)/2
	steps := make([]chebyshevStep, degree)
	rho := half / middle
	for k := range steps {
		next := 1 / (2*middle/half - rho)
		steps[k] = chebyshevStep{next * rho, 2 * next / half}
		rho = next
	}
	return steps
}

func checkInterval(low, high float64, degree int) error {
	if !(low > 0) || !(high > low) || math.IsInf(high, 1) || degree < 1 {
		return fmt.Errorf("cg: Chebyshev polynomial of degree %d on [%v, %v]; it needs degree ≥ 1 and 0 < low < high", degree, low, high)
	}
	return nil
}

type chebyshev struct {
	a     sparse.Operator
	first float64
	steps []chebyshevStep
}

// NewChebyshev returns M⁻¹ = q(A), the polynomial of the given degree that makes
// the largest |1 − λq(λ)| on [low, high] smallest, with 0 < low < high. It is
// positive definite if all eigenvalues of A lie in (0, low + high); those below
// low are served less. It costs degree products with A to apply and holds two
// n×b blocks.
func NewChebyshev(a sparse.Operator, low, high float64, degree int) (Preconditioner, error) {
	if err := checkInterval(low, high, degree); err != nil {
		return nil, err
	}
	return &chebyshev{a, 2 / (low + high), chebyshevSteps(low, high, degree)}, nil
}

func (m *chebyshev) ApplyTo(dst, r *mat.Dense) {
	n, b := r.Dims()
	checkApply(m.a.Dim(), dst, r)
	z, last, az := dst, mat.NewDense(n, b, nil), mat.NewDense(n, b, nil)
	if len(m.steps)%2 == 1 {
		z, last = last, z // so that the last step writes dst
	}
	last.Zero()
	z.Scale(m.first, r)
	for _, s := range m.steps {
		m.a.MulTo(az, z)
		par.For(n, rowGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				rr, zr, lr, ar := r.RawRowView(i), z.RawRowView(i), last.RawRowView(i), az.RawRowView(i)
				for j := range zr {
					lr[j] = zr[j] + s.momentum*(zr[j]-lr[j]) + s.rate*(rr[j]-ar[j])
				}
			}
		})
		z, last = last, z
	}
}
