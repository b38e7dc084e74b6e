// Package active chooses points of a graph to label next. A rule takes the points with labels
// that tell most about all points (V-optimality, Σ-optimality), the points where a model is
// least certain, or a combination of both.
//
// Before any label the values at the n points are a Gaussian field f with the covariance
//
//	C = V (Λ + δI)⁻¹ Vᵀ
//
// where Λ and the orthonormal columns of V are the p smallest eigenpairs of a symmetric
// Laplacian. A label at point i observes f_i with the noise σ². It changes C to
//
//	C − C_{·i} C_{i·} / (C_ii + σ²)
//
// whatever the label is. The points of a batch are therefore chosen one after the other, each
// with the covariance that is left after the points before it. Points near a chosen point
// gain nothing, so a batch is diverse by construction.
//
// Ji & Han, A variance minimization criterion to active learning on graphs, AISTATS 2012;
// Ma, Garnett & Schneider, Σ-optimality for active learning on Gaussian random fields,
// NIPS 2013. Uncertainty times what a label changes is also in Miller & Bertozzi,
// Model-change active learning in graph-based semi-supervised learning, 2021.
//
// # What it may know
//
// The points to label next are decided by a low-rank covariance, which a chosen point changes
// by rank one. This package knows scores and eigenpairs, and no learner. Rules see only the
// labels that were asked for; a test uses a learner that tries to read hidden labels.
package active

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/sparse"
)

// Rule says which point is chosen next. All but Random first give a label to each
// component that has none, the largest first: see [Settings.Tiny].
type Rule int

const (
	// Combined, the default, decides by what is known. Without margins, as before the first label
	// and for models of values, it is SOpt. While there are fewer than FewLabels labels a class it
	// explores, and below LeastExplored labels: it takes the largest u_i (Σ_j C_ji)² / (C_ii + σ²), with the uncertainty
	// u_i = 1 − margin of [Margins]. This is the Σ-criterion weighted by uncertainty. With more
	// labels it is the rule Uncertainty. docs/next.md has the measurements behind it.
	Combined Rule = iota
	// VOpt takes the largest ‖C_{·i}‖² / (C_ii + σ²): the decrease, by the label, of the
	// sum of the variances of all points (Ji & Han 2012). It needs no scores.
	VOpt
	// SOpt takes the largest (Σ_j C_ji)² / (C_ii + σ²): the decrease, by the label, of the
	// variance of the sum over all points (Ma, Garnett & Schneider 2013). It needs no
	// scores.
	SOpt
	// Uncertainty takes the largest u_i C_ii / C⁰_ii, with C⁰ the covariance before the
	// first point of the batch: the least certain point, then uncertain points far from it.
	Uncertainty
	// Random takes any point that has no label, by the seed.
	Random
	// Typical takes the point with the largest [Pool.Typicality] of the cluster with the fewest
	// labels, of equals the largest cluster: TypiClust of Hacohen, Dekel & Weinshall, Active
	// learning on a budget, ICML 2022, section 3.2. It needs no label.
	Typical
	// Cover takes the point whose neighbours in the graph, with itself, are the most that are not
	// neighbours of a label or of a point chosen before: ProbCover of Yehuda, Dekel, Hacohen &
	// Weinshall, Active learning through a covering lens, NeurIPS 2022, with the edges of the
	// graph in place of balls of one radius. It needs no label.
	Cover
	// Committee takes the largest d_i C_ii / C⁰_ii: the point about which the members of a model
	// disagree most, by the Jensen–Shannon divergence d_i of their probabilities (McCallum & Nigam,
	// ICML 1998), then such points far from it. [Pool.Margins] holds 1 − d_i.
	Committee
)

var rules = enum.New[Rule]("rule", "combined", "vopt", "sopt", "uncertainty", "random", "typical", "cover", "committee")

// Rules lists all rules.
var Rules = []Rule{Combined, VOpt, SOpt, Uncertainty, Random, Typical, Cover, Committee}

// String returns the name used on the command line and in files.
func (r Rule) String() string { return rules.String(r) }

// MarshalText returns the name.
func (r Rule) MarshalText() ([]byte, error) { return rules.Marshal(r) }

// UnmarshalText is the inverse of MarshalText.
func (r *Rule) UnmarshalText(text []byte) error { return rules.Unmarshal(r, text) }

// UsesScores tells whether the rule looks at the scores of a model, if there are some.
func (r Rule) UsesScores() bool { return r == Combined || r.NeedsScores() }

// NeedsScores tells whether the rule cannot choose without the scores of a model.
func (r Rule) NeedsScores() bool { return r == Uncertainty || r == Committee }

// NeedsPairs tells whether the rule looks at eigenpairs.
func (r Rule) NeedsPairs() bool { return r != Random && r != Cover }

// Pool holds the knowledge about n points that the rules use.
type Pool struct {
	Components *sparse.Components // components of the graph
	// Values and Vectors (n×p) are the smallest eigenpairs of a symmetric Laplacian
	// of the graph, with orthonormal vectors. Random needs none.
	Values  []float64
	Vectors *mat.Dense
	// Labeled lists the points that have a label, in any order.
	Labeled []int
	// Closed, if not nil, is true at further points that must not be chosen.
	Closed []bool
	// Margins holds the margins of a model at the n points, from 0, where it is least
	// certain, to 1: see [Margins]. They matter to the rules with [Rule.UsesScores]; nil
	// without a model of classes.
	Margins []float64
	// Classes is the number of known classes. It matters to Combined.
	Classes int
	// Clusters holds the cluster of every point, −1 for none, and Typicality how typical a point is
	// of those around it, such as one over the mean distance of its neighbours. They matter to
	// Typical.
	Clusters   []int32
	Typicality []float64
	// Weights are the edges of the graph. They matter to Cover.
	Weights *sparse.CSR
}

// Settings of [Choose]. The zero value of every field but Count is its default.
type Settings struct {
	Rule  Rule
	Count int // number of points to choose, at least 1
	// Delta is δ, positive. Default 0.01: with the normalized Laplacian label spreading
	// with α = 0.99 has the same covariance.
	Delta float64
	// Noise is σ² as a share of the mean variance tr(C)/n before any label. Default 1: a
	// label tells less about its surroundings where points are few.
	Noise float64
	// Tiny excludes small components: a component without a label comes first only if it
	// has at least Tiny times n/(l + Count) points, and the points of a smaller one are chosen only if
	// larger ones have fewer than Count. n/(l + Count) is the average number of
	// points per label. Default 0.1; with a negative number all components come first.
	Tiny float64
	// Seed of Random.
	Seed uint64
}

// FewLabels is the number of labels per class from which Combined no longer explores:
// docs/next.md compares rules over growing numbers of labels.
const FewLabels = 4

// LeastExplored is the number of labels below which Combined explores, however few the classes are: from 10
// labels of two classes on, the uncertainty alone had up to 1.6 times the error at 20 (docs/next.md).
const LeastExplored = 20

// The defaults of [Settings], with their reasons there.
const (
	defaultDelta = 0.01
	defaultNoise = 1
	defaultTiny  = 0.1
)

// Choice is a point to label.
type Choice struct {
	Point     int
	Rule      Rule  // the rule that chose the point, which says what Combined was
	Component int32 // component of the point in the graph
	// First tells that the point was chosen as the first of its component.
	First bool
	// Score is the value of the rule at the point when it was chosen; 0 for Random.
	Score float64
}

// fill returns s with its defaults, or all faults at once.
func (s Settings) fill(p *Pool) (Settings, error) {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("active: "+format,
			args...))
	}
	if !rules.Valid(s.Rule) {
		fault("rule %v", s.Rule)
	}
	if open := p.open(); s.Count < 1 {
		fault("%d points asked for; the number must be at least 1", s.Count)
	} else if s.Count > open {
		fault("%d points asked for and only %d can be chosen, of %d points with %d labels; ask for fewer",
			s.Count, open, p.Len(), len(p.Labeled))
	}

	for _, f := range []struct {
		name string
		v    *float64
		def  float64
	}{{"δ", &s.Delta, defaultDelta}, {"the noise", &s.Noise, defaultNoise}} {
		if *f.v == 0 {
			*f.v = f.def
		}
		if !(*f.v > 0) || math.IsInf(*f.v, 1) {
			fault("%s is %v; it must be positive", f.name, *f.v)
		}
	}

	if s.Tiny == 0 {
		s.Tiny = defaultTiny
	}
	if math.IsNaN(s.Tiny) {
		fault("the share of a tiny component is NaN")
	}
	return s, errors.Join(faults...)
}

// Len returns the number of points.
func (p *Pool) Len() int { return len(p.Components.Of) }

// taken is true at the points that must not be chosen.
func (p *Pool) taken() []bool {
	out := make([]bool, p.Len())
	copy(out, p.Closed)
	for _, i := range p.Labeled {
		out[i] = true
	}
	return out
}

// open returns the number of points that can be chosen.
func (p *Pool) open() int {
	open := p.Len()
	for _, is := range p.taken() {
		if is {
			open--
		}
	}
	return open
}

// check returns all faults of the inputs that the rule uses.
func (p *Pool) check(r Rule) error {
	n := p.Len()
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("active: "+format,
			args...))
	}
	for _, i := range p.Labeled {
		if i < 0 || i >= n {
			return fmt.Errorf("active: labeled point %d of %d", i, n)
		}
	}

	if p.Closed != nil && len(p.Closed) != n {
		fault("%d marks of closed points for %d points", len(p.Closed), n)
	}
	if r.NeedsScores() || r.UsesScores() && p.Margins != nil {
		if len(p.Margins) != n {
			fault("%d margins for %d points; the rule %v needs those of a model", len(p.Margins), n, r)
		}
		if i := slices.IndexFunc(p.Margins, func(v float64) bool { return !(v >= 0 && v <= 1) }); i >= 0 {
			fault("the margin of point %d is %v; it must lie between 0 and 1", i, p.Margins[i])
		}
	}

	switch {
	case r == Cover && (p.Weights == nil || p.Weights.Rows != n):
		fault("the rule %v needs the edges between the %d points", r, n)
	case r == Typical && (len(p.Clusters) != n || len(p.Typicality) != n):
		fault("clusters of %d points and how typical %d are for %d points", len(p.Clusters),
			len(p.Typicality), n)
	}
	// A nil matrix has no dimensions to compare; Typical looks at clusters made of the pairs.
	if !r.NeedsPairs() || r == Typical {
		return errors.Join(faults...)
	}
	if p.Vectors == nil {
		fault("the rule %v needs eigenpairs", r)
		return errors.Join(faults...)
	}
	if rows, cols := p.Vectors.Dims(); rows != n || cols != len(p.Values) {
		fault("eigenvectors of %d×%d and %d eigenvalues for %d points", rows, cols, len(p.Values), n)
	}

	for j, v := range p.Values {
		if !(v >= 0) || math.IsInf(v, 1) {
			fault("eigenvalue %d is %v; those of a Laplacian are not negative", j, v)
		}
	}
	return errors.Join(faults...)
}

// Choose chooses s.Count points one after the other. Of equal scores the smallest point
// wins, so that the answer depends on p and s only.
//
// Conditioning on l labels costs lp² + 2p³ operations. Uncertainty, Committee, and Combined once it does not
// explore, cost 2p² for each point that they look at, which are few. The other rules cost 2np² and 6np for
// every choice, and hold 3n numbers beside the eigenvectors. Random costs O(n).
func Choose(ctx context.Context, p *Pool, s *Settings) ([]Choice, error) {
	if s == nil {
		return nil, errors.New("active: settings must say how many points to choose")
	}
	if p.Components == nil || p.Len() == 0 {
		return nil, errors.New("active: there are no points")
	}
	if err := p.check(s.Rule); err != nil {
		return nil, err
	}

	filled, err := s.fill(p)
	if err != nil {
		return nil, err
	}
	// Where nothing is known to be uncertain, the graph decides alone.
	if filled.Rule == Combined && p.Margins == nil {
		filled.Rule = SOpt
	}
	switch filled.Rule {
	case Random:
		return p.draw(&filled), nil
	case Typical:
		return p.chooseTypical(&filled), nil
	case Cover:
		return p.chooseCover(&filled), nil
	}
	p = p.withoutTiny(&filled)
	field, err := newField(ctx, p, &filled)
	if err != nil {
		return nil, err
	}
	if s := &filled; s.Rule.NeedsScores() || s.Rule == Combined && !p.explores(len(p.Labeled)) {
		return p.chooseUncertain(ctx, s, field)
	}

	// One point at a time: each choice changes the field for the next one.
	m, err := newMoments(ctx, field)
	if err != nil {
		return nil, err
	}
	c := &chooser{Pool: p, Settings: filled, noise: field.noise, moments: m, taken: p.taken(),
		first: slices.Clone(m.variance)}
	c.queue = p.unlabeledComponents(&filled)
	out := make([]Choice, 0, filled.Count)
	for q := range filled.Count {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := c.next(len(p.Labeled) + q)
		c.taken[next.Point] = true
		m.apply(field, field.observe(next.Point))
		out = append(out, next)
	}

	return out, nil
}

// explores tells whether Combined explores with so many labels.
func (p *Pool) explores(labels int) bool { return labels < max(FewLabels*p.Classes, LeastExplored) }

// draw takes points at random.
func (p *Pool) draw(s *Settings) []Choice {
	var open []int
	for i, is := range p.taken() {
		if !is {
			open = append(open, i)
		}
	}

	// The first steps of a Fisher–Yates shuffle.
	rng := rand.New(rand.NewPCG(s.Seed, 0x6e657874)) // "next"
	out := make([]Choice, s.Count)
	for q := range out {
		r := q + rng.IntN(len(open)-q)
		open[q], open[r] = open[r], open[q]
		out[q] = Choice{Point: open[q], Rule: Random, Component: p.Components.Of[open[q]]}
	}
	return out
}

// unlabeledComponents returns the components without a label that come first, the
// largest first, equals in the order of their smallest point.
func (p *Pool) unlabeledComponents(s *Settings) []int32 {
	if p.Components.Count() == 1 {
		return nil // it is where all points are
	}
	has := p.withLabel()
	least := p.leastComponent(s)
	open := make([]bool, p.Components.Count())
	for i, is := range p.taken() {
		if !is {
			open[p.Components.Of[i]] = true
		}
	}

	var out []int32
	for c, size := range p.Components.Sizes {
		if !has[c] && open[c] && float64(size) >= least {
			out = append(out, int32(c))
		}
	}

	slices.SortStableFunc(out, func(a, b int32) int { return p.Components.Sizes[b] - p.Components.Sizes[a] })
	return out
}

// withLabel tells of each component whether it has a label.
func (p *Pool) withLabel() []bool {
	has := make([]bool, p.Components.Count())
	for _, i := range p.Labeled {
		has[p.Components.Of[i]] = true
	}
	return has
}

// leastComponent is the number of points from which on a component may take one of a few labels: a share of what a label
// stands for.
func (p *Pool) leastComponent(s *Settings) float64 {
	return s.Tiny * float64(p.Len()) / float64(len(p.Labeled)+s.Count)
}

// withoutTiny closes the points of tiny components without a label, where the others have points enough. Nothing
// is known of such a point, so that it is the most uncertain one by every rule, and its label tells of next to no other.
func (p *Pool) withoutTiny(s *Settings) *Pool {
	has := p.withLabel()
	least := p.leastComponent(s)
	out := *p
	out.Closed = p.taken()
	left := 0
	for i, of := range p.Components.Of {
		switch small := float64(p.Components.Sizes[of]) < least; {
		case out.Closed[i]:
		case !small:
			left++
		case !has[of]:
			out.Closed[i] = true
		}
	}
	if left < s.Count {
		return p
	}
	return &out
}

// chooser is a choice under way.
type chooser struct {
	*Pool
	Settings
	*moments
	noise float64 // σ²
	taken []bool
	first []float64 // variances before the first choice
	queue []int32   // components that come first
}

// next returns the best point of the first component in the queue, or of all points if the
// queue is empty. labels is the number of points with a label.
func (c *chooser) next(labels int) Choice {
	only := int32(0)
	restricted := len(c.queue) > 0
	if restricted {
		only = c.queue[0]
		c.queue = c.queue[1:]
	}

	best := Choice{Point: -1, Rule: c.Rule, First: restricted}
	for i, of := range c.Components.Of {
		if c.taken[i] || restricted && of != only {
			continue
		}
		if v := c.score(i, labels); best.Point < 0 || v > best.Score {
			best.Point = i
			best.Component = of
			best.Score = v
		}
	}

	return best
}

// score returns the value of the rule at point i. labels is the number of points with a
// label.
func (c *chooser) score(i, labels int) float64 {
	u := 1.0
	if c.Rule.UsesScores() {
		u -= c.Margins[i]
	}
	switch {
	case c.Rule == VOpt:
		return c.reduction[i] / (c.variance[i] + c.noise)
	case c.Rule == SOpt || c.Rule == Combined && c.explores(labels):
		return u * c.total[i] * c.total[i] / (c.variance[i] + c.noise)
	case c.first[i] <= 0:
		return u
	}

	// Combined no longer explores: the variance that is left of a point's own decides among the uncertain.
	return u * c.variance[i] / c.first[i]
}
