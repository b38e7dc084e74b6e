package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// jsonRecords are the lines of a file of JSON objects. Empty lines are skipped.
type jsonRecords struct {
	text   *text
	at     int
	buf    []byte
	keys   []string
	number map[string]int
	fields []field
	cells  []jsonField
}

func (j *jsonRecords) names() []string { return j.keys }
func (j *jsonRecords) line() int       { return j.at }
func (j *jsonRecords) hasHeader() bool { return false }

func (j *jsonRecords) rewind() error {
	if j.number == nil {
		j.number = map[string]int{}
	}
	j.at = 0
	return j.text.rewind()
}

// object returns the next line that is not empty.
func (j *jsonRecords) object() ([]byte, error) {
	for {
		j.text.left = maxRecord
		j.buf = j.buf[:0]
		j.at++
		for {
			part, err := j.text.r.ReadSlice('\n')
			j.buf = append(j.buf, part...)
			if err == bufio.ErrBufferFull {
				continue
			}
			if err == io.EOF && len(bytes.TrimSpace(j.buf)) == 0 {
				return nil, io.EOF
			}
			if err != nil && err != io.EOF {
				return nil, j.text.fault(err)
			}
			break
		}

		if line := bytes.TrimSpace(j.buf); len(line) > 0 {
			return line, nil
		}
	}
}

// mostKeys bounds the number of columns.
const mostKeys = 1 << 16

func (j *jsonRecords) next() ([]field, error) {
	line, err := j.object()
	if err != nil {
		return nil, err
	}
	if !json.Valid(line) || line[0] != '{' {
		return nil, j.fault("%s is not a JSON object; write one object a line", Quote(string(line)))
	}
	for i := range j.cells {
		j.cells[i] = nil
	}

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
	if err != nil {
		return nil, err
	}

	j.fields = j.fields[:0]
	for i := range j.cells {
		j.fields = append(j.fields, &j.cells[i])
	}
	return j.fields, nil
}

func (j *jsonRecords) fault(format string, args ...any) error {
	return fmt.Errorf("%s: line %d: "+format, append([]any{j.text.path, j.at}, args...)...)
}

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
			x, ok := number(string(b))
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
	width := 1 + bytes.Count(b, []byte(","))
	if v.Width == 0 {
		if v.n > 0 { // missing vectors before the first one
			v.Float64s = append(v.Float64s, make([]float64, v.n*width)...)
		}
		v.Width = width
	}

	if v.Width != width {
		return false
	}
	v.Float64s = slices.Grow(v.Float64s, width)
	for part := range bytes.SplitSeq(b, []byte(",")) {
		x, ok := number(string(bytes.TrimSpace(part)))
		if !ok {
			return false
		}
		v.Float64s = append(v.Float64s, x)
	}

	v.present(1)
	return true
}

func (f *jsonField) short() string { return Quote(string(*f)) }
