package parts

import "github.com/bigfit/bigfit/internal/num/par"

// tables are the tables of one kind of all parts. Together they have a row for each point, in the
// table of its nearest part.
type tables[T uint16 | uint32 | float64] struct {
	div   *division
	of    [][]T
	width int
}

// tablesOf loads the tables with the given names.
func tablesOf[T uint16 | uint32 | float64](r *Run, name func(p int) string) (*tables[T], error) {
	t := &tables[T]{div: r.div, of: make([][]T, r.s.Parts)}
	var err error
	for p := range t.of {
		if t.of[p], t.width, err = load[T](r.folder, name(p)); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// row returns the row of a point.
func (t *tables[T]) row(i int32) []T {
	p := t.div.of[int(i)*t.div.overlap()]
	return t.of[p][(int(i)-t.div.start[p])*t.width:][:t.width:t.width]
}

// gather returns the rows of points, which ascend, one after the other.
func (t *tables[T]) gather(ids []int32) []T {
	out := make([]T, t.width*len(ids))
	// The pages of the tables are given back after each block of points.
	const block = 1 << 15
	for first := 0; first < len(ids); first += block {
		end := min(first+block, len(ids))
		par.For(end-first, 1024, func(lo, hi int) {
			for at := first + lo; at < first+hi; at++ {
				copy(out[at*t.width:], t.row(ids[at]))
			}
		})
		t.drop()
	}
	return out
}

// drop gives back the pages of all tables.
func (t *tables[T]) drop() {
	for _, table := range t.of {
		drop(table)
	}
}
