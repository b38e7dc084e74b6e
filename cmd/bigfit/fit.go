package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
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

// labelOptions say what an unlabeled point looks like in an integer y.
type labelOptions struct{ unlabeled string }

func (o *labelOptions) read(a *app, path string) (*data.Labels, error) {
	opt := data.LabelOptions{Limit: int64(a.memory)}
	switch o.unlabeled {
	case "":
	case "none":
		opt.NoUnlabeled = true
	default:
		var v int64
		if _, err := fmt.Sscan(o.unlabeled, &v); err != nil {
			return nil, fmt.Errorf("--unlabeled is %q; it is an integer or \"none\"", o.unlabeled)
		}
		opt.Unlabeled = &v
	}
	return data.ReadLabels(path, opt)
}

func (a *app) fitCommand() *cobra.Command {
	var o fitOptions
	cmd := &cobra.Command{
		Use:   "fit --model eigenmap -X X.npy -y y.npy -o model.npz",
		Short: "Fit a model to a few labels and many points",
		Long: `Fit a classifier to points X, of which y labels some: −1 in an integer y and
NaN in a float one mark unlabeled points. With --labels N a random subset of the
given labels is used and the error on the rest is printed.

The model is the eigenmap classifier of Belkin & Niyogi (2004): least squares on
the smallest eigenvectors of the graph Laplacian. A graph or eigenpairs that are
there already are taken with --graph and --eigs. Without -X the model only labels
the points of the graph.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.fit(cmd.Context(), &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.model, "model", models.EigenmapName, "model: eigenmap")
	f.StringVarP(&o.x, "points", "X", "", "points")
	f.StringVarP(&o.y, "labels-file", "y", "", "labels")
	f.IntVar(&o.labels, "labels", 0, "use this many of the labels, drawn by --seed")
	f.StringVar(&o.label.unlabeled, "unlabeled", "", "integer in y that marks an unlabeled point, or none (default -1)")
	f.StringVar(&o.graphFile, "graph", "", "graph from bigfit graph or SciPy")
	f.StringVar(&o.eigsFile, "eigs", "", "eigenpairs from bigfit eigs or NumPy")
	f.IntVarP(&o.eigenmap.Eigenvectors, "eigenvectors", "p", 0, "eigenvectors used (default: 20 % of the labels; 200 with a penalty)")
	textFlag(f, &o.eigenmap.Penalty, "penalty", "penalty on the coefficients: none, iterated, heat")
	f.Float64Var(&o.eigenmap.Gamma, "gamma", 0, "strength of the penalty (default: by cross-validation)")
	f.Float64Var(&o.eigenmap.Power, "power", 0, "s of the iterated penalty λˢ (default 2)")
	f.Float64Var(&o.eigenmap.T, "heat-t", 0, "t of the heat penalty exp(tλ) (default 1)")
	f.IntVar(&o.eigenmap.Folds, "folds", 0, "folds of the cross-validation (default 5)")
	o.graph.flags(f)
	o.eigs.flags(f)
	f.StringVarP(&o.out, "output", "o", "model.npz", "model file to write")
	f.StringVar(&o.predictions, "predictions", "", "also write the classes of all training points to this .npy file")
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

func (a *app) fit(ctx context.Context, o *fitOptions) error {
	if o.model != models.EigenmapName {
		return fmt.Errorf("unknown model %q; the model is %s", o.model, models.EigenmapName)
	}
	if o.y == "" || o.x == "" && o.graphFile == "" && o.eigsFile == "" {
		return errors.New("fit needs labels (-y) and points (-X), a graph (--graph) or eigenpairs (--eigs)")
	}
	if err := checkOutput(o.out, o.predictions); err != nil {
		return err
	}
	truth, err := o.label.read(a, o.y)
	if err != nil {
		return err
	}
	y := truth
	if o.labels > 0 {
		if y, err = truth.Draw(o.labels, a.seed); err != nil {
			return fmt.Errorf("%s: %w", o.y, err)
		}
	}
	src, err := a.fitSources(ctx, o, y)
	if err != nil {
		return err
	}
	m, err := models.FitEigenmap(src.eigs, src.components, y, &o.eigenmap)
	if err != nil {
		return err
	}
	n, _ := src.eigs.Vectors.Dims()
	fitted := &models.Fitted{
		Eigenmap: m,
		Labels:   m.Transduce(src.eigs, src.components, y),
		Vectors:  src.eigs.Vectors.Slice(0, n, 0, m.Settings.Eigenvectors).(*mat.Dense),
		Degrees:  src.degrees,
		Points:   src.points, PCA: src.pca,
		Metric: src.options.Graph.Metric, Graph: src.options.Graph.Graph, Laplacian: src.options.Laplacian,
	}
	src.hashes[hashLabels] = data.HashPoints(&data.Dense[float64]{Rows: y.Len(), Cols: 1, Data: classValues(y)})
	if err := fitted.Save(o.out, src.hashes); err != nil {
		return output(err)
	}
	if o.predictions != "" {
		if err := npy.WriteFile(o.predictions, []int{n}, values(fitted.Labels, m.Classes)); err != nil {
			return output(err)
		}
	}
	s := fitSummary{Points: n, Labeled: m.Labeled, Classes: m.Classes, Eigenvectors: m.Settings.Eigenvectors, Rank: m.Rank,
		Penalty: m.Settings.Penalty, Gamma: m.Settings.Gamma, Candidates: m.Candidates,
		Components: src.components.Count(), Isolated: src.components.Isolated(), Unreached: m.Unreached, Fallback: m.Classes[m.Fallback]}
	if e := 100 * models.ErrorRate(fitted.Labels, truth, y); !math.IsNaN(e) {
		s.Error = &e
	}
	return a.print(s, fmt.Sprintf("%s: %s", o.out, s))
}

// sources are what a model is fitted on.
type sources struct {
	eigs       *lanczos.Result
	components *sparse.Components
	degrees    []float64
	options    eigsOptions
	points     data.Points
	pca        *data.PCA
	hashes     map[string]string
}

// fitSources reads what is given and computes what is not.
func (a *app) fitSources(ctx context.Context, o *fitOptions, y *data.Labels) (*sources, error) {
	src := &sources{options: o.eigs, hashes: map[string]string{}}
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
			if err := json.Unmarshal(m.Settings, &src.options.Graph); err != nil {
				return nil, fmt.Errorf("%s: the settings in the manifest: %w", o.graphFile, err)
			}
		}
	}
	if o.eigsFile != "" {
		return src, a.fitOnEigs(o, y, x, w, src)
	}
	var components *sparse.Components
	if w == nil {
		g, err := a.graph(ctx, x, o.graph)
		if err != nil {
			return nil, err
		}
		w, components, src.options.Graph, src.points, src.pca = g.w, g.components, g.options, g.points, g.pca
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
	r, l, err := a.eigenpairs(ctx, w, components, src.options)
	if err != nil {
		return nil, err
	}
	src.eigs, src.components, src.degrees = r, components, l.Degrees()
	return src, nil
}

// fitOnEigs completes src with saved eigenpairs. w may be nil.
func (a *app) fitOnEigs(o *fitOptions, y *data.Labels, x data.Points, w *sparse.CSR, src *sources) error {
	f, err := a.loadEigs(o.eigsFile, w)
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
		if err := json.Unmarshal(f.Manifest.Settings, &src.options); err != nil {
			return fmt.Errorf("%s: the settings in the manifest: %w", o.eigsFile, err)
		}
		src.hashes[hashGraph] = f.Manifest.Hashes[hashGraph]
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

// values turns positions in classes into class values.
func values(index []int32, classes []int64) []int64 {
	out := make([]int64, len(index))
	for i, c := range index {
		out[i] = classes[c]
	}
	return out
}

// classValues returns the labels with NaN for none.
func classValues(y *data.Labels) []float64 {
	out := make([]float64, y.Len())
	for i, c := range y.Index {
		out[i] = math.NaN()
		if c != data.Unlabeled {
			out[i] = float64(y.Classes[c])
		}
	}
	return out
}
