package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/progress"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// programDir holds the built command; TestMain removes it.
var programDir string

var program = sync.OnceValues(func() (string, error) {
	var err error
	if programDir, err = os.MkdirTemp("", "bigfit-test-*"); err != nil {
		return "", err
	}
	path := filepath.Join(programDir, "bigfit")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = packageDir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as the Makefile and the install line build it
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// packageDir is where go test starts; tests go elsewhere.
var packageDir, _ = os.Getwd()

func removeProgram() {
	if programDir != "" {
		os.RemoveAll(programDir)
	}
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
	return outcome{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}
}

func TestExitCodes(t *testing.T) {
	intoBlobs(t)
	for code, line := range map[int]string{0: "info X.npy", 1: "graph X.npy -o nowhere/g.npz", 2: "info missing.npy"} {
		if o := finish(t, command(t, strings.Fields(line)...)); o.code != code || (code == 0) != (o.out != "") {
			t.Errorf("bigfit %s: %+v", line, o)
		}
	}
}

// until starts a process, waits until its stderr has a line that holds text,
// and sends it an interrupt.
func until(t *testing.T, text string, args ...string) (o outcome, stopped time.Duration) {
	t.Helper()
	return untilAfter(t, text, 300*time.Millisecond, args...)
}

// untilAfter is until with a time to wait after the line.
func untilAfter(t *testing.T, text string, wait time.Duration, args ...string) (o outcome, stopped time.Duration) {
	t.Helper()
	cmd := command(t, args...)
	r, w := io.Pipe()
	var stderr, out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.MultiWriter(&stderr, w)
	must(t, cmd.Start())
	timeout := time.AfterFunc(30*time.Second, func() { _ = cmd.Process.Kill() })
	defer timeout.Stop()
	var sent time.Time
	seen := make(chan bool)
	go func() {
		defer close(seen)
		var line []byte
		for b := make([]byte, 1); ; {
			if _, err := r.Read(b); err != nil {
				return
			}
			if line = append(line, b[0]); b[0] == '\n' {
				if sent.IsZero() && bytes.Contains(line, []byte(text)) {
					time.Sleep(wait)
					sent = time.Now()
					_ = cmd.Process.Signal(os.Interrupt)
				}
				line = line[:0]
			}
		}
	}()
	_ = cmd.Wait()
	end := time.Now()
	w.Close()
	<-seen
	if sent.IsZero() {
		t.Fatalf("bigfit %v ended before a line with %q:\n%s", args, text, stderr.String())
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}, end.Sub(sent)
}

// An interrupt of a run with an engine waits for the launcher, which needs a moment to end its ranks,
// and leaves nothing.
func TestInterruptedEngine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("engines are run on Linux")
	}
	t.Parallel()
	dir := t.TempDir()
	ringGraph(t, filepath.Join(dir, "ring.npz"), 2000)
	launcher := filepath.Join(dir, "launcher")
	must(t, os.WriteFile(launcher, []byte("#!/bin/sh\ntrap 'sleep 2; exit 1' TERM\nwhile :; do sleep 0.1; done\n"), 0o755))
	before := listing(t, dir)
	o, stopped := until(t, "eigenpairs: needs", "eigs", filepath.Join(dir, "ring.npz"), "-n", "5", "--engine", "slepc",
		"--launcher", launcher, "-o", filepath.Join(dir, "out.npz"))
	if o.code != 130 || stopped < 2*time.Second || stopped > 4*time.Second || !strings.Contains(o.stderr, "interrupted") {
		t.Errorf("exit code %d after %v\n%s", o.code, stopped, o.stderr)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("left files:\n%s", after)
	}
}

// An interrupt ends every long stage soon and leaves whole files or none.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no interrupts to send on Windows")
	}
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Chdir(t.TempDir())
	const n, d = 100_000, 64
	x := make([]uint8, n*d)
	state := uint32(1)
	for i := range x {
		state = state*1664525 + 1013904223
		x[i] = uint8(state >> 24)
	}
	must(t, npy.WriteFile("X.npy", []int{n, d}, x))
	ringGraph(t, "ring.npz", 20_000)
	ringGraph(t, "small.npz", 3_000)
	y := make([]int64, n)
	for i := range y {
		y[i] = int64(x[64*i] >> 7)
	}
	must(t, npy.WriteFile("y.npy", nil, y))
	before := listing(t, ".")
	for _, c := range []struct{ at, line string }{
		{"neighbours: needs", "graph X.npy -o out.npz"},
		{"eigenpairs: needs", "eigs ring.npz -n 1000 -o out.npz"},
		// The dense method cannot be stopped half-way.
		{"eigenpairs: needs", "eigs small.npz -n 2000 -o out.npz"},
		{"fit: needs", "fit --model svm -X X.npy -y y.npy --labels 5000 --gamma-a 1e-9 -o out.npz"},
		{"digits", "demo -n 30000 -o run"},
	} {
		o, stopped := until(t, c.at, strings.Fields(c.line)...)
		t.Logf("bigfit %s: %v\n%s", c.line, stopped, o.stderr)
		if o.code != 130 || stopped > 2*time.Second || o.out != "" || strings.Contains(o.stderr, "goroutine") || !strings.Contains(o.stderr, "interrupted") {
			t.Errorf("bigfit %s: exit code %d after %v\n%s%s", c.line, o.code, stopped, o.stderr, o.out)
		}
		if after := listing(t, "."); after != before {
			t.Errorf("bigfit %s left files:\n%s", c.line, after)
		}
	}
}

// A reader that has gone away, and no stdout at all.
func TestClosedStdout(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes behave otherwise on Windows")
	}
	intoBlobs(t)
	r, w, err := os.Pipe()
	must(t, err)
	r.Close()
	defer w.Close()
	cmd := command(t, "info", "X.npy")
	cmd.Stdout = w
	finish(t, cmd).check(t, 1, []string{"broken pipe"}, cmd.Args[1:])

	shut := command(t)
	if exists("/dev/full") {
		cmd = exec.Command("sh", "-c", `exec "$0" info X.npy >/dev/full`, shut.Path)
		finish(t, cmd).check(t, 1, []string{"stdout", "no space left"}, cmd.Args[1:])
	}

	// A null device is a stdout like others, however it was opened: by a shell, by Python's DEVNULL and
	// by daemons for reading and writing. Go opens it in place of a closed one too.
	if runtime.GOOS != "windows" {
		for i, open := range []string{
			">/dev/null", ">/dev/null 2>&1 </dev/null", "<>/dev/null >&0 2>&0", "1<>/dev/null", "1<>/dev/null 2<>/dev/null",
			">out.txt", ">&-", ">&- 2>err.txt <&-",
		} {
			t.Run(open, func(t *testing.T) {
				graph := fmt.Sprintf("null%d.npz", i)
				cmd = exec.Command("sh", "-c", `exec "$0" graph X.npy -o `+graph+" "+open, shut.Path)
				if o := finish(t, cmd); o.code != 0 || !exists(graph) {
					t.Errorf("%+v", o)
				}
			})
		}
	}

	// Progress is not worth an error.
	cmd = exec.Command("sh", "-c", `exec "$0" graph X.npy 2>&-`, shut.Path)
	if o := finish(t, cmd); o.code != 0 || !strings.Contains(o.out, "90 points") {
		t.Errorf("stderr closed: %+v", o)
	}
}

// A hangup ends a run as an interrupt does, unless it is ignored as under nohup.
func TestHangup(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no hangups on Windows")
	}
	t.Chdir(t.TempDir())
	ringGraph(t, "path.npz", 20_000)
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		if signal.Ignored(sig) { // and so in what it starts
			t.Logf("%v is ignored here, as under nohup", sig)
			continue
		}
		cmd := command(t, strings.Fields("eigs path.npz -n 100 --tolerance 1e-12")...)
		stderr, err := cmd.StderrPipe()
		must(t, err)
		must(t, cmd.Start())
		line, err := bufio.NewReader(stderr).ReadString('\n')
		must(t, err)
		must(t, cmd.Process.Signal(sig))
		rest, _ := io.ReadAll(stderr)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(string(rest), "interrupted") {
			t.Errorf("%v: exit code %d\n%s%s", sig, code, line, rest)
		}
	}
	if got := listing(t, "."); got != ".\npath.npz" {
		t.Errorf("left:\n%s", got)
	}
	path := command(t).Path
	ringGraph(t, "ring.npz", 1000)
	cmd := exec.Command("sh", "-c", `trap "" HUP; "$0" eigs ring.npz -n 300 -q & kill -HUP $!; wait $!`, path)
	if o := finish(t, cmd); o.code != 0 {
		t.Errorf("a hangup that is ignored: %+v", o)
	}
}

// Names that are not fit for a terminal are quoted wherever they are printed.
func TestControlCharacters(t *testing.T) {
	intoBlobs(t)
	names := []string{"clear\x1b[2J.npy", "two\nbigfit: lines.npy", "bell\a.npy", "back\u202edraw.npy", "c1\u009b31m.npy", "tab\t.npy", "bytes\xff.npy"}
	for _, name := range names {
		must(t, os.WriteFile(name, readFile(t, "X.npy"), 0o666))
		for _, line := range [][]string{
			{"graph", name, "-o", name + ".npz"}, {"info", name}, {"info", name + "?"}, {"graph", name, "-o", name}, {"graph", name, "-o", name + "/x"},
			{"graph", name, "--progress=json"}, {"fit", "-X", name, "-y", name}, {"fit", "-X=" + name, "--labels-file=y.npy", "--model", "rls", "-o", name + ".model", "--gamma-a=1"},
			{name}, {"graph", "--" + name}, {"eigs", name + ".npz", "-n", name}, {"eigs", name + ".npz", "-n", "3", "--checkpoint", name + ".d", "--resume", "-o", name + ".e"},
		} {
			o := bigfit(t, line...)
			text := o.out + o.stderr
			if strings.ContainsFunc(text, func(r rune) bool {
				return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError)
			}) && !strings.Contains(o.out, "\t") || strings.Count(text, "\nbigfit: lines") > 0 {
				t.Errorf("bigfit %q prints %q", line, text)
			}
		}
		must(t, os.Remove(name))
	}
}

// With --progress json every line of stderr is an event.
func TestProgressJSON(t *testing.T) {
	intoBlobs(t)
	events := func(text string) (all []progress.Event) {
		t.Helper()
		for line := range strings.Lines(text) {
			var e progress.Event
			d := json.NewDecoder(strings.NewReader(line))
			d.DisallowUnknownFields()
			if err := d.Decode(&e); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			all = append(all, e)
		}
		return all
	}
	o := bigfit(t, "graph", "X.npy", "--progress", "json")
	kinds := map[string]int{}
	for _, e := range events(o.stderr) {
		kinds[e.Event+" "+e.Stage]++
	}
	for _, want := range []string{"begin read", "end read", "note ", "begin graph", "end graph"} {
		if kinds[want] == 0 {
			t.Errorf("no %q in %v", want, kinds)
		}
	}
	o = bigfit(t, "graph", "X.npy", "-k", "90", "--progress", "json")
	all := events(o.stderr)
	if last := all[len(all)-1]; o.code != 2 || last.Event != "error" || !strings.Contains(last.Note, "--neighbors is 90") {
		t.Errorf("%+v", o)
	}
	for _, quiet := range [][]string{{"--progress", "none"}, {"-q", "--progress", "json"}} {
		if o := bigfit(t, append(quiet, "graph", "X.npy")...); o.code != 0 || o.stderr != "" {
			t.Errorf("%v: %+v", quiet, o)
		}
	}
	fail(t, 2, []string{"--progress", "auto, json or none"}, "graph", "X.npy", "--progress", "xml")
	var s eigsSummary
	must(t, json.Unmarshal([]byte(succeed(t, "eigs", "graph.npz", "-n", "5", "--json", "-q")), &s))
	if len(s.Stages) == 0 || s.Stages[0].Name != "eigenpairs" || s.Stages[0].Note == "" {
		t.Errorf("%+v", s)
	}
}
