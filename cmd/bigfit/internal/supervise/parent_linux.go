package supervise

import (
	"os"
	"strconv"
	"syscall"
)

// StopWithParent has the system send this process SIGTERM when the one that started it
// ends, if [ParentVariable] names that process.
func StopWithParent() {
	// The variable may be inherited from an ancestor; only the process that started this one counts.
	parent, err := strconv.Atoi(os.Getenv(ParentVariable))
	if err != nil || parent != os.Getppid() {
		return
	}
	// An older kernel, or one that forbids it, leaves things as they are.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0)
	if os.Getppid() != parent { // it ended meanwhile
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}
}
