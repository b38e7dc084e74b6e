package kernel

import (
	"math"
	"testing"
)

func TestNegExp(t *testing.T) {
	var worst float64
	buf := make([]float64, 1)
	for i := range 2_000_000 {
		v := -707 * math.Pow(float64(i)/2e6, 3)
		buf[0] = v
		negExp(buf)
		want := math.Exp(v)
		if e := math.Abs(buf[0]-want) / want; !(e <= worst) {
			worst = e
		}
	}
	if !(worst <= 5e-16) {
		t.Errorf("relative error %g", worst)
	}
	for _, v := range []float64{0, math.Copysign(0, -1), -1e-300, -math.SmallestNonzeroFloat64} {
		buf[0] = v
		if negExp(buf); buf[0] != 1 {
			t.Errorf("exp(%g) = %g", v, buf[0])
		}
	}
	for _, v := range []float64{-708, -1e6, -1e300, math.Inf(-1)} {
		buf[0] = v
		if negExp(buf); buf[0] != 0 {
			t.Errorf("exp(%g) = %g", v, buf[0])
		}
	}
	buf[0] = math.NaN()
	if negExp(buf); !math.IsNaN(buf[0]) {
		t.Errorf("exp(NaN) = %g", buf[0])
	}
}

func BenchmarkNegExp(b *testing.B) {
	x := make([]float64, 1024)
	y := make([]float64, 1024)
	for i := range x {
		x[i] = -float64(i) / 100
	}
	b.Run("table", func(b *testing.B) {
		for b.Loop() {
			copy(y, x)
			negExp(y)
		}
	})
	b.Run("math", func(b *testing.B) {
		for b.Loop() {
			for i, v := range x {
				y[i] = math.Exp(v)
			}
		}
	})
}
