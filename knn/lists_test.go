package knn_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

func TestFromLists(t *testing.T) {
	// FAISS: the point first, squared distances. Point 2 has a duplicate, 1,
	// which FAISS lists in its place.
	nb, err := knn.FromLists(3, 3,
		[]int64{0, 1, 2, 1, 2, 0, 1, 0, 2},
		[]float64{0, 4, 9, 0, 1, 4, 0, 9, 0}, true)
	if err != nil {
		t.Fatal(err)
	}
	if nb.K != 2 || !slices.Equal(nb.Index, []int32{1, 2, 2, 0, 1, 0}) || !slices.Equal(nb.Distance, []float64{2, 3, 1, 2, 0, 3}) {
		t.Errorf("%+v", nb)
	}
	// Lists without the points themselves keep their length and are sorted.
	nb, err = knn.FromLists(3, 2, []int64{2, 1, 0, 2, 1, 0}, []float64{3, 2, 2, 1, 1, 1}, false)
	if err != nil {
		t.Fatal(err)
	}
	if nb.K != 2 || !slices.Equal(nb.Index, []int32{1, 2, 2, 0, 0, 1}) {
		t.Errorf("%+v", nb)
	}
	// A list without its point, among others with theirs, loses the farthest.
	nb, err = knn.FromLists(3, 2, []int64{1, 2, 1, 0, 2, 0}, []float64{1, 2, 0, 1, 0, 2}, false)
	if err != nil {
		t.Fatal(err)
	}
	if nb.K != 1 || !slices.Equal(nb.Index, []int32{1, 0, 0}) {
		t.Errorf("%+v", nb)
	}
	for _, c := range []struct {
		n, k  int
		index []int64
		dist  []float64
		want  string
	}{
		{2, 1, []int64{1, -1}, []float64{1, 1}, "point 1 has index -1"},
		{2, 1, []int64{1, 2}, []float64{1, 1}, "point 1 has index 2"},
		{2, 1, []int64{1, 0}, []float64{1, -1}, "distance -1"},
		{3, 2, []int64{1, 1, 0, 2, 0, 1}, []float64{1, 1, 1, 1, 1, 1}, "neighbour 1 twice"},
		{2, 2, []int64{0, 0, 1, 0}, []float64{0, 0, 0, 1}, "itself more than once"},
		{2, 1, []int64{0, 1}, []float64{0, 0}, "nothing but"},
		{2, 2, []int64{0, 1}, []float64{0, 0}, "2 indices"},
	} {
		if _, err := knn.FromLists(c.n, c.k, c.index, c.dist, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want one with %q", c.index, err, c.want)
		}
	}
}

func TestReadLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lists.npz")
	write := func(entries ...npy.Entry) {
		t.Helper()
		if err := npy.WriteArchive(path, entries); err != nil {
			t.Fatal(err)
		}
	}
	indices := npy.Entry{Name: "indices", Shape: []int{2, 2}, Data: []int32{0, 1, 1, 0}}
	write(indices, npy.Entry{Name: "sq_distances", Shape: []int{2, 2}, Data: []float32{0, 4, 0, 4}})
	nb, err := knn.ReadLists(path, 0)
	if err != nil || !slices.Equal(nb.Index, []int32{1, 0}) || !slices.Equal(nb.Distance, []float64{2, 2}) {
		t.Errorf("%+v, %v", nb, err)
	}
	write(indices, npy.Entry{Name: "distances", Shape: []int{4}, Data: []float32{0, 4, 0, 4}})
	if _, err := knn.ReadLists(path, 0); err == nil || !strings.Contains(err.Error(), "indices is int32 (2, 2)") {
		t.Errorf("wrong shape: %v", err)
	}
	write(indices)
	if _, err := knn.ReadLists(path, 0); err == nil || !strings.Contains(err.Error(), "distances") {
		t.Errorf("no distances: %v", err)
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		x      data.Points
		metric knn.Metric
		want   knn.Method
	}{
		{&data.Dense[float32]{Rows: 60000, Cols: 784}, knn.Euclidean, knn.Brute},
		{&data.Dense[float32]{Rows: 1_000_000, Cols: 3}, knn.Euclidean, knn.KDTree},
		{&data.Dense[float32]{Rows: 1_000_000, Cols: 3}, knn.Angle, knn.BallTree},
		{&data.Dense[float32]{Rows: 100_000, Cols: 3}, knn.Manhattan, knn.KDTree},
		{&data.Dense[float32]{Rows: 2_000_000, Cols: 64}, knn.Euclidean, knn.NNDescent},
		{&data.Dense[float32]{Rows: 20_000, Cols: 64}, knn.Chebyshev, knn.Brute},
		{&sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 0, 0}}, knn.Angle, knn.Brute},
	} {
		got, why := knn.Choose(c.x, c.metric, 10)
		if got != c.want || why == "" {
			n, d := c.x.Dims()
			t.Errorf("%d×%d, %s: %s because %s; want %s", n, d, c.metric, got, why, c.want)
		}
	}
}

func TestNewIndexMethods(t *testing.T) {
	x, _ := data.TwoMoons(300, 0.05, 1)
	want, err := mustIndex(t, x, knn.Brute).Self(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []knn.Method{knn.KDTree, knn.BallTree, knn.NNDescent} {
		got, err := mustIndex(t, x, m).Self(t.Context(), 5)
		if err != nil {
			t.Fatal(err)
		}
		if m.Exact() && !slices.Equal(got.Index, want.Index) {
			t.Errorf("%s finds other neighbours than brute force", m)
		}
		if b := knn.IndexBytes(x, m, knn.Euclidean, 5); b < 300*16 {
			t.Errorf("%s takes %d bytes", m, b)
		}
	}
	if _, err := knn.NewIndex(x, knn.Auto, nil); err == nil {
		t.Error("an index of method auto")
	}
}

func mustIndex(t *testing.T, x data.Points, m knn.Method) knn.Index {
	t.Helper()
	ix, err := knn.NewIndex(x, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}
