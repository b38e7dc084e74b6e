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
	// IDs name the new points. They are needed if the points of the model have ids, and must differ
	// from these; a model whose points have numbers only takes none.
	IDs *data.IDs
	// Labels holds the classes of the m new points, or of all n+m points, which then replace
	// the labels that the model was fitted with; nil for none. Values holds the values of a
	// regression in the same way.
	Labels *data.Labels
	Values *mat.Dense
	// Graph is the graph of a model that was fitted to one without points, which takes labels alone.
	Graph *Graph
	// Shares holds distributions over classes in place of Labels. Answers holds labels of annotators, of all n+m points;
	// they join those that the model keeps ([models.Consensus]), and the consensus of all is found again.
	Shares  *data.Shares
	Answers *data.Annotations
	// Joined tells that Labels or Values, of all n+m points, join those of the model: they count for
	// the points in Listed alone, ascending, and take the label of such a point away where they
	// have none.
	Joined bool
	Listed []int
	// Forget holds points of the model, ascending, that leave its points, labels, lists of
	// neighbours and answers. They count among the n points of Labels, Values and Listed.
	Forget []int
	// Tolerance of the solver of the update. Zero means the larger of the model's tolerance
	// and [UpdateTolerance], or, with many new points, the model's tolerance.
	Tolerance float64
}

// Updated is an updated model with the input of its fit.
type Updated struct {
	models.Model
	// Old is the number of points of the old model that stay, New the number of new points, and
	// Forgotten the number of points that left.
	Old, New, Forgotten int
	// Labels is the number of labels of the old model. NewLabels counts the labels of points that
	// had none, or, where labels replace those of the model, all of them; Changed counts the labels
	// that were other ones, Equal those that were there already, and Removed those that were
	// taken away.
	Labels, NewLabels, Changed, Equal, Removed int
	// NewClasses holds the classes that no old label has, and NewNames their names; NewNames
	// is nil for integers.
	NewClasses []int64
	NewNames   []string
	Input      *models.Input

	names []string // names of the classes by number, or of the values; nil if they have none
	stay  []int    // points of the old model that stay; nil for all
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
	ids := models.IDsOf(m)
	whole := m
	m = models.Unnamed(m)
	u, ok := m.(models.Updater)
	if !ok {
		return nil, fmt.Errorf("a %s model cannot be updated: it keeps neither the graph of all its "+
			"points nor their neighbours; fit it anew to all points (update is for auto, eigenmap, "+
			"harmonic, lgc, tikhonov, poisson and knn)", m.Name())
	}
	kept := u.Kept()
	old, err := growth.joins(kept)
	if err != nil {
		return nil, err
	}

	// The file of a model has all settings in use, chosen ones included.
	e, err := m.Encode()
	if err != nil {
		return nil, err
	}
	out := &Updated{}
	if out.stay, err = staying(old, growth.Forget); err != nil {
		return nil, err
	}
	out.Forgotten = len(growth.Forget)
	out.Old = old - out.Forgotten
	if growth.Points != nil {
		out.New, _ = growth.Points.Dims()
	}
	growth, agreed, err := p.agreeAgain(ctx, whole, growth, out)
	if err != nil {
		return nil, err
	}
	if err := out.name(m.Output().Classes, names, growth); err != nil {
		return nil, err
	}

	in := &models.Input{Columns: models.ColumnsOf(whole), Values: e.Values, Seed: p.Seed}
	if ids != nil && out.stay != nil {
		ids = ids.Select(out.stay)
	}
	if in.IDs, err = AppendIDs(ids, growth.IDs, out.New); err != nil {
		return nil, err
	}
	if in.Targets, err = out.targets(kept.Targets, growth); err != nil {
		return nil, err
	}
	// A learner without a graph is fitted to all points from the start.
	info := l.Info()
	if !info.UsesGraph(e.Values) {
		in.Points = selected(kept.Points, out.stay)
		if growth.Points != nil {
			if in.Points, err = data.Join(in.Points, growth.Points); err != nil {
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
		return out, errors.Join(err, out.agree(agreed))
	}

	g, short := growth.Graph, error(nil)
	if g == nil {
		if g, short = p.grown(ctx, kept, growth, out.stay); !models.Usable(short) {
			return nil, short
		}
	}
	in.Graph = &g.Graph
	if info.Needs.Has(models.NeedsPoints) {
		in.Points = g.Points
	}

	// A new point begins with the mean of its neighbours.
	if kept.Start != nil {
		start := models.StartAt(kept.StartFor(in.Targets.Classes), out.stay)
		if in.Start, err = lanczos.Extend(g.W, start); err != nil {
			return nil, err
		}
	}

	// Other labels need other held-out answers.
	in.HoldOut = calibrated != nil && out.relabeled()
	in.Values = in.Values.With(nil)
	out.loosen(l, in.Values, growth.Tolerance)
	// auto keeps its members and their weights.
	fitter := l
	if c, ok := l.(models.Continuer); ok {
		fitter = c.Continue(m, out.stay,
			func(l models.Learner, v models.Values) { out.loosen(l, v, growth.Tolerance) })
	}

	fitted, complete, err := p.FitComplete(ctx, fitter, in, &g.Settings)
	if !models.Usable(err) {
		return nil, errors.Join(short, err)
	}
	out.Model = fitted
	out.Input = complete
	out.Input.Values = e.Values // the tolerance of the model, as folds have no start
	out.Model, err = p.recalibrate(ctx, l, out, calibrated, err)
	return out, errors.Join(short, err, out.agree(agreed))
}

// joins returns the number of points of a model, or an error if the growth cannot join what it keeps of them.
func (g *Growth) joins(kept *models.Kept) (int, error) {
	switch {
	case kept.Points != nil && g.Graph != nil:
		return 0, fmt.Errorf("the model keeps its points, and the neighbours that their graph is made of: leave %s out",
			param.Name("graph"))
	case kept.Points != nil:
		n, _ := kept.Points.Dims()
		return n, nil
	case g.Graph == nil:
		return 0, fmt.Errorf("the model was fitted to a graph without points, and does not keep it; give the graph with %s, or "+
			"fit anew to the graph and all labels", param.Name("graph"))
	case g.Points != nil || g.Forget != nil:
		return 0, errors.New("the model was fitted to a graph without points, and takes new labels alone; make the graph of " +
			"all points, and fit anew")
	case g.Graph.W.Rows != len(kept.Degrees):
		return 0, fmt.Errorf("the graph has %d points and the model %d: give the graph that the model was fitted to",
			g.Graph.W.Rows, len(kept.Degrees))
	}
	return g.Graph.W.Rows, nil
}

// grown returns the graph of the points of kept that stay, nil for all, and of those that join.
func (p *Pipeline) grown(ctx context.Context, kept *models.Kept, growth *Growth, stay []int) (*Graph, error) {
	g, short := p.graphOf(ctx, kept, stay)
	if !models.Usable(short) {
		return nil, short
	}
	more := growth.Points
	if more == nil {
		more = data.Select(kept.Points, nil)
		g.PCA = nil // they are projected already
	}
	g, fault := p.Append(ctx, g, more)
	if g == nil || g.W == nil || !models.Usable(fault) {
		return nil, fault
	}
	g.PCA = kept.PCA
	return g, errors.Join(short, fault)
}

// agree gives the updated model the consensus of its annotators, if there is one.
func (u *Updated) agree(c *models.Consensus) error {
	m, err := Agreed(u.Model, c, u.Input.Targets)
	if err == nil {
		u.Model = m
	}
	return err
}

// recalibrate gives an updated model the calibration c of the old model, or a new one if labels
// changed. A note says if no calibration can be fitted. fitErr is usable.
func (p *Pipeline) recalibrate(ctx context.Context, l models.Learner, u *Updated, c *calibration.Calibration,
	fitErr error) (models.Model, error) {
	if c == nil {
		return u.Model, fitErr
	}
	// Without new labels the held-out answers would be the old ones.
	if !u.relabeled() {
		m, err := models.WithCalibration(u.Model, c)
		return m, errors.Join(fitErr, err)
	}
	// Folds begin with nothing: the scores of the model have seen the labels that a fold holds
	// back.
	in := *u.Input
	in.Start = nil
	m, err := p.CalibrateByDefault(ctx, l, u.Model, &in)
	if err != nil && ctx.Err() == nil {
		p.Observed().Note(fmt.Sprintf("calibration: %v", err))
	}
	if m == nil {
		m = u.Model
	}
	return m, errors.Join(fitErr, ctx.Err())
}

// relabeled tells whether the update changed the labels.
func (u *Updated) relabeled() bool { return u.NewLabels+u.Changed+u.Removed+u.Forgotten > 0 }

// fewNew is the largest share of new points for which [UpdateTolerance] is the default. With
// more of them the start is too far from the solution for a loose residual.
const fewNew = 0.1

// loosen replaces the tolerance among the values by the tolerance of an update.
func (u *Updated) loosen(l models.Learner, v models.Values, tolerance float64) {
	switch {
	case tolerance > 0:
		setTolerance(l, v, tolerance)
	case float64(u.New) <= fewNew*float64(u.Old):
		loosen(l, v, UpdateTolerance)
	}
}

// loosen replaces the tolerance among the values by another one, unless it is larger.
func loosen(l models.Learner, v models.Values, tolerance float64) {
	params := l.Params()
	i := slices.IndexFunc(params, func(p models.Param) bool { return p.Name == "tolerance" })
	if i < 0 {
		return
	}
	of, given := v["tolerance"]
	if !given {
		of = params[i].Default
	}
	setTolerance(l, v, math.Max(tolerance, models.Values{"tolerance": of}.Float("tolerance")))
}

// setTolerance replaces the tolerance among the values. A fit by a direct solver, such as an exact
// kernel machine, has no tolerance and stays.
func setTolerance(l models.Learner, v models.Values, tolerance float64) {
	if !slices.ContainsFunc(l.Params(), func(p models.Param) bool { return p.Name == "tolerance" }) {
		return
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

// graphOf returns the graph of the points of kept that stay, nil for all. A graph without some of
// its points is made anew from the points that stay, which have their principal components already:
// any list of neighbours may have lost some.
func (p *Pipeline) graphOf(ctx context.Context, kept *models.Kept, stay []int) (*Graph, error) {
	g := &Graph{Settings: GraphSettings{Metric: kept.Metric, Method: kept.Method, Graph: kept.Edges}}
	if stay == nil {
		var err error
		g.Neighborhood, err = kept.WithLists()
		return g, err
	}

	made, short := p.Graph(ctx, selected(kept.Points, stay), &g.Settings)
	if !models.Usable(short) {
		return nil, short
	}
	made.PCA = kept.PCA
	return made, short
}

// String counts the points, labels and classes that joined, changed and left.
func (u *Updated) String() string {
	text := fmt.Sprintf("%d points joined %d", u.New, u.Old)
	if u.Forgotten > 0 {
		text += fmt.Sprintf(", %d points left", u.Forgotten)
	}
	if u.NewLabels > 0 {
		text += fmt.Sprintf(", %d labels joined %d", u.NewLabels, u.Labels)
	}
	for _, part := range []struct {
		count int
		what  string
	}{{u.Changed, "changed"}, {u.Equal, "equal"}, {u.Removed, "removed"}} {
		if part.count > 0 {
			text += fmt.Sprintf(", %d %s", part.count, part.what)
		}
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
