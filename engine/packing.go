package engine

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
)

// packing puts the right-hand sides of a system into fewer columns. The matrix does not connect its
// components, and only some columns are not zero in each: these columns, divided by their norms
// there, become the first ones of the component.
type packing struct {
	*sparse.Components
	columns, width int
	norms          []float64 // components×columns: of the right-hand sides in each
}

// newPacking finds the columns that are not zero in each component.
func newPacking(s *propagation.System) *packing {
	_, m := s.B.Dims()
	p := &packing{columns: m}
	if s.Null != nil {
		p.Components = s.Null.Components
	} else {
		p.Components = s.A.Components()
	}

	p.norms = make([]float64, p.Count()*m)
	for i, c := range p.Of {
		for j, v := range s.B.RawRowView(i) {
			p.norms[int(c)*m+j] += v * v
		}
	}

	// The widest component decides how many columns there are.
	for c := range p.Count() {
		used := 0
		for j, v := range p.of(c) {
			if p.norms[c*m+j] = math.Sqrt(v); v > 0 {
				used++
			}
		}
		p.width = max(p.width, used)
	}

	return p
}

// of returns the norms of the right-hand sides in a component.
func (p *packing) of(c int) []float64 { return p.norms[c*p.columns:][:p.columns] }

// pack returns the right-hand sides as n×width.
func (p *packing) pack(b *mat.Dense) []float64 {
	out := make([]float64, len(p.Of)*p.width)
	for i, c := range p.Of {
		from := b.RawRowView(i)
		to := out[i*p.width:]
		for j, norm := range p.of(int(c)) {
			if norm > 0 {
				to[0] = from[j] / norm
				to = to[1:]
			}
		}
	}

	return out
}

// unpack is the inverse of pack for solutions.
func (p *packing) unpack(x []float64) *mat.Dense {
	out := mat.NewDense(len(p.Of), p.columns, nil)
	for i, c := range p.Of {
		from := x[i*p.width:]
		to := out.RawRowView(i)
		for j, norm := range p.of(int(c)) {
			if norm > 0 {
				to[j] = from[0] * norm
				from = from[1:]
			}
		}
	}

	return out
}
