package shell

import (
	"github.com/bigfit/bigfit/internal/machine"
	"github.com/bigfit/bigfit/stage"
)

// Foreseen is what a run would take. Bytes and Seconds are rough.
type Foreseen struct {
	Bytes   int64   `json:"bytes"`   // of resident memory at the peak
	Seconds float64 `json:"seconds"` // without reading and small stages
}

// Foresee calls announce, which announces the stages of a run and does none of them, and returns what
// they add up to.
func (a *App) Foresee(announce func(stage.Observer) error) (Foreseen, error) {
	sum := &adder{Observer: a.Observer()}
	if err := announce(sum); err != nil {
		return Foreseen{}, err
	}
	return Foreseen{Bytes: a.budget.Announced(), Seconds: machine.Seconds(sum.operations)}, nil
}

// adder adds the operations of the stages that are announced.
type adder struct {
	stage.Observer
	operations float64
}

// Announce implements [stage.Observer].
func (s *adder) Announce(stage string, c stage.Cost) error {
	s.operations += c.Operations
	return s.Observer.Announce(stage, c)
}
