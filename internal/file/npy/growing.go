package npy

import (
	"bufio"
	"errors"
	"fmt"
	"os"
)

// Growing writes a one-dimensional .npy file with a length that is known at the end only. The file
// is not written atomically: see package atomicfile.
type Growing[T number] struct {
	f     *os.File
	w     *bufio.Writer
	descr string
	count int
}

// growingHeader is the size of the header of a one-dimensional array of any length.
const growingHeader = 128

// NewGrowing begins the file path.
func NewGrowing[T number](path string) (*Growing[T], error) {
	descr, err := descrOf[T]()
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}

	// Room for the header, which Close writes when the length is known.
	g := &Growing[T]{f: f, w: bufio.NewWriterSize(f, writeChunk), descr: descr}
	if _, err := g.w.Write(make([]byte, growingHeader)); err != nil {
		f.Close()
		return nil, err
	}
	return g, nil
}

// Append writes more elements.
func (g *Growing[T]) Append(v []T) error {
	g.count += len(v)
	return writeRaw(g.w, v)
}

// Len returns the number of elements so far.
func (g *Growing[T]) Len() int { return g.count }

// Close writes the header, syncs and closes the file. It may be called again.
func (g *Growing[T]) Close() error {
	if g.f == nil {
		return nil
	}
	// The header has a fixed size, so that it can be written last.
	f := g.f
	g.f = nil
	err := g.w.Flush()
	if err == nil {
		h := headerBytes(g.descr, []int{g.count})
		if len(h) != growingHeader {
			panic("npy: the header of a one-dimensional array has another length")
		}
		_, err = f.WriteAt(h, 0)
	}

	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func descrOf[T number]() (string, error) {
	switch any(*new(T)).(type) {
	case int32:
		return "<i4", nil
	case int64:
		return "<i8", nil
	case float64:
		return "<f8", nil
	}
	return "", fmt.Errorf("npy: no growing file of %T", *new(T))
}

// Reserve makes a file of float64 of the given shape, with zeros until other programs write the
// elements. The file takes no room on disk where the file system can leave zeros out.
func Reserve(path string, shape []int) error {
	h, err := NewHeader("<f8", shape, false)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	header := headerBytes("<f8", shape)
	_, err = f.Write(header)
	if err == nil {
		err = f.Truncate(int64(len(header)) + h.Bytes())
	}
	return errors.Join(err, f.Close())
}
