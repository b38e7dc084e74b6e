package simd

// Graph is the matrix of a graph as products read it: compressed rows and a
// diagonal. The weights are Val or, if that is nil, scale_i·scale_j in row i and
// column j, or one if Scale is nil too.
type Graph struct {
	Ptr   []int64
	Col   []int32
	Val   []float64
	Scale []float64
	Diag  []float64
}

// Block is a row-major block of Cols columns, with rows LD elements apart.
type Block struct {
	Data     []float64
	Cols, LD int
}

func (b Block) row(i int) []float64 { return b.Data[i*b.LD:][:b.Cols] }

// graphKernel does rows of a fixed number of adjacent columns.
type graphKernel func(dst, x, y []float64, first int, ptr []int64, col []int32, val, scale, diag []float64,
	s, a, b, c float64)

// Columns of the fixed kernels; any other number, and rows that are not
// adjacent, go through the kernels for one row.
var graphColumns = [...]int{4, 8, 16, 32}

// Combine sets rows lo ≤ i < hi of dst to
//
//	s·Σ_p w_p·x[col_p] + (a·diag_i + b)·x[i] + c·y[i]
//
// with w_p the weights and p over row i, adding in this order. y.Data may be nil: its term is left
// out. dst must not overlap x but may be y. The caller guarantees that all
// columns are rows of x; this is not checked.
func (g *Graph) Combine(dst, x, y Block, lo, hi int, s, a, b, c float64) {
	checkEqual(x.Cols, dst.Cols)
	cols := x.Cols
	if y.Data != nil {
		checkEqual(y.Cols, cols)
	}

	// A kernel keeps a row of its width in registers.
	if cols == x.LD && cols == dst.LD && (y.Data == nil || cols == y.LD) {
		for i, n := range graphColumns {
			kernel := active.graphRows[i]
			if n != cols || kernel == nil {
				continue
			}
			var yr []float64
			if y.Data != nil {
				yr = y.Data[lo*cols : hi*cols]
			}
			kernel(dst.Data[lo*cols:hi*cols], x.Data, yr, lo, g.Ptr[lo:hi+1], g.Col, g.Val, g.Scale,
				g.Diag[lo:hi], s, a, b, c)
			return
		}
	}

	if cols == 1 {
		g.combineVector(dst, x, y, lo, hi, s, a, b, c)
		return
	}

	// A product prefetches the rows of x that a row needs, two rows ahead, for blocks of up to 64
	// columns; the processor prefetches longer rows by itself.
	const ahead, most = 2, 64
	acc := make([]float64, cols)
	var weights []float64
	for i := lo; i < hi; i++ {
		p := g.Ptr[i]
		q := g.Ptr[i+1]
		own := s
		if i+ahead < hi && cols <= most {
			PrefetchRows(x.Data, x.LD, g.Col[g.Ptr[i+ahead]:g.Ptr[i+ahead+1]], cols)
		}
		switch {
		case g.Val != nil:
			AddScaledRows(acc, x.Data, x.LD, g.Col[p:q], g.Val[p:q])
		case g.Scale != nil:
			weights = weights[:0]
			for _, j := range g.Col[p:q] {
				weights = append(weights, g.Scale[j])
			}
			AddScaledRows(acc, x.Data, x.LD, g.Col[p:q], weights)
			own *= g.Scale[i]
		default:
			SumRows(acc, x.Data, x.LD, g.Col[p:q])
		}

		// The diagonal, x and y are added to the sum of the row.
		d := dst.row(i)
		if y.Data == nil {
			CombineRow(d, acc, own, x.row(i), a*g.Diag[i]+b)
			continue
		}
		CombineRow(acc, acc, own, x.row(i), a*g.Diag[i]+b)
		CombineRow(d, acc, 1, y.row(i), c)
	}
}

// combineVector is Combine for a single column.
func (g *Graph) combineVector(dst, x, y Block, lo, hi int, s, a, b, c float64) {
	for i := lo; i < hi; i++ {
		var sum float64
		col := g.Col[g.Ptr[i]:g.Ptr[i+1]]
		switch {
		case g.Val != nil:
			val := g.Val[g.Ptr[i]:][:len(col)]
			for p, j := range col {
				sum += val[p] * x.Data[int(j)*x.LD]
			}
		case g.Scale != nil:
			for _, j := range col {
				sum += g.Scale[j] * x.Data[int(j)*x.LD]
			}
			sum *= g.Scale[i]
		default:
			for _, j := range col {
				sum += x.Data[int(j)*x.LD]
			}
		}

		// The terms of row i itself.
		sum = s*sum + (a*g.Diag[i]+b)*x.Data[i*x.LD]
		if y.Data != nil {
			sum += c * y.Data[i*y.LD]
		}
		dst.Data[i*dst.LD] = sum
	}
}
