// Package shards finds the files of one set of points: by patterns, folders and lists, in
// the order of the numbers in their names.
package shards

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Files are the files of one set of points, in the order of their rows.
type Files struct {
	Given []string // what they were found by
	Paths []string
	// Notes say how what was given was understood, where it could be meant otherwise.
	Notes []string
}

// Find returns the files that are named, one after the other. A name is that of
//
//   - a file, which may end in ":key";
//   - a pattern of [filepath.Match], as emb/*.npy, which may end in ":key": all files that
//     match, in the order of the numbers in their names, so that img_2 is before img_10;
//   - a folder: its files, as of a pattern; they must be of one kind, which is that
//     their names differ in numbers only. Tables in parquet beside .npy files are left out;
//   - a text file that ends in .txt or .list and has the name of a file on each line, as
//     seen from its folder; empty lines and those that begin with # do not count.
//
// Several kinds of numbered files under one pattern are an error, as they are seldom the
// parts of one set. A file that is named twice is an error.
func Find(names []string) (*Files, error) {
	f := &Files{Given: names}
	for _, name := range names {
		if err := f.add(name); err != nil {
			return nil, err
		}
	}

	seen := map[string]bool{}
	for _, p := range f.Paths {
		if clean := filepath.Clean(p); seen[clean] {
			return nil, fmt.Errorf("%s: the file is given twice as a part of the points; its points "+
				"would count twice", p)
		} else {
			seen[clean] = true
		}
	}

	return f, nil
}

// Describe is the beginning of what is said of the points: the name, and the number of
// files of several.
func (f *Files) Describe() string {
	if len(f.Paths) == 1 {
		return f.Paths[0] + ": "
	}
	return fmt.Sprintf("%s: %d files, %s: ", some(f.Given), len(f.Paths), Names(f.Paths).Range())
}

// note adds a note.
func (f *Files) note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

// add finds the files of one name.
func (f *Files) add(name string) error {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return f.addFolder(name)
	case err == nil && slices.Contains([]string{".txt", ".list"}, strings.ToLower(filepath.Ext(name))):
		listed, err := readList(name)
		if err != nil {
			return err
		}
		if listed != nil {
			f.note("%s: read as a list of %s", name, count(len(listed), "file"))
			f.Paths = append(f.Paths, listed...)
			return nil
		}
	case err != nil && strings.ContainsAny(name, "*?["):
		if path, _ := SplitKey(name); path == name {
			return f.addPattern(name)
		}
	}

	f.Paths = append(f.Paths, name)
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// pointExtensions are those of files of points in a folder.
var pointExtensions = []string{".npy", ".npz", ".parquet", ".csv", ".tsv", ".jsonl", ".svm", ".svmlight",
	".libsvm", ".idx"}

// extension returns the extension of a file name without that of its compression.
func extension(name string) string { return filepath.Ext(WithoutPacking(strings.ToLower(name))) }

func (f *Files) addFolder(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("%s: cannot read the folder: %w", folder, err)
	}
	var names, foreign []string
	for _, e := range entries {
		switch name := e.Name(); {
		case name[0] == '.':
		case isFolder(folder, e):
			foreign = append(foreign, name+"/")
		case slices.Contains(pointExtensions, extension(name)):
			names = append(names, name)
		default:
			foreign = append(foreign, name)
		}
	}

	names = f.withoutTables(folder, names)
	switch {
	case len(names) == 0 && len(foreign) == 0:
		return fmt.Errorf("%s: the folder holds no files of points (%s)", folder,
			strings.Join(pointExtensions, ", "))
	case len(foreign) > 0:
		return fmt.Errorf("%s: the folder holds what is not points: %s; name the points by a pattern "+
			"in quotes, as %q", folder, some(foreign), filepath.Join(folder, pattern(names)))
	}

	if kinds := kindsOf(names); len(kinds) > 1 {
		return fmt.Errorf("%s: the folder holds %d kinds of files, %s; name one by its pattern in "+
			"quotes, as %q", folder, len(kinds), describeKinds(names, kinds), filepath.Join(folder, kinds[0]))
	}
	slices.SortFunc(names, compareNumbers)
	for _, n := range names {
		f.Paths = append(f.Paths, filepath.Join(folder, n))
	}
	return nil
}

// withoutTables leaves out tables in parquet that are beside .npy files, as exporters of
// embeddings write them.
func (f *Files) withoutTables(given string, names []string) []string {
	if !slices.ContainsFunc(names, func(n string) bool { return extension(n) == ".npy" }) {
		return names
	}
	all := len(names)
	names = slices.DeleteFunc(names, func(n string) bool { return extension(n) == ".parquet" })
	if left := all - len(names); left > 0 {
		f.note("%s: %s beside the points left out", given, count(left, "table"))
	}
	return names
}

// isFolder reports whether an entry of a folder is a folder or a link to one.
func isFolder(parent string, e fs.DirEntry) bool {
	info, err := os.Stat(filepath.Join(parent, e.Name()))
	return err == nil && info.IsDir()
}

// pattern returns one that the first of the names may be meant by.
func pattern(names []string) string {
	if len(names) == 0 {
		return "*.npy"
	}
	return kindOf(names[0])
}

// some lists names, the first five of more.
func some(names []string) string {
	if len(names) > 5 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:5], ", "), len(names)-5)
	}
	return strings.Join(names, ", ")
}

// kindOf returns a name with a * in the place of each of its numbers.
func kindOf(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if !isDigit(name[i]) {
			b.WriteByte(name[i])
		} else if i == 0 || !isDigit(name[i-1]) {
			b.WriteByte('*')
		}
	}
	return b.String()
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// kindsOf returns the kinds of the names, sorted.
func kindsOf(names []string) []string {
	var kinds []string
	for _, n := range names {
		kinds = append(kinds, kindOf(n))
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// describeKinds lists kinds with the number of their files.
func describeKinds(names, kinds []string) string {
	var parts []string
	for _, k := range kinds {
		n := 0
		for _, name := range names {
			if kindOf(name) == k {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", k, count(n, "file")))
	}

	return some(parts)
}

// addPattern adds the files that match a pattern, which may end in ":key".
func (f *Files) addPattern(given string) error {
	glob := func(p string) ([]string, error) {
		all, err := filepath.Glob(p)
		if err != nil {
			return nil, fmt.Errorf("%s: the pattern is malformed; * stands for any text, ? for a "+
				"character, [a-z] for one of several", p)
		}
		return slices.DeleteFunc(all, func(name string) bool {
			if base := filepath.Base(name); base[0] == '.' && filepath.Base(p)[0] != '.' {
				return true // hidden
			}
			info, err := os.Stat(name)
			return err == nil && info.IsDir()
		}), nil
	}

	names, err := glob(given)
	if err != nil {
		return err
	}
	key := ""
	if i := strings.LastIndexByte(given, ':'); i > 0 && len(names) == 0 {
		if names, err = glob(given[:i]); err != nil {
			return err
		}
		key = given[i:]
	}

	if len(names) == 0 {
		return fmt.Errorf("%s: no file matches the pattern", given)
	}
	names = f.withoutTables(given, names)
	// Names without numbers in common are what was asked for.
	if kinds := kindsOf(names); len(kinds) > 1 && len(kinds) < len(names) {
		return fmt.Errorf("%s: %d kinds of files match, %s; give a pattern that only one of them "+
			"matches, or name the files one by one", given, len(kinds), describeKinds(names, kinds))
	}
	slices.SortFunc(names, compareNumbers)
	for _, n := range names {
		f.Paths = append(f.Paths, n+key)
	}
	return nil
}

// InNumericOrder returns names in the order of the numbers in them if they are in that of
// their letters, in which a shell puts the files that match a pattern, and are of one kind.
func InNumericOrder(names []string) (sorted []string, changed bool) {
	if !slices.IsSorted(names) || len(kindsOf(names)) != 1 {
		return names, false
	}
	sorted = slices.SortedFunc(slices.Values(names), compareNumbers)
	return sorted, !slices.Equal(sorted, names)
}

// compareNumbers orders names by their letters and the values of the numbers in them.
func compareNumbers(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m := digits(x)
		n := digits(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x = x[1:]
			y = y[1:]
			continue
		}

		p := strings.TrimLeft(x[:m], "0")
		q := strings.TrimLeft(y[:n], "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
			return c
		}
		x = x[m:]
		y = y[n:]
	}

	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digits returns the number of digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// Bounds of the files that are read as lists.
const (
	maxListed   = 1 << 20
	maxListLine = 4 << 10
)

// readList returns the files that the lines of a text file name, nil if it is no list: if
// its first line is not the name of a file, or is a number. A later line that names none is
// an error.
func readList(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, maxListLine), maxListLine)
	always := strings.EqualFold(filepath.Ext(path), ".list")
	var names []string
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		if len(names) == 0 && !always && isNumberText(line) {
			return nil, nil
		}
		name := line
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		file, _ := SplitKey(name)
		info, err := os.Stat(file)
		if err == nil && !info.IsDir() && len(names) < maxListed {
			names = append(names, name)
			continue
		}

		if len(names) == 0 && !always {
			return nil, nil
		}
		why := "is no file"
		switch {
		case len(names) == maxListed:
			why = fmt.Sprintf("is one too many; a list names at most %d files", maxListed)
		case err == nil:
			why = "is a folder"
		}

		return nil, fmt.Errorf("%s: line %d: %s %s; a list of files has the name of one on each "+
			"line, as seen from the folder of the list", path, n, short(line), why)
	}

	if err := lines.Err(); err != nil && (always || len(names) > 0) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(names) == 0 && always {
		return nil, fmt.Errorf("%s: the list names no file", path)
	}
	return names, nil
}

func isNumberText(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// short is %q of at most 40 bytes of text.
func short(text string) string {
	if len(text) > 40 {
		return strconv.Quote(text[:40]) + "…"
	}
	return strconv.Quote(text)
}

// SplitKey cuts "file.npz:key" unless a file of the whole name exists.
func SplitKey(path string) (file, key string) {
	if _, err := os.Stat(path); err != nil {
		if i := strings.LastIndexByte(path, ':'); i > 0 {
			if _, err := os.Stat(path[:i]); err == nil {
				return path[:i], path[i+1:]
			}
		}
	}
	return path, ""
}

// WithoutPacking cuts the extension of a compressed file off.
func WithoutPacking(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
}

// Names are names given to [Find], as a flag that may be repeated and as arguments.
type Names []string

// Set adds a name.
func (n *Names) Set(name string) error {
	*n = append(*n, name)
	return nil
}

// String lists the names.
func (n Names) String() string { return strings.Join(n, ", ") }

// Range names the first and the last.
func (n Names) Range() string {
	if len(n) < 2 {
		return n.One()
	}
	return n[0] + " to " + n[len(n)-1]
}

// Type stands for the value in help texts.
func (n Names) Type() string { return "file" }

// One returns the only name, or nothing.
func (n Names) One() string {
	if len(n) == 1 {
		return n[0]
	}
	return ""
}

// Inputs returns the files of the names, and others beside them. A name that cannot be
// found stands for itself: its reader says what is wrong.
func (n Names) Inputs(others ...string) []string {
	if f, err := Find(n); err == nil {
		return append(f.Paths, others...)
	}
	return append(slices.Clone(n), others...)
}

// Take adds the arguments of a command to the points. The last is y, the file of the labels,
// unless y is given already; a single one is y only if there are points without it, as
// alone says. What a shell put in the order of letters is put in that of numbers, which
// the note says.
func (n *Names) Take(args []string, y *string, alone bool) (note string) {
	if y != nil && *y == "" && len(args) > 0 && (alone || len(*n) > 0 || len(args) > 1) {
		*y = args[len(args)-1]
		args = args[:len(args)-1]
	}
	sorted, changed := InNumericOrder(args)
	if changed {
		note = fmt.Sprintf("points: %d files in the order of their numbers: %s first, %s last", len(sorted),
			sorted[0], sorted[len(sorted)-1])
	}
	*n = append(*n, sorted...)
	return note
}
