package data

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/bigfit/bigfit/internal/file/fields"
)

// IDs hold the names of n points: row i of the points is called Values[i]. All differ.
type IDs struct {
	// From says where they were read, for errors: "points.csv: column id".
	From   string
	Values []string
	// Column is the column of a table that they are of, by its name; empty for none. Other tables of such points are
	// expected to have it.
	Column string
	// Notes say how the file was understood where it could be otherwise.
	Notes []string

	once sync.Once
	rows map[string]int32
}

// RepeatedIDError is the error of an id that two points have.
type RepeatedIDError struct {
	IDs           *IDs // all of them
	First, Second int  // the first two rows of the id
}

// Error names the rows and the id.
func (e *RepeatedIDError) Error() string {
	// Labels are joined by ids, so that two points of one name would share them.
	return fmt.Sprintf("%s: rows %d and %d have the same id, %s; ids of points must differ", e.IDs.From, e.First,
		e.Second, fields.Quote([]byte(e.IDs.Values[e.First])))
}

// NewIDs returns the names of points, read from the place from. An id that is empty, or there twice, is an
// error that names its rows: a *[RepeatedIDError] in the second case.
func NewIDs(from string, values []string) (*IDs, error) {
	return (&IDs{From: from, Values: values}).checked()
}

// idsOfColumn is NewIDs for the ids in a column of tables. A number is the place of a column, and names none.
func idsOfColumn(tables, column string, values []string) (*IDs, error) {
	ids := &IDs{From: tables + ": column " + column, Values: values}
	if _, err := strconv.Atoi(column); err != nil {
		ids.Column = column
	}
	return ids.checked()
}

// checked returns ids, or the error of Check.
func (ids *IDs) checked() (*IDs, error) {
	if err := ids.Check(); err != nil {
		return nil, err
	}
	return ids, nil
}

// Check returns an error for an id that is there twice, or empty: it names the rows. Ids of [NewIDs]
// need no check.
func (ids *IDs) Check() error {
	rows := make(map[string]int32, len(ids.Values))
	var repeated error
	for i, v := range ids.Values {
		if v == "" {
			return fmt.Errorf("%s: the id of row %d is empty; every point needs one", ids.From, i)
		}
		first, twice := rows[v]
		if twice && repeated == nil {
			repeated = &RepeatedIDError{IDs: ids, First: int(first), Second: i}
		}
		if !twice {
			rows[v] = int32(i)
		}
	}
	if repeated != nil {
		return repeated
	}

	ids.once.Do(func() { ids.rows = rows })
	return nil
}

// Append returns the names of the points of ids and, behind them, of more. An id that is in both
// is an error that names both places.
func (ids *IDs) Append(more *IDs) (*IDs, error) {
	for i, v := range more.Values {
		if row, twice := ids.Row(v); twice {
			return nil, fmt.Errorf("%s: row %d has the id %s, which row %d of %s has already; ids of points must "+
				"differ: leave the point out, or give it another id", more.From, i, fields.Quote([]byte(v)), row,
				ids.From)
		}
	}
	return &IDs{From: ids.From + " and " + more.From, Values: slices.Concat(ids.Values, more.Values), Column: ids.Column}, nil
}

// Select returns the names of the points in rows, in that order.
func (ids *IDs) Select(rows []int) *IDs {
	out := &IDs{From: ids.From, Values: make([]string, len(rows)), Column: ids.Column}
	for k, i := range rows {
		out.Values[k] = ids.Values[i]
	}
	return out
}

// Len returns the number of points.
func (ids *IDs) Len() int { return len(ids.Values) }

// Row returns the number of the point with an id, and whether there is one.
func (ids *IDs) Row(id string) (int, bool) {
	// The table of rows is made at the first question; a caller may have filled the struct itself.
	ids.once.Do(func() {
		ids.rows = make(map[string]int32, len(ids.Values))
		for i, v := range ids.Values {
			ids.rows[v] = int32(i)
		}
	})
	row, ok := ids.rows[id]
	return int(row), ok
}
