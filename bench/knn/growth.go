package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/bigfit/bigfit/bench/peers"
	"github.com/bigfit/bigfit/internal/npy"
)

// growth returns our time per point, in microseconds, against the number of
// points of the manifold.
func growth(rows []peers.Row) plotter.XYs {
	var points plotter.XYs
	for _, r := range rows {
		n, ok := r.More["n"].(float64)
		if ok && r.Program == "bigfit" && strings.Contains(r.Work, "manifold") {
			points = append(points, plotter.XY{X: n, Y: 1e6 * r.Seconds / n})
		}
	}
	return points
}

// fit returns the least-squares line y = c·x^slope in logarithms.
func fit(points plotter.XYs) (c, slope float64) {
	var sx, sy, sxx, sxy float64
	for _, p := range points {
		x, y := math.Log(p.X), math.Log(p.Y)
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	m := float64(len(points))
	slope = (m*sxy - sx*sy) / (m*sxx - sx*sx)
	return math.Exp((sy - slope*sx) / m), slope
}

// plotGrowth draws the times and the fitted line on logarithmic axes.
func plotGrowth(path string, points plotter.XYs) error {
	c, slope := fit(points)
	p := plot.New()
	p.Title.Text = fmt.Sprintf("NN-descent, 10 neighbours: time of a run ~ n^%.2f", 1+slope)
	p.X.Label.Text, p.Y.Label.Text = "points n", "µs per point"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	var ticks []plot.Tick
	for _, s := range points {
		ticks = append(ticks, plot.Tick{Value: s.X, Label: strconv.FormatFloat(s.X, 'f', -1, 64)})
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	measured, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	measured.Shape, measured.Radius = draw.CircleGlyph{}, vg.Points(3)
	line := plotter.NewFunction(func(n float64) float64 { return c * math.Pow(n, slope) })
	p.Add(plotter.NewGrid(), measured, line)
	p.Legend.Add("measured", measured)
	p.Legend.Add(fmt.Sprintf("fitted, ~ n^%.2f", slope), line)
	p.Legend.Top, p.Legend.Left = true, true
	// An octave of room shows the slope and not the noise.
	low, high := math.Inf(1), 0.0
	for _, s := range points {
		low, high = min(low, s.Y), max(high, s.Y)
	}
	p.Y.Min, p.Y.Max = low/2, 2*high
	canvas := vgsvg.New(16*vg.Centimeter, 10*vg.Centimeter)
	p.Draw(draw.New(canvas))
	return npy.Atomically(path, func(w io.Writer) error {
		_, err := canvas.WriteTo(w)
		return err
	})
}
