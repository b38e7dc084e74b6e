package cg

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/internal/simd"
)

// factors is M⁻¹ = E·(I−N)⁻ᵀ·F·(I−N)⁻¹·E for diagonal E and F and a strictly
// lower triangular N, rows and columns in the order of elimination.
type factors struct {
	order []int32   // vertex at each place
	outer []float64 // E, of a vertex
	inner []float64 // F, at a place
	// N by rows and by columns; ptr has one more element than there are places.
	lower, upper triangle
}

type triangle struct {
	ptr []int64
	col []int32
	val []float64
}

// transpose returns the n×n matrix with rows and columns exchanged.
func (t *triangle) transpose(n int) triangle {
	out := triangle{make([]int64, n+1), make([]int32, len(t.col)), make([]float64, len(t.col))}
	for _, c := range t.col {
		out.ptr[c+1]++
	}
	for i := range n {
		out.ptr[i+1] += out.ptr[i]
	}
	next := append([]int64(nil), out.ptr[:n]...)
	for i := range n {
		for p := t.ptr[i]; p < t.ptr[i+1]; p++ {
			c := t.col[p]
			out.col[next[c]], out.val[next[c]] = int32(i), t.val[p]
			next[c]++
		}
	}
	return out
}

// columnGrain is the number of columns that one processor substitutes: a
// substitution goes row after row.
const columnGrain = 8

func (m *factors) ApplyTo(dst, r *mat.Dense) {
	n, b := r.Dims()
	checkApply(len(m.order), dst, r)
	par.For(b, columnGrain, func(from, to int) {
		w := to - from
		x, sum := make([]float64, n*w), make([]float64, w)
		for p, v := range m.order {
			row := x[p*w:][:w]
			for j, e := range r.RawRowView(int(v))[from:to] {
				row[j] = e * m.outer[v]
			}
			if lo, hi := m.lower.ptr[p], m.lower.ptr[p+1]; lo < hi {
				simd.AddScaledRows(sum, x, w, m.lower.col[lo:hi], m.lower.val[lo:hi])
				simd.CombineRow(row, row, 1, sum, 1)
			}
		}
		for p := n - 1; p >= 0; p-- {
			lo, hi := m.upper.ptr[p], m.upper.ptr[p+1]
			row := x[p*w:][:w]
			simd.AddScaledRows(sum, x, w, m.upper.col[lo:hi], m.upper.val[lo:hi])
			simd.CombineRow(row, row, m.inner[p], sum, 1)
			v := m.order[p]
			d := dst.RawRowView(int(v))[from:to]
			for j, e := range row {
				d[j] = e * m.outer[v]
			}
		}
	})
}
