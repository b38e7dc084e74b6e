package attack

import (
	"os"
	"syscall"
)

// residentOf returns the peak of the resident memory of a process that has ended.
func residentOf(p *os.ProcessState) int64 {
	if usage, ok := p.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss << 10 // Linux counts in KiB
	}
	return 0
}
