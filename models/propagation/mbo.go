package propagation

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
)

const (
	defaultSteps = 40
	// defaultMBORounds bounds the decisions of [Problem.FitPoissonMBO].
	defaultMBORounds = 50
	// steadyShare of the points may change in the last rounds, and looseShare where others follow.
	steadyShare, looseShare = 1e-4, 1e-3
	// leastClasses is the number of classes from which pairs are divided anew and sizes are let go. Two classes have
	// nothing beside them: without sizes one of them takes over most of the graph in five of 15 sets of two classes,
	// whose mean error rises from 29.8 to 33.8 %. Their sizes are tried: see trySizes.
	leastClasses = 3
	// evenLabels are added to the labels of each class for the sizes to begin with that are let go. Few labels say little
	// of sizes: a fold of a cross-validation that leaves out one of two labels of a class would begin with that class too
	// small.
	evenLabels = 5
	// mostDrift is the factor by which a class that lets go of its size may grow or shrink beyond its sizes by the
	// start and by the labels. Beyond it one class takes over others, and the sizes stay.
	mostDrift = 2
)

// FitPoissonMBO is PoissonMBO, for very few labels and classes whose sizes are known about: it
// starts from the classes of Poisson learning and minimizes the cut of the graph under the volumes
// of the classes, by turns of
//
//	u ← u − Δt (Lu − Σ_j (y_j − ȳ) δ_j),  Steps times, from the unit vectors of the classes,
//	k_i = argmax_c s_c (u_ic − min u), s such that class c gets its share of the points
//
// with L = D − W and Δt = 1/max d (Calder, Cook, Thorpe & Slepčev 2020, Algorithm 2). The rounds end
// when at most 10⁻⁴ of the points change, or after Rounds, 50 by default. The paper's program takes 20
// rounds, in which a hundredth of the points may still be on the way.
//
// Two things follow that are not in the paper, for three classes and more:
//
//   - Pairs of classes are divided anew where that saves a fifth of the edges between them, and rounds are taken
//     again, unless KeepPairs is set. With one label a class the rounds often end where two classes have half of
//     each other's points.
//   - Without Priors the sizes are let go: rounds with s = 1 go on until no class changes, unless KeepSizes is set.
//     Estimated sizes are tried in two ways, first (n_c + 5)/(l + 5C) and then (r + q)/2. Where a class then doubles or
//     halves beyond what the start and the labels give it, the last sizes are kept after all. Where the normalized cut is
//     a fifth less with sizes q alone, these are kept.
//
// Two classes whose sizes are estimated take others, unless KeepSizes is set: rounds begin with the first class on 10, 20, …
// 90 % of the points too, and from each of them follow rounds without sizes, as long as the share stays within 10 % of the
// points. The sizes are taken with which the fewest edges leave the classes: Σ_c cut/vol(c) of all points, and l/(l+3) of the
// same sum of the labeled points alone, with l labels a class. Labels whose numbers are not about equal leave out sizes that
// they make unlikely. This is not in the paper either.
//
// Sizes of the classes are those of [SizedSettings]. The estimate and the limit of the rounds are not
// in the paper. Scores are s_c (u_ic − min u) of the last round. ȳ is the mean of the labels of the
// component, as in [Poisson].
//
// A round costs some twenty passes over the graph for all classes at once, in place of Steps (see
// heat), and ten to thirty passes over u. It holds four n×C blocks beside those of Poisson learning. Sizes are tried at
// once, with some twenty rounds of ten columns.
func (p *Problem) FitPoissonMBO(ctx context.Context, y *models.Targets, s *SizedSettings) (*SizedSolution, error) {
	b, short := p.beginSized(ctx, y, s)
	if b == nil {
		return nil, short
	}

	m := newMBO(b, s)
	if err := m.search(ctx); err != nil {
		return nil, err
	}
	if !b.out.LetGo {
		if err := m.settle(ctx, m.sized, steadyShare); err != nil {
			return nil, err
		}
	}

	b.volumes.scale(m.u)
	return b.end(m.u, y), short
}

// mbo is the state of [Problem.FitPoissonMBO].
type mbo struct {
	start    *sizedStart
	settings *SizedSettings
	steps    int
	limit    int // of the rounds of one settlement
	heat     *heat
	sources  []float32
	u        *mat.Dense // scores of the last round; it belongs to heat
	before   []int32    // scratch
}

func newMBO(b *sizedStart, s *SizedSettings) *mbo {
	m := &mbo{start: b, settings: s, steps: s.Steps, limit: s.Rounds, u: b.scores,
		before: make([]int32, len(b.volumes.labels))}
	if m.steps == 0 {
		m.steps = defaultSteps
	}
	if m.limit == 0 {
		m.limit = defaultMBORounds
	}
	m.heat = newHeat(b.draw.problem.steps(), m.steps, len(b.volumes.shares))
	m.sources = m.heat.sources(b.draw.centred())
	return m
}

// search tries sizes of two classes. With three and more it divides pairs of classes anew and lets the sizes go, as the
// settings ask for. Sizes that are estimated first begin nearly even. Where they cannot go, it leaves the classes near the
// sizes of the start; last come the sizes of Poisson learning.
func (m *mbo) search(ctx context.Context) error {
	b, s := m.start, m.settings
	classes := len(b.volumes.shares)
	if s.triesSizes(classes) {
		return m.trySizes(ctx)
	}
	if !s.searches(classes) {
		return nil
	}
	divides, releases := s.divides(classes), s.releases(classes)
	starts := [][]float64{b.volumes.shares}
	if releases && s.Sizes == EstimatedSizes {
		starts = slices.Insert(starts, 0, labelShares(b.draw.counts(), evenLabels))
	}
	for _, shares := range starts {
		b.volumes.begin(shares, b.scores)
		b.out.Shares = shares
		if err := m.settle(ctx, m.sized, looseShare); err != nil {
			return err
		}
		if divides {
			if err := m.divideAnew(ctx); err != nil {
				return err
			}
		}
		if releases {
			if err := m.release(ctx); err != nil {
				return err
			}
			if b.out.LetGo {
				break
			}
		}
	}
	if releases && s.Sizes == EstimatedSizes {
		return m.poissonSizes(ctx)
	}
	return nil
}

// divides reports whether pairs of so many classes are divided anew.
func (s *SizedSettings) divides(classes int) bool { return classes >= leastClasses && !s.KeepPairs }

// releases reports whether the sizes of so many classes are let go.
func (s *SizedSettings) releases(classes int) bool {
	return classes >= leastClasses && !s.KeepSizes && s.Priors == nil
}

// triesSizes reports whether so many classes get their sizes by [mbo.trySizes].
func (s *SizedSettings) triesSizes(classes int) bool {
	return classes == 2 && s.Sizes == EstimatedSizes && s.Priors == nil && !s.KeepSizes
}

// searches reports whether any of these is done.
func (s *SizedSettings) searches(classes int) bool {
	return s.divides(classes) || s.releases(classes) || s.triesSizes(classes)
}

// settle takes rounds until at most the share steady of the points changes its class; decide decides the classes by the
// scores of each round.
func (m *mbo) settle(ctx context.Context, decide func(), steady float64) error {
	b := m.start
	v := b.volumes
	for round := 1; round <= m.limit; round++ {
		copy(m.before, v.labels)
		m.u = m.heat.step(v.labels, v.live, m.sources)
		decide()
		b.out.Rounds++
		b.out.Changed = changedShare(m.before, v.labels)
		if err := b.report(ctx, m.settings, round, m.limit); err != nil {
			return err
		}
		if b.out.Changed <= steady {
			return nil
		}
	}
	return nil
}

// sized decides the classes with the sizes.
func (m *mbo) sized() { m.start.out.Off = m.start.volumes.project(m.u) }

// divideAnew divides pairs of classes anew and takes rounds after each sweep that changed a class. A later sweep tries
// the classes that changed in the last one.
//
// Sweeps find the parts better than their names: a label that lies in the part of another class keeps a few neighbours
// there under either name. So parts get back the names that most of their points had before, unless Priors tell them
// apart by their sizes.
func (m *mbo) divideAnew(ctx context.Context) error {
	v := m.start.volumes
	before := slices.Clone(v.labels)
	d := newDivider(m.start, m.steps)
	var among []bool
	for range pairSweeps {
		changed, err := d.sweep(ctx, among)
		if err != nil {
			return err
		}
		if !slices.Contains(changed, true) {
			break
		}
		if err := m.settle(ctx, m.sized, looseShare); err != nil {
			return err
		}
		among = changed
	}
	if among == nil || m.settings.Priors != nil {
		return nil
	}
	rename(v.labels, before, len(v.shares))
	return nil
}

// release takes rounds without sizes from where the rounds with sizes ended. They end at a local minimum of the cut near
// classes of about the right sizes; the smallest cut of all is one class alone. Where a class drifts too far, release
// takes all classes back to where they were.
func (m *mbo) release(ctx context.Context) error {
	b := m.start
	v := b.volumes
	labels := slices.Clone(v.labels)
	factors := slices.Clone(v.log)

	var shares []float64
	err := m.settle(ctx, func() {
		clear(v.log)
		shares = v.decide(m.u, v.lowest(m.u))
	}, steadyShare)
	if err != nil {
		return err
	}
	if drifted(shares, v.shares, sizesOf(b.draw.counts(), nil, m.settings.Sizes)) {
		copy(v.labels, labels)
		copy(v.log, factors)
		return nil
	}
	b.out.LetGo = true
	b.out.Shares = shares
	b.out.Off = 0
	return nil
}

// drifted reports whether a share is far from two others that are known about it.
func drifted(shares, start, labels []float64) bool {
	for c, share := range shares {
		if share*mostDrift < min(start[c], labels[c]) || share > mostDrift*max(start[c], labels[c]) {
			return true
		}
	}
	return false
}
