package knn_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/knn"
)

// tied are sets of points many of which are at equal distances, or nearly: small integers,
// zeros and ones, tenths, whose sums of squares depend on the order, permuted and scaled
// copies. Each has a point of zeros, and every point twice.
func tied() map[string]*data.Dense[float64] {
	const n, d = 80, 11
	rng := rand.New(rand.NewPCG(15, 3))
	draw := func(value func(i, j int) float64) *data.Dense[float64] {
		x := data.NewDense[float64](2*n, d)
		for i := 1; i < n; i++ {
			for j := range d {
				if rng.IntN(3) > 0 {
					x.Row(i)[j] = value(i, j)
				}
			}
		}
		for i := range n {
			copy(x.Row(n+i), x.Row(i))
		}
		return x
	}
	base := make([]float64, d)
	for j := range base {
		base[j] = rng.NormFloat64()
	}
	permuted := draw(func(i, j int) float64 { return base[rng.IntN(d)] })
	scaled := draw(func(i, j int) float64 { return base[(j+i%4)%d] * []float64{1, 3, 0.1, 1e-3, 7e4}[i/4%5] })
	return map[string]*data.Dense[float64]{
		"integers":    draw(func(_, _ int) float64 { return float64(rng.IntN(5) - 2) }),
		"bits":        draw(func(_, _ int) float64 { return 1 }),
		"bytes":       draw(func(_, _ int) float64 { return float64(rng.IntN(4)) }),
		"tenths":      draw(func(_, _ int) float64 { return 0.1 * float64(rng.IntN(4)) }),
		"far tenths":  draw(func(_, _ int) float64 { return 1e4 + 0.1*float64(rng.IntN(3)) }),
		"permuted":    permuted,
		"scaled":      scaled,
		"all numbers": draw(func(_, _ int) float64 { return rng.NormFloat64() * math.Exp(3*rng.NormFloat64()) }),
	}
}

// converted is x with elements of another type, which hold its values or round them.
func converted[T data.Element](x *data.Dense[float64]) *data.Dense[T] {
	out := data.NewDense[T](x.Rows, x.Cols)
	for i, v := range x.Data {
		out.Data[i] = T(v)
	}
	return out
}

// Dense and sparse copies of the same points have the same neighbours at the same
// distances, to the last bit: those of a list, of queries that are dense or sparse, and
// within a radius.
func TestTiesOfDenseAndSparse(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "takes minutes; the goroutines have tests of their own")
	for name, x := range tied() {
		copies := map[string]data.Points{"float64": x}
		switch name {
		case "bits", "bytes":
			copies["uint8"] = converted[uint8](x)
			copies["float32"] = converted[float32](x)
		case "integers":
			copies["float32"] = converted[float32](x)
		}
		for _, metric := range []knn.Metric{knn.Euclidean, knn.Angle, knn.Cosine, knn.InnerProduct, knn.Hamming, knn.Jaccard} {
			if (metric == knn.Hamming || metric == knn.Jaccard) && name != "bits" {
				continue
			}
			settings := &knn.Settings{Metric: metric}
			lean := data.ToSparse(x)
			sparse := must(knn.NewBrute(lean, settings))(t)
			for kind, p := range copies {
				dense := must(knn.NewBrute(p, settings))(t)
				what := fmt.Sprintf("%s as %s, %v", name, kind, metric)
				for _, k := range []int{1, 5, 40} {
					same(t, what, must(dense.Self(t.Context(), k))(t), must(sparse.Self(t.Context(), k))(t))
					want := must(dense.Query(t.Context(), p, k))(t)
					same(t, what+", queries", want, must(sparse.Query(t.Context(), lean, k))(t))
					same(t, what+", dense queries", want, must(sparse.Query(t.Context(), p, k))(t))
				}
				if metric == knn.InnerProduct {
					continue
				}
				radius := must(dense.Self(t.Context(), 20))(t).Distance[20*7+13] // one that occurs
				a := must(dense.Within(t.Context(), radius))(t)
				b := must(sparse.Within(t.Context(), radius))(t)
				if !slices.Equal(a.Ptr, b.Ptr) || !slices.Equal(a.Col, b.Col) || !slices.Equal(a.Val, b.Val) {
					t.Errorf("%s: other neighbours within %v", what, radius)
				}
			}
		}
	}
}

// same compares lists bit by bit.
func same(t *testing.T, what string, want, got *knn.Neighbors) {
	t.Helper()
	for at, i := range want.Index {
		if got.Index[at] != i || got.Distance[at] != want.Distance[at] {
			t.Errorf("%s, k = %d, point %d: %d at %v, and sparse %d at %v", what, want.K, at/want.K, i, want.Distance[at], got.Index[at], got.Distance[at])
			return
		}
	}
}

// must returns a function that ends a test at an error.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Of integers, whose squared distances are exact, equal ones come in the order of indices.
func TestTiesByIndex(t *testing.T) {
	x := tied()["integers"]
	for name, p := range map[string]data.Points{"dense": x, "float32": converted[float32](x), "sparse": data.ToSparse(x)} {
		for _, method := range []knn.Method{knn.Brute, knn.KDTree, knn.BallTree} {
			if method.Supports(knn.Euclidean, p) != nil {
				continue
			}
			got := must(must(knn.NewIndex(p, method, nil))(t).Self(t.Context(), 30))(t)
			for i := range x.Rows {
				square := func(j int) (s float64) {
					for c, v := range x.Row(i) {
						s += (v - x.Row(j)[c]) * (v - x.Row(j)[c])
					}
					return s
				}
				order := slices.DeleteFunc(data.Range(0, x.Rows), func(j int) bool { return j == i })
				slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(square(a), square(b)) })
				index, _ := got.Row(i)
				for p, j := range index {
					if int(j) != order[p] {
						t.Fatalf("%s, %v: neighbour %d of point %d is %d, want %d", name, method, p, i, j, order[p])
					}
				}
			}
		}
	}
}
