package knn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// documents returns n sparse points with words of one of some topics.
func documents(n, words int, seed uint64) *sparse.CSR {
	r := rand.New(rand.NewPCG(seed, 1))
	out := &sparse.CSR{Rows: n, Cols: words, Ptr: []int64{0}}
	for i := range n {
		topic := r.IntN(n / 40)
		row := map[int32]float64{}
		if i%97 > 0 { // some are empty
			for range 30 {
				w := (topic*31 + int(40*math.Abs(r.NormFloat64()))) % words
				row[int32(w)]++
			}
		}
		for w := range int32(words) {
			if v := row[w]; v > 0 {
				out.Col, out.Val = append(out.Col, w), append(out.Val, v)
			}
		}
		out.Ptr = append(out.Ptr, int64(len(out.Col)))
	}
	return out
}

// asHalves returns the points in float16, in two parts.
func asHalves(t *testing.T, x *data.Dense[float32]) *data.Stored {
	t.Helper()
	bits := make([]uint16, len(x.Data))
	for i, v := range x.Data {
		bits[i] = simd.ToHalf(v)
	}
	at := x.Rows / 3
	out, err := data.Joined(data.NewHalves(at, x.Cols, bits), data.NewHalves(x.Rows-at, x.Cols, bits[at*x.Cols:]))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// zerosAndOnes returns which words documents have.
func zerosAndOnes(x *sparse.CSR) *data.Dense[uint8] {
	out := data.NewDense[uint8](x.Rows, x.Cols)
	for i := range x.Rows {
		col, _ := x.Row(i)
		for _, c := range col {
			out.Row(i)[c] = 1
		}
	}
	return out
}

// TestDescentRows holds NN-descent on every kind of points and metric against brute force:
// the recall of lists and of other points' neighbours, the distances bit by bit, and an
// index that is restored.
func TestDescentRows(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "recall; TestDescentThreads has the goroutines")
	const n, k = 3000, 8
	docs := documents(n+100, 400, 1)
	sets := zerosAndOnes(docs)
	pattern := &sparse.CSR{Rows: docs.Rows, Cols: docs.Cols, Ptr: docs.Ptr, Col: docs.Col}
	wideDocs := *docs
	wideDocs.Cols, wideDocs.Col = math.MaxInt32, slices.Clone(docs.Col)
	for p := range wideDocs.Col {
		wideDocs.Col[p] *= 5_000_000
	}
	half := asHalves(t, synthetic.Manifold(n+100, 32, 6, 0.01, 1))
	for _, c := range []struct {
		name    string
		x       data.Points
		metrics []knn.Metric
	}{
		{"float16", half, []knn.Metric{knn.Euclidean, knn.Angle, knn.Cosine}},
		{"sparse", docs, []knn.Metric{knn.Euclidean, knn.Cosine, knn.Jaccard}},
		{"wide", &wideDocs, []knn.Metric{knn.Angle}},
		{"sparse ones", pattern, []knn.Metric{knn.Hamming, knn.Jaccard}},
		{"zeros and ones", sets, []knn.Metric{knn.Hamming, knn.Jaccard}},
	} {
		for _, m := range c.metrics {
			t.Run(fmt.Sprintf("%s/%v", c.name, m), func(t *testing.T) {
				checkDescentRows(t, data.Slice(c.x, 0, n), data.Slice(c.x, n, n+100), m, k)
			})
		}
	}
}

func checkDescentRows(t *testing.T, x, q data.Points, m knn.Metric, k int) {
	t.Helper()
	s := knn.DescentSettings{Settings: knn.Settings{Metric: m}, Seed: 3}
	ix := newDescent(t, x, s)
	exact := brute(t, x, m)
	got := selfOf(t, ix, k)
	compareApproximate(t, got, selfOf(t, exact, k))
	if r := ix.Stats().Recall; !(r.Share >= 0.9) {
		t.Errorf("the recall is estimated as %v", r)
	}
	found, err := ix.Query(t.Context(), q, k)
	if err != nil {
		t.Fatal(err)
	}
	want, err := exact.Query(t.Context(), q, k)
	if err != nil {
		t.Fatal(err)
	}
	compareApproximate(t, found, want)

	again, err := knn.Restore(x, knn.StateOf(ix), &s)
	if err != nil {
		t.Fatal(err)
	}
	same, err := again.Query(t.Context(), q, k)
	if err != nil || !slices.Equal(same.Index, found.Index) || !slices.Equal(same.Distance, found.Distance) {
		t.Errorf("a restored index answers otherwise: %v", err)
	}
}

// compareApproximate compares lists with exact ones: a point that is in both is at the
// same distance, and nine of ten distances of a place are no larger.
func compareApproximate(t *testing.T, got, want *knn.Neighbors) {
	t.Helper()
	hits := 0
	for i := range got.Len() {
		index, dist := got.Row(i)
		right, true64 := want.Row(i)
		for p, j := range index {
			if at := slices.Index(right, j); at >= 0 && dist[p] != true64[at] {
				t.Fatalf("query %d: point %d at %v, by brute force at %v", i, j, dist[p], true64[at])
			}
			if dist[p] <= true64[len(right)-1] {
				hits++
			}
		}
	}
	if share := float64(hits) / float64(len(got.Index)); !(share >= 0.9) {
		t.Errorf("recall %.3f", share)
	}
}

// Stored points that are compared in parts have the neighbours of dense ones.
func TestBruteInParts(t *testing.T) {
	n := 1<<14 + 1000 // two parts
	if testing.Short() {
		n = 1<<14 + 1
	}
	dense := synthetic.Manifold(n, 5, 3, 0.01, 2)
	for i := 0; i < n; i += 50 {
		copy(dense.Row(i), dense.Row(n-1-i)) // ties across parts
	}
	x := asHalves(t, dense)
	widened := x.Dense()
	for _, m := range []knn.Metric{knn.Euclidean, knn.Cosine, knn.InnerProduct} {
		if testing.Short() && m != knn.Euclidean {
			continue
		}
		got, want := selfOf(t, brute(t, x, m), 6), selfOf(t, brute(t, widened, m), 6)
		if !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Distance, want.Distance) {
			t.Errorf("%v: other neighbours than of dense points", m)
		}
	}
}
