package parquet

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/table"
)

// writer writes a parquet file:
//
//	PAR1 │ row group: a chunk of every column │ row group │ … │ footer │ its length │ PAR1
//
// Pages are of the first version, compressed with snappy, with a checksum. Every value is there, so
// that only lists have levels.
type writer struct {
	out    io.Writer
	at     int64 // bytes written
	groups []format.RowGroup
}

// The most bytes of the values of a group, of its rows, of a page, and of its rows. Readers take a group at
// a time, and the size of a page has 31 bits.
const (
	groupBytes = 64 << 20
	groupRows  = 1 << 20
	pageBytes  = 1 << 20
	pageRows   = 20_000
)

// write writes the columns of o.
func write(out io.Writer, o *table.Output, rows int) error {
	columns := make([]table.Result, 0, len(o.Columns)+1)
	switch key := o.Key(); key {
	case "id":
		columns = append(columns, table.Result{Name: key, Values: o.IDs})
	case "row":
		numbers := make([]int64, rows)
		for i := range numbers {
			numbers[i] = int64(i)
		}
		columns = append(columns, table.Result{Name: key, Values: numbers})
	}

	columns = append(columns, o.Columns...)
	schema := []format.SchemaElement{{Name: "bigfit", NumChildren: thrift.New(int32(len(columns)))}}
	seen := map[string]bool{}
	width := 0
	for i := range columns {
		if seen[columns[i].Name] {
			return fmt.Errorf("two columns have the name %q", columns[i].Name)
		}
		seen[columns[i].Name] = true
		schema = append(schema, elements(&columns[i])...)
		width += max(columns[i].Width, 1)
	}

	w := &writer{out: out}
	if err := w.write([]byte("PAR1")); err != nil {
		return err
	}
	each := min(max(groupBytes/(8*width), 1), groupRows)
	for from := 0; from < rows; from += each {
		if err := w.group(columns, from, min(from+each, rows)); err != nil {
			return err
		}
	}

	meta := &format.FileMetaData{Version: 2, Schema: schema, NumRows: int64(rows), RowGroups: w.groups,
		CreatedBy: "bigfit version " + archive.Program()}
	if o.Manifest != "" {
		meta.KeyValueMetadata = []format.KeyValue{{Key: "bigfit", Value: o.Manifest}}
	}
	return w.footer(meta)
}

func (w *writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.at += int64(n)
	return err
}

func (w *writer) footer(meta *format.FileMetaData) error {
	text, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
	if err != nil {
		return err
	}
	n := len(text)
	return w.write(append(binary.LittleEndian.AppendUint32(text, uint32(n)), "PAR1"...))
}

// elements returns the nodes of a column in the schema: a value, or a list as the format wants it, of
// three nodes.
func elements(r *table.Result) []format.SchemaElement {
	required := thrift.New(format.Required)
	leaf := format.SchemaElement{Name: r.Name, Type: thrift.New(leafType(r)), RepetitionType: required}
	switch leaf.Type.V {
	case format.Int64:
		leaf.ConvertedType = thrift.New(deprecated.Int64)
		leaf.LogicalType.Value = &format.IntType{BitWidth: 64, IsSigned: true}
	case format.ByteArray:
		leaf.ConvertedType = thrift.New(deprecated.UTF8)
		leaf.LogicalType.Value = &format.StringType{}
	}

	if r.Width == 0 {
		return []format.SchemaElement{leaf}
	}
	leaf.Name = "element"
	one := thrift.New(int32(1))
	list := format.SchemaElement{Name: r.Name, RepetitionType: required, NumChildren: one,
		ConvertedType: thrift.New(deprecated.List)}
	list.LogicalType.Value = &format.ListType{}
	return []format.SchemaElement{list, {Name: "list", RepetitionType: thrift.New(format.Repeated), NumChildren: one}, leaf}
}

// leafType is the type of the values of a column in the file.
func leafType(r *table.Result) format.Type {
	switch r.Values.(type) {
	case []int64, []int32:
		return format.Int64
	case []float64:
		return format.Double
	case []float32:
		return format.Float
	case []bool:
		return format.Boolean
	}
	return format.ByteArray
}

// group writes the rows from one to another as a row group.
func (w *writer) group(columns []table.Result, from, to int) error {
	group := format.RowGroup{NumRows: int64(to - from), FileOffset: w.at, Ordinal: int16(min(len(w.groups), 1<<15-1))}
	for i := range columns {
		c := chunkWriter{writer: w, column: &columns[i]}
		meta, err := c.write(from, to)
		if err != nil {
			return err
		}
		group.Columns = append(group.Columns, format.ColumnChunk{MetaData: *meta})
		group.TotalByteSize += meta.TotalUncompressedSize
		group.TotalCompressedSize += meta.TotalCompressedSize
	}

	w.groups = append(w.groups, group)
	return nil
}

// chunkWriter writes one column of a group.
type chunkWriter struct {
	*writer
	column *table.Result
	meta   format.ColumnMetaData
	places map[string]int32 // of the texts in the dictionary, nil without one
}

func (c *chunkWriter) write(from, to int) (*format.ColumnMetaData, error) {
	start := c.at
	c.meta = format.ColumnMetaData{Type: leafType(c.column), Codec: format.Snappy, PathInSchema: []string{c.column.Name},
		Encoding: []format.Encoding{format.Plain, format.RLE}}
	if c.column.Width > 0 {
		c.meta.PathInSchema = append(c.meta.PathInSchema, "list", "element")
	}
	if texts, ok := c.column.Values.([]string); ok {
		each := max(c.column.Width, 1)
		if err := c.dictionary(texts[from*each : to*each]); err != nil {
			return nil, err
		}
	}

	c.meta.DataPageOffset = c.at
	for from < to {
		end := c.pageEnd(from, to)
		if err := c.data(from, end); err != nil {
			return nil, err
		}
		from = end
	}
	c.meta.TotalCompressedSize = c.at - start
	return &c.meta, nil
}

// dictionary writes the texts that there are, where most come more than once.
func (c *chunkWriter) dictionary(texts []string) error {
	places := map[string]int32{}
	var body []byte
	for _, s := range texts {
		if _, ok := places[s]; ok {
			continue
		}
		places[s] = int32(len(places))
		body = plain.AppendByteArrayString(body, s)
		if len(places) > (len(texts)+1)/2 || len(body) > pageBytes {
			return nil
		}
	}

	if len(texts) == 0 {
		return nil
	}
	c.places = places
	c.meta.DictionaryPageOffset = c.at
	c.meta.Encoding = append(c.meta.Encoding, format.RLEDictionary)
	return c.page(&format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(
		format.DictionaryPageHeader{NumValues: int32(len(places)), Encoding: format.Plain})}, body)
}

// pageEnd returns the row at which a page that begins at a row ends.
func (c *chunkWriter) pageEnd(from, to int) int {
	each := max(c.column.Width, 1)
	to = min(to, from+max(1, min(pageRows, pageBytes/(8*each))))
	texts, ok := c.column.Values.([]string)
	if !ok {
		return to
	}
	size := 0
	for i := from; i < to; i++ {
		for _, s := range texts[i*each : (i+1)*each] {
			size += len(s)
		}
		if size > pageBytes && i > from {
			return i
		}
	}
	return to
}

// data writes the rows from one to another as a page of data.
func (c *chunkWriter) data(from, to int) error {
	each := max(c.column.Width, 1)
	n := (to - from) * each
	var body []byte
	if c.column.Width > 0 {
		// The first value of a list has the repetition level 0. No list is empty.
		rep := make([]byte, n)
		def := make([]byte, n)
		for i := range n {
			if def[i] = 1; i%each > 0 {
				rep[i] = 1
			}
		}
		for _, levels := range [][]byte{rep, def} {
			b, err := (&rle.Encoding{BitWidth: 1}).EncodeLevels(nil, levels)
			if err != nil {
				return err
			}
			body = append(binary.LittleEndian.AppendUint32(body, uint32(len(b))), b...)
		}
	}

	encoding := format.Plain
	if c.places != nil {
		encoding = format.RLEDictionary
	}
	values, err := c.values(from*each, to*each)
	if err != nil {
		return err
	}
	c.meta.NumValues += int64(n)
	return c.page(&format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: int32(n), Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})}, append(body, values...))
}

// values encodes values of the column.
func (c *chunkWriter) values(from, to int) ([]byte, error) {
	e := &plain.Encoding{}
	switch x := c.column.Values.(type) {
	case []int64:
		return e.EncodeInt64(nil, x[from:to])
	case []int32:
		var b []byte
		for _, v := range x[from:to] {
			b = plain.AppendInt64(b, int64(v))
		}
		return b, nil
	case []float64:
		return e.EncodeDouble(nil, x[from:to])
	case []float32:
		return e.EncodeFloat(nil, x[from:to])
	case []bool:
		b := make([]byte, (to-from+7)/8)
		for i, v := range x[from:to] {
			if v {
				b[i/8] |= 1 << (i % 8)
			}
		}
		return b, nil
	case []string:
		if c.places != nil {
			indexes := make([]int32, 0, to-from)
			for _, s := range x[from:to] {
				indexes = append(indexes, c.places[s])
			}
			return new(rle.DictionaryEncoding).EncodeInt32(nil, indexes)
		}
		var b []byte
		for _, s := range x[from:to] {
			b = plain.AppendByteArrayString(b, s)
		}
		return b, nil
	}

	return nil, fmt.Errorf("column %q has values of type %T", c.column.Name, c.column.Values)
}

// page writes a page whose header lacks sizes and checksum.
func (c *chunkWriter) page(h *format.PageHeader, body []byte) error {
	packed := snappy.Encode(nil, body)
	h.UncompressedPageSize = int32(len(body))
	h.CompressedPageSize = int32(len(packed))
	h.CRC = int32(crc32.ChecksumIEEE(packed))
	head, err := thrift.Marshal(new(thrift.CompactProtocol), h)
	if err != nil {
		return err
	}
	c.meta.TotalUncompressedSize += int64(len(head) + len(body))
	if err := c.writer.write(head); err != nil {
		return err
	}
	return c.writer.write(packed)
}
