// Package correction holds a learner over another one: the base predicts from the columns of the points alone, its
// errors at the labeled points are spread over a graph and taken out of its predictions, and what is left is smoothed
// along the graph together with the labels. It knows no base by name; the list is given, as all.CorrectAndSmooth has it.
//
// Huang, He, Singh, Lim & Benson, ICLR 2021, "Combining Label Propagation and Simple Models Out-performs Graph Neural
// Networks", section 2.
package correction

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
)

// Scaling is a way to spread errors and to find their size away from the labels.
type Scaling int

const (
	// Autoscale spreads the errors as label spreading does and gives them, at every point, the mean size of the errors
	// at the labels: section 2.2.
	Autoscale Scaling = iota
	// Fixed continues the errors as harmonic functions, which keep them at the labels, times a factor: FDiff-scale of
	// section 2.2.
	Fixed
)

var scalings = enum.New[Scaling]("scaling of errors", "autoscale", "fixed")

// String returns the name used on the command line and in manifests.
func (s Scaling) String() string { return scalings.String(s) }

// MarshalText returns the name.
func (s Scaling) MarshalText() ([]byte, error) { return scalings.Marshal(s) }

// UnmarshalText is the inverse of MarshalText.
func (s *Scaling) UnmarshalText(text []byte) error { return scalings.Unmarshal(s, text) }

// Settings of a [Learner] and of [Problem.Apply].
type Settings struct {
	// Base names the learner of the predictions; of a [Learner] alone. Default the first of its list.
	Base string
	// GammaA is the weight of the norm of the base; of a [Learner] alone. It must be positive there.
	GammaA float64
	// Correction says how errors are spread. Default [Autoscale].
	Correction Scaling
	// CorrectAlpha is the weight α₁ of the neighbours' errors, of Autoscale, in (0, 1). Default 0.9.
	CorrectAlpha float64
	// Factor is the s of Fixed. Default 1.
	Factor float64
	// SmoothAlpha is the weight α₂ of the neighbours' predictions, in (0, 1). Default 0.9.
	SmoothAlpha float64
	// Tolerance is the relative residual at which the linear systems stop. Default 1e-6.
	Tolerance float64
	// MaxIterations bounds their iterations. Default 10,000.
	MaxIterations int

	onIteration func(cg.State) error
}

// Defaults of settings. Of five cells of three sets the mean error is 19.1 % with α₁ = 0.9, 25.4 % with 0.99 and 24.3 % with
// Fixed (rls-linear, γ_A and α₂ by cross-validation; models/all has the sets).
const (
	defaultAlpha      = 0.9
	defaultFactor     = 1
	defaultTolerance  = 1e-6
	defaultIterations = 10000
)

// fill returns s with its defaults, or all its faults.
func (s *Settings) fill() (Settings, error) {
	var out Settings
	if s != nil {
		out = *s
	}
	set := func(at *float64, value float64) {
		if *at == 0 {
			*at = value
		}
	}
	set(&out.CorrectAlpha, defaultAlpha)
	set(&out.SmoothAlpha, defaultAlpha)
	set(&out.Factor, defaultFactor)
	set(&out.Tolerance, defaultTolerance)
	if out.MaxIterations == 0 {
		out.MaxIterations = defaultIterations
	}
	return out, own.Check(&out)
}

// Problem is a graph prepared for [Problem.Apply] with any predictions. It is safe for concurrent use.
type Problem struct {
	w          *sparse.CSR
	laplacian  *sparse.Laplacian // normalized
	components *sparse.Components
}

// NewProblem prepares the graph with weights w and components c, nil to have them found.
func NewProblem(w *sparse.CSR, c *sparse.Components) (*Problem, error) {
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = w.Components()
	}
	if len(c.Of) != w.Rows {
		return nil, fmt.Errorf("correction: components of %d points for a graph of %d", len(c.Of), w.Rows)
	}
	return &Problem{w, l, c}, nil
}

// Corrected holds predictions without the errors that the graph tells.
type Corrected struct {
	// Errors are Ê, n×c.
	Errors *mat.Dense
	// Size is σ of [Autoscale], the mean 1-norm of the errors at the labels.
	Size float64
	// Predictions are Z + the errors, n×c; at a labeled point its label.
	Predictions *mat.Dense
	solved
}

// solved says how linear systems were solved.
type solved struct {
	Residual   float64 // the largest relative one
	Iterations int     // the largest number
}

// mostGrowth is the largest factor by which [Autoscale] makes errors larger. Farther from all labels they are taken as
// they are, as the authors' program does: they may be rounding.
const mostGrowth = 1000

// Correct takes the errors of predictions z, n×c with rows that sum to one, out of them. The targets t are classes, y_i
// the distribution of labeled point i, one and zeros of a hard label. With E = Y − Z at the labels and zero elsewhere and
// S = D^-½ W D^-½,
//
//	Ê = (1 − α₁)(I − α₁S)⁻¹E,  Z_i + σ Ê_i/‖Ê_i‖₁,  σ = 1/l Σ_{labels} ‖e_i‖₁     Autoscale
//	Ê = E at the labels, Ê_i = Σ_j w_ij Ê_j/d_i elsewhere,  Z_i + s Ê_i           Fixed
//
// at points without a label; a point with one has y_i. Where σ/‖Ê_i‖₁ is above 1000, Z_i + Ê_i takes its place. In a
// component without a label Ê is zero. z is not changed. It costs a linear system of c columns: see [cg.Laplacian].
//
// Huang et al. 2021, section 2.2; the sign of E follows their program.
func (p *Problem) Correct(ctx context.Context, z *mat.Dense, t *models.Targets, s *Settings) (*Corrected, error) {
	f, err := s.fill()
	if err != nil {
		return nil, err
	}
	n, c := z.Dims()
	if t.Classes == nil || n != p.w.Rows || t.Len != n || c != len(t.Classes) {
		return nil, fmt.Errorf("correction: predictions of %d×%d and targets of %d points in %d classes for a graph of %d points",
			n, c, t.Len, len(t.Classes), p.w.Rows)
	}
	y := t.Shares()
	e := mat.DenseCopyOf(y)
	out := &Corrected{}
	for q, i := range t.Labeled {
		row := e.RawRowView(q)
		for k, v := range z.RawRowView(i) {
			row[k] -= v
			out.Size += math.Abs(row[k]) / float64(len(t.Labeled))
		}
	}

	var short error
	if f.Correction == Fixed {
		out.Errors, out.solved, short = p.harmonic(ctx, e, t, &f)
	} else {
		b := mat.NewDense(n, c, nil)
		for q, i := range t.Labeled {
			copy(b.RawRowView(i), e.RawRowView(q))
		}
		out.Errors, out.solved, short = p.spread(ctx, b, f.CorrectAlpha, &f)
	}
	if out.Errors == nil {
		return nil, short
	}

	out.Predictions = mat.DenseCopyOf(z)
	par.For(n, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out.add(out.Predictions.RawRowView(i), out.Errors.RawRowView(i), &f)
		}
	})
	for q, i := range t.Labeled {
		copy(out.Predictions.RawRowView(i), y.RawRowView(q))
	}
	return out, short
}

// add adds the errors e of a point to its prediction z, in their size.
func (r *Corrected) add(z, e []float64, s *Settings) {
	factor := s.Factor
	if s.Correction == Autoscale {
		factor = r.growth(e)
	}
	for k, v := range e {
		z[k] += factor * v
	}
}

// growth returns the factor of the errors e of a point under [Autoscale].
func (r *Corrected) growth(e []float64) float64 {
	var size float64
	for _, v := range e {
		size += math.Abs(v)
	}
	if size == 0 || !(r.Size <= mostGrowth*size) {
		return 1
	}
	return r.Size / size
}

// Smooth returns (1 − α₂)(I − α₂S)⁻¹G for predictions G, n×c: section 2.3. At a point of degree zero it is (1 − α₂)G.
func (p *Problem) Smooth(ctx context.Context, g *mat.Dense, s *Settings) (*mat.Dense, error) {
	f, err := s.fill()
	if err != nil {
		return nil, err
	}
	h, _, err := p.spread(ctx, g, f.SmoothAlpha, &f)
	return h, err
}

// spread solves (I − αS)F = (1 − α)B as (L + cI)F = cB with L = I − S and c = (1 − α)/α.
func (p *Problem) spread(ctx context.Context, b *mat.Dense, alpha float64, s *Settings) (*mat.Dense, solved, error) {
	shift := (1 - alpha) / alpha
	rhs := mat.DenseCopyOf(b)
	rhs.Scale(shift, rhs)
	l := p.laplacian.With(1, shift)
	r, err := cg.Laplacian(ctx, l, p.components, rhs, &cg.LaplacianSettings{Settings: cg.Settings{
		Tolerance: s.Tolerance, MaxIterations: s.MaxIterations, OnIteration: s.onIteration}})
	if r == nil {
		return nil, solved{}, err
	}

	// At a point of degree zero S is zero and so is its row of L.
	for i, d := range l.Degrees() {
		if d > 0 {
			continue
		}
		row := r.X.RawRowView(i)
		for j := range row {
			row[j] *= 1 - alpha
		}
	}
	return r.X, solved{r.MaxResidual(), r.MaxIterations()}, err
}

// harmonic continues the errors e, l×c, as harmonic functions; they are zero where there is no label.
func (p *Problem) harmonic(ctx context.Context, e *mat.Dense, t *models.Targets, s *Settings) (*mat.Dense, solved, error) {
	values := &models.Targets{Len: t.Len, Labeled: t.Labeled, Y: e}
	g, err := propagation.Fit(ctx, p.w, p.components, values, &propagation.Settings{Method: propagation.Harmonic,
		Tolerance: s.Tolerance, MaxIterations: s.MaxIterations, OnIteration: s.onIteration})
	if g == nil {
		return nil, solved{}, err
	}
	for i, reached := range p.components.Reached(t.Labeled) {
		if !reached {
			clear(g.Scores.RawRowView(i))
		}
	}
	return g.Scores, solved{slices.Max(g.Residuals), g.Iterations}, err
}

// Solution holds predictions that were corrected and smoothed.
type Solution struct {
	*Corrected
	// Scores are H, n×c.
	Scores *mat.Dense
}

// Apply corrects the predictions z and smooths the result: [Problem.Correct] and then [Problem.Smooth]. A usable error comes
// with the solution that was reached.
func (p *Problem) Apply(ctx context.Context, z *mat.Dense, t *models.Targets, s *Settings) (*Solution, error) {
	r, short := p.Correct(ctx, z, t, s)
	if !models.Usable(short) || r == nil {
		return nil, short
	}
	f, err := s.fill()
	if err != nil {
		return nil, err
	}
	h, how, err := p.spread(ctx, r.Predictions, f.SmoothAlpha, &f)
	if h == nil || !models.Usable(err) {
		return nil, err
	}
	r.Residual = max(r.Residual, how.Residual)
	r.Iterations = max(r.Iterations, how.Iterations)
	return &Solution{r, h}, errors.Join(short, err)
}

// predictions turns scores of a base, 1 for its class and −1 for others, into rows (1 + f)/2 within [0, 1] that sum to
// one, in place.
func predictions(f *mat.Dense) *mat.Dense {
	n, c := f.Dims()
	par.For(n, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := f.RawRowView(i)
			var sum float64
			for k, v := range row {
				row[k] = min(max((1+v)/2, 0), 1)
				sum += row[k]
			}
			for k := range row {
				if sum == 0 {
					row[k] = 1 / float64(c)
					continue
				}
				row[k] /= sum
			}
		}
	})
	return f
}
