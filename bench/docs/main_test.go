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

func TestFirstTable(t *testing.T) {
	header, rows, err := firstTable("words\n\n| a | b |\n|---|:--|\n| 1 | x y |\n|  | 2 |\n\n| other |\n|---|\n| 3 |\n")
	if err != nil || !slices.Equal(header, []string{"a", "b"}) || len(rows) != 2 || rows[0][1] != "x y" || rows[1][0] != "" {
		t.Errorf("%q, %q, %v", header, rows, err)
	}
	for _, text := range []string{"", "no table", "| a | b |\n|---|---|\n| 1 |\n"} {
		if _, _, err := firstTable(text); err == nil {
			t.Errorf("%q has a table", text)
		}
	}
	if got := shown([]string{"go", "run", "x", "--data", "/secret"}); got != "go run x --data DIR" {
		t.Error(got)
	}
}
