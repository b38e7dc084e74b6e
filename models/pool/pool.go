// Package pool holds a learner that chooses among others: it measures each of them by
// cross-validation on the labels and answers with the weighted mean of the
// probabilities of those that did well. It knows no learner by name; the list of its
// members is given, as all.Auto has it.
//
// The weights stack the members (Yao, Vehtari, Simpson & Gelman, Bayesian Analysis 13 (2018), 917–1007, section
// 3.1): the mean of their probabilities fits the labels held out best. The prior weights of the list count as three
// labels more, so that with few labels the weights stay near them, and with many the cross-validation decides.
//
// # Why a mean and not a pick
//
// The automatic choice is a learner like others, so that the command, checkpoints, costs and
// model files need nothing of their own for it. It averages its members and does not pick one:
// with few labels the best member of a cross-validation is a matter of chance, and its error
// was up to 1.8 times the error of the mean. Members with points work on the points of the
// graph, after principal components. A model file holds the arrays of its parts under part0_…,
// equal arrays once. Settings that follow from the points, such as the metric of the graph,
// are in pipeline.AutoGraph, and learners that leave the graph open say so (Info.OpenGraph).
package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/stage"
)

// A Member is a learner with the settings to choose from.
type Member struct {
	Learner models.Learner
	// Settings are tried in this order; of equals the first is taken, and without
	// cross-validation the first is used. Values that are rules are resolved.
	Settings []models.Values
	// Neighbors, if positive, is the number of neighbours of each point in the member's
	// graph, which is cut from the lists of the one that is given. Where that has no lists,
	// or none that are longer, the member is left out.
	Neighbors int
	// Times multiplies numbers that a rule of the learner finds, by the name of the parameter:
	// a setting that gives this parameter as a rule becomes one setting for each factor.
	Times map[string][]float64
	// Prior is the weight of the member relative to other members before the labels are looked
	// at. Default 1.
	Prior float64
	// Blind is this weight where the labels are too few for a cross-validation. Default Prior.
	Blind float64
	// FewPerClass, if positive, leaves the member out where there are more labels a class on
	// average, or targets without classes.
	FewPerClass int
	// HarderPerClass, if larger, is that number where the labels are harder points than the others, as those are that next
	// asks for ([Choice.Harder]): the member joins after the others were compared.
	HarderPerClass int
	// Priors tells that the learner has the parameter priors, and takes given shares of the classes in place of its
	// class-shares. Members that are equal then count as one, as do those of Even.
	Priors bool
	// Foreign leaves the member out unless the graph came with the points and is not known to be made of them.
	Foreign bool
	// Many replaces values of the settings where there are more than ManyLabels labels.
	Many models.Values
	// Even replaces values of the settings where there are as many labels of each class, and more than two classes or one
	// label of each.
	Even models.Values
}

// ManyLabels is the number of labels above which [Member.Many] replaces values.
const ManyLabels = 2000

// Learner chooses among members and combines them.
type Learner struct {
	Name, Help string
	Members    []Member
}

// settings are the parameters of the learner.
type settings struct {
	Folds, Repeats int
	Shares         Shares
	Priors         []float64
}

// Defaults of settings: five folds, dealt once, fit each member with four fifths of the labels
// and cost about as much as five fits.
const (
	defaultFolds   = 5
	defaultRepeats = 1
)

var params = models.Table[settings]{
	{Param: models.Param{Name: "folds", Doc: "folds of the cross-validation inside the fit, at most " +
		"the number of labels", Default: models.FormatFloat(defaultFolds), Range: models.AtLeast(2)},
		At: func(s *settings) any { return &s.Folds }},
	{Param: models.Param{Name: "repeats", Doc: "number of times that the labels are dealt into folds",
		Default: models.FormatFloat(defaultRepeats), Range: models.AtLeast(1)},
		At: func(s *settings) any { return &s.Repeats }},
	{Param: models.Param{Name: "priors",
		Doc: "shares of the classes in all points, by class as in a:0.8,b:0.2 or ascending by class, up to a factor; " +
			"the answers get these shares",
		Default: "see class-shares", Range: models.NotNegative(), Named: true},
		At: func(s *settings) any { return &s.Priors }},
	{Param: models.Param{Name: "class-shares", Doc: "shares of the classes without priors: of the points, as far as " +
		"answers are certain, or of the labels, as drawn at random from all points",
		Default: FromPoints.String(), Choices: sharesNames.All()},
		At: func(s *settings) any { return &s.Shares }},
}

// Info says that a graph is needed: points alone are joined by one, and of a graph
// alone those members are fitted that need no points.
func (l Learner) Info() models.Info {
	i := models.Info{Name: l.Name, Help: l.Help, Needs: models.NeedsGraph, OpenGraph: true,
		Scores: "weighted mean of the members' probabilities of the class, or of their values",
		Formula: "p = Σ_m w_m p_m over the members m;  w maximizes Σ_i log Σ_m w_m p_im + 3 Σ_m prior_m log w_m,\n" +
			"p_im what member m gives the class of label i, which a fold of the cross-validation left out;\n" +
			"of values, and of several labels a point, the member that errs least",
		Source: "Yao, Vehtari, Simpson & Gelman 2018, section 3.1 (weights, with a prior that is ours); the members' papers"}
	for _, m := range l.Members {
		info := m.Learner.Info()
		i.Learns |= info.Learns &^ models.LearnsInside
	}
	return i
}

// Params lists the parameters of the choice. The parameters of the members are fixed by the
// list.
func (l Learner) Params() []models.Param { return params.Params() }

// decode returns the settings with their defaults.
func decode(v models.Values) (settings, error) {
	s, err := params.Decode(v)
	if s.Folds == 0 {
		s.Folds = defaultFolds
	}
	if s.Repeats == 0 {
		s.Repeats = defaultRepeats
	}
	return s, err
}

// kindOf returns what the targets give to learn: several labels, classes, with distributions and weights,
// or values.
func kindOf(t *models.Targets) models.Learns {
	switch {
	case t.Labels != nil:
		return models.LearnsLabels
	case t.Classes != nil:
		kind := models.LearnsClasses
		if t.Soft {
			kind |= models.LearnsShares
		}
		if t.Weights != nil {
			kind |= models.LearnsWeights
		}
		return kind
	}
	return models.LearnsValues
}

// atMost reports whether there are at most so many labels a class, on average.
func atMost(t *models.Targets, perClass int) bool { return len(t.Labeled) <= perClass*len(t.Classes) }

// later returns the positions of the members that may join where the labels are harder than the other points.
func (l Learner) later(in *models.Input) []int {
	more := Learner{Members: slices.Clone(l.Members)}
	for i := range more.Members {
		m := &more.Members[i]
		m.FewPerClass = max(m.FewPerClass, m.HarderPerClass)
	}
	now := l.usable(in)
	return slices.DeleteFunc(more.usable(in), func(i int) bool { return slices.Contains(now, i) })
}

// usable returns the positions of the members that can be fitted to in.
func (l Learner) usable(in *models.Input) []int {
	var out []int
	for i, m := range l.Members {
		info := m.Learner.Info()
		if !info.Learns.Has(kindOf(in.Targets)) || in.Points == nil && info.Needs.Has(models.NeedsPoints) {
			continue
		}
		if m.FewPerClass > 0 && !atMost(in.Targets, m.FewPerClass) {
			continue
		}
		if m.Foreign && (in.Graph == nil || !in.Graph.Foreign) {
			continue
		}
		// The member's graph is cut from the lists of the given one, which must be longer than
		// it needs.
		if g := in.Graph; g != nil && m.Neighbors > 0 && (g.Lists == nil || g.Lists.K <= m.Neighbors) {
			continue
		}
		out = append(out, i)
	}

	return out
}

// Cost returns the memory of the largest cross-validation or fit of a member, of the answers
// kept of each member and of their mean, and the operations of all members.
func (l Learner) Cost(in *models.Input) (stage.Cost, error) {
	if _, err := decode(in.Values); err != nil {
		return stage.Cost{}, err
	}
	f := &fit{learner: l, in: in}
	f.settings, _ = decode(in.Values)
	if err := f.deal(); err != nil {
		return stage.Cost{}, err
	}
	members, out, err := f.affordable()
	if err != nil {
		return stage.Cost{}, err
	}

	// A member that may join later takes its memory after the others have.
	if !f.alone && len(f.splits) > 0 {
		_, bytes, err := f.affordableLater()
		if err != nil {
			return stage.Cost{}, err
		}
		out.Bytes = max(out.Bytes, bytes)
	}
	cut := slices.ContainsFunc(members, func(i int) bool { return l.Members[i].Neighbors > 0 })
	if f.alone {
		return aloneComplete(out, in), nil
	}
	return completeCost(out, in, len(members), cut), nil
}

// aloneComplete is completeCost for the only member, whose labels were left out one by one: it is fitted before, so that
// its scores and their mean are there without what the fit took.
func aloneComplete(c stage.Cost, in *models.Input) stage.Cost {
	c.Bytes = max(c.Bytes, stage.HeapBytes(3*8*int64(in.Len())*int64(outputs(in.Targets))))
	c.Remedy = fmt.Sprintf("choose one model with %s", param.Name("model"))
	return c
}

// completeCost adds to c, the cost of the largest of the given number of members, the memory
// that all members take together: the graph that is cut, the scores of all points of the
// members and of their mean, and the kernel between a batch of points and the labels.
func completeCost(c stage.Cost, in *models.Input, members int, cut bool) stage.Cost {
	n := int64(in.Len())
	columns := int64(outputs(in.Targets))
	labels := int64(len(in.Targets.Labeled))
	if cut {
		c.Bytes += 16 * int64(in.EdgeCount())
	}
	// The mean and the answers of the member at hand are two matrices; of the members that are
	// kept, about every second has a matrix of answers in its model.
	scores := 2 + members/2
	if members > 1 {
		scores++
	}
	c.Bytes += stage.HeapBytes(8*n*columns*int64(scores)) + 8*min(n, batch)*min(labels, 512)
	c.Remedy = fmt.Sprintf("choose one model with %s", param.Name("model"))
	return c
}

// MostOperations bounds the operations of the cross-validation and the fits of all members:
// 2·10¹¹ take about a minute. Members that would exceed the bound are left out, but not the first one. Members for
// few labels have a bound of their own, in which a first one does not count: they are the best on average there, but not on
// every set.
const MostOperations = 2e11

// affordable returns the positions of the members that can be fitted to in and, from the
// first on, take at most MostOperations together, and their cost: the largest memory and
// all operations. The operations are counted, not timed, so that the members are the same on every machine.
func (f *fit) affordable() (members []int, total stage.Cost, err error) {
	f.leftOut = 0
	different := 0
	spent := map[bool]float64{} // operations that count, of members for few labels and of others
	for _, i := range f.learner.usable(f.in) {
		if f.among(members, i) {
			members = append(members, i)
			continue
		}
		m := &f.learner.Members[i]
		c, err := f.cost(m)
		if err != nil {
			return nil, total, fmt.Errorf("%s: %w", m.Learner.Info().Name, err)
		}
		// A member that does not fit into the bound is skipped, and cheaper members after it
		// may still fit.
		few := m.FewPerClass > 0
		if len(members) > 0 && spent[few]+c.Operations > MostOperations {
			f.leftOut++
			continue
		}
		if !few || len(members) > 0 {
			spent[few] += c.Operations
		}
		members = append(members, i)
		different++
		total.Bytes = max(total.Bytes, c.Bytes)
		total.Operations += c.Operations
	}

	// The first member is there whatever it costs; its labels are left out at less cost than its folds.
	f.alone = false
	if different == 1 {
		if c, ok := f.memberAlone(&f.learner.Members[members[0]], total); ok {
			f.alone = true
			total = c
		}
	}
	return members, total, nil
}

// cost returns the cost of the cross-validation of a member, or of its fit where there are no
// splits.
func (f *fit) cost(m *Member) (stage.Cost, error) {
	own := *f.in
	own.Values = f.given(m, m.Settings[0], f.in.Targets)
	out, err := m.Learner.Cost(&own)
	if err != nil || len(f.splits) == 0 {
		return out, err
	}
	// A learner without a grid of its own fits every setting on every split from the start.
	l, ok := m.Learner.(models.GridLearner)
	if !ok {
		out.Operations *= float64(1 + len(f.splits)*len(m.Settings)*max(1, len(m.Times)))
		return out, nil
	}

	c := &candidate{member: m, name: m.Learner.Info().Name}
	for _, v := range m.Settings {
		c.settings = append(c.settings, f.given(m, v, f.in.Targets))
	}
	grid, err := l.GridCost(f.grid(c))
	if err != nil {
		return out, err
	}

	// What the runtime takes is in the bytes of each fold, and is taken once.
	all := models.GridCost{Shared: grid.Shared + stage.RuntimeBytes,
		Fold: max(0, grid.Fold-stage.RuntimeBytes), Operations: grid.Operations}.Cost(len(f.splits))
	return stage.Cost{Bytes: max(out.Bytes, all.Bytes),
		Operations: out.Operations + all.Operations*float64(max(1, len(m.Times)))}, nil
}

// outputs returns the number of columns of the answers.
func outputs(t *models.Targets) int {
	_, c := t.Y.Dims()
	return max(c, len(t.Classes))
}

var errNoMember = errors.New("pool: none of the members can be fitted to such targets")

// Fit chooses and fits members: see the package comment.
func (l Learner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	s, err := decode(in.Values)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	info := l.Info()
	if err := info.Check(in); err != nil {
		return nil, err
	}
	if err := s.checkPriors(in.Targets); err != nil {
		return nil, err
	}
	f := newFit(l, in, s)
	if err := f.deal(); err != nil {
		return nil, err
	}

	// Members that the targets, the graph or the bound on operations exclude are not tried.
	members, _, err := f.affordable()
	if err != nil {
		return nil, err
	}

	if err := f.add(members); err != nil {
		return nil, err
	}
	if len(f.candidates) == 0 {
		return nil, errNoMember
	}
	if err := f.validate(ctx); err != nil {
		return nil, err
	}
	// A member that fails is left out as long as another one works; its fault is the error if
	// none does.
	if f.candidates = slices.DeleteFunc(f.candidates,
		func(c *candidate) bool { return c.fault != nil }); len(f.candidates) == 0 {
		return nil, f.fault
	}

	f.weigh()
	m, err := f.model(ctx)
	if own, ok := m.(*Model); !ok || !own.Choice.Harder {
		return m, err
	}
	joined, fault := f.joinLater(ctx)
	switch {
	case fault != nil:
		return nil, fault
	case !joined:
		return m, err
	}
	f.weigh()
	return f.model(ctx)
}

// newFit returns a fit to in. Where the graph was made of principal components of the points,
// the members work on these components too.
func newFit(l Learner, in *models.Input, s settings) *fit {
	own := *in
	if in.Points != nil && in.Graph.PCA != nil && in.Graph.Points != nil {
		own.Points = in.Graph.Points
	}
	f := &fit{learner: l, in: &own, targets: in.Targets, settings: s, graphs: map[int]*models.Graph{0: in.Graph},
		resolved: map[string]models.Values{}}
	f.centre()
	return f
}

// graph returns the graph of a member. A smaller number of neighbours is cut from the lists of
// the given graph, once for all members with that number.
func (f *fit) graph(m *Member) (*models.Graph, error) {
	if g := f.graphs[m.Neighbors]; g != nil {
		return g, nil
	}
	edges := f.in.Graph.Edges
	edges.K = m.Neighbors
	w, edges, err := knn.FromNeighbors(f.in.Graph.Lists, edges)
	if err != nil {
		return nil, err
	}

	// Keep copies the points, the index and the principal components of the given graph;
	// degrees, edges and lists belong to the graph that was cut.
	g := models.NewGraph(w)
	degrees := g.Degrees
	g.Neighborhood = f.in.Graph.Keep()
	g.Degrees = degrees
	g.Edges = edges
	g.Lists = f.in.Graph.Lists.Trim(m.Neighbors)
	f.graphs[m.Neighbors] = g
	return g, nil
}
