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
	maxColumns   = 127  // coordinates kept at most: with the rest they fill 128 fine codes
	mostCompared = 63   // coordinates in which all pairs are compared at most
	maxRows      = 2048 // points that are rotated at a time
)

// SampleSize returns the number of points from which the components are computed.
func SampleSize(n, d int) int { return min(n, max(2048, min(4*d, 8192))) }

// cutsBelow lists the numbers of coordinates among which a sample decides. One more for the length
// of the rest makes multiples of the words of packed bytes.
var cutsBelow = []int{15, 23, 31, 47, mostCompared}

// frame turns vectors w into bytes. With v = f·(w − c) and z = Qv for the m×d matrix Q of
// components, coordinate j has the code
//
//	round(min(max((z_j − low_j)/step, 0), 255)).
//
// For every number of coordinates in cuts, the length r of the rest of v after the first
// coordinates has a code of the same form. Two vectors are at least as far apart as their z and r,
// and cutting off both ends of the range brings numbers closer to each other and never farther
// apart. So for two points with codes a and b of the same cut
//
//	f·‖w_a − w_b‖/step ≥ ‖a − b‖ − e_a − e_b
//
// where e is the length of the error of a code, in steps. It has two parts. Rounding to bytes
// changes a vector by an error that is summed as it happens. Float64 adds errors that are bounded:
// u‖v‖ for v itself; at most η‖v‖ with η = √m·(d+8)·u + ‖QQᵀ−1‖ for z, as a row of Q has norm one
// (any order of a sum, Higham 2002, section 3.1); and for r² = ‖v‖² − ‖z‖² thus Δ = (2η+η²)‖v‖²,
// which is at most Δ/max(r, low) for r.
type frame struct {
	d, m     int
	mean     []float64     // c
	factor   float64       // f, a power of two that makes lengths about 1
	rotation []float64     // Q, m×d
	bytes    *byteRotation // takes the place of rotation for points that are bytes
	eta      float64       // η
	cuts     []int         // ascending; the last is m
	step     float64
	low      []float64 // the low end of each coordinate
	lows     []float64 // the low end of the rest of each cut
}

// newFrame computes the components of a sample of the points. columns, if positive, becomes the
// only cut beside m.
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
	f.cuts = append(f.cuts, f.m) // for the fine codes

	// Points that are equal, or so far apart that squares leave the range of float64, have no
	// frame.
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

	f.setRotation(p.Components)
	if _, bytes := s.X.(*data.Dense[uint8]); bytes && !s.Unit {
		f.bytes = f.newByteRotation()
		f.eta = 0x1p-50
	}
	if !(f.eta < 1e-6) {
		return nil, fmt.Errorf("%w: the components of %d dimensions are not at right angles", ErrNothing, d)
	}

	// The scale of the codes needs fewer points than the components.
	few := &Space{X: sample}
	f.setScale(&Space{X: sampleOf(few, min(2048, SampleSize(n, d)))})
	return f, nil
}

// sampleOf returns the vectors of count points, spread evenly over all. Bytes stay bytes.
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

// setRotation stores the components without stride, and the bound of their rounding errors.
func (f *frame) setRotation(components *mat.Dense) {
	raw := components.RawMatrix()
	f.rotation = make([]float64, f.m*f.d)
	for i := range f.rotation {
		f.rotation[i] = raw.Data[i/f.d*raw.Stride+i%f.d]
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

// rotated is a block of points: the vectors v, their coordinates z, row-major, and ‖v‖².
type rotated struct {
	v, z, sq []float64
}

// rotate sets t to points lo to hi of x.
func (f *frame) rotate(t *rotated, s *Space, x data.Points, lo, hi int) {
	if f.bytes != nil {
		f.bytes.rotate(t, x.(*data.Dense[uint8]), lo, hi)
		return
	}
	if t.v == nil { // no later block is larger than the first
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
				sum = math.NaN() // the angle to a zero vector is a convention, which no bound knows
			}
			for j, v := range row {
				v = (v - f.mean[j]) * f.factor
				row[j] = v
				sum += v * v
			}
			t.sq[i] = sum
		}
	})

	dense.Gemm64(dense.NoTrans, dense.Transposed, hi-lo, f.m, f.d, 1, t.v, f.d, f.rotation, f.d, 0, t.z, f.m)
}

// setScale chooses the step and the low ends of the codes by the ranges of coordinates of a sample.
func (f *frame) setScale(s *Space) {
	n, _ := s.X.Dims()
	n = min(n, maxRows)
	var t rotated
	f.rotate(&t, s, s.X, 0, n)

	// Columns holds the values of each coordinate, then of the rest of each cut.
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

	// The step covers the widest range with 255 codes. A five-hundredth of the points at either end
	// is cut off: outliers would make all steps longer, and cutting off keeps the bound.
	middle := make([]float64, len(columns))
	for j, values := range columns {
		slices.Sort(values)
		out := n / 500
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

// rests sets dst[c] to the length of the part of a vector outside of its first cuts[c] coordinates.
// z holds the coordinates and sq the squared length of the vector.
func (f *frame) rests(dst []float64, z []float64, sq float64) {
	from := 0
	for c, to := range f.cuts {
		for _, v := range z[from:to] {
			sq -= v * v
		}
		dst[c] = math.Sqrt(max(0, sq))
		from = to
	}

	// All coordinates leave no rest. Its rounding error would only loosen the bound.
	if f.m == f.d {
		dst[len(dst)-1] = 0
	}
}
