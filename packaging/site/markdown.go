package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A heading of a page.
type heading struct {
	Level    int
	ID, Text string
}

// A link of a page to a file of the site, with the heading in it.
type link struct{ target, fragment, as string }

// A passage is a part of a page that the search finds: what stands below a heading.
type passage struct{ id, title, text string }

// markdown reads pages: tables beside what all Markdown has, and names of headings in braces.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithHeadingAttribute()),
	goldmark.WithRendererOptions(html.WithUnsafe()),
)

// convert makes the HTML of all pages and follows their links.
func (s *site) convert(context.Context) error {
	var faults []error
	for _, p := range s.pages {
		faults = append(faults, s.convertPage(p))
	}
	for _, p := range s.pages {
		for _, l := range p.links {
			faults = append(faults, s.follow(p, l))
		}
	}
	return errors.Join(faults...)
}

// follow returns an error if a link leads nowhere.
func (s *site) follow(p *page, l link) error {
	target := s.byPath[l.target]
	if target == nil || l.fragment == "" {
		return nil // a file, which was looked for when the page was read, or the top of a page
	}
	if target.ids[l.fragment] {
		return nil
	}
	return fmt.Errorf("%s links to %s, and %s has no such place", p.name(), l.as, target.name())
}

// name is the page in messages.
func (p *page) name() string {
	if p.source != "" {
		return p.source
	}
	return p.path
}

// convertPage makes the HTML of one page.
func (s *site) convertPage(p *page) error {
	source := []byte(p.text)
	ids := parser.NewContext(parser.WithIDs(&headingIDs{taken: map[string]int{}}))
	tree := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(ids))

	var faults []error
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			id, _ := n.AttributeString("id")
			h := heading{Level: n.Level, Text: textOf(n, source)}
			if name, ok := id.([]byte); ok {
				h.ID = string(name)
			}
			p.headings = append(p.headings, h)
		case *ast.Link:
			to, err := s.resolve(p, string(n.Destination))
			faults = append(faults, err)
			n.Destination = []byte(to)
		case *ast.Image:
			to, err := s.resolve(p, string(n.Destination))
			faults = append(faults, err)
			n.Destination = []byte(to)
		}
		return ast.WalkContinue, nil
	})
	if err := errors.Join(append(faults, err)...); err != nil {
		return err
	}

	p.passages = passagesOf(tree, source, p)
	s.glossary.link(p, tree, source)
	s.linkCommands(p, tree, source)
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, tree); err != nil {
		return err
	}
	// A wide table scrolls in a box of its own. Text has no "<table>", as it is escaped.
	p.body = strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>").Replace(b.String())
	p.ids = map[string]bool{}
	for _, m := range idAttribute.FindAllStringSubmatch(p.body, -1) {
		p.ids[m[1]] = true
	}
	return nil
}

// idAttribute matches the names of places in HTML.
var idAttribute = regexp.MustCompile(` id="([^"]+)"`)

// resolve returns the destination of a link in the site. Destinations that begin with "site:" count from the root of
// the site, others from the page's file in the checkout.
func (s *site) resolve(p *page, destination string) (string, error) {
	if strings.Contains(destination, "://") || strings.HasPrefix(destination, "mailto:") {
		return destination, nil
	}
	file, fragment, _ := strings.Cut(destination, "#")
	target := p.path
	if inSite, ok := strings.CutPrefix(file, "site:"); ok {
		target = inSite
		if s.byPath[target] == nil && !strings.HasPrefix(target, "gallery/") {
			return "", fmt.Errorf("%s links to %s, which is no page", p.name(), target)
		}
	} else if file != "" {
		inCheckout := path.Join(path.Dir(p.source), file)
		other := s.bySource[inCheckout]
		if other != nil {
			target = other.path
		} else if info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(inCheckout))); err != nil || !info.Mode().IsRegular() || strings.HasPrefix(inCheckout, "..") {
			return "", fmt.Errorf("%s links to %s, and the checkout has no such file", p.name(), file)
		} else {
			s.files[inCheckout] = true
			target = "files/" + inCheckout
		}
	}

	p.links = append(p.links, link{target: target, fragment: fragment, as: destination})
	to := relative(p.path, target)
	if target == p.path && fragment != "" {
		to = ""
	}
	if fragment != "" {
		to += "#" + fragment
	}
	return to, nil
}

// headingIDs names headings as GitHub does: small letters, digits, - and _, with - for a space.
type headingIDs struct{ taken map[string]int }

// Generate implements [parser.IDs].
func (ids *headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(plain(string(value)))) {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	name := b.String()
	k, known := ids.taken[name]
	ids.taken[name] = k + 1
	if known {
		name += "-" + strconv.Itoa(k)
	}
	return []byte(name)
}

// Put implements [parser.IDs].
func (ids *headingIDs) Put(value []byte) { ids.taken[string(value)]++ }

// textOf is the text of a node without its marks.
func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	addText(&b, n, source)
	return strings.Join(strings.Fields(b.String()), " ")
}

// addText writes the text of a node.
func addText(b *strings.Builder, n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.Text:
		b.Write(util.UnescapePunctuations(n.Segment.Value(source)))
		if n.SoftLineBreak() || n.HardLineBreak() {
			b.WriteByte(' ')
		}
	case *ast.String:
		b.Write(n.Value)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			b.Write(line.Value(source))
		}
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		addText(b, c, source)
	}
	if n.Type() == ast.TypeBlock || n.Kind() == extast.KindTableCell {
		b.WriteByte(' ')
	}
}

// mostText returns how much of a passage the search looks through, in bytes: the index is loaded whole. Classes and
// learners repeat the parameters of the graph.
func mostText(p *page) int {
	if p.group == "Python" || p.group == "Learners" {
		return 1200
	}
	return 4000
}

// passagesOf cuts a page at its headings.
func passagesOf(tree ast.Node, source []byte, p *page) []passage {
	var out []passage
	var b strings.Builder
	end := func() {
		if len(out) > 0 {
			words := strings.Join(strings.Fields(b.String()), " ")
			if len(words) > mostText(p) {
				words = strings.ToValidUTF8(words[:mostText(p)], "")
			}
			out[len(out)-1].text = words
		}
		b.Reset()
	}

	k := 0
	for n := tree.FirstChild(); n != nil; n = n.NextSibling() {
		if _, ok := n.(*ast.Heading); !ok {
			addText(&b, n, source)
			continue
		}
		end()
		h := p.headings[k]
		k++
		if h.Level == 1 {
			h.ID = ""
		}
		out = append(out, passage{id: h.ID, title: h.Text})
	}
	end()
	return out
}
