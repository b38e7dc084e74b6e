package nearest

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
)

// With all points voting, a weight of 2 is a label that is there twice.
func TestWeightIsADuplicate(t *testing.T) {
	x := data.NewDense[float64](5, 1)
	twice := data.NewDense[float64](6, 1)
	rows := []float64{0.1, 0.9, 0.5, 0.5, 0.2, 0.8, 0, 1, 0.7, 0.3}
	for i := range 5 {
		x.Row(i)[0] = float64(i * i)
		twice.Row(i)[0] = float64(i * i)
	}
	twice.Row(5)[0] = 9 // of point 3
	one, err := models.ShareTargets(mat.NewDense(5, 2, rows), []int64{0, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if one, err = one.Weighted([]float64{1, 1, 1, 2, 1}); err != nil {
		t.Fatal(err)
	}
	two, err := models.ShareTargets(mat.NewDense(6, 2, append(rows, 0, 1)), []int64{0, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}

	query := data.NewDense[float64](1, 1)
	query.Row(0)[0] = 3
	var scores [2][]float64
	for k, c := range []struct {
		x data.Points
		t *models.Targets
	}{{x, one}, {twice, two}} {
		n, _ := c.x.Dims()
		m, err := FitTargets(context.Background(), c.x, c.t, &Settings{Vote: n}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(context.Background(), query, nil)
		if err != nil {
			t.Fatal(err)
		}
		scores[k] = p.Scores.RawRowView(0)
	}
	for c, v := range scores[0] {
		if math.Abs(v-scores[1][c]) > 1e-12 {
			t.Errorf("scores %v with a weight of 2, %v with the point twice", scores[0], scores[1])
		}
	}
	if want := (0.9 + 0.5 + 0.8 + 2 + 0.3) / 6; math.Abs(scores[0][1]-want) > 1e-12 {
		t.Errorf("score %v, want %v", scores[0][1], want)
	}
}
