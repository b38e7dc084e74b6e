//go:build unix

package npy

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/bigfit/bigfit/archive"
)

func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	_, err := ReadFile(pipe, 0) // must not block
	wantError(t, err, pipe, "not a regular file")
	wantError(t, WriteFile(pipe, nil, []float64{1}), pipe, "not a regular file")
}

// TestDiskFull lets a limit on the size of files stand in for a full disk. It
// is set in a child process so that it hits nothing else.
func TestDiskFull(t *testing.T) {
	const env = "BIGFIT_TEST_DISK_FULL"
	dir := os.Getenv(env)
	if dir == "" {
		cmd := exec.Command("/bin/sh", "-c", `ulimit -f 64 && exec "$0" -test.run='^TestDiskFull$'`, os.Args[0])
		cmd.Env = append(os.Environ(), env+"="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	path := filepath.Join(dir, "big.npy")
	err := WriteFile(path, nil, make([]float64, 1<<17))
	wantError(t, err, path, "cannot write", "write: file too large")
	err = WriteArchive(path, []archive.Array{{Name: "X", Data: make([]float64, 1<<17)}})
	wantError(t, err, path, "cannot write", "write: file too large")
	wantFiles(t, dir)
}
