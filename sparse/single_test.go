package sparse

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestSingle compares its steps with those of the Laplacian in double precision.
func TestSingle(t *testing.T) {
	const n, alpha, beta = 300, 0.7, 0.4
	rng := rand.New(rand.NewPCG(8, 9))
	for _, kind := range []Kind{Combinatorial, Normalized} {
		for _, binary := range []bool{false, true} {
			w := randomGraph(rng, n, 0.03, binary, true)
			l, err := NewLaplacian(w, kind)
			if err != nil {
				t.Fatal(err)
			}
			l = l.With(1, 0.25)
			scale := l.UpperBound()
			s := l.Single(alpha/scale, beta)
			for _, columns := range []int{1, 5, 16, 20} {
				width := SingleWidth(columns)
				x, dst := randomBlock(rng, n, columns), randomBlock(rng, n, columns)
				wide := func(from *mat.Dense) []float32 {
					out := make([]float32, n*width)
					for i := range n {
						for j, v := range from.RawRowView(i) {
							out[i*width+j] = float32(v)
						}
					}
					return out
				}
				check := func(name string, got []float32, times float64) {
					var want mat.Dense
					want.CloneFrom(dst)
					l.RecurTo(&want, -times*alpha/scale, x, times*beta, -1, dst)
					for i := range n {
						for j := range columns {
							if v := float64(got[i*width+j]); !(math.Abs(v-want.At(i, j)) < 1e-5) {
								t.Fatalf("%v, %d columns: %s is %v at (%d, %d), want %v", kind, columns, name, v, i, j,
									want.At(i, j))
							}
						}
					}
				}

				whole, half := wide(dst), wide(dst)
				s.Step(whole, wide(x), width)
				s.HalfStep(half, wide(x), width)
				check("a step", whole, 2)
				check("half a step", half, 1)

				// Mx − dst is −(dst − Mx) + 0.5x − (0.5/2)·2x.
				fixed := make([]bool, n)
				for i := 0; i < n; i += 3 {
					fixed[i] = true
				}
				descended := wide(x)
				for i := range descended {
					descended[i] *= 2
				}
				s.Pin(fixed).Descend(descended, wide(x), wide(dst), -1, 0.5, -0.25)
				for i := 0; i < n; i += 3 {
					for j := range columns {
						if v, want := float64(descended[i*width+j]), -dst.At(i, j); !(math.Abs(v-want) < 1e-5) {
							t.Fatalf("%v: fixed vertex %d: %v, want %v", kind, i, v, want)
						}
					}
					copy(descended[i*width:(i+1)*width], half[i*width:])
				}
				check("a descent", descended, 1)
			}
		}
	}
}
