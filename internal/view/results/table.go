// Package results holds the results of experiments: a table of typed records, its JSON, its views
// as text and its figures as numbers.
package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// A Table holds the results of an experiment: records of typed values, one value
// for each column. Views print the records ([Table.Grids], [Table.Markdown]) and
// figures draw them ([Table.Drawings]). In JSON a table is the list of its records; each is
// an object with the keys of the columns.
type Table struct {
	Columns []Column
	Records []Record
	Views   []View
	Figures []Figure
	// Notes are printed below the views, such as the differences between the experiment
	// and the paper.
	Notes []string
	// OtherData says that the published figures are of other data: see [Table.Verdict].
	OtherData bool
}

// A Kind tells what the values of a column are.
type Kind int

const (
	// Texts are names.
	Texts Kind = iota
	// Integers are whole numbers.
	Integers
	// Numbers are real. They may have a deviation and a published figure, each under
	// a key of its own in JSON. An unknown part is NaN, null in JSON.
	Numbers
	// Remarks are sentences about a record, printed as notes and not in a cell.
	Remarks
)

// A Column describes the values that all records have in one place.
type Column struct {
	Key  string // in JSON, and in views and figures
	Name string // in print
	Unit string // such as "%"
	Kind Kind

	// Deviation and Published are the keys of a number's deviation and published
	// figure, empty if the column has none.
	Deviation, Published string
	Format               Format
	// MoreIsBetter says that a larger number is better, as for an AUC and unlike an error.
	// BestIsPublished says that the published figure belongs to the paper's best setting and is
	// the same in all records; it is compared with the best record.
	MoreIsBetter, BestIsPublished bool
	// Order lists values in the order of their columns in a view and of their
	// curves in a figure; others follow in the order of their records.
	Order []string
	// About lists the columns that stand in front of a remark.
	About []string
	// OmitEmpty leaves empty text and 0 out of the JSON.
	OmitEmpty bool
	// PrintOnly leaves the column out of the JSON, because it follows from the
	// others.
	PrintOnly bool
}

// Format holds the verbs of package fmt for the parts of a number: mean ±
// deviation (published). A part without a verb is not printed, except that
// Integers default to %d.
type Format struct{ Number, Deviation, Published string }

// Heading returns the name of the column with its unit.
func (c *Column) Heading() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + " " + c.Unit
}

// axis returns the same for the axis of a chart.
func (c *Column) axis() string {
	if c.Unit == "" {
		return c.Name
	}
	return c.Name + ", " + c.Unit
}

// A Record holds one value for each column of its table.
type Record []Value

// A Value is one cell of a record.
type Value struct {
	// Text is the value in a column of Texts or Remarks. In others it is printed in
	// place of the number, unless it is empty.
	Text                         string
	Number, Deviation, Published float64
	// Draws is the number of draws behind a mean, 0 if the value is no mean.
	Draws int
	// Judgement, if not empty, is the verdict on the value, and Reason says why: see [Value.Judged].
	Judgement Verdict
	Reason    string
}

// Text makes a value of a name or a remark.
func Text(s string) Value { return Value{Text: s} }

// Integer makes a value of a whole number.
func Integer(n int) Value { return Number(float64(n)) }

// Number makes a value without a deviation and without a published figure.
func Number(v float64) Value {
	return Value{Number: v, Deviation: math.NaN(), Published: math.NaN()}
}

// Mean makes a value of the mean over draws, with the standard deviation of one
// draw.
func Mean(draws []float64) Value {
	v := Number(0)
	v.Number, v.Deviation = MeanStd(draws)
	v.Draws = len(draws)
	return v
}

// MeanStd returns the mean and the sample standard deviation, 0 for a single
// value.
func MeanStd(x []float64) (mean, std float64) {
	// Terms are divided before they are added, so that large sums cannot overflow.
	for _, v := range x {
		mean += v / float64(len(x))
	}
	if len(x) < 2 {
		return mean, 0
	}
	for _, v := range x {
		std += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, math.Sqrt(std)
}

// Beside adds the published figure; 0 and NaN mean that there is none.
func (v Value) Beside(published float64) Value {
	if published != 0 {
		v.Published = published
	}
	return v
}

// Judged replaces the verdict of [Table.Verdict] by v, [Differs] or [Fitted], for a reason that is
// printed below the views of the table.
func (v Value) Judged(as Verdict, reason string) Value {
	v.Judgement = as
	v.Reason = reason
	return v
}

// Add appends a record. It panics unless the record has a value for each column.
func (t *Table) Add(values ...Value) {
	if len(values) != len(t.Columns) {
		panic(fmt.Sprintf("results: a record of %d values for %d columns", len(values), len(t.Columns)))
	}
	t.Records = append(t.Records, values)
}

// index returns the place of the column with a key, which must be one.
func (t *Table) index(key string) int {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Key == key })
	if i < 0 {
		panic(fmt.Sprintf("results: the table has no column %q", key))
	}
	return i
}

// Column returns the column with the given key. It panics if there is none.
func (t *Table) Column(key string) *Column { return &t.Columns[t.index(key)] }

// Value returns the value of a record of t in the column with the given key. It panics
// if there is no such column.
func (t *Table) Value(r Record, key string) Value { return r[t.index(key)] }

// print returns the text of a value.
func (t *Table) print(r Record, key string) string {
	i := t.index(key)
	c := &t.Columns[i]
	v := r[i]
	f := c.Format
	switch {
	case v.Text != "" || c.Kind == Texts || c.Kind == Remarks:
		return v.Text
	case c.Kind == Integers && f.Number == "":
		return fmt.Sprint(int(v.Number))
	case c.Kind == Integers:
		return fmt.Sprintf(f.Number, int(v.Number))
	}

	// mean ± deviation (published), as far as the format has verbs for them.
	s := fmt.Sprintf(f.Number, v.Number)
	if f.Deviation != "" && !math.IsNaN(v.Deviation) {
		s += " ± " + fmt.Sprintf(f.Deviation, v.Deviation)
	}
	if f.Published != "" && !math.IsNaN(v.Published) {
		s += " (" + fmt.Sprintf(f.Published, v.Published) + ")"
	}
	return s
}

// jsonNumber is a float64 that JSON writes as null if it is NaN.
type jsonNumber float64

// MarshalJSON writes NaN as null.
func (x jsonNumber) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(x)) {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, "%g", float64(x)), nil
}

// MarshalJSON writes the list of records.
func (t *Table) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, r := range t.Records {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := t.appendRecord(&b, r); err != nil {
			return nil, err
		}
	}

	b.WriteByte(']')
	return b.Bytes(), nil
}

// appendRecord writes one record as an object, keys in the order of the columns.
func (t *Table) appendRecord(b *bytes.Buffer, r Record) error {
	// A map would lose the order of the columns, so the object is written by hand.
	separator := byte('{')
	put := func(key string, value any) error {
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("results: column %q: %w", key, err)
		}
		b.WriteByte(separator)
		separator = ','
		fmt.Fprintf(b, "%q:%s", key, text)
		return nil
	}

	for i, c := range t.Columns {
		v := r[i]
		// A number with a deviation and a published figure has three keys.
		var err error
		switch {
		case c.PrintOnly:
		case c.Kind == Texts || c.Kind == Remarks:
			if !c.OmitEmpty || v.Text != "" {
				err = put(c.Key, v.Text)
			}
		case c.Kind == Integers:
			if !c.OmitEmpty || v.Number != 0 {
				err = put(c.Key, int(v.Number))
			}
		default:
			err = put(c.Key, jsonNumber(v.Number))
			if err == nil && c.Deviation != "" {
				err = put(c.Deviation, jsonNumber(v.Deviation))
			}
			if err == nil && c.Published != "" {
				err = put(c.Published, jsonNumber(v.Published))
			}
		}

		if err != nil {
			return err
		}
	}

	b.WriteByte('}')
	return nil
}
