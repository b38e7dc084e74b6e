package pool_test

import (
	"math"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/pool"
	"github.com/bigfit/bigfit/sparse"
)

// A number added to all values is added to all answers, of training points, new points, held-out labels and the model
// of a file, and changes nothing else: no member draws values to zero.
func TestValuesFarFromZero(t *testing.T) {
	const n, far = 200, 1000.0
	x := &data.Dense[float64]{Rows: n, Cols: 1, Data: make([]float64, n)}
	for i := range x.Data {
		x.Data[i] = float64(i) / 20
	}
	problem := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Normalized, 2)
	onto := func(above float64) *pool.Model {
		y := mat.NewDense(n, 1, nil)
		for i := range n {
			y.Set(i, 0, math.NaN())
			if i%5 == 0 {
				y.Set(i, 0, math.Sin(x.Data[i])+above)
			}
		}
		targets, err := models.ValueTargets(y)
		if err != nil {
			t.Fatal(err)
		}
		m, err := all.Auto.Fit(t.Context(), &models.Input{Points: x, Graph: problem.Graph(), Targets: targets})
		if err != nil {
			t.Fatal(err)
		}
		return m.(*pool.Model)
	}

	near, above := onto(0), onto(far)
	for i, v := range near.Training(true).Scores.RawMatrix().Data {
		if u := above.Training(true).Scores.At(i, 0) - far; math.Abs(u-v) > 1e-6 {
			t.Fatalf("point %d: %v and %v", i, v, u)
		}
	}
	for k, m := range near.Choice.Members {
		if u := above.Choice.Members[k]; u.Name != m.Name || math.Abs(float64(u.Error-m.Error)) > 1e-6 {
			t.Errorf("member %d is %s with %v, and %s with %v", k, m.Name, m.Error, u.Name, u.Error)
		}
	}
	if float64(near.Choice.Error) > 0.1 {
		t.Errorf("error %v", near.Choice.Error)
	}

	held, other := near.HeldOut(), above.HeldOut()
	if held == nil || len(held.Labels) != n/5 {
		t.Fatalf("held out: %+v", held)
	}
	for r := range held.Labels {
		if u, v := other.Scores.At(r, 0)-far, held.Scores.At(r, 0); math.Abs(u-v) > 1e-6 {
			t.Errorf("label %d held out: %v and %v", r, v, u)
		}
	}

	path := filepath.Join(t.TempDir(), "m.npz")
	if err := models.Save(path, above, nil); err != nil {
		t.Fatal(err)
	}
	back, _, err := all.Load(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	asked := &data.Dense[float64]{Rows: 2, Cols: 1, Data: []float64{0.33, 7.77}}
	want, err := above.Predict(t.Context(), asked, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := back.Predict(t.Context(), asked, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if v := got.Scores.At(i, 0); v != want.Scores.At(i, 0) || math.Abs(v-far-math.Sin(asked.Data[i])) > 0.1 {
			t.Errorf("%v from the file, %v before, for %v", v, want.Scores.At(i, 0), math.Sin(asked.Data[i])+far)
		}
	}
}
