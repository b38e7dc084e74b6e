package pipeline

import (
	"context"
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/checkpoint"
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/choice"
	"github.com/bigfit/bigfit/param"
)

// shortSearch is a time in seconds. An estimate from numbers of operations may be off by a
// factor of five, which does not matter below this time. Above it a part of the work is timed.
const shortSearch = 1

// AutoRecall is the aim of NN-descent if Auto chose it and no recall was asked for. A search
// that falls short of it is no error.
const AutoRecall = 0.95

// estimator estimates the time of a search by a method, once for each method.
type estimator struct {
	ctx   context.Context
	work  choice.Work
	twice bool // all pairs within a radius are found from both ends
	known map[knn.Method]float64
	time  func(context.Context, choice.Work, knn.Method) (float64, error)
}

// estimator returns an estimator with nothing estimated yet.
func (p *Pipeline) estimator(ctx context.Context, w choice.Work, twice bool) *estimator {
	e := &estimator{ctx: ctx, work: w, twice: twice, known: map[knn.Method]float64{}, time: p.Time}
	if e.time == nil {
		e.time = timeHere
	}
	return e
}

// timeHere estimates the time of a search on this machine.
func timeHere(ctx context.Context, w choice.Work, m knn.Method) (float64, error) {
	if rough := machine.Seconds(w.Operations(m)); rough < shortSearch {
		return rough, nil
	}
	return w.Time(ctx, m)
}

// seconds returns the estimated time of a search by a method.
func (e *estimator) seconds(m knn.Method) (float64, error) {
	if s, ok := e.known[m]; ok {
		return s, nil
	}
	if err := m.Supports(e.work.Metric, e.work.X); err != nil {
		return 0, err
	}
	s, err := e.time(e.ctx, e.work, m)
	if e.twice && m == knn.Brute {
		s *= 2
	}
	if err == nil {
		e.known[m] = s
	}
	return s, err
}

// chooseMethod puts a method in place of auto and says in a note which and why. A radius graph
// is always exact. A choice by time is kept in the checkpoint, so that a resumed run makes the
// same choice.
func (p *Pipeline) chooseMethod(e *estimator, x data.Points, s *GraphSettings) error {
	if s.Method != knn.Auto {
		return nil
	}
	patience := s.Patience
	if patience == 0 {
		patience = DefaultPatience
	}
	var c choice.Choice
	var err error
	switch exact, why := e.work.Exact(); {
	case s.Recall > 0 && s.Graph.Radius == 0:
		c = choice.Choice{Method: knn.NNDescent, Why: "a recall was asked for"}
	case s.Graph.Radius > 0:
		c = choice.Choice{Method: exact, Why: why}
	default:
		if c, err = p.timedChoice(e, x, *s, patience); err != nil {
			return err
		}
	}

	// Patience has done its work; the manifest names the method alone.
	s.Method = c.Method
	s.Patience = 0
	if c.Method == knn.NNDescent && s.Recall == 0 {
		s.Recall = AutoRecall
		c.Why += fmt.Sprintf("; the search goes on until an estimated %g of them are found, or what "+
			"%s says", AutoRecall, param.Name("recall"))
	}

	p.Observed().Note(fmt.Sprintf("neighbours: by %s: %s", c.Method, c.Why))
	return nil
}

// timedChoice returns the choice that the checkpoint holds, or makes one.
func (p *Pipeline) timedChoice(e *estimator, x data.Points, s GraphSettings,
	patience float64) (choice.Choice, error) {
	if p.Checkpoint == nil {
		return e.work.Choose(patience, e.seconds)
	}
	key, err := p.graphKey(x, s)
	if err != nil {
		return choice.Choice{}, err
	}
	var c choice.Choice
	if a, err := p.kept().Load(checkpoint.Choice, key, &c); err != nil || a != nil {
		return c, err
	}
	if c, err = e.work.Choose(patience, e.seconds); err != nil || !c.Timed {
		return c, err
	}
	return c, p.kept().Save(checkpoint.Choice, key, c)
}
