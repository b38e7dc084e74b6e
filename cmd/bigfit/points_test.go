package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/shell"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// intoShards goes to a new folder with points of two classes in four files of float16, the
// same in one file of float32, and labels of some.
func intoShards(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("emb", 0o777))
	const rows, d = 40, 5
	var all []float32
	for s, number := range []int{0, 1, 2, 10} {
		bits := make([]npy.Half, rows*d)
		for i := range bits {
			v := float32((i*7+s*13)%17)/8 + float32(i/d%2*9)
			bits[i] = npy.Half(simd.ToHalf(v))
			all = append(all, simd.FromHalf(uint16(bits[i])))
		}
		must(t, npy.WriteFile(fmt.Sprintf("emb/img_emb_%d.npy", number), []int{rows, d}, bits))
	}
	must(t, npy.WriteFile("X.npy", []int{4 * rows, d}, all))
	labels := make([]int64, 4*rows)
	for i := range labels {
		if labels[i] = -1; i%9 < 3 {
			labels[i] = int64(i % 2)
		}
	}
	must(t, npy.WriteFile("y.npy", nil, labels))
	must(t, os.WriteFile("files.txt", []byte("emb/img_emb_0.npy\nemb/img_emb_1.npy\nemb/img_emb_2.npy\nemb/img_emb_10.npy\n"), 0o666))
}

// However the points are given, they are the same.
func TestPointsAsShards(t *testing.T) {
	intoShards(t)
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "-p", "4", "-o", "one.npz")
	succeed(t, "predict", "one.npz", "X.npy", "-o", "one.npy")
	want := readFile(t, "one.npy")
	byLetters := []string{"emb/img_emb_0.npy", "emb/img_emb_1.npy", "emb/img_emb_10.npy", "emb/img_emb_2.npy"}
	for _, args := range [][]string{
		{"emb/*.npy", "y.npy"},
		{"emb", "y.npy"},
		{"files.txt", "y.npy"},
		append(byLetters[:4:4], "y.npy"),
		append([]string{"-y", "y.npy"}, byLetters...),
		{"-X", "emb", "y.npy"},
		{"-X", "emb/img_emb_0.npy", "-X", "emb/img_emb_1.npy", "-X", "emb/img_emb_2.npy", "-X", "emb/img_emb_10.npy", "-y", "y.npy"},
	} {
		succeed(t, append([]string{"fit", "--model", "eigenmap", "-p", "4", "-o", "m.npz"}, args...)...)
		succeed(t, "predict", "m.npz", "emb", "-o", "p.npy")
		if !bytes.Equal(readFile(t, "p.npy"), want) {
			t.Errorf("fit %v: other answers than of one file", args)
		}
	}
	o := bigfit(t, append([]string{"predict", "m.npz", "-o", "p.npy"}, byLetters...)...)
	if o.code != 0 || !bytes.Equal(readFile(t, "p.npy"), want) {
		t.Errorf("exit code %d, or other answers:\n%s", o.code, o.stderr)
	}
	for _, part := range []string{"in the order of their numbers", "emb/img_emb_10.npy last", "160 points × 5, float16"} {
		if !strings.Contains(o.stderr, part) {
			t.Errorf("no word of %q:\n%s", part, o.stderr)
		}
	}
}

func TestBadShards(t *testing.T) {
	intoShards(t)
	fail(t, shell.ExitInput, []string{"emb/none*.npy: no file matches"}, "fit", "--model", "eigenmap", "emb/none*.npy", "y.npy")
	fail(t, shell.ExitInput, []string{"given twice"}, "fit", "--model", "eigenmap", "emb", "emb/img_emb_1.npy", "y.npy")
	fail(t, shell.ExitInput, []string{"needs labels (-y)"}, "fit", "--model", "eigenmap", "emb")
	fail(t, shell.ExitInput, []string{"both read and written"}, "fit", "--model", "eigenmap", "emb", "y.npy", "-o", "emb/img_emb_2.npy")
	fail(t, shell.ExitInput, []string{"X.npy: it holds 5 columns of float32", "img_emb_0.npy holds 5 of float16"}, "graph", "emb/img_emb_0.npy", "X.npy")
	must(t, npy.WriteFile("emb/text_emb_0.npy", []int{1, 5}, make([]npy.Half, 5)))
	fail(t, shell.ExitInput, []string{"emb/*.npy: 2 kinds of files", "img_emb_*.npy (4 files)", "text_emb_*.npy (1 file)"}, "fit", "--model", "eigenmap", "emb/*.npy", "y.npy")
	must(t, os.WriteFile("emb/README.md", nil, 0o666))
	fail(t, shell.ExitInput, []string{"emb: the folder holds what is not points: README.md"}, "fit", "--model", "eigenmap", "emb", "y.npy")
}
