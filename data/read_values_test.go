package data

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
)

func TestReadValues(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	array := func(name string, shape []int, x any) {
		if err := npy.WriteFile(name, shape, x); err != nil {
			t.Fatal(err)
		}
	}
	nan := math.NaN()
	inf := math.Inf(1)
	array("v.npy", nil, []float64{1.5, nan, -2})
	array("m.npy", []int{2, 2}, []float32{1, 2, 3, 4})
	array("i.npy", nil, []int64{7, -1})
	array("inf.npy", []int{2, 2}, []float64{1, 2, 3, inf})
	array("cube.npy", []int{1, 1, 2}, []float64{1, 2})
	array("empty.npy", []int{0}, []float64{})
	array("big.npy", nil, []int64{1<<53 + 1})
	if err := npy.WriteArchive("a.npz", []archive.Array{{Name: "y", Data: []float64{8}}, {Name: "z", Data: []float64{9}}}); err != nil {
		t.Fatal(err)
	}
	write("v.txt", "# a comment\nprice\n1.5\n?\nnan\n-2e3\n\n")
	write("inf.txt", "1\n-inf\n")
	write("two.txt", "1 2\n3 4\n")
	write("word.txt", "1\nmany\n")
	write("none.txt", "price\n")
	write("x.svm", "1 1:2\n0 3:1\n")
	for _, c := range []struct {
		path string
		cols int
		want []float64
	}{
		{"v.npy", 1, []float64{1.5, nan, -2}},
		{"m.npy", 2, []float64{1, 2, 3, 4}},
		{"i.npy", 1, []float64{7, -1}},
		{"a.npz", 1, []float64{8}},
		{"a.npz:z", 1, []float64{9}},
		{"v.txt", 1, []float64{1.5, nan, nan, -2000}},
	} {
		got, err := ReadValues(c.path, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := mat.NewDense(len(c.want)/c.cols, c.cols, c.want); !mat.Equal(hugeNaN(got), hugeNaN(want)) {
			t.Errorf("%s: %v, want %v", c.path, mat.Formatted(got), c.want)
		}
	}
	for _, c := range []struct{ path, want string }{
		{"inf.npy", "row 1, column 1 is +Inf"},
		{"cube.npy", "want a vector or a matrix"},
		{"empty.npy", "at least one"},
		{"big.npy", "9007199254740993"},
		{"a.npz:w", `no array "w"`},
		{"v.npy:y", `key "y"`},
		{"inf.txt", "line 2"},
		{"two.txt", "line 1"},
		{"word.txt", `line 2: it is "many"`},
		{"none.txt", "no values"},
		{"x.svm", "svmlight"},
		{"nothere.npy", "no such file"},
	} {
		_, err := ReadValues(c.path, ReadOptions{})
		file, _, _ := strings.Cut(filepath.Base(c.path), ":")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: error %v, want one with %q", c.path, err, c.want)
		}
	}
	for _, path := range []string{"v.npy", "a.npz", "v.txt"} {
		if _, err := ReadValues(path, ReadOptions{Limit: 7}); err == nil {
			t.Errorf("%s: no error at a limit of 7 bytes", path)
		}
	}
}

// hugeNaN puts 1e300 in place of NaN.
func hugeNaN(a *mat.Dense) *mat.Dense {
	out := mat.DenseCopyOf(a)
	out.Apply(func(_, _ int, v float64) float64 {
		if math.IsNaN(v) {
			return 1e300
		}
		return v
	}, out)
	return out
}
