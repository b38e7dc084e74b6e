// Package progress shows the progress of a run on stderr, for people or as JSON
// for programs, and keeps the time of every stage for the manifest and the report.
//
// On a terminal the running stage has one line that is drawn over and over; a
// finished stage leaves one line:
//
//	graph        12.3 s  60000 points, 8 neighbours, 1 component
//
// On a pipe there is one line per finished stage, and for a long stage a line
// every ten seconds at most.
//
// Whatever else the process prints on the same terminal must go through
// [Sink.Write], which takes the live line away first; [Sink.Close] comes before
// the last words of the process.
package progress

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	drawEvery  = 100 * time.Millisecond // on a terminal
	printEvery = 10 * time.Second       // on a pipe
	etaAfter   = time.Second            // no estimate of the time left before
)

// A Sink receives the progress of a run. The methods of a sink and of its stages
// may be called from several goroutines at once. A nil *Sink does nothing and
// gives nil stages, which do nothing either.
type Sink struct {
	mu          sync.Mutex
	w           io.Writer // nil: print nothing
	interactive bool
	json        bool // lines are events
	now         func() time.Time
	width       func() int // of the terminal, in columns

	stages  []*Stage // in the order in which they began
	shown   int      // columns of the live line on the screen
	drawn   time.Time
	partial []byte // written without its end of line yet
	events  []Event
}

// A Stage is one step of a run.
type Stage struct {
	sink     *Sink
	name     string
	begun    time.Time
	pace     pace
	printed  time.Time // of the last line on a pipe
	told     time.Time // of the last event
	kept     time.Time // of the last event that Events returns
	seconds  float64
	note     string
	finished bool
}

// A Timing is a finished stage.
type Timing struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Note    string  `json:"note,omitempty"`
}

// New returns a sink that prints to w, with a live line if interactive is set.
// A nil w, like [Quiet], prints nothing and keeps the timings.
func New(w io.Writer, interactive bool) *Sink {
	s := &Sink{w: w, interactive: interactive, now: time.Now, width: func() int { return 80 }}
	if f, ok := w.(*os.File); ok && interactive {
		s.width = func() int {
			if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
				return n
			}
			return 80
		}
	}
	return s
}

// Quiet returns a sink that keeps the timings and prints nothing.
func Quiet() *Sink { return New(nil, false) }

// IsTerminal reports whether f is a terminal that can show a live line.
func IsTerminal(f *os.File) bool {
	return os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// Stage begins a stage.
func (s *Sink) Stage(name string) *Stage {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.now()
	st := &Stage{sink: s, name: oneLine(name), begun: t, pace: pace{begun: t}, printed: t, told: t, kept: t}
	s.stages = append(s.stages, st)
	s.tell(Event{Event: "begin", Stage: st.name}, true)

	if s.interactive {
		s.draw(st.name + " …")
		s.drawn = time.Time{} // the first Update may follow at once
	}
	return st
}

// Update shows that done of total units of the stage are done. A total that is not
// positive is unknown. The note describes the current work and may be empty. Update is cheap
// enough to be called in every iteration.
func (st *Stage) Update(done, total float64, note string) {
	if st == nil {
		return
	}
	s := st.sink
	s.mu.Lock()
	defer s.mu.Unlock()
	if st.finished {
		return
	}

	// A total of 0, NaN or infinity leaves the part unknown.
	t := s.now()
	if f := done / total; total > 0 && f >= 0 && !math.IsInf(total, 0) {
		st.pace.advance(t, math.Min(f, 1))
	}
	st.update(t, done, total, note)
	if s.w == nil || s.json {
		return
	}
	if s.interactive {
		if t.Sub(s.drawn) >= drawEvery {
			s.draw(st.line(t, done, total, note))
			s.drawn = t
		}
		return
	}

	if t.Sub(st.printed) >= printEvery {
		st.printed = t
		s.print(st.line(t, done, total, note))
	}
}

// Done ends the stage and prints its line, with a note on the result. Only the first
// call counts.
func (st *Stage) Done(note string) {
	if st == nil {
		return
	}
	st.sink.mu.Lock()
	defer st.sink.mu.Unlock()
	st.end(oneLine(note))
}

// end is Done with the lock held.
func (st *Stage) end(note string) {
	if st.finished {
		return
	}
	st.finished = true
	st.note = note
	st.seconds = st.sink.now().Sub(st.begun).Seconds()
	st.sink.tell(Event{Event: "end", Stage: st.name, Seconds: st.seconds, Note: note}, true)
	if st.sink.json {
		return
	}
	st.sink.print(strings.TrimRight(fmt.Sprintf("%-10s %6.1f s  %s", st.name, st.seconds, note), " "))
}

// line describes a stage that is under way.
func (st *Stage) line(t time.Time, done, total float64, note string) string {
	elapsed := t.Sub(st.begun)
	percent, left := "    ", ""
	if f := done / total; total > 0 && f >= 0 && !math.IsInf(total, 0) { // false for NaN
		// What was done stays done, so that no time is left after 100 %.
		percent = fmt.Sprintf("%3.0f%%", math.Floor(100*math.Max(st.pace.part, math.Min(f, 1))))
		if rest, ok := st.pace.left(t); ok {
			left = ", about " + span(rest) + " left"
		}
	}

	text := fmt.Sprintf("%-10s %s  %s%s", st.name, percent, span(elapsed.Seconds()), left)
	if note = oneLine(note); note != "" {
		text += "  " + note
	}
	return text
}

// span writes a duration for people.
func span(seconds float64) string {
	n := int(math.Round(seconds))
	switch {
	case n < 60:
		return fmt.Sprintf("%d s", n)
	case n < 3600:
		return fmt.Sprintf("%d min %02d s", n/60, n%60)
	}
	return fmt.Sprintf("%d h %02d min", n/3600, n/60%60)
}

// Stages returns the finished stages in the order in which they began.
func (s *Sink) Stages() []Timing {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	// Stages that still run have no time yet.
	var out []Timing
	for _, st := range s.stages {
		if st.finished {
			out = append(out, Timing{st.name, st.seconds, st.note})
		}
	}
	return out
}

// Write prints text that is not progress, such as a log, on lines of its own.
// An unfinished line waits for its end or for Close. On a quiet
// sink the text is dropped. An error comes from the underlying writer.
func (s *Sink) Write(p []byte) (int, error) {
	if s == nil {
		return len(p), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// Only whole lines go out, so that the live line never lands in the middle of one.
	end := bytes.LastIndexByte(p, '\n') + 1
	if end > 0 {
		s.notes(string(s.partial) + string(p[:end]))
	}

	switch {
	case end == 0:
	case s.w == nil || s.json:
		s.partial = nil
	default:
		s.erase()
		if _, err := s.w.Write(append(s.partial, p[:end]...)); err != nil {
			return 0, err
		}
		s.partial = nil
	}

	s.partial = append(s.partial, p[end:]...)
	return len(p), nil
}

// Close ends the stages that still run, with the note "stopped", and removes
// the live line. The sink may be used again.
func (s *Sink) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// An error ends the run with stages open.
	for _, st := range s.stages {
		st.end("stopped")
	}
	s.erase()

	switch {
	case len(s.partial) == 0:
	case s.json:
		s.notes(string(s.partial))
	default:
		s.print(string(s.partial))
	}

	s.partial = nil
}

// print writes a whole line. Progress is not worth an error: if w fails, the
// line is lost.
func (s *Sink) print(line string) {
	if s.w == nil {
		return
	}
	s.erase()
	_, _ = io.WriteString(s.w, line+"\n")
}

// draw puts text in place of the live line. Blanks cover what was longer, so
// that no terminal codes are needed.
func (s *Sink) draw(text string) {
	if s.w == nil {
		return
	}
	// The last column stays free: some terminals wrap when it is written.
	if limit := s.width() - 1; utf8.RuneCountInString(text) > limit {
		text = string([]rune(text)[:max(0, limit)])
	}
	n := utf8.RuneCountInString(text)
	_, _ = io.WriteString(s.w, "\r"+text+strings.Repeat(" ", max(0, s.shown-n)))
	s.shown = max(n, s.shown)
}

// erase removes the live line and leaves the cursor at its beginning.
func (s *Sink) erase() {
	if s.shown > 0 {
		_, _ = io.WriteString(s.w, "\r"+strings.Repeat(" ", s.shown)+"\r")
		s.shown = 0
	}
}
