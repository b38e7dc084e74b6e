package knn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
)

// stateful lists the methods that have a state, with their metrics.
var stateful = map[knn.Method][]knn.Metric{
	knn.KDTree:    {knn.Euclidean, knn.Manhattan, knn.Chebyshev},
	knn.BallTree:  {knn.Euclidean, knn.Angle, knn.Manhattan, knn.Chebyshev},
	knn.NNDescent: {knn.Euclidean, knn.Angle},
}

// saved is a state as it comes from a file.
func saved(t testing.TB, ix knn.Index) *knn.State {
	t.Helper()
	st := knn.StateOf(ix)
	text, err := json.Marshal(st)
	if err != nil {
		t.Fatal(err)
	}
	out := &knn.State{}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	out.Order, out.Neighbors = slices.Clone(st.Order), slices.Clone(st.Neighbors)
	out.Splits, out.Thresholds = slices.Clone(st.Splits), slices.Clone(st.Thresholds)
	return out
}

func settingsOf(m knn.Metric) *knn.DescentSettings {
	return &knn.DescentSettings{Settings: knn.Settings{Metric: m}, Seed: 5, Sample: 50}
}

// searched returns an index that has found its graph, if it needs one.
func searched(t testing.TB, x data.Points, method knn.Method, m knn.Metric, k int) knn.Index {
	t.Helper()
	ix, err := knn.NewIndex(x, method, settingsOf(m))
	if err != nil {
		t.Fatal(err)
	}
	if k > 0 {
		selfOf(t, ix, k)
	}
	return ix
}

// withZeros returns random points of the given type, some equal, some zero.
func withZeros(n, d int, typ pointType) data.Points {
	r := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		switch {
		case i%11 == 3:
		case i > 20 && i%7 == 0:
			copy(rows[i], rows[i-20])
		default:
			for c := range rows[i] {
				rows[i][c] = float64(r.IntN(200))
			}
		}
	}
	return typ.of(rows)
}

func TestRestore(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "files; the searches are those of other tests")
	for method, metrics := range stateful {
		for _, m := range metrics {
			for _, typ := range []pointType{float64s, float32s, bytes} {
				for _, n := range []int{1, 2, 16, 17, 700} {
					t.Run(fmt.Sprintf("%v/%v/%v/%d", method, m, typ, n), func(t *testing.T) {
						x, q := withZeros(n, 5, typ), withZeros(60, 5, typ)
						k := min(6, n-1)
						ix := searched(t, x, method, m, k)
						if k == 0 {
							if _, err := ix.Query(t.Context(), q, 1); err != nil {
								t.Fatal(err)
							}
						}
						st := saved(t, ix)
						if st.Method != method {
							t.Fatalf("the state is of method %v", st.Method)
						}
						again, err := knn.Restore(x, st, settingsOf(m))
						if err != nil {
							t.Fatal(err)
						}
						sameAnswers(t, ix, again, q, min(4, n), k)
						if n > 2 && method != knn.NNDescent {
							a, err := ix.Within(t.Context(), 1)
							if err != nil {
								t.Fatal(err)
							}
							b, err := again.Within(t.Context(), 1)
							if err != nil {
								t.Fatal(err)
							}
							if !slices.Equal(a.Ptr, b.Ptr) || !slices.Equal(a.Col, b.Col) || !slices.Equal(a.Val, b.Val) {
								t.Error("other pairs within a radius")
							}
						}
						if d, ok := again.(*knn.Descent); ok && d.Stats() != ix.(*knn.Descent).Stats() {
							t.Errorf("stats %+v, were %+v", d.Stats(), ix.(*knn.Descent).Stats())
						}
						if got := saved(t, again); fmt.Sprint(got.Order, got.Neighbors, got.Splits, got.Thresholds) != fmt.Sprint(st.Order, st.Neighbors, st.Splits, st.Thresholds) {
							t.Error("the restored index has another state")
						}
					})
				}
			}
		}
	}
}

// sameAnswers compares the bits of Query and, if k is positive, of Self.
func sameAnswers(t testing.TB, want, got knn.Index, q data.Points, kq, k int) {
	t.Helper()
	a, err := want.Query(t.Context(), q, kq)
	if err != nil {
		t.Fatal(err)
	}
	b, err := got.Query(t.Context(), q, kq)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Index, b.Index) || !slices.Equal(a.Distance, b.Distance) {
		t.Error("other answers to queries")
	}
	if k == 0 {
		return
	}
	a, b = selfOf(t, want, k), selfOf(t, got, k)
	if !slices.Equal(a.Index, b.Index) || !slices.Equal(a.Distance, b.Distance) {
		t.Error("other neighbours of the points themselves")
	}
}

// All points zero: none has a place in a ball tree of angles.
func TestRestoreZeros(t *testing.T) {
	x := data.NewDense[float32](9, 3)
	ix := searched(t, x, knn.BallTree, knn.Angle, 2)
	again, err := knn.Restore(x, saved(t, ix), settingsOf(knn.Angle))
	if err != nil {
		t.Fatal(err)
	}
	sameAnswers(t, ix, again, withZeros(20, 3, float32s), 4, 3)
}

// More neighbours than the state has are searched for anew.
func TestRestoreSearchesForMore(t *testing.T) {
	x := withZeros(700, 5, float32s)
	ix := searched(t, x, knn.NNDescent, knn.Euclidean, 4)
	again, err := knn.Restore(x, saved(t, ix), settingsOf(knn.Euclidean))
	if err != nil {
		t.Fatal(err)
	}
	sameAnswers(t, ix, again, x, 9, 30)
}

func TestStateless(t *testing.T) {
	x := withZeros(50, 4, float64s)
	if st := knn.StateOf(mustIndex(t, x, knn.Brute)); st != nil {
		t.Errorf("brute force has the state %+v", st)
	}
	if st := knn.StateOf(mustIndex(t, x, knn.NNDescent)); st != nil {
		t.Errorf("NN-descent has the state %+v before a search", st)
	}
}

func TestWithProgress(t *testing.T) {
	for _, x := range []data.Points{withZeros(40, 4, float64s), withZeros(40, 4, bytes), data.ToSparse(withZeros(40, 4, float64s))} {
		for _, method := range []knn.Method{knn.Brute, knn.KDTree, knn.BallTree, knn.NNDescent} {
			for _, m := range []knn.Metric{knn.Euclidean, knn.Angle, knn.Manhattan} {
				ix, err := knn.NewIndex(x, method, &knn.DescentSettings{Settings: knn.Settings{Metric: m, OnProgress: func(int, int) {
					t.Errorf("%v of %T by %v: the first hook was called", m, x, method)
				}}})
				if err != nil {
					continue // not every method takes all points and metrics
				}
				var last atomic.Int64 // the hook is called by several goroutines
				told := func(done, _ int) {
					for old := last.Load(); int64(done) > old && !last.CompareAndSwap(old, int64(done)); old = last.Load() {
					}
				}
				if _, err := knn.WithProgress(ix, told).Query(t.Context(), x, 3); err != nil && method != knn.NNDescent {
					t.Fatal(err)
				}
				if last.Load() != 40 {
					t.Errorf("%v of %T by %v: %d of 40 queries told", m, x, method, last.Load())
				}
			}
		}
	}
}

func TestRestoreRejects(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "damaged files, without goroutines")
	const n = 700
	x := withZeros(n, 5, float64s)
	tree := func(change func(st *knn.State)) *knn.State {
		st := saved(t, searched(t, x, knn.BallTree, knn.Angle, 0))
		change(st)
		return st
	}
	descent := func(change func(st *knn.State)) *knn.State {
		st := saved(t, searched(t, x, knn.NNDescent, knn.Angle, 6))
		change(st)
		return st
	}
	for _, c := range []struct {
		name string
		st   *knn.State
		want string
	}{
		{"method", tree(func(st *knn.State) { st.Method = knn.Brute }), "brute"},
		{"no method", tree(func(st *knn.State) { st.Method = 77 }), "77"},
		{"kd-tree of angles", tree(func(st *knn.State) { st.Method = knn.KDTree }), "angle"},
		{"cut", tree(func(st *knn.State) { st.Order = st.Order[:100] }), "index_order lacks point"},
		{"no order", tree(func(st *knn.State) { st.Order = nil }), "index_order lacks point"},
		{"long", tree(func(st *knn.State) { st.Order = make([]int32, n+1) }), "index_order names 701 points of 700"},
		{"twice", tree(func(st *knn.State) { st.Order[5] = st.Order[9] }), "element 9 of index_order"},
		{"negative", tree(func(st *knn.State) { st.Order[5] = -1 }), "element 5 of index_order is -1"},
		{"beyond", tree(func(st *knn.State) { st.Order[5] = n }), "element 5 of index_order is 700"},
		{"zero vector", tree(func(st *knn.State) { st.Order = append(st.Order, 3) }), "a zero vector"},

		{"cut order", descent(func(st *knn.State) { st.Order = st.Order[:n-1] }), "index_order lacks point"},
		{"order twice", descent(func(st *knn.State) { st.Order[7] = st.Order[0] }), "element 7 of index_order"},
		{"no stats", descent(func(st *knn.State) { st.Stats = nil }), "stats"},
		{"no width", descent(func(st *knn.State) { st.Stats.Width = 0 }), "index_neighbors"},
		{"vast width", descent(func(st *knn.State) { st.Stats.Width = math.MaxInt }), "index_neighbors"},
		{"other width", descent(func(st *knn.State) { st.Stats.Width++ }), "index_neighbors"},
		{"no k", descent(func(st *knn.State) { st.Stats.K = 0 }), "index_neighbors"},
		{"vast k", descent(func(st *knn.State) { st.Stats.K = math.MaxInt }), "index_neighbors"},
		{"recall", descent(func(st *knn.State) { st.Stats.Recall.Share = 1.5 }), "recall of 1.5"},
		{"cut lists", descent(func(st *knn.State) { st.Neighbors = st.Neighbors[:len(st.Neighbors)-1] }), "index_neighbors has"},
		{"no lists", descent(func(st *knn.State) { st.Neighbors = nil }), "index_neighbors has 0"},
		{"own point", descent(func(st *knn.State) { st.Neighbors[0] = 0 }), "element (0, 0) of index_neighbors is 0"},
		{"no point", descent(func(st *knn.State) { st.Neighbors[st.Stats.Width] = n }), "element (1, 0) of index_neighbors is 700"},
		{"short list", descent(func(st *knn.State) { st.Neighbors[5] = -1 }), "element (0, 5) of index_neighbors is -1"},
		{"neighbour twice", descent(func(st *knn.State) { st.Neighbors[0] = st.Neighbors[1] }), "row 0 of index_neighbors"},
		{"no leaf", descent(func(st *knn.State) { st.Leaf = 0 }), "at most 0 points"},
		{"small leaf", descent(func(st *knn.State) { st.Leaf = 1 }), "index_splits"},
		{"large leaf", descent(func(st *knn.State) { st.Leaf = n }), "for 0 inner nodes"},
		{"cut splits", descent(func(st *knn.State) { st.Splits = st.Splits[:len(st.Splits)-1] }), "index_splits has"},
		{"cut thresholds", descent(func(st *knn.State) { st.Thresholds = st.Thresholds[1:] }), "index_thresholds"},
		{"cut both", descent(func(st *knn.State) { st.Splits, st.Thresholds = st.Splits[:3], st.Thresholds[:1] }), "end before"},
		{"NaN", descent(func(st *knn.State) { st.Thresholds[1] = float32(math.NaN()) }), "element 1 of index_thresholds is NaN"},
		{"infinite", descent(func(st *knn.State) { st.Thresholds[0] = float32(math.Inf(1)) }), "element 0 of index_thresholds is +Inf"},
		{"empty side", descent(func(st *knn.State) { st.Splits[0] = 0 }), "row 0 of index_splits parts"},
		{"thin side", descent(func(st *knn.State) { st.Splits[0] = 100 }), "row 0 of index_splits parts"},
		{"beyond the points", descent(func(st *knn.State) { st.Splits[0] = math.MaxInt32 }), "row 0 of index_splits parts"},
		{"point of the split", descent(func(st *knn.State) { st.Splits[4] = n }), "row 1 of index_splits names point 700"},
	} {
		ix, err := knn.Restore(x, c.st, settingsOf(knn.Angle))
		if err == nil || ix != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: index %v and error %v, want one with %q", c.name, ix, err, c.want)
		}
	}
	bad := withZeros(n, 5, float64s).(*data.Dense[float64])
	bad.Data[8] = math.NaN()
	for method := range stateful {
		if _, err := knn.Restore(bad, saved(t, searched(t, x, method, knn.Euclidean, 6)), nil); err == nil {
			t.Errorf("%v: restored on a point that is NaN", method)
		}
	}
	// The state of other points of the same number is one of a bad tree; its
	// answers are exact all the same.
	other := searched(t, withZeros(n, 2, bytes), knn.KDTree, knn.Euclidean, 0)
	ix, err := knn.Restore(x, saved(t, other), nil)
	if err != nil {
		t.Fatal(err)
	}
	sameAnswers(t, mustIndex(t, x, knn.KDTree), ix, withZeros(60, 5, float64s), 4, 5)
}

// Whatever is in a state, it is an error or gives an index that works: a tree
// an exact one, NN-descent one whose answers are points at their distances.
func TestRestoreRandomDamage(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "damaged files, without goroutines")
	x, q := withZeros(300, 4, float64s), withZeros(10, 4, float64s)
	r := rand.New(rand.NewPCG(1, 2))
	values := []int32{-1, 0, 1, 7, 299, 300, math.MaxInt32, math.MinInt32}
	spoil := func(a []int32) []int32 {
		for range 1 + r.IntN(3) {
			if len(a) == 0 {
				return a
			}
			i, j := r.IntN(len(a)), r.IntN(len(a))
			switch r.IntN(4) {
			case 0:
				a[i] = values[r.IntN(len(values))]
			case 1:
				a[i], a[j] = a[j], a[i]
			case 2:
				a[i] ^= 1 << r.IntN(32)
			default:
				a = a[min(i, j):max(i, j)]
			}
		}
		return a
	}
	for method := range stateful {
		ix := searched(t, x, method, knn.Euclidean, 5)
		works := 0
		for range 1500 {
			st := saved(t, ix)
			switch r.IntN(5) {
			case 0, 1:
				st.Order = spoil(st.Order)
			case 2:
				st.Neighbors = spoil(st.Neighbors)
			case 3:
				st.Splits = spoil(st.Splits)
			default:
				if len(st.Thresholds) > 0 {
					i := r.IntN(len(st.Thresholds))
					st.Thresholds[i] = math.Float32frombits(math.Float32bits(st.Thresholds[i]) ^ 1<<r.IntN(32))
				}
			}
			if st.Stats != nil && r.IntN(4) == 0 {
				st.Leaf = r.IntN(400) - 10
				st.Stats.K, st.Stats.Width = r.IntN(12)-2, r.IntN(12)-2
			}
			again, err := knn.Restore(x, st, settingsOf(knn.Euclidean))
			if err != nil {
				continue
			}
			works++
			if method != knn.NNDescent {
				sameAnswers(t, ix, again, q, 3, 0)
				continue
			}
			nb, err := again.Query(t.Context(), q, 3)
			if err != nil {
				t.Fatal(err)
			}
			points, queries := load(x), load(q)
			for i := range nb.Len() {
				index, dist := nb.Row(i)
				for p, j := range index {
					if !near(knn.Euclidean, dist[p], distance(knn.Euclidean, points[j], queries[i])) || slices.Contains(index[:p], j) {
						t.Fatalf("query %d: neighbours %v at %v", i, index, dist)
					}
				}
			}
		}
		if works == 0 || works == 1500 {
			t.Errorf("%v: %d of 1500 states were restored", method, works)
		}
	}
}
