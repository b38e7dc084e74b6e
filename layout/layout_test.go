package layout

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// clusters returns points of c Gaussian clusters in 20 dimensions, with the graph of their 8 nearest
// neighbours and the entries of the first two eigenvectors that are not constant.
func clusters(t *testing.T, n, c int) (w *sparse.CSR, class []int, eigenvectors *mat.Dense) {
	t.Helper()
	const d = 20
	rng := rand.New(rand.NewPCG(3, 1))
	centres := make([]float64, c*d)
	for i := range centres {
		centres[i] = 1.6 * rng.NormFloat64()
	}
	x := &data.Dense[float64]{Rows: n, Cols: d, Data: make([]float64, n*d)}
	class = make([]int, n)
	for i := range n {
		class[i] = i % c
		for j := range d {
			x.Data[i*d+j] = centres[class[i]*d+j] + rng.NormFloat64()
		}
	}

	w = graphOf(t, x)
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	components := w.Components()
	r, err := lanczos.Laplacian(t.Context(), l.With(1, 0), components,
		&lanczos.Settings{K: components.Count() + 2, Tolerance: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	eigenvectors = mat.NewDense(n, 2, nil)
	for i := range n {
		for k := range 2 {
			eigenvectors.Set(i, k, r.Vectors.At(i, components.Count()+k)/math.Sqrt(w.Degree(i)))
		}
	}
	return w, class, eigenvectors
}

// agree returns the share of points whose nearest place belongs to a point of the same class.
func agree(y *mat.Dense, class []int) float64 {
	n, _ := y.Dims()
	right := 0
	for i := range n {
		nearest := -1
		least := math.Inf(1)
		for j := range n {
			if r := distance2(y.RawRowView(i), y.RawRowView(j)); j != i && r < least {
				nearest = j
				least = r
			}
		}
		if class[nearest] == class[i] {
			right++
		}
	}
	return float64(right) / float64(n)
}

// A layout separates ten clusters that two eigenvectors lay on top of each other.
func TestSeparatesBetterThanEigenvectors(t *testing.T) {
	t.Parallel()
	w, class, eigenvectors := clusters(t, 1500, 10)
	y, err := Points(t.Context(), w, &Settings{Start: eigenvectors, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	before := agree(eigenvectors, class)
	after := agree(y, class)
	if !(after > 0.97 && after > before+0.1) {
		t.Errorf("nearest places agree for %.3f of the points, with eigenvectors for %.3f", after, before)
	}
}

// The same bits come at any number of threads, others with another seed, and nothing given is changed.
func TestSameBits(t *testing.T) {
	w, _, start := clusters(t, 900, 4)
	kept := mat.DenseCopyOf(start)
	values := slices.Clone(w.Val)
	at := func(threads int, seed uint64) []float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		y, err := Points(t.Context(), w, &Settings{Start: start, Seed: seed, Epochs: 50})
		if err != nil {
			t.Fatal(err)
		}
		return y.RawMatrix().Data
	}

	one := at(1, 7)
	if !slices.Equal(one, at(2, 7)) || !slices.Equal(one, at(5, 7)) {
		t.Error("the number of threads changes the layout")
	}
	if slices.Equal(one, at(2, 8)) {
		t.Error("the seed does not change the layout")
	}
	if !mat.Equal(kept, start) || !slices.Equal(values, w.Val) {
		t.Error("the input was changed")
	}
}

// Weights times a constant give the same layout up to rounding, as degrees divide them.
func TestScaleOfWeights(t *testing.T) {
	w, _, start := clusters(t, 300, 3)
	scaled := *w
	scaled.Val = make([]float64, w.NNZ())
	for i := range scaled.Val {
		scaled.Val[i] = 4
		if w.Val != nil {
			scaled.Val[i] = 4 * w.Val[i]
		}
	}
	a, err := Points(t.Context(), w, &Settings{Start: start})
	if err != nil {
		t.Fatal(err)
	}
	// A factor that is a power of two changes no bit.
	b, err := Points(t.Context(), &scaled, &Settings{Start: start})
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(a, b) {
		t.Error("the scale of the weights changes the layout")
	}
}

// Points in one place, isolated points, graphs of several components and of no or one point are
// normal, in any dimension.
func TestDegenerate(t *testing.T) {
	for name, w := range map[string]*sparse.CSR{
		"no point":  {Ptr: []int64{0}},
		"one point": {Rows: 1, Cols: 1, Ptr: []int64{0, 0}},
		"isolated":  {Rows: 3, Cols: 3, Ptr: []int64{0, 1, 2, 2}, Col: []int32{1, 0}},
		"pairs": {Rows: 4, Cols: 4, Ptr: []int64{0, 1, 2, 3, 4}, Col: []int32{1, 0, 3, 2},
			Val: []float64{0, 0, 1e300, 1e300}},
	} {
		for _, dim := range []int{1, 2, 3} {
			s := &Settings{}
			if w.Rows > 0 {
				s.Start = mat.NewDense(w.Rows, dim, nil) // all in one place
			}
			y, err := Points(t.Context(), w, s)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, v := range y.RawMatrix().Data {
				if !(math.Abs(v) < 1e4) {
					t.Errorf("%s: a coordinate %v", name, v)
				}
			}
		}
	}

	// Without first places they are drawn, so that no two points share one.
	y, err := Points(t.Context(), &sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 2}, Col: []int32{1, 0}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r2 := distance2(y.RawRowView(0), y.RawRowView(1)); !(r2 > 0 && r2 < 100) {
		t.Errorf("two neighbours at a squared distance of %v", r2)
	}
}

func TestFaults(t *testing.T) {
	w := &sparse.CSR{Rows: 2, Cols: 2, Ptr: []int64{0, 1, 2}, Col: []int32{1, 0}}
	for name, s := range map[string]*Settings{
		"epochs":    {Epochs: -1},
		"negatives": {Negatives: -1},
		"rows":      {Start: mat.NewDense(3, 2, nil)},
		"NaN":       {Start: mat.NewDense(2, 1, []float64{0, math.NaN()})},
	} {
		if _, err := Points(t.Context(), w, s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Points(t.Context(), &sparse.CSR{Rows: 1, Cols: 2, Ptr: []int64{0, 0}}, nil); err == nil {
		t.Error("a matrix that is not square: no error")
	}
}

// A cancelled layout returns the places so far.
func TestCancelled(t *testing.T) {
	w, _, start := clusters(t, 200, 2)
	ctx, cancel := context.WithCancel(t.Context())
	done := 0
	y, err := Points(ctx, w, &Settings{Start: start, OnEpoch: func(at, of int) {
		if done = at; at == 3 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || done != 3 || y == nil {
		t.Errorf("%d epochs, error %v, places %v", done, err, y != nil)
	}
}

// graphOf returns the graph of the 8 nearest neighbours of points.
func graphOf(t *testing.T, x data.Points) *sparse.CSR {
	t.Helper()
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(t.Context(), ix, knn.GraphSettings{K: 8})
	if err != nil {
		t.Fatal(err)
	}
	return w
}
