package knn

import (
	"context"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/nndescent"
	"github.com/bigfit/bigfit/sparse"
)

// appendDescent is Append by NN-descent.
func appendDescent(ctx context.Context, x data.Points, nb *Neighbors, st *State, s *DescentSettings) (
	*Neighbors, Index, error) {
	if st == nil || st.Method != NNDescent || st.Stats == nil {
		return nil, nil, fmt.Errorf(
			"knn: points can join lists of NN-descent only with the state of its index, which is not there")
	}
	out, err := NewDescent(x, s)
	if err != nil {
		return nil, nil, err
	}
	ix := out.descent
	if err := st.complete(nb.Len()); err != nil {
		return nil, nil, err
	}
	if nb.K > st.Stats.K {
		return nil, nil, fmt.Errorf("knn: lists of %d neighbours of an index of %d", nb.K, st.Stats.K)
	}

	if nb.K == st.Stats.K && insertable(ix.x, nb.Len(), s.Metric) {
		return insertDescent(ctx, out, nb, st, s)
	}

	p := progress(s.OnProgress).ordered()
	rows := ix.rows()
	g, err := nndescent.Append(ctx, ix.set(rows), st.descent(), nndescent.Settings{
		K: st.Stats.K, Candidates: ix.settings.Candidates, Exchanges: ix.settings.Exchanges,
		Tolerance: ix.settings.Tolerance, Seed: s.Seed, Step: ix.reporter(p, 7),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("knn: %w", err)
	}
	t := g.Stats()
	stats := DescentStats{
		K:         t.K,
		Width:     t.Width,
		Trees:     t.Trees,
		Exchanges: t.Exchanges,
		Distances: t.Distances,
		Effort:    st.Stats.Effort,
	}
	if ix.settings.Sample > 0 {
		// New neighbours change the true lists, so a new sample is drawn.
		sample, err := NewRecallSample(ctx, x, s.Metric, nb.K, ix.settings.Sample, s.Seed)
		if err != nil {
			return nil, nil, err
		}
		stats.Recall = ix.recall(g, sample)
	}

	ix.graph = &descentGraph{g, rows, stats}
	all, err := out.Self(ctx, nb.K)
	return all, out, err
}

// fewNew is the number of new points up to which it takes less time to compare them with all points
// than to search for them. A search begins with a pass over the lists, which measures each point
// about a hundred times in random order.
const fewNew = 4000

// insertable reports whether points join the first old points of x by [insertDescent]. Sets and
// sparse rows are compared too slowly for it, and the lists of a single leaf are exact already.
func insertable(x data.Points, old int, metric Metric) bool {
	n, _ := x.Dims()
	_, isSparse := x.(*sparse.CSR)
	return !isSparse && !metric.ofSets() && n-old <= fewNew && old > nndescent.LeafSize
}

// insertDescent is Append by NN-descent for few new points. out is an index of all points, without a
// graph yet.
func insertDescent(ctx context.Context, out *Descent, nb *Neighbors, st *State, s *DescentSettings) (
	*Neighbors, Index, error) {
	ix := out.descent
	all, _, err := appendExact(ctx, ix.x, nb, Brute, s)
	if err != nil {
		return nil, nil, err
	}

	// Lists that have not changed stay nil.
	lists := make([][]int32, ix.n)
	for i := range lists {
		list, _ := all.Row(i)
		if i < nb.Len() {
			if before, _ := nb.Row(i); slices.Equal(list, before) {
				continue
			}
		}
		lists[i] = list
	}

	rows := ix.rows()
	g, err := nndescent.Insert(ix.set(rows), st.descent(), lists, s.Seed)
	if err != nil {
		return nil, nil, fmt.Errorf("knn: %w", err)
	}
	ix.graph = &descentGraph{g, rows, *st.Stats}
	return all, out, ix.enough(st.Stats.Recall)
}
