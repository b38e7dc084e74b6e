// Package figures repeats the papers' figures that have no table of their own: the decay of
// a kernel's eigenvalues, decision surfaces, regularized clusterings, and curves over the
// number of unlabeled points. bench/reproduce runs them.
package figures

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/pipeline"
)

// surfaceColumns is the number of columns of the grid of a surface.
const surfaceColumns = 96

// plane returns points of the plane for a picture that draws them in the colours of their
// classes.
func plane(x data.Points, truth *data.Labels) chart.Points {
	n, _ := x.Dims()
	p := chart.Points{X: make([]float64, n), Y: make([]float64, n), Class: make([]int, n)}
	for c := range truth.Classes {
		p.Classes = append(p.Classes, "class "+truth.Name(int32(c)))
	}
	row := make([]float64, 2)
	for i := range n {
		data.RowTo(row, x, i)
		p.X[i], p.Y[i] = row[0], row[1]
		p.Class[i] = int(truth.Index[i])
	}
	return p
}

// surface draws the regions around points in which a model of two classes predicts either
// class. swapped exchanges the colours of the regions.
func surface(ctx context.Context, title string, m models.Model, points chart.Points,
	swapped bool) (*chart.Surface, error) {
	s := &chart.Surface{Title: title, Grid: chart.GridAround(points.X, points.Y, surfaceColumns), Points: points}
	// The model predicts the centre of every cell of the grid, in one call.
	cells := &data.Dense[float64]{Rows: s.Columns * s.Rows, Cols: 2, Data: s.Centres()}
	p, err := m.Predict(ctx, cells, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", title, err)
	}

	s.Values = pipeline.SurfaceValues(p.Scores, m.Output().Classes)
	s.Areas = pipeline.SurfaceAreas(p.Classes, m.Output(), nil)
	if swapped {
		for i := range s.Areas {
			s.Areas[i] = 1 - s.Areas[i]
		}
	}
	return s, nil
}
