package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
)

// modulePath is the path that Go programs import.
const modulePath = "github.com/bigfit/bigfit"

// A goPackage is what go list tells of one.
type goPackage struct {
	ImportPath, Name, Dir string
	GoFiles, TestGoFiles  []string
	XTestGoFiles          []string
}

// addGo adds a page for each public package, and the list of them.
func (s *site) addGo(ctx context.Context) error {
	list, err := s.packages(ctx)
	if err != nil {
		return err
	}
	var index strings.Builder
	index.WriteString("# Go packages\n\nMade from the comments of the source, as `go doc` shows them. [Architecture](site:design/architecture.html) " +
		"says how they rest on each other.\n\n| | |\n|---|---|\n")
	for i := range list {
		p := &list[i]
		text, synopsis, err := s.goPage(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		fmt.Fprintf(&index, "| [`%s`](site:%s) | %s |\n", p.short(), p.page(), escaped(synopsis))
		if err := s.add(&page{path: p.page(), section: sectionRef, group: "Go", text: text, short: p.short()}); err != nil {
			return err
		}
	}
	return s.add(&page{path: "reference/go/index.html", section: sectionRef, group: "Go", text: index.String()})
}

// packages lists the packages that other programs can import.
func (s *site) packages(ctx context.Context) ([]goPackage, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Name,Dir,GoFiles,TestGoFiles,XTestGoFiles", "./...")
	cmd.Dir = s.root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var list []goPackage
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		if p.Name == "main" || strings.Contains(p.ImportPath, "/internal/") || strings.HasPrefix(p.short(), "bench/") || strings.HasSuffix(p.short(), "modeltest") {
			continue
		}
		list = append(list, p)
	}
}

// short is the folder of the package; that of the module has the name of the module.
func (p *goPackage) short() string {
	if p.ImportPath == modulePath {
		return "bigfit"
	}
	return strings.TrimPrefix(p.ImportPath, modulePath+"/")
}

// page is its file in the site.
func (p *goPackage) page() string {
	return "reference/go/" + strings.ReplaceAll(p.short(), "/", "-") + ".html"
}

// goPage makes the page of a package, and returns it with the first sentence of the package's comment.
func (s *site) goPage(p *goPackage) (text, synopsis string, err error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range append(append(p.GoFiles, p.TestGoFiles...), p.XTestGoFiles...) {
		if strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "example") {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
		if err != nil {
			return "", "", err
		}
		files = append(files, f)
	}
	d, err := doc.NewFromFiles(fset, files, p.ImportPath)
	if err != nil {
		return "", "", err
	}
	g := &goWriter{pkg: d, fset: fset}
	return g.markdown(p), d.Synopsis(d.Doc), nil
}

// A goWriter writes the page of a package.
type goWriter struct {
	pkg  *doc.Package
	fset *token.FileSet
	b    strings.Builder
}

// markdown is the page.
func (g *goWriter) markdown(p *goPackage) string {
	fmt.Fprintf(&g.b, "# package %s\n\n```go\nimport %q\n```\n\n", p.Name, p.ImportPath)
	g.comment(g.pkg.Doc)
	g.examples(g.pkg.Examples)

	if len(g.pkg.Consts)+len(g.pkg.Vars) > 0 {
		g.b.WriteString("## Constants and variables {#constants}\n\n")
		g.values(g.pkg.Consts)
		g.values(g.pkg.Vars)
	}
	if len(g.pkg.Funcs) > 0 {
		g.b.WriteString("## Functions {#functions}\n\n")
		g.functions(g.pkg.Funcs)
	}
	if len(g.pkg.Types) == 0 {
		return g.b.String()
	}
	g.b.WriteString("## Types {#types}\n\n")
	for _, t := range g.pkg.Types {
		fmt.Fprintf(&g.b, "### type %s {#%s}\n\n", t.Name, t.Name)
		g.anchors(fieldsOf(t))
		g.declaration(t.Decl)
		g.comment(t.Doc)
		g.examples(t.Examples)
		g.values(t.Consts)
		g.values(t.Vars)
		g.functions(t.Funcs)
		g.functions(t.Methods)
	}
	return g.b.String()
}

// values writes constants or variables.
func (g *goWriter) values(list []*doc.Value) {
	for _, v := range list {
		g.anchors(v.Names)
		g.declaration(v.Decl)
		g.comment(v.Doc)
	}
}

// anchors writes places that links lead to, for names without a heading.
func (g *goWriter) anchors(names []string) {
	var b strings.Builder
	for _, name := range names {
		if ast.IsExported(name[strings.LastIndex(name, ".")+1:]) {
			fmt.Fprintf(&b, "<a id=\"%s\"></a>", name)
		}
	}
	if b.Len() > 0 {
		g.b.WriteString("<div>" + b.String() + "</div>\n\n")
	}
}

// fieldsOf names the fields of a structure and the methods of an interface, as Type.Field.
func fieldsOf(t *doc.Type) (out []string) {
	for _, spec := range t.Decl.Specs {
		var list *ast.FieldList
		switch kind := spec.(*ast.TypeSpec).Type.(type) {
		case *ast.StructType:
			list = kind.Fields
		case *ast.InterfaceType:
			list = kind.Methods
		default:
			continue
		}
		for _, f := range list.List {
			for _, name := range f.Names {
				out = append(out, t.Name+"."+name.Name)
			}
		}
	}
	return out
}

// functions writes functions, or the methods of a type.
func (g *goWriter) functions(list []*doc.Func) {
	for _, f := range list {
		name, id := f.Name, f.Name
		if f.Recv != "" {
			name, id = "("+f.Recv+") "+f.Name, strings.TrimLeft(f.Orig, "*")+"."+f.Name
		}
		fmt.Fprintf(&g.b, "#### func %s {#%s}\n\n", escaped(name), id)
		g.declaration(f.Decl)
		g.comment(f.Doc)
		g.examples(f.Examples)
	}
}

// declaration writes Go without the bodies of functions.
func (g *goWriter) declaration(decl ast.Decl) {
	if f, ok := decl.(*ast.FuncDecl); ok {
		f.Body, f.Doc = nil, nil
	}
	if d, ok := decl.(*ast.GenDecl); ok {
		d.Doc = nil
	}
	var b bytes.Buffer
	// The printer fails for what is no Go, and this was read from files.
	_ = (&printer.Config{Mode: printer.UseSpaces, Tabwidth: 4}).Fprint(&b, g.fset, decl)
	g.b.WriteString("```go\n" + b.String() + "\n```\n\n")
}

// examples writes examples, which the tests run.
func (g *goWriter) examples(list []*doc.Example) {
	for _, e := range list {
		var b bytes.Buffer
		if err := format.Node(&b, g.fset, &printer.CommentedNode{Node: e.Code, Comments: e.Comments}); err != nil {
			continue // an example of pieces that no printer takes is not worth the page
		}
		body := strings.TrimSpace(b.String())
		body = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(body, "{"), "}"), "\n\t", "\n")
		if at := strings.Index(body, "// Output:"); at >= 0 {
			body = body[:at]
		}
		g.b.WriteString("**Example**\n\n```go\n" + strings.TrimSpace(body) + "\n```\n\n")
		if e.Output != "" {
			g.b.WriteString("```text\n" + strings.TrimSpace(e.Output) + "\n```\n\n")
		}
	}
}

// comment writes a comment. Links to names lead to the pages of their packages.
func (g *goWriter) comment(text string) {
	p := g.pkg.Printer()
	p.HeadingLevel = 3
	p.HeadingID = func(*comment.Heading) string { return "" }
	p.DocLinkURL = func(l *comment.DocLink) string {
		anchor := l.Name
		if l.Recv != "" {
			anchor = l.Recv + "." + l.Name
		}
		if anchor != "" {
			anchor = "#" + anchor
		}
		if l.ImportPath == "" || l.ImportPath == g.pkg.ImportPath {
			return anchor
		}
		other := goPackage{ImportPath: l.ImportPath}
		if l.ImportPath == modulePath || strings.HasPrefix(l.ImportPath, modulePath+"/") {
			if strings.Contains(l.ImportPath, "/internal/") {
				return ""
			}
			return "site:" + other.page() + anchor
		}
		return "https://pkg.go.dev/" + l.ImportPath + anchor
	}
	g.b.Write(p.Markdown(g.pkg.Parser().Parse(text)))
	g.b.WriteString("\n")
}
