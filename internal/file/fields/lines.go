package fields

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// maxLine bounds the length of a line of text in bytes.
const maxLine = 64 << 20

// lineMemory is the memory that a byte of a line takes: a field has two bytes at least, and 24
// bytes that say where it is and 8 for its number; the buffer of the line grows by doubling.
const lineMemory = 20

// Lines reads a text file line by line.
type Lines struct {
	N        int  // number of the last line, from 1
	Indented bool // the last line began with a blank
	Comments int  // lines that were skipped as comments: see [IsComment]
	Comment  int  // number of the first of them

	path  string
	r     *bufio.Reader
	limit int64                 // bytes of memory for a line and its fields, 0 for no limit
	fault func(err error) error // says what a failed read is
	buf   []byte
}

// NewLines returns the lines that r has. The path names the file in errors, limit bounds the
// memory in bytes for a line and its fields if it is positive, and fault makes an error of a read
// that failed.
func NewLines(path string, r *bufio.Reader, limit int64, fault func(err error) error) *Lines {
	return &Lines{path: path, r: r, limit: limit, fault: fault}
}

// Next returns the next line without its end and without blanks around it. The
// line is valid until the next call. At the end it returns io.EOF.
func (l *Lines) Next() ([]byte, error) {
	line, err := l.Raw()
	if err != nil {
		return nil, err
	}
	l.Indented = len(line) > 0 && Blank(line[0])
	return Trim(line), nil
}

// Raw is Next with the blanks around the line.
func (l *Lines) Raw() ([]byte, error) {
	l.buf = l.buf[:0]
	l.N++
	// Most lines lie whole in the buffer of the reader and are not copied.
	for {
		part, err := l.r.ReadSlice('\n')
		length := len(l.buf) + len(part)
		if length > maxLine {
			return nil, l.Fault("the line is longer than %d bytes", maxLine)
		}
		if need := lineMemory * int64(length); l.limit > 0 && need > l.limit {
			return nil, &npy.LimitError{What: fmt.Sprintf("%s: line %d", l.path, l.N), Need: need,
				Limit: l.limit}
		}

		switch {
		case err == nil && len(l.buf) == 0:
			return l.checked(l.clean(part))
		case err == nil, errors.Is(err, io.EOF) && len(l.buf)+len(part) > 0:
			l.buf = append(l.buf, part...)
			return l.checked(l.clean(l.buf))
		case errors.Is(err, bufio.ErrBufferFull):
			l.buf = append(l.buf, part...)
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		default:
			return nil, l.fault(err)
		}
	}
}

// checked returns a line unless it is the first and holds the line ends of old Macs, which no other
// line end follows.
func (l *Lines) checked(line []byte) ([]byte, error) {
	if l.N == 1 && bytes.IndexByte(line, '\r') >= 0 && bytes.IndexByte(line, '"') < 0 {
		return nil, l.Fault("it ends with a carriage return alone, as lines of old Macs do; save the file " +
			"with the line ends of Unix or Windows")
	}
	return line, nil
}

// clean cuts off the end of the line and, of the first line, the mark of UTF-8.
func (l *Lines) clean(line []byte) []byte {
	if l.N == 1 {
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// Fault is an error about the last line.
func (l *Lines) Fault(format string, args ...any) error {
	return fmt.Errorf("%s: line %d: "+format, append([]any{l.path, l.N}, args...)...)
}

// IsComment reports whether a line above the first row is a comment: # alone, or with a blank
// behind it, as numpy.savetxt writes. A value such as #tag is none.
func IsComment(line []byte) bool {
	return len(line) > 0 && line[0] == '#' && (len(line) == 1 || Blank(line[1]))
}

// Skip counts the last line as a comment.
func (l *Lines) Skip() {
	if l.Comments++; l.Comments == 1 {
		l.Comment = l.N
	}
}

// Skipped says which lines were skipped as comments, empty if none were.
func (l *Lines) Skipped() string {
	switch l.Comments {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s: line %d begins with # and is skipped as a comment", l.path, l.Comment)
	}
	return fmt.Sprintf("%s: %d lines that begin with # are skipped as comments, the first is line %d",
		l.path, l.Comments, l.Comment)
}

// NextValue is Next for files of one value a line: without empty lines, and without comments above
// the first value. first tells whether no value was read before.
func (l *Lines) NextValue(first bool) ([]byte, error) {
	for {
		line, err := l.Next()
		if err != nil || len(line) > 0 && !(first && IsComment(line)) {
			return line, err
		}
		if len(line) > 0 {
			l.Skip()
		}
	}
}

// NextData is Next without empty lines and comments, which begin with # in svmlight.
func (l *Lines) NextData() ([]byte, error) {
	for {
		line, err := l.Next()
		if err != nil || len(line) > 0 && line[0] != '#' {
			return line, err
		}
	}
}
