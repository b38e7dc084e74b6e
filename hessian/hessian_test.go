package hessian_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/hessian"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// graphOf joins every point with its k nearest.
func graphOf(t *testing.T, x data.Points, k int) *sparse.CSR {
	t.Helper()
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(t.Context(), ix, knn.GraphSettings{K: k})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// energy is fᵀHf.
func energy(e *hessian.Energy, f []float64) float64 {
	n := len(f)
	x, hx := mat.NewDense(n, 1, f), mat.NewDense(n, 1, nil)
	e.MulTo(hx, x)
	return mat.Dot(x.ColView(0), hx.ColView(0))
}

// On a plane in five dimensions linear functions have no energy and ½uᵀQu has ‖Q‖² at every point, of any graph.
func TestPlane(t *testing.T) {
	const n = 120
	rng := rand.New(rand.NewPCG(3, 4))
	var basis mat.QR
	a := mat.NewDense(5, 5, nil)
	a.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, a)
	basis.Factorize(a)
	var q mat.Dense
	basis.QTo(&q)
	for _, d := range []int{1, 2, 3} {
		u := mat.NewDense(n, 5, nil)
		for i := range n {
			for j := range d {
				u.Set(i, j, 3*rng.Float64())
			}
		}
		var moved mat.Dense
		moved.Mul(u, q.T())
		x := &data.Dense[float64]{Rows: n, Cols: 5, Data: moved.RawMatrix().Data}
		e, err := hessian.New(t.Context(), x, graphOf(t, x, 14), d)
		if err != nil {
			t.Fatal(err)
		}
		linear, quadratic := make([]float64, n), make([]float64, n)
		matrix := mat.NewSymDense(d, nil)
		for r := range d {
			for s := range r + 1 {
				matrix.SetSym(r, s, rng.NormFloat64())
			}
		}
		for i := range n {
			linear[i] = 7
			for r := range d {
				linear[i] += float64(r+1) * u.At(i, r)
				for s := range d {
					quadratic[i] += u.At(i, r) * matrix.At(r, s) * u.At(i, s) / 2
				}
			}
			quadratic[i] += linear[i]
		}
		want := n * math.Pow(mat.Norm(matrix, 2), 2)
		if got := energy(e, linear); !(math.Abs(got) <= 1e-16*want*1e4) {
			t.Errorf("d = %d: the energy of a linear function is %v", d, got)
		}
		if got := energy(e, quadratic); !(math.Abs(got-want) <= 1e-8*want) {
			t.Errorf("d = %d: the energy of a quadratic is %v, not %v", d, got, want)
		}
	}
}

// On a curved sheet, a roll, the length along it has next to no energy, though it is far from linear in the space around,
// beside a function of the same size that bends along the sheet; the Laplacian tells the two apart by little.
func TestRoll(t *testing.T) {
	const n = 900
	rng := rand.New(rand.NewPCG(5, 6))
	x := data.NewDense[float64](n, 3)
	along, bent := make([]float64, n), make([]float64, n)
	for i := range n {
		s := 4 * rng.Float64() // the length along an arc of radius 2
		copy(x.Row(i), []float64{2 * math.Cos(s/2), 3 * rng.Float64(), 2 * math.Sin(s/2)})
		along[i] = s - 2
		bent[i] = (s - 2) * (s - 2) / 2
	}
	w := graphOf(t, x, 12)
	e, err := hessian.New(t.Context(), x, w, 2)
	if err != nil {
		t.Fatal(err)
	}
	// The second derivative of bent is 1 along the sheet: its energy is about n.
	if got := energy(e, bent); !(math.Abs(got-n) <= 0.1*n) {
		t.Errorf("the energy of a bent function is %v of %d", got, n)
	}
	if got := energy(e, along); !(got <= 0.01*n) {
		t.Errorf("the energy of the length is %v of %d", got, n)
	}
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	dirichlet := func(f []float64) float64 {
		x, lx := mat.NewDense(n, 1, f), mat.NewDense(n, 1, nil)
		l.MulTo(lx, x)
		return mat.Dot(x.ColView(0), lx.ColView(0))
	}
	if a, b := dirichlet(along), dirichlet(bent); !(a > 0.3*b) {
		t.Errorf("the Laplacian has %v and %v", a, b)
	}
}

// H is symmetric, constants have no energy, duplicates and small components are no error, and what is wrong is named.
func TestEdges(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x := data.NewDense[float64](43, 3)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for i := range 8 { // points that are there nine times
		copy(x.Row(i+1), x.Row(0))
	}
	for i := 40; i < 43; i++ { // far from the others
		x.Row(i)[0] += 1e4
	}
	w := graphOf(t, data.Select(x, data.Range(0, 40)), 9)
	whole := &sparse.CSR{Rows: 43, Cols: 43, Ptr: append(append([]int64{}, w.Ptr...), w.Ptr[40]+1, w.Ptr[40]+2, w.Ptr[40]+2),
		Col: append(append([]int32{}, w.Col...), 41, 40)}
	e, err := hessian.New(t.Context(), x, whole, 2)
	if err != nil {
		t.Fatal(err)
	}
	eye, h := mat.NewDense(43, 43, nil), mat.NewDense(43, 43, nil)
	for i := range 43 {
		eye.Set(i, i, 1)
	}
	e.MulTo(h, eye)
	ones := make([]float64, 43)
	for i := range 43 {
		ones[i] = 1
		for j := range i {
			if v := h.At(i, j) - h.At(j, i); !(math.Abs(v) <= 1e-9*mat.Norm(h, 2)) {
				t.Fatalf("H is not symmetric at %d, %d: %v", i, j, v)
			}
		}
	}
	if v := energy(e, ones); !(math.Abs(v) <= 1e-12*mat.Norm(h, 2)) || e.Dim() != 43 {
		t.Errorf("constants have the energy %v", v)
	}
	for d, want := range map[int]string{0: "hessian› is 0", 4: "from 1 to 3", 3: "more ‹neighbors›"} {
		few := graphOf(t, x, 3)
		if _, err := hessian.New(t.Context(), x, few, d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d dimensions: %v", d, err)
		}
	}
}
