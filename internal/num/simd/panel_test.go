package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPanel holds the kernels against the definition.
func TestPanel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	defer func(p *path) { active = p }(active)
	for _, p := range available {
		active = p
		for _, n := range []int{1, 5, 8, 16} {
			for _, cols := range []int{0, 1, 7, 40} {
				for _, rows := range []int{1, 7, 8, 29} {
					for variant := range 4 {
						t.Run(fmt.Sprintf("%s/%d/%d/%d/%d", p.name, n, cols, rows, variant), func(t *testing.T) {
							ldv := cols + 3
							v := random[float64](r, rows*ldv)
							in, out := random[float64](r, (cols+n)*n), []float64(nil)
							if variant&1 > 0 {
								in = nil
							}
							checkOut := func() {}
							if variant&2 > 0 {
								out, checkOut = guarded[float64](t, (cols+n)*n)
								copy(out, random[float64](r, len(out)))
							}
							w, checkW := guarded[float64](t, rows*n)
							copy(w, random[float64](r, rows*n))
							both := make([][]float64, rows) // [v w]
							wantW, wantOut := slices.Clone(w), slices.Clone(out)
							for i := range both {
								both[i] = append(slices.Clone(v[i*ldv:][:cols]), w[i*n:][:n]...)
								for j := 0; in != nil && j < n; j++ {
									wantW[i*n+j] = 0
									for q, x := range both[i] {
										wantW[i*n+j] += x * in[q*n+j]
									}
								}
								copy(both[i][cols:], wantW[i*n:])
								for q, x := range both[i] {
									for j := 0; out != nil && j < n; j++ {
										wantOut[q*n+j] += x * wantW[i*n+j]
									}
								}
							}
							Panel(v, ldv, cols, w, rows, n, in, out)
							near(t, w, wantW, 100)
							near(t, out, wantOut, 20000)
							checkW()
							checkOut()
						})
					}
				}
			}
		}
	}
}
