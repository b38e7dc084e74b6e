package data

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// manyRows is from where on an array is not read before its length is known to suit.
const manyRows = 1 << 22

// SameRows returns an error if one of two files is long and their headers show that
// they do not hold one row for each of the same points: x those points or their graph, y
// a label, a value or several a point. It reads headers only, so that nothing is inflated
// in vain; where only reading tells, as of text, and for short files, of which readers
// say more, it returns nil.
func SameRows(x, y string) error {
	a := arrayIn(x, "X")
	b := arrayIn(y, "y")
	if a == nil || b == nil {
		return nil
	}
	n := a.Shape[0]
	rows := b.Shape[0]
	if max(n, rows) < manyRows || rows == n || rows == 1 && len(b.Shape) == 2 && b.Shape[1] == n {
		return nil
	}
	return fmt.Errorf("%s has %d points but %s has %d rows: %s %v", x, n, y, rows, b.DType, b.Shape)
}

// sameRows returns a check of headers: a long array must have a row for each of n points, or n
// columns in its only row. Zero points are a number that is not known.
func sameRows(n int) func(what string, h *npy.Header) error {
	return func(what string, h *npy.Header) error {
		if n <= 0 || len(h.Shape) == 0 || h.Len() < manyRows {
			return nil
		}
		rows := h.Shape[0]
		if rows == n || rows == 1 && len(h.Shape) == 2 && h.Shape[1] == n {
			return nil
		}
		return fmt.Errorf("%s: it is %s, but there are %d points; give one row for each", what, h, n)
	}
}

// CheckRows returns an error if the header of a file of labels or values shows that it is long and
// has none of the given numbers of rows. Like [SameRows] it leaves other faults to the readers.
func CheckRows(path string, counts ...int) error {
	a := arrayIn(path, "y")
	if a == nil || a.Shape[0] < manyRows || slices.Contains(counts, a.Shape[0]) {
		return nil
	}
	return fmt.Errorf("%s has %d rows; %s are needed", path, a.Shape[0],
		strings.Trim(strings.ReplaceAll(fmt.Sprint(counts), " ", " or "), "[]"))
}

// Rows returns the number of points, or of points of a graph, in a file as its header
// says; 0 if only reading tells.
func Rows(path string) int {
	if a := arrayIn(path, "X"); a != nil {
		return a.Shape[0]
	}
	return 0
}

// arrayIn describes the array of rows in a file by its header, nil if that is at fault,
// which its reader says.
func arrayIn(path, usual string) *ArrayInfo {
	src, key, err := openKey(path, "", 0)
	if err != nil {
		return nil
	}
	defer src.Close()
	if src.format.inspect == nil {
		return nil
	}
	info := &FileInfo{Format: src.format.name}
	if src.format.inspect(src, 0, info) != nil {
		return nil
	}

	a := info.Array(key, usual)
	if info.Extents != nil && key == "" {
		a = &ArrayInfo{"", "sparse", info.Extents}
	}
	if a == nil || len(a.Shape) == 0 {
		return nil
	}
	return a
}
