package data

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// little is text as UTF-16 with a mark, the lower byte first, as Excel writes "Unicode text".
func little(text string) string {
	out := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

// The points (1.5, 2) and (3, −4) as programs write them, read right, with what is said about the file.
func TestPointsOfPrograms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, note string }{
		"pandas":                        {",a,b\n0,1.5,2.0\n1,3.0,-4.0\n", "the first column has no name and is left out as an index"},
		"pandas, no index":              {"a,b\n1.5,2.0\n3.0,-4.0\n", ""},
		"pandas, no names":              {"0,1\n1.5,2.0\n3.0,-4.0\n", "the first line, 0, 1, …, holds the names"},
		"pandas, index, no names":       {",0,1\n0,1.5,2.0\n1,3.0,-4.0\n", "left out as an index"},
		"pandas, QUOTE_ALL":             {"\"\",\"a\",\"b\"\n\"0\",\"1.5\",\"2.0\"\n\"1\",\"3.0\",\"-4.0\"\n", "left out as an index"},
		"pandas, sep=; decimal=,":       {";a;b\n0;1,5;2,0\n1;3,0;-4,0\n", "numbers have decimal commas"},
		"pandas, sep=tab":               {"\ta\tb\n0\t1.5\t2.0\n1\t3.0\t-4.0\n", "left out as an index"},
		"pandas, exponents":             {"a,b\n1.5e+00,2e0\n3E0,-4.0e-0\n", ""},
		"R, write.csv":                  {"\"\",\"a\",\"b\"\n\"1\",1.5,2\n\"2\",3,-4\n", "left out as an index"},
		"R, write.csv2":                 {"\"\";\"a\";\"b\"\n\"1\";1,5;2\n\"2\";3;-4\n", "numbers have decimal commas"},
		"R, write.table":                {"\"a\" \"b\"\n\"1\" 1.5 2\n\"2\" 3 -4\n", "the first field is the name of the row, as R writes it"},
		"R, write.table, sep=tab":       {"\"a\"\t\"b\"\n\"1\"\t1.5\t2\n\"2\"\t3\t-4\n", "the first field is the name of the row, as R writes it"},
		"R, write.table, no names":      {"1.5 2\n3 -4\n", ""},
		"Excel, CSV UTF-8":              {"\ufeffa,b\r\n1.5,2\r\n3,-4\r\n", ""},
		"Excel, decimal commas":         {"\ufeffa;b\r\n1,5;2\r\n3;-4\r\n", "numbers have decimal commas"},
		"Excel, decimal commas, no row": {"1,5;2\r\n3;-4\r\n", "numbers have decimal commas"},
		"Excel, sep=;":                  {"sep=;\r\na;b\r\n1.5;2\r\n3;-4\r\n", ""},
		"Excel, Unicode text":           {little("a\tb\r\n1.5\t2\r\n3\t-4\r\n"), "the text is UTF-16"},
		"numpy.savetxt":                 {"1.500000000000000000e+00 2.000000000000000000e+00\n3.000000000000000000e+00 -4.000000000000000000e+00\n", ""},
		"numpy.savetxt, header":         {"# a,b\n1.5,2\n3,-4\n", "line 1 begins with # and is skipped as a comment"},
		"comments":                      {"# made on Monday\n#\n1.5,2\n3,-4\n", "2 lines that begin with # are skipped as comments, the first is line 1"},
		"a name with #":                 {"#a,b\n1.5,2\n3,-4\n", ""},
		"quoted newline in a name":      {"\"a\nb\",c\n1.5,2\n3,-4\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.csv")
			if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			table := &TableColumns{}
			x, err := ReadPoints(path, ReadOptions{Table: table})
			if err != nil {
				t.Fatal(err)
			}
			got := x.(*Dense[float64])
			if got.Rows != 2 || !slices.Equal(got.Data, []float64{1.5, 2, 3, -4}) {
				t.Errorf("read as %d×%d, %v", got.Rows, got.Cols, got.Data)
			}
			notes := strings.Join(table.Notes, "\n")
			if !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("the notes are %q, want %q", notes, c.note)
			}
			if _, err := Inspect(path, ReadOptions{}); err != nil {
				t.Errorf("it cannot be described: %v", err)
			}
		})
	}
}

// What cannot be read right is refused, with the line, the value and what to do.
func TestPointsOfProgramsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"old Mac":             {"a,b\r1.5,2\r3,-4\r", "line 1: it ends with a carriage return alone"},
		"NA":                  {"a,b\n1.5,NA\n", `line 2: row 0, column 1 (b) is "NA", a missing value`},
		"pandas <NA>":         {"a,b\n1.5,<NA>\n", `(b) is "<NA>", a missing value`},
		"Excel #N/A":          {"a,b\n1.5,#N/A\n", `(b) is "#N/A", a missing value`},
		"empty":               {"a,b\n1.5,\n", "row 0, column 1 is empty"},
		"Inf":                 {"a,b\n1.5,2\n3,-Inf\n", "row 1, column 1 is -Inf"},
		"Go's underscores":    {"a,b\n1.5,1_0\n", `(b) is "1_0", not a number`},
		"hexadecimal":         {"a,b\n1.5,0x1p4\n", `(b) is "0x1p4", not a number`},
		"a row with # in it":  {"a,b\n1.5,2\n# 3,-4\n", `line 3: row 1, column 0 (a) is "# 3", not a number`},
		"a comment below":     {"a,b\n1.5,2\n# the end\n3,4\n", "line 3: row 1 has 1 columns, the first line has 2"},
		"a comment below, 2":  {"a,b\n1.5,2\n# the end\n3,4\n", "if the line is a comment, remove it"},
		"thousands":           {"a,b\n1.5,2\n\"1,000\",2\n", `line 3: row 1, column 0 (a) is "1,000", not a number`},
		"tab, decimal commas": {"a\tb\n1,5\t2\n", `(a) is "1,5", not a number`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.csv")
			if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			x, err := ReadPoints(path, ReadOptions{})
			if x != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v; want an error with %q", x, err, c.want)
			}
		})
	}
}

// Ids such as #tag are rows, above and below the first one.
func TestHashIDs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	table := &TableColumns{ID: "id", Label: "y"}
	x, err := ReadPoints(write("points.csv", "id,a,b,y\n#top,0,1,u\np1,1,2,v\n#tag,3,4,u\n"), ReadOptions{Table: table})
	if err != nil {
		t.Fatal(err)
	}
	ids, err := table.IDs()
	if n, _ := x.Dims(); err != nil || n != 3 || !slices.Equal(ids.Values, []string{"#top", "p1", "#tag"}) {
		t.Errorf("%d points with the ids %v, %v", n, ids, err)
	}
	ids, err = ReadIDs(write("ids.txt", "# the ids\n#top\np1\n#tag\n"), ReadOptions{})
	if err != nil || !slices.Equal(ids.Values, []string{"#top", "p1", "#tag"}) || len(ids.Notes) != 1 {
		t.Errorf("ids of lines: %v, %v", ids, err)
	}
	y, err := ReadLabels(write("y.txt", "# the labels\n#2\n3\n# 4\n"), LabelOptions{})
	if err != nil || y.Len() != 3 || !slices.Contains(y.Names, "#2") || !slices.Contains(y.Names, "# 4") || !strings.Contains(strings.Join(y.Read.Notes, " "), "line 1 begins with #") {
		t.Errorf("labels of lines: %v, %v", y, err)
	}
}

// A table whose columns are divided by blanks is no list of labels, as a name may have blanks.
func TestLabelsBetweenBlanks(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "y.txt")
	if err := os.WriteFile(path, []byte("\"label\"\n\"1\" \"cat\"\n\"2\" \"dog\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLabels(path, LabelOptions{}); err == nil || !strings.Contains(err.Error(), "line 2: it is") {
		t.Errorf("it is read, or refused with %v", err)
	}
}

// Labels of three points as programs write them.
func TestLabelsOfPrograms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text, want string // the labels, - for none
		note       string
	}{
		"pandas, series":           {",label\n0,cat\n1,dog\n2,\n", "cat dog -", "counts the rows from 0"},
		"pandas, some rows":        {",label\n2,cat\n0,dog\n", "dog - cat", "column \"unnamed 0\" has numbers of points"},
		"R, write.csv":             {"\"\",\"label\"\n\"1\",\"cat\"\n\"2\",\"dog\"\n\"3\",NA\n", "cat dog -", "counts the rows from 1"},
		"R, write.table, sep=tab":  {"\"label\"\t\"note\"\n\"1\"\t\"cat\"\t\"a b\"\n\"2\"\t\"dog\"\t\"\"\n\"3\"\t\"?\"\t\"c\"\n", "cat dog -", "counts the rows from 1"},
		"R, write.csv2, 3 columns": {"\"\";\"label\";\"note\"\n\"1\";\"cat\";\"a;b\"\n\"2\";\"dog\";\"\"\n\"3\";\"<NA>\";\"c\nd\"\n", "cat dog -", "counts the rows from 1"},
		"Excel":                    {"\ufeffid,label\r\n1,cat\r\n0,\"dog, big\"\r\n", "dog, big cat -", ""},
		"Excel, Unicode text":      {little("id\tlabel\r\n1\tcat\r\n0\tdög\r\n"), "dög cat -", "UTF-16"},
		"Excel, #N/A":              {"id,label\r\n1,cat\r\n0,#N/A\r\n", "- cat -", ""},
		"codes":                    {"label\n01\n2\n1\n", "01 2 1", "labels such as 01 (line 2) have a leading zero"},
		"two spellings":            {"label\n1\n2\n1.0\n", "1 2 1", "1 (line 2) and 1.0 (line 4) are one class"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "y.csv")
			if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			y, err := ReadLabels(path, LabelOptions{Points: 3})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range y.Len() {
				if y.Index[i] < 0 {
					got = append(got, "-")
				} else {
					got = append(got, y.Name(y.Index[i]))
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, want %q", strings.Join(got, " "), c.want)
			}
			if notes := strings.Join(append(y.Read.Notes, y.Read.Warnings...), "\n"); !strings.Contains(notes, c.note) {
				t.Errorf("it says %q, want %q", notes, c.note)
			}
		})
	}
}
