//go:build !linux

package supervise

// StopWithParent stops this process when the one that started it ends; on this system it
// does nothing.
func StopWithParent() {}
