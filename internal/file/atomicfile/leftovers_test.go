//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package atomicfile

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestChild is the process that TestLeftovers kills.
func TestChild(t *testing.T) {
	path := os.Getenv("BIGFIT_TEST_WRITE")
	if path == "" {
		t.Skip("only in a child process")
	}
	err := Atomically(path, func(w io.Writer) error {
		fmt.Fprintln(w, "half")
		fmt.Println("writing")
		_, err := io.Copy(w, os.Stdin) // until it is killed
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// child starts a process that writes path and returns when it has begun.
func child(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), "BIGFIT_TEST_WRITE="+path)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := io.ReadFull(out, make([]byte, len("writing\n"))); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// What a killed process left goes when the next writes; what a living one
// writes, what another computer wrote and what is not ours stays.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	living := child(t, filepath.Join(dir, "living"))
	killed := child(t, filepath.Join(dir, "killed"))
	unreaped := child(t, filepath.Join(dir, "unreaped"))
	files, _ := filepath.Glob(dir + "/.*")
	if len(files) != 3 {
		t.Fatal(files)
	}
	_ = killed.Process.Kill()
	_ = killed.Wait()
	_ = unreaped.Process.Signal(syscall.SIGKILL) // stays a zombie
	for tries := 0; alive(unreaped.Process.Pid, 0) && tries < 1000; tries++ {
		time.Sleep(10 * time.Millisecond)
	}
	var stays []string
	keep := func(format string, args ...any) {
		name := fmt.Sprintf(format, args...)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		stays = append(stays, name)
	}
	dead := killed.Process.Pid
	keep(".out.npz.bigfit-%d-0-%s-1", living.Process.Pid, thisHost()) // start not known, alive
	keep(".out.npz.bigfit-%d-0-00000000-1", dead)                     // another computer
	keep(".out.npz.bigfit-%d-0-%s-xyz", dead, thisHost())             // not our form
	keep(".out.npz.bigfit-%d-0-%s-1.npz", dead, thisHost())
	keep("out.npz.bigfit-%d-0-%s-1", dead, thisHost())
	keep(".out.npz.bigfit-99999999999999999999-0-%s-1", thisHost())
	keep(".out.npz123456")
	keep(".bigfit")
	folder := fmt.Sprintf(".d.bigfit-%d-0-%s-1", dead, thisHost())
	link := fmt.Sprintf(".l.bigfit-%d-0-%s-1", dead, thisHost())
	locked := fmt.Sprintf(".k.bigfit-%d-0-%s-1", dead, thisHost()) // by a process that cannot be seen
	keep("%s", locked)
	f, err := os.Open(filepath.Join(dir, locked))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if lock(f) {
		t.Fatal("the lock is taken")
	}
	if err := os.Mkdir(filepath.Join(dir, folder), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("living", filepath.Join(dir, link)); err != nil {
		t.Fatal(err)
	}
	stays = append(stays, link) // the folder goes
	if startOf(os.Getpid()) > 0 {
		// The number of the dead process belongs to a living one by now.
		name := fmt.Sprintf(".out.npz.bigfit-%d-1-%s-2", living.Process.Pid, thisHost())
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := Atomically(filepath.Join(dir, "next"), func(w io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		ok := name == "next" || strings.HasPrefix(name, fmt.Sprintf(".living.bigfit-%d-", living.Process.Pid))
		for _, s := range stays {
			ok = ok || name == s
		}
		if !ok {
			t.Errorf("%s is still there", name)
		}
	}
	if want := len(stays) + 2; len(entries) != want {
		t.Errorf("%d files, want %d", len(entries), want)
	}
	// The living process is not disturbed.
	if removed := Leftovers(dir); len(removed) > 0 {
		t.Errorf("removed %v", removed)
	}
	_ = living.Process.Kill()
	_ = living.Wait()
	if removed := Leftovers(dir); len(removed) != 2 {
		t.Errorf("removed %v of two files of a process that has ended", removed)
	}
}
