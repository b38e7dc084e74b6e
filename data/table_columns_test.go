package data

import (
	"strings"
	"testing"
)

// Of a file with a header the columns of a model are read, in their order: others are left out and said, so is another
// order, a missing column is an error, and flags may name other columns for them.
func TestExpectedColumns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		table TableColumns
		want  string // of the error or the notes
		data  []float64
	}{
		"the same":                {"a,b\n1,2\n", TableColumns{}, "", []float64{1, 2}},
		"no header":               {"1,2\n", TableColumns{}, "", []float64{1, 2}},
		"more columns":            {"name,a,b,soil\nx,1,2,clay\n", TableColumns{}, "left out, as the model was fitted without: name, soil", []float64{1, 2}},
		"with ids":                {"name,a,b,soil\nx,1,2,clay\n", TableColumns{ID: "name"}, "left out, as the model was fitted without: soil", []float64{1, 2}},
		"dropped":                 {"name,a,b\nx,1,2\n", TableColumns{Drop: []string{"name"}}, "", []float64{1, 2}},
		"another order":           {"b,a\n2,1\n", TableColumns{}, "the columns b, a are taken in the order of those of the model, a, b", []float64{1, 2}},
		"another order, ID":       {"id,b,c,a\nx,2,3,1\n", TableColumns{ID: "id"}, "left out, as the model was fitted without: c", []float64{1, 2}},
		"missing":                 {"a,c\n1,2\n", TableColumns{}, `the model was fitted to a column "b", and the coordinates here are a, c`, nil},
		"dropped too":             {"a,b,c\n1,2,3\n", TableColumns{Drop: []string{"b"}}, `the model was fitted to a column "b"`, nil},
		"named":                   {"a,c,d\n1,2,3\n", TableColumns{Only: []string{"a", "c"}}, "the coordinates a, c stand for those of the model, a, b", []float64{1, 2}},
		"ids of the model":        {"name,a,b\nx,1,2\n", TableColumns{UsualID: true, ExpectedID: "name"}, `column "name" holds the ids of the points, as it does of those of the model`, []float64{1, 2}},
		"other ids":               {"serial,name,a,b\nx,3,1,2\n", TableColumns{ID: "serial", UsualID: true, ExpectedID: "name"}, "left out, as the model was fitted without: name", []float64{1, 2}},
		"no ids of the model":     {"a,b\n1,2\n", TableColumns{UsualID: true, ExpectedID: "name"}, "", []float64{1, 2}},
		"a coordinate":            {"a,b\n1,2\n", TableColumns{UsualID: true, ExpectedID: "a"}, "", []float64{1, 2}},
		"JSON Lines":              {"{\"b\":2,\"a\":1}\n", TableColumns{}, "the columns b, a are taken in the order", []float64{1, 2}},
		"named, in another order": {"c,b,a\n3,2,1\n", TableColumns{Only: []string{"a", "b"}}, "the columns b, a are taken in the order", []float64{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			table := c.table
			table.Expected = []string{"a", "b"}
			x, err := ReadPoints(write(t, "x.csv", c.text), ReadOptions{Columns: 2, Table: &table})
			if c.data == nil {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("the error is %v, want %q", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			notes := strings.Join(table.Notes, "\n")
			if got := x.(*Dense[float64]).Data; len(got) != 2 || got[0] != c.data[0] || got[1] != c.data[1] ||
				!strings.Contains(notes, c.want) || c.want == "" && notes != "" {
				t.Errorf("points %v, notes %q, want %q", got, notes, c.want)
			}
		})
	}
}

// The columns of files of one set are read in the order of the first file; other names are said.
func TestColumnsOfFiles(t *testing.T) {
	t.Parallel()
	for second, want := range map[string]string{"a,b\n3,4\n": "", "b,a\n4,3\n": "the columns b, a are taken in the order of those of ", "a,c\n3,4\n": "a, c for a, b"} {
		table := &TableColumns{}
		x, err := ReadFiles([]string{write(t, "1.csv", "a,b\n1,2\n"), write(t, "2.csv", second)}, ReadOptions{Table: table})
		if err != nil {
			t.Errorf("%q: %v", second, err)
			continue
		}
		row := make([]float64, 2)
		RowTo(row, x, 1)
		if said := strings.Join(table.Notes, "\n"); row[0] != 3 || row[1] != 4 || !strings.Contains(said, want) || want == "" && said != "" {
			t.Errorf("%q: %v, %q, want %q", second, row, said, want)
		}
	}

	twice := &TableColumns{}
	_, err := ReadFiles([]string{write(t, "1.csv", "a,a,b\n1,2,3\n"), write(t, "2.csv", "a,b,a\n1,3,2\n")}, ReadOptions{Table: twice})
	if err == nil || !strings.Contains(err.Error(), "two have one name") {
		t.Errorf("two columns of one name: %v", err)
	}
}

// A column with a usual name of ids names the points where it is asked for, unless something else says what the column is.
func TestUsualID(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		texts []string // of files
		table TableColumns
		ids   string
		want  string // of the error or the notes
	}{
		"numbers":             {[]string{"id,a,b\n5,1,2\n3,1,2\n"}, TableColumns{}, "5 3", `column "id" holds the ids`},
		"texts":               {[]string{"a,name,b\n1,x y,2\n"}, TableColumns{}, "x y", `column "name" holds the ids`},
		"the more usual":      {[]string{"name,ID,a,b\n7,u,1,2\n"}, TableColumns{Drop: []string{"name"}}, "u", `column "ID" holds the ids`},
		"an ending":           {[]string{"sample_id,a,b\ns1,1,2\n"}, TableColumns{}, "s1", `column "sample_id" holds the ids`},
		"JSON Lines":          {[]string{`{"uuid":"u","a":1,"b":2}`}, TableColumns{}, "u", `column "uuid" holds the ids`},
		"as pandas writes it": {[]string{"index,a,b\n0,1,2\n1,1,2\n"}, TableColumns{}, "0 1", `column "index" holds the ids`},
		"numbers of a name":   {[]string{"key,b\n1,2\n"}, TableColumns{}, "", ""},
		"numbers, an ending":  {[]string{"shop_id,b\n1,2\n"}, TableColumns{}, "", `column "shop_id" is read as a coordinate; if it names the points`},
		"the only column":     {[]string{"id\n1\n"}, TableColumns{}, "", ""},
		"two endings":         {[]string{"a_id,b_id\n1,2\n"}, TableColumns{}, "", ""},
		"no header":           {[]string{"1,2\n"}, TableColumns{}, "", ""},
		"a coordinate":        {[]string{"id,b\n1,2\n"}, TableColumns{Only: []string{"id", "b"}}, "", ""},
		"of the model":        {[]string{"id,b\n1,2\n"}, TableColumns{Expected: []string{"id", "b"}}, "", ""},
		"beside the named":    {[]string{"id,a,b,c\n9,1,2,3\n"}, TableColumns{Only: []string{"a", "b"}}, "9", `column "id" holds the ids`},
		"dropped":             {[]string{"id,a,b\n9,1,2\n"}, TableColumns{Drop: []string{"id"}}, "", ""},
		"another is named":    {[]string{"id,a,b,w\n1,1,2,v\n"}, TableColumns{ID: "w", Drop: []string{"id"}}, "v", ""},
		"two files":           {[]string{"id,a,b\n9,1,2\n", "a,id,b\n1,8,2\n"}, TableColumns{}, "9 8", `column "id" holds the ids`},
		"of the first alone":  {[]string{"id,a,b\n9,1,2\n", "a,b\n1,2\n"}, TableColumns{}, "", `there is no column "id", which holds the ids of the points of `},
		"of the second alone": {[]string{"a,b\n1,2\n", "id,a,b\n9,1,2\n"}, TableColumns{}, "", "3 columns"},
	} {
		t.Run(name, func(t *testing.T) {
			table := c.table
			table.UsualID = true
			var paths []string
			for _, text := range c.texts {
				paths = append(paths, write(t, "x.csv", text))
			}
			x, err := ReadFiles(paths, ReadOptions{Table: &table})
			if c.ids == "" && err != nil && c.want != "" && strings.Contains(err.Error(), c.want) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, d := x.Dims(); d != 2 && (d != 1 || name != "the only column") {
				t.Errorf("%d coordinates", d)
			}
			notes := strings.Join(table.Notes, "\n")
			if !strings.Contains(notes, c.want) || c.want == "" && notes != "" {
				t.Errorf("notes %q, want %q", notes, c.want)
			}
			ids, err := table.IDs()
			if err != nil {
				t.Fatal(err)
			}
			if got := ""; ids != nil || c.ids != "" {
				if ids != nil {
					got = strings.Join(ids.Values, " ")
				}
				if got != c.ids || table.FoundID() != (table.ID == "") {
					t.Errorf("ids %q, want %q", got, c.ids)
				}
			}
		})
	}
}
