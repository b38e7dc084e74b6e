package main

import (
	"fmt"
	"strconv"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/report"
)

// stripLength is the number of digits shown with their predicted labels.
const stripLength = 60

// report is the page of the run.
func (r *demoRun) report(a *app) *report.Report {
	return &report.Report{
		Title:    "bigfit demo",
		Subtitle: fmt.Sprintf("%d drawn digits, seed %d, bigfit %s", r.settings.Points, r.settings.Seed, version),
		Sections: []report.Section{
			{Title: "Error on the unlabeled digits", Blocks: []report.Block{r.errorTable(), r.errorCurves()}},
			{Title: "Eigenvalues of the graph Laplacian", Blocks: []report.Block{r.spectrum()}},
			{Title: "Eigenmaps", Blocks: r.eigenmaps()},
			{Title: fmt.Sprintf("Predictions from %d labels", demoPictured), Blocks: []report.Block{r.strip()}},
			{Title: "Decision surfaces", Blocks: []report.Block{r.moons}},
			{Title: "Run", Blocks: []report.Block{timings(a), r.settingsList()}},
		},
	}
}

// methodNames are the columns of the demo's table.
var methodNames = []string{"20 % rule", "penalized", "knn"}

var methodTitles = []string{"eigenmap, 20 % rule", "eigenmap, penalized", "best k-NN"}

// column returns the method's place in methodNames.
func demoColumn(name, method string) int {
	for i, m := range methodNames {
		if m == name || m == method {
			return i
		}
	}
	return -1
}

func (r *demoRun) errorTable() *report.Table {
	t := &report.Table{Header: append([]string{"labels"}, methodTitles...),
		Note: fmt.Sprintf("Percent, mean ± standard deviation over %d random draws of the labels; the best of each row is marked.", r.settings.Splits)}
	for i, l := range demoLabels {
		row := []string{strconv.Itoa(l), "", "", ""}
		best, at := 101.0, 0
		for _, x := range r.outcome.Results {
			if c := demoColumn(x.Name, x.Method); x.Labels == l {
				row[c+1] = fmt.Sprintf("%.2f ± %.2f", x.Mean, x.Std)
				if x.Mean < best {
					best, at = x.Mean, c+1
				}
			}
		}
		t.Rows = append(t.Rows, row)
		t.Best = append(t.Best, report.Cell{Row: i, Col: at})
	}
	return t
}

func (r *demoRun) errorCurves() *report.LineChart {
	c := &report.LineChart{Title: "Error by number of labels", XLabel: "labels", YLabel: "error, %", XLog: true, YLog: true}
	for i, title := range methodTitles {
		s := report.Series{Name: title}
		for _, x := range r.outcome.Results {
			if demoColumn(x.Name, x.Method) == i {
				s.X, s.Y, s.Err = append(s.X, float64(x.Labels)), append(s.Y, x.Mean), append(s.Err, x.Std)
			}
		}
		c.Series = append(c.Series, s)
	}
	return c
}

func (r *demoRun) spectrum() *report.LineChart {
	s := report.Series{Name: "λ", Y: r.outcome.Eigs.Values, Points: true}
	for j := range s.Y {
		s.X = append(s.X, float64(j+1))
	}
	return &report.LineChart{Title: "The smallest eigenvalues", XLabel: "number", YLabel: "λ", Series: []report.Series{s},
		Caption: fmt.Sprintf("Largest residual ‖Lv − λv‖ = %.1e·‖L‖, largest entry of |VᵀV − I| = %.1e, both recomputed.",
			r.outcome.Eigs.MaxResidual()/r.outcome.Eigs.Norm, r.outcome.Eigs.Orthogonality)}
}

// eigenmaps plots the points by the first eigenvectors that are not constant on
// the components.
func (r *demoRun) eigenmaps() []report.Block {
	first := r.outcome.Eigs.Nullity
	n := r.settings.Points
	var axes [3][]float64
	for q := range axes {
		axes[q] = make([]float64, n)
		for i := range n {
			axes[q][i] = r.outcome.Eigs.Vectors.At(i, first+q)
		}
	}
	class := make([]int, n)
	for i, c := range r.e.Truth.Index {
		class[i] = int(c)
	}
	var classes []string
	for _, c := range r.e.Truth.Classes {
		classes = append(classes, strconv.FormatInt(c, 10))
	}
	name := func(q int) string { return fmt.Sprintf("eigenvector %d", first+q+1) }
	return []report.Block{
		&report.Scatter2D{Title: "Two eigenvectors", XLabel: name(0), YLabel: name(1), X: axes[0], Y: axes[1], Class: class, Classes: classes,
			Marked: r.drawn.Labeled(), MarkedName: "labeled", Caption: "Every point is a digit, coloured by its true class."},
		&report.Scatter3D{Title: "Three eigenvectors", Labels: [3]string{name(0), name(1), name(2)}, X: axes[0], Y: axes[1], Z: axes[2], Class: class, Classes: classes},
	}
}

// strip shows unlabeled digits: half of them wrong ones, as far as there are any.
func (r *demoRun) strip() *report.ImageStrip {
	s := &report.ImageStrip{Title: "Digits and what they were taken for", Width: data.DigitSide, Height: data.DigitSide,
		Caption: fmt.Sprintf("Unlabeled digits, true class and prediction; the first ones are mistakes. %.2f %% of all are wrong.", r.error)}
	add := func(wrong bool, most int) {
		for i, c := range r.e.Truth.Index {
			if len(s.Images) < most && r.drawn.Index[i] == data.Unlabeled && (r.labels[i] != c) == wrong {
				s.Images = append(s.Images, report.Image{Pixels: r.digits.Row(i),
					True: strconv.FormatInt(r.e.Truth.Classes[c], 10), Predicted: strconv.FormatInt(r.e.Truth.Classes[r.labels[i]], 10)})
			}
		}
	}
	add(true, stripLength/3)
	add(false, stripLength)
	return s
}

func (r *demoRun) settingsList() *report.KeyValues {
	s := r.settings
	return &report.KeyValues{Caption: "Settings", Pairs: append([]report.KeyValue{
		{Key: "digits", Value: strconv.Itoa(s.Points)},
		{Key: "seed", Value: strconv.FormatUint(s.Seed, 10)},
		{Key: "principal components", Value: strconv.Itoa(s.Graph.PCA)},
		{Key: "graph", Value: fmt.Sprintf("%d neighbours, %s, %s weights", s.Graph.Graph.K, s.Graph.Graph.Symmetry, s.Graph.Graph.Weights)},
		{Key: "Laplacian", Value: s.Laplacian.String()},
		{Key: "eigenpairs", Value: strconv.Itoa(s.Pairs)},
		{Key: "penalty", Value: "30·Σ(λⱼ/λ₂₀)²aⱼ² on all eigenvectors"},
		{Key: "moons", Value: fmt.Sprintf("%d points, noise %g", demoMoons, demoNoise)},
	}, machine()...)}
}
