package chart

import (
	"cmp"
	"regexp"
	"strconv"
)

// numberInName matches a number inside of a name. Its sign is text: in "k-2" the minus
// is a hyphen.
var numberInName = regexp.MustCompile(`\d+(\.\d+)?([eE][+-]?\d+)?`)

// CompareNames orders names by the text and the values of the numbers in them, from left
// to right: "k = 2" comes before "k = 10", and "h 0.25" before "h 0.5". Names that are
// numbers as a whole, such as "-1" or "1e-3", come first, in the order of their values.
func CompareNames(a, b string) int {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	switch {
	case errX == nil && errY == nil:
		return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}

	// Text and number in turn, from left to right.
	for p, q := a, b; p != "" || q != ""; {
		textP, valueP, restP := firstNumber(p)
		textQ, valueQ, restQ := firstNumber(q)
		if c := cmp.Or(cmp.Compare(textP, textQ), cmp.Compare(valueP, valueQ)); c != 0 {
			return c
		}
		p = restP
		q = restQ
	}

	return cmp.Compare(a, b)
}

// firstNumber cuts s into the text before its first number, the number, −1 if there is
// none, and the rest.
func firstNumber(s string) (text string, value float64, rest string) {
	at := numberInName.FindStringIndex(s)
	if at == nil {
		return s, -1, ""
	}
	value, _ = strconv.ParseFloat(s[at[0]:at[1]], 64) // +Inf out of range, which compares
	return s[:at[0]], value, s[at[1]:]
}
