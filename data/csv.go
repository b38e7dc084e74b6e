package data

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unsafe"

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
	l.indented = len(line) > 0 && blank(line[0])
	return trim(line)
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

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// trim cuts blanks off both ends.
func trim(b []byte) []byte {
	for len(b) > 0 && blank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && blank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// separator returns the byte that divides the fields of a line: a tab, a semicolon, a
// comma or, as 0, blanks.
func separator(line []byte) byte {
	for _, sep := range []byte("\t;,") {
		for rest := line; len(rest) > 0; {
			f, after := cut(rest, sep)
			if len(f) < len(rest) {
				return sep
			}
			rest = after
		}
	}
	return 0
}

// cut returns the first field of a line and what follows its separator. A
// field may be in double quotes, within which the separator is text.
func cut(line []byte, sep byte) (field, rest []byte) {
	if sep == 0 {
		for i := range line {
			if blank(line[i]) {
				return line[:i], trim(line[i:])
			}
		}
		return line, nil
	}
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

// fields calls fn for every field of a line, without the blanks and quotes
// around it, until fn returns false.
func fields(line []byte, sep byte, fn func(i int, field []byte) bool) {
	for i := 0; ; i++ {
		f, rest := cut(line, sep)
		last := len(f) == len(line)
		f = trim(f)
		if len(f) >= 2 && f[0] == '"' && f[len(f)-1] == '"' {
			f = f[1 : len(f)-1]
		}
		if !fn(i, f) || last {
			return
		}
		line = rest
	}
}

// number parses a decimal number; inf and nan are numbers too.
func number(b []byte) (float64, bool) {
	if len(b) == 0 {
		return 0, false
	}
	if len(b) < 16 { // small integers, by far the most frequent
		v, i := 0, 0
		if b[0] == '-' {
			i = 1
		}
		for ; i < len(b) && '0' <= b[i] && b[i] <= '9'; i++ {
			v = 10*v + int(b[i]-'0')
		}
		switch {
		case i < len(b) || b[i-1] == '-':
		case b[0] != '-':
			return float64(v), true
		case v > 0: // ParseFloat makes −0
			return float64(-v), true
		}
	}
	// ParseFloat keeps nothing of its argument.
	v, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(b), len(b)), 64)
	return v, err == nil || math.IsInf(v, 0) && errors.Is(err, strconv.ErrRange)
}

// integerText parses an integer, also one that is written as a decimal number
// like 2.0 or 1e3.
func integerText(b []byte) (int64, bool) {
	if v, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return v, true
	}
	v, ok := number(b)
	if !ok || !integer(v) {
		return 0, false
	}
	return int64(v), true
}

// isHeader reports whether a line holds column names: none of its fields is a
// number, and not all are empty. A line of both is an error.
func isHeader(l *lines, line []byte, sep byte) (bool, error) {
	nums, texts := 0, 0
	at, text := 0, ""
	fields(line, sep, func(i int, f []byte) bool {
		if _, ok := number(f); ok {
			nums++
		} else if len(f) > 0 {
			if texts++; texts == 1 {
				at, text = i, short(f)
			}
		}
		return true
	})
	if nums > 0 && texts > 0 {
		return false, l.fault("column %d is %s, not a number; remove the column, or say that the first line is a header", at, text)
	}
	return texts > 0, nil
}

// short is %q of at most 40 bytes.
func short(b []byte) string {
	if len(b) > 40 {
		return strconv.Quote(string(b[:40])) + "…"
	}
	return strconv.Quote(string(b))
}

// readCSV reads a table of numbers.
func readCSV(src *source, opt ReadOptions) (Points, string, error) {
	l := &lines{src: src}
	line, err := l.nextData()
	if err == io.EOF {
		return nil, "", src.fault("there are no lines of numbers")
	}
	if err != nil {
		return nil, "", err
	}
	sep := separator(line)
	cols := 0
	fields(line, sep, func(int, []byte) bool { cols++; return true })
	header := opt.Header
	if !header {
		if header, err = isHeader(l, line, sep); err != nil {
			return nil, "", err
		}
	}
	x := &Dense[float64]{Cols: cols}
	if header {
		if line, err = l.nextData(); err == io.EOF {
			return nil, "", src.fault("there are no lines of numbers, only a header")
		}
	}
	if err == nil && src.packing == "" {
		// As many rows as this line's length lets expect, if the limit allows.
		rows := src.size/int64(len(line)+1) + 1
		guess := min(rows*int64(cols), src.size/2+1)
		if opt.Limit <= 0 || 8*guess <= opt.Limit {
			x.Data = make([]float64, 0, guess)
		}
	}
	for ; err == nil; line, err = l.nextData() {
		var fault error
		got := 0
		fields(line, sep, func(i int, f []byte) bool {
			v, ok := number(f)
			switch {
			case i >= cols:
				got = i + 1
				return false
			case !ok && len(f) == 0:
				fault = l.fault("row %d, column %d is empty; every value must be given: remove or impute it", x.Rows, i)
			case !ok:
				fault = l.fault("row %d, column %d is %s, not a number", x.Rows, i, short(f))
			case math.IsNaN(v) || math.IsInf(v, 0):
				fault = l.fault("row %d, column %d is %v; every value must be finite: remove or impute it", x.Rows, i, v)
			}
			got = i + 1
			x.Data = append(x.Data, v)
			return fault == nil
		})
		if fault == nil && got > cols {
			fault = l.fault("row %d has more than the %d columns of the first line", x.Rows, cols)
		}
		if fault == nil && got < cols {
			fault = l.fault("row %d has %d columns, the first line has %d", x.Rows, got, cols)
		}
		if need := 8 * int64(len(x.Data)); fault == nil && opt.Limit > 0 && need > opt.Limit {
			fault = &npy.LimitError{What: src.path, Need: need, Limit: opt.Limit}
		}
		if fault != nil {
			return nil, "", fault
		}
		x.Rows++
	}
	if err != io.EOF {
		return nil, "", err
	}
	return x, src.path, nil
}
