package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/table"
)

// cursor reads one column of a parquet file, page by page.
type cursor struct {
	p        *reader
	leaf     *parquet.Column
	col      table.Column
	unsigned bool
	list     bool
	depth    byte // definition level of an element of the list, missing or not

	group   int // that is read, −1 before the first
	rows    int64
	row     int64 // number of the next row in the file
	feed    *feed
	pages   *parquet.FilePages
	page    parquet.Page
	rep     []byte
	def     []byte
	n, at   int // levels of the page, and the next one
	value   int // next value of the page
	values  encoding.Values
	indexes []int32  // into values, nil if there is no dictionary
	texts   []string // of the dictionary
}

func (p *reader) newCursor(i int, as table.Column) *cursor {
	leaf := p.leaves[i]
	c := &cursor{p: p, leaf: leaf, col: as, list: as.Kind == table.FloatList, group: -1,
		unsigned: p.unsigned(leaf.Index())}
	// The level at which the list of a row is there.
	if c.list {
		at := p.clean.Root().Columns()[i]
		for !at.Repeated() {
			at = at.Columns()[0]
		}
		c.depth = byte(at.MaxDefinitionLevel())
	}
	return c
}

func (c *cursor) close() {
	if c.pages != nil {
		c.drop()
		c.pages.Close()
		c.pages = nil
	}
	if c.feed != nil && c.feed.zstd != nil {
		c.feed.zstd.Close()
	}
	c.feed = nil
}

func (c *cursor) drop() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page = nil
	}
	c.n = 0
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
	// The pages of the chunk come from a feed, which checks them first.
	m := &c.p.meta.RowGroups[c.group].Columns[c.leaf.Index()].MetaData
	start, end := chunkRange(m)
	c.feed = &feed{p: c.p, leaf: c.leaf, codec: m.Codec, group: c.group, at: start, end: end,
		left: m.NumValues}
	chunk, ok := c.p.clean.RowGroups()[c.group].ColumnChunks()[c.leaf.Index()].(*parquet.FileColumnChunk)
	if !ok {
		return c.p.fault("row group %d has no column %q", c.group, c.col.Name)
	}
	c.pages = chunk.PagesFrom(c.feed)
	c.texts = nil
	return nil
}

// nextPage goes to the next page of the row group that has levels. It returns io.EOF at
// the end of the group.
func (c *cursor) nextPage() error {
	c.drop()
	if c.pages == nil {
		return io.EOF
	}

	for c.n == 0 {
		page, err := c.pages.ReadPage()
		if c.feed.fault != nil {
			return c.feed.fault
		}
		if errors.Is(err, io.EOF) && c.feed.at >= c.feed.end {
			if c.feed.left != 0 {
				return c.p.fault("row group %d, column %q ends %d values early; the file is damaged, "+
					"write it again", c.group, c.col.Name, c.feed.left)
			}
			return io.EOF
		}
		if err != nil {
			return c.fault("cannot be decoded: %w; the file is damaged, write it again", err)
		}

		// Levels tell missing values and the borders of lists.
		c.page = page
		c.rep, c.def = page.RepetitionLevels(), page.DefinitionLevels()
		c.n = int(page.NumValues())
		if c.leaf.MaxDefinitionLevel() > 0 && len(c.def) != c.n || c.leaf.MaxRepetitionLevel() > 0 &&
			len(c.rep) != c.n {
			return c.fault("has %d and %d levels for %d values; the file is damaged, write it again",
				len(c.rep), len(c.def), c.n)
		}
		// With a dictionary the page holds places in it.
		c.values = page.Data()
		c.indexes = nil
		if d := page.Dictionary(); d != nil {
			c.indexes, c.values = c.values.Int32(), d.Page().Data()
			if c.texts == nil && c.col.Kind == table.Text {
				c.texts = make([]string, d.Len())
			}
		}

		if c.n == 0 {
			c.drop()
		}
	}

	return nil
}

// fill appends at most the given number of rows to v and returns their number.
func (c *cursor) fill(v *table.Values, rows int) (got int, err error) {
	defer c.p.guard(&err)
	for got < rows {
		// A page that is used up makes way for the next, if need be of the next group.
		if c.at == c.n {
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
		case c.def != nil && int(c.def[c.at]) < c.leaf.MaxDefinitionLevel():
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
	if c.indexes != nil {
		k = int(c.indexes[k])
	}
	return k
}

// scalar appends the next value.
func (c *cursor) scalar(v *table.Values) error {
	k := c.next()
	switch c.leaf.Type().Kind() {
	case parquet.Boolean:
		v.AppendBool(c.values.Boolean()[k/8]>>(k%8)&1 == 1)
	case parquet.Int32, parquet.Int64:
		x, err := c.integer(k)
		if err == nil {
			err = v.AppendInt(x)
		}
		if err != nil {
			return c.fault("is %w", err)
		}
	case parquet.Float:
		x := c.values.Float()[k]
		v.AppendFloat(float64(x), 32)
	case parquet.Double:
		v.AppendFloat(c.values.Double()[k], 64)
	case parquet.FixedLenByteArray:
		if data, size := c.values.FixedLenByteArray(); size == 16 { // a UUID
			b := data[16*k : 16*k+16]
			v.AppendText(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
			return nil
		}
		v.AppendFloat(float64(c.half(k)), 32)
	default:
		if c.indexes != nil && c.texts[k] != "" {
			v.AppendText(c.texts[k])
			return nil
		}
		data, offsets := c.values.ByteArray()
		b := data[offsets[k]:offsets[k+1]]
		if !utf8.Valid(b) {
			return c.fault("is %s, which is not text in UTF-8; write text", fields.Quote(b))
		}
		s := string(b)
		if c.indexes != nil {
			c.texts[k] = s
		}
		v.AppendText(s)
	}

	return nil
}

func (c *cursor) integer(k int) (int64, error) {
	if c.leaf.Type().Kind() == parquet.Int32 {
		x := c.values.Int32()[k]
		if c.unsigned {
			return int64(uint32(x)), nil
		}
		return int64(x), nil
	}

	// The bits of an unsigned integer beyond 2⁶³−1 are a negative one here.
	x := c.values.Int64()[k]
	if c.unsigned && x < 0 {
		return 0, fmt.Errorf("%d, more than 64-bit integers with a sign hold; write it as text", uint64(x))
	}
	return x, nil
}

// half returns a number of 16 bits.
func (c *cursor) half(k int) float32 {
	data, _ := c.values.FixedLenByteArray()
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
	if c.rep[c.at] != 0 {
		return c.fault("begins inside a list; the file is damaged, write it again")
	}

	// A list that is missing or empty has one entry of levels.
	if d := c.def[c.at]; d < c.depth {
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
		if c.at == c.n {
			if err := c.nextPage(); err == io.EOF {
				break
			} else if err != nil {
				return err
			}
		}

		if width > 0 && c.rep[c.at] == 0 {
			break
		}
		if int(c.def[c.at]) != c.leaf.MaxDefinitionLevel() {
			return c.fault("has no value as element %d of its list; every element must be given: "+
				"impute it or remove the row", width)
		}
		// Elements without gaps are copied together.
		run := 1
		most := c.n - c.at
		if v.Width > 0 {
			most = min(most, v.Width+1-width)
		}
		for run < most && c.rep[c.at+run] != 0 && int(c.def[c.at+run]) == c.leaf.MaxDefinitionLevel() {
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
	kind := c.leaf.Type().Kind()
	// Numbers of the page's own type are copied at once.
	if c.indexes == nil {
		at := c.value
		switch kind {
		case parquet.Float:
			v.Float32s = append(v.Float32s, c.values.Float()[at:at+k]...)
			c.value += k
			return nil
		case parquet.Double:
			v.Float64s = append(v.Float64s, c.values.Double()[at:at+k]...)
			c.value += k
			return nil
		}
	}

	for range k {
		i := c.next()
		switch kind {
		case parquet.Float:
			v.Float32s = append(v.Float32s, c.values.Float()[i])
		case parquet.Double:
			v.Float64s = append(v.Float64s, c.values.Double()[i])
		case parquet.FixedLenByteArray:
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
