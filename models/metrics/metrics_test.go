package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
)

func TestConfusion(t *testing.T) {
	m, err := NewConfusion([]int64{5, 5, 5, -2, -2, 9}, []int64{5, 5, -2, -2, 7, 7})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Classes, []int64{-2, 5, 7, 9}) {
		t.Fatalf("classes %v", m.Classes)
	}
	if got, want := fmt.Sprint(m.Counts), "[[1 0 1 0] [1 2 0 0] [0 0 0 0] [0 0 1 0]]"; got != want {
		t.Errorf("counts %s, want %s", got, want)
	}
	nan := math.NaN()
	for c, want := range [][3]float64{{1. / 2, 1. / 2, 1. / 2}, {1, 2. / 3, 4. / 5}, {0, nan, 0}, {nan, 0, 0}} {
		if got := [3]float64{m.Precision(c), m.Recall(c), m.F1(c)}; !modeltest.Near(got[0], want[0], 1e-15) || !modeltest.Near(got[1], want[1], 1e-15) || !modeltest.Near(got[2], want[2], 1e-15) {
			t.Errorf("class %d: precision, recall, F1 are %v, want %v", m.Classes[c], got, want)
		}
	}
	if got := m.Error(); got != 0.5 {
		t.Errorf("error %v", got)
	}
	if got := m.MacroF1(); !modeltest.Near(got, 1.3/4, 1e-15) {
		t.Errorf("macro F1 %v", got)
	}
	if got := m.MicroF1(); !modeltest.Near(got, 0.5, 1e-15) {
		t.Errorf("micro F1 %v", got)
	}
}

func TestPRBEPAndAUC(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		scores     []float64
		positive   string
		prbep, auc float64
	}{
		{[]float64{4, 3, 2, 1}, "++--", 1, 1},
		{[]float64{4, 3, 2, 1}, "--++", 0, 0},
		{[]float64{1, 4, 2, 3}, "-+-+", 1, 1},
		{[]float64{4, 3, 2, 1}, "+-+-", 0.5, 0.75},
		{[]float64{7, 7, 7, 7}, "+---", 0.25, 0.5},
		{[]float64{7, 7, 7, 7}, "++--", 0.5, 0.5},
		{[]float64{3, 2, 2, 1, 0}, "++--+", (1 + 1) / 3., (2 + 1.5 + 0) / 6},
		{[]float64{3, 2, 2, 2, 0}, "+-+-+", (1 + 2./3) / 3, (2 + 1 + 0) / 6.},
		{[]float64{math.Inf(1), 0, math.Inf(-1)}, "+--", 1, 1},
		{[]float64{2, 1}, "++", 1, nan},
		{[]float64{2, 1}, "--", nan, nan},
	} {
		positive := make([]bool, len(c.positive))
		for i, b := range c.positive {
			positive[i] = b == '+'
		}
		prbep, err := PRBEP(c.scores, positive)
		if err != nil || !modeltest.Near(prbep, c.prbep, 1e-15) {
			t.Errorf("%v %s: PRBEP %v, want %v (%v)", c.scores, c.positive, prbep, c.prbep, err)
		}
		auc, err := AUC(c.scores, positive)
		if err != nil || !modeltest.Near(auc, c.auc, 1e-15) {
			t.Errorf("%v %s: AUC %v, want %v (%v)", c.scores, c.positive, auc, c.auc, err)
		}
	}
}

// TestScoreMetricsByDefinition compares with all pairs, and with the mean over
// random orders of equal scores.
func TestScoreMetricsByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "n")
		scores, positive := make([]float64, n), make([]bool, n)
		r := 0
		for i := range n {
			scores[i] = float64(rapid.IntRange(0, 4).Draw(t, "score"))
			if positive[i] = rapid.Bool().Draw(t, "positive"); positive[i] {
				r++
			}
		}
		var won, pairs, above float64
		for i := range n {
			if !positive[i] {
				continue
			}
			higher, equal := 0, 0
			for j := range n {
				switch {
				case scores[j] > scores[i]:
					higher++
				case scores[j] == scores[i]:
					equal++
				}
				if !positive[j] {
					pairs++
					if scores[i] > scores[j] {
						won++
					} else if scores[i] == scores[j] {
						won += 0.5
					}
				}
			}
			// In a random order among equals point i is on any of their places.
			above += math.Min(1, math.Max(0, float64(r-higher)/float64(equal)))
		}
		if got, err := AUC(scores, positive); err != nil || !modeltest.Near(got, won/pairs, 1e-12) {
			t.Fatalf("AUC %v, want %v (%v)", got, won/pairs, err)
		}
		if got, err := PRBEP(scores, positive); err != nil || !modeltest.Near(got, above/float64(r), 1e-12) {
			t.Fatalf("PRBEP %v, want %v (%v)", got, above/float64(r), err)
		}
	})
}

func TestValueMetrics(t *testing.T) {
	truth, predicted := []float64{1, 2, 3, 6}, []float64{1, 4, 2, 4}
	r, err := NewValueReport(truth, predicted)
	if err != nil {
		t.Fatal(err)
	}
	if r.Points != 4 || !modeltest.Near(r.RMSE, 1.5, 1e-15) || !modeltest.Near(r.MAE, 1.25, 1e-15) || !modeltest.Near(float64(r.R2), 1-9./14, 1e-15) {
		t.Errorf("%+v", r)
	}
	if got, want := r.String(), "RMSE 1.5, mean absolute error 1.25, R² 0.357143 on 4 points"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// The mean of ten times 0.1 is not 0.1.
	r, err = NewValueReport(slices.Repeat([]float64{0.1}, 10), make([]float64, 10))
	if err != nil || !math.IsNaN(float64(r.R2)) {
		t.Errorf("equal true values: R² is %v, %v", r.R2, err)
	}
	if text, err := json.Marshal(r); err != nil || !strings.Contains(string(text), `"r2":null`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestMetricFaults(t *testing.T) {
	one, nan := []float64{1}, []float64{math.NaN()}
	for name, c := range map[string]struct {
		call func() error
		want string
	}{
		"no points":         {func() error { _, err := NewReport(nil, nil); return err }, "no points"},
		"other lengths":     {func() error { _, err := NewReport([]int64{1}, nil); return err }, "1 true values for 0 predictions"},
		"no scores":         {func() error { _, err := PRBEP(nil, nil); return err }, "no points"},
		"more scores":       {func() error { _, err := AUC(one, nil); return err }, "0 true values for 1 scores"},
		"NaN among scores":  {func() error { _, err := AUC(nan, []bool{true}); return err }, "score 0 is NaN"},
		"no values":         {func() error { _, err := RMSE(nil, nil); return err }, "no points"},
		"more values":       {func() error { _, err := MAE(one, nil); return err }, "1 true values for 0"},
		"other values":      {func() error { _, err := R2(nil, one); return err }, "0 true values for 1"},
		"NaN among values":  {func() error { _, err := NewValueReport(one, nan); return err }, "prediction 0 is NaN"},
		"true value is Inf": {func() error { _, err := NewValueReport([]float64{math.Inf(1)}, one); return err }, "true value 0 is +Inf"},
		"columns": {func() error {
			r, _ := NewReport([]int64{1, 2}, []int64{1, 2})
			return r.AddScores([]int64{1, 2}, mat.NewDense(2, 2, nil), []int64{1, 2, 3})
		}, "2 columns for 3 classes"},
		"NaN in a column": {func() error {
			r, _ := NewReport([]int64{1, 2}, []int64{1, 2})
			return r.AddScores([]int64{1, 2}, mat.NewDense(2, 2, []float64{0, 1, 1, math.NaN()}), []int64{1, 2})
		}, "column 1: metrics: score 1 is NaN"},
		"no such class": {func() error {
			r, _ := NewReport([]int64{1, 2}, []int64{1, 2})
			return r.SetPositive(3)
		}, "class 3"},
	} {
		if err := c.call(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

func TestReport(t *testing.T) {
	truth, predicted := []int64{0, 0, 1, 1, 1, 4}, []int64{0, 1, 1, 1, 0, 1}
	r, err := NewReport(truth, predicted)
	if err != nil {
		t.Fatal(err)
	}
	scores := mat.NewDense(6, 2, []float64{9, 1, 3, 7, 4, 6, 2, 8, 8, 2, 1, 9})
	if err := r.AddScores(truth, scores, []int64{0, 1}); err != nil {
		t.Fatal(err)
	}
	if err := r.SetPositive(1); err != nil {
		t.Fatal(err)
	}
	want := `error 50.00 % of 6 points; macro F1 35.71 %, micro F1 50.00 %
macro PRBEP 41.67 %, macro AUC 59.72 %
class 1: precision 50.00 %, recall 66.67 %, F1 57.14 %, PRBEP 33.33 %, AUC 44.44 %

class  points  predicted  precision  recall     F1  PRBEP    AUC
    0       2          2      50.00   50.00  50.00  50.00  75.00
    1       3          4      50.00   66.67  57.14  33.33  44.44
    4       1          0          –    0.00   0.00

true \ predicted  0  1  4
               0  1  1  0
               1  1  2  0
               4  0  1  0
`
	if got := r.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{`"points":6`, `"error":0.5`, `"class":4,"points":1,"predicted":0,"precision":null,"recall":0,"f1":0}`, `"positive":{"class":1`, `"counts":[[1,1,0],[1,2,0],[0,1,0]]`} {
		if !strings.Contains(string(text), w) {
			t.Errorf("%s lacks %s", text, w)
		}
	}
}

func TestMetricsBesideSklearn(t *testing.T) {
	const n, classes = 400, 5
	rng := rand.New(rand.NewPCG(1, 2))
	truth, predicted := make([]int64, n), make([]int64, n)
	scores := mat.NewDense(n, classes, nil)
	values, guesses := make([]float64, n), make([]float64, n)
	for i := range n {
		truth[i] = int64(rng.IntN(classes))
		for j := range classes {
			scores.Set(i, j, math.Round(4*rng.NormFloat64())) // many ties
		}
		scores.Set(i, int(truth[i]), scores.At(i, int(truth[i]))+3)
		predicted[i] = int64(models.Argmax(mat.NewDense(1, classes, scores.RawRowView(i)))[0])
		values[i], guesses[i] = rng.NormFloat64(), rng.NormFloat64()
	}
	dir := t.TempDir()
	modeltest.WriteArrays(t, dir, map[string]any{"t": truth, "p": predicted, "s": scores, "v": values, "g": guesses})
	var theirs struct {
		Precision, Recall, F1, AUC []float64
		Macro, Micro, Accuracy     float64
		Counts                     [][]int
		RMSE, MAE, R2              float64
	}
	modeltest.Sklearn(t, dir, `
from sklearn import metrics as m
t, p, s, v, g = (np.load(a + ".npy") for a in "tpsvg")
pr, re, f1, _ = m.precision_recall_fscore_support(t, p)
print(json.dumps(dict(precision=list(pr), recall=list(re), f1=list(f1), auc=[m.roc_auc_score(t == c, s[:, c]) for c in range(5)],
  macro=m.f1_score(t, p, average="macro"), micro=m.f1_score(t, p, average="micro"), accuracy=m.accuracy_score(t, p),
  counts=m.confusion_matrix(t, p).tolist(), rmse=m.mean_squared_error(v, g) ** .5, mae=m.mean_absolute_error(v, g), r2=m.r2_score(v, g))))
`, &theirs)
	r, err := NewReport(truth, predicted)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.AddScores(truth, scores, []int64{0, 1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	v, err := NewValueReport(values, guesses)
	if err != nil {
		t.Fatal(err)
	}
	same := func(name string, a, b float64) {
		t.Helper()
		if !(math.Abs(a-b) <= 1e-12) {
			t.Errorf("%s: %v, scikit-learn has %v", name, a, b)
		}
	}
	for c, k := range r.Classes {
		same("precision", float64(k.Precision), theirs.Precision[c])
		same("recall", float64(k.Recall), theirs.Recall[c])
		same("F1", k.F1, theirs.F1[c])
		same("AUC", float64(*k.AUC), theirs.AUC[c])
	}
	same("macro F1", r.MacroF1, theirs.Macro)
	same("micro F1", r.MicroF1, theirs.Micro)
	same("error", r.Error, 1-theirs.Accuracy)
	same("RMSE", v.RMSE, theirs.RMSE)
	same("MAE", v.MAE, theirs.MAE)
	same("R²", float64(v.R2), theirs.R2)
	if fmt.Sprint(r.Confusion.Counts) != fmt.Sprint(theirs.Counts) {
		t.Errorf("confusion %v, scikit-learn has %v", r.Confusion.Counts, theirs.Counts)
	}
}
