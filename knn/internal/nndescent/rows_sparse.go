package nndescent

// Sparse are rows with few nonzero numbers, in the layout of a CSR matrix. With Overlap they are
// sets of columns, and the distance is the Jaccard distance 1 − |a∩b| / |a∪b|, not squared.
type Sparse struct {
	numbering
	cols    int
	ptr     []int64
	col     []int32
	val     []float32 // nil for ones
	norm    []float64 // squared norms of the points of the set
	overlap bool
	apart   bool
}

// SparseSettings are the settings of [NewSparse].
type SparseSettings struct {
	Overlap bool // the rows are sets: val must be nil
	Apart   bool // empty rows are [Apart] from all rows
}

// NewSparse returns the rows of a matrix with cols columns: row i has val[p], or ones, in the
// columns col[p], ascending, for ptr[i] ≤ p < ptr[i+1]. Each meter takes 8 bytes a column.
func NewSparse(cols int, ptr []int64, col []int32, val []float32, s SparseSettings) *Sparse {
	out := &Sparse{cols: cols, ptr: ptr, col: col, val: val, overlap: s.Overlap, apart: s.Apart}
	out.norm = make([]float64, len(ptr)-1)
	for i := range out.norm {
		out.norm[i] = float64(ptr[i+1] - ptr[i])
		if val != nil {
			out.norm[i] = 0
			for _, v := range val[ptr[i]:ptr[i+1]] {
				out.norm[i] += float64(v) * float64(v)
			}
		}
	}
	return out
}

// Meter returns a *SparseMeter.
func (s *Sparse) Meter() Meter { return &SparseMeter{rows: s, point: make([]float64, s.cols)} }

// SparseMeter is the meter of [Sparse].
type SparseMeter struct {
	rows  *Sparse
	point []float64 // the point, dense
	used  []int32   // its nonzero columns
	norm  float64
}

// At makes row i the point.
func (m *SparseMeter) At(i int32) {
	s := m.rows
	at := s.of(i)
	lo := s.ptr[at]
	hi := s.ptr[at+1]
	if s.val == nil {
		m.Set(s.col[lo:hi], nil, s.norm[at])
		return
	}
	m.Set(s.col[lo:hi], s.val[lo:hi], s.norm[at])
}

// Set makes a point that is no row the point: val, or ones, in the columns col. norm is its squared
// norm, which may include columns that are left out. col is kept.
func (m *SparseMeter) Set(col []int32, val []float32, norm float64) {
	for _, c := range m.used {
		m.point[c] = 0
	}

	for p, c := range col {
		m.point[c] = 1
		if val != nil {
			m.point[c] = float64(val[p])
		}
	}

	m.used = col
	m.norm = norm
}

// Measure sets dst to squared Euclidean distances, or to Jaccard distances of sets. The sums are in
// float64, over the columns in ascending order.
func (m *SparseMeter) Measure(dst []float32, ids []int32) {
	s := m.rows
	for p, i := range ids {
		at := s.of(i)
		norm := s.norm[at]
		if s.apart && (norm == 0 || m.norm == 0) {
			dst[p] = Apart
			continue
		}

		dot := m.dot(int(at))
		if !s.overlap {
			dst[p] = float32(max(0, m.norm+norm-2*dot))
			continue
		}
		dst[p] = 0
		if either := m.norm + norm - dot; either > 0 {
			dst[p] = float32((either - dot) / either)
		}
	}
}

// dot returns the inner product of the point and row at of the set.
func (m *SparseMeter) dot(at int) (sum float64) {
	s := m.rows
	lo := s.ptr[at]
	hi := s.ptr[at+1]
	if s.val == nil {
		for _, c := range s.col[lo:hi] {
			sum += m.point[c]
		}
		return sum
	}
	val := s.val[lo:hi]
	for p, c := range s.col[lo:hi] {
		sum += float64(val[p]) * m.point[c]
	}
	return sum
}
