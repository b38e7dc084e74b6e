package cg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

const (
	// inertiaBlock is the number of vertices that are eliminated at once. Pivots are chosen among them
	// only; all other operations are products of matrices.
	inertiaBlock = 64
	// inertiaPivot is the share of the largest entry that the largest diagonal entry must have to be a
	// pivot by itself: (1+√17)/8 bounds the growth of the entries (Bunch & Parlett 1971).
	inertiaPivot = 0.6403882032022076
	// inertiaGrowth bounds the entries that elimination makes, over the largest one of the matrix. The
	// count is exact for a matrix that differs from L by about so many units of rounding.
	inertiaGrowth = 1e7
	// inertiaOperations bounds the operations of a count, some ten seconds on two processors.
	inertiaOperations = 2e11
)

// CountBelow returns the number of eigenvalues of the Laplacian l below value, its power and its shift
// left out: the number of negative pivots of L − value·I = R^-½(D − W − value·R)R^-½, by Sylvester's law
// of inertia (Parlett, The Symmetric Eigenvalue Problem, section 3.3). R is I, or D if L is normalized.
//
// ok is false where the graph has no small separators, so that the factor would be too large (see
// [Cholesky]), and where rounding spoils the pivots because value is too near to an eigenvalue of a part
// of the graph. Otherwise the count is the number for a matrix that differs from L by at most about
// 1e-9·‖L‖, and much less where value is small.
//
// Nested dissection orders the vertices as for an exact factor, of which nothing is kept; an exact factor m of
// the same graph, from [Precondition], lends its order, and m may be nil. It takes Σ s(s + m)² operations for
// fronts of s vertices with m at their border: about 30·n^1.5 for the neighbours of n points on a surface.
func CountBelow(l *sparse.Laplacian, value float64, m Preconditioner) (count int, ok bool) {
	s := newSystem(l.With(1, 0))
	for i, r := range s.outer {
		s.ground[i] = -value * r * r
	}

	var d *dissection
	if e, ok := m.(*exact); ok && len(e.order) == s.w.Rows {
		d = e.dissection
	} else {
		d = s.dissectForCount()
	}
	if d == nil || d.operations() > inertiaOperations {
		return 0, false
	}

	most := 0.0
	for i, degree := range l.Degrees() {
		most = max(most, math.Abs(degree+s.ground[i]))
	}
	a := newAssembly(s, &exact{dissection: d})
	var parts []*inertia // of each thread
	if !d.eachFront(func() func(t int) bool {
		c := &inertia{assembly: a.apart(), most: most * inertiaGrowth}
		parts = append(parts, c)
		return c.eliminate
	}) {
		return 0, false
	}
	for _, c := range parts {
		count += c.negative
	}
	return count, true
}

// dissectForCount returns an order of elimination, nil if the factor would be too large.
func (s *system) dissectForCount() *dissection {
	s.spread() // finds the narrowest level
	limit := min(exactMany, exactPerEdge*s.w.NNZ()+frontLeaf*s.w.Rows)
	if hopeless(s.w.Rows, s.narrowest/4, limit) {
		return nil
	}
	return dissect(s.w, limit)
}

// operations returns the number of operations of the elimination of all fronts.
func (d *dissection) operations() float64 {
	sum := 0.0
	for t := range d.fronts {
		sum += d.fronts[t].operations()
	}
	return sum
}

// operations returns the number of operations of the elimination of a front.
func (f *front) operations() float64 {
	own, border := f.size()
	all := float64(own + border)
	return float64(own) * all * all
}

// inertia counts the negative pivots of an elimination by fronts.
type inertia struct {
	*assembly
	negative int
	most     float64 // bound on the entries
}

// eliminate eliminates a front, block after block. It returns false if a block is singular or the entries
// grow too much.
func (c *inertia) eliminate(t int) bool {
	own, border := c.fronts[t].size()
	n := own + border
	c.assemble(t)
	front := mat.NewDense(n, n, c.dense)
	for lo := 0; lo < own; lo += inertiaBlock {
		if !c.block(front, lo, min(lo+inertiaBlock, own)) {
			return false
		}
	}

	if border > 0 {
		c.keepUpdate(t, front.Slice(own, n, own, n))
	}
	return true
}

// block eliminates rows [lo, hi) of a front: with PᵀAP = LDLᵀ for the block A on the diagonal and B below
// it, the rest loses BP·L⁻ᵀD⁻¹L⁻¹·(BP)ᵀ. Only the lower triangle of the rest is right.
func (c *inertia) block(front *mat.Dense, lo, hi int) bool {
	n, _ := front.Dims()
	k := hi - lo
	a := mat.NewDense(k, k, nil)
	for i := range k {
		for j := range i + 1 {
			v := front.At(lo+i, lo+j)
			a.Set(i, j, v)
			a.Set(j, i, v)
		}
	}

	f, ok := factorIndefinite(a)
	if !ok {
		return false
	}
	c.negative += f.negative
	if hi == n {
		return true
	}

	// X = L⁻¹(BP)ᵀ and Y = D⁻¹X.
	x := mat.NewDense(k, n-hi, nil)
	for i, p := range f.order {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = front.At(hi+j, lo+int(p))
		}
	}
	dense.SolveLower(dense.NoTrans, f.lower, x)
	y := f.divide(x)
	rest := front.Slice(hi, n, hi, n).(*mat.Dense)
	dense.Gemm(dense.Transposed, dense.NoTrans, -1, x, y, 1, rest)
	for i := range n - hi {
		for _, v := range rest.RawRowView(i)[:i+1] {
			if !(math.Abs(v) <= c.most) {
				return false
			}
		}
	}
	return true
}

// indefinite is PᵀAP = LDLᵀ with a unit triangle L and blocks of one and two rows in D.
type indefinite struct {
	order    []int32    // P: the row of A at each place
	lower    *mat.Dense // L
	inverse  *mat.Dense // D⁻¹: the diagonal, and the entry below it in the second column
	negative int        // negative eigenvalues of D
}

// factorIndefinite factors the symmetric matrix a by the pivots of Bunch and Parlett (SIAM J. Numer.
// Anal. 8, 1971), and overwrites it. It returns false if a is singular in exact zeros.
func factorIndefinite(a *mat.Dense) (*indefinite, bool) {
	n, _ := a.Dims()
	f := &indefinite{order: make([]int32, n), lower: mat.NewDense(n, n, nil), inverse: mat.NewDense(n, 2, nil)}
	for i := range n {
		f.order[i] = int32(i)
	}
	for at := 0; at < n; {
		p, q := pivot(a, at)
		if a.At(p, q) == 0 || math.IsNaN(a.At(p, q)) {
			return nil, false
		}
		f.exchange(a, at, p)
		f.lower.Set(at, at, 1)
		if p == q {
			f.single(a, at)
			at++
			continue
		}
		if q == at {
			q = p // it moved there
		}
		f.exchange(a, at+1, q)
		f.lower.Set(at+1, at+1, 1)
		f.double(a, at)
		at += 2
	}
	return f, true
}

// pivot returns the place of the next pivot in the rows of a from lo on: p = q on the diagonal, or p < q.
func pivot(a *mat.Dense, lo int) (p, q int) {
	n, _ := a.Dims()
	diagonal, off := lo, 0.0
	p, q = lo, lo
	for i := lo; i < n; i++ {
		row := a.RawRowView(i)
		for j, v := range row[lo:i] {
			if v = math.Abs(v); v > off {
				off = v
				p = lo + j
				q = i
			}
		}
		if math.Abs(row[i]) > math.Abs(a.At(diagonal, diagonal)) {
			diagonal = i
		}
	}

	if math.Abs(a.At(diagonal, diagonal)) >= inertiaPivot*off {
		return diagonal, diagonal
	}
	return p, q
}

// exchange exchanges rows and columns i and j.
func (f *indefinite) exchange(a *mat.Dense, i, j int) {
	if i == j {
		return
	}
	n, _ := a.Dims()
	f.order[i], f.order[j] = f.order[j], f.order[i]
	ri, rj := a.RawRowView(i), a.RawRowView(j)
	for c := range ri {
		ri[c], rj[c] = rj[c], ri[c]
	}
	for r := range n {
		row := a.RawRowView(r)
		row[i], row[j] = row[j], row[i]
	}

	ri, rj = f.lower.RawRowView(i), f.lower.RawRowView(j)
	for c := range i {
		ri[c], rj[c] = rj[c], ri[c]
	}
}

// single eliminates the row at by the pivot on its diagonal.
func (f *indefinite) single(a *mat.Dense, at int) {
	n, _ := a.Dims()
	d := a.At(at, at)
	if d < 0 {
		f.negative++
	}
	f.inverse.Set(at, 0, 1/d)
	pivotRow := a.RawRowView(at)
	for i := at + 1; i < n; i++ {
		row := a.RawRowView(i)
		l := row[at] / d
		f.lower.Set(i, at, l)
		for j := at + 1; j < n; j++ {
			row[j] -= l * pivotRow[j]
		}
	}
}

// double eliminates the rows at and at + 1 by the block on their diagonals. A block that Bunch and
// Parlett choose has a negative determinant: one eigenvalue of each sign.
func (f *indefinite) double(a *mat.Dense, at int) {
	n, _ := a.Dims()
	x := a.At(at, at)
	y := a.At(at+1, at)
	z := a.At(at+1, at+1)
	determinant := x*z - y*y
	f.negative++
	f.inverse.Set(at, 0, z/determinant)
	f.inverse.Set(at+1, 0, x/determinant)
	f.inverse.Set(at+1, 1, -y/determinant)
	first, second := a.RawRowView(at), a.RawRowView(at+1)
	for i := at + 2; i < n; i++ {
		row := a.RawRowView(i)
		u := (row[at]*z - row[at+1]*y) / determinant
		v := (row[at+1]*x - row[at]*y) / determinant
		f.lower.Set(i, at, u)
		f.lower.Set(i, at+1, v)
		for j := at + 2; j < n; j++ {
			row[j] -= u*first[j] + v*second[j]
		}
	}
}

// divide returns D⁻¹x.
func (f *indefinite) divide(x *mat.Dense) *mat.Dense {
	n, m := x.Dims()
	y := mat.NewDense(n, m, nil)
	for i := range n {
		to := y.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			to[j] = f.inverse.At(i, 0) * v
		}
	}
	for i := 1; i < n; i++ {
		off := f.inverse.At(i, 1)
		if off == 0 {
			continue
		}
		upper, lower := y.RawRowView(i-1), y.RawRowView(i)
		above, below := x.RawRowView(i-1), x.RawRowView(i)
		for j := range upper {
			upper[j] += off * below[j]
			lower[j] += off * above[j]
		}
	}
	return y
}
