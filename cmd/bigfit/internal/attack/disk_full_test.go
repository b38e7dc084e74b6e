package attack

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/testmode"
)

// A full disk is an error, and no part of a file stays.
func TestDiskFull(t *testing.T) {
	testmode.Campaign(t)
	intoBlobs(t)
	ringGraph(t, "ring.npz", 1000)
	y := strings.Repeat("0\n1\n", 500)
	writeFile(t, "ring.txt", []byte(y))
	succeed(t, "fit", "--model", "eigenmap", "--graph", "ring.npz", "-y", "ring.txt", "--labels", "30")
	lines := []string{
		"graph X.npy -k 3 -o $/out.npz", // fits
		"eigs ring.npz -n 50 -o $/out.npz",
		"fit --model eigenmap --graph ring.npz -y ring.txt -p 50 -o $/out.npz",
		"predict model.npz -o $/out.npy --scores $/scores.npy",
	}
	t.Run("tmpfs", func(t *testing.T) {
		dir := smallDisk(t, 20<<10)
		for i, line := range lines {
			args := strings.Fields(strings.ReplaceAll(line, "$", dir))
			if i == 0 {
				succeed(t, args...)
				must(t, os.Remove(dir+"/out.npz"))
				continue
			}
			o := bigfit(t, args...)
			o.check(t, 1, []string{dir, "no space left"}, args)
			_ = os.Remove(dir + "/out.npy")
			if got := listing(t, dir); i < 3 && got != dir {
				t.Errorf("bigfit %s left %s", line, got)
			}
			_ = os.Remove(dir + "/out.npz")
		}
	})
	t.Run("file size", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("there is no ulimit on Windows")
		}
		shell := command(t)
		for _, line := range lines[1:3] {
			args := strings.Fields(strings.ReplaceAll(line, "$", "."))
			cmd := exec.Command("sh", append([]string{"-c", `ulimit -f 40; exec "$0" "$@"`, shell.Path}, args...)...)
			before := listing(t, ".")
			finish(t, cmd).check(t, 1, []string{"out", "file too large"}, args)
			if after := listing(t, "."); after != before {
				t.Errorf("bigfit %s left %s", line, after)
			}
		}
	})
}
