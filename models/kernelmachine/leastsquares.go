package kernelmachine

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
)

// leastSquares fits LapRLS without a warped kernel: its coefficients solve
//
//	(γ_A I + BK)α = Jy/l,  B = J/l + γ_I s Lᵖ,
//
// equation (8) of 2006 over γ_A l, by a [solvers.Representer]. As γ_A → 0 it tends to
// the smoothest interpolation, where K̃ of [Warped] is lost in rounding. With an
// intercept b, which minimizes the loss, J takes the mean over the labeled points out
// of what it selects, and b is the mean of y − f. Weights w of the labels put w_i/Σw in place of 1/l.
func (p *Problem) leastSquares(ctx context.Context, t *models.Targets, s *Settings) (*Machine, error) {
	n, _ := p.gram.Dims()
	b := &solvers.PointNorm{Points: n, Labeled: t.Labeled, Shares: t.LossShares(), Centred: s.Intercept,
		Gamma: s.Intrinsic(n, p.data.Laplacian)}
	var err error
	if s.GammaI > 0 {
		if b.M, err = p.norm(ctx, s); err != nil {
			return nil, err
		}
		if b.M == nil {
			return p.heatedLeastSquares(ctx, t, s)
		}
	}
	if need := 16 * int64(n) * int64(n); p.data.Limit > 0 && need > p.data.Limit {
		return nil, tooLarge(n, need, p.data.Limit)
	}
	r, err := solvers.NewRepresenter(ctx, p.gram, b, s.GammaA,
		func(part float64, note string) { p.data.report(part, 1, note) })
	if err != nil {
		return nil, err
	}
	found, err := r.Fit(ctx, t.Y)
	if err != nil {
		return nil, err
	}
	return p.represented(t, s, found)
}

// represented returns the machine with the coefficients that were found.
func (p *Problem) represented(t *models.Targets, s *Settings, found *solvers.Represented) (*Machine, error) {
	m := newMachine(s, p.data, t)
	m.Intercepts = found.Intercepts
	m.Residual = found.Residual
	m.rows = m.keep(p.data.Points, found.Alpha)
	return m, m.share(t, func() (*mat.Dense, error) { return p.Outputs(m), nil })
}
