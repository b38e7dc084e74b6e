package table

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
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
	path := write(t, "t.csv", "# none\nid,label\na,1\n\nb,\nc,3\n")
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
	id := tab.Column("id")
	x := tab.Column("x")
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
		{"ragged.csv", "id,label\n1,2\n1\n", nil, []string{"line 3", "row 1", "1 columns", "has 2"}},
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
	id := tab.Values[0]
	v := tab.Values[1]
	n := tab.Values[2]
	ok := tab.Values[3]
	raw := tab.Values[4]
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
