package main

import (
	"fmt"

	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/sparse"
)

// outputOptions say what is known of the likeness of outputs.
type outputOptions struct {
	gammaO    float64
	graph     string
	neighbors int
}

// outputFlags are the names of the flags.
var outputFlags = []string{"gamma-o", "output-graph", "output-neighbors"}

func (o *outputOptions) flags(f *pflag.FlagSet) {
	f.Float64Var(&o.gammaO, "gamma-o", o.gammaO, "weight γ_O of the likeness of outputs, from 0, each by itself, to 1")
	f.StringVar(&o.graph, "output-graph", "", "graph `file` of the outputs for --gamma-o, n×n, from bigfit graph, SciPy or NumPy")
	f.IntVar(&o.neighbors, "output-neighbors", o.neighbors, "in its place join each output with so many others whose columns of y are nearest")
}

// check returns an error unless there is one graph of outputs where γ_O needs
// it. Without γ_O it is not looked at.
func (o *outputOptions) check(given map[string]bool) error {
	switch {
	case !(o.gammaO >= 0 && o.gammaO <= 1):
		return usagef("--gamma-o is %v; it must be between 0 and 1", o.gammaO)
	case given["output-neighbors"] && o.neighbors < 1:
		return usagef("--output-neighbors is %d; it must be at least 1", o.neighbors)
	case o.graph != "" && o.neighbors > 0:
		return usagef("--output-graph and --output-neighbors are two graphs of the outputs; give one of them")
	case o.gammaO > 0 && o.graph == "" && o.neighbors == 0:
		return usagef("--gamma-o is %v, which needs a graph of the outputs; give --output-graph or --output-neighbors", o.gammaO)
	}
	return nil
}

// fitOutputs completes src with the graph of the outputs, where γ_O needs one.
func (a *app) fitOutputs(o *outputOptions, t *models.Targets, src *sources) error {
	if o.gammaO == 0 {
		return nil
	}
	w, err := a.outputGraph(o, t)
	if err != nil {
		return err
	}
	if src.outputs, err = kernelmachine.NewOutputs(w); err != nil {
		return err
	}
	src.hashes[hashOutputs] = data.HashPoints(w)
	return nil
}

// outputGraph reads the graph of the outputs, or makes it of the targets.
func (a *app) outputGraph(o *outputOptions, t *models.Targets) (*sparse.CSR, error) {
	if o.graph == "" {
		return kernelmachine.OutputGraph(t, o.neighbors)
	}
	_, n := t.Y.Dims()
	x, err := data.ReadPoints(o.graph, data.ReadOptions{Limit: int64(a.memory)})
	if err != nil {
		return nil, err
	}
	if rows, cols := x.Dims(); rows != n || cols != n {
		return nil, fmt.Errorf("%s is %d×%d for %d outputs; it must have a row and a column for each", o.graph, rows, cols, n)
	}
	w := data.ToSparse(x)
	if err := w.CheckGraph(); err != nil {
		return nil, fmt.Errorf("%s: %w", o.graph, err)
	}
	return w, nil
}

// needVVMR says what vector-valued regularization takes.
func (a *app) needVVMR(o *fitOptions, s modelSettings, x data.Points, t *models.Targets) error {
	n, _ := x.Dims()
	bytes, operations, err := kernelmachine.VVMRCost(x, t, o.own.kernel.Kind, n*o.graph.Graph.K, s.vvmr, s.scale, int64(a.memory))
	remedy := "take --means landmarks or matrix-free, or give fewer points"
	switch {
	case err != nil && s.scale == nil:
		return fmt.Errorf("%w: %s", err, remedy)
	case err != nil:
		return err
	case s.scale != nil:
		remedy = scaleRemedy(s.scale)
	}
	return a.need("fit", bytes, operations, remedy)
}

// numbersFor reads the truth for a model whose answers are numbers, and the labels
// of its columns; nil of values.
func (a *app) numbersFor(m models.Model, path string) (*mat.Dense, []int64, error) {
	v, ok := m.(*kernelmachine.VVMR)
	if !ok || v.Labels == nil {
		y, err := data.ReadValues(path, data.ReadOptions{Limit: int64(a.memory)})
		return y, nil, err
	}
	y, err := a.readMultiLabels(path, v.Labels, "the model")
	if err != nil {
		return nil, nil, err
	}
	return y.Y, v.Labels, nil
}
