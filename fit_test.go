package bigfit_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// The default model knows the groups, and how sure it is.
func TestFit(t *testing.T) {
	t.Parallel()
	m, _, _ := fit(t, 300, nil)
	fresh, group := blobs(200, 9)
	p, err := m.Predict(t.Context(), bigfit.Rows(fresh))
	if err != nil {
		t.Fatal(err)
	}
	if got := wrong(p, group); got > 4 {
		t.Errorf("%d of 200 are wrong", got)
	}
	if m.Name() != "auto" || m.Dim() != 4 || strings.Join(m.Classes(), " ") != "ash birch cedar" || !m.Calibrated() {
		t.Errorf("%s of %d columns, classes %v, calibrated %v", m.Name(), m.Dim(), m.Classes(), m.Calibrated())
	}
	for i := range p.Len() {
		var sum float64
		for _, v := range p.Probabilities(i) {
			sum += v
		}
		if c := p.Class(i); !(math.Abs(sum-1) <= 1e-9) || p.Probabilities(i)[c] != p.Probability(i) || m.Classes()[c] != p.Name(i) {
			t.Fatalf("point %d: %s, class %d, probabilities %v", i, p.Name(i), c, p.Probabilities(i))
		}
		if !math.IsNaN(p.Value(i)) {
			t.Errorf("point %d has the value %v", i, p.Value(i))
		}
	}
}

// Columns in units that cannot be compared are among the warnings.
func TestFitWarnsOfScale(t *testing.T) {
	t.Parallel()
	x, group := blobs(150, 1)
	for _, factor := range []float64{1, 1e4} {
		for i := range x {
			x[i][2] *= factor
		}
		m, err := bigfit.Fit(t.Context(), bigfit.Rows(x), bigfit.Names(some(group, 30)), &bigfit.Options{Model: "lgc"})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(m.Warnings(), "\n")
		if strings.Contains(said, "column 2 of the coordinates holds 99.9 % of the variance") != (factor > 1) {
			t.Errorf("times %g: %q", factor, said)
		}
	}
}

// Every way to give the same points and labels gives the same bits.
func TestFitIsTheSameForEveryInput(t *testing.T) {
	t.Parallel()
	x, group := blobs(150, 1)
	names := some(group, 30)
	classes := make([]int, len(names))
	for i, name := range names {
		classes[i] = map[string]int{"": -1, "ash": 0, "birch": 1, "cedar": 2}[name]
	}

	// A part of a wider matrix, whose rows are not adjacent.
	wide := mat.NewDense(150, 7, nil)
	flat := data.NewDense[float64](150, 4)
	for i, row := range x {
		copy(wide.RawRowView(i)[2:], row)
		copy(flat.Row(i), row)
	}
	part := wide.Slice(0, 150, 2, 6).(*mat.Dense)

	o := &bigfit.Options{Model: "lgc", Seed: 3}
	want := ""
	for _, c := range []struct {
		name string
		x    bigfit.Points
		y    bigfit.Labels
	}{
		{"rows", bigfit.Rows(x), bigfit.Names(names)},
		{"matrix", bigfit.FromMat(part), bigfit.Names(names)},
		{"data", bigfit.FromData(flat), bigfit.Names(names)},
		{"labels of data", bigfit.Rows(x), bigfit.FromLabels(data.NewNamedLabels([]string{"cedar", "birch", "ash"}, reversed(classes)))},
		{"classes", bigfit.Rows(x), bigfit.Classes(classes)},
	} {
		m, err := bigfit.Fit(t.Context(), c.x, c.y, o)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		p, err := m.Predict(t.Context(), bigfit.FromMat(part))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := answers(p)
		if c.name == "classes" { // whose names are digits
			got = strings.NewReplacer("\n0 0 ", "\nash 0 ", "\n1 1 ", "\nbirch 1 ", "\n2 2 ", "\ncedar 2 ").Replace("\n" + got)[1:]
		}
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s: other answers than those of rows", c.name)
		}
	}
}

// reversed are positions of classes in their list from behind.
func reversed(classes []int) []int32 {
	out := make([]int32, len(classes))
	for i, c := range classes {
		out[i] = data.Unlabeled
		if c >= 0 {
			out[i] = int32(2 - c)
		}
	}
	return out
}

// Points of other types, and what is done to the slices after the fit.
func TestPointsAreCopied(t *testing.T) {
	t.Parallel()
	x, group := blobs(90, 1)
	small := make([][]float32, len(x))
	for i, row := range x {
		for _, v := range row {
			small[i] = append(small[i], float32(v))
		}
	}
	points := bigfit.Rows(small)
	names := some(group, 30)
	labels := bigfit.Names(names)
	clear(small[3])
	names[0] = "oak"
	m, err := bigfit.Fit(t.Context(), points, labels, &bigfit.Options{Model: "harmonic"})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Classes()) != 3 {
		t.Errorf("classes %v", m.Classes())
	}
	if p, err := m.Training(t.Context()); err != nil || wrong(p, group) > 2 {
		t.Errorf("%d of 90 are wrong: %v", wrong(p, group), err)
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	x, y, truth := waves(200)
	two := mat.NewDense(200, 2, nil)
	for i, v := range y {
		two.SetRow(i, []float64{v, 2 * v})
	}
	for name, c := range map[string]struct {
		model string
		y     bigfit.Labels
	}{
		"one":     {"rls", bigfit.Values(y)},
		"two":     {"rls", bigfit.ValueRows(two)},
		"default": {"", bigfit.Values(y)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := bigfit.Fit(t.Context(), bigfit.Rows(x), c.y, &bigfit.Options{Model: c.model, Folds: 5})
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Predict(t.Context(), bigfit.Rows(x))
			if err != nil {
				t.Fatal(err)
			}
			inside := 0
			for i, v := range truth {
				if !(math.Abs(p.Value(i)-v) <= 0.05) {
					t.Fatalf("point %d: %v, want %v", i, p.Value(i), v)
				}
				if low, high, err := p.Interval(i, 0.9); err != nil || !(low <= high) {
					t.Fatalf("point %d: from %v to %v: %v", i, low, high, err)
				} else if low <= v && v <= high {
					inside++
				}
				if name == "two" && p.Scores(i)[1] == 0 {
					t.Errorf("point %d has the values %v", i, p.Scores(i))
				}
			}
			if inside < 160 {
				t.Errorf("%d of 200 true values are in their intervals", inside)
			}
			if p.Name(0) != "" || p.Class(0) != -1 || !math.IsNaN(p.Probability(0)) || p.Probabilities(0) != nil || m.Classes() != nil {
				t.Errorf("a regression answers with class %q", p.Name(0))
			}
			if _, _, err := p.Interval(0, 1.5); err == nil {
				t.Error("an interval of the level 1.5")
			}
		})
	}
}

// Without calibration there are no probabilities, and nothing stands in for them.
func TestNoCalibration(t *testing.T) {
	t.Parallel()
	m, x, _ := fit(t, 120, &bigfit.Options{Model: "lgc", Folds: bigfit.NoCalibration})
	p, err := m.Predict(t.Context(), bigfit.Rows(x))
	if err != nil {
		t.Fatal(err)
	}
	if m.Calibrated() || !math.IsNaN(p.Probability(0)) || p.Probabilities(0) != nil || len(p.Scores(0)) != 3 {
		t.Errorf("calibrated %v, probability %v, scores %v", m.Calibrated(), p.Probability(0), p.Scores(0))
	}
	if _, _, err := p.Interval(0, 0.9); err == nil {
		t.Error("an interval of a class")
	}
}

// Where the labeled points are: a model that asks for no second class.
func TestInside(t *testing.T) {
	t.Parallel()
	x, group := blobs(120, 1)
	y := make([]string, len(group))
	for i := 0; i < 90; i += 3 {
		y[i] = "known"
	}
	m, err := bigfit.Fit(t.Context(), bigfit.Rows(x), bigfit.Names(y), &bigfit.Options{Model: "oneclass"})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := m.Predict(t.Context(), bigfit.Rows(x)); err != nil || p.Len() != 120 {
		t.Error(err)
	}
}

// Options reach the model and the graph.
func TestOptions(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*bigfit.Options{
		"numbers":     {Model: "lgc", Parameters: bigfit.Parameters{"alpha": 0.5, "neighbors": 4, "max-iterations": int64(500)}},
		"text":        {Model: "lgc", Parameters: bigfit.Parameters{"alpha": "0.5", "neighbors": "4", "max-iterations": "500"}},
		"Neighbors":   {Model: "lgc", Neighbors: 4, Parameters: bigfit.Parameters{"alpha": float32(0.5), "max-iterations": uint16(500)}},
		"enumeration": {Model: "lgc", Neighbors: 4, Parameters: bigfit.Parameters{"alpha": 0.5, "weights": knn.One, "max-iterations": 500}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _, _ := fit(t, 120, o)
			if got := m.Parameters(); got["alpha"] != "0.5" || got["max-iterations"] != "500" {
				t.Errorf("parameters %v", got)
			}
		})
	}
	few, x, _ := fit(t, 120, &bigfit.Options{Model: "lgc", Neighbors: 4, Folds: bigfit.NoCalibration})
	many, _, _ := fit(t, 120, &bigfit.Options{Model: "lgc", Neighbors: 20, Folds: bigfit.NoCalibration})
	p, err := few.Predict(t.Context(), bigfit.Rows(x))
	q, err2 := many.Predict(t.Context(), bigfit.Rows(x))
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	if answers(p) == answers(q) {
		t.Error("4 and 20 neighbours give the same scores")
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, name := range append(bigfit.Models(), "") {
		d, err := bigfit.Describe(name)
		if err != nil || d.Help == "" || name != "" && d.Name != name {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		for _, p := range append(d.Parameters, d.Graph...) {
			if p.Name == "" || p.Doc == "" || strings.ContainsAny(p.Doc+p.Default, "‹›") {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
	if d, err := bigfit.Describe("lcg"); d != nil || err == nil || !strings.Contains(err.Error(), "did you mean lgc?") {
		t.Errorf("%v", err)
	}
	if d, err := bigfit.Describe("rls"); err != nil || d.Graph != nil {
		t.Errorf("rls has parameters of a graph: %v", err)
	}
}

// Observers and functions are told about stages, and a memory limit holds beside them.
func TestProgressAndMemory(t *testing.T) {
	t.Parallel()
	x, group := blobs(120, 1)
	stages := map[string]bool{}
	var lines []string
	counted := &counter{}
	o := &bigfit.Options{
		Model:    "eigenmap",
		Progress: func(p bigfit.Progress) { stages[p.Stage] = true },
		Log:      func(line string) { lines = append(lines, line) },
		Observer: counted,
	}
	m, err := bigfit.Fit(t.Context(), bigfit.Rows(x), bigfit.Names(some(group, 30)), o)
	if err != nil {
		t.Fatal(err)
	}
	if !stages["fit"] || !stages["graph"] || len(lines) == 0 || counted.announced == 0 || counted.begun != counted.ended {
		t.Errorf("stages %v, lines %q, %+v", stages, lines, counted)
	}

	o.Memory = 1 << 10
	var short *pipeline.MemoryError
	if m, err := bigfit.Fit(t.Context(), bigfit.Rows(x), bigfit.Names(some(group, 30)), o); m != nil || !errors.As(err, &short) {
		t.Errorf("a fit in 1 KiB: %v", err)
	}
	if p, err := m.With(o).Predict(t.Context(), bigfit.Rows(x)); p != nil || !errors.As(err, &short) {
		t.Errorf("answers in 1 KiB: %v", err)
	}
	if _, err := m.With(nil).Predict(t.Context(), bigfit.Rows(x)); err != nil {
		t.Errorf("answers without a limit: %v", err)
	}
}

// counter counts what an observer is told.
type counter struct{ announced, begun, ended int }

func (c *counter) Announce(string, stage.Cost) error {
	c.announced++
	return nil
}
func (c *counter) Note(string)                     {}
func (c *counter) Begin(string)                    { c.begun++ }
func (c *counter) Update(float64, float64, string) {}
func (c *counter) End(string)                      { c.ended++ }

// What is wrong is an error that names the place and the value, and never a panic.
func TestFitRefuses(t *testing.T) {
	t.Parallel()
	x, group := blobs(40, 1)
	y := some(group, 20)
	ragged, _ := blobs(40, 1)
	ragged[7] = ragged[7][:3]
	broken, _ := blobs(40, 1)
	broken[11][2] = math.NaN()
	endless, _ := blobs(40, 1)
	endless[5][0] = math.Inf(-1)
	flat := data.NewDense[float64](40, 2)
	flat.Row(3)[1] = math.NaN()
	values := make([]float64, 40)
	values[4] = math.Inf(1)
	nothing := make([]float64, 40)
	for i := range nothing {
		nothing[i] = math.NaN()
	}

	rows, names := bigfit.Rows(x), bigfit.Names(y)
	lgc := &bigfit.Options{Model: "lgc"}
	with := func(model string, p bigfit.Parameters) *bigfit.Options {
		return &bigfit.Options{Model: model, Parameters: p}
	}
	for _, c := range []struct {
		name string
		x    bigfit.Points
		y    bigfit.Labels
		o    *bigfit.Options
		want []string
	}{
		{"no points", bigfit.Points{}, names, nil, []string{"there are no points"}},
		{"empty rows", bigfit.Rows([][]float64{}), names, nil, []string{"there are no points"}},
		{"rows of nothing", bigfit.Rows([][]float64{{}, {}}), names, nil, []string{"row 0", "no numbers"}},
		{"nil matrix", bigfit.FromMat(nil), names, nil, []string{"there are no points"}},
		{"empty matrix", bigfit.FromMat(&mat.Dense{}), names, nil, []string{"there are no points"}},
		{"nil data", bigfit.FromData(nil), names, nil, []string{"there are no points"}},
		{"nil pointer", bigfit.FromData((*data.Dense[float64])(nil)), names, nil, []string{"there are no points"}},
		{"empty data", bigfit.FromData(data.NewDense[float64](0, 3)), names, nil, []string{"there are no points"}},
		{"empty labels", rows, bigfit.Names(nil), nil, []string{"there are no labels"}},
		{"short data", bigfit.FromData(&data.Dense[float32]{Rows: 40, Cols: 3, Data: make([]float32, 100)}), names, nil, []string{"100 numbers for 40 rows of 3 columns"}},
		{"broken sparse data", bigfit.FromData(&sparse.CSR{Rows: 1, Cols: 2, Ptr: []int64{0, 1}, Col: []int32{5}}), names, nil, []string{"the points", "5"}},
		{"ragged", bigfit.Rows(ragged), names, nil, []string{"row 7", "3 numbers", "row 0 has 4"}},
		{"NaN", bigfit.Rows(broken), names, nil, []string{"row 11", "column 2", "NaN"}},
		{"infinite", bigfit.Rows(endless), names, nil, []string{"row 5", "column 0", "-Inf"}},
		{"NaN in data", bigfit.FromData(flat), names, lgc, []string{"row 3", "column 1", "NaN"}},
		{"no labels", rows, bigfit.Labels{}, nil, []string{"there are no labels"}},
		{"nil labels", rows, bigfit.FromLabels(nil), nil, []string{"there are no labels"}},
		{"nothing labeled", rows, bigfit.Names(make([]string, 40)), nil, []string{"none of the 40 points has a label"}},
		{"no values", rows, bigfit.Values(nothing), with("rls", nil), []string{"none of the 40 points has a label"}},
		{"empty values", rows, bigfit.ValueRows(nil), with("rls", nil), []string{"there are no labels"}},
		{"infinite value", rows, bigfit.Values(values), with("rls", nil), []string{"point 4", "+Inf"}},
		{"lengths", rows, bigfit.Names(y[:30]), nil, []string{"30 labels for 40 points"}},
		{"one class", rows, bigfit.Classes([]int{5, -1, 5}), nil, []string{"class 5", "two classes"}},
		{"unknown model", rows, names, with("lcg", nil), []string{`"lcg"`, "did you mean lgc?"}},
		{"unknown parameter", rows, names, with("lgc", bigfit.Parameters{"alhpa": 0.5}), []string{`"alhpa"`, "did you mean alpha?"}},
		{"two faults", rows, names, with("lgc", bigfit.Parameters{"alpha": 2, "neighbors": 0}), []string{"alpha is 2", "neighbors is 0"}},
		{"range", rows, names, with("lgc", bigfit.Parameters{"alpha": math.NaN()}), []string{"alpha", "NaN"}},
		{"kind", rows, names, with("lgc", bigfit.Parameters{"alpha": []string{"x"}}), []string{"alpha", "[]string"}},
		{"nil parameter", rows, names, with("lgc", bigfit.Parameters{"alpha": nil}), []string{"alpha", "nil"}},
		{"a graph for none", rows, names, with("rls", bigfit.Parameters{"weights": "heat"}), []string{`"weights"`}},
		{"twice", rows, names, &bigfit.Options{Model: "lgc", Neighbors: 3, Parameters: bigfit.Parameters{"neighbors": 4}}, []string{"twice"}},
		{"neighbors", rows, names, &bigfit.Options{Model: "lgc", Neighbors: -1}, []string{"neighbors is -1"}},
		{"too many neighbors", rows, names, &bigfit.Options{Model: "lgc", Neighbors: 40}, []string{"40", "at most 39"}},
		{"folds", rows, names, &bigfit.Options{Folds: 1}, []string{"Folds is 1"}},
		{"memory", rows, names, &bigfit.Options{Memory: -1}, []string{"Memory is -1"}},
		{"values for lgc", rows, bigfit.Values(make([]float64, 40)), lgc, []string{"lgc learns no values", "harmonic"}},
		{"classes for svr", rows, names, with("svr", nil), []string{"svr learns no classes", "lgc"}},
		{"classes for vvmr", rows, names, with("vvmr", nil), []string{"vvmr learns no classes"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, err := bigfit.Fit(t.Context(), c.x, c.y, c.o)
			if m != nil || err == nil || bigfit.Usable(err) {
				t.Fatalf("a model: %v, error %v", m != nil, err)
			}
			if strings.ContainsAny(err.Error(), "‹›") || strings.Contains(err.Error(), "--") {
				t.Errorf("%v: the names of parameters are marked", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v; want %q", err, want)
				}
			}
		})
	}
}

// Two points, one column, columns that are all the same, points that are all the same, all
// labels known, a label a class: a model or an error, and no panic.
func TestFitDegenerate(t *testing.T) {
	t.Parallel()
	same := make([][]float64, 30)
	line := make([][]float64, 30)
	all := make([]string, 30)
	for i := range same {
		same[i] = []float64{1, 2}
		line[i] = []float64{float64(i)}
		all[i] = []string{"a", "b"}[i/15]
	}
	two := some(all, 1)
	two[29] = "b"
	for name, c := range map[string]struct {
		x [][]float64
		y []string
	}{
		"two points":  {line[:2], []string{"a", "b"}},
		"one point":   {line[:1], []string{"a"}},
		"one column":  {line, all},
		"two labels":  {line, two},
		"same points": {same, two},
		"all labels":  {same, all},
	} {
		for _, model := range bigfit.Models() {
			t.Run(name+" "+model, func(t *testing.T) {
				t.Parallel()
				m, err := bigfit.Fit(t.Context(), bigfit.Rows(c.x), bigfit.Names(c.y), &bigfit.Options{Model: model})
				if (m == nil) != !bigfit.Usable(err) {
					t.Fatalf("a model: %v, error %v", m != nil, err)
				}
				if m == nil {
					return
				}
				if p, err := m.Predict(t.Context(), bigfit.Rows(c.x)); err == nil && p.Len() != len(c.x) {
					t.Errorf("%d answers for %d points", p.Len(), len(c.x))
				}
			})
		}
	}
}

// Sparse points come from package data.
func TestSparsePoints(t *testing.T) {
	t.Parallel()
	x, group := blobs(120, 1)
	dense := mat.NewDense(120, 4, nil)
	for i, row := range x {
		dense.SetRow(i, row)
	}
	m, err := bigfit.Fit(t.Context(), bigfit.FromData(sparse.FromDense(dense)), bigfit.Names(some(group, 30)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := m.Predict(t.Context(), bigfit.Rows(x)); err != nil || wrong(p, group) > 12 {
		t.Errorf("%d of 120 are wrong: %v", wrong(p, group), err)
	}
}

// A cancelled context is an error everywhere.
func TestCancelled(t *testing.T) {
	t.Parallel()
	m, x, group := fit(t, 120, &bigfit.Options{Model: "lgc"})
	points, labels := bigfit.Rows(x), bigfit.Names(some(group, 30))
	ctx := cancelled()
	for name, call := range map[string]func() error{
		"fit": func() error {
			_, err := bigfit.Fit(ctx, points, labels, nil)
			return err
		},
		"predict": func() error {
			_, err := m.Predict(ctx, points)
			return err
		},
		"update": func() error {
			_, err := m.Update(ctx, points, bigfit.Labels{})
			return err
		},
		"next": func() error {
			_, err := m.Next(ctx, 3, nil)
			return err
		},
		"suspects": func() error {
			_, err := m.Suspects(ctx, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := call(); !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		})
	}

	late, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	big, groups := blobs(4000, 1)
	if m, err := bigfit.Fit(late, bigfit.Rows(big), bigfit.Names(some(groups, 60)), nil); m != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a fit in a millisecond: %v", err)
	}
}
