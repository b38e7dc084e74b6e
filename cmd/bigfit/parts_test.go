package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/internal/testmode"
)

const (
	partedPoints = 2400
	parted       = "-X X.npy --neighbors 6 --parts 5 --weights heat"
)

// intoParted goes to a folder with points and the graph of them in parts.
func intoParted(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	x := synthetic.Manifold(partedPoints, 16, 4, 0.01, 1)
	must(t, npy.WriteFile("X.npy", []int{partedPoints, 16}, x.Data))
	succeed(t, words("graph %s --work once -o want.npz -q", parted)...)
}

// words splits a command line.
func words(format string, args ...any) []string { return strings.Fields(fmt.Sprintf(format, args...)) }

// same compares a graph with want.npz: all but the names of the files that it was made of.
func same(t *testing.T, what, path string) {
	t.Helper()
	if o := bigfit(t, "diff", path, "want.npz"); o.code != 0 || !strings.Contains(o.out, "equal") {
		t.Errorf("%s: the graph is another one: %s%s", what, o.out, o.stderr)
	}
}

// The graph has the same bits whoever makes the parts, in which order and how often, and as a
// folder.
func TestPartsAnyOrder(t *testing.T) {
	intoParted(t)
	succeed(t, words("graph %s --work jobs --divide -q", parted)...)
	for _, p := range []int{3, 0, 4, 3, 1, 2} {
		succeed(t, words("graph --work jobs --part %d -q --threads %d", p, 1+p%2)...)
	}
	succeed(t, words("graph --work jobs --merge -o got.npz -q")...)
	same(t, "jobs", "got.npz")
	succeed(t, words("graph --work jobs -o got.npz -q")...)
	same(t, "again", "got.npz")

	// Lists of the parts go when they are merged, and the exchange is made again without them.
	if left, err := filepath.Glob("jobs/part-*.npy"); err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left", err, left)
	}
	must(t, os.Remove("jobs/lists-1-00002.npz"))
	must(t, os.RemoveAll("jobs/ordered"))
	must(t, os.RemoveAll("jobs/graph"))
	succeed(t, words("graph --work jobs -o got.npz -q")...)
	same(t, "exchanged again", "got.npz")
	succeed(t, words("graph --work jobs --merge -o folder/ -q")...)
	if out := bigfit(t, "diff", "folder/", "got.npz").out; !strings.Contains(out, "equal") && !strings.Contains(out, "same") {
		t.Errorf("the folder: %s", out)
	}
}

// status says how far a run is without the points, and changes nothing.
func TestStatus(t *testing.T) {
	intoParted(t)
	fail(t, 2, []string{"X is not a folder that bigfit keeps a run in"}, "status", "X")
	succeed(t, words("graph %s --work W --divide -q", parted)...)
	must(t, os.Rename("X.npy", "away.npy"))
	said := func(want ...string) {
		t.Helper()
		out := succeed(t, "status", "W")
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%q is not in\n%s", w, out)
			}
		}
	}
	said("W: a graph in parts\nparts: 0 of 5 made; missing: 0-4\n", "next: bigfit graph --work W --part 0\n")
	must(t, os.Rename("away.npy", "X.npy"))
	for _, p := range []int{0, 1, 3} {
		succeed(t, words("graph --work W --part %d -q", p)...)
	}
	said("parts: 3 of 5 made, the last ", "missing: 2,4, about ", "next: bigfit graph --work W --part 2\n")
	if out := succeed(t, "status", "W", "--json"); !strings.Contains(out, `"made":3,"missing":"2,4","seconds_left":`) {
		t.Error(out)
	}
	succeed(t, words("graph --work W -o got.npz -q")...)
	said("parts: 5 of 5 made", "merge: done\n")
	same(t, "the graph after bigfit status", "got.npz")

	y := make([]int64, partedPoints)
	for i := range y {
		y[i] = int64(i % 2)
	}
	must(t, npy.WriteFile("y.npy", nil, y))
	const fit = "fit --model laprls-linear X.npy y.npy --graph want.npz --gamma-a 0.01 --gamma-i 0.001 --parts 3 --work W -q "
	must(t, os.RemoveAll("W"))
	succeed(t, strings.Fields(fit+"--part 1")...)
	said("W: a fit in parts\nparts: 1 of 3 made", "missing: 0,2", "next: the same bigfit fit with --part 0\n")
	succeed(t, strings.Fields(fit+"-o m.npz")...)
	said("parts: 3 of 3 made", "next: the same bigfit fit with --merge\n")

	must(t, os.RemoveAll("W"))
	succeed(t, "eigs", "want.npz", "-n", "5", "-o", "e.npz", "--checkpoint", "W", "-q")
	said("W: a checkpoint\n")
}

// In parts that all hold every point the search is exact, and the graph has the edges and weights of a
// graph by brute force, for all weights and symmetries.
func TestPartsWeights(t *testing.T) {
	const n = 300
	t.Chdir(t.TempDir())
	must(t, npy.WriteFile("X.npy", []int{n, 16}, synthetic.Manifold(n, 16, 4, 0.01, 1).Data))
	for _, weights := range []string{"one", "self-tuning", "umap", "gauss", "jaccard", "heat --distance angle", "heat --distance cosine", "one --distance angle"} {
		for _, symmetry := range []string{"either", "both", "sum"} {
			t.Run(weights+" "+symmetry, func(t *testing.T) {
				settings := fmt.Sprintf("X.npy --neighbors 6 --weights %s --symmetry %s -q", weights, symmetry)
				must(t, os.RemoveAll("exact"))
				succeed(t, words("graph %s --parts 3 --overlap 3 --work exact -o got.npz", settings)...)
				succeed(t, words("graph %s --method brute -o exact.npz", settings)...)
				out := bigfit(t, "diff", "got.npz", "exact.npz").out
				if !strings.Contains(out, "method") || strings.Contains(out, "edges:") || strings.Contains(out, "weights:") {
					t.Error(out)
				}
			})
		}
	}
}

// A process that is killed at any step of writing leaves a folder from which the same
// command goes on, to the same bits.
func TestPartsKilled(t *testing.T) {
	testmode.Campaign(t)
	intoParted(t)
	steps := []int{3, 9, 14, 22, 31, 47, 60, 75, 90, 110}
	if soak {
		steps = nil
		for n := 1; n < 400; n++ {
			steps = append(steps, n)
		}
	}
	kills := 0
	for i, n := range steps {
		when := []string{"before", "after"}[i%2]
		if i%3 == 0 {
			must(t, os.RemoveAll("killed"))
		}
		if killAt(t, fmt.Sprintf("%s %d", when, n), words("graph %s --work killed -o got.npz -q", parted)...) {
			kills++
		}
		if i%3 != 2 && i < len(steps)-1 {
			continue // the next one goes on and is killed too
		}
		// A process of its own, as one looks for temporary files in a folder once.
		killAt(t, "never", words("graph %s --work killed -o got.npz -q", parted)...)
		same(t, fmt.Sprintf("killed %s %d", when, n), "got.npz")
	}
	if kills < len(steps)/2 {
		t.Errorf("%d of %d processes were killed", kills, len(steps))
	}
	if left := hidden(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	// One part of a job array is killed and made again.
	succeed(t, words("graph %s --work array --divide -q", parted)...)
	for p := range 5 {
		if p == 2 && !killAt(t, "before 4", words("graph --work array --part 2 -q")...) {
			t.Error("part 2 was not killed")
		} else if p != 2 {
			succeed(t, words("graph --work array --part %d -q", p)...)
		}
	}
	if out := succeed(t, words("graph --work array --part missing -q")...); out != "2\n" {
		t.Errorf("missing: %q", out)
	}
	fail(t, 2, []string{"1 of 5 parts are missing: 2", "--work array --part 2"}, words("graph --work array --merge -o got.npz -q")...)
	succeed(t, words("graph --work array --part 2 -q")...)
	succeed(t, words("graph --work array --merge -o got.npz -q")...)
	same(t, "array", "got.npz")
}

// Job scripts run: by GNU parallel, by a sbatch and srun that stand for Slurm's, by ranks of MPI.
// TestSlurm runs them by Slurm itself.
func TestPartsScripts(t *testing.T) {
	testmode.Campaign(t)
	intoParted(t)
	self, err := os.Executable()
	must(t, err)
	must(t, os.Mkdir("bin", 0o777))
	program := func(name, text string) {
		must(t, os.WriteFile(filepath.Join("bin", name), []byte("#!/bin/sh\n"+text), 0o755))
	}
	program("bigfit", fmt.Sprintf("%s=never exec %q \"$@\"\n", killVariable, self))
	// A job array: each task once, the last first; wrapped commands run by sh.
	program("sbatch", `n=
for a in "$@"; do case "$a" in --array=0-*) n=${a#--array=0-};; esac; line=$a; done
if [ -z "$n" ]; then sh -c "$line" >&2 || exit 1; else
while [ "$n" -ge 0 ]; do SLURM_ARRAY_TASK_ID=$n sh -c "$line" >&2 || exit 1; n=$((n-1)); done; fi
echo 17
`)
	// PBS reads the job from stdin, and LSF counts from 1. Both refuse a job that asks for no memory, time or cores.
	program("qsub", `n= place= wall=
while [ $# -gt 0 ]; do case "$1" in
	-V) shift; continue;; -N|-W) ;;
	-J) n=${2#0-};;
	-l) case "$2" in select=1:ncpus=[1-9]*:mem=[1-9]*mb) place=1;; walltime=00:10:00) wall=1;; *) exit 1;; esac;;
	*) exit 1;; esac; shift 2; done
[ -n "$place" ] && [ -n "$wall" ] || exit 1
cat > job.$$
here=$PWD; cd /
if [ -z "$n" ]; then PBS_O_WORKDIR=$here sh "$here/job.$$" >&2 || exit 1; else
while [ "$n" -ge 0 ]; do PBS_O_WORKDIR=$here PBS_ARRAY_INDEX=$n sh "$here/job.$$" >&2 || exit 1; n=$((n-1)); done; fi
rm "$here/job.$$"
echo 17.server
`)
	program("bsub", `n=0 all=
while [ $# -gt 1 ]; do case "$1" in
	-J) case "$2" in *"[1-"*"]") n=${2##*-}; n=${n%]};; esac;;
	-n|-R|-W) all="$all$1";; -M) case "$2" in [1-9]*MB) all="$all$1";; esac;;
	-w) [ "$2" = "done(17)" ] || exit 1;;
	*) exit 1;; esac; shift 2; done
[ "$all" = "-n-R-M-W" ] || exit 1
if [ $n = 0 ]; then LSB_JOBINDEX=0 sh -c "$1" >&2 || exit 1; fi
while [ $n -gt 0 ]; do LSB_JOBINDEX=$n sh -c "$1" >&2 || exit 1; n=$((n-1)); done
echo 'Job <17> is submitted to default queue <normal>.'
`)
	program("srun", `n=$2; shift 2; r=0
while [ $r -lt $n ]; do SLURM_PROCID=$r SLURM_NTASKS=$n "$@" & r=$((r+1)); done; wait
`)
	bin, err := filepath.Abs("bin")
	must(t, err)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	run := func(script string) string {
		t.Helper()
		out, err := exec.Command("sh", "-c", script).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, script, out)
		}
		return string(out)
	}
	kinds := []string{"slurm", "pbs", "lsf"}
	if _, err := exec.LookPath("parallel"); err == nil {
		kinds = append(kinds, "parallel")
	}
	for _, kind := range kinds {
		run(succeed(t, words("graph %s --work %s -o %s.npz --print-script %s -q", parted, kind, kind, kind)...))
		same(t, kind, kind+".npz")
	}
	// Names that shells, GNU parallel and terminals would change, one after the other.
	for i, name := range []string{"a b", `it's "$HOME" \\ *`, "{} {#} {.} {1}", "#tag; exit 1", "-work", "zero\u200bwidth", "{last}{env}"} {
		for _, kind := range kinds {
			work, out := fmt.Sprintf("%s %s %d", name, kind, i), fmt.Sprintf("%s %s %d.npz", name, kind, i)
			args := append(words("graph %s --print-script %s -q", parted, kind), "--work="+work, "--output="+out)
			run(succeed(t, args...))
			if !exists(out) {
				t.Errorf("%s: there is no %q", kind, out)
			}
		}
	}
	for _, name := range []string{"w\ntouch PWNED\n#", "tab\there", "escape\x1b[2J", "bytes\xff"} {
		for _, extra := range [][]string{nil, {"--json"}} {
			args := append(append(words("graph %s --print-script slurm -q", parted), "--work", name), extra...)
			o := bigfit(t, args...)
			if o.code != 2 || o.out != "" || !strings.Contains(o.stderr, "script cannot hold") {
				t.Errorf("%q: %+v", name, o)
			}
		}
	}
	run("bigfit graph " + parted + " --work ranks --divide -q && srun -n 2 bigfit graph --work ranks --part env -q && bigfit graph --work ranks --merge -o ranks.npz -q")
	same(t, "ranks", "ranks.npz")
	// By Open MPI, or what is in its place, and MPICH: ranks have the numbers of one or the other.
	asRoot(t)
	for _, launcher := range []string{"mpirun", "mpirun.mpich"} {
		if _, err := exec.LookPath(launcher); err != nil {
			t.Logf("%s is not installed (Debian: openmpi-bin, mpich)", launcher)
			continue
		}
		script := succeed(t, words("graph %s --work %s-ranks -o %s.npz --print-script mpirun -q", parted, launcher, launcher)...)
		const line = "mpirun ${RANKS:+-n $RANKS} env -u SLURM_ARRAY_TASK_ID -u SLURM_PROCID bigfit graph --work"
		if !strings.Contains(script, line) {
			t.Fatal(script)
		}
		said := run("export RANKS=2\n" + strings.Replace(script, "\nmpirun $", "\n"+launcher+" $", 1))
		if !strings.Contains(said, "0 to 4, 3 parts, as ") || !strings.Contains(said, "1 to 3, 2 parts, as ") {
			t.Error(said)
		}
		same(t, launcher, launcher+".npz")
	}
}

// asRoot lets Open MPI run as root, and more ranks than there are processors.
func asRoot(t *testing.T) {
	t.Helper()
	for _, name := range []string{"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"} {
		t.Setenv(name, "1")
	}
}

// Faults of flags and folders name the place and the remedy.
func TestPartsFaults(t *testing.T) {
	intoParted(t)
	for _, c := range []struct {
		code int
		want []string
		line string
	}{
		{2, []string{"--work"}, "graph X.npy --parts 4"},
		{2, []string{"--merge", "--parts"}, "graph X.npy --merge"},
		{2, []string{"--checkpoint", "--parts"}, "graph X.npy --parts 4 --work w --checkpoint c"},
		{2, []string{`--part is "5"`, "0 to 4"}, "graph --work once --part 5"},
		{2, []string{`--part is "x"`, "env"}, "graph --work once --part x"},
		{2, []string{"none of SLURM_ARRAY_TASK_ID, PBS_ARRAY_INDEX, LSB_JOBINDEX, OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID is set"}, "graph --work once --part env"},
		{2, []string{"another run", "overlap is 2, here 3", "--work"}, "graph " + parted + " --overlap 3 --work once"},
		{2, []string{"at most 240 parts"}, "graph X.npy --parts 1000 --work none"},
		{2, []string{"euclidean, angle or cosine"}, "graph X.npy --parts 4 --distance manhattan --work none"},
	} {
		for _, v := range []string{"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "LSB_JOBINDEX", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"} {
			t.Setenv(v, "")
		}
		fail(t, c.code, c.want, strings.Fields(c.line+" -q")...)
	}
	t.Setenv("PMI_RANK", "1")
	t.Setenv("PMI_SIZE", "2")
	succeed(t, words("graph %s --work env --divide -q", parted)...)
	if o := bigfit(t, words("graph --work env --part env")...); !strings.Contains(o.stderr, "1 to 3, 2 parts, as PMI_RANK is 1 of 2 processes") {
		t.Error(o.stderr)
	}
	t.Setenv("SLURM_PROCID", "0") // of the job that mpirun runs in
	if o := bigfit(t, words("graph --work env --part env")...); !strings.Contains(o.stderr, "as PMI_RANK is 1 of 2 processes") {
		t.Error(o.stderr)
	}
	t.Setenv("LSB_JOBINDEX", "0") // no array
	if o := bigfit(t, words("graph --work env --part env")...); !strings.Contains(o.stderr, "as PMI_RANK is 1 of 2 processes") {
		t.Error(o.stderr)
	}
	t.Setenv("LSB_JOBINDEX", "1")
	if o := bigfit(t, words("graph --work env --part env")...); !strings.Contains(o.stderr, "0, as LSB_JOBINDEX is 1") {
		t.Error(o.stderr)
	}
	t.Setenv("SLURM_ARRAY_TASK_ID", "4")
	if o := bigfit(t, words("graph --work env --part env")...); !strings.Contains(o.stderr, "4, as SLURM_ARRAY_TASK_ID is 4") {
		t.Error(o.stderr)
	}
	// A table that was changed, then points that were.
	succeed(t, words("graph %s --work cut --divide -q", parted)...)
	for p := range 5 {
		succeed(t, words("graph --work cut --part %d -q", p)...)
	}
	table := readFile(t, "cut/part-00001.npy")
	table[len(table)-1] ^= 1
	writeFile(t, "cut/part-00001.npy", table)
	fail(t, 2, []string{"part-00001.npy", "changed after it was written", "--work"}, words("graph --work cut --merge -o got.npz -q")...)
	x := synthetic.Manifold(partedPoints, 16, 4, 0.01, 1)
	// A job looks at the copies of the points of its part alone.
	succeed(t, words("graph %s --work nan --divide -q", parted)...)
	changed := ""
	for p := range 5 {
		name := fmt.Sprintf("nan/points-%05d.npy", p)
		copied := readFile(t, name)
		if at := bytes.Index(copied, numbers.Bytes(x.Row(1))); at >= 0 {
			binary.NativeEndian.PutUint32(copied[at+3*4:], math.Float32bits(float32(math.NaN())))
			writeFile(t, name, copied)
			changed = name
		}
	}
	refused := 0
	for p := range 5 {
		if o := bigfit(t, words("graph --work nan --part %d -q", p)...); strings.Contains(o.stderr, "point 1, column 3 is not finite") {
			refused++
		} else if o.code != 0 {
			t.Error(o.stderr)
		}
	}
	if refused != 2 {
		t.Errorf("%d parts saw the value that is not finite, and 2 have it", refused)
	}
	// The merge looks at all of them.
	must(t, os.RemoveAll("copies"))
	must(t, os.CopyFS("copies", os.DirFS("once")))
	writeFile(t, filepath.Join("copies", filepath.Base(changed)), readFile(t, changed))
	fail(t, 2, []string{filepath.Base(changed), "changed after it was written", "--work"}, words("graph --work copies --merge -o got.npz -q")...)
	x.Data[partedPoints*16-1] += 1
	must(t, npy.WriteFile("X.npy", []int{partedPoints, 16}, x.Data))
	fail(t, 2, []string{"another"}, words("graph --work once --merge -o got.npz -q")...)
}

// A plan is printed without a search, and what it announces holds.
func TestPartsPlan(t *testing.T) {
	intoParted(t)
	out := succeed(t, words("graph %s --work once --dry-run -q --json", parted)...)
	for _, want := range []string{`"parts":5`, `"points":` + strconv.Itoa(partedPoints), `"missing_parts":0`, `"memory_bytes":`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s lacks %s", out, want)
		}
	}
	out = succeed(t, words("graph %s --work new --dry-run -q", parted)...)
	if _, err := os.Stat("new/division.npz"); err == nil || !strings.Contains(out, "5 parts are to be made") {
		t.Errorf("%v: %s", err, out)
	}
}
