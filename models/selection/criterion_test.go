package selection_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/stage"
)

// byHand is a criterion by its definition, of answers for labeled points held out.
func byHand(c selection.Criterion, y *models.Targets, held []int, a models.Answer) float64 {
	switch {
	case y.Labels != nil:
		return labelsByHand(c, y, held, a)
	case y.Classes == nil:
		var sum, count float64
		for i, q := range held {
			for j, v := range y.Y.RawRowView(q) {
				if !math.IsNaN(v) {
					sum += (v - a.Scores.At(i, j)) * (v - a.Scores.At(i, j))
					count++
				}
			}
		}
		return math.Sqrt(sum / count)
	case c == selection.ErrorCriterion:
		var wrong float64
		for i, q := range held {
			if int(a.Classes[i]) != y.Class(q) {
				wrong++
			}
		}
		return wrong / float64(len(held))
	}
	of := func(class int) float64 {
		positive, found, scores := make([]bool, len(held)), make([]bool, len(held)), make([]float64, len(held))
		for i, q := range held {
			positive[i], found[i], scores[i] = y.Class(q) == class, int(a.Classes[i]) == class, a.Scores.At(i, class)
		}
		switch c {
		case selection.F1Criterion:
			return f1(positive, found)
		case selection.AUCCriterion:
			return auc(positive, scores)
		}
		return breakEven(positive, scores)
	}
	if len(y.Classes) == 2 {
		return of(1)
	}
	var sum, defined float64
	for class := range y.Classes {
		if v := of(class); !math.IsNaN(v) {
			sum += v
			defined++
		}
	}
	return sum / defined
}

// labelsByHand is that of points with several labels.
func labelsByHand(c selection.Criterion, y *models.Targets, held []int, a models.Answer) float64 {
	var allPositive, allFound []bool
	var wrong, sum, defined float64
	for j := range y.Labels {
		var positive []bool
		var scores []float64
		for i, q := range held {
			v := y.Y.At(q, j)
			if math.IsNaN(v) {
				continue
			}
			positive, scores = append(positive, v == 1), append(scores, a.Scores.At(i, j))
			allPositive, allFound = append(allPositive, v == 1), append(allFound, a.Scores.At(i, j) > 0)
			if (v == 1) != (a.Scores.At(i, j) > 0) {
				wrong++
			}
		}
		if v := auc(positive, scores); !math.IsNaN(v) {
			sum += v
			defined++
		}
	}
	switch c {
	case selection.ErrorCriterion:
		return wrong / float64(len(allPositive))
	case selection.F1Criterion:
		return f1(allPositive, allFound)
	}
	return sum / defined
}

// f1 is 2·tp/(2·tp + fp + fn).
func f1(positive, found []bool) float64 {
	var hits, all float64
	for i := range positive {
		if positive[i] && found[i] {
			hits++
		}
		for _, v := range []bool{positive[i], found[i]} {
			if v {
				all++
			}
		}
	}
	return 2 * hits / all
}

// auc counts pairs.
func auc(positive []bool, scores []float64) float64 {
	var won, pairs float64
	for i, p := range positive {
		for j, q := range positive {
			if p && !q {
				pairs++
				won += float64(1+cmp.Compare(scores[i], scores[j])) / 2
			}
		}
	}
	return won / pairs
}

// breakEven is the precision of as many points as there are positive ones, with
// different scores.
func breakEven(positive []bool, scores []float64) float64 {
	order := data.Range(0, len(scores))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(scores[j], scores[i]) })
	var count, hits float64
	for _, p := range positive {
		if p {
			count++
		}
	}
	for _, i := range order[:int(count)] {
		if positive[i] {
			hits++
		}
	}
	return hits / count
}

// teller is a learner of which the answers are known: sines of the points, times
// its only parameter.
type teller struct{ learns models.Learns }

func (l teller) Info() models.Info {
	return models.Info{Name: "teller", Help: "sines", Learns: l.learns, Needs: models.NeedsPoints}
}

func (teller) Params() []models.Param {
	return []models.Param{{Name: "speed", Doc: "of the sines", Kind: models.Float, Required: true, Range: models.Positive(), Axis: true}}
}

func (teller) Cost(in *models.Input) (stage.Cost, error) {
	return stage.Cost{Bytes: int64(1000 * in.Values.Float("speed")), Operations: 7, Remedy: "speak less"}, nil
}

func (l teller) Fit(_ context.Context, in *models.Input) (models.Model, error) {
	_, columns := in.Targets.Y.Dims()
	return &told{l, in.Values.Float("speed"), columns, in.Targets}, nil
}

func (teller) Decode(*models.Reader) (models.Model, error) { return nil, fmt.Errorf("no files") }

// told is the model of a teller.
type told struct {
	teller
	speed   float64
	columns int
	targets *models.Targets
}

func (m *told) Name() string                                      { return "teller" }
func (m *told) Output() models.Output                             { return models.OutputOf(m.targets.Classes, m.columns) }
func (m *told) Dim() int                                          { return 4 }
func (m *told) QueryCost(int, *models.PredictSettings) stage.Cost { return stage.Cost{} }
func (m *told) Summary() models.Summary                           { return models.Summary{} }
func (m *told) Encode() (*models.Encoded, error)                  { return nil, fmt.Errorf("no files") }
func (m *told) Predict(_ context.Context, x data.Points, _ *models.PredictSettings) (*models.Prediction, error) {
	n, d := x.Dims()
	raw, row := mat.NewDense(n, m.columns, nil), make([]float64, d)
	for i := range n {
		data.RowTo(row, x, i)
		for j := range m.columns {
			raw.Set(i, j, math.Sin(m.speed*row[j%d]+float64(j)))
		}
	}
	return models.NewPrediction(raw, m.targets.Classes), nil
}

// Every criterion is that of the definition, for every kind of targets, and the
// settings stand in its order.
func TestCriteria(t *testing.T) {
	for _, c := range []struct {
		kind     kind
		learns   models.Learns
		criteria []selection.Criterion
	}{
		{2, models.LearnsClasses, []selection.Criterion{selection.ErrorCriterion, selection.F1Criterion, selection.PRBEPCriterion, selection.AUCCriterion}},
		{3, models.LearnsClasses, []selection.Criterion{selection.ErrorCriterion, selection.F1Criterion, selection.PRBEPCriterion, selection.AUCCriterion}},
		{values, models.LearnsValues, []selection.Criterion{selection.RMSECriterion}},
		{labels, models.LearnsLabels, []selection.Criterion{selection.ErrorCriterion, selection.F1Criterion, selection.AUCCriterion}},
	} {
		d := newCase(t, 90, 60, c.kind)
		g := &selection.Grid{Learner: teller{c.learns}, Axes: axes("speed 1 2 3 4 5 6 7 8")}
		for _, criterion := range c.criteria {
			r := search(t, d, g, &selection.Settings{Folds: 3, Criterion: criterion})
			if r.Criterion != criterion || len(r.Scores) != 8 {
				t.Fatalf("%v: %+v", criterion, r)
			}
			checkScores(t, d, g, r)
			if first, last := r.Scores[0].Mean, r.Scores[7].Mean; first == last || criterion.Larger() != (first > last) {
				t.Errorf("%v: the means are %v to %v", criterion, first, last)
			}
		}
		r := search(t, d, g, nil)
		if want := map[bool]selection.Criterion{false: selection.ErrorCriterion, true: selection.RMSECriterion}[c.kind == values]; r.Criterion != want || r.Folds != 5 || r.Repeats != 1 {
			t.Errorf("without settings: %v, %d folds, %d repeats", r.Criterion, r.Folds, r.Repeats)
		}
	}
}

func TestCriterionNames(t *testing.T) {
	for c := selection.DefaultCriterion; c <= selection.AUCCriterion; c++ {
		text, err := c.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back selection.Criterion
		if err := back.UnmarshalText(text); err != nil || back != c {
			t.Errorf("%s comes back as %v, %v", text, back, err)
		}
	}
	var c selection.Criterion
	if err := c.UnmarshalText([]byte("accuracy")); err == nil {
		t.Error("accuracy is a criterion")
	}
}
