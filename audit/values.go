package audit

import (
	"context"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Values says what the columns and the rows of points hold by themselves.
type Values struct {
	// Zero and Constant are columns of zeros and of another value alone; NaN are columns without a finite
	// value. Values that are not finite do not count for the first two.
	Zero, Constant, NaN []int
	// ZeroRows and ConstantRows are rows of zeros and, of points of two columns and more, of another value
	// alone. NotFinite are rows with a NaN or an infinity; NaNRows, which are among them, have nothing else.
	ZeroRows, ConstantRows, NotFinite, NaNRows []int

	// Scale is nil unless few columns decide all distances.
	Scale *data.Scale
}

// column sums up a column. Sums are those of the differences from the first point, so that a large mean does not
// cancel the variance.
type column struct {
	low, high    float64
	sum, squares float64
	finite       int
}

// add counts a value that differs from the first point by difference.
func (c *column) add(v, difference float64) {
	if c.finite == 0 || v < c.low {
		c.low = v
	}
	if c.finite == 0 || v > c.high {
		c.high = v
	}
	c.finite++
	c.sum += difference
	c.squares += difference * difference
}

// join counts what o counted.
func (c *column) join(o *column) {
	switch {
	case o.finite == 0:
		return
	case c.finite == 0:
		*c = *o
		return
	}
	c.low = min(c.low, o.low)
	c.high = max(c.high, o.high)
	c.sum += o.sum
	c.squares += o.squares
	c.finite += o.finite
}

// variance returns the variance of the finite values.
func (c *column) variance() float64 {
	n := float64(c.finite)
	return max(0, (c.squares-c.sum*c.sum/n)/n)
}

// What a row holds, as bits.
const (
	hasFinite = 1 << iota
	hasNotFinite
	hasNonzero
	hasTwo // different values
)

// mostSums bounds the bytes of the sums of all columns that are held at once.
const mostSums = 64 << 20

// valuesOf reads all points once.
func valuesOf(ctx context.Context, p *pipeline.Pipeline, x data.Points) (Values, error) {
	n, d := x.Dims()
	const size = 40 // bytes of a column
	chunks := max(1, min(32, mostSums/(size*d)))
	if err := p.Observed().Announce("columns", stage.Cost{Bytes: int64(size)*int64(d)*int64(chunks+1) + int64(n),
		Remedy: "give points of fewer columns"}); err != nil {
		return Values{}, err
	}
	p.Observed().Begin("columns")
	rows := make([]uint8, n)
	var columns []column
	if m, ok := x.(*sparse.CSR); ok {
		columns = sparseColumns(m, rows)
	} else {
		columns = denseColumns(ctx, x, rows, (n+chunks-1)/chunks)
	}
	if err := ctx.Err(); err != nil {
		return Values{}, err
	}

	out := Values{}
	for j := range columns {
		switch c := &columns[j]; {
		case c.finite == 0:
			out.NaN = append(out.NaN, j)
		case c.low != c.high:
		case c.low == 0:
			out.Zero = append(out.Zero, j)
		case n > 1: // one point has constant columns only
			out.Constant = append(out.Constant, j)
		}
	}
	for i, has := range rows {
		switch {
		case has&hasNotFinite != 0:
			out.NotFinite = append(out.NotFinite, i)
			if has&hasFinite == 0 {
				out.NaNRows = append(out.NaNRows, i)
			}
		case has&hasNonzero == 0:
			out.ZeroRows = append(out.ZeroRows, i)
		case has&hasTwo == 0 && d > 1:
			out.ConstantRows = append(out.ConstantRows, i)
		}
	}
	if _, ok := x.(*sparse.CSR); !ok {
		variance := make([]float64, d)
		for j := range columns {
			if c := &columns[j]; c.finite > 1 && c.low != c.high {
				variance[j] = c.variance()
			}
		}
		out.Scale = data.Dominant(variance)
	}
	p.Observed().End(out.describe())
	return out, nil
}

// denseColumns sums up columns in chunks of grain points, and says in rows what the points hold.
func denseColumns(ctx context.Context, x data.Points, rows []uint8, grain int) []column {
	n, d := x.Dims()
	first := make([]float64, d)
	data.RowTo(first, x, 0)
	for j, v := range first {
		if v-v != 0 {
			first[j] = 0
		}
	}

	parts := make([][]column, par.Chunks(n, grain))
	par.Until(ctx, n, grain, func(lo, hi int) {
		sums := make([]column, d)
		row := make([]float64, d)
		for i := lo; i < hi; i++ {
			data.RowTo(row, x, i)
			rows[i] = kindOf(row)
			for j, v := range row {
				if v-v == 0 {
					sums[j].add(v, v-first[j])
				}
			}
			// Mapped points are given back in small steps: a chunk may be larger than memory.
			if at := i + 1; at%data.BlockRows == 0 || at == hi {
				data.Release(x, max(lo, at-data.BlockRows), at)
			}
		}
		parts[lo/grain] = sums
	})
	out := make([]column, d)
	for _, sums := range parts {
		for j := range sums {
			out[j].join(&sums[j])
		}
	}
	return out
}

// kindOf says what a row holds.
func kindOf(row []float64) uint8 {
	var has uint8
	one := math.NaN()
	for _, v := range row {
		switch {
		case v-v != 0:
			has |= hasNotFinite
			continue
		case has&hasFinite == 0:
			one = v
		case v != one:
			has |= hasTwo
		}
		has |= hasFinite
		if v != 0 {
			has |= hasNonzero
		}
	}
	return has
}

// sparseColumns is denseColumns for sparse points, which are finite.
func sparseColumns(m *sparse.CSR, rows []uint8) []column {
	out := make([]column, m.Cols)
	for i := range m.Rows {
		col, val := m.Row(i)
		rows[i] = hasFinite
		if len(col) < m.Cols {
			rows[i] |= hasTwo // a zero beside what is stored, if that is not zero
		}
		for p, j := range col {
			v := 1.0
			if val != nil {
				v = val[p]
			}
			out[j].add(v, v)
			if v != 0 {
				rows[i] |= hasNonzero
			}
			if p > 0 && val != nil && v != val[0] {
				rows[i] |= hasTwo
			}
		}
	}
	// The values that are not stored are zeros.
	for j := range out {
		if zeros := m.Rows - out[j].finite; zeros > 0 {
			out[j].join(&column{finite: zeros})
		}
	}
	return out
}
