package cg

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// A subspace is spanned by orthonormal vectors v_k.
type subspace interface {
	// coefficients returns Vᵀx, k×b.
	coefficients(x *mat.Dense) *mat.Dense
	// add sets x = x + αV·c.
	add(x *mat.Dense, alpha float64, c *mat.Dense)
}

// project subtracts from x its part in v and returns the coefficients.
func project(x *mat.Dense, v subspace) *mat.Dense {
	c := v.coefficients(x)
	v.add(x, -1, c)
	return c
}

// denseNull is spanned by the columns of a matrix.
type denseNull struct{ v *mat.Dense }

func (s *denseNull) coefficients(x *mat.Dense) *mat.Dense { return gram(s.v, x) }

func (s *denseNull) add(x *mat.Dense, alpha float64, c *mat.Dense) { mul(alpha, s.v, c, 1, x) }

// componentNull is spanned by the null vectors of a graph Laplacian, one for each
// component: disjoint, so that n numbers hold them all.
type componentNull struct {
	of     []int32
	count  int
	values []float64 // element i of the vector of component of[i]
}

func newComponentNull(l *sparse.Laplacian, c *sparse.Components) *componentNull {
	s := &componentNull{of: c.Of, count: c.Count(), values: make([]float64, len(c.Of))}
	sums := make([]float64, s.count)
	for i, d := range l.Degrees() {
		if l.Kind() == sparse.Combinatorial || d == 0 {
			d = 1
		}
		s.values[i] = d
		sums[s.of[i]] += d
	}

	for i, id := range s.of {
		s.values[i] = math.Sqrt(s.values[i] / sums[id])
	}
	return s
}

func (s *componentNull) coefficients(x *mat.Dense) *mat.Dense {
	r := x.RawMatrix()
	// The sums of a chunk should take little memory beside its rows.
	grain := max(1<<15, 8*s.count)
	parts := make([]*mat.Dense, par.Chunks(len(s.of), grain))
	par.For(len(s.of), grain, func(lo, hi int) {
		c := mat.NewDense(s.count, r.Cols, nil)
		parts[lo/grain] = c
		if s.count == 1 && r.Cols == 1 {
			sum := 0.0
			for i, v := range s.values[lo:hi] {
				sum += v * r.Data[(lo+i)*r.Stride]
			}
			c.Set(0, 0, sum)
			return
		}
		for i := lo; i < hi; i++ {
			sum := c.RawRowView(int(s.of[i]))
			for j, v := range x.RawRowView(i) {
				sum[j] += s.values[i] * v
			}
		}
	})

	for _, c := range parts[1:] {
		parts[0].Add(parts[0], c)
	}
	return parts[0]
}

func (s *componentNull) add(x *mat.Dense, alpha float64, c *mat.Dense) {
	r := x.RawMatrix()
	par.For(len(s.of), rowGrain, func(lo, hi int) {
		if s.count == 1 && r.Cols == 1 {
			f := c.At(0, 0)
			for i, v := range s.values[lo:hi] {
				r.Data[(lo+i)*r.Stride] += alpha * v * f
			}
			return
		}
		for i := lo; i < hi; i++ {
			row := x.RawRowView(i)
			f := alpha * s.values[i]
			for j, v := range c.RawRowView(int(s.of[i])) {
				row[j] += f * v
			}
		}
	})
}

// checkNull returns an error if a column of b, with the given norms, has a
// component along a null vector, with coefficients c, beyond limit·‖b_j‖.
func checkNull(c *mat.Dense, norms []float64, limit float64) error {
	k, _ := c.Dims()
	for j, norm := range norms {
		for v := range k {
			if r := math.Abs(c.At(v, j)) / norm; r > limit {
				return &NullComponentError{j, v, r}
			}
		}
	}
	return nil
}

// deflated is the preconditioner (I−VVᵀ)M⁻¹(I−VVᵀ) + VΛ⁻¹Vᵀ for eigenvectors V of
// the operator.
type deflated struct {
	m     Preconditioner
	v     subspace
	value func(k int) float64 // the eigenvalue of vector k
}

func (d deflated) ApplyTo(dst, r *mat.Dense) {
	rest := mat.DenseCopyOf(r)
	c := project(rest, d.v)
	d.m.ApplyTo(dst, rest)
	project(dst, d.v)
	c.Apply(func(k, _ int, v float64) float64 { return v / d.value(k) }, c)
	d.v.add(dst, 1, c)
}
