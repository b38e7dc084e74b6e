package data

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadTexts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := write("a.csv", "id,text,n\nx,first,1\ny,,2\n")
	b := write("b.csv", "id,text,n\nz,\"third, of all\",3\n")
	plain := write("plain.csv", "text\nfirst\nsecond\nthird\n")
	ids, err := NewIDs("ids.csv", []string{"z", "w", "x", "y"})
	if err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		paths []string
		n     int
		ids   *IDs
		want  []string
	}{
		"in order":          {[]string{a, b}, 3, nil, []string{"first", "", "third, of all"}},
		"by id":             {[]string{a, b}, 4, ids, []string{"third, of all", "", "first", ""}},
		"no ids in a table": {[]string{plain}, 3, ids, []string{"first", "second", "third"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadTexts(c.paths, "text", c.n, c.ids, ReadOptions{})
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}

	foreign, err := NewIDs("other.csv", []string{"p", "q", "r"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		column string
		n      int
		ids    *IDs
		limit  int64
		want   string
	}{
		"rows":       {"text", 5, nil, 0, "has 3 rows for 5 points"},
		"column":     {"words", 3, nil, 0, "its columns are id, text, n"},
		"other ids":  {"text", 3, foreign, 0, "no row has the id of a point"},
		"no memory":  {"text", 3, nil, 100, "memory"},
		"numbers as": {"n", 2, nil, 0, "has 3 rows for 2 points"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ReadTexts([]string{a, b}, c.column, c.n, c.ids, ReadOptions{Limit: c.limit}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}

	if ok, columns := HasColumn(a, "n", 0); !ok || len(columns) != 3 {
		t.Errorf("%v, %q", ok, columns)
	}
	if ok, columns := HasColumn(filepath.Join(dir, "none.csv"), "n", 0); ok || columns != nil {
		t.Errorf("%v, %q", ok, columns)
	}
}
