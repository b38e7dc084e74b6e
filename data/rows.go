package data

import (
	"fmt"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/sparse"
)

// manyBytes is from where on an array is not read before its length is known to suit.
const manyBytes = 64 << 20

// SameRows returns an error if one of two files is large and their headers show that
// they do not hold one row for each of the same points: x those points or their graph, y
// a label, a value or several a point. It reads headers only, so that nothing is inflated
// in vain; where only reading tells, as of text, and for small files, of which readers
// say more, it returns nil.
func SameRows(x, y string) error {
	hx, hy := headerOf(x, "X"), headerOf(y, "y")
	if hx == nil || hy == nil || len(hx.Shape) == 0 || len(hy.Shape) == 0 || max(hx.Bytes(), hy.Bytes()) < manyBytes {
		return nil
	}
	n, rows := hx.Shape[0], hy.Shape[0]
	if rows == n || rows == 1 && hy.Len() == n {
		return nil
	}
	return fmt.Errorf("%s has %d points but %s has %d rows: %s", x, n, y, rows, hy)
}

// headerOf returns the header of the array in a file, of a sparse matrix one with its
// extents; nil if there is none or it is at fault, which its reader says.
func headerOf(path, usual string) *npy.Header {
	src, key, err := openKey(path, "")
	if err != nil {
		return nil
	}
	defer src.Close()
	var h *npy.Header
	switch src.format.name {
	case FormatNPY:
		h, err = npy.ReadHeader(src.path)
	case FormatIDX:
		h, err = readIDXHeader(src)
	case FormatNPZ:
		var z *npy.Archive
		if z, err = npy.OpenArchive(src.path, 0); err != nil {
			return nil
		}
		defer z.Close()
		if key == "" && sparse.IsNPZ(z) {
			n, _, fault := sparse.Extents(z)
			if fault != nil {
				return nil
			}
			h, err = npy.NewHeader("<f8", []int{n}, false)
		} else if key, err = pickKey(z, key, usual); err == nil {
			h, err = z.Header(key)
		}
	}
	if err != nil {
		return nil
	}
	return h
}
