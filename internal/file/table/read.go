package table

import (
	"errors"
	"io"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// Table holds columns in memory.
type Table struct {
	Rows    int
	Columns []Column
	Values  []Values // one a column

	// Lines holds of a text file the line of each row, from 1; of others it is nil.
	Lines []int
	// Header reports whether the first line of a csv file was taken for names.
	Header bool
}

// Column returns the values of the first column with the given name, nil if there is none.
func (t *Table) Column(name string) *Values {
	for i, c := range t.Columns {
		if c.Name == name {
			return &t.Values[i]
		}
	}
	return nil
}

// Read reads columns whole, without names all of them. Columns of kind Any have the kind that all
// of their values have: a text file is read twice if its first rows do not tell the kinds. A table
// that takes more than opt.Limit bytes is an *npy.LimitError.
func Read(path string, opt Options, want ...Column) (*Table, error) {
	t, err := read(path, opt, false, want)
	if kind := (*KindError)(nil); errors.As(err, &kind) && kind.guessed {
		return read(path, opt, true, want)
	}
	return t, err
}

func read(path string, opt Options, scan bool, want []Column) (*Table, error) {
	r, err := Open(path, opt)
	if err != nil {
		return nil, err
	}
	defer r.Close()

	if scan {
		if err := r.Scan(); err != nil {
			return nil, err
		}
	}

	if err := r.Choose(want...); err != nil {
		return nil, err
	}
	t := &Table{Columns: r.want, Values: make([]Values, len(r.want)), Header: r.Header()}
	for i, c := range r.want {
		t.Values[i] = Values{column: c, Width: c.Width}
	}
	var held int64
	for {
		b, err := r.Next()
		if err == io.EOF {
			for i := range t.Columns {
				t.Columns[i].Width = t.Values[i].Width
			}
			return t, nil
		}
		if err != nil {
			if kind := (*KindError)(nil); errors.As(err, &kind) {
				kind.guessed = !scan && guessed(kind.Column, want)
			}
			return nil, err
		}

		// The sum is checked before the batch is kept. Lists grow by a quarter, beside the lists of
		// before.
		for i := range b.Values {
			held += b.Values[i].bytes()
		}
		held += 8 * int64(len(b.lines))
		if need := held * 9 / 4; opt.Limit > 0 && need > opt.Limit {
			return nil, &npy.LimitError{What: path, Need: need, Limit: opt.Limit}
		}
		for i := range b.Values {
			t.Values[i].extend(&b.Values[i])
		}
		t.Lines = append(t.Lines, b.lines...)
		t.Rows += b.Rows
	}
}

// guessed reports whether the kind of a column is not the caller's.
func guessed(name string, want []Column) bool {
	for _, w := range want {
		if w.Name == name && w.Kind != Any {
			return false
		}
	}
	return true
}
