package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// In each split a learner is given a data set that has the labels of that split alone: a
// search chooses on it, and the fit sees the same targets. No label of the rest can reach a
// fit, at the price that factorizations are shared within a split and not among splits.
// Graphs, and eigenpairs of Laplacians (of components too, by the hash of their graph), depend
// on no label and are made once, as many pairs as any fit will take. They are only read
// afterwards, so that splits can be fitted at the same time. Times are in the JSON and the
// report, not in the table, which has the same bytes at any number of threads.

// Contender is a learner in a [Comparison], with the settings that it may choose from on the
// labels of each split. A single setting needs no choice. In a split without [Enough] labels
// for a choice, the learner has the values that the grid fixes, [Rule] for other required
// parameters, and the middle one of the numbers of neighbours.
type Contender struct {
	Name string
	Grid Grid
}

// Complete adds axes to the grid: all of [DefaultGrid] if tune is set, and otherwise only
// those that a fit requires, [Open]. Values with which no fit is possible are an error.
func (c *Contender) Complete(tune bool) error {
	g := &c.Grid
	given := g.Fixed.With(nil)
	for name, values := range g.Axes {
		given[name] = values[0]
	}
	more := Open(g.Learner, given)
	if tune {
		more = DefaultGrid(g.Learner, given)
	}

	// The map of the caller stays as it is.
	if more != nil {
		axes := maps.Clone(g.Axes)
		if axes == nil {
			axes = map[string][]string{}
		}
		maps.Copy(axes, more.Axes)
		g.Axes = axes
		if len(g.Neighbors) == 0 {
			g.Neighbors = more.Neighbors
		}
	}

	return models.CheckFor(g.Learner, Rule(g.Learner, given))
}

// few returns the setting for splits with too few labels to choose by. A learner without a
// rule gets the strongest regularization.
func (c *Contender) few(d *Data, s *CompareSettings, settings []Setting) Setting {
	g := Grid{Learner: c.Grid.Learner, Fixed: Rule(c.Grid.Learner, c.Grid.Fixed)}
	if n := len(c.Grid.Neighbors); n > 0 {
		g.Neighbors = c.Grid.Neighbors[n/2 : n/2+1]
	}
	one, err := d.settingsOf(&g, s.Seed, s.Memory)
	if err != nil || len(one) != 1 {
		return settings[0]
	}
	return one[0]
}

// CompareSettings of [NewComparison]. The zero value is ready for use.
type CompareSettings struct {
	// Folds, Repeats and Criterion of the cross-validation inside each split mean the same as
	// in [Settings]. The outcomes are measured by the same criterion.
	Folds, Repeats int
	Criterion      Criterion
	// Seed of the folds, and of everything random in the fits.
	Seed uint64
	// Memory, if positive, bounds the bytes that fits at the same time may take.
	Memory int64
	// OnOutcome, if not nil, receives the outcomes of all finished fits whenever one more is
	// finished, in calls that do not overlap; an error ends the run. Known holds such outcomes
	// of an earlier run of the same comparison, which are not repeated.
	OnOutcome func([]Outcome) error
	Known     []Outcome
	// OnProgress, if not nil, receives the result so far whenever a fit is finished, and the
	// name of its learner. Its calls do not overlap.
	OnProgress func(r *Compared, name string)
}

// Outcome records how one learner did on one split.
type Outcome struct {
	Contender int `json:"contender"`
	Split     int `json:"split"`
	// Value is the criterion on the points without a label in the split; nil where it is not
	// defined or the fit failed.
	Value *float64 `json:"value"`
	// Setting is the position in [Competitor.Settings] of the setting that was fitted.
	Setting int `json:"setting"`
	// Untuned tells that the labels were too few to choose a setting by.
	Untuned bool    `json:"untuned,omitempty"`
	Seconds float64 `json:"seconds"` // that the choice and the fit took
	// Fault is why the fit failed or, if Usable, why it ended before it converged.
	Fault  string `json:"fault,omitempty"`
	Usable bool   `json:"usable,omitempty"`
}

// Compared is the result of a comparison.
type Compared struct {
	Criterion   Criterion
	Competitors []Competitor
	Done, Total int // outcomes
}

// Competitor holds the outcomes of a learner.
type Competitor struct {
	Name string
	// Settings lists the choices, strongest regularization first. If there are
	// several, the setting for too few labels follows as the last.
	Settings []Setting
	Outcomes []*Outcome // by split; nil where not finished
}

// Values returns the values of the outcomes on the given splits, NaN for none.
func (c *Competitor) Values(splits []int) []float64 {
	out := make([]float64, len(splits))
	for i, s := range splits {
		out[i] = math.NaN()
		if o := c.Outcomes[s]; o != nil && o.Value != nil {
			out[i] = *o.Value
		}
	}
	return out
}

// Comparison measures learners on the same splits of the targets into points with a label and
// others. In every split a learner sees the labels of the split alone: cross-validation on
// them chooses its settings, then it is fitted to all of them, and measured on the other
// points that have a target. All learners share the graphs and the eigenpairs of their
// Laplacians, which depend on no label.
type Comparison struct {
	data       Data
	contenders []contender
	splits     []*models.Split
	settings   CompareSettings

	mu       sync.Mutex
	outcomes [][]*Outcome // by contender and split
	halt     error        // of OnOutcome
}

type contender struct {
	Contender
	settings []Setting
}

// choices returns the number of settings to choose from, without the one for too few labels.
func (c *contender) choices() int { return max(1, len(c.settings)-1) }

// NewComparison checks and completes a comparison on d. The targets of d hold every known
// label. labeled holds for each split the numbers of the points that have a label in it; each
// of them must have a target, and other points with a target must be left to measure on. All
// faults of the learners are reported at once.
func NewComparison(d *Data, contenders []Contender, labeled [][]int,
	s *CompareSettings) (*Comparison, error) {
	c := &Comparison{data: *d}
	if s != nil {
		c.settings = *s
	}
	if len(contenders) == 0 || len(labeled) == 0 {
		return nil, fmt.Errorf("selection: %d learners on %d splits; there must be one of each",
			len(contenders), len(labeled))
	}

	for _, x := range contenders {
		if err := d.check(x.Grid.Learner); err != nil {
			return nil, err
		}
	}

	var err error
	if c.settings.Criterion, err = c.settings.Criterion.of(d.Targets); err != nil {
		return nil, err
	}
	if c.settings.Folds < 0 || c.settings.Folds == 1 || c.settings.Repeats < 0 {
		return nil, fmt.Errorf("selection: %d folds, repeated %d times; there must be at least 2 folds",
			c.settings.Folds, c.settings.Repeats)
	}
	// A learner with a choice gets one more setting, for splits with too few labels.
	var faults []error
	for _, x := range contenders {
		settings, err := d.settingsOf(&x.Grid, c.settings.Seed, c.settings.Memory)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", x.Name, err))
		} else if len(settings) > 1 {
			settings = append(settings, x.few(d, &c.settings, settings))
		}
		c.contenders = append(c.contenders, contender{x, settings})
		c.outcomes = append(c.outcomes, make([]*Outcome, len(labeled)))
	}

	if err := errors.Join(faults...); err != nil {
		return nil, err
	}

	for i, points := range labeled {
		split, err := splitOf(d.Targets, points)
		if err != nil {
			return nil, fmt.Errorf("split %d: %w", i, err)
		}
		c.splits = append(c.splits, split)
	}

	c.restore(c.settings.Known)
	return c, nil
}

// splitOf returns the split that trains on the given points. Their numbers may be in any
// order.
func splitOf(t *models.Targets, points []int) (*models.Split, error) {
	// Labeled ascends, so the position of each point is found by bisection.
	kept := make([]int, len(points))
	for i, p := range slices.Sorted(slices.Values(points)) {
		q, ok := slices.BinarySearch(t.Labeled, p)
		switch {
		case !ok:
			return nil, fmt.Errorf("point %d has no target", p)
		case i > 0 && kept[i-1] == q:
			return nil, fmt.Errorf("point %d is there twice", p)
		}
		kept[i] = q
	}

	switch len(kept) {
	case 0:
		return nil, errors.New("no point has a label")
	case len(t.Labeled):
		return nil, fmt.Errorf("all %d points with a target have a label; others must be left to measure on",
			len(kept))
	}

	return t.SplitAt(kept)
}

// restore takes over the outcomes of an earlier run. It leaves out outcomes that cannot belong
// to this run.
func (c *Comparison) restore(known []Outcome) {
	for _, o := range known {
		if o.Contender < 0 || o.Contender >= len(c.contenders) || o.Split < 0 || o.Split >= len(c.splits) ||
			o.Setting < 0 || o.Setting >= len(c.contenders[o.Contender].settings) {
			continue
		}
		c.outcomes[o.Contender][o.Split] = &o
	}
}

// Prepare makes the graphs and the eigenpairs that the learners need, each once. A nil
// solve means [lanczos.Laplacian] with its defaults.
func (c *Comparison) Prepare(ctx context.Context, solve Eigensolver) error {
	sh := &shared{graphs: map[int]*models.Graph{}, hashes: map[*sparse.CSR]string{},
		pairs: map[pairing]*eigenpairs{}}
	if solve == nil {
		solve = c.solve
	}
	// First every fit of every split says what it needs; then each Laplacian is solved once,
	// for the most that any fit needs. The order of a map is random, so order keeps the order
	// of the needs.
	var order []pairing
	needs := map[pairing]*pairDemand{}
	for i := range c.contenders {
		l := c.contenders[i].Grid.Learner
		info := l.Info()
		paired, ok := l.(models.Paired)
		for _, s := range c.contenders[i].settings {
			if !info.UsesGraph(s.Values) {
				continue
			}
			g, err := sh.graph(&c.data, s.Neighbors)
			if err != nil {
				return err
			}

			for at := 0; ok && at < len(c.splits); at++ {
				in := c.input(c.contenders[i].Grid.Learner, c.splits[at], s)
				in.Graph = g
				w, err := wantedPairs(paired, in)
				if err != nil {
					continue // an outcome says so
				}
				key := sh.key(w.laplacian, w.tolerance)
				if needs[key] == nil {
					needs[key] = &pairDemand{graph: g, laplacian: w.laplacian, tolerance: w.tolerance}
					order = append(order, key)
				}
				needs[key].add(w)
			}
		}
	}

	for _, key := range order {
		if err := needs[key].solve(ctx, sh, solve); err != nil {
			return err
		}
	}

	c.data.shared = sh
	return nil
}

// solve is the [Eigensolver] of a comparison for which none is given.
func (c *Comparison) solve(ctx context.Context, g *models.Graph, kind sparse.Kind, k int,
	tolerance float64) (*lanczos.Result, error) {
	l, err := sparse.NewLaplacian(g.W, kind)
	if err != nil {
		return nil, err
	}
	return lanczos.Laplacian(ctx, l, g.Components, &lanczos.Settings{K: k, Tolerance: tolerance,
		Seed: c.settings.Seed, MemoryLimit: c.settings.Memory})
}

// input returns the input of a fit of l with a setting on a split, without its graph.
func (c *Comparison) input(l models.Learner, split *models.Split, s Setting) *models.Input {
	in := c.data.input(c.settings.Seed, c.settings.Memory)
	in.Targets = split.Train
	in.Values = models.SharesOf(l.Params(), s.Values, c.data.Targets.Classes, split.Train.Classes)
	return &in
}

// search returns the search for a setting of contender i on the labels of a split. The data of
// the search hold no other labels.
func (c *Comparison) search(i int, split *models.Split) (*search, error) {
	t := &search{data: c.data, learner: c.contenders[i].Grid.Learner,
		points: c.contenders[i].settings[:c.contenders[i].choices()],
		settings: Settings{Folds: c.settings.Folds, Repeats: c.settings.Repeats, Seed: c.settings.Seed,
			Criterion: c.settings.Criterion, Memory: c.settings.Memory}}
	t.data.Targets = split.Train
	t.settings.Folds = min(cmp.Or(t.settings.Folds, defaultFolds), len(split.Train.Labeled))
	if err := t.fillSettings(); err != nil {
		return nil, err
	}
	return t, t.begin()
}

// Cost estimates the memory and the operations of contender i beside the data, the graphs and
// the eigenpairs. It is an error if no setting can be fitted at any cost. Splits are fitted at
// the same time if nothing has to be chosen and the memory allows it.
func (c *Comparison) Cost(i int) (stage.Cost, error) {
	cost, err := c.cost(i)
	if c.together(i, cost) {
		cost.Bytes *= int64(par.Workers(len(c.splits), 1))
	}
	return cost, err
}

// cost estimates the same for splits that are fitted one after the other.
func (c *Comparison) cost(i int) (stage.Cost, error) {
	x := &c.contenders[i]
	var out stage.Cost
	for _, split := range c.splits {
		// One of the settings will be fitted; the most costly one is announced.
		var one stage.Cost
		var faults []error
		for _, s := range x.settings {
			in := c.input(x.Grid.Learner, split, s)
			in.Edges = c.data.edges(x.Grid.Learner, s)
			fit, err := x.Grid.Learner.Cost(in)
			if err != nil { // such as more of something than there are labels
				faults = append(faults, err)
				continue
			}
			one.Bytes = max(one.Bytes, fit.Bytes)
			one.Remedy = fit.Remedy
			one.Operations = max(one.Operations, fit.Operations)
		}

		if len(faults) == len(x.settings) {
			return stage.Cost{}, faults[0]
		}

		// A choice is made before the fit: its memory is free by then, its operations add up.
		if len(x.settings) > 1 && Enough(split.Train) {
			t, err := c.search(i, split)
			if err != nil {
				continue // an outcome says so
			}
			choice, err := t.cost()
			if err != nil {
				return stage.Cost{}, err
			}
			one.Bytes = max(one.Bytes, choice.Bytes)
			one.Operations += choice.Operations
		}

		out.Bytes = max(out.Bytes, one.Bytes)
		out.Remedy = one.Remedy
		out.Operations += one.Operations
	}

	return out, nil
}

// together reports whether the splits of contender i are fitted at the same time, each at the
// given cost. All splits together may take half of the memory. A choice among settings runs
// its own folds in parallel, so its splits come one after the other.
func (c *Comparison) together(i int, cost stage.Cost) bool {
	return len(c.contenders[i].settings) == 1 &&
		(c.settings.Memory == 0 || cost.Bytes < c.settings.Memory/int64(2*runtime.GOMAXPROCS(0)))
}

// Run fits every learner on every split; [Comparison.Prepare] comes first. A fit that
// fails is an outcome, and the others go on. The result has the same bits at any
// GOMAXPROCS, but for the times.
//
// When ctx is cancelled, the result holds what was finished. Otherwise an error says
// that no learner could be fitted on any split, or, if it is [models.Usable], that some
// fits did not converge.
func (c *Comparison) Run(ctx context.Context) (*Compared, error) {
	if c.data.shared == nil {
		return nil, errors.New("selection: the comparison is not prepared")
	}

	for i := range c.contenders {
		one := func(split int) {
			if c.outcomes[i][split] != nil || ctx.Err() != nil {
				return
			}
			if o := c.outcome(ctx, i, split); ctx.Err() == nil { // else it may have been cut short
				c.record(o)
			}
		}

		cost, err := c.cost(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.contenders[i].Name, err)
		}

		if c.together(i, cost) {
			par.Until(ctx, len(c.splits), 1, func(split, _ int) { one(split) })
		} else {
			for split := range c.splits {
				one(split)
			}
		}

		if c.halt != nil {
			return nil, c.halt
		}
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.result()
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	return r, r.fault()
}

// outcome chooses a setting of contender i, fits it and measures it.
func (c *Comparison) outcome(ctx context.Context, i, at int) *Outcome {
	begun := time.Now()
	o := &Outcome{Contender: i, Split: at}
	value, err := c.measure(ctx, o)
	if err != nil {
		o.Fault = err.Error()
		o.Usable = models.Usable(err)
	}
	if models.Usable(err) && !math.IsNaN(value) {
		o.Value = &value
	}
	o.Seconds = time.Since(begun).Seconds()
	return o
}

// measure completes o with the setting that was chosen and returns the value of the
// criterion.
func (c *Comparison) measure(ctx context.Context, o *Outcome) (float64, error) {
	x := &c.contenders[o.Contender]
	split := c.splits[o.Split]
	var unconverged error
	switch {
	case len(x.settings) == 1:
	case !Enough(split.Train):
		o.Untuned = true
		o.Setting = x.choices()
	default:
		t, err := c.search(o.Contender, split)
		if err != nil {
			return math.NaN(), err
		}
		r, err := t.choose(ctx)
		if r == nil || !models.Usable(err) {
			return math.NaN(), err
		}
		o.Setting = r.Best().at
		unconverged = err
	}

	// The final fit takes all labels of the split and is measured on all other points with a
	// target.
	setting := x.settings[o.Setting]
	l := x.Grid.Learner
	in := c.input(l, split, setting)
	if info := l.Info(); info.UsesGraph(setting.Values) {
		in.Graph = c.data.shared.graphs[setting.Neighbors]
	}
	a := c.data.answer(ctx, l, in, split.Points)
	if !models.Usable(a.Err) {
		return math.NaN(), a.Err
	}

	value, err := Measure(c.data.Targets, c.settings.Criterion, split, a)
	if err != nil {
		return math.NaN(), err
	}
	return value, errors.Join(unconverged, a.Err)
}

// record keeps an outcome and passes it to the hooks.
func (c *Comparison) record(o *Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.outcomes[o.Contender][o.Split] = o
	if c.settings.OnOutcome != nil && c.halt == nil {
		var all []Outcome
		for _, list := range c.outcomes {
			for _, o := range list {
				if o != nil {
					all = append(all, *o)
				}
			}
		}
		c.halt = c.settings.OnOutcome(all)
	}

	if c.settings.OnProgress != nil {
		c.settings.OnProgress(c.result(), c.contenders[o.Contender].Name)
	}
}

// result returns the outcomes so far.
func (c *Comparison) result() *Compared {
	r := &Compared{Criterion: c.settings.Criterion, Total: len(c.contenders) * len(c.splits)}
	for i, x := range c.contenders {
		r.Competitors = append(r.Competitors, Competitor{Name: x.Name, Settings: x.settings,
			Outcomes: slices.Clone(c.outcomes[i])})
		for _, o := range c.outcomes[i] {
			if o != nil {
				r.Done++
			}
		}
	}
	return r
}

// fault returns an error if all fits failed, or a usable one if some did not converge.
func (r *Compared) fault() error {
	var failed, unconverged int
	var first, firstShort *Outcome
	for _, x := range r.Competitors {
		for _, o := range x.Outcomes {
			switch {
			case o.Fault == "":
			case o.Usable:
				unconverged++
				firstShort = cmp.Or(firstShort, o)
			default:
				failed++
				first = cmp.Or(first, o)
			}
		}
	}

	switch {
	case failed == r.Total:
		return fmt.Errorf("selection: all %d fits failed; the first: %s: %s", failed,
			r.Competitors[first.Contender].Name, first.Fault)
	case unconverged > 0:
		return fmt.Errorf("selection: %d of %d fits did not converge: %w", unconverged, r.Total,
			&fault{firstShort.Fault, true})
	}

	return nil
}
