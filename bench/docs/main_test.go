package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/bench/runs"
)

const root = "../.."

// TestPages checks that the tables in the pages equal the committed runs, and that each run has a table.
func TestPages(t *testing.T) {
	list, err := pages(root)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, path := range list {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text, names, err := filled(page, filepath.Join(root, "docs", "results"))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if !bytes.Equal(text, page) {
			t.Errorf("%s has another table than docs/results; run make docs", path)
		}
		shown = append(shown, names...)
	}
	runs, err := filepath.Glob(filepath.Join(root, "docs", "results", "*.json"))
	if err != nil || len(runs) == 0 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, path := range runs {
		if name := strings.TrimSuffix(filepath.Base(path), ".json"); !slices.Contains(shown, name) {
			t.Errorf("no page shows %s", path)
		}
	}
}

func TestTables(t *testing.T) {
	got, err := tablesOf("words\n\n| a | b |\n|---|:--|\n| 1 | x y |\n|  | 2 |\n\n| other |\n|---|\n| 3 |\n")
	if err != nil || len(got) != 2 || !slices.Equal(got[0].Header, []string{"a", "b"}) || len(got[0].Rows) != 2 {
		t.Fatalf("%q, %v", got, err)
	}
	if got[0].Rows[0][1] != "x y" || got[0].Rows[1][0] != "" || got[1].Rows[0][0] != "3" {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"", "no table", "| a | b |\n|---|---|\n| 1 |\n", "| a |\n|---|\n"} {
		if _, err := tablesOf(text); err == nil {
			t.Errorf("%q has a table", text)
		}
	}
}

func TestChoices(t *testing.T) {
	r := &runs.Run{Tables: []runs.Table{{Header: []string{"a"}, Rows: [][]string{{"1"}, {"2"}}}, {Header: []string{"b"}, Rows: [][]string{{"3"}}}}}
	for _, c := range []struct{ how, has, hasNot string }{
		{"", "| 2 |", "| 3 |"},
		{" rows=1", "| 1 |", "| 2 |"},
		{" table=2", "| 3 |", "| 1 |"},
		{" kept table=2 caption=`x` with a kept word", "`x` with a kept word:\n\n| b |", "| 1 |"},
		{" table=3", "", ""},
		{" rows=3", "", ""},
		{" rows=0", "", ""},
		{" columns=1", "", ""},
	} {
		choice, err := parseChoice(c.how)
		text := ""
		if err == nil {
			text, err = markdown(r, choice)
		}
		if (err != nil) != (c.has == "") {
			t.Errorf("%q: %v", c.how, err)
		}
		if c.has != "" && (!strings.Contains(text, c.has) || strings.Contains(text, c.hasNot)) {
			t.Errorf("%q:\n%s", c.how, text)
		}
	}
}

// checkout is a folder with one page.
func checkout(t *testing.T, page string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"README.md": "", "python/README.md": "", "docs/results/.keep": "", "docs/page.md": page} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// A page takes the runs that a folder has; a table that was kept stays until there is its run.
func TestFrom(t *testing.T) {
	const before = "| old |\n|---|\n| 0 |\n"
	root := checkout(t, "a\n<!-- results one table=2 rows=1 kept -->\n"+before+"<!-- end of results -->\nb\n"+
		"<!-- results two kept -->\n"+before+"<!-- end of results -->\n")
	from := t.TempDir()
	if err := take(root, from); err == nil || !strings.Contains(err.Error(), "has no run") {
		t.Fatalf("of an empty folder: %v", err)
	}
	keep := func(name, commit string) {
		t.Helper()
		r := runs.Run{Command: "go run x --data DIR", Date: "2026-01-02", Commit: commit, Seconds: 2.5, Tables: []runs.Table{
			{Header: []string{"a"}, Rows: [][]string{{"1"}}}, {Header: []string{"b"}, Rows: [][]string{{"3"}, {"4"}}}}}
		text, err := r.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name+runs.Suffix), text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	keep("one", "abc")
	keep("other", "abc") // no page shows it
	if err := take(root, from); err != nil {
		t.Fatal(err)
	}
	if err := write(root); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(root, "docs", "page.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := "a\n<!-- results one table=2 rows=1 -->\n| b |\n|---|\n| 3 |\n\n`go run x --data DIR`, 2026-01-02, commit abc,  with .\n" +
		"<!-- end of results -->\nb\n<!-- results two kept -->\n" + before + "<!-- end of results -->\n"
	if string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := os.Stat(filepath.Join(root, "docs", "results", "other.json")); err == nil {
		t.Error("a run that no page shows was taken")
	}
	keep("two", "")
	if err := take(root, from); err == nil || !strings.Contains(err.Error(), "which commit") {
		t.Errorf("a run of no commit: %v", err)
	}
}

// TestReadme compares the four rows of speed in README.md with the runs that they are of.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	tables, err := tablesOf(string(page))
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(tables, func(t runs.Table) bool {
		return slices.Equal(t.Header, []string{"work", "bigfit", "fastest competitor"})
	})
	if at < 0 || len(tables[at].Rows) != 4 {
		t.Fatal("README.md has no table of four rows: work, bigfit, fastest competitor")
	}

	for k, of := range []struct{ run, work string }{
		{"knn", "MNIST 60000×784 uint8, exact"},
		{"eigs", "MNIST 8-NN: 100 pairs, normalized"},
		{"cg", "label spreading, MNIST, 100 labels, α = 0.99"},
		{"knn", "1,000,000×64 manifold, NN-descent"},
	} {
		r, err := runs.Read(filepath.Join(root, "docs", "results", of.run+".json"))
		if err != nil {
			t.Fatal(err)
		}
		// The second table of a run has a row for each work: seconds, memory, the fastest peer and × as long.
		rows := r.Tables[1].Rows
		found := slices.IndexFunc(rows, func(row []string) bool { return strings.HasPrefix(row[0], of.work) })
		if found < 0 {
			t.Errorf("%s has no %q", of.run, of.work)
			continue
		}
		row, said := rows[found], tables[at].Rows[k]
		if want := row[1] + " s"; said[1] != want {
			t.Errorf("%s: README.md says %s, the run %s", said[0], said[1], want)
		}
		if !strings.Contains(said[2], row[4]+" times") {
			t.Errorf("%s: README.md says %q, the run %s times", said[0], said[2], row[4])
		}
	}
}
