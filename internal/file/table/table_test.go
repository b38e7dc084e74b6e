package table

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/bigfit/bigfit/internal/file/npy"
)

// write puts content into a file of the test's folder.
func write(t testing.TB, name, content string) string {
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
	return write(t, "t.parquet", b.String())
}

// mustFail checks that reading a file whole is an error with all of the given texts.
func mustFail(t *testing.T, path string, opt Options, want []Column, texts ...string) {
	t.Helper()
	_, err := Read(path, opt, want...)
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

func TestCSV(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		columns string
		first   string
	}{
		"header":           {"id,label,x\na,cat,1.5\nb,,2\n", "id:text label:text x:number", "a cat 1.5"},
		"semicolons":       {"id;label\n1;2\n3;\n", "id:integer label:integer", "1 2"},
		"tabs":             {"id\tname\n1\tNew York\n", "id:integer name:text", "1 New York"},
		"blanks":           {"1 2.5 z\n2  3.5  z\n", "0:integer 1:number 2:text", "1 2.5 z"},
		"no header":        {"1,cat\n2,dog\n", "0:integer 1:text", "1 cat"},
		"quotes":           {"id,label\n1,\"a,b\"\"c\"\n2,\"two\nlines\"\n", "id:integer label:text", "1 a,b\"c"},
		"leading zeros":    {"id\n007\n12\n", "id:text", "007"},
		"too many digits":  {"id\n12345678901234567890\n", "id:text", "12345678901234567890"},
		"one column":       {"label\ncat\n\ndog\n", "label:text", "cat"},
		"pandas":           {",0,1\nr,2,3\n", "unnamed 0:text 0:integer 1:integer", "r 2 3"},
		"comment and mark": {"\xef\xbb\xbf# made by hand\n\nid,y\n1,2\n", "id:integer y:integer", "1 2"},
		"counts as data":   {"0,1\n2,3\n", "0:integer 1:integer", "0 1"},
		"integers, number": {"x\n1\n2.5\n", "x:number", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			tab, err := Read(write(t, "t.csv", c.text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var columns, first []string
			for i, col := range tab.Columns {
				columns = append(columns, col.Name+":"+col.Kind.String())
				v := tab.Values[i]
				switch col.Kind {
				case Int:
					first = append(first, fmt.Sprint(v.Ints[0]))
				case Float:
					first = append(first, fmt.Sprint(v.Floats[0]))
				case Text:
					first = append(first, v.Texts[0])
				}
			}
			if got := strings.Join(columns, " "); got != c.columns {
				t.Errorf("columns %q, want %q", got, c.columns)
			}
			if got := strings.Join(first, " "); got != c.first {
				t.Errorf("first row %q, want %q", got, c.first)
			}
		})
	}
}

func TestMissingAndPlaces(t *testing.T) {
	path := write(t, "t.csv", "id,label\na,1\n\n# none\nb,\nc,3\n")
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Choose(Column{Name: "label"}); err != nil {
		t.Fatal(err)
	}
	b, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	v := b.Values[0]
	if b.Rows != 3 || !slices.Equal(v.Ints, []int64{1, 0, 3}) || !v.Missing(1) || v.Missing(2) || v.Len() != 3 {
		t.Errorf("%d rows, %v, %v", b.Rows, v.Ints, v.Null)
	}
	if got := b.Place(1); got != path+": line 5: row 1" {
		t.Errorf("place %q", got)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
	if !r.Header() {
		t.Error("no header was reported")
	}
}

// The kinds of a whole file decide, not those of its first rows.
func TestKindsOfLateRows(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,x\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "%d,%d\n", i, i)
	}
	b.WriteString("last,0.5\n")
	path := write(t, "t.csv", b.String())
	tab, err := Read(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	id, x := tab.Column("id"), tab.Column("x")
	if tab.Rows != 3001 || id.Texts[0] != "0" || id.Texts[3000] != "last" || x.Floats[3000] != 0.5 {
		t.Errorf("%d rows, columns %v", tab.Rows, tab.Columns)
	}
	mustFail(t, path, Options{}, []Column{{Name: "id", Kind: Int}}, "line 3002", "row 3000", `"id"`, `"last"`)
	mustFail(t, path, Options{Limit: 10000}, nil, "limit is 10000")
	var late strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&late, "{\"id\": %d}\n", i)
	}
	late.WriteString(`{"id": 7, "label": "cat"}`)
	labels, err := Read(write(t, "t.jsonl", late.String()), Options{}, Column{Name: "label"})
	if err != nil {
		t.Fatal(err)
	}
	if v := labels.Values[0]; labels.Rows != 2001 || !v.Missing(0) || v.Texts[2000] != "cat" {
		t.Errorf("%d rows", labels.Rows)
	}
}

func TestTextFaults(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []Column
		texts      []string
	}{
		{"empty.csv", "", nil, []string{"empty"}},
		{"header.csv", "id,label\n", nil, []string{"no rows"}},
		{"ragged.csv", "id,label\n1,2\n1\n", nil, []string{"line 3", "1 fields", "has 2"}},
		{"quote.csv", "id,label\n1,\"a\"b\n", nil, []string{"line 2", "quote"}},
		{"column.csv", "id,label\n1,2\n", []Column{{Name: "y"}}, []string{`no column "y"`, `"id", "label"`}},
		{"twice.csv", "id,y,y\n1,2,3\n", []Column{{Name: "y"}}, []string{"columns 1 and 2", "rename"}},
		{"zeros.csv", "a\x00b", nil, []string{"format is not known"}},
		{"cut.csv.gz", "\x1f\x8b\x08\x00\x00", nil, []string{"gzip", "truncated or damaged"}},
		{"fake.parquet", "id,label\n1,2\n", nil, []string{"PAR1"}},
		{"broken.jsonl", "{\"a\":1}\n{\"a\":\n", nil, []string{"line 2", "not a JSON object"}},
		{"list.jsonl", "[1,2]\n", nil, []string{"line 1", "not a JSON object"}},
		{"double.jsonl", `{"a":1,"a":2}`, nil, []string{"line 1", `"a" is there twice`}},
		{"nested.jsonl", `{"a":{"b":1}}`, []Column{{Name: "a"}}, []string{`"a"`, "nested object"}},
		{"ragged.jsonl", "{\"a\":[1,2]}\n{\"a\":[1]}\n", []Column{{Name: "a"}}, []string{"line 2", "row 1", "list of 2 numbers"}},
		{"null.jsonl", "{\"a\":[1,null]}\n", []Column{{Name: "a"}}, []string{"line 1", "row 0"}},
	} {
		mustFail(t, write(t, c.name, c.text), Options{}, c.want, c.texts...)
	}
}

func TestJSONL(t *testing.T) {
	const text = `{"id": "a\u00e9", "v": [1, 2.5], "n": 3, "ok": true, "m": null}

{"n": 1e3, "id": "b", "v": null, "ok": false, "m": {"deep": [1]}}
`
	tab, err := Read(write(t, "t.jsonl", text), Options{}, Column{Name: "id"}, Column{Name: "v"}, Column{Name: "n"}, Column{Name: "ok"}, Column{Name: "n", Kind: Text})
	if err != nil {
		t.Fatal(err)
	}
	id, v, n, ok, raw := tab.Values[0], tab.Values[1], tab.Values[2], tab.Values[3], tab.Values[4]
	if id.Texts[0] != "aé" || v.Width != 2 || !slices.Equal(v.Float64s, []float64{1, 2.5, 0, 0}) || !v.Missing(1) ||
		n.Floats[1] != 1000 || !ok.Bools[0] || ok.Bools[1] || raw.Texts[1] != "1e3" || tab.Lines[1] != 3 {
		t.Errorf("%+v", tab)
	}
}

func TestCompressed(t *testing.T) {
	const text = "id,label\n1,cat\n2,dog\n"
	var gz bytes.Buffer
	g := gzip.NewWriter(&gz)
	g.Write([]byte(text))
	g.Close()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{write(t, "t.csv.gz", gz.String()), write(t, "t.csv.zst", string(z.EncodeAll([]byte(text), nil)))} {
		tab, err := Read(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(tab.Column("label").Texts, []string{"cat", "dog"}) {
			t.Errorf("%s: %v", path, tab.Values)
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
			tab, err := Read(writeRows(t, rows, opts...), Options{})
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
	r, err := Open(writeRows(t, people(250)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, ok := r.Rows(); !ok || n != 250 || r.Format() != Parquet {
		t.Errorf("%d rows, %v, %s", n, ok, r.Format())
	}
	for _, c := range r.Columns() {
		want := map[string]Column{"id": {Kind: Int, Bits: 64}, "label": {Kind: Text, Bits: 64}, "vector": {Kind: FloatList, Width: 16, Bits: 32}, "plain": {Kind: FloatList, Width: 2, Bits: 64}}[c.Name]
		if want.Kind != Any && (c.Kind != want.Kind || c.Width != want.Width || c.Bits != want.Bits) {
			t.Errorf("%+v, want %+v", c, want)
		}
	}
	if err := r.Choose(Column{Name: "id", Kind: Text}, Column{Name: "small", Kind: Float}); err != nil {
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
	mustFail(t, writeRows(t, lists), Options{}, nil, "row 217", `"v"`, "list of 2 numbers", "first row 3")
	lists[217].V = []float32{1, 2, 3, 4}
	mustFail(t, writeRows(t, lists), Options{}, nil, "row 217", "more than the 3")
	lists[217].V = nil
	mustFail(t, writeRows(t, lists), Options{}, nil, "row 217", "list of 0 numbers")
	type holes struct {
		V []*float32 `parquet:"v,list"`
	}
	one := float32(1)
	mustFail(t, writeRows(t, []holes{{[]*float32{&one, &one}}, {[]*float32{&one, nil}}}), Options{}, nil, "row 1", "element 1")
	type nested struct {
		A struct {
			B, C int64
		} `parquet:"a"`
		Deep []struct{ X []float64 } `parquet:"deep"`
		Good int64                   `parquet:"good"`
	}
	path := writeRows(t, []nested{{Good: 5, Deep: []struct{ X []float64 }{{[]float64{1}}}}})
	mustFail(t, path, Options{}, []Column{{Name: "a"}}, `"a"`, "group of columns")
	mustFail(t, path, Options{}, []Column{{Name: "deep"}}, `"deep"`, "nested list")
	if tab, err := Read(path, Options{}, Column{Name: "good"}); err != nil || tab.Values[0].Ints[0] != 5 {
		t.Errorf("a column beside nested ones: %v", err)
	}
	type big struct {
		U uint64 `parquet:"u"`
	}
	mustFail(t, writeRows(t, []big{{math.MaxUint64}}), Options{}, nil, "row 0", "18446744073709551615", "as text")
	type raw struct {
		B []byte `parquet:"b"`
	}
	mustFail(t, writeRows(t, []raw{{[]byte("\xff\xfe")}}), Options{}, nil, "row 0", "UTF-8")
	good, err := os.ReadFile(writeRows(t, people(300)))
	if err != nil {
		t.Fatal(err)
	}
	mustFail(t, write(t, "cut.parquet", string(good[:len(good)/2])), Options{}, nil, "truncated")
	mustFail(t, write(t, "tiny.parquet", "PAR1"), Options{}, nil, "too few")
	var limit *npy.LimitError
	if _, err := Read(write(t, "big.parquet", string(good)), Options{Limit: 5000}); !errors.As(err, &limit) {
		t.Errorf("with a limit of 5000 bytes: %v", err)
	}
}

// A file by an independent writer: testdata/hyparquet.mjs makes it.
func TestOtherWriter(t *testing.T) {
	tab, err := Read(filepath.Join("testdata", "hyparquet.parquet"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tab.Rows != 300 || len(tab.Columns) != 7 {
		t.Fatalf("%d rows, %d columns", tab.Rows, len(tab.Columns))
	}
	for i := range tab.Rows {
		x := float64(i)
		label, want := tab.Column("label"), []string{"cat", "dog", "häuser"}[i%3]
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
