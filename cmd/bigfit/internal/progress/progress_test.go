package progress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock is a time that moves only when told to.
type clock struct{ t time.Time }

func (c *clock) now() time.Time       { return c.t }
func (c *clock) pass(d time.Duration) { c.t = c.t.Add(d) }

func newSink(interactive bool) (*Sink, *bytes.Buffer, *clock) {
	var b bytes.Buffer
	c := &clock{time.Unix(1e9, 0)}
	s := New(&b, interactive)
	s.now = c.now
	return s, &b, c
}

// screen returns what a terminal shows after out.
func screen(out string) []string {
	var lines []string
	for _, l := range strings.Split(out, "\n") {
		var shown []rune
		for _, part := range strings.Split(l, "\r") {
			r := []rune(part)
			if len(r) < len(shown) {
				r = append(r, shown[len(r):]...)
			}
			shown = r
		}
		lines = append(lines, strings.TrimRight(string(shown), " "))
	}
	return lines
}

func equal(t *testing.T, got, want any) {
	t.Helper()
	if g, w := fmt.Sprintf("%q", got), fmt.Sprintf("%q", want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

func TestPipe(t *testing.T) {
	s, b, c := newSink(false)
	st := s.Stage("graph")
	for i := range 123 {
		c.pass(100 * time.Millisecond)
		st.Update(float64(i+1), 200, "tree")
	}
	st.Done("60000 points, 8 neighbours, 1 component")
	st.Done("again")
	st.Update(1, 1, "late")
	st = s.Stage("eigenpairs")
	c.pass(95 * time.Second)
	st.Done("")
	equal(t, b.String(), "graph       50%  10 s, about 10 s left  tree\n"+
		"graph        12.3 s  60000 points, 8 neighbours, 1 component\n"+
		"eigenpairs   95.0 s\n")
	equal(t, s.Stages(), []Timing{{"graph", 12.3, "60000 points, 8 neighbours, 1 component"}, {"eigenpairs", 95, ""}})
}

func TestTerminal(t *testing.T) {
	s, b, c := newSink(true)
	st := s.Stage("graph")
	equal(t, screen(b.String()), []string{"graph …"})
	for i := range 1000 {
		c.pass(10 * time.Millisecond)
		st.Update(float64(i+1), 4000, "a note that will be gone")
	}
	if n := strings.Count(b.String(), "\r"); n > 102 {
		t.Errorf("%d drawings in 10 s", n)
	}
	c.pass(time.Second)
	st.Update(1000, 4000, "")
	equal(t, screen(b.String()), []string{"graph       25%  11 s, about 29 s left"})

	// A log takes the line away; half a line waits for its end.
	logger := log.New(s, "", 0)
	logger.Print("error: no space left")
	if _, err := io.WriteString(s, "half "); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Second)
	st.Update(1000, 4000, "")
	if _, err := io.WriteString(s, "whole\nrest"); err != nil {
		t.Fatal(err)
	}
	st.Update(2000, 4000, "")
	c.pass(time.Second)
	st.Update(2000, 4000, "")
	s.Close()
	equal(t, screen(b.String()), []string{"error: no space left", "half whole", "graph        13.0 s  stopped", "rest", ""})
}

func TestLongLineIsCut(t *testing.T) {
	s, b, _ := newSink(true)
	st := s.Stage("x")
	st.Update(1, 2, strings.Repeat("é", 200))
	for _, l := range screen(b.String()) {
		if n := len([]rune(l)); n > 79 {
			t.Errorf("%d columns", n)
		}
	}
}

func TestOddNumbers(t *testing.T) {
	s, b, c := newSink(false)
	st := s.Stage("odd\x1b[2J\nname")
	for _, v := range [][2]float64{{0, 10}, {5, 0}, {math.NaN(), 10}, {5, math.NaN()}, {5, math.Inf(1)}, {20, 10}, {-1, 10}, {1e-300, 1}} {
		c.pass(printEvery)
		st.Update(v[0], v[1], "")
	}
	out := b.String()
	if strings.Contains(out, "NaN") || strings.Contains(out, "Inf") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	if n := strings.Count(out, "\n"); n != 8 {
		t.Errorf("%d lines: %q", n, out)
	}
	if !strings.Contains(out, "100%") {
		t.Errorf("more than all is not all: %q", out)
	}
}

// A stage that counts again from the beginning, and counted beyond its total, has no
// time left after 100 %, and its share does not fall.
func TestNoTimeLeftAfterAll(t *testing.T) {
	s, b, c := newSink(false)
	st := s.Stage("predict")
	for _, done := range []float64{2000, 4000, 9000, 64, 2500, 4900} {
		c.pass(printEvery)
		st.Update(done, 5000, "")
	}
	all := false
	for line := range strings.Lines(b.String()) {
		if all && (!strings.Contains(line, "100%") || strings.Contains(line, "left")) {
			t.Errorf("after 100 %%: %q", line)
		}
		all = all || strings.Contains(line, "100%")
	}
	if !all || !strings.Contains(b.String(), " left") {
		t.Error(b.String())
	}
}

func TestSpan(t *testing.T) {
	for _, c := range []struct {
		s    float64
		want string
	}{{0.2, "0 s"}, {59.4, "59 s"}, {59.6, "1 min 00 s"}, {3599.7, "1 h 00 min"}, {7385, "2 h 03 min"}} {
		equal(t, span(c.s), c.want)
	}
}

func TestNilAndQuiet(t *testing.T) {
	var s *Sink
	st := s.Stage("x")
	st.Update(1, 2, "")
	st.Done("")
	s.Close()
	if n, err := s.Write([]byte("x")); n != 1 || err != nil || s.Stages() != nil || st != nil {
		t.Error("a nil sink must do nothing")
	}
	for _, q := range []*Sink{Quiet(), New(nil, true)} {
		q.Stage("a").Done("note")
		q.Stage("b").Update(1, 2, "")
		if n, err := q.Write([]byte("x\n")); n != 2 || err != nil {
			t.Error(n, err)
		}
		q.Close()
		if got := q.Stages(); len(got) != 2 || got[0].Name != "a" || got[0].Note != "note" || got[1].Note != "stopped" {
			t.Errorf("%+v", got)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestBrokenWriter(t *testing.T) {
	s := New(broken{}, true)
	st := s.Stage("x")
	st.Update(1, 2, "")
	st.Done("")
	if _, err := s.Write([]byte("x\n")); err == nil {
		t.Error("no error")
	}
	s.Close()
}

func TestConcurrent(t *testing.T) {
	for _, interactive := range []bool{false, true} {
		var b bytes.Buffer
		s := New(&b, interactive)
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				st := s.Stage(fmt.Sprint("stage", i))
				for j := range 100 {
					st.Update(float64(j), 100, "")
					fmt.Fprintf(s, "log %d\n", i)
				}
				st.Done("ready")
				s.Stages()
			})
		}
		wg.Wait()
		s.Close()
		logs, done := 0, 0
		for _, l := range screen(b.String()) {
			switch {
			case strings.HasPrefix(l, "log ") && len(l) == 5:
				logs++
			case strings.HasPrefix(l, "stage") && strings.HasSuffix(l, "s  ready"):
				done++
			case l != "":
				t.Errorf("broken line %q", l)
			}
		}
		if logs != 800 || done != 8 || len(s.Stages()) != 8 {
			t.Errorf("interactive %v: %d logs, %d stages", interactive, logs, done)
		}
	}
}
