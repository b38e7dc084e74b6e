package kernelmachine

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// Limits of the norm fᵀexp(tL)f.
const (
	// gentleHeat is the largest t·λ at which exp(tL) is an operator like Lᵖ: e⁷ is 1100, and three
	// digits lost in sums leave twelve. Beyond it a [solvers.Heated] takes it.
	gentleHeat = 7
	// mostHeatLoss is the largest error of scores, relative to the largest one, that is not refused.
	mostHeatLoss = 1e-8
	// mostHeldOutLoss is the same of points that are held out: their scores choose parameters and
	// probabilities, and are not answers.
	mostHeldOutLoss = 1e-5
)

// HeatError says that scores of a machine with the norm fᵀexp(tL)f would be lost in rounding. With
// a large t a function must lie among the few smooth eigenvectors of L. The kernel matrix decides
// how much of them it has; where that rests on its smallest eigenvalues, or where little is left of
// the function because the targets have no smooth part, float64 has too few digits.
type HeatError struct {
	T        float64 // t
	Exponent float64 // t·λ for a bound λ of the eigenvalues
	Kind     sparse.Kind
	// Loss is about the largest error of a score relative to the largest score; 1 where nothing is
	// left of them.
	Loss float64
}

func (e *HeatError) Error() string {
	remedy := ""
	if e.Kind == sparse.Combinatorial {
		remedy = fmt.Sprintf("the normalized %s, ", param.Name("laplacian"))
	}
	return fmt.Sprintf("kernelmachine: %s %g: exp(tL) reaches e^%.4g, and rounding of the kernel matrix is "+
		"not small beside the scores that so strong a norm leaves: they may be off by %.1e of the largest; "+
		"take a smaller %s, %sa narrower kernel, or a larger %s beside %s", param.Name("heat"), e.T,
		e.Exponent, e.Loss, param.Name("heat"), remedy, param.Name("gamma-i"), param.Name("gamma-a"))
}

// strongHeat tells whether exp(tL) has too large a range to be an operator like Lᵖ.
func (s *Settings) strongHeat(l *sparse.Laplacian) bool {
	return s.Heat > 0 && s.Heat*l.UpperBound() > gentleHeat
}

// heatError returns a [HeatError] if the loss is above most, or is not a number.
func (p *Problem) heatError(t, loss, most float64) error {
	if loss <= most {
		return nil
	}
	if !(loss <= 1) {
		loss = 1
	}
	l := p.data.Laplacian
	return &HeatError{T: t, Exponent: t * l.UpperBound(), Kind: l.Kind(), Loss: loss}
}

// heated factors the equation of a machine with exp(tL), for labels at the given points.
func (p *Problem) heated(ctx context.Context, h *solvers.HeatProblem) (*solvers.Heated, error) {
	n, _ := p.gram.Dims()
	if need := heatedBytes(n, len(h.Labeled)); p.data.Limit > 0 && need > p.data.Limit {
		return nil, tooLarge(n, need, p.data.Limit)
	}
	var err error
	if h.Heat, err = p.semigroup(h.T); err != nil {
		return nil, err
	}
	h.Gram = p.gram
	h.Laplacian = p.data.Laplacian
	f, err := solvers.NewHeated(ctx, h, func(part float64, note string) { p.data.report(part, 1, note) })
	if errors.Is(err, solvers.ErrLostHeat) {
		return nil, p.heatError(h.T, 1, mostHeatLoss)
	}
	return f, err
}

// semigroup returns e^{−tL}.
func (p *Problem) semigroup(t float64) (*sparse.Heat, error) {
	h, err := sparse.NewHeat(p.data.Laplacian, t)
	if err != nil {
		return nil, fmt.Errorf("kernelmachine: %s %g: take a smaller one: %w", param.Name("heat"), t, err)
	}
	return h, nil
}

// heatedBytes is the memory of [solvers.Heated] beside the Gram matrix of n points, l of them with a
// label.
func heatedBytes(n, l int) int64 { return 8 * (7*int64(n)*int64(n) + 4*int64(n)*int64(l)) }

// heatedOperations is the work of [solvers.Heated] and of solutions for l labels: three of them, each
// of six products with n² values.
func heatedOperations(n, l float64) float64 { return n * n * (12*n + 36*l) }

// heatedLeastSquares is [Problem.leastSquares] where exp(tL) is strong.
func (p *Problem) heatedLeastSquares(ctx context.Context, t *models.Targets, s *Settings) (*Machine, error) {
	n, _ := p.gram.Dims()
	h, err := p.heated(ctx, &solvers.HeatProblem{T: s.Heat, Gamma: s.Intrinsic(n, p.data.Laplacian),
		Ridge: s.GammaA, Labeled: t.Labeled, Loss: true, Centred: s.Intercept})
	if err != nil {
		return nil, err
	}
	found, err := h.Fit(ctx, t.Y)
	if errors.Is(err, solvers.ErrLostHeat) {
		return nil, p.heatError(s.Heat, 1, mostHeatLoss)
	}
	if err != nil {
		return nil, err
	}
	if err := p.heatError(s.Heat, found.Loss, mostHeatLoss); err != nil {
		return nil, err
	}
	return p.represented(t, s, found)
}

// byHeat sets K̃ and the expansion where exp(tL) is strong.
func (w *Warped) byHeat(ctx context.Context, s *Settings) error {
	p := w.problem
	n, _ := p.gram.Dims()
	h := &solvers.HeatProblem{T: s.Heat, Gamma: w.reg.Intrinsic(n, p.data.Laplacian), Ridge: w.reg.GammaA,
		Labeled: w.points}
	var err error
	if w.smooth, err = p.semigroup(s.Heat); err != nil {
		return err
	}
	if err := w.warpHeat(ctx, h); err != nil {
		return err
	}

	// K̃ may be large beside the loss of a machine, γ_A l. Then the loss joins the norm, and the
	// machine takes it out again.
	top := mat.Max(w.gram.Z)
	loss := w.reg.GammaA * float64(len(w.points))
	if top > proximity*loss && w.loss > mostHeatLoss*w.reg.GammaA/10 {
		w.gram = solvers.LabelGram{}
		w.expand = nil // to be collected
		h.Ridge, h.Gamma = w.proximal(s)
		h.Loss = true
		if err := w.warpHeat(ctx, h); err != nil {
			return err
		}
		top = mat.Max(w.gram.Z)
	}
	return p.heatError(s.Heat, w.loss/top, mostHeatLoss)
}

// warpHeat sets K̃, or Z of it, and the expansion by h.
func (w *Warped) warpHeat(ctx context.Context, h *solvers.HeatProblem) error {
	f, err := w.problem.heated(ctx, h)
	if err != nil {
		return err
	}
	w.gram, w.expand, w.loss, err = f.LabelGram(ctx)
	if errors.Is(err, solvers.ErrLostHeat) {
		return w.problem.heatError(h.T, 1, mostHeatLoss)
	}
	return err
}

// lostScores returns a [HeatError] if errors of the kernel change the outputs for g by more than most
// times the largest of the given scores.
func (w *Warped) lostScores(most float64, g *mat.Dense, scores ...*mat.Dense) error {
	if w.smooth == nil {
		return nil
	}
	var top float64
	for _, f := range scores {
		top = max(top, mat.Max(f), -mat.Min(f))
	}
	change := w.loss * mat.Norm(g, 1)
	if change == 0 { // the scores are their intercepts
		return nil
	}
	return w.problem.heatError(w.heat, change/top, most)
}
