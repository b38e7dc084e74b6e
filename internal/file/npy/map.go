package npy

import (
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/bigfit/bigfit/internal/file/mapped"
)

// SmallFile is the size in bytes below which one file is better read than mapped.
const SmallFile = 1 << 20

// Map returns the header of a .npy file and its payload, mapped into memory to be read; see package
// mapped. The payload is nil where the file cannot be mapped, or has fewer bytes than least, or
// where the elements do not lie in it as they lie in memory: another byte order, Fortran order,
// strings, an address that their type does not allow. Then [ReadFile] reads it.
func Map(path string, least int64) (*Header, []byte, error) {
	f, h, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, nil, named(path, err)
	}
	// The memory of the file must serve as a slice of the type.
	if h.transposes() || h.size > 1 && h.big != hostBig || h.kind == 'S' || h.kind == 'U' ||
		at%int64(h.size) != 0 || h.Bytes() < least {
		return h, nil, nil
	}

	all, err := mapped.Open(f, path)
	if errors.Is(err, mapped.ErrUnsupported) {
		return h, nil, nil
	}
	if err != nil {
		return nil, nil, named(path, err)
	}
	if have := int64(len(all)) - at; have != h.Bytes() { // it changed since it was opened
		return nil, nil, named(path, checkSize(h, have, "the file"))
	}
	return h, all[at:], nil
}

// Elements returns the elements of a one-dimensional .npy file of the type T: mapped into
// memory to be read where [Map] can, else read, within limit bytes if that is positive.
func Elements[T number](path string, limit int64) ([]T, error) {
	h, raw, err := Map(path, SmallFile)
	if err != nil {
		return nil, err
	}

	// The file must hold numbers of this type in one dimension.
	want := (&Array{Data: []T(nil)}).DType()
	if h.DType != want || len(h.Shape) != 1 {
		return nil, fmt.Errorf("%s: the array is %s; it must be %s of one dimension", path, h, want)
	}
	if raw != nil {
		return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(raw))), h.Len()), nil
	}

	// Small files and systems without maps are read, and may have changed since the header was.
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

// Matrix returns the elements of a file of float64 of the shape rows×columns, mapped where [Map]
// can, else read. This process made the file and may remove it, so [mapped.Check] does not look at
// it.
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
