package arrows

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only tests reach the hooks of the writing of files.
func TestHooksAreForTests(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n := bytes.Count(text, []byte("SetHooks("))
		seen += n
		if n > 0 && !strings.HasSuffix(path, "_test.go") && path != filepath.Join("..", "..", "internal", "file", "atomicfile", "atomicfile.go") {
			t.Errorf("%s sets the hooks of the writing of files, which are for tests", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 3 {
		t.Errorf("SetHooks was found %d times", seen)
	}
}
