package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/models"
)

// FewestLabels is the number of labeled points from which [Enough] lets
// cross-validation choose. With 10 labels of two classes its choice of γ_A and γ_I was
// worse than the fixed rule on three sets of three; with 40 it was better.
const FewestLabels = 20

// Enough reports whether cross-validation can choose settings by the targets: at
// least [FewestLabels] labeled points are left, and of classes two of them, when the
// classes with a single label, which count as wrong in every setting, are left out.
func Enough(t *models.Targets) bool {
	if t.Classes == nil {
		return len(t.Labeled) >= FewestLabels
	}
	labels, classes := repeated(t)
	return labels >= FewestLabels && classes > 1
}

// repeated returns the number of labels whose class has another label, and of their classes: a class with a single
// label is not known while that label is left out.
func repeated(t *models.Targets) (labels, classes int) {
	counts := make([]int, len(t.Classes))
	for q := range t.Labeled {
		counts[t.Class(q)]++
	}
	for _, n := range counts {
		if n > 1 {
			labels += n
			classes++
		}
	}
	return labels, classes
}

// EnoughLeftOut returns a [calibration.ErrFew] where too few labels of classes can be left out one by one for a
// calibration. Soft labels may tell of a class that is the first of none.
func EnoughLeftOut(t *models.Targets) error {
	if t.Soft {
		return nil
	}
	labels, _ := repeated(t)
	return calibration.Enough(labels)
}

// DefaultGrid returns the documented grid of a learner: the values [models.Param.Grid] of
// every parameter that has some, that fixed does not give and that can matter with fixed. A
// learner on a graph without such a parameter gets [DefaultNeighbors]. The grid may be empty:
// then its only setting consists of the defaults.
func DefaultGrid(l models.Learner, fixed models.Values) *Grid {
	g := gridOf(l, fixed, func(*models.Param) bool { return true })
	if info := l.Info(); len(g.Axes) == 0 && info.Needs.Has(models.NeedsGraph) {
		g.Neighbors = slices.Clone(DefaultNeighbors)
	}
	return g
}

// DefaultNeighbors are the numbers of neighbours of a [DefaultGrid] without parameters.
var DefaultNeighbors = []int{5, 10, 20}

// Open returns the part of [DefaultGrid] that a fit cannot do without: the values of the
// required parameters that v lacks. It is nil if v has all.
func Open(l models.Learner, v models.Values) *Grid {
	g := gridOf(l, v, func(p *models.Param) bool { return p.Required })
	if len(g.Axes) == 0 {
		return nil
	}
	return g
}

// Rule returns v with [models.Param.Few] for the required parameters that it lacks: the
// choice where labels are too few for another.
func Rule(l models.Learner, v models.Values) models.Values {
	out := v.With(nil)
	for _, p := range l.Params() {
		if _, given := v[p.Name]; !given && p.Required {
			out[p.Name] = p.Few
		}
	}
	return out
}

// Complete adds default values to a grid that a user gave. If the grid names neither numbers
// of neighbours nor a parameter with default values, Complete adds all of [DefaultGrid], else
// only the axes of [Open]. It returns a description of the values that it added; an empty one
// means nothing.
func (g *Grid) Complete() string {
	given := g.Fixed.With(nil)
	for name, values := range g.Axes {
		given[name] = ""
		if len(values) > 0 {
			given[name] = values[0]
		}
	}

	// A user who varies one parameter wants no other ones varied, except those that a fit
	// requires.
	more := Open(g.Learner, given)
	named := len(g.Neighbors) > 0
	for _, p := range g.Learner.Params() {
		if _, ok := given[p.Name]; ok && len(p.Grid) > 0 {
			named = true
		}
	}

	if !named && len(g.Joint) == 0 {
		more = DefaultGrid(g.Learner, given)
		g.Neighbors = more.Neighbors
	}
	if more == nil {
		return ""
	}
	var parts []string
	for _, p := range g.Learner.Params() {
		if values, ok := more.Axes[p.Name]; ok {
			g.Axes[p.Name] = values
			parts = append(parts, p.Name+" "+strings.Join(values, ","))
		}
	}

	if more.Neighbors != nil {
		parts = append(parts, "neighbors "+strings.Trim(strings.ReplaceAll(fmt.Sprint(more.Neighbors), " ",
			","), "[]"))
	}
	return strings.Join(parts, "; ")
}

// gridOf returns the grid of the parameters that wanted selects, among those that have values,
// that are not fixed, and that can matter with the fixed ones.
func gridOf(l models.Learner, fixed models.Values, wanted func(*models.Param) bool) *Grid {
	g := &Grid{Learner: l, Fixed: fixed.With(nil), Axes: map[string][]string{}}
	params := l.Params()
	for i := range params {
		p := &params[i]
		_, given := fixed[p.Name]
		off := p.Only != nil && len(p.Only.In) > 0 && !p.Only.Holds(fixed, params)
		if given || off || len(p.Grid) == 0 || !wanted(p) {
			continue
		}
		g.Axes[p.Name] = slices.Clone(p.Grid)
	}

	return g
}
