package knn

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn/internal/blocks"
)

// byDefinition returns the k nearest points of every query by the definition, in
// integers; self leaves out the query's own number.
func byDefinition(x, q *data.Dense[uint8], k int, self bool) *Neighbors {
	out := newNeighbors(q.Rows, k)
	list := make([]blocks.Hit, x.Rows)
	for i := range q.Rows {
		for j := range x.Rows {
			var s int32
			for c, v := range x.Row(j) {
				d := int32(v) - int32(q.Row(i)[c])
				s += d * d
			}
			list[j] = blocks.NewHit(s, j)
		}
		if self {
			list[i] = blocks.NoHit
		}
		slices.Sort(list)
		out.setExact(i, slices.Clone(list[:k]))
		if self {
			list[0] = 0
		}
	}
	return out
}

func randomBytes(n, d, values int, seed uint64) *data.Dense[uint8] {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	x := data.NewDense[uint8](n, d)
	for i := range x.Data {
		x.Data[i] = uint8(rng.IntN(values) * 255 / max(1, values-1))
	}
	return x
}

func asFloat64(x *data.Dense[uint8]) *data.Dense[float64] {
	w := data.NewDense[float64](x.Rows, x.Cols)
	for i, v := range x.Data {
		w.Data[i] = float64(v)
	}
	return w
}

func sameLists(a, b *Neighbors) bool {
	return slices.Equal(a.Index, b.Index) && slices.Equal(a.Distance, b.Distance)
}

// TestBlocks has numbers of points around multiples of the block, for an even
// and an odd number of blocks, many ties among them, at several thread counts,
// as bytes and as the same numbers in float64.
func TestBlocks(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "blocks of many sizes; one size is enough here")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	ctx := context.Background()
	sizes := []int{2, 33, 447, 448, 449, 897}
	if testmode.Soak() {
		sizes = []int{2, 3, 33, 447, 448, 449, 897, 1400}
	}
	if testing.Short() {
		sizes = []int{3, 449}
	}
	for _, n := range sizes {
		for _, c := range []struct{ d, values int }{{1, 2}, {3, 3}, {21, 256}, {301, 256}} {
			x, q := randomBytes(n, c.d, c.values, 1), randomBytes(70, c.d, c.values, 2)
			k := min(5, n-1)
			want, wantQuery := byDefinition(x, x, k, true), byDefinition(x, q, k, false)
			for _, threads := range []int{1, 2, 3} {
				runtime.GOMAXPROCS(threads)
				for _, p := range []data.Points{x, asFloat64(x)} {
					ix, err := NewBrute(p, nil)
					if err != nil {
						t.Fatal(err)
					}
					got, err := ix.Self(ctx, k)
					if err != nil {
						t.Fatal(err)
					}
					if !sameLists(got, want) {
						t.Fatalf("n=%d, %+v, %T, %d threads: other neighbours than by definition", n, c, p, threads)
					}
					for _, queries := range []data.Points{q, asFloat64(q)} {
						if got, err = ix.Query(ctx, queries, k); err != nil {
							t.Fatal(err)
						}
						if !sameLists(got, wantQuery) {
							t.Fatalf("n=%d, %+v, %T asked in %T: other neighbours than by definition", n, c, p, queries)
						}
					}
				}
			}
		}
	}
}

// TestBytesLimit has as many columns as bytes are compared in, and one more, and
// distances as large as they get.
func TestBytesLimit(t *testing.T) {
	for _, d := range []int{dense.MaxInnerU8, dense.MaxInnerU8 + 1} {
		for _, m := range []Metric{Euclidean, Angle} {
			x := randomBytes(6, d, 256, 3)
			for j := range d {
				x.Row(1)[j], x.Row(4)[j] = 255, 0
			}
			ix, err := NewBrute(x, &Settings{Metric: m})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ix.Self(context.Background(), 5)
			if err != nil {
				t.Fatal(err)
			}
			wide, err := NewBrute(asFloat64(x), &Settings{Metric: m})
			if err != nil {
				t.Fatal(err)
			}
			want, err := wide.Self(context.Background(), 5)
			if err != nil {
				t.Fatal(err)
			}
			for p, v := range got.Distance {
				if !(math.Abs(v-want.Distance[p]) <= 1e-12*v) {
					t.Fatalf("%d columns, %v: %v at %v, want %v at %v", d, m, got.Index, got.Distance, want.Index, want.Distance)
				}
			}
			if _, dist := got.Row(4); m == Euclidean && dist[4] != math.Sqrt(255*255*float64(d)) {
				t.Errorf("%d columns: the largest distance is %v", d, dist[4])
			}
		}
	}
}

// TestByteAngles compares angles between bytes with those between the same
// numbers in float64, nearly equal vectors and zeros among them.
func TestByteAngles(t *testing.T) {
	ctx := context.Background()
	x := randomBytes(900, 30, 256, 4)
	for i := 0; i < 900; i += 7 {
		copy(x.Row(i), x.Row((i+450)%900))
		x.Row(i)[i%30] ^= 1
	}
	clear(x.Row(5))
	clear(x.Row(600))
	bytes, err := NewBrute(x, &Settings{Metric: Angle})
	if err != nil {
		t.Fatal(err)
	}
	wide, err := NewBrute(asFloat64(x), &Settings{Metric: Angle})
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, got, want *Neighbors, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for p, v := range got.Distance {
			if !(math.Abs(v-want.Distance[p]) <= 1e-12) || got.Index[p] != want.Index[p] && v != got.Distance[max(p-1, 0)] && v != got.Distance[min(p+1, len(got.Distance)-1)] {
				t.Fatalf("%s: entry %d is %d at %v, want %d at %v", what, p, got.Index[p], v, want.Index[p], want.Distance[p])
			}
		}
	}
	want, err := wide.Self(ctx, 7)
	if err != nil {
		t.Fatal(err)
	}
	got, err := bytes.Self(ctx, 7)
	check("Self", got, want, err)
	for _, q := range []data.Points{x, asFloat64(x)} {
		if want, err = wide.Query(ctx, q, 7); err != nil {
			t.Fatal(err)
		}
		got, err = bytes.Query(ctx, q, 7)
		check("Query", got, want, err)
	}
}
