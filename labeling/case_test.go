package labeling_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
)

// clusters are n points of four dimensions in so many noisy groups, and their groups.
func clusters(n, groups int) (*data.Dense[float64], *data.Labels) {
	rng := rand.New(rand.NewPCG(7, uint64(groups)))
	x, class := data.NewDense[float64](n, 4), make([]int64, n)
	for i := range n {
		class[i] = int64(10 + i%groups)
		for j := range x.Row(i) {
			x.Row(i)[j] = rng.NormFloat64()
		}
		x.Row(i)[i%groups] += 4
	}
	return x, data.NewLabels(class, nil)
}

// few are the classes of some points of three clusters.
func few(t *testing.T, n int) (*data.Dense[float64], *models.Targets) {
	t.Helper()
	x, y := clusters(n, 3)
	return x, modeltest.ClassTargets(t, y.Keep(data.Range(0, n/6)))
}

// cancelled is a context that has ended.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
