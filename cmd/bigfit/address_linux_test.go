package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// Under a limit of the address space a run that has too little ends with a sentence,
// and signals, exit codes and what it writes are those of the run.
func TestAddressLimit(t *testing.T) {
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
