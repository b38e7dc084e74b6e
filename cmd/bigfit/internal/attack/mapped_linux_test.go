package attack

import (
	"bufio"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/testmode"
)

// A file that changes while it is mapped ends the run with its name and exit code 2, and
// leaves no output behind.
func TestMappedFileChanges(t *testing.T) {
	testmode.Campaign(t)
	const n, d, shards = 1 << 12, 256, 3
	labels := make([]int64, shards*n)
	for i := range labels {
		labels[i] = int64(i%7)/2 - 1
	}
	bits := make([]npy.Half, n*d)
	for i := range bits {
		bits[i] = npy.Half(simd.ToHalf(float32(i*i%1009) / 100))
	}
	for name, c := range map[string]struct {
		change func() error
		want   string
	}{
		"truncated": {func() error { return os.Truncate("emb/x_1.npy", 8192) }, "emb/x_1.npy: the file had 2097280 bytes and has 8192 while it was read"},
		"emptied":   {func() error { return os.WriteFile("emb/x_2.npy", nil, 0o666) }, "emb/x_2.npy: the file had 2097280 bytes and has 0"},
		"removed":   {func() error { return os.Remove("emb/x_0.npy") }, "emb/x_0.npy: the file was removed"},
		"replaced": {func() error {
			return npy.WriteFile("emb/x_0.npy", []int{n, d}, bits)
		}, "emb/x_0.npy: the file was replaced"},
		"written": {func() error {
			f, err := os.OpenFile("emb/x_0.npy", os.O_RDWR, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			if _, err := f.WriteAt([]byte{1, 2}, 1<<20); err != nil {
				return err
			}
			return f.Sync()
		}, "emb/x_0.npy: the file was written to"},
		"grown": {func() error {
			f, err := os.OpenFile("emb/x_0.npy", os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteString("more")
			return err
		}, "emb/x_0.npy: the file had 2097280 bytes and has 2097284"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			must(t, os.Mkdir("emb", 0o777))
			for _, shard := range []string{"0", "1", "2"} {
				must(t, npy.WriteFile("emb/x_"+shard+".npy", []int{n, d}, bits))
			}
			must(t, npy.WriteFile("y.npy", nil, labels))
			before := listing(t, ".")
			// The program waits with its output in a pipe that nobody reads until the file
			// is another.
			cmd := command(t, "fit", "emb", "y.npy", "--model", "knn", "--calibrate", "none", "-o", "m.npz", "--predictions", "p.npy", "--progress", "json")
			stderr, err := cmd.StderrPipe()
			must(t, err)
			must(t, cmd.Start())
			lines := bufio.NewReader(stderr)
			var text strings.Builder
			for {
				line, err := lines.ReadString('\n')
				text.WriteString(line)
				if err != nil {
					t.Fatalf("the points were not read: %s", text.String())
				}
				if strings.Contains(line, "3 files") {
					time.Sleep(10 * time.Millisecond) // the clock of the file system is coarse
					must(t, cmd.Process.Signal(syscall.SIGSTOP))
					must(t, c.change())
					must(t, cmd.Process.Signal(syscall.SIGCONT))
					break
				}
			}
			rest, err := io.ReadAll(lines)
			must(t, err)
			text.Write(rest)
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != shell.ExitInput || !strings.Contains(text.String(), c.want) || strings.Contains(text.String(), "goroutine") {
				t.Errorf("exit code %d, want %d and %q; stderr:\n%s", code, shell.ExitInput, c.want, text.String())
			}
			if name != "removed" {
				if after := listing(t, "."); after != before {
					t.Errorf("the folder held\n%s\nand holds\n%s", before, after)
				}
			}
			for _, out := range []string{"m.npz", "p.npy"} {
				if _, err := os.Stat(out); err == nil {
					t.Errorf("%s was written", out)
				}
			}
		})
	}
}
