//go:build !linux

package atomicfile

import "errors"

// swap exchanges the names of two files in one step, where the system can.
func swap(string, string) error { return errors.ErrUnsupported }
