package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
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
	if got := shown([]string{"go", "run", "x", "--data", "/secret"}); got != "go run x --data DIR" {
		t.Error(got)
	}
}

func TestChoices(t *testing.T) {
	r := run{Tables: []table{{Header: []string{"a"}, Rows: [][]string{{"1"}, {"2"}}}, {Header: []string{"b"}, Rows: [][]string{{"3"}}}}}
	for _, c := range []struct{ how, has, hasNot string }{
		{"", "| 2 |", "| 3 |"},
		{" rows=1", "| 1 |", "| 2 |"},
		{" table=2", "| 3 |", "| 1 |"},
		{" table=3", "", ""},
		{" rows=3", "", ""},
		{" rows=0", "", ""},
		{" columns=1", "", ""},
	} {
		choice, err := parseChoice(c.how)
		text := ""
		if err == nil {
			text, err = r.markdown(choice)
		}
		if (err != nil) != (c.has == "") {
			t.Errorf("%q: %v", c.how, err)
		}
		if c.has != "" && (!strings.Contains(text, c.has) || strings.Contains(text, c.hasNot)) {
			t.Errorf("%q:\n%s", c.how, text)
		}
	}
}
