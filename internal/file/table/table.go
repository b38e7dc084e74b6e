// Package table reads and writes tables: columns with names, one row a point. The
// formats are csv, JSON Lines and parquet; the text ones may be compressed with gzip or
// zstd.
//
// A table is read in batches of rows, so that its size is not bounded by memory:
//
//	r, err := table.Open("metadata_0.parquet", table.Options{})
//	if err != nil {
//		return err
//	}
//	defer r.Close()
//	// Any reads a column as it is in the file; Text reads numbers as they are written.
//	if err := r.Choose(table.Column{Name: "id", Kind: table.Text}, table.Column{Name: "embedding"}); err != nil {
//		return err
//	}
//	for {
//		b, err := r.Next() // valid until the next call
//		if err == io.EOF {
//			break
//		}
//		if err != nil {
//			return err
//		}
//		ids, vectors := b.Values[0], b.Values[1]
//		for i := range b.Rows {
//			if ids.Missing(i) {
//				return fmt.Errorf("%s: the id is missing", b.Place(i)) // "metadata_0.parquet: row 17"
//			}
//			use(ids.Texts[i], vectors.Float32s[i*vectors.Width:(i+1)*vectors.Width])
//		}
//	}
//
// Columns that fit in memory are read at once:
//
//	id := table.Column{Name: "id", Kind: table.Text}
//	t, err := table.Read("labels.csv", table.Options{Limit: limit}, id, table.Column{Name: "label"})
//	ids, labels := t.Values[0].Texts, t.Values[1]
//
// No claim of a file is believed: sizes are compared with the bytes that are there before
// memory is taken, and panics of the parquet library become errors that name the file.
package table

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/fields"
)

// Kind is the type of the values of a column.
type Kind int

const (
	// Any stands in a choice for the kind that the column has.
	Any Kind = iota
	// Int are 64-bit integers.
	Int
	// Float are 64-bit numbers.
	Float
	// Text are strings in UTF-8.
	Text
	// Bool are truth values.
	Bool
	// FloatList are vectors of numbers, all of the same width.
	FloatList
	// Other cannot be read; Column.Why says what it is.
	Other
)

var kinds = enum.New[Kind]("kind", "any", "integer", "number", "text", "boolean", "list of numbers", "other")

// String returns the name of the kind, as errors have it.
func (k Kind) String() string { return kinds.String(k) }

// Column describes a column.
type Column struct {
	Name string
	Kind Kind
	// Width is the number of elements of a FloatList, 0 where the file has no row.
	Width int
	// Of has, in a choice, the number of the column in place of its name. For a FloatList it
	// may have the numbers of several columns of a csv file, which are read together as one
	// vector of 64-bit numbers: the quick way to many columns. None of their values may be
	// missing.
	Of []int
	// Bits is 32 where numbers are stored in 32 or fewer bits, else 64.
	Bits int
	// Why says why a column of kind Other cannot be read.
	Why string
}

// Header says whether the first line of a csv file holds the names of the columns.
type Header int

const (
	// HeaderGuess takes the first line for names if none of its fields is a number and
	// not all are empty; also if the others are 0, 1, 2, … in order, as pandas writes them.
	HeaderGuess Header = iota
	// HeaderYes says that the first line holds names.
	HeaderYes
	// HeaderNo says that it is a row.
	HeaderNo
)

// Options are the options of [Open] and [Read]. The zero value suits every file.
type Options struct {
	// Limit bounds the bytes that reading may take; beyond it the error is an *npy.LimitError.
	// Default: no bound for the bytes that are read, 1 GiB for the claims of a file about itself.
	Limit int64
	// Header says what the first line of a csv file is. Default: [HeaderGuess].
	Header Header
	// IsHeader, if not nil, gets the fields of the first line and decides in place of the
	// guess. Its error gets the place of the line.
	IsHeader func(first []string) (bool, error)
	// Format is the format of the file. Default: what [Sniff] says.
	Format Format
	// Unsampled says that nobody asks for the kinds of the columns of a csv file: they
	// are text unless they are chosen as something else, and no rows are read to tell.
	Unsampled bool
}

// Reader reads a table from its first row to its last.
type Reader struct {
	path   string
	format Format
	eng    Engine
	chosen []int    // columns of the file
	want   []Column // what they are read as
	values []Values // of the last batch
	row    int64
	done   bool
}

// Engine is a format's reader.
type Engine interface {
	// Columns returns the columns of the file.
	Columns() []Column
	// Rows returns the number of rows, −1 if only reading tells.
	Rows() int64
	// Choose sets the columns that Fill reads, by their numbers in the file, and the kinds
	// that they are read as. It is called before the first Fill.
	Choose(at []int, as []Column) error
	// Fill reads at most a batch of rows into b. At the end it returns io.EOF and no row.
	Fill(b *Batch) error
	// Scan reads the whole file to make the columns and their kinds exact.
	Scan() error
	// Close closes the file.
	Close() error
}

// Open opens a table and recognizes its format by its content: parquet by its mark,
// JSON Lines by an object in its first line, else csv.
func Open(path string, opt Options) (*Reader, error) {
	c, err := fields.Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{path: path}
	if r.format, r.eng, err = open(c, opt); err != nil {
		c.Close()
		return nil, err
	}
	return r, nil
}

// Format returns the format of the file.
func (r *Reader) Format() Format { return r.format }

// Columns returns the columns of the file. The kinds of text formats follow from the first rows,
// unless [Reader.Scan] was called.
func (r *Reader) Columns() []Column { return slices.Clone(r.eng.Columns()) }

// Names returns the names of the columns of the file.
func (r *Reader) Names() []string {
	var out []string
	for _, c := range r.eng.Columns() {
		out = append(out, c.Name)
	}
	return out
}

// Rows returns the number of rows, and false if only reading tells.
func (r *Reader) Rows() (int64, bool) { n := r.eng.Rows(); return max(n, 0), n >= 0 }

// GuessRows returns how many rows a csv file may have by its size and the length of its first
// row, and 0 where it is compressed or another format.
func (r *Reader) GuessRows() int64 {
	if t, ok := r.eng.(*textReader); ok {
		return t.guessRows()
	}
	return 0
}

// Header reports whether the first line of a csv file was taken for names.
func (r *Reader) Header() bool {
	t, ok := r.eng.(*textReader)
	return ok && t.header
}

// Notes say how a csv file was understood where it could be otherwise: lines that were skipped as
// comments, names of rows, decimal commas and UTF-16. They are complete at the end of the file.
func (r *Reader) Notes() []string {
	if t, ok := r.eng.(*textReader); ok {
		if c, ok := t.recs.(*csvRecords); ok {
			return c.notes()
		}
	}
	return nil
}

// Word reports whether column i holds text: by its first row in a csv file with a header.
func (r *Reader) Word(i int) bool {
	if t, ok := r.eng.(*textReader); ok {
		if c, ok := t.recs.(*csvRecords); ok {
			return i < len(c.words) && c.words[i]
		}
	}
	return r.eng.Columns()[i].Kind == Text
}

// Semicolons reports whether semicolons separate the fields of a csv file, so that numbers may have decimal commas.
func (r *Reader) Semicolons() bool {
	if t, ok := r.eng.(*textReader); ok {
		if c, ok := t.recs.(*csvRecords); ok {
			return c.r.Semicolons()
		}
	}
	return false
}

// Scan reads a text file once to its end, so that [Reader.Columns] holds every column and
// the kind that all of its values have: integers and numbers are numbers, other mixtures
// text. It must be called before [Reader.Choose]. For parquet it does nothing.
func (r *Reader) Scan() error { return r.eng.Scan() }

// Choose sets the columns that are read, in the given order, and their kinds. Without names all
// columns are read, except columns of kind Other. It is called at most once, before [Reader.Next].
//
// A name that no column of the file has is taken for a number, from 0. Integers can be read as
// numbers, integers, numbers and booleans as text, and the fields of a csv file as any of these;
// every other difference of kinds is an error.
func (r *Reader) Choose(want ...Column) error {
	var at []int
	var as []Column
	for i, c := range r.eng.Columns() {
		if len(want) == 0 && c.Kind != Other {
			at = append(at, i)
			as = append(as, c)
		}
	}

	// Each wanted column is found in the file, and its kind must suit.
	for _, w := range want {
		if w.Of != nil && w.Kind == FloatList && !r.isList(w.Of) {
			if r.format != CSV {
				return fmt.Errorf("%s: columns of %s are read one by one", r.path, r.format)
			}
			at = append(at, -1)
			as = append(as, Column{Name: w.Name, Kind: FloatList, Width: len(w.Of), Of: w.Of, Bits: 64})
			continue
		}
		p, err := r.place(w)
		if err != nil {
			return err
		}
		// A column of the file, by its name or number.
		c := r.eng.Columns()[p]
		if c.Kind == Other {
			return fmt.Errorf("%s: column %q is %s; choose other columns, or write it as numbers, "+
				"text or lists of one length", r.path, c.Name, c.Why)
		}

		if w.Kind != Any && w.Kind != c.Kind {
			if !r.format.converts(c.Kind, w.Kind) {
				return fmt.Errorf("%s: column %q holds values of kind %s, not %s; choose another column",
					r.path, c.Name, c.Kind, w.Kind)
			}
			c.Kind = w.Kind
		}

		at = append(at, p)
		as = append(as, c)
	}

	// A file may hold nothing but nested values.
	if len(at) == 0 {
		return fmt.Errorf("%s: it has no column that can be read; the columns are %s", r.path,
			names(r.eng.Columns()))
	}
	r.chosen = at
	r.want = as
	return r.eng.Choose(at, as)
}

// isList reports whether of is one column that is a list in the file.
func (r *Reader) isList(of []int) bool {
	return len(of) == 1 && r.eng.Columns()[of[0]].Kind == FloatList
}

// place returns the number of a chosen column.
func (r *Reader) place(w Column) (int, error) {
	if w.Of != nil {
		return w.Of[0], nil
	}
	return r.find(w.Name)
}

// find returns the number of a column by its name, or by its number.
func (r *Reader) find(name string) (int, error) {
	for again := range 2 {
		have := r.eng.Columns()
		at := -1
		for i, c := range have {
			if c.Name == name && at >= 0 {
				return 0, fmt.Errorf("%s: columns %d and %d both have the name %q; rename one, or "+
					"give the number of the column", r.path, at, i, name)
			} else if c.Name == name {
				at = i
			}
		}

		// In csv a number that is no name stands for a place.
		if at < 0 {
			if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < len(have) && r.format == CSV {
				at = n
			}
		}

		if at >= 0 {
			return at, nil
		}

		if again == 0 && r.format == JSONL { // fields may first appear in a late row
			if err := r.eng.Scan(); err != nil {
				return 0, err
			}
		}
	}
	return 0, fmt.Errorf("%s: there is no column %q; the columns are %s", r.path, name,
		names(r.eng.Columns()))
}

// names lists the names of at most 20 columns.
func names(cs []Column) string {
	var out []string
	for _, c := range cs[:min(20, len(cs))] {
		out = append(out, strconv.Quote(c.Name))
	}
	if len(cs) > 20 {
		out = append(out, fmt.Sprintf("and %d more", len(cs)-20))
	}
	return strings.Join(out, ", ")
}

// Next returns the next rows, at the end io.EOF. The batch is valid until the next call.
func (r *Reader) Next() (*Batch, error) {
	if r.done {
		return nil, io.EOF
	}

	if r.want == nil {
		if err := r.Choose(); err != nil {
			return nil, err
		}
	}
	// Values are used again from batch to batch.
	b := &Batch{First: r.row, Columns: r.want, Values: r.values, path: r.path}
	if b.Values == nil {
		b.Values = make([]Values, len(r.want))
		r.values = b.Values
	}
	// The memory of the last batch serves again.
	for i, c := range r.want {
		b.Values[i].reset(c)
	}
	if err := r.eng.Fill(b); err != nil {
		r.done = true
		return nil, err
	}
	r.row += int64(b.Rows)
	return b, nil
}

// Metadata returns the text that the file has under a key, and false if it has none: text
// formats have no room for it.
func (r *Reader) Metadata(key string) (string, bool) {
	m, ok := r.eng.(interface {
		Metadata(key string) (string, bool)
	})
	if !ok {
		return "", false
	}
	return m.Metadata(key)
}

// Close closes the file.
func (r *Reader) Close() error { return r.eng.Close() }

// Batch holds consecutive rows of the chosen columns.
type Batch struct {
	First   int64 // number of the first row, from 0
	Rows    int
	Columns []Column
	Values  []Values // one a column

	path  string
	lines []int // of text files: the line of each row, from 1
}

// Place names the file and the place of row i of the batch, for errors.
func (b *Batch) Place(i int) string {
	if b.lines != nil {
		return fmt.Sprintf("%s: line %d: row %d", b.path, b.lines[i], b.First+int64(i))
	}
	return fmt.Sprintf("%s: row %d", b.path, b.First+int64(i))
}

// Line returns the line of row i of a text file, from 1; 0 of other files.
func (b *Batch) Line(i int) int {
	if b.lines == nil {
		return 0
	}
	return b.lines[i]
}
