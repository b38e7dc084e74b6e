package main

import (
	"encoding/json"
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// python runs a script; exit code 77 says that it lacks a package.
func python(t *testing.T, script string) {
	t.Helper()
	out, err := exec.Command("/usr/bin/python3", "-c", script).CombinedOutput()
	if code := (*exec.ExitError)(nil); errors.As(err, &code) && code.ExitCode() != 77 {
		t.Errorf("%s", out)
	} else if err != nil {
		t.Skip("/usr/bin/python3 with NumPy, SciPy and scikit-learn: ", err)
	}
}

// archive reads two arrays of a file of neighbours.
func openArchive(t *testing.T, path string) (shape []int, index []int64, dist []float64) {
	t.Helper()
	a, err := npy.OpenArchive(path, 0)
	must(t, err)
	defer a.Close()
	i, err := a.Read("indices")
	must(t, err)
	d, err := a.Read("distances")
	must(t, err)
	index, err = i.Int64s()
	must(t, err)
	dist, err = d.Float64s()
	must(t, err)
	return i.Shape, index, dist
}

// scikit-learn finds the same neighbours at the same distances, in every form.
func TestNeighborsBesideScikitLearn(t *testing.T) {
	if testing.Short() {
		t.Skip("importing scikit-learn takes seconds")
	}
	intoBlobs(t)
	for _, line := range []string{"-o plain.npz", "-o self.npz --with-self", "-o csr.npz --csr", "-o both.npz --csr --with-self", "-o query.npz --query new.npy", "-o l1.npz --distance manhattan"} {
		succeed(t, append(strings.Fields("neighbors X.npy -k 7 -q"), strings.Fields(line)...)...)
	}
	python(t, `
import sys
try:
    import numpy as np, scipy.sparse as sp
    from sklearn.neighbors import NearestNeighbors, KNeighborsClassifier
except ImportError:
    sys.exit(77)
x, q = np.load("X.npy").astype(float), np.load("new.npy").astype(float)
def same(name, dist, index, of=x, metric="euclidean"):
    a = np.load(name)
    assert a["indices"].dtype == np.int32 and a["indices"].shape == dist.shape, name
    assert np.allclose(a["distances"], dist, rtol=1e-12, atol=1e-6), name
    ties = a["indices"] != index # of equal distance only
    true = np.linalg.norm(of[:, None] - x[a["indices"]], axis=2, ord=1 if metric == "manhattan" else 2)
    assert np.allclose(true, a["distances"]) and ties.mean() < 0.3, (name, ties.mean())
for metric, name in (("euclidean", "plain.npz"), ("manhattan", "l1.npz")):
    m = NearestNeighbors(n_neighbors=7, metric=metric, algorithm="brute" if metric == "euclidean" else "auto").fit(x)
    same(name, *m.kneighbors(), metric=metric)
m = NearestNeighbors(n_neighbors=7, algorithm="brute").fit(x)
same("self.npz", *m.kneighbors(x))
same("query.npz", *m.kneighbors(q), of=q)
for name, include in (("csr.npz", False), ("both.npz", True)):
    a = sp.load_npz(name)
    b = m.kneighbors_graph(None if not include else x, mode="distance")
    assert a.shape == b.shape and a.nnz == b.nnz and np.allclose(a.data, b.data, atol=1e-6), name
assert (sp.load_npz("both.npz").indices.reshape(-1, 7)[:, 0] == np.arange(len(x))).all()
KNeighborsClassifier(3, metric="precomputed").fit(sp.load_npz("both.npz"), np.arange(len(x)) % 2)
`)
}

// A graph of the file is the graph of the points, whatever its form.
func TestNeighborsMakeGraphs(t *testing.T) {
	intoBlobs(t)
	var s struct {
		pipeline.NeighborsSummary
		Found *knn.Recall `json:"recall_found"`
	}
	must(t, json.Unmarshal([]byte(succeed(t, strings.Fields("neighbors X.npy -k 9 --pca 4 --distance angle --json -q")...)), &s))
	if s.Points != blobCount || s.K != 9 || s.Method != knn.Brute && s.Method != knn.BallTree || s.Entries != 9*blobCount || s.PCA != 4 || s.Found != nil {
		t.Errorf("%+v", s)
	}
	succeed(t, strings.Fields("neighbors X.npy -k 10 --pca 4 --distance angle --with-self -o self.npz -q")...)
	shape, index, dist := openArchive(t, "self.npz")
	if !slices.Equal(shape, []int{blobCount, 10}) || index[10] != 1 || dist[10] != 0 {
		t.Errorf("shape %v, row 1 begins with %d at %v", shape, index[10], dist[10])
	}
	for _, weights := range []string{"heat", "umap", "gauss", "jaccard"} {
		graph := strings.Fields("graph -k 9 -q --weights " + weights + " -o ")
		succeed(t, append(graph, "want.npz", "X.npy", "--pca", "4", "--distance", "angle")...)
		for _, file := range []string{"knn.npz", "self.npz"} {
			succeed(t, append(graph, "got.npz", "--lists", file)...)
			if !slices.Equal(sparseMatrix(t, "got.npz"), sparseMatrix(t, "want.npz")) {
				t.Errorf("%s: a graph of %s is another than one of the points", weights, file)
			}
		}
	}
	succeed(t, strings.Fields("neighbors X.npy -k 5 --distance inner-product -o products.npz -q")...)
	succeed(t, strings.Fields("graph X.npy -k 5 --distance inner-product -o want.npz -q")...)
	succeed(t, strings.Fields("graph --lists products.npz -k 5 -o got.npz -q")...)
	if !slices.Equal(sparseMatrix(t, "got.npz"), sparseMatrix(t, "want.npz")) {
		t.Error("a graph of inner products is another than one of the points")
	}
	fail(t, 2, []string{"products.npz", "heat weights need distances"}, strings.Fields("graph --lists products.npz -k 5 --weights heat -q")...)
	must(t, json.Unmarshal([]byte(succeed(t, strings.Fields("neighbors X.npy -k 9 --method nn-descent --json -q")...)), &s))
	if s.Found == nil || s.Method != knn.NNDescent || !(s.Found.Share > 0.9) {
		t.Errorf("%+v", s)
	}
	if info := succeed(t, "info", "knn.npz"); !strings.Contains(info, `"method":"nn-descent"`) {
		t.Error(info)
	}
}

// A model answers through the weights of its graph, whatever they are.
func TestPredictWithListWeights(t *testing.T) {
	intoBlobs(t)
	for _, weights := range []string{"umap", "gauss", "jaccard"} {
		for _, model := range []string{"harmonic", "lgc", "eigenmap"} {
			succeed(t, strings.Fields("fit -X X.npy -y y.npy --model "+model+" -k 8 -q -o m.npz --weights "+weights)...)
			line := "predict m.npz -X new.npy -q -o a.npy"
			if model == "eigenmap" {
				line += " --extension nystrom"
			}
			out := succeed(t, strings.Fields(line+" -y newy.npy")...)
			if !strings.Contains(out, "error 0.00 %") {
				t.Errorf("%s, %s: %s", model, weights, out)
			}
		}
		fail(t, 2, []string{weights + " weights", "give a number of neighbours"}, strings.Fields("graph X.npy --radius 3 -q -o g.npz --weights "+weights)...)
	}
}

func TestBadNeighbors(t *testing.T) {
	intoBlobs(t)
	succeed(t, strings.Fields("neighbors X.npy --query new.npy -q -o query.npz")...)
	succeed(t, strings.Fields("neighbors X.npy --csr -q -o csr.npz")...)
	must(t, npy.WriteFile("I.npy", []int{3, 2}, []int64{1, 2, 0, 2, 1, 0}))
	must(t, npy.WriteFile("D.npy", []int{3, 2}, []float64{5, 1, 5, 2, 2, 1}))
	must(t, npy.WriteFile("narrow.npy", []int{3, 2}, []float64{1, 2, 3, 4, 5, 6}))
	if o := bigfit(t, strings.Fields("graph --lists I.npy,D.npy -o g.npz")...); o.code != 0 || !strings.Contains(o.stderr, "I.npy,D.npy: lists of 2 neighbours of 3 points, with inner products of vectors that are not of length 1") {
		t.Errorf("%+v", o)
	}
	if o := bigfit(t, strings.Fields("graph --lists I.npy,D.npy --lists-kind squared --weights heat -o g.npz")...); o.code != 0 || !strings.Contains(o.stderr, "squared distances") {
		t.Errorf("%+v", o)
	}
	for _, c := range []struct {
		line string
		want []string
	}{
		{"graph --lists I.npy,D.npy --weights umap -o g.npz", []string{"I.npy,D.npy", "umap weights need distances"}},
		{"graph --lists query.npz -o g.npz", []string{"query.npz", "--query"}},
		{"graph --lists csr.npz -o g.npz", []string{"csr.npz", "--csr"}},
		{"graph --lists X.npy -o g.npz", []string{"X.npy"}},
		{"graph --lists I.npy,D.npy --lists-kind cubed -o g.npz", []string{"--lists-kind", "cubed", "squared"}},
		{"neighbors X.npy -k 90", []string{"--neighbors is 90"}},
		{"neighbors X.npy -k 1 --with-self", []string{"--neighbors is 1", "at least 2"}},
		{"neighbors X.npy --with-self --query new.npy", []string{"--with-self is for the points of X"}},
		{"neighbors X.npy --query new.npy --checkpoint c", []string{"--checkpoint"}},
		{"neighbors X.npy --query narrow.npy", []string{"2 columns"}},
		{"neighbors X.npy -o knn.npy", []string{"knn.npy", ".npz"}},
		{"neighbors X.npy --radius 3 -k 2", []string{"--neighbors is not for --radius"}},
		{"neighbors X.npy --radius 3 --query new.npy", []string{"--query is not for --radius"}},
		{"neighbors", []string{"the file of the points"}},
	} {
		fail(t, 2, c.want, append(strings.Fields(c.line), "-q")...)
	}
}

// sparseMatrix is the matrix in a file of a graph, without what it keeps of the search.
func sparseMatrix(t *testing.T, path string) []float64 {
	t.Helper()
	w, err := sparse.ReadNPZ(path, 0)
	must(t, err)
	out := slices.Clone(w.Val)
	for _, p := range w.Ptr {
		out = append(out, float64(p))
	}
	for _, c := range w.Col {
		out = append(out, float64(c))
	}
	return out
}
