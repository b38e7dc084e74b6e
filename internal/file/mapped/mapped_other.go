//go:build !unix

package mapped

import "os"

func mapFile(*os.File, int) ([]byte, error) { return nil, ErrUnsupported }

func unmap([]byte) {}

func drop([]byte) {}

// Scratch returns n numbers in the pages of a file; on this system there are none.
func Scratch(string, int) ([]float64, error) { return nil, ErrUnsupported }
