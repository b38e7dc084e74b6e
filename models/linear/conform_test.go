package linear

import (
	"testing"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
)

// suites are how the learners are checked.
func suites() map[string]modeltest.Suite {
	return map[string]modeltest.Suite{
		RLSName:    {Values: models.Values{"gamma-a": "1"}},
		SVMName:    {Values: models.Values{"gamma-a": "1", "tolerance": "1e-11"}},
		LapRLSName: {Values: models.Values{"gamma-a": "1", "gamma-i": "0.1"}, Plain: &modeltest.Plain{Learner: Learners[0], Values: models.Values{"gamma-a": "1"}}},
		LapSVMName: {Values: models.Values{"gamma-a": "1", "gamma-i": "0.1", "tolerance": "1e-11"}, Plain: &modeltest.Plain{Learner: Learners[1], Values: models.Values{"gamma-a": "1", "tolerance": "1e-11"}}},
		TSVMName:   {Values: models.Values{"gamma-a": "1", "tolerance": "1e-11"}},
	}
}

func TestConform(t *testing.T) {
	s := suites()
	for _, l := range Learners {
		t.Run(l.Info().Name, func(t *testing.T) { modeltest.Conform(t, l, s[l.Info().Name]) })
	}
}

func TestCosts(t *testing.T) {
	s := suites()
	for _, l := range Learners {
		modeltest.Costs(t, l, s[l.Info().Name].Values, 1000, 10000, 50000)
	}
}
