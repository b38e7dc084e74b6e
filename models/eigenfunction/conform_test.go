package eigenfunction_test

import (
	"testing"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/modeltest"
)

func TestConform(t *testing.T) {
	t.Run("by cross-validation", func(t *testing.T) {
		modeltest.Conform(t, eigenfunction.Learner{}, modeltest.Suite{Except: map[string]string{"permuted": "in another order other points come into a fold, which may choose another number of eigenfunctions"}})
	})
	t.Run("given", func(t *testing.T) {
		modeltest.Conform(t, eigenfunction.Learner{}, modeltest.Suite{Values: models.Values{"eigenfunctions": "3", "intercept": "true"}})
	})
}

func TestCosts(t *testing.T) {
	modeltest.Costs(t, eigenfunction.Learner{}, nil, 500, 1000, 2000)
	modeltest.Costs(t, eigenfunction.Learner{}, models.Values{"landmarks": "300"}, 2000, 20000)
}
