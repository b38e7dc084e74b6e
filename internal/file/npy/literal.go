package npy

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// literal parses the part of Python's literals that headers are made of:
// strings, integers, True, False, None, tuples, lists and one dictionary.
type literal struct {
	text []byte
	at   int
}

type tuple []any
type list []any

func (p *literal) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// take skips blanks, and then c if it follows. It reports whether it did.
func (p *literal) take(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *literal) dict() (map[string]any, error) {
	if !p.take('{') {
		return nil, errors.New("want {")
	}
	fields := map[string]any{}
	for !p.take('}') {
		// A key twice would let two readers see two headers.
		k, err := p.value(0)
		if err != nil {
			return nil, err
		}
		key, ok := k.(string)
		if !ok {
			return nil, errors.New("a key is not a string")
		}
		if _, twice := fields[key]; twice {
			return nil, fmt.Errorf("key %s occurs twice", quote(key))
		}
		if !p.take(':') {
			return nil, errors.New("want : after a key")
		}

		// A comma may follow the last item too.
		if fields[key], err = p.value(0); err != nil {
			return nil, err
		}
		if !p.take(',') {
			if !p.take('}') {
				return nil, errors.New("want , or }")
			}
			break
		}
	}

	p.space()
	if p.at != len(p.text) {
		return nil, errors.New("text after the dictionary")
	}
	return fields, nil
}

func (p *literal) value(depth int) (any, error) {
	if depth > 16 {
		return nil, errors.New("nested too deeply")
	}
	p.space()
	if p.at >= len(p.text) {
		return nil, errors.New("unexpected end")
	}

	// The first character tells the kind of the literal.
	switch c := p.text[p.at]; {
	case c == '\'' || c == '"':
		return p.str(c)
	case c == '(':
		p.at++
		v, comma, err := p.items(')', depth)
		if err == nil && len(v) == 1 && !comma {
			return v[0], nil // parentheses around a value
		}
		return tuple(v), err
	case c == '[':
		p.at++
		v, _, err := p.items(']', depth)
		return list(v), err
	case c == '-' || '0' <= c && c <= '9':
		from := p.at
		p.at++
		for p.at < len(p.text) && '0' <= p.text[p.at] && p.text[p.at] <= '9' {
			p.at++
		}
		v, err := strconv.Atoi(string(p.text[from:p.at]))
		if err != nil {
			return nil, fmt.Errorf("%s is not an integer in range", quote(string(p.text[from:p.at])))
		}
		if p.at < len(p.text) && p.text[p.at] == 'L' { // written by Python 2
			p.at++
		}
		return v, nil
	}

	// Only the three words of the format are left.
	for word, v := range map[string]any{"True": true, "False": false, "None": nil} {
		if bytes.HasPrefix(p.text[p.at:], []byte(word)) {
			p.at += len(word)
			return v, nil
		}
	}

	return nil, fmt.Errorf("unexpected character %q", p.text[p.at])
}

func (p *literal) str(end byte) (string, error) {
	p.at++
	from := p.at
	for p.at < len(p.text) && p.text[p.at] != end {
		if p.text[p.at] == '\\' {
			return "", errors.New("escapes in strings are not accepted")
		}
		p.at++
	}

	if p.at == len(p.text) {
		return "", errors.New("a string does not end")
	}
	p.at++
	return string(p.text[from : p.at-1]), nil
}

func (p *literal) items(end byte, depth int) (v []any, comma bool, err error) {
	for !p.take(end) {
		x, err := p.value(depth + 1)
		if err != nil {
			return nil, false, err
		}
		v = append(v, x)
		if comma = p.take(','); !comma {
			if !p.take(end) {
				return nil, false, fmt.Errorf("want , or %c", end)
			}
			break
		}
	}

	return v, comma, nil
}
