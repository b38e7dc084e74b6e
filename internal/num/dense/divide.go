package dense

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// ErrNoConvergence means that an iteration of LAPACK failed, as QL on a leaf may; no matrix is
// known for which it does.
var ErrNoConvergence = errors.New("dense: the iteration for eigenvalues or singular values did not converge")

const (
	leafSize = 32
	epsilon  = 0x1p-53
)

// A conquest is the state of divide and conquer on an n×n tridiagonal matrix. A
// node is a range [lo, hi) of it. When the node is solved, d[lo:hi] holds its
// eigenvalues, order[lo:hi] their indices in ascending order, and rows lo to hi of q
// their eigenvectors, in columns lo to hi. work and s are memory of the same shape.
type conquest struct {
	ctx        context.Context
	n          int
	d, e       []float64
	q, work, s []float64
	order      []int
}

// divideAndConquer computes the eigenvectors of the symmetric tridiagonal matrix with diagonal d
// and off-diagonal e[:n−1], with a norm near one. Row order[j] of rows is the vector of the j-th
// smallest eigenvalue d[order[j]]; d is overwritten. spare is another n×n slice the caller may use.
// A cancelled ctx is an error.
func divideAndConquer(ctx context.Context, d, e []float64) (rows []float64, order []int, spare []float64,
	err error) {
	n := len(d)
	c := &conquest{ctx: ctx, n: n, d: d, e: e, q: make([]float64, n*n), work: make([]float64, n*n),
		s: make([]float64, n*n), order: make([]int, n)}

	// Level l has 2^l nodes; node t begins at n·t/2^l, so that the ends of every
	// level are ends in the next one too. A cut takes |e| off both diagonal entries, which
	// leaves a matrix of rank one to add again.
	leaves := 1
	for ceilDiv(n, leaves) > leafSize {
		leaves *= 2
	}
	for t := 1; t < leaves; t++ {
		cut := n * t / leaves
		d[cut-1] -= math.Abs(e[cut-1])
		d[cut] -= math.Abs(e[cut-1])
	}

	failed := make([]bool, leaves)
	par.For(leaves, 1, func(t, _ int) { failed[t] = !c.leaf(n*t/leaves, n*(t+1)/leaves) })
	if slices.Contains(failed, true) {
		return nil, nil, nil, ErrNoConvergence
	}

	// Merge the nodes level by level.
	for nodes := leaves / 2; nodes >= 1; nodes /= 2 {
		if ctx.Err() != nil {
			return nil, nil, nil, ctx.Err()
		}
		par.Until(ctx, nodes, 1, func(t, _ int) {
			c.merge(n*t/nodes, n*(2*t+1)/(2*nodes), n*(t+1)/nodes)
		})
	}

	return c.q, c.order, c.work, ctx.Err()
}

// leaf solves the node [lo, hi) by QL iteration.
func (c *conquest) leaf(lo, hi int) bool {
	k := hi - lo
	z := make([]float64, k*k)
	e := slices.Clone(c.e[lo:hi])
	ok := gonum.Implementation{}.Dsteqr(lapack.EVTridiag, k, c.d[lo:hi], e, z, k,
		make([]float64, max(1, 2*k-2)))
	for i := range k {
		c.order[lo+i] = i + lo
		for j := range k {
			c.q[(lo+i)*c.n+lo+j] = z[j*k+i]
		}
	}

	return ok
}

// A merger solves the node [lo, hi) from its halves [lo, mid) and [mid, hi). With
// their eigenvectors the node is diag(d) + rho·z·zᵀ.
type merger struct {
	*conquest
	lo, mid, hi int
	rho         float64
	z           []float64
	part        []int // of each row, where it may be nonzero
	// Eigenpairs that take part in the secular equation, and those that do not,
	// which stay as they are.
	kept, deflated []int
}

// Parts of the node.
const left, both, right = 0, 1, 2

// merge solves the node [lo, hi) from its halves.
func (c *conquest) merge(lo, mid, hi int) {
	m := &merger{conquest: c, lo: lo, mid: mid, hi: hi, rho: 2 * math.Abs(c.e[mid-1]),
		z: make([]float64, hi-lo), part: make([]int, hi-lo)}
	m.sort()
	m.deflate()
	if len(m.kept) == 0 {
		return
	}
	lambda, zk, s := m.secular()
	if c.ctx.Err() != nil {
		return // the result is not read
	}

	// Vectors of kept eigenpairs are products; deflated ones are copied behind them.
	grouped, count := m.group()
	m.vectors(s, zk, grouped)
	source := make([]int, 0, hi-lo)
	for _, j := range grouped {
		source = append(source, m.kept[j])
	}
	m.multiply(s, append(source, m.deflated...), count)
	old := make([]float64, len(m.deflated))
	for j, i := range m.deflated {
		old[j] = c.d[i]
	}
	copy(c.d[lo:], lambda)
	copy(c.d[lo+len(lambda):], old)
	for i := lo; i < hi; i++ {
		c.order[i] = i
	}
	m.sort()
}

// sort puts the order of the node in ascending order of the eigenvalues.
func (m *merger) sort() {
	slices.SortFunc(m.order[m.lo:m.hi], func(i, j int) int {
		return cmp.Or(cmp.Compare(m.d[i], m.d[j]), cmp.Compare(i, j))
	})
}

// deflate computes z and divides the eigenpairs into kept and deflated ones. An eigenpair is
// deflated where its component of z is negligible, or can be made so by a rotation of two vectors
// with nearly equal d.
func (m *merger) deflate() {
	lo := m.lo
	n := m.n
	var top float64
	for i := range m.z {
		if lo+i < m.mid {
			m.z[i] = m.q[(lo+i)*n+m.mid-1] / math.Sqrt2
		} else {
			m.z[i] = math.Copysign(1, m.e[m.mid-1]) * m.q[(lo+i)*n+m.mid] / math.Sqrt2
		}
		top = max(top, math.Abs(m.z[i]), math.Abs(m.d[lo+i]))
	}

	// Go through the eigenpairs in order; last is the last one that is not deflated yet.
	tol := 8 * epsilon * top
	for i := m.mid; i < m.hi; i++ {
		m.part[i-lo] = right
	}
	last := -1
	for _, i := range m.order[lo:m.hi] {
		switch {
		case m.rho*math.Abs(m.z[i-lo]) <= tol:
			m.deflated = append(m.deflated, i)
			continue
		case last >= 0 && m.rotate(last, i, tol):
			m.deflated = append(m.deflated, last)
			if m.part[i-lo] != m.part[last-lo] {
				m.part[i-lo] = both
			}
		case last >= 0:
			m.kept = append(m.kept, last)
		}
		last = i
	}

	if last >= 0 {
		m.kept = append(m.kept, last)
	}
}

// rotate tries to make z of eigenpair i0 zero by a rotation with the next one, i1.
// It does so if the element the rotation puts beside the diagonal is at most tol.
func (m *merger) rotate(i0, i1 int, tol float64) bool {
	d := m.d
	z := m.z
	lo := m.lo
	r := math.Hypot(z[i0-lo], z[i1-lo])
	cos := z[i1-lo] / r
	sin := -z[i0-lo] / r
	if !(math.Abs((d[i1]-d[i0])*cos*sin) <= tol) {
		return false
	}

	// The rotation moves the whole component to i1, and mixes the diagonal and the vectors.
	z[i0-lo] = 0
	z[i1-lo] = r
	d0 := d[i0]
	d1 := d[i1]
	d[i0] = d0*cos*cos + d1*sin*sin
	d[i1] = d0*sin*sin + d1*cos*cos
	x := m.q[i0*m.n+lo : i0*m.n+m.hi]
	y := m.q[i1*m.n+lo : i1*m.n+m.hi]
	for j, v := range x {
		w := y[j]
		x[j] = cos*v + sin*w
		y[j] = cos*w - sin*v
	}
	return true
}

// secular solves the secular equation of the k kept eigenpairs, with rho inside z.
// Row j of s, k×k, holds d_i − λ_j.
func (m *merger) secular() (lambda, zk, s []float64) {
	k := len(m.kept)
	dk := make([]float64, k)
	zk = make([]float64, k)
	lambda = make([]float64, k)
	for j, i := range m.kept {
		dk[j] = m.d[i]
		zk[j] = m.z[i-m.lo] * math.Sqrt(m.rho)
	}
	s = m.s[m.lo*m.n:][:k*k]
	par.Until(m.ctx, k, m.grain(), func(a, b int) {
		for j := a; j < b; j++ {
			lambda[j] = secularRoot(dk, zk, j, s[j*k:][:k])
		}
	})

	par.Until(m.ctx, k, 64, func(a, b int) { recomputeZ(dk, zk, s, a, b) })
	return lambda, zk, s
}

// grain is the number of kept eigenpairs in one parallel chunk.
func (m *merger) grain() int { return max(1, 1<<13/len(m.kept)) }

// group numbers the kept eigenpairs by part, so that the products skip zero
// blocks, and counts them.
func (m *merger) group() (grouped []int, count [3]int) {
	grouped = make([]int, len(m.kept))
	for j := range grouped {
		grouped[j] = j
	}
	of := func(j int) int { return m.part[m.kept[j]-m.lo] }
	slices.SortStableFunc(grouped, func(x, y int) int { return cmp.Compare(of(x), of(y)) })
	for j := range m.kept {
		count[of(j)]++
	}
	return grouped, count
}

// vectors replaces the rows of s by the eigenvectors of diag(dk) + zk·zkᵀ, their
// elements in the order of grouped.
func (m *merger) vectors(s, zk []float64, grouped []int) {
	k := len(grouped)
	par.Until(m.ctx, k, m.grain(), func(a, b int) {
		u := make([]float64, k)
		for j := a; j < b; j++ {
			row := s[j*k:][:k]
			for g, i := range grouped {
				u[g] = zk[i] / row[i]
			}
			f := 1 / math.Sqrt(simd.Dot(u, u))
			for g, v := range u {
				row[g] = f * v
			}
		}
	})
}

// multiply computes the eigenvectors of the node: the products of s with the old
// ones, then the deflated ones. source lists the old rows in the order of both.
func (m *merger) multiply(s []float64, source []int, count [3]int) {
	n := m.n
	lo := m.lo
	mid := m.mid
	hi := m.hi
	k := len(m.kept)
	grain := max(1, 1<<14/(hi-lo))
	par.For(len(source), grain, func(a, b int) {
		for r := a; r < b; r++ {
			copy(m.work[(lo+r)*n+lo:][:hi-lo], m.q[source[r]*n+lo:])
		}
	})

	// A vector of the left half is zero in the right one, and the reverse: two products without the
	// zero blocks.
	k0 := count[left]
	k01 := count[left] + count[both]
	gemmUntil(m.ctx, NoTrans, NoTrans, k, mid-lo, k01, 1, s, k, m.work[lo*n+lo:], n, 0, m.q[lo*n+lo:], n)
	gemmUntil(m.ctx, NoTrans, NoTrans, k, hi-mid, k-k0, 1, s[k0:], k, m.work[(lo+k0)*n+mid:], n, 0,
		m.q[lo*n+mid:], n)
	par.For(len(m.deflated), grain, func(a, b int) {
		for r := a; r < b; r++ {
			copy(m.q[(lo+k+r)*n+lo:][:hi-lo], m.work[(lo+k+r)*n+lo:])
		}
	})
}

// recomputeZ replaces z[a:b] by the vector for which the computed roots are exact:
// z_i² = (λ_i − d_i)·Π_{j≠i} (d_i − λ_j)/(d_i − d_j). That makes the eigenvectors
// orthogonal however close the roots are. s[j·k+i] is d_i − λ_j.
func recomputeZ(d, z, s []float64, a, b int) {
	k := len(d)
	w := make([]float64, b-a)
	for i := range w {
		w[i] = 1
	}
	for j := range k {
		row := s[j*k+a : j*k+b]
		for i, delta := range row {
			if a+i == j {
				w[i] *= delta
			} else {
				w[i] *= delta / (d[a+i] - d[j])
			}
		}
	}

	for i, v := range w {
		z[a+i] = math.Copysign(math.Sqrt(math.Abs(v)), z[a+i])
	}
}

// secularRoot returns root i of f(λ) = 1 + Σ_j z_j²/(d_j − λ), the one between d_i
// and d_{i+1}, or above d_{k−1}; d is strictly increasing, no z is zero. It sets
// delta[j] = d_j − λ, each to high relative accuracy.
//
// The unknown is the distance tau from the nearer pole. Each step replaces the sums
// over the poles left and right by one simple pole each, matching value and slope
// ("the middle way": Li, LAPACK Working Note 89, 1993). f increases between poles,
// so a bracket is kept; a step that leaves it, or too many steps, make it bisect.
func secularRoot(d, z []float64, i int, delta []float64) float64 {
	k := len(d)
	if k == 1 {
		delta[0] = -z[0] * z[0]
		return d[0] + z[0]*z[0]
	}
	p := min(i, k-2)
	origin := i // poles p and p+1 stand for the two sums
	outer := i == k-1
	var lo, hi float64
	if outer {
		for _, v := range z {
			hi += v * v
		}
		hi *= 1 + 8*epsilon
	} else {
		hi = d[i+1] - d[i]
	}

	tau := hi / 2
	for iteration := 0; ; iteration++ {
		var psi, dpsi, phi, dphi float64
		for j, zj := range z[:p+1] {
			delta[j] = (d[j] - d[origin]) - tau
			t := zj / delta[j]
			psi += zj * t
			dpsi += t * t
		}

		for j := p + 1; j < k; j++ {
			delta[j] = (d[j] - d[origin]) - tau
			t := z[j] / delta[j]
			phi += z[j] * t
			dphi += t * t
		}

		// The root is found when f is within its rounding error.
		f := 1 + psi + phi
		slope := dpsi + dphi
		bound := 8*(1+math.Abs(psi)+math.Abs(phi)) + math.Abs(tau)*slope
		if math.Abs(f) <= epsilon*bound || iteration == 200 {
			return d[origin] + tau
		}

		if f < 0 {
			lo = tau
		} else {
			hi = tau
		}

		if iteration == 0 && !outer && f < 0 {
			// The root is nearer to the right pole: measure from there.
			gap := hi
			origin = i + 1
			tau -= gap
			lo = tau
			hi = 0
		}

		// The next iterate is the root of the model c + b₀/(d0 − step) + b₁/(d1 − step), a
		// quadratic equation, in the form that does not cancel.
		d0 := delta[p]
		d1 := delta[p+1]
		c := f - d0*dpsi - d1*dphi
		a := (d0+d1)*f - d0*d1*slope
		b := d0 * d1 * f
		root := math.Sqrt(math.Abs(a*a - 4*b*c))
		var step float64
		switch {
		case outer && a >= 0:
			step = (a + root) / (2 * math.Abs(c))
		case outer:
			step = 2 * b / (a - root)
		case a <= 0:
			step = (a - root) / (2 * c)
		default:
			step = 2 * b / (a + root)
		}

		if !(f*step < 0) {
			step = -f / slope
		}
		// A step that leaves the bracket, and every eighth, is replaced by a bisection.
		next := tau + step
		if !(next > lo && next < hi) || iteration%8 == 7 {
			if next = inside(lo, hi); !(next > lo && next < hi) {
				return d[origin] + tau // nothing between lo and hi
			}
		}

		if next == tau {
			return d[origin] + tau
		}
		tau = next
	}
}

// inside returns a number between lo and hi, near zero if that is one of them.
func inside(lo, hi float64) float64 {
	switch {
	case lo == 0:
		return hi / 16
	case hi == 0:
		return lo / 16
	}
	return lo + (hi-lo)/2
}
