package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// neighborsOptions are the flags of bigfit neighbors.
type neighborsOptions struct {
	params     shell.ParamFlags // of pipeline.NeighborParams
	checkpoint shell.CheckpointFlags
	x, query   shards.Names
	out        string
	self, csr  bool
}

func (a *app) neighborsCommand() *cobra.Command {
	o := neighborsOptions{params: shell.ParamFlags{}}
	cmd := &cobra.Command{
		Use:   "neighbors X… -o knn.npz",
		Short: "Find the nearest neighbours of points",
		Long: `Find the nearest neighbours of every point of X. The result is a .npz file with the
arrays indices (int32, n×k) and distances (float64, n×k, ascending in each row). A point is
not its own neighbour, but a duplicate of it is. Of equal distances the smaller index comes
first.

  --with-self   each list begins with its own point at distance 0, which counts as one of
                the k. umap.UMAP(n_neighbors=k, precomputed_knn=(indices, distances))
                takes such lists, and NearestNeighbors.kneighbors(X) of scikit-learn
                returns them
  --csr         write the distances as a sparse n×n matrix for scipy.sparse.load_npz,
                zeros stored, as kneighbors_graph(mode="distance") returns it. scanpy
                takes it as obsp["distances"] with n_neighbors = k+1. With --with-self
                too it is for metric="precomputed" of scikit-learn
  --query Q     find the neighbours among X of the points of Q
  --radius R    find all points at most R apart in place of k neighbours; the result is
                the matrix of --csr

bigfit graph --lists takes the file, with --with-self or without, but not with --csr.

An output that ends in .csv, .jsonl or .parquet is a table with a row for each neighbour:
the id of the point (if the points have ids), its row, the rank, the neighbour by id or
row, and the distance.

--checkpoint and --resume work as in bigfit graph.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.TakePoints(&o.x, args)
			if len(o.x) == 0 {
				return shell.OneArgument("the file of the points")(cmd, args)
			}
			return a.neighbors(cmd.Context(), o.x, &o)
		},
	}

	f := cmd.Flags()
	f.VarP(&o.x, "points", "X", shell.PointsHelp)
	o.params.Add(f, pipeline.NeighborParams.Params(), false)
	o.checkpoint.Flags(f)
	f.BoolVar(&o.self, "with-self", false, "each point is the first in its own list")
	f.BoolVar(&o.csr, "csr", false, "write a sparse matrix of distances")
	f.Var(&o.query, "query", "`file` of points whose neighbours in X are wanted, in place of those "+
		"of X; may be repeated")
	a.Points.IDFlag(f)
	f.StringVarP(&o.out, "output", "o", "knn.npz", "`file` to write, .npz or a table")
	return cmd
}

// check returns an error if flags do not go together.
func (o *neighborsOptions) check(x shards.Names) error {
	switch {
	case len(o.query) > 0 && o.self:
		return shell.Usagef("--with-self is for the points of X; those of --query are not among them")
	case len(o.query) > 0 && o.checkpoint.Checkpoint != "":
		return shell.Usagef("--checkpoint is for the neighbours of X itself; leave it out with --query")
	}
	if table.IsTable(o.out) {
		if o.csr {
			return shell.Usagef("--csr is for .npz; %s is a table", o.out)
		}
	} else if err := shell.CheckArchive("neighbours", o.out); err != nil {
		return err
	}
	inputs := x.Inputs(o.query.Inputs()...)
	if err := errors.Join(o.checkpoint.Check(), o.checkpoint.CheckFiles(inputs, o.out)); err != nil {
		return err
	}
	return shell.CheckOutput(inputs, o.out)
}

func (a *app) neighbors(ctx context.Context, path shards.Names, o *neighborsOptions) error {
	if err := o.check(path); err != nil {
		return err
	}
	s, err := shell.Decode(a.App, o.params, pipeline.NeighborParams)
	if err != nil {
		return err
	}
	if s.Graph.Radius > 0 {
		if table.IsTable(o.out) {
			return shell.Usagef("--radius writes a sparse matrix; the name of %s must end in .npz", o.out)
		}
		return a.within(ctx, path, o, &s)
	}
	if s.Graph.K == 0 {
		s.Graph.K = pipeline.DefaultNeighbors
	}

	if o.self { // the point is one of them
		if s.Graph.K--; s.Graph.K == 0 {
			return shell.Usagef("--neighbors is 1 and --with-self takes it; give at least 2")
		}
	}

	if err := a.OpenCheckpoint(ctx, &o.checkpoint); err != nil {
		return err
	}
	x, err := a.ReadPoints(path, data.ReadOptions{})
	if err != nil {
		return err
	}
	var ids *data.IDs
	if table.IsTable(o.out) {
		n, _ := x.Dims()
		if ids, err = a.IDsOf(n); err != nil {
			return err
		}
	}
	f, notReached := a.findNeighbors(ctx, x, o, &s)
	if f == nil {
		return notReached
	}
	if err := a.saveNeighbors(ctx, f, ids, o.out); err != nil {
		return err
	}

	a.Checkpoint.Clear()
	sum := f.Summary()
	return errors.Join(notReached, a.Print(sum, fmt.Sprintf("%s: %s", o.out, sum)))
}

// saveNeighbors writes the lists, as a table with the ids of the points if the name asks for one.
func (a *app) saveNeighbors(ctx context.Context, f *pipeline.NeighborsFile, ids *data.IDs, path string) error {
	if !table.IsTable(path) {
		return a.Write(ctx, func() error { return f.Save(path) })
	}
	answers := f.Table(ids)
	answers.CSVSafe = a.CSVSafe
	return a.Write(ctx, func() error { return answers.Write(path) })
}

// pairsSummary is the output of neighbors --radius.
type pairsSummary struct {
	Points int     `json:"points"`
	Radius float64 `json:"radius"`
	Method string  `json:"method"`
	Pairs  int     `json:"pairs"`
	Alone  int     `json:"alone"` // points without a neighbour
}

func (s pairsSummary) String() string {
	return fmt.Sprintf("%d pairs of %d points at most %.6g apart by %s, %d points alone", s.Pairs, s.Points,
		s.Radius, s.Method, s.Alone)
}

// within writes the distances of all pairs of points at most a radius apart.
func (a *app) within(ctx context.Context, path shards.Names, o *neighborsOptions, s *pipeline.GraphSettings) error {
	for flag, given := range map[string]bool{"query": len(o.query) > 0, "with-self": o.self,
		"neighbors": a.Given["neighbors"], "checkpoint": o.checkpoint.Checkpoint != ""} {
		if given {
			return shell.Usagef("--%s is not for --radius", flag)
		}
	}
	x, err := a.ReadPoints(path, data.ReadOptions{})
	if err != nil {
		return err
	}
	g, w, err := a.Pipeline().Within(ctx, x, s)
	if err != nil {
		return err
	}

	sum := pairsSummary{Points: w.Rows, Radius: s.Graph.Radius, Method: g.Settings.Method.String(), Pairs: w.NNZ() / 2}
	for i := range w.Rows {
		if w.Ptr[i] == w.Ptr[i+1] {
			sum.Alone++
		}
	}
	if err := a.Write(ctx, func() error { return sparse.WriteNPZ(o.out, w, nil) }); err != nil {
		return err
	}
	return a.Print(sum, fmt.Sprintf("%s: %s", o.out, sum))
}

// findNeighbors searches. With knn.ErrRecall comes what was reached.
func (a *app) findNeighbors(ctx context.Context, x data.Points, o *neighborsOptions,
	s *pipeline.GraphSettings) (*pipeline.NeighborsFile, error) {
	hashes := pipeline.Hashes{pipeline.HashPoints: data.HashPoints(x)}
	var g *pipeline.Graph
	var nb *knn.Neighbors
	var err error
	if len(o.query) == 0 {
		g, nb, err = a.Pipeline().Neighbors(ctx, x, s)
	} else {
		q, fault := a.ReadMore(pipeline.HashQuery, o.query, data.ReadOptions{})
		if fault != nil {
			return nil, fault
		}
		hashes[pipeline.HashQuery] = data.HashPoints(q)
		g, nb, err = a.Pipeline().QueryNeighbors(ctx, x, q, s)
	}

	if !models.Usable(err) {
		return nil, err
	}
	f := pipeline.NewNeighborsFile(g, nb, o.self, hashes)
	f.Files = a.Files
	f.CSR = o.csr
	f.Settings.Query = len(o.query) > 0
	return f, err
}
