// Package selection chooses among settings of a learner by cross-validation on the
// labels. It knows no learner by name.
package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/stage"
)

// defaultFolds is the number of folds, where there are as many labels: each model knows 80 % of
// the labels, and a search costs five times as many fits as there are settings.
const defaultFolds = 5

// Settings of [Search]. The zero value is ready for use.
type Settings struct {
	// Folds of the cross-validation. Default 5, at most the number of labels.
	Folds int
	// Repeats is how often labels are dealt into folds anew. Default 1.
	Repeats int
	// Seed of the folds, and of everything random in the fits.
	Seed uint64
	// Criterion defaults to the error, or for values to the RMSE.
	Criterion Criterion
	// Memory, if positive, bounds the bytes that [Cost] estimates.
	Memory int64
	// OnProgress, if not nil, receives a copy of the result so far whenever fits are finished.
	// Its calls do not overlap.
	OnProgress func(*Result)
	// OnFits, if not nil, receives the outcomes of all finished fits whenever some are
	// finished, in calls that do not overlap; an error ends the search. Known holds such
	// outcomes of an earlier search with the same data, grid and settings: those fits are not
	// repeated, except for work that they share with others.
	OnFits func([]Fit) error
	Known  []Fit
	// KeepAnswers keeps the answers of the first repetition for Result.HeldOut, if those of all
	// settings take at most 64 MiB.
	KeepAnswers bool
}

// mostKept bounds the bytes of answers that a search keeps.
const mostKept = 64 << 20

// Result of a cross-validation.
type Result struct {
	Criterion Criterion `json:"metric"`
	Folds     int       `json:"folds"`
	Repeats   int       `json:"repeats"`
	Seed      uint64    `json:"seed"`
	Labeled   int       `json:"labeled"`
	// Done of Total fits are finished; a failed fit is finished too.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Scores of all settings, best first: see [Search].
	Scores []Score `json:"scores"`
	// HeldOut has the answers of the best setting for the labels that were held out; nil without
	// Settings.KeepAnswers, or where some are not known.
	HeldOut *models.HeldOut `json:"-"`
}

// Score of a setting in a cross-validation.
type Score struct {
	Setting Setting        `json:"setting"`
	Mean    metrics.Number `json:"mean"` // of Folds, without NaN
	// StdErr is the standard error of Mean, the deviation of the folds over the
	// root of their number; NaN with fewer than two.
	StdErr metrics.Number `json:"std_err"`
	// Folds are the criterion on every fold, repetition by repetition; NaN where
	// it is not defined, the fit failed or is not done.
	Folds []metrics.Number `json:"folds"`
	Done  int              `json:"done"` // finished fits
	// Unconverged counts fits that did not converge; their answers count as they are. Fits
	// that share their work share the verdict.
	Unconverged int `json:"unconverged,omitempty"`
	// Fault is why a fit failed, if one did.
	Fault string `json:"fault,omitempty"`

	at int // in the order of the grid
}

// Best returns the first of Scores.
func (r *Result) Best() *Score { return &r.Scores[0] }

// Search chooses among the settings of a grid by cross-validation on the labels of d: the
// labeled points are dealt into folds (see [models.Targets.Folds]), and each fold is held out
// once. Its labels are unknown to the model, its points are not. The γ's mean the same with a
// fold held out as on all labels, because the loss is a mean over the labels.
//
// The result lists settings by the mean of the criterion over the folds, best first. Two means
// are equal if they agree in twelve digits of the largest; then the stronger regularization
// comes first. Settings that are not finished come next, and settings with failed fits last.
// Failed fits are no error as long as one setting is left. A class without a label outside a
// fold is unknown there, and its points count as wrong; it is an error if fewer than two
// classes are left.
//
// Graphs are cut from the lists of d. A [models.GridLearner] shares its work among the
// settings and folds; any other learner fits a model for each. Folds run in parallel; the
// result has the same bits at any GOMAXPROCS.
//
// When ctx is cancelled, the result holds the fits that were finished. An error that is
// [models.Usable] says that fits of the best setting did not converge, and comes with the
// whole result.
func Search(ctx context.Context, d *Data, g *Grid, s *Settings) (*Result, error) {
	t, err := newSearch(d, g, s)
	if err != nil {
		return nil, err
	}
	return t.choose(ctx)
}

// choose runs the fits that are not known and ranks the settings.
func (t *search) choose(ctx context.Context) (*Result, error) {
	if limit := t.settings.Memory; limit > 0 {
		c, err := t.cost()
		if err != nil {
			return nil, err
		}
		if c.Bytes > limit {
			return nil, fmt.Errorf("selection: cross-validation takes %d bytes, %d are allowed; %s, "+
				"or allow more memory", c.Bytes, limit, c.Remedy)
		}
	}

	var err error
	shared := slices.ContainsFunc(t.grid.Settings, func(v models.Values) bool { return v.Shared(t.learner.Params()) })
	if l, ok := t.learner.(models.GridLearner); ok && !(shared && lacksClass(t.grid.Targets, t.grid.Splits)) {
		err = l.FitGrid(ctx, t.grid)
	} else {
		err = t.fitEach(ctx)
	}

	// On a cancelled context the finished fits are ranked and returned.
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	r := t.snapshot()
	best := r.Best()
	r.HeldOut = t.heldOut(best.at)
	failed := func(err error) bool { return !models.Usable(err) }
	unconverged := func(err error) bool { return err != nil && models.Usable(err) }
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case best.Fault != "":
		return nil, fmt.Errorf("%w (with %s)", t.fault(best, failed), best.Setting)
	case math.IsNaN(float64(best.Mean)):
		return nil, fmt.Errorf("selection: %v is not defined on any fold: too few points in each, or "+
			"all of one class; take fewer folds or another criterion", r.Criterion)
	case best.Unconverged > 0:
		return r, fmt.Errorf("selection: %d of %d fits of the best setting did not converge: %w",
			best.Unconverged, best.Done, t.fault(best, unconverged))
	}

	return r, nil
}

// Cost estimates what [Search] takes beside its data, and returns the number of
// settings.
func Cost(d *Data, g *Grid, s *Settings) (cost stage.Cost, settings int, err error) {
	t, err := newSearch(d, g, s)
	if err != nil {
		return stage.Cost{}, 0, err
	}
	cost, err = t.cost()
	return cost, len(t.points), err
}

// search is a run of Search.
type search struct {
	data     Data
	learner  models.Learner
	settings Settings
	points   []Setting
	grid     *models.Grid
	graphs   map[int]*models.Graph // by number of neighbours

	mu     sync.Mutex
	scores []Score           // in the order of points
	errs   [][]error         // of every setting on every split
	kept   [][]models.Answer // of every setting on the splits of the first repetition; nil if none are kept
	done   [][]bool
	halt   error // of OnFits
}

// newSearch checks and completes the arguments of Search.
func newSearch(d *Data, g *Grid, s *Settings) (*search, error) {
	t := &search{data: *d, learner: g.Learner}
	if s != nil {
		t.settings = *s
	}
	if err := d.check(g.Learner); err != nil {
		return nil, err
	}
	var err error
	t.points, err = d.settingsOf(g, t.settings.Seed, t.settings.Memory)
	if err := errors.Join(err, t.fillSettings()); err != nil {
		return nil, err
	}
	return t, t.begin()
}

// begin deals the folds and makes room for the scores of all settings.
func (t *search) begin() (err error) {
	t.graphs = map[int]*models.Graph{}
	t.grid = &models.Grid{Input: t.data.input(t.settings.Seed, t.settings.Memory),
		GraphOf:  func(i int) (*models.Graph, error) { return t.graph(t.points[i].Neighbors) },
		GraphKey: t.graphKey, Run: t.run, Fail: t.fail}
	if t.data.shared != nil {
		t.grid.Eigensolver = t.data.shared.solve
	}
	if t.grid.Splits, err = t.data.Targets.Splits(t.settings.Folds, t.settings.Repeats,
		t.settings.Seed); err != nil {
		return err
	}

	// Scores stay NaN until the fits are finished. Memory is announced for the largest graph.
	for i, p := range t.points {
		t.grid.Settings = append(t.grid.Settings, p.Values)
		t.grid.Edges = max(t.grid.Edges, t.data.edges(t.learner, p))
		score := Score{Setting: p, Folds: slices.Repeat([]metrics.Number{metrics.Number(math.NaN())},
			len(t.grid.Splits)), at: i}
		t.scores = append(t.scores, score)
		t.errs = append(t.errs, make([]error, len(t.grid.Splits)))
		t.done = append(t.done, make([]bool, len(t.grid.Splits)))
	}

	y := t.data.Targets.Y.RawMatrix()
	answers := 8 * int64(len(t.points)) * int64(y.Rows) * int64(max(y.Cols, len(t.data.Targets.Classes)))
	if t.settings.KeepAnswers && answers <= mostKept {
		t.kept = make([][]models.Answer, len(t.points))
		for i := range t.kept {
			t.kept[i] = make([]models.Answer, t.settings.Folds)
		}
	}
	t.restore(t.settings.Known)
	return nil
}

// heldOut returns the kept answers of a setting, nil if some are not known.
func (t *search) heldOut(setting int) *models.HeldOut {
	if t.kept == nil {
		return nil
	}
	for _, a := range t.kept[setting] {
		if a.Scores == nil {
			return nil
		}
	}
	folds := t.settings.Folds
	h := &HeldOut{Folds: folds, Targets: t.data.Targets, Splits: t.grid.Splits[:folds], Answers: t.kept[setting]}
	return h.answers()
}

// graphKey names the graph of a setting.
func (t *search) graphKey(setting int) string {
	info := t.learner.Info()
	if !info.UsesGraph(t.points[setting].Values) {
		return ""
	}
	return "k=" + strconv.Itoa(t.points[setting].Neighbors)
}

// fillSettings fills in defaults.
func (t *search) fillSettings() (err error) {
	s := &t.settings
	if s.Folds < 0 || s.Repeats < 0 {
		return fmt.Errorf("selection: %d folds, repeated %d times; the numbers must be positive", s.Folds,
			s.Repeats)
	}
	s.Repeats = max(1, s.Repeats)
	if s.Folds == 0 {
		s.Folds = min(defaultFolds, len(t.data.Targets.Labeled))
	}
	s.Criterion, err = s.Criterion.of(t.data.Targets)
	return err
}

// cost estimates the memory and the operations of the run.
func (t *search) cost() (stage.Cost, error) {
	splits := len(t.grid.Splits)
	if l, ok := t.learner.(models.GridLearner); ok {
		c, err := l.GridCost(t.grid)
		return c.Cost(splits), err
	}
	// The learner fits each setting on each split by itself. One graph is in memory at a time:
	// 12 bytes an edge for its entries, and as much while it is made.
	var total models.GridCost
	for i := range t.points {
		in := t.grid.With(i)
		in.Edges = t.data.edges(t.learner, t.points[i])
		c, err := t.learner.Cost(in)
		if err != nil {
			return stage.Cost{}, err
		}
		total.Fold = max(total.Fold, c.Bytes)
		total.Operations += c.Operations * float64(splits)
		total.Remedy = c.Remedy
	}

	total.Shared = 24 * int64(t.grid.Edges)
	return total.Cost(splits), nil
}

// fitEach fits a model for every setting and split.
func (t *search) fitEach(ctx context.Context) error {
	// Settings with the same graph come one after the other, so that one graph is held at a
	// time.
	for _, same := range models.Grouped(t.grid.All(), t.graphKey) {
		var graph *models.Graph
		if t.graphKey(same[0]) != "" {
			var err error
			if graph, err = t.grid.GraphOf(same[0]); err != nil {
				return err
			}
		}

		for _, setting := range same {
			err := t.run(ctx, []int{setting}, func(s *models.Split) []models.Answer {
				in := t.grid.With(setting)
				in.Graph = graph
				in.Targets = s.Train
				in.Values = models.SharesOf(t.learner.Params(), in.Values, t.grid.Targets.Classes, s.Train.Classes)
				return []models.Answer{t.data.answer(ctx, t.learner, in, s.Points)}
			})
			if err != nil {
				return err
			}
		}
	}

	return nil
}

// graph returns the graph of the given number of neighbours. A graph that the data hold serves
// for any number.
func (t *search) graph(neighbors int) (*models.Graph, error) {
	switch {
	case t.data.Graph != nil:
		return t.data.Graph, nil
	case t.data.shared != nil:
		return t.data.shared.graphs[neighbors], nil
	case t.graphs[neighbors] != nil:
		return t.graphs[neighbors], nil
	}

	g, err := t.data.cut(neighbors)
	if err != nil {
		return nil, err
	}
	clear(t.graphs) // settings come graph by graph
	t.graphs[neighbors] = g
	return g, nil
}

// run calls fit for every split and records its answers for the given settings.
func (t *search) run(ctx context.Context, settings []int, fit func(*models.Split) []models.Answer) error {
	par.For(len(t.grid.Splits), 1, func(f, _ int) {
		if ctx.Err() != nil || t.known(settings, f) {
			return
		}
		answers := fit(t.grid.Splits[f])
		if ctx.Err() == nil { // else they may have been cut short
			t.record(f, settings, answers)
		}
	})

	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(ctx.Err(), t.halt)
}

// fail records that the settings cannot be fitted.
func (t *search) fail(settings []int, err error) {
	answers := slices.Repeat([]models.Answer{{Err: err}}, len(settings))
	for f := range t.grid.Splits {
		t.record(f, settings, answers)
	}
}

// record measures answers for settings on split f.
func (t *search) record(f int, settings []int, answers []models.Answer) {
	values := make([]float64, len(settings))
	for i, a := range answers {
		values[i] = math.NaN()
		if models.Usable(a.Err) {
			v, err := Measure(t.data.Targets, t.settings.Criterion, t.grid.Splits[f], a)
			if err != nil {
				answers[i].Err = err
				continue
			}
			values[i] = v
		}
	}

	// Measuring is done without the lock. A fit that is known from an earlier run keeps its
	// outcome.
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, p := range settings {
		if t.done[p][f] {
			continue
		}
		t.done[p][f] = true
		t.scores[p].Folds[f] = metrics.Number(values[i])
		t.scores[p].Done++
		t.errs[p][f] = answers[i].Err
		if t.kept != nil && f < len(t.kept[p]) && models.Usable(answers[i].Err) {
			t.kept[p][f] = answers[i]
		}
	}

	if t.settings.OnFits != nil && t.halt == nil {
		t.halt = t.settings.OnFits(t.fits())
	}
	if t.settings.OnProgress != nil {
		t.settings.OnProgress(t.ranked())
	}
}

// snapshot returns the result so far; it takes the lock that ranked needs.
func (t *search) snapshot() *Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ranked()
}

// ranked returns the result so far, best setting first. The caller holds the lock.
func (t *search) ranked() *Result {
	s := t.settings
	r := &Result{Criterion: s.Criterion, Folds: s.Folds, Repeats: s.Repeats, Seed: s.Seed,
		Labeled: len(t.data.Targets.Labeled),
		Total:   len(t.points) * len(t.grid.Splits), Scores: slices.Clone(t.scores)}
	var largest float64
	for i := range r.Scores {
		score := &r.Scores[i]
		score.Folds = slices.Clone(score.Folds)
		score.Mean, score.StdErr = meanOfFolds(score.Folds)
		for _, err := range t.errs[i] {
			switch {
			case err == nil:
			case models.Usable(err):
				score.Unconverged++
			case score.Fault == "":
				score.Fault = err.Error()
			}
		}

		r.Done += score.Done
		if v := math.Abs(float64(score.Mean)); v > largest { // NaN is not
			largest = v
		}
	}

	// The sort is stable and settings come strongest regularization first, so that ties keep
	// this order.
	slices.SortStableFunc(r.Scores, func(a, b Score) int {
		return cmp.Or(cmp.Compare(t.tier(&a), t.tier(&b)), cmp.Compare(t.rank(&a, largest),
			t.rank(&b, largest)))
	})
	return r
}

// tier orders kinds of scores: finished ones first, failed ones last.
func (t *search) tier(score *Score) int {
	switch {
	case score.Fault != "":
		return 3
	case math.IsNaN(float64(score.Mean)):
		return 2
	case score.Done < len(t.grid.Splits):
		return 1
	}
	return 0
}

// rank returns the mean in units of 1e-12 of the largest, so that rounding does not break
// ties; smaller is better.
func (t *search) rank(score *Score, largest float64) float64 {
	v := float64(score.Mean)
	if largest > 0 {
		v = math.Round(v / largest * 1e12)
	}
	if t.settings.Criterion.Larger() {
		return -v
	}
	return v
}

// fault returns the first error of the fits of a setting for which kind holds.
func (t *search) fault(score *Score, kind func(error) bool) error {
	errs := t.errs[score.at]
	return errs[slices.IndexFunc(errs, func(err error) bool { return err != nil && kind(err) })]
}

// meanOfFolds returns the mean of the values that are not NaN, and its standard error.
func meanOfFolds(folds []metrics.Number) (mean, stdErr metrics.Number) {
	var known []float64
	for _, v := range folds {
		if !math.IsNaN(float64(v)) {
			known = append(known, float64(v))
		}
	}

	count := float64(len(known))
	var sum, squares float64
	for _, v := range known {
		sum += v
	}
	for _, v := range known {
		squares += (v - sum/count) * (v - sum/count)
	}
	return metrics.Number(sum / count), metrics.Number(math.Sqrt(squares / (count - 1) / count))
}
