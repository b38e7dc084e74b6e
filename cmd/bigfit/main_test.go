package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if at := os.Getenv(killVariable); at != "" {
		os.Exit(runUntil(at))
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "BIGFIT_") && name != "BIGFIT_SIMD" {
			os.Unsetenv(name)
		}
	}
	// What is written has the date of its writing, and tests compare bytes.
	os.Setenv("SOURCE_DATE_EPOCH", "1600000000")
	code := m.Run()
	removeProgram()
	os.Exit(code)
}

// outcome of a command line.
type outcome struct {
	code        int
	out, stderr string
}

// bigfit runs a command line in this process.
func bigfit(t *testing.T, args ...string) outcome {
	t.Helper()
	procs, limit := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1)
	var out, stderr bytes.Buffer
	code := run(args, &out, &stderr)
	runtime.GOMAXPROCS(procs)
	debug.SetMemoryLimit(limit)
	return outcome{code, out.String(), stderr.String()}
}

// succeed runs a command line that must end well and returns its stdout.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	o := bigfit(t, args...)
	if o.code != 0 {
		t.Fatalf("bigfit %s: exit code %d\n%s", strings.Join(args, " "), o.code, o.stderr)
	}
	return o.out
}

// fail runs a command line that must end with the exit code, say all of want on
// stderr, and leave the working directory as it was.
func fail(t *testing.T, code int, want []string, args ...string) {
	t.Helper()
	before := listing(t, ".")
	o := bigfit(t, args...)
	o.check(t, code, want, args)
	if after := listing(t, "."); after != before {
		t.Errorf("bigfit %s: left files:\n%s\nbefore:\n%s", strings.Join(args, " "), after, before)
	}
}

// temporaryName matches the hidden files that outputs begin as.
var temporaryName = regexp.MustCompile(`(^|[/ ])\.[^/ ]*\d{5,}`)

// check checks a failure: nothing on stdout, one error on stderr, no words of
// the Go runtime.
func (o outcome) check(t *testing.T, code int, want, args []string) {
	t.Helper()
	line := strings.Join(args, " ")
	t.Logf("bigfit %s\n%s", line, o.stderr)
	if o.code != code {
		t.Errorf("bigfit %s: exit code %d, want %d\n%s", line, o.code, code, o.stderr)
	}
	if o.out != "" {
		t.Errorf("bigfit %s: stdout %q, want nothing", line, o.out)
	}
	for _, w := range want {
		if !strings.Contains(o.stderr, w) {
			t.Errorf("bigfit %s: stderr lacks %q:\n%s", line, w, o.stderr)
		}
	}
	for _, w := range []string{"goroutine ", "strconv.", "internal error"} {
		if strings.Contains(o.stderr, w) {
			t.Errorf("bigfit %s: stderr holds %q:\n%s", line, w, o.stderr)
		}
	}
	if name := temporaryName.FindString(o.stderr); name != "" {
		t.Errorf("bigfit %s: stderr names a temporary file, %s:\n%s", line, name, o.stderr)
	}
	if n := strings.Count(o.stderr, "bigfit: "); code != 0 && n != 1 && !strings.Contains(o.stderr, "bigfit: raise --memory-limit") {
		t.Errorf("bigfit %s: %d errors on stderr, want 1:\n%s", line, n, o.stderr)
	}
}

// content returns the bytes of a .npz file whose manifest lost the names of its inputs.
func content(t *testing.T, path string) string {
	t.Helper()
	bare := filepath.Join(t.TempDir(), "bare.npz")
	rewriteManifest(t, path, bare, func(m map[string]any) { delete(m, "files") })
	return string(readFile(t, bare))
}
