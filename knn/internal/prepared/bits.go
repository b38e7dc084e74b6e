package prepared

import (
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// Bits are points of zeros and ones, 64 coordinates in a word and Words words a point.
type Bits struct {
	D, Words int
	Data     []uint64
}

// PackBits packs dense points. A coordinate other than 0 becomes a 1.
func PackBits(x data.Points) *Bits {
	n, d := x.Dims()
	b := &Bits{D: d, Words: (d + 63) / 64}
	b.Data = make([]uint64, n*b.Words)
	par.For(n, 1024, func(lo, hi int) {
		row := make([]float64, d)
		for i := lo; i < hi; i++ {
			b.Pack(b.Row(i), x, i, row)
		}
	})
	return b
}

// Row returns point i.
func (b *Bits) Row(i int) []uint64 { return b.Data[i*b.Words:][:b.Words:b.Words] }

// Pack writes point i of x to dst. row is scratch memory.
func (b *Bits) Pack(dst []uint64, x data.Points, i int, row []float64) {
	data.RowTo(row, x, i)
	clear(dst)
	for j, v := range row {
		if v != 0 {
			dst[j/64] |= 1 << (j % 64)
		}
	}
}

// A Coordinate is a value with its row and column.
type Coordinate struct {
	Row, Column int
	Value       float64
}

// NotBit returns the first coordinate that is neither 0 nor 1, or nil.
func NotBit(x data.Points) *Coordinate {
	n, d := x.Dims()
	if s, ok := x.(*sparse.CSR); ok {
		// Without values, all entries are ones.
		for p, v := range s.Val {
			if v != 0 && v != 1 {
				return &Coordinate{rowOf(s, p), int(s.Col[p]), v}
			}
		}
		return nil
	}

	const grain = 1024
	found := make([]*Coordinate, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		// A chunk stops at its first coordinate that is no bit.
		row := make([]float64, d)
		for i := lo; i < hi; i++ {
			data.RowTo(row, x, i)
			for j, v := range row {
				if v != 0 && v != 1 {
					found[lo/grain] = &Coordinate{i, j, v}
					return
				}
			}
		}
	})

	for _, c := range found {
		if c != nil {
			return c
		}
	}
	return nil
}

// rowOf returns the row of entry p, by bisection.
func rowOf(x *sparse.CSR, p int) int {
	lo := 0
	hi := x.Rows
	for lo < hi {
		if middle := (lo + hi) / 2; x.Ptr[middle+1] <= int64(p) {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	return lo
}
