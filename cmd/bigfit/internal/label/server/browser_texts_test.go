package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/page"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/queue"
)

// Texts of all lengths under forty-five classes, some of long names, are labeled by the keyboard alone, from the first
// to Finish; nothing is cut off or wider than its window, and each thing to press has a name.
func TestBrowserTexts(t *testing.T) {
	b := open(t)
	x, y := digits(200, 0)
	texts := make([]string, 200)
	for i := range texts {
		texts[i] = strings.TrimSpace(strings.Repeat("Where is my order? It should have been here on Monday. ", 1+i*i%40)) +
			strings.Repeat("a", i)
	}
	var classes []string
	for k := range 45 {
		classes = append(classes, fmt.Sprintf("%s %d", []string{"refund", "a question about a delivery that is late", strings.Repeat("w", 60)}[k%3], k))
	}
	c := &page.Content{Points: x, Columns: []page.Column{{Name: "text", Kind: page.Text, Texts: texts},
		{Name: "columns", Kind: page.Chart}}}
	l := serve(t, x, y, c, queue.Settings{Classes: classes})
	b.window(1200, "light")
	b.run(navigate(l.url))
	b.until(ready)

	for k, w := range []struct {
		width  int
		scheme string
	}{{1200, "light"}, {400, "dark"}} {
		b.window(w.width, w.scheme)
		b.fits(fmt.Sprintf("text at %d", w.width))
		b.picture(fmt.Sprintf("text-%d", w.width))
		b.answer(classes[2*k], false)

		// A class without a key is found by its name.
		before := b.text("actions.length")
		b.run(chromedp.KeyEvent(kb.Enter))
		b.until(`document.activeElement.id === "name"`)
		b.run(chromedp.KeyEvent(classes[40+k]), chromedp.KeyEvent(kb.Enter))
		b.until("actions.length > " + before + " && " + ready)

		b.run(chromedp.KeyEvent(","))
		b.until("question.items.length > 1 && " + ready)
		b.fits(fmt.Sprintf("texts at %d", w.width))
		b.picture(fmt.Sprintf("texts-%d", w.width))

		// The first of the group is taken out, and the others labeled.
		size := b.text("question.items.length")
		was := l.queue.State().Labeled
		b.run(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(" "))
		b.answer(classes[k], false)
		if got := fmt.Sprint(l.queue.State().Labeled - was + 1); got != size {
			t.Errorf("a group of %s without its first gives %s labels less one", size, got)
		}
		b.run(chromedp.KeyEvent(","))
		b.until("question.items.length === 1 && " + ready)
		if got := l.queue.State().Labeled; got < 2*(k+1) {
			t.Errorf("%d labels", got)
		}
	}

	// After a press on a button far below, the next question is in sight.
	b.run(chromedp.Click(chromedp.CSS("#skip")))
	b.until(`document.getElementById("said").textContent === "Skipped." && ` + ready)
	if top := b.text(`Math.round(document.getElementById("question").getBoundingClientRect().top)`); strings.HasPrefix(top, "-") {
		t.Errorf("the next question begins at %s", top)
	}

	// What a screen reader says of each thing that can be pressed or looked at.
	b.text(`document.querySelector("details").open = true`)
	nameless := b.text(`[...document.querySelectorAll("button, input, img, svg, audio, section, [role]")].filter(e =>
		!(e.getAttribute("aria-label") || e.getAttribute("aria-hidden") || e.getAttribute("aria-labelledby") || e.alt || e.textContent.trim() ||
		  e.labels && e.labels.length || e.closest("[hidden]") || e.getAttribute("role") === "status")).map(e => e.outerHTML.slice(0, 80)).join("; ")`)
	if nameless != "" {
		t.Errorf("without a name: %s", nameless)
	}
	b.fits("keys at 400")
	b.text("scrollTo(0, document.body.scrollHeight)")
	b.picture("keys-400")

	// Finish by the keyboard: the first stop of the Tab key on the page.
	b.text("(document.activeElement.blur(), scrollTo(0, 0))")
	b.run(navigate(l.url))
	b.until(ready)
	b.run(chromedp.KeyEvent(kb.Tab))
	b.until(`document.activeElement.id === "finish"`)
	b.run(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter))
	select {
	case <-l.srv.Done():
	case <-time.After(time.Minute):
		t.Error("Finish does not end the server")
	}
	b.quiet()
}

// The page, its script, style and pictures of a group are below 300 kB together.
func TestWeight(t *testing.T) {
	x, y := digits(400, 0)
	l := serve(t, x, y, images(x), queue.Settings{})
	if err := l.queue.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, path := range []string{"", "label.css", "label.js", "icon.png", "state", "next?tab=t&grid=1"} {
		code, text, _ := l.send(t, request{path: path})
		if code != 200 {
			t.Fatalf("%s: %d %s", path, code, text)
		}
		total += len(text)
	}
	for _, i := range l.queue.Ask("u", true, true).Points {
		_, text, _ := l.send(t, request{path: fmt.Sprintf("pixels/%d", i)})
		total += len(text)
	}
	t.Logf("%d bytes", total)
	if total > 300_000 {
		t.Errorf("the page takes %d bytes", total)
	}
}
