package shell

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// CheckInputs returns an error that names the first of the inputs that is not there, so that nothing is
// read before. An input may be a pattern, and name an array of a file or columns of a table after a
// colon. Empty inputs are none.
func CheckInputs(inputs ...string) error {
	for _, in := range inputs {
		if in == "" {
			continue
		}
		_, err := os.Stat(in)
		if at := strings.LastIndexByte(in, ':'); at > 1 && errors.Is(err, fs.ErrNotExist) {
			// "C:\X.npy" has no key; its first part is too short for a name.
			if _, fault := os.Stat(in[:at]); !errors.Is(fault, fs.ErrNotExist) || !strings.ContainsAny(in, "*?[") {
				in = in[:at]
				err = fault
			}
		}
		// What a pattern matches is found by its reader, which says if that is nothing.
		var fault *fs.PathError
		if errors.Is(err, fs.ErrNotExist) && errors.As(err, &fault) && !strings.ContainsAny(in, "*?[") {
			return fmt.Errorf("%s: %w", in, fault.Err)
		}
	}
	return nil
}

// Present returns the inputs that are there: a script for jobs may be printed where the points are not.
func Present(inputs []string) []string {
	return slices.DeleteFunc(slices.Clone(inputs), func(in string) bool { return CheckInputs(in) != nil })
}

// CheckOutput returns an error unless files can be made at the paths, so that a
// long run does not end in one, and none of them is one of the inputs or named
// twice. It also returns an error if an input is not there. Empty paths are none.
func CheckOutput(inputs []string, paths ...string) error {
	return cmp.Or(checkPaths(inputs, paths), CheckInputs(inputs...))
}

// checkPaths is [CheckOutput] without a look whether the inputs are there.
func checkPaths(inputs, paths []string) error {
	for i, path := range paths {
		if path == "" {
			continue
		}
		if err := atomicfile.CheckWritable(path); err != nil {
			return Output(err)
		}

		// Writing over an input would destroy it when the run has already used it.
		for _, in := range inputs {
			if sameFile(in, path) {
				return Usagef("%s is both read and written; give the output another name", path)
			}
		}

		// Two outputs of one name: the second would replace the first without a word.
		for _, other := range paths[:i] {
			if other != "" && (samePath(other, path) || sameFile(other, path)) {
				return Usagef("%s is to be written twice; give each output its own name", path)
			}
		}
	}

	return nil
}

// CheckArchive returns an error unless the name of a file of several arrays ends in .npz. what says what the
// file is. An empty path is none.
func CheckArchive(what, path string) error {
	if path == "" || strings.EqualFold(filepath.Ext(path), ".npz") {
		return nil
	}
	return Usagef("%s: the extension %q is not that of %s; its name must end in .npz", path, filepath.Ext(path), what)
}

// CheckGraph is [CheckOutput] for the file of a graph, or its folder where the name ends
// with a separator.
func CheckGraph(inputs []string, path string) error {
	if !pipeline.IsFolderName(path) {
		fault := CheckArchive("a graph", path)
		if fault != nil && filepath.Ext(path) == "" {
			fault = Usagef("%w, or in / to name a folder", fault)
		}
		return cmp.Or(CheckOutput(inputs, path), fault)
	}
	if slices.ContainsFunc(inputs, func(in string) bool { return sameFile(in, path) }) {
		return Usagef("%s is both read and written; give the output another name", path)
	}
	if err := sparse.CheckFolder(path); err != nil {
		return Output(err)
	}
	return nil
}

// CheckFolder returns an error if inputs or outputs of a run lie in the folder dir, which the flag
// names: the run replaces and removes files there. An output that is itself a folder may not hold
// dir, as it is replaced as a whole. An empty dir is none.
func CheckFolder(flag, dir string, inputs []string, outputs ...string) error {
	if dir == "" {
		return nil
	}
	for _, path := range inputs {
		if path == "" {
			continue
		}
		// An input may name an array after a colon.
		file := path
		if i := strings.LastIndexByte(path, ':'); i > 1 {
			file = path[:i]
		}
		if inside(dir, path) || inside(dir, file) {
			return Usagef("%s is an input and lies in %s, the folder of --%s, whose files the run replaces and "+
				"removes; give --%s another folder", path, dir, flag, flag)
		}
	}
	for _, path := range outputs {
		switch {
		case path == "":
		case inside(dir, path):
			return Usagef("%s is an output and lies in %s, the folder of --%s, whose files the run replaces and "+
				"removes; give one of them another name", path, dir, flag)
		case pipeline.IsFolderName(path) && inside(path, dir):
			return Usagef("%s is an output folder around %s, the folder of --%s; give one of them another name",
				path, dir, flag)
		}
	}
	return nil
}

// inside reports whether path is dir or lies in it or below. Neither need be there.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(resolved(dir), resolved(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolved returns the absolute path without symbolic links, as far as it is there.
func resolved(path string) string {
	path, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// CheckAnswers is [CheckOutput] for files of answers and models. The extension of a file of
// answers must name a format, and models are .npz.
func CheckAnswers(inputs, answers []string, models ...string) error {
	if err := checkPaths(inputs, append(slices.Clone(answers), models...)); err != nil {
		return err
	}
	for _, path := range models {
		if err := CheckArchive("a model", path); err != nil {
			return err
		}
	}
	if err := table.CheckExtension(answers...); err != nil {
		return Usagef("%w", err)
	}
	return CheckInputs(inputs...)
}

// WriteAnswers writes answers for the points that were read, with their ids.
func (a *App) WriteAnswers(path string, answers pipeline.Answers, hashes pipeline.Hashes) error {
	answers.Hashes = hashes
	answers.CSVSafe = a.CSVSafe
	answers.Files = a.Files
	var err error
	if answers.IDs, err = a.Points.Identify(a); err != nil {
		return inputError{err}
	}
	return answers.Write(path)
}

// AnswerHashes returns the hash of the points x if one of the files of answers has a manifest
// to hold it. Otherwise it is nil, as hashing reads all points.
func AnswerHashes(x data.Points, paths ...string) pipeline.Hashes {
	if slices.ContainsFunc(paths, table.HasManifest) {
		return pipeline.Hashes{pipeline.HashPoints: data.HashPoints(x)}
	}
	return nil
}

// samePath reports whether two names lead to one file, which need not be there.
func samePath(a, b string) bool {
	// A file that is not there yet has no inode to compare, so its folder is resolved instead.
	at := func(path string) string {
		if target, err := atomicfile.Target(path); err == nil {
			path = target
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		path, _ = filepath.Abs(path)
		return path
	}

	return at(a) == at(b)
}

// sameFile reports whether two names mean one file that is there; in may name
// an array of it after a colon.
func sameFile(in, path string) bool {
	b, err := os.Stat(path)
	if err != nil {
		return false
	}
	// A path with a colon may be a file of that name or an array in a file; the former is tried
	// first.
	a, err := os.Stat(in)
	if i := strings.LastIndexByte(in, ':'); err != nil && i > 0 {
		a, err = os.Stat(in[:i])
	}
	return err == nil && os.SameFile(a, b)
}
