package audit

import (
	"fmt"
	"strings"
)

// describe sums up what columns and rows hold.
func (v *Values) describe() string {
	var parts []string
	add := func(count int, one, several string) {
		switch {
		case count == 1:
			parts = append(parts, "1 "+one)
		case count > 1:
			parts = append(parts, fmt.Sprintf("%d %s", count, several))
		}
	}
	add(len(v.Zero)+len(v.Constant)+len(v.NaN), "constant column", "constant columns")
	add(len(v.ZeroRows), "row of zeros", "rows of zeros")
	add(len(v.ConstantRows), "row of one value", "rows of one value")
	add(len(v.NotFinite), "row with a value that is not finite", "rows with a value that is not finite")
	if v.Scale != nil {
		parts = append(parts, "columns on very different scales")
	}
	if len(parts) == 0 {
		return "all columns and rows vary"
	}
	return strings.Join(parts, ", ")
}

// counted writes a number with its noun.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}
