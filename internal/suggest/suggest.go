// Package suggest finds the names that a misspelt name may stand for.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// most is the largest number of names that an error suggests: more of them are a list, not a
// suggestion.
const most = 2

// Nearest returns the names that a misspelt name may stand for, at most two: the names at the
// smallest edit distance. The distance may be a third of the letters of the name, and two
// letters of a short one. A name that goes on after what was typed is at a distance of one.
func Nearest(name string, names []string) []string {

	least := min(max(2, len(name)/3), len(name)-1)
	var out []string
	for _, n := range names {
		// Capitals are no mistake in the spelling.
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

// DidYouMean returns the end of an error about a name that is not among names. It is empty
// if none of them is near.
func DidYouMean(name string, names []string) string { return Prefixed("", name, names) }

// Prefixed is [DidYouMean] for names that are all written with a prefix, which name and names
// leave out.
func Prefixed(prefix, name string, names []string) string {
	near := Nearest(name, names)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + prefix + strings.Join(near, " or "+prefix) + "?"
}
