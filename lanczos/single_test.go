package lanczos_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// widened returns vectors of float32 as float64.
func widened(s blas32.General) *mat.Dense {
	x := mat.NewDense(s.Rows, s.Cols, nil)
	for i := range s.Rows {
		for j, v := range s.Data[i*s.Stride:][:s.Cols] {
			x.Set(i, j, float64(v))
		}
	}
	return x
}

// Vectors of float32 have residuals within 1e-6, and values that are far more accurate, of dense, polynomial and
// inverse runs, of multiple eigenvalues and of many components.
func TestSingle(t *testing.T) {
	testmode.Skip(t, testmode.Race, "accuracy; TestSameBits has the goroutines")
	for _, c := range []struct {
		f  family
		ks []int
	}{
		{path(57), []int{1, 20}},
		{path(1000), []int{2, 12}},
		{torus(48, 48), []int{4, 64}},
		{torus(70, 100), []int{40}},
		{grid(50, 60), []int{5, 60}},
		{hypercube(10), []int{56}},
		{star(900), []int{10}},
		{complete(900), []int{2, 40}},
		{copies(500, cycle(8)), []int{510}},
		{union("torus, path and others", torus(40, 41), path(1200), isolated(7), complete(40), cycle(30)), []int{15, 70}},
	} {
		for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
			want := c.f.spectrum(kind)
			for _, k := range c.ks {
				if want == nil {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%d", c.f.name, kind, k), func(t *testing.T) {
					l, comp := newLaplacian(t, c.f.w, kind)
					r, err := lanczos.Laplacian(t.Context(), l, comp, &lanczos.Settings{K: k, Single: true})
					if err != nil {
						t.Fatal(err)
					}
					if r.Vectors != nil {
						t.Fatal("vectors of float64")
					}
					x := widened(r.Single)
					checkValues(t, r.Values, want, 1e-11*max(1, r.Norm))
					ax := applyLaplacian(c.f.w, kind, x)
					for j, v := range r.Values {
						var sum float64
						for i := range c.f.w.Rows {
							sum += math.Pow(ax.At(i, j)-v*x.At(i, j), 2)
						}
						if res := math.Sqrt(sum); !(res <= 1e-6*r.Norm) || math.Abs(res-r.Residuals[j]) > 1e-8*r.Norm {
							t.Fatalf("pair %d has the residual %.2e, and %.2e is told; ‖L‖ = %g", j, res, r.Residuals[j], r.Norm)
						}
					}
					v, err := lanczos.Verify(t.Context(), l, comp, r.Values, x, &lanczos.Settings{Tolerance: 1e-6, Single: true})
					if err != nil || len(v.Faults) > 0 {
						t.Errorf("not verified: %v %v", v, err)
					}
				})
			}
		}
	}
}

// A run whose residuals end above the tolerance, because polynomials in single precision round more than expected, begins
// anew with polynomials in double precision.
func TestSingleBeginsAnew(t *testing.T) {
	lanczos.ExpectLittleRounding(t)
	for _, f := range tooRough {
		begun := 0
		l, comp := newLaplacian(t, f.w, sparse.Normalized)
		s := lanczos.Settings{K: 60, Single: true, Tolerance: tooFine, OnRestart: countBeginnings(&begun)}
		r, err := lanczos.Laplacian(t.Context(), l, comp, &s)
		if err != nil {
			t.Fatal(err)
		}
		if !(r.MaxResidual() <= s.Tolerance*r.Norm) {
			t.Errorf("%s: degree %d, residual %.2e of ‖L‖ = %v", f.name, r.Degree, r.MaxResidual(), r.Norm)
		}
		if begun != 2 {
			t.Errorf("%s: begun %d times, want twice", f.name, begun)
		}
	}
}

// tooRough are graphs whose polynomials of degree 16 and 17 leave residuals of some 7·10⁻⁷·‖L‖ in single precision, which
// is more than tooFine.
var tooRough = []family{torus(12, 300), torus(11, 300)}

const tooFine = 3e-7

// countBeginnings returns a hook that counts in begun how often a run has its first block.
func countBeginnings(begun *int) func(lanczos.State) error {
	first := 0
	return func(s lanczos.State) error {
		if first == 0 {
			first = s.Basis
		}
		if s.Basis == first {
			*begun++
		}
		return nil
	}
}

// A resumed run in single precision ends with the same bits, with polynomials in double precision, in single precision, and
// after it has begun anew with those in double precision. A run in double precision does not take it up.
func TestSingleResume(t *testing.T) {
	stop := errors.New("enough")
	interrupted := func(f family, settings lanczos.Settings, beginning int) (l *sparse.Laplacian, comp *sparse.Components, path string) {
		l, comp = newLaplacian(t, f.w, sparse.Combinatorial)
		want, err := lanczos.Laplacian(t.Context(), l, comp, &settings)
		if err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(t.TempDir(), "snapshot.npz")
		blocks, begun := 0, 0
		s := settings
		s.OnRestart = countBeginnings(&begun)
		s.OnCheckpoint = func(snap *lanczos.Snapshot) error {
			if begun < beginning {
				return nil
			}
			if blocks++; blocks < 5 {
				return nil
			}
			if err := snap.Save(path, "torus"); err != nil {
				return err
			}
			return stop
		}
		if _, err := lanczos.Laplacian(t.Context(), l, comp, &s); err != stop {
			t.Fatal(err)
		}

		again := settings
		if again.Resume, err = lanczos.LoadSnapshot(path, "torus", 0); err != nil {
			t.Fatal(err)
		}
		r, err := lanczos.Laplacian(t.Context(), l, comp, &again)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Values, want.Values) || !slices.Equal(r.Single.Data, want.Single.Data) {
			t.Errorf("%s, beginning %d: the resumed run ends with other bits", f.name, beginning)
		}
		return l, comp, path
	}
	settings := lanczos.Settings{K: 12, Basis: 1, Tolerance: 3e-7, Single: true}
	l, comp, path := interrupted(torus(41, 70), settings, 1)

	var err error
	double := settings
	double.Single = false
	if double.Resume, err = lanczos.LoadSnapshot(path, "torus", 0); err != nil {
		t.Fatal(err)
	}
	if _, err := lanczos.Laplacian(t.Context(), l, comp, &double); err == nil || !strings.Contains(err.Error(), "single true") {
		t.Errorf("resumed in double precision: %v", err)
	}

	lanczos.ExpectLittleRounding(t)
	for _, f := range tooRough {
		for beginning := 1; beginning <= 2; beginning++ {
			interrupted(f, lanczos.Settings{K: 60, Tolerance: tooFine, Single: true}, beginning)
		}
	}
}

func TestSingleRefuses(t *testing.T) {
	f := torus(41, 70)
	l, comp := newLaplacian(t, f.w, sparse.Combinatorial)
	for _, c := range []struct {
		s    lanczos.Settings
		want string
	}{
		{lanczos.Settings{K: 5, Single: true, Tolerance: 1e-8}, "2e-07"},
		{lanczos.Settings{K: 5, Single: true, Known: mat.NewDense(f.w.Rows, 1, nil)}, "known vectors"},
		{lanczos.Settings{K: 5, Single: true, Rough: true}, "rough"},
	} {
		if _, err := lanczos.Laplacian(context.Background(), l, comp, &c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.s, err)
		}
	}

	// The basis takes half.
	double, err := lanczos.Bytes(1e7, &lanczos.Settings{K: 50})
	if err != nil {
		t.Fatal(err)
	}
	single, err := lanczos.Bytes(1e7, &lanczos.Settings{K: 50, Single: true})
	if err != nil {
		t.Fatal(err)
	}
	if !(float64(single) < 0.62*float64(double)) {
		t.Errorf("%d bytes in single precision, %d in double", single, double)
	}
}
