package data

import (
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/data/internal/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/param"
)

// isHeader reports whether a line holds column names: none of its fields is a
// number, and not all are empty, or one is a name that t asks for. A line of both is an
// error unless the texts are in columns that t names by their numbers.
func isHeader(l *fields.Lines, line []byte, sep byte, t *TableColumns) (bool, error) {
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
				at = i
				text = fields.Quote(f)
			}
		}

		return true
	})

	if named {
		return true, nil
	}
	if nums > 0 && texts > 0 {
		return false, l.Fault("column %d is %s, not a number; remove the column or leave it out with "+
			"%s %d, or say that the first line is a header", at, text, param.Name("drop"), at)
	}
	return texts > 0, nil
}

// csvTable reads a table of numbers, some columns of which may be something else.
type csvTable struct {
	*fields.Lines
	src    *source
	sep    byte
	header []string
	roles  []role
	table  *TableColumns
	x      *Dense[float64]
	line   []byte // the next one
}

// readCSV reads a table of numbers.
func readCSV(src *source, opt ReadOptions) (Points, string, error) {
	c := &csvTable{Lines: src.lines(), src: src, table: opt.columns(), x: &Dense[float64]{}}
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
	for ; err == nil; c.line, err = c.NextData() {
		if err := c.row(); err != nil {
			return nil, "", err
		}
		if need := 8*int64(len(c.x.Data)) + 32*int64(len(c.table.ids)+c.table.labels.Len()); opt.Limit > 0 &&
			need > opt.Limit {
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
	if c.line, err = c.NextData(); err == io.EOF {
		return c.src.fault("there are no lines of numbers")
	}
	if err != nil {
		return err
	}
	c.sep = fields.Separator(c.line)
	if !header {
		if header, err = isHeader(c.Lines, c.line, c.sep, c.table); err != nil {
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
		if c.line, err = c.NextData(); err == io.EOF {
			return c.src.fault("there are no lines of numbers, only a header")
		}
	}
	return err
}

// row appends the numbers of the current line.
func (c *csvTable) row() error {
	var fault error
	got := 0
	columns := len(c.roles)
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
		return c.Fault("row %d has more than the %d columns of the first line", c.x.Rows, columns)
	case got < columns:
		return c.Fault("row %d has %d columns, the first line has %d", c.x.Rows, got, columns)
	}

	c.x.Rows++
	return nil
}

// noNumber is an error about a field that is no finite number.
func (c *csvTable) noNumber(i int, f []byte, v float64, ok bool) error {
	switch {
	case ok:
		return c.Fault("row %d, column %d is %v; every value must be finite: remove or impute it",
			c.x.Rows, i, v)
	case len(f) == 0:
		return c.Fault("row %d, column %d is empty; every value must be given: remove or impute it",
			c.x.Rows, i)
	case c.header == nil:
		return c.Fault("row %d, column %d is %s, not a number", c.x.Rows, i, fields.Quote(f))
	}
	return c.Fault("row %d, column %d (%s) is %s, not a number; leave the column out with %s %s, "+
		"or name it with %s or %s if it is one of these", c.x.Rows, i, c.header[i], fields.Quote(f), param.Name("drop"),
		c.header[i], param.Name("id"), param.Name("label"))
}
