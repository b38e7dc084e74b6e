package parts

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

// lists is a source of [lists] of K neighbours. Their distances are infinite: they are not known.
func (t *tables[T]) lists(words []uint32, ids []int32) error {
	stride := len(words) / max(1, len(ids))
	for at, i := range ids {
		list := words[at*stride:][:stride]
		for p := range list[:stride/2] {
			list[p] = none
			list[stride/2+p] = infinite
		}
		for p, v := range t.row(i) {
			list[p] = uint32(v)
		}
	}
	t.drop()
	return nil
}

// drop gives back the pages of all tables.
func (t *tables[T]) drop() {
	for _, table := range t.of {
		drop(table)
	}
}
