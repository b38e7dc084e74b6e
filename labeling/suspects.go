package labeling

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
)

const (
	// mostLeftOut is the largest number of labels that are left out one by one: each is a
	// column of a linear system.
	mostLeftOut = 4096
	// suspectFolds is the default number of folds for other learners and for more labels.
	suspectFolds = 10
)

// Suspects lists the labels in in.Targets, which must be classes, that disagree with the
// learner's prediction for their points from the other labels. A [models.SelfChecker] leaves out
// one label at a time, if there are at most 4096 labels and folds is 0. Otherwise the labels are
// dealt into folds (10 for 0), and each label is compared with a fit to the other folds.
//
// Suspects makes the graph and the eigenpairs that in lacks by g: see
// [pipeline.Pipeline.Complete]. It does not change in.
func (p Planner) Suspects(ctx context.Context, l models.Learner, in *models.Input, g *pipeline.GraphSettings,
	folds int) (*active.Suspects, error) {
	info := l.Info()
	own := *in
	in = &own
	in.Seed = p.Seed
	in.Memory = p.Memory
	if err := in.Check(); err != nil {
		return nil, err
	}
	if in.Targets.Classes == nil {
		return nil, errors.New("suspects are labels of classes; a regression has none")
	}
	var err error
	if in.Values, err = models.OrderShares(l.Params(), in.Values, in.Targets); err != nil {
		return nil, err
	}

	var short error
	if info.UsesGraph(in.Values) {
		if in, short = p.Complete(ctx, l, in, g); !models.Usable(short) {
			return nil, short
		}
	}

	// One label at a time is the sharper test: a fold takes many labels from the fit.
	labels := len(in.Targets.Labeled)
	checker, ok := l.(models.SelfChecker)
	if folds == 0 && (!ok || labels > mostLeftOut) {
		folds = min(suspectFolds, labels)
	}
	var shares *mat.Dense
	var known []bool
	if folds == 0 {
		shares, known, err = p.leaveOneOut(ctx, checker, in)
	} else {
		shares, known, err = p.leaveFolds(ctx, l, in, folds)
	}

	if !models.Usable(err) {
		return nil, err
	}
	found := active.Disagreeing(in.Targets, shares, known)
	found.Folds = folds
	return found, errors.Join(short, err)
}

// leaveOneOut returns the shares of the classes at the labeled points, each without its
// label.
func (p Planner) leaveOneOut(ctx context.Context, l models.SelfChecker, in *models.Input) (*mat.Dense,
	[]bool, error) {
	cost, err := l.LeaveOneOutCost(in, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := p.Observed().Announce("suspects", cost); err != nil {
		return nil, nil, err
	}
	p.Observed().Begin("suspects")
	in.Progress = func(s models.Progress) { p.Observed().Update(s.Done, s.Total, s.Note) }
	scores, known, err := l.LeaveOneOut(ctx, in, 0)
	if !models.Usable(err) {
		return nil, nil, err
	}

	p.Observed().End(fmt.Sprintf("%d labels left out one by one", len(known)))
	return active.Shares(scores), known, err
}

// leaveFolds is leaveOneOut with folds: every fit leaves out one fold.
func (p Planner) leaveFolds(ctx context.Context, l models.Learner, in *models.Input,
	folds int) (*mat.Dense, []bool, error) {
	t := in.Targets
	splits, err := t.Splits(folds, 1, p.Seed)
	if err != nil {
		return nil, nil, err
	}
	cost, err := l.Cost(in)
	if err != nil {
		return nil, nil, err
	}

	cost.Operations *= float64(folds)
	if err := p.Observed().Announce("suspects", cost); err != nil {
		return nil, nil, err
	}
	p.Observed().Begin("suspects")
	shares := mat.NewDense(len(t.Labeled), len(t.Classes), nil)
	known := make([]bool, len(t.Labeled))
	var short error
	for f, split := range splits {
		fold := *in
		fold.Targets = split.Train
		m, err := l.Fit(ctx, &fold)
		if !models.Usable(err) {
			return nil, nil, err
		}
		short = errors.Join(short, err)
		scores, err := scoresAt(ctx, m, in.Points, split.Points)
		if err != nil {
			return nil, nil, err
		}

		// Labels of a component that lie all in one fold are not checked by any other.
		reached := func(int) bool { return true }
		if in.Graph != nil && in.Graph.Components != nil {
			of := in.Graph.Components.Reached(split.Train.Labeled)
			reached = func(i int) bool { return of[i] }
		}

		// A fold may lack classes; its columns go to the places in the list of all.
		held := active.Shares(scores)
		for row, q := range split.Held {
			known[q] = reached(t.Labeled[q])
			for c, v := range held.RawRowView(row) {
				at, _ := slices.BinarySearch(t.Classes, split.Train.Classes[c])
				shares.Set(q, at, v)
			}
		}

		p.Observed().Update(float64(f+1), float64(folds), "")
	}

	p.Observed().End(fmt.Sprintf("%d labels in %d folds", len(t.Labeled), folds))
	return shares, known, short
}

// scoresAt returns the scores of a model for some of the points that it was fitted to.
func scoresAt(ctx context.Context, m models.Model, x data.Points, points []int) (*mat.Dense, error) {
	if t, ok := m.(models.Trained); ok {
		all := t.Training(true).Scores
		_, c := all.Dims()
		out := mat.NewDense(len(points), c, nil)
		for row, i := range points {
			copy(out.RawRowView(row), all.RawRowView(i))
		}
		return out, nil
	}

	if x == nil {
		return nil, fmt.Errorf("a %s model answers for points only; give them with %s", m.Name(),
			param.Name("X"))
	}
	answer, err := m.Predict(ctx, data.Select(x, points), nil)
	if err != nil {
		return nil, err
	}
	return answer.Scores, nil
}
