package nndescent

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// An exchange makes a local join at every point: it compares the point's neighbours with each
// other. Neighbours are points that it lists and points that list it, of either at most sample
// fresh and sample used ones. At least one of a pair is fresh.
type exchange struct {
	*candidateGraph
	sample int
	back   *backlinks
	limit  []float32 // of each point, the distance that offers must stay below
	own    []uint32  // lists of one block of points
}

// exchangeBlock is the number of points in a block. The lists of a block are copied before its joins
// change any list.
const exchangeBlock = 1 << 14

// newExchange returns the memory for exchanges on g.
func newExchange(g *candidateGraph) *exchange {
	return &exchange{
		candidateGraph: g,
		back:           newBacklinks(g.n, g.width),
		limit:          dense.Zeros[float32](g.n),
		own:            make([]uint32, min(exchangeBlock, g.n)*g.width),
	}
}

// run makes one exchange. It returns the number of entries that are new in the end, and the number
// of distances computed.
func (x *exchange) run(ctx context.Context, seed uint64) (entered, pairs int64) {
	const grain = 64

	// Entries that were newborn become fresh.
	x.age()
	par.For(x.n, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x.limit[i] = x.worst(int32(i))
		}
	})

	x.back.fill(x.candidateGraph)
	workers := x.joiners(par.Workers(exchangeBlock, grain))
	for from := 0; from < x.n && ctx.Err() == nil; from += exchangeBlock {
		to := min(from+exchangeBlock, x.n)
		copy(x.own, x.index[from*x.width:to*x.width])
		par.For(to-from, 1024, func(lo, hi int) {
			for i := from + lo; i < from+hi; i++ {
				markUsed(x.list(int32(i)), x.sample)
			}
		})

		par.ForWorker(to-from, grain, func(worker, lo, hi int) {
			for i := lo; i < hi; i++ {
				x.join(&workers[worker], x.own[i*x.width:][:x.width], from+i, seed)
			}
		})
	}

	return x.countNewborn(), pairsOf(workers)
}

// markUsed takes the mark fresh from the first sample fresh entries of a list, the entries that a
// join uses.
func markUsed(list []uint32, sample int) {
	for p, v := range list {
		if v&fresh != 0 {
			if sample--; sample < 0 {
				return
			}
			list[p] &^= fresh
		}
	}
}

// join compares the neighbours of point i, which has the list own, with each other. Offers must be
// below the limits from before the exchange, so that ties never push each other out for nothing.
func (x *exchange) join(w *joiner, own []uint32, i int, seed uint64) {
	// Fresh members come first: the others are compared with them alone.
	clear(w.seen[:])
	w.members = w.members[:0]
	w.limit = w.limit[:0]
	var r rand.PCG
	r.Seed(seed, uint64(i))
	back := x.back.row(i)
	w.take(own, fresh, x.sample)
	w.draw(back, fresh, x.sample, &r)
	used := len(w.members)
	if used == 0 {
		return
	}

	w.take(own, 0, x.sample)
	w.draw(back, 0, x.sample, &r)
	for _, i := range w.members {
		w.limit = append(w.limit, x.limit[i])
	}

	w.dist = slices.Grow(w.dist[:0], len(w.members))[:len(w.members)]
	// Pairs of used members were compared in an earlier exchange.
	w.Gather(w.members)
	for a, i := range w.members[:used] {
		rest := w.members[a+1:]
		dist := w.dist[:len(rest)]
		limit := w.limit[a+1:][:len(rest)]
		w.Among(dist, a)
		own := w.limit[a]
		for b, d := range dist {
			if d < own {
				x.offerLocked(i, rest[b], d)
			}
			if d < limit[b] {
				x.offerLocked(rest[b], i, d)
			}
		}
		w.pairs += int64(len(rest))
	}
}
