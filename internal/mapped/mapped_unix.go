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

// drop gives back the pages that lie within b.
func drop(b []byte) {
	page := uintptr(os.Getpagesize())
	first := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := -first & (page - 1)
	if uintptr(len(b)) < skip+page {
		return
	}
	rest := b[skip:]
	rest = rest[:uintptr(len(rest))&^(page-1)]
	_ = unix.Madvise(rest, unix.MADV_DONTNEED) // it is advice
}
