//go:build !linux

package store

import "testing"

func smallDisk(t *testing.T, _ int) string {
	t.Helper()
	t.Skip("a small disk is only known how to make on Linux")
	return ""
}
