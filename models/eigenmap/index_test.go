package eigenmap

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// indexed returns a fitted model with the state of an index of the given method,
// nil for brute force, and the index.
func indexed(t testing.TB, method knn.Method) (*Model, knn.Index) {
	t.Helper()
	x, truth := synthetic.TwoMoons(400, 0.1, 1)
	m := fitted(t, modeltest.NewProblem(t, x, knn.GraphSettings{K: 5}, sparse.Combinatorial, 8), truth.Keep([]int{0, 1, 2, 3}), &Settings{Eigenvectors: 3})
	ix, err := knn.NewIndex(x, method, &knn.DescentSettings{Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ix.Self(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	m.Method, m.Index = method, knn.StateOf(ix)
	return m, ix
}

func predicted(t testing.TB, m *Model) *models.Prediction {
	t.Helper()
	q, _ := synthetic.TwoMoons(150, 0.2, 7)
	p, err := m.Predict(t.Context(), q, &models.PredictSettings{Extension: models.Nystrom})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var indexMethods = []knn.Method{knn.Brute, knn.KDTree, knn.BallTree, knn.NNDescent}

func TestIndexSaveLoad(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1600000000") // the files of two seconds are equal
	exact, _ := indexed(t, knn.Brute)
	want := predicted(t, exact)
	for _, method := range indexMethods {
		t.Run(method.String(), func(t *testing.T) {
			m, ix := indexed(t, method)
			path, again := filepath.Join(t.TempDir(), "model.npz"), filepath.Join(t.TempDir(), "again.npz")
			if err := models.Save(path, m, nil); err != nil {
				t.Fatal(err)
			}
			got, _, err := loadModel(path, 0)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Index, m.Index) {
				t.Errorf("index %+v, saved %+v", got.Index, m.Index)
			}
			if err := models.Save(again, got, nil); err != nil {
				t.Fatal(err)
			}
			a, _ := os.ReadFile(path)
			b, _ := os.ReadFile(again)
			if !slices.Equal(a, b) {
				t.Error("the file of the model loaded differs")
			}
			p := predicted(t, got)
			if !modeltest.SamePrediction(p, predicted(t, m)) {
				t.Error("other answers after saving and loading")
			}
			if method.Exact() && (!modeltest.SamePrediction(p, want) || p.Recall != nil) {
				t.Errorf("other answers than those of all pairs, recall %v", p.Recall)
			}
			if d, ok := ix.(*knn.Descent); ok && (p.Recall == nil || *p.Recall != d.Stats().Recall) {
				t.Errorf("recall %v, of the graph %v", p.Recall, d.Stats().Recall)
			}
			// Without the state of an index, one is built.
			old := filepath.Join(t.TempDir(), "old.npz")
			m.Index = nil
			if err := models.Save(old, m, nil); err != nil {
				t.Fatal(err)
			}
			got, _, err = loadModel(old, 0)
			if err != nil {
				t.Fatal(err)
			}
			p = predicted(t, got)
			if method.Exact() && !modeltest.SamePrediction(p, want) {
				t.Error("other answers from an index built anew")
			}
			if (p.Recall == nil) != method.Exact() {
				t.Errorf("recall %v", p.Recall)
			}
		})
	}
}

// Concurrent calls have the same answers, and each has its own progress.
func TestConcurrentPredict(t *testing.T) {
	m, _ := indexed(t, knn.NNDescent)
	m.Index = nil
	q, _ := synthetic.TwoMoons(150, 0.2, 7)
	var all [4]*models.Prediction
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			var mu sync.Mutex
			finished := false
			p, err := m.Predict(t.Context(), q, &models.PredictSettings{OnProgress: func(done, total int) {
				mu.Lock()
				defer mu.Unlock()
				finished = finished || done == 150 && total == 150
			}})
			if err != nil || !finished {
				t.Errorf("the end was told: %v; %v", finished, err)
			}
			all[i] = p
		})
	}
	wg.Wait()
	for i := range all {
		if !modeltest.SamePrediction(all[i], all[0]) {
			t.Errorf("call %d has other answers", i)
		}
	}
}

func TestLoadDamagedIndex(t *testing.T) {
	files := map[knn.Method]string{}
	for _, method := range indexMethods[1:] {
		m, _ := indexed(t, method)
		files[method] = filepath.Join(t.TempDir(), method.String()+".npz")
		if err := models.Save(files[method], m, nil); err != nil {
			t.Fatal(err)
		}
	}
	type entries = map[string]archive.Array
	remove := func(name string) func(entries) { return func(e entries) { delete(e, name) } }
	set := func(name string, shape []int, x any) func(entries) {
		return func(e entries) { e[name] = archive.Array{Name: name, Shape: shape, Data: x} }
	}
	poke := func(name string, at int, v int32) func(entries) {
		return func(e entries) { e[name].Data.([]int32)[at] = v }
	}
	// index changes a field of the index in the manifest.
	index := func(key string, v any) func(entries) {
		return func(e entries) {
			var mf map[string]any
			if err := json.Unmarshal(e[archive.Name].Data.([]uint8), &mf); err != nil {
				t.Fatal(err)
			}
			mf["settings"].(map[string]any)["fit"].(map[string]any)["neighborhood"].(map[string]any)["index"].(map[string]any)[key] = v
			text, err := json.Marshal(mf)
			if err != nil {
				t.Fatal(err)
			}
			e[archive.Name] = archive.Array{Name: archive.Name, Data: text}
		}
	}
	for _, c := range []struct {
		name   string
		method knn.Method
		change func(entries)
		want   string
	}{
		{"no order", knn.KDTree, remove("index_order"), "index_order"},
		{"order of float64", knn.KDTree, set("index_order", nil, make([]float64, 400)), "index_order"},
		{"square order", knn.KDTree, set("index_order", []int{20, 20}, make([]int32, 400)), "index_order"},
		{"empty order", knn.BallTree, set("index_order", nil, []int32{}), "index_order"},
		{"cut order", knn.BallTree, set("index_order", nil, make([]int32, 40)), "index_order"},
		{"order out of range", knn.KDTree, poke("index_order", 3, 400), "element 3 of index_order is 400"},
		{"order twice", knn.KDTree, set("index_order", nil, make([]int32, 400)), "element 1 of index_order"},
		{"another method", knn.KDTree, index("method", "ball-tree"), "ball-tree"},
		{"unknown method", knn.KDTree, index("method", "oracle"), "oracle"},
		{"index without points", knn.KDTree, remove("points"), "without points"},
		{"fewer points", knn.KDTree, func(e entries) {
			set("points", []int{399, 2}, e["points"].Data.([]float64)[:798])(e)
		}, "399 points"},
		{"no stats", knn.NNDescent, index("stats", nil), "stats"},
		{"no leaf", knn.NNDescent, index("leaf", 0), "at most 0"},
		{"stats of a wrong type", knn.NNDescent, index("stats", "good"), "neighbourhood"},
		{"negative width", knn.NNDescent, index("stats", map[string]any{"k": 5, "width": -8}), "index_neighbors"},
		{"no lists", knn.NNDescent, remove("index_neighbors"), "index_neighbors"},
		{"no splits", knn.NNDescent, remove("index_splits"), "index_splits"},
		{"no thresholds", knn.NNDescent, remove("index_thresholds"), "index_thresholds"},
		{"thresholds of float64", knn.NNDescent, set("index_thresholds", nil, []float64{1, 2, 3}), "index_thresholds"},
		{"more thresholds", knn.NNDescent, set("index_thresholds", nil, make([]float32, 500)), "index_thresholds"},
		{"NaN", knn.NNDescent, func(e entries) { e["index_thresholds"].Data.([]float32)[0] = float32(math.NaN()) }, "element 0 of index_thresholds is NaN"},
		{"turned lists", knn.NNDescent, func(e entries) {
			x := e["index_neighbors"]
			x.Shape = []int{x.Shape[1], x.Shape[0]}
			e["index_neighbors"] = x
		}, "index_neighbors"},
		{"flat splits", knn.NNDescent, set("index_splits", nil, make([]int32, 9)), "index_splits"},
		{"neighbour out of range", knn.NNDescent, poke("index_neighbors", 0, 400), "index_neighbors is 400"},
		{"split of nothing", knn.NNDescent, poke("index_splits", 0, 0), "row 0 of index_splits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := modeltest.Entries(t, files[c.method])
			c.change(e)
			modeltest.WantRefused(t, e, load, c.want)
		})
	}
	// Bits flipped and ends cut anywhere in the arrays of the index, with
	// checksums that hold, give an error or a model that answers.
	r := rand.New(rand.NewPCG(3, 4))
	q, _ := synthetic.TwoMoons(5, 0.2, 7)
	path := filepath.Join(t.TempDir(), "damaged.npz")
	for method, file := range files {
		for range 300 {
			e := modeltest.Entries(t, file)
			var names []string
			for name := range e {
				if strings.HasPrefix(name, "index_") {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			x := e[names[r.IntN(len(names))]]
			cut := r.IntN(4) == 0
			switch d := x.Data.(type) {
			case []int32:
				d[r.IntN(len(d))] ^= 1 << r.IntN(32)
				if rows := r.IntN(x.Shape[0]); cut {
					x.Data = d[:len(d)/x.Shape[0]*rows]
					x.Shape = append([]int{rows}, x.Shape[1:]...)
				}
			case []float32:
				i := r.IntN(len(d))
				d[i] = math.Float32frombits(math.Float32bits(d[i]) ^ 1<<r.IntN(32))
			}
			e[x.Name] = x
			var list []archive.Array
			for _, v := range e {
				list = append(list, v)
			}
			if err := modeltest.Rewrite(path, list); err != nil {
				t.Fatal(err)
			}
			m, _, err := loadModel(path, 0)
			if err != nil {
				if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "index_") {
					t.Fatalf("%v, %s: error %q names no file and array", method, x.Name, err)
				}
				continue
			}
			if _, err := m.Predict(t.Context(), q, nil); err != nil {
				t.Fatalf("%v, %s: %v", method, x.Name, err)
			}
		}
	}
}
