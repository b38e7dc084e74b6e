package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// fitInput is the input of a learner, with the settings of its graph, the hashes of the files
// that were read, and the labels as their file has them.
type fitInput struct {
	models.Input
	settings  pipeline.GraphSettings
	hashes    pipeline.Hashes
	labels    *pipeline.Targets
	consensus *models.Consensus // of the annotators of the labels; nil if there are none
	shown     *shell.Column     // for the report; nil without
	// sections stand in the report before those on how it was made.
	sections []report.Section
}

// input returns an input without data, with the values and the settings of the plan.
func (p *fitPlan) input() *fitInput {
	return &fitInput{Input: models.Input{Values: p.values}, settings: p.settings, hashes: pipeline.Hashes{}}
}

// readFit reads all that is given: first the points, as they may name the points that
// labels belong to.
func (a *app) readFit(plan *fitPlan) (*fitInput, error) {
	in := plan.input()
	n := 0
	if len(plan.x) > 0 {
		info := plan.learner.Info()
		a.Points.OpenGraph = info.OpenGraph && plan.graphFile == ""
		a.Points.GraphAlone = plan.graphFile != "" && !info.Needs.Has(models.NeedsPoints)
		var err error
		if in.Points, err = a.ReadPoints(plan.x, data.ReadOptions{}); err != nil {
			return nil, err
		}
		var columns int
		n, columns = in.Points.Dims()
		// Numbers, as pandas writes them above columns without names, name nothing.
		if names := a.Points.ColumnNames(columns); slices.ContainsFunc(names, func(name string) bool {
			_, err := strconv.Atoi(name)
			return err != nil
		}) {
			in.Columns = names
		}
	} else {
		n = data.Rows(cmp.Or(plan.graphFile, plan.eigsFile))
		if plan.graphFile != "" {
			a.Points.TakeVertices(plan.graphFile)
		}
	}

	t, err := a.ReadTargets(&plan.TargetOptions, plan.learner, n)
	if err != nil {
		return nil, err
	}
	if in.Points != nil && t.Len != n {
		return nil, fmt.Errorf("%s has %d points but %s has %d labels", plan.x, n, plan.Y, t.Len)
	}
	t.Drawn = plan.Drawn
	in.labels = t
	// The hashes of labels and points go into the model's file, so that later commands recognize
	// other data.
	in.Targets = t.Targets
	in.hashes[pipeline.HashLabels] = t.Hash()
	a.SayLabels(t, in.Points)
	if in.Points != nil {
		in.hashes[pipeline.HashPoints] = data.HashPoints(in.Points)
	}
	if in.IDs, err = a.IDsOf(t.Len); err != nil {
		return nil, err
	}
	if in.shown, err = a.Points.ReadShown(a.App, t.Len); err != nil {
		return nil, err
	}
	return in, a.readInput(plan, in)
}

// readInput reads the graphs and eigenpairs that are given.
func (a *app) readInput(plan *fitPlan, in *fitInput) error {
	info := plan.learner.Info()
	n := in.Len()
	var err error
	if plan.outputGraph != "" {
		if in.Outputs, err = a.readOutputGraph(plan.outputGraph, in.Targets); err != nil {
			return err
		}
		in.hashes[pipeline.HashOutputs] = data.HashPoints(in.Outputs)
	}

	if plan.outputKernel != "" {
		if in.OutputKernel, err = a.readOutputKernel(plan.outputKernel, in.Targets); err != nil {
			return err
		}
		in.hashes[pipeline.HashOutputs] = hashOf(in.OutputKernel)
	}
	if plan.outputNorm != "" {
		if in.OutputNorm, err = a.readOutputNorm(plan.outputNorm, in); err != nil {
			return err
		}
	}

	var g *pipeline.GraphFile
	if plan.graphFile != "" {
		if g, err = a.GivenGraph(plan.graphFile, plan.params, &in.settings); err != nil {
			return err
		}
		if g.W.Rows != n {
			return fmt.Errorf("%s has %d points but %s has %d labels", plan.graphFile, g.W.Rows, plan.Y, n)
		}

		if in.Values["kernel"] != expansion.Precomputed { // where X is not the points
			if err := g.Made.Agree(pipeline.HashPoints, in.hashes[pipeline.HashPoints], plan.graphFile,
				plan.x.String()); err != nil {
				return err
			}
			// The lists and the index kept in a graph's file serve predictions for new points.
			if in.Points != nil && info.KeepsGraph() {
				if err := g.ReadKept(int64(a.Memory)); err != nil {
					return err
				}
			}
		}

		in.Graph, in.settings = &g.Graph.Graph, g.Settings
	}

	if plan.eigsFile == "" || !info.Needs.Has(models.NeedsEigenpairs) {
		return nil
	}
	return a.readEigs(plan, in, g)
}

// readEigs completes in with saved eigenpairs.
func (a *app) readEigs(plan *fitPlan, in *fitInput, g *pipeline.GraphFile) error {
	var graph *pipeline.Graph
	if g != nil {
		graph = &g.Graph
	}
	a.Reads("eigenpairs", plan.eigsFile)
	e, err := pipeline.OpenEigs(plan.eigsFile, int64(a.Memory), graph, plan.graphFile)
	if err != nil {
		return err
	}
	if n, _ := e.Pairs.Vectors.Dims(); n != in.Len() {
		return fmt.Errorf("%s has %d points but %s has %d labels", plan.eigsFile, n, plan.Y, in.Len())
	}
	// Pairs of other points would be silently wrong.
	if err := e.Made.Agree(pipeline.HashPoints, in.hashes[pipeline.HashPoints], plan.eigsFile,
		plan.x.String()); err != nil {
		return err
	}

	if e.Settings != nil {
		// A flag that contradicts how the pairs were made is an error; the file's settings become
		// the fit's.
		made := models.Values{"laplacian": e.Settings.Laplacian.String(),
			"tolerance": models.FormatFloat(e.Settings.Tolerance)}
		params := shell.Only(plan.learner.Params(), made)
		if err := a.SameAs(plan.params, params, made, plan.eigsFile); err != nil {
			return err
		}
		if err := a.SameAs(plan.params, pipeline.GraphParams.Params(),
			pipeline.GraphParams.Encode(&e.Graph.Settings), plan.eigsFile); err != nil {
			return err
		}
		in.Values["laplacian"] = made["laplacian"]
		in.hashes[pipeline.HashGraph] = e.Made[pipeline.HashGraph]
		in.settings = e.Graph.Settings
	}

	if kind := in.Values["laplacian"]; kind != "" {
		if err := in.Laplacian.UnmarshalText([]byte(kind)); err != nil {
			return err
		}
	}

	in.Pairs, in.Graph = e.Pairs, &e.Graph.Graph
	return nil
}

// readOutputGraph reads the graph of the outputs.
func (a *app) readOutputGraph(path string, t *models.Targets) (*sparse.CSR, error) {
	_, n := t.Y.Dims()
	x, err := data.ReadPoints(path, data.ReadOptions{Limit: a.Left()})
	if err != nil {
		return nil, err
	}
	if rows, cols := x.Dims(); rows != n || cols != n {
		return nil, fmt.Errorf("%s is %d×%d for %d outputs; it must have a row and a column for each", path,
			rows, cols, n)
	}
	w := data.ToSparse(x)
	if err := w.CheckGraph(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// hashOf returns the hash of a matrix in memory.
func hashOf(b *mat.Dense) string {
	r := b.RawMatrix()
	return data.HashPoints(&data.Dense[float64]{Rows: r.Rows, Cols: r.Cols, Data: r.Data})
}

// readOutputNorm reads the matrices of the outputs in the intrinsic norm, and keeps their hash. The fit
// checks their entries too.
func (a *app) readOutputNorm(path string, in *fitInput) ([]*mat.Dense, error) {
	stacked, err := data.ReadValues(path, data.ReadOptions{Limit: a.Left()})
	if err != nil {
		return nil, err
	}
	_, n := in.Targets.Y.Dims()
	b, err := multilabel.OutputNorm(stacked)
	if err == nil {
		_, err = solvers.IndependentOutputs(n).WithPenalty(context.Background(), b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	in.hashes[pipeline.HashOutputNorm] = hashOf(stacked)
	return b, nil
}

// readOutputKernel reads the kernel of the outputs. The fit checks its entries too.
func (a *app) readOutputKernel(path string, t *models.Targets) (*mat.Dense, error) {
	_, n := t.Y.Dims()
	b, err := data.ReadValues(path, data.ReadOptions{Limit: a.Left()})
	if err != nil {
		return nil, err
	}
	if rows, cols := b.Dims(); rows != n || cols != n {
		return nil, fmt.Errorf("%s is %d×%d for %d outputs; it must have a row and a column for each", path,
			rows, cols, n)
	}
	if _, err := solvers.NewOutputKernel(context.Background(), b); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}
