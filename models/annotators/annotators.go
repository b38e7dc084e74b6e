// Package annotators finds what several annotators of the same points agree on: a distribution over the classes
// for each point, and a confusion matrix for each annotator.
//
// # Model
//
// Point i has a class c with the prior probability r_ic, and annotator a, asked for a point of class c, answers l
// with the probability π^a_cl. Answers are independent given the class (Dawid & Skene 1979). The expectation
// step computes the distributions
//
//	p_ic ∝ r_ic Π_(a,l) π^a_cl      over the answers l of the annotators a at point i
//
// and the maximization step the matrices from the expected counts n^a_cl = Σ_i p_ic [a says l of i],
//
//	π^a_cl = (n^a_cl + κ π̄_cl) / (n^a_c· + κ),   π̄_cl = (Σ_a n^a_cl + κ₀ m_cl) / (Σ_a n^a_c· + κ₀)
//
// with κ = C and κ₀ = 3C for C classes, and m the symmetric matrix with the share of right answers of all annotators
// in its diagonal. An annotator with few answers is thus taken for an average one, and no answer is impossible; the
// paper has κ = 0, which is undefined for classes that an annotator was never shown. The iteration begins with the
// shares of the answers (majority vote) and ends when no p_ic changes by more than 10⁻⁶.
//
// # Prior
//
// The paper's prior is the share s_c of the class. Where something else is known of the points, as what a method
// on a graph says of a point from the labels of the others, q_ic, it is
//
//	r_ic ∝ s_c (q_ic / q̄_c)^τ,   q̄ the mean of q over the points,
//
// with the τ of 0, ½, 1, 2, 4 under which the answers are most likely, where a larger one must add ½ log l to
// the log-likelihood of the l points: 0, where q says nothing, is the model
// of the paper.
//
// Dawid & Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied Statistics
// 28 (1979), 20–28, equations 2.3 to 2.5.
package annotators

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Answers are labels that annotators gave to points: element k says that Annotator[k] gave the class
// Class[k] to Point[k]. An annotator answers once for a point.
type Answers struct {
	Points, Classes, Annotators int // numbers of points, classes and annotators that are counted
	Point, Class, Annotator     []int32
}

// check returns an error unless all numbers are in range.
func (a *Answers) check() error {
	if len(a.Class) != len(a.Point) || len(a.Annotator) != len(a.Point) {
		return fmt.Errorf("annotators: %d points, %d classes and %d annotators of answers", len(a.Point),
			len(a.Class), len(a.Annotator))
	}
	if len(a.Point) == 0 || a.Classes < 2 {
		return errors.New("annotators: there must be answers, of at least two classes")
	}
	if float64(a.Annotators)*float64(a.Classes)*float64(a.Classes) > mostElements {
		return fmt.Errorf("annotators: confusion matrices of %d annotators for %d classes are too large; leave out "+
			"annotators with few answers, or join classes", a.Annotators, a.Classes)
	}
	in := func(v int32, n int) bool { return v >= 0 && int(v) < n }
	for k := range a.Point {
		if !in(a.Point[k], a.Points) || !in(a.Class[k], a.Classes) || !in(a.Annotator[k], a.Annotators) {
			return fmt.Errorf("annotators: answer %d is class %d of %d, for point %d of %d, by annotator %d of %d", k,
				a.Class[k], a.Classes, a.Point[k], a.Points, a.Annotator[k], a.Annotators)
		}
	}
	return nil
}

// Settings of [Agree]. The zero value is the model of the paper.
type Settings struct {
	// Known holds q, a row for each point; nil for none. A row of zeros says nothing of its point.
	Known *mat.Dense
	// Error, if positive, is the probability of a wrong answer of every annotator, alike for all wrong classes:
	// the confusion matrices are then given and not estimated.
	Error float64
}

// Consensus is what annotators agree on.
type Consensus struct {
	Rows   []int      // the points with an answer, ascending
	Shares *mat.Dense // p, a row for each of Rows
	// Confusion holds π of each annotator: row c, column l is the probability of the answer l for class c.
	Confusion []*mat.Dense
	Counts    []int // answers of each annotator
	// Accuracy of each annotator is the mean of p at its answers.
	Accuracy []float64
	// Disagreeing is the number of points with answers of several classes.
	Disagreeing int
	Exponent    float64 // τ
	// Likelihood is the mean logarithm of the probability of the answers at a point.
	Likelihood float64
	Iterations int
}

const (
	// κ₀ and κ in units of the number of classes. Factors of ten on either side changed the errors of simulated crowds,
	// alike, uneven and with a favourite mistake each, by less than a tenth.
	together = 3.0
	alone    = 1.0

	steps        = 500     // of EM at most; some twenty are usual
	change       = 1e-6    // of a share, at which EM ends
	leastKnown   = 1e-3    // floor of q: no class is excluded by the neighbours alone
	mostElements = 1 << 27 // of all confusion matrices, 1 GiB
)

// exponents are the τ that are tried.
var exponents = []float64{0, 0.5, 1, 2, 4}

// Majority returns the shares of the answers at each point with one, the start of [Agree].
func Majority(a *Answers) (*Consensus, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	return begin(a), nil
}

// begin counts the answers.
func begin(a *Answers) *Consensus {
	c := &Consensus{Counts: make([]int, a.Annotators)}
	has := make([]bool, a.Points)
	for _, i := range a.Point {
		has[i] = true
	}
	row := make([]int, a.Points)
	for i, ok := range has {
		if ok {
			row[i] = len(c.Rows)
			c.Rows = append(c.Rows, i)
		}
	}
	c.Shares = mat.NewDense(len(c.Rows), a.Classes, nil)
	for k, i := range a.Point {
		at := c.Shares.RawRowView(row[i])
		at[a.Class[k]]++
		c.Counts[a.Annotator[k]]++
	}
	for r := range c.Rows {
		at := c.Shares.RawRowView(r)
		several := 0
		for _, v := range at {
			if v > 0 {
				several++
			}
		}
		if several > 1 {
			c.Disagreeing++
		}
		normalize(at)
	}
	c.measure(a, row)
	return c
}

// measure sets the accuracies.
func (c *Consensus) measure(a *Answers, row []int) {
	c.Accuracy = make([]float64, a.Annotators)
	for k, i := range a.Point {
		c.Accuracy[a.Annotator[k]] += c.Shares.At(row[i], int(a.Class[k]))
	}
	for j, n := range c.Counts {
		if n > 0 {
			c.Accuracy[j] /= float64(n)
		}
	}
}

// Agree finds the consensus of the answers. A nil s means the defaults. It costs five runs of EM with Known and
// one without, each some twenty passes of O(answers·classes).
func Agree(a *Answers, s *Settings) (*Consensus, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if s == nil {
		s = &Settings{}
	}
	if s.Error < 0 || s.Error >= 1 {
		return nil, fmt.Errorf("annotators: the probability of a wrong answer is %v; it must lie in [0, 1)", s.Error)
	}
	if s.Known == nil {
		return run(a, s, nil, 0), nil
	}
	rows, columns := s.Known.Dims()
	if rows != a.Points || columns != a.Classes {
		return nil, fmt.Errorf("annotators: what is known is %d×%d for %d points and %d classes", rows, columns,
			a.Points, a.Classes)
	}

	q := ratios(a, s.Known)
	var best *Consensus
	for _, tau := range exponents {
		c := run(a, s, q, tau)
		// The gain that one more parameter must bring by the Bayesian information criterion, ½ log l for l points.
		l := float64(len(c.Rows))
		if best == nil || c.Likelihood > best.Likelihood+math.Log(l)/(2*l) {
			best = c
		}
	}
	return best, nil
}

// ratios returns log(q_ic/q̄_c) with the floor in q; rows of zeros stay zero.
func ratios(a *Answers, known *mat.Dense) *mat.Dense {
	q := mat.NewDense(a.Points, a.Classes, nil)
	mean := make([]float64, a.Classes)
	answered := make([]bool, a.Points)
	for _, i := range a.Point {
		answered[i] = true
	}
	count := 0.0
	for i := range a.Points {
		row := q.RawRowView(i)
		copy(row, known.RawRowView(i))
		for c, v := range row {
			row[c] = max(v, 0)
		}
		if slices.Max(row) == 0 {
			continue
		}
		normalize(row)
		for c := range row {
			row[c] = (row[c] + leastKnown) / (1 + leastKnown*float64(a.Classes))
			if answered[i] {
				mean[c] += row[c]
			}
		}
		if answered[i] {
			count++
		}
	}
	for i := range a.Points {
		row := q.RawRowView(i)
		if slices.Max(row) == 0 {
			continue
		}
		for c := range row {
			m := 1.0
			if count > 0 {
				m = mean[c] / count
			}
			row[c] = math.Log(row[c] / m)
		}
	}
	return q
}

// run is EM with the prior s_c exp(τ q_ic); q is nil for none.
func run(a *Answers, s *Settings, q *mat.Dense, tau float64) *Consensus {
	c := begin(a)
	c.Exponent = tau
	row := make([]int, a.Points)
	for r, i := range c.Rows {
		row[i] = r
	}
	shares := make([]float64, a.Classes)
	next := mat.NewDense(len(c.Rows), a.Classes, nil)
	logs := make([]*mat.Dense, a.Annotators)

	for c.Iterations = 1; ; c.Iterations++ {
		c.confuse(a, s, row)
		for j, m := range c.Confusion {
			logs[j] = mat.NewDense(a.Classes, a.Classes, nil)
			logs[j].Apply(func(_, _ int, v float64) float64 { return math.Log(v) }, m)
		}

		// s_c, with one point of each class more than there are.
		for k := range shares {
			shares[k] = math.Log((mat.Sum(c.Shares.ColView(k)) + 1) / float64(len(c.Rows)+a.Classes))
		}
		for r, i := range c.Rows {
			at := next.RawRowView(r)
			for k := range at {
				at[k] = shares[k]
				if q != nil {
					at[k] += tau * q.At(i, k)
				}
			}
			subtract(at, logSum(at)) // a distribution, so that likelihoods can be compared
		}
		for k, i := range a.Point {
			at := next.RawRowView(row[i])
			for class := range at {
				at[class] += logs[a.Annotator[k]].At(class, int(a.Class[k]))
			}
		}

		var most float64
		c.Likelihood = 0
		for r := range c.Rows {
			at := next.RawRowView(r)
			total := logSum(at)
			c.Likelihood += total / float64(len(c.Rows))
			old := c.Shares.RawRowView(r)
			for k, v := range at {
				at[k] = math.Exp(v - total)
				most = max(most, math.Abs(at[k]-old[k]))
			}
		}
		c.Shares, next = next, c.Shares
		if most <= change || c.Iterations == steps {
			break
		}
	}

	c.measure(a, row)
	return c
}

// confuse sets the confusion matrices by the shares.
func (c *Consensus) confuse(a *Answers, s *Settings, row []int) {
	k := float64(a.Classes)
	if s.Error > 0 {
		m := mat.NewDense(a.Classes, a.Classes, nil)
		m.Apply(func(i, j int, _ float64) float64 {
			if i == j {
				return 1 - s.Error
			}
			return s.Error / (k - 1)
		}, m)
		c.Confusion = slices.Repeat([]*mat.Dense{m}, a.Annotators)
		return
	}

	c.Confusion = make([]*mat.Dense, a.Annotators)
	for j := range c.Confusion {
		c.Confusion[j] = mat.NewDense(a.Classes, a.Classes, nil)
	}
	all := mat.NewDense(a.Classes, a.Classes, nil)
	for n, i := range a.Point {
		m := c.Confusion[a.Annotator[n]]
		l := int(a.Class[n])
		for class, p := range c.Shares.RawRowView(row[i]) {
			m.Set(class, l, m.At(class, l)+p)
			all.Set(class, l, all.At(class, l)+p)
		}
	}
	// All annotators together are taken for symmetric as far as their answers do not tell otherwise, and each of them
	// for all together.
	right := (mat.Trace(all) + 1) / (mat.Sum(all) + 2)
	for class := range a.Classes {
		at := all.RawRowView(class)
		for l := range at {
			at[l] += together * k * (1 - right) / (k - 1)
		}
		at[class] += together * k * (right - (1-right)/(k-1))
		normalize(at)
	}
	for _, m := range c.Confusion {
		for class := range a.Classes {
			at := m.RawRowView(class)
			for l := range at {
				at[l] += alone * k * all.At(class, l)
			}
			normalize(at)
		}
	}
}

// normalize divides a row of numbers that are not negative by its sum.
func normalize(row []float64) {
	var sum float64
	for _, v := range row {
		sum += v
	}
	for k := range row {
		row[k] /= sum
	}
}

// logSum returns log Σ exp(v).
func logSum(v []float64) float64 {
	top := slices.Max(v)
	var sum float64
	for _, x := range v {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}

func subtract(row []float64, v float64) {
	for k := range row {
		row[k] -= v
	}
}
