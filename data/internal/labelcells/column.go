package labelcells

import (
	"slices"

	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// Column is a column of text: for each row a position among the distinct texts, or −1 for
// none.
type Column struct {
	texts []string // in the order of their first appearance
	first []int    // line or row of each text's first appearance
	codes []int32

	// commas says that numbers may have decimal commas.
	commas bool

	index map[string]int32
	size  int64 // bytes of the texts, about
}

// Bytes is the memory of the column, about: of the texts, and of the codes, which are held three
// times when their list grows.
func (c *Column) Bytes() int64 { return c.size + 13*int64(len(c.codes)) }

// Add appends a text. at is the number of its line or row.
func (c *Column) Add(text []byte, at int) {
	code, ok := c.index[string(text)]
	if !ok {
		if c.index == nil {
			c.index = map[string]int32{}
		}
		code = int32(len(c.texts))
		c.texts = append(c.texts, string(text))
		c.first = append(c.first, at)
		c.index[c.texts[code]] = code
		c.size += int64(len(text)) + 64
	}

	c.codes = append(c.codes, code)
}

// Within returns an error if the column, read from what, takes more than the limit.
func (c *Column) Within(what string, limit int64) error {
	if need := c.Bytes(); limit > 0 && need > limit {
		return &npy.LimitError{What: what, Need: need, Limit: limit}
	}
	return nil
}

// number returns a text with a point in place of a decimal comma, and whether it is a number.
func (c *Column) number(text string) (string, bool) {
	if _, ok := fields.Number([]byte(text)); ok || !c.commas {
		return text, ok
	}
	pointed := fields.WithPoint([]byte(text))
	_, ok := fields.Number(pointed)
	return string(pointed), ok
}

// DecimalCommas says that the numbers of a file may have decimal commas, as between semicolons. If there are some, and all
// texts are numbers or absent, it puts points there: among names 1,5 is a name too. It returns the notes on the file,
// with one on this.
func (c *Column) DecimalCommas(path string, notes []string) []string {
	c.commas = true
	texts := slices.Clone(c.texts)
	some := false
	for k, text := range texts {
		pointed, ok := c.number(text)
		if !ok && !isAbsent(text) {
			return notes
		}
		if ok && pointed != text {
			texts[k] = pointed
			some = true
		}
	}
	if !some {
		return notes
	}

	c.texts = texts
	c.index = map[string]int32{}
	for k, text := range texts {
		if _, ok := c.index[text]; !ok {
			c.index[text] = int32(k)
		}
	}
	note := path + ": numbers have decimal commas"
	if slices.Contains(notes, note) {
		return notes
	}
	return append(notes, note)
}

// Len returns the number of rows.
func (c *Column) Len() int { return len(c.codes) }

// Shorten leaves the first rows only.
func (c *Column) Shorten(rows int) { c.codes = c.codes[:rows] }

// drop takes the first row off. Its text must not occur in another row.
func (c *Column) drop() {
	c.texts = c.texts[1:]
	c.first = c.first[1:]
	c.codes = c.codes[1:]
	for i := range c.codes {
		c.codes[i]--
	}
	c.index = nil
}
