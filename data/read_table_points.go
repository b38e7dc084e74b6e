package data

import (
	"fmt"
	"io"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/param"
)

// tablePoints are points on the way from a table.
type tablePoints struct {
	path    string
	columns []table.Column
	roles   []role // of columns
	table   *TableColumns

	rows    int
	doubles []float64
	singles []float32
	width   int
}

// readTablePoints reads points from JSON Lines or parquet: numbers, a column each, as
// float64, or one column of lists of numbers, as float32 if they are stored so.
func readTablePoints(src *source, opt ReadOptions) (Points, string, error) {
	t := &tablePoints{path: src.path, table: opt.columns()}
	r, err := table.Open(src.path, table.Options{Limit: opt.Limit})
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	if err := t.choose(r); err != nil {
		return nil, "", err
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
			return nil, "", err
		}
		if need := 8*int64(len(t.doubles)) + 4*int64(len(t.singles)) +
			32*int64(len(t.table.ids)); opt.Limit > 0 && need > opt.Limit {
			return nil, "", &npy.LimitError{What: src.path, Need: need, Limit: opt.Limit}
		}
	}

	if t.singles != nil {
		x := &Dense[float32]{t.rows, t.width, t.singles}
		return x, src.path, finite(src.path, x)
	}
	x := &Dense[float64]{t.rows, t.width, t.doubles}
	return x, src.path, finite(src.path, x)
}

// choose finds the columns to read.
func (t *tablePoints) choose(r *table.Reader) error {
	roles, err := t.table.roles(t.path, r.Names(), len(r.Columns()))
	if err != nil {
		return err
	}
	lists := 0
	for i, c := range r.Columns() {
		switch roles[i] {
		case roleDropped:
			continue
		case roleID, roleLabel:
			c.Kind = table.Text
		default:
			switch c.Kind {
			case table.Text, table.Other:
				what := c.Kind.String()
				if c.Why != "" {
					what = c.Why
				}
				return fmt.Errorf("%s: column %q is %s, not numbers; leave it out with %s %s, or "+
					"name it with %s or %s if it is one of these", t.path, c.Name, what, param.Name("drop"), c.Name, param.Name("id"), param.Name("label"))
			case table.FloatList:
				lists++
				t.width = c.Width
			default:
				c.Kind = table.Float
				t.width++
			}
		}

		t.columns = append(t.columns, c)
		t.roles = append(t.roles, roles[i])
	}

	coordinates := 0
	for _, role := range t.roles {
		if role == roleCoordinate {
			coordinates++
		}
	}

	if lists > 0 && coordinates > 1 {
		return fmt.Errorf("%s: lists of numbers and other columns are left for the coordinates; "+
			"choose the column of lists with %s, or leave it out with %s", t.path, param.Name("columns"), param.Name("drop"))
	}
	return r.Choose(t.columns...)
}

// batch appends the rows of a batch.
func (t *tablePoints) batch(b *table.Batch) error {
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

func indicator(v bool) float64 {
	if v {
		return 1
	}
	return 0
}
