package propagation

import (
	"testing"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
)

// conformValues are tight, as permuted rows take other steps of conjugate gradients.
func conformValues(m Method) models.Values {
	v := models.Values{"tolerance": "1e-12"}
	if m == Tikhonov {
		v = v.With(models.Values{"gamma-a": "1e-5", "gamma-i": "1e-3"})
	}
	return v
}

func TestConform(t *testing.T) {
	for m := Harmonic; m <= Poisson; m++ {
		t.Run(m.String(), func(t *testing.T) {
			modeltest.Conform(t, Learner{Method: m}, modeltest.Suite{Values: conformValues(m)})
		})
	}
}

func TestCosts(t *testing.T) {
	for m := Harmonic; m <= Poisson; m++ {
		modeltest.Costs(t, Learner{Method: m}, conformValues(m), 500, 2000, 10000)
	}
}

func TestReweightedConform(t *testing.T) {
	modeltest.Conform(t, ReweightedLearner{}, modeltest.Suite{Values: conformValues(Harmonic)})
}

func TestReweightedCosts(t *testing.T) {
	modeltest.Costs(t, ReweightedLearner{}, conformValues(Harmonic), 500, 2000, 10000)
}
