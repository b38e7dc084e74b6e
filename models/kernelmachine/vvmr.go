package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/stage"
)

// VVMRName is the name of [VVMRLearner] and its models.
const VVMRName = "vvmr"

// VVMRSettings of [VVMRProblem.Fit].
type VVMRSettings struct {
	regularizer.Regularizer
	// GammaO is γ_O, from 0 for independent outputs to 1. The paper has γ_O < 1: at 1, Q is L_out†,
	// which is 0 for an output without an edge, so that f is 0 there, and Σ_c √d_c f_c = 0 over the
	// outputs c of a component of degrees d_c. The summary warns of both.
	GammaO float64
	// OutputNeighbors is the k of [multilabel.OutputGraph], which [FitVVMR] makes where γ_O needs
	// a graph and none is given.
	OutputNeighbors int
	// Loss is V in equation (11) of the paper. Default SquaredLoss. HingeLoss is for exact machines without a
	// penalty of the outputs.
	Loss VVMRLoss
	// Tolerance of the conjugate gradients, by default 1e-10, or of the quadratic programs of HingeLoss, 1e-6.
	Tolerance float64
	// MaxIterations of the conjugate gradients, by default 1000, or of the quadratic programs, by default their own.
	MaxIterations int
}

// fill returns s with its defaults, or all faults at once.
func (s VVMRSettings) fill() (VVMRSettings, error) {
	err := errors.Join(vvmrParams.Check(&vvmrOptions{VVMRSettings: s}), s.CheckNorm())
	r, _ := s.Regularizer.Fill() // its other faults are among those of the parameters
	s.Regularizer = r
	if s.Loss == HingeLoss {
		if s.Tolerance == 0 {
			s.Tolerance = 1e-6
		}
		return s, err
	}
	if s.Tolerance == 0 {
		s.Tolerance = 1e-10
	}
	if s.MaxIterations == 0 {
		s.MaxIterations = 1000
	}
	return s, err
}

// VVMR is a fitted function with n outputs,
//
//	f(x) = Σ_i k(x, x_i) c_i,  c_i = Q a_i in the notation of the paper,
//
// or, for the linear kernel, f(x) = Cᵀx. It is immutable.
type VVMR struct {
	Settings VVMRSettings
	// Expansion has intercepts with HingeLoss alone. Its Points are nil for the linear kernel with C of
	// d×n, too.
	expansion.Expansion
	Labeled int // number l of labeled points
	// OutputKernel is the B of K(x, z) = k(x, z)B if it was given; Q is B then.
	OutputKernel *mat.Dense
	// OutputNorm are the B_p of M = Σ_p Lᵖ ⊗ B_p if they were given, in place of r(L) ⊗ I.
	OutputNorm []*mat.Dense
	// Labels are the labels of the outputs, ascending; nil for a regression.
	Labels []int64
	// Residual is ‖Y/(lγ_A) − (JG + lγ_I r(L)G)AQ/(lγ_A) − A‖/‖Y/(lγ_A)‖ of equation (17), recomputed
	// from the definition with the kernel in use, which may be the kernel of the landmarks; J has a
	// zero for every missing entry of Y.
	// Of HingeLoss with Q = I it is the largest residual of equation (10) of 2006 of any label, else that of
	// A + (γ_I s/γ_A) r(L)GAQ = EV, EV being what the quadratic program gives to the labeled points.
	Residual   float64
	Iterations int // of the conjugate gradients that polish the direct solution, or sweeps over labels with HingeLoss
	// Gap is the duality gap of the quadratic program of HingeLoss, relative to its objective; with Q = I the
	// largest of any label.
	Gap float64
	// Approximation in use, nil for exact, and KernelError the part of the
	// kernel that landmarks leave out, tr(K − K̂)/tr K.
	Approximation *ApproximationSettings
	KernelError   float64
	// Values are f at the training points, N×n; nil after Decode.
	Values *mat.Dense
}

// Name is vvmr.
func (m *VVMR) Name() string { return VVMRName }

// Output is a score for each label, positive for those that a point has, or values.
func (m *VVMR) Output() models.Output {
	_, n := m.Coefficients.Dims()
	if m.Labels == nil {
		return models.OutputOf(nil, n)
	}
	return models.Output{Kind: models.OutputLabels, Labels: m.Labels, Columns: n}
}

// onPoints tells whether f(x) = Cᵀx.
func (m *VVMR) onPoints() bool { return m.Points == nil }

// QueryCost returns the cost of the expansion, or of a product with C.
func (m *VVMR) QueryCost(n int, s *models.PredictSettings) stage.Cost {
	if !m.onPoints() {
		return m.Expansion.QueryCost(n, s)
	}
	d, c := m.Coefficients.Dims()
	return stage.Cost{Bytes: 8*data.BlockRows*int64(d) + expansion.AnswerBytes(n, c, 0),
		Operations: 2 * float64(n) * float64(d) * float64(c)}
}

// Predict evaluates f: Scores is m×n, Classes nil. It costs a product with the
// kernel values, and holds 256 rows of them.
func (m *VVMR) Predict(ctx context.Context, x data.Points,
	s *models.PredictSettings) (*models.Prediction, error) {
	if !m.onPoints() {
		return m.Expansion.Predict(ctx, x, s)
	}
	if err := models.CheckQuery(x, m.Dim()); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	_, outputs := m.Coefficients.Dims()
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	f := mat.NewDense(n, outputs, nil)
	solvers.DenseDesign{Points: x}.MulTo(f, m.Coefficients)
	if m.Intercepts != nil {
		dense.AddRow(f, m.Intercepts)
	}
	return &models.Prediction{Scores: f}, nil
}

// Summary names the outputs, the kernel, the weights and the residual of equation
// (17).
func (m *VVMR) Summary() models.Summary {
	size, outputs := m.Coefficients.Dims()
	s := models.Summary{Labeled: m.Labeled, Values: m.values(), Text: fmt.Sprintf("%d outputs", outputs)}
	s.Facts = []models.Fact{m.KernelFact(), {Key: "expansion", Value: size}, {Key: "outputs", Value: outputs},
		{Key: "iterations", Value: m.Iterations}, {Key: "residual", Value: m.Residual}}
	if m.Labels != nil {
		s.Text = fmt.Sprintf("%d labels", outputs)
	}
	// The basis that f is made of: dimensions, landmarks or points.
	switch a := m.Approximation; {
	case m.onPoints() && !m.Given:
		s.Text += fmt.Sprintf(", %d dimensions", size)
	case a != nil && a.Approximation == Nystrom:
		s.Text += fmt.Sprintf(", %d landmarks (%v), kernel error %.2g", size, a.Sampling, m.KernelError)
		s.Facts = append(s.Facts, models.Fact{Key: "kernel_error", Value: m.KernelError})
	default:
		s.Text += fmt.Sprintf(", expansion over %d points", size)
	}

	if m.Settings.Loss == HingeLoss {
		s.Facts = append(s.Facts, models.Fact{Key: "gap", Value: m.Gap})
		s.Text += fmt.Sprintf(", %s, %s, a support vector machine each%s", m.DescribeKernel(),
			m.Settings.Regularizer.Describe(), m.together())
		if m.Gap > 0 {
			s.Text += fmt.Sprintf(", duality gap %.1e", m.Gap)
		}
		if m.Settings.GammaO == 1 {
			s.Warnings = append(s.Warnings, m.lostOutputs())
		}
		return s
	}

	likeness := fmt.Sprintf("γ_O = %g", m.Settings.GammaO)
	if m.OutputKernel != nil {
		likeness = "kernel of outputs given"
	}
	equation := "(17)"
	if m.OutputNorm != nil {
		likeness += ", " + penaltyText(m.OutputNorm)
		equation = "(13)"
	}
	s.Text += fmt.Sprintf(", %s, %s, %s, residual %.1e of equation %s after %d iterations",
		m.DescribeKernel(), m.Settings.Regularizer.Describe(), likeness, m.Residual, equation, m.Iterations)
	if m.Settings.GammaO == 1 && m.OutputKernel == nil {
		s.Warnings = append(s.Warnings, m.lostOutputs())
	}
	return s
}

// together says what joins the machines of HingeLoss.
func (m *VVMR) together() string {
	switch {
	case m.OutputKernel != nil:
		return ", joined by the given kernel of outputs"
	case m.Settings.GammaO > 0:
		return fmt.Sprintf(", joined by γ_O = %g", m.Settings.GammaO)
	}
	return ""
}

// penaltyText writes M = Σ Lᵖ ⊗ B_p.
func penaltyText(b []*mat.Dense) string {
	var terms []string
	for p, v := range b {
		if mat.Norm(v, 1) > 0 {
			terms = append(terms, fmt.Sprintf("L^%d⊗B%d", p, p))
		}
	}
	return "M = " + strings.Join(terms, " + ")
}

// lostOutputs says what γ_O = 1 leaves out.
func (m *VVMR) lostOutputs() string {
	text := fmt.Sprintf("%s is 1: what all outputs have in common is left out, as L_out† has the weight 0 for it",
		param.Name("gamma-o"))
	// Q has a zero row for an output without an edge, and its coefficients are 0 but for rounding.
	top := mat.Norm(m.Coefficients, math.Inf(1))
	size, n := m.Coefficients.Dims()
	var lost []string
	for c := range n {
		norm := 0.0
		for i := range size {
			norm = max(norm, math.Abs(m.Coefficients.At(i, c)))
		}
		if norm <= 1e-12*top {
			lost = append(lost, m.labelName(c))
		}
	}
	if len(lost) > 0 {
		text += fmt.Sprintf("; %s without an edge in the graph of outputs %s 0 everywhere (%s)",
			enum.Count(len(lost), "output"), map[bool]string{true: "is", false: "are"}[len(lost) == 1], shown(lost))
	}
	return text + "; the paper has a value below 1, such as 0.9"
}

// labelName names output c.
func (m *VVMR) labelName(c int) string {
	if m.Labels == nil {
		return strconv.Itoa(c)
	}
	return strconv.FormatInt(m.Labels[c], 10)
}

// shown lists the first names.
func shown(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func (m *VVMR) values() models.Values {
	o := &vvmrOptions{VVMRSettings: m.Settings, Kernel: m.KernelChoice(),
		Approximation: ApproximationSettings{Approximation: Exact}}
	if m.Approximation != nil {
		o.Approximation = *m.Approximation
	}
	return onlyFor(vvmrParams, approximationOnly).Encode(o)
}

// vvmrFit is the part of a model in its manifest.
type vvmrFit struct {
	Labeled     int     `json:"labeled"`
	Labels      []int64 `json:"labels,omitempty"`
	Residual    float64 `json:"residual"`
	Iterations  int     `json:"iterations"`
	Seed        uint64  `json:"seed,omitempty"`
	KernelError float64 `json:"kernel_error,omitempty"`
	Gap         float64 `json:"gap,omitempty"`
	// OutputKernel tells that the file has one.
	OutputKernel bool `json:"output_kernel,omitempty"`
	// OutputNorm is the number of B_p in the file.
	OutputNorm int `json:"output_norm,omitempty"`
}

// Encode returns the coefficients, and the points if there are any.
func (m *VVMR) Encode() (*models.Encoded, error) {
	f := vvmrFit{Labeled: m.Labeled, Labels: m.Labels, Residual: m.Residual, Iterations: m.Iterations,
		KernelError: m.KernelError, Gap: m.Gap}
	if m.Approximation != nil {
		f.Seed = m.Approximation.Seed
	}
	arrays := m.Arrays()
	if f.OutputKernel = m.OutputKernel != nil; f.OutputKernel {
		arrays = append(arrays, models.MatrixEntry("output_kernel", m.OutputKernel))
	}
	if f.OutputNorm = len(m.OutputNorm); f.OutputNorm > 0 {
		arrays = append(arrays, models.MatrixEntry("output_norm", stackedPenalty(m.OutputNorm)))
	}
	return &models.Encoded{Values: m.values(), Fit: f, Arrays: arrays}, nil
}

// Decode is the inverse of [VVMR.Encode].
func (VVMRLearner) Decode(r *models.Reader) (models.Model, error) {
	var f vvmrFit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	o, err := decodeVVMR(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	s, err := o.fill()
	if err != nil {
		return nil, err
	}

	e, err := expansion.Read(r, o.Kernel, s.Loss == HingeLoss)
	if err != nil {
		return nil, err
	}
	m := &VVMR{Settings: s, Expansion: *e, Labeled: f.Labeled, Labels: f.Labels, Residual: f.Residual,
		Iterations: f.Iterations, KernelError: f.KernelError, Gap: f.Gap}
	if f.OutputKernel {
		if m.OutputKernel = r.Matrix("output_kernel"); r.Err != nil {
			return nil, r.Err
		}
	}

	if f.OutputNorm > 0 {
		stacked := r.Matrix("output_norm")
		if r.Err != nil {
			return nil, r.Err
		}
		if m.OutputNorm, err = multilabel.OutputNorm(stacked); err != nil {
			return nil, err
		}
	}

	if o.Approximation.Approximation != Exact {
		o.Approximation.Seed = f.Seed
		m.Approximation = &o.Approximation
	}
	return m, m.check()
}

// stackedPenalty is the inverse of [multilabel.OutputNorm].
func stackedPenalty(b []*mat.Dense) *mat.Dense {
	n, _ := b[0].Dims()
	out := mat.NewDense(n*len(b), n, nil)
	for p, v := range b {
		out.Slice(p*n, (p+1)*n, 0, n).(*mat.Dense).Copy(v)
	}
	return out
}

// check returns an error unless the parts of the model fit together.
func (m *VVMR) check() error {
	if m.Classes != nil {
		return fmt.Errorf("kernelmachine: %s has no classes", VVMRName)
	}
	if m.Labeled < 1 || !(m.Gap >= 0) || !(m.Residual >= 0) || math.IsInf(m.Residual, 0) {
		return fmt.Errorf("kernelmachine: %d labeled points and a residual of %v", m.Labeled, m.Residual)
	}
	if _, outputs := m.Coefficients.Dims(); m.Labels != nil && len(m.Labels) != outputs {
		return fmt.Errorf("kernelmachine: %d labels for %d outputs", len(m.Labels), outputs)
	}

	// A given kernel of the outputs is n×n.
	if b := m.OutputKernel; b != nil {
		rows, columns := b.Dims()
		if _, outputs := m.Coefficients.Dims(); rows != outputs || columns != outputs {
			return fmt.Errorf("kernelmachine: a kernel of %d×%d for %d outputs", rows, columns, outputs)
		}
	}

	for _, b := range m.OutputNorm {
		rows, _ := b.Dims()
		if _, outputs := m.Coefficients.Dims(); rows != outputs {
			return fmt.Errorf("kernelmachine: a penalty of %d×%d for %d outputs", rows, rows, outputs)
		}
	}

	if m.onPoints() && !m.Given && m.Kernel.Kind == kernel.Linear {
		return nil
	}
	return m.CheckPoints()
}
