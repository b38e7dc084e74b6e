package bigfit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bigfit/bigfit"
)

// blobs are n points of four coordinates in three noisy groups, with the name of the group of
// each. Equal seeds give equal points.
func blobs(n int, seed uint64) (x [][]float64, group []string) {
	r := rand.New(rand.NewPCG(seed, 17))
	for i := range n {
		c := i % 3
		row := make([]float64, 4)
		for j := range row {
			row[j] = r.NormFloat64()
		}
		row[c] += 5
		x = append(x, row)
		group = append(group, []string{"ash", "birch", "cedar"}[c])
	}
	return x, group
}

// some keeps the labels of the first count points.
func some(labels []string, count int) []string {
	out := make([]string, len(labels))
	copy(out, labels[:count])
	return out
}

// waves are n points on a line and a smooth value at each; the value of four in five is NaN.
func waves(n int) (x [][]float64, y, truth []float64) {
	for i := range n {
		at := 6 * float64(i) / float64(n)
		x = append(x, []float64{at, math.Cos(at)})
		truth = append(truth, math.Sin(at))
		y = append(y, math.NaN())
		if i%5 == 0 {
			y[i] = truth[i]
		}
	}
	return x, y, truth
}

// fit fits a model to blobs, of which 30 have a label.
func fit(t *testing.T, n int, o *bigfit.Options) (m *bigfit.Model, x [][]float64, group []string) {
	t.Helper()
	x, group = blobs(n, 1)
	m, err := bigfit.Fit(t.Context(), bigfit.Rows(x), bigfit.Names(some(group, 30)), o)
	if err != nil {
		t.Fatal(err)
	}
	return m, x, group
}

// wrong counts the points whose name is not the group.
func wrong(p *bigfit.Predictions, group []string) (count int) {
	for i, g := range group {
		if p.Name(i) != g {
			count++
		}
	}
	return count
}

// answers writes all that is said of some points.
func answers(p *bigfit.Predictions) string {
	var out string
	for i := range p.Len() {
		out += fmt.Sprintln(p.Name(i), p.Class(i), p.Probability(i), p.Scores(i), p.Value(i))
	}
	return out
}

// cancelled returns a context that is cancelled.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
