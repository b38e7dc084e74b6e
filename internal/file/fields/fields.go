// Package fields takes lines of text apart and reads numbers and names in their fields.
package fields

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"unicode"
	"unicode/utf8"
	"unsafe"
)

// Blank reports whether a byte is white space.
func Blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// Trim cuts blanks off both ends.
func Trim(b []byte) []byte {
	for len(b) > 0 && Blank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && Blank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// TrimField cuts white space off both ends: blanks, and what Unicode has of them.
func TrimField(b []byte) []byte {
	// Bytes from '!' to '~' are neither blanks nor parts of a longer character.
	if len(b) == 0 || b[0]-'!' < 94 && b[len(b)-1]-'!' < 94 {
		return b
	}
	return bytes.TrimSpace(b)
}

// Separator returns the byte that divides the fields of a line: a tab, a semicolon, a
// comma or, as 0, blanks.
func Separator(line []byte) byte {
	// Tabs first and commas last: decimal commas stand between semicolons or tabs.
	for _, sep := range []byte("\t;,") {
		for rest := line; len(rest) > 0; {
			f, after := Cut(rest, sep)
			if len(f) < len(rest) {
				return sep
			}
			rest = after
		}
	}
	return 0
}

// Cut returns the first field of a line and what follows its separator. A
// field may be in double quotes, within which the separator is text.
func Cut(line []byte, sep byte) (field, rest []byte) {
	if sep == 0 {
		for i := range line {
			if Blank(line[i]) {
				return line[:i], Trim(line[i:])
			}
		}
		return line, nil
	}
	// A quote that is written twice closes and opens, which comes to the same here.
	quoted := false
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case c == sep && !quoted:
			return line[:i], line[i+1:]
		}
	}

	return line, nil
}

// Each calls fn for every field of a line, without the blanks and quotes
// around it, until fn returns false.
func Each(line []byte, sep byte, fn func(i int, field []byte) bool) {
	for i := 0; ; i++ {
		f, rest := Cut(line, sep)
		last := len(f) == len(line)
		f = Trim(f)
		if len(f) >= 2 && f[0] == '"' && f[len(f)-1] == '"' {
			f = f[1 : len(f)-1]
		}
		if !fn(i, f) || last {
			return
		}
		line = rest
	}
}

// Number parses a decimal number; inf and nan are numbers too.
func Number(b []byte) (float64, bool) {
	// Images hold integers of one to three digits.
	switch len(b) {
	case 1:
		if c := b[0] - '0'; c <= 9 {
			return float64(c), true
		}
	case 2:
		c := b[0] - '0'
		d := b[1] - '0'
		if c <= 9 && d <= 9 {
			return float64(10*c + d), true
		}
	case 3:
		c := b[0] - '0'
		d := b[1] - '0'
		e := b[2] - '0'
		if c <= 9 && d <= 9 && e <= 9 {
			return float64(100*int(c) + int(10*d+e)), true
		}
	}
	if v, ok := short(b); ok {
		return v, true
	}

	// Go writes 1_0 and 0x1p4 for numbers too; in a file they are names.
	if bytes.IndexByte(b, '_') >= 0 || bytes.IndexByte(b, 'x') >= 0 || bytes.IndexByte(b, 'X') >= 0 {
		return 0, false
	}

	// ParseFloat keeps nothing of its argument.
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), 64)
	return v, err == nil || math.IsInf(v, 0) && errors.Is(err, strconv.ErrRange)
}

// mostDigits are so few that a float64 holds every integer of them.
const mostDigits = 15

// tens are the powers of ten that float64 holds and short divides by.
var tens = [mostDigits + 1]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13,
	1e14, 1e15}

// short parses a number of few digits, with or without a point, and reports whether it is
// one. Digits and power of ten are exact, so that their quotient is the nearest number to what
// is written, as ParseFloat's is.
func short(b []byte) (float64, bool) {
	if len(b) == 0 || len(b) > mostDigits+2 {
		return 0, false
	}
	negative := b[0] == '-'
	if negative {
		b = b[1:]
	}

	// All digits make one integer, and the point is remembered.
	v, point := 0, -1
	for i, c := range b {
		switch {
		case c-'0' <= 9:
			v = 10*v + int(c-'0')
		case c == '.' && point < 0:
			point = i
		default:
			return 0, false
		}
	}
	digits := len(b)
	if point >= 0 {
		digits--
	}
	if digits == 0 || digits > mostDigits || negative && v == 0 { // ParseFloat makes −0
		return 0, false
	}

	// One division of two exact numbers rounds once.
	x := float64(v)
	if point >= 0 {
		x /= tens[len(b)-1-point]
	}
	if negative {
		x = -x
	}
	return x, true
}

// Integer parses an integer, also one that is written as a decimal number
// like 2.0 or 1e3.
func Integer(b []byte) (int64, bool) {
	if v, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return v, true
	}
	v, ok := Number(b)
	if !ok || !IsInteger(v) {
		return 0, false
	}
	return int64(v), true
}

// IsName reports whether text may name a column.
func IsName(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	r, _ := utf8.DecodeRune(b)
	if _, isNumber := Number(b); isNumber {
		return false
	}
	return r == '_' || unicode.IsLetter(r)
}

// Quote is %q of at most 40 bytes.
func Quote(b []byte) string {
	if len(b) > 40 {
		return strconv.Quote(string(b[:40])) + "…"
	}
	return strconv.Quote(string(b))
}

// IsInteger reports whether v is an integer that int64 holds exactly.
func IsInteger(v float64) bool { return v == math.Trunc(v) && v >= -1<<63 && v < 1<<63 }
