package data

import (
	"fmt"
	"io"
	"slices"

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
	narrow  bool // the coordinates are lists of 32-bit numbers

	allowNaN bool // values may be NaN
}

// readTablePoints reads points from a table: numbers, a column each, as float64, or one
// column of lists of numbers, as float32 if they are stored so.
func readTablePoints(src *source, opt ReadOptions) (Points, string, error) {
	t := &tablePoints{path: src.path, csv: src.format.name == FormatCSV, allowNaN: opt.AllowNaN}
	err := t.read(src, &opt)
	if t.csv && err != nil {
		err = csvFault(src.path, t.header, err)
	}
	if err != nil {
		return nil, "", err
	}

	// Vectors of 32 bits stay so.
	if t.singles != nil {
		x := &Dense[float32]{t.rows, t.width, t.singles}
		if t.allowNaN {
			return x, src.path, nil
		}
		return x, src.path, finite(src.path, x)
	}
	x := &Dense[float64]{t.rows, t.width, t.doubles}
	if t.csv || t.allowNaN { // batches of csv were checked, as they know the lines
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

	// Memory for as many numbers as the file says that it has, or as the first row lets expect, if
	// the limit allows it.
	rows, known := r.Rows()
	if !known {
		rows = r.GuessRows()
	}
	guess := rows * int64(t.width)
	if !known {
		guess = min(guess, src.Size/2+1)
	}
	if rows == 0 {
		rows = -1
	}
	// Lists that grow are held beside the lists of before.
	bytes := 8 * guess
	if t.narrow {
		bytes /= 2
	}
	if !t.csv {
		bytes *= 2
	}
	if err := opt.begin(t.path, int(rows), t.width, bytes); err != nil {
		return err
	}
	if guess > 0 && (opt.Limit <= 0 || 8*guess <= opt.Limit) && t.csv {
		t.doubles = make([]float64, 0, guess)
	}

	// Batches go into the points, and into the ids and labels of t.table.
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = t.reserve(b, opt.Limit)
		}
		if err == nil {
			err = t.batch(b)
		}
		if err != nil {
			return err
		}
	}
	t.table.Notes = append(t.table.Notes, r.Notes()...)
	if r.Semicolons() {
		t.table.Notes = t.table.labels.DecimalCommas(src.path, t.table.Notes)
	}
	if t.csv && t.rows == 0 {
		return src.fault("there are no lines of numbers, only a header")
	}
	return nil
}

// reserve makes room for the numbers of a batch, beside the room of before. It is an
// [npy.LimitError] if that and what else is held takes more than limit.
func (t *tablePoints) reserve(b *table.Batch, limit int64) error {
	held := t.table.held()
	numbers := b.Rows * t.width
	for _, v := range b.Values {
		numbers = max(numbers, b.Rows*v.Width) // the width of lists is known by the first batch
	}
	var err error
	if slices.ContainsFunc(b.Values, func(v table.Values) bool { return v.Float32s != nil }) {
		t.singles, err = grown(t, t.singles, 4, numbers, held, limit)
	} else {
		t.doubles, err = grown(t, t.doubles, 8, numbers, held, limit)
	}
	return err
}

// grown returns x with room for more numbers of size bytes.
func grown[T float32 | float64](t *tablePoints, x []T, size int64, more int, held, limit int64) ([]T,
	error) {
	count := cap(x)
	if need := len(x) + more; need > count {
		held += size * int64(count) // the old ones are there until they are copied
		count = max(need, count+count/4)
	}
	if need := held + size*int64(count); limit > 0 && need > limit {
		return nil, &npy.LimitError{What: t.path, Need: need, Limit: limit}
	}
	if count > cap(x) {
		x = append(make([]T, 0, count), x...)
	}
	return x, nil
}

// choose finds the columns to read.
func (t *tablePoints) choose(r *table.Reader) error {
	// Names that were made up for columns without a header name nothing.
	if !t.csv || r.Header() {
		t.header = r.Names()
	}
	columns := r.Columns()
	roles, err := t.table.roles(t.path, t.header, len(columns), r.Word)
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
	coordinates = t.table.ordered(t.header, coordinates)
	// All coordinates of csv are read as one vector, without a decision for each value.
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

// coordinate chooses column i of the file: as one coordinate of the given number, or as the list
// that holds all of them.
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
		t.narrow = c.Bits == 32
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
	// Row by row, because the coordinates of a point stand side by side in the result.
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

// csvBatch appends a batch of csv, in which one column of vectors holds all coordinates.
func (t *tablePoints) csvBatch(b *table.Batch) error {
	for j, role := range t.roles {
		v := &b.Values[j]
		if role != roleCoordinate {
			for _, text := range v.Texts {
				t.table.add(role, []byte(text))
			}
			continue
		}
		// The batch still knows the lines of its rows, for the error.
		if at := numbers.NotFinite(v.Float64s); at >= 0 && !t.allowNaN {
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
