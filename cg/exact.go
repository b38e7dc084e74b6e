package cg

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// Ill-conditioned graphs are recognized beforehand: the Rayleigh quotient of a cosine along
// the longest path through the graph is not below its smallest nonzero eigenvalue ([Hard]).
// Graphs of points on curves and surfaces have small separators. dissection.go cuts them by
// differences of distances from far vertices, and dense fronts make an exact factor of some
// ten numbers an edge, read twice for 8 or 16 columns. Where the factor would have more than
// 24 numbers an edge, or 2²⁵ in all, the approximate factor takes its place, so that memory
// can be announced. models/propagation solves components apart: the factor and the blocks of
// one component stay in the cache, and columns without a label in it cost nothing.

// exact is (L + cI)⁻¹ by a block LDLᵀ factorization with nested dissection: for the front of A,
// with B between its border and itself, it holds A⁻¹ and G = BA⁻¹. Where nothing is grounded the
// inverse has a zero for one vertex of every component, like the inverse of [newApproximate].
type exact struct {
	*dissection
	rootScale []float64   // R^½ of a vertex
	panels    [][]float64 // of each front: A⁻¹ above G, row-major, each with rows for simd.Panel
	maxRows   int         // panel rows of the largest front
	scratch   sync.Pool   // of *substitution: pages that are touched for the first time cost more than a solution
}

const (
	// exactPerEdge and exactMost bound the numbers in a factor, beside the stored edges
	// and in all: 256 MiB. A factor that is asked for by name, to solve many systems, may have
	// exactMany numbers.
	exactPerEdge = 24
	exactMost    = 1 << 25
	exactMany    = 1 << 26
	// exactGround is the least weight of a component's edges to the ground, relative to the mean
	// degree there. The sum of these weights is the last pivot, and it comes from differences
	// of numbers of the size of degrees: six digits may be lost.
	exactGround = 1e-6
)

// newExact returns the factor of a system, of at most so many numbers, or nil where it would take too
// much memory or rounding would spoil it. With deflated, the null vectors are deflated by the caller, and a ground so small
// that rounding would spoil the factor is left out. It takes 3 Σ (s + m)²s operations for fronts of
// s vertices with m at their border: about 100·n^1.5 for the neighbours of n points on a surface.
func newExact(s *system, deflated bool, most int) *exact {
	if s.w.NNZ() <= 2*s.w.Rows {
		return nil // mostly trees, for which the approximate factor is exact
	}
	limit := min(most, exactPerEdge*s.w.NNZ())

	// A level of a breadth-first search is a separator. On surfaces the best one is half as large or
	// more; where a quarter of the level would be too large, none is looked for.
	if hopeless(s.w.Rows, s.narrowest/4, limit) {
		return nil
	}
	d := dissect(s.w, limit)
	if d == nil {
		return nil
	}
	m := &exact{dissection: d, rootScale: s.outer, panels: make([][]float64, len(d.fronts))}
	a := newAssembly(s, m)
	a.deflated = deflated
	if !d.eachFront(func() func(t int) bool { return a.apart().eliminate }) {
		return nil
	}
	for t := range d.fronts {
		own, border := d.fronts[t].size()
		m.maxRows = max(m.maxRows, panelRows(own)+panelRows(border))
	}
	return m
}

// assembly is a factorization by fronts (Duff & Reid, ACM Trans. Math. Softw. 9, 1983).
type assembly struct {
	*system
	*exact
	place   []int32      // of a vertex in the order
	updates []*mat.Dense // what a front adds to its border
	below   []vertexSums // of each front and all fronts below it
	// deflated: the caller deflates the null vectors of L.
	deflated bool

	// Of each thread, see apart.
	dense     []float64    // the front that is eliminated
	half      []float64    // the product of its border with a factor of its inverse
	row       []int32      // of a place: its row in dense
	childRows []int32      // rows in dense of the border of a child
	spare     []*mat.Dense // updates that were added, to be used again
}

// newAssembly returns the assembly of a factor, of which only the dissection is there.
func newAssembly(s *system, m *exact) *assembly {
	a := &assembly{system: s, exact: m, place: make([]int32, len(m.order)),
		updates: make([]*mat.Dense, len(m.fronts)), below: make([]vertexSums, len(m.fronts))}
	for p, v := range m.order {
		a.place[v] = int32(p)
	}
	return a
}

// apart returns a with memory of its own for the front that a thread eliminates.
func (a *assembly) apart() *assembly {
	own := *a
	own.row = make([]int32, len(a.place))
	return &own
}

// keepUpdate makes a copy of the square x the update of front t. Pages that are touched for the first time cost
// more than the copy, so an update that was added lends its memory.
func (a *assembly) keepUpdate(t int, x mat.Matrix) {
	m, _ := x.Dims()
	best := -1
	for i, s := range a.spare {
		if size := cap(s.RawMatrix().Data); size >= m*m && (best < 0 || size < cap(a.spare[best].RawMatrix().Data)) {
			best = i
		}
	}
	if best < 0 {
		a.updates[t] = mat.DenseCopyOf(x)
		return
	}

	a.updates[t] = mat.NewDense(m, m, a.spare[best].RawMatrix().Data[:m*m])
	a.updates[t].Copy(x)
	last := len(a.spare) - 1
	a.spare[best] = a.spare[last]
	a.spare = a.spare[:last]
}

// vertexSums are sums over some vertices.
type vertexSums struct {
	ground, degree float64
	count          int
}

// add adds the sums of others.
func (m *vertexSums) add(o vertexSums) {
	m.ground += o.ground
	m.degree += o.degree
	m.count += o.count
}

// eliminate factors a front: it inverts A by Cholesky, and computes G and the update −BA⁻¹Bᵀ of the
// border. It returns false if the front is not positive definite.
func (a *assembly) eliminate(t int) bool {
	s, m := a.fronts[t].size()
	a.assemble(t)

	// The last front of a component without ground is singular: its last vertex gets a zero.
	rank := s
	if m == 0 {
		sum := a.below[t]
		small := sum.ground*float64(sum.count) < exactGround*sum.degree
		if small && sum.ground > 0 && !a.deflated {
			return false
		}
		if small || sum.ground == 0 {
			rank--
		}
	}

	a.panels[t] = make([]float64, (panelRows(s)+panelRows(m))*s)
	switch {
	case s == 0:
		// Parts that no vertex separates: their updates go on to the front above.
		a.keepUpdate(t, mat.NewDense(m, m, a.dense))
		return true
	case rank == 0:
		return true
	}
	inverse, coupling := a.panel(t)

	whole := mat.NewDense(s+m, s+m, a.dense)
	lower := whole.Slice(0, rank, 0, rank).(*mat.Dense)
	if dense.Cholesky(context.Background(), lower) != nil {
		return false
	}

	// A = LLᵀ, so A⁻¹ = L⁻ᵀL⁻¹.
	root := invertLower(lower)
	dense.Syrk(dense.Transposed, 1, root, 0,
		mat.NewDense(s, s, inverse[:s*s]).Slice(0, rank, 0, rank).(*mat.Dense))
	if m == 0 {
		return true
	}

	// G = (BL⁻ᵀ)L⁻¹, and the border loses (BL⁻ᵀ)(BL⁻ᵀ)ᵀ.
	a.half = resized(a.half, m*s)
	half := mat.NewDense(m, s, a.half)
	dense.Gemm(dense.NoTrans, dense.Transposed, 1, whole.Slice(s, s+m, 0, s).(*mat.Dense), root, 0, half)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, half, root, 0, mat.NewDense(m, s, coupling[:m*s]))
	a.keepUpdate(t, whole.Slice(s, s+m, s, s+m))
	dense.Syrk(dense.NoTrans, -1, half, 1, a.updates[t])
	return true
}

// panel returns views of the two parts of the panel of front t, row-major with a column for each
// vertex of the front: A⁻¹, and behind it G. Rows of zeros fill up each part for simd.Panel.
func (m *exact) panel(t int) (inverse, coupling []float64) {
	own, _ := m.fronts[t].size()
	at := panelRows(own) * own
	return m.panels[t][:at], m.panels[t][at:]
}

// panelRows is n rounded up to the rows that simd.Panel does at once.
func panelRows(n int) int { return (n + 7) / 8 * 8 }

// invertLower returns L⁻¹ for a lower triangular L.
func invertLower(l *mat.Dense) *mat.Dense {
	n, _ := l.Dims()
	x := make([]float64, n*n)
	rows := make([]int32, n)
	for i := range n {
		rows[i] = int32(i)
		row := x[i*n:][:i+1]
		of := l.RawRowView(i)
		simd.AddScaledRows(row[:i], x, n, rows[:i], of[:i])
		for j := range row[:i] {
			row[j] /= -of[i]
		}
		row[i] = 1 / of[i]
	}

	return mat.NewDense(n, n, x)
}

// resized returns n numbers, in the memory of x where it has room for them.
func resized(x []float64, n int) []float64 {
	if n <= cap(x) {
		return x[:n]
	}
	return dense.Zeros[float64](n)
}

// assemble adds up the edges of a front and the updates of its children, in the lower triangle of
// a.dense.
func (a *assembly) assemble(t int) {
	f := &a.fronts[t]
	s, m := f.size()
	ld := s + m
	a.dense = resized(a.dense, ld*ld)
	clear(a.dense)
	for i := range s {
		a.row[f.lo+i] = int32(i)
	}
	for i, p := range f.border {
		a.row[p] = int32(s + i)
	}

	// The edges of the vertices of the front, to later places only: the matrix is symmetric.
	sum := &a.below[t]
	for i, v := range a.order[f.lo:f.hi] {
		degree := 0.0
		for p := a.w.Ptr[v]; p < a.w.Ptr[v+1]; p++ {
			j := a.w.Col[p]
			w := 1.0
			if a.w.Val != nil {
				w = a.w.Val[p]
			}
			if j == v {
				continue
			}
			degree += w
			if q := a.place[j]; int(q) > f.lo+i {
				a.dense[int(a.row[q])*ld+i] -= w
			}
		}

		a.dense[i*ld+i] += degree + a.ground[v]
		sum.add(vertexSums{a.ground[v], degree, 1})
	}

	// Extend-add: the update of a child goes to the rows of its border.
	for _, c := range f.children {
		sum.add(a.below[c])
		border := a.fronts[c].border
		a.childRows = a.childRows[:0]
		for _, p := range border {
			a.childRows = append(a.childRows, a.row[p])
		}
		for i, to := range a.childRows {
			row := a.dense[int(to)*ld:]
			from := a.updates[c].RawRowView(i)[:i+1]
			for j, q := range a.childRows[:i+1] {
				row[q] += from[j]
			}
		}
		a.spare = append(a.spare, a.updates[c])
		a.updates[c] = nil
	}
}

// ApplyTo sets dst = M⁻¹r, some columns at a time: each group of columns reads the factor twice.
func (m *exact) ApplyTo(dst, r *mat.Dense) {
	_, b := r.Dims()
	checkApply(len(m.order), dst, r)
	grain := columnGrain
	if par.Workers(b, grain) == 1 && b > columnGrain {
		grain = 2 * columnGrain
	}
	par.For(b, grain, func(from, to int) { m.apply(dst, r, from, to) })
}

// apply computes columns [from, to) of dst, padded to the 8 or 16 columns that simd.Panel takes.
func (m *exact) apply(dst, r *mat.Dense, from, to int) {
	b := (to - from + columnGrain - 1) / columnGrain * columnGrain
	s := m.substitution(b)
	defer m.scratch.Put(s)
	for p, v := range m.order {
		row := s.at(int32(p))
		for j, e := range r.RawRowView(int(v))[from:to] {
			row[j] = e * m.rootScale[v]
		}
		clear(row[to-from:])
	}

	for t := range m.fronts {
		s.forward(t)
	}
	for t := len(m.fronts) - 1; t >= 0; t-- {
		s.backward(t)
	}

	for p, v := range m.order {
		d := dst.RawRowView(int(v))[from:to]
		for j, e := range s.x[p*b:][:to-from] {
			d[j] = e * m.rootScale[v]
		}
	}
}

// A substitution solves with the factor for a block of b columns.
type substitution struct {
	*exact
	b int
	x []float64 // n×b, by places: the right-hand sides, and then the solution
	w []float64 // rows of x of one front and its border
	c []float64 // the small matrix that simd.Panel multiplies with, or adds to
}

// substitution returns the memory for a solution of b columns. It may hold the numbers of an earlier one.
func (m *exact) substitution(b int) *substitution {
	if s, ok := m.scratch.Get().(*substitution); ok && s.b == b {
		return s
	}
	return &substitution{exact: m, b: b, x: dense.Zeros[float64](len(m.order) * b), w: make([]float64, m.maxRows*b),
		c: make([]float64, (m.maxRows+b)*b)}
}

// own returns the rows of x of the vertices of a front.
func (s *substitution) own(f *front) []float64 { return s.x[f.lo*s.b : f.hi*s.b] }

// at returns the row of x at a place.
func (s *substitution) at(place int32) []float64 { return s.x[int(place)*s.b:][:s.b] }

// forward eliminates front t from its border: x_B −= G·x_S.
func (s *substitution) forward(t int) {
	f := &s.fronts[t]
	own, border := f.size()
	if border == 0 {
		return
	}

	// simd.Panel sets w ← [G w]·in, here with −x_S above the identity.
	b := s.b
	in := s.c[:(own+b)*b]
	for i, v := range s.own(f) {
		in[i] = -v
	}
	clear(in[own*b:])
	for j := range b {
		in[own*b+j*b+j] = 1
	}

	for i, p := range f.border {
		copy(s.w[i*b:][:b], s.at(p))
	}
	_, coupling := s.panel(t)
	simd.Panel(coupling, own, own, s.w, panelRows(border), b, in, nil)
	for i, p := range f.border {
		copy(s.at(p), s.w[i*b:][:b])
	}
}

// backward solves front t, after its border: x_S = A⁻¹x_S − Gᵀx_B.
func (s *substitution) backward(t int) {
	f := &s.fronts[t]
	own, border := f.size()
	b := s.b
	above := panelRows(own)
	rows := above + panelRows(border)

	// simd.Panel adds [A⁻¹ over G]ᵀ·w to out, here with x_S above −x_B, both filled up with zeros.
	clear(s.w[copy(s.w, s.own(f)) : above*b])
	for i, p := range f.border {
		row := s.w[(above+i)*b:][:b]
		for j, v := range s.at(p) {
			row[j] = -v
		}
	}
	clear(s.w[(above+border)*b : rows*b])

	out := s.c[:(own+b)*b]
	clear(out)
	simd.Panel(s.panels[t], own, own, s.w, rows, b, nil, out)
	copy(s.own(f), out)
}

// FactorBytes bounds the memory of a factor by [Cholesky] or [ApproximateCholesky] of a
// graph of n vertices with nnz stored edges, while it is made, beside the graph.
func FactorBytes(n, nnz int) int64 {
	exact := 10*int64(min(exactMany, exactPerEdge*nnz)) + 80*int64(n)
	return max(exact, 96*int64(nnz)+96*int64(n))
}
