package eigenfunction_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// The learner does what the function does with the settings that its values name.
func TestLearner(t *testing.T) {
	c := modeltest.NewKernelCase(t, 250, sparse.Normalized)
	sigma, err := kernel.Width(c.X, kernel.Mean, 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		v models.Values
		k kernel.Kernel
		s eigenfunction.Settings
	}{
		{models.Values{"sigma": "mean"}, kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma}, eigenfunction.Settings{}},
		{models.Values{"kernel": "polynomial", "offset": "1", "eigenfunctions": "9", "intercept": "true"},
			kernel.Kernel{Kind: kernel.Polynomial, Offset: 1}, eigenfunction.Settings{Eigenfunctions: 9, Intercept: true}},
		{models.Values{"kernel": "laplace", "sigma": "2.5", "landmarks": "80", "folds": "4", "repeats": "2"},
			kernel.Kernel{Kind: kernel.Laplace, Sigma: 2.5}, eigenfunction.Settings{Landmarks: 80, Folds: 4, Repeats: 2}},
	} {
		told := 0
		in := &models.Input{Points: c.X, Targets: c.Three, Values: test.v, Seed: 7, Progress: func(models.Progress) { told++ }}
		m, err := eigenfunction.Learner{}.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		test.s.Seed = 7
		if want := fitSSSL(t, c.X, test.k, c.Three, test.s); !mat.Equal(modeltest.Raw(t, m, c.X), modeltest.Raw(t, want, c.X)) {
			t.Errorf("%v: other answers than those of Fit", test.v)
		}
		if told == 0 {
			t.Errorf("%v: no progress", test.v)
		}
		s := m.Summary()
		for key, v := range test.v {
			if v != "mean" && s.Values[key] != v {
				t.Errorf("%s is %q, want %q", key, s.Values[key], v)
			}
		}
		// Where the number of functions was chosen among more, the gap behind the last one is told beside
		// the one that B4 asks for.
		own := m.(*eigenfunction.Model)
		gap, told2 := s.Fact("eigengap").(float64)
		if used := own.Settings.Eigenfunctions; told2 != (used < len(own.Values)) || told2 && (gap != own.Values[used-1]-own.Values[used] ||
			!(s.Fact("eigengap_asked").(float64) > 3)) {
			t.Errorf("%v: the gap of %d of %d functions is %v", test.v, used, len(own.Values), gap)
		}
		// R² is aᵀKa of the expansion.
		g, err := kernel.Gram(own.Points, own.Kernel, 0)
		if err != nil {
			t.Fatal(err)
		}
		var ka mat.Dense
		ka.Mul(g, own.Coefficients)
		ka.MulElem(&ka, own.Coefficients)
		if norm := mat.Sum(&ka); !(math.Abs(own.Norm2-norm) <= 1e-8*norm) {
			t.Errorf("%v: R² is %v, aᵀKa %v", test.v, own.Norm2, norm)
		}
		if count, told := s.Fact("eigenfunctions_of_bound").(float64); told != (own.Risk != nil) || told && !(count > 0) {
			t.Errorf("%v: the bound takes %v", test.v, count)
		}
		// The values of the model are those of a fit that makes it again.
		in.Values = s.Values
		again, err := eigenfunction.Learner{}.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		modeltest.WantClose(t, "again", modeltest.Raw(t, again, c.X), modeltest.Raw(t, m, c.X), 1e-6)
	}
	for want, v := range map[string]models.Values{
		"eigenfunctions is 0": {"eigenfunctions": "0"},
		"landmarks is 0":      {"landmarks": "0"},
		"sigma is -1":         {"sigma": "-1"},
		"folds is 1":          {"folds": "1"},
		"sigma is for":        {"kernel": "linear", "sigma": "1"},
		"gamma-a":             {"gamma-a": "1"},
	} {
		_, err := eigenfunction.Learner{}.Fit(t.Context(), &models.Input{Points: c.X, Targets: c.Three, Values: v})
		if err == nil || !strings.Contains(param.Plain(err.Error()), want) {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// The answers of FitGrid are those of fits without the fold.
func TestFitGrid(t *testing.T) {
	c := modeltest.NewKernelCase(t, 200, sparse.Normalized)
	splits, err := c.Three.Splits(4, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	g := &models.Grid{Input: models.Input{Points: c.X, Targets: c.Three, Seed: 5}, Splits: splits}
	for _, sigma := range []string{"median", "2"} {
		g.Settings = append(g.Settings, models.Values{"sigma": sigma}, models.Values{"sigma": sigma, "eigenfunctions": "6"}, models.Values{"sigma": sigma, "landmarks": "50"})
	}
	if c, err := (eigenfunction.Learner{}).GridCost(g); err != nil || c.Shared <= 0 || c.Fold <= 0 || c.Operations <= 0 {
		t.Errorf("the cost is %+v, %v", c, err)
	}
	g.Settings = append(g.Settings, models.Values{"eigenfunctions": "60"})
	answered := make([]int, 7)
	g.Fail = func(settings []int, err error) {
		if !slices.Equal(settings, []int{6}) || err == nil {
			t.Errorf("%v failed: %v", settings, err)
		}
		answered[6]++
	}
	g.Run = func(ctx context.Context, settings []int, fit func(*models.Split) []models.Answer) error {
		for _, i := range settings {
			answered[i]++
		}
		for _, s := range splits {
			for p, a := range fit(s) {
				if a.Err != nil {
					return a.Err
				}
				alone := *g.With(settings[p])
				alone.Targets = s.Train
				m, err := eigenfunction.Learner{}.Fit(ctx, &alone)
				if err != nil {
					return err
				}
				want, err := m.Predict(ctx, data.Select(c.X, s.Points), nil)
				if err != nil {
					return err
				}
				modeltest.WantClose(t, g.Settings[settings[p]].String(), a.Scores, want.Scores, 1e-6)
			}
		}
		return nil
	}
	if err := (eigenfunction.Learner{}).FitGrid(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(answered, []int{1, 1, 1, 1, 1, 1, 1}) {
		t.Errorf("answered %v", answered)
	}
}

// A model that has fewer eigenfunctions than were asked for says so.
func TestEigenfunctionsAboveTheCut(t *testing.T) {
	x := data.NewDense[float64](40, 1)
	y := mat.NewDense(40, 1, nil)
	for i := range x.Rows {
		x.Data[i] = float64(i) / 40
		y.Set(i, 0, x.Data[i])
	}
	targets, err := models.ValueTargets(y)
	if err != nil {
		t.Fatal(err)
	}
	source := kernel.Source{Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 20}, Points: x}
	fitted, err := eigenfunction.Fit(t.Context(), source, targets, &eigenfunction.Settings{Eigenfunctions: 30}, eigenfunction.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if w := fitted.Summary().Warnings; len(w) != 1 || !strings.Contains(w[0], "30 eigenfunctions were asked for") {
		t.Errorf("warnings %q", w)
	}
	if fitted.Asked != 30 || fitted.Settings.Eigenfunctions >= 30 || len(fitted.Summary().Warnings) != 1 {
		t.Errorf("asked for %d, has %d: %q", fitted.Asked, fitted.Settings.Eigenfunctions, fitted.Summary().Warnings)
	}
}
