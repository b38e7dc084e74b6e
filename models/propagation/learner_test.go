package propagation

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// TestLearners: the learners make the models of Fit, with progress.
func TestLearners(t *testing.T) {
	x, truth := synthetic.Digits(200, 4)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Combinatorial, 2)
	drawn, err := truth.Draw(50, 2)
	if err != nil {
		t.Fatal(err)
	}
	y := modeltest.ClassTargets(t, drawn)
	for _, c := range []struct {
		method Method
		v      models.Values
		s      Settings
	}{
		{Harmonic, nil, Settings{}},
		{Harmonic, models.Values{"class-mass": "true", "priors": "1,2,3,4,5,6,7,8,9,10"}, Settings{MassNormalization: true, Priors: []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}},
		{LGC, models.Values{"tolerance": "1e-05"}, Settings{Method: LGC, Tolerance: 1e-5}},
		{LGC, models.Values{"alpha": "0.9"}, Settings{Method: LGC, Alpha: 0.9}},
		{Tikhonov, models.Values{"gamma-a": "0.01", "gamma-i": "0.1", "power": "2", "scaling": "per-pair", "laplacian": "normalized"},
			Settings{Method: Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 0.01, GammaI: 0.1, Power: 2, Scaling: regularizer.PerPair, Laplacian: sparse.Normalized}}},
		{Poisson, models.Values{"priors": "1,1,1,1,1,1,1,1,1,1", "max-iterations": "500"}, Settings{Method: Poisson, Priors: slices.Repeat([]float64{1}, 10), MaxIterations: 500}},
	} {
		want, err := Fit(t.Context(), p.W, nil, y, &c.s)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		in := &models.Input{Targets: y, Graph: p.Graph(), Values: c.v, Progress: func(p models.Progress) {
			calls++
			if p.Done > p.Total || p.Note == "" {
				t.Errorf("progress %+v", p)
			}
		}}
		m, err := Learner{Method: c.method}.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got := m.(*Model)
		if calls < 2 {
			t.Errorf("%v: progress was told %d times", c.method, calls)
		}
		if !reflect.DeepEqual(got.Solution, want) || m.Dim() != 784 {
			t.Errorf("%v: other solution than of Fit", c.method)
		}
		training := got.Training(true)
		if !slices.Equal(training.Classes, want.Labels) || !mat.Equal(training.Scores, want.Scores) || got.Training(false).Scores != nil {
			t.Errorf("%v: other answers for the training points", c.method)
		}
		for name, v := range c.v {
			if m.Summary().Values[name] != v {
				t.Errorf("%v: %s is %q in the summary", c.method, name, m.Summary().Values[name])
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		in.Progress = func(models.Progress) { cancel() }
		if m, err := (Learner{Method: c.method}).Fit(ctx, in); m != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%v: cancelled: %v", c.method, err)
		}
		in.Progress, in.Values = nil, in.Values.With(models.Values{"max-iterations": "1"})
		if m, err := (Learner{Method: c.method}).Fit(t.Context(), in); m == nil || !errors.Is(err, cg.ErrNotConverged) {
			t.Errorf("%v: after one iteration: %v", c.method, err)
		}
	}
}

func TestLearnersRefuse(t *testing.T) {
	w := weightedGraph(t, 1, 20)
	y := modeltest.ClassTargets(t, drawClasses(1, 20, 5, 2))
	for _, c := range []struct {
		method Method
		v      models.Values
		parts  []string
	}{
		{LGC, models.Values{"class-shares": "given"}, []string{`class-shares is "given"`}},
		{Harmonic, models.Values{"class-mass": "true", "priors": "1,-2", "tolerance": "2"}, []string{"priors has the value -2", "tolerance is 2"}},
		{LGC, models.Values{"alpha": "1", "max-iterations": "0", "gamma-a": "1"}, []string{"alpha is 1", "max-iterations is 0", `unknown parameter "gamma-a"`}},
		{Tikhonov, nil, []string{"gamma-a is missing", "gamma-i is missing"}},
		{Tikhonov, models.Values{"gamma-a": "0", "gamma-i": "0", "power": "1.5", "laplacian": "random-walk", "scaling": "none"},
			[]string{"gamma-a is 0", "gamma-i is 0", "power is 1.5", `laplacian is "random-walk"`, `scaling is "none"`}},
		{Poisson, models.Values{"priors": "1;2"}, []string{`priors has the value "1;2"`}},
		{Poisson, models.Values{"priors": "1,-1"}, []string{"priors has the value -1", "each must be at least 0"}},
		{LGC, models.Values{"alpha": "0"}, []string{"alpha is 0; it must be between 0 and 1"}},
	} {
		in := &models.Input{Targets: y, Graph: models.NewGraph(w), Values: c.v}
		_, costErr := Learner{Method: c.method}.Cost(in)
		m, fitErr := Learner{Method: c.method}.Fit(t.Context(), in)
		for _, err := range []error{costErr, fitErr} {
			for _, part := range c.parts {
				if m != nil || err == nil || !strings.Contains(param.Plain(err.Error()), part) {
					t.Errorf("%v %v: error %v does not say %q", c.method, c.v, err, part)
				}
			}
		}
	}
	if c, err := (Learner{}).Cost(&models.Input{Targets: y, Graph: models.NewGraph(w)}); err != nil || param.Plain(c.Remedy) != "make a graph of fewer neighbors" {
		t.Errorf("the remedy is %q, %v", c.Remedy, err)
	}
	one := &models.Targets{Len: 20, Labeled: y.Labeled[:1], Y: y.Y.Slice(0, 1, 0, 1).(*mat.Dense), Classes: y.Classes}
	for _, targets := range []*models.Targets{one, {Len: 20, Y: &mat.Dense{}}, {Len: 20, Y: &mat.Dense{}, Classes: y.Classes}} {
		if m, err := (Learner{}).Fit(t.Context(), &models.Input{Targets: targets, Graph: models.NewGraph(w)}); m != nil || err == nil {
			t.Errorf("fitted to labels of fewer than two classes: %+v", targets)
		}
	}
	if _, err := (Learner{}).Fit(t.Context(), &models.Input{Targets: y}); !errors.Is(err, errNoGraph) {
		t.Errorf("fitted without a graph: %v", err)
	}
	if _, err := (Learner{}).Fit(t.Context(), &models.Input{Targets: y, Graph: models.NewGraph(weightedGraph(t, 1, 19))}); err == nil {
		t.Error("fitted to a graph of fewer points")
	}
}

// TestFitGrid: the answers of a grid are those of a fit for each setting and split,
// in bits, and every graph is made once.
func TestFitGrid(t *testing.T) {
	x, truth := synthetic.Digits(150, 4)
	var graphs [2]*modeltest.Problem
	for i, k := range []int{5, 8} {
		graphs[i] = modeltest.NewProblem(t, x, knn.GraphSettings{K: k}, sparse.Combinatorial, 2)
	}
	y, err := truth.Draw(60, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method   Method
		settings []models.Values
	}{
		{Harmonic, []models.Values{{"class-mass": "true"}, {}}},
		{LGC, []models.Values{{"alpha": "0.9"}, {"alpha": "0.99"}, {"alpha": "0.9"}}},
		{Tikhonov, []models.Values{{"gamma-a": "0.01", "gamma-i": "0.1"}, {"gamma-a": "0.01", "gamma-i": "0.1", "power": "2"}}},
		{Poisson, []models.Values{{}}},
	} {
		l := Learner{Method: c.method}
		g := &models.Grid{Input: models.Input{Targets: modeltest.ClassTargets(t, y), Edges: graphs[1].W.NNZ()}, Settings: c.settings}
		if g.Splits, err = g.Targets.Splits(3, 1, 5); err != nil {
			t.Fatal(err)
		}
		made, seen := 0, 0
		of := func(setting int) *modeltest.Problem { return graphs[setting%2] }
		g.GraphOf = func(setting int) (*models.Graph, error) { made++; return of(setting).Graph(), nil }
		g.GraphKey = func(setting int) string { return []string{"5", "8"}[setting%2] }
		g.Run = func(ctx context.Context, settings []int, fit func(*models.Split) []models.Answer) error {
			for _, s := range g.Splits {
				for i, a := range fit(s) {
					seen++
					in := &models.Input{Targets: s.Train, Graph: of(settings[i]).Graph(), Values: g.Settings[settings[i]]}
					m, err := l.Fit(ctx, in)
					if err != nil {
						t.Fatal(err)
					}
					want := models.AnswerAt(m.(*Model).Training(true), s.Points, nil)
					if a.Err != nil || !slices.Equal(a.Classes, want.Classes) || !mat.Equal(a.Scores, want.Scores) {
						t.Errorf("%v %v: other answers than of a fit, %v", c.method, in.Values, a.Err)
					}
				}
			}
			return ctx.Err()
		}
		if err := l.FitGrid(t.Context(), g); err != nil {
			t.Fatal(err)
		}
		if made != min(2, len(c.settings)) || seen != 3*len(c.settings) {
			t.Errorf("%v: %d graphs, %d answers", c.method, made, seen)
		}
		cost, err := l.GridCost(g)
		one, _ := l.Cost(&models.Input{Targets: g.Targets, Edges: g.Edges, Values: c.settings[0]})
		if err != nil || cost.Shared < 24*int64(g.Edges) || cost.Shared+cost.Fold < one.Bytes || !(cost.Operations >= one.Operations*3) {
			t.Errorf("%v: cost %+v of a grid, %+v of a fit, %v", c.method, cost, one, err)
		}
	}
	values := &models.Targets{Len: 150, Labeled: []int{1, 2, 3}, Y: mat.NewDense(3, 1, []float64{1, 2, 3})}
	g := &models.Grid{Input: models.Input{Targets: values}, Settings: []models.Values{{}},
		GraphOf: func(int) (*models.Graph, error) { return graphs[0].Graph(), nil }, GraphKey: func(int) string { return "" }}
	if g.Splits, err = values.Splits(3, 1, 5); err != nil {
		t.Fatal(err)
	}
	for _, m := range []Method{Harmonic, Poisson} { // the second is for classes
		g.Run = func(_ context.Context, _ []int, fit func(*models.Split) []models.Answer) error {
			if a := fit(g.Splits[0])[0]; (a.Err == nil) != (m == Harmonic) || (a.Scores == nil) != (m == Poisson) || a.Classes != nil {
				t.Errorf("%v of values: %+v", m, a)
			}
			return nil
		}
		if err := (Learner{Method: m}).FitGrid(t.Context(), g); err != nil {
			t.Fatal(err)
		}
	}
}
