package knn_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
)

// firstRows returns the first rows of x.
func firstRows(x data.Points, rows int) data.Points { return data.Select(x, data.Range(0, rows)) }

// Lists that grow are, for an exact method, those of a search anew in the same bits,
// on points with many duplicates and ties too.
func TestAppendIsASearchAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, 60).Draw(t, "n")
		old := rapid.IntRange(2, n).Draw(t, "old")
		d := rapid.IntRange(1, 4).Draw(t, "d")
		k := rapid.IntRange(1, old-1).Draw(t, "k")
		levels := rapid.IntRange(1, 6).Draw(t, "levels")
		seed := rapid.Uint64().Draw(t, "seed")
		typ := rapid.SampledFrom([]pointType{float64s, float32s, bytes, sparseRows}).Draw(t, "type")
		type way struct {
			knn.Method
			knn.Metric
		}
		w := rapid.SampledFrom([]way{{knn.Brute, knn.Euclidean}, {knn.Brute, knn.Angle}, {knn.Brute, knn.Manhattan}, {knn.Brute, knn.Chebyshev},
			{knn.Brute, knn.Cosine}, {knn.Brute, knn.InnerProduct}, {knn.Brute, knn.Hamming}, {knn.Brute, knn.Jaccard},
			{knn.KDTree, knn.Euclidean}, {knn.KDTree, knn.Manhattan}, {knn.BallTree, knn.Euclidean}, {knn.BallTree, knn.Angle}, {knn.BallTree, knn.Cosine}}).Draw(t, "way")
		sets := w.Metric == knn.Hamming || w.Metric == knn.Jaccard
		if sets {
			levels, d = 2, 8*d
		}
		r := rand.New(rand.NewPCG(seed, 1))
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = make([]float64, d)
			for j := range rows[i] {
				rows[i][j] = float64(r.IntN(levels))
				if w.Metric == knn.InnerProduct && typ != bytes {
					rows[i][j] -= float64(levels / 2)
				}
				if typ != bytes && levels > 4 {
					rows[i][j] /= 3
				}
			}
		}
		x := typ.of(rows)
		if err := w.Supports(w.Metric, x); err != nil {
			t.Skip(err)
		}
		s := &knn.DescentSettings{Settings: knn.Settings{Metric: w.Metric}}
		before, err := knn.NewIndex(firstRows(x, old), w.Method, s)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := before.Self(context.Background(), k)
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.Clone(nb.Index)
		got, ix, err := knn.Append(context.Background(), x, nb, w.Method, knn.StateOf(before), s)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(nb.Index, kept) {
			t.Fatal("the old lists were changed")
		}
		anew, err := knn.NewIndex(x, w.Method, s)
		if err != nil {
			t.Fatal(err)
		}
		want, err := anew.Self(context.Background(), k)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Distance, want.Distance) {
			t.Fatalf("%v %v, want %v %v", got.Index, got.Distance, want.Index, want.Distance)
		}
		if err := got.CheckLists(n, s.Metric); err != nil {
			t.Fatal(err)
		}
		if rows, _ := ix.Dims(); rows != n {
			t.Fatalf("an index of %d points of %d", rows, n)
		}
	})
}

// Few points are compared with all, more are searched for.
func TestAppendToDescent(t *testing.T) {
	for _, old := range []int{3700, 1000} {
		t.Run(strconv.Itoa(old), func(t *testing.T) { appendToDescent(t, 5100, old) })
	}
}

func appendToDescent(t *testing.T, n, old int) {
	const d, k = 8, 10
	r := rand.New(rand.NewPCG(1, 2))
	x := &data.Dense[float32]{Rows: n, Cols: d, Data: make([]float32, n*d)}
	for i := range x.Data {
		x.Data[i] = float32(r.NormFloat64() + float64(i/d%5)*3)
	}
	s := &knn.DescentSettings{Seed: 4}
	before, err := knn.NewDescent(firstRows(x, old), s)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := before.Self(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	got, ix, err := knn.Append(context.Background(), x, nb, knn.NNDescent, knn.StateOf(before), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.CheckLists(n, s.Metric); err != nil {
		t.Fatal(err)
	}
	exact, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := exact.Self(context.Background(), k)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i := range n {
		index, _ := got.Row(i)
		truth, _ := want.Row(i)
		for _, j := range index {
			if slices.Contains(truth, j) {
				found++
			}
		}
	}
	share := float64(found) / float64(n*k)
	if !(share >= 0.97) {
		t.Errorf("recall %.4f", share)
	}
	recall := ix.(*knn.Descent).Stats().Recall
	if !(recall.Low <= share+0.01 && share-0.01 <= recall.High) {
		t.Errorf("the estimate is %v, the recall %.4f", recall, share)
	}
	// It grows again from what it keeps.
	if _, _, err := knn.Append(context.Background(), x, got, knn.NNDescent, knn.StateOf(ix), s); err != nil {
		t.Error(err)
	}
	s.Recall = 1
	if _, _, err := knn.Append(context.Background(), x, nb, knn.NNDescent, knn.StateOf(before), s); share < 1 && !errors.Is(err, knn.ErrRecall) {
		t.Errorf("a recall of 1 was asked for: %v", err)
	}
}

func TestAppendRefuses(t *testing.T) {
	x := typ3(20)
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := ix.Self(context.Background(), 3)
	if err != nil {
		t.Fatal(err)
	}
	for want, call := range map[string]func() error{
		"of 20 points for 10": func() error {
			_, _, err := knn.Append(context.Background(), firstRows(x, 10), nb, knn.Brute, nil, nil)
			return err
		},
		"with the state of its index": func() error {
			_, _, err := knn.Append(context.Background(), x, nb, knn.NNDescent, nil, nil)
			return err
		},
		"element (2, 1) of neighbor_indices is 20": func() error {
			bad := &knn.Neighbors{K: 3, Index: slices.Clone(nb.Index), Distance: nb.Distance}
			bad.Index[7] = 20
			return bad.CheckLists(20, knn.Euclidean)
		},
		"element (0, 2) of neighbor_distances is 0": func() error {
			bad := &knn.Neighbors{K: 3, Index: nb.Index, Distance: slices.Clone(nb.Distance)}
			bad.Distance[2] = 0
			return bad.CheckLists(20, knn.Euclidean)
		},
		"element (0, 0) of neighbor_distances is -1; euclidean": func() error {
			bad := &knn.Neighbors{K: 3, Index: nb.Index, Distance: slices.Clone(nb.Distance)}
			bad.Distance[0] = -1
			if err := bad.CheckLists(20, knn.InnerProduct); err != nil {
				return err
			}
			return bad.CheckLists(20, knn.Euclidean)
		},
		"60 elements and neighbor_distances 60": func() error { return nb.CheckLists(21, knn.Euclidean) },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

// typ3 returns n different points of three coordinates.
func typ3(n int) data.Points {
	x := &data.Dense[float64]{Rows: n, Cols: 3, Data: make([]float64, 3*n)}
	for i := range x.Data {
		x.Data[i] = float64(i * i % 97)
	}
	return x
}

// More points than fit into one block of comparisons.
func TestAppendManyPoints(t *testing.T) {
	const n, old, d, k = 1500, 1100, 7, 6
	r := rand.New(rand.NewPCG(5, 6))
	x := &data.Dense[float32]{Rows: n, Cols: d, Data: make([]float32, n*d)}
	for i := range x.Data {
		x.Data[i] = float32(r.NormFloat64())
	}
	for _, m := range []knn.Metric{knn.Euclidean, knn.Angle, knn.Cosine, knn.InnerProduct} {
		s := &knn.DescentSettings{Settings: knn.Settings{Metric: m}}
		self := func(x data.Points) *knn.Neighbors {
			ix, err := knn.NewBrute(x, &s.Settings)
			if err != nil {
				t.Fatal(err)
			}
			nb, err := ix.Self(context.Background(), k)
			if err != nil {
				t.Fatal(err)
			}
			return nb
		}
		got, _, err := knn.Append(context.Background(), x, self(firstRows(x, old)), knn.Brute, nil, s)
		if err != nil {
			t.Fatal(err)
		}
		if want := self(x); !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Distance, want.Distance) {
			t.Errorf("%v: other neighbours than those of a search anew", m)
		}
	}
}

// Points join the lists of NN-descent among sparse points and sets as they do among dense
// ones: at their true distances, with most of the neighbours.
func TestAppendToDescentOfSets(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "the appending of other tests, by other metrics")
	const n, old, d, k = 1500, 1400, 96, 8
	r := rand.New(rand.NewPCG(7, 8))
	x := &data.Dense[uint8]{Rows: n, Cols: d, Data: make([]uint8, n*d)}
	for i := range n {
		for range 12 { // a group has its own third of the columns
			x.Row(i)[i%3*32+r.IntN(32)] = 1
		}
	}
	for _, points := range []data.Points{x, data.ToSparse(x)} {
		for _, m := range []knn.Metric{knn.Hamming, knn.Jaccard, knn.Cosine} {
			s := &knn.DescentSettings{Settings: knn.Settings{Metric: m}, Seed: 4}
			before := searchedBy(t, firstRows(points, old), s, k)
			nb := selfOf(t, before, k)
			got, _, err := knn.Append(context.Background(), points, nb, knn.NNDescent, knn.StateOf(before), s)
			if err != nil {
				t.Fatal(err)
			}
			if err := got.CheckLists(n, m); err != nil {
				t.Error(err)
			}
			exact, err := knn.NewBrute(points, &s.Settings)
			if err != nil {
				t.Fatal(err)
			}
			want := selfOf(t, exact, k)
			found := 0
			for i := range n {
				_, dist := got.Row(i)
				_, truth := want.Row(i)
				for p, v := range dist {
					if v < truth[p] {
						t.Fatalf("%T, %v: point %d has a neighbour at %v and none is nearer than %v", points, m, i, v, truth[p])
					}
					if v <= truth[k-1] {
						found++
					}
				}
			}
			if share := float64(found) / (n * k); !(share >= 0.95) {
				t.Errorf("%T, %v: recall %.4f", points, m, share)
			}
		}
	}
}

// searchedBy returns an NN-descent index that has found its graph of k neighbours.
func searchedBy(t *testing.T, x data.Points, s *knn.DescentSettings, k int) knn.Index {
	t.Helper()
	ix, err := knn.NewDescent(x, s)
	if err != nil {
		t.Fatal(err)
	}
	selfOf(t, ix, k)
	return ix
}

// Sets of several stripes and blocks are joined in one pass over the pairs.
func TestAppendManyIsASearchAnew(t *testing.T) {
	const n, old, d, k = 1500, 1190, 5, 7
	r := rand.New(rand.NewPCG(5, 6))
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range rows[i] {
			rows[i][j] = float64(r.IntN(30))
		}
	}
	for _, typ := range []pointType{float32s, bytes} {
		for _, metric := range []knn.Metric{knn.Euclidean, knn.Cosine, knn.InnerProduct} {
			x := typ.of(rows)
			s := &knn.DescentSettings{Settings: knn.Settings{Metric: metric}}
			search := func(x data.Points) *knn.Neighbors {
				ix, err := knn.NewIndex(x, knn.Brute, s)
				if err != nil {
					t.Fatal(err)
				}
				nb, err := ix.Self(t.Context(), k)
				if err != nil {
					t.Fatal(err)
				}
				return nb
			}
			got, _, err := knn.Append(t.Context(), x, search(firstRows(x, old)), knn.Brute, nil, s)
			if err != nil {
				t.Fatal(err)
			}
			if want := search(x); !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Distance, want.Distance) {
				t.Errorf("%v of %v: not the lists of a search anew", metric, typ)
			}
		}
	}
}
