package lanczos_test

import (
	"math"
	"testing"

	"github.com/bigfit/bigfit/lanczos"
	"gonum.org/v1/gonum/mat"
)

// Only the first pairs that are within the tolerance are kept, and none beyond
// an eigenvalue that is known to be missing.
func TestKeepConverged(t *testing.T) {
	for _, c := range []struct {
		values, residuals []float64
		next              float64
		largest           bool
		kept              int
		wantNext          float64
	}{
		{[]float64{0, 1, 2, 3}, []float64{0, 1e-9, 2e-8, 0}, math.Inf(1), false, 2, 2},
		{[]float64{0, 1, 2, 3}, []float64{0, 0, 0, 0}, 1.5, false, 2, 1.5},
		{[]float64{0, 1, 2, 3}, []float64{0, 0, 0, 1}, 1.5, false, 2, 1.5},
		{[]float64{0, 1, 2, 3}, []float64{0, 0, 0, 0}, 3, false, 4, 3},
		{[]float64{0, 1, 2, 3}, []float64{1, 0, 0, 0}, math.Inf(1), false, 0, math.Inf(1)},
		{[]float64{9, 8, 7}, []float64{0, 0, 1}, math.Inf(-1), true, 2, 7},
		{[]float64{9, 8, 7}, []float64{0, 0, 0}, 8.5, true, 1, 8.5},
		{[]float64{0, 1}, []float64{math.NaN(), 0}, math.Inf(1), false, 0, math.Inf(1)},
	} {
		k := len(c.values)
		x := mat.NewDense(2, k, nil)
		for j := range k {
			x.Set(0, j, float64(j))
			x.Set(1, j, float64(10+j))
		}
		r := &lanczos.Result{Values: c.values, Residuals: c.residuals, Vectors: x, Norm: 1, Certificate: lanczos.Certificate{Next: c.next}}
		ok := r.KeepConverged(1e-8, c.largest)
		if ok != (c.kept > 0) || r.Certificate.Next != c.wantNext {
			t.Errorf("%+v: %t, next %v", c, ok, r.Certificate.Next)
		}
		if !ok {
			continue
		}
		if _, columns := r.Vectors.Dims(); columns != c.kept || len(r.Values) != c.kept || len(r.Residuals) != c.kept {
			t.Fatalf("%+v: %d values, %d residuals and %d vectors", c, len(r.Values), len(r.Residuals), columns)
		}
		for j := range c.kept {
			if r.Vectors.At(0, j) != float64(j) || r.Vectors.At(1, j) != float64(10+j) {
				t.Errorf("%+v: vectors %v", c, mat.Formatted(r.Vectors))
			}
		}
	}
}
