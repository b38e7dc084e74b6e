package knn_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

func buildDescent(x data.Points, s *knn.Settings) (knn.Index, error) {
	return knn.NewDescent(x, &knn.DescentSettings{Settings: *s})
}

func TestDescent(t *testing.T) {
	testIndex(t, buildDescent, withMetrics(knn.Euclidean, knn.Angle, knn.Cosine), withTypes(float64s, float32s, bytes, sparseRows), withRecall(0.95))
}

func newDescent(t testing.TB, x data.Points, s knn.DescentSettings) *knn.Descent {
	t.Helper()
	ix, err := knn.NewDescent(x, &s)
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

func selfOf(t testing.TB, ix knn.Index, k int) *knn.Neighbors {
	t.Helper()
	nb, err := ix.Self(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

// asBytes stores a set in bytes.
func asBytes(x *data.Dense[float32]) *data.Dense[uint8] {
	low, high := slices.Min(x.Data), slices.Max(x.Data)
	out := data.NewDense[uint8](x.Rows, x.Cols)
	for i, v := range x.Data {
		out.Data[i] = uint8(255 * (v - low) / (high - low))
	}
	return out
}

func TestDescentThreads(t *testing.T) {
	n := 40000 // several blocks of an exchange
	if testing.Short() {
		n = 18000
	}
	x := synthetic.Manifold(n, 16, 6, 0.01, 1)
	q := synthetic.Manifold(100, 16, 6, 0.02, 2)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var self, query *knn.Neighbors
	var stats knn.DescentStats
	for _, threads := range []int{2, 1, 3} {
		runtime.GOMAXPROCS(threads)
		ix := newDescent(t, x, knn.DescentSettings{Sample: 200, Seed: 5})
		nb := selfOf(t, ix, 10)
		found, err := ix.Query(context.Background(), q, 10)
		if err != nil {
			t.Fatal(err)
		}
		if self == nil {
			self, query, stats = nb, found, ix.Stats()
			continue
		}
		if !slices.Equal(nb.Index, self.Index) || !slices.Equal(nb.Distance, self.Distance) {
			t.Errorf("Self differs at %d threads", threads)
		}
		if !slices.Equal(found.Index, query.Index) || !slices.Equal(found.Distance, query.Distance) {
			t.Errorf("Query differs at %d threads", threads)
		}
		if ix.Stats() != stats {
			t.Errorf("%d threads: %+v, not %+v", threads, ix.Stats(), stats)
		}
	}
}

func TestDescentRecall(t *testing.T) {
	testmode.Skip(t, testmode.Race, "recall; TestDescentThreads has the goroutines")
	n, k := 12000, 10
	if testing.Short() {
		n = 4000
	}
	manifold := synthetic.Manifold(n+500, 32, 8, 0.01, 1)
	inside, outside := make([]int, n), make([]int, 500)
	for i := range inside {
		inside[i] = i
	}
	for i := range outside {
		outside[i] = n + i
	}
	for _, metric := range []knn.Metric{knn.Euclidean, knn.Angle} {
		for _, all := range []data.Points{manifold, asBytes(manifold)} {
			t.Run(fmt.Sprintf("%v/%T", metric, all), func(t *testing.T) {
				x, q := data.Select(all, inside), data.Select(all, outside)
				ix := newDescent(t, x, knn.DescentSettings{Settings: knn.Settings{Metric: metric}})
				nb := selfOf(t, ix, k)
				r, err := knn.RecallOf(context.Background(), x, metric, nb, n, 0)
				if err != nil {
					t.Fatal(err)
				}
				if !(r.Share >= 0.975) {
					t.Errorf("recall %v", r)
				}
				if s := ix.Stats().Recall; !(s.Low <= r.Share && r.Share <= s.High) {
					t.Errorf("recall estimated as %v, truly %v", s, r.Share)
				}
				exact, err := knn.NewBrute(x, &knn.Settings{Metric: metric})
				if err != nil {
					t.Fatal(err)
				}
				want, err := exact.Query(context.Background(), q, k)
				if err != nil {
					t.Fatal(err)
				}
				got, err := ix.Query(context.Background(), q, k)
				if err != nil {
					t.Fatal(err)
				}
				found := 0
				for i := range 500 {
					_, a := got.Row(i)
					_, b := want.Row(i)
					for _, d := range a {
						if d <= b[k-1] {
							found++
						}
					}
				}
				if share := float64(found) / float64(500*k); !(share >= 0.97) {
					t.Errorf("recall %v of points outside", share)
				}
			})
		}
	}
}

// TestDescentHard asks for a recall on sets that mislead searches.
func TestDescentHard(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "recall on more kinds of points; TestDescentThreads has the goroutines")
	n, k := 5000, 10
	if testing.Short() {
		n = 2000
	}
	r := rand.New(rand.NewPCG(1, 1))
	set := func(d int, point func(i int, row []float64)) *data.Dense[float64] {
		x := data.NewDense[float64](n, d)
		for i := range n {
			point(i, x.Row(i))
		}
		return x
	}
	normal := func(_ int, row []float64) {
		for j := range row {
			row[j] = r.NormFloat64()
		}
	}
	duplicates := set(6, normal)
	for i := range n / 10 {
		copy(duplicates.Row(10*i), duplicates.Row(r.IntN(n)))
	}
	for _, c := range []struct {
		name  string
		x     *data.Dense[float64]
		floor float64
	}{
		{"all equal", set(3, func(_ int, row []float64) { row[0], row[2] = 1, 1e5 }), 1},
		{"clusters 2e6 apart", set(8, func(i int, row []float64) {
			normal(i, row)
			row[3] += 2e6*float64(i%2) - 1e6
		}), 0.93},
		{"10 % duplicates", duplicates, 0.95},
		{"all in threes", set(6, func(i int, row []float64) { copy(row, duplicates.Row(i/3)) }), 0.95},
		{"one dimension", set(1, normal), 0.99},
		{"line", set(9, func(_ int, row []float64) {
			t := r.NormFloat64()
			for j := range row {
				row[j] = t * float64(j-4)
			}
		}), 0.99},
		{"grid", set(2, func(i int, row []float64) { row[0], row[1] = float64(i%50), float64(i/50) }), 0.99},
		{"bits", set(12, func(_ int, row []float64) {
			for j := range row {
				row[j] = float64(r.IntN(2))
			}
		}), 0.95},
		{"constant coordinate", set(4, func(i int, row []float64) { normal(i, row); row[1] = 1e4 }), 0.97},
		{"range of float64", set(4, func(i int, row []float64) {
			normal(i, row)
			for j := range row {
				row[j] *= 1e100
			}
		}), 0.97},
		{"hub", set(60, func(i int, row []float64) {
			if normal(i, row); i == 0 {
				clear(row)
			}
		}), 0.55},
	} {
		t.Run(c.name, func(t *testing.T) {
			ix := newDescent(t, c.x, knn.DescentSettings{})
			nb := selfOf(t, ix, k)
			got, err := knn.RecallOf(context.Background(), c.x, knn.Euclidean, nb, n, 0)
			if err != nil {
				t.Fatal(err)
			}
			if !(got.Share >= c.floor) {
				t.Errorf("recall %v", got)
			}
			t.Logf("recall %v, %+v", got, ix.Stats())
			for i := range n {
				index, dist := nb.Row(i)
				if slices.Contains(index, int32(i)) {
					t.Fatalf("point %d is its own neighbour", i)
				}
				for p, j := range index {
					if slices.Contains(index[:p], j) {
						t.Fatalf("point %d lists %d twice", i, j)
					}
					if p > 0 && (dist[p] < dist[p-1] || dist[p] == dist[p-1] && j < index[p-1]) {
						t.Fatalf("the list of point %d is out of order", i)
					}
				}
			}
		})
	}
}

func TestDescentRaisesEffort(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "recall; TestDescentThreads has the goroutines")
	x := synthetic.Manifold(6000, 100, 50, 0.01, 3)
	ctx := context.Background()
	ix := newDescent(t, x, knn.DescentSettings{})
	selfOf(t, ix, 10)
	plain := ix.Stats()
	if !(plain.Recall.Share < 0.98) || plain.Effort != 0 {
		t.Fatalf("not a hard set: %+v", plain)
	}
	ix = newDescent(t, x, knn.DescentSettings{Recall: 0.98})
	nb := selfOf(t, ix, 10)
	s := ix.Stats()
	if !(s.Recall.Share >= 0.98) || s.Effort == 0 || s.Trees <= plain.Trees || s.Width <= plain.Width {
		t.Errorf("%+v after %+v", s, plain)
	}
	if r, err := knn.RecallOf(ctx, x, knn.Euclidean, nb, 6000, 0); err != nil || !(r.Share >= 0.97) {
		t.Errorf("recall %v, %v", r, err)
	}

	x = synthetic.Manifold(6000, 100, 100, 1, 3) // hardly anything but noise
	ix = newDescent(t, x, knn.DescentSettings{Recall: 1, Trees: 1, Candidates: 1, Exchanges: 1})
	nb, err := ix.Self(ctx, 10)
	if !errors.Is(err, knn.ErrRecall) || nb == nil || nb.Len() != 6000 {
		t.Fatalf("%v after %+v", err, ix.Stats())
	}
	if share := ix.Stats().Recall.Share; !(share > 0.3 && share < 1) || !strings.Contains(err.Error(), fmt.Sprintf("%.4f", share)) {
		t.Errorf("recall %v: %v", share, err)
	}
}

func TestDescentSearchesAgainForMore(t *testing.T) {
	x := synthetic.Manifold(2000, 8, 4, 0.01, 3)
	ix := newDescent(t, x, knn.DescentSettings{})
	five := selfOf(t, ix, 5)
	if s := ix.Stats(); s.K != 5 {
		t.Errorf("%+v", s)
	}
	thirty := selfOf(t, ix, 30)
	if s := ix.Stats(); s.K != 30 || thirty.K != 30 || !(s.Recall.Share > 0.98) {
		t.Errorf("%+v", s)
	}
	// From now on the longer lists serve shorter ones.
	short := selfOf(t, ix, 5)
	if s := ix.Stats(); s.K != 30 || short.K != 5 {
		t.Errorf("%+v", s)
	}
	for i := range 2000 {
		_, a := short.Row(i)
		_, b := thirty.Row(i)
		if !slices.Equal(a, b[:5]) {
			t.Fatalf("point %d: %v and %v", i, a, b)
		}
	}
	if five.Len() != 2000 {
		t.Error(five.Len())
	}
}

func TestDescentStops(t *testing.T) {
	testmode.Skip(t, testmode.Race, "recall; TestDescentThreads has the goroutines")
	x := synthetic.Manifold(5000, 8, 4, 0.01, 3)
	for _, steps := range []int{1, 2, 3} {
		ctx, cancel := context.WithCancel(context.Background())
		calls := 0
		ix := newDescent(t, x, knn.DescentSettings{Settings: knn.Settings{OnProgress: func(done, total int) {
			if calls++; calls == steps {
				cancel()
			}
		}}})
		if nb, err := ix.Self(ctx, 10); nb != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after %d steps: %t, %v", steps, nb != nil, err)
		}
		// The index can be used again.
		if nb := selfOf(t, ix, 10); nb.Len() != 5000 {
			t.Error(nb.Len())
		}
		cancel()
	}
}

func TestDescentProgress(t *testing.T) {
	last := 0
	ix := newDescent(t, synthetic.Manifold(5000, 8, 4, 0.01, 3), knn.DescentSettings{Settings: knn.Settings{OnProgress: func(done, total int) {
		if done <= last || done > total || total != 5000 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}}})
	selfOf(t, ix, 10)
	if last != 5000 {
		t.Errorf("ended at %d", last)
	}
}

func TestDescentFaults(t *testing.T) {
	x := synthetic.Manifold(50, 8, 4, 0.01, 3)
	_, err := knn.NewDescent(x, &knn.DescentSettings{Settings: knn.Settings{Metric: 99}, Trees: -1, Candidates: 101, Exchanges: -1, Tolerance: 2, Recall: 1.5, Sample: -2, Widening: -1})
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range []string{"distance", "-1 random projection trees", "101 candidates", "-1 exchanges", "tolerance is 2", "1.5", "-2 points", "widening"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is missing: %v", word, err)
		}
	}
	if _, err := knn.NewDescent(x, &knn.DescentSettings{Settings: knn.Settings{Metric: knn.InnerProduct}}); err == nil || !strings.Contains(err.Error(), "brute") {
		t.Errorf("inner products: %v", err)
	}
	holes := &sparse.CSR{Rows: 2, Cols: 3, Ptr: []int64{0, 1, 2}, Col: []int32{0, 2}, Val: []float64{1, math.NaN()}}
	if _, err := knn.NewDescent(holes, nil); err == nil || !strings.Contains(err.Error(), "point 1") {
		t.Errorf("NaN in sparse points: %v", err)
	}
	if _, err := knn.NewDescent(data.NewDense[float32](0, 3), nil); err == nil {
		t.Error("no points: no error")
	}
	for _, bad := range []float64{math.NaN(), math.Inf(-1)} {
		for _, metric := range []knn.Metric{knn.Euclidean, knn.Angle} {
			x := data.NewDense[float64](9, 2)
			x.Data[7] = bad
			if _, err := knn.NewDescent(x, &knn.DescentSettings{Settings: knn.Settings{Metric: metric}}); err == nil {
				t.Errorf("%v under %v: no error", bad, metric)
			}
		}
	}
	ix := newDescent(t, x, knn.DescentSettings{})
	if s := ix.Stats(); s != (knn.DescentStats{}) {
		t.Errorf("stats before a search: %+v", s)
	}
	if _, err := ix.Within(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "NewKDTree") {
		t.Errorf("Within: %v", err)
	}
}

// Most of the neighbours found are the nearest ones; the index says how many.
func ExampleNewDescent() {
	x := synthetic.Manifold(5000, 20, 5, 0.01, 1)
	ix, err := knn.NewDescent(x, &knn.DescentSettings{Recall: 0.95})
	if err != nil {
		panic(err)
	}
	nb, err := ix.Self(context.Background(), 10)
	if err != nil {
		panic(err)
	}
	fmt.Println(nb.Len(), "lists of", nb.K)
	fmt.Println("recall at least 0.95:", ix.Stats().Recall.Share >= 0.95)
	// Output:
	// 5000 lists of 10
	// recall at least 0.95: true
}

func BenchmarkDescent(b *testing.B) {
	for _, n := range []int{15625, 62500} {
		x := synthetic.Manifold(n, 64, 10, 0.01, 1)
		b.Run(fmt.Sprintf("self/%dx64", n), func(b *testing.B) {
			for b.Loop() {
				selfOf(b, newDescent(b, x, knn.DescentSettings{Sample: -1}), 10)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "µs/point")
		})
		b.Run(fmt.Sprintf("query/%dx64", n), func(b *testing.B) {
			ix := newDescent(b, x, knn.DescentSettings{Sample: -1})
			q := synthetic.Manifold(1000, 64, 10, 0.02, 1)
			for b.Loop() {
				if _, err := ix.Query(context.Background(), q, 10); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/1000, "µs/query")
		})
	}
}
