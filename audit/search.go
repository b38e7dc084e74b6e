package audit

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/stage"
)

// search finds the neighbours of the points that take part and measures their distances. An error that is
// [models.Usable] comes with lists.
func (r *run) search(ctx context.Context) error {
	n := r.count()
	s, err := r.settings()
	if err != nil || n < 2 {
		return err
	}
	s.Graph.K = min(s.Graph.K, n-1)
	s.PCA = min(s.PCA, n)
	g, nb, short := r.Neighbors(ctx, r.points, s)
	if !models.Usable(short) {
		return short
	}
	r.graph = g
	r.out.Graph = g.Settings
	r.out.K = nb.K

	// The graph that judges labels is made of the lists as they were found: its weights belong to them.
	if r.labels != nil {
		if err := g.Cut(nb, nb.K); err != nil {
			return errors.Join(short, err)
		}
	}
	// Standardized columns are the ones to measure by.
	if r.lists, err = r.measure(ctx, nb, g.Settings.Metric, s.PCA > 0 && !s.Standardize); err != nil {
		return err
	}
	return short
}

// settings returns how neighbours are searched.
func (r *run) settings() (*pipeline.GraphSettings, error) {
	s := r.s.Graph
	if s == nil {
		if r.points == nil {
			return nil, nil
		}
		return pipeline.AutoGraph(r.points, nil)
	}
	own := *s
	if own.Graph.K == 0 {
		own.Graph.K = pipeline.DefaultNeighbors
	}
	return &own, nil
}

// measure returns lists with the distances of the points as given, the nearest first. Lists of a search without
// a projection have them already.
func (r *run) measure(ctx context.Context, nb *knn.Neighbors, m knn.Metric, projected bool) (*knn.Neighbors, error) {
	if !projected {
		return nb, nil
	}
	n, d := r.points.Dims()
	entries := int64(n) * int64(nb.K)
	if err := r.Observed().Announce("distances", stage.Cost{Bytes: stage.HeapBytes(64 * entries),
		Operations: 5 * float64(entries) * float64(d), Remedy: "give fewer points"}); err != nil {
		return nil, err
	}
	r.Observed().Begin("distances")
	lengths, err := knn.EdgeLengths(ctx, nb.Distances(nb.K), r.points, m)
	if err != nil {
		return nil, err
	}

	out := &knn.Neighbors{K: nb.K, Index: make([]int32, entries), Distance: make([]float64, entries)}
	par.For(n, data.BlockRows, func(lo, hi int) {
		order := make([]int, nb.K)
		for i := lo; i < hi; i++ {
			index, distance := lengths.Row(i)
			for p := range order {
				order[p] = p
			}
			slices.SortFunc(order, func(a, b int) int {
				return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(index[a], index[b]))
			})
			toIndex, toDistance := out.Row(i)
			for p, from := range order {
				toIndex[p] = index[from]
				toDistance[p] = distance[from]
			}
		}
	})
	r.Observed().End("of the points as given")
	return out, nil
}

// outliers scores the distances of the points to their neighbours.
func (r *run) outliers() {
	n := r.lists.Len()
	mean := make([]float64, n)
	for i := range n {
		_, distance := r.lists.Row(i)
		for _, d := range distance {
			mean[i] += d / float64(len(distance))
		}
	}
	r.out.Distance = mean
	r.out.Typical = median(slices.Clone(mean))
	r.out.Outliers = outliersOf(r.lists, mean, r.out.Typical)
}

// toGiven turns numbers of the points that take part into numbers of the points as given.
func (r *run) toGiven() {
	if r.rows == nil {
		return
	}
	spread := func(v []float64) []float64 {
		if v == nil {
			return nil
		}
		out := make([]float64, r.out.Points)
		for i := range out {
			out[i] = math.NaN()
		}
		for p, i := range r.rows {
			out[i] = v[p]
		}
		return out
	}
	renumber := func(rows []int) {
		for p := range rows {
			rows[p] = r.row(rows[p])
		}
	}

	o := r.out
	o.Distance = spread(o.Distance)
	o.Outliers.Score = spread(o.Outliers.Score)
	renumber(o.Outliers.Rows)
	for _, groups := range [][]Group{o.Duplicates.Exact, o.Duplicates.Near} {
		for g := range groups {
			renumber(groups[g].Rows)
		}
	}
	for p := range o.Duplicates.Pairs {
		pair := &o.Duplicates.Pairs[p]
		pair.I = r.row(pair.I)
		pair.J = r.row(pair.J)
	}
	if o.Labels != nil {
		renumber(o.Labels.Targets.Labeled)
		o.Labels.Targets.Len = o.Points
		for p := range o.Labels.List {
			o.Labels.List[p].Point = r.row(o.Labels.List[p].Point)
		}
	}
	if o.Worth != nil {
		renumber(o.Worth.Rows)
	}
	if o.Answers != nil {
		for p := range o.Answers.List {
			o.Answers.List[p].Point = r.row(o.Answers.List[p].Point)
		}
	}
}

// median returns the upper median of v, which it reorders; NaN of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return v[len(v)/2]
}
