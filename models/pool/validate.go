package pool

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
)

// fit holds the state of one run of Learner.Fit.
type fit struct {
	learner    Learner
	in         *models.Input
	targets    *models.Targets // as given; those of in are centred
	offset     []float64       // what they were centred by; nil for nothing
	settings   settings
	splits     []*models.Split
	candidates []*candidate
	asked      []int                    // positions in Labeled of the rows of held answers
	graphs     map[int]*models.Graph    // by number of neighbours; 0 is the one given
	resolved   map[string]models.Values // numbers in place of rules
	derived    models.Derived           // of the graphs
	choice     Choice
	leftOut    int  // members, for their cost
	alone      bool // whether labels are left out one by one
	held       *models.HeldOut
	fault      error
	done       float64
}

// candidate is a member together with the answers of its settings in cross-validation.
type candidate struct {
	member   *Member
	name     string
	settings []models.Values
	answers  []*mat.Dense // of each setting, one row for each element of fit.asked; NaN if unknown
	faults   []error
	fault    error // if no setting can be fitted

	fitted models.Model // to all targets; nil before
	short  error        // of a fit that is usable
	best   int          // setting
	start  *models.Kept // of the part of a model that is continued; nil for none
	stay   []int        // points of that part that are still there; nil for all
	scale  scale
	prior  float64
	blind  float64 // prior without a cross-validation
	weight float64
	loss   float64 // of the best setting
	error  Estimate
}

// newCandidate returns the candidate of a member, with its settings resolved.
func (f *fit) newCandidate(m *Member) (*candidate, error) {
	c := &candidate{member: m, name: m.Learner.Info().Name, prior: cmp.Or(m.Prior, 1), blind: cmp.Or(m.Blind, m.Prior, 1)}
	for _, v := range m.Settings {
		v = f.given(m, v, f.in.Targets)
		resolved, err := f.resolve(m.Learner, v)
		if err != nil {
			return nil, err
		}
		c.settings = append(c.settings, multiplied(v, resolved, m.Times)...)
	}

	c.answers = make([]*mat.Dense, len(c.settings))
	c.faults = make([]error, len(c.settings))
	return c, nil
}

// resolve replaces values that are rules by the numbers that the rules find, each rule once.
func (f *fit) resolve(l models.Learner, v models.Values) (models.Values, error) {
	r, ok := l.(models.Resolver)
	if !ok {
		return v, nil
	}
	// The numbers depend on which values are rules and which are given, not on the numbers
	// given: such settings share one key.
	names := v.With(nil)
	for name, text := range v {
		if _, err := strconv.ParseFloat(text, 64); err == nil {
			names[name] = "a number"
		}
	}

	key := l.Info().Name + " " + names.String()
	numbers, ok := f.resolved[key]
	if !ok {
		in := *f.in
		in.Values = v
		all, err := r.Resolve(&in)
		if err != nil {
			return nil, err
		}
		// Only values that the rule replaced are kept, so that they do not overwrite other
		// settings.
		numbers = models.Values{}
		for name, text := range all {
			if v[name] != text {
				numbers[name] = text
			}
		}
		f.resolved[key] = numbers
	}

	return v.With(numbers), nil
}

// given returns v with the values of [Member.Even] and [Member.Many] where the labels are such, and with the given shares
// of the classes of t for [Member.Priors].
func (f *fit) given(m *Member, v models.Values, t *models.Targets) models.Values {
	if m.Even != nil {
		counts := f.counts()
		least, most := slices.Min(counts), slices.Max(counts)
		if least == most && (len(counts) > 2 || most == 1) {
			v = v.With(m.Even)
		}
	}
	if len(f.in.Targets.Labeled) > ManyLabels {
		v = v.With(m.Many)
	}
	if !m.Priors || f.settings.Priors == nil {
		return v
	}

	numbers := make([]string, len(f.settings.Priors))
	for c, share := range f.settings.Priors {
		numbers[c] = models.FormatFloat(share)
	}
	v = v.With(models.Values{"priors": strings.Join(numbers, ",")})
	v = models.SharesOf(m.Learner.Params(), v, f.in.Targets.Classes, t.Classes)
	delete(v, "class-shares")
	return v
}

// add makes candidates of the members at some positions; equal ones become one.
func (f *fit) add(members []int) error {
	for _, i := range members {
		c, err := f.newCandidate(&f.learner.Members[i])
		if err != nil {
			return err
		}
		if !f.merged(c) {
			f.candidates = append(f.candidates, c)
		}
	}
	return nil
}

// equal reports whether two members are the same fits to the targets. Factors of [Member.Times] tell members apart.
func (f *fit) equal(a, b *Member) bool {
	return a.Learner.Info().Name == b.Learner.Info().Name && a.Neighbors == b.Neighbors && a.Times == nil && b.Times == nil &&
		slices.EqualFunc(a.Settings, b.Settings, func(v, w models.Values) bool {
			return maps.Equal(f.given(a, v, f.in.Targets), f.given(b, w, f.in.Targets))
		})
}

// among reports whether member i is equal to one of others, beside which it costs nothing: see merged.
func (f *fit) among(others []int, i int) bool {
	return slices.ContainsFunc(others, func(o int) bool {
		return f.equal(&f.learner.Members[i], &f.learner.Members[o])
	})
}

// merged adds the weights of c to a candidate that is equal, if there is one.
func (f *fit) merged(c *candidate) bool {
	for _, o := range f.candidates {
		if f.equal(o.member, c.member) {
			o.prior += c.prior
			o.blind += c.blind
			return true
		}
	}
	return false
}

// multiplied returns the settings that [Member.Times] makes of one: for the first parameter in
// times that v gives as a rule, resolved with the parameter multiplied by each factor; else
// resolved alone.
func multiplied(v, resolved models.Values, times map[string][]float64) []models.Values {
	for name, factors := range times {
		if _, err := strconv.ParseFloat(v[name], 64); v[name] == "" || err == nil {
			continue
		}
		var out []models.Values
		for _, factor := range factors {
			own := models.FormatFloat(factor * resolved.Float(name))
			out = append(out, resolved.With(models.Values{name: own}))
		}
		return out
	}

	return []models.Values{resolved}
}

// fewestPerClass is the mean number of labels of a class from which cross-validation is worth
// while. With a single label of a class, the split that holds it out cannot know the class.
const fewestPerClass = 2

// deal splits the labels into folds. There are no splits if the labels are too few.
func (f *fit) deal() error {
	t := f.in.Targets
	folds := min(f.settings.Folds, len(t.Labeled))
	// At least two classes must have two labels each: otherwise every split trains on one
	// class.
	if t.Classes != nil {
		counts := slices.DeleteFunc(f.counts(), func(n int) bool { return n == 0 }) // shares alone
		slices.Sort(counts)
		if n := len(counts); n < 2 || counts[n-2] < 2 || len(t.Labeled) < fewestPerClass*n {
			return nil
		}
	}

	if folds < 2 {
		return nil
	}
	// Many labels measure an error well enough in one part of them.
	var err error
	if l := len(t.Labeled); l > mostDealt {
		f.settings.Repeats = 1
		return f.dealOne(l / heldOnce)
	}
	f.splits, err = t.Splits(folds, f.settings.Repeats, f.in.Seed)
	return err
}

// With more than mostDealt labels, about heldOnce of them are held out once instead of all in
// folds: 2,000 labels give an error of 10 % to within 0.7 percentage points (one standard
// error), at a fifth of the time of five folds.
const mostDealt, heldOnce = 10000, 2000

// dealOne deals the labels into the given number of folds and takes the first of them as the
// only split.
func (f *fit) dealOne(folds int) error {
	t := f.in.Targets
	dealt, err := t.Folds(folds, f.in.Seed)
	if err != nil {
		return err
	}
	s := &models.Split{Held: dealt[0], Kept: t.Except(dealt[0])}
	for _, q := range s.Held {
		s.Points = append(s.Points, t.Labeled[q])
	}
	s.Train = t.Keep(s.Kept)
	s.Labels = s.Train.ClassLabels()
	f.splits = []*models.Split{s}
	return nil
}

// counts returns the number of labels of each class, of distributions by their most probable class.
func (f *fit) counts() []int {
	counts := make([]int, len(f.in.Targets.Classes))
	for q := range f.in.Targets.Labeled {
		counts[f.in.Targets.Class(q)]++
	}
	return counts
}

// validate computes the answers of all settings for the labeled points that the splits hold
// out.
func (f *fit) validate(ctx context.Context) error {
	if f.alone {
		return f.leaveOneOut(ctx)
	}
	for _, s := range f.splits {
		f.asked = append(f.asked, s.Held...)
	}
	return f.compare(ctx, f.candidates)
}

// compare computes the answers of all settings of some candidates for the labeled points that the splits hold out.
func (f *fit) compare(ctx context.Context, candidates []*candidate) error {
	// An error of a member is not an error of the fit: the member is left out. Only a
	// cancelled ctx ends the cross-validation.
	for _, c := range candidates {
		if err := f.answer(ctx, c); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for i := range c.faults {
				c.faults[i] = cmp.Or(c.faults[i], err)
			}
		}
		f.report("cross-validation of " + c.name)
		if !slices.Contains(c.faults, nil) {
			c.fault = fmt.Errorf("%s: %w", c.name, c.faults[0])
			f.fault = cmp.Or(f.fault, c.fault)
		}
	}

	return nil
}

// answer runs the cross-validation of a member.
func (f *fit) answer(ctx context.Context, c *candidate) error {
	if len(f.splits) == 0 {
		return nil
	}
	rows := len(f.asked)
	columns := outputs(f.in.Targets)
	// Answers of fits that fail stay NaN.
	for i := range c.answers {
		c.answers[i] = mat.NewDense(rows, columns, slices.Repeat([]float64{math.NaN()}, rows*columns))
	}
	// Learners with a grid share work between their settings; others fit one setting after
	// another.
	g := f.grid(c)
	if l, ok := c.member.Learner.(models.GridLearner); ok {
		return l.FitGrid(ctx, g)
	}

	graph, err := f.graph(c.member)
	if err != nil {
		return err
	}

	for i := range c.settings {
		err := g.Run(ctx, []int{i}, func(s *models.Split) []models.Answer {
			in := g.With(i)
			in.Graph = graph
			in.Targets = s.Train
			in.Values = f.given(c.member, in.Values, s.Train)
			return []models.Answer{fitAndAsk(ctx, c.member.Learner, in, s.Points)}
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// fitAndAsk fits a model to in and returns its answers for the given points of in.
func fitAndAsk(ctx context.Context, l models.Learner, in *models.Input, points []int) models.Answer {
	m, fault := l.Fit(ctx, in)
	if !models.Usable(fault) {
		return models.Answer{Err: fault}
	}
	if m, ok := m.(models.Trained); ok {
		return models.AnswerAt(m.Training(true), points, fault)
	}
	p, err := m.Predict(ctx, data.Select(in.Points, points), nil)
	if err != nil {
		return models.Answer{Err: err}
	}
	return models.AnswerOf(p, fault)
}

// grid returns the cross-validation of a member in the form that a learner with a grid takes.
func (f *fit) grid(c *candidate) *models.Grid {
	in := *f.in
	in.Edges = f.in.EdgeCount()
	in.Graph = nil
	in.Progress = nil
	in.Start = nil

	// Row at[s] is the first row of the answers for the points that split s holds out.
	at := make([]int, len(f.splits))
	for s := range f.splits[1:] {
		at[s+1] = at[s] + len(f.splits[s].Held)
	}
	info := c.member.Learner.Info()
	return &models.Grid{Input: in, Derived: &f.derived, Settings: c.settings, Splits: f.splits,
		GraphOf: func(int) (*models.Graph, error) { return f.graph(c.member) },
		GraphKey: func(i int) string {
			if info.UsesGraph(c.settings[i]) {
				return "graph"
			}
			return ""
		},
		Fail: func(settings []int, err error) {
			for _, i := range settings {
				c.faults[i] = err
			}
		},
		Run: func(ctx context.Context, settings []int, fit func(*models.Split) []models.Answer) error {
			// Splits run side by side and write to rows and faults of their own; the faults
			// are joined afterwards, in the order of the splits, so that the first one is
			// always the same.
			faults := make([][]error, len(f.splits)) // of the settings
			par.For(len(f.splits), 1, func(s, _ int) {
				if ctx.Err() != nil {
					return
				}
				faults[s] = make([]error, len(settings))
				for p, a := range fit(f.splits[s]) {
					if !models.Usable(a.Err) {
						faults[s][p] = a.Err
						continue
					}
					f.put(c.answers[settings[p]], at[s], f.splits[s], a)
				}
			})

			for s := range faults {
				for p, err := range faults[s] {
					c.faults[settings[p]] = cmp.Or(c.faults[settings[p]], err)
				}
			}
			return ctx.Err()
		},
	}
}

// put writes the answers for the points that s holds out to the rows of dst from lo on. The
// training part of s may lack classes; their columns stay NaN.
func (f *fit) put(dst *mat.Dense, lo int, s *models.Split, a models.Answer) {
	t := f.in.Targets
	rows, _ := a.Scores.Dims()
	for r := range rows {
		to := dst.RawRowView(lo + r)
		from := a.Scores.RawRowView(r)
		if t.Classes == nil || len(s.Train.Classes) == len(t.Classes) {
			copy(to, from)
			continue
		}
		for p, class := range s.Train.Classes {
			to[slices.Index(t.Classes, class)] = from[p]
		}
	}
}
