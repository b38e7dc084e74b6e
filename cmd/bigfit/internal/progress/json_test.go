package progress

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	c := &clock{time.Unix(1e9, 0)}
	s := NewJSON(&b)
	s.now = c.now
	st := s.Stage("graph\x1b")
	for i := range 25 {
		c.pass(500 * time.Millisecond)
		st.Update(float64(i), 100, "tree\n2")
	}
	_, _ = s.Write([]byte("a note\nhalf"))
	st.Update(1, 0, "")
	c.pass(2 * time.Second)
	st.Update(math.NaN(), math.Inf(1), "")
	st.Done("done")
	st.Update(1, 1, "late")
	s.Stage("never ends")
	s.Close()
	s.Error("two\nlines", "memory")
	var kinds []string
	for line := range strings.Lines(b.String()) {
		var e Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		kinds = append(kinds, e.Event)
		if e.Stage == "graph\x1b" || strings.Contains(e.Note, "tree\n") {
			t.Errorf("%+v is not plain", e)
		}
		if e.Event == "update" && e.Total != 100 && e.Total != 0 {
			t.Errorf("%+v", e)
		}
	}
	// 12 of the 25 updates are a second apart.
	want := "begin" + strings.Repeat(" update", 12) + " note update end begin end note error"
	equal(t, strings.Join(kinds, " "), want)
	kept := 0
	for _, e := range s.Events() {
		if e.Event == "update" {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d updates are kept, want that after ten seconds", kept)
	}
	if text := b.String(); !strings.Contains(text, `"note":"half"`) || !strings.Contains(text, `"note":"two\nlines","kind":"memory"`) {
		t.Error(text)
	}
	quiet := Quiet()
	quiet.Stage("x").Done("y")
	if e := quiet.Events(); len(e) != 2 || e[1].Note != "y" {
		t.Errorf("%+v", e)
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"plain ‖x‖² – 80 %\n\tγ": "plain ‖x‖² – 80 %\n\tγ", "\x1b[31m": `\x1b[31m`, "\r": `\r`, "a\x00b": `a\x00b`, "\u202e": `\u202e`,
		"\u2028": `\u2028`, "\u009b": `\u009b`, "\x7f": `\x7f`, "\xff\xfe": `\xff\xfe`, "\ufffd": "\ufffd", "\u200b": `\u200b`, "日本": "日本", "\U000e0001": `\U000e0001`,
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	equal(t, oneLine(" a\nb\tc "), `a\nb\tc`)
	q := NewQuoter([]string{"graph", "a\nb", "--output=c\x1b", "=d\n", "plain"})
	equal(t, q.Plain("a\nb: c\x1b: =d\n: plain\n"), "\"a\\nb\": \"c\\x1b\": \"=d\\n\": plain\n")
	equal(t, (*Quoter)(nil).Plain("a\nb\x1b"), "a\nb\\x1b")
}
