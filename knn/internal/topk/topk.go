// Package topk keeps the k nearest of the points that a search offers.
package topk

import (
	"cmp"
	"slices"
)

// Pair is a candidate neighbour. Dist may be any increasing function of the distance.
type Pair struct {
	Dist  float64
	Index int32
}

// Less orders pairs by distance, and pairs at equal distances by index.
func (p Pair) Less(q Pair) bool {
	return p.Dist < q.Dist || p.Dist == q.Dist && p.Index < q.Index
}

// Sort puts pairs in the order of Less.
func Sort(list []Pair) {
	slices.SortFunc(list, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(a.Dist, b.Dist), cmp.Compare(a.Index, b.Index))
	})
}

// Set keeps the Limit smallest pairs seen.
type Set struct {
	Limit int
	Heap  []Pair // a binary max-heap: the largest pair is at the root
}

// New returns an empty set with room for limit pairs.
func New(limit int) *Set {
	return &Set{Limit: limit, Heap: make([]Pair, 0, limit)}
}

// Full reports whether the set holds Limit pairs.
func (h *Set) Full() bool { return len(h.Heap) == h.Limit }

// Add offers a pair; it is dropped if Limit smaller ones are held. It costs
// O(log Limit).
func (h *Set) Add(p Pair) {
	if h.Full() {
		// A nearer pair takes the place of the farthest.
		if p.Less(h.Heap[0]) {
			h.Heap[0] = p
			h.down()
		}
		return
	}

	// The new pair rises as long as its parent is nearer.
	h.Heap = append(h.Heap, p)
	for c := len(h.Heap) - 1; c > 0; {
		parent := (c - 1) / 2
		if !h.Heap[parent].Less(h.Heap[c]) {
			return
		}
		h.Heap[parent], h.Heap[c] = h.Heap[c], h.Heap[parent]
		c = parent
	}
}

// DropRoot removes the largest pair of a set that is not empty.
func (h *Set) DropRoot() {
	last := len(h.Heap) - 1
	h.Heap[0] = h.Heap[last]
	h.Heap = h.Heap[:last]
	h.down()
}

// down restores the heap after its root was replaced.
func (h *Set) down() {
	for p := 0; ; {
		c := 2*p + 1
		if c >= len(h.Heap) {
			return
		}
		if c+1 < len(h.Heap) && h.Heap[c].Less(h.Heap[c+1]) {
			c++
		}
		if !h.Heap[p].Less(h.Heap[c]) {
			return
		}
		h.Heap[p], h.Heap[c] = h.Heap[c], h.Heap[p]
		p = c
	}
}

// Take empties the set and returns its pairs, smallest first. They are valid
// until the next Add.
func (h *Set) Take() []Pair {
	out := h.Heap
	Sort(out)
	h.Heap = h.Heap[:0]
	return out
}
