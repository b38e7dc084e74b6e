package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/work"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/models/threshold"
	"github.com/bigfit/bigfit/pipeline"
)

// predictOptions are the flags of bigfit predict.
type predictOptions struct {
	x                     shards.Names
	y, out, scores, proba string
	part                  string // of EachShard
	reject, interval      float64
	label                 shell.LabelOptions
	threshold             thresholdFlags
	settings              models.PredictSettings
}

func (a *app) predictCommand() *cobra.Command {
	var o predictOptions
	cmd := &cobra.Command{
		Use:   "predict model.npz [new.npy…] -o pred.npy",
		Short: "Predict labels or values for new points",
		Long: `Predict the class or value of every point of X, and write it to a file. New points are
the arguments after the model, or -X. Without new points the answers for the training
points are written, if the model keeps them. Classes with names are written by name.

The extension of -o and --scores chooses the format: .npy and .npz hold arrays; .csv,
.jsonl and .parquet hold tables. A table has the column id if the points have ids (--id,
--ids), else the column row, which counts from 0.

Probabilities. Tables have the columns label, p (its probability), second (the most
probable other class) and margin (the difference of the two). --proba writes the
probabilities of all classes; each row sums to 1. --reject 0.8 answers "unsure" where p
is below 0.8; an array of integers has -1 there. In a regression --interval 0.9 adds the
columns low and high of intervals that are meant to hold 90 % of the true values.

New points. --extension knn lets the nearest training points vote with the classes that
an eigenmap gave them; nystrom extends the eigenvectors by the weights of the graph.
--neighbors is the number of voters or, for a graph method, of edges of a new point.

Two classes. --threshold moves the border between them. A point is of the second class
where (s₁ − s₀)/2 ≥ t, with the scores s₀ and s₁ of the classes:

  zero        t = 0: the class with the larger score
  prior       as large a share of these points is of the second class as among the
              labels of the fit; prior:0.3 gives the share
  break-even  precision and recall are equal on labeled points that the fit held out
              (--calibrate)

--threshold-labels FILE has classes of some of the points. prior counts them, and
break-even takes them in place of the held-out labels. The threshold and what decided it
are printed.

` + work.ShardHelp,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return shell.OneArgument("the model file")(cmd, args)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			a.TakePoints(&o.x, args[1:])
			return work.EachShard(a.App, o.part, &o.x, []*string{&o.out, &o.scores, &o.proba},
				func() error { return a.predict(cmd.Context(), args[0], &o) })
		},
	}

	shell.Former(cmd, "model", "the model is the first argument: bigfit predict model.npz new.npy")
	f := cmd.Flags()
	f.VarP(&o.x, "points", "X", shell.PointsHelp+"; the points to predict")
	f.StringVarP(&o.y, "labels-file", "y", "", "`file` of the true labels or values, to print the error")
	o.label.Flags(f)
	a.Points.ColumnFlags(f)
	a.Points.LabelFlags(f)
	f.StringVar(&o.part, "part", "", "predict one file of X: its `number` from 0, env or missing")
	f.StringVarP(&o.out, "output", "o", "pred.npy", "`file` to write")
	f.StringVar(&o.scores, "scores", "", "also write the scores of all classes to this `file`")
	f.StringVar(&o.proba, "proba", "", "also write the probabilities of all classes, n×c, to this `file`")
	f.Float64Var(&o.reject, "reject", 0, "answer \"unsure\" where the class is less probable than this")
	o.threshold.flags(f)
	f.Float64Var(&o.interval, "interval", 0, "of a regression, add intervals of this `level`, as 0.9")
	shell.NameFlag(f, &o.settings.Extension, "extension",
		"how the eigenmap classifies new points")
	f.IntVarP(&o.settings.Neighbors, "neighbors", "k", 0, "nearest training points to ask (default 3 "+
		"to vote, or those of knn; of graph methods the graph's)")
	return cmd
}

type predictSummary struct {
	Model   string `json:"model"`
	Points  int    `json:"points"`
	Classes any    `json:"classes,omitempty"` // integers or names
	Labels  any    `json:"labels,omitempty"`  // of the columns, of points that may have several
	Values  any    `json:"values,omitempty"`  // names of the columns of values
	pipeline.Measured
	Unsure *int `json:"unsure,omitempty"` // points below --reject
	// Threshold that was asked for; nil if the model decided.
	Threshold *threshold.Threshold `json:"threshold,omitempty"`
	// Recall of the graph in which neighbours were searched for; nil if they are
	// exact or none were needed.
	Recall *knn.Recall `json:"recall,omitempty"`
}

func (a *app) predict(ctx context.Context, path string, o *predictOptions) error {
	if err := shell.CheckAnswers(o.x.Inputs(path, o.y, o.threshold.labels), []string{o.out, o.scores,
		o.proba}); err != nil {
		return err
	}

	switch {
	case o.settings.Neighbors < 0:
		return shell.Usagef("--neighbors is %d; it must be positive", o.settings.Neighbors)
	case a.Given["reject"] && !(o.reject > 0 && o.reject <= 1):
		return shell.Usagef("--reject is %v; it is a probability, above 0 and at most 1", o.reject)
	case a.Given["interval"] && !(o.interval > 0 && o.interval < 1):
		return shell.Usagef("--interval is %v; it is the level of intervals, between 0 and 1", o.interval)
	}

	if err := o.threshold.check(o); err != nil {
		return err
	}
	m, err := a.loadModel(path)
	if err != nil {
		return err
	}
	if err := a.checkPredict(m, o); err != nil {
		return err
	}

	// Tables have columns of probabilities by default; other formats get them only where a flag
	// asks.
	o.settings.Probabilities = o.proba != "" || o.reject > 0 || pipeline.HasProbabilities(m) &&
		table.IsTable(o.out)
	var p *models.Prediction
	var hashes pipeline.Hashes
	scores := o.scores != "" || o.threshold.settings != nil
	if len(o.x) == 0 {
		a.Points.Take(models.IDsOf(m))
		if p, err = pipeline.Training(m, scores, o.settings.Probabilities); err != nil {
			return err
		}
		if p == nil {
			return shell.Usagef("%s is a %s model, which does not keep its training points' answers; "+
				"give points with -X", path, m.Name())
		}
	} else {
		a.Points.Expect(m)
		x, err := a.ReadPoints(o.x, data.ReadOptions{Columns: m.Dim()})
		if err != nil {
			return err
		}
		hashes = shell.AnswerHashes(x, o.out, o.scores, o.proba)
		if p, err = a.Pipeline().Predict(ctx, m, x, o.settings, scores); err != nil {
			return err
		}
	}

	// A threshold changes the classes, so it comes before anything is measured or written.
	moved, err := o.threshold.apply(a, m, p, o.label)
	if err != nil {
		return err
	}
	output := m.Output()
	sum := predictSummary{Model: m.Name(), Points: p.Len(), Recall: p.Recall, Threshold: moved}
	switch {
	case output.Labels != nil:
		sum.Labels = data.ClassList(output.Labels, output.Names)
	case output.Kind == models.OutputValues:
		sum.Values = data.ClassList(nil, output.Names)
	default:
		sum.Classes = data.ClassList(output.Classes, output.Names)
	}
	if o.y != "" || a.Points.Label != "" {
		if sum.Measured, err = a.compare(m, p, o); err != nil {
			return err
		}
	}

	answers, err := pipeline.AnswersTo(o.out, m, p, o.reject, o.interval)
	if err != nil {
		return err
	}
	answers.Settings.Threshold = moved
	if o.reject > 0 {
		count := pipeline.ConfidenceOf(p).Rejected(o.reject)
		sum.Unsure = &count
	}

	// All files are written as one step, so that an interrupt leaves them complete or absent.
	err = a.Write(ctx, func() error {
		err := a.WriteAnswers(o.out, answers, hashes)
		if err == nil && o.scores != "" {
			err = a.WriteAnswers(o.scores, pipeline.ScoreAnswers(m, p), hashes)
		}
		if err == nil && o.proba != "" {
			err = a.WriteAnswers(o.proba, pipeline.ProbabilityAnswers(m, p), hashes)
		}
		return err
	})
	if err != nil {
		return err
	}
	return a.Print(sum, fmt.Sprintf("%s: %s", o.out, sum.text(output)))
}

// text is the summary as a line.
func (s predictSummary) text(o models.Output) string {
	what := o.Kind.String()
	if o.Kind == models.OutputLabels {
		what = fmt.Sprintf("scores of %d labels", len(o.Labels))
	}
	text := fmt.Sprintf("%s of %d points", what, s.Points)
	if s.Error != nil {
		text += fmt.Sprintf("; error %.2f %%", *s.Error)
	}
	if s.RMSE != nil {
		text += fmt.Sprintf("; RMSE %.6g", *s.RMSE)
	}
	if s.MultiLabel != nil {
		text += "; " + s.MultiLabel.Summary()
	}
	if s.Threshold != nil {
		text += fmt.Sprintf("; %v", s.Threshold)
	}
	if s.Unsure != nil {
		text += fmt.Sprintf("; %d unsure", *s.Unsure)
	}
	if s.Recall != nil {
		text += fmt.Sprintf("; approximate neighbours from a graph with recall %s", s.Recall)
	}
	return text
}

// loadModel reads a model as a stage.
func (a *app) loadModel(path string) (models.Model, error) {
	st := a.Progress.Stage("model")
	a.Reads("model", path)
	m, _, err := all.Load(path, int64(a.Memory))
	if err != nil {
		return nil, err
	}
	st.Done(fmt.Sprintf("%s: %s", path, summary.Of(m)))
	return m, nil
}

// checkPredict returns an error if flags are not for the model.
func (a *app) checkPredict(m models.Model, o *predictOptions) error {
	if o.threshold.settings != nil {
		if err := threshold.Check(m); err != nil {
			return shell.Usagef("--threshold: %v", err)
		}
	}

	output := m.Output()
	switch {
	case a.Given["extension"] && !output.Extends:
		return shell.Usagef("--extension is not for %s, which does not extend eigenvectors", m.Name())
	case a.Given["neighbors"] && !output.Searches:
		return shell.Usagef("--neighbors is not for %s, which does not look for neighbours", m.Name())
	case o.scores != "" && output.Kind != models.OutputClasses:
		return shell.Usagef("--scores is for classes; %s answers with numbers, which are written to %s",
			m.Name(), o.out)
	case (o.proba != "" || o.reject > 0) && output.Kind != models.OutputClasses:
		return shell.Usagef("--proba and --reject are for classes, and %s answers with %v", m.Name(),
			output.Kind)
	case (o.proba != "" || o.reject > 0) && !pipeline.HasProbabilities(m):
		return noProbabilities()
	case o.interval > 0 && output.Kind != models.OutputValues:
		return shell.Usagef("--interval is for values, and %s answers with %v", m.Name(), output.Kind)
	case o.interval > 0 && models.CalibrationOf(m) == nil:
		return fmt.Errorf("the model has no intervals; fit it again with --calibrate %d",
			selection.CalibrationFolds(math.MaxInt))
	case o.interval > 0 && table.IsSingle(o.out):
		return shell.Usagef("%s: the file holds one array, and with --interval there are three; write %s",
			o.out, enum.Or(table.Several))
	case o.label.Unlabeled != nil && output.Kind != models.OutputClasses:
		return shell.Usagef("--unlabeled is for classes; of values NaN marks points without one")
	}

	return nil
}

// noProbabilities is the error that a model of classes was not calibrated.
func noProbabilities() error {
	return fmt.Errorf("the model has no probabilities; fit it again with --calibrate %d",
		selection.CalibrationFolds(math.MaxInt))
}

// compare measures p against the truth.
func (a *app) compare(m models.Model, p *models.Prediction, o *predictOptions) (pipeline.Measured, error) {
	n, classes := p.Len(), m.Output().Classes
	if classes == nil {
		truth, labels, err := a.NumbersFor(m, o.y, n)
		if err != nil {
			return pipeline.Measured{}, err
		}
		rows, cols := truth.Dims()
		if _, have := p.Scores.Dims(); rows != n || cols != have {
			return pipeline.Measured{}, fmt.Errorf("%s has %d×%d values for %d points of %d", o.y, rows,
				cols, n, have)
		}
		measured, err := pipeline.MeasureValues(truth, p.Scores, labels)
		return measured.Named(m.Output().Names), err
	}

	label := o.label
	if label.Unlabeled == nil && slices.Contains(classes, -1) {
		label.Unlabeled = []string{"none"} // -1 is a class of the model
	}
	truth, err := label.ReadTruth(a.App, o.y, n)
	if err != nil {
		return pipeline.Measured{}, err
	}
	if truth.Len() != n {
		return pipeline.Measured{}, fmt.Errorf("%s has %d labels for %d points", o.y, truth.Len(), n)
	}
	if truth, err = pipeline.CompareClasses(truth, m.Output(), o.y); err != nil {
		return pipeline.Measured{}, err
	}

	// Without a single labeled point the rate is 0/0.
	if e := 100 * metrics.ErrorRate(p.Classes, truth, nil); !math.IsNaN(e) {
		return pipeline.Measured{Error: &e}, nil
	}
	return pipeline.Measured{}, nil
}
