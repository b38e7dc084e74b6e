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

	"github.com/bigfit/bigfit/internal/npy"
)

// source is a file whose format is known.
type source struct {
	path   string
	key    string // given with the path
	format *fileFormat
	gzip   bool
	size   int64 // bytes on disk
	file   *os.File
	r      *bufio.Reader // the content, decompressed, from its first byte
}

func (s *source) Close() error { return s.file.Close() }

// fault is an error about the file as a whole.
func (s *source) fault(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{s.path}, args...)...)
}

// readError describes a failed read of the content.
func (s *source) readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
		return s.fault("the gzip stream is truncated or damaged: %w; compress the file again", err)
	}
	return s.fault("%w", err)
}

// splitKey cuts "file.npz:key" unless a file of the whole name exists.
func splitKey(path string) (file, key string) {
	if _, err := os.Stat(path); err != nil {
		if i := strings.LastIndexByte(path, ':'); i > 0 {
			if _, err := os.Stat(path[:i]); err == nil {
				return path[:i], path[i+1:]
			}
		}
	}
	return path, ""
}

// sniffLen is the number of bytes at the beginning of a file that tell its format.
const sniffLen = 64 << 10

// openKey opens a file and returns the key of the array to read: the given one, or
// else the one in the path. A key is an error unless the file holds arrays by name.
func openKey(path, key string) (*source, string, error) {
	s, err := openSource(path)
	if err != nil {
		return nil, "", err
	}
	if key == "" {
		key = s.key
	}
	if key != "" && !s.format.keys {
		s.Close()
		return nil, "", s.fault("key %q is given, but the file is %s, not .npz", key, s.format.name)
	}
	return s, key, nil
}

// openSource opens a file and recognizes its format.
func openSource(path string) (_ *source, err error) {
	s := &source{}
	s.path, s.key = splitKey(path)
	if s.file, s.size, err = npy.OpenRegular(s.path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.file.Close()
		}
	}()
	if s.size == 0 {
		return nil, s.fault("the file is empty")
	}
	s.r = bufio.NewReaderSize(s.file, sniffLen)
	if head, _ := s.r.Peek(2); string(head) == "\x1f\x8b" {
		s.gzip = true
		z, err := gzip.NewReader(s.r)
		if err != nil {
			return nil, s.readError(err)
		}
		s.r = bufio.NewReaderSize(z, sniffLen)
	}
	head, err := s.r.Peek(sniffLen)
	if err != nil && !errors.Is(err, io.EOF) && len(head) == 0 {
		return nil, s.readError(err)
	}
	name := strings.ToLower(s.path)
	if s.gzip {
		name = strings.TrimSuffix(name, ".gz")
	}
	if s.format = sniff(head, filepath.Ext(name)); s.format == nil {
		return nil, s.fault("the format is not known: the file begins with %q; .npy, .npz, idx, svmlight and csv are read", head[:min(len(head), 16)])
	}
	if s.gzip && !s.format.gzip {
		return nil, s.fault("%s inside gzip is not read; decompress it with gunzip, or write it with numpy.savez_compressed", s.format.name)
	}
	return s, nil
}
