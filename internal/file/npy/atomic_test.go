package npy

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/atomicfile"
)

// steps calls write with a hook that makes step n fail, for n = 1, 2, … until
// no step is left, and returns the number of steps.
func steps(t *testing.T, fault error, write func() error, check func(n int, s atomicfile.Step, err error)) int {
	t.Helper()
	for n := 1; ; n++ {
		count := 0
		var failed *atomicfile.Step
		atomicfile.SetHooks(&atomicfile.Hooks{Before: func(s atomicfile.Step) error {
			if count++; count == n {
				failed = &s
				return fault
			}
			return nil
		}})
		err := write()
		atomicfile.SetHooks(nil)
		if failed == nil {
			if err != nil {
				t.Fatal(err)
			}
			return n - 1
		}
		check(n, *failed, err)
	}
}

// A fault at any step leaves the old file or none, no temporary file, and an
// error that names the file, the step and the cause.
func TestFaults(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.npz")
	big := make([]float64, 3<<17)
	entries := []archive.Array{{Name: "a", Data: big}, {Name: "b", Data: "text"}, {Name: "c", Data: archive.Repeat{Value: 1, Count: 1000}, Compress: true}}
	for _, old := range []string{"", "old content"} {
		seen := map[string]int{}
		count := steps(t, errDisk, func() error { return WriteArchive(path, entries) }, func(n int, s atomicfile.Step, err error) {
			seen[s.Op]++
			if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), s.Op) || strings.Contains(err.Error(), ".bigfit-") {
				t.Errorf("step %d, %s: %v", n, s.Op, err)
			}
			if s.Path != path {
				t.Errorf("step %d is of %s", n, s.Path)
			}
			want := []string{}
			if old != "" {
				want = []string{"out.npz"}
				if got, _ := os.ReadFile(path); string(got) != old {
					t.Errorf("step %d, %s: the old file holds %.20q", n, s.Op, got)
				}
			}
			wantFiles(t, dir, want...)
		})
		if count < 8 || seen["create"] != 1 || seen["sync"] != 1 || seen["rename"] != 1 || seen["write"] != count-3 {
			t.Errorf("%d steps: %v", count, seen)
		}
		if _, err := OpenArchive(path, 0); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(path, []byte("old content"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Atomically(path, func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: the permissions of the old file are not kept", info, err)
	}
}

var errDisk = errors.New("the disk is on fire")

// Links are followed, also where they lead to no file yet; loops and folders
// that are not there are refused; a link is never replaced by a file.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, d := range []string{"real", "real/sub", "other"} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, name); err != nil {
			t.Skip(err)
		}
	}
	link("real/new.npy", "dangling")
	link(filepath.Join(dir, "real", "absolute.npy"), "absolute")
	link("real/sub", "sub")            // a folder
	link("../up.npy", "real/sub/up")   // real/up.npy, though sub/up is not
	link("sub/../up2.npy", "through")  // real/up2.npy, not up2.npy
	link("dangling", "chain")          // of two links
	link("loop2", "loop1")             //
	link("loop1", "loop2")             //
	link("itself", "itself")           //
	link("nowhere/file.npy", "astray") // no folder
	link("real", "folder")
	for name, want := range map[string]string{
		"dangling": "real/new.npy", "absolute": "real/absolute.npy", "sub/up": "real/up.npy", "through": "real/up2.npy", "chain": "real/new.npy", "plain": "plain",
	} {
		for range 2 { // the second time the file is there
			if err := WriteFile(name, nil, []float64{1, 2}); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if _, err := ReadFile(want, 0); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if info, err := os.Lstat(name); name != "plain" && (err != nil || info.Mode()&fs.ModeSymlink == 0) {
				t.Errorf("%s was replaced: %v", name, info)
			}
		}
		if err := atomicfile.CheckWritable(name); err != nil {
			t.Error(err)
		}
		os.Remove(want)
	}
	for name, want := range map[string]string{"loop1": "loop", "loop2": "loop", "itself": "loop", "astray": "folder", "folder": "director", "nowhere/x": "no such file"} {
		before, _ := os.Readlink(name)
		err := atomicfile.CheckWritable(name)
		wantError(t, err, name, want)
		if err := WriteFile(name, nil, []float64{1}); err == nil {
			t.Errorf("%s was written", name)
		}
		if after, _ := os.Readlink(name); after != before {
			t.Errorf("%s leads to %q, before to %q", name, after, before)
		}
	}
}

// Long names leave room for the owner.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{strings.Repeat("x", 255), strings.Repeat("ß", 127)} {
		if err := WriteFile(filepath.Join(dir, name), nil, []float64{1}); err != nil {
			t.Error(err)
		}
	}
}
