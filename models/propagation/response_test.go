package propagation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// The block of the inverse that moments give is that of a dense inverse.
func TestMoments(t *testing.T) {
	w := weightedGraph(t, 3, 40, 20, 1)
	p, err := NewProblem(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	n := w.Rows
	labeled := append(data40(), 55, n-1)
	at := make([]int32, len(labeled))
	for q, i := range labeled {
		at[q] = p.place[i]
	}
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []float64{0.0101, 0.1, 1} {
		_, q := decay(r)
		terms := 1 + int(math.Log(1e-7)/math.Log(q))
		m, err := p.moments(context.Background(), at, terms)
		if err != nil {
			t.Fatal(err)
		}
		identity, full := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
		for i := range n {
			identity.Set(i, i, 1)
		}
		l.With(1, r).MulTo(full, identity)
		var inverse mat.Dense
		if err := inverse.Inverse(full); err != nil {
			t.Fatal(err)
		}
		got := m.matrix(r)
		for a, i := range labeled {
			for b, j := range labeled {
				if want := inverse.At(i, j); !(math.Abs(got.At(a, b)-want) <= 1e-5/r) {
					t.Fatalf("r = %g: element (%d, %d) is %v, not %v", r, i, j, got.At(a, b), want)
				}
			}
		}
	}
}

// data40 names 33 points.
func data40() []int {
	var out []int
	for i := range 33 {
		out = append(out, i+i/10)
	}
	return out
}

// Answers by moments are those of fits to the labels of each fold, up to the tolerance; what
// no label reaches is answered in the same way.
func TestFitGridByMoments(t *testing.T) {
	const tolerance = 1e-3
	w := weightedGraph(t, 5, 60, 30, 12, 5, 1)
	y := drawClasses(5, w.Rows, 45, 3)
	values := mat.NewDense(w.Rows, 1, nil)
	for i := range w.Rows {
		values.Set(i, 0, math.NaN())
		if i%6 == 0 {
			values.Set(i, 0, math.Sin(float64(i)))
		}
	}
	ofValues, err := models.ValueTargets(values)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method   Method
		targets  *models.Targets
		settings models.Values
		moments  bool
	}{
		{LGC, modeltest.ClassTargets(t, y), models.Values{"alpha": "0.99"}, true},
		{LGC, modeltest.ClassTargets(t, y), models.Values{"alpha": "0.5"}, true},
		{LGC, modeltest.ClassTargets(t, y), models.Values{"alpha": "0.9999"}, false},
		{Tikhonov, modeltest.ClassTargets(t, y), models.Values{"gamma-a": "0.001", "gamma-i": "0.1", "laplacian": "normalized"}, true},
		{Tikhonov, modeltest.ClassTargets(t, y), models.Values{"gamma-a": "0.001", "gamma-i": "0.1", "laplacian": "normalized", "power": "2"}, false},
		{Tikhonov, modeltest.ClassTargets(t, y), models.Values{"gamma-a": "0.001", "gamma-i": "0.1"}, false},
		{Tikhonov, ofValues, models.Values{"gamma-a": "0.01", "gamma-i": "0.1", "laplacian": "normalized"}, true},
	} {
		t.Run(fmt.Sprintf("%v %v", c.method, c.settings), func(t *testing.T) {
			l := Learner{Method: c.method}
			values := c.settings.With(models.Values{"tolerance": models.FormatFloat(tolerance)})
			g := &models.Grid{Input: models.Input{Targets: c.targets, Edges: w.NNZ()}, Settings: []models.Values{values}, Derived: &models.Derived{}}
			if g.Splits, err = c.targets.Splits(5, 1, 5); err != nil {
				t.Fatal(err)
			}
			graph := models.NewGraph(w)
			g.GraphOf = func(int) (*models.Graph, error) { return graph, nil }
			g.GraphKey = func(int) string { return "one" }
			if served, _ := l.byMoments(g, []int{0}); (served[0] != nil) != c.moments {
				t.Fatalf("moments serve: %v, want %v", served[0] != nil, c.moments)
			}
			seen := 0
			g.Run = func(ctx context.Context, settings []int, fit func(*models.Split) []models.Answer) error {
				for _, s := range g.Splits {
					a := fit(s)[0]
					if a.Err != nil {
						t.Fatal(a.Err)
					}
					seen++
					exact := values.With(models.Values{"tolerance": "1e-12"})
					m, err := l.Fit(ctx, &models.Input{Targets: s.Train, Graph: graph, Values: exact})
					if err != nil {
						t.Fatal(err)
					}
					want := models.AnswerAt(m.(*Model).Training(true), s.Points, nil)
					var off mat.Dense
					off.Sub(a.Scores, want.Scores)
					if !(mat.Max(&off) <= 3*tolerance && mat.Min(&off) >= -3*tolerance) {
						t.Errorf("scores differ by %v to %v", mat.Min(&off), mat.Max(&off))
					}
					for i := range want.Classes {
						row := slices.Clone(want.Scores.RawRowView(i))
						slices.Sort(row)
						if near := row[len(row)-1]-row[len(row)-2] < 6*tolerance && row[len(row)-1] != row[0]; !near && a.Classes[i] != want.Classes[i] {
							t.Errorf("point %d: class %d, of a fit %d", s.Points[i], a.Classes[i], want.Classes[i])
						}
					}
				}
				return nil
			}
			if err := l.FitGrid(context.Background(), g); err != nil {
				t.Fatal(err)
			}
			if seen != len(g.Splits) {
				t.Errorf("%d splits were answered", seen)
			}
		})
	}
}
