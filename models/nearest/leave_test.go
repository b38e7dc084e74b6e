package nearest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
)

// TestHeldOutPaths compares the votes for each label without it with a fit without it, in a graph of
// several components.
func TestHeldOutPaths(t *testing.T) {
	const n = 200
	rng := rand.New(rand.NewPCG(3, 5))
	x := data.NewDense[float64](n, 2)
	class := map[int]int64{}
	for i := range n {
		x.Row(i)[0] = rng.Float64() + 100*float64(i%4)
		x.Row(i)[1] = rng.Float64()
		if rng.IntN(6) == 0 {
			class[i] = int64(rng.IntN(3))
		}
	}
	y := modeltest.Labels(n, class)

	for _, vote := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(vote), func(t *testing.T) {
			v := models.Values{"vote": fmt.Sprint(vote)}
			in := geodesicInput(t, x, knn.Euclidean, knn.GraphSettings{K: 4}, y, v)
			m, err := GeodesicLearner{}.Fit(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			held := m.(*Geodesic).HeldOut()

			answered := map[int][]float64{}
			for row, q := range held.Labels {
				answered[q] = held.Scores.RawRowView(row)
			}
			for q, i := range in.Targets.Labeled {
				rest := in.Targets.Keep(in.Targets.Except([]int{q}))
				fold := *in
				fold.Targets = rest
				without, err := GeodesicLearner{}.Fit(t.Context(), &fold)
				if err != nil {
					t.Fatal(err)
				}
				from, _ := without.(*Geodesic).paths.at(i)
				got, ok := answered[q]
				if ok != (len(from) > 0) {
					t.Fatalf("point %d has an answer: %v; %d labels are in reach", i, ok, len(from))
				}
				if !ok {
					continue
				}
				want := make([]float64, len(y.Classes))
				without.(*Geodesic).share(want, from)
				for c := range want {
					if !(got[c]-want[c] < 1e-12 && want[c]-got[c] < 1e-12) {
						t.Fatalf("point %d: shares %v, a fit without its label says %v", i, got, want)
					}
				}
			}
		})
	}
}

// TestHeldOutVotes compares the votes for each label by the others with a fit without the label.
func TestHeldOutVotes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	x := data.NewDense[float64](60, 2)
	class := map[int]int64{}
	for i := range 60 {
		x.Row(i)[0] = rng.Float64()
		x.Row(i)[1] = rng.Float64()
		if i%2 == 0 {
			class[i] = int64(rng.IntN(3))
		}
	}

	y := modeltest.ClassTargets(t, modeltest.Labels(60, class))
	m, err := Learner{}.Fit(t.Context(), &models.Input{Points: x, Targets: y})
	if err != nil {
		t.Fatal(err)
	}
	held := m.(*Model).HeldOut()
	for row, q := range held.Labels {
		in := &models.Input{Points: x, Targets: y.Keep(y.Except([]int{q})), Values: m.Summary().Values}
		without, err := Learner{}.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		p, err := without.Predict(t.Context(), data.Select(x, []int{y.Labeled[q]}), nil)
		if err != nil {
			t.Fatal(err)
		}
		for c, want := range p.Scores.RawRowView(0) {
			if got := held.Scores.At(row, c); got != want {
				t.Errorf("label %d, class %d: %g of the votes, without it %g", q, c, got, want)
			}
		}
	}

	if len(held.Labels) != 30 || without(t, x, y) != nil {
		t.Errorf("answers for %d of 30 labels; a given number of votes holds out %v", len(held.Labels),
			without(t, x, y))
	}
}

// without returns what a fit with a given number of votes held out.
func without(t *testing.T, x data.Points, y *models.Targets) *models.HeldOut {
	t.Helper()
	m, err := Learner{}.Fit(t.Context(), &models.Input{Points: x, Targets: y, Values: models.Values{"vote": "3"}})
	if err != nil {
		t.Fatal(err)
	}
	return m.(*Model).HeldOut()
}
