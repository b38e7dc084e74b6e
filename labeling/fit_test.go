package labeling_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/pipeline"
)

// TestSuspectsOfFit finds planted errors by the answers that a fit held out, also through a file, for
// models that keep all points and one that keeps the labeled ones.
func TestSuspectsOfFit(t *testing.T) {
	x, y := clusters(400, 4)
	noisy, wrong := plant(y)
	// Every second group of four points, one of each class, loses its labels.
	var kept []int
	for i := range 400 {
		if i/4%2 == 1 {
			kept = append(kept, i)
		} else {
			delete(wrong, i)
		}
	}
	targets := modeltest.ClassTargets(t, noisy.Keep(kept))
	for _, name := range []string{"lgc", "harmonic", "knn", "rls", "auto"} {
		p := &pipeline.Pipeline{}
		m, complete, err := p.FitComplete(t.Context(), all.Learner(name), &models.Input{Points: x, Targets: targets}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m, err = p.CalibrateByDefault(t.Context(), all.Learner(name), m, complete); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s := labeling.SuspectsOfFit(m, targets)
		if s == nil || !s.ByFit || s.Labeled != 200 {
			t.Fatalf("%s: %+v", name, s)
		}
		if recall, _ := found(s, wrong); recall < 0.9 {
			t.Errorf("%s: finds %.2f of the planted errors", name, recall)
		}
		if n := len(wrong); s.Wrong < n/2 || s.Wrong > 2*n+5 {
			t.Errorf("%s: %d labels are estimated to be wrong, %d are", name, s.Wrong, n)
		}
		for q, v := range s.List {
			if !(v.Score > 0 && v.Score <= 1) || q > 0 && v.Score > s.List[q-1].Score {
				t.Errorf("%s: score %d is %v", name, q, v.Score)
			}
		}
	}
}

// TestSuspectsOfProbabilities judges labels by the answers of another program.
func TestSuspectsOfProbabilities(t *testing.T) {
	targets := modeltest.ClassTargets(t, data.NewLabels([]int64{0, 1, 1, 0}, nil))
	p := mat.NewDense(4, 2, []float64{0.9, 0.1, 0.8, 0.2, 0.1, 0.9, 0.5, 0.5})
	s := labeling.SuspectsOfProbabilities(targets, p)
	if len(s.List) != 1 || s.List[0].Point != 1 || s.List[0].Suggested != 0 || s.List[0].Score != 0.8 || s.Wrong != 1 {
		t.Errorf("%+v", s)
	}
}

// TestOutliers finds planted values by the residuals that a fit held out.
func TestOutliers(t *testing.T) {
	x, _ := clusters(300, 3)
	values := mat.NewDense(300, 1, nil)
	for i := range 300 {
		values.Set(i, 0, float64(i%3)+0.01*float64(i%7))
	}
	for _, i := range []int{10, 100, 200} {
		values.Set(i, 0, values.At(i, 0)+40)
	}
	targets, err := models.ValueTargets(values)
	if err != nil {
		t.Fatal(err)
	}
	p := &pipeline.Pipeline{}
	in := &models.Input{Points: x, Targets: targets, Values: models.Values{"gamma-a": "0.01"}}
	m, complete, err := p.FitComplete(t.Context(), all.Learner("rls"), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := labeling.OutliersOfFit(m, targets); ok {
		t.Error("a model without a calibration has residuals")
	}
	if m, err = p.CalibrateByDefault(t.Context(), all.Learner("rls"), m, complete); err != nil {
		t.Fatal(err)
	}
	list, ok := labeling.OutliersOfFit(m, targets)
	if !ok || len(list) < 3 {
		t.Fatalf("%v, %d values", ok, len(list))
	}
	for _, v := range list[:3] {
		if v.Point != 10 && v.Point != 100 && v.Point != 200 || v.Given[0] != values.At(v.Point, 0) || !(v.Score > 3) {
			t.Errorf("%+v", v)
		}
	}
}
