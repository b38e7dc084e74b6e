package hops

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/sparse"
)

// randomGraph is a graph with loops at some vertices; every ninth vertex has no edge.
func randomGraph(t *testing.T, n int, weights bool) *sparse.CSR {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	w := mat.NewDense(n, n, nil)
	for range 4 * n {
		i, j := rng.IntN(n), rng.IntN(n)
		if i%9 == 0 || j%9 == 0 {
			continue
		}
		v := 1.0
		if weights {
			v = math.Exp(4 * rng.NormFloat64())
		}
		w.Set(i, j, v)
		w.Set(j, i, v)
	}
	out := sparse.FromDense(w)
	if !weights {
		out.Val = nil
	}
	return out
}

// reference returns [X, AX, …] by products with a dense A.
func reference(x *mat.Dense, w *sparse.CSR, s *Settings) *mat.Dense {
	n, d := x.Dims()
	a := w.ToDense()
	degree := make([]float64, n)
	for i := range n {
		if s.Loops {
			a.Set(i, i, a.At(i, i)+1)
		}
		degree[i] = mat.Sum(a.RowView(i))
	}
	for i := range n {
		for j := range n {
			switch {
			case degree[i] == 0 && i == j:
				a.Set(i, j, 1)
			case a.At(i, j) == 0:
			case s.Normalization == Row:
				a.Set(i, j, a.At(i, j)/degree[i])
			default:
				a.Set(i, j, a.At(i, j)/math.Sqrt(degree[i]*degree[j]))
			}
		}
	}

	out := mat.NewDense(n, (s.Hops+1)*d, nil)
	cur := mat.DenseCopyOf(x)
	for h := range s.Hops + 1 {
		out.Slice(0, n, h*d, (h+1)*d).(*mat.Dense).Copy(cur)
		var next mat.Dense
		next.Mul(a, cur)
		cur = &next
	}
	return out
}

// allSettings are settings that differ in each field.
var allSettings = []Settings{{Hops: 2}, {Hops: 3, Loops: true}, {Hops: 1, Normalization: Row},
	{Hops: 4, Normalization: Row, Loops: true}}

func randomPoints(n, d int) *data.Dense[float64] {
	rng := rand.New(rand.NewPCG(2, uint64(d)))
	x := data.NewDense[float64](n, d)
	for i := range x.Data {
		if rng.IntN(3) > 0 {
			x.Data[i] = rng.NormFloat64()
		}
	}
	return x
}

// TestFeatures compares features of dense and of sparse points with products of dense matrices, of more columns than
// one block has.
func TestFeatures(t *testing.T) {
	const n, d = 70, 45
	x := randomPoints(n, d)
	for _, weights := range []bool{true, false} {
		w := randomGraph(t, n, weights)
		for _, s := range allSettings {
			want := reference(mat.NewDense(n, d, x.Data), w, &s)
			got, err := Features(t.Context(), x, w, &s)
			if err != nil {
				t.Fatal(err)
			}
			scattered, err := Features(t.Context(), data.ToSparse(x), w, &s)
			if err != nil || !slices.Equal(got.Data, scattered.Data) {
				t.Errorf("%+v: sparse points have other dense features, %v", s, err)
			}
			m, err := SparseFeatures(t.Context(), data.ToSparse(x), w, &s)
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Validate(); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j := range (s.Hops + 1) * d {
					v := want.At(i, j)
					if g := float64(got.Row(i)[j]); !(math.Abs(g-v) <= 1e-6*(1+math.Abs(v))) {
						t.Fatalf("%+v: feature %d of point %d is %v, want %v", s, j, i, g, v)
					}
					if g := m.At(i, j); !(math.Abs(g-v) <= 1e-12*(1+math.Abs(v))) {
						t.Fatalf("%+v: sparse feature %d of point %d is %v, want %v", s, j, i, g, v)
					}
				}
			}
		}
	}
}

// Hop 0 is X to the last bit, and a constant column stays constant under means over neighbours, at points without an edge
// too.
func TestProperties(t *testing.T) {
	const n = 60
	x := data.NewDense[float32](n, 2)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		x.Row(i)[0] = 7.25
		x.Row(i)[1] = rng.Float32()
	}
	w := randomGraph(t, n, true)
	for _, s := range allSettings {
		f, err := Features(t.Context(), x, w, &s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			row := f.Row(i)
			if !slices.Equal(row[:2], x.Row(i)) {
				t.Errorf("hop 0 of point %d is %v", i, row[:2])
			}
			for h := 0; s.Normalization == Row && h <= s.Hops; h++ {
				if v := row[2*h]; !(math.Abs(float64(v)-7.25) <= 1e-5) {
					t.Errorf("%+v: the constant is %v at point %d, hop %d", s, v, i, h)
				}
			}
			if i%9 == 0 && !slices.Equal(row[2*s.Hops:], x.Row(i)) {
				t.Errorf("point %d has no edge and the features %v", i, row)
			}
		}
	}
}

// The number of threads does not change a bit, and inputs stay as they are.
func TestSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	x := randomPoints(1500, 40)
	before := slices.Clone(x.Data)
	w := randomGraph(t, 1500, true)
	one, err := Features(t.Context(), x, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := SparseFeatures(t.Context(), data.ToSparse(x), w, nil)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(4)
	more, _ := Features(t.Context(), x, w, nil)
	second, _ := SparseFeatures(t.Context(), data.ToSparse(x), w, nil)
	if !slices.Equal(one.Data, more.Data) || !slices.Equal(first.Val, second.Val) || !slices.Equal(first.Col, second.Col) {
		t.Error("four threads give other bits")
	}
	if !slices.Equal(before, x.Data) {
		t.Error("the points were changed")
	}
	if _, d := more.Dims(); d != 3*40 {
		t.Errorf("%d columns with the default of hops", d)
	}
}

// Sizes that do not fit, numbers out of range and settings that mean nothing are errors; the bound of the sparse
// entries holds.
func TestFaults(t *testing.T) {
	x := randomPoints(30, 3)
	w := randomGraph(t, 30, true)
	for _, c := range []struct {
		what string
		err  error
		want string
	}{
		{"few points", second(Features(t.Context(), randomPoints(29, 3), w, nil)), "30 points for 29"},
		{"few sparse points", second(SparseFeatures(t.Context(), data.ToSparse(randomPoints(29, 3)), w, nil)), "30 points for 29"},
		{"hops", second(Features(t.Context(), x, w, &Settings{Hops: -1})), "is -1"},
		{"normalization", second(Features(t.Context(), x, w, &Settings{Normalization: 9})), "normalization 9"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v", c.what, c.err)
		}
	}
	x.Data[4] = 1e300
	if _, err := Features(t.Context(), x, w, nil); !errors.Is(err, ErrOverflow) {
		t.Errorf("1e300: %v", err)
	}

	m := data.ToSparse(randomPoints(400, 30))
	g := randomGraph(t, 400, false)
	f, err := SparseFeatures(t.Context(), m, g, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := SparseCost(m, g, nil); err != nil || c.Bytes < 24*int64(f.NNZ()) {
		t.Errorf("%d bytes are announced for %d entries, %v", c.Bytes, f.NNZ(), err)
	}
}

func second[T any](_ T, err error) error { return err }
