// Package suggest finds the names that a misspelt name may stand for.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// most is the number of names that an error suggests at most.
const most = 2

// Nearest returns the names that a misspelt name may stand for, at most two: those at the
// smallest edit distance, which may be a third of its letters, and two of short ones. A
// name that goes on after what was typed is at a distance of one.
func Nearest(name string, names []string) []string {
	least := min(max(2, len(name)/3), len(name)-1)
	var out []string

	for _, n := range names {
		edits := levenshtein.ComputeDistance(strings.ToLower(name), strings.ToLower(n))
		if len(name) > 2 && strings.HasPrefix(n, name) {
			edits = min(edits, 1)
		}
		switch {
		case edits < least || edits == least && len(out) == 0:
			least = edits
			out = []string{n}
		case edits == least && len(out) < most:
			out = append(out, n)
		}
	}
	return out
}

// DidYouMean is the end of an error about a name that is not among names; empty if none
// of them is near. Every suggested name is written with prefix before it.
func DidYouMean(prefix, name string, names []string) string {
	near := Nearest(name, names)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + prefix + strings.Join(near, " or "+prefix) + "?"
}
