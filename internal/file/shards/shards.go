// Package shards finds the files of one set of points: by patterns, folders and lists, in
// the order of the numbers in their names.
package shards

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files lists the files of one set of points, in the order of their rows.
type Files struct {
	Given []string // the names that they were found by
	Paths []string
	// Notes say how the names were understood, where they could mean something else.
	Notes []string

	whole bool // one folder is all that is given
}

// Find returns the files that are named, one after the other. A name is one of these:
//
//   - a file, which may end in ":key";
//   - a pattern of [filepath.Match], as emb/*.npy, which may end in ":key": all files that
//     match, in the order of the numbers in their names, so that img_2 is before img_10;
//   - a folder: its files, as of a pattern; they must be of one kind, with names that
//     differ in numbers only. Tables beside .npy files are left out: see [Files.Beside];
//   - a text file that ends in .txt or .list and has the name of a file on each line, as
//     seen from its folder; empty lines and lines that begin with # do not count.
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

	// A file under two names would count its points twice, and so would a file of which one name has a
	// key: without one its points are read all the same.
	seen := map[string]bool{}
	for _, p := range f.Paths {
		file, key := SplitKey(filepath.Clean(p))
		if all := file + ":"; seen[all] || seen[file+":"+key] || key == "" && seen[file] {
			return nil, fmt.Errorf("%s: the file is given twice as a part of the points; its points "+
				"would count twice; a table that holds points and labels is given once, as points", p)
		}
		seen[file] = true
		seen[file+":"+key] = true
	}

	return f, nil
}

// Describe returns the beginning of a message about the points: the name, and the number of files
// if there are several.
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
	// A file of this name comes before a pattern.
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		f.whole = len(f.Given) == 1
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

// pointExtensions lists the extensions of files of points in a folder.
var pointExtensions = []string{".npy", ".npz", ".parquet", ".csv", ".tsv", ".jsonl", ".svm", ".svmlight",
	".libsvm", ".idx"}

// extension returns the extension of a file name, without the extension of its compression.
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

	// Anything else in the folder may be points too, so nothing is left out in silence.
	names = f.withoutTables(folder, names)
	switch {
	case len(names) == 0 && len(foreign) == 0:
		return fmt.Errorf("%s: the folder holds no files of points (%s)", folder,
			strings.Join(pointExtensions, ", "))
	case len(foreign) > 0:
		return fmt.Errorf("%s: the folder holds what is not points: %s; name the points by a pattern "+
			"in quotes, as %q", folder, some(foreign), filepath.Join(folder, pattern(names)))
	}

	slices.SortFunc(names, compareNumbers)
	var paths []string
	for _, n := range names {
		paths = append(paths, filepath.Join(folder, n))
	}

	// Names that differ in words may be points and labels, or two sets of points. Files that have each a table
	// of their name are one set.
	one := &Files{Paths: paths}
	if kinds := kindsOf(names); len(kinds) > 1 && (!one.oneFolder() || one.namesakes(nil) == nil) {
		all := ""
		if one.oneFolder() && len(kinds) == len(names) {
			all = fmt.Sprintf(", or all by %q", filepath.Join(folder, "*.npy"))
		}
		return fmt.Errorf("%s: the folder holds %d kinds of files, %s; name one by its pattern in "+
			"quotes, as %q%s", folder, len(kinds), describeKinds(names, kinds), filepath.Join(folder, kinds[0]), all)
	}
	f.Paths = append(f.Paths, paths...)
	return nil
}

// withoutTables leaves out tables that are beside .npy files, as exporters of embeddings write them.
func (f *Files) withoutTables(given string, names []string) []string {
	if !slices.ContainsFunc(names, func(n string) bool { return extension(n) == ".npy" }) {
		return names
	}
	all := len(names)
	names = slices.DeleteFunc(names, isTable)
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

// pattern returns a pattern that may be meant by the first of the names, for a remedy.
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
	// The pattern may end in ":key", unless files match the whole of it.
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
	// One file of each kind is a choice of the pattern; several kinds of numbered files are a
	// mistake.
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
