package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/internal/view/chart"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/pipeline"
)

// diagramWidth and diagramHeight are the size of a reliability diagram in points.
const diagramWidth, diagramHeight = 420, 360

// checkProbabilities refuses flags that contradict each other.
func (o *evalOptions) checkProbabilities() error {
	switch {
	case o.diagram == "":
		return nil
	case o.proba == "":
		return shell.Usagef("--reliability draws the probabilities of --proba; give them too")
	case !slices.Contains(chart.Formats, strings.ToLower(filepath.Ext(o.diagram))):
		return shell.Usagef("--reliability is %s; its name must end in %s", o.diagram,
			strings.Join(chart.Formats, ", "))
	}
	return shell.CheckOutput([]string{o.y, o.predictions, o.proba}, o.diagram)
}

// probabilities measures the probabilities in --proba of the given rows, whose true classes are t.
func (o *evalOptions) probabilities(a *app, rows []int, t, classes []int64,
	truth *data.Labels) (*metrics.ProbabilityReport, error) {
	p, err := o.readScores(a, o.proba, rows, truth.Len())
	if err != nil {
		return nil, err
	}
	if _, c := p.Dims(); c == 1 {
		return nil, fmt.Errorf("%s has one column; it must have one for each class, as predict "+
			"--proba writes it", o.proba)
	}
	columns, err := o.columnClasses(o.proba, p, classes, nil, truth)
	if err != nil {
		return nil, err
	}

	// The report wants the position of each true class among the columns; −1 means that the class has none.
	at := make([]int, len(t))
	for i, class := range t {
		at[i] = slices.Index(columns, class)
	}
	r, err := metrics.NewProbabilityReport(at, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.proba, err)
	}
	return r, nil
}

// knownClasses are those in the truth and the predictions, as numbers, ascending.
func knownClasses(truth, predicted *data.Labels) []int64 {
	var out []int64
	for _, l := range []*data.Labels{truth, predicted} {
		for _, c := range l.Index {
			if c != data.Unlabeled {
				out = append(out, l.Classes[c])
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// draw writes the reliability diagram, if one is asked for.
func (o *evalOptions) draw(ctx context.Context, a *app, r *metrics.ProbabilityReport) error {
	if o.diagram == "" {
		return nil
	}
	picture, err := summary.Reliability(r).Draw()
	if err != nil {
		return err
	}
	format := strings.ToLower(filepath.Ext(o.diagram))
	return a.Write(ctx, func() error {
		return atomicfile.Atomically(o.diagram,
			func(w io.Writer) error { return picture.Write(w, format, diagramWidth, diagramHeight) })
	})
}

// answered returns the rows that are not open, and how many are.
func answered(rows []int, open []bool) (kept []int, unsure int) {
	if open == nil {
		return rows, 0
	}
	kept = slices.DeleteFunc(slices.Clone(rows), func(i int) bool { return open[i] })
	return kept, len(rows) - len(kept)
}

// unsure returns predictions without those that are [pipeline.Unsure], and which points they
// are of; nil where that is a class like any other. Of integers text is left.
func unsure(truth, predicted *data.Labels) (*data.Labels, []bool) {
	mark := slices.Index(predicted.Names, pipeline.Unsure)
	if mark < 0 || slices.Contains(truth.Names, pipeline.Unsure) {
		return predicted, nil
	}
	out := *predicted
	points := make([]bool, predicted.Len())
	out.Index = slices.Clone(predicted.Index)
	values := make([]int64, predicted.Len())
	known := make([]bool, predicted.Len())

	// Integer classes beside the word "unsure" were read as text; they are turned back into
	// numbers, to be comparable with a truth of integers.
	integers := truth.Names == nil
	for i, c := range predicted.Index {
		switch {
		case int(c) == mark:
			points[i] = true
			out.Index[i] = data.Unlabeled
		case c != data.Unlabeled:
			v, err := strconv.ParseInt(predicted.Names[c], 10, 64)
			values[i] = v
			known[i] = true
			integers = integers && err == nil
		}
	}

	if !integers {
		return &out, points
	}
	again := data.NewLabels(values, known)
	again.Read = predicted.Read
	return again, points
}

// intervals measures the bounds in --interval where the true values are known; ids names the points, nil if they have no ids.
func (o *evalOptions) intervals(a *app, truth *mat.Dense, names []string, ids *data.IDs) (*metrics.IntervalReport, error) {
	if o.interval == "" {
		return nil, nil
	}
	n, m := truth.Dims()
	var bounds [2]*mat.Dense
	for i, name := range []string{"low", "high"} {
		var err error
		opt := data.ReadOptions{Limit: a.Left(), Points: n, IDs: ids}
		if names != nil && table.IsTable(o.interval) {
			order := &pipeline.LabelOrder{Owner: o.y}
			for _, of := range names {
				order.Labels = append(order.Labels, name+"_"+of)
			}
			bounds[i], _, err = pipeline.ReadValues(o.interval, opt, order)
		} else {
			bounds[i], err = data.ReadValues(o.interval+":"+name, opt)
		}
		if err != nil {
			return nil, err
		}
		// Both arrays have the shape of the truth, a bound for each value.
		if rows, cols := bounds[i].Dims(); rows != n || cols != m {
			return nil, fmt.Errorf("%s: %s is %d×%d for %d×%d true values; it must have a bound for each",
				o.interval, name, rows, cols, n, m)
		}
	}

	// Entries of the truth that are NaN have nothing to cover.
	var t, low, high []float64
	for i := range n {
		for j, v := range truth.RawRowView(i) {
			if v == v {
				t, low, high = append(t, v), append(low, bounds[0].At(i, j)), append(high, bounds[1].At(i, j))
			}
		}
	}

	r, err := metrics.NewIntervalReport(t, low, high)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.interval, err)
	}
	return r, nil
}
