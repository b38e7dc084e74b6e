package selection_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/stage"
)

// checkScores compares every score with fits made one by one.
func checkScores(t *testing.T, d *selection.Data, g *selection.Grid, r *selection.Result) {
	t.Helper()
	splits := float64(r.Folds * r.Repeats)
	for _, score := range r.Scores {
		var sum, squares float64
		for repeat := range r.Repeats {
			folds, err := d.Targets.Folds(r.Folds, r.Seed+uint64(repeat))
			if err != nil {
				t.Fatal(err)
			}
			for f, held := range folds {
				var rest, points []int
				for q, i := range d.Targets.Labeled {
					if slices.Contains(held, q) {
						points = append(points, i)
					} else {
						rest = append(rest, q)
					}
				}
				a := alone(t, d, g.Learner, score.Setting, d.Targets.Keep(rest), points, r.Seed)
				if a.Err != nil {
					t.Fatal(a.Err)
				}
				want := byHand(r.Criterion, d.Targets, held, a)
				got := float64(score.Folds[r.Folds*repeat+f])
				sum, squares = sum+want, squares+want*want
				if !(math.Abs(got-want) <= 1e-10) {
					t.Errorf("%s, repeat %d, fold %d: %v, alone %v", score.Setting, repeat, f, got, want)
				}
			}
		}
		deviation := math.Sqrt(max(0, squares-sum*sum/splits) / (splits - 1) / splits)
		if !(math.Abs(float64(score.Mean)-sum/splits) <= 1e-10) || !(math.Abs(float64(score.StdErr)-deviation) <= 1e-7) {
			t.Errorf("%s: mean %v ± %v, want %v ± %v", score.Setting, score.Mean, score.StdErr, sum/splits, deviation)
		}
	}
	better := func(a, b selection.Score) bool {
		return r.Criterion.Larger() != (a.Mean < b.Mean) && math.Abs(float64(a.Mean-b.Mean)) > 1e-10
	}
	for i, score := range r.Scores[1:] {
		if better(score, r.Scores[i]) {
			t.Errorf("%s stands behind %s", score.Setting, r.Scores[i].Setting)
		}
	}
}

// A search equals fits made one by one, for learners that share work and for those
// that do not.
func TestSearchEqualsFitsAlone(t *testing.T) {
	three, two, value, several := newCase(t, 90, 33, 3), newCase(t, 90, 41, 2), newCase(t, 90, 30, values), newCase(t, 90, 40, labels)
	wide, many := newCase(t, 90, 30, values), newCase(t, 90, 30, values)
	wide.Points = data.ToSparse(wide.Points)
	columns := data.NewDense[float64](90, 130)
	for i := range columns.Data {
		columns.Data[i] = math.Sin(float64(i * i))
	}
	many.Points = data.ToSparse(columns)
	const norms = "gamma-a 1e-3 1e-1, gamma-i 0 1e-3 1e-1, power 1 2"
	const perPair = "laplacian normalized, scaling per-pair"
	const rmse, wrong, area, prbep = selection.RMSECriterion, selection.ErrorCriterion, selection.AUCCriterion, selection.PRBEPCriterion
	for name, c := range map[string]struct {
		d         *selection.Data
		g         *selection.Grid
		criterion selection.Criterion
		settings  int
	}{
		"linear, values":  {value, gridOf("laprls-linear", "", norms, 4, 8), rmse, 18},
		"linear, sparse":  {wide, gridOf("laprls-linear", perPair+", tolerance 1e-13", norms, 4, 8), rmse, 18},
		"linear, wide":    {many, gridOf("laprls-linear", "tolerance 1e-13", norms, 4), rmse, 10},
		"linear, classes": {three, gridOf("laprls-linear", "", norms, 4, 8), wrong, 18},
		"linear, plain":   {three, gridOf("rls-linear", "", "gamma-a 1e-3 1e-1"), wrong, 2},
		"linear, hinge":   {two, gridOf("lapsvm-linear", "tolerance 1e-12", norms, 4, 8), area, 18},

		"kernel, values":    {value, gridOf("laprls", "", norms+", sigma 0.7 2", 4, 8), rmse, 36},
		"kernel, intercept": {value, gridOf("laprls", perPair+", kernel linear, intercept true", norms, 4, 8), rmse, 18},
		"kernel, classes":   {three, gridOf("laprls", "sigma 2", norms, 4, 8), wrong, 18},
		"kernel, svm":       {two, gridOf("lapsvm", "sigma 2", norms, 4, 8), prbep, 18},
		"kernel, svr":       {newValue(t), gridOf("lapsvr", "tolerance 1e-12", "gamma-a 1e-3 1e-1, gamma-i 0 1e-2, epsilon 0.05 0.2", 5), rmse, 8},
		"kernel, plain":     {two, gridOf("svm", "", "gamma-a 1e-3 1e-1, sigma median 1"), area, 4},

		"landmarks, values":   {value, gridOf("laprls", perPair+", intercept true, landmarks 25", norms+", sigma 0.7 2", 4, 8), rmse, 36},
		"landmarks, svm":      {two, gridOf("lapsvm", "sigma 2, landmarks 25, tolerance 1e-12", norms, 4, 8), area, 18},
		"features, classes":   {three, gridOf("laprls", "sigma 2, features 40", norms, 4, 8), wrong, 18},
		"matrix-free, values": {value, gridOf("laprls", "approximation matrix-free, landmarks 60, tolerance 1e-13", "gamma-a 1e-1, gamma-i 0 1e-3, sigma 1 2"), rmse, 4},

		"sssl":                 {value, gridOf("sssl", "intercept true", "sigma 1 2, eigenfunctions 1 4 12"), rmse, 6},
		"sssl, its own choice": {three, gridOf("sssl", "folds 3", "sigma 1 3"), wrong, 2},

		"tikhonov, values": {value, gridOf("tikhonov", "tolerance 1e-12", "gamma-a 1e-3 1e-1, gamma-i 1e-3 1e-1, power 1 2", 4, 8), rmse, 16},
		"harmonic, values": {value, gridOf("harmonic", "", "", 3, 5, 8), rmse, 3},
		"lgc":              {two, gridOf("lgc", "", "alpha 0.5 0.99", 3, 5), area, 4},
		"poisson":          {three, gridOf("poisson", "", ""), wrong, 1},

		"eigenmap":            {two, gridOf("eigenmap", "tolerance 1e-11", "eigenvectors 2 5 12", 4, 8), area, 6},
		"eigenmap, penalized": {three, gridOf("eigenmap", "penalty iterated, laplacian normalized, tolerance 1e-11", "eigenvectors 9 20, gamma 1e-2 1"), wrong, 4},

		"tsvm":          {two, gridOf("tsvm", "", "gamma-a 1e-2 1e-1, sigma 2 mean, unlabeled-weight 0.5 1"), wrong, 8},
		"tsvm-linear":   {three, gridOf("tsvm-linear", "", "gamma-a 1e-2 1e-1"), wrong, 2},
		"vvmr, values":  {value, gridOf("vvmr", "output-neighbors 1", "gamma-a 1e-3 1e-1, gamma-i 0 1e-2, gamma-o 0 0.5, sigma 2", 5), rmse, 8},
		"vvmr, missing": {newPartial(t), gridOf("vvmr", "output-neighbors 1", "gamma-a 1e-3 1e-1, gamma-i 0 1e-2, sigma 2", 5), rmse, 4},
		"vvmr, labels":  {several, gridOf("vvmr", "", "gamma-a 1e-3 1e-1, gamma-i 0 1e-2, power 1 2", 4, 8), area, 10},
		"knn":           {three, gridOf("knn", "", "vote 1 3 7"), wrong, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := search(t, c.d, c.g, &selection.Settings{Folds: 4, Repeats: 2, Seed: 3, Criterion: c.criterion})
			if len(r.Scores) != c.settings || r.Done != 8*c.settings || r.Total != r.Done || r.Labeled != len(c.d.Targets.Labeled) {
				t.Fatalf("%d settings, %d of %d fits, want %d settings", len(r.Scores), r.Done, r.Total, c.settings)
			}
			checkScores(t, c.d, c.g, r)
		})
	}
}

// newValue has one value a point.
func newValue(t *testing.T) *selection.Data {
	d := newCase(t, 90, 30, values)
	d.Targets.Y = mat.DenseCopyOf(d.Targets.Y.Slice(0, 30, 0, 1))
	return d
}

// newPartial has two values a point, of which some are missing.
func newPartial(t *testing.T) *selection.Data {
	t.Helper()
	d := newCase(t, 90, 30, values)
	block := mat.NewDense(90, 2, nil)
	block.Apply(func(int, int, float64) float64 { return math.NaN() }, block)
	for q, i := range d.Targets.Labeled {
		block.SetRow(i, d.Targets.Y.RawRowView(q))
		if q%3 > 0 {
			block.Set(i, q%3-1, math.NaN())
		}
	}
	var err error
	if d.Targets, err = multilabel.PartialTargets(block); err != nil {
		t.Fatal(err)
	}
	return d
}

// A graph of the outputs reaches the learner.
func TestSearchWithOutputs(t *testing.T) {
	d := newCase(t, 90, 30, values)
	g := gridOf("vvmr", "gamma-a 1e-2, sigma 2, gamma-i 0", "gamma-o 0 0.9")
	if r := search(t, d, g, nil); r.Best().Fault != "" || !strings.Contains(r.Scores[1].Fault, "graph of the outputs") {
		t.Errorf("without a graph of the outputs: %q and %q", r.Best().Fault, r.Scores[1].Fault)
	}
	d.Outputs = modeltest.FromEdges(t, 2, [][2]int32{{0, 1}}, 1).W
	r := search(t, d, g, nil)
	checkScores(t, d, g, r)
	if r.Scores[0].Mean == r.Scores[1].Mean {
		t.Error("the graph of the outputs makes no difference")
	}
}

// A graph that is given is that of all settings.
func TestSearchOnAGraph(t *testing.T) {
	d := newCase(t, 60, 20, 2)
	r := search(t, d, gridOf("harmonic", "", "", 5), nil)
	w, _, err := knn.FromNeighbors(d.Neighbors, d.Edges)
	if err != nil {
		t.Fatal(err)
	}
	own := search(t, d, gridOf("harmonic", "", ""), nil)
	on := search(t, &selection.Data{Targets: d.Targets, Graph: models.NewGraph(w)}, gridOf("harmonic", "", ""), nil)
	if !slices.Equal(on.Best().Folds, r.Best().Folds) || on.Best().Setting.Neighbors != 0 {
		t.Errorf("on the graph %+v, on its neighbours %+v", on.Best(), r.Best())
	}
	if !reflect.DeepEqual(own, r) {
		t.Errorf("without neighbours %+v, with those of the data %+v", own, r)
	}
}

func TestSearchSameBits(t *testing.T) {
	d := newCase(t, 120, 40, 3)
	for _, g := range []*selection.Grid{
		gridOf("lapsvm-linear", "", "gamma-a 1e-3 1, gamma-i 0 1e-2", 4, 7), gridOf("lapsvm", "", "gamma-a 1e-3 1, gamma-i 0 1e-2"),
		gridOf("lgc", "", "alpha 0.5 0.9"), gridOf("eigenmap", "", "eigenvectors 3 6"), gridOf("tsvm-linear", "", "gamma-a 1e-3 1"),
		gridOf("knn", "", "vote 1 2 3"),
	} {
		var results []*selection.Result
		for _, threads := range []int{1, 4, 4} {
			before := runtime.GOMAXPROCS(threads)
			results = append(results, search(t, d, g, &selection.Settings{Seed: 8, Criterion: selection.AUCCriterion}))
			runtime.GOMAXPROCS(before)
		}
		name := g.Learner.Info().Name
		for _, r := range results[1:] {
			if !bytes.Equal(asJSON(t, r), asJSON(t, results[0])) {
				t.Errorf("%s: %v and %v", name, r, results[0])
			}
		}
		if other := search(t, d, g, &selection.Settings{Seed: 9, Criterion: selection.AUCCriterion}); bytes.Equal(asJSON(t, other.Scores), asJSON(t, results[0].Scores)) {
			t.Errorf("%s: another seed gives the same scores", name)
		}
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Few labels on two moons, where only the intrinsic norm helps, and noise in many
// dimensions, where γ_A must be large.
func TestSearchFindsPlantedOptimum(t *testing.T) {
	x, y := synthetic.TwoMoons(300, 0.08, 5)
	few, err := y.Draw(16, 2)
	if err != nil {
		t.Fatal(err)
	}
	d := &selection.Data{Points: x, Targets: modeltest.ClassTargets(t, few)}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Neighbors, err = ix.Self(t.Context(), 8); err != nil {
		t.Fatal(err)
	}
	r := search(t, d, gridOf("laprls", "", "gamma-a 1e-4 1e-2, gamma-i 0 1e-2 1, sigma 0.3 30", 8), &selection.Settings{Folds: 4, Repeats: 3})
	if b := r.Best(); b.Setting.Values.Float("gamma-i") == 0 || b.Setting.Values["sigma"] != "0.3" || b.Mean > 0.05 {
		t.Errorf("best is %s with error %v", b.Setting, b.Mean)
	}

	rng := rand.New(rand.NewPCG(1, 2))
	noisy, truth := data.NewDense[float64](60, 50), mat.NewDense(60, 1, nil)
	for i := range noisy.Data {
		noisy.Data[i] = rng.NormFloat64()
	}
	for i := range 60 {
		truth.Set(i, 0, noisy.Row(i)[0]+0.5*rng.NormFloat64())
	}
	targets, err := models.ValueTargets(truth)
	if err != nil {
		t.Fatal(err)
	}
	r = search(t, &selection.Data{Points: noisy, Targets: targets}, gridOf("rls-linear", "", "gamma-a 1e-8 1e-4 1 1e6"), nil)
	if b := r.Best(); b.Setting.Values["gamma-a"] != "1" {
		t.Errorf("best is %s with RMSE %v", b.Setting, b.Mean)
	}
}

// Of settings with equal means the stronger regularization comes first.
func TestTiesGoToTheStronger(t *testing.T) {
	x := data.NewDense[float64](20, 1)
	classes := make([]int64, 20)
	for i := range 20 {
		classes[i] = int64(i % 2)
		x.Row(i)[0] = float64(2*classes[i]-1) + 0.01*float64(i)
	}
	d := &selection.Data{Points: x, Targets: modeltest.ClassTargets(t, data.NewLabels(classes, nil))}
	for c, want := range map[string]string{
		"rls-linear gamma-a 1e-4 1e-2 1e-3 1e-3":           "1e-2 1e-3 1e-4",
		"svm sigma 1 2 0.5, gamma-a 1e-3":                  "2 1 0.5",
		"knn vote 1 5 3":                                   "5 3 1",
		"tsvm-linear gamma-a 1e-2, unlabeled-weight 1 0.5": "0.5 1",
	} {
		name, vary, _ := strings.Cut(c, " ")
		axis, _, _ := strings.Cut(vary, " ")
		if name == "tsvm-linear" {
			axis = "unlabeled-weight"
		}
		for _, criterion := range []selection.Criterion{selection.ErrorCriterion, selection.F1Criterion, selection.AUCCriterion, selection.PRBEPCriterion} {
			var order []string
			r := search(t, d, gridOf(name, "", vary), &selection.Settings{Criterion: criterion})
			for _, s := range r.Scores {
				order = append(order, s.Setting.Values[axis])
			}
			if got := strings.Join(order, " "); got != want || r.Scores[0].Mean != r.Scores[len(order)-1].Mean {
				t.Errorf("%s, %v: order %v, means %v to %v", c, criterion, order, r.Scores[0].Mean, r.Scores[len(order)-1].Mean)
			}
		}
	}
}

// A class without a label outside a fold is unknown there, and its points are wrong.
func TestClassesOutsideFolds(t *testing.T) {
	d := newCase(t, 60, 20, 3)
	var keep []int // one label of the last class among them
	lone := -1
	for q := range d.Targets.Labeled {
		if d.Targets.Class(q) < 2 || lone < 0 {
			keep = append(keep, q)
		}
		if d.Targets.Class(q) == 2 {
			lone = q
		}
	}
	d.Targets = d.Targets.Keep(keep)
	l := len(keep)
	folds, err := d.Targets.Folds(l, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []*selection.Grid{
		gridOf("rls-linear", "gamma-a 0.1", ""), gridOf("svm", "gamma-a 0.1", ""), gridOf("harmonic", "", ""), gridOf("eigenmap", "", ""),
		gridOf("tsvm-linear", "gamma-a 0.1", ""), gridOf("knn", "vote 1", ""),
	} {
		name := g.Learner.Info().Name
		r := search(t, d, g, &selection.Settings{Folds: l})
		var right bool
		for f, v := range r.Best().Folds {
			if v != 0 && v != 1 || d.Targets.Class(folds[f][0]) == 2 && v != 1 {
				t.Errorf("%s: error %v on fold %d", name, v, f)
			}
			right = right || v == 0
		}
		if !right {
			t.Errorf("%s: all points are wrong", name)
		}
		if _, err := selection.Search(t.Context(), d, g, &selection.Settings{Folds: l, Criterion: selection.AUCCriterion}); err == nil || !strings.Contains(err.Error(), "not defined on any fold") {
			t.Errorf("%s: AUC of single points: %v", name, err)
		}
	}
	two := newCase(t, 60, 20, 2)
	var first []int // one label of one class
	seen := map[int]int{}
	for q := range two.Targets.Labeled {
		if c := two.Targets.Class(q); c == 0 || seen[c] == 0 {
			first = append(first, q)
			seen[c]++
		}
	}
	two.Targets = two.Targets.Keep(first)
	if _, err := selection.Search(t.Context(), two, gridOf("rls-linear", "gamma-a 1", ""), nil); err == nil || !strings.Contains(err.Error(), "all labels are of class 0") {
		t.Errorf("one label of a class: %v", err)
	}
}

// Settings that fail stand last; it is an error if all do.
func TestFailingSettings(t *testing.T) {
	d := newCase(t, 60, 20, 2)
	g := gridOf("laprls", "kernel linear, gamma-i 0", "gamma-a 1 1e-300")
	r := search(t, d, g, nil)
	if r.Best().Fault != "" || r.Scores[1].Fault == "" || r.Done != r.Total {
		t.Errorf("faults %q and %q", r.Best().Fault, r.Scores[1].Fault)
	}
	g.Axes["gamma-a"] = []string{"1e-300"}
	if _, err := selection.Search(t.Context(), d, g, nil); err == nil || !strings.Contains(err.Error(), "γ_A is too small") || !strings.Contains(err.Error(), "gamma-a 1e-300") {
		t.Errorf("all settings failed: %v", err)
	}
	// In a linear path the others are fitted all the same.
	d.Targets = newCase(t, 60, 60, 2).Targets
	x := data.NewDense[float64](60, 2)
	for i := range 60 {
		x.Row(i)[0], x.Row(i)[1] = float64(i), float64(i)
	}
	d.Points = x
	r = search(t, d, gridOf("rls-linear", "", "gamma-a 1e-300 1"), nil)
	if r.Best().Setting.Values["gamma-a"] != "1" || r.Best().Fault != "" || !strings.Contains(r.Scores[1].Fault, "too small") {
		t.Errorf("faults %q and %q", r.Best().Fault, r.Scores[1].Fault)
	}
	// A learner that shares nothing.
	failing := &selection.Grid{Learner: refuser{teller{models.LearnsClasses}}, Axes: axes("speed 1 2 3")}
	r = search(t, d, failing, nil)
	if len(r.Scores) != 3 || r.Scores[1].Fault != "" || r.Scores[2].Fault != "speed 2 is refused" || r.Scores[2].Setting.Values["speed"] != "2" || r.Done != r.Total {
		t.Errorf("scores %+v", r.Scores)
	}
}

// refuser cannot be fitted at speed 2.
type refuser struct{ teller }

func (l refuser) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	if in.Values["speed"] == "2" {
		return nil, errors.New("speed 2 is refused")
	}
	return l.teller.Fit(ctx, in)
}

func TestCost(t *testing.T) {
	d := newCase(t, 60, 20, 2)
	for _, g := range []*selection.Grid{
		gridOf("laprls-linear", "", "gamma-a 1, gamma-i 1"), gridOf("laprls", "", "gamma-a 1, gamma-i 1"), gridOf("harmonic", "", ""), gridOf("eigenmap", "", ""),
		gridOf("laprls", "intercept true, landmarks 20", "gamma-a 1, gamma-i 1"), gridOf("tsvm", "", "gamma-a 1 2"), gridOf("knn", "", "vote 1 3"),
	} {
		name := g.Learner.Info().Name
		c, settings, err := selection.Cost(d, g, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := selection.Cost(d, g, &selection.Settings{Repeats: 3})
		if err != nil {
			t.Fatal(err)
		}
		if c.Bytes < 8*20 || c.Bytes > 1<<26 || again.Bytes != c.Bytes || !(again.Operations > c.Operations || name == "knn") || c.Remedy == "" || settings != len(search(t, d, g, nil).Scores) {
			t.Errorf("%s: %+v, repeated %+v, of %d settings", name, c, again, settings)
		}
		if _, err := selection.Search(t.Context(), d, g, &selection.Settings{Memory: c.Bytes}); err != nil {
			t.Errorf("%s: with as much memory as estimated: %v", name, err)
		}
		// Eigenpairs take less where less is allowed.
		if _, err := selection.Search(t.Context(), d, g, &selection.Settings{Memory: c.Bytes - 1}); name != "eigenmap" && (err == nil || !strings.Contains(err.Error(), "are allowed; "+c.Remedy)) {
			t.Errorf("%s: with less memory than estimated: %v", name, err)
		}
	}
	// Of learners that share nothing: the largest fit, on each thread.
	before := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(before)
	c, settings, err := selection.Cost(d, &selection.Grid{Learner: teller{models.LearnsClasses}, Axes: axes("speed 3 5")}, &selection.Settings{Folds: 4})
	if err != nil || settings != 2 || c != (stage.Cost{Bytes: 2 * 5000, Operations: 7 * 2 * 4, Remedy: "speak less"}) {
		t.Errorf("%d settings, %+v, %v", settings, c, err)
	}
}

// The scores of fits that did not converge are those of what was reached.
func TestUnconverged(t *testing.T) {
	d := newCase(t, 60, 20, 2)
	for _, g := range []*selection.Grid{
		gridOf("lgc", "max-iterations 1, tolerance 1e-14", ""),
		{Learner: plain{all.Learner("lgc")}, Fixed: fixed("max-iterations 1, tolerance 1e-14")},
	} {
		r, err := selection.Search(t.Context(), d, g, nil)
		if !errors.Is(err, cg.ErrNotConverged) || !models.Usable(err) || r == nil || r.Best().Unconverged != 5 || r.Best().Fault != "" || math.IsNaN(float64(r.Best().Mean)) {
			t.Errorf("%v, %v", r, err)
		}
	}
}

// plain hides what a learner can do beside the contract.
type plain struct{ models.Learner }

// A learner that shares work gives what it gives without.
func TestSharingMakesNoDifference(t *testing.T) {
	d := newCase(t, 90, 33, 2)
	for _, g := range []*selection.Grid{
		gridOf("laprls-linear", "", "gamma-a 1e-2 1, gamma-i 0 1e-2", 4, 8), gridOf("lapsvm", "sigma 2", "gamma-a 1e-2 1, gamma-i 0 1e-2", 4, 8), gridOf("lgc", "", "alpha 0.5 0.9", 4, 8),
	} {
		shared := search(t, d, g, &selection.Settings{Seed: 2})
		g.Learner = plain{g.Learner}
		each := search(t, d, g, &selection.Settings{Seed: 2})
		if !bytes.Equal(asJSON(t, shared), asJSON(t, each)) {
			t.Errorf("%s: %s with sharing, %s without", g.Learner.Info().Name, asJSON(t, shared), asJSON(t, each))
		}
	}
}

func TestCancelled(t *testing.T) {
	d := newCase(t, 60, 20, 2)
	for _, g := range []*selection.Grid{
		gridOf("laprls-linear", "", "gamma-a 1 2, gamma-i 0 1", 3, 4, 5),
		{Learner: plain{all.Learner("laprls-linear")}, Axes: axes("gamma-a 1 2, gamma-i 0 1"), Neighbors: []int{3, 4, 5}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var last *selection.Result
		r, err := selection.Search(ctx, d, g, &selection.Settings{OnProgress: func(r *selection.Result) {
			if r.Done <= 0 || last != nil && r.Done <= last.Done {
				t.Errorf("%d fits done after %v", r.Done, last)
			}
			if last = r; r.Done >= 14 {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) || r == nil || r.Done < 14 || r.Done >= r.Total || r.Total != 40 {
			t.Fatalf("%v, %v", r, err)
		}
		if !bytes.Equal(asJSON(t, r), asJSON(t, last)) {
			t.Error("the result is not the last one told")
		}
		if b := r.Best(); b.Done != 5 {
			t.Errorf("the best setting has %d folds: %s", b.Done, b.Setting)
		}
		if last := r.Scores[7]; last.Done != 0 || !math.IsNaN(float64(last.Mean)) {
			t.Errorf("the last setting has %d folds: %v", last.Done, last.Mean)
		}
	}
}

// What is told is a copy that later fits do not change.
func TestProgressIsACopy(t *testing.T) {
	d := newCase(t, 60, 20, 2)
	var told []*selection.Result
	var texts [][]byte
	r := search(t, d, gridOf("knn", "", "vote 1 3"), &selection.Settings{OnProgress: func(r *selection.Result) {
		told, texts = append(told, r), append(texts, asJSON(t, r))
	}})
	if len(told) != 10 || told[9].Done != 10 {
		t.Fatalf("%d calls", len(told))
	}
	for i, v := range told {
		if !bytes.Equal(asJSON(t, v), texts[i]) {
			t.Errorf("call %d changed afterwards", i)
		}
	}
	if !bytes.Equal(texts[9], asJSON(t, r)) {
		t.Error("the last call is not the result")
	}
}
