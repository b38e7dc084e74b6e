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

// A graph file keeps the lists and the index but not the points: they may be larger than the
// rest, and their hash is in the manifest. A model that is a [models.Updater] keeps its targets
// too. The same learner is fitted again and begins with the scores or eigenvectors of the model
// (Input.Start), so a family implements one method and no second fit. The solver of an update
// stops at a residual of 1e-2 unless told otherwise, which is enough to decide classes. A
// learner that chooses by the targets is a [models.Continuer]: an update of auto keeps members,
// settings and weights. Its members on the graph share the points, the index and, in prediction,
// one search (PredictSettings.Found).

// UpdateTolerance is the relative residual at which the solver of [Pipeline.Update] stops by
// default, unless the new points are more than a tenth of the old ones.
const UpdateTolerance = 1e-2

// Growth holds the points and labels that join a model of n points.
type Growth struct {
	Points data.Points // m new points, as given; nil for none
	// Labels holds the classes of the m new points, or of all n+m points, which then replace
	// the labels that the model was fitted with; nil for none. Values holds the values of a
	// regression in the same way.
	Labels *data.Labels
	Values *mat.Dense
	// Tolerance of the solver of the update. Zero means the larger of the model's tolerance
	// and [UpdateTolerance], or, with many new points, the model's tolerance.
	Tolerance float64
}

// Updated is an updated model with the input of its fit.
type Updated struct {
	models.Model
	Old, New int // numbers of points
	// Labels is the number of labeled points of the old model, NewLabels the number of new
	// labels.
	Labels, NewLabels int
	// NewClasses holds the classes that no old label has, and NewNames their names; NewNames
	// is nil for integers.
	NewClasses []int64
	NewNames   []string
	Input      *models.Input

	names []string // names of the classes by number; nil for integers
}

// Update fits the learner of m again, with the same settings, to the points and labels of m and
// of growth. The graph grows by [Pipeline.Append]. The solver begins with the scores or
// eigenvectors of m, and at a new point with the mean over its neighbours. If m lacks something
// that this needs, the error names it.
//
// Update does not change growth. An error that is [models.Usable] comes with the model that was
// reached.
func (p *Pipeline) Update(ctx context.Context, l models.Learner, m models.Model,
	growth *Growth) (*Updated, error) {
	// Labels are recoded below, and growth stays as it is.
	own := *growth
	growth = &own
	names := m.Output().Names
	calibrated := models.CalibrationOf(m)
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

	// The file of a model has all settings in use, chosen ones included.
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
	out.Input.Values = e.Values // the tolerance of the model, as folds have no start
	out.Model, err = p.recalibrate(ctx, l, out, calibrated, err)
	return out, errors.Join(short, err)
}

// recalibrate gives an updated model the calibration c of the old model, or a new one if labels
// joined. A note says if no calibration can be fitted. fitErr is usable.
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

// fewNew is the largest share of new points for which [UpdateTolerance] is the default. With
// more of them the start is too far from the solution for a loose residual.
const fewNew = 0.1

// loosen replaces the tolerance among the values by the tolerance of an update. A fit by a
// direct solver, such as an exact kernel machine, has no tolerance and stays.
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

	// Whether a tolerance matters depends on the other values: ask by a check.
	loose := models.Values{"tolerance": models.FormatFloat(tolerance)}
	for _, fault := range models.Faults(models.CheckFor(l, v.With(loose))) {
		if unused := (*models.UnusedError)(nil); errors.As(fault, &unused) && unused.Name == "tolerance" {
			return
		}
	}
	v["tolerance"] = loose["tolerance"]
}

// name brings the new labels to the classes of the model. Equal names are equal classes; the
// digits of an integer count as its name.
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

// targets returns the targets of all points. before holds the targets of the model, nil if they
// are not known.
func (u *Updated) targets(before *models.Targets, growth *Growth) (*models.Targets, error) {
	n := u.Old + u.New
	given := 0
	what := ""
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
	// The labels of the model come first; labels for all points replace them.
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
		y.Names = u.named(y.Classes)
		u.NewNames = u.named(u.NewClasses)
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

// values is [Updated.targets] for a regression.
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

	// Given values belong to the last points, or to all points.
	for i := range given {
		row := growth.Values.RawRowView(i)
		copy(all.RawRowView(n-given+i), row)
		if row[0] == row[0] {
			u.NewLabels++
		}
	}

	return models.ValueTargets(all)
}

// String counts the points, labels and classes that joined.
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

// Recall returns the recall of the neighbours of an updated model; nil if they are exact.
func (u *Updated) Recall() *knn.Recall {
	if g := u.Input.Graph; g != nil && g.Index != nil && g.Index.Stats != nil {
		return &g.Index.Stats.Recall
	}
	return nil
}
