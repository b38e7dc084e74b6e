package models

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/data"
)

// fixed is a model of two classes that does nothing.
type fixed struct{ Model }

func (fixed) Dim() int { return 2 }

func (fixed) Output() Output { return OutputOf([]int64{0, 1}, 2) }

// kept is one that keeps its answers.
type kept struct{ fixed }

func (kept) Training(bool) *Prediction { return &Prediction{Classes: []int32{1}} }

func TestWithNames(t *testing.T) {
	names := []string{"cat", "dog"}
	for _, m := range []Model{fixed{}, kept{}} {
		if same, err := WithNames(m, nil); err != nil || same != m {
			t.Errorf("%T without names is %T (%v)", m, same, err)
		}
		n, err := WithNames(m, names)
		if err != nil || !slices.Equal(n.Output().Names, names) || Unnamed(n) != m {
			t.Errorf("%T with names: %+v (%v)", m, n, err)
		}
		_, was := m.(Trained)
		if tr, is := n.(Trained); is != was || is && tr.Training(false).Classes[0] != 1 {
			t.Errorf("%T with names keeps answers: %v, without: %v", m, is, was)
		}
	}
	for _, bad := range [][]string{{}, {"cat"}, {"cat", "cat"}} {
		if _, err := WithNames(fixed{}, bad); err == nil {
			t.Errorf("two classes were called %q", bad)
		}
	}
}

// Names of columns stand beside names of classes, come off alone, and are as many as the columns.
func TestWithColumns(t *testing.T) {
	columns := []string{"a", "b"}
	for _, m := range []Model{fixed{}, kept{}} {
		named, err := WithNames(m, []string{"cat", "dog"})
		if err != nil {
			t.Fatal(err)
		}
		both, err := WithColumns(named, columns)
		if err != nil || !slices.Equal(ColumnsOf(both), columns) || len(both.Output().Names) != 2 || Unnamed(both) != m {
			t.Errorf("%T with columns %q (%v)", m, ColumnsOf(both), err)
		}
		bare, err := WithColumns(both, nil)
		if err != nil || ColumnsOf(bare) != nil || len(bare.Output().Names) != 2 {
			t.Errorf("%T without columns: %+v (%v)", m, bare, err)
		}
		if _, err := WithColumns(m, append(columns, "more")); err == nil {
			t.Errorf("%T takes %d names for %d columns", m, len(columns)+1, m.Dim())
		}
	}
}

// A calibration stands beside names, either put on first, and comes off with them.
func TestWithCalibration(t *testing.T) {
	c := &calibration.Calibration{Folds: 5, Held: 20, Classes: &calibration.Classes{Temperature: 1, Priors: []float64{0.5, 0.5}}}
	for _, m := range []Model{fixed{}, kept{}} {
		first, err := WithCalibration(m, c)
		if err != nil {
			t.Fatal(err)
		}
		named, err := WithNames(first, []string{"cat", "dog"})
		if err != nil || CalibrationOf(named) != c || len(named.Output().Names) != 2 || Unnamed(named) != m {
			t.Errorf("%T with a calibration and names: %+v (%v)", m, named, err)
		}
		bare, err := WithCalibration(named, nil)
		if err != nil || CalibrationOf(bare) != nil || len(bare.Output().Names) != 2 {
			t.Errorf("%T without its calibration: %+v (%v)", m, bare, err)
		}
		if _, err := TrainingProbabilities(bare); !errors.Is(err, ErrNotCalibrated) {
			t.Errorf("probabilities without a calibration: %v", err)
		}
	}
	if _, err := WithCalibration(fixed{}, &calibration.Calibration{Folds: 5, Held: 20, Classes: &calibration.Classes{Priors: []float64{1}}}); err == nil {
		t.Error("a calibration of one class is put on a model of two")
	}
}

// voted is a model whose new points are voted on by its two training points.
type voted struct{ fixed }

func (voted) Training(bool) *Prediction {
	return &Prediction{Classes: []int32{0, 1}, Scores: mat.NewDense(2, 2, []float64{math.Log(3), 0, 0, math.Log(9)})}
}

func (voted) Predict(context.Context, data.Points, *PredictSettings) (*Prediction, error) {
	return &Prediction{Classes: []int32{1}, Scores: mat.NewDense(1, 2, []float64{0.5, 0.5}), Voters: []int32{0, 1}}, nil
}

// The probabilities of a point that is voted on are the mean of the voters'.
func TestVoters(t *testing.T) {
	m, err := WithCalibration(voted{}, &calibration.Calibration{Folds: 5, Held: 20, Classes: &calibration.Classes{Temperature: 1, Priors: []float64{0.5, 0.5}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(context.Background(), nil, &PredictSettings{Probabilities: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.Probabilities.At(0, 0), (0.75+0.1)/2; !(math.Abs(got-want) < 1e-12) {
		t.Errorf("p = %v, want %v", got, want)
	}
}
