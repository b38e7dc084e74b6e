//go:build !linux

package program

import "os"

// resident returns 0: the peak of the resident memory is known on Linux only.
func resident(*os.ProcessState) int64 { return 0 }
