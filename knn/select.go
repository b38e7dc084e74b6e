package knn

import "slices"

// pair is a candidate neighbour. The distance may be any increasing function
// of the true one.
type pair struct {
	dist  float64
	index int32
}

func (p pair) less(q pair) bool {
	return p.dist < q.dist || p.dist == q.dist && p.index < q.index
}

// compare orders pairs for slices.SortFunc.
func (p pair) compare(q pair) int {
	switch {
	case p.less(q):
		return -1
	case q.less(p):
		return 1
	}
	return 0
}

// nearest keeps the limit smallest pairs seen, as a binary max-heap: the
// largest of them is at the root.
type nearest struct {
	limit int
	heap  []pair
}

func newNearest(limit int) *nearest {
	return &nearest{limit: limit, heap: make([]pair, 0, limit)}
}

func (h *nearest) full() bool { return len(h.heap) == h.limit }

// add offers a pair; it is dropped if limit smaller ones are held.
func (h *nearest) add(p pair) {
	if h.full() {
		if p.less(h.heap[0]) {
			h.heap[0] = p
			h.down()
		}
		return
	}
	h.heap = append(h.heap, p)
	for c := len(h.heap) - 1; c > 0; {
		parent := (c - 1) / 2
		if !h.heap[parent].less(h.heap[c]) {
			return
		}
		h.heap[parent], h.heap[c] = h.heap[c], h.heap[parent]
		c = parent
	}
}

// down restores the heap after its root was replaced.
func (h *nearest) down() {
	for p := 0; ; {
		c := 2*p + 1
		if c >= len(h.heap) {
			return
		}
		if c+1 < len(h.heap) && h.heap[c].less(h.heap[c+1]) {
			c++
		}
		if !h.heap[p].less(h.heap[c]) {
			return
		}
		h.heap[p], h.heap[c] = h.heap[c], h.heap[p]
		p = c
	}
}

// take empties the set and returns its pairs, smallest first. They are valid
// until the next add.
func (h *nearest) take() []pair {
	out := h.heap
	slices.SortFunc(out, func(a, b pair) int {
		if a.less(b) {
			return -1
		}
		return 1
	})
	h.heap = h.heap[:0]
	return out
}
