package table

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/bigfit/bigfit/internal/enum"
)

// Format is a format of tables.
type Format string

// The formats of tables.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
	Parquet Format = "parquet"
)

// Formats are the formats of tables in words.
var Formats = []string{"csv", "JSON Lines", "parquet"}

// converts reports whether values of one kind can be read as another. The fields of a csv
// file are text, of which the values decide.
func (f Format) converts(from, to Kind) bool {
	switch {
	case f == CSV:
		return to == Int || to == Float || to == Text || to == Bool
	case f == JSONL && from == Text && to != FloatList:
		return true // of a mixture, which the values decide
	}
	return from == Int && to == Float || (from == Int || from == Float || from == Bool) && to == Text
}

// sniffLen is the number of bytes at the beginning of a file that tell its format.
const sniffLen = 64 << 10

// maxRecord bounds the bytes of a record of text.
const maxRecord = 64 << 20

// text is the content of a text file, decompressed.
type text struct {
	path string
	file *os.File
	r    *bufio.Reader
	zip  string // gzip, zstd or empty
	left int    // bytes that the current record may still take
	stop func()
}

func openText(path string, file *os.File) (*text, error) {
	t := &text{path: path, file: file, left: maxRecord, stop: func() {}}
	return t, t.rewind()
}

// rewind goes to the first byte of the content, after a mark of UTF-8.
func (t *text) rewind() error {
	t.stop()
	t.stop = func() {}
	if _, err := t.file.Seek(0, io.SeekStart); err != nil {
		return t.fault(err)
	}
	raw := bufio.NewReaderSize(t.file, sniffLen)
	var content io.Reader = raw
	head, _ := raw.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		t.zip = "gzip"
		z, err := gzip.NewReader(raw)
		if err != nil {
			return t.fault(err)
		}
		content = z
	case string(head) == "\x28\xb5\x2f\xfd":
		t.zip = "zstd"
		// One at a time starts no goroutine.
		z, err := zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20),
			zstd.WithDecoderLowmem(true))
		if err != nil {
			return t.fault(err)
		}
		t.stop = z.Close
		content = z
	}

	t.left = maxRecord
	t.r = bufio.NewReaderSize(&counted{content, t}, sniffLen)
	if mark, _ := t.r.Peek(3); string(mark) == "\xef\xbb\xbf" {
		t.r.Discard(3)
	}
	return nil
}

// counted ends with an error where a record is too long.
type counted struct {
	r io.Reader
	t *text
}

var errLong = fmt.Errorf("it is longer than %d bytes; a quote may not be closed", maxRecord)

func (c *counted) Read(p []byte) (int, error) {
	if c.t.left <= 0 {
		return 0, errLong
	}
	n, err := c.r.Read(p)
	c.t.left -= n
	return n, err
}

// fault describes a failed read of the content.
func (t *text) fault(err error) error {
	if t.zip != "" && !errors.Is(err, errLong) {
		return fmt.Errorf("%s: the %s stream is truncated or damaged: %w; compress the file again", t.path,
			t.zip, err)
	}
	return fmt.Errorf("%s: %w", t.path, err)
}

// recognize returns the format of a file and its reader.
func recognize(path string, f *os.File, size int64, opt Options) (Format, Engine, error) {
	if size == 0 {
		return "", nil, fmt.Errorf("%s: the file is empty", path)
	}
	var mark [4]byte
	n, err := f.ReadAt(mark[:], 0)
	if err != nil && err != io.EOF {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	if b := markedBinary(mark[:n]); b != nil {
		if err := b.check(path); err != nil {
			return "", nil, err
		}
		eng, err := b.codec.Open(path, f, size, opt)
		return b.format, eng, err
	}

	t, err := openText(path, f)
	if err != nil {
		return "", nil, err
	}
	head, err := t.r.Peek(sniffLen)
	if len(head) == 0 && err != io.EOF {
		return "", nil, t.fault(err)
	}
	name := strings.ToLower(path)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	switch ext := filepath.Ext(name); {
	case bytes.HasPrefix(head, []byte("PAR1")):
		return "", nil, fmt.Errorf("%s: parquet inside %s is not read; decompress the file, as "+
			"parquet compresses its pages itself", path, t.zip)
	case ext == ".parquet":
		return "", nil, fmt.Errorf("%s: it does not begin with \"PAR1\" but with %q, so it is no "+
			"parquet file or damaged; write it again", path, head[:min(len(head), 8)])
	case bytes.IndexByte(head, 0) >= 0:
		return "", nil, fmt.Errorf("%s: the format is not known: the file begins with %q; tables are "+
			"read from %s", path, head[:min(len(head), 16)], enum.And(Formats))
	case ext == ".jsonl", ext == ".ndjson", looksJSON(head):
		r, err := openRecords(&jsonRecords{text: t}, t, opt)
		return JSONL, r, err
	}

	r, err := openRecords(&csvRecords{text: t, opt: opt}, t, opt)
	return CSV, r, err
}

// looksJSON reports whether the first character that is no blank opens an object.
func looksJSON(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{"))
}

// records are the rows of a text format.
type records interface {
	// rewind goes to the first row.
	rewind() error
	// next returns the fields of the next row, valid until the next call, nil for
	// those that are missing. At the end it returns io.EOF. The number of fields may
	// grow where names do.
	next() ([]field, error)
	names() []string
	// line is the line where the last record began, from 1.
	line() int
	hasHeader() bool
}

// field is a value in text.
type field interface {
	missing() bool
	// kind is that of the value, and Any of a missing one.
	kind() Kind
	// add appends the value to v as the kind of its column and returns false if it has
	// another.
	add(v *Values) bool
	// short is the value for errors.
	short() string
}

// textReader reads a table of text.
type textReader struct {
	text    *text
	recs    records
	cols    []Column
	header  bool
	scanned bool
	limit   int64

	chosen []int
	as     []Column
	row    int64
}

// sampleRows are read to tell the kinds of columns.
const sampleRows = 1000

func openRecords(recs records, t *text, opt Options) (*textReader, error) {
	r := &textReader{text: t, recs: recs, limit: opt.Limit}
	if err := r.sample(sampleRows); err != nil {
		return nil, err
	}
	r.header = recs.hasHeader()
	return r, nil
}

// sample sets the columns by the first rows, −1 for all.
func (r *textReader) sample(rows int) error {
	if err := r.recs.rewind(); err != nil {
		return err
	}
	var kinds []Kind
	n := 0
	for ; rows < 0 || n < rows; n++ {
		fields, err := r.recs.next()
		if err == io.EOF {
			r.scanned = true
			break
		}
		if err != nil {
			return err
		}
		for len(kinds) < len(fields) {
			kinds = append(kinds, Any)
		}

		for i, f := range fields {
			if !f.missing() {
				kinds[i] = join(kinds[i], f.kind())
			}
		}
	}

	if n == 0 {
		return fmt.Errorf("%s: there are no rows", r.text.path)
	}
	r.cols = make([]Column, 0, len(kinds))
	for i, name := range r.recs.names() {
		c := Column{Name: name, Kind: Text, Bits: 64}
		if i < len(kinds) && kinds[i] != Any {
			c.Kind = kinds[i]
		}
		if c.Kind == Other {
			c.Why = "a nested object, a list that holds other things than numbers, or a mixture of " +
				"lists and other values"
		}
		r.cols = append(r.cols, c)
	}

	return r.recs.rewind()
}

// join returns the kind that values of both kinds have.
func join(a, b Kind) Kind {
	switch {
	case a == Any || a == b:
		return b
	case a == Other || b == Other || a == FloatList || b == FloatList:
		return Other
	case (a == Int || a == Float) && (b == Int || b == Float):
		return Float
	}
	return Text
}

// Columns returns the columns of the first rows, or of all after Scan.
func (r *textReader) Columns() []Column { return r.cols }

// Rows returns −1: only reading tells.
func (r *textReader) Rows() int64 { return -1 }

// Scan reads all rows for the columns and their kinds.
func (r *textReader) Scan() error {
	if r.scanned {
		return nil
	}
	return r.sample(-1)
}

// Choose sets the columns that Fill reads.
func (r *textReader) Choose(at []int, as []Column) error {
	r.chosen, r.as = at, as
	return nil
}

// textBatch is the most rows of a batch of text, textBytes the most bytes.
const (
	textBatch = 4096
	textBytes = 4 << 20
)

// Fill reads a batch of rows.
func (r *textReader) Fill(b *Batch) error {
	b.lines = make([]int, 0, 64)
	budget := textBytes
	for b.Rows < textBatch && budget > 0 {
		before := r.text.left
		fields, err := r.recs.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		budget -= max(maxRecord-before, 64*len(fields)/8)

		for i, c := range r.chosen {
			v := &b.Values[i]
			if c >= len(fields) || fields[c].missing() {
				v.AppendMissing()
				continue
			}
			if !fields[c].add(v) {
				return r.mismatch(fields[c], b.Columns[i], v)
			}
			if r.as[i].Kind == FloatList && r.as[i].Width == 0 {
				r.as[i].Width, b.Columns[i].Width = v.Width, v.Width
			}
		}

		b.lines = append(b.lines, r.recs.line())
		b.Rows++
		r.row++
	}

	if b.Rows == 0 {
		return io.EOF
	}
	return nil
}

// KindError says that a value has not the kind that its column is read as.
type KindError struct {
	Path   string
	Line   int
	Row    int64
	Column string
	Value  string // quoted, shortened
	Want   Kind
	Remedy string

	guessed bool
}

func (e *KindError) Error() string {
	return fmt.Sprintf("%s: line %d: row %d, column %q is %s, not of kind %s; %s", e.Path, e.Line, e.Row,
		e.Column, e.Value, e.Want, e.Remedy)
}

func (r *textReader) mismatch(f field, c Column, v *Values) error {
	e := &KindError{Path: r.text.path, Line: r.recs.line(), Row: r.row, Column: c.Name, Value: f.short(),
		Want: c.Kind}
	e.Remedy = "mend the value, leave it empty, or read the column as text"
	if c.Kind == FloatList {
		e.Remedy = "every row must hold a list of numbers of one length"
		if v.Width > 0 {
			e.Remedy = fmt.Sprintf("every row must hold a list of %d numbers, as the first one does", v.Width)
		}
	}
	return e
}

// Close closes the file.
func (r *textReader) Close() error {
	r.text.stop()
	return r.text.file.Close()
}
