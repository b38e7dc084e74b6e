package kernel_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/sparse"
)

var kernels = []kernel.Kernel{
	{Kind: kernel.Linear},
	{Kind: kernel.Polynomial, Degree: 3, Scale: 0.5, Offset: 1},
	{Kind: kernel.Polynomial, Degree: 2},
	{Kind: kernel.Gaussian, Sigma: 1.5},
	{Kind: kernel.Laplace, Sigma: 2},
	{Kind: kernel.Cosine},
}

// direct is the definition, on the points as given.
func direct(k kernel.Kernel, a, b []float64) float64 {
	var dot, na, nb, d2 float64
	for i, v := range a {
		dot += v * b[i]
		na += v * v
		nb += b[i] * b[i]
		d2 += (v - b[i]) * (v - b[i])
	}
	switch k.Kind {
	case kernel.Linear:
		return dot
	case kernel.Polynomial:
		if k.Scale == 0 {
			k.Scale = 1
		}
		return math.Pow(k.Scale*dot+k.Offset, float64(k.Degree))
	case kernel.Gaussian:
		return math.Exp(-d2 / (2 * k.Sigma * k.Sigma))
	case kernel.Laplace:
		return math.Exp(-math.Sqrt(d2) / k.Sigma)
	}
	if na == 0 || nb == 0 {
		return 0
	}
	return dot / math.Sqrt(na*nb)
}

func row(x data.Points, i int) []float64 {
	_, d := x.Dims()
	out := make([]float64, d)
	data.RowTo(out, x, i)
	return out
}

func uniform[T data.Element](n, d int, scale, shift float64, seed uint64) *data.Dense[T] {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := data.NewDense[T](n, d)
	for i := range x.Data {
		x.Data[i] = T(scale*rng.Float64() + shift)
	}
	return x
}

// toSparse keeps the values above a threshold, and a zero row.
func toSparse(x *data.Dense[float64], above float64, binary bool) (*sparse.CSR, *data.Dense[float64]) {
	m := &sparse.CSR{Rows: x.Rows, Cols: x.Cols, Ptr: []int64{0}}
	full := data.NewDense[float64](x.Rows, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			if i != 3 && v > above {
				if binary {
					v = 1
				} else {
					m.Val = append(m.Val, v)
				}
				m.Col = append(m.Col, int32(j))
				full.Row(i)[j] = v
			}
		}
		m.Ptr = append(m.Ptr, int64(len(m.Col)))
	}
	return m, full
}

func cross(t *testing.T, x, z data.Points, k kernel.Kernel) *mat.Dense {
	t.Helper()
	m, _ := x.Dims()
	n, _ := z.Dims()
	dst := mat.NewDense(m, n, nil)
	if err := kernel.Cross(dst, x, z, k); err != nil {
		t.Fatal(err)
	}
	return dst
}

func TestCrossAgainstDefinition(t *testing.T) {
	wide, _ := toSparse(uniform[float64](70, 40, 1, 0, 5), 0.8, false)
	ones, _ := toSparse(uniform[float64](90, 40, 1, 0, 6), 0.8, true)
	one := uniform[float64](30, 5, 1, 0, 8)
	two := uniform[float64](40, 5, 1, 0, 9)
	for _, x := range []*data.Dense[float64]{one, two} {
		for i := range x.Rows / 2 { // two clusters, far apart and far from the origin
			for j := range x.Row(i) {
				x.Row(i)[j] += 3e6
			}
		}
	}
	for _, c := range []struct {
		name string
		x, z data.Points
		tol  float64
	}{
		{"float64", uniform[float64](300, 3, 4, -2, 1), uniform[float64](1100, 3, 4, -2, 2), 1e-13},
		{"float32", uniform[float32](20, 50, 1, 0, 1), uniform[float32](31, 50, 1, 0, 2), 1e-13},
		{"uint8", uniform[uint8](20, 7, 3, 0, 1), uniform[uint8](31, 7, 3, 0, 2), 1e-13},
		{"deep", uniform[float32](9, 4000, 0.05, 0, 1), uniform[float32](11, 4000, 0.05, 0, 2), 1e-12},
		{"offset", uniform[float64](20, 6, 1, 1e6, 1), uniform[float64](31, 6, 1, 1e6, 2), 1e-12},
		{"clusters", one, two, 1e-12},
		{"sparse", wide, ones, 1e-13},
		{"sparse-dense", wide, uniform[float64](33, 40, 1, 0, 7), 1e-13},
		{"dense-sparse", uniform[float64](33, 40, 1, 0, 7), ones, 1e-13},
		{"empty", uniform[float64](0, 3, 1, 0, 7), uniform[float64](3, 3, 1, 0, 7), 0},
		{"no dimension", data.NewDense[float64](2, 0), data.NewDense[float64](3, 0), 0},
	} {
		for _, k := range kernels {
			m, _ := c.x.Dims()
			n, _ := c.z.Dims()
			if m == 0 {
				if err := kernel.Cross(new(mat.Dense), c.x, c.z, k); err != nil {
					t.Error(err)
				}
				continue
			}
			got := cross(t, c.x, c.z, k)
			for i := range m {
				for j := range n {
					want := direct(k, row(c.x, i), row(c.z, j))
					if v := got.At(i, j); !(math.Abs(v-want) <= c.tol*max(1, math.Abs(want)) && (k.Kind != kernel.Gaussian && k.Kind != kernel.Laplace || math.Abs(v-want) <= 10*c.tol*want)) {
						t.Fatalf("%s, %v: (%d, %d) is %v, want %v (%g)", c.name, k.Kind, i, j, v, want, v-want)
					}
				}
			}
		}
	}
}

func TestGram(t *testing.T) {
	s, _ := toSparse(uniform[float64](150, 30, 1, 0, 5), 0.7, false)
	for name, x := range map[string]data.Points{
		"dense": uniform[float64](530, 4, 2, 1e3, 3), "bytes": uniform[uint8](300, 300, 9, 0, 3), "sparse": s,
	} {
		n, _ := x.Dims()
		for _, k := range kernels {
			if name == "bytes" && k.Kind == kernel.Polynomial {
				continue // values of 1e14
			}
			g, err := kernel.Gram(x, k, kernel.GramBytes(n))
			if err != nil {
				t.Fatal(err)
			}
			c := cross(t, x, x, k)
			scale := mat.Max(g)
			for i := range n {
				for j := range n {
					if g.At(i, j) != g.At(j, i) {
						t.Fatalf("%s, %v: not symmetric at (%d, %d)", name, k.Kind, i, j)
					}
					if !(math.Abs(g.At(i, j)-c.At(i, j)) <= 1e-14*scale) {
						t.Fatalf("%s, %v: (%d, %d) is %v in the Gram matrix and %v in the block", name, k.Kind, i, j, g.At(i, j), c.At(i, j))
					}
				}
			}
			values, _, err := dense.EigenSym(context.Background(), mat.DenseCopyOf(g))
			if err != nil || !(values[0] >= -1e-13*float64(n)*scale) {
				t.Errorf("%s, %v: smallest eigenvalue %g of largest %g, %v", name, k.Kind, values[0], values[n-1], err)
			}
			side, err := kernel.New(k, x)
			if err != nil {
				t.Fatal(err)
			}
			diag := make([]float64, n)
			line := make([]float64, n)
			side.DiagonalTo(diag)
			for _, i := range []int{0, 3, n - 1} {
				side.RowTo(line, i)
				for j, v := range line {
					if !(math.Abs(v-g.At(i, j)) <= 1e-13*scale) {
						t.Fatalf("%s, %v: row %d is %v at %d, want %v", name, k.Kind, i, v, j, g.At(i, j))
					}
				}
				if !(math.Abs(diag[i]-g.At(i, i)) <= 1e-13*scale) {
					t.Fatalf("%s, %v: diagonal %v, want %v", name, k.Kind, diag[i], g.At(i, i))
				}
			}
		}
	}
	if _, err := kernel.Gram(s, kernels[0], kernel.GramBytes(150)-1); err == nil || !strings.Contains(err.Error(), "180000 bytes") {
		t.Errorf("limit: %v", err)
	}
}

func TestOperatorIsGram(t *testing.T) {
	s, _ := toSparse(uniform[float64](150, 30, 1, 0, 5), 0.7, false)
	for name, x := range map[string]data.Points{"dense": uniform[float32](700, 5, 2, 7, 3), "sparse": s} {
		n, _ := x.Dims()
		a := mat.NewDense(n, 3, uniform[float64](n, 3, 2, -1, 4).Data)
		for _, k := range kernels {
			side, err := kernel.New(k, x)
			if err != nil {
				t.Fatal(err)
			}
			g, err := side.Gram(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var want mat.Dense
			want.Mul(g, a)
			got := mat.NewDense(n, 3, nil)
			side.MulTo(got, a)
			want.Sub(&want, got)
			if !(mat.Norm(&want, 2) <= 1e-13*float64(n)*mat.Norm(g, 2)) {
				t.Errorf("%s, %v: product is off by %g", name, k.Kind, mat.Norm(&want, 2))
			}
		}
	}
}

// Values have the same bits in any block, in either order of the two points, at
// any number of threads.
func TestSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	s, _ := toSparse(uniform[float64](300, 90, 1, 0, 5), 0.7, false)
	for name, x := range map[string]data.Points{
		"dense": uniform[float32](1300, 37, 2, 7, 3), "deep": uniform[float64](90, 2500, 1, 0, 3), "sparse": s,
	} {
		n, _ := x.Dims()
		a := mat.NewDense(n, 2, uniform[float64](n, 2, 2, -1, 4).Data)
		for _, k := range kernels {
			side, err := kernel.New(k, x)
			if err != nil {
				t.Fatal(err)
			}
			var whole, product *mat.Dense
			for _, threads := range []int{1, 2, 5} {
				runtime.GOMAXPROCS(threads)
				w := mat.NewDense(n, n, nil)
				p := mat.NewDense(n, 2, nil)
				if err := side.CrossTo(w, x, 0, n); err != nil {
					t.Fatal(err)
				}
				side.MulTo(p, a)
				if whole != nil && (!mat.Equal(w, whole) || !mat.Equal(p, product)) {
					t.Fatalf("%s, %v: other bits with %d threads", name, k.Kind, threads)
				}
				whole = w
				product = p
			}
			for i := range n {
				for j := range i {
					if whole.At(i, j) != whole.At(j, i) {
						t.Fatalf("%s, %v: other bits for (%d, %d) and (%d, %d)", name, k.Kind, i, j, j, i)
					}
				}
			}
			for _, part := range [][2]int{{0, 1}, {5, 12}, {n - 17, n}, {1, n - 1}} {
				m := part[1] - part[0]
				block := mat.NewDense(m, n, nil)
				p := mat.NewDense(m, 2, nil)
				if err := side.CrossTo(block, x, part[0], part[1]); err != nil {
					t.Fatal(err)
				}
				if err := side.ProductTo(p, x, part[0], part[1], a); err != nil {
					t.Fatal(err)
				}
				if !mat.Equal(block, whole.Slice(part[0], part[1], 0, n)) {
					t.Errorf("%s, %v: other bits in rows %v", name, k.Kind, part)
				}
				if !mat.Equal(p, product.Slice(part[0], part[1], 0, 2)) {
					t.Errorf("%s, %v: other bits of the product in rows %v", name, k.Kind, part)
				}
			}
		}
	}
}

// gramOf is the Gram matrix of values that are given.
func gramOf(values data.Points) (*mat.Dense, error) {
	set, err := kernel.Source{Values: values}.Set()
	if err != nil {
		return nil, err
	}
	return set.Gram(context.Background())
}

func TestPrecomputed(t *testing.T) {
	x := uniform[float64](20, 3, 1, 0, 1)
	g, err := kernel.Gram(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	given := &data.Dense[float64]{Rows: 20, Cols: 20, Data: g.RawMatrix().Data}
	again, err := gramOf(given)
	if err != nil || !mat.Equal(again, g) {
		t.Errorf("a Gram matrix does not come back: %v", err)
	}
	skew := &data.Dense[float64]{Rows: 2, Cols: 2, Data: []float64{1, 0.5, 0.4, 1}}
	if _, err := gramOf(skew); err == nil {
		t.Error("a Gram matrix that is not symmetric was taken")
	}
	if _, err := kernel.NewGiven(x); err == nil {
		t.Error("a Gram matrix of 20×3 was taken")
	}
}

// Values in place of points answer every question of a Set as the points do.
func TestGivenIsItsPoints(t *testing.T) {
	const n, m = 300, 20
	x := uniform[float64](n, 3, 1, 0, 1)
	points := kernel.Source{Kernel: kernel.Kernel{Kind: kernel.Laplace, Sigma: 0.7}, Points: x}
	g, err := kernel.Gram(x, points.Kernel, 0)
	if err != nil {
		t.Fatal(err)
	}
	values := kernel.Source{Values: &data.Dense[float64]{Rows: n, Cols: n, Data: g.RawMatrix().Data}}
	some := data.Range(5, 5+m)
	type answers struct {
		product, among, queries, columns *mat.Dense
		diagonal, row                    []float64
	}
	var both []answers
	for _, s := range []kernel.Source{points, values} {
		set, err := s.Set()
		if err != nil {
			t.Fatal(err)
		}
		part, err := s.Select(some).Set()
		if err != nil {
			t.Fatal(err)
		}
		a := answers{mat.NewDense(n, 2, nil), mat.NewDense(m, m, nil), mat.NewDense(n, 2, nil), mat.NewDense(n, 2, nil), make([]float64, n), make([]float64, n)}
		ones := mat.NewDense(n, 2, nil)
		for i := range n {
			ones.SetRow(i, []float64{1, float64(i)})
		}
		set.MulTo(a.product, ones)
		among, err := part.Gram(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a.among.Copy(among)
		if err := part.ProductTo(a.queries, s.Queries(data.Range(0, n), some), 0, n, ones.Slice(0, m, 0, 2).(*mat.Dense)); err != nil {
			t.Fatal(err)
		}
		set.ColumnsTo(a.columns, []int{7, 2})
		set.DiagonalTo(a.diagonal)
		set.RowTo(a.row, 11)
		both = append(both, a)
		if err := part.ProductTo(a.queries, uniform[float64](n, m+1, 1, 0, 1), 0, n, ones.Slice(0, m, 0, 2).(*mat.Dense)); err == nil {
			t.Errorf("%v: points of another dimension were compared", s)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		none := mat.DenseCopyOf(a.product)
		if set.Until(ctx).MulTo(none, ones); mat.Norm(none, 1) != 0 {
			t.Errorf("%v: a cancelled product is not zero", s)
		}
	}
	for name, get := range map[string]func(a answers) *mat.Dense{
		"product": func(a answers) *mat.Dense { return a.product },
		"among":   func(a answers) *mat.Dense { return a.among }, "queries": func(a answers) *mat.Dense { return a.queries },
		"columns": func(a answers) *mat.Dense { return a.columns }, "diagonal": func(a answers) *mat.Dense { return mat.NewDense(1, n, a.diagonal) },
		"row": func(a answers) *mat.Dense { return mat.NewDense(1, n, a.row) },
	} {
		if !mat.EqualApprox(get(both[0]), get(both[1]), 1e-11) {
			t.Errorf("%s: values answer otherwise than points", name)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, k := range []kernel.Kernel{
		{Kind: kernel.Gaussian}, {Kind: kernel.Laplace, Sigma: -1}, {Kind: kernel.Gaussian, Sigma: math.NaN()}, {Kind: kernel.Laplace, Sigma: math.Inf(1)},
		{Kind: kernel.Polynomial, Degree: -1}, {Kind: kernel.Polynomial, Scale: -1}, {Kind: kernel.Polynomial, Offset: -1}, {Kind: 17},
	} {
		if _, err := kernel.New(k, uniform[float64](2, 2, 1, 0, 1)); err == nil {
			t.Errorf("%+v was taken", k)
		}
	}
	if err := kernel.Cross(mat.NewDense(2, 2, nil), uniform[float64](2, 3, 1, 0, 1), uniform[float64](2, 2, 1, 0, 1), kernels[0]); err == nil {
		t.Error("points of 3 and 2 dimensions were compared")
	}
	if _, err := kernel.New(kernels[0], data.NewDense[float64](0, 2)); err == nil {
		t.Error("no points were taken")
	}
	for i, k := range kernels {
		text, _ := k.Kind.MarshalText()
		var back kernel.Kind
		if err := back.UnmarshalText(text); err != nil || back != k.Kind {
			t.Errorf("kernel %d: %s reads as %v, %v", i, text, back, err)
		}
	}
}

func TestWidth(t *testing.T) {
	line := &data.Dense[float64]{Rows: 4, Cols: 1, Data: []float64{0, 1, 3, 3}} // distances 1, 3, 3, 2, 2, (0)
	for rule, want := range map[kernel.Rule]float64{kernel.Median: 2, kernel.Mean: 11. / 5} {
		if got, err := kernel.Width(line, rule, 1); err != nil || math.Abs(got-want) > 1e-15 {
			t.Errorf("%v distance %v, want %v, %v", rule, got, want, err)
		}
	}
	if _, err := kernel.Width(data.NewDense[uint8](5, 2), kernel.Median, 0); err == nil {
		t.Error("a width of coincident points")
	}
	if _, err := kernel.Width(line, 7, 0); err == nil {
		t.Error("an unknown rule")
	}
	if _, err := kernel.Width(data.NewDense[uint8](1, 2), kernel.Median, 0); err == nil {
		t.Error("a width of one point")
	}
	x := uniform[float64](3000, 2, 1, 1e6, 1)
	a, _ := kernel.Width(x, kernel.Mean, 1)
	b, _ := kernel.Width(x, kernel.Mean, 1)
	c, _ := kernel.Width(x, kernel.Mean, 2)
	const mean = 0.5214054331647207 // of two points in the unit square
	if a != b || a == c || !(math.Abs(a-mean) < 0.02) {
		t.Errorf("mean distances %v, %v, %v", a, b, c)
	}
}

func BenchmarkGram(b *testing.B) {
	for _, d := range []int{2, 50, 784} {
		x := uniform[float32](2000, d, 1, 0, 1)
		b.Run(fmt.Sprintf("2000x%d", d), func(b *testing.B) {
			for b.Loop() {
				if _, err := kernel.Gram(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: math.Sqrt(float64(d)) / 2}, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleSide_MulTo() {
	x := &data.Dense[float64]{Rows: 3, Cols: 1, Data: []float64{0, 1, 2}}
	s, err := kernel.New(kernel.Kernel{Kind: kernel.Linear}, x)
	if err != nil {
		fmt.Println(err)
		return
	}
	y := mat.NewDense(3, 1, nil)
	s.MulTo(y, mat.NewDense(3, 1, []float64{1, 1, 1}))
	fmt.Println(y.RawMatrix().Data)
	// Output: [0 3 6]
}

// Rows asked for one by one, which go through panels, have the bits of rows in blocks.
func TestFewRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for _, size := range []struct{ n, d int }{{3, 1}, {64, 7}, {130, 200}, {90, 300}, {70, 777}, {65, 1793}, {40, 4000}, {2100, 12}} {
		columns := 3 + 70*(size.n%2) // more than a panel, too
		z := data.NewDense[float64](size.n, size.d)
		x := data.NewDense[float64](9, size.d)
		a := mat.NewDense(size.n, columns, nil)
		for _, p := range [][]float64{z.Data, x.Data, a.RawMatrix().Data} {
			for i := range p {
				p[i] = rng.NormFloat64()
			}
		}
		for _, k := range []kernel.Kernel{{Kind: kernel.Gaussian, Sigma: math.Sqrt(float64(size.d))}, {Kind: kernel.Polynomial, Degree: 1}} {
			s, err := kernel.New(k, z)
			if err != nil {
				t.Fatal(err)
			}
			all := mat.NewDense(9, columns, nil)
			if err := s.ProductTo(all, x, 0, 9, a); err != nil {
				t.Fatal(err)
			}
			for lo := 0; lo < 9; lo += 3 {
				for rows := 1; rows <= 3; rows++ {
					some := mat.NewDense(rows, columns, nil)
					if err := s.FewTo(some, data.Slice(x, lo, lo+rows), a); err != nil {
						t.Fatal(err)
					}
					if !mat.Equal(some, all.Slice(lo, lo+rows, 0, columns)) {
						t.Fatalf("%v of %d points in %d dimensions: %d rows from %d on differ", k, size.n, size.d, rows, lo)
					}
				}
			}
		}
	}
}
