package sparse

import (
	"cmp"
	"sort"

	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/internal/num/par"
)

// Bounds of what a pass reads before it gives pages back: about 48 MiB of entries.
const (
	passRows    = 1 << 18
	passEntries = 1 << 22
)

// pass calls visit for consecutive ranges of the rows from to end until one returns an error. Of a
// mapped matrix it gives the pages of each range back, so that a pass over a matrix larger than
// memory holds little of it. Offsets that are wrong are for visit to find.
func (m *CSR) pass(from, end int, visit func(lo, hi int) error) error {
	for lo := from; lo < end; {
		most := min(end-lo, passRows)
		hi := lo + max(1, sort.Search(most,
			func(i int) bool { return m.Ptr[lo+i+1]-m.Ptr[lo] > passEntries }))
		if err := visit(lo, hi); err != nil {
			return err
		}
		m.Release(lo, hi)
		lo = hi
	}
	return nil
}

// eachRow calls check for the rows lo to hi, several at once, and returns the error of the first
// row that has one.
func (m *CSR) eachRow(lo, hi int, check func(i int) error) error {
	faults := make([]error, par.Chunks(hi-lo, rowGrain))
	par.For(hi-lo, rowGrain, func(from, to int) {
		for i := lo + from; i < lo+to && faults[from/rowGrain] == nil; i++ {
			faults[from/rowGrain] = check(i)
		}
	})
	return cmp.Or(faults...)
}

// Release gives back the memory of rows lo to hi where the matrix is mapped, which were read and
// are not needed soon. They can be read again, from the page cache or the file.
func (m *CSR) Release(lo, hi int) {
	first := m.Ptr[lo]
	end := m.Ptr[hi]
	mapped.Drop(numbers.Bytes(m.Ptr[lo:hi]))
	mapped.Drop(numbers.Bytes(m.Col[first:end]))
	if m.Val != nil {
		mapped.Drop(numbers.Bytes(m.Val[first:end]))
	}
}

// Select returns the rows with the given numbers, in the given order.
func (m *CSR) Select(rows []int) *CSR {
	var entries int64
	for _, r := range rows {
		entries += m.Ptr[r+1] - m.Ptr[r]
	}
	out := &CSR{Rows: len(rows), Cols: m.Cols, Ptr: make([]int64, len(rows)+1),
		Col: make([]int32, 0, entries)}
	if m.Val != nil {
		out.Val = make([]float64, 0, entries)
	}
	for i, r := range rows {
		col, val := m.Row(r)
		out.Col = append(out.Col, col...)
		out.Val = append(out.Val, val...)
		out.Ptr[i+1] = int64(len(out.Col))
	}

	return out
}

// Induced returns the graph of some vertices of m, which ascend: entry (a, b) is that of
// vertices a and b of the list. place returns where a vertex stands in the list, −1 if it
// does not; edges to those are left out.
func Induced[V int | int32](m *CSR, vertices []V, place func(v int32) int32) *CSR {
	n := len(vertices)
	var entries int64
	for _, v := range vertices {
		entries += m.Ptr[v+1] - m.Ptr[v]
	}
	out := &CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1), Col: make([]int32, 0, entries)}
	if m.Val != nil {
		out.Val = make([]float64, 0, entries)
	}

	for i, v := range vertices {
		col, val := m.Row(int(v))
		for p, j := range col {
			at := place(j)
			if at < 0 {
				continue
			}
			out.Col = append(out.Col, at)
			if val != nil {
				out.Val = append(out.Val, val[p])
			}
		}
		out.Ptr[i+1] = int64(len(out.Col))
	}

	return out
}

// Stack returns the rows of matrices of the same columns, one after the other.
func Stack(list ...*CSR) *CSR {
	rows := 0
	entries := 0
	values := false
	for _, m := range list {
		rows += m.Rows
		entries += len(m.Col)
		values = values || m.Val != nil
	}

	out := &CSR{Rows: rows, Cols: list[0].Cols, Ptr: make([]int64, 1, rows+1), Col: make([]int32, 0, entries)}
	if values {
		out.Val = make([]float64, 0, entries)
	}
	for _, m := range list {
		before := int64(len(out.Col))
		out.Col = append(out.Col, m.Col...)
		for _, p := range m.Ptr[1:] {
			out.Ptr = append(out.Ptr, before+p)
		}
		if !values {
			continue
		}
		if m.Val != nil {
			out.Val = append(out.Val, m.Val...)
			continue
		}

		for range m.Col {
			out.Val = append(out.Val, 1)
		}
	}

	return out
}
