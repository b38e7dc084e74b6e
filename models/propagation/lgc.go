package propagation

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/sparse"
)

// lgc solves (I − αS)F = (1 − α)Y as (L + cI)F = cY with L = I − S and
// c = (1 − α)/α.
func (d *draw) lgc(ctx context.Context) (*cg.Result, error) {
	var y mat.Dense
	y.Scale((1-d.settings.Alpha)/d.settings.Alpha, d.massed(d.y))
	return d.spread(ctx, d.sources(&y), d.method())
}

// spread solves (L + cI)F = B for sources B at the labeled points. At a point of degree
// zero S is zero and so is the row of L: F is αB there.
func (d *draw) spread(ctx context.Context, b *mat.Dense, method cg.Method) (*cg.Result, error) {
	alpha := d.settings.Alpha
	l := d.problem.laplacian(sparse.Normalized).With(1, (1-alpha)/alpha)
	s := d.solver()
	s.Start = d.start
	d.outside(&s, nil, func() *sparse.CSR { return l.Form(1, nil, nil) })
	r, err := cg.Laplacian(ctx, l, d.problem.components, b,
		&cg.LaplacianSettings{Settings: s, Method: method})
	if r == nil {
		return nil, err
	}

	for _, i := range d.at {
		if l.Degrees()[i] > 0 {
			continue
		}
		row := r.X.RawRowView(int(i))
		for j := range row {
			row[j] *= 1 - alpha
		}
	}

	return r, err
}
