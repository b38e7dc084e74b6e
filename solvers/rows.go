package solvers

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Rows is a symmetric n×n matrix that is read row by row.
type Rows interface {
	Dim() int
	// Row returns row i. It is not to be changed, and valid until the third
	// next call.
	Row(i int) []float64
	// DiagonalTo sets dst, of length n, to the diagonal.
	DiagonalTo(dst []float64)
}

// Computer makes the rows of a symmetric n×n matrix one at a time, as
// kernel.Side does.
type Computer interface {
	Dim() int
	RowTo(dst []float64, i int)
	DiagonalTo(dst []float64)
}

// DenseRows returns the rows of a symmetric matrix, which is kept and not copied.
func DenseRows(a *mat.Dense) Rows { return denseRows{a} }

type denseRows struct{ a *mat.Dense }

func (d denseRows) Dim() int {
	n, _ := d.a.Dims()
	return n
}

func (d denseRows) Row(i int) []float64 { return d.a.RawRowView(i) }

func (d denseRows) DiagonalTo(dst []float64) {
	for i := range dst {
		dst[i] = d.a.At(i, i)
	}
}

// CachedRows returns rows that are computed when asked for. It keeps the rows used last, as many as
// fit in the given number of bytes, and three at least. It is not safe for concurrent use.
func CachedRows(c Computer, bytes int64) Rows {
	n := c.Dim()
	r := &cachedRows{Computer: c, rows: make([][]float64, n), used: make([]int64, n)}
	r.most = int(min(int64(n), max(3, bytes/(8*int64(n)))))
	return r
}

type cachedRows struct {
	Computer
	rows [][]float64 // nil where not kept
	used []int64     // the last time
	kept []int       // numbers of the rows kept
	most int
	time int64
}

func (r *cachedRows) Row(i int) []float64 {
	r.time++
	r.used[i] = r.time
	if r.rows[i] != nil {
		return r.rows[i]
	}

	// A new row takes the memory of the row that was used longest ago.
	if len(r.kept) < r.most {
		r.rows[i] = make([]float64, r.Dim())
		r.kept = append(r.kept, i)
	} else {
		oldest := slices.MinFunc(r.kept, func(a, b int) int { return int(r.used[a] - r.used[b]) })
		r.kept[slices.Index(r.kept, oldest)] = i
		r.rows[i] = r.rows[oldest]
		r.rows[oldest] = nil
	}

	r.RowTo(r.rows[i], i)
	return r.rows[i]
}
