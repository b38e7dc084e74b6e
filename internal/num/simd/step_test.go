package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGraphStep holds the kernels for 8 and 16 columns, and the way by rows, against the
// definition.
func TestGraphStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	const n = 75
	ptr, col := []int64{0}, []int32(nil)
	for i := range n {
		for range []int{0, 1, 2, 3, 8, 40, 0, 5}[i%8] {
			col = append(col, int32(rng.IntN(n)))
		}
		ptr = append(ptr, int64(len(col)))
	}
	weights, factor, own := random[float32](rng, len(col)), random[float32](rng, n), random[float32](rng, n)
	const a, b, c = 0.7, -1.3, 0.4
	defer func(p *path) { active = p }(active)
	for _, p := range available {
		active = p
		for _, cols := range []int{1, 3, 8, 16, 17} {
			for variant := range 8 {
				val, lo, hi := weights, 0, n
				if variant&1 > 0 {
					val = nil
				}
				if variant&2 > 0 {
					lo, hi = 5, n-4
				}
				diag := own
				if variant&4 > 0 {
					diag = nil
				}
				x, r := random[float32](rng, n*cols), random[float32](rng, n*cols)
				to, untouched := guarded[float32](t, n*cols)
				copy(to, random[float32](rng, n*cols))
				want := slices.Clone(to)
				for i := lo; i < hi; i++ {
					for j := range cols {
						var sum float32
						for q := ptr[i]; q < ptr[i+1]; q++ {
							v := x[int(col[q])*cols+j]
							if val != nil {
								v *= val[q]
							}
							sum += v
						}
						if diag != nil {
							sum += diag[i] * x[i*cols+j]
						}
						want[i*cols+j] = a*(r[i*cols+j]+factor[i]*sum) + b*x[i*cols+j] + c*to[i*cols+j]
					}
				}
				t.Run(fmt.Sprintf("%s/%d/%d", p.name, cols, variant), func(t *testing.T) {
					GraphStep(to, x, r, cols, ptr, col, val, diag, factor, lo, hi, a, b, c)
					near(t, to, want, 200)
					untouched()
				})
			}
		}
		for _, c := range [][2]int{{1, 1}, {2, 8}, {4, 8}, {5, 8}, {8, 8}, {9, 16}, {16, 16}, {20, 20}} {
			want := c[1]
			if p == &generic {
				want = c[0]
			}
			if got := StepColumns(c[0]); got != want {
				t.Errorf("%s: %d columns as %d, want %d", p.name, c[0], got, want)
			}
		}
	}
}
