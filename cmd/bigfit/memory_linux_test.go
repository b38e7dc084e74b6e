package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/sparse"
)

// measureChild is the variable by which the test binary becomes a small process that
// runs the command of its arguments and writes the peak of its memory to file 3. It
// must be small, as Linux counts the memory of the parent as the child's until exec.
const measureChild = "BIGFIT_TEST_MEASURE"

func init() {
	if os.Getenv(measureChild) == "" {
		return
	}
	os.Unsetenv(measureChild)
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	fmt.Fprint(os.NewFile(3, "peak"), cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	os.Exit(cmd.ProcessState.ExitCode())
}

// peakOf runs the built command and returns what it did and the peak of its resident
// memory in bytes.
func peakOf(t *testing.T, args ...string) (o outcome, peak int64) {
	t.Helper()
	path := command(t).Path
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	cmd := exec.Command(os.Args[0], append([]string{path}, args...)...)
	cmd.Env = append(os.Environ(), measureChild+"=1")
	cmd.ExtraFiles = []*os.File{w}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	_ = cmd.Run()
	w.Close()
	if _, err := fmt.Fscan(r, &peak); err != nil || cmd.ProcessState == nil {
		t.Fatalf("bigfit %v: %v\n%s", args, err, stderr.String())
	}
	return outcome{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}, peak << 10
}

// What a file claims to have of columns costs nothing before it is announced: every
// command on sparse points with 2³¹−1 columns stays small, or refuses in a sentence.
func TestManyColumns(t *testing.T) {
	t.Chdir(t.TempDir())
	const n, most = 60, 100 << 20
	m := &sparse.CSR{Rows: n, Cols: 1<<31 - 1, Ptr: []int64{0}, Val: []float64{}}
	y, values := make([]int64, n), make([]float64, 0, 2*n)
	for i := range n {
		m.Col = append(m.Col, int32(i%7), int32(1_000_003*(i%11+1)), int32(1<<31-2-i%3))
		m.Val = append(m.Val, 1, float64(i%5+1), 2)
		m.Ptr = append(m.Ptr, int64(len(m.Col)))
		y[i] = int64(i%3) - 1
		values = append(values, float64(i), float64(-i))
	}
	must(t, sparse.WriteNPZ("X.npz", m, nil))
	must(t, npy.WriteFile("y.npy", nil, y))
	must(t, npy.WriteFile("v.npy", []int{n, 2}, values))
	lines := []string{"info X.npz", "eigs X.npz -k 3", "cluster X.npz", "cluster -X X.npz -c 2", "embed -X X.npz", "plot X.npz -o p.svg",
		"plot X.npz -y y.npy -o p.svg --columns 1,2147483647", "eval -y y.npy --predictions X.npz", "eval -y X.npz --predictions y.npy",
		"cluster -X X.npz -c 2 --gamma 1", "embed -X X.npz --gamma 1", "embed -X X.npz --gamma 1 --landmarks 10 --model e.npz"}
	for _, flags := range []string{"", "--pca 2", "--method kd-tree", "--method ball-tree", "--method nn-descent", "--distance angle", "--distance manhattan", "--distance chebyshev", "--radius 3"} {
		lines = append(lines, "graph X.npz "+flags)
	}
	ambient, both := "--gamma-a 0.1 ", "--gamma-a 0.1 --gamma-i 0.1 "
	for model, flags := range map[string]string{"knn": "", "eigenmap": "", "harmonic": "", "lgc": "", "tikhonov": both, "poisson": "", "sssl": "", "oneclass": "",
		"rls-linear": ambient, "svm-linear": ambient, "tsvm-linear": ambient, "rls": ambient, "svm": ambient, "tsvm": ambient,
		"laprls-linear": both, "lapsvm-linear": both, "laprls": both, "lapsvm": both, "lap-oneclass": both} {
		fit := fmt.Sprintf("--model %s -X X.npz -y y.npy %s", model, flags)
		lines = append(lines, "fit "+fit+"-o "+model+".npz", "tune "+fit, "predict "+model+".npz -X X.npz")
	}
	for _, flags := range []string{"svr --regression " + ambient, "lapsvr --regression " + both, "vvmr --regression " + both,
		"rls --regression " + ambient + "--kernel linear", "rls --regression --approximation nystrom --landmarks 20 " + ambient,
		"rls --regression --approximation fourier " + ambient, "rls --regression --approximation matrix-free " + ambient} {
		y := "v.npy"
		if strings.Contains(flags, "svr") {
			y = "y.npy"
		}
		lines = append(lines, "fit -X X.npz -y "+y+" --model "+flags, "tune -X X.npz -y "+y+" --model "+flags)
	}
	done := 0
	for _, line := range lines {
		args := append(strings.Fields(line), "--memory-limit", "2GiB", "--threads", "4")
		o, peak := peakOf(t, args...)
		if peak > most || o.code != 0 && o.code != 2 || o.code == 2 && !strings.Contains(o.stderr, "bigfit: ") || strings.Contains(o.stderr, "goroutine ") {
			t.Errorf("bigfit %s: exit code %d, peak %d MiB\n%s", line, o.code, peak>>20, o.stderr)
		}
		if o.code == 0 {
			done++
		}
		t.Logf("%d %4d MiB bigfit %s: %s", o.code, peak>>20, line, o.stderr[strings.LastIndex(strings.TrimSpace(o.stderr), "\n")+1:])
	}
	if done < 20 {
		t.Errorf("%d of %d command lines did their work; those that need no memory for each column should", done, len(lines))
	}
}
