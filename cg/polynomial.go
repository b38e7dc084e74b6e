package cg

import (
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/sparse"
)

// polynomial is a Chebyshev polynomial of D⁻¹(L + cI), with D the diagonal of
// L + cI, times D⁻¹: symmetric, and applied in single precision; see [system] for the
// normalized Laplacian.
type polynomial struct {
	w       *sparse.CSR
	weights []float32 // w_ij over the mean of D; nil if the graph is binary
	factor  []float32 // turns the weights of row i into w_ij/d_i
	before  []float64 // factors of the rows of r
	after   []float64 // factors of the rows of the result
	first   float32
	steps   []chebyshevStep
	scratch sync.Pool // of *[]float32
}

// PolynomialBytes is the memory of the preconditioner [Chebyshev] of a graph of n vertices with nnz stored edges, for
// blocks of sixteen columns: three blocks and the weights in single precision, and the factors of the rows.
func PolynomialBytes(n, nnz int) int64 { return 3*4*16*int64(n) + 4*int64(nnz) + 20*int64(n) }

// leastDiagonal bounds the diagonal for the polynomial, relative to its mean. Far points have edges of 10⁻¹⁰⁰ by a heat
// kernel, and 1/d is no number of single precision then. A larger diagonal leaves the eigenvalues within their bounds.
const leastDiagonal = 1e-30

// newPolynomial returns the polynomial of the given degree for the eigenvalues of
// D⁻¹(L + cI) in [low, high].
func newPolynomial(s *system, low, high float64, degree int) *polynomial {
	n := s.w.Rows
	m := &polynomial{w: s.w, factor: make([]float32, n), before: make([]float64, n),
		after: make([]float64, n),
		first: float32(2 / (low + high)), steps: chebyshevSteps(low, high, degree)}
	unit := 1.0 // of the weights
	if s.w.Val != nil {
		unit = s.mean
	}
	for i, d := range s.diagonal {
		d = max(d, leastDiagonal*s.mean)
		// The mean keeps the numbers in between near the numbers of r, within single precision.
		m.before[i] = s.outer[i] * (s.mean / d)
		m.after[i] = s.outer[i] / s.mean
		m.factor[i] = float32(unit / d)
	}

	if s.w.Val == nil {
		return m
	}
	m.weights = make([]float32, len(s.w.Val))
	for p, v := range s.w.Val {
		m.weights[p] = float32(v / s.mean)
	}
	return m
}

// A chebyshevStep is the step z₊ = z + momentum·(z − z₋) + rate·(r − A·z) of
// Chebyshev's iteration.
type chebyshevStep struct{ momentum, rate float64 }

// chebyshevSteps returns the steps of the iteration on [low, high] that begins
// with z = r/((low+high)/2). The residual is T_k((low+high−2λ)/(high−low)) over
// its value at 0, with k one more than the number of steps (Golub & Varga, Numer.
// Math. 3, 1961).
func chebyshevSteps(low, high float64, degree int) []chebyshevStep {
	middle := (high + low) / 2
	half := (high - low) / 2
	steps := make([]chebyshevStep, degree)
	rho := half / middle
	for k := range steps {
		next := 1 / (2*middle/half - rho)
		steps[k] = chebyshevStep{next * rho, 2 * next / half}
		rho = next
	}
	return steps
}

func (m *polynomial) ApplyTo(dst, r *mat.Dense) {
	n, b := r.Dims()
	checkApply(m.w.Rows, dst, r)
	width := simd.StepColumns(b)
	block, _ := m.scratch.Get().(*[]float32)
	if block == nil || len(*block) != 3*n*width {
		block = new([]float32)
		*block = dense.Zeros[float32](3 * n * width)
	}

	defer m.scratch.Put(block)

	// Three blocks in single precision: the right-hand side and two iterates.
	right := (*block)[:n*width]
	z := (*block)[n*width : 2*n*width]
	last := (*block)[2*n*width:]
	par.For(n, rowGrain, func(lo, hi int) {
		clear(right[lo*width : hi*width]) // for the columns beyond b
		clear(z[lo*width : hi*width])
		clear(last[lo*width : hi*width])
		for i := lo; i < hi; i++ {
			rr := right[i*width:][:b]
			zr := z[i*width:][:b]
			for j, v := range r.RawRowView(i) {
				rr[j] = float32(v * m.before[i])
				zr[j] = m.first * rr[j]
			}
		}
	})

	for _, s := range m.steps {
		momentum := float32(s.momentum)
		rate := float32(s.rate)
		par.For(n, rowGrain, func(lo, hi int) {
			simd.GraphStep(last, z, right, width, m.w.Ptr, m.w.Col, m.weights, nil, m.factor, lo, hi, rate,
				1+momentum-rate, -momentum)
		})
		z, last = last, z
	}

	par.For(n, rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := dst.RawRowView(i)
			for j, v := range z[i*width:][:b] {
				d[j] = float64(v) * m.after[i]
			}
		}
	})
}
