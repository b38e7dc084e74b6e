package shell

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
)

// Help is made of the parameters: fit and tune have the flags of all models and show the flags
// of one ([ModelHelp]), for completion as well. The suggestions of cobra are off, because they
// know commands only; near names of flags, models and variables come from one function. An
// argument without a flag is points, or labels where a command needs them; the first argument
// of embed and cluster may be a graph in a sparse .npz, and sparse points are then given with
// -X.

// ParamFlags are flags made of parameters, by name.
type ParamFlags map[string]*paramValue

// paramValue is the flag of a parameter. Its value is checked once the learner is
// known.
type paramValue struct {
	models.Param
	list bool // takes several values with commas between
	Text string
}

func (v *paramValue) Set(text string) error { v.Text = text; return nil }

func (v *paramValue) String() string { return v.Text }

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

// Parts returns the values that are given; none without the flag.
func (v *paramValue) Parts() []string {
	switch {
	case v == nil || v.Text == "":
		return nil
	case !v.list:
		return []string{v.Text}
	}

	// Spaces after commas come with quoted lists.
	parts := strings.Split(v.Text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// shorthands of parameters.
var shorthands = map[string]string{"neighbors": "k", "eigenvectors": "p"}

// Add adds flags for parameters that have none yet. With lists, parameters that are
// axes of a grid take several values.
func (p ParamFlags) Add(f *pflag.FlagSet, params []models.Param, lists bool) {
	for _, q := range params {
		// Learners share names of parameters. If their defaults differ, the help must not promise
		// one of them.
		if known := p[q.Name]; known != nil {
			if known.Default != q.Default {
				known.Default = "of the model"
				f.Lookup(q.Name).Usage = UsageOf(&known.Param)
			}
			continue
		}
		if f.Lookup(q.Name) != nil {
			continue
		}

		p[q.Name] = &paramValue{Param: q, list: lists && q.Axis}
		// -k and -p may be taken by a flag of the command itself.
		short := shorthands[q.Name]
		if short != "" && f.ShorthandLookup(short) != nil {
			short = ""
		}
		flag := f.VarPF(p[q.Name], q.Name, short, UsageOf(&q))
		if q.Kind == models.Bool {
			flag.NoOptDefVal = "true"
		}
	}
}

// UsageOf is the help text of a parameter.
func UsageOf(p *models.Param) string {
	text := p.Doc
	if len(p.Choices) > 0 && p.Kind == models.Choice {
		text += ": " + strings.Join(p.Choices, ", ")
	}
	switch {
	case p.Default != "":
		text += " (default: " + p.Default + ")"
	case p.Required:
		text += " (default: by cross-validation)"
	}

	return text
}

// Values returns the given values of some parameters. Parameters with several values must
// not be among them.
func (p ParamFlags) Values(params []models.Param) models.Values {
	out := models.Values{}
	for _, q := range params {
		if v := p[q.Name]; v != nil && v.Text != "" {
			out[q.Name] = v.Text
		}
	}
	return out
}

// Single returns the flags that have at most one value.
func (p ParamFlags) Single() ParamFlags {
	out := maps.Clone(p)
	maps.DeleteFunc(out, func(_ string, v *paramValue) bool { return len(v.Parts()) > 1 })
	return out
}

// Decode returns the settings of a table; faults name flags.
func Decode[S any](a *App, p ParamFlags, t models.Table[S]) (S, error) {
	s, err := t.Decode(p.Values(t.Params()))
	return s, a.FlagFaults("", err)
}

// FlagFaults makes faults of parameters errors of the command line. model is the learner, or
// empty.
func (a *App) FlagFaults(model string, err error) error {
	var out []error
	for _, e := range models.Faults(err) {
		var missing *models.MissingError
		var fault models.Fault
		switch {
		case errors.As(e, &missing) && model != "":
			e = Usagef("%s needs --%s, the %s", model, missing.Param.Name, missing.Param.Doc)
		case errors.As(e, &fault):
			e = Usagef("%w", e)
		}
		out = append(out, e)
	}

	return errors.Join(out...)
}

// FlagName says where the value of a flag comes from.
func (a *App) FlagName(name string) string {
	if a.environment[name] {
		return variable(name)
	}
	return param.Flag(name)
}

// CheckParams returns all faults of the parameters of a learner. It deletes from v values of
// the environment that do not matter with the others. Required parameters may be missing: the
// pipeline chooses them.
func (a *App) CheckParams(l models.Learner, v models.Values) error {
	// An exported variable is meant for several commands; only a flag on the command line says
	// that the user wanted it here.
	for _, e := range models.Faults(models.CheckFor(l, selection.Rule(l, v))) {
		if unused, ok := e.(*models.UnusedError); ok && a.environment[unused.Name] {
			delete(v, unused.Name)
		}
	}
	return a.FlagFaults(l.Info().Name, models.CheckFor(l, selection.Rule(l, v)))
}

// FindLearner returns the learner with this name; an unknown name is an error of the command line.
func FindLearner(name string) (models.Learner, error) {
	l, err := all.Find(name)
	if err != nil {
		return nil, usageError{err}
	}
	return l, nil
}

// LearnersThat lists the names of learners.
func LearnersThat(ok func(models.Learner) bool) string {
	var names []string
	for _, l := range all.Learners {
		if ok(l) {
			names = append(names, l.Info().Name)
		}
	}
	return strings.Join(names, ", ")
}

// HasParam tells whether a learner, or the graph that it needs, has a parameter.
func HasParam(l models.Learner, graph []models.Param, name string) bool {
	is := func(p models.Param) bool { return p.Name == name }
	return slices.ContainsFunc(l.Params(), is) || l.Info().Needs.Has(models.NeedsGraph) &&
		slices.ContainsFunc(graph, is)
}

// CheckOwners returns an error if a flag on the command line is a parameter of other
// learners. needs are flags that go with an input of learners.
func (a *App) CheckOwners(l models.Learner, p ParamFlags, graph []models.Param,
	needs map[string]models.Needs) error {
	for _, name := range slices.Sorted(maps.Keys(a.Given)) {
		// Some flags go with an input rather than a parameter, such as --eigs.
		owns := func(o models.Learner) bool {
			if need, ok := needs[name]; ok {
				return o.Info().Needs.Has(need)
			}
			return HasParam(o, graph, name)
		}
		if _, ok := needs[name]; p[name] == nil && !ok || owns(l) {
			continue
		}
		return Usagef("--%s is not for %s, but for %s", name, l.Info().Name, LearnersThat(owns))
	}

	return nil
}

// SameAs returns an error if a flag given on the command line contradicts the
// settings that an artifact was made with.
func (a *App) SameAs(p ParamFlags, params []models.Param, made models.Values, file string) error {
	for i := range params {
		q := &params[i]
		if !a.Given[q.Name] || p[q.Name] == nil {
			continue
		}
		// Settings at their defaults are not in the manifest.
		have, ok := made[q.Name]
		if !ok {
			if have = q.Default; have == "" {
				have = "none"
			}
		}
		if given := p[q.Name].Text; !q.Same(given, have) {
			return Usagef("--%s is %s, but %s was made with %s; leave it out, or make the file again", q.Name,
				given, file, have)
		}
	}

	return nil
}

// Only returns the parameters that have a value in v.
func Only(params []models.Param, v models.Values) []models.Param {
	return slices.DeleteFunc(slices.Clone(params),
		func(p models.Param) bool { _, ok := v[p.Name]; return !ok })
}

// DescribeLearners is the list of learners as text.
func DescribeLearners() string {
	var b strings.Builder
	for _, l := range all.Learners {
		fmt.Fprintf(&b, "  %-14s %s\n", l.Info().Name, l.Info().Help)
	}
	return b.String()
}

// ListLearners is the list of the names of learners as lines of a help text.
func ListLearners() string {
	var b strings.Builder
	width := 0
	for _, name := range ModelNames() {
		// 84 columns leave room for the indent of help texts.
		if width == 0 || width+2+len(name) > 84 {
			b.WriteString("\n ")
			width = 1
		}
		b.WriteString(" " + name)
		width += 1 + len(name)
	}

	return strings.TrimPrefix(b.String(), "\n") + "\n"
}
