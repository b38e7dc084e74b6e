package arrows

import (
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestPublicTypes keeps internal types out of what other modules see: a program outside
// could neither name them nor make one.
func TestPublicTypes(t *testing.T) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Name", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports := map[string]string{}
	var public []string
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export, Name string }
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if ours(p.ImportPath) && !internal(p.ImportPath) && p.Name != "main" {
			public = append(public, p.ImportPath)
		}
	}

	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	for _, path := range public {
		if strings.HasPrefix(path, module+"bench/") {
			continue // programs that measure: nobody imports them
		}
		p, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range mentions(p) {
			t.Errorf("%s: %s", strings.TrimPrefix(path, module), found)
		}
	}
	if len(public) < 20 {
		t.Errorf("only %d packages looked at", len(public))
	}
}

func ours(path string) bool { return strings.HasPrefix(path+"/", module) }

func internal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// mentions lists the exported declarations of p that mention a type of an internal package of
// ours, with that type.
func mentions(p *types.Package) []string {
	var found []string
	look := func(name string, typ types.Type) {
		walk := &walker{home: p, seen: map[types.Type]bool{}}
		if walk.visit(typ); walk.found != "" {
			found = append(found, name+" mentions "+walk.found)
		}
	}
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		named, isType := object.Type().(*types.Named)
		if _, ok := object.(*types.TypeName); !ok || !isType {
			look(name, object.Type())
			continue
		}
		if s, ok := named.Underlying().(*types.Struct); ok {
			for field := range s.Fields() {
				if field.Exported() {
					look(name+"."+field.Name(), field.Type())
				}
			}
		} else {
			look(name, named.Underlying())
		}
		for m := range named.Methods() {
			if m.Exported() {
				look(name+"."+m.Name(), m.Type())
			}
		}
	}
	return found
}

// walker finds an internal type within a type.
type walker struct {
	home  *types.Package
	seen  map[types.Type]bool
	found string
}

func (w *walker) visit(t types.Type) {
	if t == nil || w.seen[t] || w.found != "" {
		return
	}
	w.seen[t] = true
	switch t := t.(type) {
	case *types.Alias:
		w.name(t.Obj())
		w.visit(types.Unalias(t))
	case *types.Named:
		w.name(t.Obj())
		for a := range t.TypeArgs().Types() {
			w.visit(a)
		}
	case *types.Pointer:
		w.visit(t.Elem())
	case *types.Slice:
		w.visit(t.Elem())
	case *types.Array:
		w.visit(t.Elem())
	case *types.Chan:
		w.visit(t.Elem())
	case *types.Map:
		w.visit(t.Key())
		w.visit(t.Elem())
	case *types.Signature:
		for p := range t.TypeParams().TypeParams() {
			w.visit(p.Constraint())
		}
		w.visit(t.Params())
		w.visit(t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			w.visit(v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			w.visit(f.Type())
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if m.Exported() {
				w.visit(m.Type())
			}
		}
		for e := range t.EmbeddedTypes() {
			w.visit(e)
		}
	case *types.Union:
		for e := range t.Terms() {
			w.visit(e.Type())
		}
	}
}

// sealed closes data.Points: that nobody outside can name its parameter is the purpose.
const sealed = module + "internal/sealed"

func (w *walker) name(o *types.TypeName) {
	if p := o.Pkg(); p != nil && ours(p.Path()) && internal(p.Path()) && p.Path() != sealed {
		w.found = strings.TrimPrefix(p.Path(), module) + "." + o.Name()
	}
}
