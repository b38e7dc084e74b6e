package engine

import "fmt"

// The methods below tell the observer of the settings, if there is one.

func (s *Settings) begin(stage string) {
	if s.Observer != nil {
		s.Observer.Begin(stage)
	}
}

func (s *Settings) end(note string) {
	if s.Observer != nil {
		s.Observer.End(note)
	}
}

func (s *Settings) note(text string) {
	if s.Observer != nil {
		s.Observer.Note(text)
	}
}

func (s *Settings) progress(e event) {
	if s.Observer != nil && e.Event == "progress" {
		s.Observer.Update(float64(e.Converged), float64(e.Wanted), fmt.Sprintf("iteration %d, %d of %d",
			e.Iteration, e.Converged, e.Wanted))
	}
}
