package summary

import "unicode"

// Flag writes a parameter as the flag of the command line. A name in capitals is a shorthand
// that has no longer form, and so is y.
func Flag(name string) string {
	if name == "y" || unicode.IsUpper(rune(name[0])) {
		return "-" + name
	}
	return "--" + name
}
