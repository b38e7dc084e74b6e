package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/view/chart"
)

// assets are the template of pages, the style sheet and the script.
//
//go:embed assets
var assets embed.FS

var pageTemplate = template.Must(template.ParseFS(assets, "assets/page.html"))

// A view is what the template of a page sees.
type view struct {
	Title, Root, Version string
	Lead, Body           template.HTML // the lead is the begin of the front page
	Nav                  []navSection
	Contents             []heading
	Before, After        *navPage
	Front                bool
	Kind                 string // of pages with a look of their own
	Cards                []navPage
}

// A navSection is a part of the navigation.
type navSection struct {
	Title string
	Open  bool
	Pages []navPage
}

// A navPage is a link in lists of pages.
type navPage struct {
	Title, About, URL string
	Here              bool
	Pages             []navPage // of a group, listed only on its pages
}

// write writes all files of the site to a folder.
func (s *site) write(dir string) error {
	for _, p := range s.pages {
		var b bytes.Buffer
		if err := pageTemplate.Execute(&b, s.view(p)); err != nil {
			return err
		}
		if err := writeFile(filepath.Join(dir, filepath.FromSlash(p.path)), b.Bytes()); err != nil {
			return err
		}
	}
	for file := range s.files {
		from := filepath.Join(s.root, filepath.FromSlash(file))
		if err := copyFile(from, filepath.Join(dir, "files", filepath.FromSlash(file))); err != nil {
			return err
		}
	}
	if err := s.writeGallery(dir); err != nil {
		return err
	}

	// Charts of reports and the pages have the same colours.
	style, err := assets.ReadFile("assets/style.css")
	if err != nil {
		return err
	}
	script, err := assets.ReadFile("assets/site.js")
	if err != nil {
		return err
	}
	index, err := s.searchIndex()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"style.css": append([]byte(chart.CSS()), style...), "site.js": script, "search.js": index} {
		if err := writeFile(filepath.Join(dir, "assets", name), content); err != nil {
			return err
		}
	}
	return nil
}

// view is a page as the template sees it.
func (s *site) view(p *page) *view {
	v := &view{Title: p.short, Root: strings.Repeat("../", strings.Count(p.path, "/")), Version: archive.Release,
		Body: template.HTML(p.body), Nav: s.navigation(p), Front: p.path == "index.html"}
	for _, h := range p.headings {
		if (h.Level == 2 || h.Level == 3) && h.ID != "" {
			v.Contents = append(v.Contents, h)
		}
	}

	// Long pages of code name their types, and these are enough.
	if len(v.Contents) > 60 {
		v.Contents = slices.DeleteFunc(v.Contents, func(h heading) bool { return h.Level == 3 })
	}
	if len(v.Contents) < 2 {
		v.Contents = nil
	}
	if v.Front {
		// The ways on stand below the first paragraph, which says what bigfit is.
		head, rest, _ := strings.Cut(p.body, "</p>")
		v.Lead, v.Body = template.HTML(head+"</p>"), template.HTML(rest)
		v.Title = "bigfit: semi-supervised learning on graphs"
		v.Cards = s.cards()
		v.Kind = "front"
	}
	if p.source == glossarySource {
		v.Kind = "glossary"
	}
	if p.section == sectionTutorial {
		v.Before, v.After = s.neighbours(p)
	}
	return v
}

// neighbours are the pages before and behind a page in its section.
func (s *site) neighbours(p *page) (before, after *navPage) {
	var list []*page
	for _, other := range s.pages {
		if other.section == p.section {
			list = append(list, other)
		}
	}
	at := slices.Index(list, p)
	if at > 0 {
		before = &navPage{Title: list[at-1].short, URL: relative(p.path, list[at-1].path)}
	}
	if at+1 < len(list) {
		after = &navPage{Title: list[at+1].short, URL: relative(p.path, list[at+1].path)}
	}
	return before, after
}

// cards are the ways on from the front page.
func (s *site) cards() []navPage {
	var out []navPage
	for _, c := range sections[1:] {
		out = append(out, navPage{Title: c.title, About: c.about, URL: firstOf(s.pages, c)})
	}
	return append(out, navPage{Title: "Gallery", About: "Pictures that the program draws, with their commands.", URL: "gallery.html"})
}

// firstOf is the first page of a section.
func firstOf(pages []*page, c *section) string {
	for _, p := range pages {
		if p.section == c {
			return p.path
		}
	}
	return "index.html"
}

// navigation lists the sections. A group stands as its first page, and its other pages below it where one of them is shown.
func (s *site) navigation(here *page) []navSection {
	var out []navSection
	for _, c := range sections {
		n := navSection{Title: c.title, Open: c == here.section || c == sectionStart}
		groups := map[string]int{}
		for _, p := range s.pages {
			if p.section != c {
				continue
			}
			entry := navPage{Title: p.short, URL: relative(here.path, p.path), Here: p == here}
			if entry.URL == "" {
				entry.URL = filepath.Base(p.path)
			}
			if p.group == "" {
				n.Pages = append(n.Pages, entry)
				continue
			}
			at, known := groups[p.group]
			if !known {
				groups[p.group] = len(n.Pages)
				entry.Title = p.group
				n.Pages = append(n.Pages, entry)
				continue
			}
			if p.group == here.group {
				n.Pages[at].Pages = append(n.Pages[at].Pages, entry)
			}
		}
		out = append(out, n)
	}
	out[0].Pages[0].Title = "Overview"
	return out
}

// searchIndex is a script with all passages: page, heading, address and text of each.
func (s *site) searchIndex() ([]byte, error) {
	var list [][4]string
	for _, p := range s.pages {
		for _, part := range p.passages {
			url := p.path
			if part.id != "" {
				url += "#" + part.id
			}
			list = append(list, [4]string{p.short, part.title, url, part.text})
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "window.passages = %s;\n", text), nil
}

// writeFile writes a file of the site, and the folders above it.
func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o666)
}

// copyFile copies a file.
func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, content)
}
