package shell

import (
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

// CheckOutput returns an error unless files can be made at the paths, so that a
// long run does not end in one, and none of them is one of the inputs or named
// twice. Empty paths are none.
func CheckOutput(inputs []string, paths ...string) error {
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

// CheckGraph is [CheckOutput] for the file of a graph, or its folder where the name ends
// with a separator.
func CheckGraph(inputs []string, path string) error {
	if !pipeline.IsFolderName(path) {
		return CheckOutput(inputs, path)
	}
	if slices.ContainsFunc(inputs, func(in string) bool { return sameFile(in, path) }) {
		return Usagef("%s is both read and written; give the output another name", path)
	}
	if err := sparse.CheckFolder(path); err != nil {
		return Output(err)
	}
	return nil
}

// CheckAnswers is [CheckOutput] for files of answers and others. The extension of a file of
// answers must name a format.
func CheckAnswers(inputs, answers []string, others ...string) error {
	if err := CheckOutput(inputs, append(slices.Clone(answers), others...)...); err != nil {
		return err
	}
	if err := table.CheckExtension(answers...); err != nil {
		return Usagef("%w", err)
	}
	return nil
}

// WriteAnswers writes answers for the points that were read, with their ids.
func (a *App) WriteAnswers(path string, answers pipeline.Answers, hashes pipeline.Hashes) error {
	answers.Hashes = hashes
	answers.Files = a.Files
	var err error
	if answers.IDs, err = a.Points.Identify(a); err != nil {
		return err
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
