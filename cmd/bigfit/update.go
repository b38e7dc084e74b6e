package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

// updateOptions are the flags of bigfit update.
type updateOptions struct {
	x                   shards.Names
	y, out, predictions string
	label               shell.LabelOptions
	tolerance           float64
}

func (a *app) updateCommand() *cobra.Command {
	var o updateOptions
	cmd := &cobra.Command{
		Use:   "update model.npz night.npy… -o model2.npz",
		Short: "Add points and labels to a fitted model",
		Long: fmt.Sprintf(`Fit a model again to the points and labels it was fitted to and those of X and y,
with the same settings, at a cost that depends on what is new: the new points are
searched for their neighbours, the lists of old points that they enter are mended,
and the solver begins with the scores or eigenvectors of the model. It is for
eigenmap, harmonic, lgc, tikhonov, poisson and reweighted, for knn and geodesic, and for
auto, which keeps the models and the weights that it chose.

y holds the labels of the new points, or those of all points, the old ones first,
which then replace the labels that the model was fitted with. A class that the model
does not know is a new one. Without -X the labels are those of all old points.

With an exact search for neighbours the graph is that of all points made anew with
the same number of neighbours and t; after nn-descent its recall is printed. The
solver stops at the relative residual --tolerance, %v unless the model's is larger:
enough for the classes. Give the tolerance of the model for the values of a fit anew.

Principal components (--pca), γ and the number of eigenvectors stay those of the
model. A fit anew from time to time renews them.`, pipeline.UpdateTolerance),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return shell.OneArgument("the model file")(cmd, args)
			}
			a.TakePoints(&o.x, args[1:])
			return a.update(cmd.Context(), args[0], &o)
		},
	}

	f := cmd.Flags()
	f.VarP(&o.x, "points", "X", "`file` of the new points; may be repeated")
	f.StringVarP(&o.y, "labels-file", "y", "",
		"`file` of the labels or values of the new points, or of all points")
	o.label.Flags(f)
	f.Float64Var(&o.tolerance, "tolerance", 0,
		fmt.Sprintf("relative residual at which the solver stops (default: the model's, at least %v)",
			pipeline.UpdateTolerance))
	f.StringVarP(&o.out, "output", "o", "model2.npz", "model `file` to write")
	f.StringVar(&o.predictions, "predictions", "",
		"also write the answers for all points to this `file`, in the format of its extension")
	return cmd
}

func (a *app) update(ctx context.Context, path string, o *updateOptions) error {
	switch {
	case len(o.x) == 0 && o.y == "":
		return shell.Usagef("update needs new points (-X), new labels (-y) or both")
	case a.Given["tolerance"] && !(o.tolerance > 0 && o.tolerance < 1):
		return shell.Usagef("--tolerance is %v; it must lie between 0 and 1", o.tolerance)
	}

	if err := shell.CheckAnswers(o.x.Inputs(path, o.y), []string{o.predictions}, o.out); err != nil {
		return err
	}
	st := a.Progress.Stage("model")
	m, mf, err := all.Load(path, int64(a.Memory))
	if err != nil {
		return err
	}
	st.Done(fmt.Sprintf("%s: %s", path, summary.Of(m)))
	// A clustering or an embedding has no learner, so it cannot be fitted again.
	l := all.Learner(m.Name())
	if l == nil {
		return fmt.Errorf("%s: a %s model takes no points or labels; make it anew", path, m.Name())
	}

	growth, hashes, err := a.readGrowth(o, m, mf)
	if err != nil {
		return err
	}
	// The solver starts from the answers of the old model.
	u, short := a.Pipeline().Update(ctx, l, m, growth)
	if !models.Usable(short) {
		return fmt.Errorf("%s: %w", path, short)
	}
	if g := u.Input.Graph; g != nil {
		hashes[pipeline.HashGraph] = data.HashPoints(g.W)
	}

	err = a.Write(ctx, func() error {
		err := models.Save(o.out, u.Model, hashes, a.Files)
		if err != nil || o.predictions == "" {
			return err
		}
		p, err := pipeline.Training(u.Model, false, false)
		if p != nil {
			answers := pipeline.PredictionAnswers(u.Model, p)
			answers.Hashes = hashes
			answers.Files = a.Files
			err = answers.Write(o.predictions) // ids of the old points are not known
		}

		return err
	})
	if err != nil {
		return err
	}

	s := updateSummary{summary.Fit{Model: summary.Of(u.Model), Points: u.Old + u.New}, u}
	return errors.Join(short, a.Print(s, fmt.Sprintf("%s: %s; %s", o.out, u, s.Fit)))
}

// readGrowth reads what joins the model.
func (a *app) readGrowth(o *updateOptions, m models.Model, mf *models.Manifest) (*pipeline.Growth,
	pipeline.Hashes, error) {
	growth := &pipeline.Growth{Tolerance: o.tolerance}
	hashes := pipeline.Hashes{}
	var err error
	if len(o.x) > 0 {
		if growth.Points, err = a.ReadMore("new points", o.x,
			data.ReadOptions{Columns: m.Dim()}); err != nil {
			return nil, nil, err
		}
		// The same points twice would double their weight in every neighbourhood, which is rarely
		// meant.
		hashes["new points"] = data.HashPoints(growth.Points)
		if hashes["new points"] == mf.Hashes[pipeline.HashPoints] ||
			hashes["new points"] == mf.Hashes["new points"] {
			a.Note("warning: %s holds the points that the model was fitted with already; they will count "+
				"twice", o.x)
		}
	}

	// Headers tell whether labels are for the new points or for all, before they are read.
	if u, ok := models.Unnamed(m).(models.Updater); ok && o.y != "" && u.Kept().Points != nil {
		old, _ := u.Kept().Points.Dims()
		counts := []int{old}
		if growth.Points != nil {
			added, _ := growth.Points.Dims()
			counts = []int{added, old + added}
		}
		if err := data.CheckRows(o.y, counts...); err != nil {
			return nil, nil, err
		}
	}

	switch {
	case o.y == "":
	case m.Output().Kind == models.OutputClasses:
		growth.Labels, err = o.label.ReadTruth(a.App, o.y, 0)
	default:
		growth.Values, err = data.ReadValues(o.y, data.ReadOptions{Limit: a.Left()})
	}

	return growth, hashes, err
}

// updateSummary is the output of update.
type updateSummary struct {
	summary.Fit
	u *pipeline.Updated
}

// MarshalJSON writes one object.
func (s updateSummary) MarshalJSON() ([]byte, error) {
	out := s.All()
	out["new_points"] = s.u.New
	out["new_labels"] = s.u.NewLabels
	if s.u.NewClasses != nil {
		out["new_classes"] = data.ClassList(s.u.NewClasses, s.u.NewNames)
	}
	if r := s.u.Recall(); r != nil {
		out["recall"] = r
	}
	return json.Marshal(out)
}
