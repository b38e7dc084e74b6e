package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
)

// Systems solves linear systems by PETSc. It is a propagation.Solver.
type Systems struct{ *Settings }

// systemTask is the description of a linear system.
type systemTask struct {
	Graph      string  `json:"graph"` // folder of the matrix
	Nullity    int     `json:"nullity"`
	Tolerance  float64 `json:"tolerance"`
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
// after the other. A rank holds its rows of A, which it maps from a folder, and the levels of the
// preconditioner.
func (y Systems) Solve(ctx context.Context, s *propagation.System) (*mat.Dense, int, error) {
	n, c := s.B.Dims()
	d := &systemTask{Tolerance: s.Tolerance / 4, Iterations: s.Iterations}
	if err := y.announce(y.systemPlan(s.A, c)); err != nil {
		return nil, 0, err
	}
	py, err := findPython(PETSc, needsWide(int64(n), int64(s.A.NNZ()), y.ranks()))
	if err != nil {
		return nil, 0, err
	}
	t, err := y.newTask()
	if err != nil {
		return nil, 0, err
	}
	defer t.remove()
	d.Graph = t.path("matrix")
	if err := d.write(t, s); err != nil {
		return nil, 0, err
	}
	raw, err := y.launch(ctx, &worker{PETSc, py, t, d, func(e event) {
		if e.Event == "progress" {
			s.Report(cg.State{Iteration: e.Iteration, To: e.Converged, Columns: e.Wanted, Converged: e.Converged})
		}
	}})
	if err != nil {
		return nil, 0, err
	}
	var found systemResult
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, 0, fmt.Errorf("engine petsc: its result is not understood: %w", err)
	}
	y.note(fmt.Sprintf("%s: %d columns on %d ranks, up to %d iterations; read and prepared %.1f s, solved %.1f s", found.Version, c, y.ranks(), found.Iterations, found.Read, found.Solve))
	x, err := npy.Matrix(t.path("X.npy"), n, c)
	if err != nil {
		return nil, 0, err
	}
	return mat.NewDense(n, c, x), found.Iterations, nil
}

// write writes the matrix, the right-hand sides and room for the solution.
func (d *systemTask) write(t *task, s *propagation.System) error {
	n, c := s.B.Dims()
	if err := sparse.WriteFolder(d.Graph, s.A, nil); err != nil {
		return err
	}
	if err := npy.WriteFile(t.path("B.npy"), []int{n, c}, mat.DenseCopyOf(s.B).RawMatrix().Data); err != nil {
		return err
	}
	if s.Null != nil {
		if err := d.writeNull(t, s); err != nil {
			return err
		}
	}
	return npy.Reserve(t.path("X.npy"), []int{n, c})
}

// mostNull bounds the components whose null vectors PETSc is given.
const mostNull = 64

// writeNull writes the null vectors of components with a right-hand side. In others the
// solution is zero, with which the solver begins.
func (d *systemTask) writeNull(t *task, s *propagation.System) error {
	number := make([]int32, s.Null.Count())
	for i := range number {
		number[i] = -1
	}
	for i, id := range s.Null.Of {
		if number[id] < 0 && slices.ContainsFunc(s.B.RawRowView(i), func(v float64) bool { return v != 0 }) {
			number[id] = int32(d.Nullity)
			d.Nullity++
		}
	}
	if d.Nullity > mostNull {
		return fmt.Errorf("engine petsc: the graph has %d components with labels of several classes, and a singular system takes at most %d; leave --engine out", d.Nullity, mostNull)
	}
	of := make([]int32, len(s.Null.Of))
	for i, id := range s.Null.Of {
		of[i] = number[id]
	}
	if err := npy.WriteFile(t.path("weights.npy"), nil, s.Null.Weights); err != nil {
		return err
	}
	return npy.WriteFile(t.path("components.npy"), nil, of)
}

// systemPlan is the plan of a run.
func (y Systems) systemPlan(a *sparse.CSR, columns int) *Plan {
	n, entries, ranks := int64(a.Rows), int64(a.NNZ()), y.ranks()
	p := &Plan{Engine: PETSc, Method: "CG with BoomerAMG", Exchanged: exchangedBytes(n, entries, ranks)}
	// The levels of multigrid hold about as much again as the matrix.
	p.Bytes = pythonBytes + 2*matrixBytes(n, entries, ranks) + 8*8*n/int64(ranks)
	p.Disk = 8*n + 12*entries + 16*n*int64(columns)
	const iterations, products = 20, 8 // of a V-cycle and the matrix
	p.Seconds = float64(columns) * iterations * products * 2 * float64(entries) / float64(ranks) / graphRate
	return p
}
