package table

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// written is a format of results.
type written struct {
	extension string
	manifest  bool // it has room for a manifest
	table     bool // columns stand beside each other
	single    bool // it holds one column
	write     func(o *Output, path string, rows int) error
}

// outputs are the formats that [Write] writes.
var outputs = []written{
	{extension: ".npy", single: true, write: func(o *Output, path string, _ int) error {
		e := o.Columns[0].entry()
		return npy.WriteFile(path, e.Shape, e.Data)
	}},
	{extension: ".npz", manifest: true, write: func(o *Output, path string, _ int) error {
		return npy.WriteArchive(path, o.entries())
	}},
	{extension: ".csv", table: true, write: atomically((*Output).csv)},
	{extension: ".jsonl", table: true, write: atomically((*Output).jsonl)},
	{extension: ".parquet", manifest: true, table: true, write: func(o *Output, path string, rows int) error {
		codec := binaryOf(path).codec
		return atomicfile.Atomically(path, func(w io.Writer) error { return codec.Write(w, o, rows) })
	}},
}

// atomically returns the function that writes a file by a function of a stream.
func atomically(write func(o *Output, w io.Writer, rows int) error) func(*Output, string, int) error {
	return func(o *Output, path string, rows int) error {
		return atomicfile.Atomically(path, func(w io.Writer) error { return write(o, w, rows) })
	}
}

func extensions(ok func(*written) bool) []string {
	var out []string
	for i := range outputs {
		if ok(&outputs[i]) {
			out = append(out, outputs[i].extension)
		}
	}
	return out
}

var (
	// Extensions lists the extensions of the files that [Write] writes.
	Extensions = extensions(func(*written) bool { return true })
	// Several are the extensions of files that may hold several columns.
	Several = extensions(func(f *written) bool { return !f.single })
)

// outputOf returns the format of a file of this name, nil if there is none.
func outputOf(path string) *written {
	at := slices.Index(Extensions, strings.ToLower(filepath.Ext(path)))
	if at < 0 {
		return nil
	}
	return &outputs[at]
}

// CheckExtension returns an error unless [Write] can write files of these names. It skips empty
// names.
func CheckExtension(paths ...string) error {
	for _, path := range paths {
		if path == "" {
			continue
		}
		ext := strings.ToLower(filepath.Ext(path))
		if !slices.Contains(Extensions, ext) {
			return fmt.Errorf("%s: the extension %q is not known; results are written as %s", path, ext,
				strings.Join(Extensions, ", "))
		}
		if b := binaryOf(path); b != nil {
			if err := b.check(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// HasManifest reports whether a file of this name has room for a manifest.
func HasManifest(path string) bool {
	f := outputOf(path)
	return f != nil && f.manifest
}

// IsTable reports whether a file of this name holds a table: columns beside each other.
func IsTable(path string) bool {
	f := outputOf(path)
	return f != nil && f.table
}

// IsSingle reports whether a file of this name holds one column only.
func IsSingle(path string) bool {
	f := outputOf(path)
	return f != nil && f.single
}

// Output is a result to be written: one row a point.
type Output struct {
	// IDs name the rows, as the column "id". Without them the column "row" has the numbers of the
	// rows, unless there is a column of this name.
	IDs     []string
	Columns []Result
	// Manifest is JSON that goes into .npz, as the array "manifest", and into parquet, as
	// metadata of the key "bigfit"; the other formats have no room for it.
	Manifest string
	// CSVSafe says that csv has ' in front of texts that a spreadsheet would take for formulas.
	CSVSafe bool
}

// Result is a column of an output.
type Result struct {
	Name string
	// Values are a slice of int64, int32, float64, float32, string or bool, row by row.
	Values any
	// Width is the number of values of a row. 0 means one value, and one dimension in .npy; 1 means
	// one value and two dimensions.
	Width int
	// Names are the names of the values of a row in csv. Default: the name of the column followed
	// by _0, _1, …
	Names []string
}

// rows returns the number of rows.
func (r *Result) rows() int {
	n := 0
	switch v := r.Values.(type) {
	case []int64:
		n = len(v)
	case []int32:
		n = len(v)
	case []float64:
		n = len(v)
	case []float32:
		n = len(v)
	case []string:
		n = len(v)
	case []bool:
		n = len(v)
	}

	return n / max(r.Width, 1)
}

// Write writes a result in the format that the extension of path names; see [Extensions].
//
//   - .npy holds the only column, without ids.
//   - .npz holds a column an array, and the ids if they are given.
//   - .csv has a header and a column "id", or "row" where there are no ids; a column of some
//     width is as many columns.
//   - .jsonl has an object a row, with "id" or "row", a list where a column has a width, and null for
//     numbers that are not finite.
//   - .parquet has a column "id" or "row" and lists, in row groups.
//
// The file appears whole or not at all, and the same output gives the same bytes. Beyond
// the output itself a batch of rows is held.
func Write(path string, o *Output) error {
	if err := CheckExtension(path); err != nil {
		return err
	}
	// All columns and the ids must have the same rows.
	rows := -1
	for i := range o.Columns {
		n := o.Columns[i].rows()
		if rows >= 0 && n != rows || o.IDs != nil && n != len(o.IDs) {
			return fmt.Errorf("%s: column %q has %d rows, not as many as the others or the ids", path,
				o.Columns[i].Name, n)
		}
		rows = n
	}

	f := outputOf(path)
	if f.single && len(o.Columns) != 1 {
		return fmt.Errorf("%s: %s holds one array and there are %d; write %s", path, f.extension,
			len(o.Columns), enum.Or(Several))
	}
	return f.write(o, path, rows)
}

func (r *Result) entry() archive.Array {
	e := archive.Array{Name: r.Name, Data: r.Values}
	if r.Width > 0 {
		e.Shape = []int{r.rows(), r.Width}
	}
	return e
}

func (o *Output) entries() []archive.Array {
	var out []archive.Array
	if o.IDs != nil {
		out = append(out, archive.Array{Name: "id", Data: o.IDs})
	}
	for i := range o.Columns {
		out = append(out, o.Columns[i].entry())
	}
	if o.Manifest != "" {
		out = append(out, archive.Array{Name: "manifest", Data: []byte(o.Manifest)})
	}
	return out
}

// Key returns the name of the first column, which tells the rows apart: "id", "row", or "" if a
// column of the output holds the numbers of the rows.
func (o *Output) Key() string {
	switch {
	case o.IDs != nil:
		return "id"
	case slices.ContainsFunc(o.Columns, func(r Result) bool { return r.Name == "row" }):
		return ""
	}
	return "row"
}

// id is the name of row i.
func (o *Output) id(i int) string {
	if o.IDs != nil {
		return o.IDs[i]
	}
	return strconv.Itoa(i)
}

// text is value k as csv has it.
func (r *Result) text(k int) string {
	switch v := r.Values.(type) {
	case []int64:
		return strconv.FormatInt(v[k], 10)
	case []int32:
		return strconv.FormatInt(int64(v[k]), 10)
	case []float64:
		return strconv.FormatFloat(v[k], 'g', -1, 64)
	case []float32:
		return strconv.FormatFloat(float64(v[k]), 'g', -1, 32)
	case []string:
		return v[k]
	case []bool:
		return strconv.FormatBool(v[k])
	}

	return ""
}

// safe returns a text with ' in front if a spreadsheet would take it for a formula. Numbers are none.
func safe(text string) string {
	if text == "" || !strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return text
	}
	if _, ok := fields.Number([]byte(text)); ok {
		return text
	}
	return "'" + text
}

func (o *Output) csv(out io.Writer, rows int) error {
	w := csv.NewWriter(bufio.NewWriterSize(out, 1<<20))
	var record []string
	key := o.Key()
	if key != "" {
		record = append(record, key)
	}
	for _, c := range o.Columns {
		for j := range max(c.Width, 1) {
			switch {
			case c.Names != nil:
				record = append(record, c.Names[j])
			case c.Width > 0:
				record = append(record, fmt.Sprintf("%s_%d", c.Name, j))
			default:
				record = append(record, c.Name)
			}
		}
	}

	// The header is written first, then a record a row.
	for i := 0; ; i++ {
		if o.CSVSafe {
			for k, text := range record {
				record[k] = safe(text)
			}
		}
		if err := w.Write(record); err != nil {
			return err
		}
		if i >= rows {
			break
		}
		record = record[:0]
		if key != "" {
			record = append(record, o.id(i))
		}
		for c := range o.Columns {
			width := max(o.Columns[c].Width, 1)
			for j := range width {
				record = append(record, o.Columns[c].text(i*width+j))
			}
		}
	}

	w.Flush()
	return w.Error()
}

// json appends value k as JSON.
func (r *Result) json(b []byte, k int) ([]byte, error) {
	switch v := r.Values.(type) {
	// JSON has no NaN and no infinity.
	case []float64:
		if math.IsNaN(v[k]) || math.IsInf(v[k], 0) {
			return append(b, "null"...), nil
		}
	case []float32:
		if v[k]-v[k] != 0 {
			return append(b, "null"...), nil
		}
	case []string:
		text, err := json.Marshal(v[k])
		return append(b, text...), err
	}
	return append(b, r.text(k)...), nil
}

func (o *Output) jsonl(out io.Writer, rows int) error {
	w := bufio.NewWriterSize(out, 1<<20)
	// Keys are the same in each line, so they are quoted once.
	names := make([]string, len(o.Columns))
	for c := range names {
		name, err := json.Marshal(o.Columns[c].Name)
		if err != nil {
			return err
		}
		names[c] = string(name)
	}

	var line []byte
	key := o.Key()
	for i := range rows {
		line = append(line[:0], '{')
		switch key {
		case "row":
			line = append(line, `"row": `...)
			line = strconv.AppendInt(line, int64(i), 10)
		case "id":
			id, err := json.Marshal(o.IDs[i])
			if err != nil {
				return err
			}
			line = append(line, `"id": `...)
			line = append(line, id...)
		}

		for c := range o.Columns {
			r := &o.Columns[c]
			if len(line) > 1 {
				line = append(line, ", "...)
			}
			line = append(append(line, names[c]...), ": "...)
			if r.Width > 0 {
				line = append(line, '[')
			}
			width := max(r.Width, 1)
			for j := range width {
				if j > 0 {
					line = append(line, ", "...)
				}
				var err error
				if line, err = r.json(line, i*width+j); err != nil {
					return err
				}
			}

			if r.Width > 0 {
				line = append(line, ']')
			}
		}

		if _, err := w.Write(append(line, "}\n"...)); err != nil {
			return err
		}
	}

	return w.Flush()
}
