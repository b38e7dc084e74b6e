package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/testmode"
)

// soak makes tests with kills try every step, overnight.
var soak = testmode.Soak()

// killVariable makes the test binary run as bigfit with one fault at a step of its writing:
//
//	before 3, after 3    the process is killed before or after step 3
//	never                nothing happens
//	count FILE           the number of steps is written to FILE
//	fault 3 28 FILE      step 3 fails with error 28 of the system; its operation and path are written to FILE
const killVariable = "KILL_BIGFIT"

// runUntil runs the command line of this process with a fault.
func runUntil(text string) int {
	os.Unsetenv(killVariable)
	words := strings.SplitN(text, " ", 4)
	at := 0
	if len(words) > 1 {
		at, _ = strconv.Atoi(words[1])
	}
	var mu sync.Mutex
	count := 0
	die := func(moment string) {
		if words[0] == moment && count == at {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {} // until it arrives
		}
	}
	atomicfile.SetHooks(&atomicfile.Hooks{
		Before: func(s atomicfile.Step) error {
			mu.Lock()
			defer mu.Unlock()
			count++
			die("before")
			if words[0] == "fault" && count == at {
				code, _ := strconv.Atoi(words[2])
				_ = os.WriteFile(words[3], []byte(s.Op+" "+s.Path), 0o644)
				return syscall.Errno(code)
			}
			return nil
		},
		After: func(atomicfile.Step) {
			mu.Lock()
			defer mu.Unlock()
			die("after")
		},
	})
	if words[0] != "count" && words[0] != "fault" {
		checkpoint.Every = 0 // after every block, round, part and fit
	}
	code := run(os.Args[1:], os.Stdout, os.Stderr)
	if words[0] == "count" {
		_ = os.WriteFile(words[1], []byte(strconv.Itoa(count)), 0o644)
	}
	return code
}

// killAt runs bigfit in a process that is killed at a step of writing, and
// reports whether it was.
func killAt(t *testing.T, at string, args ...string) (killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), killVariable+"="+at)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if cmd.ProcessState.ExitCode() == 0 {
		return false
	}
	if cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("bigfit %s, killed %s: %v\n%s", strings.Join(args, " "), at, err, text)
	}
	return true
}

// hidden returns the temporary files here and in the folders below.
func hidden(t *testing.T) (names []string) {
	t.Helper()
	for name := range strings.Lines(listing(t, ".")) {
		if name = strings.TrimSpace(name); strings.HasPrefix(filepath.Base(name), ".") && name != "." {
			names = append(names, name)
		}
	}
	return names
}
