package dense

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// advise asks for large pages under memory that is not touched yet. It is a
// hint: systems without them, and memory that does not begin on a page, do
// without.
func advise(b []byte) {
	if uintptr(unsafe.Pointer(&b[0]))%uintptr(unix.Getpagesize()) == 0 {
		_ = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}
