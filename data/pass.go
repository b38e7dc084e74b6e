package data

import (
	"slices"
	"unsafe"

	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// A pass reads points from the first to the last, and gives the pages of mapped points back as it
// goes. A set of points larger than memory then takes the memory of a few ranges of rows: the
// kernel would take the pages back by itself, but they count as memory of the process until
// then, and the kernel drops pages that somebody needs first.

// Each calls visit for consecutive ranges of at most step points of x until a call returns an
// error, which it returns. The memory of the points lo to hi is given back after the call, if they
// are mapped.
func Each(x Points, step int, visit func(lo, hi int) error) error {
	n, _ := x.Dims()
	return eachWithin(x, 0, n, step, visit)
}

// eachWithin is [Each] for the points from to end.
func eachWithin(x Points, from, end, step int, visit func(lo, hi int) error) error {
	for lo := from; lo < end; lo += step {
		hi := min(lo+step, end)
		err := visit(lo, hi)
		Release(x, lo, hi)
		if err != nil {
			return err
		}
	}
	return nil
}

// EachAtOnce calls visit for the ranges of grain points of x, several at once: range i begins with
// point i·grain at any number of threads. It gives memory back as [Each] does.
func EachAtOnce(x Points, grain int, visit func(lo, hi int)) {
	n, _ := x.Dims()
	par.For(n, grain, func(lo, hi int) {
		visit(lo, hi)
		Release(x, lo, hi)
	})
}

// Release gives back the memory of points lo to hi that are mapped, which were read and are
// not needed soon. They can be read again, from the page cache or the file.
func Release(x Points, lo, hi int) {
	switch x := x.(type) {
	case *Dense[uint8]:
		mapped.Drop(sliceDense(x, lo, hi).Data)
	case *Dense[float32]:
		mapped.Drop(numbers.Bytes(sliceDense(x, lo, hi).Data))
	case *Dense[float64]:
		mapped.Drop(numbers.Bytes(sliceDense(x, lo, hi).Data))
	case *Stored:
		x.drop(lo, hi)
	case *sparse.CSR:
		x.Release(lo, hi)
	}
}

// drop gives back the pages of mapped rows lo to hi, which were read and are not needed
// soon.
func (s *Stored) drop(lo, hi int) {
	s.each(lo, hi, func(_ int, raw []byte) { mapped.Drop(raw) })
}

// passBytes is about the memory of the points that a pass reads before it gives their pages back.
// It is some thousand pages, so that calls to the kernel cost nothing beside the reading.
const passBytes = 16 << 20

// eachStep calls visit for consecutive parts of v, with the place of their first value, and
// gives the pages of a mapped v back.
func eachStep[T numbers.Number](v []T, visit func(first int, step []T)) {
	size := passBytes / int(unsafe.Sizeof(*new(T)))
	for lo := 0; lo < len(v); lo += size {
		step := v[lo:min(lo+size, len(v))]
		visit(lo, step)
		mapped.Drop(numbers.Bytes(step))
	}
}

// gatherRows is the number of rows that are gathered before pages are given back. The kernel maps
// 64 KiB around each that it reads, so that these are 128 MiB at most, but for long rows.
const gatherRows = 1 << 11

// inSteps calls read for consecutive ranges of the list rows of x, and gives the pages between
// the first and the last row of each back.
func inSteps[I int | int32](x Points, rows []I, read func(lo, hi int)) {
	for lo := 0; lo < len(rows); lo += gatherRows {
		hi := min(lo+gatherRows, len(rows))
		read(lo, hi)
		if hi-lo == gatherRows {
			Release(x, int(slices.Min(rows[lo:hi])), int(slices.Max(rows[lo:hi]))+1)
		}
	}
}

// GatherTo sets dst, row-major, to the points with the given numbers, which [Release] gives back
// in steps: the memory is that of a few thousand of them, wherever they lie.
func GatherTo(dst []float64, x Points, rows []int32) {
	_, d := x.Dims()
	inSteps(x, rows, func(lo, hi int) {
		par.For(hi-lo, 128, func(from, to int) {
			for p := lo + from; p < lo+to; p++ {
				RowTo(dst[p*d:(p+1)*d], x, int(rows[p]))
			}
		})
	})
}

// pass calls visit for consecutive ranges of the rows, each within one part, and gives their pages
// back.
func (s *Stored) pass(visit func(part *Part, lo, hi int) error) error {
	step := max(1, passBytes/max(1, s.rowBytes()))
	for i := range s.parts {
		p := &s.parts[i]
		err := eachWithin(s, p.First, p.First+p.Rows, step,
			func(lo, hi int) error { return visit(p, lo, hi) })
		if err != nil {
			return err
		}
	}
	return nil
}
