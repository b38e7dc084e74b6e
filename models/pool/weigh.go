package pool

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/param"
)

// Estimate is an error measured on points held out, with its standard error: the share of
// wrong classes or labels, or for values the root of the mean squared error.
type Estimate struct {
	Error  metrics.Number `json:"error"`
	StdErr metrics.Number `json:"std_err"`
}

// Choice says what was chosen and why.
type Choice struct {
	// Validated tells whether there was a cross-validation: Folds folds of the labels, dealt
	// Repeats times. Without it the weights are the prior weights of the list.
	Validated bool `json:"validated"`
	Folds     int  `json:"folds,omitempty"`
	// OneByOne tells that labels were left out one by one in place of folds, which would have taken longer.
	OneByOne bool `json:"one_by_one,omitempty"`
	Repeats  int  `json:"repeats,omitempty"`
	// Estimate is the error of the chosen combination, on the same labels that chose it.
	Estimate
	// Harder tells that the labels are harder points than those without one, as labels are that next asked for.
	// [Estimate] is far above the error of the others then.
	Harder bool `json:"labels_harder,omitempty"`
	// Trivial is the error of the most frequent class, or of the mean value.
	Trivial metrics.Number `json:"trivial_error"`
	// Values tells that the errors are root mean squared errors of values, not shares.
	Values bool `json:"values,omitempty"`
	// LeftOut counts the members that would have taken too long: [MostOperations].
	LeftOut int `json:"left_out,omitempty"`
	// Shares of the classes in the points without a label, as far as these tell them.
	Shares []float64 `json:"shares,omitempty"`
	// Off is the largest difference of a class's share of the answers from the one that was given.
	Off     float64       `json:"off,omitempty"`
	Members []MemberScore `json:"members"` // by descending weight
}

// MemberScore records how well one member of the pool did in cross-validation, and the weight
// that followed.
type MemberScore struct {
	Name     string        `json:"model"`
	Settings models.Values `json:"settings"` // the best ones
	Weight   float64       `json:"weight"`
	Estimate
	Fault string `json:"fault,omitempty"` // why it could not be fitted
}

// Text describes the choice in one line. It adds up the weights of members with the same name,
// and lists for every name the error of its best member.
func (c *Choice) Text() string {
	var names []string
	weight := map[string]float64{}
	best := map[string]metrics.Number{}
	for _, m := range c.Members {
		if _, ok := weight[m.Name]; !ok {
			names = append(names, m.Name)
			best[m.Name] = metrics.Number(math.Inf(1))
		}
		weight[m.Name] += m.Weight
		best[m.Name] = min(best[m.Name], m.Error)
	}

	// The sort is stable, so members of equal weight stay in the order of the list.
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(weight[b], weight[a]) })
	var chosen, all []string
	for _, name := range names {
		if weight[name] > 0 {
			chosen = append(chosen, fmt.Sprintf("%.2f %s", weight[name], name))
		}
		all = append(all, name+" "+c.number(best[name]))
	}

	if len(chosen) == 1 {
		chosen[0] = names[0]
	}
	// Without a cross-validation there are no errors to report.
	text := strings.Join(chosen, " + ")
	if !c.Validated {
		return text + ", too few labels for an estimate of the error"
	}
	text += ", " + c.expected()
	if c.OneByOne {
		text += " by labels left out one by one"
	}
	if len(all) > 1 {
		text += " (" + strings.Join(all, ", ") + ")"
	}
	if c.LeftOut > 0 {
		text += fmt.Sprintf("; %d settings of models left out, as they would take too long", c.LeftOut)
	}
	return text
}

// expected returns the error in cross-validation; empty without one.
func (c *Choice) expected() string {
	switch {
	case !c.Validated:
		return ""
	case c.Values:
		return fmt.Sprintf("estimated RMSE %s ± %s", c.number(c.Error), c.number(c.StdErr))
	case c.Harder:
		return fmt.Sprintf("estimated error %s ± %s %% of the labels, which are harder points than the others",
			c.number(c.Error), c.number(c.StdErr))
	}
	return fmt.Sprintf("estimated error %s ± %s %%", c.number(c.Error), c.number(c.StdErr))
}

// number formats an error: a share in percent, an RMSE with four digits.
func (c *Choice) number(v metrics.Number) string {
	if c.Values {
		return fmt.Sprintf("%.4g", float64(v))
	}
	return fmt.Sprintf("%.1f", 100*float64(v))
}

// leastOff is the difference of a share from the one that was given from which on there is a warning.
const leastOff = 0.005

// Warnings returns a warning if no combination of the members beats the trivial answer, and one if a class has not the
// share that was given.
func (c *Choice) Warnings() []string {
	var out []string
	if c.Off > leastOff {
		out = append(out, fmt.Sprintf("a class's share of the points differs by %.1f percentage points from the one "+
			"given with %s: too many points have equal probabilities", 100*c.Off, param.Name("priors")))
	}
	return append(out, c.trivialWarning()...)
}

// trivialWarning returns a warning if no combination of the members beats the trivial answer.
func (c *Choice) trivialWarning() []string {
	// The comparison is written so that an error that is NaN does not warn.
	if !c.Validated || !(c.Error >= c.Trivial) {
		return nil
	}
	what := "the most frequent class"
	if c.Values {
		what = "the mean value"
	}
	return []string{fmt.Sprintf("no model beats %s in cross-validation (%s against %s): the labels, "+
		"as they are, do not follow from the points", what, c.number(c.Error), c.number(c.Trivial))}
}

// weigh chooses settings and weights by the answers for points held out, and records the
// choice.
func (f *fit) weigh() {
	f.choice = Choice{Values: kindOf(f.in.Targets) == models.LearnsValues, LeftOut: f.leftOut}
	switch {
	case len(f.splits) == 0:
		f.weighPrior()
	case f.in.Targets.Classes != nil:
		f.weighClasses()
	default:
		f.weighValuesOrLabels()
	}

	// Splits holds the folds of all repetitions, one after the other.
	if len(f.splits) > 0 {
		f.choice.Validated = true
		f.choice.Repeats = f.settings.Repeats
		f.choice.Folds = len(f.splits) / f.settings.Repeats
		if f.choice.OneByOne = f.alone; f.alone {
			f.choice.Folds = 0
		}
	}

	for _, c := range f.candidates {
		s := MemberScore{Name: c.name, Settings: c.settings[c.best], Weight: c.weight, Estimate: c.error}
		f.choice.Members = append(f.choice.Members, s)
	}
	slices.SortStableFunc(f.choice.Members,
		func(a, b MemberScore) int { return cmp.Compare(b.Weight, a.Weight) })
}

// weighPrior gives the members the weights of the list; all errors are unknown.
func (f *fit) weighPrior() {
	var sum float64
	for _, c := range f.candidates {
		c.weight = c.blind
		sum += c.weight
	}
	for _, c := range f.candidates {
		c.weight /= sum
		c.error = Estimate{metrics.Number(math.NaN()), metrics.Number(math.NaN())}
	}
	f.choice.Estimate = Estimate{metrics.Number(math.NaN()), metrics.Number(math.NaN())}
	f.choice.Trivial = metrics.Number(math.NaN())
}

// heldOut returns the rows of the held-out answers that can be measured, and their classes. A
// row is left out if no label of its class was in the training part of its split: no member
// could know the class. A soft label counts by its most probable class here.
func (f *fit) heldOut() (rows, class []int) {
	t := f.in.Targets
	at := 0
	for _, s := range f.splits {
		for _, q := range s.Held {
			own := t.Class(q)
			if slices.Contains(s.Train.Classes, t.Classes[own]) {
				rows = append(rows, at)
				class = append(class, own)
			}
			at++
		}
	}

	return rows, class
}

// weighClasses chooses the setting of each member by its likelihood, and the weights by the
// likelihood of the mean: see stackedWeights.
func (f *fit) weighClasses() {
	rows, class := f.heldOut()
	aims := f.aimsOf(rows, class)
	prior := make([]float64, len(f.candidates))
	for m, c := range f.candidates {
		c.choose(rows, aims)
		prior[m] = c.prior
	}

	columns := len(f.in.Targets.Classes)
	held := make([]*mat.Dense, len(f.candidates))
	for m, c := range f.candidates {
		held[m] = mat.NewDense(len(rows), columns, nil)
		for i, at := range rows {
			c.scale.probabilities(held[m].RawRowView(i), c.answers[c.best].RawRowView(at))
		}
		c.error = f.estimate(held[m], rows, class)
	}

	// The estimate of the error is measured on the mean itself, with the weights that are
	// kept.
	w := stackedWeights(aims.likelihoods(held), aims.amounts(f.settings.Repeats), prior)
	keepHeavy(w)
	mixed := mat.NewDense(len(rows), columns, nil)
	for m, c := range f.candidates {
		c.weight = w[m]
		var part mat.Dense
		part.Scale(w[m], held[m])
		mixed.Add(mixed, &part)
	}

	f.keepHeldOut(mixed, rows)
	f.choice.Estimate = f.estimate(mixed, rows, class)
	f.choice.Trivial = metrics.Number(1 - slices.Max(f.in.Targets.Masses())/f.in.Targets.TotalWeight())
}

// aims are what the held-out answers are to say: a class a row, or a distribution, with a weight.
type aims struct {
	class   []int
	shares  *mat.Dense // nil for classes
	weights []float64  // nil for ones
}

// aimsOf returns the aims of rows of the held-out answers, whose classes are given.
func (f *fit) aimsOf(rows, class []int) *aims {
	t := f.in.Targets
	out := &aims{class: class}
	if t.Soft {
		out.shares = mat.NewDense(max(1, len(rows)), len(t.Classes), nil)
		for i, at := range rows {
			t.SharesTo(out.shares.RawRowView(i), f.asked[at])
		}
	}
	if t.Weights != nil {
		for _, at := range rows {
			out.weights = append(out.weights, t.Weights[f.asked[at]])
		}
	}
	return out
}

// weight returns the weight of row i.
func (a *aims) weight(i int) float64 {
	if a.weights == nil {
		return 1
	}
	return a.weights[i]
}

// share returns the share of class c in the aim of row i.
func (a *aims) share(i, c int) float64 {
	switch {
	case a.shares != nil:
		return a.shares.At(i, c)
	case c == a.class[i]:
		return 1
	}
	return 0
}

// loss returns the cross entropy −w Σ_c y_c log p_c of the probabilities p to the aim y of row i with the
// weight w: −log p of a class. Probabilities below 10⁻⁹ count as 10⁻⁹.
func (a *aims) loss(p []float64, i int) float64 {
	if a.shares == nil && a.weights == nil {
		return -math.Log(max(p[a.class[i]], 1e-9))
	}
	var loss float64
	for c, v := range p {
		if y := a.share(i, c); y > 0 {
			loss -= y * math.Log(max(v, 1e-9))
		}
	}
	return a.weight(i) * loss
}

// keepHeldOut keeps the held-out answers, for classes the mean of the probabilities, one for each label: of several
// repetitions the first.
func (f *fit) keepHeldOut(mixed *mat.Dense, rows []int) {
	_, columns := mixed.Dims()
	h := &models.HeldOut{Folds: len(f.splits) / f.settings.Repeats}
	switch {
	case f.alone:
		h.Folds = 0
	case len(f.splits) == 1:
		h.Folds = 2 // the labels were parted in two, once
	}
	seen := make([]bool, len(f.in.Targets.Labeled))
	var scores []float64
	for i, at := range rows {
		q := f.asked[at]
		if seen[q] {
			continue
		}
		seen[q] = true
		h.Labels = append(h.Labels, q)
		scores = append(scores, mixed.RawRowView(i)...)
	}

	if h.Labels != nil {
		h.Scores = mat.NewDense(len(h.Labels), columns, scores)
		f.held = h
	}
}

// choose sets the setting of the member with the largest likelihood, and the scale of that
// setting.
func (c *candidate) choose(rows []int, aims *aims) {
	best := math.Inf(1)
	for i, answers := range c.answers {
		if c.faults[i] != nil {
			continue
		}
		_, columns := answers.Dims()
		scores := mat.NewDense(len(rows), columns, nil)
		for r, at := range rows {
			scores.SetRow(r, answers.RawRowView(at))
		}
		// Every setting is calibrated before it is measured, so that the unit of its scores
		// does not decide. The slope is fitted to the same answers: one number for all classes
		// hardly overfits.
		s := scale{Shares: nonnegative(scores)}
		s.fitSlope(scores, aims)

		p := make([]float64, columns)
		var loss float64
		for r := range rows {
			s.probabilities(p, scores.RawRowView(r))
			loss += aims.loss(p, r)
		}

		// Settings that differ by rounding alone are equal, and the first of equals is taken.
		if loss < best-1e-9 {
			best = loss
			c.best = i
			c.scale = s
		}
	}
}

// estimate returns the share of points with a wrong most probable class, with its
// standard error: see [metrics.ShareError]. Repetitions do not add independent labels, so they do not shrink the
// standard error. Of soft and weighted labels the share is the expected one,
// [models.Targets.ExpectedError], for the rows of the held-out answers.
func (f *fit) estimate(p *mat.Dense, rows, class []int) Estimate {
	labels := float64(len(class)) / float64(f.settings.Repeats)
	if !f.in.Targets.Plain() && len(rows) > 0 {
		positions := make([]int, len(rows))
		for i, at := range rows {
			positions[i] = f.asked[at]
		}
		e := f.in.Targets.ExpectedError(positions, models.Decide(p))
		return Estimate{metrics.Number(e), metrics.Number(metrics.ShareError(e, labels))}
	}
	wrong := 0.
	for i, own := range models.Decide(p) {
		if int(own) != class[i] {
			wrong++
		}
	}
	e := wrong / float64(len(class))
	return Estimate{metrics.Number(e), metrics.Number(metrics.ShareError(e, labels))}
}

// weighValuesOrLabels chooses one setting of one member: for values by the mean squared error,
// for several labels a point by the share of wrong labels. Such scores have no probabilities
// that could be averaged.
func (f *fit) weighValuesOrLabels() {
	best := math.Inf(1)
	var chosen *candidate
	for _, c := range f.candidates {
		c.loss = math.Inf(1)
		for i, answers := range c.answers {
			if c.faults[i] != nil {
				continue
			}
			if e, loss := f.estimateValuesOrLabels(answers); loss < c.loss {
				c.loss = loss
				c.best = i
				c.error = e
			}
		}

		// The first member is chosen even if its loss is NaN.
		if c.loss < best || chosen == nil {
			best = c.loss
			chosen = c
		}
	}

	chosen.weight = 1
	if kindOf(f.in.Targets) == models.LearnsValues && chosen.faults[chosen.best] == nil {
		f.keepHeldOut(chosen.answers[chosen.best], data.Range(0, len(f.asked)))
	}
	f.choice.Estimate = chosen.error
	f.choice.Trivial = f.trivialValuesOrLabels()
}

// estimateValuesOrLabels measures answers for values or several labels. It returns the error
// with its standard error, and the mean loss by which settings are compared.
func (f *fit) estimateValuesOrLabels(answers *mat.Dense) (Estimate, float64) {
	t := f.in.Targets
	var losses []float64
	// The loss of a point is the mean over its known outputs; points without one are left out.
	for r, q := range f.asked {
		var sum, count float64
		for j, y := range t.Y.RawRowView(q) {
			if math.IsNaN(y) {
				continue
			}
			count++
			v := answers.At(r, j)
			if t.Labels == nil {
				sum += (v - y) * (v - y)
			} else if (v > 0) != (y > 0) {
				sum++
			}
		}

		if count > 0 {
			losses = append(losses, sum/count)
		}
	}

	mean, err := meanOf(losses, len(losses)/f.settings.Repeats)
	// The standard error of the root is the standard error of the mean square times the derivative of
	// the root, 1/(2·root).
	if t.Labels == nil {
		root := math.Sqrt(mean)
		return Estimate{metrics.Number(root), metrics.Number(err / (2 * max(root, 1e-300)))}, mean
	}
	return Estimate{metrics.Number(mean), metrics.Number(err)}, mean
}

// meanOf returns the mean of x and its standard error, as if x held count independent values:
// repetitions of the cross-validation are not independent.
func meanOf(x []float64, count int) (mean, err float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	var squares float64
	for _, v := range x {
		squares += (v - mean) * (v - mean) / float64(len(x))
	}
	return mean, math.Sqrt(squares / float64(max(count-1, 1)))
}

// trivialValuesOrLabels returns the error of a constant answer: the mean of each value, or the
// more frequent answer to each label.
func (f *fit) trivialValuesOrLabels() metrics.Number {
	t := f.in.Targets
	_, m := t.Y.Dims()
	constant := mat.NewDense(len(f.asked), m, nil)
	// Labels are ±1, so the sign of their mean is the more frequent answer.
	for j := range m {
		var sum, count float64
		for q := range t.Labeled {
			if y := t.Y.At(q, j); !math.IsNaN(y) {
				sum += y
				count += 1
			}
		}
		for r := range f.asked {
			constant.Set(r, j, sum/max(count, 1))
		}
	}

	e, _ := f.estimateValuesOrLabels(constant)
	return e.Error
}
