package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// All paths convert as Go does: bit for bit, with numbers that are too large, too small, infinite or none.
func TestConversions(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1e300, -1e300, 1e-300, 1e-42, math.MaxFloat32}
	defer func(p *path) { active = p }(active)
	for _, p := range available {
		active = p
		for n := range 70 {
			wide := make([]float64, n)
			for i := range wide {
				wide[i] = r.NormFloat64() * math.Exp2(float64(r.IntN(40)-20))
				if r.IntN(5) == 0 {
					wide[i] = special[r.IntN(len(special))]
				}
			}
			narrow, check := guarded[float32](t, n)
			ToSingle(narrow, wide)
			check()
			back, check := guarded[float64](t, n)
			ToDouble(back, narrow)
			check()
			for i, v := range wide {
				if math.Float32bits(narrow[i]) != math.Float32bits(float32(v)) {
					t.Fatalf("%s, %d of %d: %v becomes %v, want %v", p.name, i, n, v, narrow[i], float32(v))
				}
				if math.Float64bits(back[i]) != math.Float64bits(float64(narrow[i])) {
					t.Fatalf("%s, %d of %d: %v becomes %v", p.name, i, n, narrow[i], back[i])
				}
			}
		}
	}
}
