package pool

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
)

// Estimate is the error of answers for points held out, or of values the root of their
// mean squared error, with its standard error.
type Estimate struct {
	Error  metrics.Number `json:"error"`
	StdErr metrics.Number `json:"std_err"`
}

// Choice says what was chosen and why.
type Choice struct {
	// Validated tells whether there was a cross-validation: Folds, dealt Repeats times,
	// of so many labels. Else the weights are those of the list.
	Validated bool `json:"validated"`
	Folds     int  `json:"folds,omitempty"`
	Repeats   int  `json:"repeats,omitempty"`
	// Estimate is that of the chosen combination, on the labels that chose it.
	Estimate
	// Trivial is the error of the most frequent class, or of the mean value.
	Trivial metrics.Number `json:"trivial_error"`
	// Values tells that errors are those of values, not shares.
	Values bool `json:"values,omitempty"`
	// LeftOut counts the members that would have taken too long: [MostOperations].
	LeftOut int `json:"left_out,omitempty"`
	// Shares of the classes in the points without a label, as far as these tell them.
	Shares  []float64  `json:"shares,omitempty"`
	Members []Standing `json:"members"` // heaviest first
}

// Standing is that of a member.
type Standing struct {
	Name     string        `json:"model"`
	Settings models.Values `json:"settings"` // the best ones
	Weight   float64       `json:"weight"`
	Estimate
	Fault string `json:"fault,omitempty"` // why it could not be fitted
}

// Text is one line on the choice. Members of one name are added up, and of those that
// were not chosen the error of the best is given.
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
	text := strings.Join(chosen, " + ")
	if !c.Validated {
		return text + ", too few labels for an estimate of the error"
	}
	unit, what := " %", "estimated error"
	if c.Values {
		unit = ""
		what = "estimated RMSE"
	}

	text += fmt.Sprintf(", %s %s ± %s%s", what, c.number(c.Error), c.number(c.StdErr), unit)
	if len(all) > 1 {
		text += " (" + strings.Join(all, ", ") + ")"
	}
	if c.LeftOut > 0 {
		text += fmt.Sprintf("; %d settings of models left out, as they would take too long", c.LeftOut)
	}
	return text
}

// number writes an error.
func (c *Choice) number(v metrics.Number) string {
	if c.Values {
		return fmt.Sprintf("%.4g", float64(v))
	}
	return fmt.Sprintf("%.1f", 100*float64(v))
}

// Warnings of the choice.
func (c *Choice) Warnings() []string {
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

// least is the smallest weight that is kept, unless all are smaller.
const least = 0.05

// weigh chooses settings and weights by the answers for points held out.
func (f *fit) weigh() {
	f.choice = Choice{Values: kindOf(f.in.Targets) == models.LearnsValues, LeftOut: f.leftOut}
	switch {
	case len(f.splits) == 0:
		f.weighPrior()
	case f.in.Targets.Classes != nil:
		f.weighClasses()
	default:
		f.weighOthers()
	}

	if len(f.splits) > 0 {
		f.choice.Validated = true
		f.choice.Repeats = f.settings.Repeats
		f.choice.Folds = len(f.splits) / f.settings.Repeats
	}

	for _, c := range f.contenders {
		s := Standing{Name: c.name, Settings: c.settings[c.best], Weight: c.weight, Estimate: c.error}
		f.choice.Members = append(f.choice.Members, s)
	}
	slices.SortStableFunc(f.choice.Members,
		func(a, b Standing) int { return cmp.Compare(b.Weight, a.Weight) })
}

// weighPrior gives the members the weights of the list.
func (f *fit) weighPrior() {
	var sum float64
	for _, c := range f.contenders {
		sum += c.prior
	}
	for _, c := range f.contenders {
		c.weight = c.prior / sum
		c.error = Estimate{metrics.Number(math.NaN()), metrics.Number(math.NaN())}
	}
	f.choice.Estimate = Estimate{metrics.Number(math.NaN()), metrics.Number(math.NaN())}
	f.choice.Trivial = metrics.Number(math.NaN())
}

// judged returns the rows of held answers whose class was known where they were held
// out, and their classes.
func (f *fit) judged() (rows, class []int) {
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

// weighClasses chooses the settings of each member by the likelihood, and the weights by
// those of all: see likelihoodWeights.
func (f *fit) weighClasses() {
	rows, class := f.judged()
	prior := make([]float64, len(f.contenders))
	for m, c := range f.contenders {
		c.choose(rows, class)
		prior[m] = c.prior
	}

	losses := mat.NewDense(len(rows), len(f.contenders), nil)
	columns := len(f.in.Targets.Classes)
	held := make([]*mat.Dense, len(f.contenders))
	for m, c := range f.contenders {
		held[m] = mat.NewDense(len(rows), columns, nil)
		for i, at := range rows {
			c.scale.probabilities(held[m].RawRowView(i), c.answers[c.best].RawRowView(at))
			losses.Set(i, m, -math.Log(max(held[m].At(i, class[i]), 1e-9)))
		}
		c.error = f.estimate(held[m], class)
	}

	w := likelihoodWeights(losses, prior, f.settings.Repeats)
	keepHeavy(w)
	mixed := mat.NewDense(len(rows), columns, nil)
	for m, c := range f.contenders {
		c.weight = w[m]
		var part mat.Dense
		part.Scale(w[m], held[m])
		mixed.Add(mixed, &part)
	}

	f.choice.Estimate = f.estimate(mixed, class)
	counts := f.counts()
	f.choice.Trivial = metrics.Number(1 - float64(slices.Max(counts))/float64(len(f.in.Targets.Labeled)))
}

// keepHeavy sets light weights to zero, and the sum to one.
func keepHeavy(w []float64) {
	top := slices.Max(w)
	var sum float64
	for m, v := range w {
		if v < min(least, top) {
			w[m] = 0
		}
		sum += w[m]
	}

	for m := range w {
		w[m] /= sum
	}
}

// choose sets the best setting of a member and its scale.
func (c *contender) choose(rows, class []int) {
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
		s := scale{Shares: nonnegative(scores)}
		s.fitSlope(scores, class)

		p := make([]float64, columns)
		var loss float64
		for r := range rows {
			s.probabilities(p, scores.RawRowView(r))
			loss -= math.Log(max(p[class[r]], 1e-9))
		}

		if loss < best-1e-9 {
			best = loss
			c.best = i
			c.scale = s
		}
	}
}

// estimate is the error of the class of the largest probability.
func (f *fit) estimate(p *mat.Dense, class []int) Estimate {
	wrong := 0.
	for i, own := range models.Decide(p) {
		if int(own) != class[i] {
			wrong++
		}
	}
	e := wrong / float64(len(class))
	labels := float64(len(class)) / float64(f.settings.Repeats)
	return Estimate{metrics.Number(e), metrics.Number(math.Sqrt(e * (1 - e) / max(labels-1, 1)))}
}

// weighOthers chooses one setting of one member by the mean squared error of values, or
// the share of wrong labels.
func (f *fit) weighOthers() {
	best := math.Inf(1)
	var chosen *contender
	for _, c := range f.contenders {
		c.loss = math.Inf(1)
		for i, answers := range c.answers {
			if c.faults[i] != nil {
				continue
			}
			if e, loss := f.estimateOthers(answers); loss < c.loss {
				c.loss = loss
				c.best = i
				c.error = e
			}
		}

		if c.loss < best || chosen == nil {
			best = c.loss
			chosen = c
		}
	}

	chosen.weight = 1
	f.choice.Estimate = chosen.error
	f.choice.Trivial = f.trivialOthers()
}

// estimateOthers measures answers for values or labels.
func (f *fit) estimateOthers(answers *mat.Dense) (Estimate, float64) {
	t := f.in.Targets
	var losses []float64
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
	if t.Labels == nil { // of the root
		root := math.Sqrt(mean)
		return Estimate{metrics.Number(root), metrics.Number(err / (2 * max(root, 1e-300)))}, mean
	}
	return Estimate{metrics.Number(mean), metrics.Number(err)}, mean
}

// meanOf returns the mean of x and its standard error as that of so many values.
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

// trivialOthers is the error of the mean value, or of the more frequent answer to each
// label.
func (f *fit) trivialOthers() metrics.Number {
	t := f.in.Targets
	_, m := t.Y.Dims()
	constant := mat.NewDense(len(f.asked), m, nil)
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

	e, _ := f.estimateOthers(constant)
	return e.Error
}
