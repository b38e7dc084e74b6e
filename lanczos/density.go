package lanczos

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// density is a stochastic Lanczos quadrature of the spectrum (Lin, Saad & Yang,
// SIAM Review 58, 2016): each of a few random vectors contributes the Ritz
// values of a short Lanczos run, weighted by the squared first components of
// the tridiagonal matrix's eigenvectors.
type density struct {
	nodes []node // ascending
	low   float64
	top   float64 // largest Ritz value, not above the largest eigenvalue
	high  float64 // bound on the largest eigenvalue
}

// norm estimates ‖A‖₂ from below: a residual within a tolerance relative to the estimate is within
// the tolerance relative to ‖A‖₂ and to every bound on it.
func (d *density) norm() float64 { return math.Max(math.Abs(d.low), math.Abs(d.top)) }

// A node is a Ritz value; the weights add up to 1. An eigenvalue lies within residual of value.
type node struct{ value, weight, residual float64 }

const (
	densityVectors = 8
	densitySteps   = 40
	// densityProject is the number of steps after which rounding has brought
	// back so little of the null vectors that it need not be taken out sooner, unless
	// the vectors have shrunk by more than densityGrowth since.
	densityProject = 4
	densityGrowth  = 50
)

// estimateDensity runs densityVectors Lanczos processes at once on the complement of the columns of
// null, each with its own recurrence of the given number of steps. The vectors keep the lengths
// that the recurrence gives them: for v of length β after prev of length γ, with normal ones v/β
// and prev/γ, the next is Av/β − αv/β − β·prev/γ with α = vᵀAv/β². So a step passes over the block
// twice, once for the product and α, once for the next vectors and their lengths.
func estimateDensity(a sparse.Operator, null *mat.Dense, seed uint64, steps int) density {
	const b = densityVectors
	n := a.Dim()
	steps = min(steps, n)
	v := randomBlock(n, b, rand.New(rand.NewPCG(seed, 0x64656e73))) // "dens"
	if null != nil {
		project(v, null)
	}
	prev := dense.New(n, b)
	w := dense.New(n, b)
	alpha := make([][]float64, b)
	beta := make([][]float64, b)
	norm := columnNorms(v)
	last := make([]float64, b) // length of prev

	squares := make([][b]float64, par.Chunks(n, rowGrain))
	top := make([]float64, b)
	growth := 1.0 // of rounding beside each vector
	for step := range steps {
		a.MulTo(w, v)
		dots := columnDots(v, w)
		// The coefficients of the recurrence for vectors that are not normal. A process that ended
		// has length 0 and stays there.
		var scale, own, back [b]float64
		for j, length := range norm {
			alpha[j] = append(alpha[j], 0)
			if length > 0 {
				alpha[j][step] = dots[j] / length / length
				scale[j] = 1 / length
				own[j] = alpha[j][step] / length
			}
			if last[j] > 0 {
				back[j] = length / last[j]
			}
		}

		// The next vectors replace the product, and their squared lengths are summed on the way.
		vd := v.RawMatrix().Data
		wd := w.RawMatrix().Data
		pd := prev.RawMatrix().Data
		par.For(n, rowGrain, func(lo, hi int) {
			var sum [b]float64
			for i := lo * b; i < hi*b; i += b {
				wr := (*[b]float64)(wd[i:])
				vr := (*[b]float64)(vd[i:])
				pr := (*[b]float64)(pd[i:])
				for j := range wr {
					x := scale[j]*wr[j] - own[j]*vr[j] - back[j]*pr[j]
					wr[j] = x
					sum[j] += x * x
				}
			}

			squares[lo/rowGrain] = sum
		})

		last = norm
		norm = make([]float64, b)
		for _, sum := range squares {
			for j, x := range sum {
				norm[j] += x
			}
		}

		// A vector that shrinks by a factor lets the rounding errors in it, and among them the null
		// vectors, grow by that factor.
		shrunk := 1.0
		for j, x := range norm {
			norm[j] = math.Sqrt(x)
			if top[j] = max(top[j], math.Abs(alpha[j][step]), norm[j]); top[j] > 0 {
				shrunk = max(shrunk, min(top[j]/norm[j], 1e16))
			}
		}

		// Take the null vectors out again before they matter.
		if growth *= shrunk; null != nil &&
			(step%densityProject == densityProject-1 || growth > densityGrowth) {
			project(w, null)
			norm = columnNorms(w)
			growth = 1
		}

		for j := range beta {
			beta[j] = append(beta[j], norm[j])
		}
		prev, v, w = v, w, prev
	}

	// All Ritz values of all processes, ascending, are the quadrature.
	d := density{low: math.Inf(1), top: math.Inf(-1), high: math.Inf(-1)}
	for j := range alpha {
		d.add(alpha[j], beta[j])
	}
	slices.SortFunc(d.nodes, func(a, b node) int { return cmp.Compare(a.value, b.value) })
	if bound, ok := a.(interface{ UpperBound() float64 }); ok {
		d.high = math.Min(d.high, bound.UpperBound())
	}
	d.top = math.Min(d.top, d.high)
	return d
}

// add puts the quadrature of one run, with diagonal alpha and off-diagonal
// beta, into d. A run ends where beta vanishes: its Krylov space is exhausted.
func (d *density) add(alpha, beta []float64) {
	scale := 0.0
	for i := range alpha {
		scale = max(scale, math.Abs(alpha[i]), beta[i])
	}
	m := 1
	for m < len(alpha) && beta[m-1] > 1e-12*scale {
		m++
	}
	// The Ritz values are the eigenvalues of the tridiagonal matrix.
	t := mat.NewSymDense(m, nil)
	for i := range m {
		t.SetSym(i, i, alpha[i])
		if i > 0 {
			t.SetSym(i-1, i, beta[i-1])
		}
	}

	var e mat.EigenSym
	e.Factorize(t, true)
	var s mat.Dense
	e.VectorsTo(&s)
	for i, v := range e.Values(nil) {
		// The interval around a Ritz value with the last component's residual
		// holds an eigenvalue (Zhou & Li, J. Comput. Phys. 230, 2011).
		residual := beta[m-1] * math.Abs(s.At(m-1, i))
		d.nodes = append(d.nodes, node{v, s.At(0, i) * s.At(0, i) / densityVectors, residual})
		d.low = min(d.low, v)
		d.top = max(d.top, v)
		d.high = max(d.high, v+residual)
	}
}

// quantile returns the value below which a share of the spectrum lies.
func (d *density) quantile(share float64) float64 {
	var below float64
	for i, nd := range d.nodes {
		// Half a node's weight lies on either side of it.
		if next := below + nd.weight; next-nd.weight/2 >= share {
			if i == 0 {
				return nd.value
			}
			from := d.nodes[i-1]
			lo := below - from.weight/2
			hi := next - nd.weight/2
			return from.value + (nd.value-from.value)*(share-lo)/(hi-lo)
		} else {
			below = next
		}
	}

	return d.nodes[len(d.nodes)-1].value
}
