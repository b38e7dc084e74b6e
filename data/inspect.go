package data

import (
	"errors"
	"io"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/sparse"
)

// ArrayInfo describes an array in a file.
type ArrayInfo struct {
	Name  string `json:"name,omitempty"` // key in a .npz file, else empty
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
}

// ColumnInfo describes a column of a table.
type ColumnInfo struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`            // of the values, as "integer" or "list of numbers"
	Width int    `json:"width,omitempty"` // of lists
}

// FileInfo describes a file, for people.
type FileInfo struct {
	Path   string      `json:"path"`
	Format Format      `json:"format"`
	Gzip   bool        `json:"gzip"`
	Zstd   bool        `json:"zstd,omitempty"`
	Size   int64       `json:"size"` // bytes on disk
	Arrays []ArrayInfo `json:"arrays"`
	// Columns are the columns of a table, and Rows counts its rows; Rows is nil where the
	// values are of other kinds than the first ones.
	Columns []ColumnInfo `json:"columns,omitempty"`
	Rows    *int64       `json:"rows,omitempty"`
	// Extents are the numbers of rows and columns of a sparse matrix.
	Extents []int `json:"-"`
	// Manifest is the array "manifest" of a .npz file, or the metadata "bigfit" of a table;
	// nil if the file has neither.
	Manifest []byte `json:"-"`
}

// Array returns the array that readers choose: that of the key, or without one the array
// with the usual name, or else the only one; nil if there is none.
func (f *FileInfo) Array(key, usual string) *ArrayInfo {
	for i := range f.Arrays {
		if x := &f.Arrays[i]; x.Name == key || key == "" && (x.Name == usual || len(f.Arrays) == 1) {
			return x
		}
	}
	return nil
}

// Inspect describes a file by the headers of its arrays, or a table by its columns. Text is read
// (opt.Limit, Header and Columns apply): csv without names of columns is described as the array
// of numbers that it is, if it is one.
//
// Nothing else recognizes what files hold: readers of points, labels and values, and the command
// that describes a file, all begin with the formats of this package.
func Inspect(path string, opt ReadOptions) (*FileInfo, error) {
	src, err := openSource(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	info := &FileInfo{Path: src.path, Format: src.format.name, Gzip: src.Packing == "gzip",
		Zstd: src.Packing == "zstd", Size: src.Size}
	if src.format.inspect != nil {
		if err := src.format.inspect(src, opt.Limit, info); err != nil {
			return nil, err
		}
		return info, nil
	}
	if src.format.table {
		return info, src.inspectTable(opt, info)
	}
	return info, src.inspectPoints(opt, info)
}

// inspectPoints describes text by the points in it.
func (s *source) inspectPoints(opt ReadOptions, info *FileInfo) error {
	x, err := s.points(opt)
	if err != nil {
		return err
	}
	n, d := x.Dims()
	info.Arrays = []ArrayInfo{{DType: "float64", Shape: []int{n, d}}}
	return nil
}

// inspectTable describes a table by its columns.
func (s *source) inspectTable(opt ReadOptions, info *FileInfo) error {
	options := table.Options{Limit: opt.Limit, Format: table.Format(s.format.name)}
	if opt.Header {
		options.Header = table.HeaderYes
	}
	t, err := table.Open(s.path, options)
	if err != nil {
		return err
	}
	defer t.Close()

	// Columns without names say little, where all are numbers.
	if s.format.name == FormatCSV && !t.Header() && s.inspectPoints(opt, info) == nil {
		return nil
	}
	for _, c := range t.Columns() {
		kind := c.Kind.String()
		if c.Kind == table.Other {
			kind = c.Why
		}
		info.Columns = append(info.Columns, ColumnInfo{c.Name, kind, c.Width})
	}
	if text, ok := t.Metadata("bigfit"); ok {
		info.Manifest = []byte(text)
	}
	info.Rows, err = countRows(t)
	return err
}

// countRows returns the number of rows of a table. It is nil where the kinds of columns, which the
// first rows tell, do not suit a later row.
func countRows(t *table.Reader) (*int64, error) {
	rows, known := t.Rows()
	for !known {
		b, err := t.Next()
		if err == io.EOF {
			break
		}
		if kind := (*table.KindError)(nil); errors.As(err, &kind) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		rows += int64(b.Rows)
	}
	return &rows, nil
}

func inspectNPY(src *source, _ int64, info *FileInfo) error {
	read := func() (*npy.Header, error) { return npy.ReadHeader(src.path) }
	if src.Packing != "" {
		read = func() (*npy.Header, error) { return npy.StreamHeader(src.R) }
	}
	h, err := read()
	if err != nil {
		return err
	}
	info.Arrays = []ArrayInfo{{DType: h.DType, Shape: h.Shape}}
	return nil
}

func inspectNPZ(src *source, limit int64, info *FileInfo) error {
	a, err := npy.OpenArchive(src.path, limit)
	if err != nil {
		return err
	}
	defer a.Close()

	if a.IsSparse() {
		info.Format = FormatSciPy
		if _, rows, cols, err := a.SparseForm(); err == nil {
			info.Extents = []int{rows, cols}
		}
	}

	for _, name := range a.Names() {
		h, err := a.Header(name)
		if err != nil {
			return err
		}
		info.Arrays = append(info.Arrays, ArrayInfo{name, h.DType, h.Shape})
	}

	info.Manifest, err = sparse.ReadManifest(src.path)
	return err
}

func inspectIDX(src *source, _ int64, info *FileInfo) error {
	h, err := readIDXHeader(src)
	if err != nil {
		return err
	}
	info.Arrays = []ArrayInfo{{DType: h.DType, Shape: h.Shape}}
	return nil
}
