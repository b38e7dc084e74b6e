package parts

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/knn/internal/prepared"
)

// slack is how much larger than the mean a part may be.
const slack = 1.25

// A division says which points are in which part.
type division struct {
	divisionState
	centres centres
	scaling prepared.Scaling
	of      []uint16 // n×overlap: the parts of every point, the nearest first
	rank    []uint32 // n×overlap: its number among the points of each of these parts
	first   []uint32 // n: its number among those of which its nearest part is the same
}

// divisionState describes a division in the manifest of its file.
type divisionState struct {
	N     int      `json:"n"`
	D     int      `json:"d"`
	Scale float64  `json:"scale"` // of rows
	Files []string `json:"files"` // of the points
	Hash  string   `json:"hash"`  // of the points: data.HashPoints
	Sizes []int    `json:"sizes"` // points in each part
	Own   []int    `json:"own"`   // of these, points of which it is the nearest part
}

// rows reads points as rows that can be compared, in float32.
type rows struct {
	x data.Points
	d int
	prepared.Scaling
	shift []float32 // Mean·Scale
}

func newRows(x data.Points, s *prepared.Scaling) *rows {
	r := &rows{x: x, Scaling: *s}
	_, r.d = x.Dims()
	for _, v := range s.Mean {
		r.shift = append(r.shift, float32(v*s.Scale))
	}
	return r
}

// fast sets dst to points that float32 holds, and reports whether these are such points and
// lengths are compared. The rounded mean moves all of them alike.
func (r *rows) fast(dst []float32, ids []int32) bool {
	if r.shift == nil {
		return false
	}
	scale := float32(r.Scale)
	data.Touch(r.x, ids)
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
	// scattered is the number of them that may lie anywhere: the kernel maps 64 KiB around each.
	scattered = 1 << 9
	// gatherBytes are those within which all others lie.
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

// inBlocks calls use with ranges of a list of points, which ascend, in parallel, and gives
// the pages of those that were read back.
func (r *rows) inBlocks(ids []int32, use func(lo, hi int)) {
	for first, end := 0, 0; first < len(ids); first = end {
		end = min(first+scattered, len(ids))
		for end < min(first+gatherBlock, len(ids)) && int(ids[end]-ids[first]) <= gatherBytes/(4*r.d) {
			end++
		}
		par.For(end-first, 128, func(lo, hi int) { use(first+lo, first+hi) })
		data.Release(r.x, int(ids[first]), int(ids[end-1])+1)
	}
}

// sample returns rows of the set: count of them, at equal distances.
func (r *rows) sample(n, count int) []float32 {
	ids := make([]int32, count)
	for i := range ids {
		ids[i] = int32(int64(i) * int64(n) / int64(count))
	}
	out := make([]float32, count*r.d)
	r.read(out, ids)
	return out
}

// divide finds centres and the parts of all points.
func divide(ctx context.Context, r *rows, s *Settings) (*division, error) {
	n, _ := r.x.Dims()
	sample := r.sample(n, min(n, max(leastSample, min(mostSample, samplePerPart*s.Parts))))
	c, err := kMeans(ctx, sample, r.d, s.Parts, s.Seed)
	if err != nil {
		return nil, err
	}
	if err := c.balance(ctx, sample, s.Overlap); err != nil {
		return nil, err
	}
	div := &division{centres: *c, scaling: r.Scaling, of: make([]uint16, n*s.Overlap)}
	div.N, div.D = n, r.d
	div.Sizes, div.Own = make([]int, s.Parts), make([]int, s.Parts)
	limit := int(math.Ceil(slack * float64(n) * float64(s.Overlap) / float64(s.Parts)))
	if err := div.assign(ctx, r, s.Overlap, limit); err != nil {
		return nil, err
	}
	if p := slices.Index(div.Sizes, slices.Min(div.Sizes)); div.Sizes[p] <= s.Graph.K {
		return nil, fmt.Errorf("part %d of %d has %d points, too few for %d neighbours; take fewer --parts", p, s.Parts, div.Sizes[p], s.Graph.K)
	}
	return div, nil
}

// assign puts every point in the nearest parts that are not full, in the order of the points.
func (div *division) assign(ctx context.Context, r *rows, overlap, limit int) error {
	k := div.centres.count()
	block := make([]float32, gatherBlock*r.d)
	ids := make([]int32, gatherBlock)
	for first := 0; first < div.N; first += gatherBlock {
		if err := ctx.Err(); err != nil {
			return err
		}
		ids = ids[:min(gatherBlock, div.N-first)]
		for i := range ids {
			ids[i] = int32(first + i)
		}
		flat := block[:len(ids)*r.d]
		r.read(flat, ids)
		div.centres.inBlocks(flat, func(lo int, scores []float32) {
			of := div.of[(first+lo)*overlap:][:len(scores)/k*overlap]
			par.For(len(scores)/k, 256, func(a, b int) {
				for i := a; i < b; i++ {
					choose(of[i*overlap:][:overlap], scores[i*k:][:k])
				}
			})
			for i := range len(scores) / k {
				div.enter(of[i*overlap:][:overlap], scores[i*k:][:k], limit)
			}
		})
	}
	return nil
}

// enter counts a point in its parts. Where one is full, the nearest that are not take its
// place.
func (div *division) enter(parts []uint16, scores []float32, limit int) {
	if slices.ContainsFunc(parts, func(p uint16) bool { return div.Sizes[p] >= limit }) {
		for p, size := range div.Sizes {
			if size >= limit {
				scores[p] = float32(math.Inf(1))
			}
		}
		choose(parts, scores)
	}
	for _, p := range parts {
		div.Sizes[p]++
	}
	div.Own[parts[0]]++
}

// overlap returns the number of parts that a point is in.
func (div *division) overlap() int { return len(div.of) / div.N }

// members returns the points of part p, ascending; with own those alone of which it is the
// nearest part.
func (div *division) members(p int, own bool) []int32 {
	size := div.Sizes[p]
	if own {
		size = div.Own[p]
	}
	list := make([]int32, 0, size)
	overlap := div.overlap()
	for i := range div.N {
		parts := div.of[i*overlap:][:overlap]
		if int(parts[0]) == p || !own && slices.Contains(parts[1:], uint16(p)) {
			list = append(list, int32(i))
		}
	}
	return list
}

// number counts the points of every part.
func (div *division) number() {
	overlap := div.overlap()
	div.rank = make([]uint32, len(div.of))
	div.first = make([]uint32, div.N)
	seen := make([]uint32, len(div.Sizes))
	own := make([]uint32, len(div.Sizes))
	for i, p := range div.of {
		div.rank[i] = seen[p]
		seen[p]++
		if i%overlap == 0 {
			div.first[i/overlap] = own[p]
			own[p]++
		}
	}
}
