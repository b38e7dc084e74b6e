package program

import (
	"os"
	"syscall"
)

// resident returns the peak of the resident memory of a process that has ended, mapped files included.
func resident(p *os.ProcessState) int64 {
	if r, ok := p.SysUsage().(*syscall.Rusage); ok {
		return r.Maxrss << 10 // Linux counts in KiB
	}
	return 0
}
