package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// A glossary links the first use of each term on a page to its explanation. docs/glossary.md has a heading for each
// term, with other forms of the term behind it: "## Held out, held back".
type glossary struct {
	terms map[string]string // heading by the form of a term, in small letters
	find  *regexp.Regexp
}

// glossarySource is the page of the terms.
const glossarySource = "docs/glossary.md"

// readGlossary reads the terms.
func (s *site) readGlossary() error {
	p := s.bySource[glossarySource]
	if p == nil {
		return fmt.Errorf("there is no %s", glossarySource)
	}
	g := &glossary{terms: map[string]string{}}
	ids := &headingIDs{taken: map[string]int{}}
	var forms []string
	for line := range strings.Lines(p.text) {
		title, ok := strings.CutPrefix(line, "## ")
		if !ok {
			continue
		}
		id := string(ids.Generate([]byte(title), ast.KindHeading))
		for form := range strings.SplitSeq(plain(title), ",") {
			form = strings.ToLower(strings.TrimSpace(form))
			if g.terms[form] != "" {
				return fmt.Errorf("%s explains %q twice", glossarySource, form)
			}
			g.terms[form] = id
			forms = append(forms, regexp.QuoteMeta(form))
		}
	}
	if len(forms) == 0 {
		return fmt.Errorf("%s has no heading \"## term\"", glossarySource)
	}

	// The longest form wins where one begins another.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	g.find = regexp.MustCompile(`(?i)\b(` + strings.Join(forms, "|") + `)(s|es)?\b`)
	s.glossary = g
	return nil
}

// link links the first use of each term in the text of a page. Headings, links and code stay as they are.
func (g *glossary) link(p *page, tree ast.Node, source []byte) {
	if p.source == glossarySource {
		return
	}
	var texts []*ast.Text
	var collect func(ast.Node)
	collect = func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Heading, *ast.Link, *ast.AutoLink, *ast.Image, *ast.CodeSpan, *ast.FencedCodeBlock, *ast.CodeBlock:
			return
		case *ast.Text:
			texts = append(texts, n)
			return
		}
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			collect(c)
		}
	}
	collect(tree)

	seen := map[string]bool{}
	for _, t := range texts {
		g.linkText(p, t, source, seen)
	}
}

// linkText links the terms in one piece of text that were not seen before.
func (g *glossary) linkText(p *page, t *ast.Text, source []byte, seen map[string]bool) {
	value := t.Segment.Value(source)
	start := t.Segment.Start
	for _, m := range g.find.FindAllSubmatchIndex(value, -1) {
		id := g.terms[strings.ToLower(string(value[m[2]:m[3]]))]
		if seen[id] {
			continue
		}
		seen[id] = true

		// The text is cut in three: before the term, the term in a link, and the rest, which goes on as t.
		parent := t.Parent()
		from, to := start+m[0], start+m[1]
		if from > t.Segment.Start {
			parent.InsertBefore(parent, t, ast.NewTextSegment(text.NewSegment(t.Segment.Start, from)))
		}
		l := ast.NewLink()
		l.Destination = []byte(relative(p.path, "glossary.html") + "#" + id)
		l.SetAttributeString("class", []byte("term"))
		l.AppendChild(l, ast.NewTextSegment(text.NewSegment(from, to)))
		parent.InsertBefore(parent, t, l)
		t.Segment = text.NewSegment(to, t.Segment.Stop)
	}
}

// linkCommands links the first code of a page that calls a command, as bigfit audit X y, to the page of the command.
func (s *site) linkCommands(p *page, tree ast.Node, source []byte) {
	var spans []*ast.CodeSpan
	var collect func(ast.Node)
	collect = func(n ast.Node) {
		switch n := n.(type) {
		case *ast.Heading, *ast.Link, *ast.Image:
			return
		case *ast.CodeSpan:
			spans = append(spans, n)
			return
		}
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			collect(c)
		}
	}
	collect(tree)

	seen := map[string]bool{p.path: true}
	for _, span := range spans {
		call, ok := strings.CutPrefix(textOf(span, source), "bigfit ")
		name, _, _ := strings.Cut(call, " ")
		target := "reference/commands/" + name + ".html"
		if !ok || s.byPath[target] == nil || seen[target] {
			continue
		}
		seen[target] = true
		l := ast.NewLink()
		l.Destination = []byte(relative(p.path, target))
		parent := span.Parent()
		parent.ReplaceChild(parent, span, l)
		l.AppendChild(l, span)
	}
}
