package data

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/param"
)

// write makes a file in a new folder and returns its path.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// named writes labels as text, "." for none.
func named(l *Labels) string {
	var out []string
	for _, c := range l.Index {
		if c == Unlabeled {
			out = append(out, ".")
			continue
		}
		out = append(out, l.Name(c))
	}
	return strings.Join(out, " ")
}

// labelCase is a file of labels and what is read of it.
type labelCase struct {
	name, content string
	opt           LabelOptions
	want          string // labels as named writes them
	integers      bool
	says          []string // parts of notes and warnings
	marks         string
}

var fourIDs, _ = NewIDs("ids", []string{"a", "b", "c", "d"})

var labelCases = []labelCase{
	{name: "y.txt", content: "cat\ndog\n\ncat\n", want: "cat dog . cat", marks: "empty"},
	{name: "y.txt", content: "species\ncat\ncat\ndog\n", want: "cat cat dog", says: []string{`"species" is the header`}},
	{name: "y.txt", content: "breed\ncat\ncat\ndog\n", opt: LabelOptions{Points: 3}, want: "cat cat dog", says: []string{"header"}},
	{name: "y.txt", content: "breed\ncat\ncat\ndog\n", opt: LabelOptions{Points: 4}, want: "breed cat cat dog"},
	{name: "y.txt", content: "breed\ncat\ncat\ndog\n", want: "breed cat cat dog", says: []string{`line 1 is "breed"`, "not as a header"}},
	{name: "y.txt", content: "k\n7\n8\n-1\n", want: "7 8 .", integers: true, marks: "-1"},
	{name: "y.txt", content: "a\nNULL\nnan\n?\n\nb\na\n", want: "a . . . . b a", marks: "NULL nan ? empty"},
	{name: "y.txt", content: "a\nnone\nb\na\n", want: "a . b a", says: []string{`"none" marks points`}, marks: "none"},
	{name: "y.txt", content: "a\nnone\nb\na\n", opt: LabelOptions{NoUnlabeled: true}, want: "a none b a"},
	{name: "y.txt", content: "a\nunknown\na\n0\n", opt: LabelOptions{Unlabeled: []string{"unknown", "0"}}, want: "a . a .", marks: "unknown 0"},
	{name: "y.txt", content: "1\n2\n0\n-1\n", opt: LabelOptions{Unlabeled: []string{"-1", "0"}}, want: "1 2 . .", integers: true, marks: "0 -1"},
	{name: "y.txt", content: "1\n2\nx\n", want: "1 2 x", says: []string{"integers, such as 1 (line 1)", `"x" (line 3)`}},
	{name: "y.txt", content: "Cat\ndog\ncat\n", want: "Cat dog cat", says: []string{`"Cat" (line 1) and "cat" (line 3) differ in capitals`}},
	{name: "y.txt", content: "great white\n\"a, b\"\ngreat white\n", want: "great white a, b great white"},
	{name: "y.csv", content: "id,label\nc,x\na,y\n", opt: LabelOptions{IDs: fourIDs}, want: "y . x .", marks: "not listed"},
	{name: "y.csv", content: "path;species\nc;x\na;\nc;x\n", opt: LabelOptions{IDs: fourIDs}, want: ". . x .", says: []string{"1 rows say again"}, marks: "not listed empty"},
	{name: "y.csv", content: "c,x\nzz,x\na,y\n", opt: LabelOptions{IDs: fourIDs}, want: "y . x .", says: []string{"1 of 3 ids", `"zz"`, "not as a header"}, marks: "not listed"},
	{name: "y.csv", content: "bottle,quality\nc,x\na,y\n", opt: LabelOptions{IDs: fourIDs}, want: "y . x .", marks: "not listed"},
	{name: "y.csv", content: "quality,bottle\nx,c\ny,a\n", opt: LabelOptions{IDs: fourIDs}, want: "y . x .", marks: "not listed"},
	{name: "y.csv", content: "bottle,twin\nc,d\na,d\n", opt: LabelOptions{IDs: fourIDs}, want: "d . d .", says: []string{"not as a header"}, marks: "not listed"},
	{name: "y.csv", content: "id,label\n3,7\n0,8\n", opt: LabelOptions{Points: 4}, want: "8 . . 7", integers: true, says: []string{"numbers of points"}, marks: "not listed"},
	{name: "y.csv", content: "3,7\n0,8\n", opt: LabelOptions{Points: 4}, want: "8 . . 7", integers: true, says: []string{"numbers of points"}, marks: "not listed"},
	{name: "y.csv", content: "id,size,label\nq,1,7\nr,2,8\n", opt: LabelOptions{Points: 2, Key: "label"}, want: "7 8", integers: true, says: []string{"row i is of point i"}},
	{name: "y.csv", content: "a,b,c\na,1,x\nd,2,y\n", opt: LabelOptions{IDs: fourIDs, Key: "a,c"}, want: "x . . y", marks: "not listed"},
	{name: "y.csv", content: "label,size\nx,1\ny,2\n", opt: LabelOptions{Key: "label"}, want: "x y"},
	{name: "y.jsonl", content: `{"id":"b","label":"x"}` + "\n" + `{"label":null,"id":"a"}` + "\n" + `{"id":"d"}` + "\n", opt: LabelOptions{IDs: fourIDs}, want: ". x . .", marks: "not listed empty"},
	{name: "y.jsonl", content: `{"label":3}` + "\n" + `{"label":5}` + "\n", want: "3 5", integers: true},
}

// Labels of text and tables are those that are there, and what could be meant otherwise is said.
func TestReadNames(t *testing.T) {
	for _, c := range labelCases {
		l, err := ReadLabels(write(t, c.name, c.content), c.opt)
		if err != nil {
			t.Errorf("%q: %v", c.content, err)
			continue
		}
		if got := named(l); got != c.want || (l.Names == nil) != c.integers {
			t.Errorf("%q: %s, want %s (names %q)", c.content, got, c.want, l.Names)
		}
		said := strings.Join(slices.Concat(l.Read.Notes, l.Read.Warnings), "\n")
		for _, part := range c.says {
			if !strings.Contains(said, part) {
				t.Errorf("%q: %q was said, without %q", c.content, said, part)
			}
		}
		if len(c.says) == 0 && len(l.Read.Warnings) > 0 {
			t.Errorf("%q: warnings %q", c.content, l.Read.Warnings)
		}
		if got := strings.Join(l.Read.Marks, " "); got != c.marks {
			t.Errorf("%q: marks %q, want %q", c.content, got, c.marks)
		}
	}
}

func TestReadNamesErrors(t *testing.T) {
	for _, c := range []struct {
		name, content string
		opt           LabelOptions
		parts         []string
	}{
		{"y.txt", "cat\nd\xffg\ncat\n", LabelOptions{}, []string{"line 2", `"d\xffg"`, "UTF-8"}},
		{"y.csv", "id,label\na,x\na,y\n", LabelOptions{IDs: fourIDs}, []string{"line 2", `"a" is "x"`, "line 3", `"y"`}},
		{"y.csv", "id,label\nq,x\nr,y\n", LabelOptions{IDs: fourIDs}, []string{"none of the 2 ids", `"q", "r"`, `"a"`}},
		{"y.csv", "id,label\nq,x\n", LabelOptions{Points: 4}, []string{`"q"`, "line 2", "ids"}},
		{"y.csv", "id,label\n4,x\n", LabelOptions{Points: 4}, []string{"the id 4", "0 to 3"}},
		{"y.csv", "id,label\n1,x\n", LabelOptions{}, []string{"not known how many"}},
		{"y.csv", "id,label\n,x\n", LabelOptions{IDs: fourIDs}, []string{"line 2", "id is missing"}},
		{"y.csv", "id,class,label\na,x,y\n", LabelOptions{IDs: fourIDs}, []string{"which column", "class, label"}},
		{"y.csv", "id,u,v\na,x,y\n", LabelOptions{IDs: fourIDs}, []string{"which column", "id, u, v"}},
		{"y.csv", "id,label\na,x\n", LabelOptions{IDs: fourIDs, Key: "id,kind"}, []string{`no column "kind"`}},
		{"y.csv", "id,label\na,x\n", LabelOptions{IDs: fourIDs, Key: "a,b,c"}, []string{"3 columns"}},
		{"y.csv", "id,label\na,x\n", LabelOptions{IDs: fourIDs, Points: 5}, []string{"4 ids for 5 points"}},
		{"y.csv", "1,2,3\n4,5,6\n", LabelOptions{Points: 9}, []string{"3 columns and no header"}},
		{"y.jsonl", `{"id":"a","label":{"x":1}}` + "\n", LabelOptions{IDs: fourIDs}, []string{`"label"`, "nested"}},
		{"y.txt", "\n\nlabel\n1\n", LabelOptions{}, []string{"line 3", "empty lines"}},
		{"y.txt", "a\nb,c\n", LabelOptions{}, []string{"line 2", "one label a line"}},
		{"y.npy", "", LabelOptions{}, []string{"empty"}},
	} {
		path := write(t, c.name, c.content)
		_, err := ReadLabels(path, c.opt)
		if err == nil {
			t.Errorf("%q: no error", c.content)
			continue
		}
		wantError(t, err, c.parts...)
	}
}

// In floats NaN is the mark; only where there is none is it −1, and both are said.
func TestFloatMarks(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		opt    LabelOptions
		want   string
		warns  string
	}{
		{[]float64{-1, 0, 1, nan}, LabelOptions{}, "-1 0 1 .", "-1 (first in row 0) is a class"},
		{[]float64{-1, 0, 1, nan}, LabelOptions{Unlabeled: []string{"-1"}}, ". 0 1 .", ""},
		{[]float64{-1, 0, 1}, LabelOptions{}, ". 0 1", "of which none is NaN"},
		{[]float64{-1, 0, 1}, LabelOptions{NoUnlabeled: true}, "-1 0 1", ""},
		{[]float64{0, 1, nan}, LabelOptions{}, "0 1 .", ""},
	} {
		path := filepath.Join(t.TempDir(), "y.npy")
		if err := npy.WriteFile(path, nil, c.values); err != nil {
			t.Fatal(err)
		}
		l, err := ReadLabels(path, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(l.Read.Warnings, "\n")
		if named(l) != c.want || !strings.Contains(said, c.warns) || (c.warns == "") != (said == "") {
			t.Errorf("%v %+v: %s, want %s; said %q", c.values, c.opt, named(l), c.want, said)
		}
	}
}

func TestLabelWarnings(t *testing.T) {
	mostly := slices.Repeat([]int64{0}, 90)
	ten := make([]int64, 10)
	for i := range ten {
		ten[i] = int64(i + 1)
	}
	for _, c := range []struct {
		values []int64
		opt    LabelOptions
		drawn  bool
		want   string
	}{
		{[]int64{-1, 0, 1, 1}, LabelOptions{}, false, "−1, 0 and 1 occur together: −1 marks"},
		{[]int64{-1, 0, 1, 1}, LabelOptions{Unlabeled: []string{"0"}}, false, ""},
		{slices.Concat(mostly, ten), LabelOptions{}, false, "class 0 has 90 of 100 points"},
		{slices.Concat(mostly, ten), LabelOptions{NoUnlabeled: true}, true, ""},
		{[]int64{1, 2, 1, 2}, LabelOptions{}, false, "every point has a label"},
		{[]int64{1, 2, 1, 2}, LabelOptions{}, true, ""},
		{[]int64{1, 2, 1, -1}, LabelOptions{}, false, ""},
		{append(ten, -1), LabelOptions{}, false, "class of its own"},
	} {
		path := filepath.Join(t.TempDir(), "y.npy")
		if err := npy.WriteFile(path, nil, c.values); err != nil {
			t.Fatal(err)
		}
		l, err := ReadLabels(path, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(l.Warnings(c.drawn), "\n")
		if !strings.Contains(said, c.want) || (c.want == "") != (said == "") {
			t.Errorf("%v: %q, want %q", c.values, said, c.want)
		}
	}
}

func TestLabelSummary(t *testing.T) {
	l, err := ReadLabels(write(t, "y.txt", "1\n1\n2\n-1\n-1\n"), LabelOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := l.Summary().String(), "3 of 5 points, 2 classes, 1 to 2 a class; unlabeled: −1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s := l.Summary()
	used := l.Keep([]int{0}).Summary()
	s.Used = &used
	if got, want := s.String(), "3 of 5 points, 2 classes, 1 to 2 a class; unlabeled: −1; used: 1, 1 class, 1 a class"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Classes of other labels are found by their names.
func TestRecode(t *testing.T) {
	l := NewNamedLabels([]string{"dog", "cat", "owl"}, []int32{0, 1, -1, 1})
	if !slices.Equal(l.Names, []string{"cat", "dog"}) || named(l) != "dog cat . cat" {
		t.Fatalf("%q: %s", l.Names, named(l))
	}
	r := l.Recode([]int64{0, 1}, []string{"ant", "cat"})
	if !slices.Equal(r.Names, []string{"ant", "cat", "dog"}) || !slices.Equal(r.Index, []int32{2, 1, -1, 1}) || !slices.Equal(r.Classes, []int64{0, 1, 2}) {
		t.Errorf("%+v", r)
	}
	n := NewLabels([]int64{5, 7, 5}, nil).Recode([]int64{7, 9}, nil)
	if !slices.Equal(n.Classes, []int64{7, 9, 5}) || !slices.Equal(n.Index, []int32{2, 0, 2}) || n.Names != nil {
		t.Errorf("%+v", n)
	}
	a, b := Align(l, NewLabels([]int64{3, 4}, nil))
	if !slices.Equal(a.Names, []string{"3", "4", "cat", "dog"}) || !slices.Equal(a.Names, b.Names) || named(a) != named(l) || named(b) != "3 4" {
		t.Errorf("%+v %+v", a, b)
	}
}

func TestReadIDs(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(npy.WriteFile(at("ids.npy"), nil, []string{"a", "b", "c"}))
	must(npy.WriteFile(at("n.npy"), nil, []int64{4, 5, 6}))
	must(os.WriteFile(at("ids.txt"), []byte("# none\na\nb\nc\n"), 0o666))
	must(os.WriteFile(at("t.csv"), []byte("x,path\n1,a\n2,b\n"), 0o666))
	for i, content := range []string{"k\na\nb\n", "k\nc\n", "k\nd\n"} {
		must(os.WriteFile(at(fmt.Sprintf("s_%d.csv", 9+i)), []byte(content), 0o666))
	}
	for path, want := range map[string]string{"ids.npy": "a b c", "n.npy": "4 5 6", "ids.txt": "a b c", "t.csv": "a b", "t.csv:x": "1 2", "s_*.csv:k": "a b c d"} {
		ids, err := ReadIDs(at(path), ReadOptions{})
		if err != nil || strings.Join(ids.Values, " ") != want {
			t.Errorf("%s: %+v, want %s (%v)", path, ids, want, err)
		}
	}
	must(os.WriteFile(at("twice.txt"), []byte("a\nb\na\n"), 0o666))
	must(os.WriteFile(at("two.csv"), []byte("u,v\n1,2\n"), 0o666))
	for path, part := range map[string]string{"twice.txt": "rows 0 and 2", "two.csv": "which column", "none_*.csv": "no file", "ids.npy:k": "not read"} {
		if _, err := ReadIDs(at(path), ReadOptions{}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", path, err, part)
		}
	}
	if _, err := ReadIDs(at("ids.txt"), ReadOptions{Limit: 100}); err == nil {
		t.Error("a limit of 100 bytes was kept by no one")
	}
}

func TestPointColumns(t *testing.T) {
	path := write(t, "x.csv", "img,u,kind,v,note\na,1,cat,2,hi\nb,3,,4,ho\n")
	table := &TableColumns{ID: "img", Label: "kind", Drop: []string{"note"}}
	x, err := ReadPoints(path, ReadOptions{Table: table})
	if err != nil {
		t.Fatal(err)
	}
	if want := (&Dense[float64]{2, 2, []float64{1, 2, 3, 4}}); !reflect.DeepEqual(x, want) {
		t.Errorf("%+v, want %+v", x, want)
	}
	ids, err := table.IDs()
	if err != nil || !slices.Equal(ids.Values, []string{"a", "b"}) {
		t.Errorf("%+v (%v)", ids, err)
	}
	y, err := table.Labels(LabelOptions{})
	if err != nil || named(y) != "cat ." {
		t.Errorf("%+v (%v)", y, err)
	}
	if !slices.Equal(table.Names(), []string{"u", "v"}) {
		t.Errorf("names %q", table.Names())
	}
	// The same from JSON Lines, and by numbers of columns without a header.
	lines := write(t, "x.jsonl", `{"img":"a","u":1,"kind":"cat","v":2,"note":"hi"}`+"\n"+`{"img":"b","u":3,"v":4,"note":"ho"}`+"\n")
	bare := write(t, "x.csv", "a,1,cat,2,hi\nb,3,,4,ho\n")
	for path, table := range map[string]*TableColumns{
		lines: {ID: "img", Label: "kind", Drop: []string{"note"}},
		bare:  {ID: "0", Label: "2", Drop: []string{"4"}},
		path:  {Only: []string{"u", "v"}},
	} {
		again, err := ReadPoints(path, ReadOptions{Table: table})
		if err != nil || !reflect.DeepEqual(again, x) {
			t.Errorf("%s: %+v (%v)", path, again, err)
		}
	}
	if again, err := ReadPoints(path+":u,v", ReadOptions{}); err != nil || !reflect.DeepEqual(again, x) {
		t.Errorf("by key: %+v (%v)", again, err)
	}
	for _, c := range []struct {
		table *TableColumns
		part  string
	}{
		{&TableColumns{ID: "img", Label: "kind"}, `column 4 (note) is "hi"`},
		{&TableColumns{ID: "nope"}, `no column "nope"`},
		{&TableColumns{ID: "img", Drop: []string{"img"}}, "named twice"},
		{&TableColumns{Drop: []string{"img", "u", "kind", "v", "note"}}, "no column is left"},
	} {
		for _, path := range []string{path, lines} {
			if _, err := ReadPoints(path, ReadOptions{Table: c.table}); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), `column "note" is text, not numbers`, `column 4 (note) is "hi"`), c.part) {
				t.Errorf("%+v: %v, want %q", c.table, err, c.part)
			}
		}
	}
}

func TestSuspects(t *testing.T) {
	text := "u,leak,target\n"
	y := []int64{}
	for i := range 20 {
		c := int64(i % 2)
		text += fmt.Sprintf("%d,%d,%d\n", i, 7-3*c, i/3)
		y = append(y, c)
	}
	table := &TableColumns{}
	x, err := ReadPoints(write(t, "x.csv", text), ReadOptions{Table: table})
	if err != nil {
		t.Fatal(err)
	}
	labels := NewLabels(y, nil)
	said := table.Suspects(x, labels)
	if len(said) != 2 || !strings.Contains(said[0], `"leak"`) || !strings.Contains(said[1], `"target"`) {
		t.Errorf("%q", said)
	}
	// Of few labels every column would be one.
	if said := table.Suspects(x, labels.Keep([]int{0, 1, 2, 3})); len(said) != 1 {
		t.Errorf("of four labels: %q", said)
	}
	if said := table.Suspects(x, nil); len(said) != 1 || !strings.Contains(param.Plain(said[0]), "label target") {
		t.Errorf("without labels: %q", said)
	}
}

// Of a table with more columns the ids are in the one whose first row has the id of a point, where no column has a usual
// name: for labels that are named alone, and beside the columns of probabilities.
func TestIDsBelow(t *testing.T) {
	path := write(t, "l.csv", "Station,Klasse,Kommentar\nc,hoch,x\na,tief,y\n")
	y, err := ReadLabels(path+":Klasse", LabelOptions{IDs: fourIDs})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(y.Index, y.Names); !strings.Contains(strings.Join(y.Read.Notes, ";"), `ids are in column "Station"`) || got != "[1 -1 0 -1] [hoch tief]" {
		t.Errorf("%s, %q", got, y.Read.Notes)
	}
	// Of two columns without a usual name, whatever the format.
	y, err = ReadLabels(write(t, "l.jsonl", `{"stelle":"c","klasse":"hoch"}`+"\n"+`{"stelle":"a","klasse":"tief"}`+"\n"), LabelOptions{IDs: fourIDs})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(y.Index, y.Names); !strings.Contains(strings.Join(y.Read.Notes, ";"), `ids are in column "stelle"`) || got != "[1 -1 0 -1] [hoch tief]" {
		t.Errorf("%s, %q", got, y.Read.Notes)
	}
	s, err := ReadShares(write(t, "p.csv", "Station;tief;hoch\nc;0,25;0,75\na;1;0\n"), ShareOptions{LabelOptions: LabelOptions{IDs: fourIDs, Points: 4}})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(s.P.RawMatrix().Data); got != "[0 1 NaN NaN 0.75 0.25 NaN NaN]" {
		t.Errorf("%s", got)
	}
}

func TestTableValues(t *testing.T) {
	path := write(t, "v.csv", "id,price\nc,1.5\na,-2\n")
	y, err := ReadValues(path+":id,price", ReadOptions{IDs: fourIDs})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(y.RawMatrix().Data); got != "[-2 NaN 1.5 NaN]" {
		t.Errorf("%s", got)
	}
	_, err = ReadValues(write(t, "v.csv", "id,price\nc,much\n")+":id,price", ReadOptions{IDs: fourIDs})
	wantError(t, err, "row 0", `"much"`)
}

// fuzzLabels reads tables of any content, as labels, ids, values and points.
func FuzzReadLabelTable(f *testing.F) {
	for _, c := range labelCases {
		f.Add(strings.HasSuffix(c.name, "l"), []byte(c.content))
	}
	f.Add(false, []byte("img,u,kind\na,1,cat\nb,2,\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, lines bool, content []byte) {
		path := filepath.Join(dir, "y.csv")
		if lines {
			path = filepath.Join(dir, "y.jsonl")
		}
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		const limit = 16 << 20
		named := func(err error) {
			if err != nil && !strings.HasPrefix(err.Error(), dir) {
				t.Errorf("error %q does not begin with the path", err)
			}
		}
		for _, opt := range []LabelOptions{{Limit: limit, IDs: fourIDs}, {Limit: limit, Points: 9}, {Limit: limit, Points: 3, Key: "1"}} {
			l, err := ReadLabels(path, opt)
			if named(err); err != nil {
				continue
			}
			if l.Names != nil && (!slices.IsSorted(l.Names) || len(l.Names) != len(l.Classes)) {
				t.Fatalf("labels %+v", l)
			}
			for _, c := range l.Index {
				if c < -1 || int(c) >= len(l.Classes) {
					t.Fatalf("labels %+v", l)
				}
			}
			l.Warnings(false)
		}
		_, err := ReadIDs(path, ReadOptions{Limit: limit})
		named(err)
		_, err = ReadValues(path, ReadOptions{Limit: limit, Points: 9})
		named(err)
		table := &TableColumns{ID: "0", Label: "kind", Drop: []string{"note"}}
		x, err := ReadPoints(path, ReadOptions{Limit: limit, Table: table})
		if named(err); err == nil {
			if n, _ := x.Dims(); n != len(table.ids) {
				t.Fatalf("%d points, %d ids", n, len(table.ids))
			}
		}
	})
}
