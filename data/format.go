package data

import (
	"bytes"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data/internal/labelcells"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
)

// File formats are one table: how a file is recognized, whether it may be compressed, and its
// readers.

// Format is a file format, recognized by the content of a file.
type Format string

// The formats that are read.
const (
	FormatNPY      Format = "npy"
	FormatNPZ      Format = "npz"
	FormatSciPy    Format = "scipy sparse npz"
	FormatIDX      Format = "idx"
	FormatSVMLight Format = "svmlight"
	FormatCSV      Format = "csv"
	FormatJSONL    Format = "jsonl"
	FormatParquet  Format = "parquet"
)

// A fileFormat recognizes and reads the files of a format. Formats of
// arrays need no reader but array, as points, labels and values follow from it.
type fileFormat struct {
	name  Format
	words string // what help and errors call it
	// extensions are of files that are read so although matches fails. matches reports whether
	// a file that begins so has the format. Both are nil where package table knows them.
	extensions []string
	matches    func(head []byte) bool
	text       bool
	packed     bool // may be compressed as a whole, with gzip or zstd
	keys       bool // holds several arrays, by name

	// inspect describes the arrays by their headers alone.
	inspect func(src *source, limit int64, info *FileInfo) error
	// array reads an array of numbers and returns its name for errors.
	array func(src *source, r arrayRequest) (a *npy.Array, what string, err error)
	// points reads points that are no array, or lie in the file as they do in memory, and
	// returns their name for errors.
	points func(src *source, opt ReadOptions) (x Points, what string, err error)
	// table says that the file may have columns with names.
	table bool
	// labels reads at most one label a point.
	labels func(src *source, opt *LabelOptions, f *labelcells.Notes) (*labelcells.Cells, error)
	// values reads numbers.
	values func(src *source, opt ReadOptions) (*mat.Dense, error)
	// lists reads any number of labels a point.
	lists func(src *source, limit int64) (*MultiLabels, error)
	// classMinusOne says that the label −1 is a class unless the caller says that
	// it marks unlabeled points.
	classMinusOne bool
}

// An arrayRequest says which array of a file is read, and what must be true before it is.
type arrayRequest struct {
	// key is the name of the array. Without one it is the array with the usual name, or else the
	// only one.
	key, usual string
	limit      int64 // bytes of memory, 0 for no limit
	// begin, if not nil, sees the header before memory is taken for the array. Its error ends the
	// reading.
	begin func(what string, h *npy.Header) error
}

// check looks at the header of the array that is read next.
func (r *arrayRequest) check(what string, h *npy.Header) error {
	if r.begin != nil {
		if err := r.begin(what, h); err != nil {
			return err
		}
	}
	return h.Within(r.limit, what)
}

// formats are all formats, in the order in which they are tried; tables have no matches.
var formats = []*fileFormat{
	{
		name: FormatNPY, words: ".npy", extensions: []string{".npy"},
		matches: func(head []byte) bool { return bytes.HasPrefix(head, []byte("\x93NUMPY")) },
		packed:  true, inspect: inspectNPY, array: readNPY, points: readPointsNPY,
	},
	{
		name: FormatNPZ, words: ".npz", extensions: []string{".npz"}, keys: true,
		matches: func(head []byte) bool {
			return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06"))
		},
		inspect: inspectNPZ, array: readNPZ, points: readPointsNPZ,
	},
	{
		name: FormatIDX, words: "idx", packed: true,
		matches: func(head []byte) bool {
			return len(head) >= 4 && head[0] == 0 && head[1] == 0 && idxTypes[head[2]] != ""
		},
		inspect: inspectIDX, array: readIDX,
	},
	{
		name: FormatParquet, words: "parquet", table: true,
		points: readTablePoints, labels: readTableLabels, values: readTableValues,
	},
	{
		name: FormatJSONL, words: "JSON Lines", text: true, packed: true, table: true,
		points: readTablePoints, labels: readTableLabels, values: readTableValues,
	},
	{
		name: FormatSVMLight, words: "svmlight", extensions: []string{".svm", ".svmlight", ".libsvm"},
		text: true, packed: true,
		matches: looksSVMLight,
		points:  readSVMLightPoints, labels: readSVMLightLabels, values: noSVMLightValues,
		lists: readSVMLightLists, classMinusOne: true,
	},
	{
		name: FormatCSV, words: "csv", text: true, packed: true, table: true,
		points: readTablePoints, labels: readTextLabels, values: readTextValues,
	},
}

// sniff returns the format of a file with the given extension that begins with head, or nil if it
// is unknown. The extension decides where the content does not: the reader of a damaged file can
// then say where it is wrong.
func sniff(head []byte, ext string) *fileFormat {
	first := func(fits func(f *fileFormat) bool) *fileFormat {
		if p := slices.IndexFunc(formats, fits); p >= 0 {
			return formats[p]
		}
		return nil
	}
	matches := func(f *fileFormat) bool { return f.matches != nil && f.matches(head) }
	named := func(f *fileFormat) bool { return slices.Contains(f.extensions, ext) }

	// Binary formats by their first bytes, then by the extension.
	if f := first(func(f *fileFormat) bool { return !f.text && matches(f) }); f != nil {
		return f
	}
	if f := first(func(f *fileFormat) bool { return !f.text && named(f) }); f != nil {
		return f
	}

	// Package table knows the formats of tables. All text is csv for it, so that a text of
	// another format is looked for first.
	name := Format(table.Sniff(head, ext))
	if name == FormatCSV {
		if f := first(func(f *fileFormat) bool { return f.text && (matches(f) || named(f)) }); f != nil {
			return f
		}
	}
	return first(func(f *fileFormat) bool { return f.name == name })
}

// Formats lists the formats that are read, in words. With packed they are those that may be
// compressed as a whole.
func Formats(packed bool) []string {
	var out []string
	for _, f := range formats {
		if f.packed || !packed {
			out = append(out, f.words)
		}
	}
	return out
}
