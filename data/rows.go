package data

import (
	"fmt"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/sparse"
)

// SameRows returns an error if the headers of two files show that they do not hold one
// row for each of the same points: x those points or their graph, y a label, a value or
// several a point. what names the rows of y. It reads headers only and costs nothing for
// what the files hold; where only reading tells, as of text, it returns nil.
func SameRows(x, y, what string) error {
	n, _ := headerRows(x, "X")
	rows, elements := headerRows(y, "y")
	if n < 0 || rows < 0 || rows == n || elements == n {
		return nil
	}
	return fmt.Errorf("%s has %d points but %s has %d %s", x, n, y, max(rows, elements), what)
}

// headerRows returns the number of rows of the array in a file, and that of its
// elements, or −1 if its header does not tell or is at fault, which its reader says.
func headerRows(path, usual string) (rows, elements int) {
	src, key, err := openKey(path, "")
	if err != nil {
		return -1, -1
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
			return -1, -1
		}
		defer z.Close()
		if key == "" && sparse.IsNPZ(z) {
			n, _, err := sparse.Extents(z)
			if err != nil {
				return -1, -1
			}
			return n, -1
		}
		if key, err = pickKey(z, key, usual); err == nil {
			h, err = z.Header(key)
		}
	}
	if h == nil || err != nil || len(h.Shape) == 0 {
		return -1, -1
	}
	if len(h.Shape) == 1 || h.Shape[0] == 1 || h.Shape[1] == 1 {
		return h.Shape[0], h.Len()
	}
	return h.Shape[0], -1
}
