package parts

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
)

// A list of up to width neighbours of a point is a row of 2·width words:
//
//	words[0 : width]        numbers of points, nearest first, then none
//	words[width : 2·width]  the bits of squared distances in float32, then infinite
//
// Distances are between scaled rows ([prepared.Scaling]). Bits of positive float32 are in the
// order of their values. A list is in the order (distance, number), so that a pair that is
// offered twice meets itself in its place.
const (
	// none stands for no neighbour where a list ends early.
	none = math.MaxUint32
	// infinite holds the bits of +Inf, for distances that are not known.
	infinite = 0x7f80_0000
)

// mergeLists merges the lists of all parts that a point is in, for all points, unless the merged lists
// are in the folder. The exchange reads lists that lie anywhere: these are half as long as those of the
// parts, as it needs no distances of them, so that more of them stay in memory. The lists of the parts,
// the largest files of the folder, are removed then.
func (r *Run) mergeLists(ctx context.Context) error {
	r.observed.Begin("merge of lists")
	r.div.number()
	width := r.s.width()
	for p := range r.s.Parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		// The squares are written last.
		there, err := r.folder.has(squaresName(p))
		if err != nil {
			return err
		}
		if there {
			continue
		}
		r.observed.Update(float64(p), float64(r.s.Parts), fmt.Sprintf("part %d", p))

		own := r.div.own(p)
		words := make([]uint32, 2*width*len(own))
		if err := r.merged(words, own); err != nil {
			return err
		}
		near := make([]uint32, 0, width*len(own))
		squares := make([]uint32, 0, width*len(own))
		for list := range slices.Chunk(words, 2*width) {
			near = append(near, list[:width]...)
			squares = append(squares, list[width:]...)
		}
		if err := save(r.folder, listsName(0, p), width, near); err != nil {
			return err
		}
		if err := save(r.folder, squaresName(p), width, squares); err != nil {
			return err
		}
	}
	r.div.rank = nil
	for p := range r.s.Parts {
		if err := remove[uint32](r.folder, partName(p)); err != nil {
			return err
		}
	}
	r.observed.End(fmt.Sprintf("of %d parts", r.s.Parts))
	return nil
}

// allMerged reports whether the lists of all parts are merged. The last part is merged last.
func (r *Run) allMerged() (bool, error) { return r.folder.has(squaresName(r.s.Parts - 1)) }

// merged sets words to the lists of points, which ascend, merged from the lists of all parts that a
// point is in.
func (r *Run) merged(words []uint32, ids []int32) error {
	of := make([][]uint32, r.s.Parts)
	for p := range of {
		var err error
		if of[p], _, err = load[uint32](r.folder, partName(p)); err != nil {
			return err
		}
	}
	width := r.s.width()
	overlap := r.s.Overlap

	// The pages of the tables are given back after each block of points.
	const block = 1 << 12
	for first := 0; first < len(ids); first += block {
		end := min(first+block, len(ids))
		par.For(end-first, 1024, func(lo, hi int) {
			for at := first + lo; at < first+hi; at++ {
				out := words[at*2*width:][:2*width]
				for a := range overlap {
					e := int(ids[at])*overlap + a
					list := of[r.div.of[e]][int(r.div.rank[e])*2*width:][:2*width]
					if a == 0 {
						copy(out, list)
					} else {
						mergeList(out, list)
					}
				}
			}
		})
		for _, table := range of {
			drop(table)
		}
	}
	return nil
}

// setList writes the list of the points ids[near[p]] at the distances dist[p] to words.
func setList(words []uint32, ids, near []int32, dist []float32) {
	width := len(words) / 2
	for p := range width {
		words[p] = none
		words[width+p] = infinite
		if p < len(near) {
			words[p] = uint32(ids[near[p]])
			words[width+p] = math.Float32bits(dist[p])
		}
	}
}

// sortList puts a list in the order (distance, number), by insertion: it is nearly sorted.
func sortList(words []uint32) {
	width := len(words) / 2
	index := words[:width]
	dist := words[width:]
	for p := 1; p < width; p++ {
		i := index[p]
		d := dist[p]
		q := p
		for ; q > 0 && (dist[q-1] > d || dist[q-1] == d && index[q-1] > i); q-- {
			index[q], dist[q] = index[q-1], dist[q-1]
		}
		index[q] = i
		dist[q] = d
	}
}

// mergeList leaves the nearest points of two lists in the first.
func mergeList(words, other []uint32) {
	width := len(words) / 2
	for p, j := range other[:width] {
		if j == none {
			return
		}
		if !offer(words, j, other[width+p]) {
			return
		}
	}
}

// offer enters point j into a list, at a distance with the bits d. It reports whether the list
// would take a point that is farther.
func offer(words []uint32, j, d uint32) bool {
	width := len(words) / 2
	index := words[:width:width]
	dist := words[width:][:width:width]
	p := width
	for p > 0 && (dist[p-1] > d || dist[p-1] == d && index[p-1] > j) {
		p--
	}
	if p == width {
		return false
	}

	// A pair has one distance wherever it is measured, so a point that is in the list stands here.
	if p > 0 && index[p-1] == j {
		return true
	}
	copy(index[p+1:], index[p:])
	copy(dist[p+1:], dist[p:])
	index[p] = j
	dist[p] = d
	return true
}
