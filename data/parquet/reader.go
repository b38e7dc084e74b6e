package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
)

// reader reads a parquet file: the footer here, the schema in schema.go, and each column by a cursor,
// which takes the pages of one chunk after the other. The library decodes Thrift and the values of a
// page; sizes, counts and run lengths are compared with the bytes that are there before it does.
type reader struct {
	path  string
	file  *os.File
	size  int64
	limit int64

	meta   format.FileMetaData
	tops   []*node // the columns
	leaves []*node // nodes with values, in the order of the chunks of a group
	single []*node // of each column its only leaf, nil if it has none or several
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
	if err := p.readSchema(); err != nil {
		return nil, err
	}
	if err := p.checkGroups(); err != nil {
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
		if len(group.Columns) != len(p.leaves) {
			return p.fault("row group %d has %d columns, the schema %d; the file is damaged, write it again", g,
				len(group.Columns), len(p.leaves))
		}
		for c := range group.Columns {
			m := &group.Columns[c].MetaData
			if group.Columns[c].FilePath != "" {
				return p.fault("column %d of row group %d lies in another file, %q; write the table as "+
					"one file", c, g, group.Columns[c].FilePath)
			}
			if m.Type != p.leaves[c].kind() {
				return p.fault("column %q of row group %d is of type %s, by the schema %s; the file is damaged, "+
					"write it again", p.leaves[c].column, g, m.Type, p.leaves[c].kind())
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
