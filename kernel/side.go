package kernel

import (
	"fmt"
	"sync"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/sparse"
)

// Side is an operand of a kernel: a set of n points z_j, prepared for many evaluations k(x, z_j),
// and centred if the kernel depends on distances. It is immutable and safe for concurrent use.
type Side struct {
	kernel Kernel
	z      data.Points
	n, d   int
	centre []float64     // mean of dense points, for kernels of distances
	dense  []float64     // n×d, centred; nil if z is sparse
	sq     []float64     // ‖z_j‖², centred
	pairs  sync.Pool     // of *pair
	across panels        // a copy of the points for single rows, made when needed
	limit  exactnessRule // for kernels of distances
}

// New prepares z. Dense points take n·(d+1) float64 values, or n if they are
// float64 and need no centring: then z is kept and must not change.
func New(k Kernel, z data.Points) (*Side, error) {
	k, err := k.Fill()
	if err != nil {
		return nil, err
	}
	s := &Side{kernel: k, z: z, limit: newExactnessRule(&k)}
	if s.n, s.d = z.Dims(); s.n < 1 {
		return nil, fmt.Errorf("kernel: no points")
	}

	_, isSparse := z.(*sparse.CSR)
	if !isSparse {
		if k.Kind.HasWidth() {
			s.centre = data.Mean(z)
		}
		if x, ok := z.(*data.Dense[float64]); ok && s.centre == nil {
			// Points in float64 that need no centring are used where they are.
			s.dense = x.Data
		} else {
			s.dense = make([]float64, s.n*s.d)
			s.load(s.dense, z, 0)
		}
	}

	s.sq = make([]float64, s.n)
	s.squares(s.sq, z, 0, s.dense)
	return s, nil
}

// load writes rows lo, lo+1, … of x, centred, to dst, until dst is full.
func (s *Side) load(dst []float64, x data.Points, lo int) {
	if s.d == 0 {
		return
	}
	par.For(len(dst)/s.d, 64, func(a, b int) {
		for i := a; i < b; i++ {
			row := dst[i*s.d:][:s.d]
			data.RowTo(row, x, lo+i)
			for j, c := range s.centre {
				row[j] -= c
			}
		}
	})
}

// squares sets sq to the squared norms of rows lo, lo+1, … of x. rows holds them centred, or is nil if
// x is sparse.
func (s *Side) squares(sq []float64, x data.Points, lo int, rows []float64) {
	par.For(len(sq), 256, func(a, b int) {
		for i := a; i < b; i++ {
			if rows != nil {
				sq[i] = simd.Dot(rows[i*s.d:][:s.d], rows[i*s.d:][:s.d])
				continue
			}
			col, val := x.(*sparse.CSR).Row(lo + i)
			if sq[i] = float64(len(col)); val != nil {
				sq[i] = simd.Dot(val, val)
			}
		}
	})
}

// check returns an error unless the points x can be compared with s.
func (s *Side) check(x data.Points) error {
	if _, d := x.Dims(); d != s.d {
		return fmt.Errorf("kernel: points of %d dimensions, the others have %d", d, s.d)
	}
	return nil
}
