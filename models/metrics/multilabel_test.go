package metrics

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/multilabel"
)

func TestMultiLabelReport(t *testing.T) {
	nan := math.NaN()
	truth := mat.NewDense(4, 3, []float64{
		1, 0, 0,
		1, 1, nan,
		0, 1, 0,
		0, 0, nan,
	})
	scores := mat.NewDense(4, 3, []float64{
		2, -1, -3,
		-1, 1, 5,
		-2, -1, -1,
		-1, -4, 1,
	})
	r, err := NewMultiLabelReport(truth, scores)
	if err != nil {
		t.Fatal(err)
	}
	// Label 0: pairs (2, −1) against (−2, −1): 3.5 of 4. Label 1: (1, −1) against
	// (−1, −4): 3.5 of 4. Label 2 is never there.
	// Rows 0 and 2 have both: none lost in row 0; in row 2 label 1 (−1) is above
	// −2 and equal to −1: ½ of 2 pairs.
	// Wrong: label 0 of row 1, label 1 of row 2, of 10 known.
	for name, v := range map[string][2]float64{
		"AUC 0": {float64(r.AUC[0]), 0.875}, "AUC 1": {float64(r.AUC[1]), 0.875}, "mean AUC": {float64(r.MeanAUC), 0.875},
		"ranking": {float64(r.RankingLoss), 0.125}, "Hamming": {float64(r.HammingLoss), 0.2},
		"micro": {float64(r.MicroF1), 4. / 6}, "macro": {float64(r.MacroF1), (2./3 + 2./3) / 3},
	} {
		if !(math.Abs(v[0]-v[1]) <= 1e-15) {
			t.Errorf("%s is %v, want %v", name, v[0], v[1])
		}
	}
	if r.Points != 4 || r.Labels != nil {
		t.Errorf("%d points, labels %v", r.Points, r.Labels)
	}
	r.Labels = []int64{3, 70, -1}
	want := "mean AUC 87.50 %, ranking loss 12.50 %, Hamming loss 20.00 %, micro F1 66.67 %, macro F1 44.44 % on 4 points\n\n" +
		"label    AUC\n    3  87.50\n   70  87.50\n   -1      –\n"
	if got := r.String(); got != want {
		t.Errorf("the report is\n%s", got)
	}
	if !math.IsNaN(float64(r.AUC[2])) {
		t.Errorf("AUC of a label that is never there: %v", r.AUC[2])
	}
	scores.Set(0, 0, nan)
	if _, err := NewMultiLabelReport(truth, scores); err == nil {
		t.Error("a NaN score was taken")
	}
	if _, err := NewMultiLabelReport(truth, mat.NewDense(3, 3, nil)); err == nil {
		t.Error("other shapes were taken")
	}
}

func TestLabelTargets(t *testing.T) {
	nan := math.NaN()
	y := mat.NewDense(3, 2, []float64{1, 0, nan, nan, nan, 1})
	got, err := multilabel.LabelTargets(y, nil)
	if err != nil || len(got.Labeled) != 2 || got.Labeled[1] != 2 || got.Y.At(0, 1) != -1 || !math.IsNaN(got.Y.At(1, 0)) || got.Len != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if !slices.Equal(got.Labels, []int64{0, 1}) || got.Classes != nil {
		t.Errorf("labels %v, classes %v", got.Labels, got.Classes)
	}
	if got, err = multilabel.LabelTargets(y, []int64{4, 9}); err != nil || !slices.Equal(got.Labels, []int64{4, 9}) || !slices.Equal(got.Keep([]int{1}).Labels, got.Labels) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err = multilabel.LabelTargets(y, []int64{4}); err == nil {
		t.Error("one label of two columns was taken")
	}
	for _, bad := range [][]float64{{1, 2}, {0, -1}, {nan, nan}, {math.Inf(1), 1}} {
		if _, err := multilabel.LabelTargets(mat.NewDense(1, 2, bad), nil); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}

func TestOutputGraph(t *testing.T) {
	nan := math.NaN()
	w, err := multilabel.OutputGraph(&models.Targets{Y: mat.NewDense(3, 3, []float64{1, 1, -1, 1, 1, 1, 1, nan, -1})}, 1)
	if err != nil {
		t.Fatal(err)
	}
	// Mean squared differences: 0 of 0 and 1 over two points, 4/2 of 1 and 2, 8/3
	// of 0 and 2 over three.
	for _, c := range []struct {
		i, j int
		v    float64
	}{{0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {2, 1, 1}, {0, 2, 0}, {1, 1, 0}} {
		col, val := w.Row(c.i)
		got := 0.0
		for p, j := range col {
			if int(j) == c.j {
				if got = 1; val != nil {
					got = val[p]
				}
			}
		}
		if got != c.v {
			t.Errorf("weight %v of outputs %d and %d, want %v", got, c.i, c.j, c.v)
		}
	}
	if _, err := multilabel.OutputGraph(&models.Targets{Y: mat.NewDense(1, 1, nil)}, 0); err == nil {
		t.Error("no neighbours were taken")
	}
}
