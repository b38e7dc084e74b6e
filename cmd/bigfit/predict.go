package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/cluster"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/models/propagation"
)

// predictOptions are the flags of bigfit predict.
type predictOptions struct {
	x, y, out, scores string
	label             labelOptions
	settings          models.PredictSettings
}

func (a *app) predictCommand() *cobra.Command {
	var o predictOptions
	cmd := &cobra.Command{
		Use:   "predict model.npz -X new.npy -o pred.npy",
		Short: "Answer for points with a fitted model",
		Long: `Write the class of every point of X as a .npy file of int64, or its value as one
of float64 if the model is a regression. Without -X the answers for the training
points are written, which the eigenmap classifier and the graph methods keep.

For new points those two look at the nearest training points: --extension knn
lets them vote with the classes that the eigenmap classifier gave them; nystrom
extends the eigenvectors to the new points through the weights of the graph and
applies the classifier. --neighbors is how many vote, or of a graph method how
many edges a new point has.`,
		Args: oneArgument("the model file"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.predict(cmd.Context(), args[0], &o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.x, "points", "X", "", "`file` of the points to answer for")
	f.StringVarP(&o.y, "labels-file", "y", "", "`file` of the true labels or values, to print the error")
	o.label.flags(f)
	f.StringVarP(&o.out, "output", "o", "pred.npy", "`file` to write")
	f.StringVar(&o.scores, "scores", "", "also write the scores of all classes to this .npy `file`")
	nameFlag(f, &o.settings.Extension, "extension", "how the eigenmap classifies new points: knn, nystrom")
	f.IntVarP(&o.settings.Neighbors, "neighbors", "k", 0, "nearest training points to ask (default 3 to vote, or those of knn; of graph methods the graph's)")
	return cmd
}

type predictSummary struct {
	Model   string  `json:"model"`
	Points  int     `json:"points"`
	Classes []int64 `json:"classes,omitempty"`
	Labels  []int64 `json:"labels,omitempty"` // of the columns, of points that may have several
	measured
	// Recall of the graph in which neighbours were searched for; nil if they are
	// exact or none were needed.
	Recall *knn.Recall `json:"recall,omitempty"`
}

func (a *app) predict(ctx context.Context, path string, o *predictOptions) error {
	if err := checkOutput([]string{path, o.x, o.y}, o.out, o.scores); err != nil {
		return err
	}
	if o.settings.Neighbors < 0 {
		return usagef("--neighbors is %d; it must be positive", o.settings.Neighbors)
	}
	st := a.progress.Stage("model")
	m, _, err := all.Load(path, int64(a.memory))
	if err != nil {
		return err
	}
	st.Done(fmt.Sprintf("%s: %s", path, describeModel(m)))
	if err := a.checkPredict(m, o); err != nil {
		return err
	}
	var p *models.Prediction
	if o.x == "" {
		if p = trainingAnswers(m, o.scores != ""); p == nil {
			return usagef("%s is a %s model, which does not keep its training points' answers; give points with -X", path, m.Name())
		}
	} else if p, err = a.predictPoints(ctx, m, o); err != nil {
		return err
	}
	sum := predictSummary{Model: m.Name(), Points: answered(p), Classes: m.Outcomes(), Recall: p.Recall}
	if o.y != "" {
		if sum.measured, err = a.compare(m, p, o); err != nil {
			return err
		}
	}
	err = a.write(ctx, func() error {
		err := writeAnswers(o.out, m, p)
		if err == nil && o.scores != "" {
			err = writeMatrix(o.scores, p.Scores)
		}
		return err
	})
	if err != nil {
		return err
	}
	what := "classes"
	if sum.Classes == nil {
		what = "values"
	}
	if v, ok := m.(*kernelmachine.VVMR); ok && v.Labels != nil {
		what, sum.Labels = fmt.Sprintf("scores of %d labels", len(v.Labels)), v.Labels
	}
	text := fmt.Sprintf("%s: %s of %d points", o.out, what, sum.Points)
	if sum.Error != nil {
		text += fmt.Sprintf("; error %.2f %%", *sum.Error)
	}
	if sum.RMSE != nil {
		text += fmt.Sprintf("; RMSE %.6g", *sum.RMSE)
	}
	if sum.MultiLabel != nil {
		text += "; " + sum.MultiLabel.Summary()
	}
	if p.Recall != nil {
		text += fmt.Sprintf("; approximate neighbours from a graph with recall %s", p.Recall)
	}
	return a.print(sum, text)
}

// checkPredict returns an error if flags are not for the model.
func (a *app) checkPredict(m models.Model, o *predictOptions) error {
	_, extends := m.(*eigenmap.Model)
	_, graph := m.(*propagation.Model)
	_, vote := m.(*nearest.Model)
	switch {
	case a.given["extension"] && !extends:
		return usagef("--extension is not for %s, but for %s", m.Name(), eigenmap.Name)
	case a.given["neighbors"] && !extends && !graph && !vote:
		return usagef("--neighbors is not for %s, which does not look for neighbours", m.Name())
	case o.scores != "" && m.Outcomes() == nil:
		return usagef("--scores is for classes; the numbers that %s answers with are what is written to %s", m.Name(), o.out)
	case o.label.unlabeled != "" && m.Outcomes() == nil:
		return usagef("--unlabeled is for classes; of values NaN marks points without one")
	}
	return nil
}

// predictPoints reads and answers for new points.
func (a *app) predictPoints(ctx context.Context, m models.Model, o *predictOptions) (*models.Prediction, error) {
	columns, bytes := asked(m, o.settings.Neighbors)
	x, err := a.readPoints(o.x, data.ReadOptions{Columns: columns})
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	outputs, kept := int64(len(m.Outcomes())), o.scores != ""
	if v, ok := m.(*kernelmachine.VVMR); ok {
		_, columns := v.Coefficients.Dims()
		outputs, kept = int64(columns), true
	}
	bytes += int64(min(n, answerBatch)) * 8 * (int64(d) + outputs)
	if kept {
		bytes += 8 * int64(n) * outputs
	}
	if err := a.need("prediction", bytes+4*int64(n), 0, "split the new points over several files"); err != nil {
		return nil, err
	}
	return a.answers(ctx, m, x, o.settings, o.scores != "")
}

// asked returns the number of columns of points that m answers for, and about
// the memory that it takes to answer for a batch of them, beside the batch.
func asked(m models.Model, neighbors int) (columns int, bytes int64) {
	search := func(points data.Points, pca *data.PCA, method knn.Method, metric knn.Metric, k int) {
		if points == nil {
			return
		}
		_, columns = points.Dims()
		if pca != nil {
			columns = len(pca.Mean)
		}
		bytes = knn.IndexBytes(points, method, metric, 0) + 16*answerBatch*int64(max(neighbors, k, 3))
	}
	expansion := func(points data.Points, coefficients *mat.Dense) {
		size, _ := coefficients.Dims()
		if columns = size; points != nil { // not of a precomputed kernel
			_, columns = points.Dims()
		}
		bytes = 8 * int64(size) * int64(256+columns)
	}
	switch m := m.(type) {
	case *eigenmap.Model:
		search(m.Points, m.PCA, m.Method, m.Metric, m.Graph.K)
	case *propagation.Model:
		search(m.Points, m.PCA, m.Search, m.Metric, m.Edges.K)
	case *linear.Model:
		columns, _ = m.Coefficients.Dims()
	case *linear.TSVM:
		columns, _ = m.Coefficients.Dims()
	case *nearest.Model:
		search(m.Points, nil, m.Settings.Method, m.Settings.Metric, m.Settings.Vote)
	case *kernelmachine.TSVM:
		expansion(m.Points, m.Coefficients)
	case *kernelmachine.Machine:
		expansion(m.Points, m.Coefficients)
	case *kernelmachine.Approximate:
		if m.Frequencies == nil {
			expansion(m.Points, m.Coefficients)
			break
		}
		var half int
		columns, half = m.Frequencies.Dims()
		bytes = 8 * featureRows * int64(columns+3*half)
	case *eigenfunction.Model:
		expansion(m.Points, m.Coefficients)
	case *kernelmachine.VVMR:
		expansion(m.Points, m.Coefficients)
	case *cluster.Spectral:
		expansion(m.Points, m.Coefficients)
	case *eigenmap.Embedding:
		search(m.Points, m.PCA, m.Settings.Method, m.Settings.Metric, m.Settings.Graph.K)
	}
	return columns, bytes
}

// featureRows is the number of points whose Fourier features are held at once.
const featureRows = 2048

// answerBatch is the number of points answered for at once.
const answerBatch = 1 << 14

// answers predicts in batches, as a stage; the scores of classes are kept only if
// asked for.
func (a *app) answers(ctx context.Context, m models.Model, x data.Points, s models.PredictSettings, scores bool) (*models.Prediction, error) {
	st := a.progress.Stage("predict")
	n, _ := x.Dims()
	out := &models.Prediction{}
	var kept []float64
	columns := 0
	for lo := 0; lo < n; lo += answerBatch {
		hi := min(lo+answerBatch, n)
		s.OnProgress = func(done, _ int) { st.Update(float64(lo+done), float64(n), "") }
		batch := x
		if hi-lo < n {
			rows := make([]int, hi-lo)
			for i := range rows {
				rows[i] = lo + i
			}
			batch = data.Select(x, rows)
		}
		p, err := m.Predict(ctx, batch, &s)
		if err != nil {
			return nil, err
		}
		out.Classes, out.Recall = append(out.Classes, p.Classes...), p.Recall
		if scores || p.Classes == nil {
			for i := range hi - lo {
				kept = append(kept, p.Scores.RawRowView(i)...)
			}
			_, columns = p.Scores.Dims()
		}
	}
	if columns > 0 {
		out.Scores = mat.NewDense(n, columns, kept)
	}
	text := fmt.Sprintf("%d points", n)
	if _, ok := m.(*eigenmap.Model); ok {
		text += fmt.Sprintf(", %s extension", s.Extension)
	}
	st.Done(text)
	return out, nil
}

// trainingAnswers returns what a model says about its training points, nil if it
// does not keep that; the scores of classes where they are asked for.
func trainingAnswers(m models.Model, scores bool) *models.Prediction {
	switch m := m.(type) {
	case *eigenmap.Model:
		p := &models.Prediction{Classes: m.Labels}
		if scores {
			p.Scores = m.Scores(m.Vectors, len(m.Labels))
		}
		return p
	case *propagation.Model:
		return &models.Prediction{Classes: m.Labels, Scores: m.Scores}
	}
	return nil
}

// answered returns the number of points that p answers for.
func answered(p *models.Prediction) int {
	if p.Classes != nil {
		return len(p.Classes)
	}
	n, _ := p.Scores.Dims()
	return n
}

// writeAnswers writes the classes, or the values of a regression: a vector, or a
// matrix if there are several a point.
func writeAnswers(path string, m models.Model, p *models.Prediction) error {
	if m.Outcomes() != nil {
		return npy.WriteFile(path, nil, values(p.Classes, m.Outcomes()))
	}
	return writeMatrix(path, p.Scores)
}

// writeMatrix writes a matrix, as a vector if it has one column.
func writeMatrix(path string, x *mat.Dense) error {
	r := x.RawMatrix()
	shape := []int{r.Rows, r.Cols}
	if r.Cols == 1 {
		shape = shape[:1]
	}
	return npy.WriteFile(path, shape, r.Data)
}

// compare measures p against the truth.
func (a *app) compare(m models.Model, p *models.Prediction, o *predictOptions) (measured, error) {
	n := answered(p)
	if m.Outcomes() == nil {
		truth, labels, err := a.numbersFor(m, o.y)
		if err != nil {
			return measured{}, err
		}
		rows, cols := truth.Dims()
		if _, have := p.Scores.Dims(); rows != n || cols != have {
			return measured{}, fmt.Errorf("%s has %d×%d values for %d points of %d", o.y, rows, cols, n, have)
		}
		return measureValues(truth, p.Scores, labels)
	}
	label := o.label
	if label.unlabeled == "" && slices.Contains(m.Outcomes(), -1) {
		label.unlabeled = "none" // -1 is a class of the model
	}
	truth, err := label.read(a, o.y)
	if err != nil {
		return measured{}, err
	}
	if truth.Len() != n {
		return measured{}, fmt.Errorf("%s has %d labels for %d points", o.y, truth.Len(), n)
	}
	if e := errorRate(p.Classes, m.Outcomes(), truth); !math.IsNaN(e) {
		return measured{Error: &e}, nil
	}
	return measured{}, nil
}

// errorRate returns the share, in percent, of the points with a true label whose
// predicted class has another value; NaN if there are none.
func errorRate(predicted []int32, classes []int64, truth *data.Labels) float64 {
	var wrong, total float64
	for i, c := range truth.Index {
		if c == data.Unlabeled {
			continue
		}
		total++
		if p, ok := slices.BinarySearch(classes, truth.Classes[c]); !ok || int32(p) != predicted[i] {
			wrong++
		}
	}
	return 100 * wrong / total
}
