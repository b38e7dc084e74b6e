package labelcells

import (
	"bytes"
	"io"

	"github.com/bigfit/bigfit/internal/file/fields"
)

// ReadLines reads one label a line of the file at path; an empty line is a row without
// one, except at the end. The first row may be a header. points is the number of points, 0
// if it is not known, and limit bounds the bytes if it is positive.
func ReadLines(path string, l *fields.Lines, points int, limit int64, f *Notes) (*Cells, error) {
	c := &Cells{What: path, Text: &Column{}, Unit: "line"}
	full := 0 // rows up to the last line that is not empty
	for {
		line, err := l.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if full == 0 && fields.IsComment(line) {
			l.Skip()
			continue
		}

		field, err := onLine(l, line)
		if err != nil {
			return nil, err
		}
		// Empty lines before the name of a column are unlabeled points by mistake.
		if c.Text.Len() > 0 && full == 0 && IsLabelName(string(field)) {
			return nil, l.Fault("it is %s, the name of a column, behind %d empty lines; remove them, "+
				"or give unlabeled points a mark", fields.Quote(field), c.Text.Len())
		}
		c.Text.Add(field, l.N)
		if len(line) > 0 {
			full = c.Text.Len()
		}
		if err := c.Text.Within(path, limit); err != nil {
			return nil, err
		}
	}

	if text := l.Skipped(); text != "" {
		f.Note("%s", text)
	}
	c.Text.Shorten(full)
	c.DropHeader(points, f)
	return c, nil
}

// onLine returns the label on a line, without quotes around it.
func onLine(l *fields.Lines, line []byte) ([]byte, error) {
	if len(line) >= 2 && line[0] == '"' && line[len(line)-1] == '"' {
		text := bytes.ReplaceAll(line[1:len(line)-1], []byte(`""`), nil)
		if bytes.IndexByte(text, '"') >= 0 {
			return nil, l.Fault("it is %s, want one label a line, or a table with commas between the columns",
				fields.Quote(line))
		}
		return bytes.ReplaceAll(line[1:len(line)-1], []byte(`""`), []byte(`"`)), nil
	}
	if fields.Separator(line) != 0 {
		return nil, l.Fault("it is %s, want one label a line; put a name with commas in double quotes",
			fields.Quote(line))
	}

	// A name may hold blanks; a row of numbers is a table.
	if bytes.ContainsAny(line, " ") {
		numbers := true
		fields.Each(line, 0, func(_ int, f []byte) bool {
			_, ok := fields.Number(f)
			numbers = numbers && ok
			return numbers
		})
		if numbers {
			return nil, l.Fault("it is %s, want one label a line, or a table with commas between the columns",
				fields.Quote(line))
		}
	}

	return line, nil
}
