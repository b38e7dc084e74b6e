package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
)

// reader reads a parquet file.
//
// The library sees neither footer nor pages of the file itself. The reader checks the footer and
// writes a new one without indexes, compression and offsets, and a feed finds, bounds and
// decompresses the pages. So no length in the file is believed by more than a bound.
type reader struct {
	path  string
	file  *os.File
	size  int64
	limit int64

	meta   format.FileMetaData // as in the file
	clean  *parquet.File       // without data
	leaves []*parquet.Column   // of the columns, nil where they cannot be read
	cols   []table.Column

	cursors []*cursor
}

// mostClaimed is the most bytes that a footer or a page may claim without a limit of the caller.
const mostClaimed = 1 << 30

// bound is the number of bytes that a claim may take.
func (p *reader) bound() int64 {
	if p.limit > 0 {
		return min(p.limit, mostClaimed)
	}
	return mostClaimed
}

func (p *reader) fault(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{p.path}, args...)...)
}

// guard turns a panic of the library into an error.
func (p *reader) guard(err *error) {
	if r := recover(); r != nil {
		*err = p.fault("the file is damaged or uses what is not read (%v); write it again", r)
	}
}

// open reads the footer of a parquet file and describes the columns.
func open(path string, f *os.File, size int64, opt table.Options) (_ table.Engine, err error) {
	p := &reader{path: path, file: f, size: size, limit: opt.Limit}
	defer p.guard(&err)
	if err := p.readFooter(); err != nil {
		return nil, err
	}
	if err := p.checkGroups(); err != nil {
		return nil, err
	}
	if err := p.openClean(); err != nil {
		return nil, err
	}

	p.describe()
	return p, nil
}

// readFooter reads the metadata at the end of the file.
func (p *reader) readFooter() error {
	var tail [8]byte
	if p.size < 12 {
		return p.fault("it has %d bytes, too few for a parquet file; write it again", p.size)
	}
	if _, err := p.file.ReadAt(tail[:], p.size-8); err != nil {
		return p.fault("%w", err)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	switch magic := string(tail[4:]); {
	case magic == "PARE":
		return p.fault("it is encrypted; write it without encryption")
	case magic != "PAR1":
		return p.fault("it ends with %q, not with \"PAR1\": it is truncated; write it again", magic)
	case n > p.size-12:
		return p.fault("the footer claims %d bytes of a file of %d; the file is damaged, write it again",
			n, p.size)
	case n > p.bound()/4:
		return &npy.LimitError{What: p.path + ": the footer", Need: 4 * n, Limit: p.bound()}
	}

	// The structure is walked before it is decoded, as it can claim lists of any length.
	footer := make([]byte, n)
	if _, err := p.file.ReadAt(footer, p.size-8-n); err != nil {
		return p.fault("%w", err)
	}
	_, structs, err := walkThrift(footer)
	if err != nil {
		return p.fault("the footer is damaged: %w; write the file again", err)
	}

	// The largest element of a list in a footer is a chunk of a column.
	const perStruct = 1 << 10
	if need := perStruct * structs; need > p.bound() {
		return &npy.LimitError{What: p.path + ": the footer", Need: need, Limit: p.bound()}
	}
	var protocol thrift.CompactProtocol
	if err := thrift.NewDecoder(protocol.NewReaderFromBytes(footer)).Decode(&p.meta); err != nil {
		return p.fault("the footer is damaged: %w; write the file again", err)
	}
	if p.meta.EncryptionAlgorithm.Value != nil {
		return p.fault("it is encrypted or signed; write it without encryption")
	}
	return nil
}

// checkGroups compares what the footer says of row groups with the file.
func (p *reader) checkGroups() error {
	var rows int64
	for g := range p.meta.RowGroups {
		group := &p.meta.RowGroups[g]
		if group.NumRows < 0 || group.NumRows > 1<<48 {
			return p.fault("row group %d claims %d rows; the file is damaged, write it again", g,
				group.NumRows)
		}
		rows += group.NumRows
		for c := range group.Columns {
			m := &group.Columns[c].MetaData
			if group.Columns[c].FilePath != "" {
				return p.fault("column %d of row group %d lies in another file, %q; write the table as "+
					"one file", c, g, group.Columns[c].FilePath)
			}
			// Chunks lie between the mark at the beginning and the footer.
			start, end := chunkRange(m)
			if start < 4 || end < start || end > p.size-8 || m.NumValues < 0 {
				return p.fault("row group %d, column %v claims bytes %d to %d of a file of %d; the "+
					"file is truncated or damaged, write it again", g, m.PathInSchema, start, end, p.size)
			}
		}
	}

	// The footer counts the rows twice.
	if rows != p.meta.NumRows {
		return p.fault("the footer claims %d rows, its row groups %d; the file is damaged, write it again",
			p.meta.NumRows, rows)
	}
	return nil
}

// chunkRange returns where the pages of a chunk lie.
func chunkRange(m *format.ColumnMetaData) (start, end int64) {
	start = m.DataPageOffset
	if d := m.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	if m.TotalCompressedSize < 0 || m.TotalCompressedSize > 1<<60 || start > 1<<60 {
		return start, -1
	}
	return start, start + m.TotalCompressedSize
}

// openClean gives the library a file that consists of a footer: the schema, and chunks that claim
// no compression, because feeds deliver their pages.
func (p *reader) openClean() error {
	meta := format.FileMetaData{Version: p.meta.Version, Schema: p.meta.Schema, NumRows: p.meta.NumRows}
	for g := range p.meta.RowGroups {
		group := format.RowGroup{NumRows: p.meta.RowGroups[g].NumRows}
		for c := range p.meta.RowGroups[g].Columns {
			m := &p.meta.RowGroups[g].Columns[c].MetaData
			group.Columns = append(group.Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
				Type: m.Type, Encoding: m.Encoding, PathInSchema: m.PathInSchema, Codec: format.Uncompressed,
				NumValues: m.NumValues, DataPageOffset: feedStart, TotalCompressedSize: 1 << 60,
			}})
		}
		meta.RowGroups = append(meta.RowGroups, group)
	}

	// Three parts make a parquet file: magic, footer, its length and magic.
	text, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return p.fault("the footer is damaged: %w; write the file again", err)
	}
	file := append([]byte("PAR1"), text...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(text)))
	file = append(file, "PAR1"...)
	p.clean, err = parquet.OpenFile(memory(file), int64(len(file)), parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true))
	if err != nil {
		return p.fault("the footer is damaged: %w; write the file again", err)
	}
	return nil
}

// memory is a file in memory.
type memory []byte

func (m memory) ReadAt(b []byte, off int64) (int, error) {
	if off < 0 || off >= int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(b, m[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// describe sets the columns.
func (p *reader) describe() {
	var elements []*format.SchemaElement // of leaves, in order
	for i := range p.meta.Schema {
		if p.meta.Schema[i].Type.Valid {
			elements = append(elements, &p.meta.Schema[i])
		}
	}

	// A column is a value, a list of numbers, or something that is not read and why.
	for _, top := range p.clean.Root().Columns() {
		c := table.Column{Name: top.Name(), Kind: table.Other, Bits: 64}
		leaf := onlyLeaf(top)
		switch {
		case leaf == nil:
			c.Why = "a group of columns or a nested list"
		case leaf.MaxRepetitionLevel() == 0 && top.Leaf():
			c.Kind, c.Bits, c.Why = leafKind(elements[leaf.Index()])
		case leaf.MaxRepetitionLevel() == 1:
			kind, bits, why := leafKind(elements[leaf.Index()])
			if kind == table.Float || kind == table.Int {
				c.Kind = table.FloatList
				c.Bits = bits
				if kind == table.Int {
					c.Bits = 64
				}
			} else if c.Why = "a list of " + why; why == "" {
				c.Why = "a list of values of kind " + kind.String()
			}
		default:
			c.Why = "a group of columns or a nested list"
		}

		p.cols = append(p.cols, c)
		p.leaves = append(p.leaves, leaf)
	}

	// The length of lists is known from the first row only.
	for i := range p.cols {
		if p.cols[i].Kind == table.FloatList {
			p.cols[i].Width = p.width(i)
		}
	}
}

// onlyLeaf returns the leaf of a column that has no more than one.
func onlyLeaf(c *parquet.Column) *parquet.Column {
	for !c.Leaf() {
		if len(c.Columns()) != 1 {
			return nil
		}
		c = c.Columns()[0]
	}
	return c
}

// leafKind returns the kind of the values of a leaf, or why they cannot be read.
func leafKind(e *format.SchemaElement) (kind table.Kind, bits int, why string) {
	logical := e.LogicalType.Value
	converted := e.ConvertedType
	plain := logical == nil && !converted.Valid

	// A physical type stands for numbers unless a logical type makes something else of it.
	switch parquet.Kind(e.Type.V) {
	case parquet.Boolean:
		return table.Bool, 64, ""
	case parquet.Int32, parquet.Int64:
		_, isInt := logical.(*format.IntType)
		if plain || isInt || logical == nil && converted.V >= deprecated.Uint8 &&
			converted.V <= deprecated.Int64 {
			return table.Int, 64, ""
		}
		return table.Other, 64, "dates, times or decimals"
	case parquet.Float:
		return table.Float, 32, ""
	case parquet.Double:
		return table.Float, 64, ""
	case parquet.ByteArray:
		switch logical.(type) {
		case nil, *format.StringType, *format.EnumType, *format.JsonType:
			if plain || logical != nil || converted.V == deprecated.UTF8 || converted.V == deprecated.Enum ||
				converted.V == deprecated.Json {
				return table.Text, 64, ""
			}
		}
		return table.Other, 64, "bytes that are no text"
	case parquet.FixedLenByteArray:
		if _, half := logical.(*format.Float16Type); half && e.TypeLength.V == 2 {
			return table.Float, 32, ""
		}
		if _, uuid := logical.(*format.UUIDType); uuid && e.TypeLength.V == 16 {
			return table.Text, 64, ""
		}
		return table.Other, 64, "bytes that are no text"
	}

	return table.Other, 64, "times of 96 bits"
}

// unsigned reports whether the integers of leaf i have no sign.
func (p *reader) unsigned(i int) bool {
	for _, e := range p.meta.Schema {
		if !e.Type.Valid {
			continue
		}
		if i > 0 {
			i--
			continue
		}
		if t, ok := e.LogicalType.Value.(*format.IntType); ok {
			return !t.IsSigned
		}
		return e.ConvertedType.Valid && e.ConvertedType.V >= deprecated.Uint8 &&
			e.ConvertedType.V <= deprecated.Uint64
	}

	return false
}

// width returns the length of the first list of a column; 0 if there is none, or it cannot
// be read, which reading it will say.
func (p *reader) width(i int) int {
	c := p.newCursor(i, p.cols[i])
	defer c.close()
	for range 1 << 16 {
		v := table.NewValues(p.cols[i])
		n, err := c.fill(v, 1)
		if err != nil || n == 0 {
			return 0
		}
		if v.Width > 0 {
			return v.Width
		}
	}

	return 0
}

// Columns returns the columns of the file.
func (p *reader) Columns() []table.Column { return p.cols }

// Rows returns the number of rows, which the footer says.
func (p *reader) Rows() int64 { return p.meta.NumRows }

// Scan does nothing: the schema says the kinds of all columns.
func (p *reader) Scan() error { return nil }

// Choose makes a cursor for each column that is read.
func (p *reader) Choose(at []int, as []table.Column) error {
	for i := range at {
		p.cursors = append(p.cursors, p.newCursor(at[i], as[i]))
	}
	return nil
}

// A batch has at most batchRows rows, and its vectors have at most batchBytes bytes, so that a batch
// of wide vectors takes little beside the points that the caller keeps.
const (
	batchRows  = 8192
	batchBytes = 4 << 20
)

// Fill reads the next rows, as many of every column.
func (p *reader) Fill(b *table.Batch) error {
	// All cursors read the same number of rows.
	rows := batchRows
	for _, c := range b.Columns {
		rows = min(rows, max(1, batchBytes/(8*max(c.Width, 1))))
	}
	got := make([]int, len(p.cursors))
	for i, c := range p.cursors {
		n, err := c.fill(&b.Values[i], rows)
		if err != nil {
			return err
		}
		got[i] = n
		if n != got[0] {
			return p.fault("column %q ends at row %d, column %q does not; the file is damaged, write it "+
				"again", b.Columns[i].Name, b.First+int64(min(n, got[0])), b.Columns[0].Name)
		}
		b.Columns[i].Width = b.Values[i].Width
	}

	if b.Rows = got[0]; b.Rows == 0 {
		if b.First != p.meta.NumRows {
			return p.fault("it has %d rows, the footer claims %d; the file is damaged, write it again",
				b.First, p.meta.NumRows)
		}
		return io.EOF
	}
	return nil
}

// Close closes the cursors and the file.
func (p *reader) Close() error {
	for _, c := range p.cursors {
		c.close()
	}
	return p.file.Close()
}

// Metadata returns the text that the file has under a key, and false if it has none.
func (p *reader) Metadata(key string) (string, bool) {
	for _, kv := range p.meta.KeyValueMetadata {
		if kv.Key == key {
			return kv.Value, true
		}
	}
	return "", false
}
