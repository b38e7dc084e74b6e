package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGraphCombine holds the kernels for fixed numbers of columns, and the way
// by rows, against the definition.
func TestGraphCombine(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const n = 37
	g := Graph{Ptr: []int64{0}, Diag: random[float64](r, n)}
	for i := range n {
		for range []int{0, 1, 2, 3, 8, 40, 0, 5}[i%8] {
			g.Col = append(g.Col, int32(r.IntN(n)))
		}
		g.Ptr = append(g.Ptr, int64(len(g.Col)))
	}
	weights, scale := random[float64](r, len(g.Col)), random[float64](r, n)
	const s, a, b, c = 0.7, -1.3, 0.4, 2.5
	defer func(p *path) { active = p }(active)
	for _, p := range available {
		active = p
		for _, cols := range []int{1, 3, 4, 8, 9, 16, 32, 33} {
			for variant := range 24 {
				g.Val, g.Scale = weights, nil
				if variant&1 > 0 {
					g.Val = nil
				}
				if variant >= 16 {
					g.Val, g.Scale = nil, scale
				}
				ld := cols
				if variant&2 > 0 {
					ld += 3
				}
				lo, hi := 0, n
				if variant&4 > 0 {
					lo, hi = 5, n-4
				}
				x := Block{random[float64](r, n*ld), cols, ld}
				y := Block{random[float64](r, n*ld), cols, ld}
				if variant&8 > 0 {
					y.Data = nil
				}
				to, untouched := guarded[float64](t, n*ld)
				want := slices.Clone(to)
				for i := lo; i < hi; i++ {
					for j := range cols {
						var sum float64
						for q := g.Ptr[i]; q < g.Ptr[i+1]; q++ {
							v := x.Data[int(g.Col[q])*ld+j]
							switch {
							case g.Val != nil:
								v *= g.Val[q]
							case g.Scale != nil:
								v *= scale[i] * scale[g.Col[q]]
							}
							sum += v
						}
						sum = s*sum + (a*g.Diag[i]+b)*x.Data[i*ld+j]
						if y.Data != nil {
							sum += c * y.Data[i*ld+j]
						}
						want[i*ld+j] = sum
					}
				}
				t.Run(fmt.Sprintf("%s/%d/%d", p.name, cols, variant), func(t *testing.T) {
					g.Combine(Block{to, cols, ld}, x, y, lo, hi, s, a, b, c)
					near(t, to, want, 50)
					untouched()
					for i := range to { // nothing but the rows and columns asked for
						if row := i / ld; (row < lo || row >= hi || i%ld >= cols) && to[i] != want[i] {
							t.Fatalf("element %d written", i)
						}
					}
					if y.Data != nil {
						g.Combine(y, x, y, lo, hi, s, a, b, c) // in place
						for i := lo; i < hi; i++ {
							near(t, y.row(i), want[i*ld:][:cols], 50)
						}
					}
				})
			}
		}
	}
}
