package atomicfile

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Temporary files name their process and its start, and are locked. Before a process first writes
// into a folder it removes the temporary files of dead processes of this computer.

// The name of a temporary file is
//
//	.NAME.bigfit-PID-START-HOST-RANDOM
//
// with
//
//	NAME    the name of the file that is written, shortened if need be
//	PID     the process that writes it
//	START   when that process started, in ticks since the boot; 0 where it is not known
//	HOST    a hash of the name of the computer, 8 hexadecimal digits
//	RANDOM  a number, hexadecimal
var temporaryName = regexp.MustCompile(`^\..*\.bigfit-([0-9]+)-([0-9]+)-([0-9a-f]{8})-[0-9a-f]+$`)

// longestName is the number of bytes that names of files may have nearly everywhere, and
// longestOwner bounds the part behind NAME.
const (
	longestName  = 255
	longestOwner = 80
)

// thisHost is HOST of this computer.
var thisHost = sync.OnceValue(func() string {
	name, err := os.Hostname()
	if err != nil {
		return "00000000"
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(name)))[:8]
})

// temporaryPrefix is the path of a temporary file or folder for target up to its random number.
func temporaryPrefix(target string) string {
	dir, name := filepath.Split(target)
	if most := longestName - longestOwner; len(name) > most {
		for !utf8.RuneStart(name[most]) && most > 1 {
			most--
		}
		name = name[:most]
	}
	pid := os.Getpid()
	return fmt.Sprintf("%s.%s.bigfit-%d-%d-%s-", dir, name, pid, startOf(pid), thisHost())
}

// createTemporary makes and locks a temporary file for target.
func createTemporary(target string, perm fs.FileMode) (*os.File, error) {
	prefix := temporaryPrefix(target)
	for tries := 0; ; tries++ {
		f, err := os.OpenFile(prefix+strconv.FormatUint(rand.Uint64(), 16),
			os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		switch {
		case errors.Is(err, fs.ErrExist) && tries < 1000:
			continue
		case err != nil:
			return nil, err
		}

		// A process that cannot see this one may take the file for a leftover
		// before it is locked.
		taken := lock(f)
		if _, err := os.Lstat(f.Name()); (taken || errors.Is(err, fs.ErrNotExist)) && tries < 1000 {
			f.Close()
			continue
		}
		return f, nil
	}
}

// swept are the folders in which this process has looked for leftovers.
var swept sync.Map

// sweepOnce calls Leftovers for a folder that it was not called for before.
func sweepOnce(dir string) {
	key, err := filepath.Abs(dir)
	if err != nil {
		return
	}
	if _, done := swept.LoadOrStore(key, true); !done {
		Leftovers(dir)
	}
}

// Leftovers removes the temporary files, and folders of [Folder], in a folder that killed processes
// of this program left there, and returns their names. It removes one only if all of the following
// hold: its name is the name of a temporary file of bigfit on this computer; its process has ended
// (another process with the same number started at another time); and no process holds the lock of
// the file, as one in another container would. Files that cannot be read or removed stay. Every
// process calls it for a folder before it writes the first file there.
func Leftovers(dir string) (removed []string) {
	if dir == "" {
		dir = "."
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // the error of writing there says why
	}

	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") || !e.Type().IsRegular() && !e.IsDir() {
			continue
		}
		// Only names of this program and computer, with a process that is dead.
		m := temporaryName.FindStringSubmatch(e.Name())
		if m == nil || m[3] != thisHost() {
			continue
		}
		pid, pidErr := strconv.Atoi(m[1])
		start, startErr := strconv.ParseUint(m[2], 10, 64)
		if pidErr != nil || startErr != nil || pid < 1 || alive(pid, start) {
			continue
		}

		path := filepath.Join(dir, e.Name())
		flag := os.O_RDWR
		remove := os.Remove
		if e.IsDir() {
			flag = os.O_RDONLY
			remove = os.RemoveAll
		}

		// A process in another container is not seen, but its lock is.
		f, err := os.OpenFile(path, flag, 0)
		if err != nil {
			continue
		}
		if taken := lock(f); !taken && remove(path) == nil {
			removed = append(removed, path)
		}
		f.Close()
	}

	return removed
}

// startOf returns when a process started, in clock ticks since the boot, or 0
// where the system does not tell: field 22 of /proc/PID/stat in Linux.
func startOf(pid int) uint64 {
	fields := statOf(pid)
	if fields == nil {
		return 0
	}
	start, _ := strconv.ParseUint(fields[19], 10, 64)
	return start
}

// statOf returns the fields of /proc/PID/stat from the third, the state; nil if
// there are none.
func statOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}

	// The second field is the name in parentheses, which may hold any.
	s := string(text)
	fields := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(fields) < 20 {
		return nil
	}
	return fields
}
