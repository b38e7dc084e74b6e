package lists_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/lists"
	"github.com/bigfit/bigfit/sparse"
)

var inf = math.Inf(1)

func TestNeighbors(t *testing.T) {
	third := math.Sqrt(2 - 2*0.25)
	for _, c := range []struct {
		name  string
		kind  lists.Kind
		k     int
		index []int64
		value []float64

		want    lists.Kind
		keep    int
		list    []int32
		dist    []float64
		ordered bool
	}{
		{"FAISS: the point first, squares; point 2 has a duplicate, 1, which is listed in its place", lists.Squared, 3,
			[]int64{0, 1, 2, 1, 2, 0, 1, 0, 2}, []float64{0, 4, 9, 0, 1, 4, 0, 9, 0}, lists.Squared, 2, []int32{1, 2, 2, 0, 1, 0}, []float64{2, 3, 1, 2, 0, 3}, false},
		{"without the points, some rows not in order", lists.Auto, 2,
			[]int64{2, 1, 0, 2, 1, 0}, []float64{3, 2, 2, 3, 1, 1}, lists.Distances, 2, []int32{1, 2, 0, 2, 0, 1}, []float64{2, 3, 2, 3, 1, 1}, false},
		{"a list without its point, among others with theirs, loses the farthest", lists.Auto, 2,
			[]int64{1, 2, 1, 0, 2, 0}, []float64{1, 2, 0, 1, 0, 2}, lists.Distances, 1, []int32{1, 0, 0}, []float64{1, 1, 2}, false},
		{"fills", lists.Auto, 3,
			[]int64{0, 1, 2, 1, 0, -1, -1, -1, -1}, []float64{0, 1, 2, 0, 1, 3.4e38, math.NaN(), -1, inf}, lists.Distances, 2, []int32{1, 2, 0, -1, -1, -1}, []float64{1, 2, 1, inf, inf, inf}, false},
		{"inner products of unit vectors, recognized", lists.Auto, 3,
			[]int64{0, 1, 2, 1, 0, 2, 2, 0, -1}, []float64{1, 0.5, 0.25, 1.0000001, 0.5, -1, 0.999, 0.25, -3.4e38}, lists.InnerProduct, 2, []int32{1, 2, 0, 2, 0, -1}, []float64{1, third, 1, 2, third, inf}, false},
		{"inner products of any vectors", lists.Auto, 2,
			[]int64{1, 2, 0, 2, 1, 0}, []float64{9, 1, 9, 8, 8, 1}, lists.InnerProduct, 2, []int32{1, 2, 0, 2, 1, 0}, []float64{0, 8, 0, 1, 1, 8}, true},
		{"of short vectors, as their own product says", lists.InnerProduct, 2,
			[]int64{0, 1, 1, 0}, []float64{0.5, 0.4, 0.5, 0.4}, lists.InnerProduct, 1, []int32{1, 0}, []float64{0.1, 0.1}, true},
		{"all equal values are distances", lists.Auto, 1, []int64{1, 0}, []float64{3, 3}, lists.Distances, 1, []int32{1, 0}, []float64{3, 3}, false},
		{"descending distances, if it is said", lists.Distances, 2,
			[]int64{1, 2, 0, 2, 1, 0}, []float64{2, 1, 2, 1, 2, 1}, lists.Distances, 2, []int32{2, 1, 2, 0, 0, 1}, []float64{1, 2, 1, 2, 1, 2}, false},
	} {
		nb, kind, err := (&lists.Raw{K: c.k, Index: c.index, Value: c.value}).Neighbors(c.kind)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		same := slices.EqualFunc(nb.Distance, c.dist, func(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-15 })
		if kind != c.want || nb.K != c.keep || !slices.Equal(nb.Index, c.list) || !same || nb.Ordered != c.ordered {
			t.Errorf("%s: %v, %+v", c.name, kind, nb)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		k     int
		index []int64
		value []float64
		want  string
	}{
		{1, []int64{1, 2}, []float64{1, 1}, "row 1, column 0: the index is 2, outside [0, 2)"},
		{1, []int64{1, -2}, []float64{1, 1}, "row 1, column 0: the index is -2"},
		{2, []int64{1, 0, -1, 0}, []float64{1, 2, 1, 1}, "row 1, column 0: the index is −1, which stands for no neighbour"},
		{1, []int64{1, 0}, []float64{1, -1}, "row 1, column 0: the distance is -1"},
		{1, []int64{1, 0}, []float64{1, math.NaN()}, "row 1, column 0: the value is NaN"},
		{1, []int64{1, 0}, []float64{1e200, 1}, "row 0, column 0: the value is 1e+200"},
		{2, []int64{1, 1, 0, 2, 0, 1}, []float64{1, 1, 1, 1, 1, 1}, "row 0, column 1: the index 1 is in column 0 already"},
		{2, []int64{0, 0, 1, 0}, []float64{0, 0, 0, 1}, "row 0, column 1: the index 0 is in column 0 already"},
		{1, []int64{0, 1}, []float64{0, 0}, "nothing but"},
		{2, []int64{0, 1}, []float64{0}, "2 indices and 1 values"},
		{0, nil, nil, "lists of 0"},
	} {
		if _, _, err := (&lists.Raw{K: c.k, Index: c.index, Value: c.value}).Neighbors(lists.Auto); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.index, err, c.want)
		}
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lists.npz")
	write := func(entries ...archive.Array) {
		t.Helper()
		if err := npy.WriteArchive(path, entries); err != nil {
			t.Fatal(err)
		}
	}
	array := func(name string, v ...float32) archive.Array {
		return archive.Array{Name: name, Shape: []int{2, 2}, Data: v}
	}
	indices := archive.Array{Name: "indices", Shape: []int{2, 2}, Data: []int64{0, 1, 1, 0}}
	for _, c := range []struct {
		values archive.Array
		kind   lists.Kind
		dist   float64
		text   string
	}{
		{array("sq_distances", 0, 4, 0, 4), lists.Auto, 2, "squared distances"},
		{array("distances", 0, 4, 0, 4), lists.Auto, 4, "distances that are not squared"},
		{array("distances", 0, 4, 0, 4), lists.Squared, 2, "squared distances"},
		{array("similarities", 1, 0.5, 1, 0.5), lists.Auto, 1, "inner products s of unit vectors"},
		{array("distances", 4, 1, 3, 1), lists.Auto, 3, "not of length 1"},
	} {
		write(indices, c.values)
		f, err := lists.Read(path, c.kind, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f.Index, []int32{1, 0}) || !slices.Equal(f.Distance, []float64{c.dist, c.dist}) || !strings.Contains(f.String(), c.text) || !strings.HasPrefix(f.String(), path) {
			t.Errorf("%s: %v, %v", f, f.Index, f.Distance)
		}
	}
	fails := func(what string, parts ...string) {
		t.Helper()
		_, err := lists.Read(path, lists.Auto, 0)
		for _, part := range append(parts, path) {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	write(indices, archive.Array{Name: "distances", Shape: []int{4}, Data: []float32{0, 4, 0, 4}})
	fails("wrong shape", "indices is int64 (2, 2)")
	write(indices)
	fails("no distances", "distances", "it holds indices")
	write(archive.Array{Name: "indices", Data: []int64{0, 1}}, array("distances", 0, 1, 0, 1))
	fails("a vector of indices", "n×k")
	if err := sparse.WriteNPZ(path, &sparse.CSR{Rows: 1, Cols: 1, Ptr: []int64{0, 0}}, nil); err != nil {
		t.Fatal(err)
	}
	fails("a sparse matrix", "csr")

	i, d := filepath.Join(dir, "I.npy"), filepath.Join(dir, "D.npy")
	path = i + "," + d
	pair := func(shape ...int) {
		t.Helper()
		if err := errors.Join(npy.WriteFile(i, []int{2, 2}, []int64{1, -1, 0, -1}), npy.WriteFile(d, shape, []float32{2, 3.4e38, 2, 3.4e38})); err != nil {
			t.Fatal(err)
		}
	}
	pair(2, 2)
	f, err := lists.Read(path, lists.Auto, 0)
	if err != nil || !slices.Equal(f.Distance, []float64{2, inf, 2, inf}) || !strings.Contains(f.String(), "2 points have fewer") {
		t.Errorf("two files: %v, %v", f, err)
	}
	pair(4, 1)
	if _, err := lists.Read(path, lists.Auto, 0); err == nil || !strings.Contains(err.Error(), d+": it is float32 (4, 1)") {
		t.Errorf("two files of different shape: %v", err)
	}
	if _, err := lists.Read(filepath.Join(dir, "none.npz"), lists.Auto, 0); err == nil {
		t.Error("no file")
	}
}

// randomLists are neighbours of random points, some of them equal.
func randomLists(t *testing.T, n, k int) *knn.Neighbors {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	x := data.NewDense[float64](n, 3)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	copy(x.Row(1), x.Row(0))
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := ix.Self(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

// What is written is read, with the points in their own lists and without.
func TestWriteIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "knn.npz")
	nb := randomLists(t, 60, 5)
	self := lists.WithSelf(nb)
	for i := range self.Len() {
		if index, dist := self.Row(i); self.K != 6 || index[0] != int32(i) || dist[0] != 0 {
			t.Fatalf("row %d begins with %d at %v", i, index[0], dist[0])
		}
	}
	for _, written := range []*knn.Neighbors{nb, self} {
		if err := lists.Write(path, written, nil); err != nil {
			t.Fatal(err)
		}
		f, err := lists.Read(path, lists.Auto, 0)
		if err != nil || f.K != 5 || !slices.Equal(f.Index, nb.Index) || !slices.Equal(f.Distance, nb.Distance) {
			t.Errorf("lists of %d: %v", written.K, err)
		}
		if err := lists.WriteCSR(path, written, 60, nil); err != nil {
			t.Fatal(err)
		}
		m, err := sparse.ReadNPZ(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		if m.NNZ() != len(written.Index) || m.At(0, 1) != 0 || m.At(5, int(nb.Index[25])) != nb.Distance[25] {
			t.Errorf("a matrix of %d entries", m.NNZ())
		}
	}
}

// SciPy reads the matrix with its zeros, row by row in the order of the distances.
func TestCSRInSciPy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "knn.npz")
	if err := lists.WriteCSR(path, randomLists(t, 60, 5), 60, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	const script = `
import sys
try:
    import numpy as np, scipy.sparse as sp
except ImportError:
    sys.exit(77)
m = sp.load_npz(sys.argv[1])
assert m.shape == (60, 60) and m.nnz == 300 and m.format == "csr", m
d = m.data.reshape(60, 5)
assert (np.diff(d) >= 0).all() and d[0, 0] == 0 and m.indices[0] == 1, d
`
	out, err := exec.Command("/usr/bin/python3", "-c", script, path).CombinedOutput()
	if code := (*exec.ExitError)(nil); errors.As(err, &code) && code.ExitCode() != 77 {
		t.Errorf("%s", out)
	} else if err != nil {
		t.Skip("python3 with SciPy: ", err)
	}
}

func FuzzNeighbors(f *testing.F) {
	f.Add(2, []byte{1, 2, 0, 2, 1, 0}, 0)
	f.Add(3, []byte{0, 1, 255, 1, 255, 255}, 3)
	f.Fuzz(func(t *testing.T, k int, b []byte, kind int) {
		r := &lists.Raw{K: k}
		for i, v := range b {
			r.Index = append(r.Index, int64(int8(v)))
			r.Value = append(r.Value, float64(int8(b[len(b)-1-i]))/64)
		}
		nb, _, err := r.Neighbors(lists.Kind(((kind % 4) + 4) % 4))
		if err != nil {
			return
		}
		for i := range nb.Len() {
			index, dist := nb.First(i, nb.K)
			if !slices.IsSorted(dist) || slices.Contains(index, int32(i)) || len(dist) > 0 && (dist[0] < 0 || math.IsInf(dist[len(dist)-1], 0)) {
				t.Fatalf("row %d: %v at %v", i, index, dist)
			}
		}
		w, _, err := knn.FromNeighbors(nb, knn.GraphSettings{K: nb.K, Weights: knn.Shared})
		if err == nil {
			err = w.CheckGraph()
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
