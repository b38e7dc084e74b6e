package kernel

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
)

// GramBytes returns the memory of the Gram matrix of n points.
func GramBytes(n int) int64 { return 8 * int64(n) * int64(n) }

// GramFits returns an error if limit is positive and the Gram matrix of n points takes more bytes.
func GramFits(n int, limit int64) error {
	if limit > 0 && GramBytes(n) > limit {
		return fmt.Errorf("kernel: the Gram matrix of %d points takes %d bytes, %d are allowed; "+
			"use fewer points, or allow more memory", n, GramBytes(n), limit)
	}
	return nil
}

// Gram returns the n×n matrix k(x_i, x_j) of n points, exactly symmetric. A kernel of distances has
// ones on the diagonal. Gram costs n²d operations. It is an error if [GramFits] refuses the size.
// [Side.Gram] can be interrupted.
func Gram(x data.Points, k Kernel, limit int64) (*mat.Dense, error) {
	n, _ := x.Dims()
	if err := GramFits(n, limit); err != nil {
		return nil, err
	}
	s, err := New(k, x)
	if err != nil {
		return nil, err
	}
	return s.Gram(context.Background())
}

// Gram returns the Gram matrix of the points of s; see the function [Gram]. ctx is checked every 256
// rows.
func (s *Side) Gram(ctx context.Context) (*mat.Dense, error) {
	g := dense.New(s.n, s.n)
	for lo := 0; lo < s.n; lo += tileRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		hi := min(lo+tileRows, s.n)
		s.block(g.Slice(lo, hi, 0, hi).(*mat.Dense), s.z, lo, hi, hi)
	}

	// The lower triangle is computed. Distances from a point to itself may not round to 0.
	dense.Mirror(g)
	if s.kernel.Kind.HasWidth() {
		for i := range s.n {
			g.Set(i, i, 1)
		}
	}

	return g, nil
}

// Cross sets dst = k(x_i, z_j) for m points x and n points z of the same dimension. dst is m×n. For
// many calls with one z see [New] and [Side.CrossTo].
func Cross(dst *mat.Dense, x, z data.Points, k Kernel) error {
	s, err := New(k, z)
	if err != nil {
		return err
	}
	m, _ := x.Dims()
	return s.CrossTo(dst, x, 0, m)
}

// ColumnsTo sets dst to the columns j of the Gram matrix: entry (i, p) becomes k(z_i, z_j[p]). dst is
// n×len(j). It has the cost of [Side.CrossTo].
func (s *Side) ColumnsTo(dst *mat.Dense, j []int) {
	part, err := New(s.kernel, data.Select(s.z, j))
	if err == nil {
		err = part.CrossTo(dst, s.z, 0, s.n)
	}
	if err != nil {
		panic(err) // points fit themselves
	}
}
