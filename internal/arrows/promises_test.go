package arrows

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPromises: every test that docs/reliability.md names is there, and no promise stands without
// one.
func TestPromises(t *testing.T) {
	text, err := os.ReadFile("../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	defined := regexp.MustCompile(`(?m)^(?:func (Test\w+)\(t \*testing\.T\)|def (test_\w+)\()`)
	err = filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "python/tests/test_") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range defined.FindAllSubmatch(source, -1) {
			there[string(m[1])+string(m[2])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	named := regexp.MustCompile(`\b(Test[A-Z]\w*|test_\w+)\b`)
	promises := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| **") {
			continue
		}
		promises++
		if len(cells) < 2 || len(strings.TrimSpace(cells[1])) < 10 {
			t.Errorf("no test is named beside: %s", line)
		}
		for _, name := range named.FindAllString(cells[len(cells)-1], -1) {
			if !there[name] {
				t.Errorf("%s names %s, which is not there", cells[0], name)
			}
		}
	}
	if promises < 15 {
		t.Errorf("%d promises found", promises)
	}
}
