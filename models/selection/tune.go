package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// Data is what [Search] fits to.
type Data struct {
	Targets *models.Targets
	// Points are n×d. Graph methods and eigenmaps do without.
	Points data.Points
	// Neighbors of all points, as many as the largest number in the grid, and
	// the settings of graphs made of the first K of them.
	Neighbors *knn.Neighbors
	Edges     knn.GraphSettings
	// Graph, if not nil, is the one graph, in place of Neighbors.
	Graph *sparse.CSR
}

// Settings of [Search]. The zero value is ready for use.
type Settings struct {
	// Folds of the cross-validation. Default 5, at most the number of labels.
	Folds int
	// Repeats is how often labels are dealt into folds anew. Default 1.
	Repeats int
	// Seed of the folds, and of eigenpairs.
	Seed uint64
	// Criterion defaults to the error, or for a regression to the RMSE.
	Criterion Criterion
	// MemoryLimit, if positive, bounds the memory that [Cost] estimates.
	MemoryLimit int64
	// OnProgress, if not nil, is given a copy of what is known whenever fits are
	// finished. Its calls do not overlap.
	OnProgress func(*Result)
}

// Result is what cross-validation found.
type Result struct {
	Criterion Criterion `json:"metric"`
	Folds     int       `json:"folds"`
	Repeats   int       `json:"repeats"`
	Seed      uint64    `json:"seed"`
	Labeled   int       `json:"labeled"`
	// Done fits of Total are finished, a failed one being finished too.
	Done  int `json:"done"`
	Total int `json:"total"`
	// Scores of all points of the grid, best first: see [Search].
	Scores []Score `json:"scores"`
}

// Score is what cross-validation found about a point.
type Score struct {
	Point
	Mean metrics.Number `json:"mean"` // of Folds, those left out that are NaN
	// StdErr is the standard error of Mean, the deviation of the folds over the
	// root of their number; NaN with fewer than two.
	StdErr metrics.Number `json:"std_err"`
	// Folds are the criterion on every fold, repetition by repetition; NaN where
	// it is not defined, the fit failed or is not done.
	Folds []metrics.Number `json:"folds"`
	Done  int              `json:"done"` // finished fits
	// Unconverged fits; the scores are of what was reached. Linear fits of a
	// path share the verdict.
	Unconverged int `json:"unconverged,omitempty"`
	// Fault is why a fit failed, if one did.
	Fault string `json:"fault,omitempty"`
}

// Best is the first of Scores.
func (r *Result) Best() *Score { return &r.Scores[0] }

// Search chooses among the points of a grid by cross-validation on the labels of
// d: the labeled points are dealt into folds (see [models.Targets.Folds]), and each is
// held out once, its labels unknown to the model, its points not. γ's mean the
// same with a fold held out as on all labels, as the loss is a mean over them.
//
// The result lists points by the mean of the criterion over the folds, best
// first. Means are equal that agree in twelve digits of the largest; then the
// stronger regularization comes first, in the order of [Grid.Points]. Behind
// come points that are not finished, then those with failed fits, which alone
// are no error as long as one point is left. A class that has no label outside a
// fold is unknown there and its points count as wrong; it is an error if fewer
// than two are left.
//
// Neighbours are cut from the lists of d. Points that differ in γ's and folds
// share XᵀLᵖX and its eigenvectors ([linear.Problem]); kernel machines share the
// Gram matrix for each width, and one factorization for each graph, power and
// ratio γ_I/γ_A (up to 1e-12), or by one of the [kernelmachine.Approximation] the features for each
// width and ΦᵀLᵖΦ for each graph and power; eigenfunctions are shared for each
// width and the eigenmap classifier shares eigenpairs for each graph. Folds run in parallel; the result has the same bits at any GOMAXPROCS.
//
// When ctx is cancelled, the result holds what was finished. An error that is
// cg.ErrNotConverged, solvers.ErrNotConverged or lanczos.ErrNotConverged says
// that fits of the best point did not converge, and comes with the whole result.
func Search(ctx context.Context, d *Data, g *Grid, s *Settings) (*Result, error) {
	t, err := newTuning(d, g, s)
	if err != nil {
		return nil, err
	}
	switch {
	case g.Linear != nil:
		err = t.linear(ctx)
	case g.Scale != nil:
		err = t.scaled(ctx)
	case g.Kernel != nil:
		err = t.kernel(ctx)
	case g.SSSL != nil:
		err = t.eigenfunctions(ctx)
	case g.Graph != nil:
		err = t.graphs(ctx)
	default:
		err = t.eigenmaps(ctx)
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	r := t.snapshot()
	best := r.Best()
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case best.Fault != "":
		return nil, fmt.Errorf("%w (with %s)", t.fault(best, func(err error) bool { return !unconverged(err) }), best.Point)
	case math.IsNaN(float64(best.Mean)):
		return nil, fmt.Errorf("selection: %v is not defined on any fold: too few points in each, or all of one class; take fewer folds or another criterion", r.Criterion)
	case best.Unconverged > 0:
		return r, fmt.Errorf("selection: %d of %d fits of the best point did not converge: %w", best.Unconverged, best.Done, t.fault(best, unconverged))
	}
	return r, nil
}

// tuning is a run of Tune.
type tuning struct {
	Data
	grid     Grid
	settings Settings
	points   []Point
	splits   []*models.Split

	mu     sync.Mutex
	scores []Score   // in the order of points
	errs   [][]error // of every point on every split
}

// newTuning checks and completes what Tune was given.
func newTuning(d *Data, g *Grid, s *Settings) (*tuning, error) {
	t := &tuning{Data: *d, grid: *g}
	if s != nil {
		t.settings = *s
	}
	if len(g.Neighbors) == 0 && d.Graph == nil && d.Neighbors != nil {
		t.grid.Neighbors = []int{d.Edges.K}
	}
	var err error
	if t.points, err = t.grid.Points(); err != nil {
		return nil, err
	}
	faults := []error{t.fillSettings()}
	n, l := d.Targets.Len, len(d.Targets.Labeled)
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("selection: "+format, args...)) }
	if d.Points == nil && (g.Linear != nil || g.Kernel != nil || g.SSSL != nil) {
		fault("there are no points")
	} else if d.Points != nil {
		if have, _ := d.Points.Dims(); have != n {
			fault("targets for %d points, there are %d", n, have)
		}
		if g.Scale != nil {
			_, _, err := g.Scale.Resolve(d.Points, g.KernelFunction.Kind, g.Kernel, t.settings.MemoryLimit)
			faults = append(faults, err)
		}
	}
	if d.Targets.Classes == nil && (g.Eigenmap != nil || g.Linear != nil && g.Linear.Loss != linear.LeastSquares || g.Kernel != nil && g.Kernel.Method == kernelmachine.SVM) {
		fault("the model is for classes; these are values")
	}
	for _, p := range t.points {
		if err := t.checkGraph(p); err != nil {
			faults = append(faults, err)
			break
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if limit := t.settings.MemoryLimit; limit > 0 {
		if need, _ := Cost(&t.Data, &t.grid, &t.settings); need > limit {
			return nil, fmt.Errorf("selection: cross-validation takes %d bytes, %d are allowed; use fewer points, or allow more memory", need, limit)
		}
	}
	if t.settings.Folds == 0 {
		t.settings.Folds = min(5, l)
	}
	if t.splits, err = d.Targets.Splits(t.settings.Folds, t.settings.Repeats, t.settings.Seed); err != nil {
		return nil, err
	}
	for _, p := range t.points {
		score := Score{Point: p, Folds: make([]metrics.Number, len(t.splits))}
		for f := range score.Folds {
			score.Folds[f] = metrics.Number(math.NaN())
		}
		t.scores = append(t.scores, score)
		t.errs = append(t.errs, make([]error, len(t.splits)))
	}
	return t, nil
}

// checkGraph returns an error if p needs a graph that cannot be had.
func (t *tuning) checkGraph(p Point) error {
	n := t.Targets.Len
	switch {
	case p.GammaI == 0 && (t.grid.Linear != nil || t.grid.Kernel != nil || t.grid.SSSL != nil):
		return nil
	case t.Graph == nil && t.Data.Neighbors == nil:
		return errors.New("selection: there are neither neighbours nor a graph")
	case t.Graph != nil && p.Neighbors > 0:
		return errors.New("selection: the graph is given; it has its own neighbours")
	case t.Graph == nil && (p.Neighbors < 1 || p.Neighbors > t.Data.Neighbors.K):
		return fmt.Errorf("selection: a graph of %d neighbours from lists of %d", p.Neighbors, t.Data.Neighbors.K)
	case t.Graph != nil && t.Graph.Rows != n, t.Graph == nil && t.Data.Neighbors.Len() != n:
		return fmt.Errorf("selection: a graph of other points than the %d with targets", n)
	}
	return nil
}

// fillSettings fills in defaults.
func (t *tuning) fillSettings() error {
	s := &t.settings
	if s.Folds < 0 || s.Repeats < 0 {
		return fmt.Errorf("selection: %d folds, repeated %d times; the numbers must be positive", s.Folds, s.Repeats)
	}
	s.Repeats = max(1, s.Repeats)
	values := t.Targets.Classes == nil
	if s.Criterion == DefaultCriterion {
		s.Criterion = ErrorCriterion
		if values {
			s.Criterion = RMSECriterion
		}
	}
	if s.Criterion < ErrorCriterion || s.Criterion > AUCCriterion || values != (s.Criterion == RMSECriterion) {
		return fmt.Errorf("selection: criterion %v; that of values is %v, the others are of classes", s.Criterion, RMSECriterion)
	}
	return nil
}

// run has fit answer for the given points on every split.
func (t *tuning) run(ctx context.Context, points []int, fit func(*models.Split) []models.Answer) error {
	par.For(len(t.splits), 1, func(f, _ int) {
		if ctx.Err() != nil {
			return
		}
		answers := fit(t.splits[f])
		if ctx.Err() == nil { // else they may have been cut short
			t.record(f, points, answers)
		}
	})
	return ctx.Err()
}

// fail records that no fit of the points can be made.
func (t *tuning) fail(points []int, err error) {
	answers := slices.Repeat([]models.Answer{{Err: err}}, len(points))
	for f := range t.splits {
		t.record(f, points, answers)
	}
}

// unconverged tells whether err comes with a usable result.
func unconverged(err error) bool {
	return errors.Is(err, cg.ErrNotConverged) || errors.Is(err, solvers.ErrNotConverged) || errors.Is(err, lanczos.ErrNotConverged)
}

// record measures answers for points on split f.
func (t *tuning) record(f int, points []int, answers []models.Answer) {
	values := make([]float64, len(points))
	for i, a := range answers {
		values[i] = math.NaN()
		if a.Err == nil || unconverged(a.Err) {
			v, err := measure(t.Targets, t.settings.Criterion, t.splits[f], a)
			if err != nil {
				answers[i].Err = err
				continue
			}
			values[i] = v
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, p := range points {
		t.scores[p].Folds[f] = metrics.Number(values[i])
		t.scores[p].Done++
		t.errs[p][f] = answers[i].Err
	}
	if t.settings.OnProgress != nil {
		t.settings.OnProgress(t.ranked())
	}
}

// snapshot is ranked under the lock.
func (t *tuning) snapshot() *Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ranked()
}

// ranked returns the result so far.
func (t *tuning) ranked() *Result {
	s := t.settings
	r := &Result{Criterion: s.Criterion, Folds: s.Folds, Repeats: s.Repeats, Seed: s.Seed, Labeled: len(t.Targets.Labeled),
		Total: len(t.points) * len(t.splits), Scores: slices.Clone(t.scores)}
	var largest float64
	for i := range r.Scores {
		score := &r.Scores[i]
		score.Folds = slices.Clone(score.Folds)
		score.Mean, score.StdErr = meanOfFolds(score.Folds)
		for _, err := range t.errs[i] {
			switch {
			case err == nil:
			case unconverged(err):
				score.Unconverged++
			case score.Fault == "":
				score.Fault = err.Error()
			}
		}
		r.Done += score.Done
		if v := math.Abs(float64(score.Mean)); v > largest {
			largest = v
		}
	}
	// tier and value rank a score: smaller is better.
	tier := func(score *Score) int {
		switch {
		case score.Fault != "":
			return 3
		case math.IsNaN(float64(score.Mean)):
			return 2
		case score.Done < len(t.splits):
			return 1
		}
		return 0
	}
	value := func(score *Score) float64 {
		v := float64(score.Mean)
		if largest > 0 {
			v = math.Round(v / largest * 1e12)
		}
		if s.Criterion.Larger() {
			return -v
		}
		return v
	}
	slices.SortStableFunc(r.Scores, func(a, b Score) int {
		return cmp.Or(cmp.Compare(tier(&a), tier(&b)), cmp.Compare(value(&a), value(&b)))
	})
	return r
}

// fault returns the first error of a kind of the fits of a point.
func (t *tuning) fault(score *Score, kind func(error) bool) error {
	at := slices.IndexFunc(t.points, func(p Point) bool { return stronger(p, score.Point) == 0 }) // NaN is itself here
	errs := t.errs[at]
	return errs[slices.IndexFunc(errs, func(err error) bool { return err != nil && kind(err) })]
}

// meanOfFolds returns the mean of what is not NaN and its standard error.
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
