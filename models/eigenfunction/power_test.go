package eigenfunction_test

import (
	"math"
	"testing"

	"github.com/bigfit/bigfit/models/eigenfunction"
)

// 12 ln 10⁴/100 is 1.10524, and 3·1.10524^(2/3) is 3.20695.
func TestGapAsked(t *testing.T) {
	if g := eigenfunction.GapAsked(10_000); !(math.Abs(g-3.20695) <= 1e-5) {
		t.Errorf("of 10,000 points %v is asked", g)
	}
	if a, b := eigenfunction.GapAsked(690_000), eigenfunction.GapAsked(720_000); !(a > 1 && b < 1) {
		t.Errorf("%v and %v", a, b)
	}
}

// Of λ_k = 4k⁻³, R² = 9 and ε² = 0.25 it is (4·9/0.25)^(1/2) = 12.
func TestBoundCount(t *testing.T) {
	law := make([]float64, 30)
	for i := range law {
		law[i] = 4 * math.Pow(float64(i+1), -3)
	}
	if s, ok := eigenfunction.BoundCount(law, 9, 0.25); !ok || !(math.Abs(s-12) <= 1e-9) {
		t.Errorf("%v, %v", s, ok)
	}
	for i := range law {
		law[i] = math.Pow(float64(i+1), -0.9)
	}
	if s, ok := eigenfunction.BoundCount(law, 9, 0.25); ok {
		t.Errorf("of k^-0.9: %v", s)
	}
	if _, ok := eigenfunction.BoundCount(nil, 1, 1); ok {
		t.Error("without values")
	}
}

// No value is above the bound, one is on it, and of an exact power law the bound is the law.
func TestPowerBound(t *testing.T) {
	law := make([]float64, 50)
	uneven := make([]float64, 50)
	for i := range law {
		law[i] = 3 * math.Pow(float64(i+1), -2.5)
		uneven[i] = law[i] * (1.5 + math.Sin(float64(i)))
	}
	if a2, k := eigenfunction.PowerBound(law, 2.5); !(math.Abs(a2-3) <= 1e-12) || k < 1 {
		t.Errorf("of 3k^-2.5: %v, reached at %d", a2, k)
	}
	if a2, k := eigenfunction.PowerBound(law, 2); a2 != 3 || k != 1 {
		t.Errorf("a smaller power: %v, reached at %d", a2, k)
	}
	if _, k := eigenfunction.PowerBound(law, 3); k != 50 {
		t.Errorf("a larger power: reached at %d", k)
	}
	for _, p := range []float64{0, 1.3, 2.1, 4} {
		a2, at := eigenfunction.PowerBound(uneven, p)
		for i, v := range uneven {
			bound := a2 * math.Pow(float64(i+1), -p)
			if !(v <= bound*(1+1e-12)) || i+1 == at && !(v >= bound*(1-1e-12)) {
				t.Errorf("p = %v: value %d is %v, the bound %v, reached at %d", p, i+1, v, bound, at)
			}
		}
	}
	if a2, k := eigenfunction.PowerBound(nil, 2); a2 != 0 || k != 0 {
		t.Errorf("without values: %v, %d", a2, k)
	}
}
