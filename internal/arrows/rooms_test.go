package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// Bounds of a room: a package that outgrows them holds more than one idea.
const (
	mostLines      = 4000 // of a package without tests
	mostCommand    = 5500 // of cmd/bigfit
	mostInFunction = 80
	mostParameters = 6
)

// kernels are the packages of innermost loops, whose functions have the shape of
// BLAS.
var kernels = map[string]bool{"internal/simd": true, "internal/simd/_asm": true, "internal/dense": true}

// TestRooms keeps packages and functions small.
func TestRooms(t *testing.T) {
	lines := map[string]int{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		room, _ := filepath.Rel("../..", filepath.Dir(path))
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		lines[room] += fset.File(f.Pos()).LineCount()
		if kernels[room] {
			return nil
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > mostInFunction {
				t.Errorf("%s: %s has %d lines; split it, the most is %d", path, fn.Name.Name, n, mostInFunction)
			}
			if n := fn.Type.Params.NumFields(); n > mostParameters {
				t.Errorf("%s: %s has %d parameters; the most is %d", path, fn.Name.Name, n, mostParameters)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room, n := range lines {
		most := mostLines
		if room == "cmd/bigfit" {
			most = mostCommand
		}
		if n > most {
			t.Errorf("%s has %d lines without tests; the most is %d", room, n, most)
		}
	}
	if len(lines) < 10 {
		t.Errorf("only %d packages looked at", len(lines))
	}
}
