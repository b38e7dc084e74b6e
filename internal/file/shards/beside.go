package shards

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tableExtensions lists the extensions of tables that may lie beside .npy files.
var tableExtensions = []string{".parquet", ".jsonl", ".csv", ".tsv"}

// isTable reports whether the name is one of a table.
func isTable(name string) bool { return slices.Contains(tableExtensions, extension(name)) }

// Beside returns the sets of tables that lie beside the files of points and may belong to them, as
// exporters of embeddings write metadata_0.parquet beside img_emb_0.npy. All files of points must be
// .npy in one folder. A set is one of these:
//
//   - one table for each of several files of points, named as the points but for the extension:
//     train.csv and test.csv beside train.npy and test.npy;
//   - one table for each file of points, in their order, if the points are of one kind. The names of the
//     tables have the numbers of the files of points, or the numbers that differ among these;
//   - a single table for all points, if the points are named by their folder.
//
// Sets with a table for each file come first; all sets are sorted by name. Files in except belong to
// no set. A csv beside a single file that is named itself is no candidate: it is as likely a file of
// answers or labels.
func (f *Files) Beside(except ...string) [][]string {
	if !f.oneFolder() {
		return nil
	}
	if !f.oneKind() {
		return f.namesakes(except)
	}
	folder := filepath.Dir(f.Paths[0])
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // the reader of the points says why
	}

	tables := map[string][]string{} // by kind
	for _, e := range entries {
		name := e.Name()
		if name[0] == '.' || !isTable(name) || isFolder(folder, e) {
			continue
		}
		if len(f.Paths) == 1 && !f.whole && !slices.Contains(tableExtensions[:2], extension(name)) {
			continue
		}
		if path := filepath.Join(folder, name); !slices.ContainsFunc(except, func(other string) bool {
			return sameFile(path, other)
		}) {
			tables[kindOf(name)] = append(tables[kindOf(name)], path)
		}
	}

	var each, all [][]string
	for _, kind := range sortedKeys(tables) {
		if set := matched(f.Paths, tables[kind]); set != nil {
			each = append(each, set)
		} else if f.whole && len(tables[kind]) == 1 {
			all = append(all, tables[kind])
		}
	}
	return append(each, all...)
}

// oneFolder reports whether all files are .npy of one folder.
func (f *Files) oneFolder() bool {
	for _, p := range f.Paths {
		if extension(p) != ".npy" || filepath.Dir(p) != filepath.Dir(f.Paths[0]) {
			return false
		}
	}
	return len(f.Paths) > 0
}

// oneKind reports whether the names of all files differ in numbers only.
func (f *Files) oneKind() bool {
	return !slices.ContainsFunc(f.Paths, func(p string) bool {
		return kindOf(filepath.Base(p)) != kindOf(filepath.Base(f.Paths[0]))
	})
}

// namesakes returns the sets of tables with one extension that are named as the files of points.
func (f *Files) namesakes(except []string) [][]string {
	var sets [][]string
	for _, extension := range tableExtensions {
		var set []string
		for _, p := range f.Paths {
			if table := namesake(p, extension); table != "" && !slices.ContainsFunc(except, func(other string) bool {
				return sameFile(table, other)
			}) {
				set = append(set, table)
			}
		}
		if len(set) == len(f.Paths) {
			sets = append(sets, set)
		}
	}
	return sets
}

// namesake returns the table that is named as a file of points but for the extension; empty if there is none.
func namesake(points, extension string) string {
	stem := WithoutPacking(points)
	stem = stem[:len(stem)-len(filepath.Ext(stem))]
	for _, packing := range []string{"", ".gz", ".zst"} {
		if info, err := os.Stat(stem + extension + packing); err == nil && !info.IsDir() {
			return stem + extension + packing
		}
	}
	return ""
}

// sameFile reports whether two names lead to one file that is there.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func sortedKeys(m map[string][]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// matched returns the tables, which are of one kind, in the order of the points that they belong to
// by the numbers in their names; nil unless each file of points has exactly one table.
func matched(points, tables []string) []string {
	have := numbersOf(points)
	found := numbersOf(tables)
	if set := pairs(have, found, tables); set != nil {
		return set
	}
	// vit14_emb_0.npy and meta_0.csv agree in the number that differs among the files.
	if len(points) > 1 {
		return pairs(differing(have), differing(found), tables)
	}
	return nil
}

// pairs returns the table of each file of points by their numbers; nil unless there is exactly one.
func pairs(points, found [][]string, tables []string) []string {
	at := map[string]int{}
	for i, numbers := range found {
		key := strings.Join(numbers, " ")
		if _, twice := at[key]; twice {
			return nil
		}
		at[key] = i
	}

	var set []string
	for _, numbers := range points {
		i, ok := at[strings.Join(numbers, " ")]
		if !ok || len(numbers) == 0 {
			return nil
		}
		set = append(set, tables[i])
	}

	// Numbers that repeat do not tell which table belongs to which file.
	sorted := slices.Sorted(slices.Values(set))
	if len(slices.Compact(sorted)) != len(points) {
		return nil
	}
	return set
}

// numbersOf returns the numbers in the name of each file.
func numbersOf(paths []string) [][]string {
	var out [][]string
	for _, p := range paths {
		out = append(out, numbersIn(filepath.Base(p)))
	}
	return out
}

// differing leaves only the numbers that are not the same in all names, which are of one kind.
func differing(numbers [][]string) [][]string {
	out := make([][]string, len(numbers))
	for at := range numbers[0] {
		if !slices.ContainsFunc(numbers, func(n []string) bool { return n[at] != numbers[0][at] }) {
			continue
		}
		for i := range numbers {
			out[i] = append(out[i], numbers[i][at])
		}
	}
	return out
}

// numbersIn returns the numbers in a name, without leading zeros.
func numbersIn(name string) []string {
	var out []string
	for name != "" {
		n := digits(name)
		if n == 0 {
			name = name[1:]
			continue
		}
		out = append(out, "n"+strings.TrimLeft(name[:n], "0"))
		name = name[n:]
	}
	return out
}
