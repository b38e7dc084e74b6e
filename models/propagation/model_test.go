package propagation

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pca"
	"github.com/bigfit/bigfit/sparse"
)

// graphMethods are settings of every method, for classes.
var graphMethods = []Settings{
	{}, {MassNormalization: true}, {Method: LGC}, {Method: LGC, ClassShares: EstimatedShares}, {Method: Poisson, Priors: slices.Repeat([]float64{0.1}, 10)},
	{Method: Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 1e-6, GammaI: 1e-2, Power: 2}},
}

// fittedGraph fits the first points of x and returns the others with it.
func fittedGraph(t testing.TB, x data.Points, s knn.GraphSettings, y *models.Targets, set Settings) *Model {
	t.Helper()
	p := modeltest.NewProblem(t, x, s, sparse.Combinatorial, 2)
	return &Model{Solution: fitGraph(t, p.W, y, &set), Neighborhood: p.Graph().Keep()}
}

func rowNumbers(from, to int) []int {
	rows := make([]int, to-from)
	for i := range rows {
		rows[i] = from + i
	}
	return rows
}

func TestGraphPredict(t *testing.T) {
	ctx := context.Background()
	const n, m = 700, 300
	x, truth := synthetic.Digits(n+m, 4)
	train, rest := rowNumbers(0, n), rowNumbers(n, n+m)
	y, err := truth.Select(train).Draw(150, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range graphMethods {
		g := fittedGraph(t, data.Select(x, train), knn.GraphSettings{K: 7, Weights: knn.Heat}, modeltest.ClassTargets(t, y), set)
		p, err := g.Predict(ctx, data.Select(x, rest), nil)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i, c := range p.Classes {
			if c != truth.Index[n+i] {
				wrong++
			}
		}
		inside := metrics.ErrorRate(g.Labels, truth.Select(train), y)
		if outside := float64(wrong) / m; !(outside <= inside+0.1) {
			t.Errorf("%v: error %.3f on new points, %.3f on the others", set.Method, outside, inside)
		}
		// By the formula.
		ix, err := knn.NewBrute(g.Points, nil)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := ix.Query(ctx, data.Select(x, rest), 7)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m {
			index, dist := nb.Row(i)
			w := g.Edges.EdgeWeights(dist)
			var d float64
			for _, v := range w {
				d += v
			}
			want := make([]float64, 10)
			for q, at := range index {
				for c := range want {
					v := w[q] / d * g.Scores.At(int(at), c)
					if set.Method == LGC {
						v = 0.99 * w[q] / math.Sqrt(d*g.Degrees[at]) * g.Scores.At(int(at), c)
					}
					want[c] += v
				}
			}
			checkNear(t, set.Method.String(), p.Scores.Slice(i, i+1, 0, 10), mat.NewDense(1, 10, want), 1e-12)
		}
		// One point at a time, and another number of neighbours.
		one, err := g.Predict(ctx, data.Select(x, rest[5:6]), nil)
		if err != nil || one.Classes[0] != p.Classes[5] || !mat.Equal(one.Scores, p.Scores.Slice(5, 6, 0, 10)) {
			t.Errorf("%v: another answer for one point alone: %v", set.Method, err)
		}
		nearest, err := g.Predict(ctx, data.Select(x, train), &models.PredictSettings{Neighbors: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range nearest.Classes {
			if c != models.Decide(g.Scores)[i] {
				t.Fatalf("%v: training point %d has class %d by itself, %d", set.Method, i, c, models.Decide(g.Scores)[i])
			}
		}
	}
}

// TestGraphPredictUnknown: far from everything all weights are zero, and around a
// component without labels nothing is known.
func TestGraphPredictUnknown(t *testing.T) {
	ctx := context.Background()
	x := data.NewDense[float64](9, 1)
	copy(x.Data, []float64{0, 1, 2, 100, 101, 102, 200, 201, 202})
	graph := knn.GraphSettings{K: 2, Weights: knn.Heat, T: 1}
	q := data.NewDense[float64](4, 1)
	copy(q.Data, []float64{0.5, 101.5, 201.5, 1e6})
	y := modeltest.ClassTargets(t, modeltest.Labels(9, map[int]int64{0: 4, 3: 8, 4: 8}))
	p, err := fittedGraph(t, x, graph, y, Settings{}).Predict(ctx, q, nil)
	if err != nil || !slices.Equal(p.Classes, []int32{0, 1, 1, 1}) {
		t.Errorf("%v, %v", p.Classes, err)
	}
	nan := math.NaN()
	values, err := models.ValueTargets(mat.NewDense(9, 1, []float64{1, nan, 3, 10, nan, 10, nan, nan, nan}))
	if err != nil {
		t.Fatal(err)
	}
	p, err = fittedGraph(t, x, graph, values, Settings{}).Predict(ctx, q, nil)
	if err != nil || p.Classes != nil {
		t.Fatalf("%v, %v", p.Classes, err)
	}
	for i, want := range []float64{p.Scores.At(0, 0), 10, 6, 6} {
		if v := p.Scores.At(i, 0); !modeltest.Near(v, want, 1e-9) {
			t.Errorf("point %d is %v, want %v", i, v, want)
		}
	}
	if v := p.Scores.At(0, 0); !(v >= 1 && v <= 2) {
		t.Errorf("between 1 and 2: %v", v)
	}
	// Faults.
	m := fittedGraph(t, x, graph, y, Settings{})
	for _, c := range []struct {
		change func(m *Model)
		x      data.Points
		s      *models.PredictSettings
		want   string
	}{
		{func(m *Model) { m.Points = nil }, q, nil, "without points"},
		{func(m *Model) { m.Edges = knn.GraphSettings{Radius: 2} }, q, nil, "within 2"},
		{func(m *Model) {}, q, &models.PredictSettings{Neighbors: -1}, "-1 neighbours"},
		{func(m *Model) {}, data.NewDense[float64](1, 2), nil, "points of 2 columns for a model of 1"},
	} {
		bad := &Model{Solution: m.Solution, Neighborhood: m.Keep()}
		c.change(bad)
		if _, err := bad.Predict(ctx, c.x, c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

func TestGraphSaveLoad(t *testing.T) {
	ctx := context.Background()
	digits, truth := synthetic.Digits(200, 1)
	y, err := truth.Draw(60, 1)
	if err != nil {
		t.Fatal(err)
	}
	projection, err := pca.New(t.Context(), digits, 12)
	if err != nil {
		t.Fatal(err)
	}
	projected, err := projection.Apply(digits)
	if err != nil {
		t.Fatal(err)
	}
	check := func(m *Model, q data.Points) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "model.npz")
		if err := models.Save(path, m, map[string]string{"points": "abc"}); err != nil {
			t.Fatal(err)
		}
		loaded, mf, err := load(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := loaded.(*Model)
		if !ok || mf.Hashes["points"] != "abc" || got.Name() != m.Settings.Method.String() || !reflect.DeepEqual(got.Output(), m.Output()) || mf.Learner != m.Name() {
			t.Fatalf("%T %v, manifest %+v", loaded, got.Name(), mf)
		}
		m.Neighborhood = m.Keep()
		if !reflect.DeepEqual(got, m) {
			t.Errorf("other model after saving and loading:\n%+v\n%+v", got, m)
		}
		if m.Points == nil {
			return
		}
		want, err := m.Predict(ctx, q, nil)
		if err != nil {
			t.Fatal(err)
		}
		have, err := got.Predict(ctx, q, nil)
		if err != nil || !slices.Equal(have.Classes, want.Classes) || !mat.Equal(have.Scores, want.Scores) {
			t.Errorf("other answers after saving and loading: %v", err)
		}
		if _, _, err := load(path, 100); err == nil {
			t.Error("a limit of 100 bytes: no error")
		}
	}
	for _, set := range graphMethods {
		check(fittedGraph(t, digits, knn.GraphSettings{K: 6, Weights: knn.Heat}, modeltest.ClassTargets(t, y), set), digits)
	}
	m := fittedGraph(t, projected, knn.GraphSettings{K: 6}, modeltest.ClassTargets(t, y), Settings{Method: LGC})
	m.PCA, m.Method = projection, knn.BallTree
	check(m, digits)
	check(fittedGraph(t, data.ToSparse(digits), knn.GraphSettings{K: 6}, modeltest.ClassTargets(t, y), Settings{}), data.ToSparse(digits))
	m.Points, m.PCA = nil, nil
	check(m, nil)
	values := mat.NewDense(200, 2, nil)
	values.Apply(func(i, j int, _ float64) float64 { return float64(i * (j + 1)) }, values)
	targets, err := models.ValueTargets(values)
	if err != nil {
		t.Fatal(err)
	}
	check(fittedGraph(t, digits, knn.GraphSettings{K: 6}, targets.Keep(rowNumbers(0, 50)), Settings{}), digits)
}

func TestGraphLoadMalformed(t *testing.T) {
	x, truth := synthetic.TwoMoons(60, 0.1, 2)
	m := fittedGraph(t, x, knn.GraphSettings{K: 5}, modeltest.ClassTargets(t, truth.Keep([]int{0, 1, 2, 3})), Settings{Method: LGC})
	m.PCA = &pca.Projection{Mean: []float64{1, 2, 3}, Components: mat.NewDense(2, 3, []float64{1, 0, 0, 0, 1, 0}), Variance: []float64{2, 1}, Total: 3}
	whole := filepath.Join(t.TempDir(), "whole.npz")
	if err := models.Save(whole, m, nil); err != nil {
		t.Fatal(err)
	}
	type entries = map[string]archive.Array
	remove := func(name string) func(entries) { return func(e entries) { delete(e, name) } }
	set := func(name string, shape []int, x any) func(entries) {
		return func(e entries) { e[name] = archive.Array{Name: name, Shape: shape, Data: x} }
	}
	settings := func(v any, keys ...string) func(entries) {
		return func(e entries) {
			var mf map[string]any
			if err := json.Unmarshal(e[archive.Name].Data.([]uint8), &mf); err != nil {
				t.Fatal(err)
			}
			at := mf["settings"].(map[string]any)
			for _, k := range keys[:len(keys)-1] {
				at = at[k].(map[string]any)
			}
			at[keys[len(keys)-1]] = v
			text, err := json.Marshal(mf)
			if err != nil {
				t.Fatal(err)
			}
			e[archive.Name] = archive.Array{Name: archive.Name, Data: text}
		}
	}
	for _, c := range []struct {
		name   string
		change func(entries)
		want   string
	}{
		{"no scores", remove("scores"), "scores"},
		{"no degrees", remove("degrees"), "degrees"},
		{"no residuals", remove("residuals"), "residuals"},
		{"no labels", remove("labels"), "labels"},
		{"no classes", remove("classes"), "classes"},
		{"no variance", remove("pca_variance"), "pca_variance"},
		{"fewer degrees", set("degrees", nil, []float64{1}), "1 degrees for 60"},
		{"negative degree", func(e entries) { e["degrees"].Data.([]float64)[3] = -2 }, "degree -2 of point 3"},
		{"fewer labels", set("labels", nil, []int32{1}), "1 labels for 60"},
		{"unknown label", func(e entries) { e["labels"].Data.([]int32)[9] = 2 }, "label 2 of point 9"},
		{"unlabeled", func(e entries) { e["labels"].Data.([]int32)[9] = -1 }, "label -1 of point 9"},
		{"more classes", set("classes", nil, []int64{1, 2, 3}), "2 columns for 3 classes"},
		{"more residuals", set("residuals", nil, []float64{0, 0, 0}), "3 residuals"},
		{"NaN in the scores", func(e entries) { e["scores"].Data.([]float64)[7] = math.NaN() }, "element 7 of scores is NaN"},
		{"flat scores", set("scores", nil, make([]float64, 120)), "scores"},
		{"fewer points", set("points", []int{59, 2}, make([]float64, 118)), "59 points for 60"},
		{"points of another dimension", set("points", []int{60, 3}, make([]float64, 180)), "principal components"},
		{"fallback out of range", settings(2, "fit", "fallback"), "fallback class 2"},
		{"no graph", settings(0, "fit", "neighborhood", "edges", "k"), "neither"},
		{"heat without t", settings("heat", "fit", "neighborhood", "edges", "weights"), "t = 0"},
		{"no α", settings(map[string]any{}, "params"), "α is 0"},
		{"α of 0", settings(0, "params", "alpha"), "alpha is 0"},
		{"a parameter of another method", settings(1, "params", "gamma-a"), "gamma-a"},
		{"another model", settings("diffusion", "model"), "diffusion"},
		{"settings of a wrong type", settings("many", "fit", "labeled"), "fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := modeltest.Entries(t, whole)
			c.change(e)
			modeltest.WantRefused(t, e, load, c.want)
		})
	}
	bytes, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.npz")
	for cut := 0; cut < len(bytes); cut += 97 {
		if err := os.WriteFile(path, bytes[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := load(path, 0); err == nil {
			t.Fatalf("%d of %d bytes: no error", cut, len(bytes))
		}
	}
}

// A harmonic solution of few labels warns, with the models that do better; others do not.
func TestFewLabelsOfHarmonic(t *testing.T) {
	const n = 1000
	x := &data.Dense[float64]{Rows: n, Cols: 2, Data: make([]float64, 2*n)}
	for i := range n {
		x.Data[2*i] = float64(i % 2)
		x.Data[2*i+1] = math.Sin(float64(i)) / 2
	}
	for name, c := range map[string]struct {
		settings Settings
		labels   int
		want     bool
	}{
		"few":        {Settings{}, 10, true},
		"enough":     {Settings{}, 40, false},
		"many":       {Settings{}, 20, false},
		"class mass": {Settings{MassNormalization: true}, 10, false},
		"lgc":        {Settings{Method: LGC}, 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			labels := map[int]int64{}
			for i := range c.labels {
				labels[i] = int64(i % 2)
			}
			m := fittedGraph(t, x, knn.GraphSettings{K: 5}, modeltest.ClassTargets(t, modeltest.Labels(n, labels)), c.settings)
			got := m.Summary().Warnings
			if (len(got) == 1) != c.want {
				t.Fatalf("warnings %q", got)
			}
			if c.want && !strings.Contains(param.Show(got[0], param.Flag), "labels of 10 of 1000 points, 5 a class") {
				t.Errorf("%q", got[0])
			}
			if c.want && !strings.Contains(param.Show(got[0], param.Flag), "lgc, poisson or --class-mass err less") {
				t.Errorf("%q", got[0])
			}
		})
	}
}
