//go:build unix

package mapped

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func mapFile(f *os.File, size int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

// unmap ends a mapping; if the system refuses, it stays until the process ends.
func unmap(b []byte) { _ = unix.Munmap(b) }

// drop gives back the pages that lie within b.
func drop(b []byte) {
	page := uintptr(os.Getpagesize())
	first := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	// Only whole pages can be given back: skip to the first, and stop at the last.
	skip := -first & (page - 1)
	if uintptr(len(b)) < skip+page {
		return
	}
	rest := b[skip:]
	rest = rest[:uintptr(len(rest))&^(page-1)]
	_ = unix.Madvise(rest, unix.MADV_DONTNEED) // it is advice
}

// Scratch returns n numbers, zero, in the pages of a file in the folder dir that has no name,
// so that the kernel can write them to disk where memory is short.
func Scratch(dir string, n int) ([]float64, error) {
	f, err := os.CreateTemp(dir, ".bigfit-scratch-")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return nil, err
	}
	if err := f.Truncate(8 * int64(n)); err != nil {
		return nil, err
	}

	b, err := unix.Mmap(int(f.Fd()), 0, 8*n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(b))), n), nil
}
