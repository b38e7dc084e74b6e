package atomicfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// TestFolderLeftovers removes the temporary folder of a process that was killed and none of
// one that lives.
func TestFolderLeftovers(t *testing.T) {
	if len(statOf(os.Getpid())) == 0 {
		t.Skip("no /proc: which processes live is not known")
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	prefix := temporaryPrefix(filepath.Join(dir, "g"))
	alive, held, err := createFolder(filepath.Join(dir, "g"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	dead := filepath.Join(dir, ".g.bigfit-"+strconv.Itoa(ended.Process.Pid)+"-1-"+thisHost()+"-1")
	if err := os.MkdirAll(filepath.Join(dead, "inside"), 0o755); err != nil {
		t.Fatal(err)
	}
	if removed := Leftovers(dir); len(removed) != 1 || removed[0] != dead {
		t.Errorf("removed %v, want %s; temporary names begin with %s", removed, dead, prefix)
	}
	if _, err := os.Stat(alive); err != nil {
		t.Error(err)
	}
}
