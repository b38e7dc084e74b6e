package pool_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/pool"
	"github.com/bigfit/bigfit/models/propagation"
)

// dear is label spreading with folds that take too long.
type dear struct{ propagation.Learner }

func (l dear) GridCost(g *models.Grid) (models.GridCost, error) {
	c, err := l.Learner.GridCost(g)
	c.Operations += 1e3 * pool.MostOperations
	return c, err
}

// TestOneByOne compares labels that are left out one by one, as where folds take too long, with fits without each label.
func TestOneByOne(t *testing.T) {
	t.Parallel()
	x, y := synthetic.TwoMoons(300, 0.1, 3)
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(t.Context(), ix, knn.GraphSettings{K: 8})
	if err != nil {
		t.Fatal(err)
	}
	known, err := y.Draw(12, 5)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := models.ClassTargets(known)
	if err != nil {
		t.Fatal(err)
	}
	in := &models.Input{Graph: models.NewGraph(w), Targets: targets}

	lgc := propagation.Learner{Method: propagation.LGC}
	values := models.Values{"alpha": "0.9", "tolerance": "1e-8"}
	folds := fitted(t, in, pool.Member{Learner: lgc, Settings: []models.Values{values}})
	alone := fitted(t, in, pool.Member{Learner: dear{lgc}, Settings: []models.Values{values}})
	if folds.Choice.OneByOne || !alone.Choice.OneByOne || !alone.Choice.Validated || alone.Choice.Folds != 0 {
		t.Errorf("choices %+v and %+v", folds.Choice, alone.Choice)
	}
	held := alone.HeldOut()
	if held == nil || held.Folds != 0 || len(held.Labels) != len(targets.Labeled) {
		t.Fatalf("held out %+v, want %d labels without folds", held, len(targets.Labeled))
	}

	// An update measures anew in the same way.
	learner := pool.Learner{Name: "auto", Help: "chooses", Members: []pool.Member{{Learner: dear{lgc}, Settings: []models.Values{values}}}}
	again := *in
	again.HoldOut = true
	m, err := learner.Continue(alone, nil, func(models.Learner, models.Values) {}).Fit(t.Context(), &again)
	if err != nil {
		t.Fatal(err)
	}
	next := m.(*pool.Model)
	if other := next.HeldOut(); !next.Choice.OneByOne || other == nil || !mat.EqualApprox(other.Scores, held.Scores, 1e-6) {
		t.Errorf("continued: choice %+v, held out %+v, want %+v", next.Choice, other, held)
	}

	// Its announcement counts the folds, or the labels that are left out in their place.
	operations := func(l models.Learner, m *pool.Model, measured bool) float64 {
		again := *in
		again.HoldOut = measured
		cost, err := pool.Learner{Name: "auto", Members: []pool.Member{{Learner: l, Settings: []models.Values{values}}}}.
			Continue(m, nil, func(models.Learner, models.Values) {}).Cost(&again)
		if err != nil {
			t.Fatal(err)
		}
		return cost.Operations
	}
	own := *in
	own.Values = values
	fit, err := lgc.Cost(&own)
	if err != nil {
		t.Fatal(err)
	}
	if got := operations(lgc, folds, false); got != fit.Operations {
		t.Errorf("an update takes %g operations, want those of its fit, %g", got, fit.Operations)
	}
	if got := operations(lgc, folds, true); !(got > fit.Operations) {
		t.Errorf("an update that measures takes %g operations, its fit alone %g", got, fit.Operations)
	}
	if got := operations(dear{lgc}, alone, true); !(got > 0 && got < pool.MostOperations) {
		t.Errorf("an update that leaves labels out takes %g operations; folds take %g", got, 1e3*pool.MostOperations)
	}

	// The class that a label gets without it is the answer of a fit to the other labels.
	answers := models.Decide(held.Scores)
	compared := 0
	for row, q := range held.Labels {
		own := *in
		own.Values = values
		own.Targets = targets.Keep(targets.Except([]int{q}))
		m, err := lgc.Fit(t.Context(), &own)
		if err != nil {
			t.Fatal(err)
		}
		p := m.(models.Trained).Training(true)
		scores := mat.Row(nil, targets.Labeled[q], p.Scores)
		if math.Abs(scores[0]-scores[1]) < 0.1*(scores[0]+scores[1]) {
			continue // the answers for a label that is left out are scaled by m/(m − 1)
		}
		if want := p.Classes[targets.Labeled[q]]; want != answers[row] {
			t.Errorf("label %d: class %d without it, a fit says %d (%v)", q, answers[row], want, scores)
		}
		compared++
	}
	if compared < len(held.Labels)/2 {
		t.Errorf("%d of %d labels could be compared", compared, len(held.Labels))
	}
}
