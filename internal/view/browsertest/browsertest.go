// Package browsertest opens pages in a headless browser and judges them, for tests.
package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// browserNames are the names of the programs of Chromium and of browsers made from it.
var browserNames = []string{"chromium", "chromium-browser", "google-chrome", "chrome"}

// judge is a page that loads each report in frames of some widths and writes their faults
// into itself: an overflow of the page, parts of pictures and text beyond the frame, tables
// that are cut off, and errors of scripts.
const judge = `<!DOCTYPE html><meta charset="utf-8"><title>judge</title><pre id="out"></pre><script>
const pages = %s, widths = [400, 1200], found = [];
function look(page, width, doc) {
  const say = text => found.push(page + " at " + width + " px: " + text), root = doc.documentElement;
  if (root.scrollWidth > root.clientWidth) say("the page is " + root.scrollWidth + " px wide");
  let figures = 0;
  const parts = "svg.chart *, figcaption, h1, h2, h3, p, dl div, .strip li, .legend li";
  for (const e of doc.querySelectorAll(parts)) {
    if (!e.getBoundingClientRect || e.closest("title")) continue;
    const r = e.getBoundingClientRect();
    if (r.width > 0 && (r.left < -1 || r.right > root.clientWidth + 1))
      say(e.tagName + " \"" + e.textContent.slice(0, 40) + "\" from " + r.left + " to " + r.right);
  }
  for (const s of doc.querySelectorAll("svg.chart")) {
    figures++;
    const frame = s.getBoundingClientRect();
    for (const e of s.querySelectorAll("path, text, image")) {
      const r = e.getBoundingClientRect();
      if (r.top < frame.top - 2 || r.bottom > frame.bottom + 2)
        say(e.tagName + " \"" + e.textContent + "\" above or below its picture");
    }
  }
  for (const t of doc.querySelectorAll("table")) {
    const box = t.closest(".scroll");
    if (t.scrollWidth > box.clientWidth && doc.defaultView.getComputedStyle(box).overflowX !== "auto")
      say("a table that cannot be scrolled");
    if (box.scrollWidth > box.clientWidth && box.offsetHeight - box.clientHeight < 4)
      say("a table of " + box.scrollWidth + " px in " + box.clientWidth + " without a scrollbar");
  }
  found.push("looked: " + page + " " + width + " " + figures);
}
let left = pages.length * widths.length;
for (const page of pages) for (const width of widths) {
  const f = document.createElement("iframe");
  f.style.width = width + "px"; f.style.height = "900px";
  f.onload = () => {
    for (const d of f.contentDocument.querySelectorAll("details")) d.open = true;
    // Scrollbars of what was opened are there after a while.
    setTimeout(() => {
      look(page, width, f.contentDocument);
      if (--left === 0) document.getElementById("out").textContent = JSON.stringify(found);
    }, 300);
  };
  f.src = page;
  document.body.appendChild(f);
  f.contentWindow.onerror = m => found.push(page + ": " + m);
}
</script>`

// actor is a page that loads a report in a frame, runs a script with the document of the report as
// doc, and writes what the script returns into itself.
const actor = `<!DOCTYPE html><meta charset="utf-8"><title>actor</title><pre id="out"></pre>
<iframe id="frame" style="width:%dpx;height:1200px" src=%q></iframe><script>
document.getElementById("frame").onload = async e => {
  const win = e.target.contentWindow, doc = win.document;
  let found = [];
  try { found = await (() => { %s })(); } catch (fault) { found = ["fault: " + fault]; }
  document.getElementById("out").textContent = JSON.stringify(found);
};
</script>`

// findBrowser returns the program of a browser. Without one the test skips.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range browserNames {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium to open reports in (on Debian: apt-get install chromium)")
	return ""
}

// browse opens the pages of a folder in a headless browser, judges them, and returns the
// findings and the messages of the console. Without a browser the test skips.
func browse(t *testing.T, dir string, pages []string) (found []string, console string) {
	t.Helper()
	list, err := json.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	return visit(t, dir, fmt.Sprintf(judge, list))
}

// Run opens a page of a folder in a frame of a width in pixels and runs a script, the body of a
// function that sees the document doc and the window win of the page, and returns an array of texts or a promise of one.
// The console must stay empty. Without a browser the test skips.
func Run(t *testing.T, dir, page string, width int, script string) []string {
	t.Helper()
	found, console := visit(t, dir, fmt.Sprintf(actor, width, "/"+page, script))
	if console != "" {
		t.Errorf("the console says:\n%s", console)
	}
	return found
}

// visit serves the files of a folder, opens content as a page beside them, and returns the texts that
// the page writes into itself and the messages of the console.
func visit(t *testing.T, dir, content string) (found []string, console string) {
	t.Helper()
	browser := findBrowser(t)

	// Frames of pages from files count as foreign to each other, so the pages come from a server.
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) {})
	mux.HandleFunc("/judge", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content) })
	server := httptest.NewServer(mux)
	defer server.Close()

	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()

	// The budget of virtual time lets all frames load before the page is printed.

	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage", "--enable-logging=stderr", "--user-data-dir="+t.TempDir(),
		"--window-size=1300,1000", "--virtual-time-budget=20000", "--dump-dom", server.URL+"/judge")
	var out, stderr bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &stderr
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, stderr.String())
	}

	text := regexp.MustCompile(`(?s)<pre id="out">(.*?)</pre>`).FindStringSubmatch(out.String())
	if text == nil || text[1] == "" {
		t.Fatalf("the pages were not looked at:\n%s\n%s", out.String(), stderr.String())
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(text[1])), &found); err != nil {
		t.Fatal(err)
	}

	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			console += line
		}
	}
	return found, console
}

// Fits opens pages of a folder and fails the test if anything but a table is wider than a window of 400 or 1200 pixels,
// if a wide table does not show that it scrolls, or if the console says something.
func Fits(t *testing.T, dir string, pages []string) {
	t.Helper()
	check(t, dir, pages, false)
}

// Check does what [Fits] does, and fails the test if a page has no picture.
//
// The environment variable REPORTS names a folder that the pages are copied to, to be looked
// at by a person.
func Check(t *testing.T, dir string, pages []string) {
	t.Helper()
	check(t, dir, pages, true)
	keep := os.Getenv("REPORTS")
	if keep == "" {
		return
	}
	for _, p := range pages {
		page, err := os.ReadFile(filepath.Join(dir, p))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(keep, p)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(keep, p), page, 0o644)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// check opens pages and judges them.
func check(t *testing.T, dir string, pages []string, pictures bool) {
	t.Helper()
	found, console := browse(t, dir, pages)
	if console != "" {
		t.Errorf("the console says:\n%s", console)
	}

	// A page that never loaded would have no fault, so the visits are counted.
	looked := 0
	for _, f := range found {
		if strings.HasPrefix(f, "looked: ") {
			looked++
			if pictures && strings.HasSuffix(f, " 0") {
				t.Errorf("%s: no picture in it", f)
			}
			continue
		}
		t.Error(f)
	}
	if looked != 2*len(pages) {
		t.Errorf("%d pages looked at, want %d", looked, 2*len(pages))
	}
}
