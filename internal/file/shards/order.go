package shards

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

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

// InNumericOrder returns names of one kind in the order of the numbers in them, if they are sorted
// by their letters, as a shell sorts the files that match a pattern. Other names keep their order.
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
		// Two numbers are compared by value: by their digits, then from the left.
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
