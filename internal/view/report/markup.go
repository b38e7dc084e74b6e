package report

import (
	"fmt"
	"html"
	"strings"
)

// markup is text that is HTML already.
type markup string

// A page under construction. It has no templates, by which a program would keep every method of every type that it
// has, a sixth of its size.
type builder struct{ strings.Builder }

// put writes HTML with holes for values, as fmt.Printf does. Strings are escaped for text and for quoted attributes;
// only markup is written as it is. Addresses also need [address].
func (b *builder) put(format string, values ...any) {
	for i, v := range values {
		switch v := v.(type) {
		case string:
			values[i] = html.EscapeString(v)
		case markup, int:
		default:
			panic(fmt.Sprintf("report: a value of type %T in HTML", v))
		}
	}
	fmt.Fprintf(b, format, values...)
}

// putIf writes HTML with one hole unless the value is empty.
func (b *builder) putIf(format, value string) {
	if value != "" {
		b.put(format, value)
	}
}

func (b *builder) markup() markup { return markup(b.String()) }

// schemes are those that a link may have; a link without one leads to a file or a place beside the page.
var schemes = []string{"http", "https", "mailto"}

// address returns a link as it may stand in an attribute: nothing of it runs, and it has no blanks or quotes. A link of
// another scheme, such as javascript, leads nowhere.
func address(link string) string {
	if scheme, _, ok := strings.Cut(link, ":"); ok && !strings.ContainsAny(scheme, "/?#") {
		allowed := false
		for _, s := range schemes {
			allowed = allowed || strings.EqualFold(s, scheme)
		}
		if !allowed {
			return "#"
		}
	}
	var b strings.Builder
	for i := range len(link) {
		if c := link[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}'()", c) >= 0 {
			fmt.Fprintf(&b, "%%%02x", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
