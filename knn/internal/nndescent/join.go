package nndescent

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
)

// A joiner is the working memory of one goroutine for local joins.
type joiner struct {
	group
	rows    coordinates // the same meter; nil where rows are no numbers
	sieve   sieve
	own     candidateGraph // lists of the points of a leaf
	dist    []float32
	limit   []float32
	members []int32    // the points to be compared with each other
	edges   []uint32   // links to draw from
	seen    [512]int32 // a hash table of members, 1 + number
	pairs   int64      // distances computed
	entered int64      // entries made in lists
}

// joinLeaves compares all points of every leaf below root, a tree with the given order. It returns
// the numbers of distances computed and of entries made in lists.
func (g *candidateGraph) joinLeaves(ctx context.Context, order []int32, root *rpNode) (pairs, entered int64) {
	leaves := root.appendLeaves(nil)
	workers := g.joiners(par.Workers(len(leaves), 1))
	par.ForWorker(len(leaves), 1, func(worker, lo, _ int) {
		if ctx.Err() == nil {
			g.joinLeaf(order[leaves[lo].lo:leaves[lo].hi], &workers[worker])
		}
	})
	for i := range workers {
		entered += workers[i].entered
	}
	return pairsOf(workers), entered
}

// joiners returns the working memory of count goroutines.
func (g *candidateGraph) joiners(count int) []joiner {
	workers := make([]joiner, count)
	for i := range workers {
		m := g.rows.Meter()
		workers[i].group = groupOf(m)
		workers[i].rows, _ = m.(coordinates)
	}
	return workers
}

// pairsOf returns the number of distances that all workers computed.
func pairsOf(workers []joiner) (pairs int64) {
	for i := range workers {
		pairs += workers[i].pairs
	}
	return pairs
}

// joinLeaf compares all points of a leaf with each other. No other goroutine may use their lists.
func (g *candidateGraph) joinLeaf(ids []int32, w *joiner) {
	w.dist = slices.Grow(w.dist[:0], len(ids))[:len(ids)]
	// limit holds the worst distance of every list, read once; it changes where an offer is taken.
	w.limit = w.limit[:0]
	for _, i := range ids {
		w.limit = append(w.limit, g.worst(i))
	}

	w.Gather(ids)
	for a, i := range ids {
		rest := ids[a+1:]
		dist := w.dist[:len(rest)]
		limit := w.limit[a+1:][:len(rest)]
		w.Among(dist, a)
		own := w.limit[a]
		for b, d := range dist {
			if d < own {
				w.entered += g.offer(i, rest[b], d)
				own = g.worst(i)
			}
			if d < limit[b] {
				w.entered += g.offer(rest[b], i, d)
				limit[b] = g.worst(rest[b])
			}
		}
		w.pairs += int64(len(rest))
	}
}

// blend compares all points of a leaf with each other while other goroutines use their lists: it makes lists within the leaf first.
func (g *candidateGraph) blend(ids []int32, w *joiner) {
	own := &w.own
	own.reset(len(ids), g.width)
	w.limit = w.limit[:0]
	for _, i := range ids {
		m := g.lock(i)
		w.limit = append(w.limit, above(g.worst(i)))
		m.Unlock()
	}

	w.pairs += int64(len(ids)) * int64(len(ids)-1) / 2
	w.sieve.load(w.rows, ids)
	w.sieve.sift(w.rows, len(ids), w.limit, func(a int, rest []int32, dist []float32) {
		limit := w.limit[a]
		for p, b := range rest {
			d := dist[p]
			if d < limit {
				own.offer(int32(a), ids[b], d)
				limit = min(limit, above(own.worst(int32(a))))
			}
			if d < w.limit[b] {
				own.offer(b, ids[a], d)
				w.limit[b] = min(w.limit[b], above(own.worst(b)))
			}
		}
		w.limit[a] = limit
	})

	for a, i := range ids {
		if own.list(int32(a))[0] == number {
			continue
		}
		m := g.lock(i)
		g.merge(i, own, int32(a), w)
		m.Unlock()
	}
}

// take makes the first entries of a list with the given mark members, at most sample.
func (w *joiner) take(list []uint32, mark uint32, sample int) {
	for _, v := range list {
		if v&^number == mark && v&number != number {
			if sample--; sample < 0 {
				return
			}
			w.add(int32(v & number))
		}
	}
}

// draw makes a random choice of at most sample links with the given mark members.
func (w *joiner) draw(links []uint32, mark uint32, sample int, r *rand.PCG) {
	w.edges = w.edges[:0]
	for _, v := range links {
		if v&^number == mark {
			w.edges = append(w.edges, v&number)
		}
	}

	// A partial Fisher–Yates shuffle.
	for k := range min(sample, len(w.edges)) {
		left := w.edges[k:]
		if len(w.edges) > sample {
			p := int(r.Uint64() % uint64(len(left)))
			left[0], left[p] = left[p], left[0]
		}
		w.add(int32(left[0]))
	}
}

// add makes point i a member unless it is one already.
func (w *joiner) add(i int32) {
	// Knuth's multiplicative hash, with linear probing.
	h := uint32(i) * 2654435769 >> (32 - 9)
	for ; w.seen[h] != 0; h = (h + 1) % uint32(len(w.seen)) {
		if w.seen[h] == i+1 {
			return
		}
	}
	w.seen[h] = i + 1
	w.members = append(w.members, i)
}
