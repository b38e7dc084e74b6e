package attack

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
)

// TestAddressLimits: a small run works in 1 GB and more, and where it cannot begin it says so in a
// sentence. Below some 700 MB the runtime of Go ends before any code of this program runs.
func TestAddressLimits(t *testing.T) {
	testmode.Campaign(t)
	intoBlobs(t)
	path := command(t).Path
	for _, c := range []struct {
		name string
		kib  int
		code int
		want []string
	}{
		{"0.5 GB", 500_000_000 >> 10, 2, []string{"out of memory|page summary"}},
		{"0.83 GB", 830_000_000 >> 10, 1, []string{"address space", "ulimit -v", "832.0 MiB"}},
		{"1 GB", 1_000_000_000 >> 10, 0, nil},
		{"1.5 GB", 1_500_000_000 >> 10, 0, nil},
		{"2 GB", 2_000_000_000 >> 10, 0, nil},
		{"4 GB", 4_000_000_000 >> 10, 0, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := strings.ReplaceAll(c.name, " ", "") + ".npz"
			line := fmt.Sprintf(`ulimit -v %d; exec "$0" fit -q --model knn X.npy y.npy -o %s`, c.kib, out)
			o := finish(t, exec.Command("sh", "-c", line, path))
			if o.code != c.code || exists(out) != (c.code == 0) {
				t.Errorf("exit code %d, want %d; output there: %t\n%s", o.code, c.code, exists(out), o.stderr)
			}
			for _, text := range c.want {
				if !slices.ContainsFunc(strings.Split(text, "|"), func(w string) bool { return strings.Contains(o.stderr, w) }) {
					t.Errorf("stderr lacks %q:\n%s", text, o.stderr)
				}
			}
			if c.code == 1 && strings.Count(o.stderr, "\n") != 1 {
				t.Errorf("more than a sentence:\n%s", o.stderr)
			}
		})
	}
}

// Under a limit of the address space a run that has too little ends with a sentence,
// and signals, exit codes and what it writes are those of the run.
func TestAddressLimit(t *testing.T) {
	testmode.Campaign(t)
	intoBlobs(t)
	const n, d = 20_000, 16
	points, labels := make([]float32, n*d), make([]int64, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range points {
		points[i] = float32(rng.NormFloat64())
	}
	for i := range labels {
		if labels[i] = int64(i % 10); i%10 > 1 {
			labels[i] = -1
		}
	}
	x, y := "many.npy", "few.npy"
	must(t, npy.WriteFile(x, []int{n, d}, points))
	must(t, npy.WriteFile(y, nil, labels))
	path := command(t).Path
	under := func(kib int, args ...string) *exec.Cmd {
		return exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, kib), path}, args...)...)
	}
	const enough = 4 << 20 // 4 GiB
	fit := []string{"fit", "-X", x, "-y", y, "--model", "laprls", "--gamma-a", "0.1", "--gamma-i", "0.1", "--approximation", "exact", "--threads", "2"}
	o := finish(t, under(enough, append(fit, "--memory-limit", "64GiB")...))
	o.check(t, 1, []string{"bigfit: out of memory", "4.0 GiB", "ulimit -v", "--memory-limit", "graph  "}, fit)
	for _, text := range []string{"goroutine ", "runtime:", "fatal error"} {
		if strings.Contains(o.stderr, text) {
			t.Errorf("stderr has %q:\n%s", text, o.stderr)
		}
	}
	// The limit counts as the memory of the machine.
	finish(t, under(enough, fit...)).check(t, 2, []string{"are allowed"}, fit)
	if o := finish(t, under(enough, "info", "X.npy")); o.code != 0 || !strings.Contains(o.out, "90") || o.stderr != "" {
		t.Errorf("info: %+v", o)
	}
	finish(t, under(enough, "graph", "X.npy", "-o", "nowhere/g.npz")).check(t, 1, []string{"nowhere"}, nil)
	finish(t, under(enough, "info", "missing.npy")).check(t, 2, []string{"missing.npy"}, nil)

	// An interrupt to the parent reaches the child, which ends by itself.
	cmd := under(enough, "fit", "-X", x, "-y", y, "--model", "svm", "--gamma-a", "1e-9", "--tolerance", "1e-9", "--landmarks", "3000")
	r, w, err := os.Pipe()
	must(t, err)
	cmd.Stderr = w
	must(t, cmd.Start())
	w.Close()
	var stderr strings.Builder
	for line := bufio.NewScanner(r); line.Scan(); {
		stderr.WriteString(line.Text() + "\n")
		if strings.Contains(line.Text(), "fit: needs") {
			must(t, cmd.Process.Signal(os.Interrupt))
		}
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != shell.ExitInterrupted || strings.Count(stderr.String(), "interrupted") != 1 {
		t.Errorf("exit code %d\n%s", cmd.ProcessState.ExitCode(), stderr.String())
	}
}
