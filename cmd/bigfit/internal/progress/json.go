package progress

import (
	"encoding/json"
	"io"
	"math"
	"strings"
	"time"

	"github.com/bigfit/bigfit/internal/enum"
)

// Mode is the form of the progress on stderr.
type Mode int

const (
	// Auto is a live line on a terminal, else lines now and then.
	Auto Mode = iota
	// JSON is one [Event] a line.
	JSON
	// None prints no progress.
	None
)

var modes = enum.New[Mode]("form of the progress", "auto", "json", "none")

// String returns the name used on the command line.
func (m Mode) String() string { return modes.String(m) }

// MarshalText returns the name.
func (m Mode) MarshalText() ([]byte, error) { return modes.Marshal(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Mode) UnmarshalText(text []byte) error { return modes.Unmarshal(m, text) }

// An Event is a line of progress for a program that watches the run.
type Event struct {
	Time time.Time `json:"time"`
	// Event is "begin", "update" or "end" of a stage, "note" for a line of text
	// beside the stages, or "error" for the error that ended the run.
	Event string `json:"event"`
	Stage string `json:"stage,omitempty"`
	// Done of Total units are done, in the units of the stage; Total is left
	// out where it is not known.
	Done  float64 `json:"done,omitempty"`
	Total float64 `json:"total,omitempty"`
	// Seconds since the stage began.
	Seconds float64 `json:"seconds"`
	Note    string  `json:"note,omitempty"`
	// Kind of an error that programs tell apart: "memory" for work that was refused as it
	// needs more memory than is allowed.
	Kind string `json:"kind,omitempty"`
}

const (
	tellEvery = time.Second      // between updates as JSON
	keepEvery = 10 * time.Second // between updates that Events returns
	mostKept  = 10_000           // events
)

// NewJSON returns a sink that prints events: the beginning and the end of every
// stage, an update at most every second, and notes.
func NewJSON(w io.Writer) *Sink {
	s := New(w, false)
	s.json = true
	return s
}

// IsJSON reports whether the sink prints events.
func (s *Sink) IsJSON() bool { return s != nil && s.json }

// Error prints the error that ended the run as an event. Only a sink of [NewJSON] does so;
// others leave errors to the caller.
func (s *Sink) Error(text, kind string) {
	if !s.IsJSON() {
		return
	}
	// The work may go on in another goroutine after an interrupt.
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tell(Event{Event: "error", Note: text, Kind: kind}, true)
}

// Events returns what happened so far, with updates at most every ten seconds. Of
// a very long run the later updates are missing.
func (s *Sink) Events() []Event {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Event(nil), s.events...)
}

// tell keeps an event, if keep is set, and prints it on a sink for JSON.
func (s *Sink) tell(e Event, keep bool) {
	// JSON has no NaN or infinity; one bad number must not lose the event.
	e.Time = s.now().UTC()
	e.Done = finite(e.Done)
	e.Total = finite(e.Total)
	e.Seconds = finite(e.Seconds)
	if keep && len(s.events) < mostKept {
		s.events = append(s.events, e)
	}
	if !s.json || s.w == nil {
		return
	}

	if line, err := json.Marshal(e); err == nil {
		_, _ = s.w.Write(append(line, '\n'))
	}
}

// finite returns v, or 0 for a NaN or an infinity, which JSON cannot write.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// update tells of an update of a stage, unless the one before it was a short time
// ago.
func (st *Stage) update(t time.Time, done, total float64, note string) {
	s := st.sink
	keep := t.Sub(st.kept) >= keepEvery
	if !keep && !(s.json && t.Sub(st.told) >= tellEvery) {
		return
	}
	// Events are printed every second and kept every ten, so that the log of a day stays below
	// 10,000 lines.
	st.told = t
	if keep {
		st.kept = t
	}
	if !(total > 0) {
		total = 0
	}
	s.tell(Event{Event: "update", Stage: st.name, Done: done, Total: total,
		Seconds: t.Sub(st.begun).Seconds(), Note: oneLine(note)}, keep)
}

// notes tells of the whole lines of a text.
func (s *Sink) notes(text string) {
	for line := range strings.Lines(text) {
		s.tell(Event{Event: "note", Note: strings.TrimSpace(line)}, true)
	}
}
