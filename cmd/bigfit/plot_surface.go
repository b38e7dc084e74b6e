package main

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/pipeline"
)

// surfaceCells is the number of cells in a row of the picture of a surface.
const surfaceCells = 240

// surface draws what a model says over the rectangle of its points.
func (a *app) surface(ctx context.Context, path string, o *plotOptions) (*chart.Surface, error) {
	if o.x == "" {
		return nil, shell.Usagef("%s is a model, whose surface is drawn over points; give them with -X", path)
	}
	m, _, err := all.Load(path, int64(a.Memory))
	if err != nil {
		return nil, err
	}
	// A surface has one height; a model of several outputs has several.
	if v, ok := m.(*kernelmachine.VVMR); ok {
		_, outputs := v.Coefficients.Dims()
		return nil, shell.Usagef("%s is a %s model of %d outputs, of which there is no surface; draw "+
			"a model of one", path, m.Name(), outputs)
	}

	points, labels, err := a.plane(o.x, o, 1, 2, 2)
	if err != nil {
		return nil, err
	}
	s := &chart.Surface{
		Title:  m.Name(),
		Grid:   chart.GridAround(points.X, points.Y, surfaceCells),
		Points: *points,
		Levels: o.levels,
	}
	s.Rows = surfaceCells

	// The model answers for the centre of every cell, row by row.
	st := a.Progress.Stage("surface")
	cells := &data.Dense[float64]{Rows: s.Columns * s.Rows, Cols: 2, Data: s.Centres()}
	p, err := m.Predict(ctx, cells, &models.PredictSettings{OnProgress: func(done, total int) {
		st.Update(float64(done), float64(total), "")
	}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}

	st.Done(fmt.Sprintf("%d × %d points", s.Columns, s.Rows))
	// Two classes or values have one function f to draw lines of; of more classes only the areas
	// are drawn.
	outcomes := m.Output().Classes
	if outcomes != nil && len(outcomes) != 2 && len(o.levels) > 0 {
		return nil, shell.Usagef("--levels are for two classes or values; %s has %d classes", path,
			len(outcomes))
	}
	s.Values = pipeline.SurfaceValues(p.Scores, outcomes)
	if outcomes != nil {
		s.Areas = pipeline.SurfaceAreas(p.Classes, m.Output(), labels)
	}
	if labels != nil && 10*len(labels.Labeled()) < labels.Len() { // few, and what matters
		s.Marked, s.MarkedName = labels.Labeled(), "labeled"
	}
	return s, nil
}

// plane reads points, as positions by two columns counted from 1, and their
// labels, nil without. columns, if not 0, is the number that there must be.
func (a *app) plane(path string, o *plotOptions, first, second, columns int) (*chart.Points,
	*data.Labels, error) {
	x, err := a.ReadPoints(shards.Names{path}, data.ReadOptions{Columns: columns})
	if err != nil {
		return nil, nil, err
	}
	n, d := x.Dims()
	if columns > 0 && d != columns {
		return nil, nil, fmt.Errorf("%s has %d columns; a surface can be drawn over points of %d", path,
			d, columns)
	}
	if n == 0 || d < max(first, second) {
		return nil, nil, fmt.Errorf("%s has %d points of %d columns; columns %d and %d are to be drawn", path,
			n, d, first, second)
	}

	// Both columns are copied in one pass: a dense row is converted as a whole.
	points := &chart.Points{X: make([]float64, n), Y: make([]float64, n), Most: o.maxPoints, Seed: a.Seed}
	drawn := data.Columns(x, []int{first - 1, second - 1})
	for i := range n {
		points.X[i], points.Y[i] = drawn.Row(i)[0], drawn.Row(i)[1]
	}
	if o.y == "" {
		return points, nil, nil
	}
	labels, err := o.label.ReadTruth(a.App, o.y, n)
	if err != nil {
		return nil, nil, err
	}
	if labels.Len() != n {
		return nil, nil, fmt.Errorf("%s has %d points but %s has %d labels", path, n, o.y, labels.Len())
	}

	points.Class = make([]int, n)
	for i, c := range labels.Index {
		points.Class[i] = int(c) // data.Unlabeled is negative
	}
	for c := range labels.Classes {
		points.Classes = append(points.Classes, labels.Name(int32(c)))
	}
	return points, labels, nil
}
