package pipeline

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/models"
)

// GridAround returns a rectangle around points with a margin, of a number of
// columns and of rows as high as they are wide.
func GridAround(x, y []float64, columns int) chart.Grid {
	margin := func(low, high float64) (float64, float64) {
		d := 0.08 * (high - low)
		if !(d > 0) {
			d = 1
		}
		return low - d, high + d
	}

	g := chart.Grid{Columns: columns}
	g.Left, g.Right = margin(slices.Min(x), slices.Max(x))
	g.Bottom, g.Top = margin(slices.Min(y), slices.Max(y))
	g.Rows = int(max(2, min(2*float64(columns), float64(columns)*(g.Top-g.Bottom)/(g.Right-g.Left))))
	return g
}

// PredictGrid applies a model of two columns to the points of a grid, row by row
// from below.
func PredictGrid(ctx context.Context, m models.Model, g *chart.Grid,
	progress func(done, total int)) (*models.Prediction, error) {
	x := data.NewDense[float64](g.Columns*g.Rows, 2)
	for r := range g.Rows {
		for c := range g.Columns {
			row := x.Row(r*g.Columns + c)
			row[0], row[1] = g.Centre(c, r)
		}
	}
	return m.Predict(ctx, x, &models.PredictSettings{OnProgress: progress})
}

// SurfaceValues are the values whose lines are drawn: half the difference of two
// scores, the first output of a regression, nothing of more classes.
func SurfaceValues(scores *mat.Dense, outcomes []int64) []float64 {
	if len(outcomes) > 2 || scores == nil {
		return nil
	}
	values := mat.Col(nil, 0, scores)
	if outcomes == nil {
		return values
	}
	for i := range values {
		values[i] = (scores.At(i, 1) - values[i]) / 2
	}
	return values
}

// SurfaceAreas returns the number of the class of each cell as labels count them, or as
// the model does if labels are nil or lack the class.
func SurfaceAreas(classes []int32, o models.Output, labels *data.Labels) []int {
	number := make([]int, len(o.Classes))
	for k := range number {
		number[k] = k
		for c := 0; labels != nil && c < len(labels.Classes); c++ {
			if labels.Name(int32(c)) == data.ClassName(o.Classes, o.Names, int32(k)) {
				number[k] = c
			}
		}
	}

	out := make([]int, len(classes))
	for i, c := range classes {
		out[i] = number[c]
	}
	return out
}
