package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// Closed reports whether the process was started without the stream f, one of
// os.Stdin, os.Stdout and os.Stderr.
//
// The Go runtime opens /dev/null for reading and writing in the place of each
// stream that is closed. A shell opens it for writing only, and a program that
// silences its children for reading and writing gives it for several streams at
// once, so that these share one open file; then f is not closed. Only a program
// that opens /dev/null for reading and writing for this stream alone, as Python's
// subprocess.DEVNULL given for stdout but not for stderr, cannot be told from none.
func Closed(f *os.File) bool {
	var null, own unix.Stat_t
	fd := int(f.Fd())
	if unix.Stat(os.DevNull, &null) != nil || unix.Fstat(fd, &own) != nil {
		return false
	}
	// It must be /dev/null, opened for reading and writing, and shared with no other stream.
	if own.Mode&unix.S_IFMT != unix.S_IFCHR || own.Rdev != null.Rdev {
		return false
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil ||
		flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}

	for other := range 3 {
		if other != fd && sharesFile(fd, other) {
			return false
		}
	}
	return true
}

// sharesFile reports whether two descriptors of this process are of one open file,
// or whether that cannot be known.
func sharesFile(a, b int) bool {
	const kcmpFile = 0
	pid := uintptr(os.Getpid())
	order, _, errno := unix.Syscall6(unix.SYS_KCMP, pid, pid, kcmpFile, uintptr(a), uintptr(b), 0)
	return errno != 0 && errno != unix.EBADF || errno == 0 && order == 0
}
