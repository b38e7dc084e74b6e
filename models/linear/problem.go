package linear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// MaxFormed is the largest order of dense matrices to be formed: the dimension
// of dense points, or the number of others.
const MaxFormed = 5000

// Problem holds what linear models of one set of points and one graph share,
// whatever the targets, losses and weights. It is safe for concurrent
// use.
type Problem struct {
	given  data.Points
	x      data.Points       // given, or its coordinates in space
	space  *rowSpace         // nil unless used
	design solvers.Design    // x, where it is only multiplied with
	l      *sparse.Laplacian // nil without intrinsic norm, and with one that was summed
	m      sparse.Operator   // r(L); nil where l is
	summed *Norm
	reg    regularizer.Regularizer // names r(L)
	Norm   *mat.Dense              // Xᵀr(L)X, if formed
	// Progress, if not nil, is told how far a fit is. It is not called by several
	// fits at once unless the caller runs them so.
	Progress Progress

	eigen  sync.Mutex // of the next two
	values []float64  // eigenvalues of m
	basis  *mat.Dense // and eigenvectors
}

// Progress is told how far something is: so much is done of a total, and a short
// text or none.
type Progress = func(done, total float64, note string)

// NewProblem prepares fits to the n×d points x with the intrinsic norm of
// r(L) for the Laplacian l, as r names it, or without one if l is nil; the weights in r do not matter.
//
// For dense points of d ≤ 5000 dimensions it forms M = Xᵀr(L)X, by blocks of
// columns: n·d² + 2p·nnz(L)·d operations for p = r.Degree(), d² values, and three n×128 blocks
// while it works. Fits then are direct or nearly so: see [Problem.Path].
//
// Up to 5000 points, sparse or of more dimensions than that, are first brought
// to dense coordinates in the space they span: about 5n³ operations and four n×n
// matrices. For other sparse points and dimensions nothing is formed; a fit
// multiplies blocks with X, r(L) and Xᵀ in turn. Sparse points are stored a second
// time, transposed.
func NewProblem(ctx context.Context, x data.Points, l *sparse.Laplacian,
	r regularizer.Regularizer) (*Problem, error) {
	return newProblem(ctx, x, l, r, nil)
}

func newProblem(ctx context.Context, x data.Points, l *sparse.Laplacian, r regularizer.Regularizer,
	progress Progress) (*Problem, error) {
	n, d := x.Dims()
	p := &Problem{given: x, x: x, Progress: progress}
	if l != nil {
		if l.Dim() != n {
			return nil, fmt.Errorf("linear: a graph of %d points for %d points", l.Dim(), n)
		}
		if err := p.setNorm(l, r); err != nil {
			return nil, err
		}
	}

	// Fewer points than columns: f has its minimum in the span of the points, where n coordinates
	// are enough.
	if !p.direct() && n <= MaxFormed && n < d {
		p.report(0, 1, "coordinates in the space of the points")
		space, points, err := newRowSpace(ctx, x)
		if err != nil {
			return nil, err
		}
		p.space = space
		p.x = points
	}

	if !p.direct() {
		p.design = solvers.NewDesign(x)
		return p, nil
	}
	if l == nil {
		return p, nil
	}
	// Xᵀr(L)X is made once and serves all fits.
	_, d = p.x.Dims()
	p.Norm = mat.NewDense(d, d, nil)
	return p, p.form(ctx)
}

// setNorm takes r(L) of l as the intrinsic norm.
func (p *Problem) setNorm(l *sparse.Laplacian, r regularizer.Regularizer) error {
	var err error
	p.l = l
	p.reg = r
	p.reg.Laplacian = l.Kind()
	p.m, err = r.Norm(l)
	return err
}

// report calls Progress, if there is one.
func (p *Problem) report(done, total float64, note string) {
	if p.Progress != nil {
		p.Progress(done, total, note)
	}
}

// direct tells whether fits work with d×d matrices.
func (p *Problem) direct() bool {
	_, sparsePoints := p.x.(*sparse.CSR)
	_, d := p.x.Dims()
	return !sparsePoints && d <= MaxFormed
}

// form computes Xᵀr(L)X.
func (p *Problem) form(ctx context.Context) error {
	n, d := p.x.Dims()
	// Blocks of columns bound the memory of r(L)X.
	width := max(16, min(128, d, 1<<23/n))
	var columns, rows []float64
	y := make([]float64, n*width)
	for from := 0; from < d; from += width {
		p.report(float64(from), float64(d), "columns of Xᵀr(L)X")
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+width, d)
		var block *mat.Dense
		block, columns = data.Block(p.x, columns, 0, n, from, to)
		ly := mat.NewDense(n, to-from, y[:n*(to-from)])
		p.m.MulTo(ly, block)

		// Xᵀr(L)X is symmetric, so a block of columns is multiplied with the columns from its own
		// on.
		below := p.Norm.Slice(from, d, from, to).(*mat.Dense)
		for lo := 0; lo < n; lo += data.BlockRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			hi := min(lo+data.BlockRows, n)
			block, rows = data.Block(p.x, rows, lo, hi, from, d)
			dense.Gemm(dense.Transposed, dense.NoTrans, 1, block,
				ly.Slice(lo, hi, 0, to-from).(*mat.Dense), 1, below)
		}
	}

	// The upper triangle mirrors the lower one.
	for i := range d {
		for j := range i {
			p.Norm.Set(j, i, p.Norm.At(i, j))
		}
	}
	return nil
}

// Eigen returns the eigenvalues and eigenvectors of Xᵀr(L)X, which the first call
// computes; nil vectors stand for the identity.
func (p *Problem) Eigen(ctx context.Context) (values []float64, basis *mat.Dense, err error) {
	p.eigen.Lock()
	defer p.eigen.Unlock()
	if p.values != nil {
		return p.values, p.basis, nil
	}
	p.report(0, 1, "eigenvectors of Xᵀr(L)X")
	if p.Norm == nil {
		_, d := p.x.Dims()
		p.values = make([]float64, d)
		return p.values, nil, nil
	}

	if p.values, p.basis, err = dense.EigenSym(ctx, p.Norm); err != nil {
		return nil, nil, err
	}
	// Xᵀr(L)X is positive semidefinite; negative values are rounding.
	for j, v := range p.values {
		p.values[j] = math.Max(0, v)
	}
	return p.values, p.basis, nil
}

// Fit is [Problem.Path] for one model.
func (p *Problem) Fit(ctx context.Context, t *models.Targets, s *Settings) (*Model, error) {
	if s == nil {
		s = &Settings{}
	}
	path, err := p.Path(ctx, t, []Settings{*s})
	if path == nil {
		return nil, err
	}
	return path[0], err
}

// Path fits a model for each of the settings, in their order.
//
// With Xᵀr(L)X formed, l labels and m outputs, the labels are looked at once. If
// l < d, the eigenvectors U of Xᵀr(L)X are computed in the first fit of the
// problem (about 5d³ operations). In their basis both norms are diagonal for all
// γ_A and γ_I at once, and a model of least squares costs l²d + l³/3 operations,
// after ld² for the path. If l ≥ d, it costs d³/3 operations, after ld². The
// hinges take Newton steps in the basis U, scaled so that the two norms together
// are the Euclidean one; each model starts at the one before. An inner step costs
// 4ldm operations, and 4d²m more if X̃U is too large to keep (above 64 MB).
//
// Otherwise least squares are solved by block conjugate gradients and the hinges
// by Newton's method with conjugate gradients, both preconditioned by an
// approximate diagonal and started at the model before.
//
// An error that is [cg.ErrNotConverged] or [solvers.ErrNotConverged] comes with
// all models, those included that are not within the tolerance. On any other
// error there are none.
func (p *Problem) Path(ctx context.Context, t *models.Targets, settings []Settings) ([]*Model, error) {
	n, _ := p.x.Dims()
	if t.Len != n {
		return nil, fmt.Errorf("linear: targets for %d points, there are %d", t.Len, n)
	}
	if len(t.Labeled) == 0 {
		return nil, errNoTarget
	}
	filled := make([]Settings, len(settings))
	for i, s := range settings {
		var err error
		if filled[i], err = s.fill(); err != nil {
			return nil, err
		}
		if err = p.check(&filled[i], t.Classes); err != nil {
			return nil, err
		}
		if t.Weights != nil && filled[i].Loss != LeastSquares {
			return nil, fmt.Errorf("linear: the %v loss has no weights of labels; the squared loss has", filled[i].Loss)
		}
	}

	// Sums over the labeled points serve the whole path, and each model starts at the one before.
	work := NewLabeled(p, t)
	var out []*Model
	var unfinished []error
	for i := range filled {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m := &Model{Settings: filled[i], Classes: t.Classes, Labeled: len(t.Labeled)}
		var before *Model
		if i > 0 {
			before = out[i-1]
		}
		err := work.Fit(ctx, m, before)
		if err != nil && models.Usable(err) {
			unfinished = append(unfinished, err)
			err = nil
		}

		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}

	// Coefficients go back from the space of the points.
	if p.space != nil {
		for _, m := range out {
			m.Coefficients = p.space.expand(m.Coefficients)
		}
	}
	return out, errors.Join(unfinished...)
}

var errNoTarget = errors.New("linear: no point has a target")

// check returns an error for settings that p has no norm for, or the targets no loss.
func (p *Problem) check(s *Settings, classes []int64) error {
	if classes == nil && s.Loss != LeastSquares {
		return fmt.Errorf("linear: the %v loss is for classes; values take the squared loss", s.Loss)
	}
	return p.CheckNorm(s.Regularizer)
}

// CheckNorm returns an error for an intrinsic norm that p was not made with.
func (p *Problem) CheckNorm(r regularizer.Regularizer) error {
	switch {
	case r.GammaI == 0:
		return nil
	case p.l == nil && p.summed == nil:
		return errors.New("linear: γ_I is positive but there is no graph")
	case !r.SameNorm(p.reg):
		return fmt.Errorf("linear: %s asked of a problem with %s", r.DescribeNorm(), p.reg.DescribeNorm())
	}
	return nil
}

// Intrinsic returns r(L), nil without an intrinsic norm and with one that was summed.
func (p *Problem) Intrinsic() sparse.Operator { return p.m }

// Objective returns what m minimizes over t, evaluated from the definition, for
// each output. It costs a product with each of X, r(L) and the labeled rows.
func (p *Problem) Objective(m *Model, t *models.Targets) []float64 {
	n, _ := p.given.Dims()
	l, outputs := t.Y.Dims()
	total := make([]float64, outputs)
	f := m.values(solvers.DenseDesign{Points: data.Select(p.given, t.Labeled)}, l)
	for i := range l {
		for j, v := range f.RawRowView(i) {
			total[j] += t.Weight(i) * m.Settings.loss(t.Y.At(i, j), v) / t.TotalWeight()
		}
	}

	// The ambient norm, then the intrinsic one.
	r := m.Settings.Regularizer
	for j := range total {
		w := m.Coefficients.ColView(j)
		total[j] += r.GammaA * mat.Dot(w, w)
	}

	if r.GammaI > 0 {
		f := mat.NewDense(n, outputs, nil)
		lf := mat.NewDense(n, outputs, nil)
		solvers.DenseDesign{Points: p.given}.MulTo(f, m.Coefficients)
		p.m.MulTo(lf, f)
		gamma := r.Intrinsic(n, p.l)
		for j := range total {
			total[j] += gamma * mat.Dot(f.ColView(j), lf.ColView(j))
		}
	}

	return total
}

// WithNorm returns the problem on the points of p with the intrinsic norm of r(L), as r names it.
func (p *Problem) WithNorm(ctx context.Context, l *sparse.Laplacian, r regularizer.Regularizer) (*Problem, error) {
	q := &Problem{given: p.given, x: p.x, space: p.space, design: p.design, Progress: p.Progress}
	if err := q.setNorm(l, r); err != nil {
		return nil, err
	}
	if !q.direct() {
		return q, nil
	}
	// Only the norm depends on the graph.
	_, d := q.x.Dims()
	q.Norm = mat.NewDense(d, d, nil)
	return q, q.form(ctx)
}
