package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkOutput returns an error unless files can be made at the paths, so that a
// long run does not end in one, and none of them is one of the inputs or named
// twice. Empty paths are none.
func checkOutput(inputs []string, paths ...string) error {
	for i, path := range paths {
		if path == "" {
			continue
		}
		if err := checkWritable(path); err != nil {
			return output(err)
		}
		for _, in := range inputs {
			if sameFile(in, path) {
				return usagef("%s is both read and written; give the output another name", path)
			}
		}
		for _, other := range paths[:i] {
			if other != "" && (filepath.Clean(other) == filepath.Clean(path) || sameFile(other, path)) {
				return usagef("%s is to be written twice; give each output its own name", path)
			}
		}
	}
	return nil
}

func checkWritable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s cannot be written: it is a directory; name a file in it", path)
	} else if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s cannot be written: it is there and is not a regular file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, plainPathError(err, filepath.Dir(path)))
	}
	f.Close()
	os.Remove(f.Name())
	return nil
}

// plainPathError puts dir in place of the name of a temporary file.
func plainPathError(err error, dir string) error {
	if pe, ok := err.(*os.PathError); ok {
		return fmt.Errorf("%s: %w", dir, pe.Err)
	}
	return err
}

// sameFile reports whether two names mean one file that is there; in may name
// an array of it after a colon.
func sameFile(in, path string) bool {
	b, err := os.Stat(path)
	if err != nil {
		return false
	}
	a, err := os.Stat(in)
	if i := strings.LastIndexByte(in, ':'); err != nil && i > 0 {
		a, err = os.Stat(in[:i])
	}
	return err == nil && os.SameFile(a, b)
}
