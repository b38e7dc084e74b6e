package nndescent

import (
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// backlinks holds the lists of a candidateGraph turned round: row j holds the points that list j,
// with the mark of j in their list, in ascending order.
type backlinks struct {
	ptr  []int64
	from []uint32
}

// newBacklinks returns room for the links of n points with lists of a width.
func newBacklinks(n, width int) *backlinks {
	return &backlinks{ptr: dense.Zeros[int64](n), from: dense.Zeros[uint32](n * width)}
}

// row returns the points that list point i.
func (b *backlinks) row(i int) []uint32 {
	var lo int64
	if i > 0 {
		lo = b.ptr[i-1]
	}
	return b.from[lo:b.ptr[i]]
}

// fill turns the lists of g round, by a counting sort. Every goroutine reads all lists and takes the links to one range of
// points: counts that two of them change would have to be changed one after another, each with a wait for memory.
func (b *backlinks) fill(g *candidateGraph) {
	clear(b.ptr)
	ranges := par.Workers(g.n, 1)
	each := func(visit func(lo int, ptr []int64)) {
		par.For(ranges, 1, func(r, _ int) {
			lo, hi := r*g.n/ranges, (r+1)*g.n/ranges
			visit(lo, b.ptr[lo:hi])
		})
	}

	each(func(lo int, ptr []int64) {
		for _, v := range g.index {
			// An empty place of a list is in no range.
			if at := uint(v&number) - uint(lo); at < uint(len(ptr)) {
				ptr[at]++
			}
		}
	})
	var sum int64
	for i, count := range b.ptr {
		b.ptr[i] = sum
		sum += count
	}

	// Each row's pointer moves from its beginning to its end.
	each(func(lo int, ptr []int64) {
		for i := range g.n {
			for _, v := range g.list(int32(i)) {
				if at := uint(v&number) - uint(lo); at < uint(len(ptr)) {
					b.from[ptr[at]] = uint32(i) | v&^number
					ptr[at]++
				}
			}
		}
	})
}
