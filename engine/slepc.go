package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// eigenTask describes the eigenpairs to find; see the file of the worker for the use of each
// number.
type eigenTask struct {
	Ranks     int     `json:"ranks"`
	Graph     string  `json:"graph"` // folder
	Laplacian string  `json:"laplacian"`
	Nullity   int     `json:"nullity"`
	Wanted    int     `json:"wanted"`
	Method    string  `json:"method"` // krylov or filter
	Tolerance float64 `json:"tolerance"`
	Restarts  int     `json:"restarts"`
	Norm      float64 `json:"norm"`
	Cut       float64 `json:"cut"`
	High      float64 `json:"high"`
	Degree    int     `json:"degree"`
}

// eigenResult describes the pairs that the ranks found.
type eigenResult struct {
	Values     []float64 `json:"values"`
	Iterations int       `json:"iterations"`
	Version    string    `json:"version"`
	Peak       float64   `json:"peak_bytes"`
	Read       float64   `json:"read_seconds"`
	Solve      float64   `json:"solve_seconds"`
	Write      float64   `json:"write_seconds"`
}

// Eigenpairs finds the pairs of a task by SLEPc. graph names the folder that the graph was read
// from, in the order of o; with "" one is written for the task. maxRestarts is as in
// lanczos.Settings.
//
// Each rank holds its rows of the Laplacian and its parts of about twice as many vectors as are
// wanted. The vectors come back through one .npy file, and [lanczos.ExternalTask.Finish] checks
// them. Its errors are returned; a rank that ended is a *[RankError], an engine that is not there a
// *[MissingError]. Where the polynomial filter found too few pairs, or the check finds a fault in
// them, Krylov–Schur is run.
func (s *Settings) Eigenpairs(ctx context.Context, o *lanczos.ExternalTask, graph string,
	maxRestarts int) (*lanczos.Result, error) {
	if o.Wanted == 0 {
		return o.Finish(ctx, nil)
	}
	w := o.Laplacian.Graph()
	if err := s.fits(SLEPc, w.Rows); err != nil {
		return nil, err
	}
	method, degree := chooseMethod(o)
	p := s.eigenPlan(o, method, degree, graph == "")
	if err := s.announce(p); err != nil {
		return nil, err
	}

	py, err := findPython(SLEPc, needsWide(int64(w.Rows), int64(w.NNZ()), s.ranks()))
	if err != nil {
		return nil, err
	}
	t, err := s.newTask()
	if err != nil {
		return nil, &RunError{SLEPc, err}
	}
	defer t.remove()

	// The ranks read the graph from a folder.
	if graph == "" {
		graph = t.path("graph")
		err = sparse.WriteFolder(graph, w, nil)
	} else {
		graph, err = filepath.Abs(graph)
	}

	if err != nil {
		return nil, &RunError{SLEPc, err}
	}
	if err := s.describe(t, o); err != nil {
		return nil, &RunError{SLEPc, err}
	}
	e := &eigenRun{Settings: s, o: o, python: py, task: t}
	e.settings = eigenTask{Ranks: s.ranks(), Graph: graph, Laplacian: o.Laplacian.Kind().String(),
		Nullity: o.Nullity, Wanted: o.Wanted, Method: method,
		Tolerance: o.Tolerance / 2, Restarts: max(maxRestarts, 1) * 50, Norm: o.Norm, Cut: o.Cut,
		High: o.High, Degree: degree}
	// The filter may miss pairs, as its cut is an estimate; the check tells.
	if method == filtered {
		r, err := e.pairs(ctx)
		if !errors.Is(err, lanczos.ErrNotConverged) {
			return r, err
		}
		s.note(fmt.Sprintf("Krylov–Schur is run, as the filter failed: %v", err))
		e.settings.Method = krylovSchur
	}

	return e.pairs(ctx)
}

// Methods of SLEPc.
const (
	krylovSchur = "krylov"
	filtered    = "filter"
)

// eigenRun is a run of the ranks and the check of what they found.
type eigenRun struct {
	*Settings
	o        *lanczos.ExternalTask
	python   *python
	task     *task
	settings eigenTask
}

// pairs runs the ranks with one method and checks the pairs that they found.
func (e *eigenRun) pairs(ctx context.Context) (*lanczos.Result, error) {
	o := e.o
	e.begin("slepc")
	raw, err := e.launch(ctx, &worker{SLEPc, e.python, e.task, &e.settings, e.progress})
	if err != nil {
		return nil, err
	}
	var found eigenResult
	if err := json.Unmarshal(raw, &found); err != nil {
		return nil, &RunError{SLEPc, fmt.Errorf("engine slepc: its result is not understood: %w", err)}
	}

	q := len(found.Values)
	e.end(fmt.Sprintf("%d of %d pairs by %s, %d restarts; read %.1f s, solved %.1f s, wrote %.1f s", q,
		o.Wanted, e.settings.Method, found.Iterations, found.Read, found.Solve, found.Write))
	if e.settings.Method == filtered && q < o.Wanted {
		return nil, fmt.Errorf("%w: %d of %d pairs lie below its cut", lanczos.ErrNotConverged, q, o.Wanted)
	}
	vectors, err := readVectors(e.task.path("vectors.npy"), o.Laplacian.Dim(), o.Wanted, q)
	if err != nil {
		return nil, &RunError{SLEPc, err}
	}

	e.begin("verify")
	r, err := o.Finish(ctx, vectors)
	if r != nil {
		r.Restarts = found.Iterations
		r.By = fmt.Sprintf("%s, %s, %d ranks", found.Version, e.settings.Method, e.ranks())
		e.end(r.String())
	}
	return r, err
}

// describe writes degrees and components, and reserves the file of the vectors.
func (s *Settings) describe(t *task, o *lanczos.ExternalTask) error {
	if err := npy.WriteFile(t.path("degrees.npy"), nil, o.Laplacian.Degrees()); err != nil {
		return err
	}
	if err := npy.WriteFile(t.path("components.npy"), nil, o.Components.Of); err != nil {
		return err
	}
	return npy.Reserve(t.path("vectors.npy"), []int{o.Laplacian.Dim(), o.Wanted})
}

// readVectors maps the first columns of an n×k file.
func readVectors(path string, n, k, columns int) (*mat.Dense, error) {
	if columns == 0 {
		return nil, nil
	}
	x, err := npy.Matrix(path, n, k)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(n, k, x).Slice(0, n, 0, min(columns, k)).(*mat.Dense), nil
}

// From filterFrom pairs on, SLEPc takes less time with a polynomial filter than by Krylov–Schur.
// The filter is about e^filterGrowth/2 at 0 and 1 at the cut. Both constants are measured:
// docs/scale.md.
const (
	filterFrom   = 50
	filterGrowth = 10.5
)

// chooseMethod decides between Krylov–Schur and the polynomial filter, and on its degree.
func chooseMethod(o *lanczos.ExternalTask) (method string, degree int) {
	if o.Wanted < filterFrom || !(o.Cut > 0) || !(o.Cut < o.High/2) {
		return krylovSchur, 0
	}
	return filtered, max(2, int(math.Ceil(filterGrowth/math.Acosh((o.High+o.Cut)/(o.High-o.Cut)))))
}

// krylovProducts guesses the products of Krylov–Schur from runs on neighbour graphs: some
// for every pair, growing with the root of ‖L‖ over the last eigenvalue.
func krylovProducts(o *lanczos.ExternalTask) float64 {
	return 4 * float64(o.Wanted) * math.Sqrt(o.High/math.Max(o.Cut, 1e-12*o.High))
}

// eigenPlan estimates what a run will take.
func (s *Settings) eigenPlan(o *lanczos.ExternalTask, method string, degree int, write bool) *Plan {
	w := o.Laplacian.Graph()
	n := int64(w.Rows)
	entries := int64(w.NNZ())
	ranks := s.ranks()
	subspace := int64(max(2*o.Wanted, o.Wanted+15))
	what := "Krylov–Schur"
	if method == filtered {
		what = fmt.Sprintf("filter of degree %d up to %.8g of %.8g", degree, o.Cut, o.High)
	}

	// A rank holds its rows of the matrix and of the subspace, and the vectors once more.
	p := &Plan{Engine: SLEPc, Method: what, Exchanged: exchangedBytes(n, entries, ranks)}
	p.Bytes = pythonBytes + matrixBytes(n, entries, ranks) +
		8*n/int64(ranks)*(subspace+2*int64(o.Wanted)+int64(o.Nullity))
	p.Disk = n * (12 + 8*int64(o.Wanted))
	if write {
		p.Disk += 8*n + 12*entries
	}
	p.Seconds = krylovProducts(o) * (2*float64(entries)/graphRate +
		8*float64(n)*float64(subspace)/vectorRate) / float64(ranks)
	return p
}
