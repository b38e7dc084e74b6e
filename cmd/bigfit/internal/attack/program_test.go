package attack

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bigfit/bigfit/internal/testmode"
)

var (
	folder   string       // of the built command
	start, _ = os.Getwd() // that of the package: tests go elsewhere
)

// measureChild is the variable by which the test binary becomes a small process that
// runs the command of its arguments and writes the peak of its memory to file 3; its
// value is the time after which the command is interrupted. It must be small, as Linux counts the memory of the parent as the child's until exec.
const measureChild = "BIGFIT_TEST_MEASURE"

func TestMain(m *testing.M) {
	// What is written has the date of its writing, and tests compare bytes.
	os.Setenv("SOURCE_DATE_EPOCH", "1600000000")
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "BIGFIT_") && name != "BIGFIT_SIMD" && name != "BIGFIT_ATTACK_PROGRAM" && name != measureChild {
			os.Unsetenv(name)
		}
	}
	code := m.Run()
	if folder != "" {
		os.RemoveAll(folder)
	}
	os.Exit(code)
}

var program = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("BIGFIT_ATTACK_PROGRAM"); path != "" {
		return path, nil
	}
	var err error
	if folder, err = os.MkdirTemp("", "bigfit-attack-*"); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "bigfit")
	return path, build("build", path)
})

// faultyProgram is the test binary of the command, which runs as the command with a fault at a step
// of its writing: see cmd/bigfit/killed_test.go.
var faultyProgram = sync.OnceValues(func() (string, error) {
	if _, err := program(); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "faulty")
	return path, build("test -c", path)
})

// build builds the command, without C as the Makefile does.
func build(how, path string) error {
	cmd := exec.Command("go", append(strings.Fields(how), "-o", path, "../..")...)
	cmd.Dir = start
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.New(string(out))
	}
	return nil
}

// command prepares a process of the built command.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return exec.Command(path, args...)
}

// faulty prepares a process of the command with a fault, as cmd/bigfit/killed_test.go names it.
func faulty(t *testing.T, fault string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := faultyProgram()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "KILL_BIGFIT="+fault)
	return cmd
}

// finish waits for a process and returns what it did.
func finish(t *testing.T, cmd *exec.Cmd) outcome {
	t.Helper()
	var out, stderr bytes.Buffer
	if cmd.Stdout == nil {
		cmd.Stdout = &out
	}
	cmd.Stderr = &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return outcome{line: strings.Join(cmd.Args[1:], " "), code: cmd.ProcessState.ExitCode(), out: out.String(), stderr: stderr.String()}
}

// bigfit runs a command line here.
func bigfit(t *testing.T, args ...string) outcome {
	t.Helper()
	return finish(t, command(t, args...))
}

// succeed runs a command line that must end well and returns its stdout.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	o := bigfit(t, args...)
	if o.code != 0 {
		t.Fatalf("bigfit %s: exit code %d\n%s", o.line, o.code, o.stderr)
	}
	return o.out
}

// fail runs a command line that must end with the exit code, say all of want on stderr, and leave
// the folder as it was.
func fail(t *testing.T, code int, want []string, args ...string) {
	t.Helper()
	before := listing(t, ".")
	bigfit(t, args...).check(t, code, want, args)
	if after := listing(t, "."); after != before {
		t.Errorf("bigfit %s: left files:\n%s\nbefore:\n%s", strings.Join(args, " "), after, before)
	}
}

// check checks a failure: nothing on stdout, a sentence, no words of the Go runtime.
func (o outcome) check(t *testing.T, code int, want, args []string) {
	t.Helper()
	line := strings.Join(args, " ")
	if o.code != code || o.out != "" {
		t.Errorf("bigfit %s: exit code %d, want %d; stdout %q\n%s", line, o.code, code, o.out, o.stderr)
	}
	for _, w := range want {
		if !strings.Contains(o.stderr, w) {
			t.Errorf("bigfit %s: stderr lacks %q:\n%s", line, w, o.stderr)
		}
	}
	for _, w := range []string{"goroutine ", "strconv.", "internal error", ".bigfit-"} {
		if strings.Contains(o.stderr, w) {
			t.Errorf("bigfit %s: stderr holds %q:\n%s", line, w, o.stderr)
		}
	}
}

// outcome is the exit code, the output and the cost of one run of the command.
type outcome struct {
	line        string
	code        int
	out, stderr string
	peak        int64 // bytes of resident memory; 0 if it is not above that of the test
	seconds     float64
}

// runIn runs a line of the command in dir.
func runIn(t *testing.T, dir, line string) outcome {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the peak memory of a process is read as Linux has it")
	}
	path, err := program()
	if err != nil {
		t.Fatalf("the command does not build: %v", err)
	}
	// A fault must not take the memory of the machine.
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -v 6000000; exec "$0" "$@"`, path}, strings.Fields(line)...)...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = append(os.Environ(), "BIGFIT_THREADS=2")
	own := slim()
	began := time.Now()
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	o := outcome{line: line, code: cmd.ProcessState.ExitCode(), out: stdout.String(), stderr: stderr.String(), seconds: time.Since(began).Seconds()}
	if o.peak = residentOf(cmd.ProcessState); o.peak <= own+16<<20 {
		o.peak = 0 // it is the memory of this process
	}
	return o
}

// slim gives memory that this process does not use back to the system, forgets the largest that it had,
// and returns the bytes that it still has: the peak that the system counts for a child begins with the
// peak of the process that starts it.
func slim() int64 {
	own := highest()
	if own > 128<<20 {
		debug.FreeOSMemory()
		_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak begins anew
		own = highest()
	}
	return own
}

// highest returns the largest resident memory that this process had in bytes, 0 where /proc does not tell.
func highest() int64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "VmHWM:" {
			kilobytes, err := strconv.ParseInt(words[1], 10, 64)
			if err != nil {
				return 0
			}
			return kilobytes << 10
		}
	}
	return 0
}

// fault returns what is wrong with the way in which a run ended, or nothing: it may
// succeed, refuse its input with a sentence, or fall short of a tolerance.
func (o outcome) fault() string {
	switch {
	case o.code != 0 && o.code != 2 && o.code != 3:
		return "exit code " + strconv.Itoa(o.code)
	case strings.Contains(o.stderr, "internal error") || strings.Contains(o.stderr, "goroutine "):
		return "a panic"
	case strings.Contains(o.stderr, " json: "):
		return "words of the JSON encoder"
	case o.code == 2 && len(strings.TrimSpace(o.stderr)) < 20:
		return "no sentence that says why"
	}
	return ""
}

// succeedIn runs a line that must succeed.
func succeedIn(t *testing.T, dir, line string) outcome {
	t.Helper()
	o := runIn(t, dir, line)
	if o.code != 0 {
		t.Fatalf("bigfit %s: exit code %d\n%s", line, o.code, o.stderr)
	}
	return o
}

// seeds returns the first seed and how many are tried: usual in a sample.
func seeds(usual int) (first, count int) { return testmode.First(), testmode.Count(usual, 20_000) }
