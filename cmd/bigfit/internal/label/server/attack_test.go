package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/page"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/queue"
	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/server"
)

// request is a request as a page sends it, or an attacker.
type request struct {
	method, path, host, origin, kind, body string
}

// send sends a request below the address of the page, or to a whole path that begins with a slash.
func (l *labelingOf) send(t *testing.T, q request) (int, string, http.Header) {
	t.Helper()
	base, err := url.Parse(l.url)
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + base.Host + q.path
	if !strings.HasPrefix(q.path, "/") {
		at = l.url + q.path
	}
	method := q.method
	if method == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequest(method, at, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	if q.host != "" {
		r.Host = q.host
	}
	if method == http.MethodPost && q.origin == "" {
		q.origin = "http://" + base.Host
	}
	if q.origin != "" && q.origin != "none" {
		r.Header.Set("Origin", q.origin)
	}
	if method == http.MethodPost && q.kind == "" {
		q.kind = "application/json"
	}
	if q.kind != "" {
		r.Header.Set("Content-Type", q.kind)
	}
	h := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := h.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content), response.Header
}

const good = `{"tab":"t","points":[7],"label":"x","kind":"one","seconds":1}`

// Requests that do not come from the page are refused, and change nothing.
func TestForeignRequests(t *testing.T) {
	x, y := digits(60, 0)
	l := serve(t, x, y, images(x), queue.Settings{})
	base, err := url.Parse(l.url)
	if err != nil {
		t.Fatal(err)
	}
	port := base.Port()
	long := strings.Repeat("1,", 300) + "1"
	for name, c := range map[string]struct {
		request
		want int
	}{
		"no token":             {request{path: "/"}, 403},
		"no token at all":      {request{path: "/state"}, 403},
		"another token":        {request{path: "/AAAAAAAAAAAAAAAAAAAAAA/state"}, 403},
		"token in upper case":  {request{path: strings.ToUpper(base.Path) + "state"}, 403},
		"token and more":       {request{path: strings.TrimSuffix(base.Path, "/") + "x/state"}, 403},
		"foreign host":         {request{path: "state", host: "evil.example:" + port}, 421},
		"rebound host":         {request{path: "state", host: "127.0.0.1.evil.example:" + port}, 421},
		"another port":         {request{path: "state", host: "127.0.0.1:1"}, 421},
		"foreign origin":       {request{path: "state", origin: "http://evil.example"}, 403},
		"null origin":          {request{path: "label", method: "POST", origin: "null", body: good}, 403},
		"no origin":            {request{path: "label", method: "POST", origin: "none", body: good}, 403},
		"foreign origin, POST": {request{path: "label", method: "POST", origin: "http://evil.example", body: good}, 403},
		"https origin":         {request{path: "label", method: "POST", origin: "https://" + base.Host, body: good}, 403},
		"a form":               {request{path: "label", method: "POST", kind: "application/x-www-form-urlencoded", body: good}, 415},
		"plain text":           {request{path: "label", method: "POST", kind: "text/plain", body: good}, 415},
		"GET of a change":      {request{path: "label", body: good}, 405},
		"PUT":                  {request{path: "label", method: "PUT", body: good}, 405},
		"preflight":            {request{path: "label", method: "OPTIONS", origin: "http://evil.example"}, 403},
		"dots":                 {request{path: "file/0/../../../../etc/passwd"}, 404},
		"encoded dots":         {request{path: "file/0/..%2f..%2f..%2fetc%2fpasswd"}, 404},
		"absolute":             {request{path: "file/0//etc/passwd"}, 404},
		"backslashes":          {request{path: `file/0/..%5c..%5cwindows%5cwin.ini`}, 404},
		"a column too far":     {request{path: "file/9/1"}, 404},
		"a negative column":    {request{path: "file/-1/1"}, 404},
		"a point too far":      {request{path: "pixels/60"}, 404},
		"a negative point":     {request{path: "pixels/-1"}, 404},
		"no number":            {request{path: "near/%00"}, 404},
		"too many points":      {request{path: "points?i=" + long}, 400},
		"no window":            {request{path: "next"}, 400},
		"a name too long":      {request{path: "next?tab=" + strings.Repeat("x", 100)}, 400},
		"no page":              {request{path: "label.html"}, 404},
		"no JSON":              {request{path: "label", method: "POST", body: "points=7"}, 400},
		"two values":           {request{path: "label", method: "POST", body: good + good}, 400},
		"no point":             {request{path: "label", method: "POST", body: `{"tab":"t","label":"x","kind":"one"}`}, 400},
		"a point too far, POST": {request{path: "label", method: "POST",
			body: `{"tab":"t","points":[60],"label":"x","kind":"one"}`}, 400},
		"a negative point, POST": {request{path: "label", method: "POST",
			body: `{"tab":"t","points":[-1],"label":"x","kind":"one"}`}, 400},
		"many points": {request{path: "label", method: "POST",
			body: `{"tab":"t","points":[` + long + `],"label":"x","kind":"one"}`}, 400},
		"no such kind": {request{path: "label", method: "POST", body: `{"tab":"t","points":[1],"label":"x","kind":"undo"}`}, 400},
		"a line break": {request{path: "label", method: "POST", body: `{"tab":"t","points":[1],"label":"x\ny","kind":"one"}`}, 400},
		"no class":     {request{path: "label", method: "POST", body: `{"tab":"t","points":[1],"label":"nan","kind":"one"}`}, 400},
		"a long class": {request{path: "label", method: "POST",
			body: `{"tab":"t","points":[1],"label":"` + strings.Repeat("x", 300) + `","kind":"one"}`}, 400},
		"a time": {request{path: "label", method: "POST", body: `{"tab":"t","points":[1],"label":"x","kind":"one","seconds":-1}`}, 400},
		"a huge body": {request{path: "label", method: "POST",
			body: `{"tab":"t","points":[1],"kind":"one","label":"` + strings.Repeat("x", 1<<20) + `"}`}, 413},
		"nothing to undo": {request{path: "undo", method: "POST", body: `{"action":5}`}, 400},
	} {
		code, text, head := l.send(t, c.request)
		if code != c.want {
			t.Errorf("%s: %d %s, want %d", name, code, text, c.want)
		}
		if strings.Contains(text, "root:") || head.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %s %v", name, text, head)
		}
		if !strings.HasPrefix(head.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: no policy", name)
		}
	}
	if rows := strings.Count(readText(t, l.path), "\n"); rows != 1 {
		t.Errorf("%d rows in the file", rows)
	}

	// And the page itself is served, under each name of the loopback.
	for _, host := range []string{"", "localhost:" + port, "127.0.0.1:" + port, "[::1]:" + port} {
		if code, text, _ := l.send(t, request{path: "", host: host}); code != 200 || !strings.Contains(text, "<h1>digits</h1>") {
			t.Errorf("%q: %d", host, code)
		}
	}
	if code, text, _ := l.send(t, request{path: "label", method: "POST", body: good}); code != 200 {
		t.Errorf("a good label: %d %s", code, text)
	}
	if code, _, head := l.send(t, request{path: strings.TrimSuffix(base.Path, "/")}); code != 308 || head.Get("Location") != base.Path {
		t.Errorf("without the last slash: %d %v", code, head)
	}
}

// Names of files lead nowhere but into the folder, and to pictures and sounds alone.
func TestFiles(t *testing.T) {
	outside := t.TempDir()
	dir := t.TempDir()
	write := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("content of "+filepath.Base(path)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "secret.png"))
	write(filepath.Join(dir, "sub", "good.png"))
	write(filepath.Join(dir, "secret.txt"))
	write(filepath.Join(dir, "script.svg"))
	for from, to := range map[string]string{"link.png": filepath.Join(outside, "secret.png"), "folder": outside,
		"inner.png": "sub/good.png", "up.png": "../" + filepath.Base(outside) + "/secret.png"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Skip(err)
		}
	}
	if err := exec.Command("mkfifo", filepath.Join(dir, "pipe.png")).Run(); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.png"), 0o755); err != nil {
		t.Fatal(err)
	}

	names := []struct {
		name string
		ok   bool
	}{{"sub/good.png", true}, {"sub/../sub/good.png", true}, {filepath.Join(dir, "sub", "good.png"), true}, {"inner.png", true},
		{"link.png", false}, {"up.png", false}, {"folder/secret.png", false}, {filepath.Join(outside, "secret.png"), false},
		{"../" + filepath.Base(outside) + "/secret.png", false}, {"secret.txt", false}, {"script.svg", false}, {"pipe.png", false},
		{"dir.png", false}, {"missing.png", false}, {"/etc/passwd", false}, {"/etc/passwd\x00.png", false}, {"", false},
		{strings.Repeat("a/", 4000) + "b.png", false}}
	x, y := digits(len(names), 0)
	c := images(x)
	texts := make([]string, len(names))
	for k, n := range names {
		texts[k] = n.name
	}
	c.Columns = append(c.Columns, page.Column{Name: "file", Kind: page.Image, Texts: texts})
	if err := c.OpenFolder(dir); err != nil {
		t.Fatal(err)
	}
	l := serve(t, x, y, c, queue.Settings{})
	for k, n := range names {
		code, text, head := l.send(t, request{path: fmt.Sprintf("file/1/%d", k)})
		if ok := code == 200; ok != n.ok || ok && text != "content of good.png" {
			t.Errorf("%.60q: %d %q", n.name, code, text)
		}
		if n.ok && (head.Get("Content-Type") != "image/png" || head.Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("%s: %v", n.name, head)
		}
	}
}

// Texts and names of classes reach the page as text.
func TestNoHTML(t *testing.T) {
	b := open(t)
	x, y := digits(40, 0)
	evil := `<img src=x onerror="console.error('run')"><script>console.error('run')</script>`
	texts := make([]string, 40)
	for i := range texts {
		texts[i] = evil
	}
	c := &page.Content{Points: x, Columns: []page.Column{{Name: evil, Kind: page.Text, Texts: texts}, {Name: "bars", Kind: page.Chart}}}
	l := serve(t, x, y, c, queue.Settings{Classes: []string{evil, "b"}, Annotator: evil[:20]})
	b.window(400, "light")
	b.run(navigate(l.url))
	b.until(ready)
	if got := b.text(`document.querySelector(".text").textContent`); got != evil {
		t.Errorf("the text is %q", got)
	}
	if got := b.text(`document.querySelector("#classes .label").textContent`); got != evil {
		t.Errorf("the class is %q", got)
	}
	b.fits("html")
	b.answer(evil, false)
	b.answer("b", true)
	b.until(`!document.getElementById("answer").hidden && document.getElementById("answer").textContent.includes("nearby")`)
	if got := b.text(`document.querySelectorAll("#question script, #classes img, .text img, #answer img").length`); got != "0" {
		t.Errorf("%s elements were made of texts", got)
	}
	b.picture("html-400-light")
	b.quiet()
}

// A client that sends slowly is cut off, and others are answered meanwhile; so are those beside very many connections.
func TestSlowClients(t *testing.T) {
	x, y := digits(40, 0)
	l := serve(t, x, y, images(x), queue.Settings{})
	base, err := url.Parse(l.url)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 40 {
		all.Go(func() {
			c, err := net.Dial("tcp", base.Host)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			fmt.Fprintf(c, "POST %slabel HTTP/1.1\r\nHost: %s\r\nOrigin: http://%s\r\nContent-Type: application/json\r\n"+
				"Content-Length: 100\r\n\r\n{", base.Path, base.Host, base.Host)
			// The server ends it long before this deadline.
			c.SetReadDeadline(time.Now().Add(90 * time.Second))
			began := time.Now()
			_, err = io.Copy(io.Discard, c)
			var timeout net.Error
			if late, ok := err.(net.Error); ok {
				timeout = late
			}
			if timeout != nil && timeout.Timeout() || time.Since(began) > 80*time.Second {
				t.Errorf("a slow client was served for %v", time.Since(began))
			}
		})
	}
	for range 20 {
		if code, text, _ := l.send(t, request{path: "state"}); code != 200 {
			t.Errorf("beside slow clients: %d %s", code, text)
		}
	}
	all.Wait()
}

// Connections that say nothing, and those of programs without the token, do not keep the page from its answers for
// longer than seconds.
func TestManyConnections(t *testing.T) {
	x, y := digits(40, 0)
	l := serve(t, x, y, images(x), queue.Settings{})
	base, err := url.Parse(l.url)
	if err != nil {
		t.Fatal(err)
	}
	var held []net.Conn
	defer func() {
		for _, c := range held {
			c.Close()
		}
	}()
	for k := range 300 {
		c, err := net.DialTimeout("tcp", base.Host, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		if k%2 == 0 { // these would stay for minutes if they were kept
			fmt.Fprintf(c, "GET /state HTTP/1.1\r\nHost: %s\r\n\r\n", base.Host)
		}
	}
	began := time.Now()
	if code, text, _ := l.send(t, request{path: "label", method: "POST", body: good}); code != 200 {
		t.Errorf("%d %s", code, text)
	}
	if took := time.Since(began); took > 45*time.Second {
		t.Errorf("the page waited for %v", took)
	}
}

// Texts of any size and bytes are cut for the page, and answers stay small.
func TestHugeTexts(t *testing.T) {
	x, y := digits(40, 0)
	texts := make([]string, 40)
	for i := range texts {
		texts[i] = strings.Repeat("ä\xff</script>", 200_000)
	}
	c := &page.Content{Points: x, Columns: []page.Column{{Name: strings.Repeat("n", 500), Kind: page.Text, Texts: texts}}}
	l := serve(t, x, y, c, queue.Settings{})
	code, text, head := l.send(t, request{path: "next?tab=t&settle=1"})
	var turn server.Turn
	if err := json.Unmarshal([]byte(text), &turn); code != 200 || err != nil {
		t.Fatalf("%d %v", code, err)
	}
	shown := turn.Next.Items[0].Parts[0].Text
	if n := utf8.RuneCountInString(shown); n != 20_000 || !utf8.ValidString(shown) || !strings.HasPrefix(shown, "ä�</script>") {
		t.Errorf("%d letters, %.20q", n, shown)
	}
	// A browser that took the answer for a page would find no tag in it.
	if strings.Contains(text, "<") || head.Get("Content-Type") != "application/json" || len(text) > 200_000 {
		t.Errorf("%d bytes, %v", len(text), head)
	}
}

// A full disk is an error on the page, and nothing is said to be saved.
func TestUnwritable(t *testing.T) {
	x, y := digits(40, 0)
	dir := t.TempDir()
	path := filepath.Join(dir, "labels.csv")
	l := serveFile(t, x, y, images(x), queue.Settings{}, path)
	if code, _, _ := l.send(t, request{path: "label", method: "POST", body: good}); code != 200 {
		t.Fatal(code)
	}
	before := readText(t, path)

	// A folder in place of the file cannot be written.
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	code, text, _ := l.send(t, request{path: "label", method: "POST", body: strings.Replace(good, "7", "8", 1)})
	if code != http.StatusInsufficientStorage || !strings.Contains(text, path) {
		t.Errorf("%d %s", code, text)
	}
	if s := l.queue.State(); s.Labeled != 1 {
		t.Errorf("%d labels count", s.Labeled)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if code, text, _ := l.send(t, request{path: "label", method: "POST", body: strings.Replace(good, "7", "8", 1)}); code != 200 {
		t.Errorf("with a file again: %d %s", code, text)
	}
	if after := readText(t, path); !strings.HasPrefix(after, before) || strings.Count(after, "\n") != 3 {
		t.Errorf("the file is\n%s", after)
	}
}

// Two windows are asked for different points, and labels of both are in the file.
func TestTwoTabs(t *testing.T) {
	x, y := digits(80, 0)
	l := serve(t, x, y, images(x), queue.Settings{})
	next := func(tab string) int32 {
		_, text, _ := l.send(t, request{path: "next?settle=1&tab=" + tab})
		var turn server.Turn
		if err := json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&turn); err != nil {
			t.Fatal(err)
		}
		return turn.Next.Items[0].Point
	}
	seen := map[int32]bool{}
	for k := range 10 {
		a, b := next("a"), next("b")
		if a == b || seen[a] || seen[b] {
			t.Errorf("round %d: points %d and %d", k, a, b)
		}
		for tab, i := range map[string]int32{"a": a, "b": b} {
			body := fmt.Sprintf(`{"tab":%q,"points":[%d],"label":"c%d","kind":"one"}`, tab, i, k%2)
			if code, text, _ := l.send(t, request{path: "label", method: "POST", body: body}); code != 200 {
				t.Errorf("%d %s", code, text)
			}
			seen[i] = true
		}
	}
	if rows := strings.Count(readText(t, l.path), "\n"); rows != 21 {
		t.Errorf("%d rows", rows)
	}
}
