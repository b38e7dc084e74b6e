package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/sparse"
)

// intoParts goes to a directory with the points of intoBlobs in three files and their graph in a
// folder.
func intoParts(t *testing.T) {
	t.Helper()
	intoBlobs(t)
	x, _ := blobs(blobCount, 0)
	values := floats(x)
	for k, rows := range [][2]int{{0, 20}, {20, 60}, {60, blobCount}} {
		must(t, npy.WriteFile(fmt.Sprintf("x%d.npy", k), []int{rows[1] - rows[0], blobColumns}, values[rows[0]*blobColumns:rows[1]*blobColumns]))
	}
	succeed(t, "graph", "X.npy", "-k", "5", "-o", "g/")
}

// loadLinear returns the linear model in a file.
func loadLinear(t *testing.T, path string) *linear.Model {
	t.Helper()
	m, _, err := all.Load(path, 0)
	must(t, err)
	return m.(*linear.Model)
}

// A fit in parts by jobs has the answer of the fit in one piece, and the same bits in any order;
// the job script of GNU parallel makes it too.
func TestFitInParts(t *testing.T) {
	intoParts(t)
	points := []string{"x0.npy", "x1.npy", "x2.npy", "y.npy"}
	line := func(model string, more ...string) []string {
		return slices.Concat([]string{"fit", "--model", model}, points, []string{"--graph", "g", "--gamma-a", "0.01", "--gamma-i", "0.001"}, more)
	}
	for _, model := range []string{"laprls-linear", "lapsvm-linear"} {
		succeed(t, line(model, "--calibrate", "none", "-o", "one.npz")...)
		job := func(more ...string) string {
			return succeed(t, line(model, append([]string{"--parts", "4", "--work", model}, more...)...)...)
		}
		if out := job("--dry-run"); !strings.Contains(out, "4 parts of about 22 rows, 4 of them to make") {
			t.Errorf("the plan: %s", out)
		}
		job("--part", "2")
		for variable, value := range map[string]string{"SLURM_ARRAY_TASK_ID": "0", "PMI_RANK": "3"} {
			t.Setenv(variable, value)
			job("--part", "env")
			os.Unsetenv(variable)
		}
		fail(t, 2, []string{"1 of 4 parts are missing: 1", "--work " + model + " --part 1\n"}, line(model, "--parts", "4", "--work", model, "--merge")...)
		if out := job("--part", "missing"); out != "1\n" {
			t.Errorf("missing: %q", out)
		}
		if out := job("--part", "1"); out != model+": made 1 of 1 parts; 0 of all 4 are missing\n" {
			t.Error(out)
		}
		job("--merge", "-o", "jobs.npz")
		job("-o", "again.npz")
		succeed(t, line(model, "--parts", "4", "--work", model+"2", "-o", "alone.npz")...)
		want, got := loadLinear(t, "one.npz"), loadLinear(t, "jobs.npz")
		rows, columns := want.Coefficients.Dims()
		for i := range rows {
			for j := range columns {
				if w, g := want.Coefficients.At(i, j), got.Coefficients.At(i, j); !(g-w <= 1e-8 && w-g <= 1e-8) {
					t.Errorf("%s: coefficient (%d, %d) is %v, in one piece %v", model, i, j, g, w)
				}
			}
		}
		for _, other := range []string{"again.npz", "alone.npz"} {
			succeed(t, "diff", "jobs.npz", other)
		}
	}
	points = []string{"new.npy", "y.npy"}
	fail(t, 2, []string{"part-00002-norm.npz", "hash of the points", "remove its files"}, line("laprls-linear", "--parts", "4", "--work", "laprls-linear", "--part", "2")...)
}

// A damaged graph is an error that names the folder and the row: of the part that has the row, and
// of the merge; other parts can be made.
func TestFitPartsDamagedGraph(t *testing.T) {
	intoParts(t)
	line := strings.Fields("fit --model laprls-linear x0.npy x1.npy x2.npy y.npy --graph g --gamma-a 1 --gamma-i 1 --parts 3 --work w")
	a, err := npy.ReadFile("g/indptr.npy", 0)
	must(t, err)
	ptr := a.Data.([]int64)
	succeed(t, append(line, "--part", "2")...)
	for _, offset := range []int64{-1 << 62, 1 << 62, 0} { // before the entries, behind them, descending
		bad := slices.Clone(ptr)
		bad[40] = offset
		must(t, npy.WriteFile("g/indptr.npy", nil, bad))
		fail(t, 2, []string{"part 1: g: row ", "spans entries", "make the graph again"}, append(line, "--part", "1")...)
		fail(t, 2, []string{"g: row ", "spans entries"}, append(line, "--dry-run")...)
		fail(t, 2, []string{"g: row ", "spans entries"}, append(line, "--merge")...)
		fail(t, 2, []string{"g: row ", "spans entries"}, line...)
		succeed(t, append(line, "--part", "0")...)
	}
	must(t, npy.WriteFile("g/indptr.npy", nil, ptr))
	succeed(t, append(line, "-o", "m.npz")...)
}

// The script for GNU parallel makes the model.
func TestFitScript(t *testing.T) {
	if _, err := exec.LookPath("parallel"); err != nil {
		t.Skip("GNU parallel is not installed")
	}
	intoParts(t)
	script := succeed(t, "fit", "--model", "rls-linear", "x0.npy", "x1.npy", "x2.npy", "y.npy", "--gamma-a", "1", "--parts", "3", "--work", "a folder", "--print-script", "parallel", "-o", "m.npz")
	cmd := command(t)
	writeFile(t, "run.sh", []byte(strings.ReplaceAll(script, "bigfit fit", cmd.Path+" fit")))
	cmd = exec.Command("sh", "run.sh")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	succeed(t, "predict", "m.npz", "X.npy", "-o", "p.npy")
	for _, kind := range []string{"slurm", "mpirun", "pbs", "lsf"} {
		out := succeed(t, "fit", "--model", "rls-linear", "X.npy", "y.npy", "--gamma-a", "1", "--parts", "3", "--work", "w", "--print-script="+kind)
		for _, part := range []string{"rls-linear X.npy y.npy --gamma-a 1 --parts 3 --work w --part env", "--merge", "--dry-run", "\ncd "} {
			if !strings.Contains(out, part) || strings.Contains(out, "print-script") {
				t.Errorf("%s: no %q in\n%s", kind, part, out)
			}
		}
	}
}

// Flags that do not go together, and models without parts, are refused before anything is read.
func TestFitPartsUsage(t *testing.T) {
	intoParts(t)
	for want, line := range map[string]string{
		"models that are fitted in parts are harmonic, lgc, rls-linear, laprls-linear, lapsvm-linear":                                                                                                              "--model lapsvm --gamma-a 1 --gamma-i 1 --parts 2 --work w",
		"svm-linear, which reads labeled points and no others: fit it without --parts":                                                                                                                             "--model svm-linear --gamma-a 1 --parts 2 --work w",
		"needs --gamma-i: weights are not chosen by cross-validation there; choose them on a sample of the points and their labels, by bigfit tune --model laprls-linear SAMPLE.npy LABELS.npy --scaling per-edge": "--model laprls-linear --gamma-a 1 --parts 2 --work w",
		"needs the graph: --graph":                       "--model laprls-linear --gamma-a 1 --gamma-i 1 --parts 2 --work w",
		"--parts P --work DIR":                           "--model rls-linear --gamma-a 1 --parts 2",
		"give one of --part, --merge":                    "--model rls-linear --gamma-a 1 --parts 2 --work w --merge --part 1",
		"--checkpoint does not go":                       "--model rls-linear --gamma-a 1 --parts 2 --work w --checkpoint c",
		`--part is "2"; it must be a number from 0 to 1`: "--model rls-linear --gamma-a 1 --parts 2 --work w --part 2",
		"none of SLURM_ARRAY_TASK_ID":                    "--model rls-linear --gamma-a 1 --parts 2 --work w --part env",
		"it must be lsf, mpirun, parallel, pbs, slurm":   "--model rls-linear --gamma-a 1 --parts 2 --work w --print-script x",
		"91 parts of 90 points":                          "--model rls-linear --gamma-a 1 --parts 91 --work w",
	} {
		fail(t, 2, []string{want}, append([]string{"fit", "X.npy", "y.npy"}, strings.Fields(line)...)...)
	}
}

// Each file of points is a job of its own, and all together answer as one run does.
func TestPredictParts(t *testing.T) {
	intoParts(t)
	succeed(t, "fit", "--model", "rls-linear", "X.npy", "y.npy", "--gamma-a", "1", "-o", "m.npz")
	succeed(t, "predict", "m.npz", "x*.npy", "-o", "all.npy", "--scores", "s.npy")
	job := func(more ...string) string {
		return succeed(t, append([]string{"predict", "m.npz", "x*.npy", "-o", "p-{part}.npy", "--scores", "s-{part}.npy"}, more...)...)
	}
	if out := job("--part", "missing"); out != "0-2\n" {
		t.Errorf("missing: %q", out)
	}
	t.Setenv("OMPI_COMM_WORLD_RANK", "0")
	t.Setenv("OMPI_COMM_WORLD_SIZE", "2")
	job("--part", "env")
	if out := job("--part", "missing"); out != "1\n" {
		t.Errorf("missing: %q", out)
	}
	job("--part", "1")
	for whole, name := range map[string]string{"all.npy": "p-%05d.npy", "s.npy": "s-%05d.npy"} {
		a, err := npy.ReadFile(whole, 0)
		must(t, err)
		var got []string
		for k := range 3 {
			b, err := npy.ReadFile(fmt.Sprintf(name, k), 0)
			must(t, err)
			got = append(got, strings.Trim(fmt.Sprint(b.Data), "[]"))
		}
		if want := strings.Trim(fmt.Sprint(a.Data), "[]"); strings.Join(got, " ") != want {
			t.Errorf("%s: %v in parts, %v at once", whole, got, want)
		}
	}
	fail(t, 2, []string{"put {part} into its name"}, "predict", "m.npz", "x*.npy", "--part", "1")
	fail(t, 2, []string{"from 0 to 2"}, "predict", "m.npz", "x*.npy", "--part", "3", "-o", "{part}.npy")
}

// Label spreading in parts of the classes has the answers of the fit at once, whatever parts and jobs make
// them, by names and ids too.
func TestSpreadInParts(t *testing.T) {
	intoParts(t)
	succeed(t, "fit", "--model", "lgc", "--graph", "g", "y.npy", "--labels", "12", "-o", "one.npz", "--predictions", "one.npy")
	line := func(more ...string) []string {
		return append(strings.Fields("fit --model lgc --graph g y.npy --labels 12 --work w --parts 2 --predictions"), more...)
	}
	if out := succeed(t, line("a.npy", "--dry-run")...); !strings.Contains(out, "2 parts of about 2 classes, 2 of them to make") {
		t.Errorf("the plan: %s", out)
	}
	succeed(t, line("a.npy", "--part", "1")...)
	fail(t, 2, []string{"1 of 2 parts are missing: 0", "--part 0\n"}, line("a.npy", "--merge")...)
	if out := succeed(t, "status", "w"); !strings.Contains(out, "1 of 2 made") || !strings.Contains(out, "--part 0") {
		t.Errorf("status: %s", out)
	}
	if out := succeed(t, line("a.npy")...); !strings.Contains(out, "90 points in 3 classes by 12 labels") ||
		!strings.Contains(out, "held back are wrong") {
		t.Errorf("the result: %s", out)
	}
	succeed(t, "diff", "one.npy", "a.npy")
	if script := succeed(t, line("a.npy", "--print-script", "slurm")...); !strings.Contains(script, "--predictions a.npy --part 0'") ||
		!strings.Contains(script, "--array=${PARTS:-0-1}") {
		t.Errorf("the script: %s", script)
	}
	fail(t, 2, []string{"alpha", "another graph, other labels or settings"}, line("a.npy", "--alpha", "0.5")...)

	succeed(t, strings.Fields("fit --model harmonic --graph g y.npy --labels 12 --predictions one.npy")...)
	succeed(t, strings.Fields("fit --model harmonic --graph g y.npy --labels 12 --work h --parts 3 --predictions a.npy")...)
	succeed(t, "diff", "one.npy", "a.npy")

	// Names of classes and points, and the share of the best class.
	var named, ids strings.Builder
	named.WriteString("id,label\n")
	for i := range blobCount {
		fmt.Fprintf(&ids, "p%d\n", i)
		if i%7 == 0 {
			fmt.Fprintf(&named, "p%d,class %d\n", i, i%3)
		}
	}
	writeFile(t, "ids.txt", []byte(ids.String()))
	writeFile(t, "named.csv", []byte(named.String()))
	succeed(t, strings.Fields("fit --model lgc --graph g named.csv --ids ids.txt --parts 3 --work w2 --predictions a.csv")...)
	table := string(readFile(t, "a.csv"))
	if !strings.HasPrefix(table, "id,label,share\n") || !strings.Contains(table, "\np7,class 1,") ||
		strings.Count(table, "\n") != blobCount+1 {
		t.Errorf("the table: %s", table)
	}

	// Tables beside the files of points name them too.
	must(t, os.Mkdir("emb", 0o777))
	for k, rows := range [][2]int{{0, 20}, {20, 60}, {60, blobCount}} {
		must(t, os.Rename(fmt.Sprintf("x%d.npy", k), fmt.Sprintf("emb/x%d.npy", k)))
		list := strings.Join(strings.SplitAfter(ids.String(), "\n")[rows[0]:rows[1]], "")
		writeFile(t, fmt.Sprintf("emb/x%d.csv", k), []byte("id\n"+list))
	}
	succeed(t, strings.Fields("fit --model lgc --graph g emb named.csv --parts 3 --work w2 --predictions b.csv")...)
	if string(readFile(t, "b.csv")) != table {
		t.Errorf("with ids beside the points: %s", readFile(t, "b.csv"))
	}
}

// The merge needs no memory beside that of a part: blocks are given back before it is announced.
func TestSpreadInPartsMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	const n = 300_000
	ring := &sparse.CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1), Col: make([]int32, 0, 2*n)}
	y := make([]int64, n)
	for i := range n {
		a, b := int32((i+n-1)%n), int32((i+1)%n)
		ring.Col = append(ring.Col, min(a, b), max(a, b))
		ring.Ptr[i+1] = int64(len(ring.Col))
		y[i] = -1
		if i%1000 == 0 {
			y[i] = int64(i / 1000 % 16)
		}
	}
	must(t, sparse.WriteFolder("ring", ring, nil))
	must(t, npy.WriteFile("y.npy", nil, y))
	// 140 bytes a point of a part, and 48 of the merge with what the collector leaves.
	succeed(t, strings.Fields("fit --model lgc --graph ring y.npy --parts 1 --work w --predictions a.npy --memory-limit 66MiB")...)
}

func TestSpreadInPartsUsage(t *testing.T) {
	intoParts(t)
	for args, want := range map[string]string{
		"X.npy y.npy": "needs the graph",
		"x0.npy y.npy --graph g --predictions a.npy": "points but the graph g has 90",
		"--graph g y.npy":          "--predictions FILE.npy",
		"--graph g y.npy -o m.npz": "--predictions FILE.npy",
	} {
		fail(t, 2, []string{want}, append(strings.Fields("fit --model lgc --parts 2 --work w"), strings.Fields(args)...)...)
	}
	for args, want := range map[string]string{
		"-o m.npz":             "keeps the best class",
		"--neighbors 3":        "takes that of --graph as it is",
		"--class-shares equal": "keeps the best class",
		"--tolerance 1e-9":     "bigfit: --tolerance is 1e-09",
		"--parts 4":            "bigfit: 4 parts of 3 classes",
	} {
		fail(t, 2, []string{want}, append(strings.Fields("fit --model lgc --graph g y.npy --work w --predictions a.npy --parts 2"), strings.Fields(args)...)...)
	}
}
