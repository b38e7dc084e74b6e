package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
)

// paramFlags are flags made of parameters, by name.
type paramFlags map[string]*paramValue

// paramValue is the flag of a parameter. Its value is checked once the learner is
// known.
type paramValue struct {
	models.Param
	list bool // takes several values with commas between
	text string
}

func (v *paramValue) Set(text string) error { v.text = text; return nil }

func (v *paramValue) String() string { return v.text }

// Type stands for the value in help texts.
func (v *paramValue) Type() string {
	switch {
	case v.list:
		return "list"
	case v.Kind == models.Choice:
		return "name"
	case v.Kind == models.Bool:
		return "bool"
	}
	return string(v.Kind)
}

// parts returns the values that are given; none without the flag.
func (v *paramValue) parts() []string {
	switch {
	case v == nil || v.text == "":
		return nil
	case !v.list:
		return []string{v.text}
	}
	parts := strings.Split(v.text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// shorthands of parameters.
var shorthands = map[string]string{"neighbors": "k", "eigenvectors": "p"}

// add adds flags for parameters that have none yet. With lists, parameters that are
// axes of a grid take several values.
func (p paramFlags) add(f *pflag.FlagSet, params []models.Param, lists bool) {
	for _, q := range params {
		if known := p[q.Name]; known != nil {
			if known.Default != q.Default {
				known.Default = "of the model"
				f.Lookup(q.Name).Usage = usageOf(&known.Param)
			}
			continue
		}
		if f.Lookup(q.Name) != nil {
			continue
		}
		p[q.Name] = &paramValue{Param: q, list: lists && q.Axis}
		short := shorthands[q.Name]
		if short != "" && f.ShorthandLookup(short) != nil {
			short = ""
		}
		flag := f.VarPF(p[q.Name], q.Name, short, usageOf(&q))
		if q.Kind == models.Bool {
			flag.NoOptDefVal = "true"
		}
	}
}

// usageOf is the help text of a parameter.
func usageOf(p *models.Param) string {
	text := p.Doc
	if len(p.Choices) > 0 && p.Kind == models.Choice {
		text += ": " + strings.Join(p.Choices, ", ")
	}
	if p.Default != "" {
		text += " (default: " + p.Default + ")"
	}
	return text
}

// values returns what is given of some parameters. Of several values with commas
// between it is an error to ask here.
func (p paramFlags) values(params []models.Param) models.Values {
	out := models.Values{}
	for _, q := range params {
		if v := p[q.Name]; v != nil && v.text != "" {
			out[q.Name] = v.text
		}
	}
	return out
}

// decode returns the settings of a table; faults name flags.
func decode[S any](a *app, p paramFlags, t models.Table[S]) (S, error) {
	s, err := t.Decode(p.values(t.Params()))
	return s, a.flagFaults("", err)
}

// flagFaults words the faults of parameters as those of flags or of environment
// variables. model is the learner, or empty.
func (a *app) flagFaults(model string, err error) error {
	var out []error
	for _, e := range models.Faults(err) {
		var missing *models.MissingError
		var fault models.Fault
		switch {
		case errors.As(e, &missing) && model != "":
			e = usagef("%s needs --%s, the %s", model, missing.Param.Name, missing.Param.Doc)
		case errors.As(e, &fault):
			e = usagef("%s", strings.Replace(e.Error(), fault.Error(), fault.Words(a.flagName), 1))
		}
		out = append(out, e)
	}
	return errors.Join(out...)
}

// flagName says where the value of a flag comes from.
func (a *app) flagName(name string) string {
	if a.environment[name] {
		return variable(name)
	}
	return "--" + name
}

// check returns all faults of the parameters of a learner. Those of the environment
// that do not matter with the others are left out of v.
func (a *app) check(l models.Learner, v models.Values) error {
	for _, e := range models.Faults(models.CheckFor(l, v)) {
		if unused, ok := e.(*models.UnusedError); ok && a.environment[unused.Name] {
			delete(v, unused.Name)
		}
	}
	return a.flagFaults(l.Info().Name, models.CheckFor(l, v))
}

// findLearner returns the learner with this name.
func findLearner(name string) (models.Learner, error) {
	if l := all.Learner(name); l != nil {
		return l, nil
	}
	return nil, usagef("unknown model %q; the models are %s", name, learnersThat(func(models.Learner) bool { return true }))
}

// learnersThat lists the names of learners.
func learnersThat(ok func(models.Learner) bool) string {
	var names []string
	for _, l := range all.Learners {
		if ok(l) {
			names = append(names, l.Info().Name)
		}
	}
	return strings.Join(names, ", ")
}

// hasParam tells whether a learner, or the graph that it needs, has a parameter.
func hasParam(l models.Learner, graph []models.Param, name string) bool {
	is := func(p models.Param) bool { return p.Name == name }
	return slices.ContainsFunc(l.Params(), is) || l.Info().Needs.Has(models.NeedsGraph) && slices.ContainsFunc(graph, is)
}

// checkOwners returns an error if a flag on the command line is a parameter of other
// learners. needs are flags that go with an input of learners.
func (a *app) checkOwners(l models.Learner, p paramFlags, graph []models.Param, needs map[string]models.Needs) error {
	for _, name := range slices.Sorted(maps.Keys(a.given)) {
		owns := func(o models.Learner) bool {
			if need, ok := needs[name]; ok {
				return o.Info().Needs.Has(need)
			}
			return hasParam(o, graph, name)
		}
		if _, ok := needs[name]; p[name] == nil && !ok || owns(l) {
			continue
		}
		return usagef("--%s is not for %s, but for %s", name, l.Info().Name, learnersThat(owns))
	}
	return nil
}

// sameAs returns an error if a flag given on the command line contradicts the
// settings that an artifact was made with.
func (a *app) sameAs(p paramFlags, params []models.Param, made models.Values, file string) error {
	for i := range params {
		q := &params[i]
		if !a.given[q.Name] || p[q.Name] == nil {
			continue
		}
		have, ok := made[q.Name]
		if !ok {
			if have = q.Default; have == "" {
				have = "none"
			}
		}
		if given := p[q.Name].text; !q.Same(given, have) {
			return usagef("--%s is %s, but %s was made with %s; leave it out, or make the file again", q.Name, given, file, have)
		}
	}
	return nil
}

// only returns the parameters that have a value in v.
func only(params []models.Param, v models.Values) []models.Param {
	return slices.DeleteFunc(slices.Clone(params), func(p models.Param) bool { _, ok := v[p.Name]; return !ok })
}

// describeLearners is the list of learners as text.
func describeLearners() string {
	var b strings.Builder
	for _, l := range all.Learners {
		fmt.Fprintf(&b, "  %-14s %s\n", l.Info().Name, l.Info().Help)
	}
	return b.String()
}
