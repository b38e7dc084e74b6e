// Package engine hands large tasks to programs that run under MPI: eigenpairs to SLEPc,
// linear systems to PETSc. A task is a folder with a graph in memory-mapped .npy files and a
// description; a worker in Python, embedded here, is started as several ranks by mpirun, srun
// or another launcher, maps its rows and writes its slice of the result. What comes back is
// checked by packages lanczos and cg.
//
// Balay et al., PETSc/TAO Users Manual, ANL-21/39; Hernandez, Roman & Vidal, ACM TOMS 31
// (2005), 351–362.
//
// # Design
//
// No numerics of this module run over MPI. Each rank seeks and writes its own rows of the
// result; if ranks mapped the file, two hosts would overwrite each other's parts of a page. The
// worker is common.py with slepc.py or petsc.py behind it, all embedded. A worker ends where
// MPI reports another number of ranks than were started. Ranks talk to the launcher's stdout
// in lines "bigfit: {…}", and the launcher's own sentences tell which rank was killed.
//
// An engine only returns vectors: [lanczos.ExternalTask] puts the null vectors in front and
// verifies the pairs as eigs --verify does. Where the pairs of the polynomial filter fail, the
// ranks run Krylov–Schur. [cg.Settings] has a hook that replaces the iterations, and cg
// recomputes the residuals. Package engine packs the columns of components that share no
// vertex. Models know an interface (propagation.Solver) and no engine.
//
// # Task folder
//
// A task is a folder beside the output, removed in the end. n is the number of points:
//
//	file            dtype    shape      meaning
//	job.json        text                the description: eigenTask or systemTask
//	worker.py       text                the program of the ranks
//	rank-N.log      text                notes of rank N with the time of each
//
//	eigenpairs:
//	graph/          folder   n×n        weights, a graph folder of package sparse; left out
//	                                    where the graph was read from a folder already
//	degrees.npy     float64  n          degrees of the vertices
//	components.npy  int32    n          component of each vertex
//	vectors.npy     float64  n×wanted   written by the ranks, each its rows
//
//	linear systems:
//	matrix/         folder   n×n        the matrix A, a graph folder of package sparse
//	B.npy           float64  n×columns  right-hand sides, packed
//	null.npy        float64  n          null vectors in one array, each zero outside its component
//	components.npy  int32    n          their components; both only for a singular matrix
//	X.npy           float64  n×columns  solutions, written by the ranks
package engine

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/stage"
)

// Kind names an engine.
type Kind int

const (
	// Ours is this program itself.
	Ours Kind = iota
	// SLEPc finds eigenpairs.
	SLEPc
	// PETSc solves linear systems.
	PETSc
)

var kinds = enum.New[Kind]("engine", "bigfit", "slepc", "petsc")

// String returns the name used on the command line.
func (k Kind) String() string { return kinds.String(k) }

// MarshalText returns the name.
func (k Kind) MarshalText() ([]byte, error) { return kinds.Marshal(k) }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(text []byte) error { return kinds.Unmarshal(k, text) }

var (
	//go:embed workers/common.py
	commonWorker string
	//go:embed workers/slepc.py
	slepcWorker string
	//go:embed workers/petsc.py
	petscWorker string
)

// Worker returns the program that the ranks of an engine run; "" for Ours.
func Worker(k Kind) string {
	switch k {
	case SLEPc:
		return commonWorker + slepcWorker
	case PETSc:
		return commonWorker + petscWorker
	}
	return ""
}

// Settings of a run.
type Settings struct {
	// Ranks is the number of processes. Default 1.
	Ranks int
	// Launcher starts them: a command that -n RANKS and the worker follow, or in which
	// {ranks} stands for their number. Default mpirun, with --oversubscribe where there are
	// more ranks than processors.
	Launcher string
	// Beside names the output. The folder of the task is made beside it, where all hosts must
	// see it, and removed in the end.
	Beside string
	// DryRun says what a run would take, and ends with [ErrDryRun] before it begins.
	DryRun bool
	// Observer is told about stages; nil for none.
	Observer stage.Observer
}

// ErrDryRun ends a dry run.
var ErrDryRun = fmt.Errorf("engine: nothing was run")

// ranks returns the number of processes.
func (s *Settings) ranks() int { return max(s.Ranks, 1) }

// fits refuses more ranks than a matrix has rows.
func (s *Settings) fits(k Kind, rows int) error {
	if s.ranks() > rows {
		return fmt.Errorf("engine %s: %d ranks are asked for and there are %d points to share; take "+
			"fewer ranks", k, s.ranks(), rows)
	}
	return nil
}

// command returns the launcher and its arguments, which the worker follows.
func (s *Settings) command() []string {
	n := fmt.Sprint(s.ranks())
	if strings.TrimSpace(s.Launcher) == "" {
		out := []string{"mpirun", "-n", n}
		if s.ranks() > runtime.NumCPU() {
			out = append(out, "--oversubscribe")
		}
		return out
	}

	if strings.Contains(s.Launcher, "{ranks}") {
		return strings.Fields(strings.ReplaceAll(s.Launcher, "{ranks}", n))
	}
	return append(strings.Fields(s.Launcher), "-n", n)
}

// Plan says what a run will take.
type Plan struct {
	Engine    Kind  `json:"engine"`
	Ranks     int   `json:"ranks"`
	Bytes     int64 `json:"rank_bytes"`     // of each rank, pages of mapped files left out
	Disk      int64 `json:"disk_bytes"`     // of the folder of the task
	Exchanged int64 `json:"exchange_bytes"` // of vector entries that a rank receives for a product, at most
	// Seconds are an estimate from constants that were measured on two cores: docs/scale.md.
	Seconds float64 `json:"seconds"`
	Method  string  `json:"method"`
	Command string  `json:"command"`
}

// String describes the plan in one line.
func (p *Plan) String() string {
	return fmt.Sprintf("%d ranks of %s, %s each, %s on disk, a rank receives up to %s for a product, "+
		"%s, about %s: %s",
		p.Ranks, p.Engine, machine.Size(p.Bytes), machine.Size(p.Disk), machine.Size(p.Exchanged), p.Method,
		choice.Duration(max(p.Seconds, 1)), p.Command)
}

// announce tells the plan, and ends a dry run.
func (s *Settings) announce(p *Plan) error {
	p.Ranks = s.ranks()
	p.Command = strings.Join(s.command(), " ")
	s.note("plan: " + p.String())
	if s.DryRun {
		return ErrDryRun
	}
	return nil
}

// matrixBytes returns the memory of a rank's rows of a matrix of n rows with the given number of
// entries, twice: as the rank makes them, and as PETSc copies them.
func matrixBytes(n, entries int64, ranks int) int64 {
	index := int64(4)
	if needsWide(n, entries, ranks) {
		index = 8
	}
	return 2 * (entries + n) / int64(ranks) * (8 + index)
}

// exchangedBytes bounds the entries of a vector, in bytes, that a rank receives for a product with
// such a matrix.
func exchangedBytes(n, entries int64, ranks int) int64 {
	return 8 * min(n-n/int64(ranks), entries/int64(ranks))
}

// pythonBytes is the memory of a rank that holds nothing yet, as measured: Python, NumPy and PETSc.
const pythonBytes = 75 << 20

// Operations a second of a rank, as measured on two cores: of products with a graph and with
// multigrid, and of products among vectors.
const (
	graphRate  = 1e9
	vectorRate = 1e10
)

// task is the folder of a run.
type task struct {
	folder string
	remove func()
}

// newTask makes the folder beside the output.
func (s *Settings) newTask() (*task, error) {
	target := s.Beside
	if target == "" {
		target = filepath.Join(os.TempDir(), "bigfit-engine")
	}
	dir, remove, err := atomicfile.TemporaryFolder(filepath.Clean(target))
	if err != nil {
		return nil, fmt.Errorf("engine: cannot make the folder of the task: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		remove()
		return nil, err
	}
	return &task{dir, remove}, nil
}

// path returns the path of a file of the task.
func (t *task) path(name string) string { return filepath.Join(t.folder, name) }
