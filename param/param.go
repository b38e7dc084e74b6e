// Package param lets errors and notes name parameters without saying where parameters are
// given. A library writes
//
//	fmt.Errorf("%d neighbours are too many; take fewer %s", k, param.Name("neighbors"))
//
// and the name stands in the text between marks: "take fewer ‹neighbors›". The text can be
// read as it is, and the marks survive whatever wraps the error. A program that lets people
// give parameters in another form replaces the names with [Show] where it prints the text:
// the command writes --neighbors, the Python package n_neighbors.
package param

import (
	"regexp"
	"strings"
	"unicode"
)

// Name is the name of a parameter within a text. It is made of letters and hyphens.
type Name string

// The marks are no ASCII quotes, so that names of files and classes do not hold them.
const (
	before = "‹"
	after  = "›"
)

// String returns the name between its marks.
func (n Name) String() string { return before + string(n) + after }

var marked = regexp.MustCompile(before + "([A-Za-z][A-Za-z-]*)" + after)

// Show returns text with every marked name replaced by show(name).
func Show(text string, show func(name string) string) string {
	if !strings.Contains(text, before) {
		return text
	}
	return marked.ReplaceAllStringFunc(text, func(m string) string {
		return show(m[len(before) : len(m)-len(after)])
	})
}

// Plain returns text with the names of parameters without their marks.
func Plain(text string) string { return Show(text, func(name string) string { return name }) }

// Flag writes a name as a flag of a command line, for [Show]. A name in capitals is a
// shorthand that has no longer form, and so is y.
func Flag(name string) string {
	if name == "y" || unicode.IsUpper(rune(name[0])) {
		return "-" + name
	}
	return "--" + name
}

// Unmarked returns err with a text without marks. It is for names that come from a file and not
// from a caller, who could not change them by a flag.
func Unmarked(err error) error { return unmarked{err} }

type unmarked struct{ error }

func (e unmarked) Error() string { return Plain(e.error.Error()) }

func (e unmarked) Unwrap() error { return e.error }
