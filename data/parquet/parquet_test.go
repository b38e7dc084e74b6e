package parquet_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	_ "github.com/bigfit/bigfit/data/parquet"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/internal/file/table"
)

// writeFile puts content into a file of the test's folder.
func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// writeRows writes a parquet file by the library, not by this package.
func writeRows[T any](t testing.TB, rows []T, opts ...parquet.WriterOption) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, opts...)
	for at := 0; at < len(rows); at += 100 { // row groups of 100
		if _, err := w.Write(rows[at:min(at+100, len(rows))]); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "t.parquet", b.String())
}

// mustFail checks that reading a file whole is an error with all of the given texts.
func mustFail(t *testing.T, path string, opt table.Options, want []table.Column, texts ...string) {
	t.Helper()
	_, err := table.Read(path, opt, want...)
	if err == nil {
		t.Errorf("%s: no error, want one with %q", filepath.Base(path), texts)
		return
	}
	for _, s := range append(texts, filepath.Base(path)) {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: the error does not say %q: %v", filepath.Base(path), s, err)
		}
	}
}

type person struct {
	ID     int64     `parquet:"id,delta"`
	Small  uint8     `parquet:"small"`
	Label  *string   `parquet:"label,dict"`
	Vector []float32 `parquet:"vector,list"`
	Plain  []float64 `parquet:"plain"`
	OK     bool      `parquet:"ok"`
	Score  float64   `parquet:"score,split"`
	Name   string    `parquet:"name"`
}

func people(n int) []person {
	classes := []string{"cat", "dog", "häuser"}
	out := make([]person, n)
	for i := range out {
		out[i] = person{ID: int64(i) * 7, Small: uint8(200 + i%50), OK: i%3 == 0, Score: float64(i) / 4, Name: fmt.Sprint("n", i)}
		if i%5 != 0 {
			out[i].Label = &classes[i%3]
		}
		for j := range 16 {
			out[i].Vector = append(out[i].Vector, float32(i)+float32(j)/16)
		}
		out[i].Plain = []float64{float64(i), -1}
	}
	return out
}

func TestParquet(t *testing.T) {
	rows := people(1050)
	for name, opts := range map[string][]parquet.WriterOption{
		"plain":  nil,
		"snappy": {parquet.Compression(&parquet.Snappy)},
		"gzip":   {parquet.Compression(&parquet.Gzip)},
		"zstd":   {parquet.Compression(&parquet.Zstd)},
		"brotli": {parquet.Compression(&parquet.Brotli)},
		"lz4":    {parquet.Compression(&parquet.Lz4Raw)},
		"v1":     {parquet.DataPageVersion(1), parquet.PageBufferSize(512), parquet.Compression(&parquet.Snappy)},
		"pages":  {parquet.PageBufferSize(512)},
	} {
		t.Run(name, func(t *testing.T) {
			tab, err := table.Read(writeRows(t, rows, opts...), table.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if tab.Rows != len(rows) {
				t.Fatalf("%d rows, want %d", tab.Rows, len(rows))
			}
			vector := tab.Column("vector")
			if vector.Width != 16 || vector.Float64s != nil {
				t.Fatalf("width %d", vector.Width)
			}
			for i, p := range rows {
				label := tab.Column("label")
				if label.Missing(i) != (p.Label == nil) || p.Label != nil && label.Texts[i] != *p.Label {
					t.Fatalf("row %d: label %q", i, label.Texts[i])
				}
				if tab.Column("id").Ints[i] != p.ID || tab.Column("small").Ints[i] != int64(p.Small) || tab.Column("ok").Bools[i] != p.OK ||
					tab.Column("score").Floats[i] != p.Score || tab.Column("name").Texts[i] != p.Name ||
					!slices.Equal(vector.Float32s[16*i:16*i+16], p.Vector) || !slices.Equal(tab.Column("plain").Float64s[2*i:2*i+2], p.Plain) {
					t.Fatalf("row %d differs from %+v", i, p)
				}
			}
		})
	}
}

func TestParquetKinds(t *testing.T) {
	r, err := table.Open(writeRows(t, people(250)), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, ok := r.Rows(); !ok || n != 250 || r.Format() != table.Parquet {
		t.Errorf("%d rows, %v, %s", n, ok, r.Format())
	}
	for _, c := range r.Columns() {
		want := map[string]table.Column{"id": {Kind: table.Int, Bits: 64}, "label": {Kind: table.Text, Bits: 64}, "vector": {Kind: table.FloatList, Width: 16, Bits: 32}, "plain": {Kind: table.FloatList, Width: 2, Bits: 64}}[c.Name]
		if want.Kind != table.Any && (c.Kind != want.Kind || c.Width != want.Width || c.Bits != want.Bits) {
			t.Errorf("%+v, want %+v", c, want)
		}
	}
	if err := r.Choose(table.Column{Name: "id", Kind: table.Text}, table.Column{Name: "small", Kind: table.Float}); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.First != int64(rows) || b.Values[0].Texts[1] != fmt.Sprint(7*(rows+1)) || b.Values[1].Floats[0] != float64(200+rows%50) {
			t.Errorf("batch from %d: %v", b.First, b.Values[0].Texts[:2])
		}
		rows += b.Rows
	}
	if rows != 250 {
		t.Errorf("%d rows", rows)
	}
}

func TestParquetFaults(t *testing.T) {
	type ragged struct {
		V []float32 `parquet:"v,list"`
	}
	lists := make([]ragged, 230)
	for i := range lists {
		lists[i].V = []float32{1, 2, 3}
	}
	lists[217].V = []float32{1, 2}
	mustFail(t, writeRows(t, lists), table.Options{}, nil, "row 217", `"v"`, "list of 2 numbers", "first row 3")
	lists[217].V = []float32{1, 2, 3, 4}
	mustFail(t, writeRows(t, lists), table.Options{}, nil, "row 217", "more than the 3")
	lists[217].V = nil
	mustFail(t, writeRows(t, lists), table.Options{}, nil, "row 217", "list of 0 numbers")
	type holes struct {
		V []*float32 `parquet:"v,list"`
	}
	one := float32(1)
	mustFail(t, writeRows(t, []holes{{[]*float32{&one, &one}}, {[]*float32{&one, nil}}}), table.Options{}, nil, "row 1", "element 1")
	type nested struct {
		A struct {
			B, C int64
		} `parquet:"a"`
		Deep []struct{ X []float64 } `parquet:"deep"`
		Good int64                   `parquet:"good"`
	}
	path := writeRows(t, []nested{{Good: 5, Deep: []struct{ X []float64 }{{[]float64{1}}}}})
	mustFail(t, path, table.Options{}, []table.Column{{Name: "a"}}, `"a"`, "group of columns")
	mustFail(t, path, table.Options{}, []table.Column{{Name: "deep"}}, `"deep"`, "nested list")
	if tab, err := table.Read(path, table.Options{}, table.Column{Name: "good"}); err != nil || tab.Values[0].Ints[0] != 5 {
		t.Errorf("a column beside nested ones: %v", err)
	}
	type big struct {
		U uint64 `parquet:"u"`
	}
	mustFail(t, writeRows(t, []big{{math.MaxUint64}}), table.Options{}, nil, "row 0", "18446744073709551615", "as text")
	type raw struct {
		B []byte `parquet:"b"`
	}
	mustFail(t, writeRows(t, []raw{{[]byte("\xff\xfe")}}), table.Options{}, nil, "row 0", "UTF-8")
	good, err := os.ReadFile(writeRows(t, people(300)))
	if err != nil {
		t.Fatal(err)
	}
	mustFail(t, writeFile(t, "cut.parquet", string(good[:len(good)/2])), table.Options{}, nil, "truncated")
	mustFail(t, writeFile(t, "tiny.parquet", "PAR1"), table.Options{}, nil, "too few")
	var limit *npy.LimitError
	if _, err := table.Read(writeFile(t, "big.parquet", string(good)), table.Options{Limit: 5000}); !errors.As(err, &limit) {
		t.Errorf("with a limit of 5000 bytes: %v", err)
	}
}

// A file by an independent writer: testdata/hyparquet.mjs makes it.
func TestOtherWriter(t *testing.T) {
	tab, err := table.Read(filepath.Join("testdata", "hyparquet.parquet"), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tab.Rows != 300 || len(tab.Columns) != 7 {
		t.Fatalf("%d rows, %d columns", tab.Rows, len(tab.Columns))
	}
	for i := range tab.Rows {
		x := float64(i)
		label := tab.Column("label")
		want := []string{"cat", "dog", "häuser"}[i%3]
		if label.Missing(i) != (i%5 == 0) || i%5 != 0 && label.Texts[i] != want {
			t.Errorf("row %d: label %q", i, label.Texts[i])
		}
		if tab.Column("id").Ints[i] != int64(7*i) || tab.Column("name").Texts[i] != fmt.Sprint("n", i) || tab.Column("half").Floats[i] != x/8-4 ||
			tab.Column("split").Floats[i] != x/4 || tab.Column("ok").Bools[i] != (i%3 == 0) ||
			!slices.Equal(tab.Column("vector").Float32s[3*i:3*i+3], []float32{float32(i), float32(i) + 0.5, -float32(i)}) {
			t.Errorf("row %d differs", i)
		}
	}
}

// Texts that begin as the one before them are read, up to the bound of memory: a page of 4 kB can unfold to any size.
func TestPrefixes(t *testing.T) {
	type named struct {
		Name string `parquet:"name"`
	}
	schema := parquet.NewSchema("t", parquet.Group{"name": parquet.Encoded(parquet.String(), &parquet.DeltaByteArray)})
	rows := make([]named, 2000)
	for i := range rows {
		rows[i].Name = fmt.Sprintf("users/%s/%06d", []string{"a", "häuser", ""}[i%3], i*i)
	}
	tab, err := table.Read(writeRows(t, rows, schema), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		if tab.Values[0].Texts[i] != r.Name {
			t.Fatalf("row %d: %q, want %q", i, tab.Values[0].Texts[i], r.Name)
		}
	}

	for i := range rows {
		rows[i].Name = strings.Repeat("x", 100_000)
	}
	path := writeRows(t, rows[:90], schema) // 9 MB
	if tab, err := table.Read(path, table.Options{}); err != nil || len(tab.Values[0].Texts[89]) != 100_000 {
		t.Errorf("long texts: %v", err)
	}
	var limit *npy.LimitError
	if _, err := table.Read(path, table.Options{Limit: 4 << 20}); !errors.As(err, &limit) {
		t.Errorf("with a limit of 4 MiB: %v", err)
	}
}

// A file by DuckDB, whose last run of levels or indexes is filled up to 256 values: testdata/duckdb.mjs makes it.
func TestDuckDB(t *testing.T) {
	tab, err := table.Read(filepath.Join("testdata", "duckdb.parquet"), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tab.Rows != 3000 || len(tab.Columns) != 6 {
		t.Fatalf("%d rows, %d columns", tab.Rows, len(tab.Columns))
	}
	label, score, vector := tab.Column("label"), tab.Column("score"), tab.Column("vector")
	for i := range tab.Rows {
		x := float32(i)
		if label.Missing(i) != (i%7 == 0) || !label.Missing(i) && label.Texts[i] != []string{"cat", "dog", "häuser"}[i%3] ||
			score.Missing(i) != (i%7 == 3) || !score.Missing(i) && score.Floats[i] != float64(i)/4 {
			t.Errorf("row %d: label %q, score %v", i, label.Texts[i], score.Floats[i])
		}
		if tab.Column("id").Ints[i] != int64(i) || tab.Column("ok").Bools[i] != (i%3 == 0) || tab.Column("small").Ints[i] != int64(i%100) ||
			!slices.Equal(vector.Float32s[3*i:3*i+3], []float32{x, x + 0.5, -x}) {
			t.Errorf("row %d differs", i)
		}
	}
}

// output returns a result of 3000 rows: names with commas, quotes and line ends, numbers, and
// vectors of three numbers.
func output(ids bool) *table.Output {
	const n = 3000
	label := make([]string, n)
	score := make([]float64, n)
	vector := make([]float64, 3*n)
	o := &table.Output{Manifest: `{"format":"bigfit predictions"}`}
	for i := range n {
		label[i] = []string{"cat", "dog, big", "häuser\n\"x\""}[i%3]
		score[i] = float64(i) / 3
		vector[3*i+1] = -float64(i)
		if ids {
			o.IDs = append(o.IDs, "p"+label[i][:1]+string(rune('a'+i%26)))
		}
	}
	o.Columns = []table.Result{{Name: "label", Values: label}, {Name: "score", Values: score}, {Name: "vector", Values: vector, Width: 3}}
	return o
}

// Write writes parquet that is read again, the same bytes each time.
func TestWrite(t *testing.T) {
	for _, ids := range []bool{false, true} {
		t.Run(fmt.Sprintf("ids %v", ids), func(t *testing.T) {
			o := output(ids)
			dir := t.TempDir()
			path := filepath.Join(dir, "out.parquet")
			again := filepath.Join(dir, "again.parquet")
			for _, p := range []string{path, again} {
				if err := table.Write(p, o); err != nil {
					t.Fatal(err)
				}
			}
			tab, err := table.Read(path, table.Options{})
			if err != nil {
				t.Fatal(err)
			}
			key := map[bool]string{false: "row", true: "id"}[ids]
			if tab.Rows != 3000 || tab.Columns[0].Name != key || tab.Columns[1].Name != "label" {
				t.Fatalf("%d rows, columns %v", tab.Rows, tab.Columns)
			}
			id := tab.Column(key)
			vector := tab.Column("vector")
			if ids && !slices.Equal(id.Texts, o.IDs) || !ids && id.Ints[2999] != 2999 {
				t.Error("the ids differ")
			}
			if !slices.Equal(tab.Column("label").Texts, o.Columns[0].Values.([]string)) {
				t.Error("the labels differ")
			}
			if !slices.Equal(tab.Column("score").Floats, o.Columns[1].Values.([]float64)) {
				t.Error("the scores differ")
			}
			if vector.Width != 3 || !slices.Equal(vector.Float64s, o.Columns[2].Values.([]float64)) {
				t.Error("the vectors differ")
			}
			a, _ := os.ReadFile(path)
			if b, _ := os.ReadFile(again); !bytes.Equal(a, b) {
				t.Error("the same output gave other bytes")
			}
		})
	}
}

// The library, which this package does not write with, reads what it writes: pages and groups that end
// in the middle, texts with and without a dictionary, and every type.
func TestLibraryReads(t *testing.T) {
	const n = 45_000
	type row struct {
		Row    int64     `parquet:"row"`
		Label  string    `parquet:"label"`
		Text   string    `parquet:"text"`
		Single float32   `parquet:"single"`
		Whole  int64     `parquet:"whole"`
		OK     bool      `parquet:"ok"`
		Vector []float64 `parquet:"vector,list"`
		Names  []string  `parquet:"names,list"`
	}
	want := make([]row, n)
	var (
		labels, texts, names []string
		singles              []float32
		wholes               []int32
		oks                  []bool
		vectors              []float64
	)
	for i := range want {
		x := float64(i)
		want[i] = row{int64(i), []string{"cat", "häuser", ""}[i*i%3], fmt.Sprint("text ", i), float32(i) / 3, int64(-i), i%7 < 3,
			[]float64{x, -x, 0.5}, []string{"a", fmt.Sprint("b", i%5)}}
		labels, texts, names = append(labels, want[i].Label), append(texts, want[i].Text), append(names, want[i].Names...)
		singles, wholes, oks = append(singles, want[i].Single), append(wholes, int32(-i)), append(oks, want[i].OK)
		vectors = append(vectors, want[i].Vector...)
	}
	for _, wide := range []int{0, 3000} {
		// A column so wide that groups have 2,784 rows.
		o := &table.Output{Columns: []table.Result{{Name: "label", Values: labels}, {Name: "text", Values: texts}, {Name: "single", Values: singles},
			{Name: "whole", Values: wholes}, {Name: "ok", Values: oks}, {Name: "vector", Values: vectors, Width: 3}, {Name: "names", Values: names, Width: 2}}}
		count := n
		if wide > 0 {
			count = 6000
			o.Columns = append(o.Columns, table.Result{Name: "wide", Values: make([]float32, count*wide), Width: wide})
			for i, each := range map[int]int{0: 1, 1: 1, 2: 1, 3: 1, 4: 1, 5: 3, 6: 2} {
				switch v := o.Columns[i].Values.(type) {
				case []string:
					o.Columns[i].Values = v[:each*count]
				case []float32:
					o.Columns[i].Values = v[:each*count]
				case []int32:
					o.Columns[i].Values = v[:each*count]
				case []bool:
					o.Columns[i].Values = v[:each*count]
				case []float64:
					o.Columns[i].Values = v[:each*count]
				}
			}
		}
		path := filepath.Join(t.TempDir(), "out.parquet")
		if err := table.Write(path, o); err != nil {
			t.Fatal(err)
		}
		got, err := parquet.ReadFile[row](path)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != count {
			t.Fatalf("%d rows", len(got))
		}
		for i := range got {
			if fmt.Sprint(got[i]) != fmt.Sprint(want[i]) {
				t.Fatalf("row %d is %+v, want %+v", i, got[i], want[i])
			}
		}
		// This package reads it as well.
		tab, err := table.Read(path, table.Options{}, table.Column{Name: "text"}, table.Column{Name: "ok"})
		if err != nil || !slices.Equal(tab.Values[0].Texts, texts[:count]) || !slices.Equal(tab.Values[1].Bools, oks[:count]) {
			t.Errorf("the texts or booleans differ: %v", err)
		}
	}
}

// The manifest of an output is found in the file.
func TestMetadata(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.parquet")
	o := output(false)
	if err := table.Write(path, o); err != nil {
		t.Fatal(err)
	}
	r, err := table.Open(path, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if text, ok := r.Metadata("bigfit"); !ok || text != o.Manifest {
		t.Errorf("%q, %v", text, ok)
	}
	if text, ok := r.Metadata("other"); ok {
		t.Errorf("the file has %q under a key that was not written", text)
	}
}

// A parquet file is read by an independent reader, where BIGFIT_HYPARQUET names a folder with
// testdata/hyparquet.mjs and its packages.
func TestOtherReader(t *testing.T) {
	dir := os.Getenv("BIGFIT_HYPARQUET")
	if dir == "" {
		t.Skip("BIGFIT_HYPARQUET is not set")
	}
	path := filepath.Join(t.TempDir(), "out.parquet")
	o := output(true)
	if err := table.Write(path, o); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "hyparquet.mjs", path)
	cmd.Dir = dir
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		ID, Label string
		Score     float64
		Vector    []float64
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3000 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, r := range rows {
		if r.ID != o.IDs[i] || r.Label != o.Columns[0].Values.([]string)[i] || r.Score != float64(i)/3 || len(r.Vector) != 3 || r.Vector[1] != -float64(i) {
			t.Fatalf("row %d is %+v", i, r)
		}
	}
}
