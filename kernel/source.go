package kernel

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// Source gives the values of a kernel among n points: it is a kernel with the points, or a matrix of
// values in place of both.
type Source struct {
	Kernel Kernel      // ignored if there are Values
	Points data.Points // n×d; nil if there are Values
	// Values, if not nil, is the Gram matrix of the points, n×n and dense. Another point is
	// given as a further row: its values with all n points.
	Values data.Points
}

// Set is a set of n points z_j, prepared for many evaluations of a kernel. As an operator it is their
// Gram matrix. It is immutable and safe for concurrent use.
type Set interface {
	Operator
	// Gram returns the Gram matrix, exactly symmetric.
	Gram(ctx context.Context) (*mat.Dense, error)
	// ProductTo sets row i−lo of dst to Σ_j k(x_i, z_j)·a_j for the rows lo ≤ i < hi
	// of x: dst is (hi−lo)×b, a is n×b, and they must not overlap.
	ProductTo(dst *mat.Dense, x data.Points, lo, hi int, a *mat.Dense) error
	// DiagonalTo sets dst[j] = k(z_j, z_j).
	DiagonalTo(dst []float64)
	// RowTo sets dst[j] = k(z_i, z_j).
	RowTo(dst []float64, i int)
	// ColumnsTo sets entry (i, p) of dst to k(z_i, z_j[p]); dst is n×len(j).
	ColumnsTo(dst *mat.Dense, j []int)
}

var _, _ Set = (*Side)(nil), (*Given)(nil)

// Fill returns s with the defaults of its kernel. It is an error if there are no points, or if the
// values are not a dense square matrix.
func (s Source) Fill() (Source, error) {
	if s.Values != nil {
		return Source{Values: s.Values}, checkGiven(s.Values)
	}
	if s.Points == nil {
		return s, errors.New("kernel: there are no points")
	}
	var err error
	s.Kernel, err = s.Kernel.Fill()
	return s, err
}

// Rows returns the points, or the rows of values that stand for them.
func (s Source) Rows() data.Points {
	if s.Values != nil {
		return s.Values
	}
	return s.Points
}

// Set prepares the points: see [New] for the cost.
func (s Source) Set() (Set, error) {
	if s.Values != nil {
		return NewGiven(s.Values)
	}
	return New(s.Kernel, s.Points)
}

// Select returns the source for some of the points. Of values it takes their rows and columns.
func (s Source) Select(rows []int) Source {
	if s.Values != nil {
		return Source{Values: data.Columns(data.Select(s.Values, rows), rows)}
	}
	s.Points = data.Select(s.Points, rows)
	return s
}

// Queries returns the points rows as queries of the source that [Source.Select] makes for the
// points among.
func (s Source) Queries(rows, among []int) data.Points {
	if s.Values != nil {
		return data.Columns(data.Select(s.Values, rows), among)
	}
	return data.Select(s.Points, rows)
}

// Bytes returns the memory of the prepared points, beside the points: a copy of dense points, or a
// tile for each thread and a row for sparse points.
func (s Source) Bytes() int64 {
	if s.Values != nil {
		return 0
	}
	n, d := s.Points.Dims()
	if _, isSparse := s.Points.(*sparse.CSR); isSparse {
		tiles := min(par.Chunks(n, sparseRows), runtime.GOMAXPROCS(0))
		return 8 * (int64(n) + int64(d)*int64(tiles*sparseRows+1))
	}
	return 8 * int64(n) * int64(d+1)
}

// String describes the kernel in a few words.
func (s Source) String() string {
	if s.Values != nil {
		return "precomputed kernel"
	}
	return s.Kernel.String()
}

// checkGiven returns an error unless x is a dense square matrix with rows.
func checkGiven(x data.Points) error {
	n, d := x.Dims()
	if n < 1 {
		return errors.New("kernel: no values")
	}
	if _, isSparse := x.(*sparse.CSR); isSparse || n != d {
		return fmt.Errorf(
			"kernel: a precomputed kernel needs the Gram matrix of the points, n×n and dense; this is %d×%d", n, d)
	}
	return nil
}
