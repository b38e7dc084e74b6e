package models_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
)

var nan = math.NaN()

// shareTargets makes targets of rows of distributions over the classes 3, 5 and 8.
func shareTargets(t *testing.T, rows ...[]float64) *models.Targets {
	t.Helper()
	block := mat.NewDense(len(rows), 3, nil)
	for i, row := range rows {
		block.SetRow(i, row)
	}
	out, err := models.ShareTargets(block, []int64{3, 5, 8}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestShareTargets(t *testing.T) {
	got := shareTargets(t, []float64{0.5, 0.25, 0.25}, []float64{nan, nan, nan}, []float64{0, 0, 0}, []float64{0, 1, 0},
		[]float64{0.2, 0.2, 0.6})
	if !got.Soft || !slices.Equal(got.Labeled, []int{0, 3, 4}) || !slices.Equal(got.Classes, []int64{3, 5, 8}) {
		t.Fatalf("%+v", got)
	}
	if c := []int{got.Class(0), got.Class(1), got.Class(2)}; !slices.Equal(c, []int{0, 1, 2}) {
		t.Errorf("classes %v", c)
	}
	if !mat.EqualApprox(got.Shares(), mat.NewDense(3, 3, []float64{0.5, 0.25, 0.25, 0, 1, 0, 0.2, 0.2, 0.6}), 1e-15) {
		t.Errorf("shares %v", mat.Formatted(got.Shares()))
	}
	if m := got.Masses(); !slices.EqualFunc(m, []float64{0.7, 1.45, 0.85}, near) {
		t.Errorf("masses %v", m)
	}

	// A class without a share is left out, and two classes have one column.
	two := shareTargets(t, []float64{0.25, 0, 0.75}, []float64{1, 0, 0})
	if _, c := two.Y.Dims(); c != 1 || !slices.Equal(two.Classes, []int64{3, 8}) || two.Y.At(0, 0) != 0.5 || two.Class(0) != 1 {
		t.Errorf("two classes: %+v", two)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }

// Distributions with one class are hard labels, with the same bits.
func TestShareTargetsOfOneClass(t *testing.T) {
	want, err := models.ClassTargets(data.NewLabels([]int64{3, 8, 0, 5}, []bool{true, true, false, true}))
	if err != nil {
		t.Fatal(err)
	}
	got := shareTargets(t, []float64{1, 0, 0}, []float64{0, 0, 1}, []float64{nan, nan, nan}, []float64{0, 1, 0})
	if got.Soft || !mat.Equal(got.Y, want.Y) || !slices.Equal(got.Labeled, want.Labeled) || !got.Plain() {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestShareTargetsRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		row  []float64
		want string
	}{
		"sum":      {[]float64{0.5, 0.1, 0.1}, "point 1: its shares sum to 0.7"},
		"negative": {[]float64{-0.1, 0.6, 0.5}, "point 1: the share in column 0 is -0.1"},
		"partly":   {[]float64{0.5, nan, 0.5}, "1 of its 3 shares are NaN"},
		"infinite": {[]float64{math.Inf(1), 0, 0}, "the share in column 0 is +Inf"},
	} {
		block := mat.NewDense(2, 3, append([]float64{0.5, 0.5, 0}, c.row...))
		if _, err := models.ShareTargets(block, []int64{0, 1, 2}, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, block := range map[string]*mat.Dense{"none": mat.NewDense(2, 2, nil), "one class": mat.NewDense(1, 2, []float64{1, 0})} {
		if _, err := models.ShareTargets(block, []int64{4, 6}, nil); err == nil || !strings.Contains(err.Error(), "two classes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWeighted(t *testing.T) {
	hard, err := models.ClassTargets(data.NewLabels([]int64{3, 8, 0, 5, 3}, []bool{true, true, false, true, true}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := hard.Weighted([]float64{1, 0.5, nan, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	// Class 5 has lost its only label.
	if !slices.Equal(got.Labeled, []int{0, 1, 4}) || !slices.Equal(got.Weights, []float64{1, 0.5, 2}) ||
		!slices.Equal(got.Classes, []int64{3, 8}) || got.TotalWeight() != 3.5 || got.Class(1) != 1 {
		t.Errorf("%+v", got)
	}
	if e := got.ExpectedError([]int{0, 1, 2}, []int32{0, 0, 1}); !near(e, 2.5/3.5) {
		t.Errorf("expected error %v", e)
	}
	if kept := got.Keep([]int{2, 1}); !slices.Equal(kept.Weights, []float64{0.5, 2}) {
		t.Errorf("weights of some labels: %v", kept.Weights)
	}
	if ones, err := hard.Weighted([]float64{1, 1, 7, 1, 1}); err != nil || ones.Weights != nil {
		t.Errorf("weights of one: %v, %v", ones, err)
	}
	for want, w := range map[string][]float64{
		"weight of the label of point 1 is -1": {1, -1, 1, 1, 1},
		"weight of the label of point 0 is N":  {nan, 1, 1, 1, 1},
		"3 weights for 5 points":               {1, 1, 1},
		"all labels have the weight 0":         {0, 0, 0, 0, 0},
		"two classes must have a label":        {1, 0, 0, 0, 1},
	} {
		if _, err := hard.Weighted(w); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", w, err, want)
		}
	}
}

// A split keeps distributions and weights, and leaves out classes without a share.
func TestSplitOfSoftLabels(t *testing.T) {
	soft := shareTargets(t, []float64{0.7, 0.3, 0}, []float64{0.4, 0.6, 0}, []float64{0, 0, 1}, []float64{0.9, 0.1, 0})
	soft, err := soft.Weighted([]float64{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	s, err := soft.SplitAt([]int{0, 1, 3})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Train.Classes, []int64{3, 5}) || !slices.Equal(s.Train.Weights, []float64{1, 2, 4}) ||
		!slices.EqualFunc(s.Train.SharesTo(nil, 1), []float64{0.4, 0.6}, near) || !slices.Equal(s.Points, []int{2}) {
		t.Errorf("%+v", s.Train)
	}
	if _, err := soft.SplitAt([]int{2}); err == nil || !strings.Contains(err.Error(), "two classes") {
		t.Errorf("one class is left: %v", err)
	}

	// What a model keeps of labels gives them back.
	back := models.GivenOf(soft).Targets(4, soft.Classes, make([]int32, 4))
	if !mat.EqualApprox(back.Y, soft.Y, 1e-15) || !slices.Equal(back.Weights, soft.Weights) || !back.Soft {
		t.Errorf("kept: %+v", back)
	}
}
