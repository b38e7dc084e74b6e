package attack

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/testmode"
)

// hole writes a .npy file whose values are a hole of zeros, which takes no disk.
func hole(t *testing.T, path, descr string, size int, shape ...int) {
	t.Helper()
	extents := strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", ", "), "[]")
	head := header(descr, "("+extents+",)")
	must(t, os.WriteFile(path, head, 0o666))
	bytes := int64(size)
	for _, s := range shape {
		bytes *= int64(s)
	}
	must(t, os.Truncate(path, int64(len(head))+bytes))
}

// Arrays of about 2³¹ entries, rows or columns are read, or refused with a sentence, by every command:
// indices of points have 32 bits, and products of extents must not wrap.
func TestVastFiles(t *testing.T) {
	testmode.Campaign(t)
	t.Chdir(t.TempDir())
	must(t, npy.WriteFile("Y.npy", []int{6, 2}, []float64{0, 0, 1, 1, 0, 1, 5, 5, 6, 6, 5, 6}))
	must(t, npy.WriteFile("y.npy", nil, []int64{0, -1, 0, 1, -1, 1}))
	succeed(t, strings.Fields("fit Y.npy y.npy --model harmonic -k 2 -o m.npz")...)
	const top = 1 << 31
	shapes := [][]int{{top - 1, 1}, {top, 1}, {top + 1, 1}, {2, top / 2}, {2, top/2 + 1}, {2, top - 1}, {2, top}, {2, top + 1}, {1 << 16, 1<<15 + 1}}
	lines := []string{"info X.npy", "graph X.npy -k 2 -o out.npz", "fit X.npy y.npy --model knn -o out.npz", "fit X.npy X.npy --model knn -o out.npz", "predict m.npz X.npy -o out.npy",
		"neighbors Y.npy --query X.npy -o out.npz", "plot X.npy -o out.svg", "embed X.npy -o out.npy", "eval y.npy X.npy", "eval X.npy X.npy", "graph X.npy --parts 2 --work w --divide"}
	run := 0
	for _, shape := range shapes {
		for _, kind := range []struct {
			descr string
			size  int
		}{{"|u1", 1}, {"<f2", 2}, {"<i8", 8}} {
			hole(t, "X.npy", kind.descr, kind.size, shape...)
			for _, line := range lines {
				if run++; !testmode.Soak() && run%59 != 1 {
					continue
				}
				// A search among 2³¹ points takes hours; the limit keeps most of them out, and an
				// interrupt ends the rest.
				o, _ := peakOf(t, append(strings.Fields(line), "--memory-limit", "1GiB")...)
				if o.code == interrupted {
					t.Logf("bigfit %s, %s %v: interrupted", line, kind.descr, shape)
				} else if fault := o.fault(); fault != "" {
					t.Errorf("bigfit %s, %s %v: exit code %d, %s\n%s", line, kind.descr, shape, o.code, fault, o.stderr)
				}
				removeOutputs(t)
				must(t, os.RemoveAll("w"))
			}
		}
	}
}
