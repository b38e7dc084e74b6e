package eigenmap

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
)

// TestSharedEquations compares the normal equations of draws that share rows, few and more than
// half of all, with those of each draw alone.
func TestSharedEquations(t *testing.T) {
	const n, p, classes = 4000, 9, 3
	r := rand.New(rand.NewPCG(4, 4))
	basis := mat.NewDense(n, p+2, nil)
	for i := range basis.RawMatrix().Data {
		basis.RawMatrix().Data[i] = r.NormFloat64()
	}
	truth := &data.Labels{Classes: []int64{1, 2, 3}, Index: make([]int32, n)}
	for i := range truth.Index {
		truth.Index[i] = int32(r.IntN(classes))
	}
	whole := mat.NewDense(p+2, p+2, nil)
	dense.Syrk(dense.Transposed, 1, basis, 0, whole)
	for _, counts := range [][]int{{1500, 1500, 1500, 1500, 1500}, {3300, 900, 3500, 20, 2500}, {3300}} {
		var ys []*data.Labels
		for i, count := range counts {
			y, err := truth.Draw(count, uint64(i))
			if err != nil {
				t.Fatal(err)
			}
			ys = append(ys, y)
		}
		for _, w := range []*mat.Dense{nil, whole} {
			got, err := sharedEquations(t.Context(), basis, p, ys, w)
			if err != nil {
				t.Fatal(err)
			}
			for i, y := range ys {
				want, err := newNormalEquations(t.Context(), basis, p, y, y.Labeled())
				if err != nil {
					t.Fatal(err)
				}
				if got[i].rows != counts[i] || !mat.EqualApprox(got[i].g, want.g, 1e-9) || !mat.EqualApprox(got[i].b, want.b, 1e-9) {
					t.Errorf("%v, with the whole %v: other equations of draw %d", counts, w != nil, i)
				}
			}
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := sharedEquations(cancelled, basis, p, ys, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
}
