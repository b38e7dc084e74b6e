package cg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// graph makes a symmetric weight matrix of edges {i, j, w}.
func graph(n int, edges [][3]float64) *sparse.CSR {
	var i, j []int32
	var v []float64
	for _, e := range edges {
		i, j, v = append(i, int32(e[0]), int32(e[1])), append(j, int32(e[1]), int32(e[0])), append(v, e[2], e[2])
	}
	w, err := sparse.FromTriplets(n, n, i, j, v)
	if err != nil {
		panic(err)
	}
	return w
}

func path(n int) *sparse.CSR {
	var edges [][3]float64
	for i := range n - 1 {
		edges = append(edges, [3]float64{float64(i), float64(i + 1), 1})
	}
	return graph(n, edges)
}

func grid(rows, cols int) *sparse.CSR {
	var edges [][3]float64
	at := func(i, j int) float64 { return float64(i*cols + j) }
	for i := range rows {
		for j := range cols {
			if i+1 < rows {
				edges = append(edges, [3]float64{at(i, j), at(i+1, j), 1})
			}
			if j+1 < cols {
				edges = append(edges, [3]float64{at(i, j), at(i, j+1), 1})
			}
		}
	}
	return graph(rows*cols, edges)
}

func star(n int) *sparse.CSR {
	var edges [][3]float64
	for i := 1; i < n; i++ {
		edges = append(edges, [3]float64{0, float64(i), 1})
	}
	return graph(n, edges)
}

// random is a graph of several components, some of them single vertices, with
// weights over three orders of magnitude, and without values if binary.
func random(n int, binary bool, rng *rand.Rand) *sparse.CSR {
	seen := map[[2]int]bool{}
	var edges [][3]float64
	for range 3 * n / 2 {
		i, j := rng.IntN(n), rng.IntN(n)
		if i == j || i%3 != j%3 || i%11 == 0 || j%11 == 0 || seen[[2]int{min(i, j), max(i, j)}] {
			continue
		}
		seen[[2]int{min(i, j), max(i, j)}] = true
		w := 1.0
		if !binary {
			w = math.Exp(4*rng.Float64() - 2)
		}
		edges = append(edges, [3]float64{float64(i), float64(j), w})
	}
	g := graph(n, edges)
	if binary {
		g.Val = nil
	}
	return g
}

func laplacian(t testing.TB, w *sparse.CSR, kind sparse.Kind) *sparse.Laplacian {
	t.Helper()
	l, err := sparse.NewLaplacian(w, kind)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func normal(n, b int, rng *rand.Rand) *mat.Dense {
	x := mat.NewDense(n, b, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
	return x
}

// unit returns the identity matrix.
func unit(n int) *mat.Dense {
	one := mat.NewDense(n, n, nil)
	for i := range n {
		one.Set(i, i, 1)
	}
	return one
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// denseOperator is a matrix as an operator.
type denseOperator struct{ *mat.Dense }

func (a denseOperator) Dim() int { return a.RawMatrix().Rows }

func (a denseOperator) MulTo(dst, x *mat.Dense) { dst.Mul(a.Dense, x) }

// diagonal is an operator with the given eigenvalues.
func diagonal(values ...float64) denseOperator {
	a := mat.NewDense(len(values), len(values), nil)
	for i, v := range values {
		a.Set(i, i, v)
	}
	return denseOperator{a}
}

// residual returns the largest ‖b_j − A·x_j‖/‖b_j‖.
func residual(a sparse.Operator, x, b *mat.Dense) float64 {
	n, m := b.Dims()
	ax := mat.NewDense(n, m, nil)
	a.MulTo(ax, x)
	var worst float64
	for j := range m {
		var r, s float64
		for i := range n {
			r = math.Hypot(r, b.At(i, j)-ax.At(i, j))
			s = math.Hypot(s, b.At(i, j))
		}
		if s > 0 {
			worst = math.Max(worst, r/s)
		}
	}
	return worst
}

// same fails unless a and b are within the tolerance of each other, relative to b.
func same(t testing.TB, what string, a, b mat.Matrix, tolerance float64) {
	t.Helper()
	var d mat.Dense
	d.Sub(a, b)
	if got := mat.Norm(&d, 2); !(got <= tolerance*math.Max(mat.Norm(b, 2), 1e-300)) {
		t.Errorf("%s: the difference is %g of %g", what, got, mat.Norm(b, 2))
	}
}
