package shards

import (
	"fmt"
	"slices"
	"strings"
)

// Names holds names for [Find], from a flag that may be repeated and from arguments.
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

// Inputs returns the files of the names, and others behind them. A name that cannot be found stands
// for itself: the error of its reader says why.
func (n Names) Inputs(others ...string) []string {
	if f, err := Find(n); err == nil {
		return append(f.Paths, others...)
	}
	return append(slices.Clone(n), others...)
}

// Take adds the arguments of a command to the points. The last argument is y, the file of the
// labels, unless y is given already; a single argument is y only if alone says so or there are
// points without it. Arguments that a shell sorted by letters are sorted by numbers, and the note
// says so.
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
