// Package enum gives the project's enumerations their names on the command
// line, in manifests and in reports.
//
// An enumeration is an integer type with the values 0, 1, … in the order of its
// names; 0 is the default of settings. It is written in this way:
//
//	// Color is …
//	type Color int
//
//	const (
//		// Red is …
//		Red Color = iota
//		// Green is …
//		Green
//	)
//
//	var colors = enum.New[Color]("color", "red", "green")
//
//	// String returns the name used on the command line and in manifests.
//	func (c Color) String() string { return colors.String(c) }
//
//	// MarshalText returns the name.
//	func (c Color) MarshalText() ([]byte, error) { return colors.Marshal(c) }
//
//	// UnmarshalText is the inverse of MarshalText.
//	func (c *Color) UnmarshalText(text []byte) error { return colors.Unmarshal(c, text) }
//
// Settings check a value by colors.Valid.
package enum

import (
	"encoding"
	"fmt"
	"slices"
	"strings"
)

// Names holds the names of the values 0, 1, … of an enumeration.
type Names[T ~int] struct {
	kind  string
	names []string
}

// New returns the names of an enumeration in the order of its values, two at least.
// kind names the enumeration in errors.
func New[T ~int](kind string, names ...string) Names[T] { return Names[T]{kind, names} }

// Of returns the names of an enumeration whose values number the rows of a table.
func Of[T ~int](kind string, rows int, name func(row int) string) Names[T] {
	names := make([]string, rows)
	for i := range names {
		names[i] = name(i)
	}
	return New[T](kind, names...)
}

// Valid reports whether v is a value of the enumeration.
func (n Names[T]) Valid(v T) bool { return v >= 0 && int(v) < len(n.names) }

// String returns the name of v, or its number if it is not valid.
func (n Names[T]) String(v T) string {
	if !n.Valid(v) {
		return fmt.Sprintf("unknown (%d)", int(v))
	}
	return n.names[v]
}

// Marshal returns the name of v. A value that is not valid is an error.
func (n Names[T]) Marshal(v T) ([]byte, error) {
	if !n.Valid(v) {
		return nil, fmt.Errorf("%d is not a %s", int(v), n.kind)
	}
	return []byte(n.names[v]), nil
}

// Unmarshal sets v to the value that text names.
func (n Names[T]) Unmarshal(v *T, text []byte) error {
	p := slices.Index(n.names, string(text))
	if p < 0 {
		return fmt.Errorf("unknown %s %q; it is %s", n.kind, text, Or(n.names))
	}
	*v = T(p)
	return nil
}

// All returns the names of all values, in their order.
func (n Names[T]) All() []string { return slices.Clone(n.names) }

// Value is a value of an enumeration.
type Value interface {
	~int
	encoding.TextMarshaler
}

// All returns the names of all values of an enumeration of another package, in their order.
// Variables of the package of T may not be initialized by it, as the compiler does not see that
// it needs the names.
func All[T Value]() []string {
	var out []string
	for v := T(0); ; v++ {
		text, err := v.MarshalText()
		if err != nil {
			return out
		}
		out = append(out, string(text))
	}
}

// Count writes a number with its noun: "1 component", "2 components".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Or writes values as a list in words: "a, b or c".
func Or[T any](values []T) string { return list(values, " or ") }

// And writes values as a list in words: "a, b and c".
func And[T any](values []T) string { return list(values, " and ") }

// Some writes the first of several names.
func Some(names []string) string {
	const most = 20
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func list[T any](values []T, before string) string {
	var b strings.Builder
	// Commas separate all values but the last two.
	for i, v := range values {
		switch {
		case i == 0:
		case i == len(values)-1:
			b.WriteString(before)
		default:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, v)
	}
	return b.String()
}
