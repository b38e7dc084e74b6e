package sparse

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// A product prefetches the rows of x that a row needs, prefetchRows rows ahead, for blocks of
// up to prefetchCols columns; the processor prefetches longer rows by itself.
const (
	prefetchRows = 2
	prefetchCols = 64
)

// productGrain is the number of rows in one parallel chunk of a product.
// Features are often sorted by frequency, so that the chunks of a transpose
// differ much in work.
const productGrain = 64

// MulTo sets dst = M·x for a Cols×b block x and a Rows×b block dst, which must
// not overlap. It costs 2·nnz·b operations. For products with Mᵀ keep M.T():
// rows are then gathered, never scattered, and the sums have one order.
func (m *CSR) MulTo(dst, x *mat.Dense) {
	r := x.RawMatrix()
	if n, b := dst.Dims(); r.Rows != m.Cols || n != m.Rows || b != r.Cols {
		panic(fmt.Sprintf("sparse: product of a %d×%d matrix: dst is %d×%d, x is %d×%d", m.Rows, m.Cols, n, b,
			r.Rows, r.Cols))
	}

	par.For(m.Rows, productGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if i+prefetchRows < hi && r.Cols <= prefetchCols {
				ahead, _ := m.Row(i + prefetchRows)
				simd.PrefetchRows(r.Data, r.Stride, ahead, r.Cols)
			}

			// A row of the product is a combination of the rows of x that its entries name.
			col, val := m.Row(i)
			if val == nil {
				simd.SumRows(dst.RawRowView(i), r.Data, r.Stride, col)
			} else {
				simd.AddScaledRows(dst.RawRowView(i), r.Data, r.Stride, col, val)
			}
		}
	})
}
