package pruned

import (
	"context"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// fine is the number of fine steps in a step.
const fine = 16

// codes are points as integers. Fine codes count steps of step/16 and are at most 4080, so 128
// products of two of them add up to less than 2³¹. Bytes are fine codes rounded to whole steps.
type codes struct {
	n, m, ld int
	data     []int16   // n×ld fine codes: m coordinates, the last rest, zeros
	rest     []uint8   // n×cuts bytes: the rest of every cut
	err      []float64 // for every cut the largest error e of the bytes of a point, in steps
	fine     float64   // the largest error of the fine codes of a point, in fine steps
}

// stride returns the length of a row of m coordinates and their rest, a multiple of 16 elements.
func stride(m int) int { return (m + 16) / 16 * 16 }

// encode returns the codes of the points of x. It works on maxRows points at a time, so that the
// rotated points in float64 take little memory.
func (f *frame) encode(ctx context.Context, s *Space, x data.Points) (*codes, error) {
	n, _ := x.Dims()
	cuts := len(f.cuts)
	c := &codes{n: n, m: f.m, ld: stride(f.m), err: make([]float64, cuts+1)}
	c.data = make([]int16, n*c.ld)
	c.rest = make([]uint8, n*cuts)

	const grain = 64
	var t rotated
	err := data.Each(x, maxRows, func(lo, hi int) error {
		f.rotate(&t, s, x, lo, hi)

		// Every chunk has its own errors, the cuts' and the fine codes', and the largest are taken
		// afterwards.
		errs := make([]float64, par.Chunks(hi-lo, grain)*(cuts+1))
		par.For(hi-lo, grain, func(a, b int) {
			rests := make([]float64, cuts)
			for i := a; i < b; i++ {
				f.code(c, lo+i, t.z[i*f.m:][:f.m], t.sq[i], rests, errs[a/grain*(cuts+1):][:cuts+1])
			}
		})
		for i, e := range errs {
			c.err[i%(cuts+1)] = max(c.err[i%(cuts+1)], e)
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}

	// The last error is the error of the fine codes.
	c.err, c.fine = c.err[:cuts], c.err[cuts]
	for _, e := range append([]float64{c.fine}, c.err...) {
		if !(e < 1e6) { // mostly NaN, from a zero vector
			return nil, fmt.Errorf("%w: some points are zero or far from all others", ErrNothing)
		}
	}
	return c, nil
}

// code writes the codes of point i and raises largest to its errors: one for the bytes of every
// cut, then one for the fine codes.
func (f *frame) code(c *codes, i int, z []float64, sq float64, rests, largest []float64) {
	f.rests(rests, z, sq)

	// first bounds the errors of float64 that do not depend on the cut, and delta is the Δ of
	// [frame].
	norm := math.Sqrt(sq)
	inverse := 1 / f.step
	first := (f.eta*norm+0x1p-50*norm+1e-30)/f.step + 1e-6
	delta := (2*f.eta + f.eta*f.eta + 1e-12) * sq

	row := c.data[i*c.ld:][:c.ld]
	// Sums of squares of the rounding errors: of bytes and of fine codes.
	var coarse, exact float64
	from := 0
	for at, to := range f.cuts {
		for j, v := range z[from:to] {
			b, small, large := quantize((v - f.low[from+j]) * inverse)
			row[from+j] = b
			exact += small * small
			coarse += large * large
		}

		// The rest of this cut is one coordinate more of the bytes.
		r := rests[at]
		b, small, large := quantize((r - f.lows[at]) * inverse)
		c.rest[i*len(f.cuts)+at] = roundCode(b)
		other := first
		if r > 0 || to < f.d {
			other += min(math.Sqrt(delta), delta/max(r, f.lows[at], 1e-300)) * inverse
		}
		largest[at] = max(largest[at], math.Sqrt(coarse+large*large)+other) // max keeps a NaN
		if from = to; at == len(f.cuts)-1 {
			row[f.m] = b
			largest[at+1] = max(largest[at+1], fine*(math.Sqrt(exact+small*small)+other))
		}
	}
}

// quantize returns the fine code of t, a coordinate in steps, and the rounding errors of the fine
// code and of its byte, in steps. A coordinate outside of the range of codes is cut off first.
func quantize(t float64) (code int16, small, large float64) {
	t = min(max(t, 0), 255)
	code = int16(fine*t + 0.5)
	return code, float64(code)/fine - t, float64(roundCode(code)) - t
}

// roundCode rounds a fine code to a byte.
func roundCode(c int16) uint8 { return uint8((c + fine/2) / fine) }

// columns returns the bytes of the coordinates of a cut and of their rest, row-major, for the
// points rows, or for all points if rows is nil.
func (c *codes) columns(cuts []int, cut int, rows []int32) []uint8 {
	m := cuts[cut]
	n := c.n
	if rows != nil {
		n = len(rows)
	}

	out := make([]uint8, n*(m+1))
	par.For(n, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from := i
			if rows != nil {
				from = int(rows[i])
			}
			row := out[i*(m+1):][:m+1]
			for j, v := range c.data[from*c.ld:][:m] {
				row[j] = roundCode(v)
			}
			row[m] = c.rest[from*len(cuts)+cut]
		}
	})
	return out
}

// row returns the fine codes of point i.
func (c *codes) row(i int) []int16 { return c.data[i*c.ld:][:c.ld] }

// arrange moves the codes of point order[i] to place i. It follows the cycles of the permutation,
// so that no second copy of the codes is needed.
func (c *codes) arrange(order []int32) {
	cuts := len(c.err)
	row := make([]int16, c.ld)
	rest := make([]uint8, cuts)

	done := make([]bool, c.n)
	for first := range order {
		if done[first] {
			continue
		}

		// The first row of a cycle is kept aside until its place is found.
		copy(row, c.row(first))
		copy(rest, c.rest[first*cuts:])
		to := first
		for from := int(order[to]); from != first; from = int(order[to]) {
			copy(c.row(to), c.row(from))
			copy(c.rest[to*cuts:][:cuts], c.rest[from*cuts:])
			done[to] = true
			to = from
		}

		copy(c.row(to), row)
		copy(c.rest[to*cuts:], rest)
		done[to] = true
	}
}

// squares returns the squared norms of the fine codes of the points rows, or of all points if rows
// is nil.
func (c *codes) squares(rows []int32) []int32 {
	n := c.n
	if rows != nil {
		n = len(rows)
	}
	out := make([]int32, n)
	par.For(n, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if rows == nil {
				out[i] = c.square(int32(i))
			} else {
				out[i] = c.square(rows[i])
			}
		}
	})
	return out
}

// square returns the squared norm of the fine codes of point i.
func (c *codes) square(i int32) int32 {
	var out [1]int32
	simd.WordProducts(out[:], c.row(int(i)), c.data, c.ld, []int32{i})
	return out[0]
}
