package queue

import (
	"container/heap"
	"fmt"
	"slices"
	"time"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models/active"
)

// A Question is one point, or a group of near points, for a person to label.
type Question struct {
	// Kind is "one" or "grid"; "check", any point; "again", a second look at a label that may be wrong; "twice", a point that
	// another annotator has labeled; "back", a point that was asked for; or "done", when none is left.
	Kind   string  `json:"kind"`
	Why    string  `json:"why"`
	Points []int32 `json:"points"`
}

// Ask returns the next question for a window of the page, which tab names. grid asks for a group of near points.
// new asks for points without a label alone, and for no second look.
// Points that another window shows are left out for a while.
func (q *Queue) Ask(tab string, grid, fresh bool) *Question {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	for i, l := range q.leases {
		if l.tab == tab || now.After(l.until) {
			delete(q.leases, i)
		}
	}

	if !fresh {
		q.asked++
	}
	out := q.next(grid, fresh)
	for _, i := range out.Points {
		q.leases[i] = lease{tab, now.Add(leaseTime)}
	}
	return out
}

func (q *Queue) next(grid, fresh bool) *Question {
	if q.asked%againEvery == 0 && !fresh {
		if i, why, ok := q.suspicious(); ok {
			return &Question{Kind: "again", Why: why, Points: []int32{i}}
		}
	}
	if q.asked%twiceEvery == 0 && !fresh {
		if i, ok := q.ofOthers(); ok {
			return &Question{Kind: "twice", Why: "someone else has labeled it too, to see how far you agree",
				Points: []int32{i}}
		}
	}

	if q.asked%checkEvery == 0 && q.labeled >= checksFrom && !fresh {
		if i, ok := q.any(); ok {
			return &Question{Kind: "check", Why: "any point, to see how many answers are right", Points: []int32{i}}
		}
	}

	i, why, ok := q.chosen()
	switch {
	case !ok:
		// Nothing new is left: what is doubtful is looked at again.
		if i, why, ok := q.suspicious(); ok {
			return &Question{Kind: "again", Why: why, Points: []int32{i}}
		}
		if i, ok := q.ofOthers(); ok {
			return &Question{Kind: "twice", Why: "someone else has labeled it too", Points: []int32{i}}
		}
		return &Question{Kind: "done", Points: []int32{}}
	case grid:
		return &Question{Kind: "grid", Why: why + ", with the points nearest to it", Points: q.near(i, q.s.Group, q.alike(i))}
	}
	return &Question{Kind: "one", Why: why, Points: []int32{i}}
}

// open tells whether point i may be asked: nobody has labeled it, this annotator has not passed it, and no other
// window shows it.
func (q *Queue) open(i int32) bool {
	if q.label[i] != data.Unlabeled {
		return false
	}
	if _, shown := q.leases[i]; shown {
		return false
	}
	m, ok := q.mine(i)
	return !ok || !m.passed()
}

// chosen returns the best of the points that rules have chosen, or any where none is left of them, and why.
func (q *Queue) chosen() (int32, string, bool) {
	if r := q.learned; r != nil {
		for _, c := range r.choices {
			if i := int32(c.Point); q.open(i) {
				return i, q.why(c, r), true
			}
		}
	}
	i, ok := q.any()
	return i, "any point, while the next ones are being chosen", ok
}

// any returns a point that may be asked, whatever it is.
func (q *Queue) any() (int32, bool) {
	for _, i := range q.order {
		if q.open(i) {
			return i, true
		}
	}
	return 0, false
}

// alike tells of points whether they may be asked together with point i: where there is a model, it must answer alike.
func (q *Queue) alike(i int32) func(int32) bool {
	r := q.learned
	return func(j int32) bool {
		return q.open(j) && (r == nil || r.classes == nil || r.classes[i] == r.classes[j])
	}
}

// why says in words why a rule chose a point.
func (q *Queue) why(c active.Choice, r *learned) string {
	switch {
	case c.First:
		return "a region without labels"
	case r.rule == active.SOpt && q.labeled == 0:
		return "many points are like it, and nothing is known yet"
	case r.rule == active.SOpt:
		return "many points without labels are like it"
	}
	a := q.classes[r.classes[c.Point]]
	b := q.classes[r.second[c.Point]]
	if a > b { // the better one is not to be told
		a, b = b, a
	}
	return fmt.Sprintf("between %s and %s", a, b)
}

// suspicious returns a point for a second look: people disagree about it, or the model without this label does.
// Points that this annotator has labeled twice are left alone.
func (q *Queue) suspicious() (int32, string, bool) {
	free := func(i int32) bool {
		m, ok := q.mine(i)
		_, shown := q.leases[i]
		return !shown && (!ok || m.times < 2)
	}
	best := int32(-1)
	for i, list := range q.marks {
		if m, ok := q.mine(i); ok && m.class != data.Unlabeled && free(i) && (best < 0 || i < best) &&
			slices.ContainsFunc(list, func(o mark) bool { return o.class != data.Unlabeled && o.class != m.class }) {
			best = i
		}
	}
	if best >= 0 {
		return best, "a second look: someone else has given it another label", true
	}
	if q.learned == nil || q.labeled < 2*active.FewLabels*len(q.classes) {
		return 0, "", false // labels are too few to doubt one
	}
	for _, i := range q.learned.suspects {
		if m, ok := q.mine(i); q.label[i] != data.Unlabeled && free(i) && (ok && m.class != data.Unlabeled ||
			q.given != nil && q.given[i] != data.Unlabeled) {
			return i, "a second look: its label does not fit to those around it", true
		}
	}
	return 0, "", false
}

// ofOthers returns a point that only others have labeled, of the share that is given to two.
func (q *Queue) ofOthers() (int32, bool) {
	best := int32(-1)
	for i, list := range q.marks {
		if best >= 0 && i > best || q.label[i] == data.Unlabeled || !q.shared(i) {
			continue
		}
		if _, ok := q.mine(i); ok {
			continue
		}
		if _, shown := q.leases[i]; shown {
			continue
		}
		if slices.ContainsFunc(list, func(m mark) bool { return m.class != data.Unlabeled }) {
			best = i
		}
	}
	return best, best >= 0
}

// shared tells whether point i is of the share that two annotators label. All processes decide alike.
func (q *Queue) shared(i int32) bool {
	return float64(hash("twice "+q.ID(i))%10_000) < 10_000*q.s.Twice
}

// Again returns a question for given points, to label them anew.
func (q *Queue) Again(points []int32) (*Question, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, i := range points {
		if i < 0 || int(i) >= len(q.label) {
			return nil, false
		}
	}
	return &Question{Kind: "back", Points: points}, len(points) > 0
}

// Fact is what is known of a point.
type Fact struct {
	Mine   string  `json:"mine"`   // the label of this annotator
	Answer string  `json:"answer"` // of the model; empty without one
	P      float64 `json:"p"`
}

// FactOf returns what is known of point i.
func (q *Queue) FactOf(i int32) Fact {
	q.mu.Lock()
	defer q.mu.Unlock()
	var f Fact
	if m, _ := q.mine(i); m.class != data.Unlabeled {
		f.Mine = q.classes[m.class]
	} else if q.given != nil && q.given[i] != data.Unlabeled {
		f.Mine = q.classes[q.given[i]]
	}
	if r := q.learned; r != nil && r.classes != nil {
		f.Answer = q.classes[r.classes[i]]
		f.P = float64(r.p[i])
	}
	return f
}

// A Neighbor is a labeled point near another.
type Neighbor struct {
	Point int32  `json:"point"`
	ID    string `json:"id"`
	Label string `json:"label"`
}

// Neighbors returns labeled points near point i, the nearest first.
func (q *Queue) Neighbors(i int32, count int) []Neighbor {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []Neighbor
	for _, j := range q.near(i, count+1, func(j int32) bool { return q.label[j] != data.Unlabeled }) {
		if j != i {
			out = append(out, Neighbor{j, q.ID(j), q.classes[q.label[j]]})
		}
	}
	return out[:min(len(out), count)]
}

// mostVisited bounds the points that a search for near ones visits.
const mostVisited = 2000

// near returns point i and the points nearest to it in the graph that keep holds for, at most count in all. The
// length of an edge is the largest weight at its first end by its own, at least 1.
func (q *Queue) near(i int32, count int, keep func(int32) bool) []int32 {
	w := q.graph.W
	out := []int32{i}
	best := map[int32]float64{i: 0}
	visited := map[int32]bool{}
	next := &frontier{{i, 0}}
	for next.Len() > 0 && len(out) < count && len(visited) < mostVisited {
		at := heap.Pop(next).(place)
		if visited[at.point] {
			continue
		}
		visited[at.point] = true
		if at.point != i && keep(at.point) {
			out = append(out, at.point)
		}

		lo := w.Ptr[at.point]
		hi := w.Ptr[at.point+1]
		weight := func(e int64) float64 {
			if w.Val == nil {
				return 1
			}
			return w.Val[e]
		}
		most := 0.0
		for e := lo; e < hi; e++ {
			most = max(most, weight(e))
		}
		for e := lo; e < hi; e++ {
			j := w.Col[e]
			far := at.far + most/weight(e)
			if old, known := best[j]; weight(e) > 0 && (!known || far < old) {
				best[j] = far
				heap.Push(next, place{j, far})
			}
		}
	}
	return out
}

// A place is a point with its distance from where a search began.
type place struct {
	point int32
	far   float64
}

// frontier is a heap of places, the nearest first; of equally near ones the smallest point.
type frontier []place

func (f frontier) Len() int { return len(f) }
func (f frontier) Less(a, b int) bool {
	return f[a].far < f[b].far || f[a].far == f[b].far && f[a].point < f[b].point
}
func (f frontier) Swap(a, b int) { f[a], f[b] = f[b], f[a] }
func (f *frontier) Push(v any)   { *f = append(*f, v.(place)) }
func (f *frontier) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}

// A Class is a class of the page.
type Class struct {
	Name   string `json:"name"`
	Labels int    `json:"labels"`
}

// State is where the labeling stands.
type State struct {
	Points   int     `json:"points"`
	Labeled  int     `json:"labeled"`
	Classes  []Class `json:"classes"`
	Learning bool    `json:"learning"`
	Fault    string  `json:"fault"` // of learning; labels are safe all the same
	// Curve holds the estimates since the command began.
	Curve  []Estimate `json:"curve"`
	Target float64    `json:"target"`
	// More is about how many more labels bring the error to the target; 0 if that cannot be said.
	More int `json:"more"`
	// Enough tells that the error is below the target with probability 0.975.
	Enough bool   `json:"enough"`
	Words  string `json:"words"`
	// Agreement is Krippendorff's α of the annotators; nil where no two labeled one point.
	Agreement *float64 `json:"agreement"`
}

// State returns where the labeling stands.
func (q *Queue) State() State {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := State{Points: len(q.label), Labeled: q.labeled, Learning: q.busy || q.learned == nil ||
		q.learned.changes != q.changes, Fault: q.fault, Curve: thinned(q.curve), Target: q.s.Target,
		Classes: []Class{}}
	for c, name := range q.classes {
		s.Classes = append(s.Classes, Class{name, q.count[c]})
	}
	if len(q.curve) > 0 {
		s.Enough = q.curve[len(q.curve)-1].High < q.s.Target
		s.More = toTarget(q.curve, q.s.Target)
	}
	s.Words = s.words()
	if a := q.agree(); a.Pairs > 0 {
		s.Agreement = &a.Alpha
	}
	return s
}

// mostCurve bounds the points of the curve that are sent.
const mostCurve = 120

// thinned returns at most mostCurve of the estimates, the last one among them.
func thinned(curve []Estimate) []Estimate {
	out := []Estimate{}
	step := (len(curve) + mostCurve - 1) / mostCurve
	for k, e := range curve {
		if (len(curve)-1-k)%max(1, step) == 0 {
			out = append(out, e)
		}
	}
	return out
}

// words says in a sentence how far one is.
func (s *State) words() string {
	if s.Labeled == s.Points {
		return "All points are labeled."
	}
	if len(s.Curve) == 0 {
		return "The error is estimated from some forty labels on."
	}
	e := s.Curve[len(s.Curve)-1]
	text := fmt.Sprintf("About %s of the answers are wrong, between %s and %s.", percent(e.Error), percent(e.Low),
		percent(e.High))
	switch {
	case s.Enough:
		text += fmt.Sprintf(" That is below %s: it may be enough.", percent(s.Target))
	case e.Error <= s.Target:
		text += fmt.Sprintf(" %s may be reached; more labels make it sure.", percent(s.Target))
	case s.More > 0:
		text += fmt.Sprintf(" About %d more labels to %s.", s.More, percent(s.Target))
	}
	return text
}

// percent writes a share.
func percent(v float64) string {
	if v < 0.1 {
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}
