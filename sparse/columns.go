package sparse

import (
	"math"
	"slices"
)

// Narrow returns m without its empty columns, and the numbers of the other columns in m, ascending.
// The values are shared with m. It costs O(nnz log nnz) time and O(nnz) memory, however many
// columns m has.
func (m *CSR) Narrow() (*CSR, []int32) {
	used := slices.Clone(m.Col)
	slices.Sort(used)
	used = slices.Clip(slices.Compact(used))
	out := &CSR{Rows: m.Rows, Cols: len(used), Ptr: m.Ptr, Col: make([]int32, len(m.Col)), Val: m.Val}
	for p, c := range m.Col {
		at, _ := slices.BinarySearch(used, c)
		out.Col[p] = int32(at)
	}
	return out, used
}

// Pattern returns m with ones in the place of all values but 0, and without stored zeros; m itself
// if it has no values.
func (m *CSR) Pattern() *CSR {
	if m.Val == nil {
		return m
	}
	out := &CSR{Rows: m.Rows, Cols: m.Cols, Ptr: make([]int64, m.Rows+1), Col: make([]int32, 0, len(m.Col))}
	for i := range m.Rows {
		col, val := m.Row(i)
		for p, v := range val {
			if v != 0 {
				out.Col = append(out.Col, col[p])
			}
		}
		out.Ptr[i+1] = int64(len(out.Col))
	}

	return out
}

// SquaredNorm returns ‖x_i‖² of row i, summed over the columns in ascending order.
func (m *CSR) SquaredNorm(i int) float64 {
	col, val := m.Row(i)
	if val == nil {
		return float64(len(col))
	}
	var s float64
	for _, v := range val {
		s += v * v
	}
	return s
}

// SquaredDistance returns ‖x_i/s − y_j/t‖² of two rows, summed over the columns in
// ascending order, so that it has the bits of the same sum over dense rows. It costs as many
// operations as the rows have entries.
func SquaredDistance(x *CSR, i int, s float64, y *CSR, j int, t float64) float64 {
	ac, av := x.Row(i)
	bc, bv := y.Row(j)
	var sum float64
	p, q := 0, 0
	for p < len(ac) && q < len(bc) {
		// Masks in place of branches, which could not be predicted: all bits for a row with an
		// entry in the next column, none for one without.
		order := int64(ac[p]) - int64(bc[q])
		a := (order - 1) >> 63
		b := (-order - 1) >> 63
		v := math.Float64frombits(math.Float64bits(valueAt(av, p)/s) & uint64(a))
		w := math.Float64frombits(math.Float64bits(valueAt(bv, q)/t) & uint64(b))
		sum += (v - w) * (v - w)
		p -= int(a)
		q -= int(b)
	}

	// The rest of the longer row.
	for ; p < len(ac); p++ {
		v := valueAt(av, p) / s
		sum += v * v
	}

	for ; q < len(bc); q++ {
		w := valueAt(bv, q) / t
		sum += w * w
	}
	return sum
}

// valueAt returns the value of entry p of a row; rows without values have ones.
func valueAt(v []float64, p int) float64 {
	if v == nil {
		return 1
	}
	return v[p]
}

// Dot returns x_iᵀy_j of two rows, summed over the columns in ascending order. It
// costs as many operations as the rows have entries.
func Dot(x *CSR, i int, y *CSR, j int) float64 {
	ac, av := x.Row(i)
	bc, bv := y.Row(j)
	var sum float64
	for p, q := 0, 0; p < len(ac) && q < len(bc); {
		switch a, b := ac[p], bc[q]; {
		case a < b:
			p++
		case b < a:
			q++
		default:
			v := 1.0
			if av != nil {
				v = av[p]
			}
			if bv != nil {
				v *= bv[q]
			}
			sum += v
			p++
			q++
		}
	}

	return sum
}
