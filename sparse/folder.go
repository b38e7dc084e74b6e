package sparse

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/numbers"
)

// A graph folder holds a square matrix with n rows and m entries, row by row, as files that
// are mapped. "?" marks files that may be missing:
//
//	file            dtype    shape  meaning
//	indptr.npy      int64    n+1    row i has the entries indptr[i] to indptr[i+1]−1
//	indices.npy     int32    m      column of each entry, ascending in a row; int64 is read too
//	data.npy ?      float64  m      value of each entry; 1 everywhere without the file
//	manifest.json ? text            the manifest of package archive, as it stands in a .npz file
//	bigfit-folder.json ?            the mark of a folder that bigfit wrote and may replace
//
// [Read] takes a folder or a .npz file. Passes in order (checks, degrees, components, hashes) give
// pages back as they go. [Open] checks no row, for jobs that check their own rows. Folders
// are written under a temporary name, swapped by renameat2, and locked like temporary files.

// Names of the files of a graph folder.
const (
	folderPtr      = "indptr.npy"
	folderCol      = "indices.npy"
	folderVal      = "data.npy"
	folderManifest = "manifest.json"
)

// folderHolds is the mark of a graph folder.
const folderHolds = "a graph"

var folderFiles = []string{folderPtr, folderCol, folderVal, folderManifest}

// IsFolder reports whether path is a folder that holds a matrix.
func IsFolder(path string) bool {
	info, err := os.Stat(filepath.Join(path, folderPtr))
	return err == nil && info.Mode().IsRegular()
}

// ReadFolder reads a square matrix from a folder of .npy files, as [FolderWriter] and
// bigfit graph -o DIR/ write it: indptr.npy (int64, n+1), indices.npy (int32 or int64) and
// data.npy (float64), which is missing where every entry is 1. Columns ascend in each row.
//
// Files are mapped into memory, so that the matrix may be larger than that: it is valid
// until they change, and must not be written to. Columns of int64 are copied as int32,
// within limit bytes if that is positive. All is checked in one pass over the rows, which
// gives pages back as it goes, and an error names the file and the place.
func ReadFolder(path string, limit int64) (*CSR, error) {
	m, err := openFolder(path, limit)
	if err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "sparse: "))
	}
	if allOnes(m.Val) {
		m.Val = nil
	}
	return m, nil
}

// openFolder maps a folder and checks the lengths of its arrays, but no row.
func openFolder(path string, limit int64) (*CSR, error) {
	ptr, err := npy.Elements[int64](filepath.Join(path, folderPtr), limit)
	if err != nil {
		return nil, err
	}
	m := &CSR{Rows: len(ptr) - 1, Cols: len(ptr) - 1, Ptr: ptr}
	if m.Rows < 0 || m.Rows > math.MaxInt32 {
		return nil, fmt.Errorf("%s: %d elements, for a matrix of %d rows; from 0 to 2³¹−1 are accepted",
			filepath.Join(path, folderPtr), len(ptr), m.Rows)
	}
	if m.Col, err = folderColumns(filepath.Join(path, folderCol), limit); err != nil {
		return nil, err
	}

	values := filepath.Join(path, folderVal)
	if _, err := os.Stat(values); !errors.Is(err, fs.ErrNotExist) {
		if m.Val, err = npy.Elements[float64](values, limit); err != nil {
			return nil, err
		}
		if m.Val == nil {
			m.Val = []float64{}
		}
	}

	// Lengths are compared here, rows by the caller.
	if err := m.checkArrays(); err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "sparse: "))
	}
	return m, nil
}

// folderColumns returns the columns in a file of int32 or int64.
func folderColumns(path string, limit int64) ([]int32, error) {
	h, err := npy.ReadHeader(path)
	if err != nil {
		return nil, err
	}
	if h.DType != "int64" {
		return npy.Elements[int32](path, limit)
	}
	if need := 4 * int64(h.Len()); limit > 0 && need > limit {
		return nil, &npy.LimitError{What: path, Need: need, Limit: limit}
	}

	// Narrowed step by step, so that little of the wide file is in memory.
	wide, err := npy.Elements[int64](path, limit)
	if err != nil {
		return nil, err
	}
	out := make([]int32, 0, len(wide))
	for len(wide) > 0 {
		step := wide[:min(len(wide), passEntries)]
		for _, c := range step {
			if c < 0 || c > math.MaxInt32 {
				return nil, fmt.Errorf("%s: element %d is %d, outside [0, 2³¹)", path, len(out), c)
			}
			out = append(out, int32(c))
		}
		mapped.Drop(numbers.Bytes(step))
		wide = wide[len(step):]
	}

	return out, nil
}

// WriteFolder writes m, which is square, as a folder that [ReadFolder] reads. A manifest
// that is not nil becomes manifest.json. The folder appears whole or not at all; a folder with another
// matrix that bigfit wrote is replaced.
func WriteFolder(path string, m *CSR, manifest []byte) error {
	if m.Rows != m.Cols {
		return fmt.Errorf("%s: a folder holds square matrices, this one is %d×%d", path, m.Rows, m.Cols)
	}
	return CreateFolder(path, m.Val != nil, func(w *FolderWriter) ([]byte, error) {
		return manifest, w.Append(m.Ptr, m.Col, m.Val)
	})
}

// CheckFolder returns an error unless [CreateFolder] can begin to write path, so that a long
// run does not end in that error.
func CheckFolder(path string) error { return atomicfile.CheckFolder(path, folderHolds, folderFiles) }

// FolderWriter writes a matrix row by row into a folder: see [CreateFolder].
type FolderWriter struct {
	ptr   *npy.Growing[int64]
	col   *npy.Growing[int32]
	val   *npy.Growing[float64] // nil where every entry is 1
	width int                   // columns that are needed so far
}

// RemoveFolder removes a folder that this process wrote. A matrix that was read of it must not be used any more.
func RemoveFolder(path string) error {
	for _, name := range folderFiles {
		mapped.Forget(filepath.Join(path, name))
	}
	return os.RemoveAll(path)
}

// CreateFolder writes a square matrix into the folder path: write appends all of its rows in their
// order and returns the manifest, or nil. It needs memory for the rows of one call of Append. The
// folder appears whole or not at all; a folder with another matrix that bigfit wrote is replaced.
func CreateFolder(path string, values bool, write func(*FolderWriter) (manifest []byte, err error)) error {
	return atomicfile.Folder(path, folderHolds, folderFiles, func(dir string) (err error) {
		w := &FolderWriter{}
		if w.ptr, err = npy.NewGrowing[int64](filepath.Join(dir, folderPtr)); err != nil {
			return err
		}
		defer w.ptr.Close()
		if w.col, err = npy.NewGrowing[int32](filepath.Join(dir, folderCol)); err != nil {
			return err
		}
		defer w.col.Close()

		if values {
			if w.val, err = npy.NewGrowing[float64](filepath.Join(dir, folderVal)); err != nil {
				return err
			}
			defer w.val.Close()
		}

		// Offsets begin with 0; each row adds its end.
		if err := w.ptr.Append([]int64{0}); err != nil {
			return err
		}
		manifest, err := write(w)
		if err != nil {
			return err
		}
		if rows := w.ptr.Len() - 1; w.width > rows {
			return fmt.Errorf("sparse: %d rows, but an entry in column %d of a square matrix", rows,
				w.width-1)
		}

		err = errors.Join(w.ptr.Close(), w.col.Close())
		if w.val != nil {
			err = errors.Join(err, w.val.Close())
		}
		if err != nil || manifest == nil {
			return err
		}
		return writeText(filepath.Join(dir, folderManifest), manifest)
	})
}

// Append writes the rows with the entries col[ptr[i]−ptr[0]:ptr[i+1]−ptr[0]], ascending, and their
// values; nil values are ones.
func (w *FolderWriter) Append(ptr []int64, col []int32, val []float64) error {
	first := ptr[0]
	if ptr[len(ptr)-1]-first != int64(len(col)) || val != nil && len(val) != len(col) {
		return fmt.Errorf("sparse: %d offsets from %d to %d for %d columns and %d values", len(ptr), first,
			ptr[len(ptr)-1], len(col), len(val))
	}
	for _, c := range col {
		w.width = max(w.width, int(c)+1)
	}
	// The offsets of this call begin at any number; the file counts from its first entry.
	base := int64(w.col.Len()) - first
	const most = 1 << 16
	chunk := make([]int64, 0, min(most, len(ptr)))
	for at := 1; at < len(ptr); at += most {
		chunk = chunk[:0]
		for _, p := range ptr[at:min(at+most, len(ptr))] {
			chunk = append(chunk, base+p)
		}
		if err := w.ptr.Append(chunk); err != nil {
			return err
		}
	}

	if err := w.col.Append(col); err != nil || w.val == nil {
		return err
	}
	if val != nil {
		return w.val.Append(val)
	}

	// These rows have ones, but the folder has values.
	ones := make([]float64, min(most, len(col)))
	for i := range ones {
		ones[i] = 1
	}
	for left := len(col); left > 0; left -= len(ones) {
		if err := w.val.Append(ones[:min(left, len(ones))]); err != nil {
			return err
		}
	}
	return nil
}
