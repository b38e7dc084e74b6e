package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/fields"
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

// converts reports whether values of one kind can be read as another. The fields of a csv file are
// text; their values decide.
func (f Format) converts(from, to Kind) bool {
	switch {
	case f == CSV:
		return to == Int || to == Float || to == Text || to == Bool
	case f == JSONL && from == Text && to != FloatList:
		return true // a mixture: each value decides for itself
	}
	return from == Int && to == Float || (from == Int || from == Float || from == Bool) && to == Text
}

// Sniff returns the format of a table by the first bytes of its content and the extension of its
// name, in lower case and without .gz or .zst; empty if it is none. The extension counts even if
// the content does not agree, so that the reader of a damaged file names the damage. All text that
// is nothing else is csv.
func Sniff(head []byte, ext string) Format {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if b := markedBinary(head); b != nil {
		return b.format
	}
	if b := binaryOf(ext); b != nil {
		return b.format
	}
	// Text: an object at the beginning is JSON Lines, a zero byte is no text at all.
	switch {
	case bytes.IndexByte(head, 0) >= 0:
		return ""
	case ext == ".jsonl", ext == ".ndjson", bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{")):
		return JSONL
	}
	return CSV
}

// open recognizes the format of the content and opens its reader.
func open(c *fields.Content, opt Options) (Format, Engine, error) {
	head, err := c.Head()
	if err != nil {
		return "", nil, err
	}
	// The extension below the one of the compression counts.
	name := strings.ToLower(c.Path)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	format := opt.Format
	if format == "" {
		format = Sniff(head, filepath.Ext(name))
	}

	switch format {
	case CSV:
		r, err := openRecords(&csvRecords{content: c, opt: opt}, c, opt)
		return format, r, err
	case JSONL:
		opt.Unsampled = false // rows alone name the columns
		r, err := openRecords(&jsonRecords{content: c}, c, opt)
		return format, r, err
	case "":
		return "", nil, fmt.Errorf("%s: the format is not known: the file begins with %q; tables are "+
			"read from %s", c.Path, head[:min(len(head), 16)], enum.And(Formats))
	}
	eng, err := openBinary(c, head, format, opt)
	return format, eng, err
}

// openBinary opens a table in a binary format by its codec.
func openBinary(c *fields.Content, head []byte, format Format, opt Options) (Engine, error) {
	b := binaryNamed(format)
	// A codec reads the file itself, so that it needs the mark at the first byte and no
	// compression.
	switch {
	case markedBinary(head) != b:
		return nil, fmt.Errorf("%s: it does not begin with %q but with %q, so it is no %s file or "+
			"damaged; write it again", c.Path, b.marks[0], head[:min(len(head), 8)], format)
	case c.Packing != "":
		return nil, fmt.Errorf("%s: %s inside %s is not read; decompress the file, as %s compresses its "+
			"pages itself", c.Path, format, c.Packing, format)
	}
	if err := b.check(c.Path); err != nil {
		return nil, err
	}
	return b.codec.Open(c.Path, c.File(), c.Size, opt)
}

// records are the rows of a text format. The fields of a row are valid until the next one.
type records interface {
	// rewind goes to the first row.
	rewind() error
	// next reads the next row and returns the number of its fields, which may grow where
	// names do. At the end it returns io.EOF.
	next() (int, error)
	names() []string
	// line is the line where the row began, from 1, and size the number of its bytes.
	line() int
	size() int
	hasHeader() bool

	// missing reports whether field i of the row has no value.
	missing(i int) bool
	// kind returns the kind of a value that is not missing.
	kind(i int) Kind
	// add appends a value to v as the kind of its column and returns false if it has
	// another.
	add(i int, v *Values) bool
	// quote is the value for errors.
	quote(i int) string
}

// textReader reads a table of text.
type textReader struct {
	content *fields.Content
	recs    records
	cols    []Column
	header  bool
	scanned bool
	limit   int64

	chosen []int
	as     []Column
	row    int64
}

// sampleRows is the number of rows that tell the kinds of columns. A later
// row of another kind is an error that names the row, or makes [Read] read the file again.
const sampleRows = 1000

func openRecords(recs records, c *fields.Content, opt Options) (*textReader, error) {
	c.Limit = opt.Limit
	r := &textReader{content: c, recs: recs, limit: opt.Limit}
	rows := sampleRows
	if opt.Unsampled {
		rows = 0
	}
	if err := r.sample(rows); err != nil {
		return nil, err
	}
	r.header = recs.hasHeader()
	return r, nil
}

// ErrNoRows says that a file has no rows.
var ErrNoRows = errors.New("there are no rows")

// sample sets the columns by the given number of rows, by all rows for −1. Without rows to look at
// the columns are text.
func (r *textReader) sample(rows int) error {
	if err := r.recs.rewind(); err != nil {
		return err
	}
	var kinds []Kind
	n := 0
	for ; rows < 0 || n < rows; n++ {
		count, err := r.recs.next()
		if err == io.EOF {
			r.scanned = true
			break
		}
		if err != nil {
			return err
		}
		for len(kinds) < count {
			kinds = append(kinds, Any)
		}
		// A column has the kind that all of its values have.
		for i := range count {
			if !r.recs.missing(i) {
				kinds[i] = join(kinds[i], r.recs.kind(i))
			}
		}
	}
	if n == 0 && rows != 0 {
		return fmt.Errorf("%s: %w", r.content.Path, ErrNoRows)
	}

	// A column without a value in the sample is text.
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
	r.chosen = at
	r.as = as
	return nil
}

// A batch of text has at most textBatch rows and ends after textBytes bytes, which make a batch
// of numbers that the cache of a processor holds until the caller has copied it.
const (
	textBatch = 4096
	textBytes = 128 << 10
)

// Fill reads a batch of rows.
func (r *textReader) Fill(b *Batch) error {
	b.lines = make([]int, 0, 64)
	budget := textBytes
	for b.Rows < textBatch && budget > 0 {
		count, err := r.recs.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		// Rows of empty fields have few bytes but take memory all the same.
		budget -= max(r.recs.size(), 8*count)
		for i, c := range r.chosen {
			if err := r.fillField(b, i, c, count); err != nil {
				return err
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

// fillField appends the value of the row to chosen column i, which is column c of count in
// the file.
func (r *textReader) fillField(b *Batch, i, c, count int) error {
	v := &b.Values[i]
	// Many columns of csv as one vector are the quick way: no choice for each value.
	if of := r.as[i].Of; of != nil {
		if at := r.recs.(*csvRecords).addVector(of, v); at >= 0 {
			return r.mismatch(at, Column{Name: r.cols[at].Name, Kind: Float}, v)
		}
		return nil
	}
	if c >= count || r.recs.missing(c) {
		v.AppendMissing()
		return nil
	}
	if !r.recs.add(c, v) {
		return r.mismatch(c, b.Columns[i], v)
	}
	// The first list sets the width that all others must have.
	if r.as[i].Kind == FloatList && r.as[i].Width == 0 {
		r.as[i].Width = v.Width
		b.Columns[i].Width = v.Width
	}
	return nil
}

// KindError says that a value has not the kind that its column is read as.
type KindError struct {
	Path   string
	Line   int
	Row    int64
	At     int // number of the column in the file
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

// mismatch is the error about a value that has not the kind of its column, which is column
// at of the file.
func (r *textReader) mismatch(at int, c Column, v *Values) error {
	e := &KindError{
		Path: r.content.Path, Line: r.recs.line(), Row: r.row, At: at, Column: c.Name, Want: c.Kind,
		Value:  r.recs.quote(at),
		Remedy: "mend the value, leave it empty, or read the column as text",
	}
	if c.Kind == FloatList {
		e.Remedy = "every row must hold a list of numbers of one length"
		if v.Width > 0 {
			e.Remedy = fmt.Sprintf("every row must hold a list of %d numbers, as the first one does", v.Width)
		}
	}
	return e
}

// Close closes the file.
func (r *textReader) Close() error { return r.content.Close() }

// guessRows returns how many rows the length of the first one lets expect, 0 if the file is
// compressed.
func (r *textReader) guessRows() int64 {
	c, ok := r.recs.(*csvRecords)
	if !ok || r.content.Packing != "" || r.content.UTF16 {
		return 0
	}
	return r.content.Size/int64(c.first+1) + 1
}
