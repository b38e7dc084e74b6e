package lanczos

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// Laplacian returns the s.K smallest (or largest) eigenpairs of the graph
// Laplacian l of any power, without shift. c are the components of its graph; their number is the
// nullity, and that many exact null vectors come first, in the order of the
// components. See [Solve] for costs and errors.
//
// For sparse.RandomWalk the vectors are D^-½u with u those of the normalized
// Laplacian: orthonormal in the inner product xᵀDy. Orthogonality and residuals
// are those of the u. A vertex of degree zero keeps its u.
//
// As L v = λ D v is the same equation, sparse.RandomWalk also answers the
// generalized problem.
func Laplacian(ctx context.Context, l *sparse.Laplacian, c *sparse.Components, s *Settings) (*Result, error) {
	if l.Shift() != 0 {
		return nil, fmt.Errorf("lanczos: the Laplacian is shifted by %v, which hides its null vectors; solve without the shift and add it to the eigenvalues, or use Solve", l.Shift())
	}
	var null *mat.Dense
	if s != nil && !s.Largest {
		null = l.NullVectors(c, max(s.K, 0))
	}
	r, err := solve(ctx, l, null, s)
	if r == nil {
		return nil, err
	}
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
