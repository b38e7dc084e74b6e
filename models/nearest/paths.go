package nearest

import (
	"context"
	"slices"

	"github.com/bigfit/bigfit/sparse"
)

// paths are, for every vertex of a graph, the labeled vertices that are nearest along
// its edges.
type paths struct {
	k      int
	count  []int32   // of vertex i, at most k
	source []int32   // k of vertex i, nearest first; the rest is 0
	length []float64 // of the paths from them
}

// at returns the labeled vertices nearest to vertex i, nearest first, and the lengths of
// the paths from them.
func (p *paths) at(i int) (source []int32, length []float64) {
	lo := i * p.k
	hi := i*p.k + int(p.count[i])
	return p.source[lo:hi], p.length[lo:hi]
}

// pathStep is the number of visits between looks at the context.
const pathStep = 1 << 14

// shortest finds the k labeled vertices nearest to every vertex of a graph by the lengths of its
// edges, nil for one each; of equal lengths the vertices of smaller number. It is one run of
// Dijkstra's algorithm from all labeled vertices, in which every vertex is settled by up to k of
// them: O(k·nnz·log n). progress is told how many have been.
func shortest(ctx context.Context, lengths *sparse.CSR, labeled []int, k int,
	progress func(settled int)) (*paths, error) {
	n := lengths.Rows
	k = max(1, min(k, len(labeled)))
	p := &paths{k: k, count: make([]int32, n), source: make([]int32, n*k), length: make([]float64, n*k)}

	// A labeled vertex reaches itself first, by a path of length 0.
	var queue frontier
	for _, i := range labeled {
		queue.push(visit{0, int32(i), int32(i)})
	}
	settled := 0
	for visits := 0; len(queue) > 0; visits++ {
		if visits%pathStep == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			progress(settled)
		}

		// A vertex is settled by the nearest k sources; later and repeated visits are dropped.
		v := queue.pop()
		if from, _ := p.at(int(v.at)); len(from) == k || slices.Contains(from, v.from) {
			continue
		}
		at := int(v.at)*k + int(p.count[v.at])
		p.source[at] = v.from
		p.length[at] = v.length
		p.count[v.at]++
		settled++

		// A path goes on to neighbours that still lack sources.
		col, length := lengths.Row(int(v.at))
		for q, j := range col {
			if int(p.count[j]) < k {
				step := 1.0
				if length != nil {
					step = length[q]
				}
				queue.push(visit{v.length + step, j, v.from})
			}
		}
	}

	return p, nil
}

// visit is a path from a labeled vertex to another one.
type visit struct {
	length   float64
	at, from int32
}

func (v visit) less(w visit) bool {
	switch {
	case v.length != w.length:
		return v.length < w.length
	case v.at != w.at:
		return v.at < w.at
	}
	return v.from < w.from
}

// frontier is a binary min-heap of visits.
type frontier []visit

func (q *frontier) push(v visit) {
	h := append(*q, v)
	for c := len(h) - 1; c > 0; {
		p := (c - 1) / 2
		if !h[c].less(h[p]) {
			break
		}
		h[c], h[p] = h[p], h[c]
		c = p
	}
	*q = h
}

func (q *frontier) pop() visit {
	h := *q
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	for p := 0; ; {
		c := 2*p + 1
		if c >= last {
			break
		}
		if c+1 < last && h[c+1].less(h[c]) {
			c++
		}
		if !h[c].less(h[p]) {
			break
		}
		h[p], h[c] = h[c], h[p]
		p = c
	}

	*q = h
	return top
}
