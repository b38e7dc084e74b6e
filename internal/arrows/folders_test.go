package arrows

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// goList returns the lines that go list prints.
func goList(t *testing.T, args ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// leaves are public packages that import no other package of ours: what libraries, files and
// the command have in common.
var leaves = []string{"archive", "param"}

// The library and the program do not know the measurements: only bench imports from bench.
// Packages of internal stand below all others: they import internal and third parties. Tests
// are bound by the first rule only.
func TestFolders(t *testing.T) {
	const imports = `{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}} code{{"\n"}}{{end}}` +
		`{{range .TestImports}}{{$p}} {{.}} test{{"\n"}}{{end}}{{range .XTestImports}}{{$p}} {{.}} test{{"\n"}}{{end}}`
	seen := map[string]int{}
	for _, line := range goList(t, "-f", imports, module+"...") {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		imported, ours := strings.CutPrefix(fields[1], module)
		if !ours {
			continue
		}

		name := strings.TrimPrefix(fields[0], module)
		from, _, _ := strings.Cut(name, "/")
		to, _, _ := strings.Cut(imported, "/")
		seen[from]++
		if to == "bench" && from != "bench" {
			t.Errorf("%s imports %s; only bench imports from bench", name, imported)
		}
		if from == "internal" && to != "internal" && fields[2] == "code" && !slices.Contains(leaves, imported) {
			t.Errorf("%s imports %s; internal imports internal, %v and third parties only", name, imported, leaves)
		}
	}
	for _, folder := range []string{"bench", "internal", "cmd"} {
		if seen[folder] < 20 {
			t.Errorf("only %d imports of packages in %s looked at", seen[folder], folder)
		}
	}
}

// Programs that use the pipeline and all models link nothing that draws.
func TestNoPicturesInTheLibrary(t *testing.T) {
	for _, path := range goList(t, "-deps", module+"pipeline", module+"labeling", module+"models/all") {
		if strings.HasPrefix(path, "gonum.org/v1/plot") || strings.HasPrefix(path, module+"internal/view/") {
			t.Errorf("the library links %s", path)
		}
	}
}

// The command links nothing that makes it much larger without being needed.
func TestNothingHeavyInTheCommand(t *testing.T) {
	heavy := map[string]string{
		"html/template":                                   "the linker keeps every method of every type",
		"gonum.org/v1/plot":                               "twelve fonts, 4 MB",
		"github.com/parquet-go/parquet-go":                "protobuf, geometry and all of its writers, 5 MB",
		"google.golang.org/protobuf/reflect/protoreflect": "2 MB",
	}
	for _, path := range goList(t, "-deps", module+"cmd/bigfit") {
		if why, ok := heavy[path]; ok {
			t.Errorf("the command links %s: %s", path, why)
		}
	}
}
