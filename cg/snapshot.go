package cg

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/manifest"
	"github.com/bigfit/bigfit/internal/npy"
)

// Snapshot is the state of a run between two iterations. One given to
// OnCheckpoint is valid until the hook returns; Save keeps it.
type Snapshot struct{ r *run }

// snapshotState is everything but the blocks.
type snapshotState struct {
	System     string    `json:"system"`
	N          int       `json:"n"`
	Columns    int       `json:"columns"`
	Block      int       `json:"block"`
	Tolerance  float64   `json:"tolerance"`
	Norms      []float64 `json:"norms"`
	Iterations []int     `json:"iterations"`
	Residuals  []float64 `json:"residuals"`
	Cycles     int       `json:"cycles"`
	Cycle      int       `json:"cycle"`
	Worst      float64   `json:"worst"`
	State      State     `json:"state"`
	Active     []int     `json:"active"`
	Scale      []float64 `json:"scale"`
	Met        []bool    `json:"met"`
}

// Save writes the snapshot as a .npz file, whole or not at all. It takes 8n
// bytes for every right-hand side and twice that for every one in the block.
// system names the operator and the right-hand sides; Load asks for the same
// name.
func (s *Snapshot) Save(path, system string) error {
	r := s.r
	m, err := manifest.New(manifest.Snapshot, snapshotState{system, r.n, r.cols, r.Block, r.Tolerance, r.norms, r.out.Iterations, r.out.Residuals,
		r.out.Cycles, r.cycle, r.worst, r.state, r.active, r.scale, r.met}, nil)
	if err != nil {
		return err
	}
	text, err := m.Bytes()
	if err != nil {
		return err
	}
	entries := []npy.Entry{{Name: manifest.Name, Data: text}}
	for _, e := range []struct {
		name string
		x    *mat.Dense
	}{{"solution", r.out.X}, {"basis", r.q}, {"directions", r.p}, {"coefficients", r.c}} {
		raw := e.x.RawMatrix()
		entries = append(entries, npy.Entry{Name: e.name, Shape: []int{raw.Rows, raw.Cols}, Data: raw.Data})
	}
	return npy.WriteArchive(path, entries)
}

// LoadSnapshot reads a file written by Save for the same system. Limit bounds the
// memory in bytes if it is positive.
func LoadSnapshot(path, system string, limit int64) (*Snapshot, error) {
	a, err := npy.OpenArchive(path, limit)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	text, err := a.ReadBytes(manifest.Name)
	if err != nil {
		return nil, err
	}
	m, err := manifest.Parse(text, manifest.Snapshot, path)
	if err != nil {
		return nil, err
	}
	var st snapshotState
	if err := json.Unmarshal(m.Settings, &st); err != nil {
		return nil, fmt.Errorf("%s: the state in the manifest: %w", path, err)
	}
	if st.System != system {
		return nil, fmt.Errorf("%s: a checkpoint of another system; remove it to begin anew", path)
	}
	if !st.consistent() {
		return nil, fmt.Errorf("%s: the state in the manifest contradicts itself", path)
	}
	r := &run{plan: &plan{n: st.N, cols: st.Columns, Settings: Settings{Block: st.Block, Tolerance: st.Tolerance}}, norms: st.Norms,
		out:  &Result{Iterations: st.Iterations, Residuals: st.Residuals, Cycles: st.Cycles, Products: st.State.Products},
		from: st.State.From, to: st.State.To, cycle: st.Cycle, worst: st.Worst, state: st.State, active: st.Active, scale: st.Scale, met: st.Met}
	if r.out.X, err = readMatrix(a, "solution", st.N, st.Columns); err != nil {
		return nil, err
	}
	if r.c, err = readMatrix(a, "coefficients", -1, len(st.Active)); err != nil {
		return nil, err
	}
	rank, _ := r.c.Dims()
	if r.q, err = readMatrix(a, "basis", st.N, rank); err != nil {
		return nil, err
	}
	if r.p, err = readMatrix(a, "directions", st.N, rank); err != nil {
		return nil, err
	}
	return &Snapshot{r}, nil
}

// consistent reports whether the numbers of the state fit each other.
func (st *snapshotState) consistent() bool {
	from, to, k := st.State.From, st.State.To, len(st.Active)
	ok := st.N > 0 && st.Block > 0 && 0 <= from && from < to && from%st.Block == 0 && to == min(from+st.Block, st.Columns) && k > 0 && len(st.Scale) == k && len(st.Met) == k &&
		len(st.Norms) == st.Columns && len(st.Iterations) == st.Columns && len(st.Residuals) == st.Columns
	last := -1
	for _, j := range st.Active {
		ok = ok && j > last && j < to-from
		last = j
	}
	return ok
}

// readMatrix reads an array of the given shape; rows < 0 stands for any number.
func readMatrix(a *npy.Archive, name string, rows, cols int) (*mat.Dense, error) {
	x, err := a.Read(name)
	if err != nil {
		return nil, err
	}
	values, err := x.Float64s()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", a.Path(), name, err)
	}
	if len(x.Shape) == 2 && rows < 0 {
		rows = x.Shape[0]
	}
	if len(x.Shape) != 2 || x.Shape[0] != rows || x.Shape[1] != cols || rows < 1 || cols < 1 {
		return nil, fmt.Errorf("%s: %s has shape %v, it must be %d×%d", a.Path(), name, x.Shape, rows, cols)
	}
	return mat.NewDense(rows, cols, values), nil
}

// restore gives r the state of the snapshot, which cannot be used again.
func (s *Snapshot) restore(r *run) error {
	from := s.r
	if from == nil || from.q == nil {
		return errors.New("cg: the snapshot was used before")
	}
	if from.n != r.n || from.cols != r.cols || from.Block != r.Block || from.Tolerance != r.Tolerance || !slices.Equal(from.norms, r.norms) {
		return fmt.Errorf("cg: the snapshot is of %d right-hand sides of dimension %d in blocks of %d, tolerance %v; this run is of %d of dimension %d in blocks of %d, tolerance %v, or of other right-hand sides",
			from.cols, from.n, from.Block, from.Tolerance, r.cols, r.n, r.Block, r.Tolerance)
	}
	r.out, r.from, r.to, r.cycle, r.worst, r.state = from.out, from.from, from.to, from.cycle, from.worst, from.state
	r.active, r.scale, r.met, r.q, r.p, r.c = from.active, from.scale, from.met, from.q, from.p, from.c
	for j := range r.from {
		r.known[j] = true
	}
	from.q = nil
	return nil
}
