package main

import (
	"context"
	"html"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/internal/view/browsertest"
)

const root = "../.."

// TestSite makes the site of this checkout, follows its links, and opens it in a browser.
func TestSite(t *testing.T) {
	if testing.Short() {
		t.Skip("the site takes some 15 s; left out with -short")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash to draw the gallery with")
	}
	dir := filepath.Join(t.TempDir(), "site")
	s := &site{root: root, python: "/usr/bin/python3", notes: io.Discard}
	if err := s.make(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	built := readSite(t, dir)

	t.Run("pages", func(t *testing.T) { checkPages(t, s, built) })
	t.Run("links", func(t *testing.T) { followLinks(t, built) })
	t.Run("glossary", func(t *testing.T) { checkTerms(t, built) })
	t.Run("again", func(t *testing.T) {
		// A folder that the program wrote is replaced, and one with a file of somebody else is not.
		if err := os.WriteFile(filepath.Join(dir, "mine.txt"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := s.make(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "mine.txt") {
			t.Errorf("the folder is written over: %v", err)
		}
		if err := os.Remove(filepath.Join(dir, "mine.txt")); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("search", func(t *testing.T) { search(t, dir) })
	t.Run("browser", func(t *testing.T) { browsertest.Fits(t, dir, looks(s)) })
}

// readSite reads the pages of a built site, and names its other files with empty contents.
func readSite(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		out[name] = ""
		if strings.HasSuffix(name, ".html") && !strings.HasPrefix(name, "gallery/") {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			out[name] = string(content)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkPages looks for a page of each kind.
func checkPages(t *testing.T, s *site, built map[string]string) {
	for name, has := range map[string]string{
		"index.html":                       "Tutorial",
		"glossary.html":                    "Graph Laplacian",
		"gallery.html":                     "<svg class=\"chart\"",
		"tutorial/1-embeddings.html":       "rel=\"next\"",
		"howto/audit.html":                 "<table>",
		"howto/coming-from.html":           `<a href="../reference/commands/tune.html"><code>bigfit tune`,
		"reference/commands/fit.html":      "--checkpoint",
		"reference/commands/data.html":     "sparse",
		"reference/learners/laprls.html":   "γ_I fᵀLᵖf",
		"reference/go/knn.html":            "type Index",
		"reference/formats.html":           "indptr",
		"evidence/runs.html":               "go run ./bench/reproduce moons",
		"evidence/papers.html":             "2004 Table 1",
		"design/architecture.html":         "internal/num/par",
		"reference/python/index.html":      "scikit-learn",
		"files/CITATION.cff":               "",
		"files/docs/guide/service/main.go": "",
		"gallery/map.svg":                  "",
		"gallery/report.html":              "",
		"assets/search.js":                 "",
	} {
		page, there := built[name]
		if !there || !strings.Contains(page, has) {
			t.Errorf("%s is not there, or does not have %q", name, has)
		}
	}

	// Every page of docs has its place, also those that are new.
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(docs) < 10 {
		t.Fatalf("%d pages, %v", len(docs), err)
	}
	for _, file := range docs {
		if s.bySource["docs/"+filepath.Base(file)] == nil {
			t.Errorf("%s has no page", file)
		}
	}
}

var (
	reference  = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	loaded     = regexp.MustCompile(`<(?:link|script|img|iframe)[^>]*(?:href|src)="([^"]*)"`)
	identified = regexp.MustCompile(` id="([^"]+)"`)
)

// followLinks follows every link of every page, to files and to places in them. Nothing is loaded from a network.
func followLinks(t *testing.T, built map[string]string) {
	places := map[string]bool{}
	for name, page := range built {
		for _, m := range identified.FindAllStringSubmatch(page, -1) {
			if places[name+"#"+m[1]] {
				t.Errorf("%s has two places %s", name, m[1])
			}
			places[name+"#"+m[1]] = true
		}
	}

	followed := 0
	for name, page := range built {
		for _, m := range loaded.FindAllStringSubmatch(page, -1) {
			if strings.Contains(m[1], "//") && !strings.HasPrefix(m[1], "data:") {
				t.Errorf("%s loads %s", name, m[1])
			}
		}
		for _, m := range reference.FindAllStringSubmatch(page, -1) {
			to := html.UnescapeString(m[1])
			if strings.Contains(to, "://") || strings.HasPrefix(to, "data:") {
				continue
			}
			followed++
			file, place, _ := strings.Cut(to, "#")
			target := name
			if file != "" {
				target = path.Join(path.Dir(name), file)
			}
			place, err := url.PathUnescape(place)
			if err != nil {
				t.Errorf("%s links to %s: %v", name, to, err)
			}
			if _, there := built[target]; !there {
				t.Errorf("%s links to %s, which is not there", name, to)
			} else if place != "" && !places[target+"#"+place] {
				t.Errorf("%s links to %s, which has no such place", name, to)
			}
		}
	}
	if followed < 2000 {
		t.Errorf("only %d links were followed", followed)
	}
}

// checkTerms looks at links to the glossary: the first use on a page, and no other.
func checkTerms(t *testing.T, built map[string]string) {
	term := regexp.MustCompile(`<a href="[^"]*glossary\.html#([^"]+)" class="term">`)
	linked := map[string]bool{}
	for name, page := range built {
		seen := map[string]bool{}
		for _, m := range term.FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Errorf("%s links %s twice", name, m[1])
			}
			seen[m[1]], linked[m[1]] = true, true
		}
		if name == "glossary.html" && len(seen) > 0 {
			t.Error("the glossary links to itself")
		}
	}
	if !linked["graph-laplacian-laplacian"] || len(linked) < 30 {
		t.Errorf("%d terms are linked", len(linked))
	}
}

// search types into the box of a page and reads what it finds.
func search(t *testing.T, dir string) {
	const script = `
const box = doc.getElementById("search"), list = doc.getElementById("found");
const pause = () => new Promise(done => win.setTimeout(done, 200));
const find = async words => {
  box.value = words;
  box.dispatchEvent(new win.Event("input"));
  for (let i = 0; i < 50 && list.children.length === 0; i++) await pause();
  await pause();
  return Array.from(list.querySelectorAll("a"), a => a.getAttribute("href"));
};
return (async () => {
  const fit = await find("bigfit fit"), suspects = await find("confident learning wrong"), none = await find("zyzzyva");
  return [fit[0] || "", suspects.join(" "), none.length + list.textContent];
})();`
	found := browsertest.Run(t, dir, "howto/audit.html", 1200, script)
	if len(found) != 3 || found[0] != "../reference/commands/fit.html" || !strings.Contains(found[1], "audit.html") ||
		!strings.HasPrefix(found[2], "0") {
		t.Errorf("the search finds %q", found)
	}
}

// looks are the pages that a browser opens: all that people wrote, and some of each kind that is made.
func looks(s *site) (out []string) {
	const ofGroup = 4
	groups := map[string]int{}
	for _, p := range s.pages {
		if p.group != "" && p.source == "" {
			if groups[p.group]++; groups[p.group] > ofGroup {
				continue
			}
		}
		out = append(out, p.path)
	}
	return out
}

// TestBrokenLinks gives pages whose links lead nowhere.
func TestBrokenLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, fault string }{
		{"[here](other.md)", ""},
		{"[here](other.md#second-part)", ""},
		{"[here](#a-page)", ""},
		{"[there](https://example.org/x)", ""},
		{"[file](../LICENSE)", ""},
		{"[here](none.md)", "docs/page.md links to none.md, and the checkout has no such file"},
		{"[here](other.md#third-part)", "docs/page.md links to other.md#third-part, and docs/other.md has no such place"},
		{"[folder](../docs)", "has no such file"},
		{"[outside](../../../etc/passwd)", "has no such file"},
		{"[page](site:none.html)", "which is no page"},
		{"![picture](none.png)", "has no such file"},
	} {
		s := &site{root: root, bySource: map[string]*page{}, byPath: map[string]*page{}, files: map[string]bool{},
			glossary: &glossary{find: regexp.MustCompile(`\bnever\b`)}}
		for _, p := range []*page{
			{path: "howto/page.html", source: "docs/page.md", section: sectionHowTo, text: "# A page\n\n" + c.text + "\n"},
			{path: "howto/other.html", source: "docs/other.md", section: sectionHowTo, text: "# Another\n\n## Second part\n"},
		} {
			if err := s.add(p); err != nil {
				t.Fatal(err)
			}
		}
		err := s.convert(context.Background())
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// TestDocs follows the links among the pages that people wrote, which takes no program.
func TestDocs(t *testing.T) {
	t.Parallel()
	s := &site{root: root, notes: io.Discard, bySource: map[string]*page{}, byPath: map[string]*page{}, files: map[string]bool{}}
	if err := s.addDocs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.convert(t.Context()); err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, p := range s.pages {
		links += len(p.links)
	}
	if links < 60 {
		t.Errorf("only %d links were followed", links)
	}
}

// TestHeadings names headings as GitHub does.
func TestHeadings(t *testing.T) {
	t.Parallel()
	ids := &headingIDs{taken: map[string]int{}}
	for _, c := range []struct{ heading, id string }{
		{"What is not reproduced", "what-is-not-reproduced"},
		{"Labeling in a browser: `bigfit label`", "labeling-in-a-browser-bigfit-label"},
		{"γ_A and γ_I", "γ_a-and-γ_i"},
		{"What is not reproduced", "what-is-not-reproduced-1"},
		{"1. Label embeddings", "1-label-embeddings"},
	} {
		if got := string(ids.Generate([]byte(c.heading), 0)); got != c.id {
			t.Errorf("%q is %q, want %q", c.heading, got, c.id)
		}
	}
}

// TestHelp reads a help as cobra prints it.
func TestHelp(t *testing.T) {
	t.Parallel()
	const text = `Do a thing with --size, as bigfit other does.

  bigfit thing X.npy
  bigfit thing Y.npy

The end.

Usage:
  bigfit thing X.npy [flags]

Flags:
  -n, --count int     so many | at
                      most
      --quiet-run     no output
`
	w := &helpWriter{known: map[string]bool{"other": true}}
	got := w.markdown(splitHelp(text))
	for _, want := range []string{
		"Do a thing with `--size`, as [`bigfit other`](site:reference/commands/other.html) does.",
		"```\nbigfit thing X.npy\nbigfit thing Y.npy\n```",
		"The end.",
		"## Usage\n\n```\nbigfit thing X.npy [flags]\n```",
		"| `-n`, `--count` | int | so many \\| at most |",
		"| `--quiet-run` |  | no output |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// TestDocstring turns numpydoc into Markdown.
func TestDocstring(t *testing.T) {
	t.Parallel()
	got := docstring("Fit a :class:`Thing` to ``X``.\n\nParameters\n----------\nX : array of shape (n, d)\n    The *points*.\n**rest\n    Others.\n")
	for _, want := range []string{"Fit a `Thing` to `X`.", "**Parameters**", "- `X` : array of shape (n, d)", `The \*points\*.`, "- `**rest`"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// TestWithoutPython leaves the classes out, and says so.
func TestWithoutPython(t *testing.T) {
	t.Parallel()
	var notes strings.Builder
	s := &site{root: root, python: "no-such-python", notes: &notes, bySource: map[string]*page{}, byPath: map[string]*page{}}
	if err := s.addPython(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(s.pages) != 1 || !strings.Contains(s.pages[0].text, "without NumPy") || !strings.Contains(notes.String(), "left out") {
		t.Errorf("%d pages; %s", len(s.pages), notes.String())
	}
}

// TestGalleryFiles lists what the gallery copies.
func TestGalleryFiles(t *testing.T) {
	t.Parallel()
	files := galleryFiles()
	for _, want := range []string{"rls.svg", "map.svg", "digits/report.html", "report.html"} {
		if !slices.Contains(files, want) {
			t.Errorf("%s is not among %v", want, files)
		}
	}
}
