package labeling

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
)

// TestHeldOutSuspects lists the labels that the held-out answers contradict, the surest first.
func TestHeldOutSuspects(t *testing.T) {
	targets, err := models.ClassTargets(data.NewLabels([]int64{0, 1, 0, 1, 0, 0}, []bool{true, true, false, true, true, true}))
	if err != nil {
		t.Fatal(err)
	}
	// Point 4 has no answer, and point 2 no label any more.
	c := &calibration.Calibration{Folds: 5, Held: 4, Out: &calibration.Out{Points: []int32{0, 1, 2, 3, 5},
		Probabilities: mat.NewDense(5, 2, []float64{0.4, 0.6, 0.3, 0.7, 0, 1, 0.9, 0.1, 0.5, 0.5})}}
	s := HeldOutSuspects(targets, c)
	if s.Labeled != 5 || s.Unknown != 1 || s.Folds != 5 || len(s.List) != 2 {
		t.Fatalf("%+v", s)
	}
	if first, second := s.List[0], s.List[1]; first.Point != 3 || first.Given != 1 || first.Suggested != 0 ||
		!(first.Score > 0.79 && first.Score < 0.81) || second.Point != 0 || second.Suggested != 1 {
		t.Errorf("%+v", s.List)
	}

	if HeldOutSuspects(targets, nil) != nil || HeldOutSuspects(targets, &calibration.Calibration{}) != nil {
		t.Error("suspects without held-out answers")
	}
}
