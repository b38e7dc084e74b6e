package cg

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/sparse"
)

// factors is M⁻¹ = E·(I−N)⁻ᵀ·F·(I−N)⁻¹·E for diagonal E and F and a strictly
// lower triangular N, rows and columns in the order of elimination.
type factors struct {
	order        []int32     // vertex at each place
	outer        []float64   // E, of a vertex
	inner        []float64   // F, at a place
	lower, upper *sparse.CSR // N and Nᵀ
}

// columnGrain is the number of columns that one processor substitutes: a
// substitution goes row after row.
const columnGrain = 8

func (m *factors) ApplyTo(dst, r *mat.Dense) {
	n, b := r.Dims()
	checkApply(len(m.order), dst, r)
	par.For(b, columnGrain, func(from, to int) {
		w := to - from

		// (I − N)⁻¹E·r, in the order of elimination.
		x := make([]float64, n*w)
		sum := make([]float64, w)
		for p, v := range m.order {
			row := x[p*w:][:w]
			for j, e := range r.RawRowView(int(v))[from:to] {
				row[j] = e * m.outer[v]
			}
			if lo, hi := m.lower.Ptr[p], m.lower.Ptr[p+1]; lo < hi {
				simd.AddScaledRows(sum, x, w, m.lower.Col[lo:hi], m.lower.Val[lo:hi])
				simd.CombineRow(row, row, 1, sum, 1)
			}
		}

		// F and (I − N)⁻ᵀ on the way back, then E.
		for p := n - 1; p >= 0; p-- {
			lo := m.upper.Ptr[p]
			hi := m.upper.Ptr[p+1]
			row := x[p*w:][:w]
			simd.AddScaledRows(sum, x, w, m.upper.Col[lo:hi], m.upper.Val[lo:hi])
			simd.CombineRow(row, row, m.inner[p], sum, 1)
			v := m.order[p]
			d := dst.RawRowView(int(v))[from:to]
			for j, e := range row {
				d[j] = e * m.outer[v]
			}
		}
	})
}
