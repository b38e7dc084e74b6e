package sparse

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/numbers"
)

// A graph .npz file is SciPy's form of a sparse matrix, with n rows and m entries:
//
//	member     dtype            shape  meaning
//	format     bytes            ()     "csr" as we write it; "csc" and "coo" are read too
//	shape      int64            2      rows, columns
//	indptr     int32 or int64   n+1    row i has the entries indptr[i] to indptr[i+1]−1
//	indices    int32            m      column of each entry
//	data       float64          m      value of each entry; 1 everywhere for a graph without weights
//	manifest ? uint8            any    JSON: settings and hashes of the inputs (package archive)
//
// For csc, indptr counts columns and indices are rows; for coo, row and col (m each) take the place
// of indptr and indices. Commands may add arrays; SciPy ignores them and the manifest.

// ReadNPZ reads a matrix that scipy.sparse.save_npz wrote in the form csr, csc
// or coo, with index arrays of any integer type and values of any real type or
// bool. Unsorted columns are sorted and duplicate entries summed (bool: or-ed)
// in the order of the file, as SciPy understands them; stored zeros stay. When
// every value is 1, Val is nil.
//
// A positive limit bounds the memory in bytes; beyond it the error is an
// *npy.LimitError. The result is valid: all of the file is checked, and an
// error names the file and the place.
func ReadNPZ(path string, limit int64) (*CSR, error) {
	a, err := npy.OpenArchive(path, limit)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return readMatrix(a, limit)
}

// SizeNPZ returns the extents of the matrix that [ReadNPZ] reads, and the bytes of memory that
// reading takes at its peak. It reads headers alone.
func SizeNPZ(path string) (rows, cols int, bytes int64, err error) {
	a, err := npy.OpenArchive(path, 0)
	if err != nil {
		return 0, 0, 0, err
	}
	defer a.Close()
	f, err := readForm(a)
	if err != nil {
		return 0, 0, 0, err
	}
	return f.rows, f.cols, f.memory(), nil
}

// WriteNPZ writes m so that scipy.sparse.load_npz opens it as csr_matrix: indices int32, indptr
// int32 if the number of entries fits and int64 if not, data float64. A manifest that is not nil
// becomes the additional array "manifest" of uint8; more are further arrays. SciPy ignores both.
// The file appears whole or not at all.
func WriteNPZ(path string, m *CSR, manifest []byte, more ...archive.Array) error {
	indptr := archive.Array{Name: "indptr", Data: m.Ptr}
	if m.NNZ() <= math.MaxInt32 {
		small := make([]int32, len(m.Ptr))
		for i, p := range m.Ptr {
			small[i] = int32(p)
		}
		indptr.Data = small
	}

	// A graph without weights is stored with ones, as SciPy needs values.
	values := archive.Array{Name: "data", Data: m.Val}
	if m.Val == nil {
		values.Data = archive.Repeat{Value: 1, Count: m.NNZ()}
	}
	entries := []archive.Array{
		{Name: "indices", Data: m.Col},
		indptr,
		{Name: "format", Data: "csr"},
		{Name: "shape", Data: []int64{int64(m.Rows), int64(m.Cols)}},
		values,
	}

	if manifest != nil {
		entries = append(entries, archive.Array{Name: "manifest", Data: manifest})
	}
	return npy.WriteArchive(path, append(entries, more...))
}

// A storedForm is how a matrix lies in an archive, by the headers of its arrays.
type storedForm struct {
	format     string // csr, csc or coo
	rows, cols int
	nnz        int
	bits       bool  // the entries are bool
	entry      int64 // bytes that an index and a value take, as decoded and as converted
}

// memory returns the bytes that reading takes at its peak: indices, values and pointers as decoded
// and as converted.
func (f *storedForm) memory() int64 {
	need := f.entry*(int64(f.nnz)+1) + 24*int64(f.rows)
	if f.format != "csr" {
		need += 24*int64(f.nnz) + 16*int64(f.cols)
	}
	return need
}

// readForm looks at the headers of an archive.
func readForm(a *npy.Archive) (*storedForm, error) {
	if !a.IsSparse() {
		return nil, fault(a, "not a SciPy sparse matrix: it holds the arrays %s; write one with "+
			"scipy.sparse.save_npz", strings.Join(a.Names(), ", "))
	}
	format, rows, cols, err := a.SparseForm()
	if err != nil {
		return nil, err
	}
	if format != "csr" && format != "csc" && format != "coo" {
		return nil, fault(a, "the matrix has the form %q; csr, csc and coo are read: convert it with "+
			".tocsr() before save_npz", format)
	}

	vh, err := a.Header("data")
	if err != nil {
		return nil, err
	}
	names := map[string]string{"csr": "indices", "csc": "indices", "coo": "col"}
	ih, err := a.Header(names[format])
	if err != nil {
		return nil, err
	}
	if len(vh.Shape) != 1 {
		return nil, fault(a, "array \"data\" has the shape %v, want one dimension", vh.Shape)
	}
	nnz := vh.Len()

	// Row pointers are not in files of the other forms, so a small file could claim any number of
	// rows. Their memory is bounded in proportion to the entries.
	if format != "csr" && rows > 1<<22 && rows/64 > nnz+cols {
		return nil, fault(a, "it claims %d rows but holds %d entries in the form %s; if that is "+
			"meant, convert it with .tocsr()", rows, nnz, format)
	}

	// int32 and float64 stay as they are; others are held beside their conversion.
	entry := int64(4 + 8)
	if ih.DType != "int32" {
		entry += 16
	}
	if vh.DType != "float64" {
		entry += 8
	}
	return &storedForm{format, rows, cols, nnz, vh.DType == "bool", entry}, nil
}

// readMatrix reads the matrix in an archive. It compares claims with the headers before it takes
// memory.
func readMatrix(a *npy.Archive, limit int64) (*CSR, error) {
	f, err := readForm(a)
	if err != nil {
		return nil, err
	}
	if need := f.memory(); limit > 0 && need > limit {
		return nil, &npy.LimitError{What: a.Path(), Need: need, Limit: limit}
	}

	var m *CSR
	switch f.format {
	case "csr":
		m, err = readCompressed(a, f.rows, f.cols, f.nnz, f.bits)
	case "csc":
		if m, err = readCompressed(a, f.cols, f.rows, f.nnz, f.bits); err == nil {
			m = flip(m)
		}
	default:
		m, err = readTriples(a, f.rows, f.cols, f.nnz, f.bits)
	}

	if err != nil {
		return nil, err
	}
	// Whatever the form, the result is checked as a matrix.
	if err := m.Validate(); err != nil {
		return nil, fault(a, "%s", strings.TrimPrefix(err.Error(), "sparse: "))
	}
	if allOnes(m.Val) {
		m.Val = nil
	}
	return m, nil
}

// fault is fmt.Errorf with the archive's path in front.
func fault(a *npy.Archive, format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{a.Path()}, args...)...)
}

// readInts reads an array of n integers.
func readInts(a *npy.Archive, name string, n int) ([]int64, error) {
	if err := wantLen(a, name, n); err != nil {
		return nil, err
	}
	x, err := a.Read(name)
	if err != nil {
		return nil, err
	}
	v, err := x.Int64s()
	if err != nil {
		return nil, fault(a, "array %q: %w", name, err)
	}
	return v, nil
}

// wantLen checks by its header that an array is one-dimensional of length n.
func wantLen(a *npy.Archive, name string, n int) error {
	h, err := a.Header(name)
	if err != nil {
		return err
	}
	if len(h.Shape) != 1 || h.Shape[0] != n {
		return fault(a, "array %q is %s, want %d elements", name, h, n)
	}
	return nil
}

// readIndices reads n integers in [0, bound) as int32.
func readIndices(a *npy.Archive, name string, n, bound int) ([]int32, error) {
	if err := wantLen(a, name, n); err != nil {
		return nil, err
	}
	x, err := a.Read(name)
	if err != nil {
		return nil, err
	}
	if v, ok := x.Data.([]int32); ok {
		for p, c := range v {
			if c < 0 || int(c) >= bound {
				return nil, fault(a, "array %q: element %d is %d, outside [0, %d)", name, p, c, bound)
			}
		}
		return v, nil
	}

	// Indices of other types are converted, if they fit.
	v, err := x.Int64s()
	if err != nil {
		return nil, fault(a, "array %q: %w", name, err)
	}
	out := make([]int32, n)
	for p, c := range v {
		if c < 0 || c >= int64(bound) {
			return nil, fault(a, "array %q: element %d is %d, outside [0, %d)", name, p, c, bound)
		}
		out[p] = int32(c)
	}

	return out, nil
}

// readValues reads the entries; nil stands for ones.
func readValues(a *npy.Archive) ([]float64, error) {
	x, err := a.Read("data")
	if err != nil {
		return nil, err
	}
	v, err := x.Float64s()
	if err != nil {
		return nil, fault(a, "array \"data\": %w", err)
	}
	return v, nil
}

// readCompressed reads the form csr of a rows×cols matrix; bits means that
// duplicates are or-ed.
func readCompressed(a *npy.Archive, rows, cols, nnz int, bits bool) (*CSR, error) {
	ptr, err := readInts(a, "indptr", rows+1)
	if err != nil {
		return nil, err
	}
	if ptr[0] != 0 || ptr[rows] != int64(nnz) {
		return nil, fault(a, "array \"indptr\" runs from %d to %d, want 0 to %d, the number of entries",
			ptr[0], ptr[rows], nnz)
	}

	// Pointers that descend would make rows of negative length.
	for i := range rows {
		if ptr[i] > ptr[i+1] {
			return nil, fault(a, "array \"indptr\": element %d is %d after %d; it must not descend", i+1,
				ptr[i+1], ptr[i])
		}
	}

	m := &CSR{Rows: rows, Cols: cols, Ptr: ptr}
	if m.Col, err = readIndices(a, "indices", nnz, cols); err != nil {
		return nil, err
	}
	if m.Val, err = readValues(a); err != nil {
		return nil, err
	}
	m.canonical(bits)
	return m, nil
}

// readTriples reads the form coo.
func readTriples(a *npy.Archive, rows, cols, nnz int, bits bool) (*CSR, error) {
	row, err := readIndices(a, "row", nnz, rows)
	if err != nil {
		return nil, err
	}
	col, err := readIndices(a, "col", nnz, cols)
	if err != nil {
		return nil, err
	}
	val, err := readValues(a)
	if err != nil {
		return nil, err
	}

	m := scatter(rows, cols, row, func(p int) int32 { return col[p] }, val)
	m.canonical(bits)
	return m, nil
}

// scatter sorts entries stably by row: entry p goes to row[p] with the column
// col(p) and the value val[p].
func scatter(rows, cols int, row []int32, col func(p int) int32, val []float64) *CSR {
	m := &CSR{Rows: rows, Cols: cols, Ptr: make([]int64, rows+1), Col: make([]int32, len(row)),
		Val: make([]float64, len(row))}
	for _, r := range row {
		m.Ptr[r+1]++
	}
	for i := range rows {
		m.Ptr[i+1] += m.Ptr[i]
	}
	next := slices.Clone(m.Ptr)
	for p, r := range row {
		q := next[r]
		next[r]++
		m.Col[q] = col(p)
		m.Val[q] = val[p]
	}
	return m
}

// flip returns the transpose of m, which has values.
func flip(m *CSR) *CSR {
	at := 0 // the row of entry p; entries come in order
	return scatter(m.Cols, m.Rows, m.Col, func(p int) int32 {
		for int64(p) >= m.Ptr[at+1] {
			at++
		}
		return int32(at)
	}, m.Val)
}

// canonical sorts the columns of every row in place and merges equal ones: by
// their sum or, with or, to 1 if any is not 0. Pointers must be valid and
// values present.
func (m *CSR) canonical(or bool) {
	type entry struct {
		col int32
		val float64
	}
	var row []entry
	var out int64
	for i := range m.Rows {
		lo := m.Ptr[i]
		hi := m.Ptr[i+1]
		m.Ptr[i] = out
		ascends := true
		for p := lo + 1; p < hi && ascends; p++ {
			ascends = m.Col[p] > m.Col[p-1]
		}
		if ascends {
			copy(m.Col[out:], m.Col[lo:hi])
			copy(m.Val[out:], m.Val[lo:hi])
			out += hi - lo
			continue
		}

		// Sort stably, so that equal columns are added in the order of the file.
		row = row[:0]
		for p := lo; p < hi; p++ {
			row = append(row, entry{m.Col[p], m.Val[p]})
		}
		slices.SortStableFunc(row, func(a, b entry) int { return int(a.col) - int(b.col) })
		for k, e := range row {
			if k > 0 && row[k-1].col == e.col {
				if m.Val[out-1] += e.val; or {
					m.Val[out-1] = min(m.Val[out-1], 1)
				}
				continue
			}
			m.Col[out] = e.col
			m.Val[out] = e.val
			out++
		}
	}

	m.Ptr[m.Rows] = out
	m.Col = m.Col[:out]
	m.Val = m.Val[:out]
}

// allOnes reports whether every element of v is 1. It gives the pages of a mapped v back.
func allOnes(v []float64) bool {
	for len(v) > 0 {
		step := v[:min(len(v), passEntries)]
		for _, x := range step {
			if x != 1 {
				return false
			}
		}
		mapped.Drop(numbers.Bytes(step))
		v = v[len(step):]
	}

	return true
}
