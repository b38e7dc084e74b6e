package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/selection"
)

// tuneSources reads what is given and searches for neighbours, as many as the
// largest graph needs; a graph of one kind is in the sources. With a usable error
// comes what was reached.
func (a *app) tuneSources(ctx context.Context, o *tuneOptions, spec *modelSpec, t *fitTargets, flags *pflag.FlagSet) (*sources, *knn.Neighbors, error) {
	src := &sources{options: o.eigs, hashes: map[string]string{}}
	o.graph.Graph.K = 0
	for _, k := range o.lists["neighbors"].ints() {
		o.graph.Graph.K = max(o.graph.Graph.K, k)
	}
	if o.graph.Graph.K == 0 && o.graph.Graph.Radius == 0 {
		o.graph.Graph.K = defaultNeighbors
	}
	src.options.Graph, src.options.Seed = o.graph, a.seed
	var err error
	if o.x != "" {
		if src.x, err = a.readPoints(o.x, data.ReadOptions{}); err != nil {
			return nil, nil, err
		}
		if n, _ := src.x.Dims(); n != t.n {
			return nil, nil, fmt.Errorf("%s has %d points but %s has %d labels", o.x, n, o.y, t.n)
		}
		src.hashes[hashPoints] = data.HashPoints(src.x)
	}
	if !spec.uses("graph") || !spec.transductive() && slices.Max(o.lists["gamma-i"].floats()) == 0 {
		return src, nil, nil
	}
	switch {
	case o.graphFile != "":
		if err := a.fitOnGraph(&o.fitOptions, t, src, flags); err != nil {
			return nil, nil, err
		}
		if src.x != nil && spec.transductive() {
			src.points, src.pca, err = a.project(src.x, src.options.Graph)
		}
	case o.graph.Graph.Radius > 0:
		var g *graphed
		if g, err = a.graph(ctx, src.x, o.graph); !usable(err) {
			return nil, nil, err
		}
		src.take(g)
	default:
		return a.searchNeighbors(ctx, src)
	}
	if src.w != nil {
		src.hashes[hashGraph] = data.HashPoints(src.w)
	}
	return src, nil, err
}

// searchNeighbors completes src with the neighbours that its options ask for.
func (a *app) searchNeighbors(ctx context.Context, src *sources) (*sources, *knn.Neighbors, error) {
	g, ix, st, err := a.search(src.x, src.options.Graph, "neighbours")
	if err != nil {
		return nil, nil, err
	}
	neighbors, err := ix.Self(ctx, g.options.Graph.K)
	if neighbors == nil {
		return nil, nil, err
	}
	st.Done(fmt.Sprintf("%d of each of %d points", neighbors.K, neighbors.Len()) + g.found(ix))
	src.take(g)
	return src, neighbors, err
}

// fitBest fits a point of the grid to all labels, as bigfit fit does.
func (a *app) fitBest(ctx context.Context, o *tuneOptions, spec *modelSpec, p selection.Point, src *sources, neighbors *knn.Neighbors, t *fitTargets) error {
	for name, v := range pointValues(spec, p) {
		if err := o.lists[name].each.Set(v); err != nil {
			return err
		}
	}
	s := o.own.settings(spec, o.eigs.Laplacian, o.eigs.Tolerance, a.seed)
	var err error
	switch {
	case p.GammaI == 0 && !spec.transductive():
		src.w = nil
	case neighbors != nil:
		src.options.Graph.Graph.K = o.graph.Graph.K
		if src.w, src.options.Graph.Graph, err = knn.FromNeighbors(neighbors, src.options.Graph.Graph); err != nil {
			return err
		}
		src.components = src.w.Components()
		src.hashes[hashGraph] = data.HashPoints(src.w)
	}
	var eigsErr error
	if s.eigenmap != nil {
		src.options.K = pairsFor(*s.eigenmap, len(t.targets.Labeled), src.w.Rows)
		r, l, err := a.eigenpairs(ctx, src.w, src.components, src.options, nil)
		if !usable(err) {
			return err
		}
		src.eigs, src.degrees, eigsErr = r, l.Degrees(), err
	}
	m, fitErr := a.train(ctx, &o.fitOptions, s, src, t)
	if !usable(fitErr) {
		return fitErr
	}
	src.hashes[hashLabels] = t.hash()
	if err := a.write(ctx, func() error { return m.Save(o.out, src.hashes) }); err != nil {
		return err
	}
	return errors.Join(eigsErr, fitErr)
}
