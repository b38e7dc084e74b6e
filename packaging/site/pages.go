package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A page is one file of the site, made of Markdown.
type page struct {
	path    string // in the site, as howto/models.html
	source  string // in the checkout; empty for pages that are made here
	section *section
	group   string // of the section: its pages are listed only beside each other
	title   string // the first heading
	short   string // the title in lists, without its Markdown
	text    string // Markdown

	body     string // HTML
	headings []heading
	ids      map[string]bool // places in the body
	links    []link
	passages []passage // what the search finds
}

// A section is one part of the site, as a heading of the navigation.
type section struct {
	name, title, folder string
	about               string // on the front page
}

// The sections, in the order of the navigation.
var (
	sectionStart    = &section{name: "start", title: "bigfit"}
	sectionTutorial = &section{"tutorial", "Tutorial", "tutorial/", "Six tasks from files to answers, with what the commands print."}
	sectionHowTo    = &section{"howto", "How to", "howto/", "One page a task: label, audit, compare, run in parts, on clusters, beside other tools."}
	sectionRef      = &section{"reference", "Reference", "reference/", "Every command, model, Python class, Go package and file format."}
	sectionDesign   = &section{"design", "Design", "design/", "How the program is built, and how it is changed and released."}
	sectionEvidence = &section{"evidence", "Evidence", "evidence/", "The papers' tables beside ours, speed, growth, promises and their tests."}
)

var sections = []*section{sectionStart, sectionTutorial, sectionHowTo, sectionRef, sectionEvidence, sectionDesign}

// placed says where pages of docs belong that are no task. All others are tasks.
var placed = map[string]*section{
	"papers": sectionEvidence, "speed": sectionEvidence, "scale": sectionEvidence, "reliability": sectionEvidence,
	"probabilities": sectionEvidence, "memory": sectionEvidence,
	"models": sectionRef, "versions": sectionRef, "files": sectionRef, "guarantees": sectionRef, "formats": sectionRef,
	"install": sectionStart, "glossary": sectionStart, "coming-from": sectionStart,
}

// others are pages of the checkout outside of docs.
var others = []struct {
	source, path string
	section      *section
	group        string
}{
	{"README.md", "index.html", sectionStart, ""},
	{"python/README.md", "reference/python/index.html", sectionRef, "Python"},
	{"ARCHITECTURE.md", "design/architecture.html", sectionDesign, ""},
	{"CONTRIBUTING.md", "design/contributing.html", sectionDesign, ""},
	{"RELEASING.md", "design/releasing.html", sectionDesign, ""},
	{"CHANGELOG.md", "design/changelog.html", sectionDesign, ""},
	{"SECURITY.md", "design/security.html", sectionDesign, ""},
}

// leading are the pages that stand first in their sections, in this order; all others follow in the order of their names.
var leading = []string{
	"index.html", "howto/install.html", "howto/coming-from.html", "glossary.html", "gallery.html",
	"howto/auto.html", "howto/next.html", "howto/label.html", "howto/audit.html", "howto/report.html", "howto/soft.html",
	"reference/commands/index.html", "reference/learners/index.html", "reference/models.html", "reference/python/index.html",
	"reference/go/index.html", "reference/formats.html",
	"evidence/papers.html", "evidence/runs.html", "evidence/speed.html", "evidence/scale.html", "evidence/reliability.html",
	"evidence/probabilities.html", "evidence/memory.html",
	"design/architecture.html",
}

// arrange puts the leading pages first.
func (s *site) arrange(context.Context) error {
	rank := map[string]int{}
	for i, path := range leading {
		rank[path] = i - len(leading)
	}
	slices.SortStableFunc(s.pages, func(a, b *page) int { return rank[a.path] - rank[b.path] })
	return nil
}

// frontPages lie beside the front page, by their names.
var frontPages = []string{"glossary"}

// addDocs adds the pages that the checkout has.
func (s *site) addDocs(context.Context) error {
	for _, o := range others {
		if err := s.addSource(o.source, o.path, o.section, o.group); err != nil {
			return err
		}
	}

	guides, err := filepath.Glob(filepath.Join(s.root, "docs", "guide", "*.md"))
	if err != nil {
		return err
	}
	for _, file := range guides {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if err := s.addSource("docs/guide/"+name+".md", "tutorial/"+name+".html", sectionTutorial, ""); err != nil {
			return err
		}
	}

	pages, err := filepath.Glob(filepath.Join(s.root, "docs", "*.md"))
	if err != nil {
		return err
	}
	if len(guides) == 0 || len(pages) == 0 {
		return fmt.Errorf("%s has no docs/*.md; run this in the root of the checkout", s.root)
	}
	for _, file := range pages {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		where := placed[name]
		if where == nil {
			where = sectionHowTo
		}
		folder := where.folder
		if where == sectionStart && !slices.Contains(frontPages, name) {
			folder = "howto/"
		}
		if err := s.addSource("docs/"+name+".md", folder+name+".html", where, ""); err != nil {
			return err
		}
	}
	return s.readGlossary()
}

// addSource adds a page of the checkout.
func (s *site) addSource(source, path string, where *section, group string) error {
	text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(source)))
	if err != nil {
		return err
	}
	p := &page{path: path, source: source, section: where, group: group, text: string(text)}
	return s.add(p)
}

// add adds a page. Its title is its first heading.
func (s *site) add(p *page) error {
	for line := range strings.Lines(p.text) {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			p.title = strings.TrimSpace(title)
			break
		}
	}
	if p.title == "" {
		return fmt.Errorf("%s%s has no line that begins with \"# \", which would be its title", p.source, p.path)
	}
	if p.short == "" {
		p.short = plain(p.title)
	}
	if s.byPath[p.path] != nil {
		return fmt.Errorf("two pages are %s: %q and %q", p.path, s.byPath[p.path].title, p.title)
	}

	s.byPath[p.path] = p
	if p.source != "" {
		s.bySource[p.source] = p
	}
	s.pages = append(s.pages, p)
	return nil
}

// marks are the marks of Markdown in a heading.
var marks = regexp.MustCompile("[`*\\\\]|\\{#[^}]*\\}")

// plain is a heading without its marks.
func plain(heading string) string { return strings.TrimSpace(marks.ReplaceAllString(heading, "")) }

// special matches what means something in Markdown.
var special = regexp.MustCompile("[\\\\`*_<>\\[\\]|#]")

// escaped is text as Markdown.
func escaped(text string) string { return special.ReplaceAllString(text, `\$0`) }

// code is text as a span of code, also in cells of tables.
func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "`", "'") + "`"
}

// relative is the link from one page of the site to a file of it.
func relative(from, to string) string {
	up := strings.Repeat("../", strings.Count(from, "/"))
	folder := path.Dir(from) + "/"
	if folder != "./" && strings.HasPrefix(to, folder) {
		return strings.TrimPrefix(to, folder)
	}
	return up + to
}

// plainEnvironment is the environment without the variables that set flags of bigfit.
func plainEnvironment() []string {
	var out []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "BIGFIT_") {
			out = append(out, entry)
		}
	}
	return out
}
