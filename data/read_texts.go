package data

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/data/internal/labelcells"
	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
)

// ReadTexts reads a column of tables, one table after the other, as a text for each of n points; a
// missing value is an empty text. If the points have ids and the tables have a column with a usual name
// of ids, the texts are joined by id; else the tables must have n rows. Of the options it takes Limit.
func ReadTexts(paths []string, column string, n int, ids *IDs, opt ReadOptions) ([]string, error) {
	r := &textReader{limit: opt.Limit}
	for _, p := range paths {
		if err := r.read(p, column, ids != nil); err != nil {
			return nil, err
		}
	}
	if ids != nil && len(r.ids) == len(r.texts) {
		out := make([]string, n)
		found := 0
		for k, id := range r.ids {
			if i, ok := ids.Row(id); ok && i < n {
				out[i] = r.texts[k]
				found++
			}
		}
		if found == 0 {
			return nil, fmt.Errorf("%s: no row has the id of a point; ids in %s are such as %s", paths[0], ids.From,
				fields.Quote([]byte(ids.Values[0])))
		}
		return out, nil
	}
	if len(r.texts) != n {
		return nil, fmt.Errorf("%s: column %s has %d rows for %d points", strings.Join(paths, ", "), column,
			len(r.texts), n)
	}
	return r.texts, nil
}

// HasColumn tells whether a file is a table with a column of a name. It also returns the columns of
// the table; nil if the file is none.
func HasColumn(path, column string, limit int64) (bool, []string) {
	src, err := openSource(path)
	if err != nil {
		return false, nil
	}
	isTable := src.format.table
	if src.Close() != nil || !isTable {
		return false, nil
	}
	t, err := table.Open(path, table.Options{Limit: limit})
	if err != nil {
		return false, nil
	}
	defer t.Close()
	columns := t.Names()
	return slices.Contains(columns, column), columns
}

// textReader gathers the texts of tables, and the ids of their rows.
type textReader struct {
	texts, ids []string
	size       int64
	limit      int64
}

// read reads a column of one table, with ids if the points have some.
func (r *textReader) read(path, column string, ids bool) error {
	t, err := table.Open(path, table.Options{Limit: r.limit})
	if err != nil {
		return err
	}
	defer t.Close()

	columns := t.Names()
	if !slices.Contains(columns, column) {
		return fmt.Errorf("%s has no column %q; its columns are %s", path, column,
			strings.Join(columns[:min(20, len(columns))], ", "))
	}
	want := []table.Column{{Name: column, Kind: table.Text}}
	id := labelcells.IDColumn(columns, "")
	ids = ids && id != "" && id != column && !labelcells.IsRowName(id)
	if ids {
		want = append(want, table.Column{Name: id, Kind: table.Text})
	}
	if err := t.Choose(want...); err != nil {
		return err
	}

	for {
		b, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for k := range b.Rows {
			text := ""
			if !b.Values[0].Missing(k) {
				text = strings.Clone(b.Values[0].Texts[k])
			}
			r.texts = append(r.texts, text)
			r.size += int64(len(text)) + idMemory
			if ids {
				r.ids = append(r.ids, strings.Clone(b.Values[1].Texts[k]))
				r.size += int64(len(b.Values[1].Texts[k])) + idMemory
			}
		}
		if r.limit > 0 && r.size > r.limit {
			return &npy.LimitError{What: path, Need: r.size, Limit: r.limit}
		}
	}
}
