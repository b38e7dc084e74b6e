package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// ApproximateProblem holds what approximate machines on n points share, whatever
// the targets and weights. It is immutable and safe for concurrent use.
type ApproximateProblem struct {
	data        *Data // with the defaults of the kernel
	settings    ApproximationSettings
	method      approach
	report      ApproximationReport
	pivots      []int           // landmarks; nil for features
	root        *mat.Dense      // R with K_mm = RRᵀ
	frequencies *mat.Dense      // of features
	phi         *mat.Dense      // the features Φ at all points, n×r
	linear      *linear.Problem // on Φ
	// Conjugate gradients work with products of a kernel: the Gram matrix K of all
	// points, or K̂ = K_nm K_mm⁻¹ K_mn, which is expansion then. Nil for direct methods.
	products  kernel.Operator
	expansion *kernel.Nystrom
}

// NewApproximateProblem prepares fits to the points of d with the intrinsic norm of
// r(L) for their Laplacian, as r names it, or without one if there is none; the weights in r do not matter.
//
// Landmarks. With K_mm = RRᵀ the features Φ = K_nm R⁻ᵀ at the points make the expansion a linear
// model, f = Φw, ‖f‖² = wᵀw, a = R⁻ᵀw, and both norms of the machine are the norms of
// [linear.Problem]. Φ comes from solvers.NewNystrom (n·m² operations, n·m values; the kernel once),
// Φᵀr(L)Φ = R⁻¹(K_mn r(L)K_nm)R⁻ᵀ from it by blocks of columns, another n·m² and 2p·nnz·m. A fit of
// least squares is then a Cholesky factorization of order m; for 16 and more settings at once one
// eigendecomposition (5m³) serves them all; see [ApproximateProblem.Path].
//
// For more than 5000 landmarks, or where n·m values exceed limit, or where it
// takes fewer operations (50 iterations are counted), nothing of size n·m is
// held: conjugate gradients work with products K_nm(K_mm)⁻¹K_mn by tiles, after
// FALKON (Rudi, Carratino & Rosasco 2017), preconditioned by a direct solution on
// the default number of landmarks. That is for least squares without an intercept.
//
// Features. Φ holds D random Fourier features, n·D values; the rest is the same.
//
// MatrixFree iterates with products of the whole Gram matrix, n²(2d + 2c + 40)
// operations each, preconditioned by the direct solution on the landmarks.
//
// A nil s means the defaults.
func NewApproximateProblem(ctx context.Context, d *Data, r regularizer.Regularizer,
	s *ApproximationSettings) (*ApproximateProblem, error) {
	if s == nil {
		s = &ApproximationSettings{}
	}
	n, d, err := d.check()
	if err != nil {
		return nil, err
	}
	filled, err := s.fill(n)
	if err != nil {
		return nil, err
	}

	// The approach is chosen by operations and by the memory that is allowed.
	p := &ApproximateProblem{data: d, settings: filled}
	if p.method, err = filled.approach(d.Source(), d.Limit); err == nil {
		err = filled.fits(d.Source(), p.method.rank, d.Limit)
	}
	if err != nil {
		return nil, err
	}
	// Fourier features need the coordinates of the points, and no product with the kernel.
	if filled.Approximation == Fourier {
		if d.Values != nil {
			return nil, errors.New("kernelmachine: Fourier features are of points, and values of the " +
				"kernel are given; take landmarks")
		}
		return p, p.features(ctx, r)
	}

	set, err := d.Source().Set()
	if err != nil {
		return nil, err
	}
	if err := p.landmarks(ctx, set, p.method.rank, r); err != nil {
		return nil, err
	}

	// Iterative methods keep Φ for their preconditioner only.
	switch {
	case filled.Approximation == MatrixFree:
		p.products = set
		p.report.KernelError = 0
	case p.method.expansion > 0:
		return p, p.addLandmarks(ctx, set)
	}

	return p, nil
}

// withNorm returns the problem on the points and features of p with the intrinsic
// norm of r(L), as r names it.
func (p *ApproximateProblem) withNorm(ctx context.Context, l *sparse.Laplacian,
	r regularizer.Regularizer) (*ApproximateProblem, error) {
	q := *p
	d := *p.data
	d.Laplacian = l
	q.data = &d
	var err error
	q.linear, err = p.linear.WithNorm(ctx, l, r)
	return &q, err
}

// landmarks chooses m of them and makes their features.
func (p *ApproximateProblem) landmarks(ctx context.Context, set kernel.Set, m int,
	r regularizer.Regularizer) error {
	y, err := solvers.NewNystrom(ctx, set, &solvers.NystromSettings{Rank: m, Sampling: p.settings.Sampling,
		Seed:    p.settings.Seed,
		OnBlock: func(done, rank int) { p.data.report(float64(done), float64(rank), "landmarks") }})
	if err != nil {
		return err
	}
	if len(y.Pivots) == 0 {
		return errors.New("kernelmachine: the kernel is zero at all points")
	}
	p.pivots, p.root, p.phi = y.Pivots, y.Root(), y.Factor
	p.report.Landmarks = len(y.Pivots)
	p.report.KernelError = y.Residual / y.Trace
	return p.form(ctx, r)
}

// features draws Fourier features.
func (p *ApproximateProblem) features(ctx context.Context, r regularizer.Regularizer) error {
	x := p.data.Points
	count := p.settings.Features
	n, d := x.Dims()
	var err error
	if p.frequencies, err = kernel.Frequencies(p.data.Kernel, d, count, p.settings.Seed); err != nil {
		return err
	}
	p.phi = dense.New(n, count)
	// Blocks of rows bound the time until a cancelled context is seen.
	for lo := 0; lo < n; lo += data.BlockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+data.BlockRows, n)
		kernel.FourierTo(p.phi.Slice(lo, hi, 0, count).(*mat.Dense), x, lo, hi, p.frequencies)
		p.data.report(float64(hi), float64(n), "features")
	}

	if p.report.KernelError, err = kernel.FourierError(p.phi, x, p.data.Kernel, p.settings.Seed); err != nil {
		return err
	}
	return p.form(ctx, r)
}

// form makes the linear problem on Φ.
func (p *ApproximateProblem) form(ctx context.Context, norm regularizer.Regularizer) error {
	if p.data.Laplacian != nil {
		p.data.report(0, 1, "norm of the features")
	}
	r := p.phi.RawMatrix()
	var err error
	if p.linear, err = linear.NewProblem(ctx, &data.Dense[float64]{Rows: r.Rows, Cols: r.Cols, Data: r.Data},
		p.data.Laplacian, norm); err != nil {
		return err
	}
	p.linear.Progress = p.data.Report
	return nil
}

// decompose is the number of settings from which on an eigendecomposition, 5m³
// operations, is less than a Cholesky factorization for each, m³/3.
const decompose = 16

// Path fits a machine for each of the settings, in their order. A single setting
// comes with the estimates Change and Flips, for a factorization of order m/2
// more.
//
// An error that is [cg.ErrNotConverged] or [solvers.ErrNotConverged] comes with
// all machines, those included that are not within the tolerance. On any other
// error there are none.
func (p *ApproximateProblem) Path(ctx context.Context, t *models.Targets,
	settings []Settings) ([]*Approximate, error) {
	return p.machines(ctx, t, settings, len(settings) == 1 && p.products == nil)
}

// biased tells whether the function has an intercept.
func (s *Settings) biased() bool { return s.Intercept || s.Method != RLS }

// labeled prepares fits to t, with an intercept or without.
func (p *ApproximateProblem) labeled(t *models.Targets, intercept bool) *linear.Labeled {
	w := linear.NewLabeled(p.linear, t)
	// Least squares without an intercept are those through the origin: nothing is centred.
	if !intercept {
		w.ThroughOrigin()
	}
	return w
}

// machines is Path, with the estimates or without.
func (p *ApproximateProblem) machines(ctx context.Context, t *models.Targets, settings []Settings,
	estimate bool) ([]*Approximate, error) {
	filled := make([]Settings, len(settings))
	for i, s := range settings {
		var err error
		if filled[i], err = s.fill(); err != nil {
			return nil, err
		}
		if err := p.check(t, &filled[i]); err != nil {
			return nil, err
		}
	}

	// Machines with and without an intercept need different sums over the labeled points; each is
	// made once.
	parts := map[bool]*linear.Labeled{}
	var before *linear.Model
	var out []*Approximate
	var unfinished []error
	for _, s := range filled {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w := parts[s.biased()]
		if w == nil {
			w = p.labeled(t, s.biased())
			parts[s.biased()] = w
		}

		m := &Approximate{ApproximationSettings: p.settings, Report: p.report, Frequencies: p.frequencies}
		m.Machine = Machine{Settings: s, Expansion: p.data.expansion(t), Labeled: len(t.Labeled)}
		var err error
		if p.products != nil {
			err = p.conjugateGradients(ctx, w, m)
		} else {
			before, err = p.fitLinear(ctx, w, m, before, len(filled))
		}

		// A machine that did not converge is kept, and the path goes on.
		if unconverged(err) {
			unfinished = append(unfinished, err)
			err = nil
		}
		if err == nil && estimate {
			err = p.estimate(ctx, w, m)
		}
		if err == nil && s.sharing() {
			err = m.share(t, func() (*mat.Dense, error) { return p.outputs(ctx, m) })
		}
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}

	return out, errors.Join(unfinished...)
}

// fitLinear fits m, one of count machines, as a linear model of the features. before is the last
// support vector machine, where Newton's method starts, or nil; the next one is returned.
func (p *ApproximateProblem) fitLinear(ctx context.Context, w *linear.Labeled, m *Approximate,
	before *linear.Model, count int) (*linear.Model, error) {
	next := before
	found := &linear.Model{Settings: linearSettings(&m.Settings)}
	var err error
	switch {
	case m.Settings.Method == SVM:
		if err = w.Fit(ctx, found, before); err == nil || errors.Is(err, solvers.ErrNotConverged) {
			next = found
		}
	case count >= decompose && w.Rows < w.Dim:
		err = w.Dual(ctx, found)
	default:
		err = w.NormalEquations(ctx, found)
	}

	// The coefficients of the features become coefficients of kernel functions.
	if found.Coefficients != nil {
		m.Intercepts = found.Intercepts
		m.Report.Iterations = found.Iterations
		p.expand(m, found.Coefficients)
	}
	return next, err
}

// check returns an error unless the problem has machines for t and s.
func (p *ApproximateProblem) check(t *models.Targets, s *Settings) error {
	n, _ := p.data.Source().Rows().Dims()
	switch {
	case t.Len != n:
		return fmt.Errorf("kernelmachine: targets for %d points, there are %d", t.Len, n)
	case len(t.Labeled) == 0:
		return errors.New("kernelmachine: no point has a target")
	case s.Method == SVM && t.Classes == nil:
		return errors.New("kernelmachine: a support vector machine separates classes; for values use rls")
	case s.Method == SVM && t.Weights != nil:
		return errWeights
	case s.GammaI > 0 && p.data.Laplacian == nil:
		return errors.New("kernelmachine: γ_I is positive, but there is no graph")
	case s.IntrinsicSigma > 0 || s.Hessian > 0:
		return errors.New("kernelmachine: a sharp kernel or the Hessian energy for the intrinsic norm is for exact machines")
	case s.Heat > 0:
		return errors.New("kernelmachine: exp(tL) in place of Lᵖ is for exact machines")
	}

	return errors.Join(p.linear.CheckNorm(s.Regularizer), p.settings.checkFit(s, p.method))
}

// answer evaluates a machine of p at some of the points, from their features if
// they are held.
func (p *ApproximateProblem) answer(ctx context.Context, m *Approximate,
	rows []int) (*models.Prediction, error) {
	if p.products != nil {
		return m.Predict(ctx, data.Select(p.data.Source().Rows(), rows), nil)
	}
	_, r := p.phi.Dims()
	_, c := m.Coefficients.Dims()
	w := m.Coefficients
	// The features are held, and a product with w costs less than kernel values.
	if p.frequencies == nil { // w = Rᵀa
		a := w
		if m.Points == nil {
			a = dense.Gather(mat.NewDense(r, c, nil), w, p.pivots)
		}
		w = mat.NewDense(r, c, nil)
		dense.Gemm(dense.Transposed, dense.NoTrans, 1, p.root, a, 0, w)
	}

	f := mat.NewDense(len(rows), c, nil)
	phi := mat.NewDense(min(data.BlockRows, len(rows)), r, nil)
	for lo := 0; lo < len(rows); lo += data.BlockRows {
		hi := min(lo+data.BlockRows, len(rows))
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, dense.Gather(phi, p.phi, rows[lo:hi]), w, 0,
			f.Slice(lo, hi, 0, c).(*mat.Dense))
	}

	dense.AddRow(f, m.Intercepts)
	return models.NewPrediction(f, m.Classes), nil
}

// outputs returns f at all points of p.
func (p *ApproximateProblem) outputs(ctx context.Context, m *Approximate) (*mat.Dense, error) {
	n, _ := p.data.Source().Rows().Dims()
	answers, err := p.answer(ctx, m, data.Range(0, n))
	if err != nil {
		return nil, err
	}
	return answers.Scores, nil
}

// linearSettings returns the settings of the same machine on features.
func linearSettings(s *Settings) linear.Settings {
	out := linear.Settings{Regularizer: s.Regularizer, Tolerance: s.Tolerance, MaxIterations: s.MaxIterations}
	if s.Method == SVM {
		out.Loss = linear.SquaredHinge
	}
	if out.MaxIterations == 0 {
		out.MaxIterations = 200
	}
	return out
}

// expand sets the coefficients, and the points they belong to, from w in f = Φw.
func (p *ApproximateProblem) expand(m *Approximate, w *mat.Dense) {
	m.Coefficients = mat.DenseCopyOf(w)
	if p.frequencies != nil {
		return
	}
	// a = R⁻ᵀw, since f = Φw = K_nm R⁻ᵀw.
	dense.SolveLower(dense.Transposed, p.root, m.Coefficients)
	e := expansion.Expand(p.data.Source(), p.pivots, m.Coefficients)
	m.Coefficients, m.Points = e.Coefficients, e.Points
}

// leading returns the matrix and the right-hand side of the normal equations for
// the first size features times √factor.
func (p *ApproximateProblem) leading(ctx context.Context, w *linear.Labeled, r regularizer.Regularizer,
	size int, factor float64) (h, b *mat.Dense, err error) {
	if w.Gram == nil { // which fills it in
		s := r
		s.GammaI = 0
		s.GammaA = 1
		if err := w.NormalEquations(ctx,
			&linear.Model{Settings: linear.Settings{Regularizer: s}}); err != nil {
			return nil, nil, err
		}
	}

	// H = factor·ΦᵀJΦ/l + γ_A I + factor·γ_I s Φᵀr(L)Φ among the leading features.
	n, _ := p.data.Source().Rows().Dims()
	_, outputs := w.Moments.Dims()
	h = mat.NewDense(size, size, nil)
	b = mat.NewDense(size, outputs, nil)
	h.Scale(factor/float64(w.Rows), w.Gram.Slice(0, size, 0, size))
	b.Scale(math.Sqrt(factor)/float64(w.Rows), w.Moments.Slice(0, size, 0, outputs))
	gamma := factor * r.Intrinsic(n, p.data.Laplacian)
	for i := range size {
		row := h.RawRowView(i)
		if r.GammaI > 0 {
			for j := range row {
				row[j] += gamma * p.linear.Norm.At(i, j)
			}
		}
		row[i] += r.GammaA
	}

	return h, b, nil
}

// estimated is the number of points at which f is compared with the function of half the features.
const estimated = 5000

// estimate sets Change and Flips: least squares on all features against those on
// the leading half.
func (p *ApproximateProblem) estimate(ctx context.Context, w *linear.Labeled, m *Approximate) error {
	n, r := p.phi.Dims()
	half := r / 2
	factor := 1.0
	if p.frequencies != nil {
		half = r / 4 * 2
		factor = 2 // whole pairs
	}

	if half == 0 {
		return nil
	}
	// Every step-th point is compared, so that all parts of the file count.
	step := (n + estimated - 1) / estimated
	var rows []int
	for i := 0; i < n; i += step {
		rows = append(rows, i)
	}
	values := func(size int, factor float64) (*mat.Dense, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, b, err := p.leading(ctx, w, m.Settings.Regularizer, size, factor)
		if err != nil {
			return nil, err
		}
		if err := regularizer.SolvePositive(ctx, h, b, m.Settings.Regularizer); err != nil {
			return nil, err
		}

		dense.Multiply(b, math.Sqrt(factor))
		_, outputs := b.Dims()
		phi := mat.NewDense(len(rows), size, nil)
		f := mat.NewDense(len(rows), outputs, nil)
		dense.Gather(phi, p.phi, rows)
		dense.Gemm(dense.NoTrans, dense.NoTrans, 1, phi, b, 0, f)
		bias := linear.MeanProduct(w.Mean[:size], b)
		for j, v := range w.TargetMean {
			bias[j] = v - bias[j]
		}
		dense.AddRow(f, bias)
		return f, nil
	}

	// Half of the Fourier features have twice the weight each, so that they estimate the same
	// kernel.
	f, err := values(r, 1)
	if err != nil {
		return err
	}
	g, err := values(half, factor)
	if err != nil {
		return err
	}

	if m.Classes != nil {
		a, b := models.NewPrediction(f, m.Classes).Classes, models.NewPrediction(g, m.Classes).Classes
		for i := range a {
			if a[i] != b[i] {
				m.Report.Flips += 1 / float64(len(a))
			}
		}
	}

	size := mat.Norm(f, 2)
	g.Sub(g, f)
	if size > 0 {
		m.Report.Change = mat.Norm(g, 2) / size
	}
	return nil
}
