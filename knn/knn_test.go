package knn_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// builder makes the index under test.
type builder func(x data.Points, s *knn.Settings) (knn.Index, error)

// suite says what testIndex may ask of an index.
type suite struct {
	build   builder
	metrics []knn.Metric
	types   []pointType
	recall  float64 // 0 for an exact index
}

type indexOption func(*suite)

// withMetrics limits the suite to some metrics; the default is all of
// NewBrute's.
func withMetrics(m ...knn.Metric) indexOption { return func(s *suite) { s.metrics = m } }

// withTypes limits the suite to some types of points; the default is all.
func withTypes(types ...pointType) indexOption { return func(s *suite) { s.types = types } }

// withRecall is for approximate indexes: the neighbours found must be real ones
// at their true distances, and on sets of distinct points this share of the
// true ones. Ties and Within are exempt.
func withRecall(share float64) indexOption { return func(s *suite) { s.recall = share } }

// testIndex is the conformance suite of all indexes.
func testIndex(t *testing.T, build func(x data.Points, s *knn.Settings) (knn.Index, error), opts ...indexOption) {
	t.Helper()
	s := &suite{build: build, metrics: []knn.Metric{knn.Euclidean, knn.Angle}, types: []pointType{float64s, float32s, bytes, sparseRows}}
	for _, o := range opts {
		o(s)
	}
	for i, metric := range s.metrics {
		for at, typ := range s.types {
			if testing.Short() && i > 0 && typ != s.types[0] {
				continue // the race detector finds in one metric what it finds in all
			}
			t.Run(fmt.Sprintf("%v/%v", metric, typ), func(t *testing.T) {
				for j, set := range pointSets() {
					if typ == bytes && !set.bytes || testing.Short() && j%3 > 0 {
						continue
					}
					// The first metric sees all sets in all types, the others each set in some.
					if !testmode.Soak() && i > 0 && (j+at+i)%3 > 0 {
						continue
					}
					t.Run(set.name, func(t *testing.T) { s.checkSet(t, set, metric, typ) })
				}
				t.Run("faults", func(t *testing.T) { s.checkFaults(t, metric, typ) })
				t.Run("threads", func(t *testing.T) { s.checkThreads(t, metric, typ) })
				if s.recall == 0 && !testing.Short() {
					t.Run("property", func(t *testing.T) { s.checkProperty(t, metric, typ) })
				}
			})
		}
		t.Run(fmt.Sprintf("%v/types agree", metric), func(t *testing.T) { s.checkTypesAgree(t, metric) })
	}
}

// pointType is a way to store points.
type pointType int

const (
	float64s pointType = iota
	float32s
	bytes
	sparseRows
)

func (p pointType) String() string { return []string{"float64", "float32", "uint8", "sparse"}[p] }

// of stores the rows in the type; they must fit.
func (p pointType) of(rows [][]float64) data.Points {
	n, d := len(rows), len(rows[0])
	switch p {
	case float32s:
		return store[float32](rows)
	case bytes:
		return store[uint8](rows)
	case sparseRows:
		a := mat.NewDense(n, d, nil)
		for i, row := range rows {
			a.SetRow(i, row)
		}
		return sparse.FromDense(a)
	}
	return store[float64](rows)
}

func store[T data.Element](rows [][]float64) *data.Dense[T] {
	x := data.NewDense[T](len(rows), len(rows[0]))
	for i, row := range rows {
		for j, v := range row {
			x.Row(i)[j] = T(v)
		}
	}
	return x
}

// load returns the points as stored, in float64.
func load(x data.Points) [][]float64 {
	n, d := x.Dims()
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		data.RowTo(rows[i], x, i)
	}
	return rows
}

// pointSet is an input that some method could stumble over.
type pointSet struct {
	name  string
	rows  [][]float64
	bytes bool // the coordinates are integers from 0 to 255
	exact bool // distances are exact in float64 but for the root: any tie is one
	ties  bool // holds ties, so that recall means nothing
}

func pointSets() []pointSet {
	rng := rand.New(rand.NewPCG(7, 7))
	normal := func(n, d int, scale, offset float64) [][]float64 {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, d)
			for j := range rows[i] {
				rows[i][j] = offset + scale*rng.NormFloat64()
			}
		}
		return rows
	}
	integers := func(n, d, below int) [][]float64 {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, d)
			for j := range rows[i] {
				rows[i][j] = float64(rng.IntN(below))
			}
		}
		return rows
	}
	with := func(rows [][]float64, change func(i int, row []float64)) [][]float64 {
		for i, row := range rows {
			change(i, row)
		}
		return rows
	}
	grid := make([][]float64, 0, 144)
	for i := range 144 {
		grid = append(grid, []float64{float64(i % 12), float64(i / 12)})
	}
	rng.Shuffle(len(grid), func(i, j int) { grid[i], grid[j] = grid[j], grid[i] })
	duplicates := normal(150, 4, 1, 0)
	for i := 0; i < 150; i += 10 {
		copy(duplicates[i], duplicates[(i+77)%150])
	}
	far := append(normal(60, 3, 1, 1e6), normal(60, 3, 1e-3, -1e6)...)
	rng.Shuffle(len(far), func(i, j int) { far[i], far[j] = far[j], far[i] })
	return []pointSet{
		{name: "normal", rows: normal(150, 7, 1, 0)},
		{name: "bytes", rows: integers(100, 40, 256), bytes: true, exact: true, ties: true},
		{name: "all equal", rows: with(integers(40, 3, 1), func(_ int, row []float64) { copy(row, []float64{3, 1, 2}) }), bytes: true, exact: true, ties: true},
		{name: "all zero", rows: integers(20, 2, 1), bytes: true, exact: true, ties: true},
		{name: "clusters far from the origin", rows: far, ties: true}, // ties once in float32
		{name: "one cluster far from the origin", rows: normal(90, 5, 1e-2, 1e6), ties: true},
		{name: "outlier 1e9", rows: with(normal(90, 3, 1, 0), func(i int, row []float64) {
			if i == 41 {
				row[1] = 1e9
			}
		})},
		{name: "outlier 1e30", rows: with(normal(30, 3, 1, 0), func(i int, row []float64) {
			if i == 11 {
				row[1] = 1e30
			}
		}), ties: true}, // seen from the outlier all are equally far
		{name: "tiny", rows: normal(60, 3, 1e-22, 0)}, // squares below the smallest float32
		{name: "constant coordinate", rows: with(normal(90, 4, 1, 0), func(_ int, row []float64) { row[2] = 1000 })},
		{name: "one point", rows: [][]float64{{1, 2, 3}}, bytes: true, exact: true},
		{name: "two points", rows: [][]float64{{1, 2, 3}, {3, 2, 1}}, bytes: true, exact: true},
		{name: "one dimension", rows: normal(120, 1, 1, 0), ties: true}, // for Angle
		{name: "integers in one dimension", rows: integers(100, 1, 20), bytes: true, exact: true, ties: true},
		{name: "line", rows: with(normal(90, 5, 0, 0), func(_ int, row []float64) {
			t := rng.NormFloat64()
			copy(row, []float64{t, -2 * t, t / 2, 0, 4 * t})
		}), ties: true},
		{name: "grid", rows: grid, bytes: true, exact: true, ties: true},
		{name: "duplicates", rows: duplicates, ties: true},
		{name: "zero vectors", rows: with(integers(120, 6, 4), func(i int, row []float64) {
			if i%6 == 2 {
				clear(row)
			}
		}), bytes: true, exact: true, ties: true},
		{name: "signs", rows: with(integers(120, 5, 3), func(_ int, row []float64) {
			for j := range row {
				row[j]--
			}
		}), exact: true, ties: true},
	}
}

// distance is the definition of the metric, one pair at a time.
func distance(m knn.Metric, a, b []float64) float64 {
	var sum, largest, aa, bb float64
	name := m.String() // a search in a table
	manhattan := name == "manhattan"
	for j := range a {
		d := math.Abs(a[j] - b[j])
		largest = max(largest, d)
		if manhattan {
			sum += d
		} else {
			sum += d * d
		}
		aa, bb = aa+a[j]*a[j], bb+b[j]*b[j]
	}
	switch name {
	case "euclidean":
		return math.Sqrt(sum)
	case "manhattan":
		return sum
	case "chebyshev":
		return largest
	case "cosine":
		if aa == 0 || bb == 0 {
			return 1
		}
		sum = 0
		for j := range a {
			d := a[j]/math.Sqrt(aa) - b[j]/math.Sqrt(bb)
			sum += d * d
		}
		return sum / 2
	case "inner-product":
		var dot float64
		for j := range a {
			dot += a[j] * b[j]
		}
		return -dot
	case "hamming":
		return sum / float64(len(a))
	case "jaccard":
		var both, either float64
		for j := range a {
			both += a[j] * b[j]
			either += max(a[j], b[j])
		}
		if either == 0 {
			return 0
		}
		return 1 - both/either
	case "angle":
		if aa == 0 || bb == 0 {
			return math.Pi / 2
		}
		// Kahan's formula, exact near 0 and π.
		var minus, plus float64
		aa, bb = math.Sqrt(aa), math.Sqrt(bb)
		for j := range a {
			u, v := a[j]/aa, b[j]/bb
			minus, plus = minus+(u-v)*(u-v), plus+(u+v)*(u+v)
		}
		return 2 * math.Atan2(math.Sqrt(minus), math.Sqrt(plus))
	}
	panic("no definition of " + m.String())
}

// near reports whether two distances are equal but for rounding. Angles are
// compared by their chords, as double precision is no better for angles close
// to π.
func near(m knn.Metric, a, b float64) bool {
	if m == knn.Angle {
		return math.Abs(2*math.Sin(a/2)-2*math.Sin(b/2)) <= 1e-12
	}
	if m == knn.Cosine || m == knn.InnerProduct || m == knn.Jaccard {
		return math.Abs(a-b) <= 1e-12*max(1, math.Abs(a))
	}
	return a == b || math.Abs(a-b) <= 1e-12*max(a, b)
}

// angular reports whether rounding decides ties of the metric.
func angular(m knn.Metric) bool { return m == knn.Angle || m == knn.Cosine }

type neighbor struct {
	index int32
	dist  float64
}

// oracle returns all points by distance from q and then by index, except self.
func oracle(m knn.Metric, rows [][]float64, q []float64, self int) []neighbor {
	all := make([]neighbor, 0, len(rows))
	for j, row := range rows {
		if j != self {
			all = append(all, neighbor{int32(j), distance(m, q, row)})
		}
	}
	slices.SortFunc(all, func(a, b neighbor) int {
		if a.dist != b.dist {
			return cmp.Compare(a.dist, b.dist)
		}
		return int(a.index) - int(b.index)
	})
	return all
}

// oracles is oracle for all queries, which are the rows themselves if self.
func oracles(m knn.Metric, rows, queries [][]float64, self bool) [][]neighbor {
	out := make([][]neighbor, len(queries))
	for i, q := range queries {
		own := -1
		if self {
			own = i
		}
		out[i] = oracle(m, rows, q, own)
	}
	return out
}

// tester has the methods that *testing.T and *rapid.T share.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkRow compares one list with the oracle's. strict means that every tie of
// the oracle is a true one, to be broken by index.
func checkRow(t tester, m knn.Metric, rows [][]float64, index []int32, dist []float64, want []neighbor, strict bool) {
	t.Helper()
	exact := make([]float64, len(rows))
	for i := range exact {
		exact[i] = math.NaN() // the point itself
	}
	for _, w := range want {
		exact[w.index] = w.dist
	}
	in := map[int32]bool{}
	for p, j := range index {
		if j < 0 || int(j) >= len(rows) || in[j] {
			t.Fatalf("place %d: point %d, in a list %v", p, j, index)
		}
		in[j] = true
		if !near(m, dist[p], exact[j]) {
			t.Fatalf("place %d: point %d at distance %v, truly %v", p, j, dist[p], exact[j])
		}
		if p > 0 && !(dist[p-1] < dist[p] || dist[p-1] == dist[p] && index[p-1] < j) {
			t.Fatalf("places %d and %d out of order: %v %v", p-1, p, index, dist)
		}
		w := want[p]
		if !near(m, dist[p], w.dist) {
			t.Fatalf("place %d: distance %v, want %v", p, dist[p], w.dist)
		}
		if j != w.index && (strict || !near(m, exact[j], w.dist)) {
			t.Fatalf("place %d: point %d, want %d; got %v", p, j, w.index, index)
		}
	}
	// Of equal points those with the smallest indices are taken.
	for _, j := range index {
		for i := range j {
			if !math.IsNaN(exact[i]) && slices.Equal(rows[i], rows[j]) && !in[i] {
				t.Fatalf("point %d is listed but not the equal point %d: %v", j, i, index)
			}
		}
	}
}

func checkLists(t tester, m knn.Metric, rows [][]float64, want [][]neighbor, nb *knn.Neighbors, k int, strict bool) {
	t.Helper()
	if nb.K != k || nb.Len() != len(want) || len(nb.Distance) != len(nb.Index) {
		t.Fatalf("%d lists of %d with %d distances, want %d of %d", nb.Len(), nb.K, len(nb.Distance), len(want), k)
	}
	for i, w := range want {
		index, dist := nb.Row(i)
		checkRow(t, m, rows, index, dist, w, strict)
	}
}

// checkApproximate checks all of checkLists but the choice of the points, of
// which it returns the right share.
func checkApproximate(t tester, m knn.Metric, rows [][]float64, want [][]neighbor, nb *knn.Neighbors, k int) float64 {
	t.Helper()
	if nb.K != k || nb.Len() != len(want) || len(nb.Distance) != len(nb.Index) {
		t.Fatalf("%d lists of %d with %d distances, want %d of %d", nb.Len(), nb.K, len(nb.Distance), len(want), k)
	}
	var right, total float64
	for i, w := range want {
		index, dist := nb.Row(i)
		exact := map[int32]float64{} // without the point itself
		for _, v := range w {
			exact[v.index] = v.dist
		}
		for p, j := range index {
			d, ok := exact[j]
			if !ok {
				t.Fatalf("query %d, place %d: point %d in %v", i, p, j, index)
			}
			delete(exact, j) // not a second time
			if !near(m, dist[p], d) {
				t.Fatalf("query %d, place %d: distance %v, truly %v", i, p, dist[p], d)
			}
			if p > 0 && !(dist[p-1] < dist[p] || dist[p-1] == dist[p] && index[p-1] < j) {
				t.Fatalf("query %d: out of order: %v %v", i, index, dist)
			}
		}
		for _, v := range w[:k] {
			total++
			if slices.Contains(index, v.index) {
				right++
			}
		}
	}
	return right / total
}

func (s *suite) index(t tester, x data.Points, m knn.Metric) knn.Index {
	t.Helper()
	ix, err := s.build(x, &knn.Settings{Metric: m})
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	return ix
}

// checkSet asks everything of one set of points.
func (s *suite) checkSet(t *testing.T, set pointSet, m knn.Metric, typ pointType) {
	ctx := context.Background()
	x := typ.of(set.rows)
	rows := load(x)
	n, d := x.Dims()
	ix := s.index(t, x, m)
	if in, id := ix.Dims(); in != n || id != d || ix.Metric() != m {
		t.Fatalf("an index of %d×%d under %v, want %d×%d under %v", in, id, ix.Metric(), n, d, m)
	}
	strict := set.exact && !angular(m)
	want := oracles(m, rows, rows, true)
	for _, k := range []int{1, 3, 10, n - 1} {
		if k < 1 || k > n-1 {
			continue
		}
		nb, err := ix.Self(ctx, k)
		if err != nil {
			t.Fatalf("Self(%d): %v", k, err)
		}
		if s.recall == 0 {
			checkLists(t, m, rows, want, nb, k, strict)
		} else if recall := checkApproximate(t, m, rows, want, nb, k); !set.ties && !(recall >= s.recall) {
			t.Errorf("Self(%d): recall %.3f, want %.3f", k, recall, s.recall)
		}
	}
	// Points outside the set: between two of it, and copies of some of it.
	var outside [][]float64
	for i := range min(n, 25) {
		q := slices.Clone(rows[i])
		if i%3 > 0 {
			for j, v := range rows[n-1-i] {
				q[j] = math.Floor((q[j] + v) / 2)
			}
		}
		outside = append(outside, q)
	}
	for _, qt := range slices.Compact([]pointType{s.types[0], typ}) {
		if qt == bytes && !set.bytes {
			continue
		}
		q := qt.of(outside)
		want := oracles(m, rows, load(q), false)
		for _, k := range []int{1, 4, n} {
			if k > n {
				continue
			}
			nb, err := ix.Query(ctx, q, k)
			if err != nil {
				t.Fatalf("Query(%d) of %v points: %v", k, qt, err)
			}
			if s.recall == 0 {
				checkLists(t, m, rows, want, nb, k, strict)
			} else {
				checkApproximate(t, m, rows, want, nb, k)
			}
			single, err := ix.Query(ctx, data.Select(q, []int{len(outside) - 1}), k)
			if err != nil {
				t.Fatalf("Query(%d) of one point: %v", k, err)
			}
			index, dist := nb.Row(nb.Len() - 1)
			if !slices.Equal(single.Index, index) || !slices.Equal(single.Distance, dist) {
				t.Errorf("Query(%d): a point asked alone has %v at %v, among others %v at %v", k, single.Index, single.Distance, index, dist)
			}
		}
	}
	if s.recall == 0 {
		s.checkWithin(t, ix, rows, m, set.exact)
	}
	if !slices.EqualFunc(rows, load(x), slices.Equal[[]float64]) {
		t.Error("the points were changed")
	}
}

// checkWithin compares Within with the oracle at a few radii.
func (s *suite) checkWithin(t *testing.T, ix knn.Index, rows [][]float64, m knn.Metric, exact bool) {
	n := len(rows)
	var all []float64
	for i := range rows {
		for j := range i {
			all = append(all, distance(m, rows[i], rows[j]))
		}
	}
	slices.Sort(all)
	gap := func(p int) bool {
		if m == knn.Angle {
			return 2*math.Sin(all[p+1]/2)-2*math.Sin(all[p]/2) > 1e-9
		}
		if m == knn.Cosine {
			return all[p+1]-all[p] > 1e-9
		}
		return all[p+1]-all[p] > 1e-9*all[p+1]
	}
	radii := []float64{0}
	for _, share := range []float64{0.02, 0.3, 1} {
		if len(all) == 0 {
			continue
		}
		// A radius in the first clear gap, so that rounding decides nothing.
		p := int(share * float64(len(all)-1))
		for p+1 < len(all) && !gap(p) {
			p++
		}
		r := all[p]*(1+1e-9) + 1e-6
		if p+1 < len(all) {
			r = (all[p] + all[p+1]) / 2
		}
		radii = append(radii, r)
		if exact && !angular(m) {
			radii = append(radii, all[p])
		}
	}
	for _, r := range radii {
		if angular(m) && r == 0 {
			continue // rounding decides
		}
		w, err := ix.Within(context.Background(), r)
		if err != nil {
			t.Fatalf("Within(%v): %v", r, err)
		}
		if err := w.Validate(); err != nil || w.Rows != n || w.Cols != n {
			t.Fatalf("Within(%v): %d×%d: %v", r, w.Rows, w.Cols, err)
		}
		for i := range rows {
			col, val := w.Row(i)
			p := 0
			for j := range rows {
				listed := p < len(col) && int(col[p]) == j
				d := distance(m, rows[i], rows[j])
				if listed != (i != j && d <= r) {
					t.Fatalf("Within(%v): pair %d, %d at distance %v is there: %v", r, i, j, d, listed)
				}
				if !listed {
					continue
				}
				if !near(m, val[p], d) {
					t.Fatalf("Within(%v): pair %d, %d at distance %v, truly %v", r, i, j, val[p], d)
				}
				if w.At(j, i) != val[p] {
					t.Fatalf("Within(%v): pair %d, %d at %v and %v", r, i, j, val[p], w.At(j, i))
				}
				p++
			}
		}
	}
}

// small returns points that every type can store, n×d.
func small(n, d int) [][]float64 {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range rows[i] {
			rows[i][j] = float64(rng.IntN(256))
		}
	}
	return rows
}

func (s *suite) checkFaults(t *testing.T, m knn.Metric, typ pointType) {
	ctx := context.Background()
	x := typ.of(small(20, 4))
	ix := s.index(t, x, m)
	for _, k := range []int{-1, 0, 20, 1000} {
		if nb, err := ix.Self(ctx, k); err == nil || nb != nil {
			t.Errorf("Self(%d) of 20 points: %v, %v", k, nb, err)
		}
	}
	for _, k := range []int{-1, 0, 21} {
		if nb, err := ix.Query(ctx, x, k); err == nil || nb != nil {
			t.Errorf("Query(%d) of 20 points: %v, %v", k, nb, err)
		}
	}
	for _, d := range []int{3, 5} {
		if nb, err := ix.Query(ctx, typ.of(small(2, d)), 1); err == nil || nb != nil {
			t.Errorf("Query of %d dimensions in an index of 4: %v, %v", d, nb, err)
		}
	}
	if _, err := s.index(t, typ.of(small(1, 4)), m).Self(ctx, 1); err == nil {
		t.Error("Self(1) of one point: no error")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if nb, err := ix.Self(cancelled, 3); nb != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Self with a cancelled context: %v, %v", nb, err)
	}
	if nb, err := ix.Query(cancelled, x, 3); nb != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Query with a cancelled context: %v, %v", nb, err)
	}
	if s.recall == 0 {
		if w, err := ix.Within(cancelled, 100); w != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("Within with a cancelled context: %v, %v", w, err)
		}
	}
}

// checkThreads asks the same of an index built and queried at several thread
// counts, and by several goroutines at once, and watches the progress told.
func (s *suite) checkThreads(t *testing.T, m knn.Metric, typ pointType) {
	ctx := context.Background()
	rows := small(400, 6)
	for i := 0; i < 400; i += 9 {
		copy(rows[i], rows[(i+200)%400])
	}
	x := typ.of(rows)
	q := typ.of(small(50, 6))
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first, firstQuery *knn.Neighbors
	var firstWithin *sparse.CSR
	for _, threads := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(threads)
		most, calls := 0, atomic.Int32{} // of a search
		ix, err := s.build(x, &knn.Settings{Metric: m, OnProgress: func(done, total int) {
			if calls.Add(1) > 1 {
				t.Error("two calls of the progress overlap")
			}
			if done <= most || done > total {
				t.Errorf("progress %d of %d after %d", done, total, most)
			}
			most = done
			runtime.Gosched() // lets another call begin
			calls.Add(-1)
		}})
		if err != nil {
			t.Fatal(err)
		}
		self, err := ix.Self(ctx, 9)
		if err != nil {
			t.Fatal(err)
		}
		if s.recall == 0 && most != 400 {
			t.Errorf("progress ends at %d of 400", most)
		}
		most = 0
		query, err := ix.Query(ctx, q, 9)
		if err != nil {
			t.Fatal(err)
		}
		var within *sparse.CSR
		if s.recall == 0 {
			most = 0
			if within, err = ix.Within(ctx, 0.3); err != nil {
				t.Fatal(err)
			}
		}
		if first == nil {
			first, firstQuery, firstWithin = self, query, within
			continue
		}
		if !slices.Equal(first.Index, self.Index) || !slices.Equal(first.Distance, self.Distance) {
			t.Errorf("Self differs at %d threads", threads)
		}
		if !slices.Equal(firstQuery.Index, query.Index) || !slices.Equal(firstQuery.Distance, query.Distance) {
			t.Errorf("Query differs at %d threads", threads)
		}
		if within != nil && (!slices.Equal(firstWithin.Ptr, within.Ptr) || !slices.Equal(firstWithin.Col, within.Col) || !slices.Equal(firstWithin.Val, within.Val)) {
			t.Errorf("Within differs at %d threads", threads)
		}
	}
	ix := s.index(t, x, m)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if got, err := ix.Query(ctx, q, 9); err != nil || !slices.Equal(got.Index, firstQuery.Index) {
				t.Errorf("Query differs when several goroutines ask: %v", err)
			}
		})
	}
	wg.Wait()
}

// checkProperty draws small sets of few different integers, full of ties.
func (s *suite) checkProperty(t *testing.T, m knn.Metric, typ pointType) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.IntRange(1, 6).Draw(t, "d")
		coordinate := rapid.IntRange(-2, 2)
		if typ == bytes {
			coordinate = rapid.IntRange(0, 3)
		}
		point := rapid.Custom(func(t *rapid.T) []float64 {
			row := make([]float64, d)
			for j := range row {
				row[j] = float64(coordinate.Draw(t, "coordinate"))
			}
			return row
		})
		rows := rapid.SliceOfN(point, 2, 40).Draw(t, "rows")
		k := rapid.IntRange(1, len(rows)-1).Draw(t, "k")
		ix := s.index(t, typ.of(rows), m)
		nb, err := ix.Self(context.Background(), k)
		if err != nil {
			t.Fatalf("%v", err)
		}
		checkLists(t, m, rows, oracles(m, rows, rows, true), nb, k, !angular(m))
		q := point.Draw(t, "query")
		if nb, err = ix.Query(context.Background(), typ.of([][]float64{q}), k+1); err != nil {
			t.Fatalf("%v", err)
		}
		checkLists(t, m, rows, oracles(m, rows, [][]float64{q}, false), nb, k+1, !angular(m))
	})
}

// checkTypesAgree stores one set of points in every type.
func (s *suite) checkTypesAgree(t *testing.T, m knn.Metric) {
	rows := small(120, 12)
	var first *knn.Neighbors
	for _, typ := range s.types {
		nb, err := s.index(t, typ.of(rows), m).Self(context.Background(), 8)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = nb
			continue
		}
		for p, d := range nb.Distance {
			if !near(m, d, first.Distance[p]) {
				t.Fatalf("%v: entry %d at distance %v, as %v %v", typ, p, d, s.types[0], first.Distance[p])
			}
		}
		if !angular(m) && !slices.Equal(first.Index, nb.Index) {
			t.Errorf("%v: other neighbours than as %v", typ, s.types[0])
		}
	}
}
