package cg

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// coreOperator is R^-½·S·R^-½.
type coreOperator struct {
	graph simd.Graph
	n     int
}

func (c *core) operator() coreOperator {
	g := simd.Graph{Ptr: c.w.Ptr, Col: c.w.Col, Val: c.w.Val, Diag: c.diagonal}
	if slices.ContainsFunc(c.outer, func(r float64) bool { return r != 1 }) {
		g.Val = slices.Clone(g.Val)
		g.Diag = slices.Clone(g.Diag)
		for i, r := range c.outer {
			g.Diag[i] /= r * r
			for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
				g.Val[p] /= r * c.outer[g.Col[p]]
			}
		}
	}
	return coreOperator{g, len(c.kept)}
}

func (o coreOperator) Dim() int { return o.n }

func (o coreOperator) MulTo(dst, x *mat.Dense) {
	block := func(x *mat.Dense) simd.Block {
		r := x.RawMatrix()
		return simd.Block{Data: r.Data, Cols: r.Cols, LD: r.Stride}
	}
	par.For(o.n, rowGrain, func(lo, hi int) {
		o.graph.Combine(block(dst), block(x), simd.Block{}, lo, hi, -1, 1, 0, 0)
	})
}

// reduced is a factor of a system whose vertices with few neighbours were eliminated exactly.
type reduced struct {
	*core
	rest Preconditioner // for the core
}

// ApplyTo sets dst = M⁻¹r. Beside the factor of the core it costs up to 17 operations for each eliminated
// vertex and column.
func (m *reduced) ApplyTo(dst, r *mat.Dense) {
	checkApply(len(m.whole), dst, r)
	m.solve(dst, r, func(x, f *mat.Dense) { m.rest.ApplyTo(x, f) })
}

// solve sets dst to the solution of the whole system for right-hand sides b, where onCore sets x to the
// solution of R^-½·S·R^-½·x = f. It may change f.
func (m *reduced) solve(dst, b *mat.Dense, onCore func(x, f *mat.Dense)) {
	_, cols := b.Dims()
	scale(dst, b, m.whole)
	m.fold(dst)
	x := mat.NewDense(len(m.kept), cols, nil)
	f := mat.NewDense(len(m.kept), cols, nil)
	for i, v := range m.kept {
		row := f.RawRowView(i)
		for j, e := range dst.RawRowView(int(v)) {
			row[j] = e / m.outer[i]
		}
	}

	onCore(x, f)
	for i, v := range m.kept {
		row := dst.RawRowView(int(v))
		for j, e := range x.RawRowView(i) {
			row[j] = e / m.outer[i]
		}
	}
	m.unfold(dst)
	scale(dst, dst, m.whole)
}

// scale sets row i of dst to factor_i times row i of x.
func scale(dst, x *mat.Dense, factor []float64) {
	par.For(len(factor), rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := dst.RawRowView(i)
			for j, v := range x.RawRowView(i) {
				d[j] = factor[i] * v
			}
		}
	})
}

// coreTolerance is the share of the tolerance that residuals on the core must be within. Those of the whole
// system differ from them by rounding.
const coreTolerance = 0.9

// onCore solves on the core of the system. A residual there is the residual of the whole system, up to
// rounding. The solutions and the numbers of iterations go to the result.
func (r *run) onCore(ctx context.Context) error {
	p := *r.plan
	p.core = nil
	p.n = len(r.core.kept)
	p.Tolerance *= coreTolerance
	p.Norm = 0 // of the whole system
	sub := &run{plan: &p, a: r.core.operator(), m: r.core.rest, norms: r.norms, known: make([]bool, p.cols)}
	if null, ok := r.null.(*componentNull); ok {
		sub.null = null.on(r.core.kept)
	}

	var err error
	r.core.solve(r.out.X, r.b, func(x, f *mat.Dense) {
		sub.b = f
		sub.out = &Result{X: x, Residuals: make([]float64, p.cols), Iterations: r.out.Iterations}
		if sub.null != nil {
			project(f, sub.null)
		}
		err = sub.blocks(ctx)
	})
	r.out.Products += sub.out.Products
	r.out.Cycles = sub.out.Cycles
	if r.null != nil {
		project(r.out.X, r.null)
	}

	// Where this fails, the iterations go on with the whole system, which tells why.
	var breakdown *BreakdownError
	if errors.Is(err, ErrNotConverged) || errors.As(err, &breakdown) {
		return nil
	}
	return err
}

// on returns the null vectors of the core with the given vertices.
func (s *componentNull) on(kept []int32) *componentNull {
	c := &componentNull{of: make([]int32, len(kept)), count: s.count, values: make([]float64, len(kept))}
	sums := make([]float64, s.count)
	for i, v := range kept {
		c.of[i] = s.of[v]
		c.values[i] = s.values[v]
		sums[c.of[i]] += c.values[i] * c.values[i]
	}
	for i, k := range c.of {
		c.values[i] /= math.Sqrt(sums[k])
	}
	return c
}
