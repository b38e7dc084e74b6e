package kernelmachine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

var _ models.GridLearner = Learner{}

// grid is a cross-validation of machines.
type grid struct {
	*models.Grid
	options []options
	sources []kernel.Source
	usable  []int // settings that can be fitted
}

// grid decodes the settings of g.
func (l Learner) grid(g *models.Grid) *grid {
	out := &grid{Grid: g, options: make([]options, len(g.Settings)),
		sources: make([]kernel.Source, len(g.Settings))}
	widths := map[expansion.KernelChoice]kernel.Source{}
	for i := range g.Settings {
		o, err := l.optionsFor(g.With(i))
		k, known := widths[o.Kernel]
		if err == nil && !known {
			if k, err = o.Kernel.On(g.Points, g.Seed); err == nil {
				widths[o.Kernel] = k
			}
		}

		if err == nil {
			o.Settings, err = o.Settings.fill()
		}
		if err != nil {
			g.Fail([]int{i}, err)
			continue
		}
		out.options[i] = o
		out.sources[i] = k
		out.usable = append(out.usable, i)
	}

	return out
}

func (g *grid) norms(i int) regularizer.Regularizer { return g.options[i].Regularizer }

// FitGrid shares, for each kernel, the Gram matrix, and for each graph, power and
// ratio γ_I/γ_A (up to 1e-12) one factorization; or for each kernel and
// approximation the features, and for each graph and power Φᵀr(L)Φ.
func (l Learner) FitGrid(ctx context.Context, g *models.Grid) error {
	t := l.grid(g)
	type shared struct {
		source kernel.Source
		by     ApproximationSettings
	}
	// Settings that share a kernel and an approximation share its matrix or its features.
	for _, same := range models.Grouped(t.usable,
		func(i int) shared { return shared{t.sources[i], t.options[i].ApproximationSettings} }) {
		fit := t.exact
		if t.options[same[0]].Approximation != Exact {
			fit = t.approximate
		}
		if err := fit(ctx, same); err != nil {
			return err
		}
	}

	return nil
}

// data returns the points with the kernel of a setting.
func (g *grid) data(setting int) *Data {
	s := g.sources[setting]
	return &Data{Points: s.Points, Kernel: s.Kernel, Values: s.Values, Limit: g.Memory}
}

// exact fits settings of one kernel.
func (g *grid) exact(ctx context.Context, settings []int) error {
	d := g.data(settings[0])
	var base *Problem
	problem := func() (*Problem, error) {
		var err error
		if base == nil {
			base, err = NewProblem(ctx, d)
		}
		return base, err
	}

	// Sharp kernels in place of graphs.
	graphs, sharp := g.bySharpness(settings)
	if len(sharp) > 0 {
		p, err := problem()
		if err == nil {
			err = g.warps(ctx, p, sharp)
		}
		if err != nil {
			return err
		}
	}
	return regularizer.Each(g.Grid, graphs, g.norms, func(l *sparse.Laplacian, _ regularizer.Regularizer, settings []int) error {
		if l == nil {
			gram, err := g.labeledGram(ctx, d)
			if err != nil {
				return err
			}
			return g.Run(ctx, settings, func(s *models.Split) []models.Answer {
				return g.exactAnswers(ctx, &Warped{gram: solvers.LabelGram{Z: gram}}, s, settings)
			})
		}

		// The Gram matrix among all points is made for the first graph and serves the others.
		p, err := problem()
		if err != nil {
			return err
		}
		return g.warps(ctx, p.withNorm(l), settings)
	})
}

// bySharpness returns the settings with a norm of a graph or none, and those with a sharp kernel for it.
func (g *grid) bySharpness(settings []int) (graphs, sharp []int) {
	for _, i := range settings {
		if g.options[i].IntrinsicSigma > 0 {
			sharp = append(sharp, i)
		} else {
			graphs = append(graphs, i)
		}
	}
	return graphs, sharp
}

// warps fits settings of one intrinsic norm. One warped kernel serves all γ_A of a ratio γ_I/γ_A.
func (g *grid) warps(ctx context.Context, p *Problem, settings []int) error {
	for _, same := range g.sameRatio(settings) {
		if err := ctx.Err(); err != nil {
			return err
		}
		w, err := p.warpFor(ctx, g.strongest(same), g.Targets.Labeled)
		if err != nil {
			g.Fail(same, err)
			continue
		}
		if err := g.Run(ctx, same, func(s *models.Split) []models.Answer {
			return g.exactAnswers(ctx, w,
				s, same)
		}); err != nil {
			return err
		}
	}
	return nil
}

// strongest returns the settings with the largest γ_A, beside which no loss is small.
func (g *grid) strongest(settings []int) *Settings {
	return &g.options[slices.MaxFunc(settings,
		func(a, b int) int { return cmp.Compare(g.norms(a).GammaA, g.norms(b).GammaA) })].Settings
}

// sameRatio returns settings in groups of one scaling, one t of exp(tL), one sharp kernel or Hessian and equal
// γ_I/γ_A, up to 1e-12.
func (g *grid) sameRatio(settings []int) [][]int {
	var seen []*Settings
	// Ratios of weights that were computed in other ways differ in their last bits.
	return models.Grouped(settings, func(i int) int {
		r := &g.options[i].Settings
		ratio := r.GammaI / r.GammaA
		at := slices.IndexFunc(seen, func(o *Settings) bool {
			other := o.GammaI / o.GammaA
			return o.Scaling == r.Scaling && o.Heat == r.Heat && o.IntrinsicSigma == r.IntrinsicSigma &&
				o.Hessian == r.Hessian && math.Abs(other-ratio) <= 1e-12*other
		})
		if at < 0 {
			at = len(seen)
			seen = append(seen, r)
		}
		return at
	})
}

// labeledGram returns the Gram matrix of the labeled points.
func (g *grid) labeledGram(ctx context.Context, d *Data) (*mat.Dense, error) {
	_, d, err := d.check()
	if err != nil {
		return nil, err
	}
	return gramOf(ctx, d, d.Source().Select(g.Targets.Labeled), len(g.Targets.Labeled))
}

// exactAnswers fits machines on the kernel w among all labeled points.
func (g *grid) exactAnswers(ctx context.Context, w *Warped, s *models.Split, settings []int) []models.Answer {
	answers := make([]models.Answer, len(settings))
	// The part of the kernel for this split is cut once for all settings.
	h, err := w.HoldOut(ctx, s.Kept, s.Held)
	for i, at := range settings {
		if answers[i].Err = err; err != nil {
			continue
		}
		if o := &g.options[at].Settings; o.sharing() {
			answers[i] = sharedAnswer(ctx, w, s, o)
			continue
		}
		f, err := h.Fit(ctx, s.Train, &g.options[at].Settings)
		if answers[i].Err = err; f != nil {
			answers[i] = models.AnswerOf(models.NewPrediction(f, s.Train.Classes), err)
		}
	}

	return answers
}

// sharedAnswer fits a machine whose shares depend on f at all points, not only at those held out.
func sharedAnswer(ctx context.Context, w *Warped, s *models.Split, o *Settings) models.Answer {
	m, err := w.Fit(ctx, s.Train, o)
	if m == nil {
		return models.Answer{Err: err}
	}
	f := w.problem.Outputs(m)
	_, c := f.Dims()
	held := dense.Gather(mat.NewDense(len(s.Points), c, nil), f, s.Points)
	return models.AnswerOf(models.NewPrediction(held, m.Classes), err)
}

// approximate fits settings of one kernel and approximation.
func (g *grid) approximate(ctx context.Context, settings []int) error {
	by := g.options[settings[0]].ApproximationSettings
	by.Seed = g.Seed
	d := g.data(settings[0])
	if _, _, err := by.resolve(d.Source(), &g.options[settings[0]].Settings, d.Limit); err != nil {
		g.Fail(settings, err)
		return nil
	}
	// The features do not depend on the graph; Φᵀr(L)Φ is made for each.
	base, err := NewApproximateProblem(ctx, d, regularizer.Regularizer{}, &by)
	if err != nil {
		return err
	}
	return regularizer.Each(g.Grid, settings, g.norms, func(l *sparse.Laplacian, r regularizer.Regularizer, settings []int) error {
		problem := base
		if l != nil {
			var err error
			if problem, err = base.withNorm(ctx, l, r); err != nil {
				return err
			}
		}
		return g.Run(ctx, settings, func(s *models.Split) []models.Answer {
			return g.approximateAnswers(ctx,
				problem, s, settings)
		})
	})
}

func (g *grid) approximateAnswers(ctx context.Context, problem *ApproximateProblem, s *models.Split,
	at []int) []models.Answer {
	settings := make([]Settings, len(at))
	for i, p := range at {
		settings[i] = g.options[p].Settings
	}
	// All settings are one path. If one of them fails, each is fitted alone, to find out which.
	fits, err := problem.machines(ctx, s.Train, settings, false)
	answers := make([]models.Answer, len(at))
	for i := range answers {
		m := []*Approximate(nil)
		fault := err
		if fits != nil {
			m = fits[i:]
			// another one of the path failed, or this one
		} else if m, fault = problem.machines(ctx, s.Train, settings[i:i+1], false); m == nil {
			answers[i].Err = fault
			continue
		}
		prediction, err := problem.answer(ctx, m[0], s.Points)
		if err == nil {
			err = fault
		}
		answers[i] = models.AnswerOf(prediction, err)
	}

	return answers
}

// GridCost estimates what FitGrid takes.
func (l Learner) GridCost(g *models.Grid) (models.GridCost, error) {
	all := make([]options, len(g.Settings))
	for i := range g.Settings {
		var err error
		if all[i], err = l.optionsFor(g.With(i)); err != nil {
			return models.GridCost{}, err
		}
	}

	// Exact and approximate settings run one after the other, so the larger memory counts and
	// operations add up.
	var total models.GridCost
	for _, same := range models.Grouped(g.All(), func(i int) bool { return all[i].Approximation == Exact }) {
		c, err := partOf(g, all, same).cost()
		if err != nil {
			return c, err
		}
		total.Shared = max(total.Shared, c.Shared)
		total.Fold = max(total.Fold, c.Fold)
		total.Operations += c.Operations
		total.Remedy = c.Remedy
	}

	return total, nil
}

// partOf is the part of a cross-validation with some of the settings.
func partOf(g *models.Grid, all []options, settings []int) *grid {
	part := *g
	part.Settings = nil
	out := &grid{Grid: &part}
	for _, i := range settings {
		part.Settings, out.options = append(part.Settings, g.Settings[i]), append(out.options, all[i])
	}
	part.GraphKey = func(i int) string { return g.GraphKey(settings[i]) }
	return out
}

// cost returns the cost of settings that are all exact, or none.
func (g *grid) cost() (models.GridCost, error) {
	widths := g.CountOf(func(i int) any { return g.options[i].Kernel })
	source, err := g.options[0].Kernel.Of(g.Points)
	if err != nil {
		return models.GridCost{}, err
	}
	var c models.GridCost
	if g.options[0].Approximation == Exact {
		c = g.exactCost(widths)
		c.Shared += source.Bytes()
	} else if c, err = g.approximateCost(widths, source); err != nil {
		return c, err
	}

	if g.intrinsic() {
		c.Shared += 24 * int64(g.EdgeCount())
	}
	return c, nil
}

// intrinsic tells whether any setting has a positive γ_I.
func (g *grid) intrinsic() bool {
	return slices.ContainsFunc(g.options, func(o options) bool { return o.GammaI > 0 })
}

// exactCost returns the cost of exact machines with so many kernels.
func (g *grid) exactCost(widths float64) models.GridCost {
	n, l, d, outputs := g.Sizes()
	edges := float64(g.EdgeCount())
	c := models.GridCost{Shared: models.Bytes(8 * 2 * l * l), Fold: models.Bytes(8 * 3 * l * l),
		Operations: widths * l * l * d,
		Remedy:     fmt.Sprintf("take %s nystrom, give fewer points, or take a linear model", param.Name("approximation"))}
	if !g.options[0].Method.approximates() {
		c.Remedy = "give fewer points, or take a linear model"
	}
	// With a graph: the Gram matrix, I + MK and its factors among all points, one for each kernel,
	// graph and ratio.
	if g.intrinsic() {
		c.Shared = models.Bytes(8 * (3*n*n + n*l + l*l))
		if widths > 1 {
			c.Shared += kernel.GramBytes(int(n)) // of the width before, not collected yet
		}
		warps := g.CountOf(func(i int) any {
			r := g.norms(i)
			return [7]any{g.options[i].Kernel, g.GraphKey(i), fmt.Sprint(r.Weights()), g.options[i].Heat,
				g.options[i].IntrinsicSigma, g.options[i].Hessian, math.Round(1e9 * math.Log(r.GammaI/r.GammaA))}
		})
		c.Operations = widths*n*n*d + warps*(2*n*n*n/3+2*n*n*l+10*edges*n)
		if slices.ContainsFunc(g.options, func(o options) bool { return o.Heat > 0 }) {
			c.Shared += heatedBytes(int(n), int(l)) - models.Bytes(8*2*n*n) // in place of I + MK and its factors
			c.Operations += warps * heatedOperations(n, l)
		}
	}

	// A quadratic program was measured at about 100 l² operations.
	if g.options[0].Method == RLS {
		c.Operations += g.Fits() * l * l * l / 3
	} else {
		c.Operations += g.Fits() * outputs * 100 * l * l
	}
	return c
}

// approximateCost returns the cost of approximate machines with so many kernels, of which source has one.
func (g *grid) approximateCost(widths float64, source kernel.Source) (models.GridCost, error) {
	o := g.options[0]
	c := models.GridCost{Remedy: o.remedy() + ", or fewer threads"}
	s, p, err := o.resolve(source, &o.Settings, g.Memory)
	if err != nil {
		return c, err
	}
	_, l, _, outputs := g.Sizes()
	r := o.Settings
	of := func(edges int) parts { return s.parts(p, source, sizes{int(l), int(outputs), edges}, &r) }
	r.GammaI = 0

	// The part without a graph is made once for each kernel, the rest for each norm.
	one := of(0)
	norms := regularizer.Count(g.Grid, g.norms)
	c.Operations = widths * one.prepare
	if g.intrinsic() {
		for _, o := range g.options {
			gammaI := max(r.GammaI, o.GammaI)
			if o.Degree() > r.Degree() {
				r.Regularizer = o.Regularizer
			}
			r.GammaI = gammaI
		}
		alone := one.prepare
		one = of(g.EdgeCount())
		c.Operations += widths * norms * (one.prepare - alone)
	}

	c.Shared = stage.DenseBytes(one.made)
	c.Fold = one.fit
	if widths > 1 {
		c.Shared += one.held / 3 // of the width before, not collected yet
	}
	c.Operations += widths*math.Max(1, norms)*one.shared + g.Fits()*one.one
	return c, nil
}
