package data

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/sparse"
)

// ReadOptions says how points are read. The zero value reads whatever the file
// holds.
type ReadOptions struct {
	// Key names the array in a .npz file. Default: the key given with the path
	// ("file.npz:key"), else "X", else the only array.
	Key string
	// Limit bounds the memory in bytes that reading may take; beyond it the
	// error is an *npy.LimitError. Default: no bound.
	Limit int64
	// Header says that the first line of a csv file is a header even if it
	// holds numbers. Default: it is one if none of its fields is a number.
	Header bool
	// Columns is the number of columns of points in svmlight form, for a file
	// that does not use the last ones. Default: the largest index in the file.
	Columns int
}

// Format is a file format that is told by the content of a file.
type Format string

// The formats that are read.
const (
	FormatNPY      Format = "npy"
	FormatNPZ      Format = "npz"
	FormatSciPy    Format = "scipy sparse npz"
	FormatIDX      Format = "idx"
	FormatSVMLight Format = "svmlight"
	FormatCSV      Format = "csv"
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
	Size     int64       `json:"size"` // bytes on disk
	Arrays   []ArrayInfo `json:"arrays"`
	Manifest []byte      `json:"-"` // content of the array "manifest" of a .npz file, or nil
}

// Inspect tells what is in a file: from the headers of binary files, and by
// reading text files (opt.Limit, Header and Columns apply).
func Inspect(path string, opt ReadOptions) (*FileInfo, error) {
	src, err := openSource(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	info := &FileInfo{Path: src.path, Format: src.format, Gzip: src.gzip, Size: src.size}
	switch src.format {
	case FormatNPY:
		h, err := npy.ReadHeader(src.path)
		if err != nil {
			return nil, err
		}
		info.Arrays = []ArrayInfo{{DType: h.DType, Shape: h.Shape}}
	case FormatNPZ:
		a, err := npy.OpenArchive(src.path, opt.Limit)
		if err != nil {
			return nil, err
		}
		defer a.Close()
		if sparse.IsNPZ(a) {
			info.Format = FormatSciPy
		}
		for _, name := range a.Names() {
			h, err := a.Header(name)
			if err != nil {
				return nil, err
			}
			info.Arrays = append(info.Arrays, ArrayInfo{name, h.DType, h.Shape})
		}
		if info.Manifest, err = sparse.ReadManifest(src.path); err != nil {
			return nil, err
		}
	case FormatIDX:
		h, err := readIDXHeader(src)
		if err != nil {
			return nil, err
		}
		info.Arrays = []ArrayInfo{{DType: h.DType, Shape: h.Shape}}
	default:
		x, err := ReadPoints(path, opt)
		if err != nil {
			return nil, err
		}
		n, d := x.Dims()
		info.Arrays = []ArrayInfo{{DType: "float64", Shape: []int{n, d}}}
	}
	return info, nil
}

// ReadPoints reads a set of n points in d dimensions. The format is told by
// the content of the file:
//
//   - .npy and dense .npz: float32, float64 and uint8 are kept, other integers
//     and bool become float64 (beyond ±2⁵³ only if exact). One dimension is n×1; of more than
//     two the trailing ones are joined, so n×28×28 images are n×784.
//   - .npz written by scipy.sparse.save_npz, and svmlight text: *sparse.CSR.
//   - idx, MNIST's own format, with elements and shapes as in .npy.
//   - csv: one point a line, numbers separated by commas, semicolons, tabs or
//     blanks, with or without a line of column names; *Dense[float64].
//
// idx and text files may be compressed with gzip. The path may end in ":key"
// to name the array of a .npz file.
//
// NaN and infinite values are errors, as are sets without rows or columns. An
// error names the file and the place, rows and columns counted from 0 and
// lines of text from 1.
func ReadPoints(path string, opt ReadOptions) (Points, error) {
	src, err := openSource(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if opt.Key == "" {
		opt.Key = src.key
	}
	if opt.Key != "" && src.format != FormatNPZ {
		return nil, fmt.Errorf("%s: key %q is given, but the file is %s, not .npz", src.path, opt.Key, src.format)
	}
	var x Points
	switch src.format {
	case FormatNPY:
		a, err := npy.ReadFile(src.path, opt.Limit)
		if err != nil {
			return nil, err
		}
		x, err = toPoints(src.path, a, opt.Limit)
		if err != nil {
			return nil, err
		}
	case FormatNPZ:
		if x, err = readPointsNPZ(src.path, opt); err != nil {
			return nil, err
		}
	case FormatIDX:
		a, err := readIDX(src, opt.Limit)
		if err != nil {
			return nil, err
		}
		if x, err = toPoints(src.path, a, opt.Limit); err != nil {
			return nil, err
		}
	case FormatSVMLight:
		m, _, err := readSVMLight(src, opt.Limit, opt.Columns, true)
		if err != nil {
			return nil, err
		}
		x = m
	default:
		if x, err = readCSV(src, opt); err != nil {
			return nil, err
		}
	}
	if n, d := x.Dims(); n == 0 || d == 0 {
		return nil, fmt.Errorf("%s: it holds %d points of %d columns; at least one of each is needed", src.path, n, d)
	}
	return x, nil
}

// source is a file whose format is known.
type source struct {
	path   string
	key    string // given with the path
	format Format
	gzip   bool
	size   int64 // bytes on disk
	file   *os.File
	r      *bufio.Reader // the content, decompressed, from its first byte
}

func (s *source) Close() error { return s.file.Close() }

// fault is an error about the file as a whole.
func (s *source) fault(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{s.path}, args...)...)
}

// readError describes a failed read of the content.
func (s *source) readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
		return s.fault("the gzip stream is truncated or damaged: %w; compress the file again", err)
	}
	return s.fault("%w", err)
}

// splitKey cuts "file.npz:key" unless a file of the whole name exists.
func splitKey(path string) (file, key string) {
	if _, err := os.Stat(path); err != nil {
		if i := strings.LastIndexByte(path, ':'); i > 0 {
			if _, err := os.Stat(path[:i]); err == nil {
				return path[:i], path[i+1:]
			}
		}
	}
	return path, ""
}

// sniffLen is how much of a file is looked at to tell its format.
const sniffLen = 64 << 10

// openSource opens a file and tells its format.
func openSource(path string) (_ *source, err error) {
	s := &source{}
	s.path, s.key = splitKey(path)
	if s.file, s.size, err = npy.OpenRegular(s.path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.file.Close()
		}
	}()
	if s.size == 0 {
		return nil, s.fault("the file is empty")
	}
	s.r = bufio.NewReaderSize(s.file, sniffLen)
	if head, _ := s.r.Peek(2); string(head) == "\x1f\x8b" {
		s.gzip = true
		z, err := gzip.NewReader(s.r)
		if err != nil {
			return nil, s.readError(err)
		}
		s.r = bufio.NewReaderSize(z, sniffLen)
	}
	head, err := s.r.Peek(sniffLen)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, s.readError(err)
	}
	name := strings.ToLower(s.path)
	if s.gzip {
		name = strings.TrimSuffix(name, ".gz")
	}
	if s.format = sniff(head, filepath.Ext(name)); s.format == "" {
		return nil, s.fault("the format is not known: the file begins with %q; .npy, .npz, idx, svmlight and csv are read", head[:min(len(head), 16)])
	}
	if s.gzip && (s.format == FormatNPY || s.format == FormatNPZ) {
		return nil, s.fault("%s inside gzip is not read; decompress it with gunzip, or write it with numpy.savez_compressed", s.format)
	}
	return s, nil
}

// sniff tells the format by the first bytes and, for text that may be either,
// by the extension. It returns "" for anything else.
func sniff(head []byte, ext string) Format {
	switch {
	case bytes.HasPrefix(head, []byte("\x93NUMPY")):
		return FormatNPY
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return FormatNPZ
	case len(head) >= 4 && head[0] == 0 && head[1] == 0 && idxTypes[head[2]] != "":
		return FormatIDX
	case ext == ".npy":
		return FormatNPY // its reader says what is wrong with it
	case ext == ".npz":
		return FormatNPZ
	case bytes.IndexByte(head, 0) >= 0:
		return ""
	case looksSVMLight(head):
		return FormatSVMLight
	case ext == ".svm" || ext == ".svmlight" || ext == ".libsvm":
		return FormatSVMLight
	}
	return FormatCSV
}

// finite returns an error for the first NaN or infinite value; what names the
// data in it.
func finite[T float32 | float64](what string, x *Dense[T]) error {
	const grain = 1 << 16
	bad := make([]int, par.Chunks(len(x.Data), grain))
	par.For(len(x.Data), grain, func(lo, hi int) {
		// x·0 is 0 for a finite x and NaN for any other.
		var s0, s1, s2, s3 T
		v := x.Data[lo:hi]
		for ; len(v) >= 4; v = v[4:] {
			s0 += v[0] * 0
			s1 += v[1] * 0
			s2 += v[2] * 0
			s3 += v[3] * 0
		}
		for _, e := range v {
			s0 += e * 0
		}
		if s0+s1+s2+s3 == 0 {
			return
		}
		for i, e := range x.Data[lo:hi] {
			if e*0 != 0 {
				bad[lo/grain] = lo + i + 1
				return
			}
		}
	})
	for _, b := range bad {
		if b > 0 {
			return fmt.Errorf("%s: row %d, column %d is %v; every value must be finite: remove or impute it", what, (b-1)/x.Cols, (b-1)%x.Cols, x.Data[b-1])
		}
	}
	return nil
}

// integer reports whether v is an integer that int64 holds exactly.
func integer(v float64) bool { return v == math.Trunc(v) && v >= -1<<63 && v < 1<<63 }
