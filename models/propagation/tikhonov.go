package propagation

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// weighted is the operator γM + diag(g) for M = r(L) without its constant, with M not formed.
type weighted struct {
	m     sparse.Operator
	power *sparse.Laplacian // M where it is a power of L alone, else nil
	gamma float64
	g     []float64
}

func (a *weighted) Dim() int { return a.m.Dim() }

func (a *weighted) MulTo(dst, x *mat.Dense) {
	a.m.MulTo(dst, x)
	par.For(len(a.g), 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := dst.RawRowView(i)
			for j, v := range x.RawRowView(i) {
				to[j] = a.gamma*to[j] + a.g[i]*v
			}
		}
	})
}

// newWeighted returns γ r(L) for an r that is no constant.
func newWeighted(l *sparse.Laplacian, r regularizer.Regularizer, gamma float64) (*weighted, error) {
	a := &weighted{gamma: gamma, g: make([]float64, l.Dim())}
	c := slices.Clone(r.Weights())
	for i := range a.g {
		a.g[i] = gamma * c[0]
	}

	// A single power is a Laplacian, which has preconditioners; its coefficient goes into γ.
	c[0] = 0
	p := slices.IndexFunc(c, func(v float64) bool { return v > 0 })
	if p == r.Degree() {
		a.power = l.With(p, 0)
		a.m = a.power
		a.gamma *= c[p]
		return a, nil
	}
	var err error
	a.m, err = sparse.NewPolynomial(l, c)
	return a, err
}

// weighted returns the operator J/l + γ_A I + γ_I s r(L) and a preconditioner; for powers about
// its diagonal: that of r(L) is replaced by r of that of L, which it is not below.
func (d *draw) weighted() (*weighted, cg.Preconditioner, error) {
	reg := d.settings.Regularizer
	n := d.problem.Len()
	labels := d.labels
	l := d.problem.laplacian(reg.Laplacian)
	a, err := newWeighted(l, reg, d.intrinsic)
	if err != nil {
		return nil, nil, err
	}
	for i := range a.g {
		a.g[i] += reg.GammaA
	}
	for q, i := range d.at {
		a.g[i] += d.weight(q) / labels
	}
	diagonal := make([]float64, n)
	for i, degree := range l.Degrees() {
		if reg.Laplacian == sparse.Normalized && degree > 0 {
			degree = 1
		}
		diagonal[i] = d.intrinsic*(reg.At(degree)-reg.At(0)) + a.g[i]
	}

	ground := make([]float64, n)
	for i, v := range a.g {
		ground[i] = v / a.gamma
	}
	m, err := d.grounded(a.power, ground, diagonal, nil)
	return a, m, err
}

// tikhonov solves (J/l + γ_A I + γ_I s r(L)) f = Jy/l.
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
	return d.solve(ctx, a, d.sources(d.massed(y)), m, func() *sparse.CSR { return a.power.Form(a.gamma, a.g, nil) })
}
