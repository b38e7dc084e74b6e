package pipeline_test

import (
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/pool"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// A graph that grows, by way of its file, is that of all points made anew, for all
// weights that need no choice.
func TestAppendedGraph(t *testing.T) {
	x, _ := clusters(150, 3)
	for name, s := range map[string]pipeline.GraphSettings{
		"one":            {Graph: knn.GraphSettings{K: 5}, Method: knn.Brute},
		"self-tuning":    {Graph: knn.GraphSettings{K: 5, Weights: knn.SelfTuning, Symmetry: sparse.Both}, Method: knn.KDTree},
		"sum":            {Graph: knn.GraphSettings{K: 5, Symmetry: sparse.Sum}, Method: knn.Brute},
		"heat":           {Graph: knn.GraphSettings{K: 4, Weights: knn.Heat, T: 0.5}, Method: knn.BallTree, Metric: knn.Angle},
		"inner products": {Graph: knn.GraphSettings{K: 5}, Method: knn.Brute, Metric: knn.InnerProduct},
	} {
		old := data.Select(x, data.Range(0, 120))
		p := &pipeline.Pipeline{Seed: 3}
		g, err := p.Graph(t.Context(), old, &s)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "g.npz")
		if err := pipeline.SaveGraph(path, g, pipeline.Hashes{}); err != nil {
			t.Fatal(err)
		}
		f, err := pipeline.OpenGraph(path, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if f.Lists != nil {
			t.Error("the lists are read before they are asked for")
		}
		if err := f.ReadKept(0); err != nil {
			t.Fatal(err)
		}
		joined, err := p.Join(t.Context(), &f.Graph.Graph, old, &f.Settings)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(joined.Lists, g.Lists) || !reflect.DeepEqual(joined.Index, g.Index) {
			t.Errorf("%s: other lists or another index than were saved", name)
		}
		grown, err := p.Append(t.Context(), &pipeline.Graph{Graph: *joined, Settings: f.Settings}, data.Select(x, data.Range(120, 150)))
		if err != nil {
			t.Fatal(err)
		}
		anew, err := p.Graph(t.Context(), x, &s)
		if err != nil {
			t.Fatal(err)
		}
		sameGraph(t, &grown.Graph, &anew.Graph)
		if !reflect.DeepEqual(grown.Lists, anew.Lists) || !reflect.DeepEqual(grown.Settings, anew.Settings) || !reflect.DeepEqual(grown.Index, anew.Index) {
			t.Errorf("%s: %+v, want %+v", name, grown.Settings, anew.Settings)
		}
	}
}

// Principal components stay those of before.
func TestAppendedPCA(t *testing.T) {
	x, g := graphOf(t)
	more, _ := clusters(10, 2)
	grown, err := (&pipeline.Pipeline{}).Append(t.Context(), g, more)
	if err != nil {
		t.Fatal(err)
	}
	if grown.PCA != g.PCA || grown.Dim() != 4 || grown.Len() != 90 {
		t.Errorf("%d points of %d columns", grown.Len(), grown.Dim())
	}
	all, err := data.Join(x, more)
	if err != nil {
		t.Fatal(err)
	}
	z, err := g.PCA.Apply(all)
	if err != nil {
		t.Fatal(err)
	}
	if data.HashPoints(z) != data.HashPoints(grown.Points) {
		t.Error("the points are not the projected ones")
	}
}

func TestAppendRefuses(t *testing.T) {
	x, g := graphOf(t)
	p := &pipeline.Pipeline{}
	radius, err := p.Graph(t.Context(), x, &pipeline.GraphSettings{Graph: knn.GraphSettings{Radius: 2}})
	if err != nil {
		t.Fatal(err)
	}
	bare := *g
	bare.Lists = nil
	for want, call := range map[string]func() error{
		"5 columns, those of before 4": func() error { _, err := p.Append(t.Context(), g, data.NewDense[float64](3, 5)); return err },
		"joins points within 2":        func() error { _, err := p.Append(t.Context(), radius, x); return err },
		"make the graph anew":          func() error { _, err := p.Append(t.Context(), &bare, x); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// What a graph file holds beside the matrix is checked.
func TestDamagedKept(t *testing.T) {
	_, g := graphOf(t)
	path := filepath.Join(t.TempDir(), "g.npz")
	if err := pipeline.SaveGraph(path, g, pipeline.Hashes{}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(e *archive.Array) bool{
		"neighbor_indices":   func(e *archive.Array) bool { e.Data.([]int32)[3] = 80; return true },
		"neighbor_distances": func(e *archive.Array) bool { e.Data.([]float64)[3] = -1; return true },
		"index_order":        func(e *archive.Array) bool { e.Data.([]int32)[3] = 80; return true },
		"pca_components":     func(*archive.Array) bool { return false },
	} {
		entries := modeltest.Entries(t, path)
		e := entries[name]
		if change(&e) {
			entries[name] = e
		} else {
			delete(entries, name)
		}
		bad := filepath.Join(t.TempDir(), "bad.npz")
		var list []archive.Array
		for _, e := range entries {
			if text, ok := e.Data.([]string); ok {
				e.Shape, e.Data = nil, text[0]
			}
			list = append(list, e)
		}
		if err := npy.WriteArchive(bad, list); err != nil {
			t.Fatal(err)
		}
		f, err := pipeline.OpenGraph(bad, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.ReadKept(0); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), bad) {
			t.Errorf("damaged %s: %v", name, err)
		}
	}
}

// An update ends where a fit to all points does, for every learner that has one.
func TestUpdateIsAFitAnew(t *testing.T) {
	const n, old = 240, 200
	x, y := clusters(n, 3)
	labeled := append(data.Range(0, 30), n-1, n-3)
	for name, values := range map[string]models.Values{
		"eigenmap": {"eigenvectors": "5"}, "harmonic": nil, "lgc": nil, "tikhonov": {"gamma-a": "1e-4", "gamma-i": "0.1"}, "poisson": nil, "knn": {"vote": "3"},
		"geodesic": {"vote": "3"}, "reweighted": nil, "poisson-mbo": nil, "cut": nil,
		"correct-and-smooth": {"gamma-a": "1", "smooth-alpha": "0.9"},
	} {
		t.Run(name, func(t *testing.T) {
			l := all.Learner(name)
			p := &pipeline.Pipeline{Seed: 2}
			s := &pipeline.GraphSettings{Graph: knn.GraphSettings{K: 6}, Method: knn.Brute}
			fit := func(x data.Points, y *data.Labels) models.Model {
				t.Helper()
				m, err := p.Fit(t.Context(), l, &models.Input{Points: x, Targets: modeltest.ClassTargets(t, y), Values: models.Values{}.With(values)}, s)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			m := fit(data.Select(x, data.Range(0, old)), y.Select(data.Range(0, old)).Keep(data.Range(0, 30)))
			path := filepath.Join(t.TempDir(), "m.npz")
			if err := models.Save(path, m, nil); err != nil {
				t.Fatal(err)
			}
			m, _, err := all.Load(path, 0)
			if err != nil {
				t.Fatal(err)
			}
			night := y.Select(data.Range(old, n)).Keep([]int{n - 1 - old, n - 3 - old})
			u, err := p.Update(t.Context(), l, m, &pipeline.Growth{Points: data.Select(x, data.Range(old, n)), Labels: night, Tolerance: 1e-9})
			if err != nil {
				t.Fatal(err)
			}
			if u.New != n-old || u.NewLabels != 2 || u.Labels != 30 || u.NewClasses != nil {
				t.Errorf("%+v", u)
			}
			anew := fit(x, y.Keep(labeled))
			queries, _ := clusters(50, 3)
			a, b := predict(t, u.Model, queries), predict(t, anew, queries)
			if !slices.Equal(a.Classes, b.Classes) {
				t.Errorf("other classes: %v, want %v", a.Classes, b.Classes)
			}
			if _, ok := u.Model.(models.Trained); !ok {
				return
			}
			a, b = training(t, u.Model), training(t, anew)
			if !slices.Equal(a.Classes, b.Classes) || !mat.EqualApprox(a.Scores, b.Scores, 1e-5) {
				t.Error("other answers for the training points")
			}
			own, want := u.Model.(models.Updater).Kept(), anew.(models.Updater).Kept()
			if !reflect.DeepEqual(own.Lists, want.Lists) || !slices.Equal(own.Degrees, want.Degrees) {
				t.Error("another graph")
			}
			if !slices.Equal(own.Targets.Labeled, want.Targets.Labeled) || !mat.Equal(own.Targets.Y, want.Targets.Y) {
				t.Error("other targets")
			}
		})
	}
}

// A regression keeps its values.
func TestUpdateOfARegression(t *testing.T) {
	x, _ := clusters(120, 3)
	y := mat.NewDense(120, 2, nil)
	for i := range 120 {
		y.SetRow(i, []float64{x.Row(i)[0], 3 - x.Row(i)[1]})
	}
	target := func(rows, known int) *models.Targets {
		block := mat.DenseCopyOf(y.Slice(0, rows, 0, 2))
		for i := known; i < rows; i++ {
			block.SetRow(i, []float64{math.NaN(), math.NaN()})
		}
		out, err := models.ValueTargets(block)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	l, p := all.Learner("harmonic"), &pipeline.Pipeline{}
	m, err := p.Fit(t.Context(), l, &models.Input{Points: data.Select(x, data.Range(0, 100)), Targets: target(100, 20), Values: models.Values{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	u, err := p.Update(t.Context(), l, m, &pipeline.Growth{Points: data.Select(x, data.Range(100, 120)), Tolerance: 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	anew, err := p.Fit(t.Context(), l, &models.Input{Points: x, Targets: target(120, 20), Values: models.Values{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := training(t, u.Model), training(t, anew); !mat.EqualApprox(a.Scores, b.Scores, 1e-6) {
		t.Error("other values")
	}
	if _, err := p.Update(t.Context(), l, m, &pipeline.Growth{Values: mat.NewDense(100, 3, nil)}); err == nil || !strings.Contains(err.Error(), "3 values a point for a model of 2") {
		t.Errorf("three values: %v", err)
	}
}

// Labels alone, a new class, and labels of all points in place of those of before.
func TestUpdateOfLabels(t *testing.T) {
	x, y := clusters(150, 3)
	l, p := all.Learner("lgc"), &pipeline.Pipeline{}
	two := y.Keep([]int{0, 1, 3, 4}) // of two of the classes
	m, err := p.Fit(t.Context(), l, &models.Input{Points: x, Targets: modeltest.ClassTargets(t, data.NewLabels(classValues(two)))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, only := range []bool{true, false} {
		g := &pipeline.Growth{Labels: y.Keep([]int{0, 1, 2, 5}), Tolerance: 1e-9}
		if !only {
			g.Points = data.Select(x, data.Range(0, 10))
			g.Labels = y.Select(data.Range(0, 10)).Keep([]int{2, 5})
		}
		u, err := p.Update(t.Context(), l, m, g)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(u.NewClasses, []int64{12}) || !slices.Equal(u.Output().Classes, []int64{10, 11, 12}) || !strings.Contains(u.String(), "new classes: 12") {
			t.Errorf("classes %v, new %v: %s", u.Output().Classes, u.NewClasses, u)
		}
		all, known := data.Points(x), y.Keep([]int{0, 1, 2, 5})
		if !only {
			if all, err = data.Join(x, g.Points); err != nil {
				t.Fatal(err)
			}
			values, have := classValues(two)
			for _, c := range g.Labels.Index {
				values, have = append(values, 12), append(have, c != data.Unlabeled)
			}
			known = data.NewLabels(values, have)
		}
		anew, err := p.Fit(t.Context(), l, &models.Input{Points: all, Targets: modeltest.ClassTargets(t, known)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(training(t, u.Model).Classes, training(t, anew).Classes) {
			t.Error("other classes than those of a fit anew")
		}
	}
}

// classValues are those of y as NewLabels takes them.
func classValues(y *data.Labels) (values []int64, known []bool) {
	for _, c := range y.Index {
		known = append(known, c != data.Unlabeled)
		values = append(values, 0)
		if c != data.Unlabeled {
			values[len(values)-1] = y.Classes[c]
		}
	}
	return values, known
}

func TestUpdateRefuses(t *testing.T) {
	x, targets := few(t, 60)
	_, y := clusters(60, 3)
	p := &pipeline.Pipeline{}
	fit := func(name string, v models.Values) models.Model {
		m, err := p.Fit(t.Context(), all.Learner(name), &models.Input{Points: x, Targets: targets, Values: v}, &pipeline.GraphSettings{Graph: knn.GraphSettings{K: 4}})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	lgc := fit("lgc", models.Values{})
	for want, call := range map[string]func() error{
		"keeps neither the graph": func() error {
			_, err := p.Update(t.Context(), all.Learner("laprls"), fit("laprls", models.Values{"gamma-a": "0.1", "gamma-i": "0.1", "sigma": "2"}), &pipeline.Growth{Points: x})
			return err
		},
		"60 labels; give 10 for the new points, or 70": func() error {
			_, err := p.Update(t.Context(), all.Learner("lgc"), lgc, &pipeline.Growth{Points: data.Select(x, data.Range(0, 10)), Labels: y})
			return err
		},
		"have 3 columns": func() error {
			_, err := p.Update(t.Context(), all.Learner("lgc"), lgc, &pipeline.Growth{Points: data.NewDense[float64](2, 3)})
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	// A model without points, and one of a file that does not say what was labeled.
	forgetful := fit("lgc", models.Values{}).(*propagation.Model)
	forgetful.Given = nil
	if _, err := p.Update(t.Context(), all.Learner("lgc"), forgetful, &pipeline.Growth{Points: x}); err == nil || !strings.Contains(err.Error(), "labels of all 120 points") {
		t.Errorf("a model that does not know its labels: %v", err)
	}
	if _, err := p.Update(t.Context(), all.Learner("lgc"), forgetful, &pipeline.Growth{Labels: y}); err != nil {
		t.Errorf("with all labels: %v", err)
	}
	alone, err := all.Learner("lgc").Fit(t.Context(), &models.Input{Graph: models.NewGraph(graphW(t, x)), Targets: targets})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Update(t.Context(), all.Learner("lgc"), alone, &pipeline.Growth{Points: x}); err == nil || !strings.Contains(err.Error(), "without points") {
		t.Errorf("a model without points: %v", err)
	}
}

// graphW is a graph of x.
func graphW(t *testing.T, x data.Points) *sparse.CSR {
	t.Helper()
	g, err := (&pipeline.Pipeline{}).Graph(t.Context(), x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g.W
}

// An update of the default model keeps what was chosen and answers as a fit anew, with
// principal components, from a file, and where a class joins.
func TestUpdateOfAuto(t *testing.T) {
	const n, old = 240, 200
	x, y := clusters(n, 3)
	l, p := all.Learner("auto"), &pipeline.Pipeline{Seed: 2}
	fit := func(x data.Points, y *data.Labels) *pool.Model {
		t.Helper()
		s := &pipeline.GraphSettings{Graph: knn.GraphSettings{K: 7, Weights: knn.SelfTuning}, Method: knn.Brute, PCA: 3}
		m, err := p.Fit(t.Context(), l, &models.Input{Points: x, Targets: modeltest.ClassTargets(t, y), Values: models.Values{}}, s)
		if err != nil {
			t.Fatal(err)
		}
		return m.(*pool.Model)
	}
	before := fit(data.Select(x, data.Range(0, old)), y.Select(data.Range(0, old)).Keep(data.Range(0, 30)))
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := models.Save(path, before, nil); err != nil {
		t.Fatal(err)
	}
	m, _, err := all.Load(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	more, labels := data.Select(x, data.Range(old, n)), y.Select(data.Range(old, n))
	u, err := p.Update(t.Context(), l, m, &pipeline.Growth{Points: more, Labels: labels.Keep([]int{n - 1 - old})})
	if err != nil {
		t.Fatal(err)
	}
	choice := u.Model.(*pool.Model).Choice
	choice.Shares = before.Choice.Shares // those are of the points
	if !reflect.DeepEqual(choice, before.Choice) {
		t.Errorf("the choice is %+v, was %+v", choice, before.Choice)
	}
	anew := fit(x, y.Keep(append(data.Range(0, 30), n-1)))
	// That chooses weights anew, so that a point between two classes may change sides.
	differ, got := 0, training(t, u.Model).Classes
	for i, c := range training(t, anew).Classes {
		if got[i] != c {
			differ++
		}
	}
	if float64(differ) > 0.005*float64(n) {
		t.Errorf("%d of %d classes are others than those of a fit anew", differ, n)
	}
	queries, _ := clusters(50, 3)
	if !slices.Equal(predict(t, u.Model, queries).Classes, predict(t, anew, queries).Classes) {
		t.Error("other classes of new points than those of a fit anew")
	}
	own, want := u.Model.(models.Updater).Kept(), anew.Kept()
	if !slices.Equal(own.Targets.Labeled, want.Targets.Labeled) || !mat.Equal(own.Targets.Y, want.Targets.Y) {
		t.Error("other targets")
	}
	values, known := classValues(labels.Keep([]int{2, 5}))
	for i := range values {
		values[i] = 99
	}
	u, err = p.Update(t.Context(), l, m, &pipeline.Growth{Points: more, Labels: data.NewLabels(values, known)})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(u.Output().Classes, []int64{10, 11, 12, 99}) || u.NewLabels != 2 {
		t.Errorf("classes %v with %d new labels", u.Output().Classes, u.NewLabels)
	}
	// Few new points loosen the solvers that have a tolerance; exact kernel machines have none.
	few := &pipeline.Growth{Points: data.Select(x, data.Range(old, old+5))}
	if _, err := p.Update(t.Context(), l, m, few); err != nil {
		t.Errorf("five points join two hundred: %v", err)
	}
}
