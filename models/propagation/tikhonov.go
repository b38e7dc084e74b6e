package propagation

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/sparse"
)

// weighted is the operator γLᵖ + diag(g), with Lᵖ not formed.
type weighted struct {
	l     *sparse.Laplacian // Lᵖ
	gamma float64
	g     []float64
}

func (a *weighted) Dim() int { return a.l.Dim() }

func (a *weighted) MulTo(dst, x *mat.Dense) {
	a.l.MulTo(dst, x)
	par.For(len(a.g), 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dst.RawRowView(i)
			for j, v := range x.RawRowView(i) {
				to[j] = a.gamma*to[j] + a.g[i]*v
			}
		}
	})
}

// weighted returns the operator J/l + γ_A I + γ_I s Lᵖ and a preconditioner; for powers about
// its diagonal: that of Lᵖ is replaced by that of L to the power p, which it is not below.
func (d *draw) weighted() (*weighted, cg.Preconditioner, error) {
	reg := d.settings.Regularizer
	n := d.problem.Len()
	labels := d.labels
	l := d.problem.laplacian(reg.Laplacian)
	a := &weighted{l: l.With(reg.Power, 0), gamma: d.intrinsic, g: make([]float64, n)}
	for i := range a.g {
		a.g[i] = reg.GammaA
	}
	for q, i := range d.at {
		a.g[i] += d.weight(q) / labels
	}
	diagonal := make([]float64, n)
	for i, degree := range l.Degrees() {
		if reg.Laplacian == sparse.Normalized && degree > 0 {
			degree = 1
		}
		diagonal[i] = a.gamma*math.Pow(degree, float64(reg.Power)) + a.g[i]
	}

	ground := make([]float64, n)
	for i, v := range a.g {
		ground[i] = v / a.gamma
	}
	m, err := d.grounded(a.l, ground, diagonal, nil)
	return a, m, err
}

// tikhonov solves (J/l + γ_A I + γ_I s Lᵖ) f = Jy/l.
func (d *draw) tikhonov(ctx context.Context) (*cg.Result, error) {
	a, m, err := d.weighted()
	if err != nil {
		return nil, err
	}
	y := mat.DenseCopyOf(d.y)
	if d.classes {
		y.Apply(func(_, _ int, v float64) float64 { return 2*v - 1 }, y)
	}
	y.Scale(1/d.labels, y)
	return d.solve(ctx, a, d.sources(d.massed(y)), m, func() *sparse.CSR { return a.l.Form(a.gamma, a.g, nil) })
}
