package shards

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder makes files, each with a line of text, in a new folder and goes there.
func folder(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, n := range names {
		write(t, n, "x\n")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	clip := []string{"emb/img_emb_0.npy", "emb/img_emb_2.npy", "emb/img_emb_10.npy", "emb/metadata_0.parquet", "emb/metadata_10.parquet", "emb/.hidden"}
	images := clip[:3]
	for name, c := range map[string]struct {
		files []string
		given []string
		paths []string
		note  string
	}{
		"a file":           {[]string{"X.npy"}, []string{"X.npy"}, []string{"X.npy"}, ""},
		"missing":          {nil, []string{"X.npy"}, []string{"X.npy"}, ""}, // the reader says so
		"key":              {[]string{"a.npz"}, []string{"a.npz:X"}, []string{"a.npz:X"}, ""},
		"folder":           {clip, []string{"emb"}, images, "emb: 2 tables beside the points left out"},
		"pattern":          {clip, []string{"emb/*.npy"}, images, ""},
		"pattern of all":   {clip, []string{"emb/*"}, images, "emb/*: 2 tables beside the points left out"},
		"csv beside":       {[]string{"emb/a_0.npy", "emb/a_1.npy", "emb/m_0.csv", "emb/m_1.csv", "emb/all.jsonl"}, []string{"emb"}, []string{"emb/a_0.npy", "emb/a_1.npy"}, "emb: 3 tables beside the points left out"},
		"pattern and key":  {[]string{"b2.npz", "b10.npz"}, []string{"b*.npz:emb"}, []string{"b2.npz:emb", "b10.npz:emb"}, ""},
		"by name":          {[]string{"b.npy", "a.npy"}, []string{"b.npy", "a.npy"}, []string{"b.npy", "a.npy"}, ""},
		"other names":      {[]string{"b.npy", "a.npy", "c.npy"}, []string{"*.npy"}, []string{"a.npy", "b.npy", "c.npy"}, ""},
		"name with stars":  {[]string{"a[1].npy"}, []string{"a[1].npy"}, []string{"a[1].npy"}, ""},
		"parquet":          {[]string{"f/p9.parquet", "f/p10.parquet"}, []string{"f"}, []string{"f/p9.parquet", "f/p10.parquet"}, ""},
		"compressed":       {[]string{"f/p9.csv.gz", "f/p10.csv.gz"}, []string{"f"}, []string{"f/p9.csv.gz", "f/p10.csv.gz"}, ""},
		"numbers of zeros": {[]string{"f/p_001.npy", "f/p_2.npy", "f/p_0010.npy"}, []string{"f"}, []string{"f/p_001.npy", "f/p_2.npy", "f/p_0010.npy"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, c.files...)
			f, err := Find(c.given)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(f.Paths, c.paths) || strings.Join(f.Notes, "; ") != c.note {
				t.Errorf("%q, notes %q; want %q, note %q", f.Paths, f.Notes, c.paths, c.note)
			}
		})
	}
}

func TestFindFaults(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		given []string
		parts []string
	}{
		"nothing matches": {nil, []string{"emb/*.npy"}, []string{"emb/*.npy: no file matches"}},
		"malformed":       {nil, []string{"emb/[.npy"}, []string{"the pattern is malformed"}},
		"empty folder":    {[]string{"emb/.x"}, []string{"emb"}, []string{"emb: the folder holds no files of points", ".npy"}},
		"foreign":         {[]string{"emb/a_0.npy", "emb/README.md", "emb/run.py"}, []string{"emb"}, []string{"emb: ", "README.md, run.py", `"emb/a_*.npy"`}},
		"folder in it":    {[]string{"emb/a_0.npy", "emb/old/a_0.npy"}, []string{"emb"}, []string{"old/"}},
		"tables alone":    {[]string{"emb/a_0.parquet", "emb/a_1.csv"}, []string{"emb"}, []string{"2 kinds", "a_*.parquet (1 file)"}},
		"two kinds":       {[]string{"emb/img_0.npy", "emb/img_1.npy", "emb/text_0.npy"}, []string{"emb"}, []string{"2 kinds", "img_*.npy (2 files), text_*.npy (1 file)", `"emb/img_*.npy"`}},
		"two in pattern":  {[]string{"img_0.npy", "img_1.npy", "text_0.npy"}, []string{"*.npy"}, []string{"2 kinds", "img_*.npy (2 files)"}},
		"X, y and table":  {[]string{"emb/X.npy", "emb/y.npy", "emb/m.csv"}, []string{"emb"}, []string{"2 kinds", "X.npy", "y.npy"}},
		"X and y":         {[]string{"emb/X.npy", "emb/y.npy"}, []string{"emb"}, []string{"2 kinds", "X.npy", "y.npy"}},
		"twice with key":  {[]string{"a.npz"}, []string{"a.npz:x", "a.npz"}, []string{"a.npz: the file is given twice", "labels is given once"}},
		"key and key":     {[]string{"a.npz"}, []string{"a.npz:x", "a.npz:x"}, []string{"a.npz:x: the file is given twice"}},
		"twice":           {[]string{"a_0.npy", "a_1.npy"}, []string{"a_*.npy", "./a_1.npy"}, []string{"./a_1.npy: the file is given twice"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder(t, c.files...)
			f, err := Find(c.given)
			if err == nil {
				t.Fatalf("no error but %q", f.Paths)
			}
			for _, p := range c.parts {
				if !strings.Contains(err.Error(), p) {
					t.Errorf("error %q does not mention %q", err, p)
				}
			}
		})
	}
}

func TestFindList(t *testing.T) {
	folder(t, "sub/a.npy", "sub/b.npy", "sub/c.npz", "5")
	absolute, err := filepath.Abs("sub/b.npy")
	if err != nil {
		t.Fatal(err)
	}
	write(t, "sub/list.txt", "# in this order\nc.npz:X\n\n  a.npy \r\n"+absolute+"\n")
	f, err := Find([]string{"sub/list.txt"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"sub/c.npz:X", "sub/a.npy", absolute}; !slices.Equal(f.Paths, want) {
		t.Errorf("%q, want %q", f.Paths, want)
	}
	if len(f.Notes) != 1 || !strings.Contains(f.Notes[0], "read as a list of 3 files") {
		t.Errorf("notes %q", f.Notes)
	}
	for text, want := range map[string]string{
		"1,2\n3,4\n":            "", // a table
		"5\n6\n":                "", // numbers, although a file is called 5
		"sub/none.npy\n":        "",
		"sub/a.npy\nno.npy\n":   `x.txt: line 2: "no.npy" is no file`,
		"sub/a.npy\n\nsub\n":    `x.txt: line 3: "sub" is a folder`,
		"":                      "",
		"\x00" + longLine(5000): "",
	} {
		write(t, "x.txt", text)
		f, err := Find([]string{"x.txt"})
		switch {
		case want == "" && (err != nil || !slices.Equal(f.Paths, []string{"x.txt"})):
			t.Errorf("%q: %v, %v; want the file itself", text, f, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{"none.npy\n": `x.list: line 1: "none.npy" is no file`, "# x\n": "names no file", longLine(5000): "too long"} {
		write(t, "x.list", text)
		if _, err := Find([]string{"x.list"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: error %v, want %s", text, err, want)
		}
	}
}

func longLine(n int) string { return strings.Repeat("a", n) }

func TestInNumericOrder(t *testing.T) {
	for _, c := range []struct {
		given, want []string
	}{
		{[]string{"a_0", "a_1", "a_10", "a_2"}, []string{"a_0", "a_1", "a_2", "a_10"}},
		{[]string{"a_2", "a_10", "a_0"}, nil}, // not in the order of a shell: meant so
		{[]string{"a_1", "a_10", "b_2"}, nil},
		{[]string{"a", "b"}, nil},
	} {
		got, changed := InNumericOrder(c.given)
		if changed != (c.want != nil) || changed && !slices.Equal(got, c.want) || !changed && !slices.Equal(got, c.given) {
			t.Errorf("%q: %q, %v", c.given, got, changed)
		}
	}
}

// A text of any kind is a list of files that are there, or no list, or an error that
// names it.
func FuzzReadList(f *testing.F) {
	f.Add("a.npy\n#\nb.npz:X\n")
	f.Add("1\n2\n")
	f.Add("\ufeffa.npy\nnone\n")
	dir := f.TempDir()
	for _, n := range []string{"a.npy", "b.npz", "1"} {
		if err := os.WriteFile(filepath.Join(dir, n), []byte("x"), 0o666); err != nil {
			f.Fatal(err)
		}
	}
	path := filepath.Join(dir, "list.txt")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		names, err := readList(path)
		if err != nil && !strings.HasPrefix(err.Error(), path) {
			t.Errorf("error %q does not begin with the path", err)
		}
		for _, n := range names {
			file, _ := SplitKey(n)
			if info, err := os.Stat(file); err != nil || info.IsDir() {
				t.Errorf("%q is no file", n)
			}
		}
	})
}
