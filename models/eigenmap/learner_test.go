package eigenmap

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// input returns an input for the learner.
func input(t testing.TB, p *modeltest.Problem, y *data.Labels, v models.Values) *models.Input {
	t.Helper()
	return &models.Input{Targets: modeltest.ClassTargets(t, y), Graph: p.Graph(), Pairs: p.Eigs, Laplacian: p.L.Kind(), Values: v}
}

// TestLearner: the learner makes the models of Fit, with progress, also of a graph of
// which only the eigenpairs are known.
func TestLearner(t *testing.T) {
	x, truth := synthetic.Digits(300, 4)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Normalized, 40)
	y, err := truth.Draw(50, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		v     models.Values
		s     Settings
		steps float64
	}{
		{nil, Settings{}, 2},
		{models.Values{"eigenvectors": "7", "laplacian": "normalized"}, Settings{Eigenvectors: 7}, 2},
		{models.Values{"penalty": "iterated", "gamma": "0.1", "penalty-power": "1.5"}, Settings{Penalty: Iterated, Gamma: 0.1, Power: 1.5}, 2},
		{models.Values{"penalty": "iterated", "folds": "3"}, Settings{Penalty: Iterated, Folds: 3, Seed: 8}, 5},
		{models.Values{"penalty": "heat", "heat-t": "0.5"}, Settings{Penalty: HeatKernel, T: 0.5, Seed: 8}, 7},
		{models.Values{"penalty": "sum", "penalty-order": "3", "gamma": "0.2"}, Settings{Penalty: Sum, Order: 3, Gamma: 0.2}, 2},
		{models.Values{"penalty": "polynomial", "penalty-coefficients": "0.1,0,2", "penalty-unit": "one", "gamma": "0.2"},
			Settings{Penalty: Polynomial, Coefficients: []float64{0.1, 0, 2}, Unit: One, Gamma: 0.2}, 2},
	} {
		want := fitted(t, p, y, &c.s)
		in := input(t, p, y, c.v)
		in.Seed = 8
		var last models.Progress
		in.Progress = func(p models.Progress) {
			if p.Done <= last.Done || p.Done > p.Total {
				t.Errorf("progress %+v after %+v", p, last)
			}
			last = p
		}
		in.Graph.W = nil
		m, err := Learner{}.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		got := m.(*Model)
		if last.Done != c.steps || last.Total != c.steps {
			t.Errorf("%v: the last progress is %+v", c.v, last)
		}
		got.Settings.Seed, want.Settings.Seed, got.Seed, want.Seed = 0, 0, 0, 0
		if !reflect.DeepEqual(got.Settings, want.Settings) || !mat.Equal(got.Coefficients, want.Coefficients) || !mat.Equal(got.Vectors, want.Vectors) ||
			!slices.Equal(got.Labels, want.Labels) || got.Laplacian != sparse.Normalized || !reflect.DeepEqual(got.Candidates, want.Candidates) {
			t.Errorf("%v: %+v, want %+v", c.v, got, want)
		}
		training := got.Training(true)
		if !slices.Equal(training.Classes, got.Labels) || !mat.Equal(training.Scores, got.Scores(p.Eigs.Vectors, 300)) || got.Training(false).Scores != nil {
			t.Errorf("%v: other answers for the training points", c.v)
		}
		for name, v := range c.v {
			if got.Summary().Values[name] != v {
				t.Errorf("%v: %s is %q in the summary", c.v, name, got.Summary().Values[name])
			}
		}
	}
}

func TestLearnerRefuses(t *testing.T) {
	p := islands(t)
	y := modeltest.Labels(21, map[int]int64{0: 1, 7: 2})
	for _, c := range []struct {
		v     models.Values
		parts []string
	}{
		{models.Values{"gamma": "-1", "eigenvectors": "1.5", "penalty": "some"}, []string{"gamma is -1", "eigenvectors is 1.5", `penalty is "some"`}},
		{models.Values{"gamma": "1"}, []string{"gamma is for penalty iterated, heat, sum, polynomial or kernel"}},
		{models.Values{"penalty": "heat", "penalty-power": "2"}, []string{"penalty-power is for penalty iterated"}},
		{models.Values{"penalty": "iterated", "heat-t": "2", "folds": "1"}, []string{"heat-t is for penalty heat", "folds is 1"}},
		{models.Values{"penalty": "sum", "penalty-coefficients": "1", "penalty-order": "0"}, []string{"penalty-coefficients is for penalty polynomial", "penalty-order is 0"}},
		{models.Values{"penalty": "polynomial", "penalty-coefficients": "1,-2"}, []string{"penalty-coefficients", "-2"}},
		{models.Values{"penalty-unit": "one"}, []string{"penalty-unit is for penalty"}},
		{models.Values{"tolerance": "1"}, []string{"tolerance is 1"}},
		{models.Values{"eigenvectors": "22"}, []string{"22"}},
	} {
		in := input(t, p, y, c.v)
		_, costErr := Learner{}.Cost(in)
		_, _, _, pairsErr := Learner{}.Pairs(in)
		_, fitErr := Learner{}.Fit(t.Context(), in)
		for _, err := range []error{costErr, pairsErr, fitErr} {
			for _, part := range c.parts {
				if err == nil || !strings.Contains(param.Plain(err.Error()), part) {
					t.Errorf("%v: error %v does not say %q", c.v, err, part)
				}
			}
		}
	}
	in := input(t, p, y, nil)
	in.Pairs = nil
	if _, err := (Learner{}).Fit(t.Context(), in); err == nil {
		t.Error("fitted without eigenpairs")
	}
	in = input(t, p, y, nil)
	in.Targets = &models.Targets{Len: 21, Labeled: []int{3}, Y: mat.NewDense(1, 1, nil)}
	if _, err := (Learner{}).Fit(t.Context(), in); !errors.Is(err, errNoClasses) {
		t.Errorf("fitted to values: %v", err)
	}
	for _, v := range []models.Values{nil, {"penalty": "iterated", "folds": "2"}} {
		for step := range 3 { // cancelled before the fit and in it
			ctx, cancel := context.WithCancel(t.Context())
			in := input(t, p, y, v)
			in.Progress = func(p models.Progress) {
				if int(p.Done) == step {
					cancel()
				}
			}
			if step == 0 {
				cancel()
			}
			if m, err := (Learner{}).Fit(ctx, in); m != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%v: cancelled after step %d: %v", v, step, err)
			}
			cancel()
		}
	}
}

func TestPairs(t *testing.T) {
	_, truth := synthetic.Digits(400, 6)
	y, err := truth.Draw(68, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n         int
		v         models.Values
		k         int
		kind      sparse.Kind
		tolerance float64
	}{
		{400, nil, 14, sparse.Combinatorial, 1e-8},
		{400, models.Values{"eigenvectors": "30", "laplacian": "random-walk", "tolerance": "1e-5"}, 30, sparse.RandomWalk, 1e-5},
		{400, models.Values{"penalty": "heat"}, 200, sparse.Combinatorial, 1e-8},
		{150, models.Values{"penalty": "heat"}, 150, sparse.Combinatorial, 1e-8},
		{150, models.Values{"penalty": "heat", "eigenvectors": "3"}, 3, sparse.Combinatorial, 1e-8},
	} {
		in := &models.Input{Targets: modeltest.ClassTargets(t, y), Values: c.v}
		in.Targets.Len = c.n
		k, kind, tolerance, err := Learner{}.Pairs(in)
		if k != c.k || kind != c.kind || tolerance != c.tolerance || err != nil {
			t.Errorf("%v: %d, %v, %v, %v", c.v, k, kind, tolerance, err)
		}
	}
}

// grid is a grid of one graph. Its Run fits split after split.
func grid(t testing.TB, p *modeltest.Problem, y *data.Labels, settings []models.Values, record func(setting int, s *models.Split, a models.Answer)) *models.Grid {
	t.Helper()
	g := &models.Grid{Input: models.Input{Targets: modeltest.ClassTargets(t, y), Edges: p.W.NNZ(), Seed: 3}, Settings: settings}
	var err error
	if g.Splits, err = g.Targets.Splits(4, 1, 5); err != nil {
		t.Fatal(err)
	}
	g.GraphOf = func(int) (*models.Graph, error) { return p.Graph(), nil }
	g.GraphKey = func(int) string { return "one" }
	g.Run = func(ctx context.Context, settings []int, fit func(*models.Split) []models.Answer) error {
		for _, s := range g.Splits {
			for i, a := range fit(s) {
				record(settings[i], s, a)
			}
		}
		return ctx.Err()
	}
	return g
}

// TestFitGrid: the answers of a grid are those of a fit for each setting and split,
// to its own eigenpairs.
func TestFitGrid(t *testing.T) {
	x, truth := synthetic.Digits(300, 4)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Combinatorial, 20)
	y, err := truth.Draw(60, 2)
	if err != nil {
		t.Fatal(err)
	}
	settings := []models.Values{
		{"eigenvectors": "5"}, {}, {"eigenvectors": "20", "laplacian": "normalized"},
		{"penalty": "iterated", "gamma": "0.1", "eigenvectors": "20"},
	}
	seen := 0
	g := grid(t, p, y, settings, func(setting int, s *models.Split, a models.Answer) {
		seen++
		in := input(t, p, y, settings[setting])
		in.Targets = s.Train
		in.Targets.Len = 300
		k, kind, tolerance, err := Learner{}.Pairs(in)
		if err != nil {
			t.Fatal(err)
		}
		l, err := in.LaplacianOf(kind)
		if err != nil {
			t.Fatal(err)
		}
		if in.Pairs, err = lanczos.Laplacian(t.Context(), l, p.C, &lanczos.Settings{K: k, Tolerance: tolerance, Seed: 3}); err != nil {
			t.Fatal(err)
		}
		m, err := Learner{}.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		want := models.AnswerAt(m.(*Model).Training(true), s.Points, nil)
		if a.Err != nil || !slices.Equal(a.Classes, want.Classes) || !(difference(a.Scores, want.Scores) <= 1e-6) {
			t.Errorf("%v: classes %v, want %v, %v", settings[setting], a.Classes, want.Classes, a.Err)
		}
	})
	if err := (Learner{}).FitGrid(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if seen != len(settings)*4 {
		t.Errorf("%d answers", seen)
	}
	cost, err := Learner{}.GridCost(g)
	if err != nil || cost.Shared < 24*int64(p.W.NNZ()) || cost.Fold <= 0 || cost.Operations <= 0 {
		t.Errorf("cost %+v, %v", cost, err)
	}
	g.Settings[3] = models.Values{"penalty": "iterated", "eigenvectors": "20"}
	if err := (Learner{}).FitGrid(t.Context(), g); err == nil || !strings.Contains(err.Error(), "gamma") {
		t.Errorf("a penalty without γ: %v", err)
	}
	if _, err := (Learner{}).GridCost(g); err == nil {
		t.Error("the cost of a penalty without γ")
	}
	g.Settings = settings[:1]
	seen = 0
	g.Targets = &models.Targets{Len: 300, Labeled: []int{1}, Y: mat.NewDense(1, 1, nil)}
	if err := (Learner{}).FitGrid(t.Context(), g); !errors.Is(err, errNoClasses) || seen != 0 {
		t.Errorf("a grid of values: %v", err)
	}
}
