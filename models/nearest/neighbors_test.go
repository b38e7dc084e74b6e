package nearest

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

func TestVote(t *testing.T) {
	for _, c := range []struct {
		classes []int32
		want    int32
	}{
		{[]int32{4}, 4},
		{[]int32{2, 1, 1}, 1},
		{[]int32{2, 1}, 2},             // the nearest of equals
		{[]int32{3, 1, 1, 3, 0}, 3},    // the same
		{[]int32{0, 1, 2, 2, 1}, 1},    // the nearest of those with two votes
		{[]int32{5, 5, 1, 1, 1, 5}, 5}, // the same with three
	} {
		if got := Vote(c.classes); got != c.want {
			t.Errorf("vote of %v: %d, want %d", c.classes, got, c.want)
		}
	}
}

// nearestLabels classifies by the definition: sort the labeled points by
// distance and then number, and vote.
func nearestLabels(lengths [][]float64, y *data.Labels, k int) []int32 {
	out := make([]int32, y.Len())
	for i := range out {
		if out[i] = y.Index[i]; out[i] != data.Unlabeled {
			continue
		}
		var at []int
		for _, j := range y.Labeled() {
			if !math.IsInf(lengths[i][j], 1) {
				at = append(at, j)
			}
		}
		slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(lengths[i][a], lengths[i][b]) })
		var classes []int32
		for _, j := range at[:min(k, len(at))] {
			classes = append(classes, y.Index[j])
		}
		if out[i] = models.Majority(y); len(classes) > 0 {
			out[i] = Vote(classes)
		}
	}
	return out
}

func TestKNN(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 150
	x := data.NewDense[uint8](n, 2) // many ties
	for i := range x.Data {
		x.Data[i] = uint8(rng.IntN(9))
	}
	class := map[int]int64{}
	for i := range n {
		if rng.IntN(4) == 0 {
			class[i] = int64(rng.IntN(3))
		}
	}
	y := modeltest.Labels(n, class)
	ks := []int{1, 3, 5, 1000}
	for _, metric := range []knn.Metric{knn.Euclidean, knn.Angle} {
		ix, err := knn.NewBrute(x, &knn.Settings{Metric: metric})
		if err != nil {
			t.Fatal(err)
		}
		without, err := KNN(ctx, x, metric, nil, y, ks)
		if err != nil {
			t.Fatal(err)
		}
		for _, length := range []int{1, 4, 20, n - 1} {
			nb, err := ix.Self(ctx, length)
			if err != nil {
				t.Fatal(err)
			}
			with, err := KNN(ctx, x, metric, nb, y, ks)
			if err != nil {
				t.Fatal(err)
			}
			for j, k := range ks {
				if !slices.Equal(with[j], without[j]) {
					t.Errorf("%v, k = %d: other classes with lists of %d", metric, k, length)
				}
			}
		}
		if metric == knn.Angle {
			continue // rounding breaks its ties
		}
		lengths := make([][]float64, n)
		for i := range lengths {
			lengths[i] = make([]float64, n)
			for j := range lengths[i] {
				a, b := x.Row(i), x.Row(j)
				lengths[i][j] = math.Hypot(float64(a[0])-float64(b[0]), float64(a[1])-float64(b[1]))
			}
		}
		for j, k := range ks {
			if want := nearestLabels(lengths, y, k); !slices.Equal(without[j], want) {
				t.Errorf("k = %d: classes %v, want %v", k, without[j], want)
			}
		}
	}
	// The labels of all points are those given.
	full := modeltest.Labels(3, map[int]int64{0: 1, 1: 2, 2: 2})
	got, err := KNN(ctx, data.NewDense[float32](3, 1), knn.Euclidean, nil, full, []int{1})
	if err != nil || !slices.Equal(got[0], full.Index) {
		t.Errorf("all labeled: %v, %v", got, err)
	}
}

func TestNeighborFaults(t *testing.T) {
	ctx := context.Background()
	x := data.NewDense[float64](4, 1)
	w := &sparse.CSR{Rows: 4, Cols: 4, Ptr: make([]int64, 5)}
	for _, y := range []*data.Labels{modeltest.Labels(3, map[int]int64{0: 1, 1: 2}), modeltest.Labels(4, nil), modeltest.Labels(4, map[int]int64{0: 1, 2: 1})} {
		if got, err := KNN(ctx, x, knn.Euclidean, nil, y, []int{1}); err == nil || got != nil {
			t.Errorf("KNN with labels %+v: no error", y)
		}
		if got, err := GeodesicKNN(w, y, []int{1}); err == nil || got != nil {
			t.Errorf("GeodesicKNN with labels %+v: no error", y)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := KNN(cancelled, x, knn.Euclidean, nil, modeltest.Labels(4, map[int]int64{0: 1, 1: 2}), []int{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestGeodesicKNN compares with Floyd and Warshall's algorithm on random graphs
// of integer lengths, most of them disconnected.
func TestGeodesicKNN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 25).Draw(t, "n")
		longest := rapid.IntRange(1, 4).Draw(t, "longest")
		m := rapid.IntRange(0, 2*n).Draw(t, "edges")
		vertex := rapid.IntRange(0, n-1)
		paths := make([][]float64, n)
		for i := range paths {
			paths[i] = make([]float64, n)
			for j := range paths[i] {
				if i != j {
					paths[i][j] = math.Inf(1)
				}
			}
		}
		for range m {
			i, j := vertex.Draw(t, "i"), vertex.Draw(t, "j")
			if i != j {
				v := float64(rapid.IntRange(1, longest).Draw(t, "length"))
				paths[i][j], paths[j][i] = v, v
			}
		}
		var rows, cols []int32
		var values []float64
		for i := range paths {
			for j, v := range paths[i] {
				if i != j && !math.IsInf(v, 1) {
					rows, cols, values = append(rows, int32(i)), append(cols, int32(j)), append(values, v)
				}
			}
		}
		lengths, err := sparse.FromTriplets(n, n, rows, cols, values)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if longest == 1 {
			lengths.Val = nil // the same
		}
		for via := range n {
			for i := range n {
				for j := range n {
					paths[i][j] = min(paths[i][j], paths[i][via]+paths[via][j])
				}
			}
		}
		class := map[int]int64{0: 10, n - 1: 30}
		for i := 1; i < n-1; i++ {
			if c := rapid.IntRange(0, 6).Draw(t, "class"); c < 3 {
				class[i] = int64(10 * (c + 1))
			}
		}
		y := modeltest.Labels(n, class)
		ks := []int{1, 2, 3, 5, 50}
		got, err := GeodesicKNN(lengths, y, ks)
		if err != nil {
			t.Fatalf("%v", err)
		}
		for j, k := range ks {
			if want := nearestLabels(paths, y, k); !slices.Equal(got[j], want) {
				t.Fatalf("k = %d: classes %v, want %v", k, got[j], want)
			}
		}
	})
}

// TestGeodesicKNNZeroLengths: duplicates are joined by edges of length zero.
func TestGeodesicKNNZeroLengths(t *testing.T) {
	lengths, err := sparse.FromTriplets(4, 4, []int32{0, 1, 1, 2, 2, 3}, []int32{1, 0, 2, 1, 3, 2}, []float64{0, 0, 2, 2, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	got, err := GeodesicKNN(lengths, modeltest.Labels(4, map[int]int64{0: 5, 3: 7}), []int{1})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int32{0, 0, 1, 1}; !slices.Equal(got[0], want) {
		t.Errorf("classes %v, want %v", got[0], want)
	}
}
