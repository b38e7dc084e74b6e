package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What reproduce scene prints as JSON is drawn by the line in its help.
func TestPlotMultiLabel(t *testing.T) {
	t.Chdir(t.TempDir())
	writeScene(t, ".")
	writeFile(t, "scene.json", []byte(succeed(t, "reproduce", "scene", "--data", ".", "--splits", "2", "--json", "-q")))
	help := succeed(t, "reproduce", "--help")
	line := regexp.MustCompile(`bigfit (plot scene.json .*)`).FindStringSubmatch(help)
	if line == nil {
		t.Fatalf("no line for plot in %s", help)
	}
	page := string(readFile(t, filepath.Join(packageDir, "..", "..", "docs", "papers.md")))
	if !strings.Contains(page, line[0]) {
		t.Errorf("docs/papers.md lacks %q", line[0])
	}
	var s plotSummary
	must(t, json.Unmarshal([]byte(succeed(t, append(strings.Fields(line[1]), "-o", "a.svg", "--json", "-q")...)), &s))
	if s.Marks != 50 || s.Left != 0 { // γ_I = 0 has a place on the logarithmic axis
		t.Errorf("%+v", s)
	}
	picture := string(readFile(t, "a.svg"))
	for _, w := range []string{">±1, gamma_o 0<", ">±1, gamma_o 0.5<", ">centred, gamma_o 1<", ">0<", ">0.0001<", ">0.001<", ">0.01<", ">auc_mean<"} {
		if !strings.Contains(picture, w) {
			t.Errorf("no %q in the picture", w)
		}
	}
	bare := strings.Fields(strings.Replace(line[1], " --bars auc_std", "", 1))
	succeed(t, append(bare, "-o", "b.svg", "-q")...)
	if strings.Count(picture, "<path") <= strings.Count(string(readFile(t, "b.svg")), "<path") {
		t.Error("no error bars")
	}
}
