package npy

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
)

// rawTypes lists the element types of an [archive.Raw], as NumPy writes them, and their sizes.
var rawTypes = map[string]struct {
	descr string
	size  int
}{"float16": {"<f2", 2}, "float32": {"<f4", 4}, "float64": {"<f8", 8}, "uint8": {"|u1", 1},
	"bool": {"|b1", 1}}

func writeParts(w io.Writer, r archive.Raw, shape []int) error {
	t, ok := rawTypes[r.DType]
	if !ok {
		return fmt.Errorf("cannot write an array of %s", r.DType)
	}
	total := 0
	for _, p := range r.Parts {
		total += len(p) / t.size
	}
	shape, err := fit(shape, total)
	if err != nil {
		return err
	}
	if _, err := w.Write(headerBytes(t.descr, shape)); err != nil {
		return err
	}

	buffer := make([]byte, writeChunk)
	for _, p := range r.Parts {
		for len(p) > 0 {
			// A copy, as the system cannot say which mapped file has ended too early.
			n := copy(buffer, p)
			p = p[n:]
			if hostBig {
				reverseBytes(buffer[:n], t.size)
			}
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
		}
	}

	return nil
}

// reverseBytes reverses the bytes of every number of the given size.
func reverseBytes(b []byte, size int) {
	for ; len(b) >= size; b = b[size:] {
		slices.Reverse(b[:size])
	}
}

// WriteFile writes data in the given shape as a .npy file: version 1.0, C
// order, little endian. The shape and data are as in an [archive.Array]. The file
// appears whole or not at all; on an error an older file of this name remains.
func WriteFile(path string, shape []int, data any) error {
	return atomicfile.Atomically(path, func(w io.Writer) error { return writeArray(w, shape, data) })
}

// WriteArchive writes the entries as a .npz file, in their order and by
// default uncompressed. The same entries give the same bytes. The file appears
// whole or not at all; on an error an older file of this name remains.
func WriteArchive(path string, entries []archive.Array) error {
	return atomicfile.Atomically(path, func(w io.Writer) error {
		z := zip.NewWriter(w)
		seen := map[string]bool{}
		for _, e := range entries {
			if e.Name == "" || seen[e.Name] {
				return fmt.Errorf("array name %s is empty or used twice", quote(e.Name))
			}
			seen[e.Name] = true
			// A fixed date, so that the same entries give the same bytes.
			h := &zip.FileHeader{Name: e.Name + ".npy", Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
			if e.Compress {
				h.Method = zip.Deflate
			}
			part, err := z.CreateHeader(h)
			if err == nil {
				err = writeArray(part, e.Shape, e.Data)
			}
			if err != nil {
				return fmt.Errorf("array %s: %w", quote(e.Name), err)
			}
		}

		return z.Close()
	})
}

// Sum returns the SHA-256 of the names, types, shapes and elements of the entries, in the order of
// their names. Entries read from a file give the same sum as the entries that were written.
func Sum(entries []archive.Array) (string, error) {
	h := sha256.New()

	// Archives keep no order of their arrays, so the sum takes the order of names.
	sorted := slices.SortedFunc(slices.Values(entries),
		func(a, b archive.Array) int { return strings.Compare(a.Name, b.Name) })
	for _, e := range sorted {
		fmt.Fprintf(h, "%q", e.Name)
		if err := writeArray(h, e.Shape, e.Data); err != nil {
			return "", fmt.Errorf("array %s: %w", quote(e.Name), err)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

func writeArray(w io.Writer, shape []int, data any) error {
	switch d := data.(type) {
	case []float32:
		return writeNumbers(w, "<f4", shape, d)
	case []float64:
		return writeNumbers(w, "<f8", shape, d)
	case []int8:
		return writeNumbers(w, "|i1", shape, d)
	case []int16:
		return writeNumbers(w, "<i2", shape, d)
	case []int32:
		return writeNumbers(w, "<i4", shape, d)
	case []int64:
		return writeNumbers(w, "<i8", shape, d)
	case []uint8:
		return writeNumbers(w, "|u1", shape, d)
	case []uint16:
		return writeNumbers(w, "<u2", shape, d)
	case []uint32:
		return writeNumbers(w, "<u4", shape, d)
	case []uint64:
		return writeNumbers(w, "<u8", shape, d)
	case []bool:
		raw := make([]uint8, len(d))
		for i, v := range d {
			if v {
				raw[i] = 1
			}
		}
		return writeNumbers(w, "|b1", shape, raw)
	case []string:
		return writeStrings(w, shape, d)
	case []Half:
		return writeNumbers(w, "<f2", shape, d)
	case archive.Raw:
		return writeParts(w, d, shape)
	case archive.Single:
		return writeSingle(w, shape, d)
	case archive.Repeat:
		shape, err := fit(shape, d.Count)
		if err != nil {
			return err
		}
		if _, err := w.Write(headerBytes("<f8", shape)); err != nil {
			return err
		}
		// One chunk of copies is written again and again.
		chunk := make([]float64, min(d.Count, writeChunk/8))
		for i := range chunk {
			chunk[i] = d.Value
		}

		for left := d.Count; left > 0; left -= len(chunk) {
			if err := writeRaw(w, chunk[:min(left, len(chunk))]); err != nil {
				return err
			}
		}
		return nil
	case string:
		if len(shape) != 0 || d == "" {
			return errors.New("a string is written as a scalar of at least one byte")
		}
		_, err := w.Write(append(headerBytes(fmt.Sprintf("|S%d", len(d)), nil), d...))
		return err
	}

	return fmt.Errorf("cannot write a %T as an array", data)
}

// writeChunk is the number of bytes handed on at a time, so that a checksum
// finds them in the cache.
const writeChunk = 1 << 20

func writeNumbers[T number](w io.Writer, descr string, shape []int, data []T) error {
	shape, err := fit(shape, len(data))
	if err != nil {
		return err
	}
	if _, err := w.Write(headerBytes(descr, shape)); err != nil {
		return err
	}
	return writeRaw(w, data)
}

// writeSingle writes numbers rounded to float32, a chunk at a time.
func writeSingle(w io.Writer, shape []int, data []float64) error {
	shape, err := fit(shape, len(data))
	if err != nil {
		return err
	}
	if _, err := w.Write(headerBytes("<f4", shape)); err != nil {
		return err
	}

	chunk := make([]float32, min(len(data), writeChunk/4))
	for len(data) > 0 {
		n := min(len(data), len(chunk))
		for i, v := range data[:n] {
			chunk[i] = float32(v)
		}
		if err := writeRaw(w, chunk[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// writeStrings writes strings as NumPy's unicode strings, four bytes a character.
// NumPy pads them with zeros, so that a string cannot end with one.
func writeStrings(w io.Writer, shape []int, data []string) error {
	shape, err := fit(shape, len(data))
	if err != nil {
		return err
	}
	// NumPy pads with zeros, and has no place for bytes that are no characters.
	width := 1
	for i, s := range data {
		switch {
		case strings.HasSuffix(s, "\x00"):
			return fmt.Errorf("string %d, %s, ends with a zero byte, which NumPy's strings cannot",
				i, quote(s))
		case !utf8.ValidString(s):
			return fmt.Errorf("string %d, %s, is not UTF-8", i, quote(s))
		}
		width = max(width, utf8.RuneCountInString(s))
	}

	// Every string takes the width of the longest.
	h, err := NewHeader(fmt.Sprintf("<U%d", width), shape, false)
	if err != nil {
		return err
	}
	if _, err := w.Write(headerBytes(fmt.Sprintf("<U%d", width), shape)); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	cell := make([]byte, h.size)
	for _, s := range data {
		clear(cell)
		at := 0
		for _, r := range s {
			binary.LittleEndian.PutUint32(cell[at:], uint32(r))
			at += 4
		}
		if _, err := out.Write(cell); err != nil {
			return err
		}
	}

	return out.Flush()
}

func writeRaw[T number](w io.Writer, data []T) error {
	// Files are little endian; other machines convert chunk by chunk.
	if hostBig {
		for len(data) > 0 {
			n := min(len(data), writeChunk/8)
			if err := binary.Write(w, binary.LittleEndian, data[:n]); err != nil {
				return err
			}
			data = data[n:]
		}
		return nil
	}

	raw := bytesOf(data)
	for len(raw) > 0 {
		n := min(len(raw), writeChunk)
		if _, err := w.Write(raw[:n]); err != nil {
			return err
		}
		raw = raw[n:]
	}

	return nil
}

// fit checks that n elements fill the shape; a nil shape becomes (n,).
func fit(shape []int, n int) ([]int, error) {
	if shape == nil {
		return []int{n}, nil
	}
	h, err := NewHeader("|u1", shape, false)
	if err != nil {
		return nil, err
	}
	if h.Len() != n {
		return nil, fmt.Errorf("%d elements do not fill the shape %s", n, shapeString(shape))
	}
	return shape, nil
}

// headerBytes returns a version 1.0 header, padded so that the payload begins
// at a multiple of 64.
func headerBytes(descr string, shape []int) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shapeString(shape))
	length := (10+len(text)+1+63)/64*64 - 10
	b := append([]byte(magic), 1, 0, byte(length), byte(length>>8))
	b = append(b, text...)
	b = append(b, strings.Repeat(" ", length-len(text)-1)...)
	return append(b, '\n')
}
