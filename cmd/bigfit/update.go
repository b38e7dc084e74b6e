package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

// updateOptions are the flags of bigfit update.
type updateOptions struct {
	x         shards.Names
	y, forget string
	graph     string

	out, predictions, proba string
	label                   shell.LabelOptions
	soft                    shell.SoftOptions
	tolerance               float64
}

func (a *app) updateCommand() *cobra.Command {
	var o updateOptions
	cmd := &cobra.Command{
		Use:   "update model.npz [night.npy…] [-y labels.csv] -o model2.npz",
		Short: "Add points and labels to a fitted model",
		Long: fmt.Sprintf(`Add points and labels to a model, or take them away, with the same settings.
The cost depends on what is new: new points are searched for their neighbours, the lists
of old points that they enter are mended, and the solver starts from the scores or
eigenvectors of the model. It works for eigenmap, harmonic, lgc, tikhonov, poisson,
poisson-mbo, cut and reweighted, for knn, geodesic and correct-and-smooth, and for auto,
which keeps the models and the weights that it chose.

A table in -y joins labels to old and new points, by id (column id) or by number (column
row, the old points first). A label is new, changed or equal; an empty one takes the label
of the point away. bigfit next writes such a table. A file with one label a point holds
the labels of the new points, or of all points in place of the labels of the fit. A class
may be new. If the points of the model have ids, new points need ids too (--ids, --id).

Labels of several annotators (a column annotator) join those that the model keeps, and
their consensus is found again. Probabilities join probabilities (bigfit help soft).

A model that was fitted to a graph without points takes labels, with its --graph.

--forget FILE takes points away, by id or row. They leave the graph, the labels and the
answers, and the graph of the other points is made anew.

With an exact search the graph is the one that a fit of all points would make, with the
same number of neighbours and t. After nn-descent the recall is printed. The solver stops
at the relative residual --tolerance, %v unless the model's is larger. That is enough
for the classes; for the values of a new fit give the tolerance of the model.

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
		"`file` of labels or values: a table with ids, or one for each new point, or for all points")
	o.label.Flags(f)
	o.soft.Flags(f, false)
	a.Points.ColumnFlags(f)
	a.Points.LabelFlags(f)
	f.StringVar(&o.graph, "graph", "", "`file` of the graph, for a model that was fitted to one without points")
	f.StringVar(&o.forget, "forget", "", "`file` of the ids, or rows, of points to take away")
	f.Float64Var(&o.tolerance, "tolerance", 0,
		fmt.Sprintf("relative residual at which the solver stops (default: the model's, at least %v)",
			pipeline.UpdateTolerance))
	f.StringVarP(&o.out, "output", "o", "model2.npz", "model `file` to write")
	f.StringVar(&o.predictions, "predictions", "",
		"also write the answers for all points to this `file`, in the format of its extension")
	f.StringVar(&o.proba, "proba", "",
		"also write the probabilities of all classes for all points, n×c, to this `file`")
	return cmd
}

func (a *app) update(ctx context.Context, path string, o *updateOptions) error {
	switch {
	case len(o.x) == 0 && o.y == "" && o.forget == "":
		return shell.Usagef("update needs new points (-X), labels (-y) or points to take away (--forget)")
	case o.y != "" && a.Points.Label != "":
		return shell.Usagef("-y and --label both say where the labels are; give one of them")
	case a.Points.Label != "" && len(o.x) == 0:
		return shell.Usagef("--label names a column of the new points; give them with -X")
	case a.Given["tolerance"] && !(o.tolerance > 0 && o.tolerance < 1):
		return shell.Usagef("--tolerance is %v; it must lie between 0 and 1", o.tolerance)
	}

	if err := o.soft.Check(); err != nil {
		return err
	}
	if err := shell.CheckAnswers(o.x.Inputs(path, o.y, o.forget, o.graph), []string{o.predictions, o.proba}, o.out); err != nil {
		return err
	}
	st := a.Progress.Stage("model")
	a.Reads("model", path)
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

	growth, hashes, err := a.readGrowth(path, o, m, mf)
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

	var answers, sure *pipeline.Answers
	if o.predictions != "" {
		if answers, err = updatedAnswers(u.Model, o.predictions); err != nil {
			return err
		}
	}
	if o.proba != "" {
		if sure, err = updatedProbabilities(u.Model); err != nil {
			return err
		}
	}
	err = a.Write(ctx, func() error {
		err := models.Save(o.out, u.Model, hashes, a.Files)
		for path, what := range map[string]*pipeline.Answers{o.predictions: answers, o.proba: sure} {
			if err == nil && what != nil {
				what.Hashes = hashes
				what.Files = a.Files
				what.CSVSafe = a.CSVSafe
				err = what.Write(path)
			}
		}
		return err
	})
	if err != nil {
		return err
	}

	if c := models.ConsensusOf(u.Model); c != nil && growth.Answers != nil {
		a.SayConsensus(c)
	}
	s := updateSummary{summary.Fit{Model: summary.Of(u.Model), Points: u.Old + u.New}, u}
	return errors.Join(short, a.Print(s, fmt.Sprintf("%s: %s; %s", o.out, u, s.Fit)))
}

// updatedAnswers returns the answers for all points of an updated model, with their ids, for a file
// of the given name. A model that keeps no answers for its points is an error.
func updatedAnswers(m models.Model, path string) (*pipeline.Answers, error) {
	p, err := pipeline.Training(m, false, pipeline.HasProbabilities(m) && table.IsTable(path))
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, keepsNoAnswers("predictions", m)
	}
	answers, err := pipeline.AnswersTo(path, m, p, 0, 0)
	answers.IDs = models.IDsOf(m)
	return &answers, err
}

// updatedProbabilities returns the probabilities of all points of an updated model, with their ids.
func updatedProbabilities(m models.Model) (*pipeline.Answers, error) {
	if !pipeline.HasProbabilities(m) {
		return nil, noProbabilities()
	}
	p, err := pipeline.Training(m, false, true)
	if err != nil {
		return nil, err
	}
	if p == nil {
		return nil, keepsNoAnswers("proba", m)
	}
	answers := pipeline.ProbabilityAnswers(m, p)
	answers.IDs = models.IDsOf(m)
	return &answers, nil
}

// keepsNoAnswers is the error that a flag needs the answers for the training points.
func keepsNoAnswers(flag string, m models.Model) error {
	return shell.Usagef("--%s: a %s model keeps no answers for its points; ask for them with bigfit predict",
		flag, m.Name())
}

// readGrowth reads what joins the model, and what leaves it.
func (a *app) readGrowth(path string, o *updateOptions, m models.Model, mf *models.Manifest) (*pipeline.Growth,
	pipeline.Hashes, error) {
	growth := &pipeline.Growth{Tolerance: o.tolerance}
	hashes := pipeline.Hashes{}
	var err error
	if o.graph != "" {
		g, err := a.GivenGraph(o.graph, nil, &pipeline.GraphSettings{})
		if err != nil {
			return nil, nil, err
		}
		if err := pipeline.Hashes(mf.Hashes).Agree(pipeline.HashGraph, data.HashPoints(g.W), path, o.graph); err != nil {
			return nil, nil, err
		}
		growth.Graph = &g.Graph
	}
	if len(o.x) > 0 {
		a.Points.Expect(m)
		if growth.Points, err = a.ReadMore("new points", o.x,
			data.ReadOptions{Columns: m.Dim()}); err != nil {
			// A table of labels is easily given in the place of points.
			if o.y == "" && len(o.x) == 1 && errors.Is(err, data.ErrColumns) {
				err = fmt.Errorf("%w; labels are given by -y: -y %s", err, o.x)
			}
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
		if growth.IDs, err = a.Points.Identify(a.App); err != nil {
			return nil, nil, err
		}
	}

	added := 0
	if growth.Points != nil {
		added, _ = growth.Points.Dims()
	}
	names, err := pipeline.AppendIDs(models.IDsOf(m), growth.IDs, added)
	if err != nil {
		return nil, nil, err
	}
	old := 0
	if u, ok := models.Unnamed(m).(models.Updater); ok && u.Kept().Points != nil {
		old, _ = u.Kept().Points.Dims()
	} else if growth.Graph != nil {
		old = growth.Graph.W.Rows
	}
	if o.forget != "" {
		a.Reads("forgotten", o.forget)
		growth.Forget, err = data.ReadRows(o.forget, models.IDsOf(m), old, data.ReadOptions{Limit: a.Left()})
		if err != nil {
			return nil, nil, err
		}
		growth.Forget = slices.Compact(growth.Forget)
	}
	return growth, hashes, a.readNewLabels(o, m, growth, old, names)
}

// readNewLabels reads the labels or values for an update of a model of old points. ids name all
// points, nil if they have numbers only.
func (a *app) readNewLabels(o *updateOptions, m models.Model, growth *pipeline.Growth, old int,
	ids *data.IDs) error {
	if o.y == "" && a.Points.Label == "" {
		return nil
	}
	added := 0
	if growth.Points != nil {
		added, _ = growth.Points.Dims()
	}

	// Headers tell whether labels are for the new points or for all, before they are read. A table
	// with ids or rows may name any point.
	points := old + added
	if o.y == "" || added > 0 && data.Rows(o.y) == added {
		points = added
	}
	counts := []int{old + added}
	if added > 0 {
		counts = []int{added, old + added}
	}
	if o.y != "" && old > 0 {
		if err := data.CheckRows(o.y, counts...); err != nil {
			return err
		}
	}
	a.Points.Names = nil
	if points == old+added {
		a.Points.Names = ids
	} else {
		a.Points.Names = growth.IDs
	}

	if m.Output().Kind != models.OutputClasses {
		file := &data.LabelFile{}
		var err error
		growth.Values, err = a.ValuesFor(m, o.y, points, file)
		a.Notes(file.Notes...)
		a.Warn(file.Warnings...)
		growth.Joined, growth.Listed = file.Joined && points == old+added, file.Listed
		return err
	}
	// A table of annotators names any point; probabilities are for the new points or for all.
	if o.soft.Crowd(a.App, o.y) {
		a.Points.Names = ids
		var err error
		growth.Answers, err = o.label.ReadCrowd(a.App, o.y, old+added)
		return err
	}
	shares, err := o.soft.ReadShares(a.App, &o.label, o.y, points)
	if err != nil {
		return err
	}
	if shares != nil {
		growth.Shares = shares
		growth.Joined, growth.Listed = shares.Read.Joined && points == old+added, shares.Read.Listed
		return nil
	}
	y, err := o.label.ReadSaid(a.App, o.y, points)
	if err != nil {
		return err
	}
	growth.Labels = y
	growth.Joined, growth.Listed = y.Read.Joined && points == old+added, y.Read.Listed
	a.warnOfAnswers(o.y, m, growth)
	return nil
}

// fewAnswers is the number of labels from which on it is no chance that a model has the same answers.
const fewAnswers = 10

// warnOfAnswers warns if all labels for points without a label are what the model answers: the
// file may be a list of points to label that nobody has labeled.
func (a *app) warnOfAnswers(path string, m models.Model, growth *pipeline.Growth) {
	t, ok := m.(models.Trained)
	if !ok || !growth.Joined {
		return
	}
	o := m.Output()
	answers := t.Training(false).Classes
	y := growth.Labels.Recode(o.Classes, o.Names)
	known := make([]bool, len(answers))
	if before := pipeline.KeptTargets(m); before != nil {
		for _, i := range before.Labeled {
			known[i] = true
		}
	}

	count := 0
	for _, i := range growth.Listed {
		if i >= len(answers) || known[i] || y.Index[i] == data.Unlabeled {
			continue
		}
		if y.Index[i] != answers[i] {
			return
		}
		count++
	}
	if count >= fewAnswers {
		a.Warn(fmt.Sprintf("%s: all %d labels for points without one are what the model answers itself; if "+
			"nobody has checked them, they teach it nothing", path, count))
	}
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
	out["changed_labels"] = s.u.Changed
	out["equal_labels"] = s.u.Equal
	out["removed_labels"] = s.u.Removed
	out["forgotten_points"] = s.u.Forgotten
	if s.u.NewClasses != nil {
		out["new_classes"] = data.ClassList(s.u.NewClasses, s.u.NewNames)
	}
	if r := s.u.Recall(); r != nil {
		out["recall"] = r
	}
	return json.Marshal(out)
}
