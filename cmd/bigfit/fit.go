package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/models"
)

// fitOptions are the flags of bigfit fit.
type fitOptions struct {
	model, x, y, graphFile, eigsFile, out, predictions string
	labels                                             int
	label                                              labelOptions
	graph                                              graphOptions
	eigs                                               eigsOptions
	eigenmap                                           models.EigenmapSettings
}

func (a *app) fitCommand() *cobra.Command {
	o := fitOptions{eigs: eigsOptions{Tolerance: defaultTolerance}}
	cmd := &cobra.Command{
		Use:   "fit --model eigenmap -X X.npy -y y.npy -o model.npz",
		Short: "Fit a model to a few labels and many points",
		Long: `Fit a classifier to points X, of which y labels some: −1 in an integer y and
NaN in a float one mark unlabeled points. With --labels N a random subset of the
given labels is used and the error on the rest is printed.

The model is the eigenmap classifier of Belkin & Niyogi (2004): least squares on
the smallest eigenvectors of the graph Laplacian. A graph or eigenpairs that are
there already are taken with --graph and --eigs; flags about their making must
agree with what they were made with. Without -X the model only labels the points
of the graph.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.fit(cmd.Context(), &o, cmd.Flags()) },
	}
	f := cmd.Flags()
	f.StringVar(&o.model, "model", models.EigenmapName, "model: eigenmap")
	f.StringVarP(&o.x, "points", "X", "", "`file` of the points")
	f.StringVarP(&o.y, "labels-file", "y", "", "`file` of the labels")
	f.IntVar(&o.labels, "labels", 0, "use this many of the labels, drawn by --seed (default: all)")
	o.label.flags(f)
	f.StringVar(&o.graphFile, "graph", "", "graph `file` from bigfit graph or SciPy")
	f.StringVar(&o.eigsFile, "eigs", "", "`file` of eigenpairs from bigfit eigs or NumPy")
	f.IntVarP(&o.eigenmap.Eigenvectors, "eigenvectors", "p", 0, "eigenvectors used (default: 20 % of the labels; 200 with a penalty)")
	nameFlag(f, &o.eigenmap.Penalty, "penalty", "penalty on the coefficients: none, iterated, heat")
	f.Float64Var(&o.eigenmap.Gamma, "gamma", 0, "strength of the penalty (default: by cross-validation)")
	f.Float64Var(&o.eigenmap.Power, "power", 0, "s of the iterated penalty λˢ (default 2)")
	f.Float64Var(&o.eigenmap.T, "heat-t", 0, "t of the heat penalty exp(tλ) (default 1)")
	f.IntVar(&o.eigenmap.Folds, "folds", 0, "folds of the cross-validation (default 5)")
	o.graph.flags(f)
	o.eigs.flags(f)
	f.StringVarP(&o.out, "output", "o", "model.npz", "model `file` to write")
	f.StringVar(&o.predictions, "predictions", "", "also write the classes of all training points to this .npy `file`")
	return cmd
}

// fitSummary is what fit prints.
type fitSummary struct {
	Points       int                `json:"points"`
	Labeled      int                `json:"labeled"`
	Classes      []int64            `json:"classes"`
	Eigenvectors int                `json:"eigenvectors"`
	Rank         int                `json:"rank"`
	Penalty      models.Penalty     `json:"penalty"`
	Gamma        float64            `json:"gamma,omitempty"`
	Candidates   []models.Candidate `json:"candidates,omitempty"`
	Components   int                `json:"components"`
	Isolated     int                `json:"isolated_points"`
	Unreached    int                `json:"unreached_points"`
	Fallback     int64              `json:"fallback_class"`
	// Error is in percent of the points whose label was held back.
	Error *float64 `json:"error,omitempty"`
}

func (s fitSummary) String() string {
	text := fmt.Sprintf("%d of %d points labeled, %d classes, %d eigenvectors (rank %d)", s.Labeled, s.Points, len(s.Classes), s.Eigenvectors, s.Rank)
	if s.Penalty != models.NoPenalty {
		text += fmt.Sprintf(", %s penalty with γ = %.3g", s.Penalty, s.Gamma)
		if len(s.Candidates) > 0 {
			text += fmt.Sprintf(" by cross-validation over %d values", len(s.Candidates))
		}
	}
	text += fmt.Sprintf("; %d components, %d isolated points", s.Components, s.Isolated)
	if s.Unreached > 0 {
		text += fmt.Sprintf("; %d points in components without a label got class %d, the most frequent one", s.Unreached, s.Fallback)
	}
	if s.Error != nil {
		text += fmt.Sprintf("; error on the points without a label %.2f %%", *s.Error)
	}
	return text
}

func (a *app) fit(ctx context.Context, o *fitOptions, flags *pflag.FlagSet) error {
	if o.model != models.EigenmapName {
		return usagef("unknown model %q; the model is %s", o.model, models.EigenmapName)
	}
	if o.y == "" || o.x == "" && o.graphFile == "" && o.eigsFile == "" {
		return usagef("fit needs labels (-y) and points (-X), a graph (--graph) or eigenpairs (--eigs)")
	}
	if o.labels < 0 || a.given["labels"] && o.labels == 0 {
		return usagef("--labels is %d; it must be at least 1", o.labels)
	}
	if err := checkOutput([]string{o.x, o.y, o.graphFile, o.eigsFile}, o.out, o.predictions); err != nil {
		return err
	}
	truth, y, err := a.fitLabels(o)
	if err != nil {
		return err
	}
	src, solveErr := a.fitSources(ctx, o, y, flags)
	if !usable(solveErr) {
		return solveErr
	}
	o.eigenmap.Seed = a.seed
	m, err := models.FitEigenmap(src.eigs, src.components, y, &o.eigenmap)
	if err != nil {
		return err
	}
	n := y.Len()
	fitted := &models.Fitted{
		Eigenmap: m,
		Labels:   m.Transduce(src.eigs, src.components, y),
		Vectors:  src.eigs.Vectors.Slice(0, n, 0, m.Settings.Eigenvectors).(*mat.Dense),
		Degrees:  src.degrees,
		Points:   src.points, PCA: src.pca, Index: src.index,
		Metric: src.options.Graph.Metric, Method: src.options.Graph.Method, Graph: src.options.Graph.Graph, Laplacian: src.options.Laplacian,
	}
	src.hashes[hashLabels] = data.HashPoints(&data.Dense[float64]{Rows: n, Cols: 1, Data: classValues(y)})
	err = a.write(ctx, func() error {
		err := fitted.Save(o.out, src.hashes)
		if err == nil && o.predictions != "" {
			err = npy.WriteFile(o.predictions, []int{n}, values(fitted.Labels, m.Classes))
		}
		return err
	})
	if err != nil {
		return err
	}
	s := fitSummary{Points: n, Labeled: m.Labeled, Classes: m.Classes, Eigenvectors: m.Settings.Eigenvectors, Rank: m.Rank,
		Penalty: m.Settings.Penalty, Gamma: m.Settings.Gamma, Candidates: m.Candidates,
		Components: src.components.Count(), Isolated: src.components.Isolated(), Unreached: m.Unreached, Fallback: m.Classes[m.Fallback]}
	if e := 100 * models.ErrorRate(fitted.Labels, truth, y); !math.IsNaN(e) {
		s.Error = &e
	}
	if err := a.print(s, fmt.Sprintf("%s: %s", o.out, s)); err != nil {
		return err
	}
	return solveErr
}

// fitLabels reads the labels and draws those that are used. What can be known to
// be wrong before anything is computed is refused.
func (a *app) fitLabels(o *fitOptions) (truth, y *data.Labels, err error) {
	if truth, err = o.label.read(a, o.y); err != nil {
		return nil, nil, err
	}
	y = truth
	if o.labels > 0 && len(truth.Labeled()) > 0 {
		if y, err = truth.Draw(o.labels, a.seed); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", o.y, err)
		}
	}
	if p := o.eigenmap.Eigenvectors; p < 0 || p > y.Len() {
		return nil, nil, fmt.Errorf("--eigenvectors is %d and %s has %d points; it must be between 1 and %d, or 0 for the default", p, o.y, y.Len(), y.Len())
	}
	return truth, y, o.label.twoClasses(a, y, o.y)
}
