package correction_test

import (
	"testing"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/correction"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/modeltest"
)

// two has bases of both kinds.
var two = correction.Learner{Bases: []models.Learner{linear.Learners[0], kernelmachine.Learner{Method: kernelmachine.RLS}}}

func TestConform(t *testing.T) {
	values := models.Values{"gamma-a": "1", "smooth-alpha": "0.9", "tolerance": "1e-12"}
	for name, v := range map[string]models.Values{
		"linear": values,
		"kernel": values.With(models.Values{"base": "rls", "gamma-a": "0.01", "correction": "fixed", "factor": "0.5"}),
	} {
		t.Run(name, func(t *testing.T) { modeltest.Conform(t, two, modeltest.Suite{Values: v}) })
	}
}

func TestCosts(t *testing.T) {
	v := models.Values{"gamma-a": "1", "smooth-alpha": "0.9"}
	modeltest.Costs(t, two, v, 500, 2000, 10000)
	modeltest.Costs(t, two, v.With(models.Values{"correction": "fixed"}), 500, 2000, 10000)
}
