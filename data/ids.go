package data

import (
	"fmt"
	"sync"

	"github.com/bigfit/bigfit/internal/file/fields"
)

// IDs hold the names of n points: row i of the points is called Values[i]. All differ.
type IDs struct {
	// From says where they were read, for errors: "points.csv: column id".
	From   string
	Values []string
	// Notes say how the file was understood where it could be otherwise.
	Notes []string

	once sync.Once
	rows map[string]int32
}

// NewIDs returns the names of points, read from the place from. An id that is there
// twice, or empty, is an error that names its rows.
func NewIDs(from string, values []string) (*IDs, error) {
	ids := &IDs{From: from, Values: values, rows: make(map[string]int32, len(values))}
	for i, v := range values {
		if v == "" {
			return nil, fmt.Errorf("%s: the id of row %d is empty; every point needs one", from, i)
		}
		// Labels are joined by ids, so that two points of one name would share them.
		if first, twice := ids.rows[v]; twice {
			return nil, fmt.Errorf("%s: rows %d and %d have the same id, %s; ids of points must differ", from,
				first, i, fields.Quote([]byte(v)))
		}
		ids.rows[v] = int32(i)
	}

	ids.once.Do(func() {})
	return ids, nil
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
