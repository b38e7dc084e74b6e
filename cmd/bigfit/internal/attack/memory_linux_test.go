package attack

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/sparse"
)

func init() {
	patience, err := time.ParseDuration(os.Getenv(measureChild))
	if err != nil {
		return
	}
	os.Unsetenv(measureChild)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[1], os.Args[2:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err = cmd.Run()
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
	path, err := program()
	must(t, err)
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	cmd := exec.Command(os.Args[0], append([]string{path}, args...)...)
	cmd.Env = append(os.Environ(), measureChild+"=3m")
	cmd.ExtraFiles = []*os.File{w}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	_ = cmd.Run()
	w.Close()
	if _, err := fmt.Fscan(r, &peak); err != nil || cmd.ProcessState == nil {
		t.Fatalf("bigfit %v: %v\n%s", args, err, stderr.String())
	}
	return outcome{code: cmd.ProcessState.ExitCode(), out: out.String(), stderr: stderr.String()}, peak << 10
}

// What a file claims to have of columns costs nothing before it is announced: every
// command on sparse points with 2³¹−1 columns stays small, or refuses in a sentence.
func TestManyColumns(t *testing.T) {
	testmode.Campaign(t)
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
	lines := []string{"info X.npz", "eigs X.npz -n 3", "cluster X.npz", "cluster -X X.npz -c 2", "embed -X X.npz", "plot X.npz -o p.svg",
		"plot X.npz -y y.npy -o p.svg --columns 1,2147483647", "eval -y y.npy --predictions X.npz", "eval -y X.npz --predictions y.npy",
		"cluster -X X.npz -c 2 --gamma 1", "embed -X X.npz --gamma 1", "embed -X X.npz --gamma 1 --landmarks 10 --model e.npz"}
	for _, flags := range []string{"", "--pca 2", "--method kd-tree", "--method ball-tree", "--method nn-descent", "--distance angle", "--distance manhattan", "--distance chebyshev", "--radius 3"} {
		lines = append(lines, "graph X.npz "+flags)
	}
	ambient, both := "--gamma-a 0.1 ", "--gamma-a 0.1 --gamma-i 0.1 "
	for model, flags := range map[string]string{"knn": "", "eigenmap": "", "harmonic": "", "lgc": "", "tikhonov": both, "poisson": "", "poisson-mbo": "", "cut": "", "sssl": "", "oneclass": "",
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

// The bars of announced memory. Constant parts of the program count for much in small
// processes, so that the second holds for those above 100 MiB only.
const (
	mostPeak      = 1.2 // peak ≤ 1.2 · announced + memorySlack
	mostAnnounced = 1.6 // announced ≤ 1.6 · peak
	mostOver      = 1.1 // peak ≤ 1.1 · limit + memorySlack
	memorySlack   = 40 << 20
	smallProcess  = 100 << 20
)

// memoryModels are the command lines of the grid beside the data.
var memoryModels = []string{
	"auto", "knn", "eigenmap", "harmonic", "lgc", "tikhonov --gamma-a 0.1 --gamma-i 0.1", "poisson", "poisson-mbo", "cut",
	"rls-linear --gamma-a 0.1", "svm-linear --gamma-a 0.1", "laprls-linear --gamma-a 0.1 --gamma-i 0.1", "lapsvm-linear --gamma-a 0.1 --gamma-i 0.1", "tsvm-linear --gamma-a 0.1",
	"rls --gamma-a 0.1", "svm --gamma-a 0.1", "oneclass", "laprls --gamma-a 0.1 --gamma-i 0.1", "lapsvm --gamma-a 0.1 --gamma-i 0.1", "lap-oneclass --gamma-a 0.1 --gamma-i 0.1", "tsvm --gamma-a 0.1", "sssl",
	"rls --gamma-a 0.1 --landmarks 500", "laprls --gamma-a 0.1 --gamma-i 0.1 --landmarks 500", "lapsvm --gamma-a 0.1 --gamma-i 0.1 --landmarks 500", "rls --gamma-a 0.1 --features 500", "rls --gamma-a 0.1 --approximation matrix-free",
	"knn --method nn-descent", "harmonic --method nn-descent",
}

// memoryData writes n points of d columns, as .npz, which is read and not mapped, and
// labels of c classes, of two classes for a tenth of the points only, and returns the
// names of the files.
func memoryData(t *testing.T, n, d, c int) (x, y string) {
	t.Helper()
	x, y = fmt.Sprintf("x%dx%d.npz", n, d), fmt.Sprintf("y%dx%d.npy", n, c)
	rng := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	if _, err := os.Stat(x); err != nil {
		points := make([]float32, n*d)
		for i := range points {
			points[i] = float32(rng.NormFloat64())
			if i%d == 0 {
				points[i] += float32(i / d % 2 * 8)
			}
		}
		must(t, npy.WriteArchive(x, []archive.Array{{Name: "X", Shape: []int{n, d}, Data: points}}))
	}
	labels := make([]int64, n)
	for i := range labels {
		if labels[i] = int64(i % c); c == 2 && i%10 > 1 {
			labels[i] = -1
		}
	}
	must(t, npy.WriteFile(y, nil, labels))
	return x, y
}

// announcedBytes reads the last line about memory, or the largest of the stages' lines
// of a run that was interrupted; 0 if there is none.
func announcedBytes(stderr string) int64 {
	if _, line, found := strings.Cut(stderr, "\nmemory: "); found {
		text, _, _ := strings.Cut(line, " MiB announced")
		mib, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return 0
		}
		return int64(mib * (1 << 20))
	}
	var most machine.Size
	for line := range strings.Lines(stderr) {
		before, _, _ := strings.Cut(line, " in all")
		var size machine.Size
		if _, text, found := strings.Cut(before, " of memory, "); found && size.Set(text) == nil {
			most = max(most, size)
		}
	}
	return int64(most)
}

// memoryRun is one command and its bars.
func memoryRun(t *testing.T, limited bool, args ...string) {
	t.Helper()
	line := strings.Join(args, " ")
	o, peak := peakOf(t, append(args, "--memory-limit", memoryLimit())...)
	announced := announcedBytes(o.stderr)
	refused := o.code == 2 && strings.Contains(o.stderr, "are allowed")
	fault := memoryFault(o, announced, peak)
	end := fault
	switch {
	case refused:
		end = "refused"
	case o.code == interrupted:
		end += " after 3 minutes"
	}
	t.Logf("| %s | %.0f | %.0f | %.2f | %s |", line, float64(announced)/(1<<20), float64(peak)/(1<<20), float64(peak)/float64(max(announced, 1)), end)
	if fault != "" && !refused {
		t.Errorf("bigfit %s: %s\n%s", line, fault, o.stderr)
	}
	var limit machine.Size
	must(t, limit.Set(memoryLimit()))
	if over := float64(peak-memorySlack) / float64(limit); over > mostOver {
		t.Errorf("bigfit %s: the peak is %d MiB, %v are allowed\n%s", line, peak>>20, limit, o.stderr)
	}
	if refused || !limited || announced == 0 || o.code == interrupted {
		return
	}
	o, peak = peakOf(t, append(args, "--memory-limit", strconv.FormatInt(announced, 10))...)
	if over := float64(peak-memorySlack) / float64(announced); over > mostOver && !(o.code == 2 && strings.Contains(o.stderr, "are allowed")) {
		t.Errorf("bigfit %s --memory-limit %d: the peak is %d MiB\n%s", line, announced, peak>>20, o.stderr)
	}
}

// memoryFault says which bar does not hold.
func memoryFault(o outcome, announced, peak int64) string {
	switch {
	case o.code != 0 && o.code != 3 && o.code != interrupted:
		return fmt.Sprintf("exit code %d", o.code)
	case announced == 0:
		return "nothing is announced"
	case float64(peak) > mostPeak*float64(announced)+memorySlack:
		return "too small"
	case o.code != interrupted && peak > smallProcess && float64(announced) > mostAnnounced*float64(peak):
		return "too large"
	}
	return ""
}

// memoryLimit of the runs of the grid, so that it can run beside others.
func memoryLimit() string {
	if v := os.Getenv("MEMORY_LIMIT"); v != "" {
		return v
	}
	return "6GiB"
}

// TestMemoryGrid holds what commands announce against the peak of their resident
// memory: all of the grid with MEMORY=all, as make memory sets it, or the rows that
// hold the text in MEMORY; a chosen part without.
func TestMemoryGrid(t *testing.T) {
	testmode.Campaign(t)
	if testing.Short() {
		t.Skip("takes a minute")
	}
	t.Chdir(t.TempDir())
	choice := os.Getenv("MEMORY")
	run := 0
	for _, n := range []int{5000, 20000} {
		for _, d := range []int{16, 784} {
			for _, c := range []int{2, 1000, 10000} {
				x, y := memoryData(t, n, d, c)
				for _, model := range memoryModels {
					line := fmt.Sprintf("fit -X %s -y %s --model %s", x, y, model)
					if model != "knn" && model != "lgc" {
						line += " --calibrate none" // else ten more fits of the same
					}
					if c > 2 && strings.HasPrefix(model, "tsvm") {
						line += fmt.Sprintf(" --labels %d", n/2)
					}
					if choice == "" && !memoryPart(n, d, c, model) || choice != "" && choice != "all" && !strings.Contains(line, choice) {
						continue
					}
					if run++; choice == "" && !testmode.Soak() && run%4 != 1 {
						continue // a sample; make memory has the whole grid
					}
					memoryRun(t, choice != "" && n == 5000 || slices.Contains(limitedModels, model), strings.Fields(line)...)
				}
			}
		}
	}
}

// leastAnnounced is the least share of the peak that predict, eigs and demo announce.
const leastAnnounced = 0.95

// TestMemoryOfCommands: predict, eigs and demo announce their peak. The collector runs when it likes, so
// that the best of three runs counts.
func TestMemoryOfCommands(t *testing.T) {
	testmode.Campaign(t)
	t.Chdir(t.TempDir())
	x, y := memoryData(t, 20000, 16, 2)
	const fit = " --calibrate none --model "
	for _, line := range []string{
		"graph " + x + " -o g.npz", "fit " + x + " " + y + fit + "lgc -o lgc.npz", "fit " + x + " " + y + fit + "auto -o auto.npz",
		"fit " + x + " " + y + fit + "knn -o knn.npz", "fit " + x + " " + y + fit + "rls-linear --gamma-a 0.1 -o linear.npz",
	} {
		if o, _ := peakOf(t, strings.Fields(line)...); o.code != 0 {
			t.Fatalf("bigfit %s: %s", line, o.stderr)
		}
	}

	for _, line := range []string{
		"predict lgc.npz " + x + " -o p.npy", "predict auto.npz " + x + " -o p.npy", "predict knn.npz " + x + " -o p.npy",
		"predict linear.npz " + x + " -o p.npy", "eigs g.npz -n 5 -o e.npz", "eigs g.npz -n 100 -o e.npz",
		"eigs g.npz -n 50 --laplacian normalized -o e.npz", "demo -n 2000 -o run", "demo -n 5000 -o run",
	} {
		best := 0.0
		var text string
		for range 3 {
			if best >= leastAnnounced {
				break // the peak of a run varies with the collector of garbage
			}
			o, peak := peakOf(t, strings.Fields(line)...)
			if o.code != 0 {
				t.Fatalf("bigfit %s: exit code %d\n%s", line, o.code, o.stderr)
			}
			if share := float64(announcedBytes(o.stderr)) / float64(peak); share > best {
				best = share
				text = o.stderr
			}
		}
		t.Logf("%s: %.2f of the peak is announced", line, best)
		if !(best >= leastAnnounced) {
			t.Errorf("bigfit %s announces %.2f of its peak, at least %v are wanted\n%s", line, best, leastAnnounced, text)
		}
	}
}

// TestMemoryInputs is a grid of inputs: whatever the file of the points is, its announced memory
// and a limit hold. The points have few different values, so that files are small.
func TestMemoryInputs(t *testing.T) {
	testmode.Campaign(t)
	t.Chdir(t.TempDir())
	const n, d = 200_000, 40
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float32, n*d), make([]int64, n)
	for i := range x {
		x[i] = float32(rng.IntN(3))
	}
	var csv, svm, jsonl strings.Builder
	for i := range n {
		y[i] = int64(i % 2)
		x[i*d] += float32(8 * y[i])
		row := x[i*d : (i+1)*d]
		fmt.Fprint(&svm, y[i])
		jsonl.WriteString(`{"x": [`)
		for j, v := range row {
			comma := ","
			if j == d-1 {
				comma = ""
			}
			digit := strconv.Itoa(int(v))
			csv.WriteString(digit + comma)
			jsonl.WriteString(digit + comma)
			svm.WriteString(" " + strconv.Itoa(j+1) + ":" + digit)
		}
		csv.WriteString("\n")
		svm.WriteString("\n")
		jsonl.WriteString("]}\n")
	}
	must(t, npy.WriteFile("y.npy", nil, y))
	whole := make([]int32, len(x))
	doubles := make([]float64, len(x))
	for i, v := range x {
		whole[i], doubles[i] = int32(v), float64(v)
	}
	must(t, npy.WriteArchive("single.npz", []archive.Array{{Name: "X", Shape: []int{n, d}, Data: x}}))
	must(t, npy.WriteArchive("whole.npz", []archive.Array{{Name: "X", Shape: []int{n, d}, Data: whole}}))
	must(t, npy.WriteFile("double.npy", []int{n, d}, doubles))
	raw, err := os.ReadFile("double.npy")
	must(t, err)
	must(t, os.WriteFile("X.csv", []byte(csv.String()), 0o644))
	for name, text := range map[string]string{"double.npy.gz": string(raw), "double.npy.zst": string(raw),
		"X.csv.gz": csv.String(), "X.svm.gz": svm.String(), "X.jsonl.gz": jsonl.String()} {
		packedInput{name: name, block: text, times: 1}.write(t, ".")
	}
	for i, file := range []string{"single.npz", "X.csv.gz", "double.npy.gz", "whole.npz", "X.svm.gz", "X.jsonl.gz", "X.csv", "double.npy.zst", "double.npy"} {
		if testmode.Soak() || i < 2 {
			memoryRun(t, true, strings.Fields("fit -X "+file+" -y y.npy --model rls-linear --gamma-a 0.1 --calibrate none")...)
		}
	}
}

// limitedModels are run with the announced memory as the limit in every run.
var limitedModels = []string{"knn", "eigenmap", "lgc", "lapsvm --gamma-a 0.1 --gamma-i 0.1", "tsvm --gamma-a 0.1", "rls --gamma-a 0.1 --landmarks 500"}

// memoryPart tells whether a row of the grid is in every run of the tests: all models
// that take seconds on few points, and where dimensions and classes are many those
// whose memory grows with them.
func memoryPart(n, d, c int, model string) bool {
	name, _, _ := strings.Cut(model, " ")
	switch {
	case n == 5000 && d == 16 && c == 2:
		exact := slices.Contains([]string{"eigenmap", "laprls", "lapsvm", "lap-oneclass"}, name) // take long; eigenmap has a row below
		return !exact || strings.Contains(model, "landmarks")
	case n == 5000 && d == 784 && c == 2:
		return strings.Contains(model, "nn-descent") || strings.Contains(model, "500") || strings.HasSuffix(name, "-linear")
	case n == 5000 && d == 16 && c == 1000:
		return slices.Contains([]string{"knn", "harmonic", "eigenmap", "rls-linear --gamma-a 0.1"}, model)
	}
	return n == 20000 && d == 16 && c == 10000 && model == "knn"
}

// interrupted is the exit code of a run that an interrupt ended.
const interrupted = 130

// ringFolder writes a graph of n points, each joined with 2k others far from it, as a folder: k steps
// on either side, stride points apart.
func ringFolder(t *testing.T, path string, n, k, stride int) {
	t.Helper()
	must(t, sparse.CreateFolder(path, true, func(w *sparse.FolderWriter) ([]byte, error) {
		const rows = 1 << 14
		for lo := 0; lo < n; lo += rows {
			ptr, col := []int64{0}, []int32(nil)
			for i := lo; i < min(lo+rows, n); i++ {
				first := len(col)
				for s := 1; s <= k; s++ {
					col = append(col, int32((i+s*stride)%n), int32((i+n-s*stride)%n))
				}
				slices.Sort(col[first:])
				ptr = append(ptr, int64(len(col)))
			}
			if err := w.Append(ptr, col, slices.Repeat([]float64{0.5}, len(col))); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}))
}

// Jobs of a fit or a graph in parts, merges and all parts in one process keep to what they announce,
// and give back what they have read of mapped files: few pages of those, 330 MB, add to that.
func TestMemoryOfParts(t *testing.T) {
	testmode.Campaign(t)
	if !testmode.Soak() {
		t.Skip("writes 330 MB; BIGFIT_SOAK=1 runs it, as make soak does")
	}
	t.Chdir(t.TempDir())
	const n, d, k = 1_000_000, 16, 12
	ringFolder(t, "g", n, k, 38461)
	rng := rand.New(rand.NewPCG(n, d))
	labels := make([]int64, n)
	for shard := range 4 {
		x := make([]float32, n/4*d)
		for i := range x {
			x[i] = rng.Float32()
		}
		for i := range n / 4 {
			labels[shard*n/4+i] = -1
			if i%5 == 0 {
				labels[shard*n/4+i] = int64(i/5%2) + 1
				x[i*d] += float32(i / 5 % 2)
			}
		}
		must(t, npy.WriteFile(fmt.Sprintf("x%d.npy", shard), []int{n / 4, d}, x))
	}
	must(t, npy.WriteFile("y.npy", nil, labels))
	const fit = "fit x0.npy x1.npy x2.npy x3.npy y.npy --graph g --gamma-a 0.1 --gamma-i 1e-6 --parts 8 --work W --model "
	const graph = "graph x0.npy --neighbors 8 --parts 6 --work G "
	for _, line := range []string{
		fit + "laprls-linear --part 1", fit + "laprls-linear --laplacian normalized --work W2 --part 1",
		fit + "laprls-linear -o m.npz", fit + "lapsvm-linear --merge -o m.npz",
		graph + "--divide", "graph --work G --part 2", graph + "-o neighbours/",
	} {
		args := strings.Fields(line)
		o, peak := peakOf(t, args...)
		_, text, _ := strings.Cut(o.stderr, "\nmemory: ")
		var announced, reached float64 // MiB
		if _, err := fmt.Sscanf(text, "%f MiB announced, %f MiB at the peak", &announced, &reached); err != nil || o.code != 0 {
			t.Fatalf("bigfit %v: %v\n%s", args, err, o.stderr)
		}
		resident := float64(peak) / (1 << 20)
		t.Logf("%s: announced %.0f MiB, reached %.0f, resident %.0f", line, announced, reached, resident)
		const garbage, pages = 1.1, 150
		tight := announced <= 2*reached || strings.HasPrefix(line, graph) // of the latter peaks pass between two looks
		if !(reached <= garbage*announced && tight && resident <= announced+pages) {
			t.Errorf("bigfit %v: announced %.0f MiB, reached %.0f, resident with pages of files %.0f", args, announced, reached, resident)
		}
	}
}
