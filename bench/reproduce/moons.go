package main

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// moonsColumns is the number of columns of the grid of a panel.
const moonsColumns = 128

// moonsSurfaces draws Figure 2 of Belkin, Niyogi & Sindhwani (2006).
func moonsSurfaces(ctx context.Context, fig *papers.MoonsFigure) (*report.Figure, error) {
	n, _ := fig.X.Dims()
	points := chart.Points{X: make([]float64, n), Y: make([]float64, n), Class: make([]int, n),
		Classes: []string{fmt.Sprintf("class %d", fig.Truth.Classes[0]),
			fmt.Sprintf("class %d", fig.Truth.Classes[1])},
		Marked: fig.Drawn.Labeled(), MarkedName: "labeled"}
	row := make([]float64, 2)
	for i := range n {
		data.RowTo(row, fig.X, i)
		points.X[i] = row[0]
		points.Y[i] = row[1]
		points.Class[i] = int(fig.Truth.Index[i])
	}

	// The paper has one such figure; the second one is ours and says so.
	norm := "the normalized Laplacian, as in the paper"
	if fig.Laplacian == sparse.Combinatorial {
		norm = "D − W, where the paper has the normalized Laplacian"
	}
	out := &report.Figure{Title: "Two moons, one label a class",
		Caption: fmt.Sprintf("LapSVM for growing γ_I on %d points, dots in the colour of their true "+
			"class: Figure 2 of Belkin, Niyogi & Sindhwani (2006), with %s. The stronger the tint, "+
			"the larger |f|.", n, norm)}
	for i, m := range fig.Machines {
		s := &chart.Surface{
			Title:  fmt.Sprintf("γ_I = %g: %.1f %% wrong", fig.GammaI[i], fig.Errors[i]),
			Grid:   chart.GridAround(points.X, points.Y, moonsColumns),
			Points: points,
		}
		// One prediction for the centres of all cells of a panel.
		cells := &data.Dense[float64]{Rows: s.Columns * s.Rows, Cols: 2, Data: s.Centres()}
		p, err := m.Predict(ctx, cells, nil)
		if err != nil {
			return nil, err
		}
		s.Values = pipeline.SurfaceValues(p.Scores, m.Output().Classes)
		s.Areas = pipeline.SurfaceAreas(p.Classes, m.Output(), fig.Truth)
		out.Charts = append(out.Charts, s)
	}

	return out, nil
}
