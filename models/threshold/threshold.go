// Package threshold decides between two classes by a threshold t: a point belongs to the
// second class if half the difference of its scores, (s₁ − s₀)/2, is at least t. For a model
// with the scores −f and f this is f ≥ t. Models themselves decide by t = 0.
package threshold

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/param"
)

// Rule is a rule for t.
type Rule int

const (
	// Zero is t = 0, the sign of the score.
	Zero Rule = iota
	// Prior is the t that a given share of the points asked for reach, as nearly as ties
	// allow. By default it is the share of the second class among the labels.
	Prior
	// BreakEven is the t with equal precision and recall of the second class on labeled
	// points: the number of points that reach t equals the number of points of that class.
	BreakEven
)

var rules = enum.New[Rule]("threshold", "zero", "prior", "break-even")

// String returns the name used on the command line and in manifests.
func (r Rule) String() string { return rules.String(r) }

// MarshalText returns the name.
func (r Rule) MarshalText() ([]byte, error) { return rules.Marshal(r) }

// UnmarshalText is the inverse of MarshalText.
func (r *Rule) UnmarshalText(text []byte) error { return rules.Unmarshal(r, text) }

// Settings chooses a threshold.
type Settings struct {
	Rule Rule
	// Share of the second class for Prior; 0 means its share among the labels.
	Share float64
	// Labels, if not nil, holds classes of the points asked for, by which Prior and
	// BreakEven are decided; unlabeled points do not count. By default the labels of the fit
	// decide, and for BreakEven the held-out answers for them.
	Labels *data.Labels
}

// Parse reads zero, prior, prior:SHARE or break-even.
func Parse(text string) (*Settings, error) {
	s := new(Settings)
	name, share, given := strings.Cut(text, ":")
	if err := s.Rule.UnmarshalText([]byte(name)); err != nil {
		return nil, err
	}
	if !given {
		return s, nil
	}
	var err error
	if s.Share, err = strconv.ParseFloat(share, 64); err != nil || s.Rule != Prior ||
		!(s.Share > 0 && s.Share < 1) {
		return nil, fmt.Errorf("%q is no threshold; it is zero, prior, break-even, or prior:SHARE "+
			"with a share of the second class between 0 and 1", text)
	}
	return s, nil
}

// Threshold describes the threshold that was used.
type Threshold struct {
	Rule Rule `json:"rule"`
	// Value is the least (s₁ − s₀)/2 of a point of the second class.
	Value float64 `json:"value"`
	// Share of the second class that Prior asked for; 0 for other rules.
	Share float64 `json:"share,omitempty"`
	// From names the source of the labels that decided; empty if no labels did.
	From string `json:"from,omitempty"`
	// Class is the name of the second class.
	Class string `json:"class"`
}

// String describes the threshold in a few words.
func (t *Threshold) String() string {
	text := fmt.Sprintf("class %s from %.6g on (%v", t.Class, t.Value, t.Rule)
	if t.Share > 0 {
		text += fmt.Sprintf(", share %.4g", t.Share)
	}
	if t.From != "" {
		text += " of " + t.From
	}
	return text + ")"
}

// Check returns an error unless m has two classes.
func Check(m models.Model) error {
	switch o := m.Output(); {
	case o.Kind != models.OutputClasses:
		return fmt.Errorf("a threshold is for two classes, and the %s model answers with %v",
			m.Name(), o.Kind)
	case len(o.Classes) != 2:
		return fmt.Errorf("a threshold is for two classes, and the %s model has %d", m.Name(), len(o.Classes))
	}
	return nil
}

// Decide sets the classes of p by a threshold. p holds answers of m with scores. Scores decide
// for all points, even if a point had a label or training points voted on it. It is an error
// if m has not two classes, or if the labels that the rule needs are not known: see
// [Settings].
func Decide(m models.Model, p *models.Prediction, s *Settings) (*Threshold, error) {
	o := m.Output()
	if err := Check(m); err != nil {
		return nil, err
	}

	switch {
	case p.Scores == nil:
		return nil, fmt.Errorf("a threshold is one of scores, and the %s model keeps none for these "+
			"points", m.Name())
	case s.Labels != nil && s.Labels.Len() != p.Len():
		return nil, fmt.Errorf("%d labels for %d points", s.Labels.Len(), p.Len())
	}

	t := &Threshold{Rule: s.Rule, Class: data.ClassName(o.Classes, o.Names, 1)}
	if s.Labels != nil {
		for i, c := range s.Labels.Index {
			if c > 1 {
				return nil, fmt.Errorf("the label of point %d is %s, which is no class of the model; "+
					"its classes are %s and %s", i, s.Labels.Name(c), data.ClassName(o.Classes, o.Names,
					0), t.Class)
			}
		}
	}

	// The rule gives t, from the scores or from labels that were held out in the fit.
	n := p.Len()
	scores := make([]float64, n)
	for i := range scores {
		scores[i] = models.Difference(p.Scores.RawRowView(i))
	}
	var err error
	switch {
	case s.Rule == Prior:
		if t.Share, t.From, err = secondShare(m, s); err == nil {
			t.Value = metrics.Cut(scores, int(math.Round(t.Share*float64(n))))
		}
	case s.Rule == BreakEven && s.Labels != nil:
		t.Value, t.From, err = labeled(scores, s.Labels)
	case s.Rule == BreakEven:
		t.Value, t.From, err = heldOut(m, p)
	}

	if err != nil {
		return nil, err
	}

	// Zero keeps the rule of models for ties, so that it changes no answer.
	if s.Rule == Zero {
		p.Classes = models.Decide(p.Scores)
		return t, nil
	}
	p.Classes = make([]int32, n)
	for i, v := range scores {
		if v >= t.Value {
			p.Classes[i] = 1
		}
	}
	return t, nil
}

// shares returns the share of the second class among labels and their number.
func shares(y *data.Labels) (share float64, count int) {
	for _, c := range y.Index {
		if c != data.Unlabeled {
			share += float64(c)
			count++
		}
	}
	return share / float64(count), count
}

// secondShare returns the share of the second class that the settings ask for.
func secondShare(m models.Model, s *Settings) (share float64, from string, err error) {
	// Given numbers and labels first; then the model's, from a calibration or its targets.
	count := 0
	c := models.CalibrationOf(m)
	u, keeps := models.Unnamed(m).(models.Updater)
	switch {
	case s.Share > 0:
		return s.Share, "", nil
	case s.Labels != nil:
		share, count = shares(s.Labels)
		from = fmt.Sprintf("%d given labels", count)
	case c != nil && c.Classes != nil:
		share = c.Classes.Priors[1]
		from = "the labels of the fit"
	case keeps && u.Kept().Targets != nil:
		share, count = shares(u.Kept().Targets.ClassLabels())
		from = fmt.Sprintf("the %d labels of the fit", count)
	default:
		return 0, "", fmt.Errorf("the %s model does not hold the shares of the classes among its "+
			"labels; give a share, as prior:0.3, or labels of some points, or fit again with %s 10",
			m.Name(), param.Name("calibrate"))
	}

	if !(share >= 0) {
		return 0, "", fmt.Errorf("there is no label among those given; label some points, or give a " +
			"share, as prior:0.3")
	}
	return share, from, nil
}

// labeled returns the threshold at the break-even point of the labeled points.
func labeled(scores []float64, y *data.Labels) (float64, string, error) {
	// Precision and recall count labeled points only.
	var known []float64
	var second []bool
	for i, c := range y.Index {
		if c != data.Unlabeled {
			known = append(known, scores[i])
			second = append(second, c == 1)
		}
	}

	if len(known) == 0 {
		return 0, "", fmt.Errorf("no point has a label, and the break-even point is one of labeled points")
	}

	// PRBEP is NaN if no label is of the second class.
	b, err := metrics.BreakEven(known, second)
	if err == nil && b.PRBEP != b.PRBEP {
		err = fmt.Errorf("none of the %d labels is of class %s, so that there is no break-even point",
			len(known), y.Name(1))
	}
	return b.Threshold, fmt.Sprintf("%d given labels", len(known)), err
}

// heldOut returns the threshold that m keeps of its held-out labels.
func heldOut(m models.Model, p *models.Prediction) (float64, string, error) {
	c := models.CalibrationOf(m)
	switch {
	case c == nil || c.BreakEven == nil:
		return 0, "", fmt.Errorf("the %s model holds no break-even point of held-out labels; fit it "+
			"again with %s 10, or give labels of some points", m.Name(), param.Name("calibrate"))
	case p.Voters != nil:
		return 0, "", fmt.Errorf("the %s model lets training points vote on these points, and its "+
			"break-even point is one of its own scores; give labels of some points, or take the "+
			"extension nystrom", m.Name())
	}
	return *c.BreakEven, fmt.Sprintf("%d labels held out in %d folds", c.Held, c.Folds), nil
}
