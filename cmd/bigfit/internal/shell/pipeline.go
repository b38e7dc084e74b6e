package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/progress"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// Pipeline returns the stages with the settings of the command line.
func (a *App) Pipeline() *pipeline.Pipeline {
	return &pipeline.Pipeline{Seed: a.Seed, Memory: int64(a.Memory), Observer: a.Observer(),
		Checkpoint: a.Checkpoint}
}

// Observer returns what shows stages on stderr and announces what they take.
func (a *App) Observer() stage.Observer { return &observer{app: a} }

// observer shows stages on stderr.
type observer struct {
	app   *App
	stage *progress.Stage
}

// Announce says what a stage will take and refuses what does not fit.
func (o *observer) Announce(stage string, c stage.Cost) error {
	return o.app.Need(stage, c.Bytes, c.Operations, c.Remedy)
}

func (o *observer) Note(text string) { o.app.Note("%s", text) }

func (o *observer) Begin(stage string) { o.stage = o.app.Progress.Stage(stage) }

func (o *observer) Update(done, total float64, note string) { o.stage.Update(done, total, note) }

func (o *observer) End(note string) { o.stage.Done(note) }

// PointsHelp is the help text of -X.
const PointsHelp = "`file` of the points, a pattern in quotes, a folder or a list of files; may be repeated"

// TakePoints appends arguments that all name points to x, the names given with -X.
func (a *App) TakePoints(x *shards.Names, args []string) {
	if note := x.Take(args, nil, false); note != "" {
		a.Note("%s", note)
	}
}

// ReadPoints reads points as a stage.
func (a *App) ReadPoints(names shards.Names, opt data.ReadOptions) (data.Points, error) {
	x, err := a.ReadMore(pipeline.HashPoints, names, opt)
	if err != nil {
		return nil, err
	}
	// Ids that were asked for are read before any work begins, not when answers are written.
	if a.Points.ids != "" {
		if _, err := a.Points.Identify(a); err != nil {
			return nil, err
		}
	}
	a.warnOfScale(names, x, opt)
	return x, nil
}

// warnOfScale warns where few columns decide all distances, or says that the default model standardizes them. It says
// nothing of new points for a model and of points to audit, nothing in each of many jobs, and nothing where the flag
// or a given graph decides.
func (a *App) warnOfScale(names shards.Names, x data.Points, opt data.ReadOptions) {
	if opt.Columns > 0 || opt.AllowNaN || opt.Unchecked || a.Given["standardize"] || a.Points.GraphAlone {
		return
	}
	s := data.ScaleOf(x)
	switch {
	case s == nil:
	case a.Points.OpenGraph && s.Units:
		a.Note("%s: %s; so each column is divided by its standard deviation (not with --standardize=false)", names,
			s.Text(a.Points.table.Names()))
	default:
		a.Warn(names.String() + ": " + s.Warning(a.Points.table.Names()))
	}
}

// ReadMore is [App.ReadPoints] of points that manifests name otherwise.
func (a *App) ReadMore(what string, names shards.Names, opt data.ReadOptions) (data.Points, error) {
	st := a.Progress.Stage("read")
	a.Reads(what, names.String())
	opt.Limit = a.Left()
	opt.Begin = func(rows, _ int, bytes int64) error {
		if rows < 0 {
			a.budget.Unknown()
		}
		return a.needToRead(bytes)
	}
	// The options of columns are known only now, after all flags were read; the reader leaves in
	// the table the ids and labels that it met.
	p := &a.Points
	p.table = &data.TableColumns{ID: p.id, UsualID: true, Label: p.Label, Drop: p.drop, Only: p.columns, Shown: p.Shown,
		Expected: p.expected, ExpectedID: p.expectedID}
	if p.show != "" {
		p.table.Shown = append(slices.Clone(p.Shown), p.show)
	}
	opt.Table = p.table
	files, err := shards.Find(names)
	if err != nil {
		return nil, err
	}

	for _, note := range files.Notes {
		a.Note("%s", note)
	}
	x, err := data.ReadFiles(files.Paths, opt)
	if err != nil {
		return nil, err
	}
	a.Notes(p.table.Notes...)
	a.warnOfGraph(files.Paths, x)
	st.Done(files.Describe() + data.Describe(x))
	p.read = files
	p.files = files
	p.fault = nil
	p.rows, _ = x.Dims()
	return x, nil
}

// warnOfGraph warns where points are a graph that bigfit made, as fit --graph would take it, or may be one of another
// program.
func (a *App) warnOfGraph(paths []string, x data.Points) {
	if len(paths) != 1 || !strings.EqualFold(filepath.Ext(paths[0]), ".npz") {
		return
	}
	var m archive.Manifest
	info, err := data.Inspect(paths[0], data.ReadOptions{Limit: int64(a.Memory)})
	if err == nil && json.Unmarshal(info.Manifest, &m) == nil && m.Format == archive.Graph {
		a.Warn(fmt.Sprintf("%s is a graph that bigfit made, and its rows are read as points; fit and "+
			"tune take the graph itself with --graph", paths[0]))
		return
	}
	if w, ok := x.(*sparse.CSR); ok && w.Rows == w.Cols && w.Rows > 1 && w.CheckGraph() == nil {
		a.Warn(fmt.Sprintf("%s is a square and symmetric matrix without negative entries, as the weights of a graph are, "+
			"and its rows are read as points; fit and tune take a graph with --graph", paths[0]))
	}
}

// DefaultTolerance is the default relative residual of eigenpairs and of linear systems.
const DefaultTolerance = 1e-8

// SingleTolerance is the default relative residual of eigenvectors in float32.
const SingleTolerance = 1e-6

// EigsFlags adds the flags of eigenpairs; their defaults are the values that s has.
func EigsFlags(f *pflag.FlagSet, s *pipeline.EigsSettings) {
	NameFlag(f, &s.Laplacian, "laplacian", "Laplacian; combinatorial is D−W")
	f.Float64Var(&s.Tolerance, "tolerance", s.Tolerance,
		"largest residual ‖Lv−λv‖ of a pair, relative to ‖L‖")
}

// GraphSource says where a graph comes from: a file, or points, or both, when the
// graph is one of the points.
type GraphSource struct {
	File   string
	X      shards.Names
	Params ParamFlags // of pipeline.GraphParams
	// Open leaves settings that are not given to the points, as auto does: see [pipeline.AutoGraph].
	Open bool
}

// Sourced is a graph with the points it belongs to.
type Sourced struct {
	pipeline.Graph
	X      data.Points // as given; nil without
	Hashes pipeline.Hashes
}

// Flags adds the flags of the making of a graph.
func (o *GraphSource) Flags(a *App, f *pflag.FlagSet) {
	a.Points.ColumnFlags(f)
	o.Params = ParamFlags{}
	o.Params.Add(f, pipeline.GraphParams.Without("class-weights", "class-graphs").Params(), false)
}

// Take takes the arguments of the command: the first may be a graph, all others are points.
// points tells that a graph alone will not do.
func (o *GraphSource) Take(a *App, args []string, points bool) error {
	// Saying how the arguments were understood is cheaper than a graph made of a graph.
	if len(args) > 0 && mayBeGraph(args[0], int64(a.Memory)) {
		o.File = args[0]
		args = args[1:]
	} else if len(args) > 0 {
		a.Note("points: %s; a graph would be a sparse .npz", shards.Names(args))
	}

	a.TakePoints(&o.X, args)
	switch {
	case o.File == "" && len(o.X) == 0:
		return Usagef("a graph, or points, are needed")
	case len(o.X) == 0 && points:
		return Usagef("--gamma needs the points (-X); the graph alone does not have them")
	}

	return nil
}

// mayBeGraph tells whether an argument is read as a graph: a sparse matrix in .npz, or a .npz
// that cannot be understood, so that the reader of graphs words the fault. Sparse points need
// -X.
func mayBeGraph(path string, limit int64) bool {
	if !strings.EqualFold(filepath.Ext(path), ".npz") {
		return false
	}
	info, err := data.Inspect(path, data.ReadOptions{Limit: limit})
	return err != nil || info.Format == data.FormatSciPy
}

// LoadSource reads the points and the graph of o, and builds the graph if there is no file. A
// usable error comes with the graph that was reached.
func (a *App) LoadSource(ctx context.Context, o *GraphSource) (*Sourced, error) {
	settings, err := Decode(a, o.Params, pipeline.GraphParams)
	if err != nil {
		return nil, err
	}
	g := &Sourced{Hashes: pipeline.Hashes{}}
	a.Points.OpenGraph = o.Open && o.File == ""
	if len(o.X) > 0 {
		if g.X, err = a.ReadPoints(o.X, data.ReadOptions{}); err != nil {
			return nil, err
		}
		g.Hashes[pipeline.HashPoints] = data.HashPoints(g.X)
	} else if o.File != "" {
		a.Points.TakeVertices(o.File)
	}

	if o.Open && o.File == "" {
		auto, err := pipeline.AutoGraph(g.X, o.Params.Values(pipeline.GraphParams.Params()))
		if err != nil {
			return nil, a.FlagFaults("", err)
		}
		settings = *auto
	}

	// Without a file the graph is made, and may fall short of the recall asked for.
	if o.File == "" {
		built, err := a.Pipeline().Graph(ctx, g.X, &settings)
		if !models.Usable(err) {
			return nil, err
		}
		g.Graph = *built
		g.Hashes[pipeline.HashGraph] = data.HashPoints(g.W)
		return g, err
	}

	given, err := a.GivenGraph(o.File, o.Params, &settings)
	if err != nil {
		return nil, err
	}
	g.Graph = given.Graph
	g.Hashes[pipeline.HashGraph] = data.HashPoints(g.W)
	if g.X == nil {
		return g, nil
	}
	// A graph and points together: they must belong to each other, by length and by hash.
	if n, _ := g.X.Dims(); n != g.W.Rows {
		return nil, fmt.Errorf("%s has %d points but the graph %s has %d", o.X, n, o.File, g.W.Rows)
	}
	if err := given.Made.Agree(pipeline.HashPoints, g.Hashes[pipeline.HashPoints], o.File,
		o.X.String()); err != nil {
		return nil, err
	}

	// New points find their neighbours through the index that the file keeps, or one that is built
	// of the points.
	if err := given.ReadKept(int64(a.Memory)); err != nil {
		return nil, err
	}
	joined, err := a.Pipeline().Join(ctx, &given.Graph.Graph, g.X, &g.Settings)
	if err != nil {
		return nil, err
	}
	g.Graph.Graph = *joined
	return g, nil
}

// GivenGraph reads the graph in a file. Flags must agree with the settings of its
// manifest; without one they are s.
func (a *App) GivenGraph(path string, p ParamFlags, s *pipeline.GraphSettings) (*pipeline.GraphFile, error) {
	a.Reads(pipeline.HashGraph, path)
	g, err := pipeline.OpenGraph(path, int64(a.Memory), s)
	if err != nil {
		return nil, err
	}
	if g.W.Rows == 0 {
		return nil, fmt.Errorf("%s: a graph of 0 points; there is nothing to label", path)
	}
	// A graph of another program has no settings to contradict.
	if g.Made == nil {
		return g, nil
	}
	return g, a.SameAs(p, pipeline.GraphParams.Params(), pipeline.GraphParams.Encode(&g.Settings), path)
}
