package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var errDisk = errors.New("the disk is on fire")

// A failed write leaves a part of its bytes behind for discard to remove.
func TestShortWrite(t *testing.T) {
	dir := t.TempDir()
	var size int64
	SetHooks(&Hooks{Before: func(s Step) error {
		if s.Op == "write" {
			return errDisk
		}
		return nil
	}})
	defer SetHooks(nil)
	err := Atomically(filepath.Join(dir, "x"), func(w io.Writer) error {
		n, err := w.Write(make([]byte, 100))
		if n != 50 {
			t.Errorf("wrote %d", n)
		}
		entries, _ := os.ReadDir(dir)
		if info, err := entries[0].Info(); err == nil {
			size = info.Size()
		}
		return err
	})
	if !errors.Is(err, errDisk) || size != 50 {
		t.Errorf("%v, %d bytes", err, size)
	}
	wantFiles(t, dir)
}

// The outputs of two writers of one file do not mix.
func TestTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	a, b := bytes.Repeat([]byte("a"), 5000), bytes.Repeat([]byte("b"), 5000)
	done := make(chan error)
	for _, content := range [][]byte{a, b} {
		go func() {
			var err error
			for i := 0; i < 50 && err == nil; i++ {
				err = Atomically(path, func(w io.Writer) error {
					for lo := 0; lo < len(content); lo += 1000 {
						if _, err := w.Write(content[lo : lo+1000]); err != nil {
							return err
						}
					}
					return nil
				})
				if got, _ := os.ReadFile(path); err == nil && !bytes.Equal(got, a) && !bytes.Equal(got, b) {
					err = fmt.Errorf("%d bytes, %.10q…", len(got), got)
				}
			}
			done <- err
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	wantFiles(t, filepath.Dir(path), "x")
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}
