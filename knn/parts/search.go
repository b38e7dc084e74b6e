package parts

import (
	"context"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/internal/nndescent"
)

const (
	// none stands for no neighbour where a list ends early.
	none = math.MaxUint32
	// infinite are the bits of a distance that is not known.
	infinite = 0x7f80_0000
	// spare is how many more neighbours lists hold than are asked for, so that rounding of
	// float32 and border effects push no true one out.
	spare = 2
	// exactSize is the number of points up to which [knn.Auto] compares all pairs of a part.
	exactSize = 1 << 13
)

// Settings of NN-descent within a part: lists of other parts and the exchange make up for
// less effort than that of a search in one piece.
const (
	partTrees      = 7
	partCandidates = 12
	partExchanges  = 1
	partTolerance  = 0.01
)

// A list of width neighbours is a row of 2·width words: their numbers, nearest first, then
// the bits of their squared distances in float32 (between scaled rows: [prepared.Scaling]).

// searchPart finds the lists of the points ids, which ascend, among each other. The numbers
// are those of all points.
func searchPart(ctx context.Context, r *rows, s *Settings, ids []int32) ([]uint32, error) {
	if s.methodOf(len(ids)) == knn.NNDescent {
		return descend(ctx, r, s, ids)
	}
	return searchExact(ctx, r, s, ids)
}

// readPart sets flat to the rows of a part, which must be finite: the division saw that they are.
func readPart(r *rows, flat []float32, ids []int32) error {
	r.read(flat, ids)
	if at := numbers.NotFinite(flat); at >= 0 {
		return fmt.Errorf("point %d, column %d is not finite in float32: the points have changed since they were divided; give another --work folder", ids[at/r.d], at%r.d)
	}
	return nil
}

// methodOf returns the method for a part of so many points, which depends on nothing else.
func (s *Settings) methodOf(size int) knn.Method {
	switch {
	case s.Method != knn.Auto:
		return s.Method
	case size <= exactSize:
		return knn.Brute
	}
	return knn.NNDescent
}

// descend searches by NN-descent. Rows are read once and then change places in memory.
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
		K: min(s.Graph.K, m-1), Trees: partTrees, Candidates: partCandidates, Exchanges: partExchanges, Tolerance: partTolerance, Brief: true, Seed: s.Seed,
		Enough: func(*nndescent.Graph) (bool, error) { return true, nil },
		Step:   func() {},
	})
	if err != nil {
		return nil, err
	}
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

// setList writes a list of points ids[near[p]] at the given distances to words.
func setList(words []uint32, ids, near []int32, dist []float32) {
	width := len(words) / 2
	for p := range width {
		words[p] = none
		words[width+p] = infinite
		if p < len(near) {
			words[p] = uint32(ids[near[p]])
			words[width+p] = math.Float32bits(dist[p])
		}
	}
}

// arrange makes row order[i] of flat row i, in place: a cycle of the order after the other,
// in parallel for blocks of columns.
func arrange(flat []float32, d int, order []int32) {
	par.For(d, 16, func(lo, hi int) {
		done := make([]bool, len(order))
		spare := make([]float32, hi-lo)
		row := func(i int) []float32 { return flat[i*d+lo:][:hi-lo] }
		for first := range order {
			if done[first] {
				continue
			}
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

// searchExact searches by an exact index of [knn].
func searchExact(ctx context.Context, r *rows, s *Settings, ids []int32) ([]uint32, error) {
	m := len(ids)
	width := s.width()
	var unread error
	flat := nndescent.NewFloats(m, r.d, func(flat []float32, _ []int32) { unread = readPart(r, flat, ids) })
	if unread != nil {
		return nil, unread
	}
	rows := make([]int, m)
	for i, v := range ids {
		rows[i] = int(v)
	}
	ix, err := knn.NewIndex(data.Select(r.x, rows), s.methodOf(m), &knn.DescentSettings{Settings: knn.Settings{Metric: s.Metric}})
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

// sortList orders a list by (distance, number).
func sortList(words []uint32) {
	width := len(words) / 2
	index := words[:width]
	dist := words[width:]
	for p := 1; p < width; p++ {
		i := index[p]
		d := dist[p]
		q := p
		for ; q > 0 && (dist[q-1] > d || dist[q-1] == d && index[q-1] > i); q-- {
			index[q], dist[q] = index[q-1], dist[q-1]
		}
		index[q] = i
		dist[q] = d
	}
}
