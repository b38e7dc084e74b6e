package summary_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/summary"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/pipeline"
)

// The table of knn on the published splits of g50c is what scikit-learn and SciPy say.
func TestComparisonBesideScikitLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("importing scikit-learn takes seconds")
	}
	file := filepath.Join(os.Getenv("BIGFIT_DATA"), "sindhwani_g50c.npz")
	if _, err := os.Stat(file); err != nil || os.Getenv("BIGFIT_DATA") == "" {
		t.Skip("sindhwani_g50c.npz in BIGFIT_DATA is needed")
	}
	x, err := data.ReadPoints(file, data.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	y, err := data.ReadLabels(file, data.LabelOptions{NoUnlabeled: true})
	if err != nil {
		t.Fatal(err)
	}
	targets := modeltest.ClassTargets(t, y)
	splits, err := pipeline.ReadSplits(file+":idxLabs", targets, 0)
	if err != nil {
		t.Fatal(err)
	}
	contender := func(name, votes string) selection.Contender {
		return selection.Contender{Name: name, Grid: selection.Grid{Learner: all.Learner("knn"), Fixed: models.Values{"vote": votes}}}
	}
	c, err := (&pipeline.Pipeline{}).PrepareComparison(t.Context(), &models.Input{Points: x, Targets: targets}, []selection.Contender{contender("three", "3"), contender("one", "1")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Run(t.Context(), splits.Labeled, selection.CompareSettings{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(summary.NewComparison(r, splits, "one").Table)
	if err != nil {
		t.Fatal(err)
	}
	var got []struct {
		Mean, Std, Difference, P float64
		Se                       float64 `json:"difference_se"`
		Wins, Ties, Losses       float64
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	var want []float64
	modeltest.Sklearn(t, t.TempDir(), fmt.Sprintf(`
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier
d = np.load(%q)
X, y = d["X"], d["y"]
def errors(k):
    out = []
    for rows in d["idxLabs"]:
        rest = np.setdiff1d(np.arange(len(y)), rows)
        out.append(100 * np.mean(KNeighborsClassifier(k).fit(X[rows], y[rows]).predict(X[rest]) != y[rest]))
    return np.array(out)
a, b = errors(3), errors(1)
out = [a.mean(), a.std(ddof=1), (a - b).mean(), stats.sem(a - b), stats.ttest_rel(a, b).pvalue, np.sum(a < b), np.sum(a == b), np.sum(a > b)]
print(json.dumps([float(v) for v in out]))`, file), &want)
	g := got[0]
	for i, v := range []float64{g.Mean, g.Std, g.Difference, g.Se, g.P, g.Wins, g.Ties, g.Losses} {
		if !modeltest.Near(v, want[i], 1e-9) {
			t.Errorf("number %d: %v, scikit-learn and SciPy %v", i, v, want[i])
		}
	}
	t.Logf("3-NN %.2f ± %.2f", g.Mean, g.Std)
}

// outcomes makes a result of errors, NaN for fits that failed.
func outcomes(c selection.Criterion, values map[string][]float64, names ...string) *selection.Compared {
	r := &selection.Compared{Criterion: c}
	for i, name := range names {
		x := selection.Competitor{Name: name, Settings: []selection.Setting{{}}}
		for s, v := range values[name] {
			o := &selection.Outcome{Contender: i, Split: s, Seconds: 1}
			if math.IsNaN(v) {
				o.Fault = "it broke"
			} else {
				o.Value = &v
			}
			x.Outcomes = append(x.Outcomes, o)
			r.Done++
		}
		r.Competitors = append(r.Competitors, x)
	}
	r.Total = r.Done
	return r
}

// Models are compared with the best one of each group of splits, of those that answered
// on the most; failures are named and counted, and what is not finished is left out.
func TestComparisonTable(t *testing.T) {
	nan := math.NaN()
	splits := &pipeline.Splits{Groups: []pipeline.SplitGroup{{First: 0, Count: 3, Labels: 10, PerClass: 5}, {First: 3, Count: 2, Labels: 40}}, Notes: []string{"as drawn"}}
	r := outcomes(selection.ErrorCriterion, map[string][]float64{
		"a": {0.10, 0.20, 0.30, 0.05, 0.07},
		"b": {0.12, 0.18, 0.36, 0.04, 0.02},
		"c": {0.01, nan, 0.02, nan, nan},
	}, "a", "b", "c")
	s := summary.NewComparison(r, splits, summary.Best)
	want := `error in % of the points without a label in the split, mean ± standard deviation over the splits

| labels | a | b | c |
|---|---|---|---|
| 5 a class | 20.00 ± 10.00 | 22.00 ± 12.49 | 1.50 ± 0.71 |
| 40 | 6.00 ± 1.41 | 3.00 ± 1.41 | – |

Paired differences

| labels | model | error % | difference % | against | wins/ties/losses | p | splits | failed |
|---|---|---|---|---|---|---|---|---|
| 5 a class | a | 20.00 ± 10.00 | – | a | – | – | 3 | 0 |
| 5 a class | b | 22.00 ± 12.49 | +2.00 ± 2.31 | a | 1/0/2 | 0.48 | 3 | 0 |
| 5 a class | c | 1.50 ± 0.71 | -18.50 ± 9.50 | a | 2/0/0 | 0.3 | 2 | 1 |
| 40 | a | 6.00 ± 1.41 | +3.00 ± 2.00 | b | 0/0/2 | 0.37 | 2 | 0 |
| 40 | b | 3.00 ± 1.41 | – | b | – | – | 2 | 0 |
| 40 | c | – | – | b | – | – | 0 | 2 |

* as drawn
* c: 3 of 5 splits (1, 3, 4) failed: it broke
* difference: the model minus the one against, mean over the splits ± its standard error; p: paired t-test, of each pair alone
`
	if got := s.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if d := s.Table.Drawings(); len(d) != 1 || len(d[0].Curves) != 3 || d[0].Curves[0].X[1] != 40 {
		t.Errorf("%+v", d)
	}
	r.Competitors[1].Outcomes[4], r.Done = nil, r.Done-1
	if got := summary.NewComparison(r, splits, "b").String(); !strings.HasPrefix(got, "14 of 15 fits done\n") || !strings.Contains(got, "| 40 | a | 6.00 ± 1.41 | +1.00 | b | 0/0/1 | – | 2 | 0 |") {
		t.Errorf("%s", got)
	}
	larger := summary.NewComparison(outcomes(selection.AUCCriterion, map[string][]float64{"a": {0.9, 0.8}, "b": {0.95, 0.85}}, "a", "b"),
		&pipeline.Splits{Groups: []pipeline.SplitGroup{{Count: 2, Labels: 10}}}, summary.Best).String()
	if !strings.Contains(larger, "| 10 | a | 85.00 ± 7.07 | -5.00 ± 0.00 | b | 0/0/2 |") {
		t.Errorf("%s", larger)
	}
}
