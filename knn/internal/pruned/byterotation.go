package pruned

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// byteRotation rotates points that are bytes by exact products: Q is rounded to integers of 16
// bits, and the centre c to bytes. Rows of the rounded Q are not quite orthonormal. Q is scaled so
// that its norm is at most one, and then
//
//	‖v − w‖² = ‖Q(v − w)‖² + ‖R(v − w)‖²  with  R = √(1 − QᵀQ),
//
// so ‖Rv‖² = ‖v‖² − ‖Qv‖² is the squared length of a rest that bounds distances as the rest of an
// orthonormal Q does, without any rounding error.
type byteRotation struct {
	m      int
	right  *dense.PackedU8 // 2m+2 rows: high bytes of Q + offset, low bytes of Q + offset, c, ones
	centre []int64         // Qc in integers
	sq     int64           // ‖c‖²
	scale  float64         // turns integers into coordinates of frame
	square float64         // turns integers into squared lengths of frame
}

// offset is added to the 16-bit integers of Q, so that they have no sign.
const offset = 1 << 15

func (f *frame) newByteRotation() *byteRotation {
	t := &byteRotation{m: f.m, centre: make([]int64, f.m), square: f.factor * f.factor}
	var largest float64
	for _, v := range f.rotation {
		largest = math.Max(largest, math.Abs(v))
	}

	step := largest / (offset - 1)
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
		for j, v := range f.rotation[i*f.d:][:f.d] {
			q := int64(math.Round(v / step))
			above[j] = uint8((q + offset) >> 8)
			below[j] = uint8(q + offset)
			t.centre[i] += q * int64(centre[j])
			rounded.Set(i, j, float64(q)*step)
		}
	}

	// The norm of the rounded Q is at most √(1 + ‖QQᵀ − 1‖).
	t.right = dense.PackBU8(dense.NoTrans, rows, 2*f.m+2, f.d, f.d)
	t.scale = f.factor * step / math.Sqrt(1+offOrthonormal(rounded)+1e-9)
	return t
}

// rotate sets t to points lo to hi of x, as [frame.rotate] does for other points.
func (b *byteRotation) rotate(t *rotated, x *data.Dense[uint8], lo, hi int) {
	if t.z == nil { // no later block is larger than the first
		t.z = make([]float64, (hi-lo)*b.m)
		t.sq = make([]float64, hi-lo)
	}
	n := hi - lo
	d := x.Cols
	width := 2*b.m + 2

	part := x.Data[lo*d : hi*d]
	left := dense.PackAU8(dense.NoTrans, part, n, d, d)
	own := squares(part, n, d)

	// Q·x is 256 times the product with the high bytes, plus the product with the low bytes, minus
	// the offset times the sum of x.
	par.For(n, 4*left.Panel(), func(from, to int) {
		c := make([]int32, (to-from)*width)
		dense.MulU8(left, from, to, b.right, 0, width, c, width)
		for i := from; i < to; i++ {
			row := c[(i-from)*width:][:width]
			above := row[:b.m]
			below := row[b.m : 2*b.m]
			sum := offset * int64(row[2*b.m+1])
			for j := range t.z[i*b.m:][:b.m] {
				t.z[i*b.m+j] = float64(256*int64(above[j])+int64(below[j])-sum-b.centre[j]) * b.scale
			}
			t.sq[i] = float64(int64(own[i])-2*int64(row[2*b.m])+b.sq) * b.square
		}
	})
}
