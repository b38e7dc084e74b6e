package cg

import "slices"

// Grids, roads and other graphs in space fall into slabs: parts without an edge between them, but for few vertices
// that lie between two of them. What is done with each slab can be done by several processors at once. Slabs follow
// from the graph alone, so that the bits of a result do not depend on the processors.

const (
	// slabSize is the least number of vertices of a slab, slabMost their largest number.
	slabSize = 50_000
	slabMost = 8
	// betweenShare is the share of the vertices, one in so many, that may lie between slabs.
	betweenShare = 32
)

// slabs are parts of the vertices of a graph. Edges between two parts go by way of the vertices between. All are in
// ascending order.
type slabs struct {
	slab    []int8 // of a vertex, or −1
	parts   [][]int32
	between []int32
	// number is the place of a vertex in its part, or −1 − its place in between.
	number []int32
}

// divide returns slabs of the graph of a system whose levels are known, or nil.
func (s *system) divide() *slabs {
	if s.parts == nil {
		s.parts = newSlabs(s, slabSize)
	}
	return s.parts
}

// newSlabs divides a graph by the levels of breadth-first searches, into parts of at least so many vertices. It returns nil
// for a graph that is too small, or whose levels are too wide or not known.
func newSlabs(s *system, size int) *slabs {
	n := s.w.Rows
	if n < 2*size || len(s.visited) < n {
		return nil
	}
	for count := min(n/size, slabMost); count > 1; count /= 2 {
		levels, total := narrowLevels(s.levelEnds, count)
		if total <= n/betweenShare {
			return numbered(cutAt(s.visited, s.levelEnds, levels), count)
		}
	}
	return nil
}

// narrowLevels returns the narrowest level near each of the places that divide the vertices into count equal parts, and
// their sizes together.
func narrowLevels(ends []int, count int) (levels []int, total int) {
	n := ends[len(ends)-1]
	for k := 1; k < count; k++ {
		// Within a quarter of a part; or the level that holds the place itself.
		place := k * n / count
		best, _ := slices.BinarySearch(ends, place+1)
		first, _ := slices.BinarySearch(ends, place-n/(4*count))
		for level := first; ends[level] < place+n/(4*count); level++ {
			if levelSize(ends, level) < levelSize(ends, best) {
				best = level
			}
		}
		levels = append(levels, best)
		total += levelSize(ends, best)
	}
	return levels, total
}

// cutAt returns the slabs of the vertices, with those in the given levels between the others. order has all vertices, level
// after level, and ends says where the levels end.
func cutAt(order []int32, ends, levels []int) []int8 {
	slab := make([]int8, len(order))
	k := 0
	for i, v := range order {
		for k < len(levels) && i >= ends[levels[k]] {
			k++
		}
		slab[v] = int8(k)
		if k < len(levels) && i >= ends[levels[k]]-levelSize(ends, levels[k]) {
			slab[v] = -1
		}
	}
	return slab
}

// numbered returns so many slabs with the given vertices.
func numbered(slab []int8, count int) *slabs {
	d := &slabs{slab: slab, parts: make([][]int32, count), number: make([]int32, len(slab))}
	for v, k := range slab {
		if k < 0 {
			d.number[v] = int32(-1 - len(d.between))
			d.between = append(d.between, int32(v))
			continue
		}
		d.number[v] = int32(len(d.parts[k]))
		d.parts[k] = append(d.parts[k], int32(v))
	}
	return d
}

// of returns the slabs of the graph of some of the vertices. Those of nil are nil.
func (d *slabs) of(vertices []int32) *slabs {
	if d == nil {
		return nil
	}
	slab := make([]int8, len(vertices))
	for i, v := range vertices {
		slab[i] = d.slab[v]
	}
	return numbered(slab, len(d.parts))
}

// levelSize returns the size of a level.
func levelSize(ends []int, level int) int {
	if level == 0 {
		return ends[0]
	}
	return ends[level] - ends[level-1]
}
