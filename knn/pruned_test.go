package knn_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
)

// clustered returns points around centres whose coordinates have variances 1, 1/2, 1/3 and
// so on, times scale, plus shift.
func clustered(n, d int, scale, shift float64) *data.Dense[float64] {
	r := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	x := data.NewDense[float64](n, d)
	centres := make([]float64, 12*d)
	for i := range centres {
		centres[i] = r.NormFloat64()
	}
	for i := range n {
		c := centres[r.IntN(12)*d:]
		for j := range x.Row(i) {
			x.Row(i)[j] = scale*(c[j]+0.4*r.NormFloat64())/math.Sqrt(float64(j+1)) + shift
		}
	}
	return x
}

// as returns points with elements of another type.
func as[T data.Element](x *data.Dense[float64], convert func(v float64) T) *data.Dense[T] {
	out := data.NewDense[T](x.Rows, x.Cols)
	for i, v := range x.Data {
		out.Data[i] = convert(v)
	}
	return out
}

func toFloats(x *data.Dense[float64]) *data.Dense[float32] {
	return as(x, func(v float64) float32 { return float32(v) })
}

func toBytes(x *data.Dense[float64]) *data.Dense[uint8] {
	return as(x, func(v float64) uint8 { return uint8(min(max(128+40*v, 0), 255)) })
}

func toHalves(x *data.Dense[float64]) data.Points {
	bits := make([]uint16, len(x.Data))
	for i, v := range x.Data {
		bits[i] = simd.ToHalf(float32(v))
	}
	return data.NewHalves(x.Rows, x.Cols, bits)
}

// edit returns x after f has changed it.
func edit(x *data.Dense[float64], f func(x *data.Dense[float64])) *data.Dense[float64] {
	f(x)
	return x
}

// TestPrunedIsExact holds pruning against all pairs, bit by bit, among points and for others.
func TestPrunedIsExact(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "takes minutes; the goroutines have tests of their own")
	const n, d = 460, 40
	usual := clustered(n, d, 1, 0)
	twice := edit(clustered(n, d, 1, 0), func(x *data.Dense[float64]) { copy(x.Data[n/2*d:], x.Data[:n/2*d]) })
	zeros := edit(clustered(n, d, 1, 0), func(x *data.Dense[float64]) { clear(x.Data[:9*d]) })
	outlier := edit(clustered(n, d, 1, 0), func(x *data.Dense[float64]) {
		for j := range d {
			x.Row(5)[j] *= 1e6
		}
	})
	grid := as(clustered(n, d, 1, 0), func(v float64) float32 { return float32(math.Round(v)) })
	flat := edit(usual, func(*data.Dense[float64]) {})
	cases := []struct {
		name   string
		x      data.Points
		prunes bool // whether the coordinates can be had at all, for Euclidean distance
	}{
		{"float64", usual, true}, {"float32", toFloats(usual), true}, {"float16", toHalves(usual), true}, {"bytes", toBytes(usual), true},
		{"duplicates", toFloats(twice), true}, {"duplicate bytes", toBytes(twice), true}, {"grid", grid, true}, {"outlier", toFloats(outlier), true},
		{"zeros", toFloats(zeros), true}, {"offset", clustered(n, d, 1, 1e6), true}, {"float32 offset", toFloats(clustered(n, d, 1, 1e4)), true},
		{"1e30", clustered(n, d, 1e30, 0), true}, {"float32 1e30", toFloats(clustered(n, d, 1e30, 0)), true}, {"1e-30", toFloats(clustered(n, d, 1e-30, 0)), true},
		{"tiny numbers", toFloats(clustered(n, d, 1e-41, 0)), true}, {"1e150", clustered(n, d, 1e150, 0), false},
		{"constant", toFloats(clustered(n, d, 0, 3)), false}, {"constant bytes", toBytes(clustered(n, d, 0, 1)), false},
		{"flat", as(flat, func(v float64) float32 { return rand.New(rand.NewPCG(math.Float64bits(v), 1)).Float32() }), true},
		{"black and white", as(usual, func(v float64) uint8 { return 255 * uint8(math.Float64bits(v)>>40&1) }), true},
		{"two points", clustered(2, d, 1, 0), true}, {"five points", toFloats(clustered(5, d, 1, 0)), true}, {"one column", toFloats(clustered(300, 1, 1, 0)), true},
	}
	for _, c := range cases {
		for _, m := range []knn.Metric{knn.Euclidean, knn.Angle, knn.Cosine} {
			for _, columns := range []int{5, 127} {
				if m == knn.Cosine && columns != 5 {
					continue // all but the last step is as for angles
				}
				if m == knn.Angle && columns == 127 && !testmode.Soak() {
					continue // as for Euclidean distance between unit vectors
				}
				ix := knn.NewPruned(c.x, m, columns)
				rows, _ := c.x.Dims()
				for _, k := range []int{1, 7, rows - 1} {
					if k > rows-1 || k > 7 && (columns == 127 || m != knn.Euclidean || rows > 10 && c.name != "float32" && c.name != "bytes") {
						continue
					}
					compareExact(t, fmt.Sprintf("%s, %v, %d columns, k = %d", c.name, m, columns, k), c.x, ix, m, k)
				}
				if m == knn.Euclidean && knn.Pruned(ix) != c.prunes {
					t.Errorf("%s: pruned is %v", c.name, !c.prunes)
				}
			}
		}
	}
}

func compareExact(t *testing.T, name string, x data.Points, ix knn.Index, m knn.Metric, k int) {
	t.Helper()
	ctx := context.Background()
	plain, err := knn.Unpruned(x, m)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := x.Dims()
	got, err := ix.Self(ctx, k)
	want, err2 := plain.Self(ctx, k)
	if err != nil || err2 != nil {
		t.Fatal(name, err, err2)
	}
	sameLists(t, name, got, want)
	queries := data.Slice(x, 0, min(rows, 120))
	got, err = ix.Query(ctx, queries, k)
	want, err2 = plain.Query(ctx, queries, k)
	if err != nil || err2 != nil {
		t.Fatal(name, err, err2)
	}
	sameLists(t, name+", queries", got, want)
}

func sameLists(t *testing.T, name string, got, want *knn.Neighbors) {
	t.Helper()
	for i := range want.Len() {
		gi, gd := got.Row(i)
		wi, wd := want.Row(i)
		if !slices.Equal(gi, wi) || !slices.Equal(gd, wd) {
			t.Fatalf("%s: neighbours of %d are %v at %v, not %v at %v", name, i, gi, gd, wi, wd)
		}
	}
}

// TestPrunedQueriesOfOtherTypes has queries whose elements are not those of the points.
func TestPrunedQueriesOfOtherTypes(t *testing.T) {
	x, q := clustered(600, 30, 1, 0), clustered(90, 30, 1.3, 0.2)
	kinds := map[string][2]data.Points{"float64": {x, q}, "float32": {toFloats(x), toFloats(q)}, "float16": {toHalves(x), toHalves(q)}, "bytes": {toBytes(x), toBytes(q)}}
	for points, p := range kinds {
		for queries, other := range kinds {
			for _, m := range []knn.Metric{knn.Euclidean, knn.Angle} {
				name := fmt.Sprintf("%s among %s, %v", queries, points, m)
				ix := knn.NewPruned(p[0], m, 8)
				plain, err := knn.Unpruned(p[0], m)
				if err != nil {
					t.Fatal(err)
				}
				got, err := ix.Query(context.Background(), other[1], 5)
				want, err2 := plain.Query(context.Background(), other[1], 5)
				if err != nil || err2 != nil {
					t.Fatal(name, err, err2)
				}
				sameLists(t, name, got, want)
				if points == queries && !knn.Pruned(ix) {
					t.Errorf("%s: not pruned", name)
				}
			}
		}
	}
}

// TestPrunedThreads has the same bits at any number of threads, and arguments that any index
// refuses.
func TestPrunedThreads(t *testing.T) {
	x := toFloats(clustered(3000, 30, 1, 0))
	var lists []*knn.Neighbors
	for _, threads := range []int{1, 3, 8} {
		old := runtime.GOMAXPROCS(threads)
		nb, err := knn.NewPruned(x, knn.Euclidean, 8).Self(context.Background(), 6)
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, nb)
	}
	sameLists(t, "3 threads", lists[1], lists[0])
	sameLists(t, "8 threads", lists[2], lists[0])
	ix := knn.NewPruned(x, knn.Euclidean, 8)
	if _, err := ix.Self(context.Background(), 3000); err == nil || !strings.Contains(err.Error(), "between 1 and 2999") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ix.Self(ctx, 3); err != context.Canceled {
		t.Error(err)
	}
	if _, err := ix.Query(ctx, x, 3); err != context.Canceled {
		t.Error(err)
	}
}

// TestBrutePrunes shows that NewBrute prunes where a sample says that it saves time, and that
// the index answers others' queries too.
func TestBrutePrunes(t *testing.T) {
	const n, k = 18_000, 5
	x := toFloats(clustered(n, 200, 1, 0))
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := knn.Unpruned(x, knn.Euclidean)
	if err != nil {
		t.Fatal(err)
	}
	all, err := ix.Self(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	if !knn.Pruned(ix) {
		t.Error("not pruned")
	}
	few := data.Slice(x, 0, 200)
	got, err := ix.Query(context.Background(), few, k+1)
	want, err2 := plain.Query(context.Background(), few, k+1)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	sameLists(t, "queries", got, want)
	for i := range want.Len() {
		index, _ := all.Row(i)
		other, _ := want.Row(i)
		if other[0] != int32(i) || !slices.Equal(index, other[1:]) {
			t.Fatalf("neighbours of %d are %v, not %v", i, index, other[1:])
		}
	}
}
