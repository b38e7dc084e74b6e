package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/annotators"
	"github.com/bigfit/bigfit/param"
)

// errSoftAndHard refuses labels of one class for a model of probabilities.
var errSoftAndHard = fmt.Errorf("the labels of the model are probabilities, and the new ones are classes; give the new ones as "+
	"probabilities (%s probabilities), or the labels of annotators with a column annotator, or fit anew", param.Name("labels-as"))

// soft returns the targets of all points where labels are soft or have weights; nil where they are plain. before are the
// targets of the model m, which may be nil. listed, first and rows are those of [Updated.classes].
func (u *Updated) soft(before *models.Targets, growth *Growth, listed []int, first int, rows []int) (*models.Targets, error) {
	switch {
	case growth.Shares == nil && (before == nil || before.Plain()):
		return nil, nil
	case growth.Labels != nil && before.Soft:
		return nil, errSoftAndHard
	}
	classes := []int64(nil)
	if before != nil {
		classes = slices.Clone(before.Classes)
	}
	more := growth.classes()
	for _, v := range more {
		if !slices.Contains(classes, v) {
			classes = append(classes, v)
		}
	}
	slices.Sort(classes)
	at := func(class int64) int { k, _ := slices.BinarySearch(classes, class); return k }

	// A row of NaN is a point without a label.
	n := u.Old + u.Forgotten + u.New
	all := mat.NewDense(n, len(classes), nil)
	weights := slices.Repeat([]float64{1}, n)
	for i := range n {
		blankRow(all, i)
	}
	if before != nil {
		for q, i := range before.Labeled {
			row := all.RawRowView(i)
			clear(row)
			for k, v := range before.SharesTo(nil, q) {
				row[at(before.Classes[k])] = v
			}
			weights[i] = before.Weight(q)
		}
	}

	// A listed point takes its new label, of weight one, or loses the one it had.
	for _, i := range listed {
		own := slices.Clone(all.RawRowView(i))
		row := all.RawRowView(i)
		clear(row)
		switch {
		case growth.Shares != nil:
			for k, v := range growth.Shares.P.RawRowView(i - first) {
				row[at(growth.Shares.Classes[k])] += v
			}
			if s := mat.Sum(all.RowView(i)); s == 0 {
				blankRow(all, i)
			}
		case growth.Labels.Index[i-first] == data.Unlabeled:
			blankRow(all, i)
		default:
			row[at(growth.Labels.Classes[growth.Labels.Index[i-first]])] = 1
		}
		had, has := own[0] == own[0], row[0] == row[0]
		same := had && has && closeTo(own, row)
		u.count(had, has, same)
		if !same {
			weights[i] = 1
		}
	}

	if rows != nil {
		kept := mat.NewDense(len(rows), len(classes), nil)
		own := make([]float64, len(rows))
		for k, i := range rows {
			copy(kept.RawRowView(k), all.RawRowView(i))
			own[k] = weights[i]
		}
		all, weights = kept, own
	}
	t, err := models.ShareTargets(all, classes, nil)
	if err != nil {
		return nil, err
	}
	if t, err = t.Weighted(weights); err != nil {
		return nil, err
	}
	if before != nil {
		u.NewClasses = missing(t.Classes, before.Classes)
	}
	if u.names != nil {
		t.Names = u.named(t.Classes)
		u.NewNames = u.named(u.NewClasses)
	}
	return t, nil
}

// closeTo tells whether two distributions are equal but for rounding.
func closeTo(a, b []float64) bool {
	for k := range a {
		if math.Abs(a[k]-b[k]) > 1e-9 {
			return false
		}
	}
	return true
}

// classes returns the classes of the new labels.
func (g *Growth) classes() []int64 {
	switch {
	case g.Shares != nil:
		return g.Shares.Classes
	case g.Labels != nil:
		return g.Labels.Classes
	}
	return nil
}

// recodeShares brings the columns of new distributions to the classes of a model, as [data.Labels.Recode] does with labels.
func recodeShares(s *data.Shares, classes []int64, names []string) *data.Shares {
	y := (&data.Labels{Classes: s.Classes, Names: s.Names}).Recode(classes, names)
	out := &data.Shares{P: s.P, Names: y.Names, Read: s.Read}
	for k := range s.Classes {
		name := data.ClassName(s.Classes, s.Names, int32(k))
		for c, v := range y.Classes {
			if data.ClassName(y.Classes, y.Names, int32(c)) == name {
				out.Classes = append(out.Classes, v)
			}
		}
	}
	return out
}

// agreeAgain finds the consensus of the answers that m keeps and of new ones, which count among the old points and the new
// points behind them. An answer of an annotator that is there already replaces the old one. The prior of a point's class
// is what m says of it: for points with a label the answer that was held out, for others the probabilities.
//
// It returns growth with the distributions of all points with an answer, and the consensus for the points that stay.
func (p *Pipeline) agreeAgain(ctx context.Context, m models.Model, growth *Growth, u *Updated) (*Growth, *models.Consensus, error) {
	c := models.ConsensusOf(m)
	if growth.Answers == nil {
		if c != nil && (growth.Labels != nil || growth.Shares != nil) {
			return nil, nil, fmt.Errorf("the labels of the model are the consensus of annotators; give new ones with a column "+
				"annotator, or fit anew without one (%s labels)", param.Name("labels-as"))
		}
		return growth, withoutForgotten(c, u), nil
	}
	if c == nil {
		return nil, nil, errors.New("the labels of the model come from no annotators, and the new ones have a column annotator; " +
			"fit anew with the labels of all annotators in one table")
	}
	merged, err := u.mergeAnswers(c, growth.Answers)
	if err != nil {
		return nil, nil, err
	}
	known, err := p.knownBy(ctx, m, growth, merged)
	if err != nil {
		return nil, nil, err
	}
	found, err := annotators.Agree(answersOf(merged), &annotators.Settings{Known: known})
	if err != nil {
		return nil, nil, err
	}

	own := *growth
	own.Answers = nil
	own.Joined = true
	own.Listed = found.Rows
	own.Shares = &data.Shares{P: mat.NewDense(merged.Points, len(merged.Labels.Classes), nil), Classes: merged.Labels.Classes,
		Names: merged.Labels.Names}
	for i := range merged.Points {
		blankRow(own.Shares.P, i)
	}
	for r, i := range found.Rows {
		own.Shares.P.SetRow(i, found.Shares.RawRowView(r))
	}
	return &own, withoutForgotten(consensusOf(merged, found, known != nil), u), nil
}

// mergeAnswers joins the answers that a model keeps with new ones.
func (u *Updated) mergeAnswers(c *models.Consensus, more *data.Annotations) (*data.Annotations, error) {
	out := &data.Annotations{Points: u.Old + u.Forgotten + u.New}
	if more.Points != out.Points {
		return nil, fmt.Errorf("there are answers for %d points; give them for the %d of the model and the new ones, by ids or rows",
			more.Points, out.Points)
	}
	// Classes and annotators are the same if their names are.
	y := more.Labels.Recode(c.Classes, c.Names)
	person := map[string]int32{}
	for k, a := range c.Annotators {
		person[a.Name] = int32(k)
		out.Annotators = append(out.Annotators, a.Name)
	}
	type key struct{ point, person int32 }
	at := map[key]int{}
	out.Point = slices.Clone(c.Point)
	out.Annotator = slices.Clone(c.Annotator)
	index := slices.Clone(c.Class)
	for k := range c.Point {
		at[key{c.Point[k], c.Annotator[k]}] = k
	}
	for k, i := range more.Point {
		name := more.Annotators[more.Annotator[k]]
		who, ok := person[name]
		if !ok {
			who = int32(len(out.Annotators))
			person[name] = who
			out.Annotators = append(out.Annotators, name)
		}
		if old, ok := at[key{i, who}]; ok {
			index[old] = y.Index[k]
			continue
		}
		at[key{i, who}] = len(out.Point)
		out.Point = append(out.Point, i)
		out.Annotator = append(out.Annotator, who)
		index = append(index, y.Index[k])
	}
	out.Labels = &data.Labels{Classes: y.Classes, Names: y.Names, Index: index}
	return out, nil
}

// knownBy returns what m says of the points that the answers are for, n×c in the classes of the answers; nil if it says nothing.
func (p *Pipeline) knownBy(ctx context.Context, m models.Model, growth *Growth, a *data.Annotations) (*mat.Dense, error) {
	calibrated := models.CalibrationOf(m)
	if calibrated == nil || calibrated.Classes == nil {
		return nil, nil
	}
	o := m.Output()
	column := make([]int, len(o.Classes))
	for k := range o.Classes {
		name := data.ClassName(o.Classes, o.Names, int32(k))
		column[k] = -1
		for c := range a.Labels.Classes {
			if a.Labels.Name(int32(c)) == name {
				column[k] = c
			}
		}
	}
	out := mat.NewDense(a.Points, len(a.Labels.Classes), nil)
	put := func(i int, row []float64) {
		to := out.RawRowView(i)
		clear(to)
		for k, v := range row {
			if column[k] >= 0 {
				to[column[k]] = v
			}
		}
	}

	// Points with a label: only what was said without it.
	old := a.Points
	if growth.Points != nil {
		rows, _ := growth.Points.Dims()
		old -= rows
		answer, err := m.Predict(ctx, growth.Points, &models.PredictSettings{Probabilities: true})
		if err != nil {
			return nil, err
		}
		for i := range rows {
			put(old+i, answer.Probabilities.RawRowView(i))
		}
	}
	labeled := make([]bool, old)
	if t := KeptTargets(m); t != nil {
		for _, i := range t.Labeled {
			if i < old {
				labeled[i] = true
			}
		}
	}
	if all, err := models.TrainingProbabilities(m); err == nil {
		for i := range old {
			if !labeled[i] {
				put(i, all.RawRowView(i))
			}
		}
	}
	if held := calibrated.Out; held != nil && held.Probabilities != nil {
		for k, i := range held.Points {
			if int(i) < old {
				put(int(i), held.Probabilities.RawRowView(k))
			}
		}
	}
	return out, nil
}

// withoutForgotten returns the consensus with the numbers that the points which stay have after an update; nil for nil.
func withoutForgotten(c *models.Consensus, u *Updated) *models.Consensus {
	if c == nil || u.stay == nil {
		return c
	}
	old := u.Old + u.Forgotten
	number := slices.Repeat([]int32{-1}, old+u.New)
	for k, i := range u.stay {
		number[i] = int32(k)
	}
	for i := range u.New {
		number[old+i] = int32(u.Old + i)
	}
	out := *c
	out.Point, out.Class, out.Annotator = nil, nil, nil
	points := map[int32]bool{}
	for k, i := range c.Point {
		if at := number[i]; at >= 0 {
			out.Point = append(out.Point, at)
			out.Class = append(out.Class, c.Class[k])
			out.Annotator = append(out.Annotator, c.Annotator[k])
			points[at] = true
		}
	}
	if len(out.Point) == 0 {
		return nil
	}
	out.Points = len(points)
	return &out
}
