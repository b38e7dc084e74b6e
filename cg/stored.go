package cg

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/sparse"
)

// A factor file is a .npz archive of a factor of L + cI, L the Laplacian of a graph of n vertices. An exact
// factor of f fronts, with b places at the borders of all fronts and q numbers, and an approximate one with
// q edges have different members:
//
//	member      dtype    shape  meaning
//	order       int32    n      the vertex at each place of the order of elimination
//	outer       float64  n      exact: R^½ of each vertex; approximate: E at each place
//	fronts      int32    f+1    exact: the first place of each front, and n
//	ends        int64    f+1    exact: where the border of each front begins in border, and b
//	border      int32    b      exact: places behind a front that its elimination joins with it, ascending
//	panels      float64  q      exact: A⁻¹ above G of each front, row-major, each filled up to 8 rows
//	inner       float64  n      approximate: F at each place
//	ends        int64    n+1    approximate: where the column of each place begins in to, and q
//	to          int32    q      approximate: the place of the other end of an edge, a later one
//	weights     float32  q      approximate: the weight of the edge
//	manifest    uint8    any    JSON: format "bigfit factor", and storedFactor as settings
//
// The manifest has the hash of the graph, which binds the factor to it, and the hash of all arrays.
// A factor only preconditions: residuals of solutions are recomputed, so that even a forged factor makes
// no wrong solution.

// Factor is a factor of L + cI for the Laplacian L of a graph, to solve many systems with and to be kept in
// a file. It is a [Preconditioner] for Settings of [Laplacian], which takes it for any power of L + cI.
type Factor struct {
	Preconditioner
	made storedFactor
}

// storedFactor says what a factor is of.
type storedFactor struct {
	Method    Method      `json:"method"`
	Points    int         `json:"points"`
	Laplacian sparse.Kind `json:"laplacian"`
	Shift     float64     `json:"shift"`
	Graph     string      `json:"graph"` // its hash
	// Sum is the hash of the arrays.
	Sum string `json:"sum"`
}

// NewFactor makes the factor of l without its power: [Cholesky] where the graph has small separators, and
// [ApproximateCholesky] from a seed elsewhere. It costs what these methods say, with [FactorBytes] of
// memory, and a pass over the graph for its hash.
func NewFactor(l *sparse.Laplacian, seed uint64) *Factor {
	f := &Factor{made: describe(l)}
	made := form{deflated: true, copies: mostCopies, seed: seed, whole: true}
	f.made.Method, f.Preconditioner = precondition(l, Cholesky, made.factor)
	return f
}

// describe returns what a factor of l is of.
func describe(l *sparse.Laplacian) storedFactor {
	kind := l.Kind()
	if kind == sparse.RandomWalk {
		kind = sparse.Normalized // it acts like it
	}
	return storedFactor{Points: l.Dim(), Laplacian: kind, Shift: l.Shift(), Graph: data.HashPoints(l.Graph())}
}

// Method returns the method that made the factor: Cholesky or ApproximateCholesky.
func (f *Factor) Method() Method { return f.made.Method }

// fits returns an error unless f can be a factor of l. The hashes of the graphs are not compared: see
// [LoadFactor].
func (f *Factor) fits(l *sparse.Laplacian) error {
	kind := l.Kind()
	if kind == sparse.RandomWalk {
		kind = sparse.Normalized
	}
	if m := f.made; m.Points != l.Dim() || m.Laplacian != kind || m.Shift != l.Shift() {
		return fmt.Errorf("cg: the factor is of the %v Laplacian of %d points shifted by %v; the system has the %v "+
			"one of %d points shifted by %v: make the factor again", m.Laplacian, m.Points, m.Shift, kind, l.Dim(),
			l.Shift())
	}
	return nil
}

// Save writes the factor to a .npz file, whole or not at all.
func (f *Factor) Save(path string, files ...archive.Files) error {
	var arrays []archive.Array
	switch m := f.Preconditioner.(type) {
	case *exact:
		arrays = m.arrays()
	case *factors:
		arrays = m.arrays()
	}

	made := f.made
	sum, err := npy.Sum(arrays)
	if err != nil {
		return err
	}
	made.Sum = sum
	manifest, err := archive.New(archive.Factor, made, map[string]string{"graph": made.Graph}, files...)
	if err != nil {
		return err
	}
	text, err := manifest.Bytes()
	if err != nil {
		return err
	}
	return npy.WriteArchive(path, append(arrays, archive.Array{Name: archive.Name, Data: text}))
}

// arrays returns the factor as arrays of a file, without copies of its numbers.
func (m *exact) arrays() []archive.Array {
	fronts := []int32{0}
	ends := []int64{0}
	border := []int32{}
	panels := archive.Raw{DType: "float64"}
	for t, f := range m.fronts {
		fronts = append(fronts, int32(f.hi))
		border = append(border, f.border...)
		ends = append(ends, int64(len(border)))
		panels.Parts = append(panels.Parts, numbers.Bytes(m.panels[t]))
	}
	size := 0
	for _, p := range m.panels {
		size += len(p)
	}
	return []archive.Array{{Name: "order", Data: m.order}, {Name: "outer", Data: m.rootScale},
		{Name: "fronts", Data: fronts}, {Name: "ends", Data: ends}, {Name: "border", Data: border},
		{Name: "panels", Shape: []int{size}, Data: panels}}
}

// arrays returns the factor as arrays of a file.
func (m *factors) arrays() []archive.Array {
	to := make([]int32, len(m.columns))
	weights := make([]float32, len(m.columns))
	for i, e := range m.columns {
		to[i] = e.to
		weights[i] = e.weight
	}
	return []archive.Array{{Name: "order", Data: m.order}, {Name: "outer", Data: m.outer},
		{Name: "inner", Data: m.inner}, {Name: "ends", Data: m.ptr}, {Name: "to", Data: to},
		{Name: "weights", Data: weights}}
}

// LoadFactor reads the factor of l that [Factor.Save] wrote. A factor of another graph, kind of Laplacian or
// shift is an error, as is a file that was changed. A positive limit bounds the bytes of one array.
func LoadFactor(path string, l *sparse.Laplacian, limit int64) (*Factor, error) {
	a, err := npy.OpenArchive(path, limit)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	f := &Factor{}
	if _, err := a.Manifest(archive.Factor, &f.made); err != nil {
		return nil, err
	}
	want := describe(l)
	if err := f.fits(l); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if f.made.Graph != want.Graph {
		return nil, fmt.Errorf("%s: the factor is of another graph, with the hash %.12q and not %.12q; make it again "+
			"from this graph", path, f.made.Graph, want.Graph)
	}

	r := factorReader{archive: a, n: l.Dim()}
	switch f.made.Method {
	case Cholesky:
		f.Preconditioner = r.exact()
	case ApproximateCholesky:
		f.Preconditioner = r.approximate()
	default:
		return nil, fmt.Errorf("%s: a factor by the method %v is none that is stored; make it again", path,
			f.made.Method)
	}
	if err := r.check(f.made.Sum); err != nil {
		return nil, fmt.Errorf("%s: %w; make the factor again", path, err)
	}
	return f, nil
}

// factorReader reads the arrays of a factor and keeps the first error.
type factorReader struct {
	archive *npy.Archive
	n       int
	arrays  []archive.Array // as read, for their hash
	err     error
}

// array reads a one-dimensional array of a type; a length below 0 stands for any.
func array[T int32 | int64 | float32 | float64](r *factorReader, name, dtype string, length int) []T {
	if r.err != nil {
		return nil
	}
	if r.err = r.archive.Expect(name, dtype, length); r.err != nil {
		return nil
	}
	x, err := r.archive.Read(name)
	if err != nil {
		r.err = err
		return nil
	}
	values, ok := x.Data.([]T)
	if !ok {
		r.err = fmt.Errorf("%s is %s and must be %s", name, x, dtype)
		return nil
	}
	r.arrays = append(r.arrays, archive.Array{Name: name, Data: values})
	return values
}

// check returns the first error, or one if the arrays do not have the hash.
func (r *factorReader) check(sum string) error {
	if r.err != nil {
		return r.err
	}
	have, err := npy.Sum(r.arrays)
	if err == nil && have != sum {
		err = fmt.Errorf("the file was changed after it was written: its arrays have the hash %.12s…, its manifest "+
			"says %.12q", have, sum)
	}
	return err
}

// fail keeps an error unless there is one already.
func (r *factorReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// finite fails unless all numbers are finite.
func finite[T float32 | float64](r *factorReader, name string, values []T) {
	if i := slices.IndexFunc(values, func(v T) bool { return v-v != 0 }); i >= 0 {
		r.fail("element %d of %s is %v", i, name, values[i])
	}
}

// order reads the order of elimination, a permutation.
func (r *factorReader) order() []int32 {
	order := array[int32](r, "order", "int32", r.n)
	seen := make([]bool, r.n)
	for p, v := range order {
		if v < 0 || int(v) >= r.n || seen[v] {
			r.fail("order has vertex %d at place %d: it is no order of %d vertices", v, p, r.n)
			break
		}
		seen[v] = true
	}
	return order
}

// starts reads where lists begin, one more than there are lists; they ascend from 0.
func (r *factorReader) starts(length int) []int64 {
	ends := array[int64](r, "ends", "int64", length)
	for i, e := range ends {
		if i == 0 && e != 0 || i > 0 && e < ends[i-1] || e > math.MaxInt32*64 {
			r.fail("element %d of ends is %d; they must ascend from 0", i, e)
			break
		}
	}
	return ends
}

// exact reads an exact factor.
func (r *factorReader) exact() *exact {
	m := &exact{dissection: &dissection{order: r.order()}, rootScale: array[float64](r, "outer", "float64", r.n)}
	fronts := array[int32](r, "fronts", "int32", -1)
	if r.err == nil && (len(fronts) == 0 || fronts[0] != 0 || int(fronts[len(fronts)-1]) != r.n) {
		r.fail("fronts has %d elements; they must ascend from 0 to %d", len(fronts), r.n)
	}
	ends := r.starts(len(fronts))
	if r.err != nil {
		return m
	}
	border := array[int32](r, "border", "int32", int(ends[len(ends)-1]))

	// The sizes of the fronts say how many numbers there are.
	size := 0
	for t := range len(fronts) - 1 {
		if r.err != nil {
			return m
		}
		f := front{lo: int(fronts[t]), hi: int(fronts[t+1]), border: border[ends[t]:ends[t+1]]}
		r.checkFront(t, &f)
		m.fronts = append(m.fronts, f)
		own, rest := f.size()
		size += (panelRows(own) + panelRows(rest)) * own
		m.maxRows = max(m.maxRows, panelRows(own)+panelRows(rest))
	}
	panels := array[float64](r, "panels", "float64", size)
	finite(r, "outer", m.rootScale)
	finite(r, "panels", panels)
	if r.err != nil {
		return m
	}

	for t := range m.fronts {
		own, rest := m.fronts[t].size()
		length := (panelRows(own) + panelRows(rest)) * own
		m.panels = append(m.panels, panels[:length:length])
		panels = panels[length:]
	}
	return m
}

// checkFront fails unless the border of a front ascends behind it.
func (r *factorReader) checkFront(t int, f *front) {
	if f.hi < f.lo || f.hi > r.n {
		r.fail("fronts: front %d is from place %d to %d of %d", t, f.lo, f.hi, r.n)
		return
	}
	before := f.hi - 1
	for _, p := range f.border {
		if int(p) <= before || int(p) >= r.n {
			r.fail("the border of front %d has place %d; places must ascend from %d to %d", t, p, f.hi, r.n-1)
			return
		}
		before = int(p)
	}
}

// approximate reads an approximate factor.
func (r *factorReader) approximate() *factors {
	m := &factors{order: r.order(), outer: array[float64](r, "outer", "float64", r.n),
		inner: array[float64](r, "inner", "float64", r.n), ptr: r.starts(r.n + 1)}
	if r.err != nil {
		return m
	}
	size := int(m.ptr[r.n])
	to := array[int32](r, "to", "int32", size)
	weights := array[float32](r, "weights", "float32", size)
	finite(r, "outer", m.outer)
	finite(r, "inner", m.inner)
	finite(r, "weights", weights)
	if r.err != nil {
		return m
	}

	m.columns = make([]entry, size)
	for p := range r.n {
		for i := m.ptr[p]; i < m.ptr[p+1]; i++ {
			if int(to[i]) <= p || int(to[i]) >= r.n {
				r.fail("to: the column of place %d has an edge to place %d; places must be later, below %d", p, to[i], r.n)
				return m
			}
			m.columns[i] = entry{to[i], weights[i]}
		}
	}
	return m
}
