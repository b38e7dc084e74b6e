package parts

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/internal/nndescent"
	"github.com/bigfit/bigfit/param"
)

const (
	// spare is how many more neighbours lists hold than are asked for, so that neither rounding
	// to float32 nor the order in which lists are merged pushes a true neighbour out.
	spare = 2
	// exactSize is the number of points up to which [knn.Auto] compares all pairs of a part.
	exactSize = 1 << 13
)

// Settings of NN-descent within a part. The search can be quicker than one of all points: lists of
// other parts and the exchange find what it misses.
const (
	partTrees      = 7
	partCandidates = 12
	partExchanges  = 1
	partTolerance  = 0.01
)

// searchPart finds the lists of the points ids, which ascend, among each other. Lists name points
// by their numbers among all points.
func searchPart(ctx context.Context, r *rows, s *Settings, ids []int32) ([]uint32, error) {
	if s.methodOf(len(ids)) == knn.NNDescent {
		return descend(ctx, r, s, ids)
	}
	return searchExact(ctx, r, s, ids)
}

// readPart sets flat to the rows of a part. They must be finite, as they were when the division
// copied them.
func readPart(r *rows, flat []float32, ids []int32) error {
	r.read(flat, ids)
	if at := numbers.NotFinite(flat); at >= 0 {
		return fmt.Errorf("point %d, column %d is not finite in float32: "+
			"its copy has changed since the points were divided; give another %s folder",
			r.order[ids[at/r.d]], at%r.d, param.Name("work"))
	}
	return nil
}

// methodOf returns the method for a part of size points. It depends on nothing else, so that all
// jobs choose alike.
func (s *Settings) methodOf(size int) knn.Method {
	switch {
	case s.Method != knn.Auto:
		return s.Method
	case size <= exactSize:
		return knn.Brute
	}
	return knn.NNDescent
}

// descend searches by NN-descent. Rows are read once, and NN-descent changes their places in
// memory.
func descend(ctx context.Context, r *rows, s *Settings, ids []int32) ([]uint32, error) {
	m := len(ids)
	width := s.width()
	var unread error
	flat := nndescent.NewFloats(m, r.d, func(flat []float32, order []int32) {
		if order == nil {
			unread = readPart(r, flat, ids)
			return
		}
		arrange(flat, r.d, order)
	})
	if unread != nil {
		return nil, unread
	}
	g, err := nndescent.Search(ctx, nndescent.Set{N: m, Rows: flat}, nndescent.Settings{
		K:          min(s.Graph.K, m-1),
		Trees:      partTrees,
		Candidates: partCandidates,
		Exchanges:  partExchanges,
		Tolerance:  partTolerance,
		Brief:      true,
		Seed:       s.Seed,
		Enough:     func(*nndescent.Graph) (bool, error) { return true, nil },
		Step:       func() {},
	})
	if err != nil {
		return nil, err
	}

	// The search returns neighbours without distances, so lists are measured once more. place
	// says where a point's row stands now.
	place := make([]int32, m)
	for i, v := range g.Order() {
		place[v] = int32(i)
	}
	out := make([]uint32, 2*m*width)
	par.For(m, 1024, func(lo, hi int) {
		var list []int32
		near := make([]int32, width)
		dist := make([]float32, width)
		meter := flat.Meter()
		for i := lo; i < hi; i++ {
			list = g.AppendList(list[:0], int32(i))
			list = list[:min(len(list), width)]
			for p, v := range list {
				near[p] = place[v]
			}
			meter.At(int32(i))
			meter.Measure(dist[:len(list)], near[:len(list)])
			words := out[int(g.Order()[i])*2*width:][:2*width]
			setList(words, ids, list, dist)
			sortList(words) // ties are in the order of the search
		}
	})
	return out, nil
}

// arrange moves row order[i] of flat to row i, in place. It follows the cycles of the order, in
// parallel for blocks of columns.
func arrange(flat []float32, d int, order []int32) {
	par.For(d, 16, func(lo, hi int) {
		done := make([]bool, len(order))
		spare := make([]float32, hi-lo)
		row := func(i int) []float32 { return flat[i*d+lo:][:hi-lo] }
		for first := range order {
			if done[first] {
				continue
			}

			// The first row of a cycle is kept aside until its place is found.
			copy(spare, row(first))
			i := first
			for {
				done[i] = true
				from := int(order[i])
				if from == first {
					copy(row(i), spare)
					break
				}
				copy(row(i), row(from))
				i = from
			}
		}
	})
}

// searchExact searches by an exact index of package [knn], and measures its neighbours in float32
// as everywhere in a run.
func searchExact(ctx context.Context, r *rows, s *Settings, ids []int32) ([]uint32, error) {
	m := len(ids)
	width := s.width()

	// The rows are read by the search itself, which later asks for them in another order.
	var unread error
	flat := nndescent.NewFloats(m, r.d, func(flat []float32, _ []int32) { unread = readPart(r, flat, ids) })
	if unread != nil {
		return nil, unread
	}

	rows := make([]int, m)
	for i, v := range ids {
		rows[i] = int(v)
	}
	settings := &knn.DescentSettings{Settings: knn.Settings{Metric: s.Metric}}
	ix, err := knn.NewIndex(data.Select(r.x, rows), s.methodOf(m), settings)
	if err != nil {
		return nil, err
	}
	nb, err := ix.Self(ctx, min(width, m-1))
	if err != nil {
		return nil, err
	}

	out := make([]uint32, 2*m*width)
	par.For(m, 1024, func(lo, hi int) {
		meter := flat.Meter()
		dist := make([]float32, width)
		for i := lo; i < hi; i++ {
			near, _ := nb.Row(i)
			meter.At(int32(i))
			meter.Measure(dist[:len(near)], near)
			setList(out[i*2*width:][:2*width], ids, near, dist)
			sortList(out[i*2*width:][:2*width]) // rounding to float32 may change the order
		}
	})
	return out, nil
}
