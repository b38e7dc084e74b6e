package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

// sources are what a model is fitted on.
type sources struct {
	eigs       *lanczos.Result
	components *sparse.Components
	degrees    []float64
	options    eigsOptions
	points     data.Points
	pca        *data.PCA
	index      *knn.State // of the index that the graph was built with; nil without
	hashes     map[string]string
}

// fitSources reads what is given and computes what is not. With a usable error
// comes what was reached.
func (a *app) fitSources(ctx context.Context, o *fitOptions, y *data.Labels, flags *pflag.FlagSet) (*sources, error) {
	src := &sources{options: o.eigs, hashes: map[string]string{}}
	if o.graph.Graph.K == 0 && o.graph.Graph.Radius == 0 {
		o.graph.Graph.K = defaultNeighbors
	}
	src.options.Graph, src.options.Seed = o.graph, a.seed
	var x data.Points
	var err error
	if o.x != "" {
		if x, err = a.readPoints(o.x, data.ReadOptions{}); err != nil {
			return nil, err
		}
		if n, _ := x.Dims(); n != y.Len() {
			return nil, fmt.Errorf("%s has %d points but %s has %d labels", o.x, n, o.y, y.Len())
		}
		src.hashes[hashPoints] = data.HashPoints(x)
	}
	var w *sparse.CSR
	if o.graphFile != "" {
		var m *manifest.Manifest
		if w, m, err = a.loadGraph(o.graphFile); err != nil {
			return nil, err
		}
		if w.Rows != y.Len() {
			return nil, fmt.Errorf("%s has %d points but %s has %d labels", o.graphFile, w.Rows, o.y, y.Len())
		}
		if err := sameHash(m, hashPoints, src.hashes[hashPoints], o.graphFile, o.x); err != nil {
			return nil, err
		}
		if m != nil {
			src.options.Graph = graphOptions{} // the manifest leaves out zeros
			if err := json.Unmarshal(m.Settings, &src.options.Graph); err != nil {
				return nil, fmt.Errorf("%s: the settings in the manifest: %w", o.graphFile, err)
			}
			if err := a.sameFlags(flags, &src.options.Graph, o.graphFile); err != nil {
				return nil, err
			}
		}
	}
	if o.eigsFile != "" {
		return src, a.fitOnEigs(o, y, x, w, src, flags)
	}
	var components *sparse.Components
	var notReached error
	if w == nil {
		var g *graphed
		if g, notReached = a.graph(ctx, x, o.graph); !usable(notReached) {
			return nil, notReached
		}
		w, components, src.options.Graph, src.points, src.pca, src.index = g.w, g.components, g.options, g.points, g.pca, g.index
	} else {
		components = w.Components()
		if x != nil {
			if src.points, src.pca, err = a.project(x, src.options.Graph); err != nil {
				return nil, err
			}
		}
	}
	src.hashes[hashGraph] = data.HashPoints(w)
	src.options.K = pairsFor(o.eigenmap, len(y.Labeled()), w.Rows)
	r, l, err := a.eigenpairs(ctx, w, components, src.options, nil)
	if !usable(err) {
		return nil, err
	}
	src.eigs, src.components, src.degrees = r, components, l.Degrees()
	return src, errors.Join(notReached, err)
}

// fitOnEigs completes src with saved eigenpairs. w may be nil.
func (a *app) fitOnEigs(o *fitOptions, y *data.Labels, x data.Points, w *sparse.CSR, src *sources, flags *pflag.FlagSet) error {
	f, err := a.loadEigs(o.eigsFile, w, o.graphFile)
	if err != nil {
		return err
	}
	if n, _ := f.Result.Vectors.Dims(); n != y.Len() {
		return fmt.Errorf("%s has %d points but %s has %d labels", o.eigsFile, n, o.y, y.Len())
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
	if x != nil {
		src.points, src.pca, err = a.project(x, src.options.Graph)
	}
	return err
}

// pairsWithPenalty is the number of eigenpairs computed for a penalized fit
// that names none.
const pairsWithPenalty = 200

// pairsFor returns the number of eigenpairs that the settings need.
func pairsFor(s models.EigenmapSettings, labels, n int) int {
	switch {
	case s.Eigenvectors > 0:
		return s.Eigenvectors
	case s.Penalty != models.NoPenalty:
		return min(pairsWithPenalty, n)
	}
	return min(max(1, int(math.Round(models.PaperShare*float64(labels)))), n)
}
