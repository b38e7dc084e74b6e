package data

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/internal/fields"
	"github.com/bigfit/bigfit/internal/npy"
)

// maxLine bounds the length of a line of text in bytes.
const maxLine = 64 << 20

// lines reads a text file line by line.
type lines struct {
	src *source
	n   int // number of the last line, from 1
	buf []byte

	indented bool // the last line began with a blank
}

// next returns the next line without its end and without blanks around it. The
// line is valid until the next call. At the end it returns io.EOF.
func (l *lines) next() ([]byte, error) {
	l.buf = l.buf[:0]
	l.n++
	for {
		part, err := l.src.r.ReadSlice('\n')
		if len(l.buf)+len(part) > maxLine {
			return nil, l.fault("the line is longer than %d bytes", maxLine)
		}
		switch {
		case err == nil && len(l.buf) == 0:
			return l.clean(part), nil
		case err == nil, errors.Is(err, io.EOF) && len(l.buf)+len(part) > 0:
			l.buf = append(l.buf, part...)
			return l.clean(l.buf), nil
		case errors.Is(err, bufio.ErrBufferFull):
			l.buf = append(l.buf, part...)
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		default:
			return nil, l.src.readError(err)
		}
	}
}

func (l *lines) clean(line []byte) []byte {
	if l.n == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	l.indented = len(line) > 0 && fields.Blank(line[0])
	return fields.Trim(line)
}

// fault is an error about the last line.
func (l *lines) fault(format string, args ...any) error {
	return fmt.Errorf("%s: line %d: "+format, append([]any{l.src.path, l.n}, args...)...)
}

// nextData is next without empty lines and comments, which begin with #.
func (l *lines) nextData() ([]byte, error) {
	for {
		line, err := l.next()
		if err != nil || len(line) > 0 && line[0] != '#' {
			return line, err
		}
	}
}

// isHeader reports whether a line holds column names: none of its fields is a
// number, and not all are empty, or one is a name that t asks for. A line of both is an
// error unless the texts are in columns that t names by their numbers.
func isHeader(l *lines, line []byte, sep byte, t *TableColumns) (bool, error) {
	var asked []string
	if t != nil {
		asked = slices.Concat(t.Drop, t.Only, []string{t.ID, t.Label})
	}
	nums, texts := 0, 0
	at, text := 0, ""
	named := false
	fields.Each(line, sep, func(i int, f []byte) bool {
		_, isNumber := fields.Number(f)
		switch {
		case !isNumber && slices.Contains(asked, string(f)) && len(f) > 0:
			named = true
		case isNumber:
			nums++
		case len(f) > 0 && !slices.Contains(asked, strconv.Itoa(i)):
			if texts++; texts == 1 {
				at, text = i, fields.Quote(f)
			}
		}
		return true
	})
	if named {
		return true, nil
	}
	if nums > 0 && texts > 0 {
		return false, l.fault("column %d is %s, not a number; remove the column or leave it out with --drop %d, or say that the first line is a header", at, text, at)
	}
	return texts > 0, nil
}

// csvTable reads a table of numbers, some columns of which may be something else.
type csvTable struct {
	*lines
	sep    byte
	header []string
	roles  []role
	table  *TableColumns
	x      *Dense[float64]
	line   []byte // the next one
}

// readCSV reads a table of numbers.
func readCSV(src *source, opt ReadOptions) (Points, string, error) {
	c := &csvTable{lines: &lines{src: src}, table: opt.columns(), x: &Dense[float64]{}}
	if err := c.begin(opt.Header); err != nil {
		return nil, "", err
	}
	if src.packing == "" {
		// As many rows as this line's length lets expect, if the limit allows.
		rows := src.size/int64(len(c.line)+1) + 1
		guess := min(rows*int64(c.x.Cols), src.size/2+1)
		if opt.Limit <= 0 || 8*guess <= opt.Limit {
			c.x.Data = make([]float64, 0, guess)
		}
	}
	var err error
	for ; err == nil; c.line, err = c.nextData() {
		if err := c.row(); err != nil {
			return nil, "", err
		}
		if need := 8*int64(len(c.x.Data)) + 32*int64(len(c.table.ids)+c.table.labels.Len()); opt.Limit > 0 && need > opt.Limit {
			return nil, "", &npy.LimitError{What: src.path, Need: need, Limit: opt.Limit}
		}
	}
	if err != io.EOF {
		return nil, "", err
	}
	return c.x, src.path, nil
}

// begin reads up to the first line of numbers.
func (c *csvTable) begin(header bool) error {
	var err error
	if c.line, err = c.nextData(); err == io.EOF {
		return c.src.fault("there are no lines of numbers")
	}
	if err != nil {
		return err
	}
	c.sep = fields.Separator(c.line)
	if !header {
		if header, err = isHeader(c.lines, c.line, c.sep, c.table); err != nil {
			return err
		}
	}
	columns := 0
	fields.Each(c.line, c.sep, func(_ int, f []byte) bool {
		if columns++; header {
			c.header = append(c.header, string(f))
		}
		return true
	})
	if c.roles, err = c.table.roles(c.src.path, c.header, columns); err != nil {
		return err
	}
	for _, r := range c.roles {
		if r == roleCoordinate {
			c.x.Cols++
		}
	}
	if header {
		if c.line, err = c.nextData(); err == io.EOF {
			return c.src.fault("there are no lines of numbers, only a header")
		}
	}
	return err
}

// row appends the numbers of the current line.
func (c *csvTable) row() error {
	var fault error
	got, columns := 0, len(c.roles)
	fields.Each(c.line, c.sep, func(i int, f []byte) bool {
		got = i + 1
		if i >= columns {
			return false
		}
		if r := c.roles[i]; r != roleCoordinate {
			c.table.add(r, f)
			return true
		}
		v, ok := fields.Number(f)
		if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
			fault = c.noNumber(i, f, v, ok)
			return false
		}
		c.x.Data = append(c.x.Data, v)
		return true
	})
	switch {
	case fault != nil:
		return fault
	case got > columns:
		return c.fault("row %d has more than the %d columns of the first line", c.x.Rows, columns)
	case got < columns:
		return c.fault("row %d has %d columns, the first line has %d", c.x.Rows, got, columns)
	}
	c.x.Rows++
	return nil
}

// noNumber is an error about a field that is no finite number.
func (c *csvTable) noNumber(i int, f []byte, v float64, ok bool) error {
	switch {
	case ok:
		return c.fault("row %d, column %d is %v; every value must be finite: remove or impute it", c.x.Rows, i, v)
	case len(f) == 0:
		return c.fault("row %d, column %d is empty; every value must be given: remove or impute it", c.x.Rows, i)
	case c.header == nil:
		return c.fault("row %d, column %d is %s, not a number", c.x.Rows, i, fields.Quote(f))
	}
	return c.fault("row %d, column %d (%s) is %s, not a number; leave the column out with --drop %s, or name it with --id or --label if it is one of these", c.x.Rows, i, c.header[i], fields.Quote(f), c.header[i])
}
