// Package enum gives the project's enumerations their names on the command
// line, in manifests and in reports. An enumeration is an integer type whose
// values 0, 1, … index a list of names.
package enum

import (
	"fmt"
	"slices"
	"strings"
)

// String returns the name of v.
func String[T ~int](names []string, v T) string {
	if v < 0 || int(v) >= len(names) {
		return fmt.Sprintf("unknown (%d)", int(v))
	}
	return names[v]
}

// Set sets v to the value called text; what names the enumeration in the error.
func Set[T ~int](v *T, names []string, what string, text []byte) error {
	p := slices.Index(names, string(text))
	if p < 0 {
		return fmt.Errorf("unknown %s %q; it is %s or %s", what, text, strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
	}
	*v = T(p)
	return nil
}
