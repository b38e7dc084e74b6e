package lanczos_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// weighed returns a graph with all weights times s.
func weighed(w *sparse.CSR, s float64) *sparse.CSR {
	out := *w
	out.Val = make([]float64, len(w.Col))
	for p := range out.Val {
		out.Val[p] = s
		if w.Val != nil {
			out.Val[p] = s * w.Val[p]
		}
	}
	return &out
}

// TestExtremeWeights: a graph whose weights are multiplied by a power of two has the
// same values times that power, by the dense and the iterative method; Verify agrees,
// and still finds a wrong value.
func TestExtremeWeights(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "accuracy; other tests of the package have the goroutines")
	for _, f := range []family{torus(9, 10), copies(3, torus(17, 20))} {
		for _, c := range []struct{ exponent, power int }{{1015, 1}, {-1000, 1}, {-1015, 1}, {300, 2}, {500, 2}, {-500, 2}, {330, 3}} {
			if f.w.Rows > 800 && c.exponent != 1015 && c.exponent != -500 {
				continue // one is enough of the iterative method
			}
			l, comp := newLaplacian(t, f.w, sparse.Combinatorial)
			scaled, _ := newLaplacian(t, weighed(f.w, math.Ldexp(1, c.exponent)), sparse.Combinatorial)
			s := &lanczos.Settings{K: 12}
			want, err := lanczos.Laplacian(t.Context(), l.With(c.power, 0), comp, s)
			if err != nil {
				t.Fatal(err)
			}
			got, err := lanczos.Laplacian(t.Context(), scaled.With(c.power, 0), comp, s)
			if err != nil {
				t.Errorf("%s, weights of 2^%d, power %d: %v", f.name, c.exponent, c.power, err)
				continue
			}
			e := c.exponent * c.power
			for j, v := range want.Values {
				if !(math.Abs(math.Ldexp(got.Values[j], -e)-v) <= 1e-12*want.Norm) {
					t.Errorf("%s, 2^%d, power %d: value %d is %v·2^%d, want %v", f.name, c.exponent, c.power, j, math.Ldexp(got.Values[j], -e), e, v)
				}
			}
			if !(math.Abs(math.Ldexp(got.Norm, -e)-want.Norm) <= 1e-9*want.Norm) {
				t.Errorf("norm %v, want %v·2^%d", got.Norm, want.Norm, e)
			}
			wrong := slices.Clone(got.Values)
			wrong[11] += 1e-6 * got.Norm
			for _, values := range [][]float64{got.Values, wrong} {
				v, err := lanczos.Verify(t.Context(), scaled.With(c.power, 0), comp, values, got.Vectors, nil)
				if err != nil {
					t.Fatal(err)
				}
				if true := &values[0] == &got.Values[0]; true != (len(v.Faults) == 0) {
					t.Errorf("%s, 2^%d, power %d: faults %v of values %v", f.name, c.exponent, c.power, v.Faults, values)
				}
			}
		}
	}
}

// TestBeyondFloat64: eigenvalues that are no numbers are refused with the weight and
// what to do.
func TestBeyondFloat64(t *testing.T) {
	for _, c := range []struct {
		weight float64
		power  int
	}{{5e307, 1}, {1e200, 2}, {1e-200, 2}, {1e-310, 1}, {1e110, 3}} {
		l, comp := newLaplacian(t, weighed(path(30).w, c.weight), sparse.Combinatorial)
		_, err := lanczos.Laplacian(t.Context(), l.With(c.power, 0), comp, &lanczos.Settings{K: 3})
		wantError(t, err, fmt.Sprintf("is %v", c.weight), "divide all weights", "normalized")
		_, err = lanczos.Verify(t.Context(), l.With(c.power, 0), comp, []float64{0}, mat.NewDense(30, 1, nil), nil)
		wantError(t, err, "divide all weights")
		// The normalized Laplacian does not depend on the scale.
		n, comp := newLaplacian(t, weighed(path(30).w, c.weight), sparse.Normalized)
		r, err := lanczos.Laplacian(t.Context(), n, comp, &lanczos.Settings{K: 9})
		if err != nil {
			t.Fatal(err)
		}
		checkValues(t, r.Values, path(30).normalized, 1e-12)
	}
}

// TestOrderOfFile: a value that falls by rounding takes that before it, one that falls
// by more is refused, by Load and by Save, and the largest pairs descend.
func TestOrderOfFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "eigs.npz")
	largest, err := archive.New(archive.Eigs, map[string]any{"largest": true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(4, 4, []float64{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1})
	for _, c := range []struct {
		values, want []float64 // nil: refused
		manifest     *archive.Manifest
	}{
		{[]float64{0, -9e-18, 0.5, 1.2}, []float64{0, 0, 0.5, 1.2}, nil},
		{[]float64{-3e-17, -4e-17, 1, 1 - 2e-16}, []float64{-3e-17, -3e-17, 1, 1}, nil},
		{[]float64{0, -1e-12, 0.5, 1.2}, nil, nil},
		{[]float64{0, 0.5, 0.4999999, 1.2}, nil, nil},
		{[]float64{2, 1, 0.5, 0}, nil, nil},
		{[]float64{2, 1, 0.5, 0}, []float64{2, 1, 0.5, 0}, largest},
		{[]float64{2, 2 + 4e-16, 0.5, 0}, []float64{2, 2, 0.5, 0}, largest},
		{[]float64{0, 0.5, 1, 2}, nil, largest},
		{[]float64{0, math.NaN(), 1, 2}, nil, nil},
		{[]float64{0, 1, 1, math.Inf(1)}, nil, nil},
	} {
		f := &lanczos.File{Result: &lanczos.Result{Values: slices.Clone(c.values), Vectors: x}, Manifest: c.manifest}
		err := f.Save(path)
		if (err == nil) != (c.want != nil) {
			t.Errorf("%v: Save says %v", c.values, err)
		}
		if err != nil && !strings.Contains(err.Error(), path+" is not written") {
			t.Errorf("%v: %v", c.values, err)
		}
		entries := []archive.Array{{Name: "values", Data: c.values}, {Name: "vectors", Shape: []int{4, 4}, Data: x.RawMatrix().Data}}
		if c.manifest != nil {
			text, err := c.manifest.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, archive.Array{Name: archive.Name, Data: text})
		}
		if err := npy.WriteArchive(path, entries); err != nil {
			t.Fatal(err)
		}
		got, err := lanczos.Load(path, 0)
		if (err == nil) != (c.want != nil) || err == nil && !slices.Equal(got.Result.Values, c.want) {
			t.Errorf("%v: Load says %v", c.values, err)
		}
	}
}
