package queue

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/labeling"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/pipeline"
)

// The model that learns beside is label spreading: one sparse linear system, which begins with the answers of
// before. The residual is enough for the order of the classes.
const (
	learnerName = "lgc"
	tolerance   = "1e-3"

	// fewestChecks is the least number of checks by which an error is estimated.
	fewestChecks = 3

	// doubtful is the score from which on a label gets a second look: 1 less its probability by the other labels.
	doubtful = 0.8
)

// Estimate is what is believed of the error of the answers for points without a label.
type Estimate struct {
	Labels int     `json:"labels"`
	Error  float64 `json:"error"` // share of wrong answers
	Low    float64 `json:"low"`   // of the interval that holds it with probability 0.95
	High   float64 `json:"high"`
}

// learned is the result of a round.
type learned struct {
	changes int // that it knows of
	// classes and second are the two best classes of every point, as positions in the classes of the queue, and p
	// the probability of the best; all are nil without a model.
	classes, second []int32
	p               []float32
	estimate        *Estimate // nil if labels are too few
	suspects        []int32   // points whose label disagrees with the others, the most suspicious first
	choices         []active.Choice
	rule            active.Rule
}

// A snapshot is what a round of learning begins with.
type snapshot struct {
	changes int
	classes []string
	label   []int32
	closed  []bool
	checks  map[int]bool // points of the sample by which the error is estimated
}

// Wake begins a round of learning as soon as the last has ended.
func (q *Queue) Wake() {
	select {
	case q.wake <- struct{}{}:
	default: // it has been asked for
	}
}

// Learn learns until ctx ends: a round after each change of labels, the changes during a round together in the next.
func (q *Queue) Learn(ctx context.Context) {
	c := &labeling.Candidates{Graph: q.graph, Pairs: q.s.Pairs}
	var last models.Model
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.wake:
		}
		q.mu.Lock()
		now := q.snapshot()
		q.busy = true
		q.mu.Unlock()

		r, m, err := q.round(ctx, c, now, last)
		if ctx.Err() != nil {
			return
		}
		q.mu.Lock()
		q.busy = false
		if err != nil {
			q.fault = err.Error()
		} else {
			q.fault = ""
			q.learned = r
			last = m
			if e := r.estimate; e != nil {
				q.curve = append(slices.DeleteFunc(q.curve, func(o Estimate) bool { return o.Labels == e.Labels }), *e)
			}
		}
		close(q.done)
		q.done = make(chan struct{})
		q.mu.Unlock()
	}
}

// Settle waits until all labels are learned, or ctx ends.
func (q *Queue) Settle(ctx context.Context) error {
	for {
		q.mu.Lock()
		settled := q.learned != nil && q.learned.changes == q.changes && !q.busy
		fault := q.fault
		done := q.done
		q.mu.Unlock()
		if fault != "" {
			return errors.New(fault)
		}
		if settled {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-done:
		}
	}
}

// snapshot copies what a round needs.
func (q *Queue) snapshot() *snapshot {
	s := &snapshot{changes: q.changes, classes: slices.Clone(q.classes), label: slices.Clone(q.label), checks: map[int]bool{}}
	for i, c := range q.given {
		if c != data.Unlabeled {
			s.checks[i] = true
		}
	}
	for i, list := range q.marks {
		if slices.ContainsFunc(list, func(m mark) bool { return m.check }) {
			s.checks[int(i)] = true
		}
		if m, ok := q.mine(i); ok && m.passed() {
			if s.closed == nil {
				s.closed = make([]bool, len(q.label))
			}
			s.closed[i] = true
		}
	}
	return s
}

// passed tells whether the annotator looked at a point and gave it no label.
func (m *mark) passed() bool {
	return m.class == data.Unlabeled && (m.kind == "skip" || m.kind == "unsure")
}

// round fits a model to the labels, estimates its error and chooses what to ask next.
func (q *Queue) round(ctx context.Context, c *labeling.Candidates, now *snapshot, last models.Model) (*learned,
	models.Model, error) {
	out := &learned{changes: now.changes}
	y := labelsOf(now.classes, now.label)
	c.Labeled = y.Labeled()
	c.Closed = now.closed
	c.Scores = nil

	// One class alone separates nothing, so there is no model yet.
	var m models.Model
	if len(y.Classes) >= 2 {
		var err error
		if m, err = q.fit(ctx, y, last); err != nil {
			return nil, nil, err
		}
		if err := out.answer(q, now, m, y, c); err != nil {
			return nil, nil, err
		}
	}

	free := len(now.label) - len(c.Labeled)
	for i, closed := range now.closed {
		if closed && now.label[i] == data.Unlabeled {
			free--
		}
	}
	if free == 0 {
		return out, m, nil
	}
	s := &labeling.NextSettings{Pairs: PairsFor(len(now.label))}
	s.Seed = q.s.Seed
	s.Count = min(q.s.Batch, free)
	s.Rule = ruleFor(m, len(c.Labeled), len(y.Classes))
	out.rule = s.Rule
	var err error
	out.choices, err = q.planner.Next(ctx, c, s)
	if !models.Usable(err) {
		return nil, nil, err
	}
	return out, m, nil
}

// ruleFor returns the rule for the next points. Without a model, and with few labels a class, the graph decides alone:
// where an early model is wrong, its uncertainty asks at the wrong places.
func ruleFor(m models.Model, labels, classes int) active.Rule {
	if m == nil || labels < max(active.LeastExplored, active.FewLabels*classes) {
		return active.SOpt
	}
	return active.Combined
}

// fit fits the model to the labels, beginning with the last one.
func (q *Queue) fit(ctx context.Context, y *data.Labels, last models.Model) (models.Model, error) {
	t, err := models.ClassTargets(y)
	if err != nil {
		return nil, err
	}
	in := &models.Input{Graph: q.graph, Targets: t, Values: models.Values{"tolerance": tolerance}}
	if last != nil {
		if u, ok := models.Unnamed(last).(models.Updater); ok && sameNames(last.Output().Names, t.Names, last.Output().Classes, t.Classes) {
			in.Start = u.Kept().StartFor(t.Classes)
		}
	}
	learner := all.Learner(learnerName)
	m, err := q.planner.Fit(ctx, learner, in, nil)
	if !models.Usable(err) {
		return nil, err
	}
	calibrated, err := q.planner.CalibrateByDefault(ctx, learner, m, in)
	if !models.Usable(err) {
		return nil, err
	}
	return calibrated, nil
}

// sameNames tells whether classes by number mean the same: names of classes are numbered anew when one joins.
func sameNames(a, b []string, x, y []int64) bool {
	if a == nil && b == nil {
		return true
	}
	return slices.Equal(a, b) && slices.Equal(x, y)
}

// answer fills in what the model says of all points, the estimate of its error and the suspicious labels. Scores
// go to c.
func (r *learned) answer(q *Queue, now *snapshot, m models.Model, y *data.Labels, c *labeling.Candidates) error {
	t, err := models.ClassTargets(y)
	if err != nil {
		return err
	}
	sure := pipeline.HasProbabilities(m)
	a, err := pipeline.Training(m, true, sure)
	if err != nil {
		return err
	}
	if a == nil {
		return fmt.Errorf("a %s model keeps no answers", m.Name())
	}
	c.Scores = a.Scores
	p := a.Probabilities
	if p == nil {
		p = active.Shares(a.Scores)
	}

	// The classes of the model are ascending, and those of the page in the order in which they came.
	to := make([]int32, len(y.Classes))
	for k := range y.Classes {
		to[k] = int32(slices.Index(now.classes, y.Name(int32(k))))
	}
	n, _ := p.Dims()
	r.classes = make([]int32, n)
	r.second = make([]int32, n)
	r.p = make([]float32, n)
	for i := range n {
		first, second := twoBest(p.RawRowView(i))
		r.classes[i] = to[first]
		r.second[i] = to[second]
		r.p[i] = float32(p.At(i, first))
	}
	if s := labeling.SuspectsOfFit(m, t); s != nil {
		for _, v := range s.List {
			if v.Score < doubtful {
				continue
			}
			r.suspects = append(r.suspects, int32(v.Point))
		}
	}
	r.estimate = estimate(m, t, p, now.checks)
	return nil
}

// twoBest returns the places of the two largest elements.
func twoBest(p []float64) (first, second int) {
	second = -1
	for c := 1; c < len(p); c++ {
		switch {
		case p[c] > p[first]:
			second = first
			first = c
		case second < 0 || p[c] > p[second]:
			second = c
		}
	}
	return first, second
}

// estimate returns what labels that were left out say of the error for points without a label; nil where there
// are too few of them.
//
// Rules ask for hard points, and for one in each region: without its label nothing is known there. Of 160 labels of
// 2000 digits 20 % were wrong when left out, where 5 % of all answers were. So every eighth point is any point, a
// check, and these alone are the sample; labels of before are taken for one. A probability says of each how hard it
// is. With u_i = 1 − p_i of the best class, by the model for points without a label and by the model without its
// label for checks,
//
//	error = ρ · mean of u over the points without a label,   ρ = wrong answers / Σ u, over the checks
//
// as mortality is standardized by age. Wrong answers are Poisson of mean ρ Σu; with the prior Gamma(½, ½), ρ is
// Gamma(wrong + ½, Σu + ½), whose mean and 0.95 interval are returned. A check that is the only label of its class
// could not be answered without it, and counts as wrong with u = 1: other classes may be unknown, too.
func estimate(m models.Model, t *models.Targets, p *mat.Dense, checks map[int]bool) *Estimate {
	c := models.CalibrationOf(m)
	if c == nil || c.Out == nil || c.Out.Probabilities == nil {
		return nil
	}
	labeled := make(map[int]int, len(t.Labeled))
	count := make([]int, len(t.Classes))
	for k, i := range t.Labeled {
		labeled[i] = t.Class(k)
		count[t.Class(k)]++
	}
	wrong := 0.0
	expected := 0.0
	sample := 0
	for row, i := range c.Out.Points {
		if !checks[int(i)] {
			continue
		}
		probabilities := c.Out.Probabilities.RawRowView(row)
		best, _ := twoBest(probabilities)
		expected += 1 - probabilities[best]
		if best != labeled[int(i)] {
			wrong++
		}
		sample++
	}
	for i, class := range labeled {
		if checks[i] && count[class] == 1 {
			wrong++
			expected++
			sample++
		}
	}
	if sample < fewestChecks {
		return nil
	}

	n, _ := p.Dims()
	mean := 0.0
	for i := range n {
		if _, known := labeled[i]; !known {
			mean += 1 - slices.Max(p.RawRowView(i))
		}
	}
	if n == len(labeled) {
		return nil
	}
	mean /= float64(n - len(labeled))
	ratio := distuv.Gamma{Alpha: wrong + 0.5, Beta: expected + 0.5}
	at := func(v float64) float64 { return math.Min(1, mean*v) }
	return &Estimate{Labels: len(t.Labeled), Error: at(ratio.Mean()), Low: at(ratio.Quantile(0.025)),
		High: at(ratio.Quantile(0.975))}
}

// toTarget returns about how many more labels bring the error to the target, by a power law through the last half
// of the curve; 0 if that cannot be said.
func toTarget(curve []Estimate, target float64) int {
	last := curve[len(curve)/2:]
	if len(last) < 5 || last[len(last)-1].Error <= target {
		return 0
	}

	// log error = a − b log labels, by least squares.
	var x, y, xx, xy float64
	for _, e := range last {
		u := math.Log(float64(e.Labels))
		v := math.Log(max(e.Error, 1e-6))
		x += u
		y += v
		xx += u * u
		xy += u * v
	}
	k := float64(len(last))
	b := -(k*xy - x*y) / (k*xx - x*x)
	now := last[len(last)-1]
	if !(b > 0.1) || math.IsInf(b, 0) {
		return 0
	}
	labels := float64(now.Labels) * math.Pow(now.Error/target, 1/b)
	more := labels - float64(now.Labels)
	// Far beyond the labels that are there the law is a guess.
	if !(more <= 4*float64(now.Labels)) {
		return 0
	}
	return 10 * int(math.Ceil(more/10)) // more digits would say more than is known
}
