package bigfit

import (
	"sync"

	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/stage"
)

// Progress says how far a stage is.
type Progress struct {
	Stage       string // its name: "graph", "fit", "predict", …
	Done, Total float64
	Note        string // a short text, or empty
}

// run holds the options that count for every call of a model.
type run struct {
	seed     uint64
	memory   int64
	observer stage.Observer
}

// run returns the options that later calls of a model go on with.
func (o *Options) run() run {
	r := run{seed: o.Seed, memory: o.Memory, observer: o.Observer}
	if o.Progress != nil || o.Log != nil {
		r.observer = &teller{next: o.Observer, progress: o.Progress, log: o.Log, mu: &sync.Mutex{}}
	}
	return r
}

// pipeline returns the stages of one call. Each call has an observer of its own, as a model
// may serve several calls at once.
func (r run) pipeline() *pipeline.Pipeline {
	p := &pipeline.Pipeline{Seed: r.seed, Memory: r.memory, Observer: r.observer}
	if t, ok := r.observer.(*teller); ok {
		own := *t
		p.Observer = &own
	}
	return p
}

// teller is the observer of the functions of [Options]. All copies of one share its lock, so
// that calls do not overlap.
type teller struct {
	next     stage.Observer // may be nil
	progress func(Progress)
	log      func(string)
	mu       *sync.Mutex
	stage    string
}

// Announce implements [stage.Observer].
func (t *teller) Announce(name string, c stage.Cost) error {
	if t.next != nil {
		return t.next.Announce(name, c)
	}
	return nil
}

// Note implements [stage.Observer].
func (t *teller) Note(text string) {
	if t.next != nil {
		t.next.Note(text)
	}
	t.say(text)
}

// Begin implements [stage.Observer].
func (t *teller) Begin(name string) {
	if t.next != nil {
		t.next.Begin(name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage = name
}

// Update implements [stage.Observer].
func (t *teller) Update(done, total float64, note string) {
	if t.next != nil {
		t.next.Update(done, total, note)
	}
	if t.progress == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.progress(Progress{t.stage, done, total, note})
}

// End implements [stage.Observer].
func (t *teller) End(note string) {
	if t.next != nil {
		t.next.End(note)
	}
	if note != "" {
		t.say(t.stage + ": " + note)
	}
}

// say gives a line to the log, if there is one.
func (t *teller) say(line string) {
	if t.log == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log(named(line))
}
