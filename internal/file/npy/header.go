package npy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

const (
	magic = "\x93NUMPY"

	// maxHeader bounds the dictionary of a .npy header. NumPy's own default
	// is 10,000 bytes.
	maxHeader = 64 << 10

	// maxDims is the largest number of dimensions, as in NumPy 2.
	maxDims = 64
)

// A .npy file is a header and a payload:
//
//	bytes      content
//	0–5        "\x93NUMPY"
//	6, 7       version: 1, 2 or 3, and 0
//	8, 9       length h of the dictionary, uint16, least byte first (uint32 from version 2 on)
//	10 …       Python dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//	           filled up with blanks and a newline, to a multiple of 64 bytes in all
//	10+h …     the elements, in C or Fortran order
//
// A .npz file is a zip archive of them, each member with ".npy" behind its name, stored or
// deflated.

// Header describes a stored array: its element type, shape and layout.
type Header struct {
	// DType is NumPy's name of the element type without byte order:
	// "float16", "float32", "float64", "int8" … "uint64", "bool", "bytesN" or "strN".
	DType string
	// Shape holds the extents; it is empty for a scalar.
	Shape []int
	// Fortran says that the first index runs fastest in the file.
	Fortran bool

	kind byte // one of f i u b S U
	size int  // bytes of one element
	big  bool // most significant byte first
}

// NewHeader returns the header of an array with the element type descr, as
// NumPy writes it ("<f4", ">i2", "|u1"), and the given shape. The error names
// an element type that this package does not read, or a shape that is negative
// or too large to address.
func NewHeader(descr string, shape []int, fortran bool) (*Header, error) {
	h := &Header{Shape: shape, Fortran: fortran}
	if err := h.setType(descr); err != nil {
		return nil, err
	}
	if len(shape) > maxDims {
		return nil, fmt.Errorf("the header claims %d dimensions; at most %d are accepted",
			len(shape), maxDims)
	}

	// The product of the extents must not overflow, unless one of them is 0.
	n := uint64(h.size)
	empty := false
	for _, s := range shape {
		if s < 0 {
			return nil, fmt.Errorf("the header claims shape %s; an extent is negative", shapeString(shape))
		}
		empty = empty || s == 0
	}

	for _, s := range shape {
		if empty {
			break
		}
		if uint64(s) > math.MaxInt/n {
			return nil, fmt.Errorf("the header claims shape %s of %s, more bytes than can be addressed",
				shapeString(shape), h.DType)
		}
		n *= uint64(s)
	}

	return h, nil
}

// Len returns the number of elements.
func (h *Header) Len() int {
	n := 1
	for _, s := range h.Shape {
		if s == 0 {
			return 0
		}
		n *= s // NewHeader has checked the product
	}
	return n
}

// Bytes returns the number of bytes of the payload.
func (h *Header) Bytes() int64 { return int64(h.Len()) * int64(h.size) }

// String returns the type and shape, as in "float32 (60000, 784)".
func (h *Header) String() string { return h.DType + " " + shapeString(h.Shape) }

// Within returns a [LimitError] that names what if decoding takes more than limit bytes; 0 is
// no limit.
func (h *Header) Within(limit int64, what string) error {
	if need := h.Memory(); limit > 0 && need > limit {
		return &LimitError{what, need, limit}
	}
	return nil
}

// Memory returns the bytes that decoding takes at its peak: an array that is transposed or
// converted is held twice, and a string has a header of 16 bytes.
func (h *Header) Memory() int64 {
	b := h.Bytes()

	// The stored and the final elements are there at once.
	if h.transposes() || h.kind == 'b' {
		return sat(b, b)
	}
	if h.kind == 'S' || h.kind == 'U' {
		return sat(b, sat(b, 16*int64(h.Len())))
	}
	return b
}

// sat adds two non-negative numbers and stays at the largest int64.
func sat(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// transposes reports whether the payload must be reordered.
func (h *Header) transposes() bool {
	wide := 0
	for _, s := range h.Shape {
		if s > 1 {
			wide++
		}
	}
	return h.Fortran && wide > 1
}

func (h *Header) setType(descr string) error {
	unknown := func(remedy string) error {
		return fmt.Errorf("unknown dtype %s: accepted are float16, float32, float64, int8 to int64, "+
			"uint8 to uint64 and bool, in either byte order; %s", quote(descr), remedy)
	}
	if strings.HasSuffix(descr, "O") {
		return fmt.Errorf("dtype %s holds Python objects, which are not read: make an array of "+
			"numbers with .astype(float), or of text with .astype(str), before saving", quote(descr))
	}
	if len(descr) < 3 || strings.IndexByte("<>|=", descr[0]) < 0 {
		return unknown("convert the array with .astype")
	}

	// The kinds that are read; for others the remedy depends on the kind.
	switch descr[1] {
	case 'f', 'i', 'u', 'b', 'S', 'U':
	case 'c':
		return unknown("save .real and .imag as two arrays")
	case 'M', 'm':
		return unknown("convert times with .astype('int64')")
	case 'V':
		return unknown("save each field as an array of its own")
	default:
		return unknown("convert the array with .astype")
	}

	size, err := strconv.Atoi(descr[2:])
	if err != nil || size < 1 || size > 1<<20 || descr[2] == '+' {
		return unknown("convert the array with .astype")
	}
	h.kind = descr[1]
	h.size = size
	h.big = descr[0] == '>' || descr[0] != '<' && hostBig
	switch {
	case h.kind == 'S':
		h.DType = fmt.Sprintf("bytes%d", size)
	case h.kind == 'U':
		h.DType = fmt.Sprintf("str%d", size)
		h.size = 4 * size
	case h.kind == 'b' && size == 1:
		h.DType = "bool"
	case h.kind == 'f' && (size == 2 || size == 4 || size == 8):
		h.DType = fmt.Sprintf("float%d", 8*size)
	case h.kind == 'i' && (size == 1 || size == 2 || size == 4 || size == 8):
		h.DType = fmt.Sprintf("int%d", 8*size)
	case h.kind == 'u' && (size == 1 || size == 2 || size == 4 || size == 8):
		h.DType = fmt.Sprintf("uint%d", 8*size)
	case h.kind == 'f':
		return unknown("convert the array with .astype('float32') or .astype('float64')")
	default:
		return unknown("convert the array with .astype")
	}

	return nil
}

// hostBig reports whether this machine stores the most significant byte first.
var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// parseHeader reads a .npy header of version 1, 2 or 3 and returns it with its
// length in bytes.
func parseHeader(r io.Reader) (*Header, int64, error) {
	var lead [8]byte
	if n, err := io.ReadFull(r, lead[:]); err != nil {
		return nil, 0, short(err, "the .npy header ends after %d bytes", n)
	}
	if string(lead[:6]) != magic {
		return nil, 0, fmt.Errorf("not a .npy array: it begins with %q, want %q", lead[:6], magic)
	}

	// The length of the dictionary has two bytes in version 1, and four later.
	var length uint32
	at := int64(10)
	switch lead[6] {
	case 1:
		var b [2]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, 0, short(err, "the .npy header ends within its length field")
		}
		length = uint32(binary.LittleEndian.Uint16(b[:]))
	case 2, 3:
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, 0, short(err, "the .npy header ends within its length field")
		}
		length = binary.LittleEndian.Uint32(b[:])
		at = 12
	default:
		return nil, 0, fmt.Errorf(".npy format version %d.%d is unknown; versions 1 to 3 are accepted",
			lead[6], lead[7])
	}

	if length > maxHeader {
		return nil, 0, fmt.Errorf("the .npy header claims to be %d bytes long; at most %d are accepted",
			length, maxHeader)
	}
	text := make([]byte, length)
	if n, err := io.ReadFull(r, text); err != nil {
		return nil, 0, short(err, "the .npy header ends after %d of %d bytes", n, length)
	}
	h, err := parseDict(text)
	if err != nil {
		return nil, 0, err
	}
	return h, at + int64(length), nil
}

// short describes a failed read: the end of the data by format, any other
// failure by itself.
func short(err error, format string, args ...any) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf(format+": the file is truncated", args...)
	}
	return err
}

// parseDict reads the Python dictionary of a header.
func parseDict(text []byte) (*Header, error) {
	p := &literal{text: bytes.TrimRight(text, " \n\x00")}
	fields, err := p.dict()
	if err != nil {
		return nil, fmt.Errorf("malformed .npy header, byte %d of the dictionary: %w", p.at, err)
	}

	// Exactly the three keys of the format, each of its type.
	for _, k := range []string{"descr", "fortran_order", "shape"} {
		if _, ok := fields[k]; !ok {
			return nil, fmt.Errorf("the .npy header has no %q", k)
		}
	}

	if len(fields) != 3 {
		return nil, fmt.Errorf("the .npy header has %d keys, want descr, fortran_order and shape only",
			len(fields))
	}
	// The types of the values, each with its own fault.
	descr, ok := fields["descr"].(string)
	if !ok {
		return nil, errors.New("unknown dtype: the array is a structured one; save each field as an " +
			"array of its own")
	}
	fortran, ok := fields["fortran_order"].(bool)
	if !ok {
		return nil, errors.New("the .npy header's fortran_order is neither True nor False")
	}

	dims, ok := fields["shape"].(tuple)
	if !ok {
		return nil, errors.New("the .npy header's shape is not a tuple")
	}
	shape := make([]int, len(dims))
	for i, d := range dims {
		v, ok := d.(int)
		if !ok {
			return nil, fmt.Errorf("extent %d of the .npy header's shape is not an integer", i)
		}
		shape[i] = v
	}

	return NewHeader(descr, shape, fortran)
}

// quote is %q of at most 40 bytes of s.
func quote(s string) string {
	if len(s) > 40 {
		return strconv.Quote(s[:40]) + "…"
	}
	return strconv.Quote(s)
}

// shapeString writes a shape as Python does: (), (3,), (3, 4).
func shapeString(shape []int) string {
	var b strings.Builder
	b.WriteByte('(')
	for i, s := range shape {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, s)
	}

	if len(shape) == 1 {
		b.WriteByte(',')
	}
	b.WriteByte(')')
	return b.String()
}
