package lanczos

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// Laplacian returns the s.K smallest eigenpairs of the graph Laplacian l of any
// power, without shift. c are the components of its graph; their number is the
// nullity, and that many exact null vectors come first, in the order of the
// components. See [Solve] for costs and errors.
//
// For sparse.RandomWalk the vectors are D^-½u with u those of the normalized
// Laplacian: orthonormal in the inner product xᵀDy. Orthogonality and residuals
// are those of the u. A vertex of degree zero keeps its u.
func Laplacian(ctx context.Context, l *sparse.Laplacian, c *sparse.Components, s *Settings) (*Result, error) {
	var limit int
	if s != nil {
		limit = max(s.K, 0)
	}
	r, err := solve(ctx, l, l.NullVectors(c, limit), s)
	if r == nil {
		return nil, err
	}
	r.Nullity = min(c.Count(), len(r.Values))
	for j := range r.Nullity {
		r.Values[j] = 0
	}
	if l.Kind() == sparse.RandomWalk {
		scaleRows(r.Vectors, l.Degrees())
	}
	return r, err
}

// scaleRows divides row i of v by √d_i where d_i > 0.
func scaleRows(v *mat.Dense, d []float64) {
	for i, di := range d {
		if di == 0 {
			continue
		}
		row := v.RawRowView(i)
		for j := range row {
			row[j] /= math.Sqrt(di)
		}
	}
}
