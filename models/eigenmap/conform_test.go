package eigenmap

import (
	"testing"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
)

// Without and with a penalty, whose strength is chosen or given.
var conformValues = []models.Values{{"eigenvectors": "4"}, {"penalty": "iterated", "eigenvectors": "5"}, {"penalty": "heat", "gamma": "0.1", "eigenvectors": "4"},
	{"penalty": "polynomial", "penalty-coefficients": "0.1,0,2", "gamma": "0.1", "eigenvectors": "4", "penalty-unit": "one"},
	{"penalty": "kernel", "penalty-mu": "1,0.5,0,2", "gamma": "0.1"}}

func TestConform(t *testing.T) {
	for _, v := range conformValues {
		t.Run(v.String(), func(t *testing.T) { modeltest.Conform(t, Learner{}, modeltest.Suite{Values: v}) })
	}
}

func TestCosts(t *testing.T) {
	for _, v := range conformValues[:3] { // the form of a penalty takes nothing
		modeltest.Costs(t, Learner{}, v, 500, 2000, 10000)
	}
}
