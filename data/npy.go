package data

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/sparse"
)

// readNPY reads the array of a .npy file.
func readNPY(src *source, _, _ string, limit int64) (*npy.Array, string, error) {
	if src.Packing == "" {
		a, err := npy.ReadFile(src.path, limit)
		return a, src.path, err
	}
	a, err := npy.ReadStream(src.R, 16*src.Size, limit, src.path)
	var tooLarge *npy.LimitError
	if err != nil && !errors.As(err, &tooLarge) {
		err = src.ReadError(err)
	}
	return a, src.path, err
}

// readPointsNPY maps the points of a .npy file into memory if it can, and else reads them.
func readPointsNPY(src *source, opt ReadOptions) (Points, string, error) {
	if src.Packing == "" {
		h, raw, err := npy.Map(src.path, npy.SmallFile)
		if err != nil {
			return nil, src.path, err
		}
		if x, err := mappedPoints(src.path, h, raw); x != nil || err != nil {
			return x, src.path, err
		}
	}

	a, what, err := readNPY(src, "", "", opt.Limit)
	if err != nil {
		return nil, what, err
	}
	x, err := toPoints(what, a, opt.Limit)
	return x, what, err
}

// mappedPoints makes points of a mapped array, nil if it is none or of a type that points
// do not have in memory.
func mappedPoints(path string, h *npy.Header, raw []byte) (Points, error) {
	if raw == nil {
		return nil, nil
	}
	n, d, err := pointShape(path, h.Shape)
	if err != nil {
		return nil, err
	}

	// Points of other types are converted, so the file is read.
	switch h.DType {
	case "float16":
		return newStored(path, Float16, n, d, raw), nil
	case "bool":
		return newStored(path, Bool, n, d, raw), nil
	case "float32":
		return &Dense[float32]{n, d, numbers.Of[float32](raw)}, nil
	case "float64":
		return &Dense[float64]{n, d, numbers.Of[float64](raw)}, nil
	case "uint8":
		return &Dense[uint8]{n, d, raw}, nil
	}

	return nil, nil
}

// readNPZ reads an array of a .npz file.
func readNPZ(src *source, key, usual string, limit int64) (*npy.Array, string, error) {
	z, err := npy.OpenArchive(src.path, limit)
	if err != nil {
		return nil, "", err
	}
	defer z.Close()
	if key, err = pickKey(z, key, usual); err != nil {
		return nil, "", err
	}
	a, err := z.Read(key)
	return a, fmt.Sprintf("%s: array %q", src.path, key), err
}

// readPointsNPZ reads points from a .npz file: the array of the given key, or
// a SciPy sparse matrix if there is no key.
func readPointsNPZ(src *source, opt ReadOptions) (Points, string, error) {
	if opt.Key == "" {
		z, err := npy.OpenArchive(src.path, opt.Limit)
		if err != nil {
			return nil, "", err
		}
		scipy := z.IsSparse()
		z.Close()
		if scipy {
			x, err := sparse.ReadNPZ(src.path, opt.Limit)
			if err != nil {
				return nil, "", err
			}
			return x, src.path, nil
		}
	}

	a, what, err := readNPZ(src, opt.Key, "X", opt.Limit)
	if err != nil {
		return nil, "", err
	}
	x, err := toPoints(what, a, opt.Limit)
	return x, what, err
}

// pickKey chooses the array of an archive: the one asked for, else the usual
// one, else the only one.
func pickKey(a *npy.Archive, key, usual string) (string, error) {
	names := a.Names()
	switch {
	case key != "" && a.Has(key):
		return key, nil
	case key == "" && a.Has(usual):
		return usual, nil
	case key == "" && len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", fmt.Errorf("%s: the archive holds no arrays", a.Path())
	}

	// The error lists the arrays that there are.
	var list []string
	for _, n := range names[:min(len(names), 20)] {
		if h, err := a.Header(n); err == nil {
			list = append(list, fmt.Sprintf("%q (%s)", n, h))
		}
	}

	if len(names) > len(list) {
		list = append(list, "…")
	}
	if key == "" {
		key = usual
	}
	return "", fmt.Errorf("%s: no array %q; there are %s: name one as %s:KEY", a.Path(), key,
		strings.Join(list, ", "), a.Path())
}

// pointShape returns the number of points in an array and their dimension: the product of
// all extents but the first.
func pointShape(what string, shape []int) (n, d int, err error) {
	if len(shape) == 0 {
		return 0, 0, fmt.Errorf("%s: it is a single number, want points as rows", what)
	}
	n = shape[0]
	d = 1
	for _, s := range shape[1:] {
		if s == 0 {
			d = 0
			break
		}
		d *= s
	}

	if n == 0 || d == 0 {
		return 0, 0, fmt.Errorf("%s: its shape is %v; at least one row and one column are needed",
			what, shape)
	}
	return n, d, nil
}

// toPoints makes points of an array. It does not check the values. what names the array in errors.
func toPoints(what string, a *npy.Array, limit int64) (Points, error) {
	n, d, err := pointShape(what, a.Shape)
	if err != nil {
		return nil, err
	}

	switch v := a.Data.(type) {
	case []npy.Half:
		return newStored(what, Float16, n, d, numbers.Bytes(v)), nil
	case []bool:
		return newStored(what, Bool, n, d, numbers.Bytes(v)), nil
	case []uint8:
		return &Dense[uint8]{n, d, v}, nil
	case []float32:
		return &Dense[float32]{n, d, v}, nil
	case []float64:
		return &Dense[float64]{n, d, v}, nil
	}

	// Other integers become float64, in memory of their own.
	if need := 16 * int64(a.Len()); limit > 0 && need > limit {
		return nil, &npy.LimitError{What: what, Need: need, Limit: limit}
	}
	v, err := a.Float64s()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return &Dense[float64]{n, d, v}, nil
}
