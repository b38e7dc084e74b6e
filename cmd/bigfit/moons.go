package main

import (
	"context"
	"fmt"
	"math"

	"github.com/bigfit/bigfit/bench/papers"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/report"
)

// moonsColumns is the number of columns of the grid of a panel.
const moonsColumns = 64

// moonsSurfaces draws Figure 2 of Belkin, Niyogi & Sindhwani (2006).
func moonsSurfaces(ctx context.Context, fig *papers.MoonsFigure) (*report.Surfaces, error) {
	n, _ := fig.X.Dims()
	s := &report.Surfaces{Title: "Two moons, one label a class", X: make([]float64, n), Y: make([]float64, n), Class: make([]int, n),
		Classes: []string{fmt.Sprintf("class %d", fig.Truth.Classes[0]), fmt.Sprintf("class %d", fig.Truth.Classes[1])},
		Marked:  fig.Drawn.Labeled(), MarkedName: "labeled",
		Caption: fmt.Sprintf("LapSVM for growing γ_I on %d points, dots in the colour of their true class: Figure 2 of Belkin, Niyogi & Sindhwani (2006). The stronger the tint, the larger |f|.", n)}
	row := make([]float64, 2)
	xmin, xmax, ymin, ymax := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i := range n {
		data.RowTo(row, fig.X, i)
		s.X[i], s.Y[i], s.Class[i] = row[0], row[1], int(fig.Truth.Index[i])
		xmin, xmax, ymin, ymax = min(xmin, row[0]), max(xmax, row[0]), min(ymin, row[1]), max(ymax, row[1])
	}
	dx, dy := margin(xmin, xmax), margin(ymin, ymax)
	for i, m := range fig.Machines {
		g := report.Grid{X0: xmin - dx, X1: xmax + dx, Y0: ymin - dy, Y1: ymax + dy, Columns: moonsColumns}
		g.Rows = max(2, min(2*moonsColumns, int(moonsColumns*(g.Y1-g.Y0)/(g.X1-g.X0))))
		p, err := predictGrid(ctx, m, &g, nil)
		if err != nil {
			return nil, err
		}
		g.Values = surfaceValues(p.Scores, m.Outcomes())
		s.Panels = append(s.Panels, report.Surface{Title: fmt.Sprintf("γ_I = %g: %.1f %% wrong", fig.GammaI[i], fig.Errors[i]), F: g})
	}
	return s, nil
}
