package pool

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
)

// fit is a run of Learner.Fit.
type fit struct {
	learner    Learner
	in         *models.Input
	settings   settings
	splits     []*models.Split
	contenders []*contender
	asked      []int                    // positions in Labeled of the rows of held answers
	graphs     map[int]*models.Graph    // by number of neighbours; 0 is the one given
	resolved   map[string]models.Values // numbers in place of rules
	derived    models.Derived           // of the graphs
	choice     Choice
	leftOut    int // members, for their cost
	fault      error
	done       float64
}

// contender is a member with what cross-validation says of its settings.
type contender struct {
	member   *Member
	name     string
	settings []models.Values
	answers  []*mat.Dense // of each setting, a row for each of fit.asked; NaN if unknown
	faults   []error
	fault    error // if no setting can be fitted

	best   int          // setting
	start  *models.Kept // of the part of a model that is continued; nil for none
	scale  scale
	prior  float64
	weight float64
	loss   float64 // of the best setting
	error  Estimate
}

// newContender resolves the settings of a member.
func (f *fit) newContender(m *Member) (*contender, error) {
	c := &contender{member: m, name: m.Learner.Info().Name, prior: cmp.Or(m.Prior, 1)}
	for _, v := range m.Settings {
		v = f.given(m, v)
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

// resolve replaces values that are rules by the numbers they stand for, each rule once.
func (f *fit) resolve(l models.Learner, v models.Values) (models.Values, error) {
	r, ok := l.(models.Resolver)
	if !ok {
		return v, nil
	}
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

// given returns the values of a setting for so many labels.
func (f *fit) given(m *Member, v models.Values) models.Values {
	if len(f.in.Targets.Labeled) > ManyLabels {
		return v.With(m.Many)
	}
	return v
}

// multiplied returns resolved with each factor of the first parameter in times that v
// gives as a rule.
func multiplied(v, resolved models.Values, times map[string][]float64) []models.Values {
	for name, factors := range times {
		if _, err := strconv.ParseFloat(v[name], 64); v[name] == "" || err == nil {
			continue
		}
		var out []models.Values
		for _, factor := range factors {
			out = append(out, resolved.With(models.Values{name: models.FormatFloat(factor * resolved.Float(name))}))
		}
		return out
	}

	return []models.Values{resolved}
}

// fewest is the number of labels of a class on average from which cross-validation is
// worth while.
const fewest = 2

// deal sets the splits; none if the labels are too few.
func (f *fit) deal() error {
	t := f.in.Targets
	folds := min(f.settings.Folds, len(t.Labeled))
	if t.Classes != nil {
		counts := f.counts()
		slices.Sort(counts)
		if n := len(counts); n < 2 || counts[n-2] < 2 || len(t.Labeled) < fewest*n {
			return nil
		}
	}

	if folds < 2 {
		return nil
	}
	var err error
	if l := len(t.Labeled); l > enough {
		f.settings.Repeats = 1
		return f.dealOne(l / held)
	}
	f.splits, err = t.Splits(folds, f.settings.Repeats, f.in.Seed)
	return err
}

// Of more than enough labels about held are left out once, in place of all in folds.
const enough, held = 10000, 2000

// dealOne sets the first of so many splits.
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

// counts returns the number of labels of each class.
func (f *fit) counts() []int {
	counts := make([]int, len(f.in.Targets.Classes))
	for q := range f.in.Targets.Labeled {
		counts[f.in.Targets.Class(q)]++
	}
	return counts
}

// validate has all settings answer for the labeled points that splits hold out.
func (f *fit) validate(ctx context.Context) error {
	for _, s := range f.splits {
		f.asked = append(f.asked, s.Held...)
	}
	for _, c := range f.contenders {
		if err := f.answer(ctx, c); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for i := range c.faults {
				c.faults[i] = cmp.Or(c.faults[i], err)
			}
		}
		f.done++
		f.in.Report(f.done, float64(2*len(f.contenders)), "cross-validation of "+c.name)
		if !slices.Contains(c.faults, nil) {
			c.fault = fmt.Errorf("%s: %w", c.name, c.faults[0])
			f.fault = cmp.Or(f.fault, c.fault)
		}
	}

	return nil
}

// answer runs the cross-validation of a member.
func (f *fit) answer(ctx context.Context, c *contender) error {
	if len(f.splits) == 0 {
		return nil
	}
	rows := len(f.asked)
	columns := outputs(f.in.Targets)
	for i := range c.answers {
		c.answers[i] = mat.NewDense(rows, columns, slices.Repeat([]float64{math.NaN()}, rows*columns))
	}
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
			return []models.Answer{fitAndAsk(ctx, c.member.Learner, in, s.Points)}
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// fitAndAsk answers for the given points of in with a model fitted to it.
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

// grid is the cross-validation of a member as learners take it.
func (f *fit) grid(c *contender) *models.Grid {
	in := *f.in
	in.Graph, in.Progress, in.Start, in.Edges = nil, nil, nil, f.in.EdgeCount()
	at := make([]int, len(f.splits)) // first rows
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

// put writes the answers for the points held out by s, whose classes may be fewer.
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
