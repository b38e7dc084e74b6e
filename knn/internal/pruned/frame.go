package pruned

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/pca"
)

const (
	maxColumns   = 127  // coordinates that are kept
	mostCompared = 63   // those in which all pairs are compared at most
	maxRows      = 2048 // points that are turned at a time
)

// SampleSize returns the number of points from which the components come.
func SampleSize(n, d int) int { return min(n, max(2048, min(4*d, 8192))) }

// cutsBelow are the numbers of coordinates among which a sample decides: with the length of
// the rest, multiples of the words of packed bytes.
var cutsBelow = []int{15, 23, 31, 47, mostCompared}

// frame turns vectors w into bytes. With v = f·(w − c) and z = Qv for the m×d
// matrix Q of components, coordinate j has the code
//
//	round(min(max((z_j − low_j)/step, 0), 255)),
//
// and so has the length r of the rest of v after the first coordinates, for every number of
// them in cuts. Two vectors are as far apart as z and r of both, or farther, and cutting off
// both ends brings no two numbers closer to each other than they are: it takes them no
// farther apart. So for two points with codes a and b of the same cut
//
//	f·‖w_a − w_b‖/step ≥ ‖a − b‖ − e_a − e_b
//
// where e is the length of the error of a code, in steps: what rounding to bytes changed,
// which is summed as it happens, and what float64 did. That is u‖v‖ for v itself, at most
// η‖v‖ with η = √m·(d+8)·u + ‖QQᵀ−1‖ for z, as a row of Q has norm one (any order of a sum,
// Higham 2002, section 3.1), and for r² = ‖v‖² − ‖z‖² thus Δ = (2η+η²)‖v‖², which is at most
// Δ/max(r, low) for r.
type frame struct {
	d, m   int
	mean   []float64 // c
	factor float64   // f, a power of two that makes lengths about 1
	turn   []float64 // Q
	bytes  *byteTurn // of points that are bytes, in its place
	eta    float64
	cuts   []int // ascending; the last is m
	step   float64
	low    []float64 // of the coordinates
	lows   []float64 // of the rests
}

// newFrame takes the components of a sample. columns, if positive, is to be a cut.
func newFrame(ctx context.Context, s *Space, columns int) (*frame, error) {
	n, d := s.X.Dims()
	f := &frame{d: d, m: min(d, n, maxColumns)}
	for _, c := range cutsBelow {
		if c < f.m && columns <= 0 {
			f.cuts = append(f.cuts, c)
		}
	}

	if columns > 0 && columns < f.m {
		f.cuts = append(f.cuts, columns)
	}
	f.cuts = append(f.cuts, f.m) // for fine codes; fewer are compared unless there are no more
	sample := sampleOf(s, SampleSize(n, d))
	p, err := pca.Approximate(ctx, sample, f.m)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %w", ErrNothing, err)
	}
	if !(p.Total > 1e-200 && p.Total < 1e200) {
		return nil, fmt.Errorf("%w: the variance of the points is %g", ErrNothing, p.Total)
	}

	_, exp := math.Frexp(math.Sqrt(p.Total))
	f.factor = math.Ldexp(1, -exp)
	f.mean = p.Mean
	f.setTurn(p.Components)
	if _, bytes := s.X.(*data.Dense[uint8]); bytes && !s.Unit {
		f.bytes = f.newByteTurn()
		f.eta = 0x1p-50
	}

	if !(f.eta < 1e-6) {
		return nil, fmt.Errorf("%w: the components of %d dimensions are not at right angles", ErrNothing, d)
	}
	few := &Space{X: sample}
	f.setScale(&Space{X: sampleOf(few, min(2048, SampleSize(n, d)))})
	return f, nil
}

// sampleOf returns the vectors of so many points, spread over all.
func sampleOf(s *Space, count int) data.Points {
	n, d := s.X.Dims()
	rows := make([]int, count)
	for i := range rows {
		rows[i] = int(float64(i) * float64(n) / float64(count))
	}
	if x, ok := s.X.(*data.Dense[uint8]); ok && !s.Unit {
		return data.Select(x, rows)
	}
	out := data.NewDense[float64](count, d)
	par.For(count, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s.row(out.Row(i), s.X, rows[i])
		}
	})
	return out
}

func (f *frame) setTurn(components *mat.Dense) {
	raw := components.RawMatrix()
	f.turn = make([]float64, f.m*f.d)
	for i := range f.turn {
		f.turn[i] = raw.Data[i/f.d*raw.Stride+i%f.d]
	}
	const u = 0x1p-53
	f.eta = 1.01*math.Sqrt(float64(f.m))*float64(f.d+8)*u + offOrthonormal(components)
}

// offOrthonormal returns the Frobenius norm of QQᵀ − 1.
func offOrthonormal(q *mat.Dense) float64 {
	m, _ := q.Dims()
	gram := mat.NewDense(m, m, nil)
	dense.Gemm(dense.NoTrans, dense.Transposed, 1, q, q, 0, gram)
	var sum float64
	for i := range m {
		for j, v := range gram.RawRowView(i) {
			if i == j {
				v--
			}
			sum += v * v
		}
	}

	return math.Sqrt(sum)
}

// turned is a block of points: their coordinates z, row-major, and ‖v‖².
type turned struct {
	v, z, sq []float64
}

// rotate sets t to points lo to hi of x.
func (f *frame) rotate(t *turned, s *Space, x data.Points, lo, hi int) {
	if f.bytes != nil {
		f.bytes.rotate(t, x.(*data.Dense[uint8]), lo, hi)
		return
	}

	if t.v == nil { // the first block is no smaller than others
		t.v = make([]float64, (hi-lo)*f.d)
		t.z = make([]float64, (hi-lo)*f.m)
		t.sq = make([]float64, hi-lo)
	}

	par.For(hi-lo, 64, func(a, b int) {
		for i := a; i < b; i++ {
			row := t.v[i*f.d:][:f.d]
			s.row(row, x, lo+i)
			var sum float64
			if s.Unit && !slices.ContainsFunc(row, func(v float64) bool { return v != 0 }) {
				sum = math.NaN() // a zero vector has a distance by definition
			}
			for j, v := range row {
				v = (v - f.mean[j]) * f.factor
				row[j] = v
				sum += v * v
			}
			t.sq[i] = sum
		}
	})

	data.Release(x, lo, hi)
	dense.Gemm64(dense.NoTrans, dense.Transposed, hi-lo, f.m, f.d, 1, t.v, f.d, f.turn, f.d, 0, t.z, f.m)
}

// setScale chooses the step and the low ends of the codes, by some points.
func (f *frame) setScale(s *Space) {
	n, _ := s.X.Dims()
	n = min(n, maxRows)
	var t turned
	f.rotate(&t, s, s.X, 0, n)
	columns := make([][]float64, f.m+len(f.cuts))
	rests := make([]float64, len(f.cuts))
	for i := range n {
		z := t.z[i*f.m:][:f.m]
		for j, v := range z {
			columns[j] = append(columns[j], v)
		}
		f.rests(rests, z, t.sq[i])
		for c, r := range rests {
			columns[f.m+c] = append(columns[f.m+c], r)
		}
	}

	middle := make([]float64, len(columns))
	for j, values := range columns {
		slices.Sort(values)
		out := n / 500 // what is cut off at either end
		lo := values[out]
		hi := values[n-1-out]
		middle[j] = (lo + hi) / 2
		f.step = max(f.step, 1.05*(hi-lo)/255)
	}

	f.step = max(f.step, 1e-12)
	for j := range middle {
		middle[j] -= 127.5 * f.step
	}
	f.low = middle[:f.m]
	f.lows = middle[f.m:]
}

// rests sets dst to the lengths of what the first coordinates leave out, for every cut.
func (f *frame) rests(dst []float64, z []float64, sq float64) {
	from := 0
	for c, to := range f.cuts {
		for _, v := range z[from:to] {
			sq -= v * v
		}
		dst[c] = math.Sqrt(max(0, sq))
		from = to
	}

	if f.m == f.d {
		dst[len(dst)-1] = 0 // without an error: a bound does not need the coordinate
	}
}

// fine is the number of fine steps in a step.
const fine = 16

// codes are points as integers. Fine codes are those of step/16, at most 4080, so that 128
// products of two of them add up to less than 2³¹; bytes are fine codes, rounded.
type codes struct {
	n, m, ld int
	data     []int16   // n×ld: m coordinates and the last rest in fine codes, zeros
	rest     []uint8   // n×cuts: bytes of the rests
	err      []float64 // for every cut the largest e of the bytes
	fine     float64   // that of the fine codes, in their steps
}

// stride returns the elements of a row of m coordinates and their rest.
func stride(m int) int { return (m + 16) / 16 * 16 }

// encode returns the codes of the points of x.
func (f *frame) encode(ctx context.Context, s *Space, x data.Points) (*codes, error) {
	n, _ := x.Dims()
	cuts := len(f.cuts)
	c := &codes{n: n, m: f.m, ld: stride(f.m), err: make([]float64, cuts+1)}
	c.data = make([]int16, n*c.ld)
	c.rest = make([]uint8, n*cuts)
	const grain = 64
	var t turned
	for lo := 0; lo < n && ctx.Err() == nil; lo += maxRows {
		hi := min(lo+maxRows, n)
		f.rotate(&t, s, x, lo, hi)
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
	}

	c.err, c.fine = c.err[:cuts], c.err[cuts]
	for _, e := range append([]float64{c.fine}, c.err...) {
		if !(e < 1e6) { // NaN above all
			return nil, fmt.Errorf("%w: some points are zero or far from all others", ErrNothing)
		}
	}
	return c, ctx.Err()
}

// code writes the codes of point i, and raises largest to its errors: those of the bytes for
// every cut, and that of the fine codes.
func (f *frame) code(c *codes, i int, z []float64, sq float64, rests, largest []float64) {
	f.rests(rests, z, sq)
	norm := math.Sqrt(sq)
	inverse := 1 / f.step
	first := (f.eta*norm+0x1p-50*norm+1e-30)/f.step + 1e-6
	delta := (2*f.eta + f.eta*f.eta + 1e-12) * sq
	row := c.data[i*c.ld:][:c.ld]
	var coarse, exact float64 // sums of squares of what rounding changed
	from := 0
	for at, to := range f.cuts {
		for j, v := range z[from:to] {
			b, small, large := quantize((v - f.low[from+j]) * inverse)
			row[from+j] = b
			exact += small * small
			coarse += large * large
		}

		r := rests[at]
		b, small, large := quantize((r - f.lows[at]) * inverse)
		c.rest[i*len(f.cuts)+at] = roundCode(b)
		other := first
		if r > 0 || to < f.d {
			other += min(math.Sqrt(delta), delta/max(r, f.lows[at], 1e-300)) * inverse
		}
		largest[at] = max(largest[at], math.Sqrt(coarse+large*large)+other) // NaN, if it is
		if from = to; at == len(f.cuts)-1 {
			row[f.m] = b
			largest[at+1] = max(largest[at+1], fine*(math.Sqrt(exact+small*small)+other))
		}
	}
}

// quantize returns the fine code of t, a coordinate in steps, and how far it and its byte
// are from what is left of t within the range of codes, in steps.
func quantize(t float64) (code int16, small, large float64) {
	t = min(max(t, 0), 255)
	code = int16(fine*t + 0.5)
	return code, float64(code)/fine - t, float64(roundCode(code)) - t
}

// roundCode returns the byte of a fine code.
func roundCode(c int16) uint8 { return uint8((c + fine/2) / fine) }

// columns returns the coordinates of a cut and the code of the rest, row-major, of the
// points that rows names, or of all if it is nil.
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

// row returns the codes of point i.
func (c *codes) row(i int) []int16 { return c.data[i*c.ld:][:c.ld] }

// arrange puts the codes of point order[i] in place i, without another copy of them.
func (c *codes) arrange(order []int32) {
	cuts := len(c.err)
	row := make([]int16, c.ld)
	rest := make([]uint8, cuts)
	done := make([]bool, c.n)
	for first := range order {
		if done[first] {
			continue
		}
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
