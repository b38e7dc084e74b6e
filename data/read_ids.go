package data

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/data/internal/labelcells"
	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/shards"
	"github.com/bigfit/bigfit/internal/file/table"
)

// ReadIDs reads the names of points, in the order of the points, from a file, or from all
// files that match a pattern, in the order of the numbers in their names:
//
//   - .npy and .npz: strings or integers.
//   - text: one id a line. Lines above the first one that begin with # and a blank are comments. A first line that is a usual
//     name of a column of ids is a header.
//   - tables (csv, JSON Lines and parquet): the column that is given as "FILE:COLUMN",
//     else the one with a usual name, as "id" or "path".
//
// Of the options it takes Limit, and Points, the number of points that are named. An id that is
// missing or there twice is an error that names its row.
func ReadIDs(path string, opt ReadOptions) (*IDs, error) {
	paths := []string{path}
	if file, _ := shards.SplitKey(path); strings.ContainsAny(path, "*?[") {
		if _, err := os.Stat(file); err != nil {
			found, err := shards.Find(paths)
			if err != nil {
				return nil, err
			}
			paths = found.Paths
		}
	}

	r := &idReader{points: opt.Points, limit: opt.Limit}
	for _, p := range paths {
		if err := r.file(p); err != nil {
			return nil, err
		}
	}
	ids, err := NewIDs(path, r.ids)
	if err != nil {
		return nil, err
	}
	ids.Notes = r.notes
	return ids, nil
}

// TableIDs returns the ids in a table by the column that has a usual name of ids; nil if the
// file is no table or has no such column.
func TableIDs(path string, limit int64) (*IDs, error) {
	src, err := openSource(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	if !src.format.table || src.format.name == FormatCSV && !isTable(src) {
		return nil, nil
	}
	t, err := table.Open(src.path, table.Options{Limit: limit})
	if err != nil {
		return nil, err
	}

	name := labelcells.IDColumn(t.Names(), "")
	if err := t.Close(); err != nil || name == "" || labelcells.IsRowName(name) {
		return nil, err
	}
	return ReadIDs(src.path+":"+name, ReadOptions{Limit: limit})
}

// LikelyColumn returns the only column whose name ends as one of ids does, as image_id; empty if there is
// none or more than one. Its values may repeat, so that it does not name the rows.
func LikelyColumn(columns []string) string { return labelcells.LikelyIDColumn(columns) }

// UsualColumn returns the column of a table with the most usual name of ids; empty if there is none.
// It also returns all columns.
func UsualColumn(path string, limit int64) (name string, columns []string, err error) {
	t, err := table.Open(path, table.Options{Limit: limit})
	if err != nil {
		return "", nil, err
	}
	columns = t.Names()
	return labelcells.IDColumn(columns, ""), columns, t.Close()
}

// IDsBeside returns the ids in a column of tables that lie beside files of points, one after the
// other: a table for each file of points, or one for all of them. The rows of a table must be as many
// as the points that it belongs to; an error names both files.
func IDsBeside(points, tables []string, column string, limit int64) (*IDs, error) {
	r := &idReader{limit: limit}
	for i, path := range tables {
		before := len(r.ids)
		if err := r.file(path + ":" + column); err != nil {
			return nil, err
		}

		files := points
		if len(tables) > 1 {
			files = points[i : i+1]
		}
		want := 0
		for _, p := range files {
			want += Rows(p)
		}
		if got := len(r.ids) - before; got != want {
			return nil, fmt.Errorf("%s has %d rows, but %s has %d points", path, got,
				shards.Names(files).Range(), want)
		}
	}

	return idsOfColumn(shards.Names(tables).Range(), column, r.ids)
}

// ReadRows returns the numbers of the points that a file names, ascending, each once. They are the
// numbers in a column row of a table, or else ids in a file as [ReadIDs] takes it. Points without ids
// are named by their numbers, 0 to n−1. A name that no point has is an error.
func ReadRows(path string, ids *IDs, n int, opt ReadOptions) ([]int, error) {
	numbers := ids == nil
	file := path
	if row := rowColumn(path, opt.Limit); row != "" {
		numbers = true
		file = path + ":" + row
	}
	named, err := ReadIDs(file, ReadOptions{Limit: opt.Limit})
	if err != nil {
		return nil, err
	}

	rows := make([]int, 0, named.Len())
	for k, id := range named.Values {
		if numbers {
			i, err := strconv.Atoi(id)
			if err != nil || i < 0 || i >= n {
				return nil, fmt.Errorf("%s: element %d is %s, which is no number of a point, 0 to %d", file, k,
					fields.Quote([]byte(id)), n-1)
			}
			rows = append(rows, i)
			continue
		}
		i, ok := ids.Row(id)
		if !ok {
			return nil, fmt.Errorf("%s: element %d is %s, which is the id of no point; in %s they are such as %s",
				file, k, fields.Quote([]byte(id)), ids.From, fields.Quote([]byte(ids.Values[0])))
		}
		rows = append(rows, i)
	}

	slices.Sort(rows)
	return rows, nil
}

// rowColumn returns the column of a table that holds numbers of points, if no other column has a
// usual name of ids; "" if there is none.
func rowColumn(path string, limit int64) string {
	src, err := openSource(path)
	if err != nil {
		return ""
	}
	defer src.Close()
	if !src.format.table || src.key != "" || src.format.name == FormatCSV && !isTable(src) {
		return ""
	}
	t, err := table.Open(src.path, table.Options{Limit: limit})
	if err != nil {
		return ""
	}
	defer t.Close()
	if name := labelcells.IDColumn(t.Names(), ""); labelcells.IsRowName(name) {
		return name
	}
	return ""
}

// idReader gathers the ids in files.
type idReader struct {
	ids    []string
	notes  []string
	size   int64
	points int // 0 if their number is not known
	limit  int64
}

// idMemory is the memory of an id beside its text: the string in a list that grows, and its entry
// in the table of rows.
const idMemory = 64

func (r *idReader) add(what, id string) error {
	if r.size += int64(len(id)) + idMemory; r.limit > 0 && r.size > r.limit {
		return &npy.LimitError{What: what, Need: r.size, Limit: r.limit}
	}
	r.ids = append(r.ids, id)
	return nil
}

// file reads the ids of a file.
func (r *idReader) file(path string) error {
	src, err := openSource(path)
	if err != nil {
		return err
	}
	defer src.Close()
	src.Limit = r.limit

	switch {
	case src.format.table && (src.key != "" || src.format.name != FormatCSV || isTable(src)):
		return r.column(src)
	case src.format.table:
		return r.lines(src)
	case src.format.array == nil || src.key != "" && !src.format.keys:
		return src.fault("it is %s, of which ids are not read; give strings or integers in .npy, "+
			"text with one id a line, or a table as FILE:COLUMN", src.format.name)
	}

	// Strings or integers of an array.
	request := arrayRequest{key: src.key, usual: "id", limit: r.limit}
	request.begin = func(what string, h *npy.Header) error {
		if err := sameRows(r.points)(what, h); err != nil {
			return err
		}
		if need := h.Memory() + idMemory*int64(h.Len()); r.limit > 0 && need > r.limit {
			return &npy.LimitError{What: what, Need: need, Limit: r.limit}
		}
		return nil
	}
	a, what, err := src.format.array(src, request)
	if err != nil {
		return err
	}
	if len(a.Shape) != 1 {
		return fmt.Errorf("%s: it is %s, want one id a point", what, a)
	}
	texts, ok := a.Data.([]string)
	if !ok {
		c, err := labelcells.FromArray(what, a)
		if err != nil {
			return err
		}
		if c.Labeled != nil {
			return fmt.Errorf("%s: row %d is NaN; every point needs an id", what,
				slices.Index(c.Labeled, false))
		}
		for _, v := range c.Values {
			texts = append(texts, fmt.Sprint(v))
		}
	}

	for _, text := range texts {
		if err := r.add(what, text); err != nil {
			return err
		}
	}
	return nil
}

// lines reads one id a line.
func (r *idReader) lines(src *source) error {
	l := src.Lines()
	for first := true; ; first = false {
		line, err := l.NextValue(first)
		if err == io.EOF {
			if text := l.Skipped(); text != "" {
				r.notes = append(r.notes, text)
			}
			return nil
		}
		if err != nil {
			return err
		}
		// Quotes around an id are not part of it.
		if len(line) >= 2 && line[0] == '"' && line[len(line)-1] == '"' {
			line = line[1 : len(line)-1]
		}
		// A usual name of a column in the first line is a header.
		if first && labelcells.IsIDName(string(line)) {
			continue
		}
		if err := r.add(src.path, string(line)); err != nil {
			return err
		}
	}
}

// column reads the ids in a column of a table.
func (r *idReader) column(src *source) error {
	t, err := table.Open(src.path, table.Options{Limit: r.limit})
	if err != nil {
		return err
	}
	defer t.Close()

	// The column is named, or has a usual name.
	name := src.key
	if name == "" {
		columns := t.Names()
		if name = labelcells.IDColumn(columns, ""); name == "" {
			return src.fault("which column holds the ids, %s? Name it as %s:COLUMN",
				strings.Join(columns[:min(20, len(columns))], ", "), src.path)
		}
	}

	// Numbers are read as text: an id keeps the digits that the file has.
	if err := t.Choose(table.Column{Name: name, Kind: table.Text}); err != nil {
		return err
	}

	for {
		b, err := t.Next()
		if err == io.EOF {
			r.notes = append(r.notes, t.Notes()...)
			return nil
		}
		if err != nil {
			return err
		}

		for i, id := range b.Values[0].Texts {
			if b.Values[0].Missing(i) {
				return fmt.Errorf("%s: the id is missing; every point needs one", b.Place(i))
			}
			if err := r.add(src.path, id); err != nil {
				return err
			}
		}
	}
}
