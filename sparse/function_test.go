package sparse

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Functions equal those of the dense eigendecomposition.
func TestFunction(t *testing.T) {
	const n, b = 60, 3
	w := &CSR{Rows: n, Cols: n, Ptr: []int64{0}}
	for i := range n {
		for _, j := range []int{i - 7, i - 1, i + 1, i + 7} {
			if j >= 0 && j < n && !(i/30 != j/30) {
				w.Col = append(w.Col, int32(j))
				w.Val = append(w.Val, 1+float64(i*j%5))
			}
		}
		w.Ptr = append(w.Ptr, int64(len(w.Col)))
	}
	x := mat.NewDense(n, b, nil)
	for i := range n {
		for j := range b {
			x.Set(i, j, math.Sin(float64(3*i+17*j)))
		}
	}
	for _, kind := range []Kind{Combinatorial, Normalized} {
		l, err := NewLaplacian(w, kind)
		if err != nil {
			t.Fatal(err)
		}
		full, id := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
		for i := range n {
			id.Set(i, i, 1)
		}
		l.MulTo(full, id)
		sym := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				sym.SetSym(i, j, full.At(i, j))
			}
		}
		var e mat.EigenSym
		if !e.Factorize(sym, true) {
			t.Fatal("no eigenpairs")
		}
		var v, c, want mat.Dense
		e.VectorsTo(&v)
		for name, r := range map[string]func(float64) float64{
			"constant": func(float64) float64 { return 3 }, "λ": func(l float64) float64 { return l }, "λ³": func(l float64) float64 { return l * l * l },
			"exp(λ/4) − 1": func(l float64) float64 { return math.Expm1(l / 4) }, "exp(−5λ)": func(l float64) float64 { return math.Exp(-5 * l) },
			"λ/(1 + λ)": func(l float64) float64 { return l / (1 + l) },
		} {
			f, err := NewFunction(l.With(3, 0.5), r)
			if err != nil {
				t.Fatalf("%v, %s: %v", kind, name, err)
			}
			c.Mul(v.T(), x)
			for i, lambda := range e.Values(nil) {
				for j := range b {
					c.Set(i, j, c.At(i, j)*r(lambda))
				}
			}
			want.Mul(&v, &c)
			wide := mat.NewDense(n, b+2, nil) // MulTo takes parts of a block
			got := wide.Slice(0, n, 1, b+1).(*mat.Dense)
			f.MulTo(got, x)
			var diff mat.Dense
			diff.Sub(got, &want)
			if worst, top := mat.Norm(&diff, 2), mat.Norm(&want, 2); !(worst <= 1e-9*math.Max(1, top)) {
				t.Errorf("%v, %s: off by %.1e of %.1e, degree %d", kind, name, worst, top, f.Degree())
			}
		}
		if f, err := NewFunction(l, func(l float64) float64 { return l * l }); err != nil || f.Degree() != 2 || f.Dim() != n {
			t.Errorf("%v: λ² has degree %d of dimension %d, %v", kind, f.Degree(), f.Dim(), err)
		}
		for want, r := range map[string]func(float64) float64{
			"smoother": func(l float64) float64 { return math.Copysign(1, l-0.7) }, "finite": func(l float64) float64 { return math.Log(-l) },
		} {
			if _, err := NewFunction(l, r); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: error %v, want %q", kind, err, want)
			}
		}
	}
	walk, err := NewLaplacian(w, RandomWalk)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewFunction(walk, math.Sqrt); err == nil {
		t.Error("the random-walk Laplacian passes")
	}
}
