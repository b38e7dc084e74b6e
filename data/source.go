package data

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/internal/file/shards"
)

// source is an open file of a known format.
type source struct {
	*fields.Content
	path   string // of the content
	key    string // given with the path
	format *fileFormat
}

// fault is an error about the file as a whole.
func (s *source) fault(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{s.path}, args...)...)
}

// openKey opens a file and returns the key of the array to read: the given one, or
// else the one in the path. limit bounds the memory for a line of text. A key is an error unless the file holds arrays, or columns, by
// name.
func openKey(path, key string, limit int64) (*source, string, error) {
	s, err := openSource(path)
	if err != nil {
		return nil, "", err
	}
	s.Limit = limit
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
func openSource(path string) (*source, error) {
	path, key := shards.SplitKey(path)
	content, err := fields.Open(path)
	if err != nil {
		return nil, err
	}

	s := &source{Content: content, path: path, key: key}
	if err := s.recognize(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// recognize finds the format by the first bytes of the content and the name of the file.
func (s *source) recognize() error {
	head, err := s.Head()
	if err != nil {
		return err
	}

	name := strings.ToLower(s.path)
	if s.Packing != "" {
		name = shards.WithoutPacking(name)
	}
	if s.format = sniff(head, filepath.Ext(name)); s.format == nil {
		return s.fault("the format is not known: the file begins with %q; %s are read",
			head[:min(len(head), 16)], enum.And(Formats(false)))
	}
	if s.Packing != "" && !s.format.packed && !s.format.table { // tables have a remedy of their own
		return s.fault("%s inside %s is not read; decompress it, or write it with numpy.savez_compressed",
			s.format.name, s.Packing)
	}
	return nil
}
