package demo

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// The settings of the two moons.
const (
	moonPoints    = 400
	moonNoise     = 0.05
	moonNeighbors = 10
	moonGammaA    = 1.0 / 32
	// moonColumns is the number of columns of the grid of a panel.
	moonColumns = 128
)

// moonGammaI are the γ_I of the panels.
var moonGammaI = []float64{0, 1e-3, 0.01, 0.1, 1, 10}

// moons draws the decision surfaces of LapSVM on two moons with one label a class, for
// growing γ_I.
func moons(ctx context.Context, seed uint64) (*report.Figure, error) {
	x, truth := synthetic.TwoMoons(moonPoints, moonNoise, seed)
	drawn := oneOfEach(truth, seed)
	targets, err := models.ClassTargets(drawn)
	if err != nil {
		return nil, err
	}

	index, err := knn.NewBrute(x, nil)
	if err != nil {
		return nil, err
	}
	w, _, err := knn.NewGraph(ctx, index, knn.GraphSettings{K: moonNeighbors})
	if err != nil {
		return nil, err
	}
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		return nil, err
	}

	// σ = 0.35 is narrow beside arcs of radius 1, so that the surface can follow them.
	points := moonDots(x, truth)
	points.Marked = drawn.Labeled()
	points.MarkedName = "labeled"
	out := &report.Figure{
		Title: "Two moons, one label a class",
		Caption: fmt.Sprintf("LapSVM for growing γ_I on %d points, dots in the colour of their true class: "+
			"Figure 2 of Belkin, Niyogi & Sindhwani (2006), with D − W, where the paper has the "+
			"normalized Laplacian. "+
			"The stronger the tint, the larger |f|.", moonPoints),
	}
	in := &kernelmachine.Data{Points: x, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.35},
		Laplacian: l}
	for _, gammaI := range moonGammaI {
		m, err := kernelmachine.Fit(ctx, in, targets, &kernelmachine.Settings{
			Method:      kernelmachine.SVM,
			Regularizer: regularizer.Regularizer{GammaA: moonGammaA, GammaI: gammaI},
			Tolerance:   1e-3,
		})
		if err != nil {
			return nil, fmt.Errorf("γ_I = %g: %w", gammaI, err)
		}

		p, err := m.Predict(ctx, x, nil)
		if err != nil {
			return nil, err
		}
		wrong := 100 * metrics.ErrorRate(p.Classes, truth, drawn)

		panel, err := surface(ctx, m, truth, points)
		if err != nil {
			return nil, err
		}
		panel.Title = fmt.Sprintf("γ_I = %g: %.1f %% wrong", gammaI, wrong)
		out.Charts = append(out.Charts, panel)
	}
	return out, nil
}

// surface draws what a machine says around the points.
func surface(ctx context.Context, m *kernelmachine.Machine, truth *data.Labels,
	points chart.Points) (*chart.Surface, error) {
	s := &chart.Surface{Grid: chart.GridAround(points.X, points.Y, moonColumns), Points: points}
	cells := &data.Dense[float64]{Rows: s.Columns * s.Rows, Cols: 2, Data: s.Centres()}
	p, err := m.Predict(ctx, cells, nil)
	if err != nil {
		return nil, err
	}

	s.Values = pipeline.SurfaceValues(p.Scores, m.Output().Classes)
	s.Areas = pipeline.SurfaceAreas(p.Classes, m.Output(), truth)
	return s, nil
}

// moonDots returns the points in the colours of their classes.
func moonDots(x *data.Dense[float64], truth *data.Labels) chart.Points {
	n := x.Rows
	out := chart.Points{X: make([]float64, n), Y: make([]float64, n), Class: make([]int, n)}
	for _, c := range truth.Classes {
		out.Classes = append(out.Classes, fmt.Sprintf("class %d", c))
	}

	for i := range n {
		row := x.Row(i)
		out.X[i] = row[0]
		out.Y[i] = row[1]
		out.Class[i] = int(truth.Index[i])
	}
	return out
}

// oneOfEach keeps the label of one point of each class, drawn at random.
func oneOfEach(truth *data.Labels, seed uint64) *data.Labels {
	members := make([][]int, len(truth.Classes))
	for i, c := range truth.Index {
		members[c] = append(members[c], i)
	}

	// A stream of its own: the draw must not follow the noise of the points.
	rng := rand.New(rand.NewPCG(seed, 0x706572636c617373)) // "perclass"
	var rows []int
	for _, all := range members {
		rows = append(rows, all[rng.IntN(len(all))])
	}
	return truth.Keep(rows)
}
