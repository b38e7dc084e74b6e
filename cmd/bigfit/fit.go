package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/sparse"
)

// fitOptions are the flags of bigfit fit.
type fitOptions struct {
	model, x, y, graphFile, eigsFile, out, predictions string
	labels                                             int
	regression                                         bool
	label                                              labelOptions
	graph                                              graphOptions
	eigs                                               eigsOptions
	own                                                modelOptions
}

func (a *app) fitCommand() *cobra.Command {
	o := fitOptions{own: newModelOptions()}
	cmd := &cobra.Command{
		Use:   "fit --model NAME -X X.npy -y y.npy -o model.npz",
		Short: "Fit a model to a few labels and many points",
		Long: `Fit a model to points X, of which y labels some: −1 in an integer y and NaN in
a float one mark unlabeled points. With --labels N a random subset of the given
labels is used and the error on the rest is printed. A y of numbers that are not
all integers makes it a regression, where the model can do that. For vvmr y has a
column a label, of 1 and 0 or −1, and NaN for what is not known, or is svmlight
with lists of labels ("1,5,7", nan for a point not labeled), or with --regression
a column a value; it answers with scores, positive for the labels.

` + modelHelp() + `
A model with an intrinsic norm minimizes, over l labeled of all points,

  1/l Σ V(f(x), y) + γ_A ‖f‖² + γ_I fᵀLᵖf

with V the squared loss or the hinge. What needs a graph makes that of nearest
neighbours of X, or takes one with --graph; γ_I = 0 needs none. Without -X the
eigenmap classifier and the graph methods only label the points of the graph.

rls, svm, laprls and lapsvm are fitted exactly, with n² values for n points, or by
other --means: an expansion over m of the points (--landmarks m, n·m values), random
Fourier features (--features D), or for least squares conjugate gradients with the
whole kernel, which is never held, preconditioned by landmarks (matrix-free). svm
and lapsvm then have the squared hinge. What the choice of m costs is printed.
vvmr has all of these but features. Its --gamma-o joins the outputs along a graph of
them: --output-graph, or --output-neighbors of the columns of y.

--pca is for the graph; linear models and kernel machines work on X as it is. Flags about the making of a graph or of
eigenpairs (--eigs) must agree with what given ones were made with, and a flag
that the model does not use is an error.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.fit(cmd.Context(), &o, cmd.Flags()) },
	}
	f := cmd.Flags()
	f.StringVar(&o.model, "model", eigenmap.Name, "`name` of the model")
	f.StringVarP(&o.x, "points", "X", "", "`file` of the points")
	f.StringVarP(&o.y, "labels-file", "y", "", "`file` of the labels or values")
	f.BoolVar(&o.regression, "regression", false, "y holds values, not classes (default: if they are not all integers)")
	f.IntVar(&o.labels, "labels", 0, "use this many of the labels, drawn by --seed (default: all)")
	o.label.flags(f)
	f.StringVar(&o.graphFile, "graph", "", "graph `file` from bigfit graph or SciPy")
	f.StringVar(&o.eigsFile, "eigs", "", "`file` of eigenpairs from bigfit eigs or NumPy, for the eigenmap")
	o.own.flags(f)
	o.graph.flags(f)
	o.eigs.flags(f)
	f.Lookup("tolerance").Usage = "relative residual, or gap, at which a solver stops (default 1e-8; kernel machines 1e-6, vvmr 1e-10)"
	f.StringVarP(&o.out, "output", "o", "model.npz", "model `file` to write")
	f.StringVar(&o.predictions, "predictions", "", "also write the answers for all training points to this .npy `file`")
	return cmd
}

// fitSummary is what fit prints.
type fitSummary struct {
	Points int `json:"points"`
	modelSummary
	Components int `json:"components,omitempty"` // of the graph, if there was one
	Isolated   int `json:"isolated_points,omitempty"`
	measured       // on the points whose label or value was held back
}

func (s fitSummary) String() string {
	text := fmt.Sprintf("%s, %d of %d points labeled, ", s.Model, s.Labeled, s.Points)
	if len(s.Classes) > 0 {
		text += fmt.Sprintf("%d classes, ", len(s.Classes))
	}
	text += s.detail
	if s.Components > 0 {
		text += fmt.Sprintf("; %d components, %d isolated points", s.Components, s.Isolated)
	}
	if s.Unreached > 0 {
		text += fmt.Sprintf("; %d points in components without a label got ", s.Unreached)
		if s.Fallback != nil {
			text += fmt.Sprintf("class %d, the most frequent one", *s.Fallback)
		} else {
			text += "the mean value"
		}
	}
	if s.Error != nil {
		text += fmt.Sprintf("; error on the points without a label %.2f %%", *s.Error)
	}
	if s.RMSE != nil {
		text += fmt.Sprintf("; RMSE on the points without a value %.6g", *s.RMSE)
	}
	if s.MultiLabel != nil {
		text += "; of the points without labels: " + s.MultiLabel.Summary()
	}
	return text
}

func (a *app) fit(ctx context.Context, o *fitOptions, flags *pflag.FlagSet) error {
	spec, err := a.checkFit(o, flags)
	if err != nil {
		return err
	}
	t, err := a.fitTargets(o, spec, flags.Changed("regression"))
	if err != nil {
		return err
	}
	s := o.own.settings(spec, o.eigs.Laplacian, o.eigs.Tolerance, a.seed)
	src, sourceErr := a.fitSources(ctx, o, spec, s, t, flags)
	if !usable(sourceErr) {
		return sourceErr
	}
	m, fitErr := a.train(ctx, o, s, src, t)
	if !usable(fitErr) {
		return fitErr
	}
	sum := fitSummary{Points: t.n, modelSummary: summarizeModel(m)}
	if src.components != nil {
		sum.Components, sum.Isolated = src.components.Count(), src.components.Isolated()
	}
	var p *models.Prediction
	if o.predictions != "" || t.heldBack() {
		if p = trainingAnswers(m, false); p == nil {
			if p, err = a.answers(ctx, m, src.x, models.PredictSettings{}, false); err != nil {
				return err
			}
		}
		if sum.measured, err = t.measure(p); err != nil {
			return err
		}
	}
	src.hashes[hashLabels] = t.hash()
	err = a.write(ctx, func() error {
		err := m.Save(o.out, src.hashes)
		if err == nil && o.predictions != "" {
			err = writeAnswers(o.predictions, m, p)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := a.print(sum, fmt.Sprintf("%s: %s", o.out, sum)); err != nil {
		return err
	}
	return errors.Join(sourceErr, fitErr)
}

// checkFit returns the model asked for. What can be known to be wrong before
// anything is read is refused.
func (a *app) checkFit(o *fitOptions, flags *pflag.FlagSet) (*modelSpec, error) {
	spec, err := findModel(o.model)
	if err != nil {
		return nil, err
	}
	if err := spec.checkFlags(a.given); err != nil {
		return nil, err
	}
	switch {
	case spec.base.eigenmap != nil && (o.y == "" || o.x == "" && o.graphFile == "" && o.eigsFile == ""):
		return nil, usagef("fit needs labels (-y) and points (-X), a graph (--graph) or eigenpairs (--eigs)")
	case spec.base.graph != nil && (o.y == "" || o.x == "" && o.graphFile == ""):
		return nil, usagef("fit --model %s needs labels (-y) and points (-X) or a graph (--graph)", spec.name)
	case o.y == "" || o.x == "" && !spec.transductive():
		return nil, usagef("fit --model %s needs labels (-y) and points (-X)", spec.name)
	case o.labels < 0 || a.given["labels"] && o.labels == 0:
		return nil, usagef("--labels is %d; it must be at least 1", o.labels)
	}
	if err := spec.required(flags); err != nil {
		return nil, err
	}
	if err := o.own.check(spec, a.given); err != nil {
		return nil, err
	}
	s := o.eigs.Tolerance
	switch {
	case spec.uses("tolerance") && !(s >= 0 && s < 1 && (s > 0 || !a.given["tolerance"])):
		return nil, usagef("--tolerance is %v; it must be positive and less than 1", s)
	case spec.base.eigenmap == nil && spec.uses("laplacian") && o.eigs.Laplacian == sparse.RandomWalk:
		return nil, usagef("--laplacian is %v; %s needs a symmetric one, combinatorial or normalized", sparse.RandomWalk, spec.name)
	case spec.uses("kernel") && spec.uses("gamma-i") && o.own.gammaI > 0 && o.own.kernel.Kind == kernel.Precomputed && o.graphFile == "":
		return nil, usagef("--kernel precomputed gives no points to make a graph of; give it with --graph")
	}
	return spec, checkOutput([]string{o.x, o.y, o.graphFile, o.eigsFile, o.own.outputs.graph}, o.out, o.predictions)
}
