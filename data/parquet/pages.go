package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// plainDictionary is the name that older writers give to the pages of a dictionary and to the pages
// of its indexes.
const plainDictionary format.Encoding = 2

// chunk reads the pages of one column of a row group, in order:
//
//	dictionary, if there is one │ data │ data │ …
//
// each a header and a content that is compressed, of levels and values.
type chunk struct {
	p          *reader
	leaf       *node
	codec      format.CompressionCodec
	group      int
	at         int64 // of the next page in the file
	end        int64
	left       int64 // values that the chunk may still have
	zstd       *zstd.Decoder
	dictionary *values
	page       page
}

// page is a page of data. Its slices are good until the next page is read.
type page struct {
	n        int    // number of levels
	def, rep []byte // levels, nil where the highest one is 0
	values   *values
	indexes  []int32 // of the values in the dictionary; nil where values has them as they come
}

// chunk returns the chunk of a leaf in a row group.
func (p *reader) chunk(leaf *node, group int) *chunk {
	m := &p.meta.RowGroups[group].Columns[leaf.index].MetaData
	start, end := chunkRange(m)
	return &chunk{p: p, leaf: leaf, codec: m.Codec, group: group, at: start, end: end, left: m.NumValues}
}

func (c *chunk) close() {
	if c.zstd != nil {
		c.zstd.Close()
	}
}

func (c *chunk) bad(format string, args ...any) error {
	return c.p.fault("row group %d, column %q, the page at byte %d: %w; the file is damaged, write it again",
		c.group, c.leaf.column, c.at, fmt.Errorf(format, args...))
}

// mostHeader bounds the bytes of the header of a page. Headers hold the smallest and the largest
// value of a page, which may be long texts.
const mostHeader = 16 << 20

// next reads the next page of data, and a dictionary before it. It returns io.EOF after the last page.
func (c *chunk) next() (*page, error) {
	for c.at < c.end {
		h, n, err := c.header()
		if err != nil {
			return nil, err
		}
		size := int64(h.CompressedPageSize)
		if size < 0 || size > c.end-c.at-int64(n) || h.UncompressedPageSize < 0 {
			return nil, c.bad("it claims %d bytes of %d", size, c.end-c.at-int64(n))
		}
		if need := size + int64(h.UncompressedPageSize); need > c.p.bound() {
			return nil, &npy.LimitError{What: fmt.Sprintf("%s: a page of column %q", c.p.path, c.leaf.column),
				Need: need, Limit: c.p.bound()}
		}

		// The size was compared with the chunk and with the bound of memory.
		raw := make([]byte, size)
		if _, err := c.p.file.ReadAt(raw, c.at+int64(n)); err != nil {
			return nil, c.bad("%w", err)
		}
		if h.CRC != 0 && crc32.ChecksumIEEE(raw) != uint32(h.CRC) {
			return nil, c.bad("its checksum is wrong")
		}
		page, err := c.content(h, raw)
		if err != nil {
			return nil, err
		}

		c.at += int64(n) + size
		if page != nil {
			return page, nil
		}
	}

	if c.left != 0 {
		return nil, c.p.fault("row group %d, column %q ends %d values early; the file is damaged, write it again",
			c.group, c.leaf.column, c.left)
	}
	return nil, io.EOF
}

// header reads the header of the next page and its length.
func (c *chunk) header() (*format.PageHeader, int, error) {
	for try := int64(4 << 10); ; try *= 16 {
		// The length of a header is not known, so that ever more bytes are tried.
		try = min(try, c.end-c.at, mostHeader)
		b := make([]byte, try)
		if _, err := c.p.file.ReadAt(b, c.at); err != nil {
			return nil, 0, c.bad("%w", err)
		}
		// Headers are short; only a long one needs another try with more bytes.
		n, _, err := walkThrift(b)
		if err != nil {
			if try == min(c.end-c.at, mostHeader) {
				return nil, 0, c.bad("its header is damaged: %w", err)
			}
			continue
		}

		h := new(format.PageHeader)
		var protocol thrift.CompactProtocol
		if err := thrift.NewDecoder(protocol.NewReaderFromBytes(b[:n])).Decode(h); err != nil {
			return nil, 0, c.bad("its header is damaged: %w", err)
		}
		return h, n, nil
	}
}

// content returns a page of data, and nil of a dictionary, which the chunk keeps.
func (c *chunk) content(h *format.PageHeader, raw []byte) (*page, error) {
	size := int(h.UncompressedPageSize)
	switch h.Type {
	case format.DictionaryPage:
		body, err := c.decompress(raw, size)
		if err != nil {
			return nil, err
		}
		return nil, c.readDictionary(&h.DictionaryPageHeader.V, body)
	case format.DataPage:
		body, err := c.decompress(raw, size)
		if err != nil {
			return nil, err
		}
		v := &h.DataPageHeader.V
		if err := c.spend(v.NumValues, body); err != nil {
			return nil, err
		}
		rep, def, body, err := c.levelsV1(v, body)
		if err != nil {
			return nil, err
		}
		return c.decode(rep, def, body, int(v.NumValues), v.Encoding)
	case format.DataPageV2:
		v := &h.DataPageHeaderV2.V
		// Levels of the second version stand before the values and are never compressed.
		levels := int(v.RepetitionLevelsByteLength) + int(v.DefinitionLevelsByteLength)
		if v.RepetitionLevelsByteLength < 0 || v.DefinitionLevelsByteLength < 0 || levels > len(raw) ||
			levels > size || v.NumRows < 0 || v.NumNulls < 0 || v.NumNulls > v.NumValues {
			return nil, c.bad("it claims %d bytes of levels of %d", levels, len(raw))
		}
		body := raw[levels:]
		if !v.IsCompressed.Valid || v.IsCompressed.V {
			var err error
			if body, err = c.decompress(body, size-levels); err != nil {
				return nil, err
			}
		}

		if err := c.spend(v.NumValues, raw[:levels], body); err != nil {
			return nil, err
		}
		rep := raw[:v.RepetitionLevelsByteLength]
		return c.decode(rep, raw[len(rep):levels], body, int(v.NumValues), v.Encoding)
	}

	return nil, c.bad("it is of type %s", h.Type)
}

// readDictionary decodes the values that the pages of the chunk have indexes of.
func (c *chunk) readDictionary(h *format.DictionaryPageHeader, body []byte) error {
	if err := c.count(h.NumValues, len(body)); err != nil {
		return err
	}
	if h.Encoding != format.Plain && h.Encoding != plainDictionary {
		return c.bad("a dictionary is encoded as %s", h.Encoding)
	}
	d := &values{}
	if err := d.decode(c.leaf, format.Plain, body); err != nil {
		return c.bad("%w", err)
	}
	if n := d.len(c.leaf); n < int(h.NumValues) {
		return c.bad("the dictionary claims %d values, it has %d", h.NumValues, n)
	}
	c.dictionary = d
	return nil
}

// manyValues is the most values that a page may claim in fewer bits than values, as a page may whose
// values are all missing or equal. Writers end pages at 1 MiB or 20,000 rows, far below.
const manyValues = 1 << 24

// count checks the number of values that a page claims.
func (c *chunk) count(n int32, bytes int) error {
	if n < 0 || int64(n) > max(manyValues, 8*int64(bytes)) {
		return c.bad("it claims %d values in %d bytes", n, bytes)
	}
	return nil
}

// spend counts a page of data; a chunk must not have more values than it claims.
func (c *chunk) spend(n int32, parts ...[]byte) error {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if err := c.count(n, size); err != nil {
		return err
	}
	if c.left -= int64(n); c.left < 0 {
		return c.bad("the chunk has more values than the footer claims")
	}
	return nil
}

// levelsV1 returns the levels of a page of the first version, in which lengths stand before
// them, and the values.
func (c *chunk) levelsV1(v *format.DataPageHeader, body []byte) (rep, def, values []byte, err error) {
	var levels [2][]byte
	for i, most := range []int{c.leaf.maxRep, c.leaf.maxDef} {
		if most == 0 {
			continue
		}
		if e := []format.Encoding{v.RepetitionLevelEncoding, v.DefinitionLevelEncoding}[i]; e != format.RLE {
			return nil, nil, nil, c.bad("its levels are encoded as %s", e)
		}
		if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
			return nil, nil, nil, c.bad("its levels are longer than it")
		}
		// Four bytes of length, then the levels.
		n := int(binary.LittleEndian.Uint32(body))
		levels[i] = body[4 : 4+n]
		body = body[4+n:]
	}

	return levels[0], levels[1], body, nil
}

// decode decodes a page of n levels. Nothing unfolds to more than n.
func (c *chunk) decode(rep, def, body []byte, n int, enc format.Encoding) (*page, error) {
	var err error
	pg := &c.page
	pg.n = n
	if pg.rep, err = c.levels(pg.rep, rep, c.leaf.maxRep, n); err != nil {
		return nil, err
	}
	if pg.def, err = c.levels(pg.def, def, c.leaf.maxDef, n); err != nil {
		return nil, err
	}

	// Values that are missing or in no list have levels alone.
	there := n
	if c.leaf.maxDef > 0 {
		there = bytes.Count(pg.def, []byte{byte(c.leaf.maxDef)})
	}
	if there == 0 {
		return pg, nil
	}
	if err := c.checkRuns(enc, body, n); err != nil {
		return nil, err
	}
	if enc == plainDictionary || enc == format.RLEDictionary {
		return pg, c.decodeIndexes(body, there)
	}
	pg.indexes = nil
	if pg.values == nil || pg.values == c.dictionary {
		pg.values = &values{}
	}
	if err := pg.values.decode(c.leaf, enc, body); err != nil {
		return nil, c.bad("%w", err)
	}
	if have := pg.values.len(c.leaf); have < there {
		return nil, c.bad("it has %d values for %d levels", have, there)
	}
	return pg, nil
}

// decodeIndexes decodes a page of indexes of the dictionary.
func (c *chunk) decodeIndexes(body []byte, there int) error {
	indexes, err := new(rle.DictionaryEncoding).DecodeInt32(c.page.indexes, body)
	if err != nil {
		return c.bad("%w", err)
	}
	if len(indexes) < there {
		return c.bad("it has %d values for %d levels", len(indexes), there)
	}
	// Packed values come by eights: those behind the last one may be anything.
	indexes = indexes[:there]
	if c.dictionary == nil {
		return c.bad("it has indexes of a dictionary, and there is none before it")
	}
	most := c.dictionary.len(c.leaf)
	for _, i := range indexes {
		if uint(i) >= uint(most) {
			return c.bad("it has the index %d of a dictionary of %d values", i, most)
		}
	}

	c.page.indexes = indexes
	c.page.values = c.dictionary
	return nil
}

// levels decodes n levels from 0 to most.
func (c *chunk) levels(into, b []byte, most, n int) ([]byte, error) {
	if most == 0 {
		return nil, nil
	}
	width := bits.Len(uint(most))
	if err := c.runs(b, width, n); err != nil {
		return nil, err
	}
	encoding := rle.Encoding{BitWidth: width}
	levels, err := encoding.DecodeLevels(into, b)
	if err != nil {
		return nil, c.bad("%w", err)
	}
	if len(levels) < n {
		return nil, c.bad("it has %d levels of %d", len(levels), n)
	}
	return levels[:n], nil
}

// checkRuns refuses values that would unfold to more than n.
func (c *chunk) checkRuns(enc format.Encoding, body []byte, n int) error {
	// Run lengths unfold to any number of values, so they are added up before they are decoded.
	switch enc {
	case format.Plain, format.ByteStreamSplit:
		return nil
	case plainDictionary, format.RLEDictionary:
		if len(body) == 0 {
			return c.bad("it has no indexes")
		}
		if body[0] > 32 {
			return c.bad("it has indexes of %d bits", body[0])
		}
		return c.runs(body[1:], int(body[0]), n)
	case format.RLE:
		if len(body) < 4 {
			return nil
		}
		return c.runs(body[4:], 1, n)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		_, err := c.deltaCount(body, n)
		return err
	case format.DeltaByteArray:
		return c.checkPrefixes(body, n)
	}

	return c.p.fault("column %q is encoded as %s, which is not read; write it PLAIN or with a dictionary",
		c.leaf.column, enc)
}

// deltaCount reads how many integers a block of differences has, which are n at most, and returns the bytes
// behind the count.
func (c *chunk) deltaCount(b []byte, n int) ([]byte, error) {
	// block size, blocks, number of values
	for i := range 3 {
		v, k := binary.Uvarint(b)
		if k <= 0 || i == 2 && v > uint64(n) || v > 1<<24 {
			return nil, c.bad("it claims %d values of %d", v, n)
		}
		b = b[k:]
	}
	return b, nil
}

// checkPrefixes refuses texts that would unfold to more than the bound. Each begins with a part of the one
// before it, so that a few bytes can stand for long texts:
//
//	lengths of these parts │ lengths of the rests │ the rests
func (c *chunk) checkPrefixes(body []byte, n int) error {
	if _, err := c.deltaCount(body, n); err != nil {
		return err
	}
	var lengths delta.BinaryPackedEncoding
	prefixes, err := lengths.DecodeInt32(nil, body)
	if err != nil {
		return c.bad("%w", err)
	}
	need := int64(len(body))
	for _, k := range prefixes {
		need += max(0, int64(k))
	}
	if need > c.p.bound() {
		return &npy.LimitError{What: fmt.Sprintf("%s: a page of column %q", c.p.path, c.leaf.column),
			Need: need, Limit: c.p.bound()}
	}

	// The second block has as many integers as the first. Where it begins only the bytes of the first say.
	rest, err := c.deltaEnd(body)
	if err != nil {
		return err
	}
	_, err = c.deltaCount(rest, n)
	return err
}

// deltaEnd returns the bytes behind a block of differences: a header, and for each group of values the least
// difference, the width of each part of it, and the parts.
func (c *chunk) deltaEnd(b []byte) ([]byte, error) {
	var head [4]uint64 // size of a group, parts of it, number of values, the first value
	for i := range head {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, c.bad("its lengths are damaged")
		}
		head[i], b = v, b[k:]
	}
	parts := int(head[1])
	if parts == 0 || parts > len(b)+1 || head[0]%head[1] != 0 {
		return nil, c.bad("its lengths are damaged")
	}

	each := int(head[0]) / parts
	for left := int(head[2]) - 1; left > 0; {
		_, k := binary.Uvarint(b)
		if k <= 0 || len(b) < k+parts {
			return nil, c.bad("its lengths are damaged")
		}
		widths := b[k : k+parts]
		b = b[k+parts:]
		for _, width := range widths {
			// Parts without values are left out.
			if left <= 0 {
				break
			}
			size := int(width) * each / 8
			if size > len(b) {
				return nil, c.bad("its lengths are damaged")
			}
			b = b[size:]
			left -= each
		}
	}
	return b, nil
}

// runs refuses run lengths of more than n values.
func (c *chunk) runs(b []byte, width, n int) error {
	total := 0
	for len(b) > 0 && total <= n {
		// The lowest bit says whether values are packed or one value repeats.
		h, k := binary.Uvarint(b)
		if k <= 0 || h>>1 > 1<<31 {
			return c.bad("its run lengths are damaged")
		}
		b = b[k:]
		skip := (width + 7) / 8
		if count := int(h >> 1); h&1 == 1 {
			// Packed values come by eights, and DuckDB fills its last run up to 256. What is too much is
			// bounded by the bytes that are there, but for values of no bits.
			skip = count * width
			if total += 8 * count; width > 0 || total < n+8 {
				total = min(total, n)
			}
		} else {
			total += count
		}

		b = b[min(skip, len(b)):]
	}

	if total > n {
		return c.bad("its run lengths are of %d values, it has %d", total, n)
	}
	return nil
}

// decompress returns the size bytes that src unfolds to. Memory grows with what comes.
func (c *chunk) decompress(src []byte, size int) ([]byte, error) {
	var out []byte
	var err error
	switch c.codec {
	case format.Uncompressed:
		out = src
	case format.Snappy:
		// Snappy reaches at most a ratio of about 21, so that 64 refuses claims and no file.
		var n int
		if n, err = snappy.DecodedLen(src); err == nil && (n != size || n > 64*len(src)) {
			err = fmt.Errorf("it claims %d bytes, its content %d", size, n)
		}
		if err == nil {
			out, err = snappy.Decode(make([]byte, n), src)
		}
	case format.Gzip:
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(src)); err == nil {
			out, err = readMost(z, size)
		}
	case format.Brotli:
		out, err = readMost(brotli.NewReader(bytes.NewReader(src)), size)
	case format.Zstd:
		if c.zstd == nil {
			c.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
				zstd.WithDecoderMaxMemory(uint64(c.p.bound())), zstd.WithDecoderLowmem(true))
		}
		if err == nil {
			out, err = c.zstd.DecodeAll(src, make([]byte, 0, min(size, 1<<20+64*len(src))))
		}
	case format.Lz4Raw:
		if size > 256*len(src) {
			return nil, c.bad("it claims %d bytes, too many for its %d compressed ones", size, len(src))
		}
		out = make([]byte, size)
		var n int
		if n, err = lz4.UncompressBlock(src, out); err == nil {
			out = out[:n]
		}
	default:
		return nil, c.p.fault("column %q is compressed with %s, which is not read; write it with "+
			"snappy, gzip, zstd, brotli, LZ4_RAW or without", c.leaf.column, c.codec)
	}

	// Content of another length than claimed is damage.
	if err == nil && len(out) != size {
		err = fmt.Errorf("it claims %d bytes, there are %d", size, len(out))
	}
	if err != nil {
		return nil, c.bad("%w", err)
	}
	return out, nil
}

// readMost reads at most size+1 bytes.
func readMost(r io.Reader, size int) ([]byte, error) {
	var b bytes.Buffer
	_, err := io.Copy(&b, io.LimitReader(r, int64(size)+1))
	return b.Bytes(), err
}
