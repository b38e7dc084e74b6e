package propagation

import (
	"context"

	"github.com/bigfit/bigfit/models"
)

const (
	defaultSteps = 40
	// defaultMBORounds bounds the decisions of [Problem.FitPoissonMBO].
	defaultMBORounds = 50
	// steadyShare of the points may change in the last rounds.
	steadyShare = 1e-4
)

// FitPoissonMBO is PoissonMBO, for very few labels and classes whose sizes are known about: it
// starts from the classes of Poisson learning and minimizes the cut of the graph under the volumes
// of the classes, by turns of
//
//	u ← u − Δt (Lu − Σ_j (y_j − ȳ) δ_j),  Steps times, from the unit vectors of the classes,
//	k_i = argmax_c s_c (u_ic − min u),    s such that class c gets its share of the points
//
// with L = D − W and Δt = 1/max d (Calder, Cook, Thorpe & Slepčev 2020, Algorithm 2). Both end
// when at most 10⁻⁴ of the points change, or after Rounds, 50 by default. The paper's program takes 20
// rounds, in which a hundredth of the points may still be on the way.
//
// Sizes of the classes are those of [SizedSettings]. The estimate and the limit of the rounds are not
// in the paper. Scores are s_c (u_ic − min u) of the last round. ȳ is the mean of the labels of the
// component, as in [Poisson].
//
// A round costs some twenty passes over the graph for all classes at once, in place of Steps (see
// heat), and ten to thirty passes over u. It holds four n×C blocks beside those of Poisson learning.
func (p *Problem) FitPoissonMBO(ctx context.Context, y *models.Targets, s *SizedSettings) (*SizedSolution, error) {
	steps, rounds := s.Steps, s.Rounds
	if steps == 0 {
		steps = defaultSteps
	}
	if rounds == 0 {
		rounds = defaultMBORounds
	}
	b, short := p.beginSized(ctx, y, s)
	if b == nil {
		return nil, short
	}

	v := b.volumes
	h := newHeat(p.steps(), steps, len(y.Classes))
	sources := h.sources(b.draw.centred())
	u := b.scores
	before := make([]int32, p.Len())
	for b.out.Rounds < rounds {
		copy(before, v.labels)
		u = h.step(v.labels, v.live, sources)
		b.out.Off = v.project(u)
		b.out.Rounds++
		b.out.Changed = changedShare(before, v.labels)
		if err := b.report(ctx, s, rounds); err != nil {
			return nil, err
		}
		if b.out.Changed <= steadyShare {
			break
		}
	}

	v.scale(u)
	return b.end(u, y), short
}
