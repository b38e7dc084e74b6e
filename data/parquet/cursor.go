package parquet

import (
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"

	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/table"
)

// cursor reads one column of a parquet file, page by page.
type cursor struct {
	p        *reader
	leaf     *node
	col      table.Column
	unsigned bool
	list     bool
	depth    byte // definition level of an element of the list, missing or not

	group int // that is read, −1 before the first
	rows  int64
	row   int64 // number of the next row in the file
	chunk *chunk
	page  page
	at    int      // next level of the page
	value int      // next value of the page
	texts []string // of the dictionary
}

func (p *reader) newCursor(i int, as table.Column) *cursor {
	leaf := p.single[i]
	c := &cursor{p: p, leaf: leaf, col: as, list: as.Kind == table.FloatList, group: -1, unsigned: leaf.unsigned()}
	if c.list {
		c.depth = byte(p.tops[i].listLevel())
	}
	return c
}

func (c *cursor) close() {
	if c.chunk != nil {
		c.chunk.close()
		c.chunk = nil
	}
	c.page = page{}
	c.at = 0
	c.value = 0
}

// fault is an error about the next row.
func (c *cursor) fault(format string, args ...any) error {
	return fmt.Errorf("%s: row %d, column %q "+format, append([]any{c.p.path, c.row, c.col.Name}, args...)...)
}

// nextGroup goes to the next row group and returns io.EOF after the last.
func (c *cursor) nextGroup() error {
	// A group that ends early or late would shift all rows behind it.
	c.close()
	if c.group >= 0 && c.rows != c.p.meta.RowGroups[c.group].NumRows {
		return c.p.fault("row group %d, column %q has %d rows, the footer claims %d; the file is "+
			"damaged, write it again", c.group, c.col.Name, c.rows, c.p.meta.RowGroups[c.group].NumRows)
	}

	if c.group++; c.group >= len(c.p.meta.RowGroups) {
		c.group = len(c.p.meta.RowGroups) - 1
		c.rows = 0
		if c.group >= 0 {
			c.rows = c.p.meta.RowGroups[c.group].NumRows
		}
		return io.EOF
	}

	c.rows = 0
	c.chunk = c.p.chunk(c.leaf, c.group)
	c.texts = nil
	return nil
}

// nextPage goes to the next page of the chunk that has levels and returns io.EOF after the last.
func (c *cursor) nextPage() error {
	c.page, c.at, c.value = page{}, 0, 0
	if c.chunk == nil {
		return io.EOF
	}
	for c.page.n == 0 {
		page, err := c.chunk.next()
		if err != nil {
			return err
		}
		c.page = *page
	}

	// A text that a dictionary has once is made once.
	if c.page.indexes != nil && c.texts == nil && c.col.Kind == table.Text {
		c.texts = make([]string, c.page.values.len(c.leaf))
	}
	return nil
}

// fill appends at most the given number of rows to v and returns their number.
func (c *cursor) fill(v *table.Values, rows int) (got int, err error) {
	defer c.p.guard(&err)
	for got < rows {
		// A page that is used up makes way for the next, if need be of the next group.
		if c.at == c.page.n {
			err := c.nextPage()
			for err == io.EOF {
				if err = c.nextGroup(); err == io.EOF {
					return got, nil
				} else if err == nil {
					err = c.nextPage()
				}
			}
			if err != nil {
				return got, err
			}
		}

		// A level below the highest says that the value is missing.
		switch {
		case c.list:
			err = c.vector(v)
		case c.page.def != nil && int(c.page.def[c.at]) < c.leaf.maxDef:
			v.AppendMissing()
			c.at++
		default:
			err = c.scalar(v)
			c.at++
		}

		if err != nil {
			return got, err
		}
		got++
		c.rows++
		c.row++
	}

	return got, nil
}

// next returns the place of the next value.
func (c *cursor) next() int {
	k := c.value
	c.value++
	if c.page.indexes != nil {
		k = int(c.page.indexes[k])
	}
	return k
}

// scalar appends the next value.
func (c *cursor) scalar(v *table.Values) error {
	k := c.next()
	switch c.leaf.kind() {
	case format.Boolean:
		v.AppendBool(c.page.values.bits[k/8]>>(k%8)&1 == 1)
	case format.Int32, format.Int64:
		x, err := c.integer(k)
		if err == nil {
			err = v.AppendInt(x)
		}
		if err != nil {
			return c.fault("is %w", err)
		}
	case format.Float:
		x := c.page.values.floats[k]
		v.AppendFloat(float64(x), 32)
	case format.Double:
		v.AppendFloat(c.page.values.doubles[k], 64)
	case format.FixedLenByteArray:
		if c.leaf.TypeLength.V == 16 { // a UUID
			b := c.page.values.bytes[16*k : 16*k+16]
			v.AppendText(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
			return nil
		}
		v.AppendFloat(float64(c.half(k)), 32)
	default:
		if c.page.indexes != nil && c.texts[k] != "" {
			v.AppendText(c.texts[k])
			return nil
		}
		page := c.page.values
		b := page.bytes[page.offsets[k]:page.offsets[k+1]]
		if !utf8.Valid(b) {
			return c.fault("is %s, which is not text in UTF-8; write text", fields.Quote(b))
		}
		s := string(b)
		if c.page.indexes != nil {
			c.texts[k] = s
		}
		v.AppendText(s)
	}

	return nil
}

func (c *cursor) integer(k int) (int64, error) {
	if c.leaf.kind() == format.Int32 {
		x := c.page.values.int32s[k]
		if c.unsigned {
			return int64(uint32(x)), nil
		}
		return int64(x), nil
	}

	// The bits of an unsigned integer beyond 2⁶³−1 are a negative one here.
	x := c.page.values.int64s[k]
	if c.unsigned && x < 0 {
		return 0, fmt.Errorf("%d, more than 64-bit integers with a sign hold; write it as text", uint64(x))
	}
	return x, nil
}

// half returns a number of 16 bits.
func (c *cursor) half(k int) float32 {
	data := c.page.values.bytes
	h := uint32(data[2*k]) | uint32(data[2*k+1])<<8
	sign := h >> 15 << 31
	exp := h >> 10 & 31
	frac := h & 1023
	// Subnormal numbers, then infinities and NaN, then normal numbers with another bias.
	switch exp {
	case 0:
		x := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(x) | sign)
	case 31:
		return math.Float32frombits(sign | 255<<23 | frac<<13)
	}

	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// vector appends the next list; its first level is in the page.
func (c *cursor) vector(v *table.Values) error {
	if c.page.rep[c.at] != 0 {
		return c.fault("begins inside a list; the file is damaged, write it again")
	}

	// A list that is missing or empty has one entry of levels.
	if d := c.page.def[c.at]; d < c.depth {
		if d == c.depth-1 { // the list is there and empty
			return c.ragged(0, v.Width)
		}
		v.AppendMissing()
		c.at++
		return nil
	}

	// A list may run over several pages; a repetition level of zero begins the next one.
	width := 0
	for {
		if c.at == c.page.n {
			if err := c.nextPage(); err == io.EOF {
				break
			} else if err != nil {
				return err
			}
		}

		if width > 0 && c.page.rep[c.at] == 0 {
			break
		}
		if int(c.page.def[c.at]) != c.leaf.maxDef {
			return c.fault("has no value as element %d of its list; every element must be given: "+
				"impute it or remove the row", width)
		}
		// Elements without gaps are copied together.
		run := 1
		most := c.page.n - c.at
		if v.Width > 0 {
			most = min(most, v.Width+1-width)
		}
		for run < most && c.page.rep[c.at+run] != 0 && int(c.page.def[c.at+run]) == c.leaf.maxDef {
			run++
		}
		if err := c.elements(v, run); err != nil {
			return err
		}

		c.at += run
		if width += run; v.Width > 0 && width > v.Width {
			return c.fault("has a list of more than the %d numbers of the first row; all lists must "+
				"have the same length", v.Width)
		}
	}

	// The first list sets the length of all.
	if v.Width == 0 {
		if n := v.Len(); n > 0 { // missing lists came first
			v.Float32s = padded(v.Float32s, n*width, c.col.Bits == 32)
			v.Float64s = padded(v.Float64s, n*width, c.col.Bits != 32)
		}
		v.Width = width
	}

	if width != v.Width {
		return c.ragged(width, v.Width)
	}
	v.AppendedVectors(1)
	return nil
}

// padded puts n zeros before the numbers of the first list.
func padded[T any](x []T, n int, used bool) []T {
	if !used {
		return x
	}
	return slices.Insert(x, 0, make([]T, n)...)
}

func (c *cursor) ragged(have, want int) error {
	if want == 0 {
		return c.fault("has a list of %d numbers; every list must have at least one", have)
	}
	return c.fault("has a list of %d numbers, the first row %d; all lists must have the same length",
		have, want)
}

// elements appends k numbers.
func (c *cursor) elements(v *table.Values, k int) error {
	kind := c.leaf.kind()
	// Numbers of the page's own type are copied at once.
	if c.page.indexes == nil {
		at := c.value
		switch kind {
		case format.Float:
			v.Float32s = append(v.Float32s, c.page.values.floats[at:at+k]...)
			c.value += k
			return nil
		case format.Double:
			v.Float64s = append(v.Float64s, c.page.values.doubles[at:at+k]...)
			c.value += k
			return nil
		}
	}

	for range k {
		i := c.next()
		switch kind {
		case format.Float:
			v.Float32s = append(v.Float32s, c.page.values.floats[i])
		case format.Double:
			v.Float64s = append(v.Float64s, c.page.values.doubles[i])
		case format.FixedLenByteArray:
			v.Float32s = append(v.Float32s, c.half(i))
		default:
			x, err := c.integer(i)
			if err != nil {
				return c.fault("holds %w", err)
			}
			v.Float64s = append(v.Float64s, float64(x))
		}
	}

	return nil
}
