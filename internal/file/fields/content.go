package fields

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// HeadLen is the most bytes of a file that [Content.Head] returns, and the size of the buffers. The
// first line of a table of some thousand columns fits in it.
const HeadLen = 64 << 10

// maxWindow bounds the memory that a zstd stream may ask for: zstd --long asks for this much.
const maxWindow = 128 << 20

// Content is the content of a file, decompressed if it is compressed with gzip or zstd.
type Content struct {
	Path    string
	Size    int64         // bytes on disk
	Packing string        // gzip, zstd or empty
	UTF16   bool          // the text is UTF-16, with a mark; R has it as UTF-8
	R       *bufio.Reader // the content, from its first byte after Open and Rewind
	Limit   int64         // bytes of memory for a line of text and its fields, 0 for no limit

	file *os.File
	stop func() // ends decompression
}

// Open opens a regular file and finds out whether it is compressed. An empty file is an error.
func Open(path string) (*Content, error) {
	f, size, err := npy.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	c := &Content{Path: path, Size: size, file: f}
	// No format has empty files, so that every reader would fail with a message of its own.
	if size == 0 {
		err = fmt.Errorf("%s: the file is empty", path)
	} else {
		err = c.Rewind()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// File returns the file itself, which is not decompressed.
func (c *Content) File() *os.File { return c.file }

// Close closes the file.
func (c *Content) Close() error {
	c.end()
	return c.file.Close()
}

// end ends decompression.
func (c *Content) end() {
	if c.stop != nil {
		c.stop()
	}
	c.stop = nil
}

// Rewind goes to the first byte of the content.
func (c *Content) Rewind() error {
	c.end()
	if _, err := c.file.Seek(0, io.SeekStart); err != nil {
		return c.ReadError(err)
	}
	c.R = bufio.NewReaderSize(c.file, HeadLen)

	// Compression is recognized by the first bytes, whatever the name of the file is.
	head, _ := c.R.Peek(4)
	switch {
	case strings.HasPrefix(string(head), "\x1f\x8b"):
		c.Packing = "gzip"
		z, err := gzip.NewReader(c.R)
		if err != nil {
			return c.ReadError(err)
		}
		c.R = bufio.NewReaderSize(z, HeadLen)
	case string(head) == "\x28\xb5\x2f\xfd":
		c.Packing = "zstd"
		// A decoder of one block at a time starts no goroutine.
		z, err := zstd.NewReader(c.R, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return c.ReadError(err)
		}
		c.stop = z.Close
		c.R = bufio.NewReaderSize(z, HeadLen)
	}

	// Excel's "Unicode text" has UTF-16 with a mark in front, which no other format begins with.
	mark, _ := c.R.Peek(2)
	if c.UTF16 = string(mark) == "\xff\xfe" || string(mark) == "\xfe\xff"; c.UTF16 {
		decoder := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder()
		c.R = bufio.NewReaderSize(decoder.Reader(c.R), HeadLen)
	}
	return nil
}

// Head returns the bytes at the beginning of the content that tell its format. It must be
// called before anything is read.
func (c *Content) Head() ([]byte, error) {
	head, err := c.R.Peek(HeadLen)
	if err != nil && err != io.EOF && len(head) == 0 {
		return nil, c.ReadError(err)
	}
	return head, nil
}

// Lines returns the lines of the content.
func (c *Content) Lines() *Lines { return NewLines(c.Path, c.R, c.Limit, c.ReadError) }

// ReadError describes a failed read of the content.
func (c *Content) ReadError(err error) error {
	var system *fs.PathError
	// Of a compressed file nearly every error but one of the system is damage.
	switch {
	case c.Packing == "" || errors.As(err, &system):
		return fmt.Errorf("%s: %w", c.Path, err)
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%s: the zstd stream needs more than %d MiB to be decompressed: %w; "+
			"compress it again without --long", c.Path, maxWindow>>20, err)
	}
	return fmt.Errorf("%s: the %s stream is truncated or damaged: %w; compress the file again", c.Path,
		c.Packing, err)
}
