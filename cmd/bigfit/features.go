package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/hops"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// featuresOptions are the flags of bigfit features.
type featuresOptions struct {
	source   shell.GraphSource
	settings hops.Settings
	out      string
}

func (a *app) featuresCommand() *cobra.Command {
	o := featuresOptions{settings: hops.Settings{Hops: hops.DefaultHops}}
	cmd := &cobra.Command{
		Use:   "features X.npy… --hops 2 -o features.npy",
		Short: "Average the columns of points over a graph, for other programs",
		Long: `Write X, AX, A²X, …, A^k X side by side, where A is the normalized adjacency matrix of a
graph. With d columns in X, columns hd to (h+1)d−1 of the result hold hop h. A program that
does not use graphs, such as logistic regression or boosted trees, reads this matrix in
place of X (SIGN, Frasca et al. 2020). The last hop with --self-loops is SGC (Wu et al.
2019).

Without --graph the graph is made of the points, as fit makes it. --graph takes a graph
from bigfit graph or SciPy: links between the points, or neighbours in another view of
them.

  --normalization symmetric   A = D^-½ W D^-½ for weights W with degrees D
  --normalization row         A = D⁻¹W, the mean over the neighbours
  --self-loops                W + I in place of W

A point without an edge keeps its columns. The numbers are float32. Sparse X with an
output name that ends in .npz gives a sparse matrix for scipy.sparse.load_npz. Other
outputs are dense: .npy, .npz, or tables with the ids of the points (.csv, .jsonl,
.parquet).`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a.TakePoints(&o.source.X, args)
			if len(o.source.X) == 0 {
				return shell.OneArgument("the file of the points")(cmd, args)
			}
			return a.features(cmd.Context(), &o)
		},
	}

	f := cmd.Flags()
	f.VarP(&o.source.X, "points", "X", shell.PointsHelp)
	f.StringVar(&o.source.File, "graph", "", "graph `file` from bigfit graph or SciPy")
	f.IntVar(&o.settings.Hops, "hops", o.settings.Hops, "largest power k of A")
	shell.NameFlag(f, &o.settings.Normalization, "normalization", "how weights become A")
	f.BoolVar(&o.settings.Loops, "self-loops", false, "add 1 to the diagonal of the weights first")
	o.source.Flags(a.App, f)
	a.Points.IDFlag(f)
	f.StringVarP(&o.out, "output", "o", "features.npy", "`file` to write")
	return cmd
}

// featuresSummary is the output of features.
type featuresSummary struct {
	Points        int                `json:"points"`
	Columns       int                `json:"columns"` // of X
	Hops          int                `json:"hops"`
	Normalization hops.Normalization `json:"normalization"`
	Loops         bool               `json:"self_loops"`
	Features      int                `json:"features"`          // columns of the result
	Entries       int                `json:"entries,omitempty"` // of a sparse result
	Alone         int                `json:"alone"`             // points without an edge
}

func (s featuresSummary) String() string {
	text := fmt.Sprintf("%d points, %d hops of %d columns", s.Points, s.Hops, s.Columns)
	if s.Entries > 0 {
		text += fmt.Sprintf(", %d entries", s.Entries)
	}
	if s.Alone > 0 {
		text += fmt.Sprintf("; %d points have no edge and keep their columns", s.Alone)
	}
	return text
}

// features writes the hops of points.
func (a *app) features(ctx context.Context, o *featuresOptions) error {
	if o.settings.Hops < 1 || o.settings.Hops > hops.MostHops {
		return shell.Usagef("--hops is %d; it must be from 1 to %d", o.settings.Hops, hops.MostHops)
	}
	if err := shell.CheckAnswers(o.source.X.Inputs(o.source.File), []string{o.out}); err != nil {
		return err
	}
	a.Points.OpenGraph = o.source.File == ""
	x, err := a.ReadPoints(o.source.X, data.ReadOptions{})
	if err != nil {
		return err
	}
	hashes := pipeline.Hashes{pipeline.HashPoints: data.HashPoints(x)}
	g, notReached := a.featureGraph(ctx, x, o, hashes)
	if !models.Usable(notReached) {
		return notReached
	}

	_, d := x.Dims()
	sum := featuresSummary{Points: g.W.Rows, Columns: d, Hops: o.settings.Hops, Loops: o.settings.Loops,
		Normalization: o.settings.Normalization, Features: (o.settings.Hops + 1) * d, Alone: g.Components.Isolated()}
	write := func() error { return a.denseFeatures(ctx, x, g.W, o, hashes) }
	if m, ok := x.(*sparse.CSR); ok && strings.EqualFold(filepath.Ext(o.out), ".npz") {
		write = func() error { return a.sparseFeatures(ctx, m, g.W, o, hashes, &sum) }
	}
	if err := write(); err != nil {
		return err
	}
	if err := a.Print(sum, fmt.Sprintf("%s: %s", o.out, sum)); err != nil {
		return err
	}
	return notReached
}

// featureGraph reads the graph that is given, or makes one of the points as fit does. A graph of other points is
// taken, and said.
func (a *app) featureGraph(ctx context.Context, x data.Points, o *featuresOptions,
	hashes pipeline.Hashes) (*pipeline.Graph, error) {
	if o.source.File == "" {
		s, err := pipeline.AutoGraph(x, o.source.Params.Values(pipeline.GraphParams.Params()))
		if err != nil {
			return nil, a.FlagFaults("", err)
		}
		return a.Pipeline().Graph(ctx, x, s)
	}

	s, err := shell.Decode(a.App, o.source.Params, pipeline.GraphParams)
	if err != nil {
		return nil, err
	}
	g, err := a.GivenGraph(o.source.File, o.source.Params, &s)
	if err != nil {
		return nil, err
	}
	if n, _ := x.Dims(); n != g.W.Rows {
		return nil, fmt.Errorf("%s has %d points but the graph %s has %d", o.source.X, n, o.source.File, g.W.Rows)
	}
	if g.Made.Agree(pipeline.HashPoints, hashes[pipeline.HashPoints], o.source.File, o.source.X.String()) != nil {
		a.Note("%s was made of other points than %s: row i of both is taken to be the same point", o.source.File,
			o.source.X)
	}
	hashes[pipeline.HashGraph] = data.HashPoints(g.W)
	return &g.Graph, nil
}

// follow shows the progress of features as a stage.
func (a *app) follow(s *hops.Settings) (done func(note string)) {
	st := a.Progress.Stage("features")
	s.OnProgress = func(done, total int) { st.Update(float64(done), float64(total), "") }
	return st.Done
}

// denseFeatures writes dense features.
func (a *app) denseFeatures(ctx context.Context, x data.Points, w *sparse.CSR, o *featuresOptions,
	hashes pipeline.Hashes) error {
	n, d := x.Dims()
	cost, err := hops.DenseCost(n, d, w.NNZ(), &o.settings)
	if err != nil {
		return err
	}
	if _, ok := x.(*sparse.CSR); ok {
		cost.Remedy = fmt.Sprintf("write a .npz with %s, which stays sparse, or take fewer %s", param.Name("output"),
			param.Name("hops"))
	}
	if err := a.Observer().Announce("features", cost); err != nil {
		return err
	}

	done := a.follow(&o.settings)
	f, err := hops.Features(ctx, x, w, &o.settings)
	if err != nil {
		return fmt.Errorf("%s: %w", o.source.X, err)
	}
	done(fmt.Sprintf("%d×%d", f.Rows, f.Cols))
	answers := pipeline.FeatureAnswers(f, featureNames(a.Points.ColumnNames(d), d, o.settings.Hops))
	return a.Write(ctx, func() error { return a.WriteAnswers(o.out, answers, hashes) })
}

// featureNames names the columns of features in tables: hop0_age, hop1_age, … of a column age, or hop0_0 without names.
func featureNames(columns []string, d, most int) []string {
	var out []string
	for h := range most + 1 {
		for j := range d {
			name := fmt.Sprint(j)
			if columns != nil {
				name = columns[j]
			}
			out = append(out, fmt.Sprintf("hop%d_%s", h, name))
		}
	}
	return out
}

// sparseFeatures writes features as a sparse matrix, with the ids of the points as the array id.
func (a *app) sparseFeatures(ctx context.Context, x, w *sparse.CSR, o *featuresOptions, hashes pipeline.Hashes,
	sum *featuresSummary) error {
	cost, err := hops.SparseCost(x, w, &o.settings)
	if err != nil {
		return err
	}
	if err := a.Observer().Announce("features", cost); err != nil {
		return err
	}
	done := a.follow(&o.settings)
	f, err := hops.SparseFeatures(ctx, x, w, &o.settings)
	if err != nil {
		return err
	}
	sum.Entries = f.NNZ()
	done(fmt.Sprintf("%d×%d, %d entries", f.Rows, f.Cols, f.NNZ()))

	ids, err := a.IDsOf(x.Rows)
	if err != nil {
		return err
	}
	manifest, err := archive.New(archive.Answers, pipeline.AnswerSettings{Answers: pipeline.FeaturesKind}, hashes, a.Files)
	if err != nil {
		return err
	}
	text, err := manifest.Bytes()
	if err != nil {
		return err
	}
	var more []archive.Array
	if ids != nil {
		more = append(more, archive.Array{Name: "id", Data: ids.Values})
	}
	return a.Write(ctx, func() error { return sparse.WriteNPZ(o.out, f, text, more...) })
}
