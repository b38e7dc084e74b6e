package fields

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
)

// Records takes the lines of a csv file apart. Fields are separated by tabs, semicolons,
// commas or blanks, whichever of these, in this order, the first line has outside quotes.
// Lines that are empty are skipped, and above the first record comments ([IsComment]) and a line
// "sep=;", by which Excel names the separator. Blanks around a field do not count. Between semicolons
// numbers may have decimal commas.
//
// A field may be in double quotes. Separators and ends of lines within quotes are text, and a
// quote is written twice there; a quote elsewhere is an error. Where blanks separate the fields,
// only quotes around a field are taken off.
//
// Some programs end every line with a tab. Empty fields behind the last field of the first line are
// therefore no columns, and the same number of empty fields is cut off every line.
type Records struct {
	// Line is the line where the last record began, from 1.
	Line int
	// Bytes is the length of the last record.
	Bytes int
	// Commas says that a number with a decimal comma was read.
	Commas bool

	lines *Lines
	sep   byte // 0 for blanks
	ended int  // empty fields behind the last one of the first line

	data []byte  // the fields of the last record, a separator between them
	ends []int32 // −1 and the end of every field in data
	text []byte  // data of a record that had to be changed
	held []byte  // the line of such a record
}

// NewRecords returns the records of the content, which was not read from.
func NewRecords(c *Content) (*Records, error) {
	head, err := c.Head()
	if err != nil {
		return nil, err
	}
	raw := FirstLine(head)
	r := &Records{lines: c.Lines(), sep: recordSeparator(Trim(raw))}
	if sep, ok := namedSeparator(topLine(head)); ok {
		r.sep = sep
	}
	// Count the tabs that end the first line.
	if r.sep == '\t' {
		for i := len(raw) - 1; i >= 0 && Blank(raw[i]); i-- {
			if raw[i] == '\t' {
				r.ended++
			}
		}
	}
	return r, nil
}

// Restart begins anew with the first record; the content was rewound.
func (r *Records) Restart(c *Content) {
	r.lines = c.Lines()
	r.Line = 0
}

// Skipped is [Lines.Skipped].
func (r *Records) Skipped() string { return r.lines.Skipped() }

// FirstLine returns the first line that is neither empty nor a comment nor names the separator,
// empty if there is none.
func FirstLine(head []byte) []byte {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(head) {
		t := Trim(line)
		if _, names := namedSeparator(t); len(t) > 0 && !IsComment(t) && !names {
			return line
		}
	}
	return nil
}

// topLine returns the first line that is not empty.
func topLine(head []byte) []byte {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for line := range bytes.Lines(head) {
		if t := bytes.TrimRight(line, "\r\n"); len(t) > 0 {
			return t
		}
	}
	return nil
}

// namedSeparator returns the separator that a line "sep=;" names.
func namedSeparator(line []byte) (byte, bool) {
	rest, ok := bytes.CutPrefix(line, []byte("sep="))
	if !ok || len(rest) != 1 || bytes.IndexByte([]byte(",;\t"), rest[0]) < 0 {
		return 0, false
	}
	return rest[0], true
}

// recordSeparator returns the byte that divides the fields of a file with this first line.
// One column has a comma, as its values may have blanks.
func recordSeparator(line []byte) byte {
	sep := Separator(line)
	if sep == 0 && len(quotedBlank(line)) == len(line) {
		return ','
	}
	return sep
}

// quotedBlank returns the first field of a line that blanks divide, with its quotes, within which
// blanks are text.
func quotedBlank(line []byte) []byte {
	quoted := false
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case Blank(c) && !quoted:
			return line[:i]
		}
	}
	return line
}

// Len returns the number of fields of the last record.
func (r *Records) Len() int { return len(r.ends) - 1 }

// Field returns field i of the last record, valid until the next one.
func (r *Records) Field(i int) []byte {
	return TrimField(r.data[r.ends[i]+1 : r.ends[i+1]])
}

// AppendNumbers appends the numbers in some fields of the last record to dst. The other result
// is the field that is no number, −1 if there is none.
func (r *Records) AppendNumbers(dst []float64, of []int) ([]float64, int) {
	data := r.data
	ends := r.ends
	have := len(dst)
	dst = slices.Grow(dst, len(of))[:have+len(of)]
	for k, i := range of {
		// Most fields have no blanks around them.
		x, ok := Number(data[ends[i]+1 : ends[i+1]])
		if !ok {
			if x, ok = r.Number(i); !ok {
				return dst[:have+k], i
			}
		}
		dst[have+k] = x
	}
	return dst, -1
}

// Number returns the number in field i of the last record, and whether it is one. Between semicolons
// it may have a decimal comma.
func (r *Records) Number(i int) (float64, bool) {
	f := r.Field(i)
	x, ok := Number(f)
	if !ok && r.sep == ';' {
		if x, ok = Number(WithPoint(f)); ok {
			r.Commas = true
		}
	}
	return x, ok
}

// Semicolons reports whether the fields are separated by semicolons.
func (r *Records) Semicolons() bool { return r.sep == ';' }

// WithPoint returns a copy of a number with a point in place of its decimal comma, and anything else
// as it is.
func WithPoint(f []byte) []byte {
	if bytes.Count(f, []byte(",")) != 1 || bytes.IndexByte(f, '.') >= 0 {
		return f
	}
	return bytes.Replace(f, []byte(","), []byte("."), 1)
}

// Next reads the next record. At the end it returns io.EOF.
func (r *Records) Next() error {
	r.ends = append(r.ends[:0], -1)
	for {
		line, err := r.lines.Raw()
		if err != nil {
			return err
		}

		// Tabs alone are fields without values.
		data := Trim(line)
		if len(data) == 0 && (r.sep != '\t' || bytes.IndexByte(line, '\t') < 0) {
			continue
		}
		if r.Line == 0 { // above the first record
			if IsComment(data) {
				r.lines.Skip()
				continue
			}
			if _, names := namedSeparator(bytes.TrimRight(line, "\r\n")); names {
				continue
			}
		}
		r.Line = r.lines.N
		r.Bytes = len(line)

		// Quotes are rare, and lines without them need no copy.
		switch {
		case r.sep == 0:
			r.splitBlanks(data)
		case bytes.IndexByte(line, '"') < 0:
			r.split(line)
		default:
			err = r.splitQuoted(line)
		}
		r.cutEmpty()
		return err
	}
}

// split divides a line without quotes.
//
// Every position is stored, and counts if it has a separator: the processor predicts no branch
// then. A branch it would miss once a field, and files of small integers took 1.14 times as long.
func (r *Records) split(line []byte) {
	const chunk = 256 // positions that have room at a time
	sep := r.sep
	for from := 0; from < len(line); from += chunk {
		part := line[from:min(from+chunk, len(line))]
		n := len(r.ends)
		r.ends = slices.Grow(r.ends, chunk)
		ends := r.ends[n : n+chunk]
		found := 0
		for i, c := range part {
			ends[found&(chunk-1)] = int32(from + i)
			if c == sep {
				found++
			}
		}
		r.ends = r.ends[:n+found]
	}
	r.ends = append(r.ends, int32(len(line)))
	r.data = line
}

// splitBlanks divides a line at blanks.
func (r *Records) splitBlanks(line []byte) {
	r.text = r.text[:0]
	for len(line) > 0 {
		f := quotedBlank(line)
		rest := Trim(line[len(f):])
		if len(f) >= 2 && f[0] == '"' && f[len(f)-1] == '"' {
			f = f[1 : len(f)-1]
		}
		r.add(f)
		line = rest
	}
	r.data = r.text
}

// add appends the last bytes of a field to the text and ends the field.
func (r *Records) add(f []byte) {
	r.text = append(r.text, f...)
	r.ends = append(r.ends, int32(len(r.text)))
	r.text = append(r.text, '\n')
}

// cutEmpty leaves out the empty fields behind the last column.
func (r *Records) cutEmpty() {
	for range r.ended {
		if last := r.Len() - 1; last > 0 && len(r.Field(last)) == 0 {
			r.ends = r.ends[:last+1]
		}
	}
}

// splitQuoted divides a line with quotes, and reads on while a quote is open.
func (r *Records) splitQuoted(line []byte) error {
	// The line is copied, because reading on would overwrite it.
	r.held = append(r.held[:0], line...)
	r.text = r.text[:0]
	rest := r.held
	for {
		rest = r.trimLeft(rest)
		var err error
		if len(rest) > 0 && rest[0] == '"' {
			rest, err = r.quotedField(rest)
		} else {
			rest, err = r.bareField(rest)
		}
		if err != nil {
			return err
		}
		if len(rest) == 0 {
			r.data = r.text
			return nil
		}
		rest = rest[1:] // behind the separator
	}
}

// bareField adds a field without quotes to the text and returns what follows it.
func (r *Records) bareField(rest []byte) ([]byte, error) {
	end := bytes.IndexByte(rest, r.sep)
	if end < 0 {
		end = len(rest)
	}
	if at := bytes.IndexByte(rest[:end], '"'); at >= 0 {
		return nil, r.fault(rest[at:], csv.ErrBareQuote)
	}
	r.add(rest[:end])
	return rest[end:], nil
}

// quotedField adds a field that begins with a quote to the text and returns what follows it.
func (r *Records) quotedField(rest []byte) ([]byte, error) {
	line := r.lines.N
	rest = rest[1:]
	for {
		at := bytes.IndexByte(rest, '"')
		if at < 0 {
			// The field goes on in the next line.
			r.text = append(append(r.text, rest...), '\n')
			next, err := r.lines.Raw()
			if err == io.EOF {
				return nil, fmt.Errorf("%s: line %d: a quote is not closed: %w; write a quote inside "+
					"a quoted field twice", r.lines.path, line, csv.ErrQuote)
			}
			if err != nil {
				return nil, err
			}
			if r.Bytes += len(next) + 1; r.Bytes > maxLine {
				return nil, fmt.Errorf("%s: line %d: the record is longer than %d bytes; a quote may "+
					"not be closed", r.lines.path, line, maxLine)
			}
			r.held = append(r.held[:0], next...)
			rest = r.held
			continue
		}
		// A quote ends the field unless it is written twice.
		r.text = append(r.text, rest[:at]...)
		rest = rest[at+1:]
		if len(rest) > 0 && rest[0] == '"' {
			r.text = append(r.text, '"')
			rest = rest[1:]
			continue
		}
		// Only blanks may stand between the closing quote and the separator.
		rest = r.trimLeft(rest)
		if len(rest) > 0 && rest[0] != r.sep {
			return nil, r.fault(rest, csv.ErrQuote)
		}
		r.add(nil)
		return rest, nil
	}
}

// trimLeft cuts off the blanks in front, but no separator.
func (r *Records) trimLeft(b []byte) []byte {
	for len(b) > 0 && Blank(b[0]) && b[0] != r.sep {
		b = b[1:]
	}
	return b
}

// fault is an error about a quote; rest is the line from there on.
func (r *Records) fault(rest []byte, err error) error {
	return fmt.Errorf("%s: line %d, byte %d: %w; write a quote inside a quoted field twice", r.lines.path,
		r.lines.N, len(r.held)-len(rest)+1, err)
}
