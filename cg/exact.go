package cg

import (
	"context"
	"slices"

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

// exact is (L + cI)⁻¹ by a block LDLᵀ factorization with nested dissection: for the
// front of A, with B between its border and itself, it holds A⁻¹ and G = BA⁻¹. Where
// nothing is grounded the inverse has a zero for one vertex of every component, as that of
// [newApproximate] has.
type exact struct {
	*dissection
	outer  []float64   // R^½ of a vertex
	panels [][]float64 // of each front: A⁻¹ above G, row-major, each with rows for simd.Panel
	most   int         // vertices of the largest front with its border
}

const (
	// exactPerEdge and exactMost bound the numbers in a factor, beside the stored edges
	// and in all: 256 MiB.
	exactPerEdge = 24
	exactMost    = 1 << 25
	// exactGround is the least weight of a component's edges to the ground beside the mean
	// degree there: their sum is the last pivot, which comes from differences.
	exactGround = 1e-6
)

// newExact returns the factor of a system, or nil where it would take too much memory or
// rounding would spoil it. Where the null vectors are deflated, a ground that is so small
// that it would do so is left out. It takes 3 Σ (s + m)²s operations for fronts of s vertices
// with m at their border: about 100·n^1.5 for the neighbours of n points on a surface.
func newExact(s *system, deflated bool) *exact {
	if s.w.NNZ() <= 2*s.w.Rows {
		return nil // mostly trees, for which the approximate factor is exact
	}
	d := dissect(s.w, min(exactMost, exactPerEdge*s.w.NNZ()))
	if d == nil {
		return nil
	}
	m := &exact{dissection: d, outer: s.outer, panels: make([][]float64, len(d.fronts))}
	a := assembly{system: s, exact: m, deflated: deflated, at: make([]int32, len(d.order)),
		place:   make([]int32, len(d.order)),
		updates: make([]*mat.Dense, len(d.fronts)), mass: make([]mass, len(d.fronts))}
	for p, v := range d.order {
		a.place[v] = int32(p)
	}

	for t := range d.fronts {
		if !a.eliminate(t) {
			return nil
		}
		own, border := d.fronts[t].size()
		m.most = max(m.most, panelRows(own)+panelRows(border))
	}

	return m
}

// assembly is a factorization by fronts (Duff & Reid, ACM Trans. Math. Softw. 9, 1983).
type assembly struct {
	*system
	*exact
	place   []int32      // of a vertex in the order
	dense   []float64    // the front that is eliminated
	at, to  []int32      // rows in it, of places and of the border of a child
	updates []*mat.Dense // what a front adds to its border
	mass    []mass       // below each front
	// deflated: the null vectors of L are known and taken care of.
	deflated bool
}

// mass are sums over vertices.
type mass struct {
	ground, degree float64
	count          int
}

// add adds the sums of others.
func (m *mass) add(o mass) {
	m.ground += o.ground
	m.degree += o.degree
	m.count += o.count
}

// eliminate factors a front. It returns false if it is not positive definite.
func (a *assembly) eliminate(t int) bool {
	s, m := a.fronts[t].size()
	a.assemble(t)
	rank := s
	if m == 0 { // the last of its component
		sum := a.mass[t]
		small := sum.ground*float64(sum.count) < exactGround*sum.degree
		if small && sum.ground > 0 && !a.deflated {
			return false
		}
		if small || sum.ground == 0 {
			rank--
		}
	}

	panel := make([]float64, (panelRows(s)+panelRows(m))*s)
	a.panels[t] = panel
	if rank == 0 {
		return true
	}
	whole := mat.NewDense(s+m, s+m, a.dense)
	lower := whole.Slice(0, rank, 0, rank).(*mat.Dense)
	if dense.Cholesky(context.Background(), lower) != nil {
		return false
	}

	root := invertLower(lower)
	inverse := mat.NewDense(s, s, panel[:s*s])
	dense.Syrk(dense.Transposed, 1, root, 0, inverse.Slice(0, rank, 0, rank).(*mat.Dense))
	if m > 0 {
		half := mat.NewDense(m, s, nil)
		border := mat.NewDense(m, m, nil)
		dense.Gemm(dense.NoTrans, dense.Transposed, 1, whole.Slice(s, s+m, 0, s).(*mat.Dense), root, 0, half)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, half, root, 0,
			mat.NewDense(m, s, panel[panelRows(s)*s:][:m*s]))
		border.Copy(whole.Slice(s, s+m, s, s+m))
		dense.Syrk(dense.NoTrans, -1, half, 1, border)
		a.updates[t] = border
	}

	return true
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

// assemble adds up the edges of a front and what its children leave, in the lower
// triangle of a.dense.
func (a *assembly) assemble(t int) {
	f := &a.fronts[t]
	s, m := f.size()
	ld := s + m
	a.dense = slices.Grow(a.dense[:0], ld*ld)[:ld*ld]
	clear(a.dense)
	for i := range s {
		a.at[f.lo+i] = int32(i)
	}
	for i, p := range f.border {
		a.at[p] = int32(s + i)
	}
	sum := &a.mass[t]
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
				a.dense[int(a.at[q])*ld+i] -= w
			}
		}

		a.dense[i*ld+i] += degree + a.ground[v]
		sum.add(mass{a.ground[v], degree, 1})
	}

	for _, c := range f.children {
		sum.add(a.mass[c])
		border := a.fronts[c].border
		a.to = a.to[:0]
		for _, p := range border {
			a.to = append(a.to, a.at[p])
		}
		for i, to := range a.to {
			row := a.dense[int(to)*ld:]
			from := a.updates[c].RawRowView(i)[:i+1]
			for j, q := range a.to[:i+1] {
				row[q] += from[j]
			}
		}
		a.updates[c] = nil
	}
}

// ApplyTo sets dst = M⁻¹r, some columns at a time: the factor is read twice for those.
func (m *exact) ApplyTo(dst, r *mat.Dense) {
	_, b := r.Dims()
	checkApply(len(m.order), dst, r)
	grain := columnGrain
	if par.Workers(b, grain) == 1 && b > columnGrain {
		grain = 2 * columnGrain
	}
	par.For(b, grain, func(from, to int) { m.apply(dst, r, from, to) })
}

// apply does columns [from, to), of which simd.Panel has 8 or 16.
func (m *exact) apply(dst, r *mat.Dense, from, to int) {
	n := len(m.order)
	b := (to - from + columnGrain - 1) / columnGrain * columnGrain
	x := make([]float64, n*b)
	for p, v := range m.order {
		row := x[p*b:]
		for j, e := range r.RawRowView(int(v))[from:to] {
			row[j] = e * m.outer[v]
		}
	}

	w := make([]float64, m.most*b)
	c := make([]float64, (m.most+b)*b)
	// x_B −= G x_S
	for t := range m.fronts {
		f := &m.fronts[t]
		s, e := f.size()
		if e == 0 {
			continue
		}
		in := c[:(s+b)*b]
		for i, v := range x[f.lo*b : f.hi*b] {
			in[i] = -v
		}
		clear(in[s*b:])
		for j := range b {
			in[s*b+j*b+j] = 1
		}
		for i, p := range f.border {
			copy(w[i*b:][:b], x[int(p)*b:])
		}
		simd.Panel(m.panels[t][panelRows(s)*s:], s, s, w, panelRows(e), b, in, nil)
		for i, p := range f.border {
			copy(x[int(p)*b:][:b], w[i*b:])
		}
	}

	// x_S = A⁻¹x_S − Gᵀx_B
	for t := len(m.fronts) - 1; t >= 0; t-- {
		f := &m.fronts[t]
		s, e := f.size()
		above := panelRows(s)
		rows := above + panelRows(e)
		clear(w[copy(w, x[f.lo*b:f.hi*b]) : above*b])
		for i, p := range f.border {
			row := w[(above+i)*b:][:b]
			for j, v := range x[int(p)*b:][:b] {
				row[j] = -v
			}
		}

		clear(w[(above+e)*b : rows*b])
		out := c[:(s+b)*b]
		clear(out)
		simd.Panel(m.panels[t], s, s, w, rows, b, nil, out)
		copy(x[f.lo*b:f.hi*b], out)
	}

	for p, v := range m.order {
		d := dst.RawRowView(int(v))[from:to]
		for j, e := range x[p*b:][:to-from] {
			d[j] = e * m.outer[v]
		}
	}
}

// FactorBytes bounds the memory of a factor by [Cholesky] or [ApproximateCholesky] of a
// graph of n vertices with nnz stored edges, while it is made, beside the graph.
func FactorBytes(n, nnz int) int64 {
	exact := 10*int64(min(exactMost, exactPerEdge*nnz)) + 80*int64(n)
	return max(exact, 72*int64(nnz)+96*int64(n))
}
