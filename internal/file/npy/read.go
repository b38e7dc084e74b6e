package npy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"
	"unsafe"

	"github.com/kshedden/gonpy"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
)

// LimitError says that decoding would take more memory than the caller
// allows.
type LimitError struct {
	What  string // the file, and the array in it
	Need  int64  // bytes
	Limit int64  // bytes
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: reading it takes %d bytes of memory, the limit is %d; raise the memory "+
		"limit or store fewer points or a smaller dtype", e.What, e.Need, e.Limit)
}

// ReadHeader returns the header of a .npy file without its payload. It compares the size that the
// header claims with the size of the file.
func ReadHeader(path string) (*Header, error) {
	f, h, err := open(path)
	if err != nil {
		return nil, err
	}
	return h, f.Close()
}

// ReadFile reads a .npy file. Arrays in Fortran order are transposed to C
// order, which for a moment holds them twice. A positive limit bounds the
// memory in bytes; beyond it ReadFile returns a *LimitError. The payload must
// have exactly the length that the header claims.
func ReadFile(path string, limit int64) (*Array, error) {
	f, h, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := h.Within(limit, path); err != nil {
		return nil, err
	}
	a, err := Decode(f, h, h.Bytes())
	if err != nil {
		return nil, named(path, err)
	}
	return a, nil
}

// StreamHeader reads the header of an array in .npy form.
func StreamHeader(r io.Reader) (*Header, error) {
	h, _, err := parseHeader(r)
	return h, err
}

// ReadPayload reads what follows the header h of an array in .npy form, to the end of the stream.
// hint is as for [Decode].
func ReadPayload(r io.Reader, h *Header, hint int64) (*Array, error) {
	a, err := Decode(r, h, hint)
	if err == nil {
		err = atEnd(r)
	}
	return a, err
}

// open opens a .npy file and leaves it at the first byte of its payload.
func open(path string) (_ *os.File, _ *Header, err error) {
	f, size, err := OpenRegular(path)
	if err != nil {
		return nil, nil, err
	}

	defer func() {
		if err != nil {
			f.Close()
		}
	}()

	h, at, err := parseHeader(f)
	if err != nil {
		return nil, nil, named(path, err)
	}
	if err := checkSize(h, size-at, "the file"); err != nil {
		return nil, nil, named(path, err)
	}
	return f, h, nil
}

// checkSize compares the payload that h claims with the bytes that are there.
func checkSize(h *Header, have int64, what string) error {
	want := h.Bytes()
	switch {
	case have < want:
		return fmt.Errorf("the header claims %s, %d bytes, but %d bytes follow it: %s is truncated "+
			"or its header damaged; save the array again", h, want, have, what)
	case have > want:
		return fmt.Errorf("the header claims %s, %d bytes, but %d bytes follow it: %s has more than "+
			"one array or its header is damaged; save one array with numpy.save", h, want, have, what)
	}
	return nil
}

// OpenRegular opens a file for reading and returns its size. Directories,
// pipes and devices are refused: their size cannot be checked.
func OpenRegular(path string) (*os.File, int64, error) {
	// Look before opening, which may block on a pipe.
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		kind := "not a regular file; copy the data into one"
		if info.IsDir() {
			kind = "a directory, want a file"
		}
		return nil, 0, fmt.Errorf("%s: is %s", path, kind)
	}

	// The size is asked of the open file: the name may stand for another one by now.
	var f *os.File
	if err == nil {
		f, err = os.Open(path)
	}
	if err == nil {
		info, err = f.Stat()
	}
	if err != nil {
		return nil, 0, named(path, err)
	}
	return f, info.Size(), nil
}

// named puts the path in front of an error, once.
func named(path string, err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", path, pe.Err) // the name of the system call tells nobody anything
	}
	return fmt.Errorf("%s: %w", path, err)
}

// UsualRatio is the ratio of decompressed to compressed bytes up to which memory for an array is
// taken at once. Images of digits reach 5, and tables of zeros and ones 15 to 30.
const UsualRatio = 16

// leastHint is the memory that every array gets at once.
const leastHint = 1 << 20

// Decode reads from r the payload that h describes, and not a byte beyond it.
// It takes at first memory for at most hint bytes (at least 1 MiB) and more as
// the bytes arrive, so a false claim in h costs at most twice what r delivers.
// Callers that know the true length of the payload give it as hint.
func Decode(r io.Reader, h *Header, hint int64) (*Array, error) {
	hint = max(hint, leastHint)

	// gonpy has a method for each type; it serves the other byte order.
	var data any
	var err error
	switch h.DType {
	case "float16":
		data, err = decode(r, h, hint, readHalves)
	case "float32":
		data, err = decode(r, h, hint, (*gonpy.NpyReader).GetFloat32)
	case "float64":
		data, err = decode(r, h, hint, (*gonpy.NpyReader).GetFloat64)
	case "int8":
		data, err = decode(r, h, hint, (*gonpy.NpyReader).GetInt8)
	case "int16":
		data, err = decode(r, h, hint, (*gonpy.NpyReader).GetInt16)
	case "int32":
		data, err = decode(r, h, hint, (*gonpy.NpyReader).GetInt32)
	case "int64":
		data, err = decode(r, h, hint, (*gonpy.NpyReader).GetInt64)
	case "uint8":
		data, err = decode(r, h, hint, (*gonpy.NpyReader).GetUint8)
	case "uint16":
		data, err = decode(r, h, hint, (*gonpy.NpyReader).GetUint16)
	case "uint32":
		data, err = decode(r, h, hint, (*gonpy.NpyReader).GetUint32)
	case "uint64":
		data, err = decode(r, h, hint, (*gonpy.NpyReader).GetUint64)
	case "bool":
		// Any byte but 0 is true.
		var raw []uint8
		raw, err = decode(r, h, hint, (*gonpy.NpyReader).GetUint8)
		bits := make([]bool, len(raw))
		for i, v := range raw {
			bits[i] = v != 0
		}
		data = bits
	default:
		data, err = decodeStrings(r, h, hint)
	}

	if err != nil {
		return nil, err
	}
	return &Array{Shape: h.Shape, Data: data}, nil
}

// number is an element type of arrays that the host stores as NumPy does.
type number interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 | Half
}

// readHalves reads numbers of two bytes.
func readHalves(g *gonpy.NpyReader) ([]Half, error) {
	v, err := g.GetUint16()
	return unsafe.Slice((*Half)(unsafe.SliceData(v)), len(v)), err
}

// decode reads h.Len() numbers and brings them into C order.
func decode[T number](r io.Reader, h *Header, hint int64,
	get func(*gonpy.NpyReader) ([]T, error)) ([]T, error) {
	read := func(dst []T) (int64, error) {
		n, err := io.ReadFull(r, bytesOf(dst))
		return int64(n), err
	}
	if h.size > 1 && h.big != hostBig {
		read = func(dst []T) (int64, error) { return readForeign(r, h, dst, get) }
	}

	// Memory for a claim is taken step by step, so that a false header does not take it all.
	n := h.Len()
	out := dense.Zeros[T](min(n, int(hint)/h.size))

	var got int64
	// Fill the memory that was taken, and double it as long as bytes arrive.
	for done := 0; ; {
		m, err := read(out[done:])
		got += m
		if err != nil {
			return nil, short(err, "the payload of %s ends after %d of %d bytes", h, got, h.Bytes())
		}
		if done = len(out); done == n {
			break
		}
		grown := dense.Zeros[T](min(n, 2*done))
		copy(grown, out)
		out = grown
	}

	if h.transposes() {
		dst := dense.Zeros[T](n)
		reverseAxes(dst, out, h.Shape)
		out = dst
	}
	return out, nil
}

// foreignChunk is the number of bytes that gonpy decodes at a time; it holds
// them twice.
const foreignChunk = 1 << 20

// readForeign fills dst with numbers of the other byte order through gonpy. It
// returns the bytes read.
func readForeign[T number](r io.Reader, h *Header, dst []T,
	get func(*gonpy.NpyReader) ([]T, error)) (int64, error) {
	mark := byte('<')
	if h.big {
		mark = '>'
	}
	counted := &counter{r: r}
	// One chunk at a time, so that memory stays small.
	for len(dst) > 0 {
		n := min(len(dst), foreignChunk/h.size)
		kind := h.kind
		if h.DType == "float16" {
			kind = 'u' // the bits
		}

		// gonpy gets a header of its own for each chunk.
		head := headerBytes(fmt.Sprintf("%c%c%d", mark, kind, h.size), []int{n})
		g, err := gonpy.NewReader(io.MultiReader(bytes.NewReader(head), counted))
		if err != nil {
			return counted.n, err
		}

		part, err := get(g)
		if err != nil {
			return counted.n, err
		}
		copy(dst, part)
		dst = dst[n:]
	}

	return counted.n, nil
}

// counter counts the bytes that pass.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// bytesOf returns the memory of s as bytes.
func bytesOf[T number](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// interned is the number of distinct strings of an array that share the memory of their
// repetitions, as names of classes do.
const interned = 1 << 12

// decodeStrings reads fixed-width strings without their padding of zeros. It takes
// memory for hint bytes of cells at first, and more as the bytes arrive.
func decodeStrings(r io.Reader, h *Header, hint int64) ([]string, error) {
	// Names of classes repeat, so equal strings share memory, up to a number.
	n := h.Len()
	out := make([]string, 0, min(n, int(hint)/max(1, h.size)))
	cell := make([]byte, h.size)
	text := make([]byte, 0, h.size)
	known := map[string]string{}
	in := bufio.NewReaderSize(io.LimitReader(r, h.Bytes()), 1<<16)

	// A cell at a time: the fixed width of all may be much more than their texts.
	for i := range n {
		if got, err := io.ReadFull(in, cell); err != nil {
			return nil, short(err, "the payload of %s ends after %d of %d bytes", h, int64(i)*int64(h.size)+
				int64(got), h.Bytes())
		}

		// Looking up the bytes of a known string makes no copy.
		text = h.text(text[:0], cell)
		s, ok := known[string(text)]
		if !ok {
			if s = string(text); len(known) < interned {
				known[s] = s
			}
		}
		out = append(out, s)
	}

	if h.transposes() {
		dst := make([]string, n)
		reverseAxes(dst, out, h.Shape)
		out = dst
	}
	return out, nil
}

// text appends to dst the string in a cell, as UTF-8.
func (h *Header) text(dst, cell []byte) []byte {
	if h.kind == 'S' {
		return append(dst, bytes.TrimRight(cell, "\x00")...)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if h.big {
		order = binary.BigEndian
	}
	for ; len(cell) > 0; cell = cell[4:] {
		dst = utf8.AppendRune(dst, rune(order.Uint32(cell)))
	}
	return bytes.TrimRight(dst, "\x00")
}

// reverseAxes writes to dst in C order the array that src holds in Fortran
// order. As matrices, src is (s₁⋯s_k)×s₀; its transpose holds for every first
// index an array of the remaining axes in Fortran order.
func reverseAxes[T any](dst, src []T, shape []int) {
	rest := len(src) / shape[0]
	transpose(dst, src, rest, shape[0])
	if len(shape) < 3 {
		return
	}
	// The remaining axes are reversed the same way, for every first index.
	scratch := make([]T, rest)
	for i := range shape[0] {
		part := dst[i*rest : (i+1)*rest]
		copy(scratch, part)
		reverseAxes(part, scratch, shape[1:])
	}
}

// transpose sets dst (cols×rows) to the transpose of src (rows×cols), in tiles
// that stay in the first-level cache.
func transpose[T any](dst, src []T, rows, cols int) {
	const tile = 32
	par.For(cols, tile, func(lo, hi int) {
		for i0 := 0; i0 < rows; i0 += tile {
			i1 := min(i0+tile, rows)
			for j := lo; j < hi; j++ {
				row := dst[j*rows : (j+1)*rows]
				for i := i0; i < i1; i++ {
					row[i] = src[i*cols+j]
				}
			}
		}
	})
}
