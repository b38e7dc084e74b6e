package parts

import (
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/knn/internal/prepared"
)

// rows reads points as float32 rows that can be compared: (x − Mean)·Scale, or unit vectors.
type rows struct {
	x data.Points
	d int
	prepared.Scaling
	shift []float32 // Mean·Scale
	order []uint32  // the point of the user that each row is; nil if x has his order
}

// newRows returns the rows of the points x under a scaling.
func newRows(x data.Points, s *prepared.Scaling) *rows {
	r := &rows{x: x, Scaling: *s}
	_, r.d = x.Dims()
	for _, v := range s.Mean {
		r.shift = append(r.shift, float32(v*s.Scale))
	}
	return r
}

// fast sets dst to the rows of points that float32 holds, without going through float64. It reports
// false where points are float64, or where rows are not centred points. The rounded mean moves all
// rows alike, so distances do not change.
func (r *rows) fast(dst []float32, ids []int32) bool {
	if r.shift == nil {
		return false
	}

	scale := float32(r.Scale)
	data.Prefetch(r.x, ids)
	switch x := r.x.(type) {
	case *data.Dense[float32]:
		for p, i := range ids {
			simd.CombineRow32(dst[p*r.d:][:r.d], x.Row(int(i)), scale, r.shift, -1)
		}
	case *data.Stored:
		if x.Kind() == data.Float64 {
			return false
		}
		x.Gather(dst, ids)
		for p := range ids {
			row := dst[p*r.d:][:r.d]
			simd.CombineRow32(row, row, scale, r.shift, -1)
		}
	default:
		return false
	}
	return true
}

const (
	// gatherBlock is the largest number of rows that are read before their pages are given back.
	gatherBlock = 1 << 13
	// scattered is the number of rows of a block that may lie anywhere. The kernel maps 64 KiB
	// around every row that is touched, so they take 32 MiB.
	scattered = 1 << 9
	// gatherBytes is the length of the range of the file in which the other rows must lie.
	gatherBytes = 32 << 20
)

// read sets dst to the rows of the points ids, which ascend.
func (r *rows) read(dst []float32, ids []int32) {
	r.inBlocks(ids, func(lo, hi int) {
		if r.fast(dst[lo*r.d:hi*r.d], ids[lo:hi]) {
			return
		}
		row := make([]float64, r.d)
		for i := lo; i < hi; i++ {
			r.Row(dst[i*r.d:][:r.d], r.x, int(ids[i]), row)
		}
	})
}

// inBlocks calls use with ranges of a list of points, which ascend, in parallel, and gives the
// pages that were read back after each block.
func (r *rows) inBlocks(ids []int32, use func(lo, hi int)) {
	for first, end := 0, 0; first < len(ids); first = end {
		// The first rows of a block may lie anywhere, the others only near the first.
		end = min(first+scattered, len(ids))
		for end < min(first+gatherBlock, len(ids)) && int(ids[end]-ids[first]) <= gatherBytes/(4*r.d) {
			end++
		}
		par.For(end-first, 128, func(lo, hi int) { use(first+lo, first+hi) })
		data.Release(r.x, int(ids[first]), int(ids[end-1])+1)
	}
}

// sample returns count rows of n, at equal distances.
func (r *rows) sample(n, count int) []float32 {
	ids := make([]int32, count)
	for i := range ids {
		ids[i] = int32(int64(i) * int64(n) / int64(count))
	}

	out := make([]float32, count*r.d)
	r.read(out, ids)
	return out
}
