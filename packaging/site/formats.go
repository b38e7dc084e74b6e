package main

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A drawing is a comment beside the code that writes a file: a table of members, their types and their meaning.
type drawing struct{ source, text string }

// addFormats adds the page of the file formats, from the drawings in the source.
func (s *site) addFormats(context.Context) error {
	var found []drawing
	err := filepath.WalkDir(s.root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && file != s.root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "bench" || name == "testdata" || name == "packaging") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		list, err := drawingsOf(s.root, file)
		found = append(found, list...)
		return err
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(found, func(a, b drawing) int { return cmp.Compare(internal(a.source), internal(b.source)) })
	if len(found) < 5 {
		return fmt.Errorf("%d drawings of formats are in the source", len(found))
	}

	var b strings.Builder
	b.WriteString("# File formats\n\nEvery `.npz` file opens with `numpy.load`, every graph with `scipy.sparse.load_npz`. These are the drawings that stand in " +
		"the source beside the code that writes the files. [Versions](site:reference/versions.html) says what later programs will read.\n\n")
	for _, d := range found {
		b.WriteString(d.text)
	}
	return s.add(&page{path: "reference/formats.html", section: sectionRef, text: b.String()})
}

// internal is 1 for sources of folders that come and go during runs, which users do not open.
func internal(source string) int {
	for _, folder := range []string{"internal/", "engine/", "knn/parts/", "lanczos/snapshot"} {
		if strings.HasPrefix(source, folder) {
			return 1
		}
	}
	return 0
}

// drawn is what the head of a drawing has: the columns of its table.
func drawn(text string) bool {
	head, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(head)
	has := func(name string) bool {
		for _, w := range words {
			if w == name {
				return true
			}
		}
		return false
	}
	return has("dtype") && has("meaning") || has("field") && has("meaning") || has("file") && has("content") ||
		strings.HasPrefix(head, "model.npz") || strings.HasPrefix(head, "division.npz")
}

// bracketed matches a link to a name of Go, which leads nowhere outside of its package.
var bracketed = regexp.MustCompile(`\\?\[\*?([A-Za-z][\w.]*)\\?\]`)

// drawingsOf returns the drawings in the comments of a file.
func drawingsOf(root, file string) ([]drawing, error) {
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	source, err := filepath.Rel(root, file)
	if err != nil {
		return nil, err
	}
	source = filepath.ToSlash(source)
	var out []drawing
	for _, group := range tree.Comments {
		parsed := new(comment.Parser).Parse(group.Text())
		kept := partsDrawn(parsed, group == tree.Doc)
		if len(kept) == 0 {
			continue
		}
		p := &comment.Printer{HeadingLevel: 4, HeadingID: func(*comment.Heading) string { return "" },
			DocLinkURL: func(*comment.DocLink) string { return "" }}
		text := strings.ReplaceAll(string(p.Markdown(&comment.Doc{Content: kept})), "\t", "    ")
		text = bracketed.ReplaceAllString(text, "$1")
		out = append(out, drawing{source, fmt.Sprintf("## %s\n\n%s\nDrawn in `%s`.\n\n", titleOf(source, group, tree), text, source)})
	}
	return out, nil
}

// partsDrawn returns the drawings of a comment with what stands around them: all of a comment beside code, and of the
// comment of a package the parts of the sections that have drawings.
func partsDrawn(d *comment.Doc, isPackage bool) []comment.Block {
	var out, part []comment.Block
	has := false
	end := func() {
		if has {
			out = append(out, part...)
		}
		part, has = nil, false
	}
	for _, b := range d.Content {
		if _, ok := b.(*comment.Heading); ok && isPackage {
			end()
			continue
		}
		if c, ok := b.(*comment.Code); ok && drawn(c.Text) {
			has = true
		}
		part = append(part, b)
	}
	end()
	return out
}

// titles are what the drawings show, by where they stand; any other has the name of its place.
var titles = map[string]string{
	"archive":                  "The manifest",
	"sparse: npz":              "graph.npz",
	"sparse: folder":           "Graph folder",
	"lanczos: file":            "eigs.npz",
	"lanczos: snapshot":        "Snapshot of unfinished eigenpairs",
	"models: file":             "model.npz",
	"models/pool: file":        "model.npz of auto",
	"models/correction: model": "model.npz of correct-and-smooth",
	"internal/file/checkpoint": "Checkpoint folder",
	"knn/parts: work":          "Work folder",
	"engine":                   "Task folder of an engine",
}

// titleOf names a drawing by where it stands.
func titleOf(source string, group *ast.CommentGroup, tree *ast.File) string {
	place := path.Dir(source)
	name := strings.TrimSuffix(path.Base(source), ".go")
	if group != tree.Doc && name != path.Base(place) {
		place += ": " + name
	}
	if title := titles[place]; title != "" {
		return title
	}
	return place
}
