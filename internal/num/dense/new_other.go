//go:build !linux

package dense

// advise does nothing here.
func advise([]byte) {}
