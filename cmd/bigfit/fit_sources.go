package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/sparse"
)

// sources are what a model is fitted on. What the model does not need, or was
// not given, is nil.
type sources struct {
	x          data.Points // as given
	w          *sparse.CSR
	eigs       *lanczos.Result
	components *sparse.Components
	degrees    []float64
	options    eigsOptions
	points     data.Points // x as the graph has it, after PCA; of transductive models
	pca        *data.PCA
	index      *knn.State // of the index that the graph was built with
	outputs    *kernelmachine.Outputs
	hashes     map[string]string
}

// fitSources reads what is given and computes what is not. With a usable error
// comes what was reached.
func (a *app) fitSources(ctx context.Context, o *fitOptions, spec *modelSpec, s modelSettings, t *fitTargets, flags *pflag.FlagSet) (*sources, error) {
	src := &sources{options: o.eigs, hashes: map[string]string{}}
	if o.graph.Graph.K == 0 && o.graph.Graph.Radius == 0 {
		o.graph.Graph.K = defaultNeighbors
	}
	src.options.Graph, src.options.Seed = o.graph, a.seed
	var err error
	if o.x != "" {
		if src.x, err = a.readPoints(o.x, data.ReadOptions{}); err != nil {
			return nil, err
		}
		if n, _ := src.x.Dims(); n != t.n {
			return nil, fmt.Errorf("%s has %d points but %s has %d labels", o.x, n, o.y, t.n)
		}
		if err := a.needMachine(o, s, src.x, t.targets); err != nil {
			return nil, err
		}
		if err := a.fitOutputs(&o.own.outputs, t.targets, src); err != nil {
			return nil, err
		}
		src.hashes[hashPoints] = data.HashPoints(src.x)
	}
	if !spec.uses("graph") || !spec.transductive() && o.own.gammaI == 0 {
		return src, nil
	}
	if o.graphFile != "" {
		if err := a.fitOnGraph(o, t, src, flags); err != nil {
			return nil, err
		}
	}
	if o.eigsFile != "" {
		return src, a.fitOnEigs(o, t, src, flags)
	}
	var notReached error
	if src.w == nil {
		var g *graphed
		if g, notReached = a.graph(ctx, src.x, o.graph); !usable(notReached) {
			return nil, notReached
		}
		src.take(g)
	} else if src.x != nil && spec.transductive() {
		if src.points, src.pca, err = a.project(src.x, src.options.Graph); err != nil {
			return nil, err
		}
	}
	src.hashes[hashGraph] = data.HashPoints(src.w)
	if s.eigenmap == nil {
		return src, notReached
	}
	src.options.K = pairsFor(*s.eigenmap, len(t.targets.Labeled), src.w.Rows)
	r, l, err := a.eigenpairs(ctx, src.w, src.components, src.options, nil)
	if !usable(err) {
		return nil, err
	}
	src.eigs, src.degrees = r, l.Degrees()
	return src, errors.Join(notReached, err)
}

// take completes src with a graph.
func (src *sources) take(g *graphed) {
	src.w, src.components, src.options.Graph, src.points, src.pca, src.index = g.w, g.components, g.options, g.points, g.pca, g.index
}

// fitOnGraph completes src with the graph in a file.
func (a *app) fitOnGraph(o *fitOptions, t *fitTargets, src *sources, flags *pflag.FlagSet) error {
	g, m, err := a.givenGraph(o.graphFile, src.options.Graph, flags)
	if err != nil {
		return err
	}
	if g.w.Rows != t.n {
		return fmt.Errorf("%s has %d points but %s has %d labels", o.graphFile, g.w.Rows, o.y, t.n)
	}
	if o.own.kernel.Kind != kernel.Precomputed { // where X is not the points
		if err := sameHash(m, hashPoints, src.hashes[hashPoints], o.graphFile, o.x); err != nil {
			return err
		}
	}
	src.take(g)
	return nil
}

// fitOnEigs completes src with saved eigenpairs.
func (a *app) fitOnEigs(o *fitOptions, t *fitTargets, src *sources, flags *pflag.FlagSet) error {
	f, err := a.loadEigs(o.eigsFile, src.w, o.graphFile)
	if err != nil {
		return err
	}
	if n, _ := f.Result.Vectors.Dims(); n != t.n {
		return fmt.Errorf("%s has %d points but %s has %d labels", o.eigsFile, n, o.y, t.n)
	}
	if err := sameHash(f.Manifest, hashPoints, src.hashes[hashPoints], o.eigsFile, o.x); err != nil {
		return err
	}
	if f.Manifest != nil {
		src.options = eigsOptions{} // the manifest leaves out zeros
		if err := json.Unmarshal(f.Manifest.Settings, &src.options); err != nil {
			return fmt.Errorf("%s: the settings in the manifest: %w", o.eigsFile, err)
		}
		if err := a.sameFlags(flags, &src.options, o.eigsFile); err != nil {
			return err
		}
		if err := a.sameFlags(flags, &src.options.Graph, o.eigsFile); err != nil {
			return err
		}
		src.hashes[hashGraph] = f.Manifest.Hashes[hashGraph]
	}
	if src.options.Largest {
		return fmt.Errorf("%s holds the largest eigenpairs, a fit needs the smallest; make it again without --largest", o.eigsFile)
	}
	src.eigs, src.components, src.degrees = f.Result, f.Components, f.Degrees
	if src.x != nil {
		src.points, src.pca, err = a.project(src.x, src.options.Graph)
	}
	return err
}

// pairsWithPenalty is the number of eigenpairs computed for a penalized fit
// that names none.
const pairsWithPenalty = 200

// pairsFor returns the number of eigenpairs that the settings need.
func pairsFor(s eigenmap.Settings, labels, n int) int {
	switch {
	case s.Eigenvectors > 0:
		return s.Eigenvectors
	case s.Penalty != eigenmap.NoPenalty:
		return min(pairsWithPenalty, n)
	}
	return min(max(1, int(math.Round(eigenmap.PaperShare*float64(labels)))), n)
}
