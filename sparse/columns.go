package sparse

import "slices"

// Narrow returns m without its empty columns, and the numbers that the others have in
// m, ascending. The values are those of m. It costs O(nnz log nnz) time and O(nnz)
// memory, however many columns m has.
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

// SquaredDistance returns ‖s·x_i − t·y_j‖² of two rows, summed over the columns in
// ascending order. It costs as many operations as the rows have entries.
func SquaredDistance(x *CSR, i int, s float64, y *CSR, j int, t float64) float64 {
	ac, av := x.Row(i)
	bc, bv := y.Row(j)
	at := func(v []float64, p int) float64 {
		if v == nil {
			return 1
		}
		return v[p]
	}
	var sum float64
	for p, q := 0, 0; p < len(ac) || q < len(bc); {
		var d float64
		switch {
		case q == len(bc) || p < len(ac) && ac[p] < bc[q]:
			d = s * at(av, p)
			p++
		case p == len(ac) || bc[q] < ac[p]:
			d = t * at(bv, q)
			q++
		default:
			d = s*at(av, p) - t*at(bv, q)
			p++
			q++
		}
		sum += d * d
	}
	return sum
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
