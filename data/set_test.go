package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/mapped"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/sparse"
)

func writeNPY(t *testing.T, path string, rows, cols int, data any) string {
	t.Helper()
	if err := npy.WriteFile(path, []int{rows, cols}, data); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeText(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Files of a MiB are mapped, smaller ones are not, and both are the same points.
func TestReadFilesMapped(t *testing.T) {
	const d = 64
	r := rand.New(rand.NewPCG(8, 9))
	for _, rows := range [][]int{{1 << 14, 1 << 14, 5}, {3, 1, 1 << 14}} {
		n := 0
		for _, m := range rows {
			n += m
		}
		bits := make([]npy.Half, n*d)
		x32 := make([]float32, n*d)
		x64 := make([]float64, n*d)
		bytes := make([]uint8, n*d)
		for i := range bits {
			bits[i] = npy.Half(r.UintN(0x7c00))
			x32[i] = r.Float32()
			x64[i] = r.NormFloat64()
			bytes[i] = uint8(r.Uint32())
		}
		dir := t.TempDir()
		cut := func(lo, hi int) []any { return []any{bits[lo:hi], x32[lo:hi], x64[lo:hi], bytes[lo:hi]} }
		for kind, whole := range cut(0, n*d) {
			want, err := ReadPoints(writeNPY(t, filepath.Join(dir, "all.npy"), n, d, whole), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var paths []string
			at := 0
			for i, m := range rows {
				path := filepath.Join(dir, fmt.Sprintf("%d_%d.npy", kind, i))
				paths = append(paths, writeNPY(t, path, m, d, cut(at*d, (at+m)*d)[kind]))
				at += m
			}
			before := mapped.Size()
			got, err := ReadFiles(paths, ReadOptions{Limit: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			s, ok := got.(*Stored)
			if !ok || s.Rows != n || s.Cols != d || s.Held() > 64<<10 || mapped.Size()-before < 1<<20 {
				t.Errorf("%T of %d×%d points, %d bytes in memory, %d mapped", got, s.Rows, s.Cols, s.Held(), mapped.Size()-before)
			}
			if HashPoints(got) != HashPoints(want) {
				t.Errorf("%v: the points of several files differ from those of one", s.Kind())
			}
			for p, part := range s.Parts() {
				if part.Name != paths[p] || part.Rows != rows[p] {
					t.Errorf("part %d is %s of %d rows", p, part.Name, part.Rows)
				}
			}
		}
	}
}

func TestReadFilesOfOtherForms(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	x := []float32{1, 2, 3, 4, 5, 6}
	archive := func(name string, data []float32) string {
		if err := npy.WriteArchive(at(name), []archive.Array{{Name: "emb", Shape: []int{len(data) / 2, 2}, Data: data}, {Name: "y", Data: []int64{1}}}); err != nil {
			t.Fatal(err)
		}
		return at(name) + ":emb"
	}
	a := &sparse.CSR{Rows: 2, Cols: 4, Ptr: []int64{0, 1, 3}, Col: []int32{3, 0, 1}}
	b := &sparse.CSR{Rows: 1, Cols: 4, Ptr: []int64{0, 2}, Col: []int32{0, 2}, Val: []float64{0.5, 2}}
	for name, m := range map[string]*sparse.CSR{"a.npz": a, "b.npz": b} {
		if err := sparse.WriteNPZ(at(name), m, nil); err != nil {
			t.Fatal(err)
		}
	}
	rows := func(x Points) [][]float64 {
		n, d := x.Dims()
		var out [][]float64
		for i := range n {
			row := make([]float64, d)
			RowTo(row, x, i)
			out = append(out, row)
		}
		return out
	}
	for name, c := range map[string]struct {
		paths []string
		want  [][]float64
	}{
		"npz":  {[]string{archive("k0.npz", x[:2]), archive("k1.npz", x[2:])}, [][]float64{{1, 2}, {3, 4}, {5, 6}}},
		"csv":  {[]string{writeText(t, at("0.csv"), "a,b\n1,2\n"), writeText(t, at("1.csv"), "3,4\n5,6\n")}, [][]float64{{1, 2}, {3, 4}, {5, 6}}},
		"int":  {[]string{writeNPY(t, at("i0.npy"), 1, 2, []int16{1, 2}), writeNPY(t, at("i1.npy"), 2, 2, []int16{3, 4, 5, -6})}, [][]float64{{1, 2}, {3, 4}, {5, -6}}},
		"bool": {[]string{writeNPY(t, at("b0.npy"), 1, 2, []bool{true, false}), writeNPY(t, at("b1.npy"), 1, 2, []bool{true, true})}, [][]float64{{1, 0}, {1, 1}}},
		"idx":  {[]string{writeText(t, at("0.idx"), "\x00\x00\x08\x02\x00\x00\x00\x01\x00\x00\x00\x02\x07\x09"), writeText(t, at("1.idx"), "\x00\x00\x08\x02\x00\x00\x00\x01\x00\x00\x00\x02\x01\xff")}, [][]float64{{7, 9}, {1, 255}}},
		// The index 0 of the second file is that of the first one too.
		"svmlight":    {[]string{writeText(t, at("0.svm"), "1 1:5 2:6\n"), writeText(t, at("1.svm"), "-1 0:7\n1 3:1\n")}, [][]float64{{0, 5, 6, 0}, {7, 0, 0, 0}, {0, 0, 0, 1}}},
		"sparse":      {[]string{at("a.npz"), at("b.npz"), at("a.npz")}, [][]float64{{0, 0, 0, 1}, {1, 1, 0, 0}, {0.5, 0, 2, 0}, {0, 0, 0, 1}, {1, 1, 0, 0}}},
		"sparse ones": {[]string{at("a.npz"), at("a.npz")}, [][]float64{{0, 0, 0, 1}, {1, 1, 0, 0}, {0, 0, 0, 1}, {1, 1, 0, 0}}},
	} {
		got, err := ReadFiles(c.paths, ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(rows(got), c.want) {
			t.Errorf("%s: %v, want %v", name, rows(got), c.want)
		}
		if m, ok := got.(*sparse.CSR); ok {
			if err := m.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	got, err := ReadFiles([]string{at("k0.npz"), at("k1.npz")}, ReadOptions{Key: "emb"})
	if err != nil || !slices.Equal(rows(got)[2], []float64{5, 6}) {
		t.Errorf("the key of all files: %v, %v", got, err)
	}
}

func TestReadFilesFaults(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	good := writeNPY(t, at("good.npy"), 3, 2, []float32{1, 2, 3, 4, 5, 6})
	svm := writeText(t, at("x.svm"), "1 1:5\n")
	if err := sparse.WriteNPZ(at("s.npz"), &sparse.CSR{Rows: 1, Cols: 2, Ptr: []int64{0, 1}, Col: []int32{0}}, nil); err != nil {
		t.Fatal(err)
	}
	if err := sparse.WriteNPZ(at("s3.npz"), &sparse.CSR{Rows: 1, Cols: 3, Ptr: []int64{0, 1}, Col: []int32{0}}, nil); err != nil {
		t.Fatal(err)
	}
	wide := make([]npy.Half, 1<<20)
	wide[5<<10+7] = 0x7c00
	for name, c := range map[string]struct {
		paths []string
		parts []string
	}{
		"columns":     {[]string{good, writeNPY(t, at("wide.npy"), 2, 3, make([]float32, 6))}, []string{"wide.npy: it holds 3 columns of float32", "good.npy holds 2 of float32"}},
		"type":        {[]string{good, writeNPY(t, at("f8.npy"), 3, 2, make([]float64, 6))}, []string{"f8.npy: it holds 2 columns of float64", "good.npy holds 2 of float32"}},
		"empty":       {[]string{good, writeNPY(t, at("empty.npy"), 0, 2, []float32{})}, []string{"empty.npy: its shape is [0 2]"}},
		"nothing":     {[]string{good, writeText(t, at("nothing.npy"), "")}, []string{"nothing.npy: the file is empty"}},
		"missing":     {[]string{good, at("none.npy")}, []string{"none.npy: no such file"}},
		"key":         {[]string{good + ":X", good}, []string{"key"}},
		"nan":         {[]string{good, writeNPY(t, at("nan.npy"), 2, 2, []float32{1, 2, 3, float32(math.NaN())})}, []string{"nan.npy: row 1, column 1 is NaN"}},
		"mapped":      {[]string{writeNPY(t, at("h.npy"), 1<<10, 1<<10, make([]npy.Half, 1<<20)), writeNPY(t, at("inf.npy"), 1<<10, 1<<10, wide)}, []string{"inf.npy: row 5, column 7 is +Inf", "65504"}},
		"huge":        {[]string{writeNPY(t, at("big.npy"), 1, 2, []float64{1, 2}), writeNPY(t, at("huge.npy"), 1, 2, []float64{1, 1e200})}, []string{"huge.npy: row 0, column 1 is 1e+200"}},
		"text":        {[]string{writeText(t, at("0.csv"), "1,2\n"), writeText(t, at("1.csv"), "3,x\n")}, []string{"1.csv: line 1: column 1"}},
		"svmlight":    {[]string{svm, good}, []string{"good.npy", "svmlight"}},
		"svmlight 2":  {[]string{good, svm}, []string{"x.svm", "svmlight"}},
		"sparse":      {[]string{good, at("s.npz")}, []string{"s.npz: it holds 2 columns of sparse", "good.npy"}},
		"sparse 2":    {[]string{at("s.npz"), good}, []string{"good.npy: it holds 2 columns of float32", "2 of sparse"}},
		"sparse wide": {[]string{at("s.npz"), at("s3.npz")}, []string{"s3.npz: it holds 3 columns", "2 of sparse"}},
	} {
		x, err := ReadFiles(c.paths, ReadOptions{})
		wantError(t, err, c.parts...)
		if x != nil {
			t.Errorf("%s: points besides an error", name)
		}
	}
	for _, paths := range [][]string{{good, good}, {svm, svm}, {at("s.npz"), at("s.npz")}} {
		if _, err := ReadFiles(paths, ReadOptions{Limit: 30}); err == nil || !strings.Contains(err.Error(), "limit") {
			t.Errorf("%s in 30 bytes: %v", paths, err)
		}
	}
}
