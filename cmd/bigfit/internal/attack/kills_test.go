package attack

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/testmode"
)

// killAt runs bigfit in a process that is killed at a step of writing, and
// reports whether it was.
func killAt(t *testing.T, at string, args ...string) (killed bool) {
	t.Helper()
	cmd := faulty(t, at, args...)
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

// soak makes the tests with faults try every step, overnight.
var soak = testmode.Soak()

// writers are command lines that write files, with the files; a folder counts
// for all in it whose bytes are those of every run.
var writers = []struct {
	line    string
	outputs []string
}{
	{"graph X.npy -o out.npz", []string{"out.npz"}},
	{"eigs graph.npz -n 10 -o out.npz", []string{"out.npz"}},
	{"eigs graph.npz -n 10 -o out.npz --checkpoint ck", []string{"out.npz"}},
	{"fit --model lapsvm -X X.npy -y y.npy --gamma-a 0.01 --gamma-i 1 -o out.npz --predictions out.npy", []string{"out.npz", "out.npy"}},
	{"predict model.npz -X X.npy -o out.npy --scores scores.npy", []string{"out.npy", "scores.npy"}},
	{"tune --model rls -X X.npy -y true.npy --folds 3 --gamma-a 0.1,1 -o out.json --best out.npz", []string{"out.json", "out.npz"}},
	{"cluster -X X.npy -c 4 --gamma 0.01 --sigma 0.4 -o out.npy --model out.npz", []string{"out.npy", "out.npz"}},
	{"embed -X X.npy -o out.npy --model out.npz", []string{"out.npy", "out.npz"}},
	{"features X.npy -o out.npy", []string{"out.npy"}},
	{"plot embedding.npy -y y.npy -o out.pdf", nil}, // holds the time
	{"plot embedding.npy -y y.npy -o out.svg", []string{"out.svg"}},
	{"plot embedding.npy -y y.npy -o out.png", []string{"out.png"}},
	{"neighbors X.npy -k 5 -o out.npz", []string{"out.npz"}},
	{"graph X.npy --append graph.npz -X X.npy -o out.npz", []string{"out.npz"}},
	{"update lgc.npz -X X.npy -o out.npz", []string{"out.npz"}},
	{"fit X.npy y.npy -o out.npz --predictions out.csv --report out.html", []string{"out.npz", "out.csv"}}, // the report holds the time
	{"next model.npz -X X.npy -y y.npy -n 5 -o out.csv", []string{"out.csv"}},
	{"suspects X.npy y.npy -o out.csv", []string{"out.csv"}},
	{"compare X.npy true.npy --models knn,lgc --labels-per-class 3 --splits 2 -o out.csv", []string{"out.csv"}},
	{"demo -n 2000 -o run", []string{"run/X.npy", "run/y.npy", "run/predictions.npy", "run/graph.npz", "run/eigs.npz"}},
}

// removeOutputs removes what a writer may have written.
func removeOutputs(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"out.*", "scores.npy", "run", "ck"} {
		names, err := filepath.Glob(pattern)
		must(t, err)
		for _, name := range names {
			must(t, os.RemoveAll(name))
		}
	}
}

// soakKills is the least number of kills of a command line in a soak run, which goes
// through the steps again.
const soakKills = 100

// slow command lines are tried at fewer steps.
func slow(line string) bool {
	for _, start := range []string{"demo", "fit X.npy", "compare", "suspects", "update"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	return false
}

// sampled reports whether step n of count of a command line is tried: all in a
// soak run, else the first and last ones and some between, of the slow ones two.
func sampled(line string, n, count int) bool {
	if slow(line) && !soak {
		return n == count/2 || n == count
	}
	return soak || n == 2 || n >= count-1
}

// countSteps runs a command line and returns the number of steps of its writing, and the outputs.
func countSteps(t *testing.T, line string, outputs []string) (count int, want map[string][]byte) {
	t.Helper()
	removeOutputs(t)
	file := filepath.Join(t.TempDir(), "count")
	if o := finish(t, faulty(t, "count "+file, append(strings.Fields(line), "-q")...)); o.code != 0 {
		t.Fatalf("bigfit %s: exit code %d\n%s", line, o.code, o.stderr)
	}
	count, err := strconv.Atoi(string(readFile(t, file)))
	must(t, err)
	want = map[string][]byte{}
	for _, name := range outputs {
		want[name] = readFile(t, name)
	}
	if count < 4 {
		t.Fatalf("%s: %d steps", line, count)
	}
	return count, want
}

// A process that is killed at any step of writing leaves old or new files, none
// in between, and the next run removes what it left.
func TestKillWhileWriting(t *testing.T) {
	testmode.Campaign(t)
	if runtime.GOOS == "windows" {
		t.Skip("a kill is something else on Windows")
	}
	if testing.Short() {
		t.Skip("takes many processes")
	}
	intoMoons(t)
	succeed(t, "fit", "--model", "lgc", "-X", "X.npy", "-y", "y.npy", "-o", "lgc.npz", "-q")
	left := 0
	for _, w := range writers {
		count, want := countSteps(t, w.line, w.outputs)
		args := append(strings.Fields(w.line), "-q")
		kills := 0
		for step := 1; step <= count || soak && kills < soakKills; step++ {
			n := (step-1)%count + 1
			for i, when := range []string{"before", "after"} {
				if !sampled(w.line, n, count) || !soak && n%2 == i {
					continue
				}
				at := fmt.Sprintf("%s %d", when, n)
				removeOutputs(t)
				old := func(name string) bool { return n%3 == 0 && !strings.HasPrefix(name, "run/") }
				for name := range want {
					if old(name) {
						writeFile(t, name, []byte("old"))
					}
				}
				kills++
				if !killAt(t, at, args...) {
					t.Errorf("%s: not killed %s of %d", w.line, at, count)
				}
				for name, content := range want {
					got, err := os.ReadFile(name)
					if !bytes.Equal(got, content) && !(old(name) && string(got) == "old") && !(os.IsNotExist(err) && !old(name)) {
						t.Errorf("%s killed %s: %s holds %d bytes: %.20q", w.line, at, name, len(got), got)
					}
				}
				left += len(hidden(t))
				if killAt(t, "never", args...) {
					t.Errorf("%s failed after a kill %s", w.line, at)
				}
				if names := hidden(t); len(names) > 0 {
					t.Errorf("%s: after a kill %s the next run left %v", w.line, at, names)
				}
				for name, content := range want {
					if !bytes.Equal(readFile(t, name), content) {
						t.Errorf("%s: after a kill %s the next run writes other bytes to %s", w.line, at, name)
					}
				}
			}
		}
		t.Logf("%s: %d kills at %d steps", w.line, kills, count)
	}
	if left < len(writers)/2 {
		t.Errorf("the kills left %d temporary files; the test is too easy", left)
	}
	t.Logf("%d temporary files were left and removed", left)
}

// A disk that fails at any step leaves the old file or none, no temporary file,
// and ends with exit code 1 and a sentence.
func TestFaultWhileWriting(t *testing.T) {
	testmode.Campaign(t)
	intoMoons(t)
	succeed(t, "fit", "--model", "lgc", "-X", "X.npy", "-y", "y.npy", "-o", "lgc.npz", "-q")
	// ENOSPC, EIO, … in place of every step; the table of tune is printed before
	// the best model is fitted.
	faults := []syscall.Errno{syscall.ENOSPC, syscall.EIO, syscall.EDQUOT, syscall.EROFS}
	for _, w := range writers {
		if testing.Short() && strings.HasPrefix(w.line, "demo") {
			continue
		}
		count, want := countSteps(t, w.line, w.outputs)
		for n := 1; n <= count; n++ {
			if !soak && !sampled(w.line, n, count) {
				continue
			}
			removeOutputs(t)
			fault := faults[n%len(faults)]
			file := filepath.Join(t.TempDir(), "step")
			o := finish(t, faulty(t, fmt.Sprintf("fault %d %d %s", n, int(fault), file), append(strings.Fields(w.line), "-q")...))
			op, path, _ := strings.Cut(string(readFile(t, file)), " ")
			if o.code != 1 || o.out != "" && !strings.HasPrefix(w.line, "tune") || strings.Count(o.stderr, "bigfit:") != 1 || !strings.Contains(o.stderr, fault.Error()) ||
				!strings.Contains(o.stderr, filepath.Base(path)) || strings.Contains(o.stderr, ".bigfit-") || strings.Contains(o.stderr, "goroutine") {
				t.Errorf("%s: %v at step %d, %s of %s: %+v", w.line, fault, n, op, path, o)
			}
			if names := hidden(t); len(names) > 0 {
				t.Errorf("%s: %v at step %d, %s, left %v", w.line, fault, n, op, names)
			}
			for name, content := range want {
				if got, err := os.ReadFile(name); err == nil && !bytes.Equal(got, content) {
					t.Errorf("%s: %v at step %d, %s: %s holds %d bytes", w.line, fault, n, op, name, len(got))
				}
			}
		}
	}
}

// checkpointed are command lines that keep a checkpoint.
var checkpointed = []string{
	"eigs path.npz -n 12 --tolerance 1e-10 -o out.npz",
	"graph wide.npy --method nn-descent --recall 0.99 -o out.npz",
	"graph wide.npy --method brute --pca 20 -o out.npz",
	"fit --model eigenmap -X wide.npy -y wide_y.npy --labels 300 --method nn-descent -p 30 -o out.npz",
	"fit --model eigenmap --graph path.npz -y path_y.txt -p 12 -o out.npz",
	"tune --model eigenmap -X wide.npy -y wide_y.npy --labels 60 --neighbors 6,8 -p 5,10,20 --folds 4 --pca 20 -o out.json --best out.npz",
	"tune --model rls -X wide.npy -y wide_y.npy --labels 100 --gamma-a 0.01,0.1,1 -o out.json",
}

// outputsOf returns the output files that a command line names.
func outputsOf(line string) (names []string) {
	for _, word := range strings.Fields(line) {
		if strings.HasPrefix(word, "out.") {
			names = append(names, word)
		}
	}
	return names
}

// A run that is killed again and again at steps of its writing, of checkpoints
// or of results, ends with the bits of one that is not.
func TestKillAndResume(t *testing.T) {
	testmode.Campaign(t)
	if runtime.GOOS == "windows" {
		t.Skip("a kill is something else on Windows")
	}
	if testing.Short() {
		t.Skip("takes many processes")
	}
	t.Chdir(t.TempDir())
	intoWide(t)
	spider(t, "path.npz", 600)
	writeFile(t, "path_y.txt", []byte(strings.Repeat("0\n", 300)+strings.Repeat("1\n", 300)))
	rng := rand.New(rand.NewPCG(12, 6))
	least := 1 // of each command line; a campaign kills sixty times
	if soak {
		least = 60
	}
	for _, line := range checkpointed {
		outputs := outputsOf(line)
		steps, want := countSteps(t, line, outputs)
		args := append(strings.Fields(line), "-q", "--checkpoint", "ck", "--resume")
		kills, runs := 0, 0
		for kills < least {
			removeOutputs(t)
			// A few kills in one run; the third number on, a kill leaves progress. The last run takes about
			// the steps of one without a checkpoint, and ends if it is killed behind them.
			for again := true; again; {
				at := fmt.Sprintf("%s %d", []string{"before", "after"}[rng.IntN(2)], 4+rng.IntN(steps+12))
				if again = killAt(t, at, args...); again {
					kills++
				} else {
					runs++
				}
			}
			if names := hidden(t); len(names) > 0 {
				t.Errorf("%s: the last run left %v", line, names)
			}
			if got := listing(t, "ck"); got != "ck\nck/"+atomicfile.MarkFile {
				t.Errorf("%s: a finished run leaves %s", line, got)
			}
			for _, name := range outputs {
				if !bytes.Equal(readFile(t, name), want[name]) {
					t.Errorf("%s: after %d kills %s has other bytes", line, kills, name)
				}
			}
			if runs > 20*least {
				t.Fatalf("%s: %d kills in %d runs; the test is too easy", line, kills, runs)
			}
		}
		t.Logf("%s: %d kills in %d runs", line, kills, runs)
	}
}

// Two processes with one checkpoint folder and one output file end with the bits of
// one alone.
func TestTwoProcesses(t *testing.T) {
	testmode.Campaign(t)
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Chdir(t.TempDir())
	intoWide(t)
	spider(t, "path.npz", 600)
	writeFile(t, "path_y.txt", []byte(strings.Repeat("0\n", 300)+strings.Repeat("1\n", 300)))
	for _, line := range checkpointed {
		_, want := countSteps(t, line, outputsOf(line))
		removeOutputs(t)
		done := make(chan error, 2)
		for i := range 2 {
			args := append(strings.Fields(line), "-q", "--checkpoint", "ck")
			if i > 0 {
				args = append(args, "--resume")
			}
			cmd := faulty(t, "never", args...)
			go func() {
				text, err := cmd.CombinedOutput()
				if err != nil {
					err = fmt.Errorf("bigfit %s: %w\n%s", line, err, text)
				}
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		for name, content := range want {
			if !bytes.Equal(readFile(t, name), content) {
				t.Errorf("%s: %s has other bytes", line, name)
			}
		}
		if names := hidden(t); len(names) > 0 {
			t.Errorf("%s: left %v", line, names)
		}
	}
}
