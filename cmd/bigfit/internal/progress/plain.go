package progress

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain makes text fit for a terminal. Names and contents of files can hold
// anything: control characters other than the end of a line and the
// tab, characters that change the direction of writing or are not seen, and
// bytes that are not UTF-8 become escapes as in Go, such as \x1b.
func Plain(text string) string {
	return escape(text, func(r rune) bool { return r == '\n' || r == '\t' })
}

// oneLine is Plain for a part of a line: ends of lines and tabs are escaped too.
func oneLine(text string) string {
	return escape(strings.TrimSpace(text), func(rune) bool { return false })
}

// escape escapes all runes that are not plain, except those for which keep is true.
func escape(text string, keep func(rune) bool) string {
	// Cf has the marks that turn the direction of writing and the invisible ones; Zl and Zp are
	// ends of lines in some terminals.
	odd := func(r rune) bool {
		return r == utf8.RuneError || !keep(r) &&
			(unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
	}
	if !strings.ContainsFunc(text, odd) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		// RuneError of width 3 is U+FFFD written by somebody; of width 1 it is a byte that is not
		// UTF-8.
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case odd(r) && r != utf8.RuneError:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(text[:size])
		}
		text = text[size:]
	}

	return b.String()
}

// A Quoter puts quotation marks around names in texts that hold an end of a line
// or what [Plain] escapes, so that a name cannot be taken for a line of its own.
type Quoter struct{ names []string }

// NewQuoter returns a Quoter for the words of a command line, and for what follows
// the = in them.
func NewQuoter(words []string) *Quoter {
	q := &Quoter{}
	for _, w := range words {
		if _, value, ok := strings.Cut(w, "="); ok && strings.HasPrefix(w, "-") {
			w = value
		}
		if strings.ContainsAny(w, "\n\t") || Plain(w) != w {
			q.names = append(q.names, w)
		}
	}
	return q
}

// Plain is [Plain] after the names have been quoted. A nil Quoter has none.
func (q *Quoter) Plain(text string) string {
	if q != nil {
		for _, name := range q.names {
			text = strings.ReplaceAll(text, name, strconv.QuoteToGraphic(name))
		}
	}
	return Plain(text)
}
