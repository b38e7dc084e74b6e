package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
)

// Systems solves linear systems by PETSc. It is a propagation.Solver.
type Systems struct{ *Settings }

// systemTask is the description of a linear system.
type systemTask struct {
	Ranks      int     `json:"ranks"`
	Graph      string  `json:"graph"` // folder of the matrix
	Nullity    int     `json:"nullity"`
	Tolerance  float64 `json:"tolerance"` // of residuals
	Iterations int     `json:"iterations"`
}

// systemResult describes the solution that the ranks wrote.
type systemResult struct {
	Iterations int     `json:"iterations"`
	Version    string  `json:"version"`
	Read       float64 `json:"read_seconds"`
	Solve      float64 `json:"solve_seconds"`
}

// Solve solves a system by conjugate gradients with hypre's algebraic multigrid, one column
// after the other. Components of the matrix with different right-hand sides share columns
// ([packing]). A rank holds its rows of A, which it maps from a folder, and the levels of the
// preconditioner.
func (y Systems) Solve(ctx context.Context, s *propagation.System) (*mat.Dense, int, error) {
	n, _ := s.B.Dims()
	if err := y.fits(PETSc, n); err != nil {
		return nil, 0, err
	}
	pack := newPacking(s)
	if pack.width == 0 {
		return mat.NewDense(n, pack.columns, nil), 0, nil
	}
	if err := y.announce(y.systemPlan(int64(n), int64(s.A.NNZ()), pack.width)); err != nil {
		return nil, 0, err
	}

	// The task: the matrix as a folder, the packed right-hand sides, room for the solutions.
	py, err := findPython(PETSc, needsWide(int64(n), int64(s.A.NNZ()), y.ranks()))
	if err != nil {
		return nil, 0, err
	}
	t, err := y.newTask()
	if err != nil {
		return nil, 0, &RunError{PETSc, err}
	}
	defer t.remove()
	d := &systemTask{Ranks: y.ranks(), Graph: t.path("matrix"), Tolerance: s.Tolerance / 4,
		Iterations: s.Iterations}
	if err := d.write(t, s, pack); err != nil {
		return nil, 0, &RunError{PETSc, err}
	}

	// Columns are solved one after the other, and each ends with a progress.
	raw, err := y.launch(ctx, &worker{PETSc, py, t, d, func(e event) {
		if e.Event == "progress" {
			s.Report(cg.State{Iteration: e.Iteration, To: e.Converged, Columns: e.Wanted,
				Converged: e.Converged})
		}
	}})
	if err != nil {
		return nil, 0, err
	}
	var found systemResult
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, 0, &RunError{PETSc, fmt.Errorf("engine petsc: its result is not understood: %w", err)}
	}

	y.note(fmt.Sprintf("%s: %d columns in %d on %d ranks, up to %d iterations; read and prepared "+
		"%.1f s, solved %.1f s", found.Version, pack.columns, pack.width, y.ranks(), found.Iterations,
		found.Read, found.Solve))
	x, err := npy.Matrix(t.path("X.npy"), n, pack.width)
	if err != nil {
		return nil, 0, &RunError{PETSc, err}
	}
	return pack.unpack(x), found.Iterations, nil
}

// write writes the matrix and the right-hand sides, and reserves the file of the solution.
func (d *systemTask) write(t *task, s *propagation.System, p *packing) error {
	if err := sparse.WriteFolder(d.Graph, s.A, nil); err != nil {
		return err
	}
	shape := []int{len(p.Of), p.width}
	if err := npy.WriteFile(t.path("B.npy"), shape, p.pack(s.B)); err != nil {
		return err
	}

	if s.Null != nil {
		if err := d.writeNull(t, s.Null); err != nil {
			return err
		}
	}
	return npy.Reserve(t.path("X.npy"), shape)
}

// writeNull writes the null vectors, normalized, and their components. One array holds all null
// vectors, because each is zero outside of its component.
func (d *systemTask) writeNull(t *task, null *propagation.Null) error {
	d.Nullity = null.Count()
	norms := make([]float64, d.Nullity)
	for i, c := range null.Of {
		norms[c] += null.Weights[i] * null.Weights[i]
	}
	unit := make([]float64, len(null.Of))
	for i, c := range null.Of {
		if norms[c] > 0 {
			unit[i] = null.Weights[i] / math.Sqrt(norms[c])
		}
	}

	if err := npy.WriteFile(t.path("null.npy"), nil, unit); err != nil {
		return err
	}
	return npy.WriteFile(t.path("components.npy"), nil, null.Of)
}

// Foresee announces systems with the given numbers of points, entries and columns, for a dry run
// that does not make them, and ends it with [ErrDryRun].
func (y Systems) Foresee(n int, entries int64, columns int) error {
	if err := y.fits(PETSc, n); err != nil {
		return err
	}
	return y.announce(y.systemPlan(int64(n), entries, columns))
}

// systemPlan estimates what a run will take.
func (y Systems) systemPlan(n, entries int64, columns int) *Plan {
	ranks := y.ranks()
	p := &Plan{Engine: PETSc, Method: "CG with BoomerAMG", Exchanged: exchangedBytes(n, entries, ranks)}
	// The levels of multigrid hold about as much again as the matrix.
	p.Bytes = pythonBytes + 2*matrixBytes(n, entries, ranks) + 8*(8+int64(columns))*n/int64(ranks)
	p.Disk = 8*n + 12*entries + 16*n*int64(columns)

	// Multigrid takes some twenty iterations, and a V-cycle with the product about eight products
	// with the matrix.
	const iterations, products = 20, 8
	p.Seconds = float64(columns) * iterations * products * 2 * float64(entries) / float64(ranks) / graphRate
	return p
}
