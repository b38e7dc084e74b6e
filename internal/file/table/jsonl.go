package table

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/internal/file/fields"
)

// jsonRecords are the lines of a file of JSON objects. Empty lines are skipped.
type jsonRecords struct {
	content *fields.Content
	lines   *fields.Lines
	bytes   int // of the last line
	keys    []string
	number  map[string]int
	cells   []jsonField
}

func (j *jsonRecords) names() []string { return j.keys }
func (j *jsonRecords) line() int       { return j.lines.N }
func (j *jsonRecords) size() int       { return j.bytes }
func (j *jsonRecords) hasHeader() bool { return false }

func (j *jsonRecords) rewind() error {
	if j.number == nil {
		j.number = map[string]int{}
	}
	if err := j.content.Rewind(); err != nil {
		return err
	}
	j.lines = j.content.Lines()
	return nil
}

// object returns the next line that is not empty.
func (j *jsonRecords) object() ([]byte, error) {
	for {
		line, err := j.lines.Next()
		if err != nil || len(line) > 0 {
			j.bytes = len(line)
			return line, err
		}
	}
}

// mostKeys bounds the number of columns.
const mostKeys = 1 << 16

func (j *jsonRecords) next() (int, error) {
	line, err := j.object()
	if err != nil {
		return 0, err
	}
	// What follows relies on valid JSON: it looks for quotes and brackets only.
	if !json.Valid(line) || line[0] != '{' {
		return 0, j.fault("%s is not a JSON object; write one object a line", fields.Quote(line))
	}
	for i := range j.cells {
		j.cells[i] = nil
	}

	// Fields come in any order, and new ones may come in any row.
	err = members(line, func(key string, value []byte) error {
		at, ok := j.number[key]
		if !ok {
			if at = len(j.keys); at == mostKeys {
				return j.fault("there are more than %d different fields; write one object a line, "+
					"with the same fields", mostKeys)
			}
			j.keys = append(j.keys, key)
			j.number[key] = at
		}

		for len(j.cells) <= at {
			j.cells = append(j.cells, nil)
		}
		if j.cells[at] != nil {
			return j.fault("the field %q is there twice; remove one", key)
		}
		j.cells[at] = jsonField(value)
		return nil
	})
	return len(j.cells), err
}

func (j *jsonRecords) missing(i int) bool        { return j.cells[i].missing() }
func (j *jsonRecords) kind(i int) Kind           { return j.cells[i].kind() }
func (j *jsonRecords) add(i int, v *Values) bool { return j.cells[i].add(v) }
func (j *jsonRecords) quote(i int) string        { return fields.Quote(j.cells[i]) }

func (j *jsonRecords) fault(format string, args ...any) error { return j.lines.Fault(format, args...) }

// members calls fn for every member of an object, which is valid JSON.
func members(object []byte, fn func(key string, value []byte) error) error {
	rest := bytes.TrimSpace(object)[1:]
	for {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if rest[0] == '}' {
			return nil
		}
		end := valueEnd(rest)
		var key string
		if err := json.Unmarshal(rest[:end], &key); err != nil {
			return err
		}

		// The object is valid JSON, so a colon and a value follow.
		rest = bytes.TrimLeft(rest[end:], " \t\r\n:")
		end = valueEnd(rest)
		if err := fn(key, rest[:end]); err != nil {
			return err
		}
		rest = rest[end:]
	}
}

// valueEnd returns the length of the value that valid JSON begins with.
func valueEnd(b []byte) int {
	// Brackets inside of quotes do not count.
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			for i++; b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}

	return len(b)
}

// jsonField is a value as it is written, nil if it is missing.
type jsonField []byte

func (f *jsonField) missing() bool { return *f == nil || (*f)[0] == 'n' }

func (f *jsonField) kind() Kind {
	b := *f
	switch b[0] {
	case '"':
		return Text
	case 't', 'f':
		return Bool
	case '{':
		return Other
	case '[':
		if bytes.ContainsAny(b[1:], `[{"tf`) {
			return Other
		}
		return FloatList
	}

	if !bytes.ContainsAny(b, ".eE") {
		if _, err := strconv.ParseInt(string(b), 10, 64); err == nil {
			return Int
		}
		return Text // a number of more than 64 bits is a name
	}
	return Float
}

func (f *jsonField) add(v *Values) bool {
	b, have := *f, f.kind()
	want := v.column.Kind
	if b[0] != '"' && (b[0] == '-' || '0' <= b[0] && b[0] <= '9') {
		switch want {
		case Text:
			v.AppendText(string(b))
			return true
		case Float:
			x, ok := fields.Number(b)
			if ok {
				v.AppendFloat(x, 64)
			}
			return ok
		case Int:
			x, err := strconv.ParseInt(string(b), 10, 64)
			return err == nil && v.AppendInt(x) == nil
		}

		return false
	}

	switch {
	case have == FloatList && want == FloatList:
		return f.vector(v)
	case have == Bool && (want == Bool || want == Text):
		v.AppendBool(b[0] == 't')
		return true
	case have == Text && want == Text:
		var s string
		if json.Unmarshal(b, &s) != nil {
			return false
		}
		v.AppendText(s)
		return true
	}

	return false
}

// vector appends a list of numbers, of the width of the ones before.
func (f *jsonField) vector(v *Values) bool {
	b := bytes.TrimSpace((*f)[1 : len(*f)-1])
	if len(b) == 0 {
		return false
	}
	// The list holds numbers alone, so that each comma ends one.
	width := 1 + bytes.Count(b, []byte(","))
	if v.Width == 0 {
		if v.n > 0 { // missing vectors before the first one
			v.Float64s = append(v.Float64s, make([]float64, v.n*width)...)
		}
		v.Width = width
	}

	// All lists of a column have the length of the first.
	if v.Width != width {
		return false
	}
	v.Float64s = slices.Grow(v.Float64s, width)
	for part := range bytes.SplitSeq(b, []byte(",")) {
		x, ok := fields.Number(bytes.TrimSpace(part))
		if !ok {
			return false
		}
		v.Float64s = append(v.Float64s, x)
	}

	v.present(1)
	return true
}
