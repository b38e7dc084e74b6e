package supervise

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
)

// Run runs this program as a child and returns its exit code, or 1 after the sentence
// was written to stderr if it ran out of memory. ok is false if no child was run: this
// is one, there is no limit of the address space, or it could not be started.
//
// The child has a process group of its own, so that an interrupt from the terminal
// comes to it once, from here; it dies with this process.
func Run(limited, terminal bool, sentence string) (code int, ok bool) {
	if !limited || os.Getenv(Variable) != "" {
		return 0, false
	}
	// Every failure from here on means to run without a child: supervision must not prevent the
	// work.
	path, err := os.Executable()
	if err != nil {
		return 0, false
	}
	how := "pipe"
	if terminal {
		how = "terminal"
	}
	words := newLastWords(os.Stderr)
	cmd := exec.Command(path, os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), Variable+"="+how)
	cmd.Stdin = os.Stdin
	cmd.Stdout = os.Stdout
	cmd.Stderr = words
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	runtime.LockOSThread() // the child dies with the thread that started it
	defer runtime.UnlockOSThread()

	// All signals that end or stop a program are passed on; the group of the child hides it from
	// the terminal's own.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTSTP,
		syscall.SIGCONT)
	defer signal.Stop(signals)
	if cmd.Start() != nil {
		return 0, false
	}
	go pass(signals, cmd.Process)
	_ = cmd.Wait() // the state says more
	return end(words, cmd.ProcessState, sentence), true
}

// pass sends signals on. A stop from the terminal stops the child and this process.
func pass(signals <-chan os.Signal, child *os.Process) {
	for s := range signals {
		if s == syscall.SIGTSTP {
			_ = child.Signal(syscall.SIGSTOP)
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
			continue
		}
		_ = child.Signal(s)
	}
}

// end writes the held words, or the sentence in their place, and returns the exit code.
func end(words *lastWords, state *os.ProcessState, sentence string) int {
	status, _ := state.Sys().(syscall.WaitStatus)
	// Exit code 2 alone would be a usage error as well; the words decide.
	if words.outOfMemory() && state.ExitCode() == 2 {
		fmt.Fprintln(os.Stderr, sentence)
		return 1
	}
	_ = words.flush()
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
