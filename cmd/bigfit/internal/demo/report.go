package demo

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/internal/view/report"
)

// stripLength is the number of digits shown with their predicted labels.
const stripLength = 60

// report is the page of the run.
func (r *run) report(a *app) *report.Report {
	return &report.Report{
		Title: "bigfit demo",
		Subtitle: fmt.Sprintf("%d drawn digits, seed %d, bigfit %s", r.settings.Points, r.settings.Seed,
			shell.Version),
		Sections: []report.Section{
			{Title: "Error on the unlabeled digits", Blocks: r.errors()},
			{Title: "Eigenvalues of the graph Laplacian", Blocks: []report.Block{r.spectrum()}},
			{Title: "Eigenmaps", Blocks: r.eigenmaps()},
			{Title: fmt.Sprintf("Predictions from %d labels", pictured), Blocks: []report.Block{r.strip()}},
			{Title: "Decision surfaces", Blocks: []report.Block{r.moons}},
			{Title: "Run", Blocks: append(a.Timings(), r.settingsList())},
		},
	}
}

// errors shows the table and the curves of the experiment.
func (r *run) errors() []report.Block {
	t := *r.outcome.table
	// The table is printed too, without marks, so the page changes a copy.
	t.Views = slices.Clone(t.Views)
	t.Views[0].MarkLeast = true
	t.Notes = append(slices.Clone(t.Notes),
		fmt.Sprintf("Percent, mean ± standard deviation over %d random draws of the labels; the best "+
			"of each row is marked.", r.settings.Splits))
	return append(t.TableBlocks(), t.FigureBlocks()...)
}

// spectrum draws the computed eigenvalues.
func (r *run) spectrum() *report.Figure {
	s := chart.Series{Name: "λ", Y: r.outcome.eigs.Values, Points: true}
	for j := range s.Y {
		s.X = append(s.X, float64(j+1))
	}
	return &report.Figure{Title: "The smallest eigenvalues",
		Charts: []chart.Chart{&chart.Lines{XLabel: "number", YLabel: "λ", Series: []chart.Series{s}}},
		Caption: fmt.Sprintf("Largest residual ‖Lv − λv‖ = %.1e·‖L‖, largest entry of |VᵀV − I| = "+
			"%.1e, both recomputed.",
			r.outcome.eigs.MaxResidual()/r.outcome.eigs.Norm, r.outcome.eigs.Orthogonality)}
}

// mapPoints is the number of points drawn of an eigenmap.
const mapPoints = 5000

// eigenmaps plots the points by the first eigenvectors that are not constant on
// the components.
func (r *run) eigenmaps() []report.Block {
	first := r.outcome.eigs.Nullity
	n := r.settings.Points
	var axes [3][]float64
	// Null vectors are constant on each component and would draw a component as one dot.
	for q := range axes {
		axes[q] = make([]float64, n)
		for i := range n {
			axes[q][i] = r.outcome.eigs.Vectors.At(i, first+q)
		}
	}

	class := make([]int, n)
	for i, c := range r.truth.Index {
		class[i] = int(c)
	}
	var classes []string
	for _, c := range r.truth.Classes {
		classes = append(classes, strconv.FormatInt(c, 10))
	}
	projection := func(p, q int) *chart.Scatter {
		name := func(q int) string { return fmt.Sprintf("eigenvector %d", first+q+1) }
		return &chart.Scatter{XLabel: name(p), YLabel: name(q), Points: chart.Points{X: axes[p], Y: axes[q],
			Class: class, Classes: classes, Most: mapPoints, Seed: r.settings.Seed}}
	}

	two := projection(0, 1)
	two.Marked, two.MarkedName = r.drawn.Labeled(), "labeled"
	return []report.Block{
		&report.Figure{Title: "Two eigenvectors", Charts: []chart.Chart{two},
			Caption: "Every point is a digit, coloured by its true class."},
		&report.Figure{Title: "Three eigenvectors, two at a time",
			Charts: []chart.Chart{projection(0, 1), projection(0, 2), projection(1, 2)}},
	}
}

// strip shows unlabeled digits: up to a third of them are mistakes, which come first.
func (r *run) strip() *report.ImageStrip {
	s := &report.ImageStrip{Title: "Digits and what they were taken for", Width: synthetic.DigitSide,
		Height: synthetic.DigitSide,
		Caption: fmt.Sprintf("Unlabeled digits, true class and prediction; the first ones are "+
			"mistakes. %.2f %% of all are wrong.", r.error)}
	// Mistakes come first; correct answers fill the rest of the strip.
	add := func(wrong bool, most int) {
		for i, c := range r.truth.Index {
			if len(s.Images) < most && r.drawn.Index[i] == data.Unlabeled && (r.labels[i] != c) == wrong {
				s.Images = append(s.Images, report.Image{Pixels: r.digits.Row(i),
					True:      strconv.FormatInt(r.truth.Classes[c], 10),
					Predicted: strconv.FormatInt(r.truth.Classes[r.labels[i]], 10)})
			}
		}
	}

	add(true, stripLength/3)
	add(false, stripLength)
	return s
}

// settingsList lists the settings of the experiment.
func (r *run) settingsList() *report.KeyValues {
	s := r.settings
	return &report.KeyValues{Caption: "Settings", Pairs: append([]report.KeyValue{
		{Key: "digits", Value: strconv.Itoa(s.Points)},
		{Key: "seed", Value: strconv.FormatUint(s.Seed, 10)},
		{Key: "principal components", Value: strconv.Itoa(s.Graph.PCA)},
		{Key: "graph", Value: fmt.Sprintf("%d neighbours, %s, %s weights", s.Graph.Graph.K,
			s.Graph.Graph.Symmetry, s.Graph.Graph.Weights)},
		{Key: "Laplacian", Value: s.Laplacian.String()},
		{Key: "eigenpairs", Value: strconv.Itoa(s.Pairs)},
		{Key: "penalty", Value: "30·Σ(λⱼ/λ₂₀)²aⱼ² on all eigenvectors"},
		{Key: "moons", Value: fmt.Sprintf("%d points, noise %g", moonPoints, moonNoise)},
	}, report.MachineFacts()...)}
}
