package parts

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/param"
)

// slack is how many times larger than the mean a part may be.
const slack = 1.25

// A division says which points are in which part. It numbers the points anew, by their nearest
// part, then by the second, then in the order of the user.
type division struct {
	divisionState
	centres centres
	scaling prepared.Scaling
	order   []uint32 // n: the point of the user that has each number
	of      []uint16 // n×overlap: the parts of every point, the nearest first
	start   []int    // the first number of each part that has a point as its nearest, and n
	rank    []uint32 // n×overlap: the place of the point among the points of each of its parts
}

// divisionState describes a division in the manifest of its file.
type divisionState struct {
	N     int      `json:"n"`
	D     int      `json:"d"`
	Scale float64  `json:"scale"` // factor of centred points
	Files []string `json:"files"` // the files of the points
	Hash  string   `json:"hash"`  // data.HashPoints of the points
	Sizes []int    `json:"sizes"` // points in each part
	Own   []int    `json:"own"`   // points that have the part as their nearest
}

// divide finds centres by a sample, and then the parts of all points.
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
	div.N = n
	div.D = r.d
	div.Sizes = make([]int, s.Parts)
	div.Own = make([]int, s.Parts)
	limit := int(math.Ceil(slack * float64(n) * float64(s.Overlap) / float64(s.Parts)))
	if err := div.assign(ctx, r, s.Overlap, limit); err != nil {
		return nil, err
	}
	if p := slices.Index(div.Sizes, slices.Min(div.Sizes)); div.Sizes[p] <= s.Graph.K {
		return nil, fmt.Errorf("part %d of %d has %d points, too few for %d neighbours; take fewer %s",
			p, s.Parts, div.Sizes[p], s.Graph.K, param.Name("parts"))
	}
	return div, nil
}

// assign puts every point into the nearest parts that are not full, in the order of the points'
// numbers, so that the parts do not depend on the number of threads.
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

		// Parts are chosen in parallel as if none were full, and entered one point after the other.
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

// enter counts a point in its parts. If one of them is full, the point's parts are chosen anew
// among those that are not.
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

// arrange numbers the points anew: it sets start and order, and brings the parts of the points into
// this order. copyPoints is called when order is there and the parts are still in that of the user.
func (div *division) arrange(copyPoints func() error) error {
	div.starts()
	overlap := div.overlap()
	pair := func(i int) uint32 { return uint32(div.of[i*overlap])<<16 | uint32(div.of[i*overlap+1]) }

	// A counting sort by the two nearest parts. next holds counts, then the next number of a pair.
	next := map[uint32]int{}
	for i := range div.N {
		next[pair(i)]++
	}
	at := 0
	for _, key := range slices.Sorted(maps.Keys(next)) {
		next[key], at = at, at+next[key]
	}
	div.order = make([]uint32, div.N)
	for i := range div.N {
		key := pair(i)
		div.order[next[key]] = uint32(i)
		next[key]++
	}

	if err := copyPoints(); err != nil {
		return err
	}

	// The parts are moved along the cycles of the order, as a copy would be as large.
	done := make([]bool, div.N)
	kept := make([]uint16, overlap)
	of := func(i int) []uint16 { return div.of[i*overlap:][:overlap] }
	for first := range div.N {
		if done[first] {
			continue
		}
		copy(kept, of(first))
		i := first
		for ; int(div.order[i]) != first; i = int(div.order[i]) {
			done[i] = true
			copy(of(i), of(int(div.order[i])))
		}
		done[i] = true
		copy(of(i), kept)
	}
	return nil
}

// starts sets start.
func (div *division) starts() {
	div.start = make([]int, 1, len(div.Own)+1)
	for p, own := range div.Own {
		div.start = append(div.start, div.start[p]+own)
	}
}

// numbers returns the numbers of the points, in the order of the user.
func (div *division) numbers() []int32 {
	out := make([]int32, div.N)
	for i, v := range div.order {
		out[v] = int32(i)
	}
	return out
}

// own returns the points that have p as their nearest part.
func (div *division) own(p int) []int32 {
	list := make([]int32, div.Own[p])
	for i := range list {
		list[i] = int32(div.start[p] + i)
	}
	return list
}

// members returns the points of part p, ascending.
func (div *division) members(p int) []int32 {
	list := make([]int32, 0, div.Sizes[p])
	overlap := div.overlap()
	for i := range div.N {
		if slices.Contains(div.of[i*overlap:][:overlap], uint16(p)) {
			list = append(list, int32(i))
		}
	}
	return list
}

// number sets rank: the places of all points in their parts.
func (div *division) number() {
	div.rank = make([]uint32, len(div.of))
	seen := make([]uint32, len(div.Sizes))
	for i, p := range div.of {
		div.rank[i] = seen[p]
		seen[p]++
	}
}
