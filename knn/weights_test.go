package knn_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// On 0, 1, 3, 7 the lists of two are 0: 1, 2; 1: 0, 2; 2: 1, 0; 3: 2, 1.
func TestListWeights(t *testing.T) {
	e := math.Exp
	// σ² is the mean of the squares of two distances.
	gauss := func(d, a, b float64) float64 { return math.Sqrt(2*math.Sqrt(a*b)/(a+b)) * e(-d*d/(a+b)) }
	s0, s1, s2, s3 := 5., 2.5, 6.5, 26.
	for _, c := range []struct {
		s     knn.GraphSettings
		edges []edge
	}{
		{knn.GraphSettings{K: 2, Weights: knn.Gauss}, []edge{{0, 1, gauss(1, s0, s1)}, {0, 2, gauss(3, s0, s2)}, {1, 2, gauss(2, s1, s2)}, {1, 3, gauss(6, s1, s3)}, {2, 3, gauss(4, s2, s3)}}},
		{knn.GraphSettings{K: 2, Weights: knn.Gauss, Symmetry: sparse.Both}, []edge{{0, 1, gauss(1, s0, s1)}, {0, 2, gauss(3, s0, s2)}, {1, 2, gauss(2, s1, s2)}}},
		// Each two of the first three share the third; 3 shares 1 with 2, and 2 with 1.
		{knn.GraphSettings{K: 2, Weights: knn.Shared}, []edge{{0, 1, 1. / 3}, {0, 2, 1. / 3}, {1, 2, 1. / 3}, {1, 3, 1. / 6}, {2, 3, 1. / 6}}},
		{knn.GraphSettings{K: 2, Weights: knn.Shared, Symmetry: sparse.Both}, []edge{{0, 1, 1. / 9}, {0, 2, 1. / 9}, {1, 2, 1. / 9}}},
		{knn.GraphSettings{K: 2, Weights: knn.Shared, Symmetry: sparse.Sum}, []edge{{0, 1, 2. / 3}, {0, 2, 2. / 3}, {1, 2, 2. / 3}, {1, 3, 1. / 3}, {2, 3, 1. / 3}}},
		{knn.GraphSettings{K: 1, Weights: knn.UMAP, Symmetry: sparse.Sum}, []edge{{0, 1, 2}, {1, 2, 1}, {2, 3, 1}}},
		// Nobody shares his only neighbour.
		{knn.GraphSettings{K: 1, Weights: knn.Shared}, nil},
		// The only neighbour is at ρ.
		{knn.GraphSettings{K: 1, Weights: knn.UMAP}, []edge{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}}},
		{knn.GraphSettings{K: 1, Weights: knn.UMAP, Symmetry: sparse.Both}, []edge{{0, 1, 1}}},
	} {
		w, filled, err := knn.NewGraph(t.Context(), onLine(t, 0, 1, 3, 7), c.s)
		if err != nil || filled != c.s {
			t.Fatalf("%+v: %v", filled, err)
		}
		if err := w.CheckGraph(); err != nil {
			t.Fatal(err)
		}
		if w.NNZ() != 2*len(c.edges) {
			t.Fatalf("%v, %v: %d entries, want %d edges", c.s.Weights, c.s.Symmetry, w.NNZ(), len(c.edges))
		}
		for _, e := range c.edges {
			if got := w.At(e.i, e.j); !(math.Abs(got-e.w) <= 1e-14) {
				t.Errorf("%v, %v: edge %d, %d weighs %v, want %v", c.s.Weights, c.s.Symmetry, e.i, e.j, got, e.w)
			}
		}
	}
}

// The weights of UMAP add up to log₂(k+1) in every list, at any scale, unless points
// at distances up to ρ add up to more.
func TestUMAPSum(t *testing.T) {
	for _, scale := range []float64{1e-300, 1e-20, 1, 1e20, 1e140} {
		dist := []float64{1, 1.5, 1.7, 2, 3, 4, 4.5, 8}
		for p := range dist {
			dist[p] *= scale
		}
		s := knn.GraphSettings{K: 8, Weights: knn.UMAP}
		var sum float64
		w := s.EdgeWeights(dist)
		for _, v := range w {
			sum += v
		}
		if !(math.Abs(sum-math.Log2(9)) <= 2e-5) || w[0] != 1 || !slices.IsSortedFunc(w, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
			t.Errorf("×%v: weights %v add up to %v", scale, w, sum)
		}
		if w := s.EdgeWeights([]float64{0, 0, 0, scale, 2 * scale}); slices.Max(w) != 1 || w[0] != 1 || w[3] != 1 || !(w[4] < 1e-2) {
			t.Errorf("×%v: weights beside three duplicates %v", scale, w)
		}
		if w := s.EdgeWeights([]float64{0, 0, 0}); !slices.Equal(w, []float64{1, 1, 1}) {
			t.Errorf("weights of duplicates %v", w)
		}
	}
}

func TestNewPointWeights(t *testing.T) {
	dist := []float64{0, 1, 2, 3}
	gauss := knn.GraphSettings{K: 4, Weights: knn.Gauss}
	for p, v := range gauss.EdgeWeights(dist) { // the median of 1, 4, 9
		if want := math.Exp(-dist[p] * dist[p] / 8); !(math.Abs(v-want) <= 1e-15) {
			t.Errorf("gauss at %v: %v, want %v", dist[p], v, want)
		}
	}
	if w := gauss.EdgeWeights([]float64{0, 0}); !slices.Equal(w, []float64{1, 1}) {
		t.Errorf("gauss between equal points: %v", w)
	}
	if w := knn.SharedWeights([]int32{5, 2, 9}, [][]int32{{9, 2, 1}, {7, 8, 6}, {5, 2, 9}}); !slices.Equal(w, []float64{0.5, 0, 1}) {
		t.Errorf("jaccard: %v", w)
	}
	for _, w := range []knn.Weighting{knn.UMAP, knn.Gauss} {
		if got := (&knn.GraphSettings{K: 1, Weights: w}).EdgeWeights(nil); len(got) != 0 {
			t.Errorf("%v: weights of no edges", w)
		}
	}
}

func TestListWeightsNeedLists(t *testing.T) {
	for _, w := range []knn.Weighting{knn.UMAP, knn.Gauss, knn.Shared} {
		if _, _, err := knn.NewGraph(t.Context(), onLine(t, 0, 1, 3, 7), knn.GraphSettings{Radius: 2, Weights: w}); err == nil || !strings.Contains(err.Error(), w.String()) {
			t.Errorf("%v with a radius: %v", w, err)
		}
	}
	ordered := &knn.Neighbors{K: 1, Index: []int32{1, 0}, Distance: []float64{0, 0}, Ordered: true}
	for w := knn.One; w <= knn.Shared; w++ {
		_, _, err := knn.FromNeighbors(ordered, knn.GraphSettings{K: 1, Weights: w})
		if refused := w != knn.One && w != knn.Shared; refused != (err != nil) || refused && !strings.Contains(err.Error(), "need distances") {
			t.Errorf("%v of lists without distances: %v", w, err)
		}
	}
}

// Rows that end early, one of them at once, make graphs with all weights.
func TestGraphOfShortLists(t *testing.T) {
	inf := math.Inf(1)
	nb := &knn.Neighbors{K: 2,
		Index:    []int32{1, 2, 0, -1, 1, 0, -1, -1},
		Distance: []float64{1, 3, 1, inf, 2, 3, inf, inf}}
	for w := knn.One; w <= knn.Shared; w++ {
		for _, s := range []sparse.Symmetry{sparse.Either, sparse.Both} {
			g, _, err := knn.FromNeighbors(nb, knn.GraphSettings{K: 2, Weights: w, Symmetry: s})
			if err != nil {
				t.Fatal(err)
			}
			if err := g.CheckGraph(); err != nil {
				t.Fatalf("%v: %v", w, err)
			}
			if col, _ := g.Row(3); len(col) != 0 || w != knn.Shared && !(g.At(0, 1) > 0) {
				t.Errorf("%v, %v: point 3 has %d neighbours, edge 0, 1 weighs %v", w, s, len(col), g.At(0, 1))
			}
		}
	}
}

// Any points make graphs whose weights are above 0 and at most 1; duplicates and
// distances of any size are points too.
func TestListWeightsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scale := math.Pow(10, rapid.Float64Range(-140, 140).Draw(t, "scale"))
		at := rapid.SliceOfN(rapid.Map(rapid.IntRange(-9, 9), func(v int) float64 { return float64(v*v*v) * scale }), 2, 25).Draw(t, "points")
		nb, err := onLine(t, at...).Self(t.Context(), rapid.IntRange(1, len(at)-1).Draw(t, "k"))
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, w := range []knn.Weighting{knn.UMAP, knn.Gauss, knn.Shared} {
			either, _, err := knn.FromNeighbors(nb, knn.GraphSettings{K: nb.K, Weights: w})
			if err != nil {
				t.Fatalf("%v", err)
			}
			both, _, err := knn.FromNeighbors(nb, knn.GraphSettings{K: nb.K, Weights: w, Symmetry: sparse.Both})
			if err != nil {
				t.Fatalf("%v", err)
			}
			for _, g := range []*sparse.CSR{either, both} {
				if err := g.CheckGraph(); err != nil {
					t.Fatalf("%v: %v", w, err)
				}
				for _, v := range g.Val {
					if !(v > 0 && v <= 1) {
						t.Fatalf("%v: weight %v", w, v)
					}
				}
			}
			for i := range at {
				if col, _ := either.Row(i); w != knn.Shared && len(col) == 0 {
					t.Fatalf("%v: point %d is isolated", w, i)
				}
			}
		}
	})
}
