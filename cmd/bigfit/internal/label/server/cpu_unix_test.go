//go:build unix

package server_test

import (
	"syscall"
	"time"
)

// cpu returns the seconds that all processors have worked for this process.
func cpu() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
