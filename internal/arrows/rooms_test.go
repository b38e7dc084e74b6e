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

// mostParameters bounds the parameters of a function: more are a struct that has no name yet.
const mostParameters = 6

// kernels are the packages of innermost loops, whose functions have the parameters of BLAS.
var kernels = map[string]bool{"internal/num/simd": true, "internal/num/simd/_asm": true, "internal/num/dense": true}

func TestParameters(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		room, _ := filepath.Rel("../..", filepath.Dir(path))
		if kernels[filepath.ToSlash(room)] {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}

		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			seen++
			if n := fn.Type.Params.NumFields(); n > mostParameters {
				t.Errorf("%s: %s has %d parameters; the most is %d", path, fn.Name.Name, n, mostParameters)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 1000 {
		t.Errorf("only %d functions looked at", seen)
	}
}
