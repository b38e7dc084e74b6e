package kernelmachine

import (
	"context"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
)

// farFit is the part of a manifest about points of which a machine knows nothing.
type farFit struct {
	Fallback  int32 `json:"fallback,omitempty"`
	Unreached int   `json:"unreached,omitempty"`
}

// far returns what the manifest says of such points.
func (m *Machine) far() farFit { return farFit{m.Fallback, m.Unreached} }

// setFar is the inverse of far.
func (m *Machine) setFar(f farFit) error {
	if f.Unreached < 0 || f.Fallback < 0 || int(f.Fallback) >= max(1, len(m.Classes)) {
		return fmt.Errorf("kernelmachine: %d points get class %d of %d", f.Unreached, f.Fallback, len(m.Classes))
	}
	m.Fallback = f.Fallback
	m.Unreached = f.Unreached
	return nil
}

// findUnreached sets Unreached of a machine fitted to in, on a graph. Fourier features reach every
// point. It evaluates the kernel at the points of components without a label.
func (m *Machine) findUnreached(ctx context.Context, in *models.Input) error {
	if m.Settings.GammaI == 0 || m.Points == nil && !m.Given || in.Graph == nil || in.Graph.Components == nil {
		return nil
	}
	c := in.Graph.Components
	reached := make([]bool, c.Count())
	for _, i := range in.Targets.Labeled {
		reached[c.Of[i]] = true
	}
	var far []int
	for i, id := range c.Of {
		if !reached[id] {
			far = append(far, i)
		}
	}
	if len(far) == 0 {
		return nil
	}

	// f without its intercepts is 0 where every kernel value is.
	e := m.Expansion
	e.Intercepts = nil
	p, err := e.Predict(ctx, data.Select(in.Points, far), nil)
	if err != nil {
		return err
	}
	for i := range far {
		if !slices.ContainsFunc(p.Scores.RawRowView(i), nonzero) {
			m.Unreached++
		}
	}
	return nil
}

func nonzero(v float64) bool { return v != 0 }

// tellUnreached adds what is to be said of points that are out of reach.
func (m *Machine) tellUnreached(s *models.Summary) {
	if m.Unreached == 0 {
		return
	}
	s.Facts = append(s.Facts, models.Fact{Key: "far_points", Value: m.Unreached})
	where := fmt.Sprintf("%s in components without a label, with a kernel value of 0 to all points of the model, ",
		enum.Count(m.Unreached, "point"))
	switch {
	case m.Settings.Method != OneClass && m.Classes != nil && !slices.ContainsFunc(m.Intercepts, nonzero):
		s.Unreached = m.Unreached
		s.Fallback = &m.Classes[m.Fallback]
	case m.Classes != nil:
		s.Warnings = append(s.Warnings, where+"got the class of the intercepts alone: label one of them, or take a "+
			"wider kernel")
	case slices.ContainsFunc(m.Intercepts, nonzero):
		s.Warnings = append(s.Warnings, where+"got the intercept for a value: give one of them a value, or take a "+
			"wider kernel")
	default:
		s.Warnings = append(s.Warnings, where+"got the value 0: give one of them a value, set "+
			param.Name("intercept").String()+" for the mean, or take a wider kernel")
	}
}
