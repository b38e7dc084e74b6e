//go:build !linux

package engine

import "os/exec"

// isolate keeps signals of the terminal from the launcher, where that is known how.
func isolate(*exec.Cmd) {}
