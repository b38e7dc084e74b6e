package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// contents returns the files of a folder by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	return out
}

func TestClaim(t *testing.T) {
	t.Run("a new folder, then its mark", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "a", "b")
		for range 2 {
			if err := Claim(dir, "a checkpoint"); err != nil {
				t.Fatal(err)
			}
		}
		if holds, ok := Marked(dir); !ok || holds != "a checkpoint" {
			t.Errorf("marked %t, holds %q", ok, holds)
		}
		err := Claim(dir, "a demo")
		if err == nil || !strings.Contains(err.Error(), "holds a checkpoint") {
			t.Errorf("for another purpose: %v", err)
		}
		// A user's files beside the mark are no reason to refuse.
		if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := Claim(dir, "a checkpoint"); err != nil {
			t.Error(err)
		}
	})

	t.Run("an empty folder", func(t *testing.T) {
		if err := Claim(t.TempDir(), "a demo"); err != nil {
			t.Error(err)
		}
	})

	for name, file := range map[string][2]string{
		"a user's file":      {"thesis.tex", "mine"},
		"a hidden file":      {".bashrc", "mine"},
		"another mark":       {MarkFile, `{"format": "something else"}`},
		"a mark of no JSON":  {MarkFile, "holds a checkpoint"},
		"an empty mark":      {MarkFile, ""},
		"a mark that is big": {MarkFile, `{"format": "bigfit folder", "holds": "` + strings.Repeat("x", 1<<13) + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, file[0]), []byte(file[1]), 0o644); err != nil {
				t.Fatal(err)
			}
			err := Claim(dir, "a checkpoint")
			if err == nil || !strings.Contains(err.Error(), file[0]) {
				t.Errorf("error %v, which should name %s", err, file[0])
			}
			if got := contents(t, dir); len(got) != 1 || got[file[0]] != file[1] {
				t.Errorf("the folder holds %v", got)
			}
		})
	}
}

// TestClaimTogether: processes that begin at the same time with the same new folder all get it, also
// while the first already writes there.
func TestClaimTogether(t *testing.T) {
	for range 50 {
		dir := filepath.Join(t.TempDir(), "w")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if err := Claim(dir, "a graph in parts"); err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(dir, "division.npz"), nil, 0o644); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

func TestUnclaim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	if err := Claim(dir, "a demo"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	Unclaim(dir)
	if _, err := os.Stat(file); err != nil {
		t.Fatal("a folder with a file was removed")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	Unclaim(dir)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error("a folder with nothing but its mark is left")
	}
	own := t.TempDir()
	Unclaim(own)
	if _, err := os.Stat(own); err != nil {
		t.Error("an empty folder without a mark was removed")
	}
}

// TestFolderThroughLink: a link to a folder, or to one that is not there yet, stays a link, and the
// folder that it names is written.
func TestFolderThroughLink(t *testing.T) {
	write := func(dir string) error { return os.WriteFile(filepath.Join(dir, "a.npy"), []byte("new"), 0o644) }
	for _, there := range []bool{false, true} {
		root := t.TempDir()
		if there {
			if err := os.Mkdir(filepath.Join(root, "real"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		link := filepath.Join(root, "link")
		if err := os.Symlink("real", link); err != nil {
			t.Skip(err)
		}
		for range 2 {
			if err := CheckFolder(link+"/", "a graph", []string{"a.npy"}); err != nil {
				t.Fatal(err)
			}
			if err := Folder(link+"/", "a graph", []string{"a.npy"}, write); err != nil {
				t.Fatal(err)
			}
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("there %t: the link was replaced: %v", there, err)
		}
		if got := contents(t, filepath.Join(root, "real")); got["a.npy"] != "new" {
			t.Errorf("there %t: the folder holds %v", there, got)
		}
	}
	loop := filepath.Join(t.TempDir(), "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if err := Folder(loop, "a graph", []string{"a.npy"}, write); err == nil {
		t.Error("a loop of links is written through")
	}
}
