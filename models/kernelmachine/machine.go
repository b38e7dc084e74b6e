package kernelmachine

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
)

// Method is a loss, and with it a kernel machine.
type Method int

const (
	// RLS is the squared loss (y − f)²: RLS and LapRLS. The function has no
	// intercept, as in the paper, unless the settings ask for an unpenalized one.
	RLS Method = iota
	// SVM is the hinge loss (1 − y·f)₊ with an unpenalized intercept: SVM and
	// LapSVM. It needs classes.
	SVM
	// SVR is max(0, |y − f| − ε) with an unpenalized intercept: support vector
	// regression.
	SVR
	// OneClass finds where the labeled points are, whatever their labels:
	// class 1 inside and −1 outside, where at most a share ν of them is. It
	// minimizes ½‖f‖² + Σ max(0, ρ − f(x_i)) − νlρ in the norm of the (warped)
	// kernel, on which γ_A acts through γ_I/γ_A only.
	OneClass
)

// The names of learners and their models, without and with an intrinsic norm.
const (
	RLSName         = "rls"
	SVMName         = "svm"
	SVRName         = "svr"
	OneClassName    = "oneclass"
	LapRLSName      = "laprls"
	LapSVMName      = "lapsvm"
	LapSVRName      = "lapsvr"
	LapOneClassName = "lap-oneclass"
)

var (
	methods   = enum.New[Method]("kernel machine", RLSName, SVMName, SVRName, OneClassName)
	intrinsic = enum.New[Method]("kernel machine", LapRLSName, LapSVMName, LapSVRName, LapOneClassName)
)

// String returns the name of the method without an intrinsic norm.
func (m Method) String() string { return methods.String(m) }

// MarshalText returns the name.
func (m Method) MarshalText() ([]byte, error) { return methods.Marshal(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Method) UnmarshalText(text []byte) error { return methods.Unmarshal(m, text) }

// Settings of the kernel machines.
type Settings struct {
	Method Method
	// Regularizer must give γ_A. With γ_I = 0 what else it says of the intrinsic
	// norm does not matter and is dropped.
	regularizer.Regularizer
	// Heat, if positive, is the t of the intrinsic norm fᵀexp(tL)f in place of
	// fᵀLᵖf: the heat semigroup (2006, section 2.2). Exact machines have it; Power
	// must be 1 and Coefficients nil. Scores with an error above 1e-8 of the largest are a [*HeatError].
	Heat float64
	// IntrinsicSigma, if positive, is the σ of a second, sharper Gaussian kernel k_s, whose norm on the points
	// fᵀK_s⁻¹f is the intrinsic norm in place of fᵀLᵖf (2006, Remark 4 of section 2.2). There is no graph then.
	// Exact machines have it; Power must be 1, Coefficients nil, Heat 0 and Scaling not per edge.
	IntrinsicSigma float64
	// Hessian, if positive, is the dimension of the manifold for the Hessian energy fᵀHf as the intrinsic norm in
	// place of fᵀLᵖf (Kim, Steinke & Hein 2009; named in Remark 1 of section 2.2 of 2006): see [hessian.New]. The
	// graph gives the neighbours. Exact machines on points have it; Power must be 1, Coefficients nil, Heat and
	// IntrinsicSigma 0 and Laplacian combinatorial.
	Hessian int
	// Intercept adds an unpenalized constant to RLS; the others always have one.
	Intercept bool
	// Priors, if there are any, are the shares of the classes in all points, up to a factor, which the answers of RLS with
	// γ_I > 0 get by shifts of f, and ClassShares says which shares they get without: see
	// [propagation.ShareShifts]. Default: as f has them.
	Priors      []float64
	ClassShares propagation.ClassShares
	// Epsilon is the ε of SVR, in the unit of the targets. Default 0.1.
	Epsilon float64
	// Nu is the ν of OneClass, above 0 and at most 1. Default 0.5.
	Nu float64
	// Tolerance at which a solver stops: of solvers.SMO, solvers.Newton or cg.Solve.
	// Default 1e-6.
	Tolerance float64
	// MaxIterations of that solver. Default its own; of Newton's method 200.
	MaxIterations int
}

// fill returns s with its defaults, or all faults at once.
func (s Settings) fill() (Settings, error) {
	r, err := s.Regularizer.Fill()
	// Settings of the intrinsic norm that do not matter must not make two machines different.
	if r.GammaI == 0 {
		s.Heat = 0
		s.IntrinsicSigma = 0
		s.Hessian = 0
	}

	s.Regularizer = r
	faults := []error{err}
	if s.Heat > 0 && (s.Power > 1 || s.Coefficients != nil) {
		faults = append(faults, fmt.Errorf("kernelmachine: %s and t = %v of exp(tL); give one of them",
			s.DescribeNorm(), s.Heat))
	}
	if s.IntrinsicSigma > 0 && (s.Power > 1 || s.Coefficients != nil || s.Heat > 0 || s.Scaling == regularizer.PerEdge) {
		faults = append(faults, fmt.Errorf("kernelmachine: a sharp kernel for the intrinsic norm beside %s, t = %v of exp(tL) "+
			"and the scaling %v; it has no graph", s.DescribeNorm(), s.Heat, s.Scaling))
	}
	if s.Hessian > 0 && (s.Power > 1 || s.Coefficients != nil || s.Heat > 0 || s.IntrinsicSigma > 0 || s.Laplacian != 0) {
		faults = append(faults, fmt.Errorf("kernelmachine: the Hessian energy beside %s, t = %v of exp(tL) and a sharp kernel "+
			"with σ = %v; give one of them", s.DescribeNorm(), s.Heat, s.IntrinsicSigma))
	}
	s.Priors = slices.Clone(s.Priors)
	if s.sharing() && (s.Method != RLS || s.GammaI == 0) {
		faults = append(faults, models.Faultf("%s and %s are for %s with a positive %s; leave them out of %s",
			param.Name("priors"), param.Name("class-shares"), LapRLSName, param.Name("gamma-i"), s.name()))
	}
	if !methods.Valid(s.Method) {
		faults = append(faults, fmt.Errorf("kernelmachine: kernel machine %v", s.Method))
	}
	faults = append(faults, settingsParams.Check(&options{Settings: s}))

	// Defaults come last, after the given values were checked.
	if s.Method == SVR && s.Epsilon == 0 {
		s.Epsilon = 0.1
	}
	if s.Method == OneClass && s.Nu == 0 {
		s.Nu = 0.5
	}
	if s.Tolerance == 0 {
		s.Tolerance = 1e-6
	}
	return s, errors.Join(faults...)
}

// name returns the name of the learner with these settings: without γ_I the plain one.
func (s *Settings) name() string {
	if s.GammaI > 0 {
		return intrinsic.String(s.Method)
	}
	return s.Method.String()
}

// Machine is a fitted kernel machine: an expansion over the training points with coefficients other
// than zero. It is immutable.
type Machine struct {
	Settings Settings
	expansion.Expansion
	Labeled int // number of labeled points
	// Gap is the largest duality gap of the quadratic programs, relative to
	// their objectives; 0 for RLS.
	Gap float64
	// Residual is ‖K(Eβ − γα − MKα)‖/‖KEβ‖ of an exact machine with a graph, recomputed: the
	// residual of the equation of the coefficients, (8) or (10) of 2006, multiplied by K, as
	// at a minimum of the objective that product is zero. With exp(tL) beyond e⁷ it is the residual
	// of the equation multiplied by exp(−tL), whose norm is 1, relative to the right-hand side: see
	// [solvers.Heated]. 0 where not computed.
	Residual float64
	// Unreached is the number of training points of which a machine with a graph knows nothing: they
	// lie in components without a label, and their kernel values with all points of the expansion
	// are 0. [Learner] counts them.
	Unreached int
	// Shared says which shares of the points the classes got; nil where none were asked for.
	Shared *propagation.Shared

	rows []int // of the expansion in the problem it was fitted on; nil for all, and after Decode
}

// Name is rls, svm, svr or oneclass, and with γ_I > 0 laprls, lapsvm, lapsvr or
// lap-oneclass.
func (m *Machine) Name() string { return m.Settings.name() }

// Summary names the kernel, the norms and the duality gap.
func (m *Machine) Summary() models.Summary {
	size, _ := m.Coefficients.Dims()
	s := models.Summary{Labeled: m.Labeled, Values: m.options().values()}
	s.Facts = []models.Fact{m.KernelFact(), {Key: "expansion", Value: size}}
	norms := m.Settings.Regularizer.Describe()
	if m.Settings.IntrinsicSigma > 0 {
		norms = fmt.Sprintf("γ_A = %g, γ_I = %g (%v, norm of a gaussian kernel with σ = %g)", m.Settings.GammaA,
			m.Settings.GammaI, m.Settings.Scaling, m.Settings.IntrinsicSigma)
	}
	if m.Settings.Hessian > 0 {
		norms = fmt.Sprintf("γ_A = %g, γ_I = %g (%v, Hessian energy in %d dimensions)", m.Settings.GammaA,
			m.Settings.GammaI, m.Settings.Scaling, m.Settings.Hessian)
	}
	s.Text = fmt.Sprintf("expansion over %d points, %s, %s", size, m.DescribeKernel(), norms)
	if m.Settings.Heat > 0 {
		s.Text += fmt.Sprintf(", exp(tL) with t = %g", m.Settings.Heat)
	}
	if m.Gap > 0 {
		s.Facts = append(s.Facts, models.Fact{Key: "gap", Value: m.Gap})
		s.Text += fmt.Sprintf(", duality gap %.1e", m.Gap)
	}

	if m.Residual > 0 {
		s.Facts = append(s.Facts, models.Fact{Key: "residual", Value: m.Residual})
		s.Text += fmt.Sprintf(", residual %.1e of equation (%d)", m.Residual,
			map[bool]int{true: 8, false: 10}[m.Settings.Method == RLS])
	}
	m.tellShares(&s)
	m.tellUnreached(&s)
	return s
}

// options are the parameters of the machine.
func (m *Machine) options() *options {
	return &options{Settings: m.Settings, Kernel: m.KernelChoice(),
		ApproximationSettings: ApproximationSettings{Approximation: Exact}}
}

// machineFit is the part of a machine in its manifest.
type machineFit struct {
	Labeled  int     `json:"labeled"`
	Gap      float64 `json:"gap"`
	Residual float64 `json:"residual,omitempty"`
	farFit
	Shared *propagation.Shared `json:"shared,omitempty"`
	// Of an Approximate.
	Seed   uint64               `json:"seed,omitempty"`
	Report *ApproximationReport `json:"approximation_report,omitempty"`
}

// Encode returns the arrays of the expansion.
func (m *Machine) Encode() (*models.Encoded, error) {
	return &models.Encoded{Values: m.options().values(),
		Fit: machineFit{Labeled: m.Labeled, Gap: m.Gap, Residual: m.Residual, farFit: m.far(),
			Shared: m.Shared}, Arrays: m.Arrays()}, nil
}

// Decode reads a [Machine] or an [Approximate], as the parameters say.
func (l Learner) Decode(r *models.Reader) (models.Model, error) {
	var f machineFit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	o, err := l.decode(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	s, err := o.Settings.fill()
	if err != nil {
		return nil, err
	}

	// The expansion is common to both kinds of machines.
	e, err := expansion.Read(r, o.Kernel, true)
	if err != nil {
		return nil, err
	}
	m := Machine{Settings: s, Expansion: *e, Labeled: f.Labeled, Gap: f.Gap, Residual: f.Residual, Shared: f.Shared}
	if err := m.setFar(f.farFit); err != nil {
		return nil, err
	}
	if o.Approximation == Exact {
		return &m, m.check()
	}
	// An approximation has its report and, of Fourier features, its frequencies.
	o.Seed = f.Seed
	a := &Approximate{Machine: m, ApproximationSettings: o.ApproximationSettings}
	if f.Report == nil {
		return nil, fmt.Errorf("kernelmachine: a machine by %v without a report", o.Approximation)
	}

	a.Report = *f.Report
	if o.Approximation == Fourier {
		if a.Frequencies = r.Matrix("frequencies"); r.Err != nil {
			return nil, r.Err
		}
	}
	return a, a.check()
}

// keep makes m the expansion over points x with the given coefficients, without
// those that are zero, and returns the rows that are left. Where there are no points
// but values, all stay and the rows are nil.
func (m *Machine) keep(x data.Points, whole *mat.Dense) []int {
	m.Coefficients = whole
	if x == nil {
		return nil
	}
	n, c := whole.Dims()
	var rows []int
	for i := range n {
		if slices.ContainsFunc(whole.RawRowView(i), func(v float64) bool { return v != 0 }) {
			rows = append(rows, i)
		}
	}

	if len(rows) == 0 {
		rows = []int{0} // all outputs are constant
	}
	// Points without a coefficient do not matter to predictions.
	m.Points = data.Select(x, rows)
	m.Coefficients = mat.NewDense(len(rows), c, nil)
	dense.Gather(m.Coefficients, whole, rows)
	return rows
}

// check returns an error unless the parts of the model fit together.
func (m *Machine) check() error {
	if err := m.CheckPoints(); err != nil {
		return err
	}
	return m.checkOutputs()
}

func (m *Machine) checkOutputs() error {
	if m.Labeled < 1 || !(m.Gap >= 0) || !(m.Residual >= 0) {
		return fmt.Errorf("kernelmachine: %d labeled points, a gap of %v and a residual of %v", m.Labeled,
			m.Gap, m.Residual)
	}
	if err := m.Shared.Check(len(m.Classes)); err != nil {
		return err
	}
	return models.CheckOutputs(m.Coefficients, m.Intercepts, m.Classes, m.Settings.Method == SVM ||
		m.Settings.Method == OneClass)
}
