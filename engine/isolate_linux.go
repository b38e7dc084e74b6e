package engine

import (
	"os/exec"
	"syscall"
)

// isolate keeps signals of the terminal from the launcher, which is told to end instead, and
// has the system do that too where this process is killed.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
