package propagation

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// heatTolerance bounds the error of a polynomial, relative to its largest value.
const heatTolerance = 1e-4

// heat takes explicit steps u ← u − Δt (Lu − b) of the heat equation with sources, m at a time:
//
//	u ← (I − ΔtL)ᵐ u + Δt Σ_{j<m} (I − ΔtL)ʲ b
//
// Both polynomials of L are sums of Chebyshev polynomials on [0, λ], with λ a bound of the
// eigenvalues. Some √m terms are enough in place of m (Sachdeva & Vishnoi 2014, section 3).
//
// Blocks are of single precision: its rounding is far below heatTolerance, and a product reads half of the
// bytes.
type heat struct {
	m      *stepMatrix
	width  int // of scratch
	decay  []float64
	supply []float64
	a, b   []float32 // scratch, n×width
	out    *mat.Dense
}

// newHeat prepares m steps of length 1/max d for blocks of c columns.
func newHeat(matrix *stepMatrix, m, c int) *heat {
	n := matrix.n
	h := &heat{m: matrix, width: sparse.SingleWidth(c), out: dense.New(n, c)}
	h.a = dense.Zeros[float32](n * h.width)
	h.b = dense.Zeros[float32](n * h.width)
	top := matrix.top
	dt := 1 / matrix.longest
	power := float64(m)
	h.decay = chebyshev(top, m, func(x float64) float64 { return math.Pow(1-dt*x, power) })
	h.supply = chebyshev(top, m, func(x float64) float64 {
		if dt*x < 1e-9 {
			return power * dt
		}
		return (1 - math.Pow(1-dt*x, power)) / x
	})
	return h
}

// narrow makes the scratch of fewer columns.
func (h *heat) narrow(width int) {
	h.width = width
	h.a = h.a[:h.m.n*width]
	h.b = h.b[:h.m.n*width]
}

// stepMatrix is 2L/λ − I of a Laplacian L = D − W.
type stepMatrix struct {
	*sparse.Single
	n       int
	top     float64 // λ
	longest float64 // max d
}

// newStepMatrix prepares the matrix of l.
func newStepMatrix(l *sparse.Laplacian) *stepMatrix {
	m := &stepMatrix{n: l.Dim(), top: l.UpperBound()}
	for _, d := range l.Degrees() {
		m.longest = max(m.longest, d)
	}
	if m.longest == 0 {
		m.top, m.longest = 1, 1 // no edges: L is zero
	}
	m.Single = l.Single(-2/m.top, -1)
	return m
}

// heatGrain rows are one chunk of a pass over a block.
const heatGrain = 2048

// chebyshev returns the coefficients of f on [0, top] as a sum of Chebyshev polynomials of degree
// up to degree, without a tail that is small. The first coefficient is halved already.
func chebyshev(top float64, degree int, f func(x float64) float64) []float64 {
	// Interpolation at the roots of the polynomial of degree `points` is exact for f of the degree.
	points := degree + 1
	values := make([]float64, points)
	largest := 0.0
	for j := range values {
		values[j] = f(top / 2 * (1 + math.Cos(math.Pi*(float64(j)+0.5)/float64(points))))
		largest = max(largest, math.Abs(values[j]))
	}

	out := make([]float64, points)
	for k := range out {
		for j, v := range values {
			out[k] += v * math.Cos(math.Pi*float64(k)*(float64(j)+0.5)/float64(points))
		}
		out[k] *= 2 / float64(points)
	}
	out[0] /= 2

	// Polynomials are at most one, so the sum of what is left out bounds the error.
	var tail float64
	for len(out) > 2 {
		tail += math.Abs(out[len(out)-1])
		if tail > heatTolerance*largest {
			break
		}
		out = out[:len(out)-1]
	}
	return out
}

// apply returns Σ_k c_k T_k(2L/λ − I) x by Clenshaw's recurrence, for x that add adds times a
// factor to a block of rows of the scratch's width. The result is scratch of h: the next call overwrites it.
// Every term costs one pass over the graph.
func (h *heat) apply(coefficients []float64, add func(to []float32, factor float32)) []float32 {
	next := h.a
	prior := h.b
	clear(next)
	clear(prior)
	add(next, float32(coefficients[len(coefficients)-1]))

	// b_k = c_k x + 2t(L) b_{k+1} − b_{k+2}; the last step has t(L) in place of 2t(L).
	for k := len(coefficients) - 2; k >= 0; k-- {
		if k > 0 {
			h.m.Step(prior, next, h.width)
		} else {
			h.m.HalfStep(prior, next, h.width)
		}
		add(prior, float32(coefficients[k]))
		next, prior = prior, next
	}
	return next
}

// sources returns what m steps make of the sources b alone, a new block of the scratch's width.
func (h *heat) sources(b *mat.Dense) []float32 {
	width := h.width
	return slices.Clone(h.apply(h.supply, func(to []float32, factor float32) {
		for i := range h.m.n {
			row := to[i*width:][:width]
			for k, v := range b.RawRowView(i) {
				row[k] += factor * float32(v)
			}
		}
	}))
}

// step returns m steps from the unit vectors of the labels, with sources that [heat.sources]
// made. Points that do not count stay zero. The block belongs to h: the next step overwrites it.
func (h *heat) step(labels []int32, live []bool, sources []float32) *mat.Dense {
	return h.from(func(to []float32, factor float32) {
		for i, c := range labels {
			if live == nil || live[i] {
				to[i*h.width+int(c)] += factor
			}
		}
	}, sources)
}

// from is step from the block that add adds, times a factor, to one of the scratch's width.
func (h *heat) from(add func(to []float32, factor float32), sources []float32) *mat.Dense {
	width := h.width
	u := h.apply(h.decay, add)
	par.For(h.m.n, heatGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := h.out.RawRowView(i)
			for k := range row {
				row[k] = float64(u[i*width+k] + sources[i*width+k])
			}
		}
	})
	return h.out
}
