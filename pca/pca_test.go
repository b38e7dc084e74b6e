package pca

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
)

// pcaPoints returns n points around (5, 6, …) with standard deviations that fall
// by a factor from axis to axis of a random orthonormal frame.
func pcaPoints(n, d int, factor float64) *data.Dense[float64] {
	rng := rand.New(rand.NewPCG(1, uint64(d)))
	a := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	var frame mat.Dense
	qr.QTo(&frame)
	x := data.NewDense[float64](n, d)
	for i := range n {
		sd := 10.0
		for c := range d {
			v := sd * rng.NormFloat64()
			for j := range d {
				x.Row(i)[j] += v * frame.At(c, j)
			}
			sd *= factor
		}
		for j := range d {
			x.Row(i)[j] += 5 + float64(j)
		}
	}
	return x
}

// centred returns the points minus their mean.
func centred(x data.Points) *mat.Dense {
	n, d := x.Dims()
	out := mat.NewDense(n, d, nil)
	for i := range n {
		data.RowTo(out.RawRowView(i), x, i)
	}
	for j := range d {
		var mean float64
		for i := range n {
			mean += out.At(i, j) / float64(n)
		}
		for i := range n {
			out.Set(i, j, out.At(i, j)-mean)
		}
	}
	return out
}

// TestPCA compares with the singular value decomposition of the centred points.
func TestPCA(t *testing.T) {
	for _, c := range []struct{ n, d, k int }{{300, 8, 3}, {300, 8, 8}, {6, 9, 6}, {5000, 5, 2}} {
		x := pcaPoints(c.n, c.d, 0.7)
		p, err := New(t.Context(), x, c.k)
		if err != nil {
			t.Fatal(err)
		}
		a := centred(x)
		var svd mat.SVD
		if !svd.Factorize(a, mat.SVDThin) {
			t.Fatal("SVD failed")
		}
		var v mat.Dense
		svd.VTo(&v)
		values := svd.Values(nil)
		var total float64
		for _, s := range values {
			total += s * s / float64(c.n)
		}
		if !(math.Abs(p.Total-total) <= 1e-10*total) {
			t.Errorf("%+v: total variance %v, want %v", c, p.Total, total)
		}
		if !slices.IsSortedFunc(p.Variance, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) || len(p.Variance) != c.k {
			t.Errorf("%+v: variances %v", c, p.Variance)
		}
		for j := range c.k {
			want := values[j] * values[j] / float64(c.n)
			if !(math.Abs(p.Variance[j]-want) <= 1e-10*total) {
				t.Errorf("%+v: variance %v along component %d, want %v", c, p.Variance[j], j, want)
			}
			if want < 1e-6*total {
				continue // the last of n − 1 directions: any will do
			}
			row := p.Components.RawRowView(j)
			var dot, largest float64
			for q, e := range row {
				dot += e * v.At(q, j)
				if math.Abs(e) > math.Abs(largest) {
					largest = e
				}
			}
			if !(math.Abs(math.Abs(dot)-1) <= 1e-9) || !(largest > 0) {
				t.Errorf("%+v: component %d makes an angle of cosine %v, largest entry %v", c, j, dot, largest)
			}
		}
		var gram mat.Dense
		gram.Mul(p.Components, p.Components.T())
		for i := range c.k {
			for j := range c.k {
				want := 0.0
				if i == j {
					want = 1
				}
				if !(math.Abs(gram.At(i, j)-want) <= 1e-12) {
					t.Errorf("%+v: components %d and %d: product %v", c, i, j, gram.At(i, j))
				}
			}
		}
		got, err := p.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		var want mat.Dense
		want.Mul(a, p.Components.T())
		for i := range c.n {
			for j, v := range got.Row(i) {
				if !(math.Abs(float64(v)-want.At(i, j)) <= 1e-6*math.Abs(want.At(i, j))+1e-9) {
					t.Fatalf("%+v: coordinate %d, %d is %v, want %v", c, i, j, v, want.At(i, j))
				}
			}
		}
	}
}

// TestPCATypes stores the same points in every type.
func TestPCATypes(t *testing.T) {
	digits, _ := synthetic.Digits(300, 1)
	x := data.NewDense[uint8](300, 120) // a strip of the images
	for i := range 300 {
		copy(x.Row(i), digits.Row(i)[300:])
	}
	wide := data.NewDense[float32](x.Rows, x.Cols)
	wider := data.NewDense[float64](x.Rows, x.Cols)
	for i, v := range x.Data {
		wide.Data[i] = float32(v)
		wider.Data[i] = float64(v)
	}
	var want *Projection
	var applied *data.Dense[float32]
	for _, same := range []data.Points{wider, wide, data.ToSparse(x), x} {
		got, err := New(t.Context(), same, 20)
		if err != nil {
			t.Fatal(err)
		}
		y, err := got.Apply(same)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
			applied = y
			continue
		}
		// Bytes may take a way of their own.
		if !mat.EqualApprox(got.Components, want.Components, 1e-9) || !(math.Abs(got.Total-want.Total) <= 1e-12*want.Total) {
			t.Errorf("%T: other components", same)
		}
		for j, v := range got.Variance {
			if !(math.Abs(v-want.Variance[j]) <= 1e-11*want.Total) {
				t.Errorf("%T: variance %v along component %d, want %v", same, v, j, want.Variance[j])
			}
		}
		for i, v := range y.Data {
			if w := float64(applied.Data[i]); !(math.Abs(float64(v)-w) <= 1e-6*math.Abs(w)+1e-5) {
				t.Fatalf("%T: coordinate %d is %v, want %v", same, i, v, w)
			}
		}
	}
}

func TestPCAThreads(t *testing.T) {
	x := pcaPoints(9000, 6, 0.9)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first *Projection
	var coordinates *data.Dense[float32]
	for _, threads := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(threads)
		p, err := New(t.Context(), x, 4)
		if err != nil {
			t.Fatal(err)
		}
		y, err := p.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = p
			coordinates = y
			continue
		}
		if !mat.Equal(p.Components, first.Components) || !slices.Equal(p.Variance, first.Variance) || !slices.Equal(y.Data, coordinates.Data) {
			t.Errorf("other bits at %d threads", threads)
		}
	}
}

// TestPCADegenerate: equal points, one point, one dimension, a constant
// coordinate, and an offset of 10⁶.
func TestPCADegenerate(t *testing.T) {
	equal := data.NewDense[uint8](20, 3)
	for i := range 20 {
		copy(equal.Row(i), []uint8{3, 1, 2})
	}
	for _, x := range []data.Points{equal, data.NewDense[float32](1, 4), data.NewDense[float64](7, 1)} {
		p, err := New(t.Context(), x, 1)
		if err != nil {
			t.Fatal(err)
		}
		y, err := p.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range y.Data {
			if v != 0 {
				t.Errorf("%T: coordinate %v of equal points", x, v)
			}
		}
		if p.Variance[0] != 0 || p.Total != 0 {
			t.Errorf("%T: variance %v of %v", x, p.Variance, p.Total)
		}
	}
	x := pcaPoints(500, 3, 0.3)
	far := pcaPoints(500, 3, 0.3)
	for i := range far.Data {
		far.Data[i] += 1e6
	}
	for i := range x.Rows {
		x.Row(i)[2] = 7
		far.Row(i)[2] = 7
	}
	p, err := New(t.Context(), x, 3)
	if err != nil {
		t.Fatal(err)
	}
	q, err := New(t.Context(), far, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.EqualApprox(p.Components, q.Components, 1e-7) || !(p.Variance[2] <= 1e-12) || !(math.Abs(q.Variance[0]-p.Variance[0]) <= 1e-7*p.Variance[0]) {
		t.Errorf("variances %v, moved by 10⁶ %v", p.Variance, q.Variance)
	}
}

func TestPCAFaults(t *testing.T) {
	x := data.NewDense[float32](5, 3)
	for _, k := range []int{-1, 0, 4} {
		if p, err := New(t.Context(), x, k); err == nil || p != nil {
			t.Errorf("%d components of 5 points in 3 dimensions: no error", k)
		}
	}
	if _, err := New(t.Context(), data.NewDense[float32](2, 3), 3); err == nil {
		t.Error("3 components of 2 points: no error")
	}
	p, err := New(t.Context(), x, 2)
	if err != nil {
		t.Fatal(err)
	}
	if y, err := p.Apply(data.NewDense[float32](2, 4)); err == nil || y != nil {
		t.Error("applied to 4 dimensions: no error")
	}
}

func ExampleNew() {
	// Points on a line.
	x := &data.Dense[float64]{Rows: 3, Cols: 2, Data: []float64{0, 0, 3, 4, 6, 8}}
	p, err := New(context.Background(), x, 1)
	if err != nil {
		panic(err)
	}
	y, err := p.Apply(x)
	if err != nil {
		panic(err)
	}
	fmt.Printf("direction %.1f, variance %.2f, coordinates %.1f\n", p.Components.RawRowView(0), p.Variance[0], y.Data)
	// Output: direction [0.6 0.8], variance 16.67, coordinates [-5.0 0.0 5.0]
}
