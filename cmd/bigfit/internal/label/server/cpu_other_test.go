//go:build !unix

package server_test

// cpu returns 0: the time of processors is known on Unix only.
func cpu() float64 { return 0 }
