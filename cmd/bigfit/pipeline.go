package main

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/progress"
	"github.com/bigfit/bigfit/internal/shards"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// pipeline returns the stages with the settings of the command line.
func (a *app) pipeline() *pipeline.Pipeline {
	return &pipeline.Pipeline{Seed: a.seed, Memory: int64(a.memory), Observer: &observer{app: a}, Checkpoint: a.checkpoint}
}

// observer shows stages on stderr.
type observer struct {
	app   *app
	stage *progress.Stage
}

// Announce says what a stage will take and refuses what does not fit.
func (o *observer) Announce(stage string, c models.Cost) error {
	return o.app.need(stage, c.Bytes, c.Operations, c.Remedy)
}

func (o *observer) Note(text string) { o.app.note("%s", text) }

func (o *observer) Begin(stage string) { o.stage = o.app.progress.Stage(stage) }

func (o *observer) Update(done, total float64, note string) { o.stage.Update(done, total, note) }

func (o *observer) End(note string) { o.stage.Done(note) }

// pointsHelp is the help text of -X.
const pointsHelp = "`file` of the points, a pattern in quotes, a folder or a list of files; may be repeated"

// takePoints returns arguments that are all points.
func (a *app) takePoints(args []string) shards.Names {
	var x shards.Names
	if note := x.Take(args, nil, false); note != "" {
		a.note("%s", note)
	}
	return x
}

// readPoints reads points as a stage.
func (a *app) readPoints(names shards.Names, opt data.ReadOptions) (data.Points, error) {
	return a.readMore(pipeline.HashPoints, names, opt)
}

// readMore is readPoints of points that manifests name otherwise.
func (a *app) readMore(what string, names shards.Names, opt data.ReadOptions) (data.Points, error) {
	st := a.progress.Stage("read")
	a.reads(what, names.String())
	opt.Limit = int64(a.memory)
	p := &a.points
	p.table = &data.TableColumns{ID: p.id, Label: p.label, Drop: p.drop, Only: p.columns}
	opt.Table = p.table
	files, err := shards.Find(names)
	if err != nil {
		return nil, err
	}
	for _, note := range files.Notes {
		a.note("%s", note)
	}
	x, err := data.ReadFiles(files.Paths, opt)
	if err != nil {
		return nil, err
	}
	st.Done(files.Describe() + data.Describe(x))
	p.files = files.Paths
	p.rows, _ = x.Dims()
	return x, nil
}

const defaultTolerance = 1e-8

// eigsFlags adds the flags of eigenpairs; their defaults are the values that s has.
func eigsFlags(f *pflag.FlagSet, s *pipeline.EigsSettings) {
	nameFlag(f, &s.Laplacian, "laplacian", "Laplacian: combinatorial (D−W), normalized, random-walk")
	f.Float64Var(&s.Tolerance, "tolerance", s.Tolerance, "largest residual ‖Lv−λv‖ of a pair, relative to ‖L‖")
}

// graphSource says where a graph comes from: a file, or points, or both, when the
// graph is one of the points.
type graphSource struct {
	file   string
	x      shards.Names
	params paramFlags // of pipeline.GraphParams
}

// sourced is a graph with the points it belongs to.
type sourced struct {
	pipeline.Graph
	x      data.Points // as given; nil without
	hashes pipeline.Hashes
}

// flags adds the flags of the making of a graph.
func (o *graphSource) flags(a *app, f *pflag.FlagSet) {
	a.points.columnFlags(f)
	o.params = paramFlags{}
	o.params.add(f, pipeline.GraphParams.Without("class-weights").Params(), false)
}

// set takes the argument of the command. points tells that a graph alone will not
// do.
func (o *graphSource) set(args []string, points bool) error {
	if len(args) == 1 {
		o.file = args[0]
	}
	switch {
	case o.file == "" && len(o.x) == 0:
		return usagef("a graph or points (-X) are needed")
	case len(o.x) == 0 && points:
		return usagef("--gamma needs the points (-X); the graph alone does not have them")
	}
	return nil
}

// loadSource reads what is given and builds the graph that is not. With a usable
// error comes the graph that was reached.
func (a *app) loadSource(ctx context.Context, o *graphSource) (*sourced, error) {
	settings, err := decode(a, o.params, pipeline.GraphParams)
	if err != nil {
		return nil, err
	}
	g := &sourced{hashes: pipeline.Hashes{}}
	if len(o.x) > 0 {
		if g.x, err = a.readPoints(o.x, data.ReadOptions{}); err != nil {
			return nil, err
		}
		g.hashes[pipeline.HashPoints] = data.HashPoints(g.x)
	}
	if o.file == "" {
		built, err := a.pipeline().Graph(ctx, g.x, &settings)
		if !models.Usable(err) {
			return nil, err
		}
		g.Graph = *built
		g.hashes[pipeline.HashGraph] = data.HashPoints(g.W)
		return g, err
	}
	given, err := a.givenGraph(o.file, o.params, &settings)
	if err != nil {
		return nil, err
	}
	g.Graph = given.Graph
	g.hashes[pipeline.HashGraph] = data.HashPoints(g.W)
	if g.x == nil {
		return g, nil
	}
	if n, _ := g.x.Dims(); n != g.W.Rows {
		return nil, fmt.Errorf("%s has %d points but the graph %s has %d", o.x, n, o.file, g.W.Rows)
	}
	if err := given.Made.Agree(pipeline.HashPoints, g.hashes[pipeline.HashPoints], o.file, o.x.String()); err != nil {
		return nil, err
	}
	if err := given.ReadKept(int64(a.memory)); err != nil {
		return nil, err
	}
	joined, err := a.pipeline().Join(ctx, &given.Graph.Graph, g.x, &g.Settings)
	if err != nil {
		return nil, err
	}
	g.Graph.Graph = *joined
	return g, nil
}

// givenGraph reads the graph in a file. Flags must agree with the settings of its
// manifest; without one they are s.
func (a *app) givenGraph(path string, p paramFlags, s *pipeline.GraphSettings) (*pipeline.GraphFile, error) {
	a.reads(pipeline.HashGraph, path)
	g, err := pipeline.OpenGraph(path, int64(a.memory), s)
	if err != nil {
		return nil, err
	}
	if g.W.Rows == 0 {
		return nil, fmt.Errorf("%s: a graph of 0 points; there is nothing to label", path)
	}
	if g.Made == nil {
		return g, nil
	}
	return g, a.sameAs(p, pipeline.GraphParams.Params(), pipeline.GraphParams.Encode(&g.Settings), path)
}
