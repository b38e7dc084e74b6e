package data

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// A table has a column for each label, in any order; its rows are joined by ids. What is missing is not known.
func TestReadLabelTable(t *testing.T) {
	t.Chdir(t.TempDir())
	nan := math.NaN()
	ids, err := NewIDs("points.csv", []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text string
		ids        *IDs
		points     int
		labels     []string
		want       []float64
	}{
		{"ids.csv", "id,sky,dog\nc,1,0\na,,1\n", ids, 3, []string{"dog", "sky"}, []float64{1, nan, nan, nan, 0, 1}},
		{"place.csv", "what,sky,dog\nc,1,0\na,0,1\n", ids, 3, []string{"dog", "sky"}, []float64{1, 0, nan, nan, 0, 1}},
		{"rows.csv", "sky,dog\n1,0\n0,1\n,\n", nil, 3, []string{"dog", "sky"}, []float64{0, 1, 1, 0, nan, nan}},
		{"lines.jsonl", `{"id":"b","sky":1,"dog":-1}` + "\n", ids, 3, []string{"dog", "sky"}, []float64{nan, nan, -1, 1, nan, nan}},
		{"numbers.csv", "20,5\n1,0\n0,1\n", nil, 2, []string{"5", "20"}, []float64{0, 1, 1, 0}},
		// One label a point.
		{"one.csv", "id,label,fold\nc,1,0\na,0,1\n", ids, 3, []string{"0"}, []float64{0, nan, 1}},
		{"two.csv", "id,dog\nc,1\na,0\n", ids, 3, []string{"0"}, []float64{0, nan, 1}},
	} {
		if err := os.WriteFile(c.name, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := ReadMultiLabels(c.name, ReadOptions{Points: c.points, IDs: c.ids, File: &LabelFile{}})
		if err != nil {
			t.Fatal(err)
		}
		var labels []string
		_, cols := got.Y.Dims()
		for j := range cols {
			labels = append(labels, got.Label(j))
		}
		if !slices.Equal(labels, c.labels) || !mat.Equal(hugeNaN(got.Y), hugeNaN(mat.NewDense(len(c.want)/cols, cols, c.want))) {
			t.Errorf("%s: labels %v of\n%v", c.name, labels, mat.Formatted(got.Y))
		}
		if got.Names == nil {
			continue
		}
		// The order changes, and the table says nothing of one label.
		turned := got.Ordered([]string{"sky", "cat", "dog"})
		for i := range c.points {
			if row := turned.RawRowView(i); !math.IsNaN(row[1]) || row[0] != got.Y.At(i, 1) && !math.IsNaN(row[0]) {
				t.Errorf("%s: in another order row %d is %v", c.name, i, row)
			}
		}
	}

	for name, c := range map[string][2]string{
		"header.csv": {"a,1,0\nb,0,1\n", `column "a" is "b"`},
		"signs.csv":  {"1,0\n0,1\n", "it has no header"},
		"text.csv":   {"id,sky,dog\na,yes,no\n", "line 2"},
		"twice.csv":  {"id,sky,dog\na,1,0\na,0,1\n", "the same id"},
	} {
		if err := os.WriteFile(name, []byte(c[0]), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadMultiLabels(name, ReadOptions{Points: 3, IDs: ids}); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadMultiLabels(t *testing.T) {
	t.Chdir(t.TempDir())
	nan := math.NaN()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(npy.WriteFile("Y.npy", []int{2, 3}, []float64{1, -1, nan, -1, 1, 1}))
	must(npy.WriteFile("y.npy", nil, []int64{0, 1}))
	must(npy.WriteArchive("a.npz", []archive.Array{{Name: "y", Data: []float64{8}}, {Name: "Y", Shape: []int{1, 2}, Data: []int8{1, 0}}}))
	// The first lines are as scikit-learn writes points without a label.
	files := map[string]string{
		"some.svm": " 1:2\n\t3:1 # none\n7,-2 2:4\n# comment\nnan 1:1\n5 2:1\n7 3:1\n",
		"one.svm":  "2 1:1\n1 2:1\n",
	}
	for name, text := range files {
		must(os.WriteFile(name, []byte(text), 0o666))
	}
	for _, c := range []struct {
		path   string
		values []int64
		cols   int
		want   []float64
	}{
		{"Y.npy", nil, 3, []float64{1, -1, nan, -1, 1, 1}},
		{"y.npy", nil, 1, []float64{0, 1}},
		{"a.npz:Y", nil, 2, []float64{1, 0}},
		{"some.svm", []int64{-2, 5, 7}, 3, []float64{0, 0, 0, 0, 0, 0, 1, 0, 1, nan, nan, nan, 0, 1, 0, 0, 0, 1}},
		{"one.svm", []int64{1, 2}, 2, []float64{0, 1, 1, 0}},
	} {
		got, err := ReadMultiLabels(c.path, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := mat.NewDense(len(c.want)/c.cols, c.cols, c.want)
		if !slices.Equal(got.Values, c.values) || !mat.Equal(hugeNaN(got.Y), hugeNaN(want)) {
			t.Errorf("%s: labels %v of\n%v", c.path, got.Values, mat.Formatted(got.Y))
		}
	}
	// The points of such a file are read as well, and have as many rows.
	if x, err := ReadPoints("some.svm", ReadOptions{}); err != nil {
		t.Error(err)
	} else if n, d := x.Dims(); n != 6 || d != 3 {
		t.Errorf("%d×%d points", n, d)
	}
	if _, err := ReadLabels("some.svm", LabelOptions{}); err == nil || !strings.Contains(err.Error(), `label of row 0 is ""`) {
		t.Errorf("one label a point of a file of several: %v", err)
	}
}

var badMultiLabels = []struct {
	text string
	want []string
}{
	{"1,x 1:1\n", []string{"line 1", "row 0", `"1,x"`, "integers"}},
	{"1 1:1\n1,2.5 1:1\n", []string{"line 2", "row 1", `"1,2.5"`}},
	{"1, 1:1\n", []string{"line 1", `"1,"`}},
	{",1 1:1\n", []string{"line 1", `",1"`}},
	{"1,,2 1:1\n", []string{`"1,,2"`}},
	{"1,nan 1:1\n", []string{`"1,nan"`, "nan if they are not known"}},
	{"1 1:1\n\n3,1,3 1:1\n", []string{"line 3", "row 1 has the label 3 twice"}},
	{"1:1 2:1\n", []string{"line 1", `"1:1"`, "label"}},
	{"nan 1:1\n 2:1\n", []string{"no point has a label"}},
}

func TestBadMultiLabels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.svm")
	for _, c := range badMultiLabels {
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := ReadMultiLabels(path, ReadOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%q: %v, which lacks %q", c.text, err, w)
			}
		}
	}
	// A hundred points of a label each make a block of 80 kB.
	var text strings.Builder
	for i := range 100 {
		fmt.Fprintln(&text, i, "1:1")
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var limit *npy.LimitError
	if _, err := ReadMultiLabels(path, ReadOptions{Limit: 20000}); !errors.As(err, &limit) || limit.Need != 80000 {
		t.Errorf("a block larger than allowed: %v", err)
	}
	if _, err := ReadMultiLabels(path, ReadOptions{Limit: 1000}); !errors.As(err, &limit) {
		t.Errorf("lists larger than allowed: %v", err)
	}
	if _, err := ReadMultiLabels(path, ReadOptions{Key: "y"}); err == nil || !strings.Contains(err.Error(), `key "y"`) {
		t.Errorf("a key of text: %v", err)
	}
}

func FuzzReadMultiLabels(f *testing.F) {
	for _, c := range badMultiLabels {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(" 1:2\n7,-2 2:4\nnan 1:1\n"))
	path := filepath.Join(f.TempDir(), "y.svm")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := ReadMultiLabels(path, ReadOptions{Limit: 16 << 20})
		if err != nil {
			if !strings.HasPrefix(err.Error(), path) {
				t.Errorf("error %q does not begin with the path", err)
			}
			return
		}
		n, m := l.Y.Dims()
		if l.Values == nil {
			return // another format
		}
		if len(l.Values) != m || !slices.IsSorted(l.Values) || len(slices.Compact(slices.Clone(l.Values))) != m {
			t.Fatalf("labels %v of %d columns", l.Values, m)
		}
		for i := range n {
			row := l.Y.RawRowView(i)
			for _, v := range row {
				if v != 0 && v != 1 && !(math.IsNaN(v) && math.IsNaN(row[0])) {
					t.Fatalf("row %d is %v", i, row)
				}
			}
		}
	})
}
