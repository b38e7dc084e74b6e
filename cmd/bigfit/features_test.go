package main

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/hops"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/sparse"
)

// TestFeaturesCommand compares the command with the library on the graph of bigfit graph, and goes the road on: features
// of every format are points for another fit.
func TestFeaturesCommand(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy", "-k", "6", "-o", "g.npz", "-q")
	var s featuresSummary
	must(t, json.Unmarshal([]byte(succeed(t, "features", "X.npy", "--graph", "g.npz", "--hops", "3", "--normalization", "row", "--self-loops",
		"--json", "-q")), &s))
	shape, got := matrix(t, "features.npy")
	_, x := matrix(t, "X.npy")
	d := len(x) / blobCount
	if !slices.Equal(shape, []int{blobCount, 4 * d}) || s.Features != 4*d || s.Hops != 3 || !s.Loops || s.Normalization != hops.Row {
		t.Fatalf("shape %v, %+v", shape, s)
	}

	w, err := sparse.ReadNPZ("g.npz", 0)
	must(t, err)
	f, err := hops.Features(t.Context(), &data.Dense[float64]{Rows: blobCount, Cols: d, Data: x}, w, &hops.Settings{Hops: 3, Normalization: hops.Row, Loops: true})
	must(t, err)
	for i, v := range f.Data {
		if got[i] != float64(v) {
			t.Fatalf("element %d is %v, the library says %v", i, got[i], v)
		}
	}
	file, err := npy.ReadFile("features.npy", 0)
	must(t, err)
	if _, ok := file.Data.([]float32); !ok {
		t.Errorf("features are %T", file.Data)
	}

	// Tables have the ids and a name a column, and are points again.
	must(t, os.WriteFile("ids.csv", []byte("id\n"+idLines(blobCount)), 0o600))
	for _, ext := range []string{".csv", ".parquet", ".jsonl", ".npz", ".npy"} {
		succeed(t, "features", "X.npy", "--ids", "ids.csv:id", "--hops", "1", "-o", "f"+ext, "-q")
		line := []string{"fit", "f" + ext, "y.npy", "--model", "rls-linear", "--gamma-a", "0.01", "-o", "m.npz", "-q"}
		if table.IsTable("f" + ext) {
			line = append(line, "--id", "id")
		}
		if ext != ".jsonl" && ext != ".parquet" { // these hold lists
			succeed(t, line...)
		}
	}
	if text := string(readFile(t, "f.csv")); !strings.HasPrefix(text, "id,hop0_0,hop0_1") || !strings.Contains(text, "\np0,") {
		t.Errorf("the table begins with %.80q", text)
	}
	if text := string(readFile(t, "f.jsonl")); !strings.HasPrefix(text, `{"id": "p0", "X": [`) {
		t.Errorf("the lines begin with %.80q", text)
	}
}

func idLines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("p" + string(rune('0'+i%10)) + strings.Repeat("x", i/10) + "\n")
	}
	return b.String()
}

// Sparse points stay sparse in .npz, with the numbers of the dense features.
func TestSparseFeatures(t *testing.T) {
	intoBlobs(t)
	_, x := matrix(t, "X.npy")
	d := len(x) / blobCount
	for i := range x {
		if i%3 > 0 {
			x[i] = 0
		}
	}
	m := data.ToSparse(&data.Dense[float64]{Rows: blobCount, Cols: d, Data: x})
	must(t, sparse.WriteNPZ("S.npz", m, nil))
	succeed(t, "graph", "X.npy", "-o", "g.npz", "-q")
	out := bigfit(t, "features", "S.npz", "--graph", "g.npz", "-o", "f.npz")
	if out.code != 0 || !strings.Contains(out.stderr, "made of other points") {
		t.Errorf("another view: %d %s", out.code, out.stderr)
	}
	succeed(t, "features", "-X", "S.npz", "--graph", "g.npz", "-o", "f.npy", "-q")
	f, err := sparse.ReadNPZ("f.npz", 0)
	must(t, err)
	shape, dense := matrix(t, "f.npy")
	if !slices.Equal(shape, []int{blobCount, 3 * d}) || f.Cols != 3*d {
		t.Fatalf("shapes %v and %d×%d", shape, f.Rows, f.Cols)
	}
	for i := range blobCount {
		for j := range 3 * d {
			if v := dense[i*3*d+j]; !(math.Abs(f.At(i, j)-v) <= 1e-5*(1+math.Abs(v))) {
				t.Fatalf("feature %d of point %d is %v, sparse %v", j, i, v, f.At(i, j))
			}
		}
	}
	if o := bigfit(t, "features", "S.npz", "--memory-limit", "4MiB", "--hops", "1000", "-o", "f.npy"); o.code == 0 || !strings.Contains(o.stderr, "stays sparse") {
		t.Errorf("a dense result beyond the limit: %d %s", o.code, o.stderr)
	}
	succeed(t, "fit", "f.npz", "y.npy", "--model", "rls-linear", "--gamma-a", "0.01", "-o", "m.npz", "-q")
}

func TestBadFeatures(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "new.npy", "-o", "new.npz", "-q")
	must(t, npy.WriteFile("vast.npy", []int{3, 1}, []float64{1e300, 2, 3}))
	for _, c := range []struct {
		line string
		want []string
	}{
		{"features", []string{"the file of the points"}},
		{"features none", []string{"bigfit: none: no such file"}},
		{"features X.npy --graph none", []string{"bigfit: none: no such file"}},
		{"features X.npy --hops 0", []string{"--hops is 0", "from 1 to 1000"}},
		{"features X.npy --hops 1001", []string{"--hops is 1001"}},
		{"features X.npy --normalization left", []string{"left", "symmetric"}},
		{"features X.npy -o f.txt", []string{"f.txt", ".parquet"}},
		{"features X.npy -o X.npy", []string{"both read and written"}},
		{"features X.npy --graph y.npy", []string{"y.npy"}},
		{"features vast.npy -k 2", []string{"vast.npy", "scale the points"}},
	} {
		fail(t, 2, c.want, strings.Fields(c.line)...)
	}
	n, _ := npy.ReadFile("new.npy", 0)
	if n.Shape[0] != blobCount {
		fail(t, 2, []string{"new.npz has"}, "features", "X.npy", "--graph", "new.npz")
	}
}
