package shards

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Beside returns the tables that lie beside files of points and belong to them, one a file
// in their order, as exporters of embeddings write metadata_0.parquet beside
// img_emb_0.npy: the files of points are .npy of one folder and kind, and the tables, in
// parquet or JSON Lines, have the same numbers in their names. It returns nil if there are
// none, or several kinds of them.
func Beside(paths []string) []string {
	want := map[string]int{} // the numbers in the name of a file, and its place
	for i, p := range paths {
		key := numbersIn(filepath.Base(p))
		if extension(p) != ".npy" || key == "" || filepath.Dir(p) != filepath.Dir(paths[0]) ||
			kindOf(filepath.Base(p)) != kindOf(filepath.Base(paths[0])) {
			return nil
		}
		want[key] = i
	}

	// Numbers that repeat do not tell which table belongs to which file.
	if len(want) != len(paths) || len(paths) == 0 {
		return nil
	}
	folder := filepath.Dir(paths[0])
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // the reader of the points says why
	}
	// A kind of tables belongs to the points if it has one table for each file.
	found := map[string][]string{} // by kind
	for _, e := range entries {
		name := e.Name()
		at, ok := want[numbersIn(name)]
		if !ok || name[0] == '.' || !slices.Contains([]string{".parquet", ".jsonl"}, extension(name)) {
			continue
		}
		kind := kindOf(name)
		if found[kind] == nil {
			found[kind] = make([]string, len(paths))
		}
		found[kind][at] = filepath.Join(folder, name)
	}

	if len(found) != 1 {
		return nil
	}

	for _, tables := range found {
		if !slices.Contains(tables, "") {
			return tables
		}
	}
	return nil
}

// numbersIn returns the numbers in a name, without leading zeros, with blanks between.
func numbersIn(name string) string {
	var out []string
	for name != "" {
		n := digits(name)
		if n == 0 {
			name = name[1:]
			continue
		}
		out = append(out, strings.TrimLeft(name[:n], "0"))
		name = name[n:]
	}

	if out == nil {
		return ""
	}
	return "n" + strings.Join(out, " ")
}
