package cg

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// spectrumOf returns all eigenvalues of a Laplacian, by gonum.
func spectrumOf(t *testing.T, l *sparse.Laplacian) []float64 {
	t.Helper()
	n := l.Dim()
	unit, full := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		unit.Set(i, i, 1)
	}
	l.MulTo(full, unit)
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(n, full.RawMatrix().Data), false) {
		t.Fatal("gonum's decomposition failed")
	}
	return e.Values(nil)
}

// TestCountBelow compares counts with whole spectra: at every kind of place between eigenvalues, with
// multiple eigenvalues, several components, isolated vertices and weights over six decades.
func TestCountBelow(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	weighted := grid(17, 23)
	for i := range weighted.Rows {
		for p := weighted.Ptr[i]; p < weighted.Ptr[i+1]; p++ {
			if j := int(weighted.Col[p]); j < i {
				w := math.Pow(10, -6*rng.Float64())
				weighted.Val[p] = w
				for q := weighted.Ptr[j]; q < weighted.Ptr[j+1]; q++ {
					if int(weighted.Col[q]) == i {
						weighted.Val[q] = w
					}
				}
			}
		}
	}

	for name, w := range map[string]*sparse.CSR{"grid": grid(20, 20), "strip": grid(2, 200), "weighted": weighted,
		"grids": union(grid(12, 12), union(grid(1, 1), grid(12, 12))), "complete": complete(150), "wheel": wheel(90)} {
		t.Run(name, func(t *testing.T) {
			for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
				l, err := sparse.NewLaplacian(w, kind)
				if err != nil {
					t.Fatal(err)
				}
				values := spectrumOf(t, l)
				top := values[len(values)-1]
				tried, counted := 0, 0
				for i, v := range values {
					next := 1.1 * top
					if i+1 < len(values) {
						next = values[i+1]
					}
					if next-v < 1e-7*top || i > 20 && i%11 > 0 {
						continue
					}
					for _, at := range []float64{0.5, 0.02, 0.98} {
						value := v + at*(next-v)
						tried++
						var lent Preconditioner
						if tried%2 == 0 {
							_, lent = Precondition(l, Cholesky, 0)
						}
						count, ok := CountBelow(l, value, lent)
						if !ok {
							continue
						}
						counted++
						if count != i+1 {
							t.Errorf("%v: %d eigenvalues below %v, want %d", kind, count, value, i+1)
						}
					}
				}
				if 10*counted < 9*tried || tried == 0 {
					t.Errorf("%v: %d counts of %d", kind, counted, tried)
				}
			}
		})
	}
}

// TestCountBelowRefuses: an expander has no small separators, and a value that is an eigenvalue of a
// whole block gives no count by luck.
func TestCountBelowRefuses(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var edges [][3]float64
	for i := range 4000 {
		for range 4 {
			if j := rng.IntN(4000); j != i {
				edges = append(edges, [3]float64{float64(i), float64(j), 1})
			}
		}
	}
	l, err := sparse.NewLaplacian(graph(4000, edges), sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	if count, ok := CountBelow(l, 1, nil); ok {
		t.Errorf("%d eigenvalues of an expander", count)
	}
}

// TestIndefinite: the factors of random symmetric matrices multiply to them, and have their inertia.
func TestIndefinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 7, 40, 64} {
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i {
				a.SetSym(i, j, rng.NormFloat64())
			}
			if n%2 == 0 {
				a.SetSym(i, i, 1e-3*rng.NormFloat64())
			} else {
				a.SetSym(i, i, 3*rng.NormFloat64())
			}
		}
		f, ok := factorIndefinite(mat.DenseCopyOf(a))
		if !ok {
			t.Fatalf("no factor of %d rows", n)
		}

		var e mat.EigenSym
		e.Factorize(a, false)
		negative := 0
		for _, v := range e.Values(nil) {
			if v < 0 {
				negative++
			}
		}
		if f.negative != negative {
			t.Errorf("%d rows: %d negative pivots, %d negative eigenvalues", n, f.negative, negative)
		}

		// A⁻¹b by the factors, against A.
		x := mat.NewDense(n, n, nil)
		for i, p := range f.order {
			for j, q := range f.order {
				x.Set(i, j, a.At(int(p), int(q)))
			}
		}
		var y, back mat.Dense
		if err := y.Solve(f.lower, x); err != nil {
			t.Fatal(err)
		}
		z := f.divide(&y)
		if err := back.Solve(f.lower.T(), z); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for j := range n {
				want := 0.0
				if i == j {
					want = 1
				}
				if !(math.Abs(back.At(i, j)-want) < 1e-8) {
					t.Fatalf("%d rows: A⁻¹A has %v at %d, %d", n, back.At(i, j), i, j)
				}
			}
		}
	}
}
