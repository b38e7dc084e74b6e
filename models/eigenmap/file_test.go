package eigenmap

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/pca"
	"github.com/bigfit/bigfit/sparse"
)

func TestSaveLoad(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1600000000") // the files of two seconds are equal
	digits, truth := synthetic.Digits(200, 1)
	projection, err := pca.New(t.Context(), digits, 12)
	if err != nil {
		t.Fatal(err)
	}
	projected, err := projection.Apply(digits)
	if err != nil {
		t.Fatal(err)
	}
	moons, moonTruth := synthetic.TwoMoons(200, 0.1, 1)
	y, err := truth.Draw(60, 1)
	if err != nil {
		t.Fatal(err)
	}
	two, err := moonTruth.Draw(10, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		x    data.Points
		pca  *pca.Projection
		y    *data.Labels
		s    *Settings
		kind sparse.Kind
		q    data.Points
	}{
		{"uint8", digits, nil, y, &Settings{Penalty: Iterated}, sparse.Normalized, digits},
		{"float32, PCA", projected, projection, y, nil, sparse.Combinatorial, digits},
		{"float64, two classes", moons, nil, two, &Settings{Eigenvectors: 4}, sparse.RandomWalk, moons},
		{"sparse", data.ToSparse(digits), nil, y, &Settings{Penalty: HeatKernel, Gamma: 0.1}, sparse.Combinatorial, data.ToSparse(digits)},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fitted(t, modeltest.NewProblem(t, c.x, knn.GraphSettings{K: 6, Weights: knn.Heat}, c.kind, 20), c.y, c.s)
			m.PCA = c.pca
			path := filepath.Join(t.TempDir(), "model.npz")
			hashes := map[string]string{"points": "abc"}
			if err := models.Save(path, m, hashes); err != nil {
				t.Fatal(err)
			}
			got, mf, err := loadModel(path, 0)
			if err != nil {
				t.Fatal(err)
			}
			if mf.Learner != Name || mf.Output.Columns != len(m.Classes) || !reflect.DeepEqual(mf.Hashes, hashes) {
				t.Errorf("manifest %+v", mf)
			}
			if !reflect.DeepEqual(got, m) {
				t.Errorf("other model after saving and loading:\n%+v\n%+v", got, m)
			}
			for _, e := range []models.Extension{models.LabelKNN, models.Nystrom} {
				s := &models.PredictSettings{Extension: e}
				want, err := m.Predict(context.Background(), c.q, s)
				if err != nil {
					t.Fatal(err)
				}
				have, err := got.Predict(context.Background(), c.q, s)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(have.Classes, want.Classes) || !mat.Equal(have.Scores, want.Scores) {
					t.Errorf("%v: other answers after saving and loading", e)
				}
			}
			again := filepath.Join(t.TempDir(), "again.npz")
			if err := models.Save(again, got, hashes); err != nil {
				t.Fatal(err)
			}
			a, _ := os.ReadFile(path)
			b, _ := os.ReadFile(again)
			if !slices.Equal(a, b) {
				t.Error("the file of the model loaded differs")
			}
			if _, _, err := loadModel(path, 100); err == nil {
				t.Error("a limit of 100 bytes: no error")
			}
		})
	}
	// Without points.
	m := smallFitted(t)
	m.Points = nil
	path := filepath.Join(t.TempDir(), "model.npz")
	if err := models.Save(path, m, nil); err != nil {
		t.Fatal(err)
	}
	if got, _, err := loadModel(path, 0); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("without points: %+v, %v", got, err)
	}
	if err := models.Save(filepath.Join(t.TempDir(), "no", "such", "folder", "m.npz"), m, nil); err == nil {
		t.Error("saved to a folder that does not exist")
	}
}

func TestLoadMalformed(t *testing.T) {
	dense := smallFitted(t)
	withPCA := smallFitted(t)
	withPCA.PCA = &pca.Projection{Mean: []float64{1, 2, 3}, Components: mat.NewDense(2, 3, []float64{1, 0, 0, 0, 1, 0}), Variance: []float64{2, 1}, Total: 3}
	csr := smallFitted(t)
	csr.Points = data.ToSparse(dense.Points)
	files := map[string]string{}
	for name, m := range map[string]*Model{"dense": dense, "pca": withPCA, "sparse": csr} {
		files[name] = filepath.Join(t.TempDir(), name+".npz")
		if err := models.Save(files[name], m, nil); err != nil {
			t.Fatal(err)
		}
		if _, _, err := loadModel(files[name], 0); err != nil {
			t.Fatal(err)
		}
	}
	type entries = map[string]archive.Array
	remove := func(name string) func(entries) { return func(e entries) { delete(e, name) } }
	set := func(name string, shape []int, x any) func(entries) {
		return func(e entries) { e[name] = archive.Array{Name: name, Shape: shape, Data: x} }
	}
	poke := func(name string, at int, v float64) func(entries) {
		return func(e entries) { e[name].Data.([]float64)[at] = v }
	}
	// settings changes a field of the manifest's settings; keys are a path.
	settings := func(v any, keys ...string) func(entries) {
		return func(e entries) {
			var mf map[string]any
			if err := json.Unmarshal(e[archive.Name].Data.([]uint8), &mf); err != nil {
				t.Fatal(err)
			}
			at := mf
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
	nan := math.NaN()
	for _, c := range []struct {
		name, file string
		change     func(entries)
		want       string
	}{
		{"no manifest", "dense", remove(archive.Name), "manifest"},
		{"no classes", "dense", remove("classes"), "classes"},
		{"no values", "dense", remove("values"), "values"},
		{"no coefficients", "dense", remove("coefficients"), "coefficients"},
		{"no labels", "dense", remove("labels"), "labels"},
		{"no vectors", "dense", remove("vectors"), "vectors"},
		{"no degrees", "dense", remove("degrees"), "degrees"},
		{"no variance", "pca", remove("pca_variance"), "pca_variance"},
		{"no total", "pca", remove("pca_total"), "pca_total"},
		{"no components", "pca", remove("pca_components"), "pca_components"},
		{"no indices", "sparse", remove("points_indices"), "points_indices"},
		{"no shape", "sparse", remove("points_shape"), "points_shape"},

		{"fewer values", "dense", set("values", nil, []float64{0, 1}), "2 values for 3"},
		{"fewer degrees", "dense", set("degrees", nil, []float64{0, 1}), "2 degrees"},
		{"fewer labels", "dense", set("labels", nil, []int32{0, 1}), "2 labels"},
		{"fewer vectors", "dense", set("vectors", []int{60, 2}, make([]float64, 120)), "60×2"},
		{"flat vectors", "dense", set("vectors", []int{180}, make([]float64, 180)), "vectors"},
		{"no rows", "dense", set("vectors", []int{0, 3}, []float64{}), "vectors"},
		{"coefficients for ten classes", "dense", set("coefficients", []int{3, 10}, make([]float64, 30)), "3×10"},
		{"one class", "dense", set("classes", nil, []int64{5}), "1 classes"},
		{"no class", "dense", set("classes", nil, []int64{}), "0 classes"},
		{"classes of float64", "dense", set("classes", nil, []float64{0, 1}), "classes"},
		{"values of float32", "dense", set("values", nil, []float32{0, 1, 2}), "values"},
		{"fewer points", "dense", set("points", []int{59, 2}, make([]float64, 118)), "59 points"},
		{"points of another dimension", "pca", set("points", []int{60, 3}, make([]float64, 180)), "principal components"},
		{"mean of another dimension", "pca", set("pca_mean", nil, make([]float64, 4)), "principal components"},
		{"more variances", "pca", set("pca_variance", nil, make([]float64, 4)), "4 variances"},
		{"short shape", "sparse", set("points_shape", nil, []int64{60}), "points_shape"},
		{"negative shape", "sparse", set("points_shape", nil, []int64{-60, 2}), "points"},
		{"narrow shape", "sparse", set("points_shape", nil, []int64{60, 1}), "points"},
		{"short shape of rows", "sparse", set("points_shape", nil, []int64{61, 2}), "points"},

		{"NaN in values", "dense", poke("values", 1, nan), "element 1 of values is NaN"},
		{"NaN in coefficients", "dense", poke("coefficients", 2, nan), "element 2 of coefficients is NaN"},
		{"Inf in vectors", "dense", poke("vectors", 7, math.Inf(-1)), "element 7 of vectors is -Inf"},
		{"NaN in degrees", "dense", poke("degrees", 3, nan), "element 3 of degrees is NaN"},
		{"negative degree", "dense", poke("degrees", 3, -2), "degree -2 of point 3"},
		{"NaN in points", "dense", poke("points", 5, nan), "NaN"},
		{"NaN in sparse points", "sparse", poke("points_data", 5, nan), "NaN"},
		{"NaN in the mean", "pca", poke("pca_mean", 0, nan), "element 0 of pca_mean is NaN"},
		{"NaN in the components", "pca", poke("pca_components", 0, nan), "element 0 of pca_components is NaN"},
		{"unknown label", "dense", func(e entries) { e["labels"].Data.([]int32)[9] = 2 }, "label 2 of point 9"},
		{"unlabeled", "dense", func(e entries) { e["labels"].Data.([]int32)[9] = -1 }, "label -1 of point 9"},
		{"column out of range", "sparse", func(e entries) { e["points_indices"].Data.([]int32)[9] = 2 }, "points"},

		{"manifest is no JSON", "dense", set(archive.Name, nil, []uint8("{")), "JSON"},
		{"manifest of a graph", "dense", settings(archive.Graph, "format"), "bigfit graph"},
		{"later version", "dense", settings(99, "version"), "version 99"},
		{"another model", "dense", settings("nosuch", "settings", "model"), "nosuch"},
		{"settings of a wrong type", "dense", settings("many", "settings", "fit", "labeled"), "fit"},
		{"unknown metric", "dense", settings("taxi", "settings", "fit", "neighborhood", "metric"), "taxi"},
		{"unknown Laplacian", "dense", settings("cubic", "settings", "params", "laplacian"), "cubic"},
		{"more eigenvectors", "dense", settings(4, "settings", "params", "eigenvectors"), "4 eigenvectors"},
		{"no eigenvectors", "dense", settings(0, "settings", "params", "eigenvectors"), "eigenvectors is 0"},
		{"fallback out of range", "dense", settings(2, "settings", "fit", "fallback"), "fallback class 2"},
		{"negative fallback", "dense", settings(-1, "settings", "fit", "fallback"), "fallback class -1"},
		{"no graph", "dense", settings(0, "settings", "fit", "neighborhood", "edges", "k"), "neither"},
		{"heat without t", "dense", settings("heat", "settings", "fit", "neighborhood", "edges", "weights"), "t = 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := modeltest.Entries(t, files[c.file])
			c.change(e)
			modeltest.WantRefused(t, e, load, c.want)
		})
	}
	// A file cut off anywhere is an error.
	whole, err := os.ReadFile(files["dense"])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.npz")
	for cut := 0; cut < len(whole); cut += 97 {
		if err := os.WriteFile(path, whole[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := loadModel(path, 0); err == nil {
			t.Fatalf("%d of %d bytes: no error", cut, len(whole))
		}
	}
}
