package table

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
)

func result(ids bool) *Output {
	const n = 3000
	o := &Output{Manifest: `{"format":"bigfit predictions"}`}
	label := make([]string, n)
	score := make([]float64, n)
	vector := make([]float64, 3*n)
	for i := range n {
		label[i] = []string{"cat", "dog, big", "häuser\n\"x\""}[i%3]
		score[i] = float64(i) / 3
		vector[3*i+1] = -float64(i)
		if ids {
			o.IDs = append(o.IDs, "p"+label[i][:1]+string(rune('a'+i%26)))
		}
	}
	o.Columns = []Result{{Name: "label", Values: label}, {Name: "score", Values: score}, {Name: "vector", Values: vector, Width: 3}}
	return o
}

// What is written as text is read again.
func TestWrite(t *testing.T) {
	for _, ids := range []bool{false, true} {
		o := result(ids)
		for _, ext := range []string{".csv", ".jsonl"} {
			path := filepath.Join(t.TempDir(), "out"+ext)
			if err := Write(path, o); err != nil {
				t.Fatal(err)
			}
			tab, err := Read(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			key := "row"
			if ids {
				key = "id"
			}
			if tab.Rows != 3000 || tab.Columns[0].Name != key || tab.Columns[1].Name != "label" {
				t.Fatalf("%s: %d rows, columns %v", path, tab.Rows, tab.Columns)
			}
			id := tab.Column(key)
			score := tab.Column("score")
			if ids && !slices.Equal(id.Texts, o.IDs) || !ids && id.Ints[2999] != 2999 {
				t.Errorf("%s: the ids differ", path)
			}
			if !slices.Equal(tab.Column("label").Texts, o.Columns[0].Values.([]string)) || !slices.Equal(score.Floats, o.Columns[1].Values.([]float64)) {
				t.Errorf("%s: labels or scores differ", path)
			}
			if v := tab.Column("vector"); ext != ".csv" && (v.Width != 3 || !slices.Equal(v.Float64s, o.Columns[2].Values.([]float64))) {
				t.Errorf("%s: vectors differ", path)
			}
			if ext == ".csv" && tab.Column("vector_1").Ints[5] != -5 {
				t.Errorf("%s: columns %v", path, tab.Columns)
			}
			again := filepath.Join(t.TempDir(), "again"+ext)
			if err := Write(again, o); err != nil {
				t.Fatal(err)
			}
			a, _ := os.ReadFile(path)
			if b, _ := os.ReadFile(again); !bytes.Equal(a, b) {
				t.Errorf("%s: the same output gave other bytes", path)
			}
		}
	}
}

func TestWriteArrays(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "out.npz"), result(true)); err != nil {
		t.Fatal(err)
	}
	a, err := npy.OpenArchive(filepath.Join(dir, "out.npz"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if want := []string{"id", "label", "manifest", "score", "vector"}; !slices.Equal(a.Names(), want) {
		t.Errorf("arrays %v, want %v", a.Names(), want)
	}
	path := filepath.Join(dir, "out.npy")
	if err := Write(path, &Output{Columns: []Result{{Name: "x", Values: []float64{1, 2}, Width: 1}}}); err != nil {
		t.Fatal(err)
	}
	if x, err := npy.ReadFile(path, 0); err != nil || !slices.Equal(x.Shape, []int{2, 1}) {
		t.Errorf("%v, %v", x, err)
	}
	for name, o := range map[string]*Output{
		"two.npy":   result(false),
		"pred":      {Columns: []Result{{Name: "x", Values: []int64{1}}}},
		"pred.xlsx": {Columns: []Result{{Name: "x", Values: []int64{1}}}},
		"rows.csv":  {IDs: []string{"a"}, Columns: []Result{{Name: "x", Values: []int64{1, 2}}}},
	} {
		err := Write(filepath.Join(dir, name), o)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if err := Write(filepath.Join(dir, "nan.jsonl"), &Output{Columns: []Result{{Name: "x", Values: []float64{math.NaN(), 1}}}}); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "nan.jsonl")); string(text) != "{\"row\": 0, \"x\": null}\n{\"row\": 1, \"x\": 1}\n" {
		t.Errorf("%q", text)
	}
}

// With CSVSafe texts that a spreadsheet would compute are text to it; numbers stay as they are.
func TestCSVSafe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	o := &Output{CSVSafe: true, IDs: []string{"=1+1", "-5", "a"}, Columns: []Result{
		{Name: "@label", Values: []string{"+cmd", "b-c", "-x"}}, {Name: "score", Values: []float64{-1, 2, 3}}}}
	if err := Write(path, o); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "id,'@label,score\n'=1+1,'+cmd,-1\n-5,b-c,2\na,'-x,3\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
