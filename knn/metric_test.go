package knn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/sparse"
)

var pointTypes = []pointType{float64s, float32s, bytes, sparseRows}

func brute(t tester, x data.Points, m knn.Metric) knn.Index {
	t.Helper()
	ix, err := knn.NewBrute(x, &knn.Settings{Metric: m})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return ix
}

// checkBrute compares Self and Query with the definition.
func checkBrute(t tester, x, q data.Points, m knn.Metric, k int) {
	t.Helper()
	ix := brute(t, x, m)
	rows := load(x)
	nb, err := ix.Self(context.Background(), k)
	if err != nil {
		t.Fatalf("%v", err)
	}
	checkLists(t, m, rows, oracles(m, rows, rows, true), nb, k, true)
	if nb, err = ix.Query(context.Background(), q, k+1); err != nil {
		t.Fatalf("%v", err)
	}
	checkLists(t, m, rows, oracles(m, rows, load(q), false), nb, k+1, true)
}

// TestInnerProduct draws small integers, full of ties.
func TestInnerProduct(t *testing.T) {
	for _, typ := range pointTypes {
		t.Run(typ.String(), rapid.MakeCheck(func(t *rapid.T) {
			d := rapid.IntRange(1, 6).Draw(t, "d")
			coordinate := rapid.IntRange(-2, 2)
			if typ == bytes {
				coordinate = rapid.IntRange(0, 3)
			}
			points := func(least int, name string) [][]float64 {
				return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) []float64 {
					row := make([]float64, d)
					for j := range row {
						row[j] = float64(coordinate.Draw(t, "coordinate"))
					}
					return row
				}), least, 40).Draw(t, name)
			}
			rows, queries := points(2, "rows"), points(1, "queries")
			k := rapid.IntRange(1, len(rows)-1).Draw(t, "k")
			for _, qt := range []pointType{float64s, typ, sparseRows} {
				checkBrute(t, typ.of(rows), qt.of(queries), knn.InnerProduct, k)
			}
		}))
	}
}

// TestInnerProductFloats has points of very different norms, one far longer than the
// rest, and queries longer than all of them.
func TestInnerProductFloats(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "values; the threads check of the suite has the goroutines")
	r := rand.New(rand.NewPCG(5, 6))
	for _, longest := range []float64{1, 1e3, 1e8, 1e25} {
		rows := make([][]float64, 700)
		for i := range rows {
			rows[i] = make([]float64, 9)
			for j := range rows[i] {
				rows[i][j] = r.NormFloat64() * float64(1+i%7)
			}
		}
		rows[341][2] *= longest
		queries := slices.Clone(rows[:40])
		queries[7] = []float64{1e4, -1e4, 1e4, 0, 1e4, 3, 2, 1, 0}
		for _, typ := range []pointType{float64s, float32s, sparseRows} {
			x, q := typ.of(rows), typ.of(queries)
			ix := brute(t, x, knn.InnerProduct)
			kept, asked := load(x), load(q)
			nb, err := ix.Self(context.Background(), 12)
			if err != nil {
				t.Fatal(err)
			}
			sameOrder(t, nb, oracles(knn.InnerProduct, kept, kept, true))
			if nb, err = ix.Query(context.Background(), q, 12); err != nil {
				t.Fatal(err)
			}
			sameOrder(t, nb, oracles(knn.InnerProduct, kept, asked, false))
		}
	}
}

// sameOrder compares lists with those of the definition, which sums in the same order.
func sameOrder(t *testing.T, nb *knn.Neighbors, want [][]neighbor) {
	t.Helper()
	for i := range nb.Len() {
		index, dist := nb.Row(i)
		for p, j := range index {
			if j != want[i][p].index || dist[p] != want[i][p].dist {
				t.Fatalf("query %d, place %d: point %d at %v, want %d at %v", i, p, j, dist[p], want[i][p].index, want[i][p].dist)
			}
		}
	}
}

// TestSets draws sets of every density, empty and equal ones among them, across the
// ends of words.
func TestSets(t *testing.T) {
	for _, m := range []knn.Metric{knn.Hamming, knn.Jaccard} {
		for _, typ := range pointTypes {
			t.Run(fmt.Sprintf("%v/%v", m, typ), rapid.MakeCheck(func(t *rapid.T) {
				d := rapid.SampledFrom([]int{1, 3, 63, 64, 65, 130}).Draw(t, "d")
				r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
				share := rapid.SampledFrom([]float64{0, 0.02, 0.3, 0.9}).Draw(t, "share")
				points := func(n int) [][]float64 {
					rows := make([][]float64, n)
					for i := range rows {
						rows[i] = make([]float64, d)
						for j := range rows[i] {
							if r.Float64() < share {
								rows[i][j] = 1
							}
						}
						if i%5 == 4 {
							copy(rows[i], rows[i/2])
						}
					}
					return rows
				}
				rows, queries := points(rapid.IntRange(2, 60).Draw(t, "n")), points(9)
				k := rapid.IntRange(1, len(rows)-1).Draw(t, "k")
				for _, qt := range []pointType{float64s, typ, sparseRows} {
					checkBrute(t, typ.of(rows), qt.of(queries), m, k)
				}
			}))
		}
	}
}

func TestSetsWithin(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	rows := make([][]float64, 80)
	for i := range rows {
		rows[i] = make([]float64, 20)
		for j := range rows[i] {
			rows[i][j] = float64(r.IntN(2))
		}
	}
	clear(rows[3])
	clear(rows[70])
	for _, m := range []knn.Metric{knn.Hamming, knn.Jaccard} {
		for _, typ := range pointTypes {
			s := &suite{build: knn.NewBrute}
			s.checkWithin(t, brute(t, typ.of(rows), m), rows, m, m == knn.Hamming)
		}
	}
}

// A sparse set holds the entries that are not zero, whatever they are, under Jaccard.
func TestSparseEntriesAreElements(t *testing.T) {
	x := &sparse.CSR{Rows: 3, Cols: 5, Ptr: []int64{0, 3, 5, 6}, Col: []int32{0, 2, 4, 0, 2, 1}, Val: []float64{7, -1, 0, 0.5, 2, 3}}
	nb, err := brute(t, x, knn.Jaccard).Self(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if index, dist := nb.Row(0); !slices.Equal(index, []int32{1, 2}) || !slices.Equal(dist, []float64{0, 1}) {
		t.Errorf("%v at %v", index, dist)
	}
}

func TestSetFaults(t *testing.T) {
	rows := small(30, 4)
	for i, row := range rows {
		for j := range row {
			rows[i][j] = float64((i + j) % 2)
		}
	}
	good := slices.Clone(rows)
	rows[17] = []float64{0, 1, 3, 0}
	for _, typ := range pointTypes {
		for _, m := range []knn.Metric{knn.Hamming, knn.Jaccard} {
			if typ == sparseRows && m == knn.Jaccard {
				continue
			}
			_, err := knn.NewBrute(typ.of(rows), &knn.Settings{Metric: m})
			mentions(t, err, m.String(), "row 17", "column 2", "is 3")
			_, err = brute(t, typ.of(good), m).Query(t.Context(), typ.of(rows[15:]), 1)
			mentions(t, err, "row 2", "column 2", "is 3", "query")
		}
	}
}

func mentions(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; want one with %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not mention %q", err, w)
		}
	}
}

// TestSupports holds the table of methods and metrics against the constructors.
func TestSupports(t *testing.T) {
	rows := small(150, 4)
	for i, row := range rows {
		for j := range row {
			rows[i][j] = float64((i / (j + 1)) % 2)
		}
	}
	for _, typ := range []pointType{float64s, bytes, sparseRows} {
		x := typ.of(rows)
		for m := knn.Euclidean; m <= knn.Jaccard+1; m++ {
			for _, method := range []knn.Method{knn.Brute, knn.KDTree, knn.BallTree, knn.NNDescent} {
				ix, err := knn.NewIndex(x, method, &knn.DescentSettings{Settings: knn.Settings{Metric: m}})
				if want := method.Supports(m, x); (err == nil) != (want == nil) || err != nil && err.Error() != want.Error() {
					t.Errorf("%v, %v, %v: %v, though %v", method, m, typ, err, want)
				}
				if err != nil {
					continue
				}
				if _, err := ix.Self(t.Context(), 3); err != nil {
					t.Errorf("%v, %v, %v: %v", method, m, typ, err)
				}
			}
			if m <= knn.Jaccard && knn.Auto.Supports(m, x) == nil {
				if method, _ := (choice.Work{X: x, Metric: m, K: 3}).Exact(); method.Supports(m, x) != nil {
					t.Errorf("%v is chosen for %v, %v", method, m, typ)
				}
			}
		}
	}
	mentions(t, knn.KDTree.Supports(knn.Cosine, typOf(rows)), "kd-tree", "dense", "cosine", "brute or ball-tree or nn-descent")
	mentions(t, knn.Brute.Supports(knn.Manhattan, sparseRows.of(rows)), "manhattan", "sparse", "euclidean")
}

func typOf(rows [][]float64) data.Points { return float64s.of(rows) }

// An inner product is no length: radii and weights made of distances are refused.
func TestInnerProductEdges(t *testing.T) {
	ix := brute(t, synthetic.Manifold(50, 4, 2, 0, 1), knn.InnerProduct)
	_, err := ix.Within(t.Context(), 1)
	mentions(t, err, "inner-product", "radius", "cosine")
	for _, s := range []knn.GraphSettings{{Radius: 1}, {K: 3, Weights: knn.Heat}, {K: 3, Weights: knn.SelfTuning}} {
		_, _, err := knn.NewGraph(t.Context(), ix, s)
		mentions(t, err, "inner-product")
	}
	if w, _, err := knn.NewGraph(t.Context(), ix, knn.GraphSettings{K: 3}); err != nil || w.NNZ() < 150 {
		t.Errorf("%v", err)
	}
}

// TestMetricsOfPeers compares distances with scikit-learn's and SciPy's.
func TestMetricsOfPeers(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "values that do not depend on goroutines")
	const python = "/usr/bin/python3"
	if err := exec.Command(python, "-c", "import numpy, scipy.spatial, sklearn.neighbors").Run(); err != nil {
		t.Skip("needs /usr/bin/python3 with numpy, scipy and scikit-learn")
	}
	const script = `
import sys, json, numpy as np
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors
x = np.load(sys.argv[1]); q = np.load(sys.argv[2]); metric = sys.argv[3]; k = int(sys.argv[4])
if metric == "inner-product":
    d = -(q.astype(float) @ x.astype(float).T)
    i = np.argsort(d, axis=1, kind="stable")[:, :k]
    d = np.take_along_axis(d, i, 1)
elif metric == "jaccard":
    d = cdist(q.astype(bool), x.astype(bool), "jaccard")
    i = np.argsort(d, axis=1, kind="stable")[:, :k]
    d = np.take_along_axis(d, i, 1)
else:
    d, i = NearestNeighbors(n_neighbors=k, algorithm="brute", metric=metric).fit(x).kneighbors(q)
print(json.dumps(d.ravel().tolist()))
`
	r := rand.New(rand.NewPCG(1, 2))
	const n, asked, d, k = 300, 40, 30, 12
	files := func(m knn.Metric) (x, q data.Points, paths []string) {
		sets := make([]*data.Dense[float64], 2)
		for s, rows := range []int{n, asked} {
			sets[s] = data.NewDense[float64](rows, d)
			for p := range sets[s].Data {
				sets[s].Data[p] = r.NormFloat64()
				if m == knn.Hamming || m == knn.Jaccard {
					sets[s].Data[p] = float64(r.IntN(2))
				}
			}
			paths = append(paths, filepath.Join(t.TempDir(), "x.npy"))
			if err := npy.WriteFile(paths[s], []int{rows, d}, sets[s].Data); err != nil {
				t.Fatal(err)
			}
		}
		return sets[0], sets[1], paths
	}
	for _, m := range []knn.Metric{knn.Cosine, knn.InnerProduct, knn.Hamming, knn.Jaccard} {
		x, q, paths := files(m)
		out, err := exec.Command(python, "-c", script, paths[0], paths[1], m.String(), fmt.Sprint(k)).Output()
		if err != nil {
			t.Fatalf("%v: %v", m, err)
		}
		var want []float64
		if err := json.Unmarshal(out, &want); err != nil || len(want) != asked*k {
			t.Fatalf("%v: %d distances, %v", m, len(want), err)
		}
		nb, err := brute(t, x, m).Query(t.Context(), q, k)
		if err != nil {
			t.Fatal(err)
		}
		for p, v := range want {
			if got := nb.Distance[p]; !(got-v <= 1e-12 && v-got <= 1e-12) {
				t.Fatalf("%v, entry %d: %v, theirs %v", m, p, got, v)
			}
		}
	}
}
