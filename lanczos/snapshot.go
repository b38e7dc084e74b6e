package lanczos

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

// A snapshot file is a .npz archive. It holds everything that the next block depends on, so that a
// resumed run has the same bits. With n the dimension, q known vectors, m the largest basis and b
// the block:
//
//	member         dtype    shape        meaning
//	basis          float64  n×(q+m+b)    known vectors, basis, residual block; from q+size+b on unused; float32
//	                                     of a run with Settings.Single
//	projected      float64  m×m          the projected matrix T; the leading size×size part is in use
//	random         uint8    20           state of the PCG generator, as MarshalBinary writes it
//	manifest       uint8    any          JSON: format "bigfit snapshot", and snapshotState as settings
//
// The coupling R of the residual block is not stored: the next expansion computes it before
// it is used. snapshotState.Sum is a hash of the state and all arrays.

// Snapshot is the state of a run between two blocks. A Snapshot given to OnCheckpoint is valid
// until the hook returns; Save keeps it in a file.
type Snapshot struct{ k *krylov }

// ErrSnapshot means that the snapshot belongs to another run.
var ErrSnapshot = errors.New("lanczos: the snapshot is of another run")

// snapshotState holds all numbers of a snapshot outside the arrays.
type snapshotState struct {
	Operator  string  `json:"operator"`
	N         int     `json:"n"`
	K         int     `json:"k"`
	Known     int     `json:"known"`
	Nullity   int     `json:"nullity"`
	Basis     int     `json:"basis"`
	Block     int     `json:"block"`
	Largest   bool    `json:"largest"`
	Single    bool    `json:"single,omitempty"`
	Tolerance float64 `json:"tolerance"`
	Seed      uint64  `json:"seed"`
	Degree    int     `json:"degree"`
	Cut       float64 `json:"cut"`
	High      float64 `json:"high"`
	Sigma     float64 `json:"sigma,omitempty"`
	Low       float64 `json:"low"`
	Top       float64 `json:"top"`
	Norm      float64 `json:"norm"`
	Size      int     `json:"size"`
	Target    float64 `json:"target"`
	Widened   int     `json:"moved"`
	Kept      int     `json:"found,omitempty"`
	Unchecked float64 `json:"unchecked"`
	Looked    int     `json:"looked,omitempty"`
	Expected  int     `json:"expected,omitempty"`
	// Narrow says that polynomials were applied in single precision.
	Narrow bool  `json:"narrow,omitempty"`
	State  State `json:"state"`
	// Sum is the hash of the arrays and of all above.
	Sum string `json:"sum,omitempty"`
}

// Looked reports whether the basis was examined or compressed after the last block. That is a good
// moment to save, because the examination costs more than a block and is not repeated after a
// resumption.
func (s *Snapshot) Looked() bool { return s.k.unchecked == 0 }

// sum returns the hash of the state and the arrays.
func (st snapshotState) sum(arrays []archive.Array) (string, error) {
	st.Sum = ""
	text, err := json.Marshal(st)
	if err != nil {
		return "", err
	}
	return npy.Sum(append([]archive.Array{{Name: "state", Data: text}}, arrays...))
}

// Save writes the snapshot as a .npz file, whole or not at all. It takes about
// 8n(m + b) bytes, half of them with Settings.Single. operator names the operator; Load asks for the same name.
func (s *Snapshot) Save(path, operator string) error {
	k := s.k
	random, err := k.pcg.MarshalBinary()
	if err != nil {
		return err
	}
	t := k.t.RawMatrix()
	arrays := []archive.Array{
		k.v.array("basis"),
		{Name: "projected", Shape: []int{t.Rows, t.Cols}, Data: t.Data},
		{Name: "random", Data: random},
	}

	// The hash covers the state with an empty Sum, then the arrays.
	st := snapshotState{operator, k.n, k.K, k.known, k.Nullity, k.basis, k.block, k.Largest, k.Single,
		k.Tolerance, k.Seed,
		k.f.degree, k.f.lo, k.f.hi, k.f.sigma, k.low, k.high, k.norm, k.size, k.target, k.widened, k.kept,
		k.unchecked, k.looked, k.expected, k.m != nil, k.state, ""}
	if st.Sum, err = st.sum(arrays); err != nil {
		return err
	}
	m, err := archive.New(archive.Snapshot, st, nil)
	if err != nil {
		return err
	}

	text, err := m.Bare().Bytes()
	if err != nil {
		return err
	}
	return npy.WriteArchive(path, append(arrays, archive.Array{Name: archive.Name, Data: text}))
}

// LoadSnapshot reads a file written by Save for the same operator. Limit bounds
// the memory in bytes if it is positive.
func LoadSnapshot(path, operator string, limit int64) (*Snapshot, error) {
	a, err := npy.OpenArchive(path, limit)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var st snapshotState
	if _, err := a.Manifest(archive.Snapshot, &st); err != nil {
		return nil, err
	}
	if st.Operator != operator {
		return nil, fmt.Errorf("%s: a snapshot of another operator, %s; this run is of %s", path,
			st.Operator, operator)
	}

	// The shapes that the state asks for are compared with the headers before memory is taken.
	p := &plan{Settings: Settings{K: st.K, Largest: st.Largest, Single: st.Single, Tolerance: st.Tolerance, Seed: st.Seed},
		Nullity: st.Nullity, n: st.N, known: st.Known, wanted: st.K - st.Known, block: st.Block,
		basis: st.Basis, narrow: st.Narrow}
	k := &krylov{plan: p, f: filter{degree: st.Degree, lo: st.Cut, hi: st.High, sigma: st.Sigma}, low: st.Low,
		high: st.Top, norm: st.Norm, size: st.Size, target: st.Target, widened: st.Widened, kept: st.Kept,
		unchecked: st.Unchecked, looked: st.Looked, expected: st.Expected, state: st.State}
	columns := st.Known + st.Basis + st.Block
	dtype := "float64"
	if st.Single {
		dtype = "float32"
	}
	if err := errors.Join(a.Expect("basis", dtype, st.N, columns),
		a.Expect("projected", "float64", st.Basis, st.Basis)); err != nil {
		return nil, err
	}

	if st.Single {
		k.v, err = readSingle(a, "basis", st.N, columns)
	} else {
		var double *mat.Dense
		double, err = readMatrix(a, "basis", st.N, columns)
		k.v = wide(double)
	}
	if err != nil {
		return nil, err
	}
	if k.t, err = readMatrix(a, "projected", st.Basis, st.Basis); err != nil {
		return nil, err
	}
	random, err := a.ReadBytes("random")
	if err != nil {
		return nil, err
	}

	// Recompute the hash: a damaged basis would converge to something, and not to the pairs of this
	// run.
	sum, err := st.sum([]archive.Array{k.v.array("basis"),
		{Name: "projected", Shape: []int{st.Basis, st.Basis}, Data: k.t.RawMatrix().Data},
		{Name: "random", Data: random}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if sum != st.Sum {
		return nil, fmt.Errorf("%s: the checkpoint was changed after it was written (or an older "+
			"program wrote it): its content has the hash %.12s…, its manifest says %.12q", path, sum, st.Sum)
	}
	k.pcg = new(rand.PCG)
	if k.pcg.UnmarshalBinary(random) != nil {
		return nil, fmt.Errorf("%s: the state of the random numbers is not valid", path)
	}

	// The hash does not protect from a forged state; sizes that contradict each other would be a
	// panic later.
	k.rng = rand.New(k.pcg)
	if p.known < 0 || p.wanted < 1 || p.block < 1 || p.block > p.basis-p.wanted || k.size < 0 ||
		k.size+p.block > p.basis || !k.f.valid() {
		return nil, fmt.Errorf("%s: the state in the manifest contradicts itself", path)
	}
	return &Snapshot{k}, nil
}

func readMatrix(a *npy.Archive, name string, rows, cols int) (*mat.Dense, error) {
	if err := checkShape(a, name, rows, cols); err != nil {
		return nil, err
	}
	values, err := float64s(a, name)
	if err != nil {
		return nil, err
	}
	return mat.NewDense(rows, cols, values), nil
}

// readSingle reads a block of float32.
func readSingle(a *npy.Archive, name string, rows, cols int) (vectors, error) {
	if err := checkShape(a, name, rows, cols); err != nil {
		return vectors{}, err
	}
	array, err := a.Read(name)
	if err != nil {
		return vectors{}, err
	}
	values, ok := array.Data.([]float32)
	if !ok || len(values) != rows*cols {
		return vectors{}, fmt.Errorf("%s: %s is no %d×%d array of float32", a.Path(), name, rows, cols)
	}
	return vectors{single: blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: values}}, nil
}

// checkShape returns an error for a shape of a manifest that no matrix has.
func checkShape(a *npy.Archive, name string, rows, cols int) error {
	if rows < 1 || cols < 1 {
		return fmt.Errorf("%s: the manifest says that %s is %d×%d", a.Path(), name, rows, cols)
	}
	return nil
}

// array returns v, whose rows are adjacent, as a member of a file.
func (v vectors) array(name string) archive.Array {
	n, k := v.dims()
	a := archive.Array{Name: name, Shape: []int{n, k}, Data: v.single.Data}
	if v.double != nil {
		a.Data = v.double.RawMatrix().Data
	}
	return a
}

// continued returns the process with the operator and the hooks of p.
func (s *Snapshot) continued(a sparse.Operator, p *plan) (*krylov, error) {
	k := s.k
	if k == nil || k.v.none() {
		return nil, errors.New("lanczos: the snapshot was used before")
	}
	if k.n != p.n || k.K != p.K || k.Nullity != p.Nullity || k.Largest != p.Largest ||
		k.Single != p.Single || k.Tolerance != p.Tolerance || k.Seed != p.Seed {
		return nil, fmt.Errorf("%w: of %d pairs of dimension %d, tolerance %v, seed %d, largest %t, single %t; "+
			"this one is of %d pairs of dimension %d, tolerance %v, seed %d, largest %t, single %t",
			ErrSnapshot, k.K, k.n, k.Tolerance, k.Seed, k.Largest, k.Single, p.K, p.n, p.Tolerance, p.Seed, p.Largest,
			p.Single)
	}
	k.MaxRestarts = p.MaxRestarts
	k.OnRestart = p.OnRestart
	k.OnCheckpoint = p.OnCheckpoint

	// A factor is not stored, but made again from the operator.
	k.a = a
	if k.f.inverts() {
		l := p.mayInvert(a)
		if l == nil {
			return nil, fmt.Errorf("%w: it inverts a Laplacian, and this operator is none or there "+
				"is too little memory", ErrSnapshot)
		}
		k.f.inverse, _ = newInverter(l, k.f, k.plan)
	}

	k.narrow = k.narrow && p.narrow
	k.prepare()
	return k, nil
}
