package npy

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/bigfit/bigfit/internal/file/mapped"
)

// Growing is a one-dimensional .npy file whose length is known at the end. It is not
// written atomically: see [Folder].
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

// Elements returns the elements of a one-dimensional .npy file of the type T: mapped into
// memory to be read where [Map] can, else read, within limit bytes if that is positive.
func Elements[T number](path string, limit int64) ([]T, error) {
	h, raw, err := Map(path, SmallFile)
	if err != nil {
		return nil, err
	}
	want := (&Array{Data: []T(nil)}).DType()
	if h.DType != want || len(h.Shape) != 1 {
		return nil, fmt.Errorf("%s: the array is %s; it must be %s of one dimension", path, h, want)
	}
	if raw != nil {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), h.Len()), nil
	}

	a, err := ReadFile(path, limit)
	if err != nil {
		return nil, err
	}
	v, ok := a.Data.([]T)
	if !ok || len(v) != h.Len() { // it changed since
		return nil, fmt.Errorf("%s: it changed while it was read; run again when it is complete", path)
	}
	return v, nil
}

// Reserve makes a file of float64 of the given shape whose elements are zero until other
// programs write them. It takes no room on disk where the file system can leave that out.
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

// Matrix returns the elements of a file of float64 of the shape rows×columns, mapped where
// [Map] can, else read. The file is one that this process had made and may remove: that is
// no change that [mapped.Check] reports.
func Matrix(path string, rows, columns int) ([]float64, error) {
	h, raw, err := Map(path, SmallFile)
	if err != nil {
		return nil, err
	}
	if h.DType != "float64" || len(h.Shape) != 2 || h.Shape[0] != rows || h.Shape[1] != columns {
		return nil, fmt.Errorf("%s: the array is %s; it must be float64 of %d×%d", path, h, rows, columns)
	}
	if raw != nil {
		mapped.Forget(path)
		return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(raw))), h.Len()), nil
	}

	a, err := ReadFile(path, 0)
	if err != nil {
		return nil, err
	}
	return a.Float64s()
}
