package simd

import "slices"

// stepColumns are the widths of blocks that the kernels do.
var stepColumns = [...]int{8, 16}

// stepKernel does rows of a fixed number of adjacent columns.
type stepKernel func(dst, x, r []float32, first int, ptr []int64, col []int32, val, diag, factor []float32, a, b, c float32)

// StepColumns returns the width of a block of at least n columns for which
// [GraphStep] is fastest: n itself, or more.
func StepColumns(n int) int {
	const few = 1 // by rows
	for i, width := range stepColumns {
		if few < n && n <= width && active.graphSteps[i] != nil {
			return width
		}
	}
	return n
}

// GraphStep does a step of an iteration on a graph with compressed rows ptr, col
// and weights val (nil: all one): it sets rows lo ≤ i < hi of dst to
//
//	a·(r[i] + factor_i·(Σ_p val_p·x[col_p] + diag_i·x[i])) + b·x[i] + c·dst[i]
//
// with p over row i, adding in this order. A nil diag counts as zero. The blocks are row-major with cols
// adjacent columns; dst does not overlap x, and may be r. The caller guarantees that all
// columns are rows of x; this is not checked.
func GraphStep(dst, x, r []float32, cols int, ptr []int64, col []int32, val, diag, factor []float32, lo, hi int,
	a, b, c float32) {
	if hi <= lo {
		return
	}
	to := dst[lo*cols : hi*cols]
	right := r[lo*cols : hi*cols]
	ptr = ptr[lo : hi+1]
	factor = factor[lo:hi]
	own := x[lo*cols : hi*cols]
	if diag != nil {
		diag = diag[lo:hi]
	}

	// A kernel keeps a row of its width in registers.
	if i := slices.Index(stepColumns[:], cols); i >= 0 && active.graphSteps[i] != nil {
		active.graphSteps[i](to, x, right, lo, ptr, col, val, diag, factor, a, b, c)
		return
	}

	// Long rows are combined faster than short ones.
	const some = 32
	sum := make([]float32, cols)
	rows := make([]float32, some*cols)
	for i := 0; i < hi-lo; i += some {
		end := min(i+some, hi-lo)
		for v := i; v < end; v++ {
			if p, q := ptr[v], ptr[v+1]; val == nil {
				SumRows32(sum, x, cols, col[p:q])
			} else {
				AddScaledRows32(sum, x, cols, col[p:q], val[p:q])
			}
			if diag != nil {
				CombineRow32(sum, sum, 1, own[v*cols:][:cols], diag[v])
			}
			CombineRow32(rows[(v-i)*cols:][:cols], sum, a*factor[v], right[v*cols:][:cols], a)
		}
		all := rows[:(end-i)*cols]
		d := to[i*cols : end*cols]
		CombineRow32(all, all, 1, own[i*cols:end*cols], b)
		CombineRow32(d, all, 1, d, c)
	}
}
