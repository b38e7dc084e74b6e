package nndescent

import (
	"slices"
	"sync/atomic"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// backlinks holds the lists of a candidateGraph turned round: row j holds the points that list j,
// with the mark of j in their list, in no certain order.
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

// fill turns the lists of g round, by a counting sort.
func (b *backlinks) fill(g *candidateGraph) {
	clear(b.ptr)
	g.eachLink(func(_ int, v uint32) { atomic.AddInt64(&b.ptr[v&number], 1) })
	var sum int64
	for i, count := range b.ptr {
		b.ptr[i] = sum
		sum += count
	}

	// Each row's pointer moves from its beginning to its end.
	g.eachLink(func(i int, v uint32) {
		at := atomic.AddInt64(&b.ptr[v&number], 1) - 1
		b.from[at] = uint32(i) | v&^number
	})
}

// sort puts every row in ascending order.
func (b *backlinks) sort() {
	par.For(len(b.ptr), 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			slices.Sort(b.row(i))
		}
	})
}
