package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// needs skips a test where an engine is not installed.
func needs(t *testing.T, k Kind) {
	t.Helper()
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("mpirun is not installed (Debian: openmpi-bin)")
	}
	p, err := findPython(k, false)
	if err == nil {
		err = p.check(t.Context(), k)
	}
	if err != nil {
		t.Skip(err)
	}
}

// rings are graphs of so many components: circles with random chords and weights, a vertex
// with itself among them.
func rings(components, size int) *sparse.CSR {
	rng := rand.New(rand.NewPCG(7, 9))
	var i, j []int32
	var v []float64
	add := func(a, b int, w float64) {
		i, j, v = append(i, int32(a), int32(b)), append(j, int32(b), int32(a)), append(v, w, w)
	}
	for c := range components {
		first := c * size
		for p := range size {
			add(first+p, first+(p+1)%size, 0.5+rng.Float64())
			add(first+p, first+rng.IntN(size), rng.Float64())
		}
	}
	w, err := sparse.FromTriplets(components*size, components*size, i, j, v)
	if err != nil {
		panic(err)
	}
	return w
}

// settings run ranks with a folder for the test.
func settings(t *testing.T, ranks int) *Settings {
	return &Settings{Ranks: ranks, Beside: filepath.Join(t.TempDir(), "out")}
}

// distance is the sine of the largest angle between the spaces of orthonormal columns.
func distance(a, b *mat.Dense) float64 {
	var c, rest mat.Dense
	c.Mul(a.T(), b)
	rest.Mul(a, &c)
	rest.Sub(b, &rest)
	return mat.Norm(&rest, 2)
}

// ourPairs returns the normalized Laplacian of w and its k smallest eigenpairs, with the
// settings by which they were computed here.
func ourPairs(t *testing.T, w *sparse.CSR, k int) (*sparse.Laplacian, *lanczos.Settings, *lanczos.Result) {
	t.Helper()
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	set := &lanczos.Settings{K: k, Tolerance: 1e-9}
	want, err := lanczos.Laplacian(t.Context(), l, w.Components(), set)
	if err != nil {
		t.Fatal(err)
	}
	return l, set, want
}

// From some tens of pairs on a filter finds them; where its cut is too low, Krylov–Schur.
func TestFilter(t *testing.T) {
	needs(t, SLEPc)
	const k = 60
	w := rings(2, 1000)
	l, set, want := ourPairs(t, w, k)
	for _, c := range []struct {
		share  float64 // of the estimated cut
		method string
	}{{1, "filter"}, {0.7, "krylov"}} {
		o, err := lanczos.NewExternalTask(l, w.Components(), set, true)
		if err != nil {
			t.Fatal(err)
		}
		o.Cut *= c.share
		got, err := settings(t, 2).Eigenpairs(t.Context(), o, "", 60)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.By, c.method) {
			t.Errorf("with %v of the cut: found by %s, want %s", c.share, got.By, c.method)
		}
		if d := distance(want.Vectors, got.Vectors); !(d <= 1e-7) || len(got.Values) != k {
			t.Errorf("by %s: %d pairs, the spaces are %.1e apart", c.method, len(got.Values), d)
		}
	}
}

func TestEigenpairs(t *testing.T) {
	needs(t, SLEPc)
	for _, c := range []struct {
		kind       sparse.Kind
		components int
		size, k    int
		ranks      int
		folder     bool
	}{
		{sparse.Normalized, 1, 2100, 6, 1, false}, {sparse.Combinatorial, 1, 2100, 6, 2, true}, {sparse.Normalized, 1, 2100, 6, 4, true},
		{sparse.Combinatorial, 1, 2100, 6, 4, false}, {sparse.RandomWalk, 28, 80, 34, 2, false}, {sparse.Combinatorial, 28, 80, 20, 2, false},
	} {
		t.Run(fmt.Sprintf("%v of %d components on %d ranks", c.kind, c.components, c.ranks), func(t *testing.T) {
			w := rings(c.components, c.size)
			l, err := sparse.NewLaplacian(w, c.kind)
			if err != nil {
				t.Fatal(err)
			}
			set := &lanczos.Settings{K: c.k, Tolerance: 1e-9}
			want, err := lanczos.Laplacian(t.Context(), l, w.Components(), set)
			if err != nil {
				t.Fatal(err)
			}
			o, err := lanczos.NewExternalTask(l, w.Components(), set, !c.folder)
			if err != nil {
				t.Fatal(err)
			}
			s, folder := settings(t, c.ranks), ""
			if c.folder {
				folder = filepath.Join(t.TempDir(), "graph")
				if err := sparse.WriteFolder(folder, w, nil); err != nil {
					t.Fatal(err)
				}
			}
			got, err := s.Eigenpairs(t.Context(), o, folder, 60)
			if err != nil {
				t.Fatal(err)
			}
			if got.Nullity != min(c.components, c.k) || len(got.Values) != c.k || !(got.Orthogonality <= 1e-10) || !(got.MaxResidual() <= 1e-9*got.Norm) {
				t.Errorf("%d pairs, %d null vectors, residual %.1e, orthogonality %.1e", len(got.Values), got.Nullity, got.MaxResidual(), got.Orthogonality)
			}
			for j, v := range want.Values {
				if !(math.Abs(got.Values[j]-v) <= 1e-10*got.Norm) {
					t.Errorf("value %d is %v, want %v", j, got.Values[j], v)
				}
			}
			a, b := mat.DenseCopyOf(want.Vectors), mat.DenseCopyOf(got.Vectors)
			if c.kind == sparse.RandomWalk { // orthonormal with the weights of the degrees
				for i, d := range l.Degrees() {
					for j := range c.k {
						a.Set(i, j, a.At(i, j)*math.Sqrt(d))
						b.Set(i, j, b.At(i, j)*math.Sqrt(d))
					}
				}
			}
			if d := distance(a, b); !(d <= 1e-7) {
				t.Errorf("the spaces are %.1e apart", d)
			}
			if left, _ := os.ReadDir(filepath.Dir(s.Beside)); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

// TestWrongAnswers changes what an engine found: the check must see it.
func TestWrongAnswers(t *testing.T) {
	w := rings(1, 2100)
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	set := &lanczos.Settings{K: 7}
	true7, err := lanczos.Laplacian(t.Context(), l, w.Components(), set)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		k    int
		take func(j int) int
		says string
	}{
		"all":      {7, func(j int) int { return j + 1 }, ""},
		"left out": {6, func(j int) int { return []int{1, 2, 4, 5, 6}[j] }, "left out"},
		"twice":    {6, func(j int) int { return []int{1, 2, 2, 3, 4}[j] }, "not orthonormal"},
		"too few":  {7, func(j int) int { return j + 1 }, "found 6 of 7"},
	} {
		o, err := lanczos.NewExternalTask(l, w.Components(), &lanczos.Settings{K: c.k}, false)
		if err != nil {
			t.Fatal(err)
		}
		q := o.Wanted
		if name == "too few" {
			q--
		}
		x := mat.NewDense(2100, q, nil)
		for i := range 2100 {
			for j := range q {
				x.Set(i, j, true7.Vectors.At(i, c.take(j)))
			}
		}
		if name == "all" {
			o.Spill(t.TempDir(), 1) // through files
		}
		r, err := o.Finish(t.Context(), x)
		if c.says == "" {
			if err != nil || math.IsInf(r.Certificate.Next, 0) {
				t.Errorf("%s: %v", name, err)
			}
		} else if !errors.Is(err, lanczos.ErrNotConverged) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestKilledRank kills one rank of a long run.
func TestKilledRank(t *testing.T) {
	testmode.Campaign(t)
	needs(t, SLEPc)
	w := rings(1, 60000)
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	o, err := lanczos.NewExternalTask(l, w.Components(), &lanczos.Settings{K: 80}, false)
	if err != nil {
		t.Fatal(err)
	}
	s := settings(t, 2)
	pids := make(chan [2]int, 1)
	go func() {
		at := regexp.MustCompile(`as process ([0-9]+)`)
		var pid [2]int
		for range 3000 {
			for r := range pid {
				logs, _ := filepath.Glob(filepath.Join(filepath.Dir(s.Beside), ".*", fmt.Sprintf("rank-%d.log", r)))
				if len(logs) == 1 {
					text, _ := os.ReadFile(logs[0])
					if m := at.FindStringSubmatch(string(text)); m != nil && strings.Contains(string(text), "rows ") {
						pid[r], _ = strconv.Atoi(m[1])
					}
				}
			}
			if pid[0] > 0 && pid[1] > 0 {
				_ = signal(pid[1], os.Kill)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		pids <- pid
	}()
	_, err = s.Eigenpairs(t.Context(), o, "", 60)
	pid := <-pids
	var dead *RankError
	if !errors.As(err, &dead) || dead.Rank != 1 || dead.Host == "" || dead.Last == "" || !strings.Contains(dead.Why, "signal 9") {
		t.Fatalf("error %v, want that of rank 1 with its host and last words", err)
	}
	for range 500 {
		if signal(pid[0], syscall.Signal(0)) != nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if signal(pid[0], syscall.Signal(0)) == nil {
		t.Errorf("rank 0, process %d, goes on", pid[0])
	}
	if left, _ := os.ReadDir(filepath.Dir(s.Beside)); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// signal sends a signal to a process by its number.
func signal(pid int, s os.Signal) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer p.Release()
	return p.Signal(s)
}

// A task that cannot be written is a fault of the run, whatever the system says about the path.
func TestTaskNotWritten(t *testing.T) {
	gone := filepath.Join(t.TempDir(), "gone")
	p := &python{path: "python3"}
	_, err := (&Settings{}).launch(t.Context(), &worker{PETSc, p, &task{folder: gone}, nil, nil})
	var fault *RunError
	if !errors.As(err, &fault) || fault.Engine != PETSc || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v, want a RunError about %s", err, gone)
	}
}

func TestMissing(t *testing.T) {
	needs(t, PETSc)
	fake := filepath.Join(t.TempDir(), "python3")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\necho numpy >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(PythonVariable, fake)
	p, err := findPython(SLEPc, false)
	if err != nil {
		t.Fatal(err)
	}
	_, err = settings(t, 1).launch(t.Context(), &worker{SLEPc, p, &task{folder: t.TempDir()}, nil, nil})
	var missing *MissingError
	if !errors.As(err, &missing) {
		t.Fatal(err)
	}
	for _, part := range []string{"numpy", fake, "python3-slepc4py", "python3-petsc4py", "openmpi-bin", "python3-slepc4py-64-real"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not name %s", err, part)
		}
	}
	t.Setenv(PythonVariable, filepath.Join(t.TempDir(), "none"))
	if _, err := findPython(PETSc, true); !errors.As(err, &missing) || strings.Contains(err.Error(), "slepc4py") {
		t.Error(err)
	}
}

func TestMissingLauncher(t *testing.T) {
	needs(t, PETSc)
	s := settings(t, 2)
	s.Launcher = "no-such-launcher --flag"
	b := mat.NewDense(10, 1, nil)
	b.Set(3, 0, 1)
	system := &propagation.System{A: rings(1, 10), B: b, Tolerance: 1e-8, Iterations: 10}
	_, _, err := Systems{s}.Solve(t.Context(), system)
	if !errors.As(err, new(*MissingError)) || !strings.Contains(err.Error(), "no-such-launcher was not found in the path; install it") {
		t.Error(err)
	}
	s.Ranks = 11
	if _, _, err := (Systems{s}).Solve(t.Context(), system); err == nil || !strings.Contains(err.Error(), "11 ranks are asked for and there are 10 points") {
		t.Error(err)
	}
}

// Many components, some without labels: a system of all classes in few columns, with a null
// vector for each component.
func TestPacked(t *testing.T) {
	needs(t, PETSc)
	w := rings(90, 24)
	labels := &data.Labels{Classes: []int64{0, 1, 2, 3, 4}, Index: make([]int32, w.Rows)}
	for i := range labels.Index {
		labels.Index[i] = data.Unlabeled
		if c := i / 24; c%10 != 7 && i%6 == 1 {
			labels.Index[i] = int32((c + i/6%2) % 5)
		}
	}
	y, err := models.ClassTargets(labels)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []propagation.Method{propagation.Harmonic, propagation.Poisson} {
		s := propagation.Settings{Method: method, Tolerance: 1e-10}
		want, err := propagation.Fit(t.Context(), w, nil, y, &s)
		if err != nil {
			t.Fatal(err)
		}
		solver := &packed{Systems: Systems{settings(t, 2)}}
		s.Solver = solver
		got, err := propagation.Fit(t.Context(), w, nil, y, &s)
		if err != nil {
			t.Fatalf("%v: %v", method, err)
		}
		var gap mat.Dense
		gap.Sub(want.Scores, got.Scores)
		if largest := mat.Norm(&gap, math.Inf(1)); !(largest <= 1e-7*mat.Norm(want.Scores, math.Inf(1))) {
			t.Errorf("%v: the scores are %.1e apart", method, largest)
		}
		if solver.columns != 5 || solver.width >= 5 {
			t.Errorf("%v: %d columns in %d", method, solver.columns, solver.width)
		}
	}
}

// packed notes how the columns of a system were packed.
type packed struct {
	Systems
	columns, width int
}

func (p *packed) Solve(ctx context.Context, s *propagation.System) (*mat.Dense, int, error) {
	pack := newPacking(s)
	p.columns, p.width = pack.columns, pack.width
	return p.Systems.Solve(ctx, s)
}

// ringTargets labels a vertex in fifty, in three classes.
func ringTargets(t *testing.T, w *sparse.CSR) *models.Targets {
	t.Helper()
	labels := &data.Labels{Classes: []int64{0, 1, 2}, Index: make([]int32, w.Rows)}
	for i := range labels.Index {
		labels.Index[i] = data.Unlabeled
		if i%50 == 3 {
			labels.Index[i] = int32(i / 50 % 3)
		}
	}
	y, err := models.ClassTargets(labels)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// checkSystem compares scores that two ranks of PETSc find with ours.
func checkSystem(t *testing.T, w *sparse.CSR, y *models.Targets, s propagation.Settings) {
	t.Helper()
	s.Tolerance = 1e-10
	want, err := propagation.Fit(t.Context(), w, nil, y, &s)
	if err != nil {
		t.Fatal(err)
	}
	s.Solver = &Systems{settings(t, 2)}
	got, err := propagation.Fit(t.Context(), w, nil, y, &s)
	if err != nil {
		t.Fatalf("%v: %v", s.Method, err)
	}
	var gap mat.Dense
	gap.Sub(want.Scores, got.Scores)
	if largest := mat.Norm(&gap, math.Inf(1)); !(largest <= 1e-7*mat.Norm(want.Scores, math.Inf(1))) {
		t.Errorf("%v: the scores are %.1e apart", s.Method, largest)
	}
}

func TestSystems(t *testing.T) {
	needs(t, PETSc)
	w := rings(2, 700)
	y := ringTargets(t, w)
	for _, s := range []propagation.Settings{
		{Method: propagation.Harmonic}, {Method: propagation.LGC},
		{Method: propagation.Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 0.1}}, {Method: propagation.Poisson},
	} {
		checkSystem(t, w, y, s)
	}
	s := settings(t, 2)
	s.DryRun = true
	set := propagation.Settings{Solver: &Systems{s}}
	if _, err := propagation.Fit(context.Background(), w, nil, y, &set); !errors.Is(err, ErrDryRun) {
		t.Errorf("a dry run ends with %v", err)
	}
}

// TestDeaths reads what launchers say of a rank that died.
func TestDeaths(t *testing.T) {
	for text, want := range map[string]RankError{
		"mpirun noticed that process rank 3 with PID 12 on node n7 exited on signal 9 (Killed).": {Rank: 3, Host: "n7"},
		"=   RANK 2 PID 77 RUNNING AT host.org":                                                  {Rank: 2, Host: "host.org"},
		"srun: error: n12: task 5: Out Of Memory":                                                {Rank: 5, Host: "n12"},
		"  Process name: [[14932,1],1]":                                                          {Rank: 1},
	} {
		r := &run{task: &task{folder: t.TempDir()}, words: []string{"something", text}}
		if e := r.dead(); e == nil || e.Rank != want.Rank || e.Host != want.Host {
			t.Errorf("%q: %v", text, e)
		}
	}
}

// Where srun and Open MPI do not come together, the error says what does.
func TestWithoutPMI(t *testing.T) {
	for _, text := range []string{
		"but OMPI was not built with SLURM's PMI support and therefore cannot\nsrun: error: vm: tasks 0-1: Exited with exit code 1",
		"srun: error: mpi/pmix_v4: init: (null) [0]: mpi_pmix.c:195: pmi/pmix: can not load PMIx library",
	} {
		r := &run{kind: SLEPc, task: &task{folder: t.TempDir()}, words: strings.Split(text, "\n")}
		_, err := r.outcome(t.Context(), errors.New("exit status 1"))
		var dead *RankError
		if !errors.As(err, &dead) || !strings.Contains(param.Plain(dead.Why), `launcher "srun --mpi=pmix"`) || dead.Last == "" {
			t.Error(err)
		}
	}
}

// The launcher of another MPI starts processes that know nothing of each other: an error, not the
// same work by each.
func TestOtherMPI(t *testing.T) {
	needs(t, PETSc)
	if _, err := exec.LookPath("mpirun.mpich"); err != nil {
		t.Skip("mpirun.mpich is not installed (Debian: mpich)")
	}
	s := settings(t, 2)
	s.Launcher = "mpirun.mpich"
	_, _, err := Systems{s}.Solve(t.Context(), &propagation.System{A: rings(1, 10), B: mat.NewDense(10, 1, []float64{1, -1, 0, 0, 0, 0, 0, 0, 0, 0}), Tolerance: 1e-8, Iterations: 10})
	var dead *RankError
	if !errors.As(err, &dead) || !strings.Contains(dead.Why, "knows 1 processes where 2 were started") {
		t.Error(err)
	}
}

// Debian's build with indices of 64 bits, which a rank with many entries takes, has the answers of
// that with 32.
func TestWide(t *testing.T) {
	needs(t, SLEPc)
	wide := DebianBuild(true)
	if len(wide) < 2 {
		t.Skip("there is no PETSc with 64-bit indices (Debian: python3-slepc4py-64-real, python3-petsc4py-64-real)")
	}
	for size, build := range map[string]bool{"4\n": false, "8\n": true} {
		p, err := findPython(SLEPc, build)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(p.path, "-c", "import numpy, slepc4py; slepc4py.init([]); from petsc4py import PETSc; from slepc4py import SLEPc; print(numpy.dtype(PETSc.IntType).itemsize)")
		cmd.Env = append(os.Environ(), p.env...)
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != size {
			t.Errorf("wide %v: %v, %q bytes an index", build, err, out)
		}
	}
	for _, v := range wide {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	const k = 6
	w := rings(2, 400)
	l, set, want := ourPairs(t, w, k)
	o, err := lanczos.NewExternalTask(l, w.Components(), set, true)
	if err != nil {
		t.Fatal(err)
	}
	got, err := settings(t, 2).Eigenpairs(t.Context(), o, "", 60)
	if err != nil {
		t.Fatal(err)
	}
	if d := distance(want.Vectors, got.Vectors); !(d <= 1e-7) || len(got.Values) != k || !strings.Contains(got.By, "64-bit") {
		t.Errorf("by %s: %d pairs, the spaces are %.1e apart", got.By, len(got.Values), d)
	}
	checkSystem(t, w, ringTargets(t, w), propagation.Settings{Method: propagation.Harmonic})
}
