package modeltest

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// broken is a learner with some of its methods replaced.
type broken struct {
	models.Learner
	info   func(i *models.Info)
	params func(p []models.Param) []models.Param
	cost   func(in *models.Input) (stage.Cost, error)
	fit    func(ctx context.Context, in *models.Input) (models.Model, error)
	decode func(r *models.Reader) (models.Model, error)
}

func (b broken) Info() models.Info {
	i := b.Learner.Info()
	if b.info != nil {
		b.info(&i)
	}
	return i
}

func (b broken) Params() []models.Param {
	if b.params != nil {
		return b.params(b.Learner.Params())
	}
	return b.Learner.Params()
}

func (b broken) Cost(in *models.Input) (stage.Cost, error) {
	if b.cost != nil {
		return b.cost(in)
	}
	return b.Learner.Cost(in)
}

func (b broken) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	if b.fit != nil {
		return b.fit(ctx, in)
	}
	return b.Learner.Fit(ctx, in)
}

func (b broken) Decode(r *models.Reader) (models.Model, error) {
	if b.decode != nil {
		return b.decode(r)
	}
	return b.Learner.Decode(r)
}

// brokenModel is a model with some of its methods replaced.
type brokenModel struct {
	models.Model
	predict func(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error)
	output  func(o *models.Output)
	summary func(s *models.Summary)
}

func (b *brokenModel) Predict(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
	if b.predict != nil {
		return b.predict(ctx, x, s)
	}
	return b.Model.Predict(ctx, x, s)
}

func (b *brokenModel) Output() models.Output {
	o := b.Model.Output()
	if b.output != nil {
		b.output(&o)
	}
	return o
}

func (b *brokenModel) Summary() models.Summary {
	s := b.Model.Summary()
	if b.summary != nil {
		b.summary(&s)
	}
	return s
}

// good is the learner that the broken ones are made of.
var good = nearest.Learner{}

// fitted replaces parts of the models that good fits.
func fitted(change func(in *models.Input, m *brokenModel)) broken {
	return broken{Learner: good, fit: func(ctx context.Context, in *models.Input) (models.Model, error) {
		m, err := good.Fit(ctx, in)
		if err != nil {
			return nil, err
		}
		b := &brokenModel{Model: m}
		change(in, b)
		return b, nil
	}}
}

// shifted adds a number that depends on the input, once a fit, to all scores.
func shifted(by func(in *models.Input) float64) broken {
	return fitted(func(in *models.Input, m *brokenModel) {
		shift := by(in)
		m.predict = func(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
			return shiftedAnswer(ctx, m.Model, x, s, shift)
		}
	})
}

func shiftedAnswer(ctx context.Context, m models.Model, x data.Points, s *models.PredictSettings, by float64) (*models.Prediction, error) {
	p, err := m.Predict(ctx, x, s)
	if err == nil {
		p.Scores.Apply(func(_, _ int, v float64) float64 { return v + by }, p.Scores)
	}
	return p, err
}

// withParam adds a parameter that good does not have.
func withParam(p models.Param) broken {
	return broken{Learner: good, params: func(all []models.Param) []models.Param { return append(all, p) }}
}

// reporting reports progress before the fit.
func reporting(report func(in *models.Input)) broken {
	return broken{Learner: good, fit: func(ctx context.Context, in *models.Input) (models.Model, error) {
		report(in)
		return good.Fit(ctx, in)
	}}
}

// decoded changes what good reads from a file.
func decoded(change func(m *nearest.Model)) broken {
	return broken{Learner: good, decode: func(r *models.Reader) (models.Model, error) {
		m, err := good.Decode(r)
		if err != nil {
			return nil, err
		}
		change(m.(*nearest.Model))
		return m, nil
	}}
}

// machine has the parameter gamma-i, with what it does to the scores at 0.
func machine(shift float64) broken {
	gamma := models.Param{Name: "gamma-i", Doc: "weight", Kind: models.Float, Required: true, Range: models.NotNegative()}
	b := withParam(gamma)
	b.info = func(i *models.Info) { i.Needs |= models.NeedsGraph; i.GraphIf = "gamma-i" }
	b.fit = func(ctx context.Context, in *models.Input) (models.Model, error) {
		own := *in
		own.Values = in.Values.With(nil)
		delete(own.Values, "gamma-i")
		return shifted(func(*models.Input) float64 { return shift }).fit(ctx, &own)
	}
	return b
}

// The suite finds each fault in the check that is there for it.
func TestConformFinds(t *testing.T) {
	defer func(every int) { damageEvery = every }(damageEvery)
	damageEvery = 1
	var calls atomic.Int64
	for name, c := range map[string]struct {
		check, want string
		learner     models.Learner
		suite       Suite
	}{
		"a name with a space":  {"info", "not of lower-case words", broken{Learner: good, info: func(i *models.Info) { i.Name = "k nn" }}, Suite{}},
		"no help":              {"info", "not one line", broken{Learner: good, info: func(i *models.Info) { i.Help = "" }}, Suite{}},
		"pairs without a need": {"info", "eigenpairs", broken{Learner: good, info: func(i *models.Info) { i.Needs |= models.NeedsEigenpairs }}, Suite{}},
		"no doc":               {"params", "not one line", withParam(models.Param{Name: "a", Kind: models.Int, Required: true}), Suite{}},
		"no choices":           {"params", "no choices", withParam(models.Param{Name: "a", Doc: "a", Kind: models.Choice, Required: true}), Suite{}},
		"a default out of range": {"params", "default is refused",
			withParam(models.Param{Name: "a", Doc: "a", Kind: models.Float, Default: "-1", Range: models.Positive()}), Suite{}},
		"a condition on nothing": {"params", "no parameter b",
			withParam(models.Param{Name: "a", Doc: "a", Kind: models.Float, Default: "1", Only: &models.Condition{Param: "b"}}), Suite{}},
		"a condition on itself": {"params", "circle",
			withParam(models.Param{Name: "a", Doc: "a", Kind: models.Float, Default: "1", Only: &models.Condition{Param: "a"}}), Suite{}},
		"one fault at a time":    {"faults", "do not name", broken{Learner: good, fit: oneFault}, Suite{}},
		"another default":        {"defaults", "other answers", shifted(func(in *models.Input) float64 { return float64(len(in.Values["distance"])) }), Suite{}},
		"no learning":            {"learns", "repeats", fitted(constant), Suite{}},
		"the order of a map":     {"refit", "score", shifted(fromMap), Suite{}},
		"changed points":         {"refit", "changed its input", reporting(func(in *models.Input) { in.Points.(*data.Dense[float64]).Data[0] += 1e-9 }), Suite{}},
		"the number of threads":  {"threads", "score", shifted(func(*models.Input) float64 { return float64(runtime.GOMAXPROCS(0)) }), Suite{}},
		"the first point":        {"permuted", "another order", shifted(func(in *models.Input) float64 { return in.Points.(*data.Dense[float64]).Data[0] }), Suite{}},
		"the type of the points": {"types", "float32", shifted(typeOf), Suite{}},
		"no sparse points":       {"sparse", "panic", reporting(func(in *models.Input) { _ = in.Points.(*data.Dense[float64]) }), Suite{}},
		"no duplicates":          {"duplicates", "there are 126", broken{Learner: good, fit: atMost(100)}, Suite{}},
		"no few points":          {"few-points", "index out of range", reporting(func(in *models.Input) { _ = in.Targets.Labeled[6] }), Suite{}},
		"one class":              {"one-class", "the error is <nil>", broken{Learner: good, fit: anyClass}, Suite{}},
		"a class of one":         {"single-label", "a class of one", broken{Learner: good, fit: noSingle}, Suite{}},
		"a nil pointer":          {"no-labels", "panic", broken{Learner: good, fit: unchecked}, Suite{}},
		"a model and an error":   {"no-labels", "returned a model", broken{Learner: good, fit: both}, Suite{}},
		"constant columns":       {"columns", "not finite", shifted(overSpread), Suite{}},
		"not the plain machine":  {"plain", "plain machine", machine(1e-6), Suite{Values: models.Values{"gamma-i": "1"}, Plain: &Plain{Learner: good}}},
		"no plain machine":       {"plain", "names no plain", machine(0), Suite{Values: models.Values{"gamma-i": "1"}}},
		"other values": {"values", "has the values", fitted(func(_ *models.Input, m *brokenModel) {
			m.summary = func(s *models.Summary) { s.Values = models.Values{"vote": "1"} }
		}), Suite{}},
		"a lost label":           {"file", "saved and loaded", decoded(func(m *nearest.Model) { m.Labels[0] = 1 - m.Labels[0]%2 }), Suite{}},
		"a panic at damage":      {"damage", "panic", decoded(func(m *nearest.Model) { _ = make([]int, 10)[m.Classes[0]+3] }), Suite{}},
		"an unchecked manifest":  {"manifest", "unknown parameter is accepted", broken{Learner: good, decode: lenient}, Suite{}},
		"a column too many":      {"output", "columns", fitted(func(_ *models.Input, m *brokenModel) { m.output = func(o *models.Output) { o.Columns++ } }), Suite{}},
		"the batch":              {"single", "score", fitted(batch), Suite{}},
		"any dimension":          {"query", "columns: the answer is true", fitted(anyDimension), Suite{}},
		"settings that matter":   {"settings", "do not matter", fitted(func(_ *models.Input, m *brokenModel) { m.output = func(o *models.Output) { o.Searches = false } }), Suite{Values: models.Values{"vote": "9"}}},
		"the number of the call": {"concurrent", "at once", fitted(func(_ *models.Input, m *brokenModel) { counted(m, &calls) }), Suite{}},
		"no progress":            {"progress", "reported no progress", reporting(func(in *models.Input) { in.Progress = nil }), Suite{}},
		"more than all":          {"progress", "says 3 of 2", reporting(func(in *models.Input) { in.Report(3, 2, "") }), Suite{}},
		"overlapping calls":      {"progress", "overlap", reporting(twoAtOnce), Suite{}},
		"a deaf fit":             {"cancel", "before: the model is", broken{Learner: good, fit: deaf}, Suite{}},
		"a deaf end of a fit":    {"cancel", "during: the model is", broken{Learner: good, fit: deafLater}, Suite{}},
		"a slow end":             {"cancel", "to end", broken{Learner: good, fit: slow}, Suite{}},
		"no cost":                {"cost", "the cost of", broken{Learner: good, cost: func(*models.Input) (stage.Cost, error) { return stage.Cost{Remedy: "do less"}, nil }}, Suite{}},
		"a cost of the graph": {"cost", "panic", broken{Learner: good, cost: func(in *models.Input) (stage.Cost, error) {
			return stage.Cost{Bytes: int64(in.Graph.Len()), Remedy: "do less"}, nil
		}}, Suite{}},
		"a needless exception": {"output", "not needed", good, Suite{Except: map[string]string{"output": "no reason"}}},
	} {
		got := strings.Join(inspect(c.learner, &c.suite, c.check, t.TempDir()), "\n")
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: the check %s finds %q; it should say %q", name, c.check, got, c.want)
		}
	}
}

// oneFault names the first bad value alone.
func oneFault(ctx context.Context, in *models.Input) (models.Model, error) {
	m, err := good.Fit(ctx, in)
	if err != nil {
		return nil, errors.New(strings.SplitN(err.Error(), "\n", 2)[0])
	}
	return m, nil
}

func constant(_ *models.Input, m *brokenModel) {
	m.predict = func(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
		p, err := m.Model.Predict(ctx, x, s)
		if err == nil {
			clear(p.Classes)
		}
		return p, err
	}
}

// fromMap is a number that depends on the order of a map.
func fromMap(*models.Input) float64 {
	m := map[int]bool{}
	for i := range 1000 {
		m[i] = true
	}
	for i := range m {
		return float64(i)
	}
	return 0
}

func typeOf(in *models.Input) float64 {
	if _, ok := in.Points.(*data.Dense[float32]); ok {
		return 1e-7
	}
	return 0
}

// atMost refuses more points.
func atMost(n int) func(ctx context.Context, in *models.Input) (models.Model, error) {
	return func(ctx context.Context, in *models.Input) (models.Model, error) {
		if got := in.Len(); got > n {
			return nil, errors.New("there are 126 points")
		}
		return good.Fit(ctx, in)
	}
}

// anyClass learns from labels of one class.
func anyClass(ctx context.Context, in *models.Input) (models.Model, error) {
	t, err := classesOf([3]int64{1, 2, 3})(blobs(in.Len(), false, 1))
	if err != nil {
		return nil, err
	}
	own := *in
	own.Targets = t
	return good.Fit(ctx, &own)
}

func noSingle(ctx context.Context, in *models.Input) (models.Model, error) {
	counts := make([]int, len(in.Targets.Classes))
	for q := range in.Targets.Labeled {
		counts[in.Targets.Class(q)]++
	}
	if slices.Contains(counts, 1) {
		return nil, errors.New("a class of one")
	}
	return good.Fit(ctx, in)
}

// unchecked takes it that there is a label.
func unchecked(ctx context.Context, in *models.Input) (models.Model, error) {
	_ = in.Targets.Labeled[0]
	return good.Fit(ctx, in)
}

// both returns a nil pointer in a Model after some faults, and a model after none.
func both(ctx context.Context, in *models.Input) (models.Model, error) {
	m, err := good.Fit(ctx, in)
	if err != nil {
		m = &nearest.Model{}
	}
	return m, err
}

// overSpread divides by the spread of the sixth column.
func overSpread(in *models.Input) float64 {
	x := in.Points.(*data.Dense[float64])
	low, high := math.Inf(1), math.Inf(-1)
	for i := range x.Rows {
		v := x.Row(i)[min(sampleDim, x.Cols-1)]
		low, high = min(low, v), max(high, v)
	}
	return 1 / (high - low)
}

// lenient forgets the parameters that it does not know.
func lenient(r *models.Reader) (models.Model, error) {
	own := *r
	delete(own.Manifest.Params, "no-such-parameter")
	own.Manifest.Params = models.Values{"vote": "1"}.With(own.Manifest.Params)
	return good.Decode(&own)
}

// batch answers by the number of points asked for.
func batch(_ *models.Input, m *brokenModel) {
	m.predict = func(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
		n, _ := x.Dims()
		return shiftedAnswer(ctx, m.Model, x, s, float64(n))
	}
}

// anyDimension looks at the first columns and fills up with zeros.
func anyDimension(_ *models.Input, m *brokenModel) {
	m.predict = func(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
		n, d := x.Dims()
		own := data.NewDense[float64](n, m.Dim())
		row := make([]float64, d)
		for i := range n {
			data.RowTo(row, x, i)
			copy(own.Row(i), row)
		}
		return m.Model.Predict(ctx, own, s)
	}
}

// counted answers by the number of calls so far.
func counted(m *brokenModel, calls *atomic.Int64) {
	m.predict = func(ctx context.Context, x data.Points, s *models.PredictSettings) (*models.Prediction, error) {
		return shiftedAnswer(ctx, m.Model, x, s, float64(calls.Add(1)))
	}
}

func twoAtOnce(in *models.Input) {
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for range 2000 {
				in.Report(1, 2, "")
			}
		})
	}
	wg.Wait()
}

// deaf does not look at its context.
func deaf(ctx context.Context, in *models.Input) (models.Model, error) {
	return good.Fit(context.WithoutCancel(ctx), in)
}

// deafLater does not look at it once the work has begun.
func deafLater(ctx context.Context, in *models.Input) (models.Model, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i := range 4 {
		in.Report(float64(i), 5, "")
	}
	return deaf(ctx, in)
}

// slow looks at it too seldom.
func slow(ctx context.Context, in *models.Input) (models.Model, error) {
	in.Report(0, 1, "")
	if ctx.Err() != nil {
		time.Sleep(patience + patience/4)
	}
	return good.Fit(ctx, in)
}

var _ models.Paired = pairedBroken{}

// pairedBroken asks for eigenpairs and forgets that they may be missing.
type pairedBroken struct{ broken }

func (pairedBroken) Pairs(*models.Input) (int, sparse.Kind, float64, error) {
	return 4, sparse.Combinatorial, 1e-10, nil
}

func newPaired(fit func(ctx context.Context, in *models.Input) (models.Model, error)) pairedBroken {
	return pairedBroken{broken{Learner: good, fit: fit, info: func(i *models.Info) {
		i.Needs |= models.NeedsGraph | models.NeedsEigenpairs
	}}}
}

// Inputs that a learner asks for are there, and it is found out if it does not miss
// them.
func TestConformInputs(t *testing.T) {
	var seen *models.Input
	l := newPaired(func(ctx context.Context, in *models.Input) (models.Model, error) {
		seen = in
		return good.Fit(ctx, in)
	})
	if got := inspect(l, &Suite{}, "refit", t.TempDir()); got != nil {
		t.Errorf("a learner with eigenpairs: %v", got)
	}
	if n, k := seen.Pairs.Vectors.Dims(); n != sampleSize || k != 4 || seen.Pairs.MaxResidual() > 1e-8*seen.Pairs.Norm || seen.Graph.Components == nil {
		t.Errorf("%d×%d eigenpairs, residual %v", n, k, seen.Pairs.MaxResidual())
	}
	got := strings.Join(inspect(l, &Suite{}, "missing", t.TempDir()), "\n")
	for _, want := range []string{"without graph", "without eigenpairs"} {
		if !strings.Contains(got, want) {
			t.Errorf("the check missing does not say %q: %s", want, got)
		}
	}
}

// Exceptions and tolerances have a check and a reason.
func TestSuiteFaults(t *testing.T) {
	s := Suite{
		Except:     map[string]string{"no-such-check": "reason", "damage/points": "", "file": "reason"},
		Tolerances: map[string]Tolerance{"plain": {Relative: 1}, "types": {Relative: 1, Reason: "reason"}},
	}
	if got := s.faults(); len(got) != 3 {
		t.Errorf("%d faults: %v", len(got), got)
	}
	bad := broken{Learner: good, info: func(i *models.Info) { i.Help, i.Name = "", "k nn" }}
	if got := inspect(bad, &Suite{Except: map[string]string{"info": "reason"}}, "info", t.TempDir()); got != nil {
		t.Errorf("excepted: %v", got)
	}
}

func TestCostFault(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		announced, measured int64
		ok                  bool
	}{{10*mib - costRuntime, 10 * mib, true}, {10*mib - costRuntime - 1, 10 * mib, false}, {47 * mib, 10 * mib, true}, {48 * mib, 10 * mib, false}} {
		if got := costFault(c.announced, c.measured); (got == "") != c.ok {
			t.Errorf("%d announced, %d measured: %q", c.announced, c.measured, got)
		}
	}
}

// allocating takes so many bytes a point and announces another number.
func allocating(taken, announced int64) broken {
	return broken{Learner: good,
		cost: func(in *models.Input) (stage.Cost, error) {
			return stage.Cost{Bytes: announced * int64(in.Len())}, nil
		},
		fit: func(ctx context.Context, in *models.Input) (models.Model, error) {
			block := make([]byte, taken*int64(in.Len()))
			for i := range block {
				block[i] = 1
			}
			m, err := good.Fit(ctx, in)
			runtime.KeepAlive(block)
			return m, err
		}}
}

// What a fit allocates is measured.
func TestCosts(t *testing.T) {
	Costs(t, allocating(3000, 4000), nil, 10_000, 20_000)
}

// A cost that is announced too low is found.
func TestCostsFinds(t *testing.T) {
	const n = 10_000
	testmode.Skip(t, testmode.Race, "the race detector takes memory of its own")
	l := allocating(3000, 2000)
	if os.Getenv(costProcess) != "" {
		Costs(t, l, nil, n)
		return
	}
	announced, measured, err := measure(t.Name(), costID(l, nil, n))
	if err != nil {
		t.Fatal(err)
	}
	if measured < 0 {
		t.Skip("the peak of memory cannot be measured here")
	}
	if announced != 2000*n || measured < 3000*n || measured > 4000*n || costFault(announced, measured) == "" {
		t.Errorf("announced %d, measured %d", announced, measured)
	}
}
