package lanczos_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// below counts and finds the pairs below a bound.
func below(t *testing.T, l *sparse.Laplacian, c *sparse.Components, bound float64,
	s *lanczos.Settings) (*lanczos.Count, *lanczos.Result, error) {
	t.Helper()
	n, err := lanczos.CountBelow(l, c, bound, s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := lanczos.Below(t.Context(), l, c, n, s)
	return n, r, err
}

// TestBelow compares the pairs below bounds with spectra in closed form: bounds between eigenvalues and at
// them, multiple eigenvalues, several components, graphs with and without an exact factor.
func TestBelow(t *testing.T) {
	for _, c := range []struct {
		f       family
		kind    sparse.Kind
		bounds  []float64
		counted bool // there is an exact factor
	}{
		{grid(40, 31), sparse.Combinatorial, []float64{1e-3, 0.05, 0.3}, true},
		{torus(36, 36), sparse.Combinatorial, []float64{0.1, 2 - 2*math.Cos(math.Pi/9), 0.25}, true},
		{torus(36, 36), sparse.Normalized, []float64{0.02}, true},
		{cycle(1000), sparse.RandomWalk, []float64{0.01}, true},
		{copies(7, grid(14, 14)), sparse.Combinatorial, []float64{1e-6, 0.2}, true},
		{union("three", torus(30, 31), union("two", path(400), isolated(5))), sparse.Combinatorial,
			[]float64{0.02}, true},
		{hypercube(11), sparse.Combinatorial, []float64{1, 3, 5}, false},
		{copies(3, hypercube(10)), sparse.Normalized, []float64{0.1, 0.25}, false},
		{complete(900), sparse.Combinatorial, []float64{899, 901}, false},
	} {
		for _, bound := range c.bounds {
			t.Run(fmt.Sprintf("%s/%v/%v", c.f.name, c.kind, bound), func(t *testing.T) {
				t.Parallel()
				l, comp := newLaplacian(t, c.f.w, c.kind)
				want := c.f.spectrum(c.kind)
				k, _ := slices.BinarySearch(want, bound*(1-1e-12))
				n, r, err := below(t, l, comp, bound, &lanczos.Settings{Seed: 1})
				if err != nil {
					t.Fatal(err)
				}

				if n.Exact && n.N != k {
					t.Errorf("counted %v, there are %d", n, k)
				}
				if len(r.Values) != k {
					t.Fatalf("%d pairs, want %d (%v)", len(r.Values), k, n)
				}
				if c.counted && !r.Certificate.Counted && !r.Certificate.Exact {
					t.Errorf("the certificate is %+v, the count %+v", r.Certificate, n)
				}
				if r.Certificate.Next < bound*(1-1e-9) {
					t.Errorf("the next value is %v", r.Certificate.Next)
				}
				checkValues(t, r.Values, want[:k], 1e-7*largest(want))
				if c.kind != sparse.RandomWalk {
					checkPairs(t, r, k, largest(want), 1e-8,
						func(x *mat.Dense) *mat.Dense { return applyLaplacian(c.f.w, c.kind, x) })
				}
			})
		}
	}
}

// TestBelowPower: a bound on the values of L² is the square of a bound on those of L.
func TestBelowPower(t *testing.T) {
	f := torus(36, 36)
	l, comp := newLaplacian(t, f.w, sparse.Combinatorial)
	_, r, err := below(t, l.With(2, 0), comp, 0.04, &lanczos.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	want, _ := slices.BinarySearch(f.combinatorial, 0.2)
	if len(r.Values) != want || !(r.Values[want-1] < 0.04) {
		t.Errorf("%d pairs up to %v, want %d", len(r.Values), r.Values[len(r.Values)-1], want)
	}
}

// TestBelowWrongCount: a count that is too small does not end the search, and one that is too large gives
// no certificate.
func TestBelowWrongCount(t *testing.T) {
	f := torus(36, 36)
	l, comp := newLaplacian(t, f.w, sparse.Combinatorial)
	want, _ := slices.BinarySearch(f.combinatorial, 0.2)
	for _, n := range []lanczos.Count{{Bound: 0.2, N: 1}, {Bound: 0.2, N: 12, Exact: true},
		{Bound: 0.2, N: want + 3, Exact: true}, {Bound: 0.2, N: want - 2, Exact: true}} {
		r, err := lanczos.Below(t.Context(), l, comp, &n, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Values) != want || r.Certificate.Counted {
			t.Errorf("from %+v: %d pairs, want %d; %+v", n, len(r.Values), want, r.Certificate)
		}
	}
}

// TestBelowRefuses: bounds that are none, and counts that do not fit into memory.
func TestBelowRefuses(t *testing.T) {
	l, comp := newLaplacian(t, torus(60, 60).w, sparse.Combinatorial)
	for _, bound := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := lanczos.CountBelow(l, comp, bound, nil)
		wantError(t, err, "must be positive and finite")
	}
	_, err := lanczos.CountBelow(l.With(1, 0.5), comp, 1, nil)
	wantError(t, err, "shifted by 0.5")

	_, _, err = below(t, l, comp, 1, &lanczos.Settings{MemoryLimit: 4 << 20})
	wantError(t, err, "eigenvalues are below 1", "lower the bound")
	_, _, err = below(t, l, comp, 1, &lanczos.Settings{Largest: true})
	wantError(t, err, "smallest")
	for _, n := range []*lanczos.Count{nil, {}, {Bound: 1}, {N: 3}, {Bound: 1, N: 4000}} {
		_, err := lanczos.Below(t.Context(), l, comp, n, nil)
		wantError(t, err, "no count")
	}

	// A run that ends early keeps what it has below the bound.
	_, r, err := below(t, l, comp, 0.1, &lanczos.Settings{Tolerance: 1e-17, MaxRestarts: 1})
	if !errors.Is(err, lanczos.ErrNotConverged) || r == nil || r.Certificate.Counted {
		t.Errorf("%v with %v", err, r)
	}
}

// TestCountEstimate: an estimate is within a fifth of the number, with and without components.
func TestCountEstimate(t *testing.T) {
	for _, f := range []family{hypercube(11), copies(2, hypercube(11))} {
		l, comp := newLaplacian(t, f.w, sparse.Combinatorial)
		for _, bound := range []float64{7, 9, 11} {
			n, err := lanczos.CountBelow(l, comp, bound, &lanczos.Settings{Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			want, _ := slices.BinarySearch(f.combinatorial, bound)
			if n.Exact || math.Abs(float64(n.N-want)) > 0.2*float64(want) {
				t.Errorf("%s: %v, there are %d", f.name, n, want)
			}
		}
	}
}
