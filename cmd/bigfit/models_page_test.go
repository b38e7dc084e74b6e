package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
)

// The example of every model in the tables of docs/models.md fits, and no model is left
// out.
func TestModelsPage(t *testing.T) {
	page := string(readFile(t, filepath.Join(packageDir, "..", "..", "docs", "models.md")))
	var tables strings.Builder
	for _, after := range strings.Split(page, "| model |")[1:] {
		table, _, _ := strings.Cut(after, "\n\n")
		tables.WriteString(table + "\n")
	}

	intoValues(t)
	v := readBlock(t, "v.npy")
	must(t, npy.WriteFile("values.npy", nil, v.RawMatrix().Data))
	classes, err := data.ReadLabels("y.npy", data.LabelOptions{})
	must(t, err)
	y := make([]int64, classes.Len())
	for i, c := range classes.Index {
		if y[i] = -1; i%3 > 0 {
			y[i] = classes.Classes[c]
		}
	}
	must(t, npy.WriteFile("y.npy", nil, y))
	example := regexp.MustCompile("`bigfit (fit [^`]*)`")
	named := map[string]bool{}
	for line := range strings.Lines(tables.String()) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		cells := strings.Split(line, "|")
		for _, name := range regexp.MustCompile("`[^`]*`").FindAllString(cells[1], -1) {
			named[strings.Trim(name, "`")] = true
		}
		found := example.FindStringSubmatch(line)
		if found == nil {
			t.Errorf("no example in %s", line)
			continue
		}
		if out := succeed(t, append(strings.Fields(found[1]), "-q")...); !strings.HasPrefix(out, "model.npz: ") {
			t.Errorf("bigfit %s: %s", found[1], out)
		}
	}
	for _, m := range modelTable() {
		if !named[m.name] {
			t.Errorf("%s is not in a table", m.name)
		}
		delete(named, m.name)
	}
	for name := range named {
		t.Errorf("%s is in a table but no model", name)
	}
}
