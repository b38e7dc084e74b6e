// Package atomicfile writes files and folders whole or not at all: under a temporary name in the
// same folder, synced and renamed. It removes the temporary files that killed processes left
// behind.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/bigfit/bigfit/internal/file/mapped"
)

// Atomically lets write fill a temporary file beside path, syncs it and gives it the name path.
// After an error nothing new is there: the temporary file is removed and an older file of this name
// untouched. The errors name path.
//
// A symbolic link is followed, as the shell follows it: the file that it names is written, whether
// it is there or not, and the link stays. Links that lead round in a loop, and a path that is there
// and not a regular file, are refused.
//
// A process that is killed leaves its temporary file. The name of the temporary file says which
// process made it, and the next process that writes into the folder removes the temporary files of
// dead ones: see [Leftovers].
func Atomically(path string, write func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: cannot write it: %w", path, withoutTemporary(err))
		}
	}()

	target, err := Target(path)
	if err != nil {
		return err
	}
	f, err := newPending(target)
	if err != nil {
		return err
	}
	defer f.discard()
	if err := write(f); err != nil {
		return err
	}
	return f.replace()
}

// CheckWritable returns an error unless [Atomically] can begin to write path,
// so that a long run does not end in that error.
func CheckWritable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s cannot be written: it is a directory; name a file in it", path)
	}
	target, err := Target(path)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, withoutTemporary(err))
	}
	f, err := newPending(target)
	if err != nil {
		if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
			err = fmt.Errorf("%s: %w", filepath.Dir(path), pe.Err)
		}
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}

	f.discard()
	return nil
}

// withoutTemporary takes the name of a temporary file out of an error.
func withoutTemporary(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Op, pe.Err)
	} else if le := (*os.LinkError)(nil); errors.As(err, &le) {
		return fmt.Errorf("%s: %w", le.Op, le.Err)
	}
	return err
}

// mostLinks is the number of symbolic links that are followed, as in Linux.
const mostLinks = 40

// Target returns the file that is written for path: path itself, or where it is a symbolic link the
// file at the end of the links, which need not be there. It is an error if the links lead round in
// a loop, or if they end at something else than a regular file.
func Target(path string) (string, error) {
	at := path
	for range mostLinks {
		info, err := os.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return at, nil
		case err != nil:
			return "", err
		case info.Mode().IsRegular():
			return at, nil
		case info.Mode()&fs.ModeSymlink == 0:
			return "", errors.New("it exists and is not a regular file; choose another name")
		}

		link, err := os.Readlink(at)
		if err != nil {
			return "", err
		}

		if !filepath.IsAbs(link) {
			// A relative link begins at the true folder of the link, and ".." in
			// it must not be taken away by name.
			dir, err := filepath.EvalSymlinks(filepath.Dir(at))
			if err != nil {
				return "", err
			}
			link = dir + string(filepath.Separator) + link
		}

		dir, base := filepath.Split(link)
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return "", fmt.Errorf("it is a symbolic link to %s, the folder of which cannot be reached: %w",
				strconv.Quote(link), withoutTemporary(err))
		}
		at = filepath.Join(dir, base)
	}

	return "", errors.New("it is a symbolic link that leads round in a loop; remove it or choose " +
		"another name")
}

// A Step is one call to the file system in the writing of a file.
type Step struct {
	Op   string // create, write, sync or rename, in this order; write many times
	Path string // the file that is written, not its temporary name
}

// Hooks are called before and after every [Step] in the writing of any file. Tests use them to
// simulate disks that fail and kills.
type Hooks struct {
	// Before is called before a step. Its error takes the place of the step; half of the bytes of a
	// write are written all the same.
	Before func(Step) error
	After  func(Step)
}

var hooks atomic.Pointer[Hooks]

// SetHooks sets the hooks of this process, nil for none. It is for tests:
// internal/arrows checks that nothing else calls it.
func SetHooks(h *Hooks) { hooks.Store(h) }

// pending is a temporary file that is to take the name target.
type pending struct {
	*os.File
	target           string
	renamed, removed bool
}

// newPending makes a temporary file beside target, with the permissions of the file there, or the
// usual ones if there is none.
func newPending(target string) (*pending, error) {
	p := &pending{target: target}
	perm := fs.FileMode(0o644)
	old, err := os.Stat(target)
	if err == nil {
		perm = old.Mode().Perm()
	}
	exists := err == nil
	sweepOnce(filepath.Dir(target))
	err = p.step("create", func() (err error) {
		p.File, err = createTemporary(target, perm)
		return err
	})
	if err != nil {
		p.discard()
		return nil, err
	}

	// The mask of the process may have taken permissions away that the old file had.
	if info, err := p.Stat(); err == nil && exists && info.Mode().Perm() != perm {
		if err := p.Chmod(perm); err != nil {
			p.discard()
			return nil, err
		}
	}

	return p, nil
}

// step calls do between the hooks.
func (p *pending) step(op string, do func() error) error {
	h := hooks.Load()
	if h == nil {
		return do()
	}
	s := Step{op, p.target}
	if h.Before != nil {
		if err := h.Before(s); err != nil {
			return &fs.PathError{Op: op, Path: p.target, Err: err}
		}
	}

	err := do()
	if h.After != nil {
		h.After(s)
	}
	return err
}

// Write writes to the temporary file.
func (p *pending) Write(b []byte) (n int, err error) {
	tried := false
	err = p.step("write", func() (err error) {
		tried = true
		n, err = p.File.Write(b)
		return err
	})
	if !tried {
		n, _ = p.File.Write(b[:len(b)/2])
	}
	return n, err
}

// replace gives the file its name. Where an open file can be renamed, it is closed after the
// renaming, so that its lock is held as long as the temporary name exists. The data is synced by
// then, so Close has no errors left to report.
func (p *pending) replace() error {
	if err := p.step("sync", p.Sync); err != nil {
		return err
	}

	if closeBeforeRename {
		if err := p.Close(); err != nil {
			return err
		}
	}

	// This process replaces the file itself; that is no change behind its back.
	mapped.Forget(p.target)
	err := p.step("rename", func() error { return os.Rename(p.Name(), p.target) })
	if err != nil {
		return err
	}
	p.renamed = true
	p.Close()
	return nil
}

// discard removes the file unless it has its name.
func (p *pending) discard() {
	if p.File == nil || p.renamed || p.removed {
		return
	}
	p.removed = true
	p.Close()
	os.Remove(p.Name())
}
