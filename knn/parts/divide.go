package parts

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/param"
)

// slack is how many times larger than the mean a part may be.
const slack = 1.25

// A division says which points are in which part.
type division struct {
	divisionState
	centres centres
	scaling prepared.Scaling
	of      []uint16 // n×overlap: the parts of every point, the nearest first
	rank    []uint32 // n×overlap: the place of the point among the points of each of these parts
	first   []uint32 // n: the place of the point among the points with the same nearest part
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

// members returns the points of part p, ascending. With own it returns only the points that have p
// as their nearest part.
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

// number sets rank and first: the places of all points in their parts.
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
