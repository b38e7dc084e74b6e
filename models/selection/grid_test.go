package selection_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
)

// settingsOf returns the settings of a grid in their order, which is that of equal
// means. The learner is replaced by one that knows its parameters and says the same
// for all of them.
func settingsOf(t *testing.T, d *selection.Data, g *selection.Grid) []string {
	t.Helper()
	own := *g
	own.Learner = constant{g.Learner}
	var out []string
	for _, s := range search(t, d, &own, nil).Scores {
		out = append(out, s.Setting.String())
	}
	return out
}

// constant is a learner whose models say one thing.
type constant struct{ models.Learner }

func (l constant) Fit(context.Context, *models.Input) (models.Model, error) {
	return &told{speed: 1, columns: 1, targets: &models.Targets{Classes: []int64{0, 3}}}, nil
}

func TestSettingsOfAGrid(t *testing.T) {
	d := newCase(t, 60, 20, 2)
	for _, c := range []struct {
		what string
		g    *selection.Grid
		want []string
	}{
		{"γ_I = 0 has neither a power nor neighbours, and is there once",
			gridOf("laprls-linear", "", "gamma-a 1, gamma-i 0 1e-2, power 2 1", 5, 4),
			[]string{"gamma-a 1, gamma-i 1e-2, power 1, neighbors 4", "gamma-a 1, gamma-i 1e-2, power 1, neighbors 5",
				"gamma-a 1, gamma-i 1e-2, power 2, neighbors 4", "gamma-a 1, gamma-i 1e-2, power 2, neighbors 5", "gamma-a 1, gamma-i 0"}},
		{"nor has it a Laplacian or a scaling that is fixed", gridOf("laprls-linear", "laplacian normalized, scaling per-pair, power 3", "gamma-a 1, gamma-i 1 0"),
			[]string{"gamma-a 1, gamma-i 1, laplacian normalized, power 3, scaling per-pair, neighbors 5", "gamma-a 1, gamma-i 0"}},
		{"larger γ_A first, then larger γ_I", gridOf("laprls-linear", "", "gamma-a 1 10, gamma-i 1 10", 4),
			[]string{"gamma-a 10, gamma-i 10, neighbors 4", "gamma-a 10, gamma-i 1, neighbors 4", "gamma-a 1, gamma-i 10, neighbors 4", "gamma-a 1, gamma-i 1, neighbors 4"}},
		{"one number in several forms is one setting", gridOf("rls-linear", "", "gamma-a 0.1 1e-1 0.10 2"), []string{"gamma-a 2", "gamma-a 0.1"}},
		{"one number of neighbours twice is one setting", gridOf("harmonic", "", "", 4, 4, 3), []string{"neighbors 3", "neighbors 4"}},
		{"no neighbours in the grid are those of the data", gridOf("harmonic", "", ""), []string{"neighbors 5"}},
		{"neighbours do not matter without a graph", gridOf("rls-linear", "gamma-a 1", "", 3, 4), []string{"gamma-a 1"}},
		{"wider kernels first", gridOf("rls", "gamma-a 1", "sigma 1 3 2"), []string{"gamma-a 1, sigma 3", "gamma-a 1, sigma 2", "gamma-a 1, sigma 1"}},
		{"fewer eigenvectors first", gridOf("eigenmap", "", "eigenvectors 9 2", 4), []string{"eigenvectors 2, neighbors 4", "eigenvectors 9, neighbors 4"}},
		{"larger α first", gridOf("lgc", "", "alpha 0.5 0.9", 4), []string{"alpha 0.9, neighbors 4", "alpha 0.5, neighbors 4"}},
	} {
		if got := settingsOf(t, d, c.g); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

// Pairs are not broken up, and are combined with the axes.
func TestJoint(t *testing.T) {
	d := newCase(t, 60, 20, 2)
	g := gridOf("laprls", "laplacian normalized", "sigma 1 2", 4)
	g.Joint = []models.Values{{"gamma-a": "1", "gamma-i": "0.1"}, {"gamma-a": "10", "gamma-i": "0"}}
	want := []string{"gamma-a 10, gamma-i 0, sigma 2", "gamma-a 10, gamma-i 0, sigma 1",
		"gamma-a 1, gamma-i 0.1, laplacian normalized, sigma 2, neighbors 4", "gamma-a 1, gamma-i 0.1, laplacian normalized, sigma 1, neighbors 4"}
	if got := settingsOf(t, d, g); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	g.Joint = append(g.Joint, models.Values{"gamma-a": "-1", "gamma": "2", "laplacian": "normalized"})
	_, err := selection.Search(t.Context(), d, g, nil)
	for _, want := range []string{"unknown parameter \"gamma\"", "laplacian takes one value for laprls", "gamma-a is -1", "gamma-i is missing"} {
		if err == nil || strings.Count(param.Plain(err.Error()), want) != 1 {
			t.Errorf("%v, want %q in it, once", err, want)
		}
	}
}

// A rule for the width is the number that it stands for, once for each kernel.
func TestRules(t *testing.T) {
	d := newCase(t, 60, 20, 2)
	width := func(rule kernel.Rule) string {
		v, err := kernel.Width(d.Points, rule, 7)
		if err != nil {
			t.Fatal(err)
		}
		return models.FormatFloat(v)
	}
	median, mean := width(kernel.Median), width(kernel.Mean)
	for _, c := range []struct {
		g    *selection.Grid
		want []string
	}{
		{gridOf("rls", "", "gamma-a 1 2"), []string{median}},
		{gridOf("rls", "sigma mean", "gamma-a 1 2"), []string{mean}},
		{gridOf("rls", "gamma-a 1", "sigma median mean 1e-3 "+median), []string{median, mean, "1e-3"}},
		{gridOf("tsvm", "gamma-a 1", "sigma median 1"), []string{median, "1"}},
		{gridOf("vvmr", "", "gamma-a 1, gamma-i 0 1e-2, sigma median 1"), []string{median, "1"}},
		{gridOf("rls", "gamma-a 1, kernel laplace", "sigma median"), []string{median}},
		{gridOf("rls", "gamma-a 1, kernel linear", ""), []string{""}},
		{gridOf("sssl", "", "sigma median 1"), []string{median, "1"}},
	} {
		data := d
		if c.g.Learner.Info().Name == "vvmr" {
			data = newCase(t, 60, 20, values)
			data.Points = d.Points
		}
		var got []string
		for _, s := range search(t, data, c.g, &selection.Settings{Seed: 7}).Scores {
			got = append(got, s.Setting.Values["sigma"])
		}
		slices.Sort(got)
		slices.Sort(c.want)
		if got = slices.Compact(got); !slices.Equal(got, c.want) {
			t.Errorf("%s %v %v: widths %v, want %v", c.g.Learner.Info().Name, c.g.Fixed, c.g.Axes, got, c.want)
		}
	}
}

// Rules are asked for once for each that is named.
func TestRulesAreResolvedOnce(t *testing.T) {
	d := newCase(t, 60, 20, 2)
	l := &ruled{teller: teller{models.LearnsClasses}}
	r := search(t, d, &selection.Grid{Learner: l, Axes: axes("speed slow fast 1 2 3 4")}, nil)
	if l.asked != 3 || len(r.Scores) != 5 { // once for numbers, too
		t.Errorf("asked %d times for %d settings", l.asked, len(r.Scores))
	}
	for _, s := range r.Scores {
		if v := s.Setting.Values.Float("speed"); v == 0 {
			t.Errorf("the setting %s", s.Setting)
		}
	}
}

// ruled knows the speeds slow and fast.
type ruled struct {
	teller
	asked int
}

func (l *ruled) Params() []models.Param {
	p := l.teller.Params()
	p[0].Choices = []string{"slow", "fast"}
	return p
}

func (l *ruled) Resolve(in *models.Input) (models.Values, error) {
	l.asked++
	if number := map[string]string{"slow": "1", "fast": "9"}[in.Values["speed"]]; number != "" {
		return in.Values.With(models.Values{"speed": number}), nil
	}
	return in.Values, nil
}

func TestSettingAsJSON(t *testing.T) {
	for want, s := range map[string]selection.Setting{
		`{"gamma-a":0.1,"kernel":"linear","neighbors":4}`: {Values: fixed("gamma-a 0.1, kernel linear"), Neighbors: 4},
		`{"gamma-a":1e-3}`: {Values: fixed("gamma-a 1e-3")},
	} {
		if text, err := json.Marshal(s); err != nil || string(text) != want {
			t.Errorf("%s, %v, want %s", text, err, want)
		}
	}
}

func TestSearchRefuses(t *testing.T) {
	classes, numbers, several := newCase(t, 30, 10, 2), newCase(t, 30, 10, values), newCase(t, 30, 10, labels)
	bare := &selection.Data{Targets: classes.Targets, Points: classes.Points}
	given := &selection.Data{Targets: classes.Targets, Points: classes.Points}
	w, _, err := knn.FromNeighbors(classes.Neighbors, classes.Edges)
	if err != nil {
		t.Fatal(err)
	}
	given.Graph = models.NewGraph(w)
	other := &selection.Data{Targets: newCase(t, 40, 10, 2).Targets, Graph: given.Graph}
	lists := &selection.Data{Targets: newCase(t, 40, 10, 2).Targets, Neighbors: classes.Neighbors, Edges: classes.Edges}
	linear := func(vary string, neighbors ...int) *selection.Grid {
		return gridOf("laprls-linear", "", "gamma-a 1, gamma-i 1, "+vary, neighbors...)
	}
	machine := func(fix, vary string) *selection.Grid { return gridOf("rls", fix, "gamma-a 1, "+vary) }
	for i, c := range []struct {
		d    *selection.Data
		g    *selection.Grid
		s    selection.Settings
		want string
	}{
		{classes, &selection.Grid{}, selection.Settings{}, "there is no learner"},
		{classes, linear("gamma-a 0 +Inf"), selection.Settings{}, "gamma-a is +Inf; it must be positive"},
		{classes, linear("gamma-i -1"), selection.Settings{}, "gamma-i is -1; it must be at least 0"},
		{classes, linear("gamma-i NaN"), selection.Settings{}, "gamma-i is NaN"},
		{classes, linear("power 0"), selection.Settings{}, "power is 0; it must be at least 1"},
		{classes, linear("", -1), selection.Settings{}, "neighbors is -1; it must be at least 1"},
		{classes, linear("sigma 1"), selection.Settings{}, `unknown parameter "sigma"`},
		{classes, linear("scaling direct per-pair"), selection.Settings{}, "scaling takes one value for laprls-linear"},
		{classes, linear("power"), selection.Settings{}, "there are no values for power"},
		{classes, gridOf("laprls-linear", "gamma-i 1", ""), selection.Settings{}, "gamma-a is missing"},
		{classes, machine("kernel linear", "sigma 1"), selection.Settings{}, "sigma is for kernel gaussian or laplace"},
		{classes, gridOf("oneclass", "", ""), selection.Settings{}, "does not learn from labels"},
		{classes, gridOf("harmonic", "", "alpha 0.5"), selection.Settings{}, `unknown parameter "alpha"`},
		{classes, gridOf("tikhonov", "", "gamma-a 0.5, gamma-i 0"), selection.Settings{}, "gamma-i is 0"},
		{classes, gridOf("eigenmap", "", "gamma 1"), selection.Settings{}, "gamma is for penalty iterated, heat, sum, polynomial or kernel"},
		{classes, gridOf("eigenmap", "penalty iterated", "gamma 1"), selection.Settings{}, "to choose from"},
		{numbers, gridOf("eigenmap", "", ""), selection.Settings{}, "eigenmap does not learn values"},
		{numbers, gridOf("svm-linear", "", "gamma-a 1"), selection.Settings{}, "svm-linear does not learn values"},
		{several, linear(""), selection.Settings{}, "laprls-linear does not learn several labels a point"},
		{classes, gridOf("vvmr", "", "gamma-a 1, gamma-i 0"), selection.Settings{}, "vvmr does not learn classes"},
		{classes, gridOf("svm", "approximation matrix-free", "gamma-a 1"), selection.Settings{}, `approximation is "matrix-free"`},
		{classes, machine("landmarks -3", ""), selection.Settings{}, "landmarks is -3"},
		{classes, gridOf("sssl", "", "eigenfunctions 11"), selection.Settings{}, "11 eigenfunctions for"},
		{numbers, linear(""), selection.Settings{Criterion: selection.AUCCriterion}, "criterion auc"},
		{classes, linear(""), selection.Settings{Criterion: selection.RMSECriterion}, "criterion rmse"},
		{several, gridOf("vvmr", "", "gamma-a 1, gamma-i 0"), selection.Settings{Criterion: selection.PRBEPCriterion}, "criterion prbep"},
		{classes, linear(""), selection.Settings{Criterion: 17}, "criterion"},
		{classes, linear(""), selection.Settings{Folds: 1}, "1 folds"},
		{classes, linear(""), selection.Settings{Folds: 11}, "11 folds of 10"},
		{classes, linear(""), selection.Settings{Repeats: -1}, "repeated -1 times"},
		{classes, linear(""), selection.Settings{Memory: 100}, "100 are allowed"},
		{classes, linear("", 10), selection.Settings{}, "10 neighbours from lists of 9"},
		{bare, linear(""), selection.Settings{}, "neither neighbours nor a graph"},
		{given, linear("", 3), selection.Settings{}, "its own neighbours"},
		{other, gridOf("harmonic", "", ""), selection.Settings{}, "of other points than the 40"},
		{lists, gridOf("harmonic", "", ""), selection.Settings{}, "of other points than the 40"},
		{&selection.Data{Targets: classes.Targets}, gridOf("rls-linear", "", "gamma-a 1"), selection.Settings{}, "there are no points"},
		{&selection.Data{Targets: classes.Targets, Points: data.NewDense[float64](7, 2)}, linear(""), selection.Settings{}, "targets for 30 points, there are 7"},
		{&selection.Data{Points: classes.Points}, linear(""), selection.Settings{}, "no targets"},
	} {
		r, err := selection.Search(t.Context(), c.d, c.g, &c.s)
		if r != nil || err == nil || !strings.Contains(param.Plain(err.Error()), c.want) {
			t.Errorf("%d: %v, want an error with %q", i, err, c.want)
		}
	}
}

// All that is wrong with the grid, the settings and the data is said at once.
func TestFaultsAtOnce(t *testing.T) {
	d := newCase(t, 30, 10, values)
	d.Points = nil
	g := gridOf("lapsvm-linear", "width 2, loss hinge", "gamma-a 0 -1 1, gamma-i nan 0, power 1.5, sigma 1", 0)
	r, err := selection.Search(t.Context(), d, g, &selection.Settings{Criterion: selection.F1Criterion})
	if r != nil || err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"gamma-a is 0", "gamma-a is -1", "gamma-i is nan", "power is 1.5", `unknown parameter "sigma"`, "neighbors is 0", `loss is "hinge"`, "width is 2",
		"criterion f1", "does not learn values", "there are no points"} {
		if n := strings.Count(param.Plain(err.Error()), want); n != 1 {
			t.Errorf("%q is said %d times in\n%v", want, n, err)
		}
	}
	if _, _, costErr := selection.Cost(d, g, &selection.Settings{Criterion: selection.F1Criterion}); fmt.Sprint(costErr) != err.Error() {
		t.Errorf("Cost says %v", costErr)
	}
	if math.IsNaN(g.Fixed.Float("width")) || len(g.Axes["gamma-a"]) != 3 {
		t.Error("the grid was changed")
	}
}
