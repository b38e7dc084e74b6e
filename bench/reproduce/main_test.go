package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/view/browsertest"
)

func TestMain(m *testing.M) {
	// Flags are those of the tests alone.
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "BIGFIT_") && name != "BIGFIT_SIMD" {
			os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}

// ended is how a command line ended.
type ended struct {
	code        int
	out, stderr string
}

// reproduce runs a command line in this process.
func reproduce(t *testing.T, args ...string) ended {
	t.Helper()
	procs, limit := runtime.GOMAXPROCS(0), debug.SetMemoryLimit(-1)
	var out, stderr bytes.Buffer
	code := run(args, &out, &stderr)
	runtime.GOMAXPROCS(procs)
	debug.SetMemoryLimit(limit)
	return ended{code, out.String(), stderr.String()}
}

// succeed runs a command line that must end well and returns its stdout.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	o := reproduce(t, args...)
	if o.code != 0 {
		t.Fatalf("reproduce %s: exit code %d\n%s", strings.Join(args, " "), o.code, o.stderr)
	}
	return o.out
}

// fail runs a command line that must end with the exit code and one error that says all of
// want, and must leave the working directory as it was.
func fail(t *testing.T, code int, want []string, args ...string) {
	t.Helper()
	line := strings.Join(args, " ")
	before := listing(t)
	o := reproduce(t, args...)
	t.Logf("reproduce %s\n%s", line, o.stderr)
	if o.code != code || o.out != "" {
		t.Errorf("reproduce %s: exit code %d, want %d, stdout %q", line, o.code, code, o.out)
	}
	for _, w := range want {
		if !strings.Contains(o.stderr, w) {
			t.Errorf("reproduce %s: stderr lacks %q:\n%s", line, w, o.stderr)
		}
	}
	if n := strings.Count(o.stderr, "reproduce: "); n != 1 || strings.Contains(o.stderr, "goroutine ") {
		t.Errorf("reproduce %s: stderr has %d errors:\n%s", line, n, o.stderr)
	}
	if after := listing(t); after != before {
		t.Errorf("reproduce %s: left files:\n%s\nbefore:\n%s", line, after, before)
	}
}

// listing returns the names of all files below the working directory.
func listing(t *testing.T) string {
	t.Helper()
	var names []string
	must(t, filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	}))
	return strings.Join(names, "\n")
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	must(t, os.WriteFile(path, content, 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestBadUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", []string{"mnist", "newsgroups", "phonemes", "0 are given", "see go run ./bench/reproduce --help"}},
		{"cifar", []string{`"cifar"`, "mnist", "newsgroups", "phonemes"}},
		{"mnist --recipe worst", []string{`"worst"`, "paper or best"}},
		{"mnist --baselines svm", []string{`"svm"`, "knn", "gnn"}},
		{"mnist --splits 0", []string{"--splits is 0"}},
		{"mnist --threads -1", []string{"--threads is -1"}},
		{"mnist --memory-limit much", []string{`"much" is not a size`}},
		{"mnist", []string{"--data", "BIGFIT_DATA", "train-images-idx3-ubyte.gz"}},
		{"mnist --data .", []string{"train-images-idx3-ubyte.gz", "LeCun"}},
		{"newsgroups --data .", []string{"news20_full_X.npz", "Lang"}},
		{"propagation --data .", []string{"train-images-idx3-ubyte.gz", "LeCun"}},
		{"propagation --recipe best", []string{"--recipe", "propagation"}},
		{"phonemes --data nowhere", []string{"phoneme_esl.npz", "Elements"}},
	} {
		t.Run(c.line, func(t *testing.T) { fail(t, 2, c.want, strings.Fields(c.line)...) })
	}
	t.Setenv("BIGFIT_SPLITS", "many")
	fail(t, 2, []string{"BIGFIT_SPLITS", "many"}, "mnist")
}

// Memory is announced, and what does not fit is refused.
func TestMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("sets", 0o777))
	writeMoonsAndScene(t, "sets")
	o := reproduce(t, "scene", "--data", "sets", "--splits", "1")
	if o.code != 0 || !strings.Contains(o.stderr, "kernel: needs ") || !strings.Contains(o.stderr, "MiB announced, ") {
		t.Errorf("%d %s", o.code, o.stderr)
	}
	fail(t, 2, []string{"kernel needs ", "500.0 KiB are allowed", "--memory-limit"}, "scene", "--data", "sets", "--memory-limit", "500KiB")
}

// TestReportsInBrowser opens the pages in a real browser.
func TestReportsInBrowser(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	must(t, os.Mkdir("sets", 0o777))
	writeMoonsAndScene(t, "sets")
	succeed(t, "moons", "--data", "sets", "--report", "moons.html", "-q")
	succeed(t, "all", "--data", "sets", "--splits", "2", "--report", "site", "-q")
	browsertest.Check(t, dir, []string{"moons.html", "site/index.html", "site/scene.html"})
}
