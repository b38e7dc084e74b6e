// Package queue decides which points a person is asked about next.
//
// It holds the labels of all people (of the store), and learns beside them: after each label a model is fitted in
// the background, the points whose labels would help it most are chosen, and its error is estimated. Models,
// rules and probabilities come from the packages labeling and pipeline.
package queue

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/bigfit/bigfit/cmd/bigfit/internal/label/store"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/fields"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
)

// Settings of a queue. Zero fields are the defaults.
type Settings struct {
	Annotator string
	// Target is the error that is good enough. Default 0.05.
	Target float64
	// Twice is the share of the points that two annotators label. Default 0.05; negative for none.
	Twice float64
	// Batch is the number of points that are chosen at a time. Default 16.
	Batch int
	// Group is the largest number of points in a grid. Default 24.
	Group int
	// Pairs are the eigenpairs that rules look at. They are made where nil: see [PairsFor].
	Pairs *lanczos.Result
	// Classes are names that are there from the beginning.
	Classes []string
	// Given are labels of before, nil for none. They are not in the store.
	Given *data.Labels
	Seed  uint64
}

const (
	// Of so many questions one is any point, by which the error is measured; a second look; a point of another
	// annotator.
	checkEvery = 8
	againEvery = 10
	twiceEvery = 6

	// checksFrom is the number of labels from which on the error is measured. The first labels find the classes.
	checksFrom = 20

	// leaseTime is how long a point that one window shows is not shown in another.
	leaseTime = 5 * time.Minute
)

// A mark is what one annotator says of a point.
type mark struct {
	annotator string
	class     int32 // position in classes, or data.Unlabeled
	kind      string
	times     int  // labels that were given and not undone
	check     bool // it was any point when it was asked
}

// Queue is what is to be asked. It is safe for concurrent use.
type Queue struct {
	planner labeling.Planner
	graph   *models.Graph
	ids     *data.IDs
	store   *store.Store
	s       Settings
	wake    chan struct{}

	mu         sync.Mutex
	generation int // of the store
	read       int // events of the store that count already
	classes    []string
	class      map[string]int32
	marks      map[int32][]mark
	given      []int32 // class of each point before, or data.Unlabeled; nil for none
	label      []int32 // class of each point today, or data.Unlabeled
	count      []int   // labels of each class
	labeled    int
	unknown    int // rows whose id is that of no point
	changes    int // of label, so far
	order      []int32
	leases     map[int32]lease
	asked      int
	actions    []action
	learned    *learned
	busy       bool
	fault      string
	curve      []Estimate
	done       chan struct{} // closed and replaced whenever a round of learning ends

	// agreement is of the first agreedAt events of a generation.
	agreement          Agreement
	agreedAt, agreedOf int
}

// A lease says which window shows a point.
type lease struct {
	tab   string
	until time.Time
}

// An action can be undone.
type action struct {
	points []int32
	before []string // labels of this annotator
	undone bool
}

// PairsFor returns the number of eigenpairs for n points: 10⁷/n, between 20 and the default of the rules, so that
// choosing takes about a second for 100,000 points.
func PairsFor(n int) int {
	return min(max(20, min(labeling.DefaultFieldPairs, 10_000_000/max(1, n))), max(1, n-1))
}

// New returns the queue of the points of a graph. ids names the points; nil means that they have numbers only.
func New(p labeling.Planner, g *models.Graph, ids *data.IDs, st *store.Store, s Settings) (*Queue, error) {
	n := g.Len()
	s.Target = cmp.Or(s.Target, 0.05)
	s.Twice = cmp.Or(s.Twice, 0.05)
	s.Batch = cmp.Or(s.Batch, 16)
	s.Group = cmp.Or(s.Group, 24)
	q := &Queue{planner: p, graph: g, ids: ids, store: st, s: s, wake: make(chan struct{}, 1),
		class: map[string]int32{}, leases: map[int32]lease{}, generation: -1, done: make(chan struct{})}
	if ids != nil && ids.Len() != n {
		return nil, fmt.Errorf("%s: %d ids for %d points", ids.From, ids.Len(), n)
	}
	if ids != nil {
		for i, id := range ids.Values {
			if strings.ContainsFunc(id, unicode.IsControl) {
				return nil, fmt.Errorf("%s: the id of row %d, %s, holds a control character; rows of labels need another id",
					ids.From, i, fields.Quote([]byte(id)))
			}
		}
	}

	for _, name := range s.Classes {
		if err := CheckClass(name); err != nil {
			return nil, err
		}
		q.classOf(name)
	}
	if y := s.Given; y != nil {
		q.given = slices.Repeat([]int32{data.Unlabeled}, n)
		for i, c := range y.Index {
			if c != data.Unlabeled {
				q.given[i] = q.classOf(y.Name(c))
			}
		}
	}
	q.absorb()
	if q.unknown > 0 && q.unknown == q.read {
		return nil, fmt.Errorf("%s: none of its %d rows has the id of a point; it belongs to other points, or their ids "+
			"were not given (--ids)", st.Path(), q.read)
	}

	// Where no rule has chosen, points come in an order that differs from annotator to annotator.
	q.order = make([]int32, n)
	for i := range q.order {
		q.order[i] = int32(i)
	}
	rng := rand.New(rand.NewPCG(s.Seed, hash(s.Annotator)))
	rng.Shuffle(n, func(a, b int) { q.order[a], q.order[b] = q.order[b], q.order[a] })
	q.Wake()
	return q, nil
}

// hash turns a text into a number.
func hash(text string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(text))
	return h.Sum64()
}

// refusal is the error of an answer that cannot be taken, as opposed to one that could not be written.
type refusal struct{ error }

// Refused tells whether an error is about what was answered, and not about writing it.
func Refused(err error) bool { return errors.As(err, &refusal{}) }

// refusef makes a refusal.
func refusef(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

// CheckClass returns an error unless a text can name a class that readers of labels take for one.
func CheckClass(name string) error {
	if name == "" {
		return errors.New("a class needs a name")
	}
	if err := store.CheckName("class", name); err != nil {
		return err
	}
	// These are no labels to the readers of labels: docs/files.md.
	absent := []string{"?", "nan", "null", "<na>", "#n/a", "-1", "none", "na", "n/a"}
	if slices.Contains(absent, strings.ToLower(name)) {
		return fmt.Errorf("class %s: files of labels use this word for points without a label; take another", name)
	}
	return nil
}

// ID returns what point i is called.
func (q *Queue) ID(i int32) string {
	if q.ids != nil {
		return q.ids.Values[i]
	}
	return strconv.Itoa(int(i))
}

// row returns the point of an id.
func (q *Queue) row(id string) (int32, bool) {
	if q.ids != nil {
		i, ok := q.ids.Row(id)
		return int32(i), ok
	}
	i, err := strconv.Atoi(id)
	return int32(i), err == nil && i >= 0 && i < len(q.label)
}

// classOf returns the number of a class, which is a new one at the end if it has not been met.
func (q *Queue) classOf(name string) int32 {
	c, ok := q.class[name]
	if !ok {
		c = int32(len(q.classes))
		q.classes = append(q.classes, name)
		q.count = append(q.count, 0)
		q.class[name] = c
	}
	return c
}

// absorb takes the rows of the store that do not count yet.
func (q *Queue) absorb() {
	events, generation := q.store.Events()
	if generation != q.generation || len(events) < q.read || q.label == nil {
		// Another program wrote, too: all rows count anew.
		q.generation = generation
		q.read = 0
		q.unknown = 0
		q.marks = map[int32][]mark{}
		q.labeled = 0
		clear(q.count)
		q.label = slices.Repeat([]int32{data.Unlabeled}, q.graph.Len())
		for i, c := range q.given {
			if c != data.Unlabeled {
				q.set(int32(i), c)
			}
		}
	}

	for _, e := range events[q.read:] {
		if i, ok := q.row(e.ID); ok {
			q.take(i, e)
		} else {
			q.unknown++
		}
	}
	q.read = len(events)
}

// take makes an event the last word of its annotator on point i.
func (q *Queue) take(i int32, e store.Event) {
	kind, _, _ := strings.Cut(e.Shown, ":")
	kind, _, _ = strings.Cut(kind, "+")
	list := q.marks[i]
	at := slices.IndexFunc(list, func(m mark) bool { return m.annotator == e.Annotator })
	if at < 0 {
		at = len(list)
		list = append(list, mark{annotator: e.Annotator})
	}
	m := &list[at]
	m.kind = kind
	m.check = m.check || kind == "check"
	m.class = data.Unlabeled
	if e.Label != "" {
		m.class = q.classOf(e.Label)
	}
	switch {
	case kind == "undo":
		m.times = max(0, m.times-1)
	case e.Label != "":
		m.times++
	}
	q.marks[i] = list
	q.set(i, q.agreed(i))
}

// agreed returns the class of point i: that of most annotators, of equally many that of the last of them; without
// any the label that was given before.
func (q *Queue) agreed(i int32) int32 {
	best := data.Unlabeled
	most := 0
	for _, m := range q.marks[i] {
		if m.class == data.Unlabeled {
			continue
		}
		votes := 0
		for _, other := range q.marks[i] {
			if other.class == m.class {
				votes++
			}
		}
		if votes >= most {
			best = m.class
			most = votes
		}
	}
	if best == data.Unlabeled && q.given != nil {
		best = q.given[i]
	}
	return best
}

// set gives point i a class.
func (q *Queue) set(i, c int32) {
	old := q.label[i]
	if old == c {
		return
	}
	q.changes++
	if old != data.Unlabeled {
		q.count[old]--
		q.labeled--
	}
	if c != data.Unlabeled {
		q.count[c]++
		q.labeled++
	}
	q.label[i] = c
}

// mine returns what this annotator says of point i.
func (q *Queue) mine(i int32) (mark, bool) {
	for _, m := range q.marks[i] {
		if m.annotator == q.s.Annotator {
			return m, true
		}
	}
	return mark{class: data.Unlabeled}, false
}

// An Answer is the label that a person gives a point; an empty one is none.
type Answer struct {
	Point int32
	Label string
}

// Give writes answers to the store, all of them or none, and returns the number of the action, by which it can be
// undone. The answers count from then on. shown is [store.Event.Shown].
func (q *Queue) Give(answers []Answer, seconds float64, shown string) (int, error) {
	if len(answers) == 0 {
		return 0, refusef("no point is labeled")
	}
	act := action{}
	events := make([]store.Event, len(answers))
	now := time.Now()
	q.mu.Lock()
	for k, a := range answers {
		if a.Point < 0 || int(a.Point) >= len(q.label) {
			q.mu.Unlock()
			return 0, refusef("there is no point %d", a.Point)
		}
		before := ""
		if m, _ := q.mine(a.Point); m.class != data.Unlabeled {
			before = q.classes[m.class]
		}
		act.points = append(act.points, a.Point)
		act.before = append(act.before, before)
		events[k] = store.Event{ID: q.ID(a.Point), Label: a.Label, Annotator: q.s.Annotator, Time: now,
			Seconds: seconds / float64(len(answers)), Shown: shown}
	}
	q.mu.Unlock()
	for _, a := range answers {
		if a.Label == "" {
			continue
		}
		if err := CheckClass(a.Label); err != nil {
			return 0, refusal{err}
		}
	}

	// Writing waits for the disk, and others may ask meanwhile.
	if err := q.store.Append(events...); err != nil {
		return 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.absorb()
	q.actions = append(q.actions, act)
	q.Wake()
	return len(q.actions), nil
}

// last returns the number of the last action that is not undone, 0 for none.
func (q *Queue) last() int {
	for k := len(q.actions); k > 0; k-- {
		if !q.actions[k-1].undone {
			return k
		}
	}
	return 0
}

// Undo appends rows that take back an action, the last one for 0, and returns its points. The same action is undone
// once.
func (q *Queue) Undo(number int) ([]int32, error) {
	q.mu.Lock()
	if number == 0 {
		number = q.last()
	}
	if number < 1 || number > len(q.actions) {
		q.mu.Unlock()
		return nil, refusef("there is nothing to undo")
	}
	act := q.actions[number-1]
	q.actions[number-1].undone = true
	q.mu.Unlock()
	if act.undone {
		return act.points, nil
	}

	events := make([]store.Event, len(act.points))
	for k, i := range act.points {
		events[k] = store.Event{ID: q.ID(i), Label: act.before[k], Annotator: q.s.Annotator, Time: time.Now(),
			Shown: "undo"}
	}
	err := q.store.Append(events...)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.actions[number-1].undone = false
		return nil, err
	}
	q.absorb()
	q.Wake()
	return act.points, nil
}

// Refresh takes what other processes have written.
func (q *Queue) Refresh() error {
	changed, err := q.store.Refresh()
	if changed {
		q.mu.Lock()
		q.absorb()
		q.Wake()
		q.mu.Unlock()
	}
	return err
}

// Labels returns the labels of all points: integers if all classes are, else names.
func (q *Queue) Labels() *data.Labels {
	q.mu.Lock()
	defer q.mu.Unlock()
	return labelsOf(q.classes, q.label)
}

// labelsOf makes labels of names of classes and the class of each point.
func labelsOf(classes []string, label []int32) *data.Labels {
	integers := make([]int64, len(classes))
	used := make([]bool, len(classes))
	for _, c := range label {
		if c != data.Unlabeled {
			used[c] = true
		}
	}
	for c, name := range classes {
		v, ok := fields.Integer([]byte(name))
		if used[c] && (!ok || strconv.FormatInt(v, 10) != name) {
			return data.NewNamedLabels(classes, label)
		}
		integers[c] = v
	}

	values := make([]int64, len(label))
	labeled := make([]bool, len(label))
	for i, c := range label {
		if labeled[i] = c != data.Unlabeled; labeled[i] {
			values[i] = integers[c]
		}
	}
	return data.NewLabels(values, labeled)
}
