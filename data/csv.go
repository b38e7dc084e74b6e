package data

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/data/internal/labelcells"
	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/param"
)

// csvOptions are the options by which points are read from csv.
func csvOptions(opt *ReadOptions, t *TableColumns) table.Options {
	out := table.Options{Format: table.CSV, Limit: opt.Limit, Unsampled: true}
	out.IsHeader = func(first []string) (bool, error) { return isHeader(first, t) }
	if opt.Header {
		out.Header = table.HeaderYes
	}
	return out
}

// isHeader reports whether the first line of points in csv holds column names: none of its
// fields is a number, and not all are empty, or one is a name that t asks for. A line of both
// is an error unless the texts are in columns that t names by their numbers.
func isHeader(first []string, t *TableColumns) (bool, error) {
	var asked []string
	if t != nil {
		asked = slices.Concat(t.Drop, t.Only, []string{t.ID, t.Label})
	}

	nums := 0
	texts := 0
	at := 0
	for i, f := range first {
		_, isNumber := fields.Number([]byte(f))
		switch {
		case !isNumber && f != "" && slices.Contains(asked, f):
			return true, nil
		case isNumber:
			nums++
		case f != "" && !slices.Contains(asked, strconv.Itoa(i)):
			if texts++; texts == 1 {
				at = i
			}
		}
	}
	if nums > 0 && texts > 0 {
		return false, fmt.Errorf("column %d is %s, not a number; remove the column or leave it out with "+
			"%s %d, or say that the first line is a header",
			at, fields.Quote([]byte(first[at])), param.Name("drop"), at)
	}
	return texts > 0, nil
}

// csvFault puts errors of package table in the words of points: a file without rows, and a field
// that is no number. It returns other errors as they are.
func csvFault(path string, header []string, err error) error {
	if errors.Is(err, table.ErrNoRows) {
		return fmt.Errorf("%s: there are no lines of numbers", path)
	}

	var kind *table.KindError
	if !errors.As(err, &kind) {
		return err
	}
	place := fmt.Sprintf("%s: line %d: row %d, column %d", path, kind.Line, kind.Row, kind.At)
	switch {
	case kind.Value == `""`:
		return fmt.Errorf("%s is empty; every value must be given: remove or impute it", place)
	case header == nil:
		return fmt.Errorf("%s is %s, not a number", place, kind.Value)
	}

	name := header[kind.At]
	if word, err := strconv.Unquote(kind.Value); err == nil && labelcells.IsMissing(word) {
		return fmt.Errorf("%s (%s) is %s, a missing value; every value must be given: remove or impute it",
			place, name, kind.Value)
	}
	return fmt.Errorf("%s (%s) is %s, not a number; leave the column out with %s %s, or name it with "+
		"%s or %s if it is one of these",
		place, name, kind.Value, param.Name("drop"), name, param.Name("id"), param.Name("label"))
}
