package pca

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/sparse"
)

// words returns n points in d dimensions as counts of a few words, which follow
// one of five topics.
func words(n, d int, binary bool) *sparse.CSR {
	rng := rand.New(rand.NewPCG(7, uint64(d)))
	x := &sparse.CSR{Rows: n, Cols: d, Ptr: make([]int64, n+1)}
	if !binary {
		x.Val = []float64{}
	}
	for i := range n {
		count := map[int32]float64{}
		for range 20 {
			count[int32((i%5*d/5+int(math.Abs(rng.NormFloat64())*float64(d)/(5+float64(i%5))))%d)]++
		}
		cols := make([]int32, 0, len(count))
		for c := range count {
			cols = append(cols, c)
		}
		slices.Sort(cols)
		for _, c := range cols {
			x.Col = append(x.Col, c)
			if !binary {
				x.Val = append(x.Val, count[c])
			}
		}
		x.Ptr[i+1] = int64(len(x.Col))
	}
	return x
}

// TestRandomizedPCA compares with the exact components, in the variance they
// explain and, where they stand out, in their directions.
func TestRandomizedPCA(t *testing.T) {
	digits, _ := synthetic.Digits(1500, 1)
	for name, x := range map[string]data.Points{
		"falling":   pcaPoints(2000, 40, 0.8),
		"digits":    digits,
		"text":      words(3000, 300, false),
		"binary":    words(3000, 300, true),
		"few":       pcaPoints(7, 30, 0.7),
		"all equal": data.NewDense[float32](20, 9),
	} {
		n, d := x.Dims()
		k := min(15, n, d)
		exact, err := New(t.Context(), x, k)
		if err != nil {
			t.Fatal(err)
		}
		got, err := newRandomized(t.Context(), x, k, 3)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(got.Total-exact.Total) <= 1e-12*exact.Total) || len(got.Variance) != k {
			t.Errorf("%s: total variance %v, want %v", name, got.Total, exact.Total)
		}
		for c, v := range got.Variance {
			want := exact.Variance[c]
			if !(v <= want+1e-12*exact.Total) || !(v >= 0.95*want-1e-12*exact.Total) {
				t.Errorf("%s: variance %v along component %d, want %v", name, v, c, want)
			}
			if c+1 < k && c < 3 && exact.Variance[c+1] < 0.9*want {
				dot := mat.Dot(got.Components.RowView(c), exact.Components.RowView(c))
				if !(math.Abs(dot) >= 1-1e-6) {
					t.Errorf("%s: component %d makes an angle of cosine %v with the true one", name, c, dot)
				}
			}
		}
		var gram mat.Dense
		gram.Mul(got.Components, got.Components.T())
		for i := range k {
			for j := range k {
				want := 0.0
				if i == j {
					want = 1
				}
				if !(math.Abs(gram.At(i, j)-want) <= 1e-12) {
					t.Errorf("%s: components %d and %d: product %v", name, i, j, gram.At(i, j))
				}
			}
		}
		y, err := got.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		var want mat.Dense
		want.Mul(centred(x), got.Components.T())
		for i := range n {
			for j, v := range y.Row(i) {
				if !(math.Abs(float64(v)-want.At(i, j)) <= 1e-6*math.Abs(want.At(i, j))+1e-5) {
					t.Fatalf("%s: coordinate %d, %d is %v, want %v", name, i, j, v, want.At(i, j))
				}
			}
		}
	}
}

// TestRandomizedPCAManyBlocks has more points than one sparse block, and more
// dimensions than have an exact solution.
func TestRandomizedPCAManyBlocks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	long := words(sparseRows+500, 30, false)
	exact, err := New(t.Context(), long, 3)
	if err != nil {
		t.Fatal(err)
	}
	wide := data.NewDense[float32](60, maxCovariance+100)
	rng := rand.New(rand.NewPCG(1, 9))
	for i := range wide.Data {
		wide.Data[i] = float32(rng.NormFloat64()) + float32(i%3)
	}
	var first [2]*Projection
	for _, threads := range []int{1, 2, 3} {
		runtime.GOMAXPROCS(threads)
		p, err := newRandomized(t.Context(), long, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		for c, v := range p.Variance {
			if !(math.Abs(v-exact.Variance[c]) <= 1e-6*exact.Total) {
				t.Errorf("variance %v along component %d, want %v", v, c, exact.Variance[c])
			}
		}
		q, err := New(t.Context(), wide, 2)
		if err != nil {
			t.Fatal(err)
		}
		if first[0] == nil {
			first = [2]*Projection{p, q}
		}
		for i, p := range []*Projection{p, q} {
			if !mat.Equal(p.Components, first[i].Components) || !slices.Equal(p.Variance, first[i].Variance) || p.Total != first[i].Total {
				t.Errorf("set %d: other bits at %d threads", i, threads)
			}
		}
	}
	if _, err := newRandomized(t.Context(), long, 31, 1); err == nil {
		t.Error("31 components in 30 dimensions: no error")
	}
}

// TestByteCovariance compares with the definition in exact arithmetic.
func TestByteCovariance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 10))
	for _, c := range []struct{ n, d int }{{1, 1}, {3, 5}, {9000, 37}, {17, 70}} {
		x := data.NewDense[uint8](c.n, c.d)
		for i := range x.Data {
			x.Data[i] = uint8(255 - rng.IntN(3)*rng.IntN(2))
		}
		mean, cov := byteCovariance(context.Background(), x)
		for i := range c.d {
			for j := range c.d {
				var si, sj, sij int64
				for r := range c.n {
					a := int64(x.Row(r)[i])
					b := int64(x.Row(r)[j])
					si = si + a
					sj = sj + b
					sij = sij + a*b
				}
				n := int64(c.n)
				if want := float64(n*sij-si*sj) / float64(n*n); cov.At(i, j) != want {
					t.Fatalf("%+v: entry %d, %d is %v, want %v", c, i, j, cov.At(i, j), want)
				}
				if want := float64(si) / float64(n); mean[i] != want {
					t.Fatalf("%+v: mean %v, want %v", c, mean[i], want)
				}
			}
		}
	}
	for _, c := range [][4]int64{{3, 5, 2, 4}, {3, 5, 4, 4}, {1 << 40, 1 << 50, 1 << 45, 1 << 44}, {1, 0, 1 << 40, 1 << 40}} {
		product := new(big.Int).Mul(big.NewInt(c[0]), big.NewInt(c[1]))
		want, _ := product.Sub(product, new(big.Int).Mul(big.NewInt(c[2]), big.NewInt(c[3]))).Float64()
		if got := difference(int(c[0]), uint64(c[1]), uint64(c[2]), uint64(c[3])); !(math.Abs(got-want) <= 1e-15*math.Abs(want)) {
			t.Errorf("%v: %v, want %v", c, got, want)
		}
	}
}

// TestApproximate has orthonormal components of nearly all variance that the first can have, of
// points of every kind.
func TestApproximate(t *testing.T) {
	x := pcaPoints(400, 90, 0.95)
	bytes := data.NewDense[uint8](x.Rows, x.Cols)
	for i, v := range x.Data {
		bytes.Data[i] = uint8(min(max(v, 0), 255))
	}
	for _, x := range []data.Points{x, bytes} {
		want, err := New(t.Context(), x, 25)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Approximate(t.Context(), x, 25)
		if err != nil {
			t.Fatal(err)
		}
		var all, least float64
		for j, v := range got.Variance {
			if all, least = all+v, least+want.Variance[j]; !(v <= want.Variance[j]*(1+1e-9)) {
				t.Errorf("variance %d is %g, more than %g", j, v, want.Variance[j])
			}
		}
		if !(all > 0.99*least) || got.Total != want.Total {
			t.Errorf("variances add up to %g of %g, in all %g, not %g", all, least, got.Total, want.Total)
		}
		var gram mat.Dense
		gram.Mul(got.Components, got.Components.T())
		for i := range 25 {
			gram.Set(i, i, gram.At(i, i)-1)
		}
		if off := mat.Norm(&gram, 2); !(off < 1e-12) {
			t.Errorf("components are %g from orthonormal", off)
		}
	}
	if _, err := Approximate(t.Context(), x, 91); err == nil {
		t.Error("more components than dimensions")
	}
}
