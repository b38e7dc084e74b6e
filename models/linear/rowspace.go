package linear

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/solvers"
)

// rowSpace holds coordinates of n points in the space they span, where all
// minimizing w lie: with XXᵀ = VΣ²Vᵀ, point i is row i of VΣ (n×r), and
// coordinates v of w stand for w = XᵀVΣ⁻¹v, ‖w‖ = ‖v‖.
type rowSpace struct {
	x    solvers.Design
	back *mat.Dense // VΣ⁻¹
}

// newRowSpace returns the space and the points in it. It costs n products of X
// with columns of Xᵀ and about 5n³ operations.
func newRowSpace(ctx context.Context, x data.Points) (*rowSpace, *data.Dense[float64], error) {
	n, d := x.Dims()
	s := &rowSpace{x: solvers.NewDesign(x)}
	k := mat.NewDense(n, n, nil)
	const width = 128
	// XXᵀ by products with X and Xᵀ, as sparse points have no rows to multiply.
	for from := 0; from < n; from += width {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		to := min(from+width, n)
		unit := mat.NewDense(n, to-from, nil)
		for i := from; i < to; i++ {
			unit.Set(i, i-from, 1)
		}
		rows := mat.NewDense(d, to-from, nil)
		s.x.MulTransTo(rows, unit)
		s.x.MulTo(k.Slice(0, n, from, to).(*mat.Dense), rows)
	}

	values, v, err := dense.EigenSym(ctx, k)
	if err != nil {
		return nil, nil, fmt.Errorf("linear: eigenvectors of XXᵀ: %w", err)
	}
	// Directions that rounding alone makes are left out.
	first := 0 // the eigenvalues ascend
	for first < n-1 && !(values[first] > dense.Negligible*values[n-1]) {
		first++
	}
	points := data.NewDense[float64](n, n-first)

	// The coordinates are VΣ, and VΣ⁻¹ leads back.
	s.back = mat.NewDense(n, n-first, nil)
	for i := range n {
		row := points.Row(i)
		back := s.back.RawRowView(i)
		for j, e := range v.RawRowView(i)[first:] {
			sigma := math.Sqrt(max(values[first+j], 0))
			row[j] = sigma * e
			if sigma > 0 { // of points that are all zero it is not
				back[j] = e / sigma
			}
		}
	}

	return s, points, nil
}

// expand returns w for coordinates v.
func (s *rowSpace) expand(v *mat.Dense) *mat.Dense {
	n, d := s.x.Dims()
	_, m := v.Dims()
	alpha := mat.NewDense(n, m, nil)
	w := mat.NewDense(d, m, nil)
	dense.Gemm(dense.NoTrans, dense.NoTrans, 1, s.back, v, 0, alpha)
	s.x.MulTransTo(w, alpha)
	return w
}
