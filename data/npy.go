package data

import (
	"fmt"
	"io"
	"strings"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/sparse"
)

// readNPY reads the array of a .npy file.
func readNPY(src *source, r arrayRequest) (*npy.Array, string, error) {
	if src.Packing == "" {
		h, err := npy.ReadHeader(src.path)
		if err == nil {
			err = r.check(src.path, h)
		}
		if err != nil {
			return nil, src.path, err
		}
		a, err := npy.ReadFile(src.path, r.limit)
		return a, src.path, err
	}

	header := func() (*npy.Header, error) {
		h, err := npy.StreamHeader(src.R)
		if err != nil {
			return nil, src.ReadError(err)
		}
		return h, nil
	}
	h, hint, err := src.packedHeader(header, &r)
	if err != nil {
		return nil, src.path, err
	}
	a, err := npy.ReadPayload(src.R, h, hint)
	if err != nil {
		err = src.ReadError(err)
	}
	return a, src.path, err
}

// packedHeader reads the header of the one array of a compressed file, which fills the rest of it,
// and leaves the source behind the header. hint is the memory that the array may take at once. An
// array that claims more than the usual ratio is decompressed once and counted, so that memory is
// taken only for what is there, and once.
func (s *source) packedHeader(read func() (*npy.Header, error), r *arrayRequest) (h *npy.Header,
	hint int64, err error) {
	if h, err = read(); err != nil {
		return nil, 0, err
	}
	if err := r.check(s.path, h); err != nil {
		return nil, 0, err
	}
	hint = npy.UsualRatio * s.Size
	if h.Bytes() <= hint {
		return h, hint, nil
	}

	// One byte more than the claim shows that something follows the array, which its reader says.
	n, err := io.CopyN(io.Discard, s.R, h.Bytes()+1)
	if err != nil && err != io.EOF {
		return nil, 0, s.ReadError(err)
	}
	if err := s.Rewind(); err != nil {
		return nil, 0, err
	}
	h, err = read()
	return h, max(hint, min(n, h.Bytes())), err
}

// readPointsNPY maps the points of a .npy file into memory if it can, and else reads them.
func readPointsNPY(src *source, opt ReadOptions) (Points, string, error) {
	if src.Packing == "" {
		h, raw, err := npy.Map(src.path, npy.SmallFile)
		if err != nil {
			return nil, src.path, err
		}
		if x, err := mappedPoints(src.path, h, raw); err != nil {
			return nil, src.path, err
		} else if x != nil { // mapped pages are no memory of the process
			n, d := x.Dims()
			return x, src.path, opt.begin(src.path, n, d, 0)
		}
	}

	return src.arrayPoints(opt)
}

// mappable reports whether points have the type of the array in memory, so that they are mapped
// where they lie in a file; others are converted.
func mappable(h *npy.Header) bool {
	switch h.DType {
	case "float16", "bool", "float32", "float64", "uint8":
		return true
	}
	return false
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

// arrayPoints reads the points of a file that is an array.
func (s *source) arrayPoints(opt ReadOptions) (Points, string, error) {
	r := arrayRequest{key: opt.Key, usual: "X", limit: opt.Limit}
	// Points of integers become float64, for a moment beside the integers.
	r.begin = func(what string, h *npy.Header) error {
		n, d, err := pointShape(what, h.Shape)
		if err != nil {
			return err
		}
		bytes := h.Memory()
		if !mappable(h) {
			bytes = max(bytes, h.Bytes()+8*int64(h.Len()))
		}
		return opt.begin(what, n, d, bytes)
	}
	a, what, err := s.format.array(s, r)
	if err != nil {
		return nil, what, err
	}
	x, err := toPoints(what, a, opt.Limit)
	return x, what, err
}

// readNPZ reads an array of a .npz file.
func readNPZ(src *source, r arrayRequest) (*npy.Array, string, error) {
	z, err := npy.OpenArchive(src.path, r.limit)
	if err != nil {
		return nil, "", err
	}
	defer z.Close()
	key, err := pickKey(z, r.key, r.usual)
	if err != nil {
		return nil, "", err
	}
	what := fmt.Sprintf("%s: array %q", src.path, key)
	h, err := z.Header(key)
	if err == nil {
		err = r.check(what, h)
	}
	if err != nil {
		return nil, "", err
	}
	a, err := z.Read(key)
	return a, what, err
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
			rows, cols, bytes, err := sparse.SizeNPZ(src.path)
			if err == nil {
				err = opt.begin(src.path, rows, cols, bytes)
			}
			if err != nil {
				return nil, "", err
			}
			x, err := sparse.ReadNPZ(src.path, opt.Limit)
			if err != nil {
				return nil, "", err
			}
			return x, src.path, nil
		}
	}

	// Arrays lie inside of the archive, mostly compressed, so that they are read and not mapped.
	return src.arrayPoints(opt)
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

	// Points that stay as they are, in the types that the engines read.
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
