package knn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// onLine returns an index of points on a line.
func onLine(t tester, at ...float64) knn.Index {
	t.Helper()
	ix, err := knn.NewBrute(&data.Dense[float64]{Rows: len(at), Cols: 1, Data: at}, nil)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return ix
}

// edge is a pair i < j and its weight.
type edge struct {
	i, j int
	w    float64
}

func TestGraphWeights(t *testing.T) {
	e := math.Exp
	for _, c := range []struct {
		name  string
		s     knn.GraphSettings
		t     float64 // the t filled in
		edges []edge
	}{
		// On 0, 1, 3, 7 the nearest are 0→1, 1→0, 3→1, 7→3 at 1, 1, 2, 4.
		{"either", knn.GraphSettings{K: 1}, 0, []edge{{0, 1, 1}, {1, 2, 1}, {2, 3, 1}}},
		{"both", knn.GraphSettings{K: 1, Symmetry: sparse.Both}, 0, []edge{{0, 1, 1}}},
		{"sum", knn.GraphSettings{K: 1, Symmetry: sparse.Sum}, 0, []edge{{0, 1, 2}, {1, 2, 1}, {2, 3, 1}}},
		{"all", knn.GraphSettings{K: 3, Symmetry: sparse.Both}, 0, []edge{{0, 1, 1}, {0, 2, 1}, {0, 3, 1}, {1, 2, 1}, {1, 3, 1}, {2, 3, 1}}},
		{"heat", knn.GraphSettings{K: 1, Weights: knn.Heat, T: 2}, 2, []edge{{0, 1, e(-1. / 8)}, {1, 2, e(-4. / 8)}, {2, 3, e(-16. / 8)}}},
		// mean σ² = (1 + 1 + 4 + 16)/4.
		{"heat, t chosen", knn.GraphSettings{K: 1, Weights: knn.Heat}, 1.375, []edge{{0, 1, e(-1 / 5.5)}, {1, 2, e(-4 / 5.5)}, {2, 3, e(-16 / 5.5)}}},
		// With two neighbours σ = 3, 2, 3, 6.
		{"self-tuning, either", knn.GraphSettings{K: 2, Weights: knn.SelfTuning}, 0,
			[]edge{{0, 1, e(-4. / 9)}, {0, 2, e(-4)}, {1, 2, e(-16. / 9)}, {1, 3, e(-4)}, {2, 3, e(-16. / 9)}}},
		{"self-tuning, both", knn.GraphSettings{K: 2, Weights: knn.SelfTuning, Symmetry: sparse.Both}, 0,
			[]edge{{0, 1, e(-1)}, {0, 2, e(-4)}, {1, 2, e(-4)}}},
		{"self-tuning, sum", knn.GraphSettings{K: 2, Weights: knn.SelfTuning, Symmetry: sparse.Sum}, 0,
			[]edge{{0, 1, e(-4./9) + e(-1)}, {0, 2, 2 * e(-4)}, {1, 2, e(-4) + e(-16./9)}, {1, 3, e(-4)}, {2, 3, e(-16. / 9)}}},
		{"radius, which is symmetric", knn.GraphSettings{Radius: 2, Symmetry: sparse.Both}, 0, []edge{{0, 1, 1}, {1, 2, 1}}},
		{"radius", knn.GraphSettings{Radius: 2}, 0, []edge{{0, 1, 1}, {1, 2, 1}}},
		{"radius, heat, t chosen", knn.GraphSettings{Radius: 3.5, Weights: knn.Heat}, 3.5 * 3.5 / 4,
			[]edge{{0, 1, e(-1 / 12.25)}, {0, 2, e(-9 / 12.25)}, {1, 2, e(-4 / 12.25)}}},
		{"radius below every distance", knn.GraphSettings{Radius: 0.5}, 0, nil},
		// exp(−16/0.02) is zero in double precision.
		{"underflow", knn.GraphSettings{K: 1, Weights: knn.Heat, T: 0.005}, 0.005, []edge{{0, 1, e(-50)}, {1, 2, e(-200)}}},
		{"underflow, radius", knn.GraphSettings{Radius: 5, Weights: knn.Heat, T: 0.005}, 0.005, []edge{{0, 1, e(-50)}, {0, 2, e(-450)}, {1, 2, e(-200)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, filled, err := knn.NewGraph(context.Background(), onLine(t, 0, 1, 3, 7), c.s)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.CheckGraph(); err != nil {
				t.Fatal(err)
			}
			want := c.s
			want.T = c.t
			if filled != want {
				t.Errorf("settings %+v, want %+v", filled, want)
			}
			if w.NNZ() != 2*len(c.edges) {
				t.Fatalf("%d entries, want %d edges: %v", w.NNZ(), len(c.edges), mat.Formatted(w.ToDense()))
			}
			for _, e := range c.edges {
				if got := w.At(e.i, e.j); !(math.Abs(got-e.w) <= 1e-14*e.w) || w.At(e.j, e.i) != got {
					t.Errorf("edge %d, %d weighs %v and %v, want %v", e.i, e.j, got, w.At(e.j, e.i), e.w)
				}
			}
			if ones := c.s.Weights == knn.One && (c.s.Symmetry != sparse.Sum || c.s.K == 0); (w.Val == nil) != ones {
				t.Errorf("values are stored: %v", !ones)
			}
		})
	}
}

func TestGraphOfEqualPoints(t *testing.T) {
	for _, s := range []knn.GraphSettings{{K: 2, Weights: knn.Heat}, {K: 2, Weights: knn.SelfTuning}, {Radius: 1, Weights: knn.Heat}} {
		w, filled, err := knn.NewGraph(context.Background(), onLine(t, 5, 5, 5, 5), s)
		if err != nil {
			t.Fatal(err)
		}
		if s.Weights == knn.Heat && !(filled.T > 0) {
			t.Errorf("%+v: t = %v", s, filled.T)
		}
		for _, v := range w.Val {
			if v != 1 {
				t.Errorf("%+v: weight %v", s, v)
			}
		}
		if err := w.CheckGraph(); err != nil || w.NNZ() == 0 {
			t.Errorf("%+v: %d entries: %v", s, w.NNZ(), err)
		}
	}
}

func TestGraphAngleRadius(t *testing.T) {
	x := &data.Dense[float32]{Rows: 3, Cols: 2, Data: []float32{2, 0, 5, 5, 0, 1}}
	ix, err := knn.NewBrute(x, &knn.Settings{Metric: knn.Angle})
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(context.Background(), ix, knn.GraphSettings{Radius: 0.8})
	if err != nil {
		t.Fatal(err)
	}
	if w.NNZ() != 4 || w.At(0, 1) != 1 || w.At(1, 2) != 1 {
		t.Errorf("pairs within 0.8 radians: %v", mat.Formatted(w.ToDense()))
	}
}

func TestGraphFaults(t *testing.T) {
	ctx := context.Background()
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		s     knn.GraphSettings
		parts []string
	}{
		{knn.GraphSettings{}, []string{"number of neighbours or a radius"}},
		{knn.GraphSettings{K: 2, Radius: 1}, []string{"number of neighbours or a radius"}},
		{knn.GraphSettings{K: -1}, []string{"number of neighbours or a radius, not -1"}},
		{knn.GraphSettings{K: -1, Radius: 1}, []string{"not -1 and 1"}},
		{knn.GraphSettings{K: 1, Radius: -1}, []string{"not 1 and -1"}},
		{knn.GraphSettings{Radius: nan}, []string{"NaN"}},
		{knn.GraphSettings{Radius: inf}, []string{"Inf"}},
		{knn.GraphSettings{K: 1, Weights: knn.Heat, T: -3}, []string{"t is -3"}},
		{knn.GraphSettings{K: 1, Weights: knn.Heat, T: nan}, []string{"t is NaN"}},
		{knn.GraphSettings{K: 1, Weights: knn.Heat, T: inf}, []string{"t is +Inf"}},
		{knn.GraphSettings{K: 1, Weights: 9}, []string{"weighting unknown (9)"}},
		{knn.GraphSettings{K: 1, Symmetry: 9}, []string{"symmetry unknown (9)"}},
		{knn.GraphSettings{Radius: 1, Weights: knn.SelfTuning}, []string{"self-tuning"}},
		{knn.GraphSettings{Radius: 1, Symmetry: sparse.Sum}, []string{"symmetry sum", "leave it out"}},
		{knn.GraphSettings{K: 2, Radius: 1, Weights: knn.SelfTuning, T: -1, Symmetry: -1}, // all at once
			[]string{"number of neighbours or a radius", "t is -1", "self-tuning", "symmetry unknown (-1)"}},
		{knn.GraphSettings{K: 4}, []string{"4 neighbours", "between 1 and 3"}},
	} {
		ix := onLine(t, 0, 1, 3, 7)
		w, _, err := knn.NewGraph(ctx, ix, c.s)
		if err == nil || w != nil {
			t.Errorf("%+v: no error", c.s)
			continue
		}
		for _, part := range c.parts {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: error %q does not say %q", c.s, err, part)
			}
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, s := range []knn.GraphSettings{{K: 1}, {Radius: 1}} {
		if _, _, err := knn.NewGraph(cancelled, onLine(t, 0, 1, 3), s); err != context.Canceled {
			t.Errorf("%+v: error %v of a cancelled context", s, err)
		}
	}
}

func TestFromNeighbors(t *testing.T) {
	ctx := context.Background()
	ix, err := knn.NewBrute(float64s.of(small(60, 3)), nil)
	if err != nil {
		t.Fatal(err)
	}
	long, err := ix.Self(ctx, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, weights := range []knn.Weighting{knn.One, knn.Heat, knn.SelfTuning} {
		s := knn.GraphSettings{K: 4, Weights: weights}
		want, wantSettings, err := knn.NewGraph(ctx, ix, s)
		if err != nil {
			t.Fatal(err)
		}
		got, gotSettings, err := knn.FromNeighbors(long, s)
		if err != nil {
			t.Fatal(err)
		}
		if wantSettings != gotSettings || !slices.Equal(want.Ptr, got.Ptr) || !slices.Equal(want.Col, got.Col) || !slices.Equal(want.Val, got.Val) {
			t.Errorf("%v: the graph from longer lists differs", weights)
		}
	}
	if w, _, err := knn.FromNeighbors(long, knn.GraphSettings{K: 21}); err == nil || w != nil || !strings.Contains(err.Error(), "lists of 20") {
		t.Errorf("21 neighbours of lists of 20: %v", err)
	}
	if w, _, err := knn.FromNeighbors(long, knn.GraphSettings{Radius: 1}); err == nil || w != nil {
		t.Error("a radius with lists: no error")
	}
	d := long.Distances(5)
	if err := d.Validate(); err != nil || d.NNZ() != 300 {
		t.Fatalf("distances: %d entries: %v", d.NNZ(), err)
	}
	for i := range long.Len() {
		index, dist := long.Row(i)
		for p := range 5 {
			if d.At(i, int(index[p])) != dist[p] {
				t.Fatalf("distance %d, %d is %v, want %v", i, index[p], d.At(i, int(index[p])), dist[p])
			}
		}
	}
}

// TestDistancesOfEqualPoints: a distance of zero is an entry.
func TestDistancesOfEqualPoints(t *testing.T) {
	nb, err := onLine(t, 2, 2, 9).Self(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if d := nb.Distances(1); d.NNZ() != 3 || d.At(2, 0) != 7 {
		t.Errorf("distances %v in columns %v", d.Val, d.Col)
	}
}

func TestEdgeWeights(t *testing.T) {
	dist := []float64{0, 1, 2}
	for _, c := range []struct {
		s    knn.GraphSettings
		want []float64
	}{
		{knn.GraphSettings{K: 3}, []float64{1, 1, 1}},
		{knn.GraphSettings{K: 3, Weights: knn.Heat, T: 0.5}, []float64{1, math.Exp(-0.5), math.Exp(-2)}},
		{knn.GraphSettings{K: 3, Weights: knn.SelfTuning}, []float64{1, math.Exp(-1), math.Exp(-4)}},
	} {
		got := c.s.EdgeWeights(dist)
		for p := range got {
			if !(math.Abs(got[p]-c.want[p]) <= 1e-15) {
				t.Errorf("%v: weights %v, want %v", c.s.Weights, got, c.want)
			}
		}
		if len(c.s.EdgeWeights(nil)) != 0 {
			t.Errorf("%v: weights of no edges", c.s.Weights)
		}
	}
	tuned := knn.GraphSettings{K: 2, Weights: knn.SelfTuning}
	if w := tuned.EdgeWeights([]float64{0, 0}); w[0] != 1 || w[1] != 1 {
		t.Errorf("weights of equal points %v", w)
	}
}

// TestGraphProperty: any graph of any points is one, and Both is part of Either.
func TestGraphProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.SliceOfN(rapid.Map(rapid.IntRange(-9, 9), func(v int) float64 { return float64(v) }), 2, 25).Draw(t, "points")
		s := knn.GraphSettings{
			K:       rapid.IntRange(1, len(at)-1).Draw(t, "k"),
			Weights: knn.Weighting(rapid.IntRange(0, 2).Draw(t, "weights")),
		}
		ix := onLine(t, at...)
		graphs := map[sparse.Symmetry]*sparse.CSR{}
		for _, s.Symmetry = range []sparse.Symmetry{sparse.Either, sparse.Both} {
			w, _, err := knn.NewGraph(context.Background(), ix, s)
			if err != nil {
				t.Fatalf("%v", err)
			}
			if err := w.CheckGraph(); err != nil {
				t.Fatalf("%v", err)
			}
			for _, v := range w.Val {
				if !(v > 0 && v <= 1) {
					t.Fatalf("weight %v", v)
				}
			}
			graphs[s.Symmetry] = w
		}
		either, both := graphs[sparse.Either], graphs[sparse.Both]
		for i := range at {
			if either.At(i, i) != 0 {
				t.Fatalf("point %d is joined with itself", i)
			}
			if col, _ := either.Row(i); len(col) < s.K {
				t.Fatalf("point %d has %d neighbours, want %d", i, len(col), s.K)
			}
			col, _ := both.Row(i)
			if len(col) > s.K {
				t.Fatalf("point %d has %d mutual neighbours of %d", i, len(col), s.K)
			}
			for _, j := range col {
				if !(both.At(i, int(j)) <= either.At(i, int(j))) {
					t.Fatalf("edge %d, %d weighs %v under both, %v under either", i, j, both.At(i, int(j)), either.At(i, int(j)))
				}
			}
		}
	})
}

func TestNames(t *testing.T) {
	s := knn.GraphSettings{K: 3, Weights: knn.SelfTuning, Symmetry: sparse.Both}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"k":3,"symmetry":"both","weights":"self-tuning"}`; string(text) != want {
		t.Errorf("%s, want %s", text, want)
	}
	var back knn.GraphSettings
	if err := json.Unmarshal(text, &back); err != nil || back != s {
		t.Errorf("%+v from %s: %v", back, text, err)
	}
	var m knn.Metric
	if err := m.UnmarshalText([]byte("cos")); err == nil || !strings.Contains(err.Error(), "angle") {
		t.Errorf("metric cos: %v", err)
	}
	if err := m.UnmarshalText([]byte("angle")); err != nil || m != knn.Angle {
		t.Errorf("metric angle: %v, %v", m, err)
	}
}

func ExampleNewGraph() {
	x := &data.Dense[float64]{Rows: 4, Cols: 1, Data: []float64{0, 1, 3, 7}}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		panic(err)
	}
	w, s, err := knn.NewGraph(context.Background(), ix, knn.GraphSettings{K: 1, Weights: knn.Heat})
	if err != nil {
		panic(err)
	}
	fmt.Printf("t = %g\n%.3f\n", s.T, mat.Formatted(w.ToDense()))
	// Output:
	// t = 1.375
	// ⎡0.000  0.834  0.000  0.000⎤
	// ⎢0.834  0.000  0.483  0.000⎥
	// ⎢0.000  0.483  0.000  0.055⎥
	// ⎣0.000  0.000  0.055  0.000⎦
}

func ExampleFromNeighbors() {
	// Two mutual pairs, as any other library may have found them.
	nb := &knn.Neighbors{K: 1, Index: []int32{1, 0, 3, 2}, Distance: []float64{1, 1, 2, 2}}
	w, _, err := knn.FromNeighbors(nb, knn.GraphSettings{K: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(w.NNZ()/2, "edges,", w.Components().Count(), "components")
	// Output: 2 edges, 2 components
}

func ExampleGraphSettings_EdgeWeights() {
	s := knn.GraphSettings{K: 2, Weights: knn.Heat, T: 1}
	fmt.Printf("%.4f\n", s.EdgeWeights([]float64{0, 2}))
	// Output: [1.0000 0.3679]
}
