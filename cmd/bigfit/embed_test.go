package main

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
)

func matrix(t *testing.T, path string) ([]int, []float64) {
	t.Helper()
	x, err := npy.ReadFile(path, 0)
	must(t, err)
	v, err := x.Float64s()
	must(t, err)
	return x.Shape, v
}

func TestEmbed(t *testing.T) {
	intoBlobs(t)
	for _, line := range []string{
		"embed -X X.npy -d 3 --model m.npz", "embed -X X.npy -k 40 -d 3 --model m.npz --laplacian combinatorial --weights heat", "embed -X X.npy --pca 3 -d 3 --model m.npz",
		"embed -X X.npy -d 3 --gamma 0.01 --model m.npz", "embed -X X.npy -d 3 --gamma 0.01 --kernel laplace --sigma 20 --laplacian normalized --power 2 --model m.npz",
		"embed -X X.npy -d 3 --gamma 0.01 --landmarks 50 --model m.npz", "embed -X X.npy -d 3 --gamma 0.01 --kernel polynomial --degree 2 --offset 1 --scale 0.001 --model m.npz",
	} {
		out := succeed(t, append(strings.Fields(line), "-q")...)
		shape, e := matrix(t, "embedding.npy")
		if !slices.Equal(shape, []int{blobCount, 3}) || !strings.Contains(out, "90 points in 3 dimensions") {
			t.Errorf("%s: shape %v\n%s", line, shape, out)
		}
		succeed(t, "embed", "--transform", "m.npz", "-X", "X.npy", "-o", "again.npy", "-q")
		_, again := matrix(t, "again.npy")
		for i, v := range again {
			if !(math.Abs(v-e[i]) <= 1e-7) {
				t.Fatalf("%s: element %d is %v, transformed %v", line, i, e[i], v)
			}
		}
		succeed(t, "embed", "--transform", "m.npz", "-X", "new.npy", "-o", "fresh.npy", "--progress", "none")
		if shape, _ := matrix(t, "fresh.npy"); !slices.Equal(shape, []int{blobCount, 3}) {
			t.Errorf("%s: new points have %v coordinates", line, shape)
		}
		about := "  model: embedding, 3 eigenvectors of the "
		if strings.Contains(line, "--gamma") {
			about = "  model: spectral, 3 functions with γ = 0.01, "
		}
		if info := succeed(t, "info", "m.npz"); !strings.Contains(info, about) {
			t.Errorf("%s: no %q in\n%s", line, about, info)
		}
		must(t, os.Remove("m.npz"))
	}
	var s embedSummary
	must(t, json.Unmarshal([]byte(succeed(t, "embed", "-X", "X.npy", "-d", "1", "--json", "-q")), &s))
	if shape, _ := matrix(t, "embedding.npy"); s.Dimensions != 1 || s.Points != blobCount || len(s.Values) != 1 || !slices.Equal(shape, []int{blobCount, 1}) {
		t.Errorf("%+v, shape %v", s, shape)
	}
	// Of a graph alone, and the same bits.
	succeed(t, "graph", "X.npy", "-q")
	succeed(t, "embed", "graph.npz", "-q", "-o", "a.npy")
	succeed(t, "embed", "-X", "X.npy", "-q", "-o", "b.npy", "--threads", "1")
	if string(readFile(t, "a.npy")) != string(readFile(t, "b.npy")) {
		t.Error("the graph and its points give different coordinates")
	}
}

func TestBadEmbed(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy", "-q")
	succeed(t, "embed", "-X", "X.npy", "--model", "m.npz", "-q")
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "-q", "-o", "classes.npz")
	must(t, npy.WriteFile("narrow.npy", []int{3, 2}, []float64{1, 2, 3, 4, 5, 6}))
	stripManifest(t, "m.npz", "bare.npz")
	for _, c := range []struct {
		line string
		want []string
	}{
		{"embed", []string{"a graph, or points, are needed", "see bigfit embed --help"}},
		{"embed graph.npz -d 0", []string{"--dimensions is 0"}},
		{"embed graph.npz -d 90", []string{"--dimensions is 90", "90 points"}},
		{"embed graph.npz --model x.npz", []string{"--model needs the points"}},
		{"embed graph.npz --gamma 1", []string{"--gamma needs the points"}},
		{"embed -X X.npy --gamma -1", []string{"--gamma is -1"}},
		{"embed -X X.npy --gamma 1 --laplacian random-walk", []string{"--laplacian is random-walk", "symmetric"}},
		{"embed -X X.npy --gamma 1 --tolerance 0.1", []string{"--tolerance", "without --gamma"}},
		{"embed -X X.npy --power 2", []string{"--power goes with --gamma"}},
		{"embed -X X.npy --gamma 1 --power 0", []string{"--power is 0"}},
		{"embed -X X.npy --gamma 1 --kernel linear -d 5", []string{"5 components", "4 independent functions"}},
		{"embed -X X.npy --tolerance 0", []string{"--tolerance is 0"}},
		{"embed --transform m.npz", []string{"--transform needs the new points"}},
		{"embed --transform m.npz -X new.npy graph.npz", []string{"graph.npz: it holds 90 columns of sparse"}},
		{"embed --transform m.npz -X new.npy -d 2", []string{"--dimensions is for making an embedding"}},
		{"embed --transform m.npz -X narrow.npy", []string{"narrow.npy", "2"}},
		{"embed --transform classes.npz -X new.npy", []string{"eigenmap model", "no coordinates"}},
		{"embed --transform bare.npz -X new.npy", []string{"bare.npz", "manifest"}},
		{"embed --transform m.npz -X new.npy -o m.npz", []string{"both read and written"}},
	} {
		fail(t, 2, c.want, strings.Fields(c.line)...)
	}
}

// A layout has coordinates of every dimension, the same bits each time, and keeps components apart;
// flags of eigenvectors and of kernels are refused.
func TestEmbedLayout(t *testing.T) {
	intoBlobs(t)
	out := succeed(t, "embed", "X.npy", "--method", "layout", "--method", "brute", "-o", "l.npy", "-q")
	shape, first := matrix(t, "l.npy")
	if !slices.Equal(shape, []int{blobCount, 2}) || !strings.Contains(out, "90 points in 2 dimensions") {
		t.Errorf("shape %v\n%s", shape, out)
	}
	succeed(t, "embed", "X.npy", "--method", "layout", "-o", "again.npy", "-q", "--threads", "1")
	if _, again := matrix(t, "again.npy"); !slices.Equal(first, again) {
		t.Error("another layout with one thread")
	}

	succeed(t, "graph", "X.npy", "-k", "3", "-o", "g.npz", "-q")
	var s embedSummary
	must(t, json.Unmarshal([]byte(succeed(t, "embed", "g.npz", "--method", "layout", "-d", "3", "--json", "-q")), &s))
	if s.Model != "layout" || s.Dimensions != 3 || s.Values != nil || s.Components < 2 {
		t.Errorf("%+v", s)
	}

	for _, flag := range []string{"--laplacian=normalized", "--gamma=1", "--model=m.npz", "--sigma=2"} {
		fail(t, 2, []string{"is not for --method layout"}, "embed", "X.npy", "--method", "layout", flag)
	}
	fail(t, 2, []string{"layuot"}, "embed", "X.npy", "--method", "layuot")
}
