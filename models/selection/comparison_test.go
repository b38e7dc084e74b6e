package selection_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// draws are splits of the targets of d into so many points with a label and others.
func draws(d *selection.Data, count, labels int, seed uint64) [][]int {
	rng := rand.New(rand.NewPCG(seed, 9))
	var out [][]int
	for range count {
		var points []int
		for _, q := range rng.Perm(len(d.Targets.Labeled))[:labels] {
			points = append(points, d.Targets.Labeled[q])
		}
		out = append(out, points)
	}
	return out
}

// contend makes contenders of lines "learner; fixed; axes".
func contend(lines ...string) []selection.Contender {
	var out []selection.Contender
	for _, line := range lines {
		part := strings.Split(line, ";")
		out = append(out, selection.Contender{Name: part[0], Grid: *gridOf(part[0], part[1], part[2])})
	}
	return out
}

// compare runs a comparison, which must end well.
func compare(t testing.TB, d *selection.Data, x []selection.Contender, labeled [][]int, s *selection.CompareSettings) *selection.Compared {
	t.Helper()
	c, err := selection.NewComparison(d, x, labeled, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Prepare(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	r, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// positions returns where the points stand in Labeled, ascending, and the others.
func positions(y *models.Targets, points []int) (kept, held []int) {
	for q, p := range y.Labeled {
		if slices.Contains(points, p) {
			kept = append(kept, q)
		} else {
			held = append(held, q)
		}
	}
	return kept, held
}

var classContenders = []string{"knn;;", "knn;;vote 1 3", "lgc;;alpha 0.5 0.99", "harmonic;;", "eigenmap;;eigenvectors 2 4 7", "eigenmap;eigenvectors 5;",
	"rls-linear;gamma-a 1e-2;", "laprls-linear;gamma-i 0.1;gamma-a 1e-3 1", "lapsvm;;gamma-a 1e-2 1, gamma-i 0 0.1", "svm;sigma 2;gamma-a 1e-3 1e-1"}

// Every outcome is that of a search on data without the other labels, and of a fit to
// those of the split that is measured on all other points.
func TestComparisonEqualsFitsAlone(t *testing.T) {
	for _, c := range []struct {
		kind  kind
		lines []string
	}{
		{2, classContenders},
		{3, classContenders},
		{values, []string{"rls-linear;;gamma-a 1e-3 1", "tikhonov;gamma-a 1e-4;gamma-i 0.1 1", "rls;gamma-a 1e-2;"}},
	} {
		d := newCase(t, 90, 80, c.kind)
		d.Edges.K = 5
		labeled, x := draws(d, 3, 20, 1), contend(c.lines...)
		r := compare(t, d, x, labeled, &selection.CompareSettings{Seed: 3})
		if want := map[bool]selection.Criterion{false: selection.ErrorCriterion, true: selection.RMSECriterion}[c.kind == values]; r.Criterion != want || r.Done != r.Total {
			t.Fatalf("criterion %v, %d of %d", r.Criterion, r.Done, r.Total)
		}
		for i, competitor := range r.Competitors {
			for s, o := range competitor.Outcomes {
				kept, held := positions(d.Targets, labeled[s])
				only := *d
				only.Targets = d.Targets.Keep(kept)
				setting := competitor.Settings[o.Setting]
				if len(competitor.Settings) > 1 {
					best := search(t, &only, &x[i].Grid, &selection.Settings{Seed: 3}).Best().Setting
					if !reflect.DeepEqual(best, setting) {
						t.Errorf("%s, split %d: %s was chosen, a search alone chooses %s", competitor.Name, s, setting, best)
					}
				}
				var points []int
				for _, q := range held {
					points = append(points, d.Targets.Labeled[q])
				}
				a := alone(t, d, x[i].Grid.Learner, setting, only.Targets, points, 3)
				if want := byHand(r.Criterion, d.Targets, held, a); o.Value == nil || !(math.Abs(*o.Value-want) <= 1e-9) {
					t.Errorf("%s, split %d: %v, alone %v", competitor.Name, s, o, want)
				}
			}
		}
	}
}

// The labels of the other points reach neither the choice nor the fit: where they are
// others, the same setting is chosen and the same answers are measured on them.
func TestOtherLabelsReachNoFit(t *testing.T) {
	for _, k := range []kind{3, values} {
		d := newCase(t, 90, 80, k)
		lines := classContenders
		if k == values {
			lines = []string{"rls-linear;;gamma-a 1e-3 1", "tikhonov;gamma-a 1e-4;gamma-i 0.1 1"}
		}
		x := contend(lines...)
		rng := rand.New(rand.NewPCG(1, 2))
		for s, labeled := range draws(d, 2, 20, 5) {
			kept, held := positions(d.Targets, labeled)
			scrambled := *d
			y := *d.Targets
			y.Y = mat.DenseCopyOf(y.Y)
			for at, q := range rng.Perm(len(held)) {
				y.Y.SetRow(held[at], d.Targets.Y.RawRowView(held[q]))
			}
			scrambled.Targets = &y
			before := compare(t, d, x, [][]int{labeled}, nil)
			after := compare(t, &scrambled, x, [][]int{labeled}, nil)
			changed := 0
			for i := range x {
				was, is := before.Competitors[i].Outcomes[0], after.Competitors[i].Outcomes[0]
				if was.Setting != is.Setting {
					t.Errorf("%s, split %d: with other labels of the rest setting %d is chosen in place of %d", x[i].Name, s, is.Setting, was.Setting)
				}
				var points []int
				for _, q := range held {
					points = append(points, y.Labeled[q])
				}
				a := alone(t, d, x[i].Grid.Learner, after.Competitors[i].Settings[is.Setting], d.Targets.Keep(kept), points, 0)
				if want := byHand(after.Criterion, &y, held, a); !(math.Abs(*is.Value-want) <= 1e-9) {
					t.Errorf("%s, split %d: %v, the fit to the labels of the split gives %v", x[i].Name, s, *is.Value, want)
				}
				if *was.Value != *is.Value {
					changed++
				}
			}
			if changed == 0 {
				t.Error("other labels of the rest change no error: the test does not see them")
			}
		}
	}
}

// withoutTimes are the values and choices of a comparison.
func withoutTimes(r *selection.Compared) [][]selection.Outcome {
	var out [][]selection.Outcome
	for _, c := range r.Competitors {
		var list []selection.Outcome
		for _, o := range c.Outcomes {
			plain := *o
			plain.Seconds = 0
			list = append(list, plain)
		}
		out = append(out, list)
	}
	return out
}

func TestComparisonSameBits(t *testing.T) {
	d := newCase(t, 90, 80, 3)
	x, labeled := contend(classContenders...), draws(d, 5, 12, 2)
	var first [][]selection.Outcome
	for _, procs := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(procs)
		got := withoutTimes(compare(t, d, x, labeled, &selection.CompareSettings{Criterion: selection.AUCCriterion, Folds: 3, Repeats: 2}))
		runtime.GOMAXPROCS(old)
		if first == nil {
			first = got
		} else if !reflect.DeepEqual(got, first) {
			t.Errorf("%d threads: the outcomes differ", procs)
		}
	}
}

// Eigenpairs are computed once for all fits of one Laplacian, and those that need fewer
// get the first of them.
func TestEigenpairsOnce(t *testing.T) {
	d := newCase(t, 90, 80, 3)
	x := contend("eigenmap;;eigenvectors 2 9 4", "eigenmap;;", "eigenmap;eigenvectors 6;", "eigenmap;laplacian normalized;", "knn;;")
	c, err := selection.NewComparison(d, x, draws(d, 4, 30, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	var asked []int
	err = c.Prepare(t.Context(), func(ctx context.Context, g *models.Graph, kind sparse.Kind, k int, tolerance float64) (*lanczos.Result, error) {
		asked = append(asked, k)
		l, err := sparse.NewLaplacian(g.W, kind)
		if err != nil {
			return nil, err
		}
		r, err := lanczos.Laplacian(ctx, l, g.Components, &lanczos.Settings{K: k, Tolerance: tolerance})
		return r, errors.Join(err, solvers.ErrNotConverged)
	})
	if err != nil || !slices.Equal(asked, []int{9, 6}) {
		t.Fatalf("%v eigenpairs were asked for, %v", asked, err)
	}
	// A usable error of theirs is one of all fits on them, and of no others.
	r, err := c.Run(t.Context())
	if !models.Usable(err) || err == nil {
		t.Fatal(err)
	}
	for _, x := range r.Competitors {
		for _, o := range x.Outcomes {
			if o.Usable != (x.Name == "eigenmap") || o.Value == nil {
				t.Errorf("%s: %+v", x.Name, o)
			}
		}
	}
}

// fragile is a teller that cannot be fitted where a certain point has a label.
type fragile struct {
	teller
	point int
	fits  *[]int // counts them
	mu    *sync.Mutex
	fault error
}

func (l fragile) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	l.mu.Lock()
	*l.fits = append(*l.fits, len(in.Targets.Labeled))
	l.mu.Unlock()
	m, err := l.teller.Fit(ctx, in)
	if slices.Contains(in.Targets.Labeled, l.point) {
		err = l.fault
	}
	return m, err
}

func newFragile(point int, fault error) (fragile, *[]int) {
	fits := []int{}
	return fragile{teller{models.LearnsClasses}, point, &fits, &sync.Mutex{}, fault}, &fits
}

// A fit that fails is named and the others go on; only if all fail it is an error.
func TestComparisonFailures(t *testing.T) {
	d := newCase(t, 60, 50, 2)
	labeled := draws(d, 4, 24, 3)
	labeled[2] = append(slices.DeleteFunc(labeled[2], func(p int) bool { return p == d.Targets.Labeled[0] }), d.Targets.Labeled[0])
	for i := range labeled {
		if i != 2 {
			labeled[i] = slices.DeleteFunc(labeled[i], func(p int) bool { return p == d.Targets.Labeled[0] })
		}
	}
	for _, usable := range []bool{false, true} {
		fault := errors.New("it broke")
		if usable {
			fault = errors.Join(fault, solvers.ErrNotConverged)
		}
		l, _ := newFragile(d.Targets.Labeled[0], fault)
		x := append(contend("knn;;"), selection.Contender{Name: "fragile", Grid: selection.Grid{Learner: l, Fixed: fixed("speed 2")}})
		c, err := selection.NewComparison(d, x, labeled, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Prepare(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		r, err := c.Run(t.Context())
		if (err != nil) != usable || !models.Usable(err) {
			t.Errorf("usable %v: %v", usable, err)
		}
		for i, x := range r.Competitors {
			for s, o := range x.Outcomes {
				bad := i == 1 && s == 2
				if (o.Fault != "") != bad || (o.Value == nil) != (bad && !usable) || o.Usable != (bad && usable) || bad && !strings.Contains(o.Fault, "it broke") {
					t.Errorf("usable %v, %s, split %d: %+v", usable, x.Name, s, o)
				}
			}
		}
	}
	l, _ := newFragile(labeled[0][0], errors.New("it broke"))
	c, err := selection.NewComparison(d, []selection.Contender{{Name: "fragile", Grid: selection.Grid{Learner: l, Fixed: fixed("speed 2")}}}, labeled[:1], nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Prepare(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "all 1 fits failed; the first: fragile: it broke") {
		t.Errorf("all failed: %v", err)
	}
}

// Outcomes that are known are not made again, and an error of their keeper ends the run.
func TestComparisonGoesOn(t *testing.T) {
	d := newCase(t, 60, 50, 2)
	labeled := draws(d, 4, 24, 3)
	run := func(s *selection.CompareSettings) (*selection.Compared, int, error) {
		l, fits := newFragile(-1, nil)
		x := []selection.Contender{{Name: "fragile", Grid: selection.Grid{Learner: l, Axes: axes("speed 1 2 3")}}}
		c, err := selection.NewComparison(d, x, labeled, s)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Prepare(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		r, err := c.Run(t.Context())
		return r, len(*fits), err
	}
	var kept []selection.Outcome
	stop := errors.New("no room")
	if _, _, err := run(&selection.CompareSettings{OnOutcome: func(all []selection.Outcome) error {
		if kept = all; len(all) == 2 {
			return stop
		}
		return nil
	}}); !errors.Is(err, stop) || len(kept) < 2 || len(kept) == 4 {
		t.Fatalf("%v, %d kept", err, len(kept))
	}
	whole, fits, err := run(nil)
	if err != nil || fits != 4*(3*5+1) {
		t.Fatalf("%v, %d fits", err, fits)
	}
	kept = append(kept, selection.Outcome{Contender: 7}, selection.Outcome{Split: -1}, selection.Outcome{Setting: 9})
	resumed, fits, err := run(&selection.CompareSettings{Known: kept})
	if err != nil || fits != (4-len(kept)+3)*(3*5+1) || !reflect.DeepEqual(withoutTimes(resumed), withoutTimes(whole)) {
		t.Errorf("%v, %d fits of a run that goes on", err, fits)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c, err := selection.NewComparison(d, contend("knn;;"), labeled, &selection.CompareSettings{OnProgress: func(r *selection.Compared, name string) {
		if name != "knn" || r.Done == 0 {
			t.Errorf("%s, %d done", name, r.Done)
		}
		cancel()
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Prepare(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if r, err := c.Run(ctx); !errors.Is(err, context.Canceled) || r.Done == 0 || r.Done == 4 && runtime.GOMAXPROCS(0) < 4 {
		t.Errorf("%v, %+v", err, r)
	}
}

// With one label of each class there is nothing to choose by.
func TestTooFewLabelsToChoose(t *testing.T) {
	d := newCase(t, 60, 50, 2)
	var one []int
	for _, class := range []int{0, 1} {
		for q, p := range d.Targets.Labeled {
			if d.Targets.Class(q) == class {
				one = append(one, p)
				break
			}
		}
	}
	x := contend("rls-linear;;gamma-a 1e-3 10 2", "rls-linear;gamma-a 1;", "laprls;gamma-i 0.5;", "lgc;;")
	x[3].Grid.Neighbors = []int{3, 5, 8}
	for i := range x {
		if err := x[i].Complete(i == 3); err != nil {
			t.Fatal(err)
		}
	}
	r := compare(t, d, x, [][]int{one, d.Targets.Labeled[:20]}, nil)
	for i, want := range map[int]string{0: "gamma-a 1", 2: "gamma-a 0.01, gamma-i 0.5", 3: "neighbors 5"} {
		c := r.Competitors[i]
		o := c.Outcomes[0]
		if got := c.Settings[o.Setting].String(); !o.Untuned || o.Setting != len(c.Settings)-1 || !strings.Contains(got, want) || o.Value == nil {
			t.Errorf("%s: %+v with %s, want %s", c.Name, o, got, want)
		}
		if c.Outcomes[1].Untuned {
			t.Errorf("%s: %+v", c.Name, c.Outcomes[1])
		}
	}
	if o := r.Competitors[1].Outcomes[0]; o.Untuned || len(r.Competitors[1].Settings) != 1 {
		t.Errorf("nothing is to be chosen, but %+v", o)
	}
}

func TestComparisonFaults(t *testing.T) {
	d, value := newCase(t, 40, 30, 2), newCase(t, 40, 30, values)
	ok := draws(d, 2, 10, 1)
	unlabeled := slices.IndexFunc(data.Range(0, 40), func(p int) bool { return !slices.Contains(d.Targets.Labeled, p) })
	var same []int
	for q, p := range d.Targets.Labeled {
		if d.Targets.Class(q) == 0 {
			same = append(same, p)
		}
	}
	for i, c := range []struct {
		d       *selection.Data
		x       []selection.Contender
		labeled [][]int
		s       selection.CompareSettings
		want    []string
	}{
		{d, nil, ok, selection.CompareSettings{}, []string{"0 learners on 2 splits"}},
		{d, contend("knn;;"), nil, selection.CompareSettings{}, []string{"1 learners on 0 splits"}},
		{d, []selection.Contender{{Name: "x"}}, ok, selection.CompareSettings{}, []string{"no learner"}},
		{d, contend("svr;gamma-a 1;", "rls-linear;gamma-a -1;", "oneclass;;"), ok, selection.CompareSettings{}, []string{"svr: ", "does not learn classes", "rls-linear: gamma-a is -1", "oneclass: "}},
		{d, contend("knn;;"), ok, selection.CompareSettings{Criterion: selection.RMSECriterion}, []string{"criterion rmse"}},
		{value, contend("rls-linear;gamma-a 1;"), ok, selection.CompareSettings{Criterion: selection.F1Criterion}, []string{"criterion f1"}},
		{d, contend("knn;;"), ok, selection.CompareSettings{Folds: 1}, []string{"1 folds"}},
		{d, contend("knn;;"), [][]int{ok[0], {ok[0][0], unlabeled}}, selection.CompareSettings{}, []string{"split 1: point", "has no target"}},
		{d, contend("knn;;"), [][]int{ok[0], append(slices.Clone(ok[1]), ok[1][3])}, selection.CompareSettings{}, []string{"split 1: point", "twice"}},
		{d, contend("knn;;"), [][]int{{}}, selection.CompareSettings{}, []string{"split 0: no point has a label"}},
		{d, contend("knn;;"), [][]int{d.Targets.Labeled}, selection.CompareSettings{}, []string{"all 30 points", "others must be left"}},
		{d, contend("knn;;"), [][]int{same}, selection.CompareSettings{}, []string{"split 0: all labels are of class 0"}},
	} {
		_, err := selection.NewComparison(c.d, c.x, c.labeled, &c.s)
		for _, want := range c.want {
			if err == nil || !strings.Contains(param.Plain(err.Error()), want) {
				t.Errorf("%d: %v, want an error with %q", i, err, want)
			}
		}
	}
	c, err := selection.NewComparison(d, contend("knn;;"), ok, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "not prepared") {
		t.Errorf("%v", err)
	}
}

// The cost of a comparison is that of its most costly fit, and all operations.
func TestComparisonCost(t *testing.T) {
	d := newCase(t, 60, 50, 2)
	labeled := draws(d, 4, 24, 3)
	l := teller{models.LearnsClasses}
	c, err := selection.NewComparison(d, []selection.Contender{
		{Name: "one", Grid: selection.Grid{Learner: l, Fixed: fixed("speed 2")}},
		{Name: "several", Grid: selection.Grid{Learner: l, Axes: axes("speed 1 2 3")}},
	}, labeled, &selection.CompareSettings{Memory: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	one, err := c.Cost(0)
	if err != nil || one.Bytes != 2000*int64(min(4, runtime.GOMAXPROCS(0))) || one.Operations != 4*7 {
		t.Errorf("%+v, %v", one, err)
	}
	several, err := c.Cost(1)
	if err != nil || several.Bytes < 3000 || several.Operations != 4*(3*5+1)*7 || several.Remedy != "speak less" {
		t.Errorf("%+v, %v", several, err)
	}
	// A setting of more than there are labels is for the fits to complain about, but not if
	// there is no other.
	for line, ok := range map[string]bool{"sssl;;eigenfunctions 3 40": true, "sssl;eigenfunctions 40;": false} {
		c, err := selection.NewComparison(d, contend(line), labeled, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Cost(0); (err == nil) != ok {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// On a graph of several components the eigenpairs of each are computed once, whatever
// numbers of them the labels of a split ask for, and the outcomes are those of the splits
// by themselves.
func TestEigenpairsOfComponentsOnce(t *testing.T) {
	d := newCase(t, 90, 80, 3)
	x := d.Points.(*data.Dense[float64])
	for i := range 90 {
		x.Row(i)[1] += float64(20 * (i % 4)) // four clouds, each with all classes
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Neighbors, err = ix.Self(t.Context(), 9); err != nil {
		t.Fatal(err)
	}
	lines, labeled := contend("eigenmap;;eigenvectors 5 12", "eigenmap;eigenvectors 9;"), draws(d, 4, 16, 2)
	c, err := selection.NewComparison(d, lines, labeled, nil)
	if err != nil {
		t.Fatal(err)
	}
	var asked []int
	err = c.Prepare(t.Context(), func(ctx context.Context, g *models.Graph, kind sparse.Kind, k int, tolerance float64) (*lanczos.Result, error) {
		asked = append(asked, g.W.Rows)
		l, err := sparse.NewLaplacian(g.W, kind)
		if err != nil {
			return nil, err
		}
		return lanczos.Laplacian(ctx, l, g.Components, &lanczos.Settings{K: k, Tolerance: tolerance})
	})
	if slices.Sort(asked); err != nil || !slices.Equal(asked, []int{22, 22, 23, 23}) {
		t.Fatalf("eigenpairs of graphs of %v points were asked for, %v", asked, err)
	}
	r, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for s, one := range labeled {
		alone := compare(t, d, lines, [][]int{one}, nil)
		for i, x := range r.Competitors {
			got, want := x.Outcomes[s], alone.Competitors[i].Outcomes[0]
			if got.Setting != want.Setting || !(math.Abs(*got.Value-*want.Value) <= 1e-9) {
				t.Errorf("%s, split %d: %+v, by itself %+v", x.Name, s, got, want)
			}
		}
	}
}
