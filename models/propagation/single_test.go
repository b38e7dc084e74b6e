package propagation

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// pathOf returns a path of n vertices with weights w.
func pathOf(n int, w float64) *sparse.CSR {
	m := &sparse.CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1)}
	for i := range n {
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < n {
				m.Col = append(m.Col, int32(j))
				m.Val = append(m.Val, w)
			}
		}
		m.Ptr[i+1] = int64(len(m.Col))
	}
	return m
}

// singles counts the scores that float32 holds exactly.
func singles(a *mat.Dense) int {
	count := 0
	for _, v := range a.RawMatrix().Data {
		if float64(float32(v)) == v {
			count++
		}
	}
	return count
}

func TestScoresOfFewDigitsAreSingle(t *testing.T) {
	const n = 60
	w := pathOf(n, 1)
	y := modeltest.ClassTargets(t, modeltest.Labels(n, map[int]int64{3: 0, 50: 1, 31: 0}))

	for _, l := range []models.Learner{Learner{Method: LGC}, Learner{Method: Poisson}, SizedLearner{Method: PoissonMBO}} {
		fit := func(values models.Values) *mat.Dense {
			m, err := l.Fit(context.Background(), &models.Input{Graph: models.NewGraph(w), Targets: y, Values: values})
			if err != nil {
				t.Fatal(l.Info().Name, err)
			}
			return m.(models.Trained).Training(true).Scores
		}
		loose := fit(models.Values{"tolerance": "0.001"})
		if got := singles(loose); got != 2*n {
			t.Errorf("%s to three digits: %d of %d scores are numbers of float32", l.Info().Name, got, 2*n)
		}
		if got := singles(fit(nil)); got == 2*n {
			t.Errorf("%s to eight digits: all scores are numbers of float32", l.Info().Name)
		}
	}
}

// Scores that float32 would make zero, or infinite, stay as they are.
func TestScoresBeyondSingle(t *testing.T) {
	for _, v := range []float64{1.1e-40, 1.1e300, math.NaN()} {
		g := &Solution{Settings: Settings{Tolerance: fewDigits}, Classes: []int64{0, 1}, Scores: mat.NewDense(2, 2, []float64{0.1, 0, v, 0})}
		g.round()
		if g.Scores.At(0, 0) != 0.1 || g.Scores.At(1, 0) != v && v == v {
			t.Errorf("beside %v the scores are %v", v, g.Scores.RawMatrix().Data)
		}
	}

	g := &Solution{Settings: Settings{Tolerance: fewDigits}, Classes: []int64{0, 1}, Scores: mat.NewDense(2, 2, []float64{0.1, 0, 0, 1.1e-29})}
	g.round()
	if got := singles(g.Scores); got != 4 {
		t.Errorf("%d of 4 scores are rounded: %v", got, g.Scores.RawMatrix().Data)
	}
}
