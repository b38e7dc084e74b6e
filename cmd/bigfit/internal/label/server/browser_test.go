package server_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/queue"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

// browser is a window of a headless Chromium.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	messages []string // of the console
}

// open opens a browser. Without one the test skips.
func open(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium to label in (on Debian: apt-get install chromium)")
	}
	b := &browser{t: t}
	all, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(all, chromedp.WithListener(b.hear), chromedp.WithAllocatorOptions(
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true)))
	t.Cleanup(cancel)
	b.ctx = ctx

	// The test is not deaf.
	b.run(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, cdplog.Enable, cdp.Empty{})
		return err
	}))
	b.text(`console.error("planted")`)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.messages) == 0 {
		t.Error("a message of the console is not heard")
	}
	b.messages = nil
	return b
}

// hear keeps what the console says.
func (b *browser) hear(event any) {
	text := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		text = "console." + string(e.Type)
		for _, a := range e.Args {
			text += " " + string(a.Value)
		}
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			text += " " + x.Description
		}
	case *cdplog.EventEntryAdded:
		text = e.Entry.Text + " " + e.Entry.URL
	default:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, text)
}

// run runs actions of the browser.
func (b *browser) run(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// text evaluates an expression of JavaScript to a text.
func (b *browser) text(script string) string {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+script+")"))
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// until waits until an expression is true.
func (b *browser) until(script string) {
	b.t.Helper()
	_, err := chromedp.Run(b.ctx, chromedp.Poll[bool]("!!("+script+")", chromedp.WithPollingTimeout(2*time.Minute)))
	if err != nil {
		b.t.Fatalf("%s: %v; the page says %q", script, err, b.text(`document.getElementById("fault").textContent`))
	}
}

// window sets the size and the colours.
func (b *browser) window(width int, scheme string) {
	b.t.Helper()
	b.run(chromedp.EmulateViewport(int64(width), 860), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	}))
}

// picture keeps a screenshot in the folder of the environment variable REPORTS, to be looked at by a person.
func (b *browser) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("REPORTS")
	if dir == "" {
		return
	}
	content, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), content, 0o644); err != nil {
		b.t.Error(err)
	}
}

// quiet fails the test if the console said anything.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range b.messages {
		b.t.Errorf("the console says: %s", m)
	}
	b.messages = nil
}

// fits fails the test if the page is wider than its window or a text is cut off at its side.
func (b *browser) fits(what string) {
	b.t.Helper()
	script := `(() => {
		const root = document.documentElement, wide = [];
		if (root.scrollWidth > root.clientWidth) wide.push("page " + root.scrollWidth);
		for (const e of document.querySelectorAll("button, input, p, h1, img, svg#curve")) {
			const r = e.getBoundingClientRect();
			if (r.width > 0 && (r.left < -1 || r.right > root.clientWidth + 1)) wide.push(e.tagName + " " + e.textContent.slice(0, 30));
		}
		return wide.join("; ");
	})()`
	if found := b.text(script); found != "" {
		b.t.Errorf("%s: wider than the window: %s", what, found)
	}
}

// ready is true when the page shows a question and does nothing else.
const ready = `document.querySelector("#items img, #items p") && !busy && question && Array.from(document.images).every(i => i.complete)`

// point returns the number of the point that is shown.
func (b *browser) point() int {
	b.t.Helper()
	i, err := strconv.Atoi(b.text("question.items[0].point"))
	if err != nil {
		b.t.Fatal(err)
	}
	return i
}

// answer labels what is shown with a class: by its key or its button if there is one, and by typing its name if
// not.
func (b *browser) answer(name string, byClick bool) {
	b.t.Helper()
	before := b.text("actions.length")
	at := b.text(fmt.Sprintf("state.classes.findIndex(c => c.name === %q)", name))
	k, err := strconv.Atoi(at)
	switch {
	case err != nil:
		b.t.Fatal(err)
	case k < 0:
		b.run(chromedp.KeyEvent(kb.Enter))
		b.until(`document.activeElement.id === "name"`)
		b.run(chromedp.KeyEvent(name), chromedp.KeyEvent(kb.Enter))
	case byClick:
		b.run(chromedp.Click(chromedp.CSS(fmt.Sprintf("#classes button:nth-child(%d)", k+1))))
	default:
		b.run(chromedp.KeyEvent(string("123456789abcdefghijklmnopqrstuvwxyz"[k])))
	}
	b.until(fmt.Sprintf("actions.length > %s && %s", before, ready))
}

// A person who knows the digits labels 60 of them from nothing, by keys and clicks, in windows of two sizes, light and
// dark; fewer than a tenth of the answers are wrong in the end.
func TestBrowserLabelsDigits(t *testing.T) {
	b := open(t)
	x, y := digits(2000, 3)
	l := serve(t, x, y, images(x), queue.Settings{})
	b.window(1200, "light")
	b.run(chromedp.Navigate(l.url))
	b.until(ready)
	name := func(i int) string { return "digit " + y.Name(y.Index[i]) }

	labeled := 0
	for k := 0; labeled < 60; k++ {
		switch k {
		case 12:
			b.picture("one-1200-light")
			b.window(400, "light")
		case 24:
			b.picture("one-400-light")
			b.window(400, "dark")
		case 36:
			b.picture("one-400-dark")
			b.window(1200, "dark")
		case 59:
			b.run(chromedp.KeyEvent("."))
			b.picture("one-1200-dark")
			b.run(chromedp.KeyEvent("."))
		}
		b.fits(fmt.Sprintf("question %d", k))

		// A slow machine is to be asked about what helps most all the same.
		if err := l.queue.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		i := b.point()
		switch k {
		case 5: // a slip, undone
			b.answer("digit "+strconv.Itoa((int(y.Index[i])+1)%10), false)
			b.run(chromedp.KeyEvent(kb.Backspace))
			b.until(`question.kind === "back" && ` + ready)
			if b.point() != i {
				t.Errorf("after undo point %d is shown, not %d", b.point(), i)
			}
		case 8: // skipped: it does not come back
			b.run(chromedp.KeyEvent(" "))
			b.until(fmt.Sprintf("question.items[0].point !== %d && %s", i, ready))
			continue
		case 9: // back and on
			b.run(chromedp.KeyEvent(kb.ArrowLeft))
			b.until(`question.kind === "back" && ` + ready)
			b.run(chromedp.KeyEvent(kb.ArrowRight))
			b.until(`question.kind !== "back" && ` + ready)
			i = b.point()
		}
		b.answer(name(i), k%3 == 0)
		labeled++
		if said := b.text(`document.getElementById("said").textContent`); said != "Saved: "+name(i)+"." {
			t.Fatalf("after label %d the page says %q", labeled, said)
		}
	}
	b.quiet()

	// All that was confirmed is in the file, and the model of it answers well.
	if err := l.queue.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(readText(t, l.path)), "\n")
	if len(rows) != 1+60+1+1+1 { // the header, a slip, its undoing and a skip
		t.Errorf("%d rows in the file", len(rows))
	}
	given := l.queue.Labels()
	for i, c := range given.Index {
		if c >= 0 && given.Name(c) != name(i) {
			t.Errorf("point %d is %s and not %s", i, given.Name(c), name(i))
		}
	}
	targets, err := models.ClassTargets(given)
	if err != nil {
		t.Fatal(err)
	}
	m, err := (&pipeline.Pipeline{}).Fit(t.Context(), all.Learner("auto"), &models.Input{Points: x, Targets: targets}, nil)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := pipeline.Training(m, false, false)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, c := range answers.Classes {
		if given.Name(c) != name(i) {
			wrong++
		}
	}
	t.Logf("%d labels, %.1f %% of %d answers are wrong; %s", len(given.Labeled()), float64(wrong)/20, len(answers.Classes),
		l.queue.State().Words)
	if !(float64(wrong) < 0.1*float64(len(answers.Classes))) {
		t.Errorf("%d of %d answers are wrong", wrong, len(answers.Classes))
	}

	// A group at once: the odd ones are taken out by the keyboard.
	for _, w := range []struct {
		width  int
		scheme string
	}{{1200, "light"}, {400, "dark"}} {
		b.window(w.width, w.scheme)
		b.run(chromedp.KeyEvent(","))
		b.until("question.items.length > 1 && " + ready)
		b.fits(fmt.Sprintf("group at %d", w.width))
		b.label(l, name)
		b.picture(fmt.Sprintf("grid-%d-%s", w.width, w.scheme))
		b.run(chromedp.KeyEvent(","))
		b.until("question.items.length === 1 && " + ready)
	}

	// Finish asks once more, and then ends.
	b.run(chromedp.Click(chromedp.CSS("#finish")), chromedp.Click(chromedp.CSS("#finish")))
	select {
	case <-l.srv.Done():
	case <-time.After(time.Minute):
		t.Error("Finish does not end the server")
	}
	b.until(`document.getElementById("finish").disabled`)
	b.picture("finished-400-dark")
	b.quiet()
}

// label labels the points of a group that are like the first, and takes the others out.
func (b *browser) label(l *labelingOf, name func(int) string) {
	b.t.Helper()
	first := name(b.point())
	count := 0
	want := map[int]bool{}
	size, _ := strconv.Atoi(b.text("question.items.length"))
	for k := range size {
		i, err := strconv.Atoi(b.text(fmt.Sprintf("question.items[%d].point", k)))
		if err != nil {
			b.t.Fatal(err)
		}
		b.run(chromedp.KeyEvent(kb.ArrowRight)) // the first press marks the first point
		if name(i) != first {
			b.run(chromedp.KeyEvent(" "))
			continue
		}
		want[i] = true
		count++
	}
	before := l.queue.State().Labeled
	b.picture(fmt.Sprintf("group-%d", size))
	b.answer(first, false)
	if got := l.queue.State().Labeled - before; got != count {
		b.t.Errorf("a group of %d gives %d labels", count, got)
	}
	given := l.queue.Labels()
	for i := range want {
		if c := given.Index[i]; c < 0 || given.Name(c) != first {
			b.t.Errorf("point %d of a group has no label %s", i, first)
		}
	}
}

// readText reads a file.
func readText(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// navigate opens an address.
func navigate(address string) chromedp.Action[chromedp.Void] { return chromedp.Navigate(address) }
