//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// closeBeforeRename: a file can be renamed while it is open.
const closeBeforeRename = false

// alive reports whether the process that had the number pid and started at start
// (0 if that is not known) may still run.
func alive(pid int, start uint64) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	fields := statOf(pid)
	if fields == nil {
		return true // nothing more is known
	}
	ended := fields[0] == "Z" || fields[0] == "X" // waits to be collected
	return !ended && (start == 0 || startOf(pid) == start)
}

// lock takes the lock of a file until it is closed and reports whether another
// process has it. Where a file system has no locks, no process does.
func lock(f *os.File) (taken bool) {
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
