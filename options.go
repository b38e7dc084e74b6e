package bigfit

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/all"
	"github.com/bigfit/bigfit/models/selection"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/stage"
)

// Options of [Fit]. A nil *Options and every zero field stand for the default that the field
// names.
type Options struct {
	// Model is the name of the model to fit, as [Models] lists them. Default "auto": several
	// models are compared by cross-validation on the labels and the best are averaged.
	Model string

	// Parameters of the model and of the graph that it needs, by name: see [Parameters].
	// Required ones that are missing are chosen by cross-validation.
	Parameters Parameters

	// Neighbors is the number of nearest neighbours that the graph joins each point with.
	// Default: the number of the model, 10 of auto and 8 of most others.
	Neighbors int

	// Folds is the number of parts in which the labels are held out to calibrate
	// probabilities and intervals, at least 2. It multiplies the time of the fit. Default: at little
	// cost beside the fit, as [pipeline.Pipeline.CalibrateByDefault] says, so that every fit to
	// classes has probabilities. [NoCalibration] holds nothing out.
	Folds int

	// Seed of everything random. Any value, 0 included; the same input, options and seed
	// give the same bits at any number of threads.
	Seed uint64

	// Memory, if positive, bounds the bytes that a stage may take. A stage that needs more is
	// refused before it begins, with a *[pipeline.MemoryError], or done in a way that needs
	// less. Default: no bound.
	Memory int64

	// Progress, if not nil, is told how far a stage is. Calls do not overlap.
	Progress func(Progress)

	// Log, if not nil, is told in one line each what was chosen, and what a stage came to.
	// Calls do not overlap.
	Log func(line string)

	// Observer, if not nil, is told about every stage, and may refuse one by its cost.
	Observer stage.Observer
}

// NoCalibration as [Options.Folds] leaves probabilities and intervals out.
const NoCalibration = -1

// Parameters are values of parameters by name, as [Describe] lists them: numbers, booleans,
// names as strings or as the enumerations of other packages (knn.SelfTuning), and []float64
// for a list.
//
//	bigfit.Parameters{"alpha": 0.9, "weights": "self-tuning", "pca": 50}
type Parameters map[string]any

// Description of a model and its parameters.
type Description struct {
	models.Info
	// Parameters of the model itself, and Graph those of the graph that it is fitted to;
	// these are nil if the model takes no graph.
	Parameters, Graph []models.Param
}

// Models lists the names of the models.
func Models() []string { return all.Names() }

// Describe describes a model and its parameters; "" is the default model. An unknown name is
// an error.
func Describe(model string) (*Description, error) {
	l, err := find(model)
	if err != nil {
		return nil, err
	}
	d := &Description{Info: l.Info(), Parameters: unmarked(l.Params())}
	if d.Needs.Has(models.NeedsGraph) {
		d.Graph = unmarked(pipeline.GraphParams.Params())
	}
	return d, nil
}

// unmarked returns a copy of parameters whose documentation names parameters without marks.
func unmarked(params []models.Param) []models.Param {
	out := slices.Clone(params)
	for i := range out {
		out[i].Doc = param.Plain(out[i].Doc)
		out[i].Default = param.Plain(out[i].Default)
	}
	return out
}

// find returns the learner with this name.
func find(name string) (models.Learner, error) {
	l, err := all.Find(cmp.Or(name, "auto"))
	if err != nil {
		return nil, fmt.Errorf("bigfit: %w", err)
	}
	return l, nil
}

// A plan holds the checked options: a learner, and as text the values of its parameters and of the
// parameters of its graph.
type plan struct {
	learner      models.Learner
	own, ofGraph models.Values
	folds        int
}

// plan checks the options; all faults are reported at once.
func (o *Options) plan() (*plan, error) {
	l, err := find(o.Model)
	if err != nil {
		return nil, err
	}
	p := &plan{learner: l, folds: o.Folds}
	faults := []error{p.divide(o.Parameters, o.Neighbors)}
	if o.Folds < NoCalibration || o.Folds == 1 {
		faults = append(faults, fmt.Errorf("the option Folds is %d; it must be at least 2, 0 or NoCalibration", o.Folds))
	}
	if o.Memory < 0 {
		faults = append(faults, fmt.Errorf("the option Memory is %d; it must not be negative", o.Memory))
	}

	// Required parameters that are missing are chosen later; any values will do here.
	faults = append(faults, models.CheckFor(l, selection.Rule(l, p.own)))
	faults = append(faults, models.CheckValues(pipeline.GraphParams.Params(), p.ofGraph))
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("bigfit: %s: %w", l.Info().Name, err)
	}
	return p, nil
}

// divide tells parameters of the model from parameters of its graph. A parameter that both have,
// such as the number of neighbours, goes to both.
func (p *plan) divide(given Parameters, neighbors int) error {
	info := p.learner.Info()
	params := p.learner.Params()
	var graph []models.Param
	if info.Needs.Has(models.NeedsGraph) {
		graph = pipeline.GraphParams.Params()
	}

	p.own = models.Values{}
	p.ofGraph = models.Values{}
	var faults []error
	set := func(name, value string) {
		isOwn := has(params, name)
		isOfGraph := has(graph, name)
		if isOwn {
			p.own[name] = value
		}
		if isOfGraph {
			p.ofGraph[name] = value
		}
		if !isOwn && !isOfGraph {
			faults = append(faults, models.UnknownParam(slices.Concat(params, graph), name))
		}
	}

	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, err := text(given[name])
		if err != nil {
			faults = append(faults, fmt.Errorf("%s is %w", name, err))
			continue
		}
		set(name, value)
	}
	if _, twice := given["neighbors"]; twice && neighbors != 0 {
		faults = append(faults, errors.New("neighbors is given twice, as Neighbors and among Parameters"))
	} else if neighbors != 0 {
		set("neighbors", strconv.Itoa(neighbors))
	}
	return errors.Join(faults...)
}

func has(params []models.Param, name string) bool {
	return slices.ContainsFunc(params, func(p models.Param) bool { return p.Name == name })
}

// text writes the value of a parameter.
func text(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case float64:
		return models.FormatFloat(v), nil
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32), nil
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		if name, ok := v.(encoding.TextMarshaler); ok {
			return marshaled(name)
		}
		return fmt.Sprint(v), nil
	case []float64:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = models.FormatFloat(x)
		}
		return strings.Join(parts, ","), nil
	case encoding.TextMarshaler:
		return marshaled(v)
	}
	return "", fmt.Errorf("of type %T; it must be a number, a bool, a string, a name or a []float64", v)
}

func marshaled(name encoding.TextMarshaler) (string, error) {
	b, err := name.MarshalText()
	return string(b), err
}

// graph returns the settings of the graph of x.
func (p *plan) graph(x data.Points) (*pipeline.GraphSettings, error) {
	if p.learner.Info().OpenGraph {
		return pipeline.AutoGraph(x, p.ofGraph)
	}
	s, err := pipeline.GraphParams.Decode(p.ofGraph)
	if err != nil {
		return nil, err
	}
	return &s, nil
}
