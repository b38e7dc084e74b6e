package modeltest

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/stage"
)

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// checkInfo: the learner has a name and a line of help, learns something, and
// names an existing parameter in GraphIf.
func (c *checker) checkInfo() {
	i := c.info
	if !nameForm.MatchString(i.Name) {
		c.fault("", "the name %q is not of lower-case words joined by dashes", i.Name)
	}
	if i.Help == "" || strings.Contains(i.Help, "\n") {
		c.fault("", "the help %q is not one line", i.Help)
	}
	if i.Scores == "" || len([]rune(i.Scores)) > 120 || strings.Contains(i.Scores, "\n") {
		c.fault("", "what the scores mean is said as %q, not in one line", i.Scores)
	}
	if i.Learns == 0 {
		c.fault("", "it learns nothing")
	}
	if _, ok := c.param(i.GraphIf); i.GraphIf != "" && (!ok || !i.Needs.Has(models.NeedsGraph)) {
		c.fault("", "GraphIf is %q, which is no parameter, or there is no graph", i.GraphIf)
	}
	if _, ok := c.l.(models.Paired); ok != i.Needs.Has(models.NeedsEigenpairs) {
		c.fault("", "it needs eigenpairs: %v, says which: %v", !ok, ok)
	}
	if !reflect.DeepEqual(c.l.Params(), c.l.Params()) || !reflect.DeepEqual(i, c.l.Info()) {
		c.fault("", "Params or Info answer differently when asked twice")
	}
}

// param returns the parameter called name.
func (c *checker) param(name string) (models.Param, bool) {
	params := c.l.Params()
	i := slices.IndexFunc(params, func(p models.Param) bool { return p.Name == name })
	if i < 0 {
		return models.Param{}, false
	}
	return params[i], true
}

// checkParams: every parameter is complete and refers to existing ones.
func (c *checker) checkParams() {
	seen := map[string]bool{}
	for _, p := range c.l.Params() {
		c.checkParam(&p)
		if seen[p.Name] {
			c.fault(p.Name, "there are two parameters of this name")
		}
		seen[p.Name] = true
	}
}

func (c *checker) checkParam(p *models.Param) {
	if !nameForm.MatchString(p.Name) {
		c.fault(p.Name, "the name %q is not of lower-case words joined by dashes", p.Name)
	}
	if p.Doc == "" || strings.Contains(p.Doc, "\n") || strings.HasSuffix(p.Doc, ".") {
		c.fault(p.Name, "the doc %q is not one line without a full stop", p.Doc)
	}
	if !slices.Contains([]models.ParamKind{models.Float, models.Int, models.Bool, models.Choice,
		models.List}, p.Kind) {
		c.fault(p.Name, "the kind is %q", p.Kind)
	}
	if p.Kind == models.Choice && len(p.Choices) == 0 {
		c.fault(p.Name, "there are no choices")
	}
	if r := p.Range; r != nil && !(r.Low < r.High) {
		c.fault(p.Name, "the range from %v to %v is empty", r.Low, r.High)
	}
	if p.Required == (p.Default != "") {
		c.fault(p.Name, "it is required: %v, and has the default %q", p.Required, p.Default)
	}

	if isValue(p) {
		if err := p.Check(p.Default); err != nil {
			c.fault(p.Name, "the default is refused: %v", err)
		}
	}

	for _, v := range p.Grid {
		if err := p.CheckElement(v); err != nil || !p.Axis {
			c.fault(p.Name, "the grid has %q, an axis: %v, %v", v, p.Axis, err)
		}
	}

	if p.Required && (len(p.Grid) == 0 || p.Check(p.Few) != nil) {
		c.fault(p.Name, "it is required, and nothing is there to choose from: the grid %q, with few labels %q",
			p.Grid, p.Few)
	}
	if p.Smaller && !p.Axis {
		c.fault(p.Name, "Smaller says something about axes only")
	}
	c.checkOnly(p)
}

// isValue tells whether the default is a value, and not how one is found.
func isValue(p *models.Param) bool {
	if p.Default == "" || strings.Contains(p.Default, " ") {
		return false
	}
	_, err := strconv.ParseFloat(p.Default, 64)
	return err == nil || p.Kind == models.Choice || p.Kind == models.Bool
}

// checkOnly: the chain of conditions of a parameter names existing parameters, and ends.
func (c *checker) checkOnly(p *models.Param) {
	seen := []string{p.Name}
	for only := p.Only; only != nil; {
		q, ok := c.param(only.Param)
		if !ok {
			c.fault(p.Name, "it is for %s, but there is no parameter %s", only, only.Param)
			return
		}

		for _, v := range only.In {
			if err := q.Check(v); err != nil {
				c.fault(p.Name, "it is for %s: %v", only, err)
			}
		}

		if slices.Contains(seen, q.Name) {
			c.fault(p.Name, "the conditions are a circle: %s, %s", strings.Join(seen, ", "), q.Name)
			return
		}
		seen = append(seen, q.Name)
		only = q.Only
	}
}

// badValue returns a text that the parameter refuses, or "".
func badValue(p *models.Param) string {
	for _, text := range []string{"-1e300", "1e300", "1.5", "nan", "no-such-value"} {
		if p.Check(text) != nil {
			return text
		}
	}
	return ""
}

// names tells whether a text has the name as a word.
func names(text, name string) bool {
	return regexp.MustCompile(`(^|[^a-z0-9-])` + regexp.QuoteMeta(name) + `($|[^a-z0-9-])`).MatchString(text)
}

// checkFaults: one error of Fit and one of Cost name all bad values, and all that
// are missing.
func (c *checker) checkFaults() {
	c.first(func(k kind) {
		good := c.input(blobs(sampleSize, false, 1), k)
		const unknown = "no-such-parameter"

		// All parameters are wrong at once, beside one that does not exist: one error must name
		// them all.
		bad := models.Values{unknown: "1"}
		want := []string{unknown}
		var required []string
		for _, p := range c.l.Params() {
			if text := badValue(&p); text != "" {
				bad[p.Name] = text
				want = append(want, p.Name)
			} else {
				c.fault(p.Name, "every value is accepted")
			}
			if p.Required {
				required = append(required, p.Name)
			}
		}

		c.refuseValues(k.name, good, bad, want)

		// No values at all: the parameters without a default are missing.
		if required != nil {
			c.refuseValues(k.name, good, models.Values{}, required)
		}
		for _, p := range c.l.Params() {
			if v, ok := c.unused(&p); ok {
				c.refuseValues(k.name, good, v, []string{p.Name})
			}
		}
	})
}

// refuseValues demands that the errors of Fit and Cost have all names.
func (c *checker) refuseValues(at string, good *models.Input, v models.Values, want []string) {
	in := *good
	in.Values = v
	c.try(at, func() {
		err := c.refuse(at, "the values "+v.String(), &in)
		_, costErr := c.l.Cost(&in)
		if costErr == nil {
			c.fault(at, "Cost accepts the values %v", v)
			costErr = err
		}

		for _, name := range want {
			if !names(err.Error(), name) || !names(costErr.Error(), name) {
				c.fault(at, "the values %v: the errors do not name %s: Fit: %v; Cost: %v", v, name,
					err, costErr)
			}
		}
	})
}

// unused returns the suite's values and p where it does not matter, if the
// parameter that decides is a choice.
func (c *checker) unused(p *models.Param) (models.Values, bool) {
	if p.Only == nil || len(p.Only.In) == 0 {
		return nil, false
	}
	q, _ := c.param(p.Only.Param)
	text := valueOf(p)

	// Another choice of the deciding parameter makes p one that does not matter.
	for _, other := range q.Choices {
		v := c.s.Values.With(models.Values{q.Name: other})
		for name := range v { // those that do not matter either would be named as well
			if r, ok := c.param(name); ok && !r.Only.Holds(v, c.l.Params()) {
				delete(v, name)
			}
		}
		if text != "" && !slices.Contains(p.Only.In, other) && q.Only.Holds(v, c.l.Params()) &&
			models.CheckValues(c.l.Params(), v) == nil {
			return v.With(models.Values{p.Name: text}), true
		}
	}

	return nil, false
}

// valueOf returns a text that the parameter accepts, or "".
func valueOf(p *models.Param) string {
	for _, text := range append([]string{p.Default, "1", "0.5", "2", "true"}, p.Choices...) {
		if text != "" && p.Check(text) == nil {
			return text
		}
	}
	return ""
}

// checkDefaults: a default that is given is as good as one that is not.
func (c *checker) checkDefaults() {
	c.first(func(k kind) {
		s := blobs(sampleSize, false, 1)
		query := queries(false)
		want := c.answer(k.name, c.input(s, k), query)
		params := c.l.Params()
		for _, p := range params {
			if _, given := c.s.Values[p.Name]; given || !isValue(&p) || !p.Only.Holds(c.s.Values, params) {
				continue
			}
			c.try(p.Name, func() {
				in := c.inputWith(s, k, models.Values{p.Name: p.Default})
				if d := difference(c.answer(p.Name, in, query), want, 0); d != "" {
					c.fault(p.Name, "%s %s is the default, but gives other answers than none: %s", p.Name,
						p.Default, d)
				}
			})
		}
	})
}

// checkValues: the values of a model are accepted and make the same model again,
// and pass through JSON.
func (c *checker) checkValues() {
	c.each(func(k kind) {
		s := blobs(sampleSize, false, 1)
		query := queries(false)
		m := c.fit(k.name, c.input(s, k))

		// The values of a model are those in use: rules such as a median width are numbers now.
		v := m.Summary().Values
		c.must(k.name, "the values "+v.String()+" of the model", models.CheckValues(c.l.Params(), v))
		e, err := m.Encode()
		c.must(k.name, "Encode", err)
		if !maps.Equal(e.Values, v) {
			c.fault(k.name, "Encode has the values %v and Summary %v", e.Values, v)
		}
		var back models.Values
		text, err := json.Marshal(v)
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || !maps.Equal(v, back) {
			c.fault(k.name, "the values %v come back from JSON as %v, %v", v, back, err)
		}
		in, err := input(c.l, s, k, v)
		c.must(k.name, "the input", err)

		// Fitted again, the model and its values must be fixed points.
		again := c.fit(k.name, in)
		if d := difference(c.ask(k.name, m, query), c.ask(k.name, again, query), 0); d != "" {
			c.fault(k.name, "a fit with the values %v of the model: %s", v, d)
		}
		if w := again.Summary().Values; !maps.Equal(v, w) {
			c.fault(k.name, "a fit with the values %v has the values %v", v, w)
		}
	})
}

// checkCost: costs are positive, do not shrink as the points become more, and need
// neither a graph nor eigenpairs.
func (c *checker) checkCost() {
	c.each(func(k kind) {
		var last stage.Cost

		// Each size is five times the one before, with eight edges for each point.
		for _, n := range []int{140, 700, 3500} {
			s := blobs(n, false, 3)
			t, err := k.targets(s)
			c.must(k.name, "the targets", err)
			in := &models.Input{Points: s.x, Targets: t, Edges: 8 * n, Values: c.s.Values}
			if c.info.Needs.Has(models.NeedsOutputGraph) {
				in.Outputs = outputPath(t)
			}
			cost, err := c.l.Cost(in)
			c.must(k.name, "Cost", err)
			if cost.Bytes <= 0 || cost.Bytes < last.Bytes || cost.Operations < last.Operations ||
				cost.Remedy == "" {
				c.fault(k.name, "the cost of %d points is %+v, that of a fifth %+v", n, cost, last)
			}
			last = cost

			if c.info.Transductive() {
				in.Points = nil
				_, err := c.l.Cost(in)
				c.must(k.name, "Cost without points", err)
			}
		}
	})
}

// checkProgress: the hook is called, never twice at once nor after Fit, and the work done is within
// the total.
func (c *checker) checkProgress() {
	c.each(func(k kind) {
		in := c.input(blobs(sampleSize, false, 1), k)
		w := watch(nil, 0)
		in.Progress = w.report
		_, err := c.l.Fit(context.Background(), in)
		calls, faults := w.end()
		c.must(k.name, "Fit", unusable(err))
		if calls == 0 {
			c.fault(k.name, "the fit reported no progress")
		}
		for _, text := range faults {
			c.fault(k.name, "%s", text)
		}
	})
}

// unusable returns err, or nil if it is Usable.
func unusable(err error) error {
	if models.Usable(err) {
		return nil
	}
	return err
}
