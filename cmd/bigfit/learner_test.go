package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/stage"
)

// centroid is a learner that only this test knows: the class of the nearest mean,
// each mean drawn to that of all points by a parameter.
type centroid struct{}

type centroidSettings struct{ shrink float64 }

var centroidParams = models.Table[centroidSettings]{
	{Param: models.Param{Name: "shrink", Doc: "part of the way from a class's mean to that of all labeled points", Default: "0", Range: models.Within(0, 1), Axis: true},
		At: func(s *centroidSettings) any { return &s.shrink }},
}

func (centroid) Info() models.Info {
	return models.Info{Name: "centroid", Help: "class of the nearest mean", Scores: "minus the distance to the mean of the class", Learns: models.LearnsClasses, Needs: models.NeedsPoints}
}

func (centroid) Params() []models.Param { return centroidParams.Params() }

func (centroid) Cost(in *models.Input) (stage.Cost, error) {
	_, d := in.Points.Dims()
	return stage.Cost{Bytes: 8 * int64(d) * int64(len(in.Targets.Classes)+2), Remedy: "give points of fewer columns"}, nil
}

func (centroid) Fit(_ context.Context, in *models.Input) (models.Model, error) {
	s, err := centroidParams.Decode(in.Values)
	if err != nil {
		return nil, err
	}
	_, d := in.Points.Dims()
	y := in.Targets.ClassLabels()
	m := &centroidModel{s, y.Classes, mat.NewDense(len(y.Classes), d, nil), len(in.Targets.Labeled)}
	counts := make([]float64, len(y.Classes))
	row, all := make([]float64, d), make([]float64, d)
	for _, i := range in.Targets.Labeled {
		data.RowTo(row, in.Points, i)
		counts[y.Index[i]]++
		for j, v := range row {
			m.means.Set(int(y.Index[i]), j, m.means.At(int(y.Index[i]), j)+v)
			all[j] += v / float64(m.labeled)
		}
		in.Report(1, 1, "")
	}
	for c, n := range counts {
		for j := range d {
			m.means.Set(c, j, (1-s.shrink)*m.means.At(c, j)/max(n, 1)+s.shrink*all[j])
		}
	}
	return m, nil
}

func (centroid) Decode(r *models.Reader) (models.Model, error) {
	s, err := centroidParams.Decode(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	m := &centroidModel{s, r.ReadClasses(), r.Matrix("means"), 0}
	if r.Err != nil {
		return nil, r.Err
	}
	if rows, _ := m.means.Dims(); rows != len(m.classes) {
		return nil, fmt.Errorf("%d means for %d classes", rows, len(m.classes))
	}
	return m, r.Fit(&m.labeled)
}

type centroidModel struct {
	settings centroidSettings
	classes  []int64
	means    *mat.Dense
	labeled  int
}

func (m *centroidModel) Name() string          { return "centroid" }
func (m *centroidModel) Output() models.Output { return models.OutputOf(m.classes, len(m.classes)) }
func (m *centroidModel) Dim() int              { _, d := m.means.Dims(); return d }

func (m *centroidModel) QueryCost(n int, _ *models.PredictSettings) stage.Cost {
	return stage.Cost{Bytes: 8 * int64(n) * int64(len(m.classes))}
}

func (m *centroidModel) Predict(_ context.Context, x data.Points, _ *models.PredictSettings) (*models.Prediction, error) {
	n, d := x.Dims()
	if n == 0 || d != m.Dim() {
		return nil, errors.New("other points")
	}
	scores, row := mat.NewDense(n, len(m.classes), nil), make([]float64, d)
	for i := range n {
		data.RowTo(row, x, i)
		for c := range m.classes {
			var sum float64
			for j, v := range row {
				sum -= (v - m.means.At(c, j)) * (v - m.means.At(c, j))
			}
			scores.Set(i, c, sum)
		}
	}
	return models.NewPrediction(scores, m.classes), nil
}

func (m *centroidModel) Summary() models.Summary {
	return models.Summary{Labeled: m.labeled, Values: centroidParams.Encode(&m.settings), Text: fmt.Sprintf("%d means", len(m.classes))}
}

func (m *centroidModel) Encode() (*models.Encoded, error) {
	return &models.Encoded{Values: centroidParams.Encode(&m.settings), Fit: m.labeled,
		Arrays: append(models.ClassEntries(m.classes), models.MatrixEntry("means", m.means))}, nil
}

// TestLearnerOfOneLine takes a learner through all commands by adding it to the
// list.
func TestLearnerOfOneLine(t *testing.T) {
	all.Learners = append(all.Learners, centroid{})
	defer func() { all.Learners = all.Learners[:len(all.Learners)-1] }()
	intoBlobs(t)
	for _, c := range []struct{ args, want string }{
		{"models centroid", "--shrink"},
		{"models", "class of the nearest mean"},
		{"fit --model centroid -X X.npy -y y.npy --labels 30 --shrink 0.25 --calibrate none -o m.npz --predictions p.npy", "centroid, 30 of 90 points labeled, 3 classes; error on the points without a label 0.00 %"},
		{"info m.npz", `"shrink":0.25`},
		{"predict m.npz -X new.npy -y newy.npy -o q.npy --scores s.npy", "error 0.00 %"},
		{"eval -y newy.npy --predictions q.npy --scores s.npy", "error 0.00 %"},
		{"tune --model centroid -X X.npy -y y.npy --labels 30 --shrink 0,0.5,1 --best b.npz -o t.json", "--shrink=0"},
		{"predict b.npz -X new.npy -y newy.npy -o q.npy", "error 0.00 %"},
	} {
		if out := succeed(t, strings.Fields(c.args)...); !strings.Contains(out, c.want) {
			t.Errorf("bigfit %s printed %s\nwant %q", c.args, out, c.want)
		}
	}
	fail(t, 2, []string{"--shrink is 2; it must be from 0 to 1"}, strings.Fields("fit --model centroid -X X.npy -y y.npy --shrink 2 -o n.npz")...)
	fail(t, 2, []string{"--shrink is not for knn, but for centroid"}, strings.Fields("fit --model knn -X X.npy -y y.npy --shrink 0.5 -o n.npz")...)
}
