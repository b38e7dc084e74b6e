package nndescent

import (
	"context"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
)

// appendExchanges bounds the exchanges of [Append]. The new points are few, and a search has found
// their neighbours.
const appendExchanges = 4

// Append returns the graph of a set that begins with the len(st.Order) points of st; the others
// are new. Of s it uses K, Candidates, Exchanges, Tolerance, Seed and Step.
//
// A new point is compared with the points of its leaf in a tree that is grown anew, then with the
// points that a search along the old links finds. It is offered to all of them, so that their
// lists take it in. Exchanges among fresh entries follow until few lists change. Append costs the
// tree and two passes over the lists, O(n(d+k)), and for each new point a query and the exchanges
// around it.
func Append(ctx context.Context, set Set, st *State, s Settings) (*Graph, error) {
	old := len(st.Order)
	lists, err := st.lists(old)
	if err != nil {
		return nil, err
	}
	if old > set.N {
		return nil, fmt.Errorf("a graph of %d points for a set of %d", old, set.N)
	}

	width := max(st.Width, listWidth(s.K, 0, set.N))
	g, forest := plant(set, width, leafSize(width), s.Seed)
	g.stats = Stats{K: s.K, Width: width, Trees: 1}
	place := forest.spare // the place in the graph of every point of the set
	isNew := make([]bool, set.N)
	for i, v := range g.order {
		isNew[i] = int(v) >= old
	}

	g.adopt(st, lists, place)
	g.stats.Distances += int64(old * st.Width)
	step(s)

	// If there is one leaf, all pairs are compared, as in a search.
	if g.leaf >= set.N {
		pairs, _ := g.joinLeaves(ctx, forest.order, g.root)
		g.stats.Distances += pairs
	} else {
		g.joinNewInLeaves(ctx, isNew)
		step(s)
		if err := g.joinFound(ctx, s.K, place[old:]); err != nil {
			return nil, err
		}

		ex := newExchange(g.candidateGraph)
		ex.sample = min(s.Candidates, MaxCandidates)
		enough := int64(s.Tolerance * float64((set.N-old)*width))
		for e := range min(s.Exchanges, appendExchanges) {
			entered, pairs := ex.run(ctx, s.Seed+uint64(e)<<32)
			g.stats.Distances += pairs
			g.stats.Exchanges++
			if step(s); entered <= enough || ctx.Err() != nil {
				break
			}
		}
	}

	if err := ctx.Err(); err != nil {
		return nil, err
	}
	g.settle()
	return g, nil
}

// step calls s.Step unless it is nil.
func step(s Settings) {
	if s.Step != nil {
		s.Step()
	}
}

// adopt enters the lists of st as used entries. Point i of the set stands at place[i] in g.
func (g *Graph) adopt(st *State, lists []uint32, place []int32) {
	at := make([]int32, len(st.Order)) // the place in g of every point of st
	for i, v := range st.Order {
		at[i] = place[v]
	}
	par.For(len(at), 256, func(lo, hi int) {
		// The state holds no distances: they are measured again.
		m := g.rows.Meter()
		ids := make([]int32, 0, st.Width)
		dist := make([]float32, st.Width)
		for i := lo; i < hi; i++ {
			ids = ids[:0]
			for _, v := range lists[i*st.Width:][:st.Width] {
				if v != number {
					ids = append(ids, at[v])
				}
			}
			m.At(at[i])
			m.Measure(dist[:len(ids)], ids)
			for p, j := range ids {
				g.offer(at[i], j, dist[p])
			}

			// Without their marks, entries take no part in the first exchange.
			list := g.list(at[i])
			for p := range list {
				list[p] &= number
			}
		}
	})
}

// joinNewInLeaves compares every new point with all points of its leaf.
func (g *Graph) joinNewInLeaves(ctx context.Context, isNew []bool) {
	leaves := g.root.appendLeaves(nil)
	workers := g.joiners(par.Workers(len(leaves), 1))
	par.ForWorker(len(leaves), 1, func(worker, at, _ int) {
		if ctx.Err() != nil {
			return
		}
		w := &workers[worker]
		leaf := leaves[at]
		w.members = w.members[:0]
		for i := leaf.lo; i < leaf.hi; i++ {
			w.members = append(w.members, int32(i))
		}

		w.dist = slices.Grow(w.dist[:0], len(w.members))[:len(w.members)]
		for i := leaf.lo; i < leaf.hi; i++ {
			if isNew[i] {
				g.joinWith(w, int32(i), false)
			}
		}
	})
	g.stats.Distances += pairsOf(workers)
}

// joinWith compares point i with the members of w and offers both to each other. locked says that
// other goroutines change the lists of the same points.
func (g *Graph) joinWith(w *joiner, i int32, locked bool) {
	offer := g.offer
	if locked {
		offer = g.offerLocked
	}

	w.At(i)
	w.Measure(w.dist, w.members)
	w.pairs += int64(len(w.members))
	for p, j := range w.members {
		if j != i {
			offer(i, j, w.dist[p])
			offer(j, i, w.dist[p])
		}
	}
}

// joinFound searches along the present links for the new points, which stand at places, and
// compares each of them with the points found.
func (g *Graph) joinFound(ctx context.Context, k int, places []int32) error {
	const grain = 16
	g.finish()
	place := make([]int32, g.n)
	for i, v := range g.order {
		place[v] = int32(i)
	}

	// First all searches run, on lists that do not change.
	found := make([][]int32, len(places))
	searchers := make([]*Searcher, par.Workers(len(places), grain))
	par.ForWorker(len(places), grain, func(worker, lo, hi int) {
		if ctx.Err() != nil {
			return
		}
		if searchers[worker] == nil {
			searchers[worker] = g.NewSearcher(g.rows.Meter(), k, 2*g.width, 0.1)
		}
		s := searchers[worker]
		for q := lo; q < hi; q++ {
			s.At(places[q])
			found[q] = s.Append(nil)
			for p, v := range found[q] {
				found[q][p] = place[v]
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}

	// Then the lists change.
	workers := g.joiners(par.Workers(len(places), grain))
	par.ForWorker(len(places), grain, func(worker, lo, hi int) {
		w := &workers[worker]
		for q := lo; q < hi; q++ {
			w.members = found[q]
			w.dist = slices.Grow(w.dist[:0], len(w.members))[:len(w.members)]
			g.joinWith(w, places[q], true)
		}
	})
	g.stats.Distances += pairsOf(workers)
	return nil
}
