package data

import (
	"fmt"
	"io"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/internal/num/numbers"
	"github.com/bigfit/bigfit/param"
)

// tablePoints are points on the way from a table.
type tablePoints struct {
	path    string
	csv     bool
	header  []string // names of the columns, nil if the file has none
	columns []table.Column
	roles   []role // of columns
	table   *TableColumns

	rows    int
	doubles []float64
	singles []float32
	width   int
}

// readTablePoints reads points from a table: numbers, a column each, as float64, or one
// column of lists of numbers, as float32 if they are stored so.
func readTablePoints(src *source, opt ReadOptions) (Points, string, error) {
	t := &tablePoints{path: src.path, csv: src.format.name == FormatCSV}
	err := t.read(src, &opt)
	if t.csv && err != nil {
		err = csvFault(src.path, t.header, err)
	}
	if err != nil {
		return nil, "", err
	}

	if t.singles != nil {
		x := &Dense[float32]{t.rows, t.width, t.singles}
		return x, src.path, finite(src.path, x)
	}
	x := &Dense[float64]{t.rows, t.width, t.doubles}
	if t.csv { // batches were checked, as they know the lines
		return x, src.path, nil
	}
	return x, src.path, finite(src.path, x)
}

// read reads all rows.
func (t *tablePoints) read(src *source, opt *ReadOptions) error {
	t.table = opt.columns()
	options := table.Options{Limit: opt.Limit, Format: table.Format(src.format.name)}
	if t.csv {
		options = csvOptions(opt, t.table)
	}
	r, err := table.Open(src.path, options)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := t.choose(r); err != nil {
		return err
	}

	// Memory for as many numbers as the first row lets expect, if the limit allows it.
	guess := min(r.GuessRows()*int64(t.width), src.Size/2+1)
	if guess > 0 && (opt.Limit <= 0 || 8*guess <= opt.Limit) {
		t.doubles = make([]float64, 0, guess)
	}

	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = t.batch(b)
		}
		if err != nil {
			return err
		}

		need := 8*int64(len(t.doubles)) + 4*int64(len(t.singles)) +
			32*int64(len(t.table.ids)+t.table.labels.Len())
		if opt.Limit > 0 && need > opt.Limit {
			return &npy.LimitError{What: src.path, Need: need, Limit: opt.Limit}
		}
	}
	if t.csv && t.rows == 0 {
		return src.fault("there are no lines of numbers, only a header")
	}
	return nil
}

// choose finds the columns to read.
func (t *tablePoints) choose(r *table.Reader) error {
	if !t.csv || r.Header() {
		t.header = r.Names()
	}
	columns := r.Columns()
	roles, err := t.table.roles(t.path, t.header, len(columns))
	if err != nil {
		return err
	}

	var coordinates []int
	for i, c := range columns {
		switch roles[i] {
		case roleCoordinate:
			coordinates = append(coordinates, i)
		case roleID, roleLabel:
			t.columns = append(t.columns, table.Column{Name: c.Name, Kind: table.Text, Of: []int{i}})
			t.roles = append(t.roles, roles[i])
		}
	}
	if t.csv {
		t.width = len(coordinates)
		t.columns = append(t.columns, table.Column{Kind: table.FloatList, Of: coordinates})
		t.roles = append(t.roles, roleCoordinate)
		return r.Choose(t.columns...)
	}
	for _, i := range coordinates {
		if err := t.coordinate(i, columns[i], len(coordinates)); err != nil {
			return err
		}
	}
	return r.Choose(t.columns...)
}

// coordinate chooses column i as one of so many coordinates, or as a list of all of them.
func (t *tablePoints) coordinate(i int, c table.Column, coordinates int) error {
	switch c.Kind {
	case table.Text, table.Other:
		what := c.Kind.String()
		if c.Why != "" {
			what = c.Why
		}
		return fmt.Errorf("%s: column %q is %s, not numbers; leave it out with %s %s, or name it with %s "+
			"or %s if it is one of these",
			t.path, c.Name, what, param.Name("drop"), c.Name, param.Name("id"), param.Name("label"))
	case table.FloatList:
		if coordinates > 1 {
			return fmt.Errorf("%s: lists of numbers and other columns are left for the coordinates; "+
				"choose the column of lists with %s, or leave it out with %s",
				t.path, param.Name("columns"), param.Name("drop"))
		}
		t.width = c.Width
	default:
		c.Kind = table.Float
		t.width++
	}
	c.Of = []int{i}
	t.columns = append(t.columns, c)
	t.roles = append(t.roles, roleCoordinate)
	return nil
}

// batch appends the rows of a batch.
func (t *tablePoints) batch(b *table.Batch) error {
	if t.csv {
		return t.csvBatch(b)
	}
	for i := range b.Rows {
		for j, role := range t.roles {
			v := &b.Values[j]
			switch {
			case role != roleCoordinate:
				t.table.add(role, []byte(v.Texts[i]))
			case v.Missing(i):
				return fmt.Errorf("%s: column %q is missing; every value must be given: remove or impute it",
					b.Place(i), t.columns[j].Name)
			case v.Floats != nil:
				t.doubles = append(t.doubles, v.Floats[i])
			case v.Float32s != nil:
				t.width = v.Width
				t.singles = append(t.singles, v.Float32s[i*v.Width:(i+1)*v.Width]...)
			case v.Float64s != nil:
				t.width = v.Width
				t.doubles = append(t.doubles, v.Float64s[i*v.Width:(i+1)*v.Width]...)
			case v.Bools != nil:
				t.doubles = append(t.doubles, indicator(v.Bools[i]))
			}
		}

		t.rows++
	}

	return nil
}

// csvBatch appends a batch whose coordinates are one column of vectors.
func (t *tablePoints) csvBatch(b *table.Batch) error {
	for j, role := range t.roles {
		v := &b.Values[j]
		if role != roleCoordinate {
			for _, text := range v.Texts {
				t.table.add(role, []byte(text))
			}
			continue
		}
		if at := numbers.NotFinite(v.Float64s); at >= 0 {
			column := t.columns[j].Of[at%v.Width]
			return fmt.Errorf("%s, column %d is %v; every value must be finite: remove or impute it",
				b.Place(at/v.Width), column, v.Float64s[at])
		}
		t.doubles = append(t.doubles, v.Float64s...)
	}
	t.rows += b.Rows
	return nil
}

func indicator(v bool) float64 {
	if v {
		return 1
	}
	return 0
}
