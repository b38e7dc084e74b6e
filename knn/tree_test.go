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
	"time"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
)

func TestBruteOtherMetrics(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "a search like that of TestBrute, by other metrics")
	testIndex(t, knn.NewBrute, withMetrics(knn.Manhattan, knn.Chebyshev), withTypes(float64s, float32s, bytes))
}

// trees lists the trees with their metrics.
var trees = []struct {
	name    string
	build   builder
	metrics []knn.Metric
}{
	{"kd-tree", knn.NewKDTree, []knn.Metric{knn.Euclidean, knn.Manhattan, knn.Chebyshev}},
	{"ball tree", knn.NewBallTree, []knn.Metric{knn.Euclidean, knn.Angle, knn.Cosine, knn.Manhattan, knn.Chebyshev}},
}

// Trees return the bits that brute force does.
func TestTreesEqualBrute(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "many kinds of points; the threads check of the suite has the goroutines")
	ctx := context.Background()
	n, dims := 500, []int{1, 3, 9}
	if testmode.Soak() {
		n, dims = 1000, []int{1, 2, 3, 4, 9}
	}
	if testing.Short() {
		n, dims = 400, []int{2, 9}
	}
	for _, d := range dims {
		wide := uniform[float64](n, d)
		narrow := data.NewDense[float32](n, d)
		coarse := data.NewDense[uint8](n, d)
		for i, v := range wide.Data {
			narrow.Data[i] = float32(v) + 1e6 // few values, hence ties
			coarse.Data[i] = uint8(6 * v)
		}
		for _, x := range []data.Points{wide, narrow, coarse} {
			for _, tree := range trees {
				for _, m := range tree.metrics {
					t.Run(fmt.Sprintf("%s/%v/%T/%d", tree.name, m, x, d), func(t *testing.T) {
						s := &knn.Settings{Metric: m}
						brute, err := knn.NewBrute(x, s)
						if err != nil {
							t.Fatal(err)
						}
						ix, err := tree.build(x, s)
						if err != nil {
							t.Fatal(err)
						}
						want, err := brute.Self(ctx, 10)
						if err != nil {
							t.Fatal(err)
						}
						got, err := ix.Self(ctx, 10)
						if err != nil {
							t.Fatal(err)
						}
						if !slices.Equal(got.Distance, want.Distance) {
							t.Error("Self: other distances")
						}
						if !slices.Equal(got.Index, want.Index) {
							t.Error("Self: other points")
						}
						radius := want.Distance[9]
						in, err := brute.Within(ctx, radius)
						if err != nil {
							t.Fatal(err)
						}
						out, err := ix.Within(ctx, radius)
						if err != nil {
							t.Fatal(err)
						}
						if !slices.Equal(out.Ptr, in.Ptr) || !slices.Equal(out.Col, in.Col) || !slices.Equal(out.Val, in.Val) {
							t.Error("Within: another matrix")
						}
					})
				}
			}
		}
	}
}

// masses are sets of n points on which a careless tree takes time n².
func masses(n int) map[string]*data.Dense[float64] {
	rng := rand.New(rand.NewPCG(5, 5))
	fill := func(d int, f func(i int, row []float64)) *data.Dense[float64] {
		x := data.NewDense[float64](n, d)
		for i := range n {
			f(i, x.Row(i))
		}
		return x
	}
	return map[string]*data.Dense[float64]{
		"all equal": fill(3, func(_ int, row []float64) { copy(row, []float64{0.1, 0.2, 0.3}) }),
		"all zero":  fill(3, func(int, []float64) {}),
		"two values": fill(2, func(_ int, row []float64) {
			row[0], row[1] = float64(rng.IntN(2)), 0.7
		}),
		"half equal": fill(3, func(i int, row []float64) {
			for j := range row {
				row[j] = 0.3
				if i%2 == 0 {
					row[j] = rng.Float64()
				}
			}
		}),
		"constant coordinates": fill(6, func(_ int, row []float64) {
			row[4] = rng.NormFloat64()
		}),
		"coarse grid": fill(3, func(_ int, row []float64) {
			for j := range row {
				row[j] = float64(rng.IntN(4))
			}
		}),
		"fine grid": fill(2, func(i int, row []float64) {
			row[0], row[1] = float64(i%250), float64(i/250)
		}),
		"sorted line": fill(1, func(i int, row []float64) { row[0] = float64(i) }),
		"organ pipe":  fill(1, func(i int, row []float64) { row[0] = float64(min(i, n-i)) }),
		"far line": fill(3, func(_ int, row []float64) {
			t := rng.Float64()
			row[0], row[1], row[2] = 1e6+t, 1e6-t, 1e6
		}),
		"geometric": fill(2, func(i int, row []float64) {
			row[0], row[1] = math.Exp(-float64(i%700)), math.Exp(float64(i%300))
		}),
	}
}

func TestTreesOnMasses(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "accuracy; the threads check of the suite has the goroutines")
	const k = 7
	n := 7_000
	if testmode.Soak() {
		n = 50_000
	}
	if testing.Short() {
		n = 4_000
	}
	for name, x := range masses(n) {
		rows := load(x)
		for _, tree := range trees {
			for _, m := range tree.metrics {
				t.Run(fmt.Sprintf("%s/%s/%v", name, tree.name, m), func(t *testing.T) {
					start := time.Now()
					ix, err := tree.build(x, &knn.Settings{Metric: m})
					if err != nil {
						t.Fatal(err)
					}
					nb, err := ix.Self(context.Background(), k)
					if err != nil {
						t.Fatal(err)
					}
					// Brute force takes a minute.
					if took := time.Since(start); took > 20*time.Second {
						t.Errorf("took %v", took)
					}
					for _, i := range []int{1, n - 1} {
						index, dist := nb.Row(i)
						checkRow(t, m, rows, index, dist, oracle(m, rows, rows[i], i), false)
					}
				})
			}
		}
	}
}

func TestTreesRefuse(t *testing.T) {
	ok := uniform[float64](10, 3)
	bad := uniform[float64](10, 3)
	bad.Row(7)[2] = math.NaN()
	cases := []struct {
		name   string
		build  builder
		x      data.Points
		metric knn.Metric
		want   []string
	}{
		{"angle", knn.NewKDTree, ok, knn.Angle, []string{"ball-tree"}},
		{"sparse", knn.NewKDTree, sparseRows.of(load(ok)), knn.Euclidean, []string{"sparse", "brute"}},
		{"sparse", knn.NewBallTree, sparseRows.of(load(ok)), knn.Angle, []string{"sparse", "brute"}},
		{"sparse", knn.NewBrute, sparseRows.of(load(ok)), knn.Manhattan, []string{"manhattan", "dense"}},
		{"NaN", knn.NewKDTree, bad, knn.Euclidean, []string{"point 7", "coordinate 2", "NaN"}},
		{"NaN", knn.NewBallTree, bad, knn.Angle, []string{"point 7", "coordinate 2", "NaN"}},
		{"metric", knn.NewKDTree, ok, knn.Metric(99), []string{"99"}},
		{"metric", knn.NewBallTree, ok, knn.Metric(-1), []string{"-1"}},
		{"no points", knn.NewBallTree, data.NewDense[float64](0, 3), knn.Euclidean, []string{"0 points"}},
		{"no dimensions", knn.NewKDTree, data.NewDense[float64](3, 0), knn.Euclidean, []string{"0 dimensions"}},
	}
	for _, c := range cases {
		ix, err := c.build(c.x, &knn.Settings{Metric: c.metric})
		if err == nil || ix != nil {
			t.Errorf("%s: %v, %v", c.name, ix, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not name %s", c.name, err, w)
			}
		}
	}
	for _, build := range []builder{knn.NewKDTree, knn.NewBallTree} {
		ix, err := build(ok, nil)
		if err != nil {
			t.Fatal(err)
		}
		if nb, err := ix.Query(context.Background(), bad, 2); err == nil || nb != nil || !strings.Contains(err.Error(), "query 7") {
			t.Errorf("query with NaN: %v, %v", nb, err)
		}
	}
}

// Squares that overflow or underflow change no answer by much.
func TestTreesAtTheEndsOfTheRange(t *testing.T) {
	for _, scale := range []float64{1e-170, 1e-100, 1e100, 1e160, 1e308} {
		x := uniform[float64](400, 3)
		for i := range x.Data {
			x.Data[i] = (x.Data[i] - 0.5) * scale
		}
		for _, tree := range trees {
			for _, m := range tree.metrics {
				s := &knn.Settings{Metric: m}
				ix, err := tree.build(x, s)
				if err != nil {
					t.Fatal(err)
				}
				brute, err := knn.NewBrute(x, s)
				if err != nil {
					t.Fatal(err)
				}
				got, err := ix.Self(context.Background(), 5)
				if err != nil {
					t.Fatal(err)
				}
				want, err := brute.Self(context.Background(), 5)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Distance, want.Distance) {
					t.Errorf("%s, %v, scale %v: differs from brute force", tree.name, m, scale)
				}
			}
		}
	}
}

// The estimates are near what is allocated.
func TestTreeBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory, which takes many points")
	}
	const k = 10
	n := 60_000
	if testmode.Soak() {
		n = 200_000
	}
	for _, x := range []data.Points{uniform[float32](n, 3), uniform[float64](n, 5)} {
		for _, c := range []struct {
			name  string
			build builder
			bytes int64
		}{
			{"kd-tree", knn.NewKDTree, knn.IndexBytes(x, knn.KDTree, knn.Euclidean, k)},
			{"ball tree", knn.NewBallTree, knn.IndexBytes(x, knn.BallTree, knn.Euclidean, k)},
		} {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			ix, err := c.build(x, nil)
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			nb, err := ix.Self(context.Background(), k)
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			live := int64(after.HeapAlloc) - int64(before.HeapAlloc)
			if !(live <= c.bytes+c.bytes/20 && c.bytes <= 2*live) {
				t.Errorf("%s of %T: %d bytes are alive, %d estimated", c.name, x, live, c.bytes)
			}
			runtime.KeepAlive(ix)
			runtime.KeepAlive(nb)
		}
	}
}
