package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// header is the header of a .npy file of version 1.0.
func header(descr, shape string) []byte {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	text += strings.Repeat(" ", 117-len(text)) + "\n"
	return append([]byte("\x93NUMPY\x01\x00"), append([]byte{byte(len(text)), 0}, text...)...)
}

// What is wrong with a file of points is said with the name of the file, the
// place and the value.
func TestBadPoints(t *testing.T) {
	t.Chdir(t.TempDir())
	x, y := blobs(blobCount, 1)
	formats(t, x, y)
	truncate(t, "x8.npy", "short.npy", -5)
	truncate(t, "x8.npy", "head.npy", 20)
	truncate(t, "both.npz", "short.npz", -40)
	truncate(t, "csr.npz", "shortcsr.npz", 300)
	truncate(t, "x.idx", "short.idx", -5)
	truncate(t, "x.idx.gz", "short.idx.gz", -5)
	writeFile(t, "long.npy", append(readFile(t, "x8.npy"), 1, 2, 3))
	writeFile(t, "long.idx", append(readFile(t, "x.idx"), 1, 2, 3))
	writeFile(t, "huge.npy", append(header("<f8", "(1000000000000, 4)"), make([]byte, 64)...))
	writeFile(t, "huger.npy", append(header("<f8", "(1000000000000, 1000000000000)"), make([]byte, 64)...))
	writeFile(t, "huge.idx", []byte{0, 0, 8, 2, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 4, 1, 2})
	writeFile(t, "dtype.npy", append(header("<c16", "(2, 1)"), make([]byte, 32)...))
	writeFile(t, "object.npy", append(header("|O", "(2, 1)"), make([]byte, 32)...))
	writeFile(t, "broken.npy", append(header("<f8", "(2, 1"), make([]byte, 16)...))
	writeFile(t, "empty.npy", nil)
	writeFile(t, "rows.npy", header("<f8", "(0, 4)"))
	writeFile(t, "noise.bin", bytes.Repeat([]byte{0, 7, 200, 3}, 50))
	writeFile(t, "word.csv", []byte("1,2\n3,x\n"))
	writeFile(t, "ragged.csv", []byte("1,2\n3,4,5\n"))
	writeFile(t, "nan.csv", []byte("1,2\n3,nan\n"))
	writeFile(t, "zero.svm", []byte("1 2:1 3:4\n0 -3:1\n"))
	writeFile(t, "value.svm", []byte("1 1:1\n0 1:x\n"))
	writeFile(t, "inf.svm", []byte("1 1:1\n0 2:inf\n"))
	must(t, npy.WriteFile("nan.npy", []int{3, 2}, []float64{1, 2, 3, 4, 5, math.NaN()}))
	must(t, npy.WriteFile("inf.npy", []int{3, 2}, []float32{1, 2, float32(math.Inf(-1)), 4, 5, 6}))
	must(t, npy.WriteArchive("two.npz", []archive.Array{{Name: "a", Data: x}, {Name: "b", Data: x}}))
	must(t, os.Mkdir("folder", 0o777))

	for _, c := range []struct {
		file string
		want []string
	}{
		{"short.npy", []string{"short.npy", "(90, 4)", "355", "360"}},
		{"head.npy", []string{"head.npy", "header"}},
		{"short.npz", []string{"short.npz", "zip"}},
		{"shortcsr.npz", []string{"shortcsr.npz", "zip"}},
		{"short.idx", []string{"short.idx", "90", "355", "360"}},
		{"short.idx.gz", []string{"short.idx.gz", "truncated"}},
		{"long.npy", []string{"long.npy", "363", "360"}},
		{"long.idx", []string{"long.idx", "360"}},
		{"huge.npy", []string{"huge.npy", "1000000000000"}},
		{"huger.npy", []string{"huger.npy", "1000000000000"}},
		{"huge.idx", []string{"huge.idx", "4294967295"}},
		{"dtype.npy", []string{"dtype.npy", "c16"}},
		{"object.npy", []string{"object.npy", "|O"}},
		{"broken.npy", []string{"broken.npy", "header"}},
		{"empty.npy", []string{"empty.npy", "empty"}},
		{"rows.npy", []string{"rows.npy", "at least one row"}},
		{"noise.bin", []string{"noise.bin", "format"}},
		{"word.csv", []string{"word.csv", "line 2", `"x"`}},
		{"ragged.csv", []string{"ragged.csv", "line 2", "3 columns, the first line has 2"}},
		{"nan.csv", []string{"nan.csv", "line 2", "nan"}},
		{"zero.svm", []string{"zero.svm", "line 2", "-3"}},
		{"value.svm", []string{"value.svm", "line 2", "x"}},
		{"inf.svm", []string{"inf.svm", "line 2", "inf"}},
		{"nan.npy", []string{"nan.npy", "row 2", "column 1", "NaN"}},
		{"inf.npy", []string{"inf.npy", "row 1", "column 0", "-Inf"}},
		{"two.npz", []string{"two.npz", "a", "b"}},
		{"keys.npz:nokey", []string{"keys.npz", "nokey", "points", "classes"}},
		{"folder", []string{"folder", "holds no files of points"}},
		{"missing.npy", []string{"missing.npy", "no such file"}},
	} {
		fail(t, 2, c.want, "graph", c.file, "-o", "out.npz")
		fail(t, 2, c.want[:1], "fit", "--model", "eigenmap", "-X", c.file, "-y", "y.npy", "-o", "out.npz")
		if o := bigfit(t, "info", c.file); o.code != 0 {
			o.check(t, 2, c.want[:1], []string{"info", c.file})
		}
	}
}

func TestBadLabels(t *testing.T) {
	intoBlobs(t)
	n := blobCount
	ones, marks, signs := make([]int64, n), make([]int64, n), make([]int64, n)
	half := make([]float64, n)
	for i := range n {
		ones[i], marks[i], signs[i], half[i] = 7, -1, int64(i%2*2-1), 0.5
	}
	must(t, npy.WriteFile("ones.npy", nil, ones))
	must(t, npy.WriteFile("marks.npy", nil, marks))
	must(t, npy.WriteFile("signs.npy", nil, signs))
	must(t, npy.WriteFile("half.npy", nil, half))
	must(t, npy.WriteFile("few.npy", nil, ones[:n-1]))
	must(t, npy.WriteFile("onehot.npy", []int{n / 2, 2}, ones))
	truncate(t, "y.npy", "short.npy", -3)
	for _, c := range []struct {
		y    string
		want []string
	}{
		{"ones.npy", []string{"ones.npy", "90", "class 7", "two classes"}},
		{"marks.npy", []string{"marks.npy", "no point is labeled", "--unlabeled none"}},
		{"signs.npy", []string{"signs.npy", "class 1", "--unlabeled none"}},
		{"half.npy", []string{"half.npy", "row 0", "0.5"}},
		{"few.npy", []string{"few.npy", "class 7"}},
		{"onehot.npy", []string{"onehot.npy", "argmax"}},
		{"short.npy", []string{"short.npy", "717"}},
		{"nothere.npy", []string{"nothere.npy", "no such file"}},
	} {
		fail(t, 2, c.want, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", c.y, "-o", "out.npz")
	}
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "signs.npy", "--unlabeled", "none", "-o", "model.npz")
	must(t, npy.WriteFile("less.npy", nil, []int64{1, 2, 3}))
	fail(t, 2, []string{"X.npy has 90 points", "less.npy has 3 labels"}, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "less.npy", "-o", "out.npz")
	fail(t, 2, []string{"less.npy has 3 labels for 90"}, "predict", "model.npz", "-y", "less.npy", "-o", "out.npy")
	fail(t, 2, []string{"y.npy", "91", "90"}, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "91", "-o", "out.npz")
	fail(t, 2, []string{"--labels is -5"}, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "-5", "-o", "out.npz")
	fail(t, 2, []string{"--labels is 0"}, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "0", "-o", "out.npz")
	fail(t, 2, []string{"class"}, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--labels", "1", "-o", "out.npz")
	fail(t, 2, []string{`"x"`, "integer"}, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "--unlabeled", "x", "-o", "out.npz")
}

func TestBadGraphs(t *testing.T) {
	intoBlobs(t)
	sparseFile(t, "wide.npz", 2, 3, map[[2]int]float64{{0, 1}: 1, {1, 0}: 1})
	sparseFile(t, "oneway.npz", 3, 3, map[[2]int]float64{{0, 1}: 1, {1, 0}: 2})
	sparseFile(t, "pattern.npz", 3, 3, map[[2]int]float64{{0, 1}: 1})
	sparseFile(t, "negative.npz", 3, 3, map[[2]int]float64{{0, 2}: -1.5, {2, 0}: -1.5})
	sparseFile(t, "nan.npz", 3, 3, map[[2]int]float64{{1, 2}: math.NaN(), {2, 1}: math.NaN()})
	sparseFile(t, "none.npz", 0, 0, nil)
	must(t, npy.WriteFile("y3.npy", nil, []int64{1, 2, -1}))
	for _, c := range []struct {
		file string
		want []string
	}{
		{"wide.npz", []string{"wide.npz", "2×3", "square"}},
		{"oneway.npz", []string{"oneway.npz", "not symmetric", "(0, 1)", "1", "2"}},
		{"pattern.npz", []string{"pattern.npz", "not symmetric", "(0, 1)"}},
		{"negative.npz", []string{"negative.npz", "(0, 2)", "-1.5"}},
		{"nan.npz", []string{"nan.npz", "NaN"}},
		{"none.npz", []string{"none.npz", "0"}},
		{"X.npy", []string{"X.npy"}},
		{"missing.npz", []string{"missing.npz", "no such file"}},
	} {
		fail(t, 2, c.want, "eigs", c.file, "-n", "1", "-o", "out.npz")
		fail(t, 2, c.want, "fit", "--model", "eigenmap", "--graph", c.file, "-y", "y3.npy", "-o", "out.npz")
	}
}

// Artifacts that do not belong together, or are of another kind.
func TestStrangers(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy", "-o", "g.npz")
	succeed(t, "graph", "X.npy", "-k", "5", "-o", "g5.npz")
	succeed(t, "graph", "new.npy", "-o", "gnew.npz")
	succeed(t, "eigs", "g5.npz", "-n", "10", "-o", "e5.npz")
	succeed(t, "eigs", "g.npz", "-n", "10", "-o", "e.npz")
	succeed(t, "fit", "--model", "eigenmap", "-X", "X.npy", "-y", "y.npy", "-o", "m.npz")
	truncate(t, "m.npz", "mshort.npz", -100)
	truncate(t, "m.npz", "mhalf.npz", 2000)
	onlyArrays(t, "m.npz", "mpart.npz", "classes", "manifest")
	ringGraph(t, "ring.npz", 50)
	fit := []string{"fit", "--model", "eigenmap", "-y", "y.npy", "--labels", "20", "-o", "out.npz"}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{append(fit, "--graph", "g.npz", "--eigs", "e5.npz"), []string{"e5.npz was not made from the graph in g.npz", "make it again"}},
		{append(fit, "-X", "X.npy", "--graph", "gnew.npz"), []string{"gnew.npz was not made from the points in X.npy"}},
		{append(fit, "-X", "new.npy", "--eigs", "e.npz"), []string{"e.npz was not made from the points in new.npy"}},
		{append(fit, "--graph", "ring.npz"), []string{"ring.npz has 50 points", "90 labels"}},
		{append(fit, "--graph", "ring.npz", "--eigs", "e.npz"), []string{"ring.npz has 50 points"}},
		{append(fit, "--eigs", "g.npz"), []string{"g.npz", "vectors"}},
		{append(fit, "--eigs", "m.npz"), []string{"m.npz", "bigfit model", "bigfit eigs"}},
		{append(fit, "--graph", "e.npz"), []string{"e.npz", "not a SciPy sparse matrix"}},
		{append(fit, "--eigs", "e.npz", "-p", "11"), []string{"--eigenvectors is 11", "10 eigenvectors are there"}},
		{append(fit, "--graph", "g.npz", "-k", "5"), []string{"--neighbors is 5", "g.npz was made with 8"}},
		{append(fit, "--eigs", "e.npz", "--laplacian", "normalized"), []string{"--laplacian is normalized", "e.npz was made with combinatorial"}},
		{append(fit, "--eigs", "e.npz", "--pca", "2"), []string{"--pca is 2", "e.npz was made with 0"}},
		{[]string{"predict", "mshort.npz", "-o", "out.npy"}, []string{"mshort.npz"}},
		{[]string{"predict", "mhalf.npz", "-o", "out.npy"}, []string{"mhalf.npz"}},
		{[]string{"predict", "mpart.npz", "-o", "out.npy"}, []string{"mpart.npz", "values"}},
		{[]string{"predict", "g.npz", "-o", "out.npy"}, []string{"g.npz", `"bigfit graph"`, `"bigfit model"`}},
		{[]string{"predict", "e.npz", "-o", "out.npy"}, []string{"e.npz", `"bigfit eigs"`}},
		{[]string{"predict", "X.npy", "-o", "out.npy"}, []string{"X.npy"}},
		{[]string{"predict", "missing.npz", "-o", "out.npy"}, []string{"missing.npz", "no such file"}},
		{[]string{"eigs", "e.npz", "-o", "out.npz"}, []string{"e.npz"}},
	} {
		fail(t, 2, c.want, c.args...)
	}
	succeed(t, append(fit, "--graph", "g.npz", "-k", "8")...)
}

// A file that is missing is named before anything is read.
func TestMissingFiles(t *testing.T) {
	intoBlobs(t)
	succeed(t, "graph", "X.npy", "-o", "g.npz", "-q")
	succeed(t, "fit", "X.npy", "y.npy", "--model", "lgc", "-o", "m.npz", "-q")
	for _, line := range []string{
		"fit none X.npy", "fit X.npy none", "fit X.npy none:label", "fit X.npy y.npy --graph none", "fit X.npy y.npy --ids none",
		"fit -X X.npy -X none y.npy", "fit X.npy y.npy --model eigenmap --eigs none", "graph none", "eigs none -n 3", "neighbors X.npy --query none",
		"predict none X.npy", "predict m.npz none", "predict m.npz X.npy -y none", "predict m.npz X.npy --ids none",
		"update m.npz none", "update m.npz -y none", "next m.npz -y none", "suspects m.npz -y none", "eval y.npy none", "eval none y.npy",
		"tune none y.npy --model lgc", "tune X.npy none --model lgc", "compare X.npy none --models lgc --labels 9",
		"compare X.npy y.npy --models lgc --splits none", "cluster none -c 3", "cluster X.npy -c 3 -y none", "embed none", "features none", "features X.npy --graph none", "solve g.npz none", "edges none",
		"solve none y.npy", "plot none", "info none",
	} {
		o := bigfit(t, strings.Fields(line)...)
		if o.code != 2 || !strings.Contains(o.stderr, "bigfit: none: no such file") || o.out != "" {
			t.Errorf("bigfit %s: exit code %d\n%s%s", line, o.code, o.stderr, o.out)
		}
		if strings.Contains(o.stderr, "stopped") || strings.Contains(o.stderr, "read  ") || strings.Contains(o.stderr, "model  ") {
			t.Errorf("bigfit %s read something:\n%s", line, o.stderr)
		}
	}
	if o := bigfit(t, strings.Fields("fit none.npy none.npy --model rls-linear --gamma-a 1 --parts 2 --work W --print-script slurm -q")...); o.code != 0 {
		t.Errorf("a script needs no points: %+v", o)
	}
}
