package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// feedStart is where the pages of a feed begin for the library.
const feedStart = 4

// plainDictionary is the name that older writers give to the pages of a dictionary and to the pages
// of its indexes.
const plainDictionary format.Encoding = 2

// feed hands the pages of a chunk to the library in order, decompressed and with true sizes, as if
// they were the bytes of a file from feedStart on. No such file exists:
//
//	chunk in the file   header │ compressed page │ header │ compressed page │ …
//	bytes of the feed   new header │ page        │ new header │ page        │ …
//	                    feedStart
type feed struct {
	p     *reader
	leaf  *parquet.Column
	codec format.CompressionCodec
	group int
	start int64 // of the page in the file of the feed
	page  []byte
	at    int64 // of the next page in the true file
	end   int64
	left  int64 // values that the chunk may still have
	zstd  *zstd.Decoder
	fault error
}

func (f *feed) ReadAt(b []byte, off int64) (int, error) {
	done := 0
	for done < len(b) {
		// The page is used up, or there is none yet: make the next one.
		if f.start == 0 || off+int64(done) >= f.start+int64(len(f.page)) {
			if f.start == 0 {
				f.start = feedStart
			} else {
				f.start += int64(len(f.page))
			}
			f.page = f.page[:0]
			if f.at >= f.end {
				return done, io.EOF
			}
			if err := f.next(); err != nil {
				f.fault = err
				return done, err
			}
			continue
		}

		// The library reads pages in their order, so one page at a time is held.
		if off+int64(done) < f.start {
			return done, errors.New("pages are read in order only")
		}
		done += copy(b[done:], f.page[off+int64(done)-f.start:])
	}

	return done, nil
}

func (f *feed) bad(format string, args ...any) error {
	return f.p.fault("row group %d, column %q, the page at byte %d: %w; the file is damaged, write it again",
		f.group, f.leaf.Path()[0], f.at, fmt.Errorf(format, args...))
}

// mostHeader bounds the bytes of the header of a page. Headers hold the smallest and the largest
// value of a page, which may be long texts.
const mostHeader = 16 << 20

// next reads the next page of the file.
func (f *feed) next() error {
	h, n, err := f.header()
	if err != nil {
		return err
	}
	size := int64(h.CompressedPageSize)
	if size < 0 || size > f.end-f.at-int64(n) || h.UncompressedPageSize < 0 {
		return f.bad("it claims %d bytes of %d", size, f.end-f.at-int64(n))
	}
	if need := size + int64(h.UncompressedPageSize); need > f.p.bound() {
		return &npy.LimitError{What: fmt.Sprintf("%s: a page of column %q", f.p.path, f.leaf.Path()[0]),
			Need: need, Limit: f.p.bound()}
	}

	// The size was compared with the chunk and with the bound of memory.
	raw := make([]byte, size)
	if _, err := f.p.file.ReadAt(raw, f.at+int64(n)); err != nil {
		return f.bad("%w", err)
	}
	if h.CRC != 0 && crc32.ChecksumIEEE(raw) != uint32(h.CRC) {
		return f.bad("its checksum is wrong")
	}
	body, err := f.body(h, raw)
	if err != nil {
		return err
	}

	// The library sees a page without compression and without a checksum.
	h.CRC = 0
	h.CompressedPageSize = int32(len(body))
	h.UncompressedPageSize = int32(len(body))
	head, err := thrift.Marshal(new(thrift.CompactProtocol), h)
	if err != nil {
		return f.bad("%w", err)
	}
	f.page = append(append(f.page, head...), body...)
	f.at += int64(n) + size
	return nil
}

// header reads the header of the next page and its length.
func (f *feed) header() (*format.PageHeader, int, error) {
	for try := int64(4 << 10); ; try *= 16 {
		// The length of a header is not known, so that ever more bytes are tried.
		try = min(try, f.end-f.at, mostHeader)
		b := make([]byte, try)
		if _, err := f.p.file.ReadAt(b, f.at); err != nil {
			return nil, 0, f.bad("%w", err)
		}
		// Headers are short; only a long one needs another try with more bytes.
		n, _, err := walkThrift(b)
		if err != nil {
			if try == min(f.end-f.at, mostHeader) {
				return nil, 0, f.bad("its header is damaged: %w", err)
			}
			continue
		}

		h := new(format.PageHeader)
		var protocol thrift.CompactProtocol
		if err := thrift.NewDecoder(protocol.NewReaderFromBytes(b[:n])).Decode(h); err != nil {
			return nil, 0, f.bad("its header is damaged: %w", err)
		}
		return h, n, nil
	}
}

// body returns the decompressed content of a page with believable counts.
func (f *feed) body(h *format.PageHeader, raw []byte) ([]byte, error) {
	size := int(h.UncompressedPageSize)
	switch h.Type {
	case format.DictionaryPage:
		body, err := f.decompress(raw, size)
		if err == nil {
			err = f.count(&h.DictionaryPageHeader.V.NumValues, body)
		}
		if err == nil && h.DictionaryPageHeader.V.Encoding != format.Plain &&
			h.DictionaryPageHeader.V.Encoding != plainDictionary {
			err = f.bad("a dictionary is encoded as %s", h.DictionaryPageHeader.V.Encoding)
		}
		return body, err
	case format.DataPage:
		body, err := f.decompress(raw, size)
		if err != nil {
			return nil, err
		}
		v := &h.DataPageHeader.V
		if err := f.spend(v.NumValues, body); err != nil {
			return nil, err
		}
		return body, f.checkV1(v, body)
	case format.DataPageV2:
		v := &h.DataPageHeaderV2.V
		// Levels of the second version stand before the values and are never compressed.
		levels := int(v.RepetitionLevelsByteLength) + int(v.DefinitionLevelsByteLength)
		if v.RepetitionLevelsByteLength < 0 || v.DefinitionLevelsByteLength < 0 || levels > len(raw) ||
			levels > size || v.NumRows < 0 || v.NumNulls < 0 || v.NumNulls > v.NumValues {
			return nil, f.bad("it claims %d bytes of levels of %d", levels, len(raw))
		}
		values := raw[levels:]
		if !v.IsCompressed.Valid || v.IsCompressed.V {
			var err error
			if values, err = f.decompress(values, size-levels); err != nil {
				return nil, err
			}
		}

		body := append(raw[:levels:levels], values...)
		if err := f.spend(v.NumValues, body); err != nil {
			return nil, err
		}
		rep := raw[:v.RepetitionLevelsByteLength]
		return body, f.checkAll(rep, raw[len(rep):levels], values, int(v.NumValues), v.Encoding)
	}

	return nil, f.bad("it is of type %s", h.Type)
}

// manyValues is the most values that a page may claim in fewer bits than values, as a page may whose
// values are all missing or equal. Writers end pages at 1 MiB or 20,000 rows, far below.
const manyValues = 1 << 24

// count checks the number of values that a page claims.
func (f *feed) count(n *int32, body []byte) error {
	if *n < 0 || int64(*n) > max(manyValues, 8*int64(len(body))) {
		return f.bad("it claims %d values in %d bytes", *n, len(body))
	}
	return nil
}

// spend counts a page of data; a chunk must not have more values than it claims.
func (f *feed) spend(n int32, body []byte) error {
	if err := f.count(&n, body); err != nil {
		return err
	}
	if f.left -= int64(n); f.left < 0 {
		return f.bad("the chunk has more values than the footer claims")
	}
	return nil
}

// checkV1 checks the levels and values of a page of the first version, in which lengths
// stand before the levels.
func (f *feed) checkV1(v *format.DataPageHeader, body []byte) error {
	var levels [2][]byte
	for i, most := range []int{f.leaf.MaxRepetitionLevel(), f.leaf.MaxDefinitionLevel()} {
		if most == 0 {
			continue
		}
		if e := []format.Encoding{v.RepetitionLevelEncoding, v.DefinitionLevelEncoding}[i]; e != format.RLE {
			return f.bad("its levels are encoded as %s", e)
		}
		if len(body) < 4 || uint64(binary.LittleEndian.Uint32(body)) > uint64(len(body)-4) {
			return f.bad("its levels are longer than it")
		}
		// Four bytes of length, then the levels.
		n := int(binary.LittleEndian.Uint32(body))
		levels[i] = body[4 : 4+n]
		body = body[4+n:]
	}

	return f.checkAll(levels[0], levels[1], body, int(v.NumValues), v.Encoding)
}

// checkAll refuses levels and values that would unfold to more than n.
func (f *feed) checkAll(rep, def, values []byte, n int, enc format.Encoding) error {
	if err := f.runs(rep, bits.Len(uint(f.leaf.MaxRepetitionLevel())), n); err != nil {
		return err
	}
	if err := f.runs(def, bits.Len(uint(f.leaf.MaxDefinitionLevel())), n); err != nil {
		return err
	}

	// Run lengths unfold to any number of values, so they are added up before they are decoded.
	switch enc {
	case format.Plain, format.ByteStreamSplit:
		return nil
	case plainDictionary, format.RLEDictionary:
		if len(values) == 0 {
			return nil
		}
		if values[0] > 32 {
			return f.bad("it has indexes of %d bits", values[0])
		}
		return f.runs(values[1:], int(values[0]), n)
	case format.RLE:
		if len(values) < 4 {
			return nil
		}
		return f.runs(values[4:], 1, n)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		// block size, blocks, number of values
		for i := range 3 {
			v, k := binary.Uvarint(values)
			if k <= 0 || i == 2 && v > uint64(n) || v > 1<<24 {
				return f.bad("it claims %d values of %d", v, n)
			}
			values = values[k:]
		}
		return nil
	}

	return f.p.fault("column %q is encoded as %s, which is not read; write it PLAIN or with a dictionary",
		f.leaf.Path()[0], enc)
}

// runs refuses run lengths of more than n values.
func (f *feed) runs(b []byte, width, n int) error {
	total := 0
	for len(b) > 0 && total <= n {
		// The lowest bit says whether values are packed or one value repeats.
		h, k := binary.Uvarint(b)
		if k <= 0 || h>>1 > 1<<31 {
			return f.bad("its run lengths are damaged")
		}
		b = b[k:]
		skip := (width + 7) / 8
		if count := int(h >> 1); h&1 == 1 {
			skip = count * width
			// Packed values come by eights; the last eight may hold more than needed.
			if total += 8 * count; total < n+8 {
				total = min(total, n)
			}
		} else {
			total += count
		}

		b = b[min(skip, len(b)):]
	}

	if total > n {
		return f.bad("its run lengths are of %d values, it has %d", total, n)
	}
	return nil
}

// decompress returns the size bytes that src unfolds to. Memory grows with what comes.
func (f *feed) decompress(src []byte, size int) ([]byte, error) {
	var out []byte
	var err error
	switch f.codec {
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
		if f.zstd == nil {
			f.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
				zstd.WithDecoderMaxMemory(uint64(f.p.bound())), zstd.WithDecoderLowmem(true))
		}
		if err == nil {
			out, err = f.zstd.DecodeAll(src, make([]byte, 0, min(size, 1<<20+64*len(src))))
		}
	case format.Lz4Raw:
		if size > 256*len(src) {
			return nil, f.bad("it claims %d bytes, too many for its %d compressed ones", size, len(src))
		}
		out = make([]byte, size)
		var n int
		if n, err = lz4.UncompressBlock(src, out); err == nil {
			out = out[:n]
		}
	default:
		return nil, f.p.fault("column %q is compressed with %s, which is not read; write it with "+
			"snappy, gzip, zstd, brotli, LZ4_RAW or without", f.leaf.Path()[0], f.codec)
	}

	// Content of another length than claimed is damage.
	if err == nil && len(out) != size {
		err = fmt.Errorf("it claims %d bytes, there are %d", size, len(out))
	}
	if err != nil {
		return nil, f.bad("%w", err)
	}
	return out, nil
}

// readMost reads at most size+1 bytes.
func readMost(r io.Reader, size int) ([]byte, error) {
	var b bytes.Buffer
	_, err := io.Copy(&b, io.LimitReader(r, int64(size)+1))
	return b.Bytes(), err
}
