package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// speakers are the folders whose texts may be about flags: the command and its own packages, and
// programs.
var speakers = []string{"cmd", "bench", "docs", "packaging", "internal/view/browsertest"} // which starts a browser

// foreign are options of other programs.
var foreign = []string{
	"--long",          // zstd
	"--mpi",           // srun
	"--oversubscribe", // mpirun
}

var flag = regexp.MustCompile(`--[A-Za-z][A-Za-z-]*`)

// TestLibrariesDoNotSpeakOfFlags: texts of libraries name parameters with param.Name, and the
// command writes them as flags.
func TestLibrariesDoNotSpeakOfFlags(t *testing.T) {
	const root = "../.."
	files := token.NewFileSet()
	read := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			hidden := name != "." && strings.HasPrefix(d.Name(), ".")
			if hidden || d.Name() == "testdata" || slices.Contains(speakers, name) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		read++
		ast.Inspect(f, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(l.Value)
			if err != nil {
				t.Errorf("%s: %v", files.Position(l.Pos()), err)
			}
			for _, found := range flag.FindAllString(text, -1) {
				if !slices.Contains(foreign, found) {
					t.Errorf("%s speaks of %s; write param.Name(%q)", files.Position(l.Pos()), found, found[2:])
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 100 {
		t.Errorf("%d files were read", read)
	}
}
