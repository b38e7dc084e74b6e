package pipeline_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	kinds "github.com/bigfit/bigfit/knn/lists"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// graphOf makes a graph with settings that are not the defaults.
func graphOf(t *testing.T) (*data.Dense[float64], *pipeline.Graph) {
	t.Helper()
	x, _ := clusters(80, 3)
	g, err := (&pipeline.Pipeline{}).Graph(t.Context(), x, &pipeline.GraphSettings{PCA: 3, Graph: knn.GraphSettings{K: 5, Symmetry: sparse.Both, Weights: knn.Heat}, Method: knn.KDTree})
	if err != nil {
		t.Fatal(err)
	}
	return x, g
}

func sameGraph(t *testing.T, got, want *models.Graph) {
	t.Helper()
	if !reflect.DeepEqual(got.W, want.W) || !reflect.DeepEqual(got.Degrees, want.Degrees) || got.Components.Count() != want.Components.Count() {
		t.Error("the graph is another one")
	}
}

func TestGraphFile(t *testing.T) {
	x, g := graphOf(t)
	path := filepath.Join(t.TempDir(), "g.npz")
	if err := pipeline.SaveGraph(path, g, pipeline.Hashes{pipeline.HashPoints: data.HashPoints(x)}); err != nil {
		t.Fatal(err)
	}
	got, err := pipeline.OpenGraph(path, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	sameGraph(t, &got.Graph.Graph, &g.Graph)
	if !reflect.DeepEqual(got.Settings, g.Settings) || got.Made[pipeline.HashPoints] != data.HashPoints(x) {
		t.Errorf("settings %+v, want %+v; hashes %v", got.Settings, g.Settings, got.Made)
	}
	// New points join it as they joined the one that was made.
	if got.Metric != g.Metric || got.Method != knn.KDTree || got.Edges != g.Edges || got.Edges.T <= 0 || got.Points != nil {
		t.Errorf("the neighbourhood %+v", got.Neighborhood)
	}
	// The settings of the manifest count, those given do not.
	again, err := pipeline.OpenGraph(path, 0, &pipeline.GraphSettings{PCA: 9, Method: knn.Brute})
	if err != nil || !reflect.DeepEqual(again.Settings, g.Settings) {
		t.Errorf("with other settings: %+v, %v", again, err)
	}
	if _, err := pipeline.OpenGraph(path, 100, nil); err == nil {
		t.Error("a graph was read into 100 bytes")
	}
	if _, err := pipeline.OpenGraph(filepath.Join(t.TempDir(), "no.npz"), 0, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A graph of SciPy has the settings that are given, and no hashes.
func TestForeignGraphFile(t *testing.T) {
	_, g := graphOf(t)
	path := filepath.Join(t.TempDir(), "g.npz")
	if err := sparse.WriteNPZ(path, g.W, nil); err != nil {
		t.Fatal(err)
	}
	got, err := pipeline.OpenGraph(path, 0, &pipeline.GraphSettings{Metric: knn.Angle})
	if err != nil {
		t.Fatal(err)
	}
	sameGraph(t, &got.Graph.Graph, &g.Graph)
	if got.Made != nil || got.Metric != knn.Angle || got.Settings.Metric != knn.Angle || got.Edges.K != pipeline.DefaultNeighbors {
		t.Errorf("settings %+v, neighbourhood %+v, hashes %v", got.Settings, got.Neighborhood, got.Made)
	}
	if err := got.Made.Agree(pipeline.HashPoints, "abc", path, "X.npy"); err != nil {
		t.Errorf("there is nothing to compare: %v", err)
	}
	directed := &sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 1}, Col: []int32{1}, Val: []float64{1}}
	if err := sparse.WriteNPZ(path, directed, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.OpenGraph(path, 0, nil); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a matrix that is not symmetric: %v", err)
	}
}

func TestHashesAgree(t *testing.T) {
	made := pipeline.Hashes{pipeline.HashPoints: "0123456789abcdef", pipeline.HashLabels: ""}
	for _, c := range []struct {
		key, hash string
		want      []string
	}{
		{pipeline.HashPoints, "0123456789abcdef", nil},
		{pipeline.HashPoints, "", nil},
		{pipeline.HashLabels, "x", nil},
		{pipeline.HashGraph, "x", nil},
		{pipeline.HashPoints, "fedcba9876543210", []string{"g.npz", "X.npy", "0123456789ab…", "fedcba987654…", "make it again"}},
	} {
		err := made.Agree(c.key, c.hash, "g.npz", "X.npy")
		if (err != nil) != (c.want != nil) {
			t.Errorf("%s %q: %v", c.key, c.hash, err)
		}
		for _, text := range c.want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%q is not in %v", text, err)
			}
		}
	}
}

// eigsOf computes eigenpairs of a graph.
func eigsOf(t *testing.T, g *pipeline.Graph) (*lanczos.Result, *pipeline.EigsSettings) {
	t.Helper()
	s := &pipeline.EigsSettings{Laplacian: sparse.Normalized, K: 4, Tolerance: 1e-10, Seed: 2, Graph: g.Settings}
	r, err := (&pipeline.Pipeline{Seed: 2}).Eigenpairs(t.Context(), &g.Graph, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

func TestEigsFile(t *testing.T) {
	_, g := graphOf(t)
	r, s := eigsOf(t, g)
	path := filepath.Join(t.TempDir(), "e.npz")
	hashes := pipeline.Hashes{pipeline.HashGraph: data.HashPoints(g.W)}
	if err := pipeline.SaveEigs(path, r, &g.Graph, s, hashes); err != nil {
		t.Fatal(err)
	}
	for what, given := range map[string]*pipeline.Graph{"alone": nil, "with its graph": g} {
		e, err := pipeline.OpenEigs(path, 0, given, "g.npz")
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(e.Pairs.Vectors, r.Vectors) || !reflect.DeepEqual(e.Pairs.Values, r.Values) || !reflect.DeepEqual(e.Settings, s) {
			t.Errorf("%s: other pairs, or settings %+v, want %+v", what, e.Settings, s)
		}
		if !reflect.DeepEqual(e.Graph.Degrees, g.Degrees) || e.Graph.Components.Count() != g.Components.Count() || !reflect.DeepEqual(e.Graph.Settings, g.Settings) ||
			e.Graph.Edges != g.Edges || (e.Graph.W != nil) != (given != nil) || !reflect.DeepEqual(e.Made, map[string]string(hashes)) && !reflect.DeepEqual(e.Made, hashes) {
			t.Errorf("%s: the graph %+v, hashes %v", what, e.Graph.Settings, e.Made)
		}
	}
	other, err := (&pipeline.Pipeline{}).Graph(t.Context(), g.Points, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.OpenEigs(path, 0, other, "other.npz"); err == nil || !strings.Contains(err.Error(), "was not made from the graph in other.npz") {
		t.Errorf("with another graph: %v", err)
	}
	small := &pipeline.Graph{Graph: *models.NewGraph(&sparse.CSR{Rows: 3, Cols: 3, Ptr: make([]int64, 4)})}
	if _, err := pipeline.OpenEigs(path, 0, small, "small.npz"); err == nil || !strings.Contains(err.Error(), "of 80 points, but the graph has 3") {
		t.Errorf("with a graph of other points: %v", err)
	}
	s.Largest = true
	if err := pipeline.SaveEigs(path, r, &g.Graph, s, hashes); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.OpenEigs(path, 0, nil, ""); err == nil || !strings.Contains(param.Plain(err.Error()), "without largest") {
		t.Errorf("the largest pairs: %v", err)
	}
}

// Eigenpairs of another program need a graph, and vectors that can be squared.
func TestForeignEigsFile(t *testing.T) {
	_, g := graphOf(t)
	r, _ := eigsOf(t, g)
	path := filepath.Join(t.TempDir(), "e.npz")
	if err := (&lanczos.File{Result: r}).Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.OpenEigs(path, 0, nil, ""); err == nil || !strings.Contains(err.Error(), "the graph is needed too") {
		t.Errorf("without a graph: %v", err)
	}
	e, err := pipeline.OpenEigs(path, 0, g, "g.npz")
	if err != nil {
		t.Fatal(err)
	}
	if e.Made != nil || e.Settings != nil || !mat.Equal(e.Pairs.Vectors, r.Vectors) || !reflect.DeepEqual(e.Graph.Settings, g.Settings) {
		t.Errorf("settings %+v of a graph %+v, hashes %v", e.Settings, e.Graph.Settings, e.Made)
	}
	huge := *r
	huge.Vectors = mat.DenseCopyOf(r.Vectors)
	huge.Vectors.Set(7, 2, 1e120)
	if err := (&lanczos.File{Result: &huge}).Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.OpenEigs(path, 0, g, "g.npz"); err == nil || !strings.Contains(err.Error(), "row 7, column 2") {
		t.Errorf("an entry of 1e120: %v", err)
	}
}

// A model of pairs and a graph from files has the bits of one of pairs that were
// made; the graph's file adds how new points join.
func TestFitOnFiles(t *testing.T) {
	x, g := graphOf(t)
	_, y := few(t, 80)
	r, s := eigsOf(t, g)
	dir := t.TempDir()
	graphPath, eigsPath := filepath.Join(dir, "g.npz"), filepath.Join(dir, "e.npz")
	if err := pipeline.SaveGraph(graphPath, g, nil); err != nil {
		t.Fatal(err)
	}
	if err := pipeline.SaveEigs(eigsPath, r, &g.Graph, s, nil); err != nil {
		t.Fatal(err)
	}
	p := &pipeline.Pipeline{Seed: 2}
	values := models.Values{"eigenvectors": "4", "laplacian": "normalized"}
	want := fit(t, p, "eigenmap", &models.Input{Points: x, Targets: y, Values: values, Graph: &g.Graph, Pairs: r, Laplacian: sparse.Normalized}, nil)
	file, err := pipeline.OpenGraph(graphPath, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, given := range map[string]*pipeline.Graph{"pairs alone": nil, "both": &file.Graph} {
		e, err := pipeline.OpenEigs(eigsPath, 0, given, graphPath)
		if err != nil {
			t.Fatal(err)
		}
		m := fit(t, p, "eigenmap", &models.Input{Points: x, Targets: y, Values: values, Graph: &e.Graph.Graph, Pairs: e.Pairs, Laplacian: e.Settings.Laplacian}, &e.Graph.Settings)
		sameBits(t, what, training(t, m), training(t, want))
		sameBits(t, what+", new points", predict(t, m, x), predict(t, want, x))
	}
}

// A graph of lists that were found on projected points takes the points of the lists: the projection is made anew.
func TestGraphOfProjectedLists(t *testing.T) {
	x, _ := clusters(90, 3)
	p := &pipeline.Pipeline{}
	for _, s := range []*pipeline.GraphSettings{
		{PCA: 2, Graph: knn.GraphSettings{K: 6}, Method: knn.Brute},
		{Standardize: true, Graph: knn.GraphSettings{K: 6}, Method: knn.Brute},
	} {
		direct, nb, err := p.Neighbors(t.Context(), x, s)
		if err != nil {
			t.Fatal(err)
		}
		found := filepath.Join(t.TempDir(), "nb.npz")
		if err := pipeline.NewNeighborsFile(direct, nb, false, pipeline.Hashes{pipeline.HashPoints: data.HashPoints(x)}).Save(found); err != nil {
			t.Fatal(err)
		}
		g, hashes, err := p.GraphOfLists(found, kinds.Auto, &pipeline.GraphSettings{Graph: knn.GraphSettings{K: 5}})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "g.npz")
		if err := pipeline.SaveGraph(path, g, hashes); err != nil {
			t.Fatal(err)
		}

		read, err := pipeline.OpenGraph(path, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := read.ReadKept(0); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		joined, err := p.Join(t.Context(), &read.Graph.Graph, x, &read.Settings)
		if err != nil {
			t.Fatal(err)
		}
		if joined.PCA == nil || data.HashPoints(joined.Points) != data.HashPoints(direct.Points) {
			t.Errorf("%+v: the points that joined are not those of the search", s)
		}
	}
}
