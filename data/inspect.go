package data

import (
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

// ArrayInfo describes an array in a file.
type ArrayInfo struct {
	Name  string `json:"name,omitempty"` // key in a .npz file, else empty
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
}

// FileInfo describes a file, for people.
type FileInfo struct {
	Path     string      `json:"path"`
	Format   Format      `json:"format"`
	Gzip     bool        `json:"gzip"`
	Zstd     bool        `json:"zstd,omitempty"`
	Size     int64       `json:"size"` // bytes on disk
	Arrays   []ArrayInfo `json:"arrays"`
	Extents  []int       `json:"-"` // of a sparse matrix
	Manifest []byte      `json:"-"` // content of the array "manifest" of a .npz file, or nil
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

// Inspect describes a file by the headers of its arrays. A text file is read
// (opt.Limit, Header and Columns apply).
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

	x, err := src.points(opt)
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	info.Arrays = []ArrayInfo{{DType: "float64", Shape: []int{n, d}}}
	return info, nil
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
