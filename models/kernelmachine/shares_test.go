package kernelmachine

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// uneven returns drawn digits of so many classes, the last with the fewest points, their classes, and targets of two labels of each.
func uneven(t *testing.T, classes int) (data.Points, *data.Labels, *models.Targets) {
	t.Helper()
	x, truth := synthetic.Digits(1500, 5)
	var rows []int
	for i, c := range truth.Index {
		if int(c) < classes && i%(1+2*int(c)) == 0 {
			rows = append(rows, i)
		}
	}
	some := data.Select(x, rows)
	cut := &data.Labels{Classes: truth.Classes[:classes], Index: truth.Select(rows).Index}
	var labeled []int
	for c := range classes {
		for i, at := 0, 0; at < 2; i++ {
			if cut.Index[i] == int32(c) {
				labeled = append(labeled, i)
				at++
			}
		}
	}
	return some, cut, modeltest.ClassTargets(t, cut.Keep(labeled))
}

// countsOf returns the number of points of each class.
func countsOf(labels []int32, classes int) []float64 {
	out := make([]float64, classes)
	for _, c := range labels {
		out[c]++
	}
	return out
}

// TestShares: with priors of unequal classes the answers of laprls, by every way of fitting, have these shares; they differ from
// those without by one shift a class, err less where the shares are true, and stay the same in a file.
func TestShares(t *testing.T) {
	for _, classes := range []int{2, 5} {
		x, truth, targets := uneven(t, classes)
		graph := modeltest.NewProblem(t, x, knn.GraphSettings{K: 8, Weights: knn.SelfTuning}, sparse.Combinatorial, 1).Graph()
		counts := countsOf(truth.Index, classes)
		total := float64(len(truth.Index))
		given := strings.ReplaceAll(strings.Trim(fmt.Sprint(counts), "[]"), " ", ",")
		none := &data.Labels{Classes: truth.Classes, Index: slices.Repeat([]int32{data.Unlabeled}, len(truth.Index))}

		for _, by := range []models.Values{{}, {"landmarks": "120"}, {"features": "400"},
			{"approximation": "matrix-free", "landmarks": "60", "tolerance": "1e-9"}, {"heat": "0.1"}, {"intercept": "true"}} {
			in := &models.Input{Points: x, Graph: graph, Targets: targets}
			fit := func(v models.Values) (models.Model, *models.Prediction) {
				in.Values = models.Values{"gamma-a": "1e-4", "gamma-i": "0.01"}.With(by).With(v)
				m, err := Learner{RLS, true}.Fit(t.Context(), in)
				if err != nil {
					t.Fatal(in.Values, err)
				}
				p, err := m.Predict(t.Context(), x, nil)
				if err != nil {
					t.Fatal(err)
				}
				return m, p
			}
			m, p := fit(models.Values{"priors": given})
			_, free := fit(nil)

			// The labeled points are of their classes whatever the scores say, so that they may move a share.
			for c, got := range countsOf(p.Classes, classes) {
				if off := math.Abs(got - counts[c]); off > float64(len(targets.Labeled))/2+0.001*total+1 {
					t.Errorf("%v: class %d has %v points of %v", in.Values, c, got, counts[c])
				}
			}
			for i := range p.Classes {
				for c := range classes {
					if a, b := p.Scores.At(i, c)-free.Scores.At(i, c), p.Scores.At(0, c)-free.Scores.At(0, c); !(math.Abs(a-b) < 1e-6) {
						t.Fatalf("%v: class %d is shifted by %v at point %d, by %v at the first", in.Values, c, a, i, b)
					}
				}
			}
			after, before := metrics.ErrorRate(p.Classes, truth, none), metrics.ErrorRate(free.Classes, truth, none)
			if !(after < before) {
				t.Errorf("%v: error %.4f with the true shares, %.4f without", in.Values, after, before)
			}

			file := filepath.Join(t.TempDir(), "m.npz")
			if err := models.Save(file, m, nil); err != nil {
				t.Fatal(err)
			}
			again, _, err := models.Load(file, 0, func(string) models.Decoder { return Learner{RLS, true}.Decode })
			if err != nil {
				t.Fatal(err)
			}
			if got := again.Summary(); got.Text != m.Summary().Text || !strings.Contains(got.Text, "classes get") || !slices.Equal(got.Fact("shares").([]float64), m.Summary().Fact("shares").([]float64)) {
				t.Errorf("summary %q of the file, %q of the model", got.Text, m.Summary().Text)
			}

			_, p = fit(models.Values{"priors": strings.Repeat("1,", classes-1) + "0"})
			if got := countsOf(p.Classes, classes)[classes-1]; got > 2 {
				t.Errorf("%v: the class without a share has %v points", in.Values, got)
			}
			_, p = fit(models.Values{"class-shares": "equal"})
			for c, got := range countsOf(p.Classes, classes) {
				if math.Abs(got-total/float64(classes)) > 0.05*total {
					t.Errorf("%v: class %d has %v of %v points with equal shares", in.Values, c, got, total)
				}
			}
		}
	}
}

// TestSharesFaults: shares need a graph, classes and a share for each.
func TestSharesFaults(t *testing.T) {
	c := modeltest.NewKernelCase(t, 60, sparse.Combinatorial)
	for _, f := range []struct {
		targets *models.Targets
		v       models.Values
		want    string
	}{
		{c.Value, models.Values{"class-shares": "equal"}, "for classes, not for values"},
		{c.Two, models.Values{"priors": "1,2,3"}, "3 shares for 2 classes"},
		{c.Two, models.Values{"priors": "0,0"}, "all 0"},
		{c.Two, models.Values{"priors": "1,2", "gamma-i": "0"}, "leave them out of rls"},
	} {
		in := &models.Input{Points: c.X, Targets: f.targets, Graph: models.NewGraph(c.L.Graph()),
			Values: models.Values{"gamma-a": "0.1", "gamma-i": "0.1"}.With(f.v)}
		if m, err := (Learner{RLS, true}).Fit(t.Context(), in); m != nil || err == nil || !strings.Contains(err.Error(), f.want) {
			t.Errorf("%v: %v", f.v, err)
		}
	}
	s := &Settings{Method: SVM, Priors: []float64{1, 2}}
	s.GammaA, s.GammaI = 0.1, 0.1
	if _, err := s.fill(); err == nil || !strings.Contains(err.Error(), "leave them out of lapsvm") {
		t.Errorf("shares of a support vector machine: %v", err)
	}
}
