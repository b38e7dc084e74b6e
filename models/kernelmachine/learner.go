package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/stage"
)

// Learner fits kernel machines of one method, with or without an intrinsic norm.
type Learner struct {
	Method    Method
	Intrinsic bool
}

// options are all that the parameters of machines say.
type options struct {
	Settings
	Kernel expansion.KernelChoice
	ApproximationSettings
}

var helps = [...][2]string{
	RLS: {"regularized least squares with a kernel",
		"rls with the intrinsic norm (Belkin, Niyogi & Sindhwani 2006)"},
	SVM: {"support vector machine with a kernel",
		"svm with the intrinsic norm (Belkin, Niyogi & Sindhwani 2006)"},
	SVR: {"support vector regression with a kernel", "svr with the intrinsic norm"},
	OneClass: {"where the labeled points are: class 1 inside, -1 outside",
		"oneclass with the intrinsic norm"},
}

// formulas say what each method minimizes, without and with the intrinsic norm. The kernel gives the norm ‖f‖.
var formulas = [...][2]string{
	RLS: {"min over f  1/l Σ (f(x_i) − y_i)² + γ_A ‖f‖²",
		"min over f  1/l Σ (f(x_i) − y_i)² + γ_A ‖f‖² + γ_I fᵀLᵖf"},
	SVM: {"min over f  1/l Σ max(0, 1 − y_i f(x_i)) + γ_A ‖f‖²",
		"min over f  1/l Σ max(0, 1 − y_i f(x_i)) + γ_A ‖f‖² + γ_I fᵀLᵖf"},
	SVR: {"min over f  1/l Σ max(0, |f(x_i) − y_i| − ε) + γ_A ‖f‖²",
		"min over f  1/l Σ max(0, |f(x_i) − y_i| − ε) + γ_A ‖f‖² + γ_I fᵀLᵖf"},
	OneClass: {"min over f, ρ  ½ ‖f‖² + Σ max(0, ρ − f(x_i)) − ν l ρ;  inside is f ≥ ρ",
		"min over f, ρ  ½ ‖f‖² + Σ max(0, ρ − f(x_i)) − ν l ρ,  ‖f‖² the norm of the kernel with (γ_I/γ_A) fᵀLᵖf added"},
}

// scores say what the scores of each method mean.
var scores = [...]string{
	RLS:      "least-squares estimate f of 1 for the class and −1 for the others, or the value",
	SVM:      "margin f of the class against the others: ±1 at the edge of the margin",
	SVR:      "the value",
	OneClass: "f − ρ for inside, ρ − f for outside; there are no probabilities, as no point outside is known",
}

var learns = [...]models.Learns{
	RLS: models.LearnsClasses | models.LearnsValues | models.LearnsShares | models.LearnsWeights, SVM: models.LearnsClasses,
	SVR: models.LearnsValues, OneClass: models.LearnsInside,
}

var sources = [...]string{
	RLS:      "Belkin, Niyogi & Sindhwani 2006, equations (7) and (8)",
	SVM:      "Belkin, Niyogi & Sindhwani 2006, equations (10) and (11)",
	SVR:      "Drucker et al. 1997; Sindhwani, Niyogi & Belkin 2005 for the warped kernel",
	OneClass: "Schölkopf et al. 2001; Sindhwani, Niyogi & Belkin 2005 for the warped kernel",
}

// Info describes the learner.
func (l Learner) Info() models.Info {
	out := models.Info{Name: l.Method.String(), Help: helps[l.Method][0], Source: sources[l.Method],
		Formula: formulas[l.Method][0], Scores: scores[l.Method],
		Learns: learns[l.Method], Needs: models.NeedsPoints | models.NeedsKernel, ShrinksToZero: l.Method == RLS}
	if l.Intrinsic {
		out.Name = intrinsic.String(l.Method)
		out.Help = helps[l.Method][1]
		out.Formula = formulas[l.Method][1]
		out.Needs |= models.NeedsGraph
		out.GraphIf = "gamma-i"
		out.GraphUnless = "intrinsic-sigma"
	}
	return out
}

// Params lists the parameters.
func (l Learner) Params() []models.Param { return l.table().Params() }

// norms are the weights of norms, which come before the kernel, and the rest of the
// parameters of the intrinsic norm, which comes behind it: so the stronger
// regularization comes first.
var (
	normWeights = regularizer.Params.Without("power", "penalty-coefficients", "scaling", "laplacian")
	normRest    = regularizer.Params.Without("gamma-a", "gamma-i")
)

// approximates tells whether machines of the method are fitted by approximations
// too.
func (m Method) approximates() bool { return m <= SVM }

// table lists the parameters for a user. [withApproximation] fills in the approximation.
func (l Learner) table() models.Table[options] {
	norms := func(o *options) *regularizer.Regularizer { return &o.Regularizer }
	var t models.Table[options]
	switch {
	case l.Intrinsic:
		t = append(t, models.Part(normWeights, norms)...)
	case l.Method != OneClass: // on which γ_A acts through γ_I/γ_A only
		t = append(t, models.Part(regularizer.Ambient, norms)...)
	}

	// The kernel stands between the weights and the rest of the norms.
	t = append(t, models.Part(expansion.KernelParams,
		func(o *options) *expansion.KernelChoice { return &o.Kernel })...)
	if l.Intrinsic {
		t = append(t, models.Part(normRest, norms)...)
		t = append(t, heatParams...)
	}

	if l.Method.approximates() {
		approximations := approximationParams
		if l.Method == SVM {
			approximations = withoutChoice(approximations, MatrixFree, "matrix-free is for least squares")
		}
		t = append(t, models.Part(approximations,
			func(o *options) *ApproximationSettings { return &o.ApproximationSettings })...)
	}

	t = append(t, methodParams[l.Method]...)
	if l.Intrinsic && l.Method == RLS {
		t = append(t, shareParams...)
	}
	solver := iterations
	if l.Method == RLS {
		solver = solver.Change("tolerance",
			func(p *models.Param) { p.Default += ", of nystrom and matrix-free" })
	}
	return append(t, solver...)
}

// Parameters of some methods only, and of the solver.
var (
	heatParams = models.Table[options]{
		{Param: models.Param{Name: "heat",
			Doc:     "t of the intrinsic norm fᵀexp(tL)f, the heat semigroup's, in place of fᵀLᵖf",
			Default: "none: fᵀLᵖf", Range: models.Positive(), Axis: true,
			Only: &models.Condition{Param: "gamma-i"}},
			At: func(o *options) any { return &o.Heat }},
		{Param: models.Param{Name: "intrinsic-sigma",
			Doc: "σ of a second, sharper Gaussian kernel k_s whose norm fᵀK_s⁻¹f takes the place of fᵀLᵖf, without a graph " +
				"(2006, Remark 4)",
			Default: "none: fᵀLᵖf", Range: models.Positive(), Axis: true,
			Only: &models.Condition{Param: "gamma-i"}},
			At: func(o *options) any { return &o.IntrinsicSigma }},
		{Param: models.Param{Name: "hessian",
			Doc: "dimension of the manifold for the Hessian energy in place of fᵀLᵖf, for values that vary steadily along it " +
				"(Kim, Steinke & Hein 2009)",
			Default: "none: fᵀLᵖf", Range: models.AtLeast(1), Axis: true,
			Only: &models.Condition{Param: "gamma-i"}},
			At: func(o *options) any { return &o.Hessian }},
	}
	methodParams = [...]models.Table[options]{
		RLS: {
			{Param: models.Param{Name: "intercept", Doc: "add a constant without penalty", Default: "false"},
				At: func(o *options) any { return &o.Intercept }},
		},
		SVR: {
			{Param: models.Param{Name: "epsilon", Doc: "ε of the loss max(0, |y − f| − ε)", Unit: "target",
				Default: "0.1", Range: models.Positive(), Axis: true},
				At: func(o *options) any { return &o.Epsilon }},
		},
		OneClass: {
			{Param: models.Param{Name: "nu", Doc: "share ν of the labeled points that may be outside",
				Default: "0.5", Range: &models.Range{High: 1, OpenLow: true}},
				At: func(o *options) any { return &o.Nu }},
		},
	}
	shareParams = onlyWithGraph(propagation.ShareParams(
		func(o *options) (*[]float64, *propagation.ClassShares) { return &o.Priors, &o.ClassShares }))
	iterations = solverParams(1e-6, func(o *options) (*float64, *int) { return &o.Tolerance, &o.MaxIterations })

	// settingsParams are all parameters of [Settings] but the norms, which check themselves.
	settingsParams = slices.Concat(heatParams, slices.Concat(methodParams[:]...), shareParams, iterations)
)

// onlyWithGraph returns t for γ_I > 0.
func onlyWithGraph(t models.Table[options]) models.Table[options] {
	for i := range t {
		t[i].Only = &models.Condition{Param: "gamma-i"}
	}
	return t
}

// solverParams are the parameters of iterative solvers.
func solverParams[S any](tolerance float64, at func(*S) (*float64, *int)) models.Table[S] {
	return models.Table[S]{
		{Param: models.Param{Name: "tolerance",
			Doc:     "violation, relative residual or gradient at which the solver stops",
			Default: models.FormatFloat(tolerance), Range: models.Positive()},
			At: func(s *S) any { t, _ := at(s); return t }},
		{Param: models.Param{Name: "max-iterations", Doc: "number of iterations after which the solver gives up",
			Default: "by the solver", Range: models.AtLeast(1)},
			At: func(s *S) any { _, n := at(s); return n }},
	}
}

// resolved is the table where the approximation is given: parameters that do not
// matter to it are faults.
func (l Learner) resolved() models.Table[options] {
	t := l.table()
	if !l.Method.approximates() {
		return t
	}
	t = onlyFor(t, approximationOnly)
	if l.Method == RLS {
		t = onlyFor(t, map[string][]Approximation{
			"tolerance": {Nystrom, MatrixFree}, "max-iterations": {Nystrom, MatrixFree},
			"intercept": {Exact, Nystrom, Fourier}})
	}
	return t
}

// decode returns the options that v stands for, or all faults at once. Where v leaves
// the approximation to be chosen, it is exact, or nystrom if v suits that alone.
func (l Learner) decode(v models.Values) (options, error) {
	if !l.Method.approximates() {
		return l.decodeAs(v)
	}
	return expansion.DecodeAny(v, l.decodeAs)
}

// decodeAs is decode where the approximation is given.
func (l Learner) decodeAs(v models.Values) (options, error) {
	o, err := l.resolved().Decode(v)
	o.Method = l.Method
	faults := []error{err, o.CheckNorm(), o.sharpFaults(), o.hessianFaults()}
	if o.Heat > 0 && o.Power > 1 {
		faults = append(faults, &models.ParamError{Name: "power", Value: v["power"], Must: "1 with heat"})
	}
	if o.Heat > 0 && o.Coefficients != nil {
		faults = append(faults, &models.ParamError{Name: "heat", Value: v["heat"], Must: "left out with penalty-coefficients"})
	}
	// Faults that no single parameter shows come with the others.
	if l.Method.approximates() {
		return o, errors.Join(append(faults, approximationFaults(v))...)
	}

	o.Approximation = Exact
	if l.Method == OneClass && o.GammaI == 0 {
		o.GammaA = 1 // does not matter
	}
	return o, errors.Join(faults...)
}

// values is the inverse of decode, for the learner that the settings name.
func (o *options) values() models.Values {
	return Learner{o.Method, o.GammaI > 0}.resolved().Encode(o)
}

// Resolve returns the values with the width of the kernel as a number.
func (Learner) Resolve(in *models.Input) (models.Values, error) { return expansion.ResolveWidth(in) }

// Check implements [models.Checker].
func (l Learner) Check(v models.Values) error {
	_, err := l.decode(v)
	return err
}

// Choose implements [models.Chooser]: see [expansion.ChooseApproximation].
func (l Learner) Choose(in *models.Input) (models.Values, string, error) {
	if !l.Method.approximates() {
		return in.Values, "", nil
	}
	n := 0
	if t := in.Targets; t != nil {
		if n = t.Len; in.Values.Float("gamma-i") == 0 {
			n = len(t.Labeled)
		}
	}

	// The number of points in the expansion decides: all of them with a graph, else the labeled
	// ones.
	return expansion.ChooseApproximation(in, n, l.Check, func(in *models.Input) (stage.Cost, error) {
		o, err := l.decodeAs(in.Values)
		if err != nil {
			return stage.Cost{}, err
		}
		return l.cost(in, &o)
	})
}

// Cost returns the cost of the way that Fit goes.
func (l Learner) Cost(in *models.Input) (stage.Cost, error) {
	o, err := l.optionsFor(in)
	if err != nil {
		return stage.Cost{}, err
	}
	return l.cost(in, &o)
}

// optionsFor decodes the values of in, with the approximation that [Learner.Choose]
// chooses.
func (l Learner) optionsFor(in *models.Input) (options, error) {
	if err := l.Check(in.Values); err != nil {
		return options{}, err
	}
	v, _, err := l.Choose(in)
	if err != nil {
		return options{}, err
	}
	return l.decode(v)
}

func (l Learner) cost(in *models.Input, o *options) (stage.Cost, error) {
	source, err := o.Kernel.Of(in.Points)
	if err != nil {
		return stage.Cost{}, err
	}
	if o.Approximation == Exact {
		return exactCost(in, source, &o.Settings), nil
	}
	c, err := approximateCost(in, source, &o.Settings, &o.ApproximationSettings)
	c.Remedy = o.remedy()
	return c, err
}

// Fit is the function [Fit], or [FitApproximate].
func (l Learner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	o, err := l.optionsFor(in)
	if err != nil {
		return nil, err
	}
	norms := o.Regularizer
	if o.IntrinsicSigma > 0 {
		norms.GammaI = 0 // there is no graph
	}
	d, err := dataOf(l, in, o.Kernel, norms)
	if err != nil {
		return nil, err
	}
	if o.Approximation == Exact {
		m, err := Fit(ctx, d, in.Targets, &o.Settings)
		if m != nil && models.Usable(err) {
			err = errors.Join(err, m.findUnreached(ctx, in))
		}
		return modelOf(m, err)
	}

	// Landmarks and features are drawn by the seed of the run.
	o.Seed = in.Seed
	m, err := FitApproximate(ctx, d, in.Targets, &o.Settings, &o.ApproximationSettings)
	if m != nil && models.Usable(err) {
		err = errors.Join(err, m.findUnreached(ctx, in))
	}
	return modelOf(m, err)
}

// modelOf returns m as a model if it is usable.
func modelOf[T any, M interface {
	*T
	models.Model
}](m M, err error) (models.Model, error) {
	if m == nil || !models.Usable(err) {
		return nil, err
	}
	return m, err
}

// exactCost returns the cost of [Fit].
func exactCost(in *models.Input, source kernel.Source, s *Settings) stage.Cost {
	rows, cols := in.Points.Dims()
	n := int64(rows)
	l := int64(len(in.Targets.Labeled))
	c := int64(s.columns(in.Targets))
	intrinsic := s.GammaI > 0
	side := source.Bytes()
	if !intrinsic && source.Values == nil {
		side = side / max(n, 1) * l
		n = l // the others are left out
	}

	kept := pointBytes(in.Points) / max(int64(rows), 1) * n
	// The Gram matrix is held to the end. While it is made, the points are there in
	// float64, and without a graph the labeled ones apart.
	held := 8 * n * n
	peak := held + side
	if intrinsic {
		const stripe = 256                        // columns of I + MK at a time, see Problem.system
		warp := 8 * (2*n*n + 2*n*l + l*l)         // with what factors leave
		blocks := int64(max(4, 2*(s.Degree()-1))) // scratch of sparse.Heat or of powers
		peak = max(peak, held+warp, held+8*(n*n+blocks*n*stripe))
		peak = max(peak, held+8*(2*n*n+(2+blocks)*n*stripe)) // the root of the Gram matrix and the system
		// The graph that tells whether exp(tL) is strong is not there yet.
		if s.Heat > 0 {
			peak = max(peak, held+heatedBytes(rows, len(in.Targets.Labeled)))
		}
		if s.Hessian > 0 {
			held += 24 * int64(in.EdgeCount()) * int64(s.Hessian*(s.Hessian+1)/2) // twice, with columns
			peak = max(peak, held+warp)
		}
		if s.IntrinsicSigma > 0 {
			held += 8 * n * n // K_s, to the end
			peak = max(peak, held+warp)
		}
		held += 8 * (n*l + l*l)
	} else if source.Values != nil {
		held += 8 * l * l
	} else {
		held += kept
	}

	// Least squares factor a matrix of order l; programs hold rows of it.
	fit := 8 * (l*l + 3*l*c)
	if s.Method != RLS {
		// Programs that run at the same time keep some rows among half of the variables.
		fit = 8 * (min(c, threads())*(12*l+min(l/2, 4096)*min(l/2, 4096)/4) + l*c)
	}

	fit += 8*2*n*c + kept // the expansion
	out := stage.Cost{Bytes: stage.DenseBytes(max(peak, held+fit)),
		Remedy: "give fewer points, or take a linear model"}
	if s.Method == OneClass && !intrinsic {
		out.Bytes = max(peak, held+fit) + stage.RuntimeBytes // rows come and stay: there are no products
	}
	if s.Method.approximates() {
		out.Remedy = fmt.Sprintf("take %s nystrom, give fewer points, or take a linear model", param.Name("approximation"))
	}
	fn := float64(n)
	fl := float64(l)
	out.Operations = fn*fn*float64(cols) + fl*fl*fl/3
	if intrinsic {
		out.Operations += fn * fn * (2*fn/3 + 2*fl)
		if s.Heat > 0 {
			out.Operations += heatedOperations(fn, fl)
		}
	}
	return out
}

// approximationFaults returns the faults that no single parameter shows: an odd number of features,
// features for a kernel that they do not approximate, and exp(tL) in an approximation.
func approximationFaults(v models.Values) error {
	var faults []error
	if text, ok := v["features"]; ok {
		if m, err := strconv.ParseFloat(text, 64); err == nil && math.Mod(m, 2) != 0 {
			faults = append(faults, &models.ParamError{Name: "features", Value: text, Must: "an even number"})
		}
	}

	for _, name := range []string{"heat", "intrinsic-sigma", "hessian"} {
		if _, ok := v[name]; ok && v["approximation"] != Exact.String() {
			faults = append(faults, &models.UnusedError{Name: name,
				Only: &models.Condition{Param: "approximation", In: []string{Exact.String()}},
				Is:   v["approximation"]})
		}
	}
	kinds := expansion.WidthKernels
	if k, ok := v["kernel"]; ok && v["approximation"] == Fourier.String() && !slices.Contains(kinds, k) {
		faults = append(faults, &models.UnusedError{Name: "approximation", Value: Fourier.String(),
			Only: &models.Condition{Param: "kernel", In: kinds}, Is: k})
	}
	return errors.Join(faults...)
}

// approximationParams are the parameters of [ApproximationSettings].
var approximationParams = models.Table[ApproximationSettings]{
	{Param: models.Param{Name: "approximation", Doc: "how the machine is fitted: exact, by " +
		"landmarks, by random Fourier features, or by products with a Gram matrix that is not held; " +
		"auto is what other values imply, or else exact up to 5000 points and beyond by landmarks " +
		"where that is faster",
		Default: expansion.AutoApproximation, Choices: []string{expansion.AutoApproximation, Exact.String(),
			Nystrom.String(), Fourier.String(), MatrixFree.String()}},
		At: func(s *ApproximationSettings) any { return &s.Approximation }},
	{Param: models.Param{Name: "landmarks",
		Doc: "number of points over which the function is expanded; with matrix-free, number of " +
			"points of the preconditioner", Default: "√n·ln n, 500 to 4000", Range: models.AtLeast(1)},
		At: func(s *ApproximationSettings) any { return &s.Landmarks }},
	{Param: models.Param{Name: "features", Doc: "number of random Fourier features, even",
		Default: "2000, of fourier", Range: models.AtLeast(2)},
		At: func(s *ApproximationSettings) any { return &s.Features }},
	{Param: models.Param{Name: "sampling", Doc: "how landmarks are drawn",
		Default: solvers.RandomPivots.String() + ", of nystrom and matrix-free",
		Choices: enum.All[solvers.Sampling]()},
		At: func(s *ApproximationSettings) any { return &s.Sampling }},
}

// approximationOnly says for which approximations a parameter is.
var approximationOnly = map[string][]Approximation{
	"landmarks": {Nystrom, MatrixFree}, "sampling": {Nystrom, MatrixFree}, "features": {Fourier},
}

// onlyFor returns t with conditions on the approximation.
func onlyFor[S any](t models.Table[S], only map[string][]Approximation) models.Table[S] {
	t = slices.Clone(t)
	for i := range t {
		if list, ok := only[t[i].Name]; ok {
			t[i].Only = &models.Condition{Param: "approximation"}
			for _, a := range list {
				t[i].Only.In = append(t[i].Only.In, a.String())
			}
		}
	}
	return t
}

// withoutChoice returns approximations without one of them, and why.
func withoutChoice(t models.Table[ApproximationSettings], a Approximation,
	why string) models.Table[ApproximationSettings] {
	return t.Change("approximation", func(p *models.Param) {
		p.Why = why
		p.Choices = slices.DeleteFunc(slices.Clone(p.Choices),
			func(name string) bool { return name == a.String() })
	})
}
