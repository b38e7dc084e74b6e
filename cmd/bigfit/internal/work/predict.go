package work

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/file/shards"
)

// ShardHelp is the text on answers for one file of points at a time.
const ShardHelp = `With many files of points, --part I answers for file I alone, counted from 0, and --part
env for those of this job: predict model.npz 'new/*.npy' --part env -o 'pred-{part}.npy'
writes the number of the file in place of {part}. --part missing lists the files whose
answers are not there.`

// hole stands for the number of the part in names of outputs.
const hole = "{part}"

// EachShard calls predict once for each file of x that part names. Before each call it sets x to
// that file and the outputs to the file's own names; empty outputs stay empty. Without a part it
// calls predict once for all of x.
func EachShard(a *shell.App, part string, x *shards.Names, outputs []*string, predict func() error) error {
	if part == "" {
		return predict()
	}
	var patterns []string
	// Without the hole every file would overwrite the answers of the one before.
	for _, name := range outputs {
		if *name != "" && !strings.Contains(*name, hole) {
			return shell.Usagef("%s is written for each file; put %s into its name, as in -o 'pred-%s.npy'",
				*name, hole, hole)
		}
		patterns = append(patterns, *name)
	}

	files, err := shards.Find(*x)
	if err != nil {
		return err
	}

	// Five digits keep the names in order for 100,000 files.
	named := func(p int) []string {
		out := make([]string, len(patterns))
		for i, name := range patterns {
			out[i] = strings.ReplaceAll(name, hole, fmt.Sprintf("%05d", p))
		}
		return out
	}
	// A file counts as answered when all its outputs are there.
	if part == missing {
		var lacks []int
		for p := range files.Paths {
			if slices.ContainsFunc(named(p), func(name string) bool { return name != "" && !exists(name) }) {
				lacks = append(lacks, p)
			}
		}
		return printMissing(a, lacks, len(files.Paths))
	}

	list, err := numbersOf(a, part, len(files.Paths))
	if err != nil {
		return err
	}

	for _, p := range list {
		a.Points.Names = nil // each file has its own ids
		*x = shards.Names{files.Paths[p]}
		for i, name := range named(p) {
			*outputs[i] = name
		}
		if err := predict(); err != nil {
			return fmt.Errorf("part %d: %w", p, err)
		}
	}

	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
