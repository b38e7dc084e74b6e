package kernelmachine

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/propagation"
)

// sharing tells whether the answers get shares of the classes.
func (s *Settings) sharing() bool { return s.Priors != nil || s.ClassShares != propagation.FreeShares }

// share adds to the intercepts the shifts with which the classes get their shares of all points, where the settings ask
// for that: see [propagation.ShareShifts]. outputs returns f at the points that the targets t are of.
func (m *Machine) share(t *models.Targets, outputs func() (*mat.Dense, error)) error {
	s := &m.Settings
	if !s.sharing() {
		return nil
	}
	if err := propagation.CheckShares(s.Priors, s.ClassShares, t); err != nil {
		return err
	}
	f, err := outputs()
	if err != nil {
		return err
	}

	var shifts []float64
	shifts, m.Shared = propagation.ShareShifts(models.BothClasses(f), s.Priors, s.ClassShares, t)
	if len(m.Intercepts) == 1 {
		m.Intercepts[0] += models.Difference(shifts) // of two classes, whose scores are −f and f
		return nil
	}
	for c, b := range shifts {
		m.Intercepts[c] += b
	}
	return nil
}

// tellShares adds what is to be said of shares.
func (m *Machine) tellShares(s *models.Summary) {
	if m.Shared == nil {
		return
	}
	s.Text += ", " + m.Shared.String()
	s.Facts = append(s.Facts, models.Fact{Key: "shares", Value: m.Shared.Shares})
	s.Warnings = append(s.Warnings, m.Shared.Warnings()...)
}
