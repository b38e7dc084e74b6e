package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/stage"
)

// HeldOut holds the answers of one setting for labeled points that were held out.
type HeldOut struct {
	Folds   int
	Targets *models.Targets // all of them
	Splits  []*models.Split
	Answers []models.Answer // for the points held of each split
}

// Deal says how labels are dealt into folds to be held out.
type Deal struct {
	Folds int // [CalibrationFolds] for 0
	Held  int // folds that are held out; all for 0
}

// fill returns d with the numbers for l labels.
func (d Deal) fill(l int) Deal {
	if d.Folds == 0 {
		d.Folds = CalibrationFolds(l)
	}
	if d.Held == 0 || d.Held > d.Folds {
		d.Held = d.Folds
	}
	return d
}

// NewHeldOut deals the labels of in into folds. For each fold that is held out it fits a model with the
// values of in to the other labels, and keeps its answers for the points of the fold. The graph and the eigenpairs of in serve all folds,
// as they do not depend on labels. Folds run in parallel; the result has the same bits at any
// GOMAXPROCS. An error that is [models.Usable] comes with the answers of the fits as they are.
func NewHeldOut(ctx context.Context, l models.Learner, in *models.Input, deal Deal) (*HeldOut, error) {
	h, err := heldOut(in, deal)
	if err != nil {
		return nil, err
	}
	// A grid of one setting lets a learner share work between the folds. A grid computes its
	// own eigenpairs, so a learner with given ones fits each fold by itself; so does one with shares of classes that
	// not every fold has.
	params := l.Params()
	alone := in.Pairs != nil || in.Values.Shared(params) && lacksClass(in.Targets, h.Splits)
	g := h.grid(l, in)
	faults := error(nil)
	g.Fail = func(_ []int, err error) { faults = err }
	if grid, ok := l.(models.GridLearner); ok && !alone {
		err = grid.FitGrid(ctx, g)
	} else {
		err = g.Run(ctx, []int{0}, func(s *models.Split) []models.Answer {
			fold := *in
			fold.Targets = s.Train
			fold.Values = models.SharesOf(params, in.Values, in.Targets.Classes, s.Train.Classes)
			fold.Start = nil
			fold.Progress = nil
			return []models.Answer{(&Data{}).answer(ctx, l, &fold, s.Points)}
		})
	}

	if err := errors.Join(ctx.Err(), err, faults); err != nil {
		return nil, err
	}
	var unconverged error
	for _, a := range h.Answers {
		if !models.Usable(a.Err) {
			return nil, a.Err
		}
		if unconverged == nil {
			unconverged = a.Err
		}
	}

	return h, unconverged
}

// EnoughHeld returns the error of [NewHeldOut] or [HeldOut.Calibration] that the labels alone decide, without a fit:
// a [calibration.ErrFew] where too few answers can count, those for labels whose class has another label in their
// split, and [models.ErrOneClass].
func EnoughHeld(in *models.Input, deal Deal) error {
	h, err := heldOut(in, deal)
	if err != nil {
		return err
	}
	t := in.Targets
	count := 0
	for _, s := range h.Splits {
		for _, q := range s.Held {
			if t.Classes == nil || slices.Contains(s.Train.Classes, t.Classes[t.Class(q)]) {
				count++
			}
		}
	}
	return calibration.Enough(count)
}

// lacksClass tells whether a class of t is not in the training part of some split.
func lacksClass(t *models.Targets, splits []*models.Split) bool {
	return slices.ContainsFunc(splits, func(s *models.Split) bool { return len(s.Train.Classes) < len(t.Classes) })
}

// heldOut deals the labels into folds and makes room for the answers.
func heldOut(in *models.Input, deal Deal) (*HeldOut, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	deal = deal.fill(len(in.Targets.Labeled))
	h := &HeldOut{Folds: deal.Folds, Targets: in.Targets}
	splits, err := in.Targets.Splits(h.Folds, 1, in.Seed)
	if err != nil {
		return nil, err
	}

	h.Splits = splits[:min(deal.Held, len(splits))]
	h.Answers = make([]models.Answer, len(h.Splits))
	return h, nil
}

// grid returns the grid of the one setting, with the folds as its splits.
func (h *HeldOut) grid(l models.Learner, in *models.Input) *models.Grid {
	info := l.Info()
	g := &models.Grid{Input: *in, Settings: []models.Values{in.Values}, Splits: h.Splits,
		GraphOf: func(int) (*models.Graph, error) { return in.Graph, nil },
		GraphKey: func(int) string {
			if info.UsesGraph(in.Values) {
				return "given"
			}
			return ""
		},
		Run: func(ctx context.Context, _ []int, fit func(*models.Split) []models.Answer) error {
			par.For(len(h.Splits), 1, func(f, _ int) {
				if ctx.Err() == nil {
					h.Answers[f] = fit(h.Splits[f])[0]
				}
			})
			return ctx.Err()
		}}

	g.Edges = in.EdgeCount()
	g.Graph = nil
	g.Start = nil
	g.Progress = nil
	return g
}

// HeldOutCost estimates what [NewHeldOut] and [HeldOut.Calibration] take beside what in
// has: the fits, the codes of the labels of every fold, the answers, and the search for
// probabilities. It deals no folds: each counts as if it had all labels.
func HeldOutCost(l models.Learner, in *models.Input, deal Deal) (stage.Cost, error) {
	if err := in.Check(); err != nil {
		return stage.Cost{}, err
	}
	t := in.Targets
	labels := len(t.Labeled)
	deal = deal.fill(labels)
	folds := deal.Held
	_, columns := t.Y.Dims()
	columns = max(columns, len(t.Classes))

	// Without dealing, a stand-in fold trains on all labels and holds out its part of them.
	var cost stage.Cost
	if grid, ok := l.(models.GridLearner); ok && in.Pairs == nil {
		all := data.Range(0, labels)
		h := &HeldOut{Folds: folds, Targets: t,
			Splits: slices.Repeat([]*models.Split{{Train: t, Labels: t.ClassLabels(), Kept: all,
				Held: all[:labels/max(1, deal.Folds)]}}, folds)}
		c, err := grid.GridCost(h.grid(l, in))
		if err != nil {
			return stage.Cost{}, err
		}
		cost = c.Cost(folds)
	} else {
		c, err := l.Cost(in)
		if err != nil {
			return stage.Cost{}, err
		}
		cost = models.GridCost{Fold: c.Bytes, Operations: c.Operations * float64(folds),
			Remedy: c.Remedy}.Cost(folds)
	}

	// The codes of the labels of every fold, the answers, and their copies in the calibration.
	cost.Bytes += 8 * int64(folds+4) * int64(labels) * int64(columns)
	if t.Classes != nil {
		cost.Operations += calibration.Operations(labels, columns)
	}
	return cost, nil
}

// CalibrationFolds returns the number of folds in which l labels are held out: 10, or l folds
// of one label where there are fewer. With 10 folds a model knows a tenth of the labels less
// than the final one, which makes its scores little less certain.
func CalibrationFolds(l int) int { return min(10, l) }

// Calibration fits a calibration to the answers: see [CalibrationOf].
func (h *HeldOut) Calibration() (*calibration.Calibration, error) {
	return CalibrationOf(h.Targets, h.answers())
}

// answers returns the scores, or the values, of the points held out.
func (h *HeldOut) answers() *models.HeldOut {
	t := h.Targets
	_, values := t.Y.Dims()
	held := 0
	for _, s := range h.Splits {
		held += len(s.Held)
	}
	out := &models.HeldOut{Folds: h.Folds, Scores: mat.NewDense(held, max(values, len(t.Classes)), nil)}
	out.Labels = make([]int, 0, held)
	for f, s := range h.Splits {
		for i, q := range s.Held {
			row := out.Scores.RawRowView(len(out.Labels))
			if t.Classes == nil {
				copy(row, h.Answers[f].Scores.RawRowView(i))
				out.Labels = append(out.Labels, q)
				continue
			}
			for c := range row {
				row[c] = math.NaN()
			}
			for c, class := range s.Train.Classes {
				at, _ := slices.BinarySearch(t.Classes, class)
				row[at] = h.Answers[f].Scores.At(i, c)
			}
			out.Labels = append(out.Labels, q)
		}
	}
	return out
}

// Priors returns the shares of the classes in the mass of the labels.
func Priors(t *models.Targets) []float64 {
	priors := t.Masses()
	total := t.TotalWeight()
	for c := range priors {
		priors[c] /= total
	}
	return priors
}

// CalibrationOf fits a calibration to held-out answers: probabilities for classes, intervals for
// values. A point of classes counts if the model that did not know its label knew its class; a class
// with one label contributes nothing. Targets of several labels a point are an error.
func CalibrationOf(t *models.Targets, h *models.HeldOut) (*calibration.Calibration, error) {
	switch {
	case t.Labels != nil:
		return nil, errors.New("selection: probabilities are those of one class a point, and the " +
			"points may have several labels")
	case t.Classes == nil:
		residuals, err := residuals(t, h)
		if err != nil {
			return nil, err
		}
		out := &calibration.Calibration{Folds: h.Folds, Held: len(h.Labels), Out: residuals}
		out.Intervals, err = calibration.FitIntervals(residuals.Residuals)
		return out, err
	}

	held := make([]calibration.Answer, 0, len(h.Labels))
	rows := make([]int, 0, len(h.Labels))
	for r, q := range h.Labels {
		if a, ok := answerOf(h.Scores.RawRowView(r), t, q); ok {
			held = append(held, a)
			rows = append(rows, r)
		}
	}

	// The shares of the classes in the labels are the prior of each class.
	out := &calibration.Calibration{Folds: h.Folds, Held: len(held)}
	var err error
	if out.Classes, err = calibration.FitClasses(held, Priors(t)); err != nil {
		return nil, err
	}
	out.Out = heldOutProbabilities(t, h, rows, out.Classes)
	if len(t.Classes) == 2 {
		out.BreakEven, err = heldBreakEven(held)
	}
	return out, err
}

// answerOf returns the scores of the classes that are not NaN for labeled point q, and the position of the true
// class among them; false if that class is NaN. Shares of a soft label for classes that are NaN are left out.
func answerOf(scores []float64, t *models.Targets, q int) (calibration.Answer, bool) {
	a := calibration.Answer{}
	if t.Weights != nil {
		a.Weight = t.Weights[q]
	}
	class := t.Class(q)
	var shares []float64
	if t.Soft {
		shares = t.SharesTo(nil, q)
	}
	var sum float64
	for c, v := range scores {
		if v != v {
			continue
		}
		if c == class {
			a.Class = len(a.Scores)
		}
		a.Scores = append(a.Scores, v)
		if shares != nil {
			a.Shares = append(a.Shares, shares[c])
			sum += shares[c]
		}
	}
	for c := range a.Shares {
		a.Shares[c] /= sum
	}
	return a, scores[class] == scores[class]
}

// heldOutProbabilities returns the probabilities of the held-out answers in some rows. Classes that
// a model did not know have the least score of the row.
func heldOutProbabilities(t *models.Targets, h *models.HeldOut, rows []int, c *calibration.Classes) *calibration.Out {
	slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(h.Labels[a], h.Labels[b]) })
	out := &calibration.Out{}
	var all []float64
	scores := make([]float64, len(t.Classes))
	for _, r := range rows {
		copy(scores, h.Scores.RawRowView(r))
		least := math.Inf(1)
		for _, v := range scores {
			if v < least {
				least = v
			}
		}
		for k, v := range scores {
			if v != v {
				scores[k] = least
			}
		}
		if p := c.Of(scores); p != nil {
			out.Points = append(out.Points, int32(t.Labeled[h.Labels[r]]))
			all = append(all, p...)
		}
	}

	if out.Points == nil {
		return nil
	}
	out.Probabilities = mat.NewDense(len(out.Points), len(t.Classes), all)
	return out
}

// heldBreakEven returns the threshold at the break-even point of held-out answers of two
// classes, and nil if none of the answers belongs to the second class.
func heldBreakEven(held []calibration.Answer) (*float64, error) {
	scores := make([]float64, len(held))
	second := make([]bool, len(held))
	for i, a := range held {
		scores[i] = models.Difference(a.Scores)
		second[i] = a.Class == 1
	}

	// PRBEP differs from itself only when it is NaN.
	b, err := metrics.BreakEven(scores, second)
	if err != nil || b.PRBEP != b.PRBEP {
		return nil, err
	}
	return &b.Threshold, nil
}

// residuals returns values minus answers, one row for each held-out point, in the order of the labels.
func residuals(t *models.Targets, h *models.HeldOut) (*calibration.Out, error) {
	_, m := t.Y.Dims()
	order := data.Range(0, len(h.Labels))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(h.Labels[a], h.Labels[b]) })
	out := &calibration.Out{Residuals: mat.NewDense(len(h.Labels), m, nil)}
	for row, r := range order {
		q := h.Labels[r]
		out.Points = append(out.Points, int32(t.Labeled[q]))
		for j, v := range t.Y.RawRowView(q) {
			if v-v != 0 { // NaN or infinite
				return nil, fmt.Errorf("selection: point %d has no value in column %d; intervals "+
					"need all values of a labeled point", t.Labeled[q], j)
			}
			out.Residuals.Set(row, j, v-h.Scores.At(r, j))
		}
	}

	return out, nil
}
