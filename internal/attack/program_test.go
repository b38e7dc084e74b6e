package attack

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	folder   string       // of the built command
	start, _ = os.Getwd() // that of the package: tests go elsewhere
)

func TestMain(m *testing.M) {
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
	build := exec.Command("go", "build", "-o", path, "../../cmd/bigfit")
	build.Dir = start
	out, err := build.CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// outcome is the exit code, the output and the cost of one run of the command.
type outcome struct {
	line           string
	code           int
	stdout, stderr string
	peak           int64 // bytes of resident memory
	seconds        float64
}

// run runs a line of the command in dir.
func run(t *testing.T, dir, line string) outcome {
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
	began := time.Now()
	if err := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(err)
	}
	o := outcome{line: line, code: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String(), seconds: time.Since(began).Seconds()}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		o.peak = usage.Maxrss << 10
	}
	return o
}

// fault returns what is wrong with the way in which a run ended, or nothing: it may
// succeed, refuse its input with a sentence, or fall short of a tolerance.
func (o outcome) fault() string {
	switch {
	case o.code != 0 && o.code != 2 && o.code != 3:
		return "exit code " + strconv.Itoa(o.code)
	case strings.Contains(o.stderr, "internal error") || strings.Contains(o.stderr, "goroutine "):
		return "a panic"
	case strings.Contains(o.stderr, "json:"):
		return "words of the JSON encoder"
	case o.code == 2 && len(strings.TrimSpace(o.stderr)) < 20:
		return "no sentence that says why"
	}
	return ""
}

// succeed runs a line that must succeed.
func succeed(t *testing.T, dir, line string) outcome {
	t.Helper()
	o := run(t, dir, line)
	if o.code != 0 {
		t.Fatalf("bigfit %s: exit code %d\n%s", line, o.code, o.stderr)
	}
	return o
}

// seeds returns the first seed and how many are tried; fewer in CI.
func seeds(t *testing.T, usual int) (first, count int) {
	t.Helper()
	count = usual
	for name, to := range map[string]*int{"BIGFIT_ATTACK_SEEDS": &count, "BIGFIT_ATTACK_FROM": &first} {
		if text := os.Getenv(name); text != "" {
			v, err := strconv.Atoi(text)
			if err != nil {
				t.Fatalf("%s is %q; it must be a number", name, text)
			}
			*to = v
		}
	}
	return first, count
}
