package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
)

// mostLeftOut is the number of labels up to which they are left out one by one unless
// folds are asked for; of more, whole folds are.
const (
	mostLeftOut  = 4096
	suspectFolds = 10
)

// Suspect is a label that disagrees with what the other labels say of its point.
type Suspect struct {
	Point int
	// Given and Suggested are classes, positions in Targets.Classes.
	Given, Suggested int32
	// Score is the share of the suggested class less that of the given one, by the
	// scores of a model without the label: see [active.Shares]. It lies in (0, 1].
	Score float64
}

// Suspects are labels that may be wrong.
type Suspects struct {
	List []Suspect // by score, the largest first
	// Labeled is the number of labels, and Unknown that of labels of which no other
	// says anything, as they are the only ones of their components.
	Labeled, Unknown int
	// Folds is the number of folds that were left out; 0 where each label was.
	Folds int
}

// Suspects lists the labels in in.Targets, classes, that disagree with what the learner
// says of their points without them. A [models.SelfChecker] leaves out one label at a
// time, if there are at most 4096 and folds is 0. Otherwise the labels are dealt into
// folds (10 for 0) and each is held against a fit to the other folds.
//
// The graph and eigenpairs that in lacks are made by g, as [Pipeline.Fit] does.
func (p *Pipeline) Suspects(ctx context.Context, l models.Learner, in *models.Input, g *GraphSettings, folds int) (*Suspects, error) {
	info := l.Info()
	in.Seed, in.Memory = p.Seed, p.Memory
	if err := in.Check(); err != nil {
		return nil, err
	}
	if in.Targets.Classes == nil {
		return nil, errors.New("suspects are labels of classes; a regression has none")
	}
	var short error
	if info.UsesGraph(in.Values) {
		var err error
		if short, err = p.complete(ctx, l, in, g.filled()); err != nil {
			return nil, err
		}
	}
	labels := len(in.Targets.Labeled)
	checker, ok := l.(models.SelfChecker)
	if folds == 0 && (!ok || labels > mostLeftOut) {
		folds = min(suspectFolds, labels)
	}
	var shares *mat.Dense
	var known []bool
	var err error
	if folds == 0 {
		shares, known, err = p.leaveOneOut(ctx, checker, in)
	} else {
		shares, known, err = p.leaveFolds(ctx, l, in, folds)
	}
	if !models.Usable(err) {
		return nil, err
	}
	return disagreeing(in.Targets, shares, known, folds), errors.Join(short, err)
}

// disagreeing lists the labels whose share is not the largest.
func disagreeing(t *models.Targets, shares *mat.Dense, known []bool, folds int) *Suspects {
	out := &Suspects{Labeled: len(t.Labeled), Folds: folds}
	best := models.Argmax(shares)
	for q, i := range t.Labeled {
		if !known[q] {
			out.Unknown++
			continue
		}
		given, row := t.Class(q), shares.RawRowView(q)
		if score := row[best[q]] - row[given]; score > 0 {
			out.List = append(out.List, Suspect{i, int32(given), best[q], score})
		}
	}
	slices.SortStableFunc(out.List, func(a, b Suspect) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// leaveOneOut returns the shares of the classes at the labeled points, each without its
// label.
func (p *Pipeline) leaveOneOut(ctx context.Context, l models.SelfChecker, in *models.Input) (*mat.Dense, []bool, error) {
	cost, err := l.LeaveOneOutCost(in)
	if err != nil {
		return nil, nil, err
	}
	if err := p.observer().Announce("suspects", cost); err != nil {
		return nil, nil, err
	}
	p.observer().Begin("suspects")
	in.Progress = func(s models.Progress) { p.observer().Update(s.Done, s.Total, s.Note) }
	scores, known, err := l.LeaveOneOut(ctx, in)
	if !models.Usable(err) {
		return nil, nil, err
	}
	p.observer().End(fmt.Sprintf("%d labels left out one by one", len(known)))
	return active.Shares(scores), known, err
}

// leaveFolds is leaveOneOut by fits to all folds but one.
func (p *Pipeline) leaveFolds(ctx context.Context, l models.Learner, in *models.Input, folds int) (*mat.Dense, []bool, error) {
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
	if err := p.observer().Announce("suspects", cost); err != nil {
		return nil, nil, err
	}
	p.observer().Begin("suspects")
	shares, known := mat.NewDense(len(t.Labeled), len(t.Classes), nil), make([]bool, len(t.Labeled))
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
		reached := func(int) bool { return true }
		if in.Graph != nil && in.Graph.Components != nil {
			of := in.Graph.Components.Reached(split.Train.Labeled)
			reached = func(i int) bool { return of[i] }
		}
		held := active.Shares(scores)
		for row, q := range split.Held {
			known[q] = reached(t.Labeled[q])
			for c, v := range held.RawRowView(row) {
				at, _ := slices.BinarySearch(t.Classes, split.Train.Classes[c])
				shares.Set(q, at, v)
			}
		}
		p.observer().Update(float64(f+1), float64(folds), "")
	}
	p.observer().End(fmt.Sprintf("%d labels in %d folds", len(t.Labeled), folds))
	return shares, known, short
}

// scoresAt are the scores of a model for some of the points that it was fitted to.
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
		return nil, fmt.Errorf("a %s model answers for points only; give them with -X", m.Name())
	}
	answer, err := m.Predict(ctx, data.Select(x, points), nil)
	if err != nil {
		return nil, err
	}
	return answer.Scores, nil
}
