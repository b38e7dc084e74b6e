package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// buildProgram builds bigfit into a new folder.
func buildProgram(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "bigfit")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/bigfit/bigfit/cmd/bigfit").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// What reproduce scene prints as JSON is drawn by bigfit with the line in the help.
func TestPlotMultiLabel(t *testing.T) {
	if testing.Short() {
		t.Skip("builds bigfit")
	}
	program := buildProgram(t)
	packageDir, err := os.Getwd()
	must(t, err)
	t.Chdir(t.TempDir())
	plot := func(args ...string) []byte {
		t.Helper()
		out, err := exec.Command(program, args...).Output()
		if err != nil {
			t.Fatalf("bigfit %v: %v", args, err)
		}
		return out
	}
	writeScene(t, ".")
	writeFile(t, "scene.json", []byte(succeed(t, "scene", "--data", ".", "--splits", "2", "--json", "-q")))
	help := succeed(t, "--help")
	line := regexp.MustCompile(`bigfit (plot scene.json .*)`).FindStringSubmatch(help)
	if line == nil {
		t.Fatalf("no line for plot in %s", help)
	}
	page := string(readFile(t, filepath.Join(packageDir, "..", "..", "docs", "papers.md")))
	if !strings.Contains(page, line[0]) {
		t.Errorf("docs/papers.md lacks %q", line[0])
	}
	var s struct{ Marks, Left int }
	must(t, json.Unmarshal(plot(append(strings.Fields(line[1]), "-o", "a.svg", "--json", "-q")...), &s))
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
	plot(append(bare, "-o", "b.svg", "-q")...)
	if strings.Count(picture, "<path") <= strings.Count(string(readFile(t, "b.svg")), "<path") {
		t.Error("no error bars")
	}
}
