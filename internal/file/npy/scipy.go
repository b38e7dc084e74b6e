package npy

import (
	"fmt"
	"math"
)

// IsSparse reports whether the archive holds a SciPy sparse matrix, by the names of its
// arrays.
func (a *Archive) IsSparse() bool { return a.Has("format") && a.Has("shape") && a.Has("data") }

// SparseForm returns the storage form (csr, csc, coo, …), the rows and the columns of the
// SciPy sparse matrix in the archive. Its entries are not read.
func (a *Archive) SparseForm() (format string, rows, cols int, err error) {
	h, err := a.Header("format")
	if err != nil {
		return "", 0, 0, err
	}
	if h.Len() != 1 || h.Bytes() > 64 {
		return "", 0, 0, fmt.Errorf("%s: array \"format\" is %s, want one string", a.path, h)
	}
	f, err := a.Read("format")
	if err != nil {
		return "", 0, 0, err
	}
	if format, err = f.Text(); err != nil {
		return "", 0, 0, fmt.Errorf("%s: array \"format\": %w", a.path, err)
	}

	// Compare headers before reading: a forged file may claim any size.
	if h, err = a.Header("shape"); err != nil {
		return "", 0, 0, err
	}
	if h.Len() != 2 {
		return "", 0, 0, fmt.Errorf("%s: array \"shape\" is %s, want two integers", a.path, h)
	}
	x, err := a.Read("shape")
	if err != nil {
		return "", 0, 0, err
	}

	shape, err := x.Int64s()
	if err != nil {
		return "", 0, 0, fmt.Errorf("%s: array \"shape\": %w", a.path, err)
	}

	for _, s := range shape {
		if s < 0 || s > math.MaxInt32 {
			return "", 0, 0, fmt.Errorf("%s: the header claims a matrix of %d×%d; extents are "+
				"accepted from 0 to 2³¹−1", a.path, shape[0], shape[1])
		}
	}
	return format, int(shape[0]), int(shape[1]), nil
}
