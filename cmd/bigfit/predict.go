package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
)

func (a *app) predictCommand() *cobra.Command {
	var x, y, out, scores string
	var label labelOptions
	var s models.PredictSettings
	cmd := &cobra.Command{
		Use:   "predict model.npz -X new.npy -o pred.npy",
		Short: "Classify points with a fitted model",
		Long: `Write the class of every point of X as a .npy file of int64. Without -X the
classes of the training points are written.

--extension knn lets the nearest training points vote with the classes that the
model gave them; nystrom extends the eigenvectors to the new points through the
weights of the graph and applies the classifier.`,
		Args: oneArgument("the model file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkOutput([]string{args[0], x, y}, out, scores); err != nil {
				return err
			}
			if s.Neighbors < 0 {
				return usagef("--neighbors is %d; it must be positive", s.Neighbors)
			}
			st := a.progress.Stage("model")
			m, _, err := models.LoadEigenmap(args[0], int64(a.memory))
			if err != nil {
				return err
			}
			st.Done(fmt.Sprintf("%s: %d points, %d eigenvectors, %d classes", args[0], len(m.Labels), len(m.Values), len(m.Classes)))
			p := &models.Prediction{Classes: m.Labels}
			if x != "" {
				if p, err = a.predict(cmd, m, x, &s); err != nil {
					return err
				}
			} else if scores != "" {
				p.Scores = m.Scores(m.Vectors, len(m.Labels))
			}
			var truth *data.Labels
			if y != "" {
				if truth, err = label.read(a, y); err != nil {
					return err
				}
				if truth.Len() != len(p.Classes) {
					return fmt.Errorf("%s has %d labels for %d points", y, truth.Len(), len(p.Classes))
				}
			}
			err = a.write(cmd.Context(), func() error {
				err := npy.WriteFile(out, []int{len(p.Classes)}, values(p.Classes, m.Classes))
				if err == nil && scores != "" {
					n, c := p.Scores.Dims()
					err = npy.WriteFile(scores, []int{n, c}, p.Scores.RawMatrix().Data)
				}
				return err
			})
			if err != nil {
				return err
			}
			sum := predictSummary{Points: len(p.Classes), Classes: m.Classes, Recall: p.Recall}
			text := fmt.Sprintf("%s: classes of %d points", out, sum.Points)
			if e := errorRate(p.Classes, m.Classes, truth); !math.IsNaN(e) {
				sum.Error = &e
				text += fmt.Sprintf("; error %.2f %%", e)
			}
			if p.Recall != nil {
				text += fmt.Sprintf("; approximate neighbours from a graph with recall %s", p.Recall)
			}
			return a.print(sum, text)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&x, "points", "X", "", "`file` of the points to classify")
	f.StringVarP(&y, "labels-file", "y", "", "`file` of the true labels, to print the error")
	label.flags(f)
	f.StringVarP(&out, "output", "o", "pred.npy", "`file` to write")
	f.StringVar(&scores, "scores", "", "also write the scores of all classes to this .npy `file`")
	nameFlag(f, &s.Extension, "extension", "how new points are classified: knn, nystrom")
	f.IntVarP(&s.Neighbors, "neighbors", "k", 0, "training points that vote in the knn extension (default 3)")
	return cmd
}

type predictSummary struct {
	Points  int      `json:"points"`
	Classes []int64  `json:"classes"`
	Error   *float64 `json:"error,omitempty"`
	// Recall of the graph in which neighbours were searched for; nil if they are
	// exact or none were needed.
	Recall *knn.Recall `json:"recall,omitempty"`
}

func (a *app) predict(cmd *cobra.Command, m *models.Fitted, path string, s *models.PredictSettings) (*models.Prediction, error) {
	var opt data.ReadOptions
	if _, ok := m.Points.(*sparse.CSR); ok {
		_, opt.Columns = m.Points.Dims()
	}
	x, err := a.readPoints(path, opt)
	if err != nil {
		return nil, err
	}
	if m.Points != nil {
		n, _ := x.Dims()
		bytes := knn.IndexBytes(m.Points, m.Method, m.Metric, 0) + 8*int64(n)*int64(len(m.Classes)+2*max(s.Neighbors, m.Graph.K, 3))
		if err := a.need("prediction", bytes, 0, "split the new points over several files"); err != nil {
			return nil, err
		}
	}
	st := a.progress.Stage("predict")
	s.OnProgress = func(done, total int) { st.Update(float64(done), float64(total), "") }
	p, err := m.Predict(cmd.Context(), x, s)
	if err != nil {
		return nil, err
	}
	st.Done(fmt.Sprintf("%d points, %s extension", len(p.Classes), s.Extension))
	return p, nil
}

// errorRate returns the share, in percent, of the points with a true label whose
// predicted class has another value; NaN if there are none. truth may be nil.
func errorRate(predicted []int32, classes []int64, truth *data.Labels) float64 {
	var wrong, total float64
	if truth == nil {
		return math.NaN()
	}
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
