package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
)

// A graph file keeps the lists and the index but not the points: they may be larger than all
// else, and their hash is in the manifest. A model that is a [models.Updater] keeps its
// targets too, and a fit anew by the same learner begins with its scores or eigenvectors
// (Input.Start): a family implements one method and no second fit. The solver of an update
// stops at a residual of 1e-2 unless told otherwise, which decides classes. A learner that
// chooses by the targets is a [models.Continuer]: an update of auto keeps members, settings
// and weights. Its members on the graph share the points, the index and, in prediction, one
// search (PredictSettings.Found).

// UpdateTolerance is the relative residual to which [Pipeline.Update] solves unless
// another is asked for, or the new points are more than a tenth of the old ones.
const UpdateTolerance = 1e-2

// Growth is what joins a model that was fitted to n points.
type Growth struct {
	Points data.Points // m new ones, as given; nil for none
	// Labels are the classes of the new points, or of all n+m, which then replace those
	// that the model was fitted with; nil for none. Values are the same of a regression.
	Labels *data.Labels
	Values *mat.Dense
	// Tolerance takes the place of the model's for the solver of the update. Zero is
	// the larger of the model's and [UpdateTolerance]; with many new points the model's.
	Tolerance float64
}

// Updated is a model with what it was fitted to.
type Updated struct {
	models.Model
	Old, New int // points
	// Labels is the number of labeled points of the model and of new labels.
	Labels, NewLabels int
	// NewClasses are those that no label of before has, NewNames their names, nil of integers.
	NewClasses []int64
	NewNames   []string
	Input      *models.Input

	names []string // of the classes, by their numbers; nil of integers
}

// Update fits the learner of m again, with the same settings, to the points and labels
// of m and to those of growth. The graph grows as by [Pipeline.Append]; the solver
// begins with the scores or eigenvectors of m, of a new point with the mean of those of
// its neighbours. What m does not hold for that is an error that names it.
//
// growth stays as it is. An error that is [models.Usable] comes with the model that was
// reached.
func (p *Pipeline) Update(ctx context.Context, l models.Learner, m models.Model,
	growth *Growth) (*Updated, error) {
	// Labels are recoded below, and growth stays as it is.
	own := *growth
	growth = &own
	names, calibrated := m.Output().Names, models.CalibrationOf(m)
	m = models.Unnamed(m)
	u, ok := m.(models.Updater)
	if !ok {
		return nil, fmt.Errorf("a %s model cannot be updated: it keeps neither the graph of all its "+
			"points nor their neighbours; fit it anew to all points (update is for auto, eigenmap, "+
			"harmonic, lgc, tikhonov, poisson and knn)", m.Name())
	}
	kept := u.Kept()
	if kept.Points == nil {
		return nil, errors.New("the model was fitted without points, so that no others can join it; " +
			"fit it anew with the points")
	}

	// The settings of the model are those of its file.
	e, err := m.Encode()
	if err != nil {
		return nil, err
	}
	old, _ := kept.Points.Dims()
	out := &Updated{Old: old}
	if err := out.name(m.Output().Classes, names, growth); err != nil {
		return nil, err
	}

	if growth.Points != nil {
		out.New, _ = growth.Points.Dims()
	}
	in := &models.Input{Values: e.Values, Seed: p.Seed}
	if in.Targets, err = out.targets(kept.Targets, growth); err != nil {
		return nil, err
	}
	// A learner without a graph is fitted to all points from the start.
	info := l.Info()
	if !info.UsesGraph(e.Values) {
		in.Points = kept.Points
		if growth.Points != nil {
			if in.Points, err = data.Join(kept.Points, growth.Points); err != nil {
				return nil, err
			}
		}
		m, complete, err := p.FitComplete(ctx, l, in, nil)
		if !models.Usable(err) {
			return nil, err
		}
		out.Model = m
		out.Input = complete
		out.Model, err = p.recalibrate(ctx, l, out, calibrated, err)
		return out, err
	}

	// The graph of the model grows; it may have been made of projected points, which are not
	// projected again.
	g := &Graph{Settings: GraphSettings{Metric: kept.Metric, Method: kept.Method, Graph: kept.Edges}}
	g.Neighborhood = *kept.Neighborhood
	if growth.Points == nil {
		growth.Points = data.Select(kept.Points, nil)
		g.PCA = nil
	}

	g, short := p.Append(ctx, g, growth.Points)
	if g == nil || g.W == nil || !models.Usable(short) {
		return nil, short
	}
	g.PCA = kept.PCA
	in.Graph = &g.Graph
	if info.Needs.Has(models.NeedsPoints) {
		in.Points = g.Points
	}

	// A new point begins with the mean of its neighbours.
	if kept.Start != nil {
		if in.Start, err = lanczos.Extend(g.W, kept.StartFor(in.Targets.Classes)); err != nil {
			return nil, err
		}
	}

	in.Values = in.Values.With(nil)
	out.loosen(l, in.Values, growth.Tolerance)
	// auto keeps its members and their weights.
	fitter := l
	if c, ok := l.(models.Continuer); ok {
		fitter = c.Continue(m, func(l models.Learner, v models.Values) { out.loosen(l, v, growth.Tolerance) })
	}

	fitted, complete, err := p.FitComplete(ctx, fitter, in, &g.Settings)
	if !models.Usable(err) {
		return nil, errors.Join(short, err)
	}
	out.Model = fitted
	out.Input = complete
	out.Input.Values = e.Values // with the tolerance of the model: folds begin with nothing
	out.Model, err = p.recalibrate(ctx, l, out, calibrated, err)
	return out, errors.Join(short, err)
}

// recalibrate gives an updated model the calibration c that the model had, or, where labels
// joined, one fitted anew; where that cannot be, a note says so. fitErr is usable.
func (p *Pipeline) recalibrate(ctx context.Context, l models.Learner, u *Updated, c *calibration.Calibration,
	fitErr error) (models.Model, error) {
	if c == nil {
		return u.Model, fitErr
	}
	// Without new labels the held-out answers would be the old ones.
	if u.NewLabels == 0 {
		m, err := models.WithCalibration(u.Model, c)
		return m, errors.Join(fitErr, err)
	}
	in := *u.Input
	// Folds begin with nothing: the scores of the model have seen the labels that a fold holds
	// back.
	in.Start = nil
	cost, err := selection.HeldOutCost(l, &in, c.Folds)
	var m models.Model
	if err == nil {
		m, err = p.calibrate(ctx, l, u.Model, &in, cost, c.Folds)
	}
	if err != nil && ctx.Err() == nil {
		p.Observed().Note(fmt.Sprintf("calibration: %v", err))
	}
	if m == nil {
		m = u.Model
	}
	return m, errors.Join(fitErr, ctx.Err())
}

// fewNew is the share of new points up to which [UpdateTolerance] is the default.
const fewNew = 0.1

// loosen puts the tolerance of an update in the place of the tolerance among the values, where
// the fit has one: a direct solver, as that of an exact kernel machine, has none.
func (u *Updated) loosen(l models.Learner, v models.Values, tolerance float64) {
	if tolerance == 0 && float64(u.New) > fewNew*float64(u.Old) {
		return
	}
	params := l.Params()
	i := slices.IndexFunc(params, func(p models.Param) bool { return p.Name == "tolerance" })
	if i < 0 {
		return
	}
	if tolerance == 0 {
		of, given := v["tolerance"]
		if !given {
			of = params[i].Default
		}
		tolerance = math.Max(UpdateTolerance, models.Values{"tolerance": of}.Float("tolerance"))
	}

	loose := models.Values{"tolerance": models.FormatFloat(tolerance)}
	for _, fault := range models.Faults(models.CheckFor(l, v.With(loose))) {
		if unused := (*models.UnusedError)(nil); errors.As(fault, &unused) && unused.Name == "tolerance" {
			return
		}
	}
	v["tolerance"] = loose["tolerance"]
}

// name brings the classes of the new labels to those of the model: equal names are equal
// classes, and the digits of integers are names.
func (u *Updated) name(classes []int64, names []string, growth *Growth) error {
	y := growth.Labels
	switch {
	case y == nil:
		u.names = names
	case names != nil:
		growth.Labels = y.Recode(classes, names)
		u.names = growth.Labels.Names
	case y.Names != nil:
		return fmt.Errorf("the classes of the model are integers, and those of the new labels are "+
			"names, %q among them; name integers, or fit anew", y.Names[0])
	}

	return nil
}

// targets returns those of all points: before are those of the model, nil if they are
// not known.
func (u *Updated) targets(before *models.Targets, growth *Growth) (*models.Targets, error) {
	n := u.Old + u.New
	given, what := 0, ""
	switch {
	case growth.Labels != nil && growth.Values != nil:
		return nil, errors.New("pipeline: classes and values at once")
	case growth.Labels != nil:
		given = growth.Labels.Len()
		what = "labels"
	case growth.Values != nil:
		given = growth.Values.RawMatrix().Rows
		what = "values"
	}

	// Labels are for the new points alone, or for all points.
	if given != 0 && given != u.New && given != n {
		text := fmt.Sprintf("%d for all points", n)
		if u.New > 0 {
			text = fmt.Sprintf("%d for the new points, or %s", u.New, text)
		}
		return nil, fmt.Errorf("there are %d %s; give %s", given, what, text)
	}

	// The first model files did not keep which points were labeled.
	if before == nil && given != n {
		return nil, fmt.Errorf("the model file does not hold which points were labeled, as those of "+
			"before version 0.2: give the labels of all %d points with %s, or fit anew", n, param.Name("y"))
	}

	if before != nil {
		u.Labels = len(before.Labeled)
		if given != 0 && (before.Classes != nil) != (growth.Labels != nil) {
			return nil, errors.New("the model learned classes and values are given, or the other way round")
		}
	}

	if before != nil && before.Classes == nil || growth.Values != nil {
		return u.values(before, growth)
	}
	// Labels of before come first, and labels that are given replace them.
	values := make([]int64, n)
	known := make([]bool, n)
	if before != nil && given != n {
		for q, i := range before.Labeled {
			values[i] = before.Classes[before.Class(q)]
			known[i] = true
		}
	}

	if y := growth.Labels; y != nil {
		for i, c := range y.Index {
			if c != data.Unlabeled {
				at := n - given + i
				values[at] = y.Classes[c]
				known[at] = true
				u.NewLabels++
			}
		}
	}

	// Classes are numbered anew, as new labels may bring new classes.
	y := data.NewLabels(values, known)
	if before != nil {
		u.NewClasses = missing(y.Classes, before.Classes)
	}
	if u.names != nil {
		y.Names, u.NewNames = u.named(y.Classes), u.named(u.NewClasses)
	}
	return models.ClassTargets(y)
}

// named returns the names of classes.
func (u *Updated) named(classes []int64) []string {
	out := make([]string, len(classes))
	for i, c := range classes {
		out[i] = u.names[c]
	}
	return out
}

// missing returns the elements of a that are not in b.
func missing(a, b []int64) []int64 {
	in := map[int64]bool{}
	for _, v := range b {
		in[v] = true
	}
	var out []int64
	for _, v := range a {
		if !in[v] {
			out = append(out, v)
		}
	}
	return out
}

// values is targets for a regression.
func (u *Updated) values(before *models.Targets, growth *Growth) (*models.Targets, error) {
	n := u.Old + u.New
	columns := 0
	given := 0
	if before != nil {
		_, columns = before.Y.Dims()
	}
	if y := growth.Values; y != nil {
		rows, cols := y.Dims()
		if columns != 0 && cols != columns {
			return nil, fmt.Errorf("%d values a point for a model of %d", cols, columns)
		}
		given = rows
		columns = cols
	}

	// NaN marks a point without a value.
	all := mat.NewDense(n, columns, nil)
	for i := range n {
		blankRow(all, i)
	}
	if before != nil && given != n {
		for q, i := range before.Labeled {
			copy(all.RawRowView(i), before.Y.RawRowView(q))
		}
	}

	// Given values are of the last points, or of all.
	for i := range given {
		row := growth.Values.RawRowView(i)
		copy(all.RawRowView(n-given+i), row)
		if row[0] == row[0] {
			u.NewLabels++
		}
	}

	return models.ValueTargets(all)
}

// String says what joined.
func (u *Updated) String() string {
	text := fmt.Sprintf("%d points joined %d", u.New, u.Old)
	if u.NewLabels > 0 {
		text += fmt.Sprintf(", %d labels joined %d", u.NewLabels, u.Labels)
	}
	if len(u.NewClasses) > 0 {
		text += "; new classes:"
		for c := range u.NewClasses {
			text += " " + data.ClassName(u.NewClasses, u.NewNames, int32(c))
		}
	}

	return text
}

// Recall is that of the neighbours of an updated model; nil if they are exact.
func (u *Updated) Recall() *knn.Recall {
	if g := u.Input.Graph; g != nil && g.Index != nil && g.Index.Stats != nil {
		return &g.Index.Stats.Recall
	}
	return nil
}
