package lanczos_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// A rough search gives orthonormal vectors whose quotients bound the eigenvalues from above, at a
// bounded number of products. Σ 1/(λ + δ) over the quotients is at least 95 % of that over the eigenvalues.
func TestRough(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const delta = 0.01
	for _, f := range []family{torus(40, 60), grid(50, 50), copies(5, torus(30, 30)), twoBlocks(grid(40, 40), 1e-3)} {
		l, c := newLaplacian(t, f.w, sparse.Normalized)
		s := &lanczos.Settings{K: 60, Rough: true, Seed: 3}
		r, err := lanczos.Laplacian(t.Context(), l, c, s)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Rough || r.Certificate.Exact {
			t.Errorf("%s: rough %t, exact %t", f.name, r.Rough, r.Certificate.Exact)
		}
		var gram mat.Dense
		gram.Mul(r.Vectors.T(), r.Vectors)
		for i := range s.K {
			gram.Set(i, i, gram.At(i, i)-1)
		}
		if off := mat.Norm(&gram, 1); !(off < 1e-10) {
			t.Errorf("%s: VᵀV − I is %v", f.name, off)
		}

		exact, err := lanczos.Laplacian(t.Context(), l, c, &lanczos.Settings{K: s.K})
		if err != nil {
			t.Fatal(err)
		}
		var have, want float64
		for j, v := range r.Values {
			if !(v >= exact.Values[j]-1e-10) {
				t.Errorf("%s: quotient %d is %v, below the eigenvalue %v", f.name, j, v, exact.Values[j])
			}
			have += 1 / (v + delta)
			want += 1 / (exact.Values[j] + delta)
		}
		if !(have >= 0.95*want) {
			t.Errorf("%s: the span has %.3g of the covariance of the eigenvectors", f.name, have/want)
		}
		if most := 40 * (s.K + 20*c.Count()); r.Products > most {
			t.Errorf("%s: %d products, more than %d", f.name, r.Products, most)
		}

		runtime.GOMAXPROCS(1)
		again, err := lanczos.Laplacian(t.Context(), l, c, s)
		runtime.GOMAXPROCS(2)
		if err != nil || !sameBits(r.Vectors.RawMatrix().Data, again.Vectors.RawMatrix().Data) {
			t.Errorf("%s: other bits with one thread (%v)", f.name, err)
		}
	}
}

// More null vectors than columns that are filtered stand in front of these.
func TestRoughNull(t *testing.T) {
	l, c := newLaplacian(t, copies(30, torus(5, 5)).w, sparse.Normalized)
	r, err := lanczos.Laplacian(t.Context(), l, c, &lanczos.Settings{K: 32, Rough: true, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	var gram, product mat.Dense
	gram.Mul(r.Vectors.T(), r.Vectors)
	for i := range 32 {
		gram.Set(i, i, gram.At(i, i)-1)
	}
	if off := mat.Norm(&gram, 1); !r.Rough || r.Nullity != 30 || !(off < 1e-10) {
		t.Errorf("rough %t, %d null vectors, VᵀV − I is %v", r.Rough, r.Nullity, off)
	}
	product.CloneFrom(r.Vectors)
	l.MulTo(&product, r.Vectors)
	if null := product.Slice(0, l.Dim(), 0, 30); !(mat.Norm(null, 1) < 1e-12) || !(r.Values[30] > 0.01) || r.Values[31] < r.Values[30] {
		t.Errorf("L times the null vectors is %v, values %v", mat.Norm(null, 1), r.Values[29:])
	}
}

// A rough search reports every slab of vectors, and stops where it is told to.
func TestRoughReports(t *testing.T) {
	l, c := newLaplacian(t, torus(40, 60).w, sparse.Normalized)
	var states []lanczos.State
	s := &lanczos.Settings{K: 60, Rough: true, OnRestart: func(s lanczos.State) error {
		states = append(states, s)
		return nil
	}}
	r, err := lanczos.Laplacian(t.Context(), l, c, s)
	if err != nil {
		t.Fatal(err)
	}
	last := states[len(states)-1]
	if len(states) < 4 || last.Basis != last.BasisMax || last.Products >= r.Products ||
		last.String() != fmt.Sprintf("%d of %[1]d vectors filtered", last.Basis) {
		t.Errorf("%d reports, the last one %+v (%[2]v), %d products", len(states), last, r.Products)
	}

	stop := errors.New("stop")
	s.OnRestart = func(lanczos.State) error { return stop }
	if r, err := lanczos.Laplacian(t.Context(), l, c, s); r != nil || !errors.Is(err, stop) {
		t.Errorf("a run that is told to stop ends with %v, %v", r, err)
	}
}
