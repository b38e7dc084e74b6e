package pruned

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// byteTurn turns points that are bytes by exact products: Q is rounded to integers of 16
// bits, and c to bytes. Rows of the rounded Q are not quite orthonormal. It is scaled so that
// its norm is at most one, and then
//
//	‖v − w‖² = ‖Q(v − w)‖² + ‖R(v − w)‖²  with  R = √(1 − QᵀQ),
//
// so that ‖Rv‖² = ‖v‖² − ‖Qv‖² is the squared length of a rest that bounds distances like
// that of an orthonormal Q, without an error.
type byteTurn struct {
	m      int
	right  *dense.PackedU8 // high and low bytes of the integers, moved by 2¹⁵; c; ones
	moved  []int64         // c turned like points
	sq     int64           // ‖c‖²
	scale  float64         // of coordinates
	square float64         // of squared lengths
}

// high is what is added to integers of 16 bits, so that they have no sign.
const high = 1 << 15

func (f *frame) newByteTurn() *byteTurn {
	t := &byteTurn{m: f.m, moved: make([]int64, f.m), square: f.factor * f.factor}
	var largest float64
	for _, v := range f.turn {
		largest = math.Max(largest, math.Abs(v))
	}
	step := largest / (high - 1)
	rows := make([]uint8, (2*f.m+2)*f.d)
	row := func(i int) []uint8 { return rows[i*f.d:][:f.d] }
	centre := row(2 * f.m)

	ones := row(2*f.m + 1)
	for j, v := range f.mean {
		c := math.Round(min(max(v, 0), 255))
		centre[j] = uint8(c)
		ones[j] = 1
		t.sq += int64(c) * int64(c)
	}

	rounded := mat.NewDense(f.m, f.d, nil)
	for i := range f.m {
		above := row(i)
		below := row(f.m + i)
		for j, v := range f.turn[i*f.d:][:f.d] {
			q := int64(math.Round(v / step))
			above[j] = uint8((q + high) >> 8)
			below[j] = uint8(q + high)
			t.moved[i] += q * int64(centre[j])
			rounded.Set(i, j, float64(q)*step)
		}
	}

	t.right = dense.PackBU8(dense.NoTrans, rows, 2*f.m+2, f.d, f.d)
	t.scale = f.factor * step / math.Sqrt(1+offOrthonormal(rounded)+1e-9)
	return t
}

// rotate is frame.rotate.
func (b *byteTurn) rotate(t *turned, x *data.Dense[uint8], lo, hi int) {
	if t.z == nil { // the first block is no smaller than others
		t.z = make([]float64, (hi-lo)*b.m)
		t.sq = make([]float64, hi-lo)
	}
	n := hi - lo
	d := x.Cols
	width := 2*b.m + 2
	part := x.Data[lo*d : hi*d]
	left := dense.PackAU8(dense.NoTrans, part, n, d, d)

	own := squares(part, n, d)
	par.For(n, 4*left.Panel(), func(from, to int) {
		c := make([]int32, (to-from)*width)
		dense.MulU8(left, from, to, b.right, 0, width, c, width)
		for i := from; i < to; i++ {
			row := c[(i-from)*width:][:width]
			above := row[:b.m]
			below := row[b.m : 2*b.m]
			sum := high * int64(row[2*b.m+1])
			for j := range t.z[i*b.m:][:b.m] {
				t.z[i*b.m+j] = float64(256*int64(above[j])+int64(below[j])-sum-b.moved[j]) * b.scale
			}
			t.sq[i] = float64(int64(own[i])-2*int64(row[2*b.m])+b.sq) * b.square
		}
	})

	data.Release(x, lo, hi)
}
