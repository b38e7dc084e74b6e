package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/bigfit/bigfit/internal/file/mapped"
)

// Folder lets write fill a temporary folder beside path, marks it as one that holds what is named
// ([Claim]), and gives it the name path. A folder of this name is replaced as a whole if it is empty,
// or if it has the same mark and holds nothing but the given files; any other is an error. A symbolic
// link is followed, and stays. After an error nothing new is there. write must sync the files;
// [Atomically] and npy.Growing sync their own.
func Folder(path, holds string, files []string, write func(dir string) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: cannot write it: %w", path, withoutTemporary(err))
		}
	}()

	if path, err = folderTarget(path); err != nil {
		return err
	}
	if err := replaceable(path, holds, files); err != nil {
		return err
	}
	parent := filepath.Dir(path)
	sweepOnce(parent)
	dir, held, err := createFolder(path)
	if err != nil {
		return err
	}

	defer os.RemoveAll(dir)
	defer held.Close()
	if err := write(dir); err != nil {
		return err
	}
	if err := writeMark(dir, holds); err != nil {
		return err
	}
	// The names in the folder must be on disk before the folder has its name.
	if err := held.Sync(); err != nil && !closeBeforeRename {
		return err
	}
	for _, name := range files {
		mapped.Forget(filepath.Join(path, name))
	}
	if closeBeforeRename {
		held.Close()
	}
	return exchange(dir, path)
}

// CheckFolder returns an error unless [Folder] can begin to write path.
func CheckFolder(path, holds string, files []string) error {
	path, err := folderTarget(path)
	if err == nil {
		err = replaceable(path, holds, files)
	}
	if err == nil {
		var dir string
		var held *os.File
		if dir, held, err = createFolder(path); err == nil {
			held.Close()
			err = os.Remove(dir)
		}
	}

	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, withoutTemporary(err))
	}
	return nil
}

// folderTarget returns the folder that is written for path: path itself, or the folder at the end of
// symbolic links, which need not be there.
func folderTarget(path string) (string, error) {
	path = filepath.Clean(path)
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target, nil
	}
	return Target(path)
}

// replaceable returns an error unless path is not there, or an empty folder, or a folder with the
// mark for holds and nothing but files.
func replaceable(path, holds string, files []string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		if info, statErr := os.Stat(path); statErr == nil && !info.IsDir() {
			return errors.New("it exists and is not a folder; choose another name")
		}
		return err
	}

	// Files that this program did not write would be lost.
	known := map[string]bool{MarkFile: true}
	for _, name := range files {
		known[name] = true
	}
	for _, e := range entries {
		if !known[e.Name()] {
			return fmt.Errorf("the folder exists and holds %s, which would be lost; choose another name",
				strconv.Quote(e.Name()))
		}
	}
	found, err := readMark(path)
	switch {
	case err != nil:
		return err
	case len(entries) > 0 && found == nil:
		return fmt.Errorf("the folder exists and has no file %s, which would show that bigfit wrote it; "+
			"choose another name", MarkFile)
	case len(entries) > 0 && found.Holds != holds:
		return fmt.Errorf("the folder exists and holds %s; choose another name", found.Holds)
	}
	return nil
}

// TemporaryFolder makes a folder beside target and returns a function that removes it. If this
// process is killed, the next one that writes there removes the folder ([Leftovers]).
func TemporaryFolder(target string) (dir string, remove func(), err error) {
	sweepOnce(filepath.Dir(target))
	dir, held, err := createFolder(target)
	if err != nil {
		return "", nil, err
	}
	return dir, func() { held.Close(); os.RemoveAll(dir) }, nil
}

// createFolder makes a temporary folder for target and holds its lock.
func createFolder(target string) (string, *os.File, error) {
	for range 1000 {
		dir := temporaryPrefix(target) + strconv.FormatUint(rand.Uint64(), 16)
		err := os.Mkdir(dir, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		f, err := os.Open(dir)
		if err != nil {
			return "", nil, err
		}
		lock(f)
		return dir, f, nil
	}

	return "", nil, errors.New("no name is free for a temporary folder")
}

// exchange gives the folder from the name to. A folder that had this name is at from afterwards, or
// gone.
func exchange(from, to string) error {
	if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
		return os.Rename(from, to)
	}
	if err := swap(from, to); err == nil {
		return nil
	}

	// Where the system cannot swap names there is a moment without a folder.
	aside := from + "0"
	if err := os.Rename(to, aside); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return errors.Join(err, os.Rename(aside, to))
	}
	return os.RemoveAll(aside)
}
