package data

import (
	"bytes"
	"io"

	"github.com/bigfit/bigfit/internal/fields"
	"github.com/bigfit/bigfit/internal/labelcells"
)

// readLabelLines reads one label a line; an empty line is a row without one, except
// at the end. The first row may be a header.
func readLabelLines(src *source, opt *LabelOptions, f *labelcells.Notes) (*labelcells.Cells, error) {
	l := &lines{src: src}
	c := &labelcells.Cells{What: src.path, Text: &labelcells.Column{}, Unit: "line"}
	full := 0 // rows up to the last line that is not empty
	for {
		line, err := l.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(line) > 0 && line[0] == '#' {
			continue
		}
		field, err := l.label(line)
		if err != nil {
			return nil, err
		}
		if c.Text.Len() > 0 && full == 0 && labelcells.IsLabelName(string(field)) {
			return nil, l.fault("it is %s, the name of a column, behind %d empty lines; remove them, or give unlabeled points a mark", fields.Quote(field), c.Text.Len())
		}
		c.Text.Add(field, l.n)
		if len(line) > 0 {
			full = c.Text.Len()
		}
		if err := c.Text.Within(src.path, opt.Limit); err != nil {
			return nil, err
		}
	}
	c.Text.Shorten(full)
	c.DropHeader(opt.Points, f)
	return c, nil
}

// label returns the label on a line, without quotes around it.
func (l *lines) label(line []byte) ([]byte, error) {
	if len(line) >= 2 && line[0] == '"' && line[len(line)-1] == '"' {
		return bytes.ReplaceAll(line[1:len(line)-1], []byte(`""`), []byte(`"`)), nil
	}
	if fields.Separator(line) != 0 {
		return nil, l.fault("it is %s, want one label a line; put a name with commas in double quotes", fields.Quote(line))
	}
	if bytes.ContainsAny(line, " ") {
		numbers := true
		fields.Each(line, 0, func(_ int, f []byte) bool {
			_, ok := fields.Number(f)
			numbers = numbers && ok
			return numbers
		})
		if numbers {
			return nil, l.fault("it is %s, want one label a line, or a table with commas between the columns", fields.Quote(line))
		}
	}
	return line, nil
}
