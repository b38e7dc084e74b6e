package propagation

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/sparse"
)

// pinned is the operator L with rows and columns of the identity in the place of the rows and
// columns of some vertices: positive definite if every component has one.
type pinned struct {
	l  *sparse.Laplacian
	at []int32 // vertices pinned
}

func (a *pinned) Dim() int { return a.l.Dim() }

// MulTo needs blocks that are zero at the vertices pinned, as all blocks of the
// solver are when the right-hand sides are.
func (a *pinned) MulTo(dst, x *mat.Dense) {
	a.l.MulTo(dst, x)
	for _, i := range a.at {
		copy(dst.RawRowView(int(i)), x.RawRowView(int(i)))
	}
}

// pinned returns the operator L_uu over the unlabeled points of components with a label, a
// preconditioner, and which points are others.
func (d *draw) pinned() (a *pinned, m cg.Preconditioner, fixed []bool, err error) {
	p := d.problem
	n := p.Len()
	fixed = make([]bool, n)
	for _, i := range d.at {
		fixed[i] = true
	}
	// Labeled vertices and vertices out of reach are fixed: their rows are those of the identity.
	a = &pinned{l: p.plain}
	diagonal := make([]float64, n)
	for i, degree := range p.plain.Degrees() {
		diagonal[i] = degree
		if fixed[i] = fixed[i] || !d.reached[p.components.Of[i]]; fixed[i] {
			a.at = append(a.at, int32(i))
			diagonal[i] = 1
		}
	}

	m, err = d.grounded(p.plain, make([]float64, n), diagonal, fixed)
	return a, m, fixed, err
}

// inflow returns W_ul y_l for values y of the points at, which are fixed: n×c.
func (d *draw) inflow(at []int32, y *mat.Dense, fixed []bool) *mat.Dense {
	// Each fixed vertex adds its weights times its values to its neighbours that are not fixed.
	w := d.problem.plain.Graph()
	_, c := y.Dims()
	b := mat.NewDense(d.problem.Len(), c, nil)
	for q, i := range at {
		col, val := w.Row(int(i))
		for e, u := range col {
			if fixed[u] {
				continue
			}
			v := 1.0
			if val != nil {
				v = val[e]
			}
			row := b.RawRowView(int(u))
			for j, y := range y.RawRowView(q) {
				row[j] += v * y
			}
		}
	}

	return b
}

// harmonic solves L_uu f_u = W_ul y_l.
func (d *draw) harmonic(ctx context.Context) (*cg.Result, error) {
	a, m, fixed, err := d.pinned()
	if err != nil {
		return nil, err
	}
	// A start that was scaled by class masses is of no use.
	b := d.inflow(d.at, d.y, fixed)
	if d.settings.MassNormalization { // its scores are scaled
		d.start = nil
	} else if d.start != nil {
		for _, i := range a.at {
			clear(d.start.RawRowView(int(i)))
		}
	}

	return d.solve(ctx, a, b, m, func() *sparse.CSR { return d.problem.plain.Form(1, nil, fixed) })
}

// finishHarmonic puts the labels into f, which is zero there.
func (d *draw) finishHarmonic(f *mat.Dense) {
	if d.settings.MassNormalization {
		d.normalizeMass(f)
	}
	for q, i := range d.at {
		copy(f.RawRowView(int(i)), d.y.RawRowView(q))
	}
}

// normalizeMass multiplies f_c, which is zero at labeled points, by q_c/Σ_u f_c
// for priors q. A class without mass stays as it is.
func (d *draw) normalizeMass(f *mat.Dense) {
	q := d.settings.Priors
	if q == nil {
		q = d.counts()
		for c := range q {
			q[c]++
		}
	}

	// Each class gets the mass of its prior, relative to all priors.
	var total float64
	for _, v := range q {
		total += v
	}
	scale := dense.ColumnMeans(f)
	for c, mean := range scale {
		scale[c] = 1
		if mass := mean * float64(d.problem.Len()); mass > 0 {
			scale[c] = q[c] / total / mass
		}
	}

	dense.ScaleColumns(f, scale)
}
