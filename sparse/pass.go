package sparse

import (
	"cmp"
	"sort"

	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/internal/num/par"
)

// A pass gives pages back after passRows rows or passEntries entries, about 48 MiB.
const (
	passRows    = 1 << 18
	passEntries = 1 << 22
)

// pass calls visit for consecutive ranges of the rows from to end until one returns an error. It
// gives the pages of each range of a mapped matrix back, so that a pass over a matrix larger than
// memory holds little of it. visit must find offsets that are wrong.
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

// Release gives back the memory of rows lo to hi of a mapped matrix, which will not be needed soon.
// They can be read again, from the page cache or the file.
func (m *CSR) Release(lo, hi int) {
	first := m.Ptr[lo]
	end := m.Ptr[hi]
	mapped.Drop(numbers.Bytes(m.Ptr[lo:hi]))
	mapped.Drop(numbers.Bytes(m.Col[first:end]))
	if m.Val != nil {
		mapped.Drop(numbers.Bytes(m.Val[first:end]))
	}
}
