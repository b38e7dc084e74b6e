package table

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/internal/file/fields"
)

// csvRecords are the rows of a csv file, which [fields.Records] describes. Without a header
// the names are 0, 1, 2, …
type csvRecords struct {
	content *fields.Content
	opt     Options

	r       *fields.Records
	row     int64 // number of the next row
	first   int   // bytes of the first row
	header  []string
	words   []bool // the fields of the first row below a header that are no numbers
	headed  bool
	started bool

	rowNames bool // the header has no name for the first column
	numbered bool // the header has numbers for names
}

func (c *csvRecords) names() []string { return c.header }
func (c *csvRecords) line() int       { return c.r.Line }
func (c *csvRecords) size() int       { return c.r.Bytes }
func (c *csvRecords) hasHeader() bool { return c.headed }

func (c *csvRecords) rewind() error {
	if err := c.content.Rewind(); err != nil {
		return err
	}
	c.row = 0
	if !c.started {
		return c.start()
	}
	// The header was understood before, so it is passed over.
	c.r.Restart(c.content)
	if c.headed {
		return c.r.Next()
	}
	return nil
}

// start tells by the first line whether there is a header, and goes to the first row.
func (c *csvRecords) start() error {
	var err error
	if c.r, err = fields.NewRecords(c.content); err != nil {
		return err
	}
	if err := c.r.Next(); err == io.EOF {
		return fmt.Errorf("%s: %w", c.content.Path, ErrNoRows)
	} else if err != nil {
		return err
	}
	first := make([]string, c.r.Len())
	for i := range first {
		first[i] = string(c.r.Field(i))
		if c.r.Semicolons() {
			// A number with a decimal comma is no name.
			if text := fields.WithPoint(c.r.Field(i)); len(text) > 0 {
				if _, ok := fields.Number(text); ok {
					first[i] = string(text)
				}
			}
		}
	}
	// The length of a row lets the caller guess how many rows there are.
	c.first = c.r.Bytes
	line := c.r.Line
	if c.headed, err = c.isHeader(first); err != nil {
		return fmt.Errorf("%s: line %d: %w", c.content.Path, line, err)
	}
	// pandas writes 0, 1, 2, … for columns without names. Above numbers with points they are no row.
	if !c.headed && c.opt.Header == HeaderGuess && counted(first) {
		if err := c.r.Next(); err == nil && c.points() {
			c.headed = true
			c.numbered = true
		}
	}

	// Columns without a header are named by their numbers.
	c.started = true
	for i, name := range first {
		if !c.headed {
			first[i] = strconv.Itoa(i)
		} else if name == "" {
			first[i] = Unnamed(i)
		}
	}

	c.header = first
	if c.numbered || c.headed && c.r.Next() == nil {
		// The second line is more like the others than the header is.
		c.first = c.r.Bytes
		for i := range c.r.Len() {
			_, isNumber := c.r.Number(i)
			c.words = append(c.words, !isNumber && !c.missing(i))
		}
		// R writes no name above its names of rows.
		if c.r.Len() == len(first)+1 {
			c.header = append([]string{Unnamed(0)}, first...)
			c.rowNames = true
		}
	}
	return c.rewind()
}

// counted reports whether the fields are 0, 1, 2, …, perhaps behind an empty one.
func counted(first []string) bool {
	if len(first) > 1 && first[0] == "" {
		first = first[1:]
	}
	for i, f := range first {
		if f != strconv.Itoa(i) {
			return false
		}
	}
	return true
}

// points reports whether the last record has numbers with points alone, but for the first field.
func (c *csvRecords) points() bool {
	for i := range c.r.Len() {
		f := string(c.r.Field(i))
		if _, ok := c.r.Number(i); i > 0 && (!ok || !strings.ContainsAny(f, ".,eEn")) {
			return false
		}
	}
	return c.r.Len() > 1
}

// Unnamed is the name of column i of a table whose header has no name for it.
func Unnamed(i int) string { return fmt.Sprintf("unnamed %d", i) }

// notes say how the file was understood where it could be otherwise.
func (c *csvRecords) notes() []string {
	var out []string
	if text := c.r.Skipped(); text != "" {
		out = append(out, text)
	}
	if c.rowNames {
		out = append(out, fmt.Sprintf("%s: the header has one name less than the rows have fields; the first "+
			"field is the name of the row, as R writes it", c.content.Path))
	}
	if c.numbered {
		out = append(out, c.content.Path+": the first line, 0, 1, …, holds the names of the columns, as pandas "+
			"writes them")
	}
	if c.r.Commas {
		out = append(out, c.content.Path+": numbers have decimal commas")
	}
	if c.content.UTF16 {
		out = append(out, c.content.Path+": the text is UTF-16")
	}
	return out
}

// isHeader reports whether the first line holds names.
func (c *csvRecords) isHeader(first []string) (bool, error) {
	switch {
	case c.opt.Header == HeaderYes:
		return true, nil
	case c.opt.Header == HeaderNo:
		return false, nil
	case c.opt.IsHeader != nil:
		return c.opt.IsHeader(first)
	}
	return looksHeader(first), nil
}

// looksHeader reports whether a line holds names: see [HeaderGuess].
func looksHeader(first []string) bool {
	texts := 0
	nums := 0
	counts := true
	// counts stays true while the numbers are 0, 1, 2, …, as pandas writes them for columns
	// without names.
	for _, f := range first {
		if _, err := strconv.ParseFloat(f, 64); err != nil && f != "" {
			texts++
		} else if f != "" {
			counts = counts && f == strconv.Itoa(nums)
			nums++
		}
	}

	// pandas writes 0, 1, 2, … for columns without names.
	return texts > 0 && nums == 0 || nums > 1 && counts && (texts > 0 || first[0] == "")
}

func (c *csvRecords) next() (int, error) {
	if err := c.r.Next(); err != nil {
		return 0, err
	}
	if n := c.r.Len(); n != len(c.header) {
		hint := ""
		if f := c.r.Field(0); len(f) > 0 && f[0] == '#' {
			hint = "; if the line is a comment, remove it: comments stand above the first row, behind # and a blank"
		} else if len(c.header) == 1 && strings.HasPrefix(c.header[0], "#") {
			hint = "; if the first line is a comment, write a blank behind #"
		}
		return 0, fmt.Errorf("%s: line %d: row %d has %d columns, the first line has %d; every row must "+
			"have a field for each column%s", c.content.Path, c.r.Line, c.row, n, len(c.header), hint)
	}
	c.row++
	return len(c.header), nil
}

func (c *csvRecords) missing(i int) bool { return len(c.r.Field(i)) == 0 }

// kind takes integers of more than 64 bits and those with leading zeros for text, as
// they are names.
func (c *csvRecords) kind(i int) Kind {
	s := string(c.r.Field(i))
	// 007 and numbers of twenty digits are names: as numbers they would lose their form.
	digits := strings.TrimLeft(s, "+-")
	if strings.Trim(digits, "0123456789") == "" && digits != "" {
		if _, err := strconv.ParseInt(s, 10, 64); err != nil || len(digits) > 1 && digits[0] == '0' {
			return Text
		}
		return Int
	}
	if _, ok := c.r.Number(i); ok {
		return Float
	}
	return Text
}

func (c *csvRecords) add(i int, v *Values) bool {
	f := c.r.Field(i)
	switch v.column.Kind {
	case Text:
		v.AppendText(string(f))
		return true
	case Float:
		x, ok := c.r.Number(i)
		if ok {
			v.AppendFloat(x, 64)
		}
		return ok
	case Bool:
		x, err := strconv.ParseBool(string(f))
		if err == nil {
			v.AppendBool(x)
		}
		return err == nil
	}
	// What is left is an integer.
	x, err := strconv.ParseInt(string(f), 10, 64)
	return err == nil && v.AppendInt(x) == nil
}

// addVector appends the numbers in some columns as one vector. It returns the column with a field
// that is missing or no number, −1 if there is none.
func (c *csvRecords) addVector(of []int, v *Values) int {
	var at int
	v.Float64s, at = c.r.AppendNumbers(v.Float64s, of)
	if at < 0 {
		v.present(1)
	}
	return at
}

func (c *csvRecords) quote(i int) string { return fields.Quote(c.r.Field(i)) }
