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

// slabs are parts of the vertices of a graph. Edges between two parts go by way of the vertices between.
type slabs struct {
	parts   [][]int32
	between []int32
	// number is the place of a vertex in its part, or −1 − its place in between.
	number []int32
}

// newSlabs divides a graph by levels of a breadth-first search, into parts of at least so many vertices. It returns nil
// for a graph that is too small, or whose levels are too wide. It costs two passes over the edges.
func newSlabs(s *system, size int) *slabs {
	n := s.w.Rows
	if n < 2*size {
		return nil
	}
	order, ends := s.levels()
	for count := min(n/size, slabMost); count > 1; count /= 2 {
		levels, total := narrowLevels(ends, count)
		if total <= n/betweenShare {
			return between(order, ends, levels)
		}
	}
	return nil
}

// levels returns the vertices in the order of breadth-first searches from a far end of each component, and where the
// levels end.
func (s *system) levels() (order []int32, ends []int) {
	search := breadthFirst{w: s.w, seen: make([]int32, s.w.Rows)}
	order = make([]int32, 0, s.w.Rows)
	for root := range s.w.Rows {
		if search.seen[root] == 0 {
			end, _ := search.from(int32(root), 1)
			_, own := search.from(end, 2)
			for _, e := range own {
				ends = append(ends, len(order)+e)
			}
			order = append(order, search.queue...)
		}
	}
	return order, ends
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
			if width(ends, level) < width(ends, best) {
				best = level
			}
		}
		levels = append(levels, best)
		total += width(ends, best)
	}
	return levels, total
}

// between puts the vertices in the given levels between the others. order has all vertices, level after level, and ends says
// where the levels end.
func between(order []int32, ends, levels []int) *slabs {
	of := make([]int8, len(order)) // the slab of a vertex, or −1
	sizes := make([]int, len(levels)+1)
	from := 0
	for k, level := range append(levels, len(ends)) {
		start := len(order)
		if level < len(ends) {
			start = ends[level] - width(ends, level)
		}
		sizes[k] = start - from
		for _, v := range order[from:start] {
			of[v] = int8(k)
		}
		if level < len(ends) {
			from = ends[level]
			for _, v := range order[start:from] {
				of[v] = -1
			}
		}
	}

	// All in ascending order.
	d := &slabs{parts: make([][]int32, len(sizes)), number: make([]int32, len(order))}
	for k, size := range sizes {
		d.parts[k] = make([]int32, 0, size)
	}
	for v, k := range of {
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

// width returns the size of a level.
func width(ends []int, level int) int {
	if level == 0 {
		return ends[0]
	}
	return ends[level] - ends[level-1]
}
