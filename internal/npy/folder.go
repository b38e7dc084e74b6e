package npy

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"unsafe"

	"github.com/bigfit/bigfit/internal/mapped"
)

// Folder lets write fill a temporary folder beside path and gives it that name. A
// folder of this name is replaced as a whole if it holds nothing but the given files,
// and any other is an error. After an error nothing new is there. Files must be synced
// by write; those of [Atomically] and [Growing] are.
func Folder(path string, files []string, write func(dir string) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: cannot write it: %w", path, withoutTemporary(err))
		}
	}()
	path = filepath.Clean(path)
	if err := replaceable(path, files); err != nil {
		return err
	}
	parent := filepath.Dir(path)
	sweepOnce(parent)
	dir, held, err := createFolder(path)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	defer held.Close()
	if err := write(dir); err != nil {
		return err
	}
	if err := held.Sync(); err != nil && !closeBeforeRename {
		return err
	}
	for _, name := range files {
		mapped.Forget(filepath.Join(path, name))
	}
	if closeBeforeRename {
		held.Close()
	}
	return exchange(dir, path)
}

// CheckFolder returns an error unless [Folder] can begin to write path.
func CheckFolder(path string, files []string) error {
	path = filepath.Clean(path)
	err := replaceable(path, files)
	if err == nil {
		var dir string
		var held *os.File
		if dir, held, err = createFolder(path); err == nil {
			held.Close()
			err = os.Remove(dir)
		}
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, withoutTemporary(err))
	}
	return nil
}

// replaceable returns an error unless path is not there or a folder of nothing but files.
func replaceable(path string, files []string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		if info, statErr := os.Stat(path); statErr == nil && !info.IsDir() {
			return errors.New("it exists and is not a folder; choose another name")
		}
		return err
	}
	known := map[string]bool{}
	for _, name := range files {
		known[name] = true
	}
	for _, e := range entries {
		if !known[e.Name()] {
			return fmt.Errorf("the folder exists and holds %s, which would be lost; choose another name", quote(e.Name()))
		}
	}
	return nil
}

// TemporaryFolder makes a folder beside target and returns how to remove it. Where this
// process is killed, the next one that writes there removes it ([Leftovers]).
func TemporaryFolder(target string) (dir string, remove func(), err error) {
	sweepOnce(filepath.Dir(target))
	dir, held, err := createFolder(target)
	if err != nil {
		return "", nil, err
	}
	return dir, func() { held.Close(); os.RemoveAll(dir) }, nil
}

// createFolder makes a temporary folder for target and holds its lock.
func createFolder(target string) (string, *os.File, error) {
	for range 1000 {
		dir := temporaryPrefix(target) + strconv.FormatUint(rand.Uint64(), 16)
		err := os.Mkdir(dir, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		f, err := os.Open(dir)
		if err != nil {
			return "", nil, err
		}
		lock(f)
		return dir, f, nil
	}
	return "", nil, errors.New("no name is free for a temporary folder")
}

// exchange gives the folder from the name to. The folder that had it is at from, or gone.
func exchange(from, to string) error {
	if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(from, to)
	}
	if err := swap(from, to); err == nil {
		return nil
	}
	// Where the system cannot swap names there is a moment without a folder.
	aside := from + "0"
	if err := os.Rename(to, aside); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return errors.Join(err, os.Rename(aside, to))
	}
	return os.RemoveAll(aside)
}

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
