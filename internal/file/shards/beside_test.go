package shards

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestBeside(t *testing.T) {
	dir := t.TempDir()
	at := func(names ...string) []string {
		for i, n := range names {
			names[i] = filepath.Join(dir, n)
		}
		return names
	}
	touch := func(names ...string) {
		for _, p := range at(names...) {
			if err := os.WriteFile(p, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	points := at("img_emb_2.npy", "img_emb_10.npy")
	if got := Beside(points); got != nil {
		t.Errorf("there are no tables, but %v", got)
	}
	touch("metadata_2.parquet")
	if got := Beside(points); got != nil {
		t.Errorf("one table for two files: %v", got)
	}
	touch("metadata_0010.parquet", "metadata_3.parquet", "notes_2.txt")
	if got, want := Beside(points), at("metadata_2.parquet", "metadata_0010.parquet"); !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	for name, files := range map[string][]string{"text": at("img_emb_2.csv"), "no numbers": at("X.npy"), "two kinds": at("a_2.npy", "b_10.npy"), "one number twice": at("a_2.npy", "a_02.npy")} {
		if got := Beside(files); got != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	touch("captions_2.parquet", "captions_10.parquet")
	if got := Beside(points); got != nil {
		t.Errorf("two kinds of tables: %v", got)
	}
}
