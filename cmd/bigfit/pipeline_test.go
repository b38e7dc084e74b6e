package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// errorOf fits or predicts with --json and returns the error in the summary.
func errorOf(t *testing.T, args ...string) float64 {
	t.Helper()
	var s struct {
		Error *float64 `json:"error"`
	}
	out := succeed(t, append(args, "--json", "-q")...)
	if err := json.Unmarshal([]byte(out), &s); err != nil || s.Error == nil {
		t.Fatalf("%v: %v in %q", args, err, out)
	}
	return *s.Error
}

func TestWholeWay(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy", "-k", "6", "-o", "graph.npz")
	succeed(t, "eigs", "graph.npz", "-n", "8", "-o", "eigs.npz")
	draw := []string{"-y", "y.npy", "--labels", "12", "--seed", "3", "-p", "8"}
	fit := func(out string, sources ...string) []byte {
		t.Helper()
		args := append([]string{"fit", "--model", "eigenmap", "-o", out + ".npz", "--predictions", out + ".npy"}, append(draw, sources...)...)
		if e := errorOf(t, args...); e > 5 {
			t.Errorf("fit %v: error %v %%", sources, e)
		}
		return readFile(t, out+".npy")
	}
	want := fit("x", "-X", "X.npy", "-k", "6")
	for _, c := range []struct {
		name    string
		sources []string
	}{
		{"xg", []string{"-X", "X.npy", "--graph", "graph.npz"}},
		{"xe", []string{"-X", "X.npy", "--eigs", "eigs.npz"}},
		{"xge", []string{"-X", "X.npy", "--graph", "graph.npz", "--eigs", "eigs.npz"}},
		{"g", []string{"--graph", "graph.npz"}},
		{"e", []string{"--eigs", "eigs.npz"}},
		{"ge", []string{"--graph", "graph.npz", "--eigs", "eigs.npz"}},
	} {
		if got := fit(c.name, c.sources...); !bytes.Equal(got, want) {
			t.Errorf("fit %v: other predictions than from X", c.sources)
		}
		whole := "g.npz"
		if c.name[0] == 'x' {
			whole = "x.npz"
		}
		// Eigenpairs of a file are those of the whole graph: of equal values another basis.
		if !strings.Contains(c.name, "e") && content(t, c.name+".npz") != content(t, whole) {
			t.Errorf("fit %v: %s.npz differs from %s", c.sources, c.name, whole)
		}
	}

	for _, extension := range []string{"knn", "nystrom"} {
		args := []string{"predict", "xge.npz", "-X", "new.npy", "-y", "newy.npy", "--extension", extension, "-o", "new_pred.npy", "--scores", "scores.npy"}
		if e := errorOf(t, args...); e > 10 {
			t.Errorf("%s: error %v %%", extension, e)
		}
		x, err := data.ReadPoints("scores.npy", data.ReadOptions{})
		must(t, err)
		if n, c := x.Dims(); n != blobCount || c != 3 {
			t.Errorf("scores are %d×%d", n, c)
		}
		y, err := data.ReadLabels("new_pred.npy", data.LabelOptions{})
		must(t, err)
		if y.Len() != blobCount || len(y.Classes) != 3 || y.Classes[2] != 20 {
			t.Errorf("predictions are %d labels of %v", y.Len(), y.Classes)
		}
	}
	succeed(t, "predict", "g.npz", "-o", "train.npy", "--scores", "scores.npy")
	if !bytes.Equal(readFile(t, "train.npy"), want) {
		t.Error("predict without -X differs from fit --predictions")
	}
	fail(t, 2, []string{"without points"}, "predict", "g.npz", "-X", "new.npy", "-o", "none.npy")
	fail(t, 2, []string{"3 columns", "of 4"}, "predict", "x.npz", "-X", threeColumns(t), "-o", "none.npy")

	for file, words := range map[string][]string{
		"X.npy":     {"npy", "float64", "90 × 4"},
		"graph.npz": {"scipy", "indptr", "graph: 90 points", "components", `"k":6`},
		"eigs.npz":  {"vectors", "90 × 8", "bigfit eigs"},
		"x.npz":     {"coefficients", "bigfit model"},
		"train.npy": {"int64"},
	} {
		out := succeed(t, "info", file)
		for _, w := range words {
			if !strings.Contains(out, w) {
				t.Errorf("info %s lacks %q: %s", file, w, out)
			}
		}
		if out := succeed(t, "info", file, "--json"); !json.Valid([]byte(out)) {
			t.Errorf("info %s --json: %q", file, out)
		}
	}
}

func threeColumns(t *testing.T) string {
	writeFile(t, "three.csv", []byte("1,2,3\n4,5,6\n"))
	return "three.csv"
}

func TestFormats(t *testing.T) {
	t.Chdir(t.TempDir())
	x, y := blobs(blobCount, 1)
	var want []byte
	for name, f := range formats(t, x, y) {
		if e := errorOf(t, "fit", "--model", "eigenmap", "-X", f[0], "-y", f[1], "--labels", "10", "--predictions", "p.npy"); e > 10 {
			t.Errorf("%s: error %v %%", name, e)
		}
		got := readFile(t, "p.npy")
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other predictions than from other formats", name)
		}
		if e := errorOf(t, "predict", "model.npz", "-X", f[0], "-y", f[1]); e > 10 {
			t.Errorf("%s: prediction error %v %%", name, e)
		}
		succeed(t, "info", strings.Split(f[0], ":")[0])
	}
}

// A graph and eigenpairs of other programs carry no manifest.
func TestForeignGraph(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy", "-k", "6")
	stripManifest(t, "graph.npz", "foreign.npz")
	succeed(t, "eigs", "foreign.npz", "-n", "8")
	errorOf(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "12", "-p", "8", "--graph", "foreign.npz")
	for _, extension := range []string{"knn", "nystrom"} {
		if e := errorOf(t, "predict", "model.npz", "-X", "new.npy", "-y", "newy.npy", "--extension", extension); e > 10 {
			t.Errorf("%s: error %v %%", extension, e)
		}
	}
	onlyArrays(t, "eigs.npz", "numpy.npz", "values", "vectors")
	fail(t, 2, []string{"numpy.npz", "--graph"}, "fit", "--model", "eigenmap", "-y", "y.npy", "--labels", "12", "--eigs", "numpy.npz", "-o", "none.npz")
	errorOf(t, "fit", "--model", "eigenmap", "-y", "y.npy", "--labels", "12", "--eigs", "numpy.npz", "--graph", "foreign.npz")
}

// The same seed gives the same bytes at any number of threads.
func TestSameBytes(t *testing.T) {
	intoBlobs(t)
	files := []string{"graph.npz", "eigs.npz", "model.npz", "p.npy", "s.npy"}
	var want [][]byte
	for _, threads := range []string{"1", "2", "3", "0"} {
		common := []string{"--threads", threads, "--seed", "5", "-q"}
		for _, line := range []string{
			"graph X.npy --weights self-tuning",
			"eigs graph.npz -n 30 --laplacian normalized",
			"fit --model eigenmap -X X.npy -y y.npy --eigs eigs.npz --labels 20 --penalty iterated",
			"predict model.npz -X new.npy -o p.npy --scores s.npy --extension nystrom",
		} {
			succeed(t, append(strings.Fields(line), common...)...)
		}
		for i, f := range files {
			b := readFile(t, f)
			if threads == "1" {
				want = append(want, b)
			} else if !bytes.Equal(b, want[i]) {
				t.Errorf("%s differs with --threads %s", f, threads)
			}
		}
	}
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--eigs", "eigs.npz", "--labels", "20", "--penalty", "iterated", "--seed", "6")
	if bytes.Equal(readFile(t, "model.npz"), want[2]) {
		t.Error("another seed drew the same labels")
	}
}

func TestSettingsOfFit(t *testing.T) {
	intoBlobs(t)
	for _, line := range []string{
		"--distance angle", "--radius 25", "--radius 25 --weights heat", "--symmetry both", "--symmetry sum", "--weights heat", "--weights heat --t 50",
		"--weights self-tuning", "--laplacian normalized", "--laplacian random-walk", "--pca 2", "--penalty iterated --gamma 0.1 --penalty-power 1",
		"--penalty heat", "--penalty heat --heat-t 2 --folds 3", "-p 90", "-p 1",
	} {
		args := append([]string{"fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "15"}, strings.Fields(line)...)
		e := errorOf(t, args...)
		if limit := 10.0; e > limit && line != "-p 1" && line != "-p 90" {
			t.Errorf("fit %s: error %v %%", line, e)
		}
		if !strings.Contains(line, "radius") {
			errorOf(t, "predict", "model.npz", "-X", "new.npy", "-y", "newy.npy", "--extension", "nystrom")
		}
	}
	// Without labels to compare with there is no error, not NaN.
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--json")
	writeFile(t, "none.txt", bytes.Repeat([]byte("?\n"), blobCount-1))
	writeFile(t, "none.txt", append(readFile(t, "none.txt"), "nan\n"...))
	if out := succeed(t, "predict", "model.npz", "-y", "none.txt", "--json"); strings.Contains(out, "error") {
		t.Errorf("error of no labels: %s", out)
	}
}

// stripGraph writes the graph of a strip of 3 by n/3 vertices, which has an exact factor.
func stripGraph(t *testing.T, path string, n int) {
	t.Helper()
	var i, j []int32
	join := func(a, b int) {
		i = append(i, int32(a), int32(b))
		j = append(j, int32(b), int32(a))
	}
	for v := range n {
		if v%3 < 2 && v+1 < n {
			join(v, v+1)
		}
		if v+3 < n {
			join(v, v+3)
		}
	}
	w, err := sparse.FromTriplets(n, n, i, j, slices.Repeat([]float64{1}, len(i)))
	must(t, err)
	must(t, sparse.WriteNPZ(path, w, nil))
}

// TestEigsBelow: all pairs below a value are the first ones of eigs -n, and the summary says how their number
// was certified: by a count where there is an exact factor, by a search elsewhere.
func TestEigsBelow(t *testing.T) {
	for name, make := range map[string]func(*testing.T, string, int){"inertia": stripGraph, "search": ringGraph} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			make(t, "graph.npz", 1200)
			succeed(t, "eigs", "graph.npz", "-n", "40", "-o", "many.npz")
			many, err := lanczos.Load("many.npz", 0)
			must(t, err)
			bound := (many.Result.Values[24] + many.Result.Values[25]) / 2
			if gap := many.Result.Values[25] - many.Result.Values[24]; !(gap > 1e-6*bound) {
				t.Fatalf("values 24 and 25 are %v apart: a bound between them decides nothing", gap)
			}

			var s struct {
				Pairs   int
				Counted bool
				Below   float64
			}
			out := succeed(t, "eigs", "graph.npz", "--below", fmt.Sprint(bound), "-o", "low.npz", "--json")
			must(t, json.Unmarshal([]byte(out), &s))
			if s.Pairs != 25 || s.Counted != (name == "inertia") || s.Below != bound {
				t.Errorf("%s", out)
			}
			low, err := lanczos.Load("low.npz", 0)
			must(t, err)
			if len(low.Result.Values) != 25 || !(low.Result.Values[24] < bound) {
				t.Errorf("%v", low.Result.Values)
			}
			text := succeed(t, "eigs", "graph.npz", "--below", fmt.Sprint(bound))
			if !strings.Contains(text, "25 pairs below") || !strings.Contains(text, name) {
				t.Errorf("the summary is %q", text)
			}
			succeed(t, "eigs", "--graph", "graph.npz", "--verify", "low.npz")
			if text := succeed(t, "info", "low.npz"); !strings.Contains(text, "below") {
				t.Errorf("info says %q", text)
			}
		})
	}
}

// TestEigsSingle: vectors of float32 take half of the file, have the values of those of float64, and go where these go.
func TestEigsSingle(t *testing.T) {
	t.Chdir(t.TempDir())
	ringGraph(t, "graph.npz", 1200)
	succeed(t, "eigs", "graph.npz", "-n", "20", "-o", "double.npz")
	succeed(t, "eigs", "graph.npz", "-n", "20", "-o", "single.npz", "--precision", "single")
	double, err := lanczos.Load("double.npz", 0)
	must(t, err)
	single, err := lanczos.Load("single.npz", 0)
	must(t, err)
	if !single.Rounded || double.Rounded {
		t.Errorf("float32: %t and %t", single.Rounded, double.Rounded)
	}
	for j, v := range double.Result.Values {
		if d := single.Result.Values[j] - v; !(math.Abs(d) <= 1e-10*double.Result.Values[19]) {
			t.Errorf("value %d differs by %v", j, d)
		}
	}
	succeed(t, "eigs", "graph.npz", "--verify", "single.npz")
	if text := succeed(t, "info", "single.npz"); !strings.Contains(text, "single") {
		t.Errorf("info says %q", text)
	}
	y := make([]byte, 0, 2400)
	for i := range 1200 {
		y = append(y, "01"[i/600], '\n')
	}
	writeFile(t, "y.txt", y)
	succeed(t, "fit", "--model", "eigenmap", "--graph", "graph.npz", "--eigs", "single.npz", "-y", "y.txt", "--labels", "40")
	succeed(t, "eigs", "graph.npz", "-n", "30", "--start", "single.npz", "-o", "more.npz")

	fail(t, 2, []string{"at least"}, "eigs", "graph.npz", "--precision", "single", "--tolerance", "1e-8")
	fail(t, 2, []string{"--start"}, "eigs", "graph.npz", "--precision", "single", "--start", "double.npz")
}

func TestNotConverged(t *testing.T) {
	t.Chdir(t.TempDir())
	ringGraph(t, "graph.npz", 1200)
	o := bigfit(t, "eigs", "graph.npz", "-n", "8", "--tolerance", "1e-17")
	if o.code != 3 || exists("eigs.npz") || !strings.Contains(o.stderr, "not converged") {
		t.Errorf("exit code %d, %s", o.code, o.stderr)
	}
	y := make([]byte, 0, 2400)
	for i := range 1200 {
		y = append(y, "01"[i/600], '\n')
	}
	writeFile(t, "y.txt", y)
	o = bigfit(t, "fit", "--model", "eigenmap", "--graph", "graph.npz", "-y", "y.txt", "--labels", "40", "--tolerance", "1e-17")
	if o.code != 3 || !exists("model.npz") {
		t.Errorf("fit: exit code %d, %s", o.code, o.stderr)
	}
}
