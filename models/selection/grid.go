package selection

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/models"
)

// Default grids are data: a parameter has the values that cross-validation compares
// (Param.Grid), and a required parameter has the value for few labels (Few). [DefaultGrid],
// [Open], [Complete] and [Rule] make grids and settings of them. Pipeline.Fit chooses values
// that are required and missing, on the graph of the fit, and reports them in Input.Chosen.
// The conformance suite refuses a required parameter without a grid. 20 labels are the fewest
// to choose by: with 10 labels of two classes the choice was worse than the rule.

// Grid is a set of settings of one learner to choose from: all combinations of
// the values of its axes, or of one of Joint with those.
type Grid struct {
	Learner models.Learner
	// Fixed holds the parameters that all settings have in common.
	Fixed models.Values
	// Joint lists values of parameters that are varied together, such as pairs of γ_A
	// and γ_I; empty if there are none.
	Joint []models.Values
	// Axes hold the values of the other parameters, by name.
	Axes map[string][]string
	// Neighbors of each point in the graph, for learners that use one. Empty means
	// the number in Data.
	Neighbors []int
}

// Setting is a point of a [Grid]. Parameters that do not matter with the others
// are left out: the number of neighbours and the power of the Laplacian where
// γ_I = 0, say.
type Setting struct {
	Values models.Values
	// Neighbors of each point in the graph; 0 if no graph is made.
	Neighbors int
}

// String lists the values in the order of their names, and the neighbours.
func (s Setting) String() string {
	text := s.Values.String()
	switch {
	case s.Neighbors > 0 && text == "":
		return fmt.Sprintf("neighbors %d", s.Neighbors)
	case s.Neighbors > 0:
		return fmt.Sprintf("%s, neighbors %d", text, s.Neighbors)
	}
	return text
}

// MarshalJSON writes the values and the neighbours as one object.
func (s Setting) MarshalJSON() ([]byte, error) {
	v := s.Values.With(nil)
	if s.Neighbors > 0 {
		v["neighbors"] = strconv.Itoa(s.Neighbors)
	}
	return v.MarshalJSON()
}

// settings returns the settings of the grid, each once, or all faults at once. They come in
// the order of the strength of regularization, strongest first: by the learner's parameters in
// their order, then by fewer neighbours. Values such as the median distance are computed on
// the points of in. neighbors is the number of neighbours where the grid has none.
func (g *Grid) settings(in *models.Input, neighbors int) ([]Setting, error) {
	params := g.Learner.Params()
	all := g.combinations(params)
	if err := g.check(params, all); err != nil {
		return nil, err
	}
	counts := g.Neighbors
	if len(counts) == 0 {
		counts = []int{neighbors}
	}
	info := g.Learner.Info()

	// Different rules may give the same number, and a parameter may not matter: such settings
	// are equal, are neighbours in the order, and only one of them stays.
	rules := resolver{learner: g.Learner, in: in, known: map[string]models.Values{}}
	var out []Setting
	for _, v := range all {
		v, err := rules.resolve(v)
		if err != nil {
			return nil, err
		}
		if !info.UsesGraph(v) {
			out = append(out, Setting{Values: v})
			continue
		}
		for _, k := range counts {
			out = append(out, Setting{v, k})
		}
	}

	slices.SortStableFunc(out, func(a, b Setting) int { return stronger(params, a, b) })
	return slices.CompactFunc(out, func(a, b Setting) bool { return stronger(params, a, b) == 0 }), nil
}

// combinations returns all combinations of the values of the axes, joined with the fixed
// values and without the values that do not matter.
func (g *Grid) combinations(params []models.Param) []models.Values {
	// The list starts with the joint values and is multiplied by one axis after the other, in
	// the order of the parameters.
	all := []models.Values{g.Fixed}
	if len(g.Joint) > 0 {
		all = nil
	}
	for _, v := range g.Joint {
		all = append(all, g.Fixed.With(v))
	}
	for _, p := range params {
		values, ok := g.Axes[p.Name]
		if !ok {
			continue
		}
		var out []models.Values
		for _, v := range all {
			for _, text := range values {
				out = append(out, v.With(models.Values{p.Name: text}))
			}
		}
		all = out
	}

	varied := g.varied()
	for i, v := range all {
		all[i] = relevant(params, varied, v)
	}
	return all
}

// varied returns the names of the parameters that have several values.
func (g *Grid) varied() map[string]bool {
	names := map[string]bool{}
	for name := range g.Axes {
		names[name] = true
	}
	for _, v := range g.Joint {
		for name := range v {
			names[name] = true
		}
	}
	return names
}

// check returns all faults of the grid and of its combinations, each once.
func (g *Grid) check(params []models.Param, all []models.Values) error {
	var faults []error
	seen := map[string]bool{}
	add := func(fault error) {
		if !seen[fault.Error()] {
			seen[fault.Error()] = true
			faults = append(faults, fault)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.varied())) {
		i := slices.IndexFunc(params, func(p models.Param) bool { return p.Name == name })
		values, axis := g.Axes[name]
		switch {
		case i < 0:
			add(models.UnknownParam(params, name))
		case !params[i].Axis:
			add(fmt.Errorf("%s takes one value for %s", name, g.Learner.Info().Name))
		case axis && len(values) == 0:
			add(fmt.Errorf("there are no values for %s", name))
		}
	}

	for _, k := range g.Neighbors {
		if k < 1 {
			add(&models.ParamError{Name: "neighbors", Value: strconv.Itoa(k), Must: "at least 1"})
		}
	}

	// Combinations repeat the faults of their values; add keeps each once.
	for _, v := range all {
		joined, ok := models.CheckValues(params, v).(interface{ Unwrap() []error })
		if !ok {
			continue
		}
		for _, fault := range joined.Unwrap() {
			add(fault)
		}
	}

	return errors.Join(faults...)
}

// relevant returns v without parameters that do not matter in combination with the others. A
// parameter that cannot matter in any setting stays, so that the check reports it.
func relevant(params []models.Param, varied map[string]bool, v models.Values) models.Values {
	out := v.With(nil)
	for i := range params {
		p := &params[i]
		if p.Only == nil || p.Only.Holds(v, params) {
			continue
		}
		if varied[p.Only.Param] || len(p.Only.In) == 0 {
			delete(out, p.Name)
		}
	}

	return out
}

// resolver replaces values that are rules by the numbers they stand for, each rule
// once.
type resolver struct {
	learner models.Learner
	in      *models.Input
	known   map[string]models.Values // what rules stand for, by key
}

// key names the values that the result of rules depends on: all values that are words, and
// which parameters have a number.
func (r *resolver) key(v models.Values) string {
	names := v.With(nil)
	for name, text := range v {
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			names[name] = "a number"
		}
	}
	return names.String()
}

func (r *resolver) resolve(v models.Values) (models.Values, error) {
	l, ok := r.learner.(models.Resolver)
	if !ok {
		return v, nil
	}
	key := r.key(v)
	numbers, ok := r.known[key]
	if !ok {
		in := *r.in
		in.Values = v
		resolved, err := l.Resolve(&in)
		if err != nil {
			return nil, err
		}
		// Only the values in words are replaced: others are the user's own numbers.
		numbers = models.Values{}
		for name, text := range resolved {
			if _, err := strconv.ParseFloat(v[name], 64); err != nil {
				numbers[name] = text
			}
		}
		r.known[key] = numbers
	}

	return v.With(numbers), nil
}

// stronger orders settings by the strength of their regularization, strongest
// first.
func stronger(params []models.Param, a, b Setting) int {
	// The first parameter with a difference decides. Texts may differ and the numbers be
	// equal, 1 and 1.0 say; then the next parameter decides.
	for i := range params {
		p := &params[i]
		if x, y := a.Values[p.Name], b.Values[p.Name]; x != y {
			u, errU := strconv.ParseFloat(x, 64)
			v, errV := strconv.ParseFloat(y, 64)
			switch {
			case errU != nil || errV != nil: // numbers before words, given before default
				return cmp.Or(boolCompare(errU != nil, errV != nil), cmp.Compare(x, y))
			case u == v:
				continue
			case p.Smaller:
				return cmp.Compare(u, v)
			}
			return cmp.Compare(v, u)
		}
	}

	return cmp.Compare(a.Neighbors, b.Neighbors)
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
