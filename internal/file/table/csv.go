package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// csvRecords are the lines of a csv file: fields separated by tabs, semicolons, commas or
// blanks, whichever of these, in this order, the first line has outside quotes. Quotes are
// those of encoding/csv; fields separated by blanks have none. Empty lines and lines that
// begin with # are skipped, and blanks around a field do not count. Without a header the
// names are 0, 1, 2, …
type csvRecords struct {
	text *text
	opt  Options

	sep    rune // 0 for blanks
	r      *csv.Reader
	blanks *bufio.Scanner
	at     int // line of the last record
	ended  int // line of blank-separated text

	header  []string
	headed  bool
	started bool
	fields  []field
	cells   []csvField
}

func (c *csvRecords) names() []string { return c.header }
func (c *csvRecords) line() int       { return c.at }
func (c *csvRecords) hasHeader() bool { return c.headed }

func (c *csvRecords) rewind() error {
	if err := c.text.rewind(); err != nil {
		return err
	}

	if !c.started {
		head, err := c.text.r.Peek(sniffLen)
		if len(head) == 0 && err != io.EOF {
			return c.text.fault(err)
		}
		c.sep = separator(firstLine(string(head)))
	}

	c.ended = 0
	if c.sep == 0 {
		c.blanks = bufio.NewScanner(c.text.r)
		c.blanks.Buffer(nil, maxRecord)
	} else {
		c.r = csv.NewReader(c.text.r)
		c.r.Comma = c.sep
		c.r.Comment = '#'
		c.r.FieldsPerRecord = -1
		c.r.ReuseRecord = true
		c.r.TrimLeadingSpace = c.sep != '\t'
	}

	if !c.started {
		return c.start()
	}
	if c.headed {
		_, err := c.record()
		return err
	}
	return nil
}

// start tells by the first lines whether there is a header.
func (c *csvRecords) start() error {
	rec, err := c.record()
	if err == io.EOF {
		return fmt.Errorf("%s: there are no rows", c.text.path)
	}
	if err != nil {
		return err
	}
	first := make([]string, len(rec))
	for i := range rec {
		first[i] = strings.TrimSpace(rec[i])
	}
	c.started = true

	c.headed = c.opt.Header == HeaderYes || c.opt.Header == HeaderGuess && looksHeader(first)
	for i, name := range first {
		if !c.headed {
			first[i] = strconv.Itoa(i)
		} else if name == "" {
			first[i] = fmt.Sprintf("unnamed %d", i)
		}
	}

	c.header = first
	return c.rewind()
}

// looksHeader reports whether a line holds names: see [HeaderGuess].
func looksHeader(first []string) bool {
	texts := 0
	nums := 0
	counts := true
	for _, f := range first {
		if _, err := strconv.ParseFloat(f, 64); err != nil && f != "" {
			texts++
		} else if f != "" {
			counts = counts && f == strconv.Itoa(nums)
			nums++
		}
	}

	return texts > 0 && nums == 0 || nums > 1 && counts && (texts > 0 || first[0] == "")
}

// firstLine returns the first line that is neither empty nor a comment.
func firstLine(head string) string {
	for line := range strings.Lines(head) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line
		}
	}
	return ""
}

// separator returns the character that divides the fields of a line, 0 for blanks.
func separator(line string) rune {
	for _, sep := range "\t;," {
		quoted := false
		for _, ch := range line {
			if ch == '"' {
				quoted = !quoted
			}
			if ch == sep && !quoted {
				return sep
			}
		}
	}

	if strings.HasPrefix(line, `"`) || !strings.ContainsAny(line, " ") {
		return ',' // one column, of which values may be quoted
	}
	return 0
}

// record returns the next line that is neither empty nor a comment.
func (c *csvRecords) record() ([]string, error) {
	c.text.left = maxRecord
	if c.sep != 0 {
		rec, err := c.r.Read()
		if err == io.EOF {
			return nil, err
		}
		if parse := (*csv.ParseError)(nil); errors.As(err, &parse) && !errors.Is(err, errLong) {
			return nil, fmt.Errorf("%s: line %d, byte %d: %w; write a quote inside a quoted field twice",
				c.text.path, parse.Line, parse.Column, parse.Err)
		}
		if err != nil {
			return nil, c.text.fault(err)
		}
		c.at, _ = c.r.FieldPos(0)
		return rec, nil
	}

	for c.blanks.Scan() {
		c.ended++
		c.text.left = maxRecord
		if f := strings.Fields(c.blanks.Text()); len(f) > 0 && f[0][0] != '#' {
			c.at = c.ended
			return f, nil
		}
	}

	if err := c.blanks.Err(); err != nil {
		return nil, c.text.fault(err)
	}
	return nil, io.EOF
}

func (c *csvRecords) next() ([]field, error) {
	rec, err := c.record()
	if err != nil {
		return nil, err
	}
	if len(rec) != len(c.header) {
		return nil, fmt.Errorf("%s: line %d has %d fields, the first line has %d; every row must "+
			"have a field for each column", c.text.path, c.at, len(rec), len(c.header))
	}
	c.fields = c.fields[:0]
	c.cells = c.cells[:0]
	for _, f := range rec {
		c.cells = append(c.cells, csvField(strings.TrimSpace(f)))
	}
	for i := range c.cells {
		c.fields = append(c.fields, &c.cells[i])
	}
	return c.fields, nil
}

// csvField is a field without the blanks around it.
type csvField string

func (f *csvField) missing() bool { return *f == "" }

// kind takes integers of more than 64 bits and those with leading zeros for text, as
// they are names.
func (f *csvField) kind() Kind {
	s := string(*f)
	digits := strings.TrimLeft(s, "+-")
	if strings.Trim(digits, "0123456789") == "" && digits != "" {
		if _, err := strconv.ParseInt(s, 10, 64); err != nil || len(digits) > 1 && digits[0] == '0' {
			return Text
		}
		return Int
	}
	if _, ok := number(s); ok {
		return Float
	}
	return Text
}

func (f *csvField) add(v *Values) bool {
	s := string(*f)
	switch v.column.Kind {
	case Text:
		v.AppendText(strings.Clone(s))
		return true
	case Float:
		x, ok := number(s)
		if ok {
			v.AppendFloat(x, 64)
		}
		return ok
	case Bool:
		x, err := strconv.ParseBool(s)
		if err == nil {
			v.AppendBool(x)
		}
		return err == nil
	}

	x, err := strconv.ParseInt(s, 10, 64)
	return err == nil && v.AppendInt(x) == nil
}

func (f *csvField) short() string { return Quote(string(*f)) }

// number parses a number; inf and nan are numbers too.
func number(s string) (float64, bool) {
	x, err := strconv.ParseFloat(s, 64)
	return x, err == nil || math.IsInf(x, 0) && errors.Is(err, strconv.ErrRange)
}

// Quote is %q of at most 40 bytes.
func Quote(s string) string {
	if len(s) > 40 {
		return strconv.Quote(s[:40]) + "…"
	}
	return strconv.Quote(s)
}
