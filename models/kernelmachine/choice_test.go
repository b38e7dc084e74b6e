package kernelmachine

import (
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
)

// Exact machines are made of at most 5000 points, unless they are asked for; of more,
// landmarks are chosen, which take less time, and the choice says so.
func TestChooseApproximation(t *testing.T) {
	const many, few = 20000, 300
	labels := func(n, l int) *models.Targets {
		known := map[int]int64{}
		for i := range l {
			known[i] = int64(i % 3)
		}
		return modeltest.ClassTargets(t, modeltest.Labels(n, known))
	}
	for _, c := range []struct {
		learner models.Chooser
		n, l    int
		v       models.Values
		want    string // the approximation
		weighed bool
	}{
		{Learner{RLS, true}, many, few, models.Values{"gamma-a": "1", "gamma-i": "1"}, "nystrom", true},
		{Learner{SVM, true}, many, few, models.Values{"gamma-a": "1", "gamma-i": "1", "approximation": "auto"}, "nystrom", true},
		{Learner{RLS, true}, many, few, models.Values{"gamma-a": "1", "gamma-i": "0"}, "exact", false},
		{Learner{SVM, false}, many, few, models.Values{"gamma-a": "1"}, "exact", false},
		{Learner{SVM, false}, many, 6000, models.Values{"gamma-a": "1"}, "nystrom", true},
		{Learner{RLS, true}, 5000, few, models.Values{"gamma-a": "1", "gamma-i": "1"}, "exact", false},
		{Learner{RLS, true}, many, few, models.Values{"gamma-a": "1", "gamma-i": "1", "approximation": "exact"}, "exact", false},
		{Learner{RLS, true}, many, few, models.Values{"gamma-a": "1", "gamma-i": "1", "heat": "2"}, "exact", false},
		{Learner{RLS, true}, many, few, models.Values{"gamma-a": "1", "gamma-i": "1", "sampling": "uniform"}, "nystrom", false},
		{Learner{RLS, true}, many, few, models.Values{"gamma-a": "1", "gamma-i": "1", "features": "10"}, "fourier", false},
		{VVMRLearner{}, many, few, models.Values{"gamma-a": "1", "gamma-i": "1"}, "nystrom", true},
		{VVMRLearner{}, few, few, models.Values{"gamma-a": "1", "gamma-i": "1"}, "exact", false},
	} {
		in := &models.Input{Points: data.NewDense[float32](c.n, 8), Targets: labels(c.n, c.l), Edges: 16 * c.n, Values: c.v}
		v, why, err := c.learner.Choose(in)
		if err != nil || v["approximation"] != c.want || (why != "") != c.weighed {
			t.Errorf("%s of %d points %v: %s, %q, %v", c.learner.Info().Name, c.n, c.v, v["approximation"], why, err)
		}
		if c.weighed && (!strings.Contains(why, "exact") || !strings.Contains(why, "landmarks")) {
			t.Errorf("%s: %q", c.learner.Info().Name, why)
		}
		if _, given := c.v["approximation"]; !given && len(c.v) == len(v) {
			t.Errorf("%v was changed", c.v)
		}
		cost, err := c.learner.Cost(in)
		if err != nil {
			t.Fatal(err)
		}
		chosen := *in
		chosen.Values = v
		if same, err := c.learner.Cost(&chosen); err != nil || same != cost {
			t.Errorf("%s: the cost is not that of the choice: %+v, %+v, %v", c.learner.Info().Name, cost, same, err)
		}
	}
}
