package data

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/bigfit/bigfit/data/internal/fields"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/shards"
)

// source is a file whose format is known.
type source struct {
	path    string
	key     string // given with the path
	format  *fileFormat
	packing string // gzip, zstd or nothing
	size    int64  // bytes on disk
	file    *os.File
	r       *bufio.Reader // the content, decompressed, from its first byte
	done    func()        // ends decompression
}

func (s *source) Close() error {
	if s.done != nil {
		s.done()
	}
	return s.file.Close()
}

// fault is an error about the file as a whole.
func (s *source) fault(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{s.path}, args...)...)
}

// lines returns the lines of the content.
func (s *source) lines() *fields.Lines { return fields.NewLines(s.path, s.r, s.readError) }

// readError describes a failed read of the content.
func (s *source) readError(err error) error {
	switch {
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return s.fault("the zstd stream needs more than %d MiB to be decompressed: %w; compress it "+
			"again without --long", maxWindow>>20, err)
	case s.packing == "zstd", s.packing == "gzip" &&
		(errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) ||
			errors.Is(err, gzip.ErrHeader)):
		return s.fault("the %s stream is truncated or damaged: %w; compress the file again", s.packing, err)
	}
	return s.fault("%w", err)
}

// maxWindow bounds the memory that a zstd stream may ask for: that of zstd --long.
const maxWindow = 128 << 20

// unpack sets s.r to the decompressed content if s is compressed.
func (s *source) unpack() error {
	head, _ := s.r.Peek(4)
	switch {
	case len(head) > 1 && string(head[:2]) == "\x1f\x8b":
		s.packing = "gzip"
		z, err := gzip.NewReader(s.r)
		if err != nil {
			return s.readError(err)
		}
		s.r = bufio.NewReaderSize(z, sniffLen)
	case string(head) == "\x28\xb5\x2f\xfd":
		s.packing = "zstd"
		z, err := zstd.NewReader(s.r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return s.readError(err)
		}
		s.done = z.Close
		s.r = bufio.NewReaderSize(z, sniffLen)
	}

	return nil
}

// sniffLen is the number of bytes at the beginning of a file that tell its format.
const sniffLen = 64 << 10

// openKey opens a file and returns the key of the array to read: the given one, or
// else the one in the path. A key is an error unless the file holds arrays, or columns, by
// name.
func openKey(path, key string) (*source, string, error) {
	s, err := openSource(path)
	if err != nil {
		return nil, "", err
	}
	if key == "" {
		key = s.key
	}
	if key != "" && !s.format.keys && !s.format.table {
		s.Close()
		return nil, "", s.fault("key %q is given, but the file is %s, which has neither arrays nor "+
			"columns by name", key, s.format.name)
	}
	return s, key, nil
}

// openSource opens a file and recognizes its format.
func openSource(path string) (_ *source, err error) {
	s := &source{}
	s.path, s.key = shards.SplitKey(path)
	if s.file, s.size, err = npy.OpenRegular(s.path); err != nil {
		return nil, err
	}

	defer func() {
		if err != nil {
			s.Close()
		}
	}()

	if s.size == 0 {
		return nil, s.fault("the file is empty")
	}
	s.r = bufio.NewReaderSize(s.file, sniffLen)
	if err := s.unpack(); err != nil {
		return nil, err
	}
	head, err := s.r.Peek(sniffLen)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, s.readError(err)
	}

	name := strings.ToLower(s.path)
	if s.packing != "" {
		name = shards.WithoutPacking(name)
	}
	if s.format = sniff(head, filepath.Ext(name)); s.format == nil {
		return nil, s.fault("the format is not known: the file begins with %q; %s are read",
			head[:min(len(head), 16)], enum.And(Formats(false)))
	}
	if s.packing != "" && !s.format.packed {
		return nil, s.fault("%s inside %s is not read; decompress it, or write it with numpy.savez_compressed", s.format.name, s.packing)
	}
	return s, nil
}
