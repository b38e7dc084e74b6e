package data

import (
	"fmt"
	"strings"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/sparse"
)

// readNPY reads the array of a .npy file.
func readNPY(src *source, _, _ string, limit int64) (*npy.Array, string, error) {
	a, err := npy.ReadFile(src.path, limit)
	return a, src.path, err
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
func readPointsNPZ(src *source, opt ReadOptions) (Points, error) {
	if opt.Key == "" {
		z, err := npy.OpenArchive(src.path, opt.Limit)
		if err != nil {
			return nil, err
		}
		scipy := sparse.IsNPZ(z)
		z.Close()
		if scipy {
			return sparse.ReadNPZ(src.path, opt.Limit)
		}
	}
	a, what, err := readNPZ(src, opt.Key, "X", opt.Limit)
	if err != nil {
		return nil, err
	}
	return toPoints(what, a, opt.Limit)
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
	return "", fmt.Errorf("%s: no array %q; there are %s: name one as %s:KEY", a.Path(), key, strings.Join(list, ", "), a.Path())
}

// toPoints makes points of an array. what names it in errors.
func toPoints(what string, a *npy.Array, limit int64) (Points, error) {
	if len(a.Shape) == 0 {
		return nil, fmt.Errorf("%s: it is a single number, want points as rows", what)
	}
	n, d := a.Shape[0], 1
	for _, s := range a.Shape[1:] {
		if s == 0 {
			d = 0
			break
		}
		d *= s
	}
	if n == 0 || d == 0 {
		return nil, fmt.Errorf("%s: its shape is %v; at least one row and one column are needed", what, a.Shape)
	}
	switch v := a.Data.(type) {
	case []npy.Half:
		x := &Stored{Rows: n, Cols: d, kind: Float16, parts: onePart(n, bytesOf(v))}
		return x, x.checkFinite(what)
	case []bool:
		return &Stored{Rows: n, Cols: d, kind: Bool, parts: onePart(n, bytesOf(v))}, nil
	case []uint8:
		return &Dense[uint8]{n, d, v}, nil
	case []float32:
		x := &Dense[float32]{n, d, v}
		return x, finite(what, x)
	case []float64:
		x := &Dense[float64]{n, d, v}
		return x, finite(what, x)
	}
	if need := 16 * int64(a.Len()); limit > 0 && need > limit {
		return nil, &npy.LimitError{What: what, Need: need, Limit: limit}
	}
	v, err := a.Float64s()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return &Dense[float64]{n, d, v}, nil
}
