package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
)

// modelSettings are the settings of one model; all but one are nil, but that scale
// may be there with kernel and vvmr.
type modelSettings struct {
	eigenmap *eigenmap.Settings
	graph    *propagation.Settings
	linear   *linear.Settings
	kernel   *kernelmachine.Settings
	scale    *kernelmachine.ApproximationSettings // nil is exact
	sssl     *eigenfunction.Settings
	vvmr     *kernelmachine.VVMRSettings

	tsvm       *kernelmachine.TSVMSettings
	linearTSVM *linear.TSVMSettings
	nearest    *nearest.Settings
}

// targetKind is what a model learns.
type targetKind int

const (
	classes targetKind = iota
	numbers
	classesOrNumbers
	inside           // where the labeled points are, whatever their labels
	severalOrNumbers // labels, of which a point may have several
)

// modelSpec is a row of the table of models.
type modelSpec struct {
	name    string
	about   string // a line of help
	targets targetKind
	base    modelSettings // what the name says of the settings
	flags   []string      // that are not of every model
}

// Flags by what they are for.
var (
	edgeFlags      = []string{"graph", "pca", "distance", "neighbors", "radius", "symmetry", "weights", "method", "recall", "t"}
	ambientFlags   = []string{"gamma-a"}
	intrinsicFlags = append([]string{"gamma-i", "power", "scaling", "laplacian"}, edgeFlags...)
	solverFlags    = []string{"tolerance", "max-iterations"}
	hingeFlags     = []string{"loss", "width"}
	eigenmapFlags  = []string{"eigs", "laplacian", "tolerance", "eigenvectors", "penalty", "gamma", "power", "heat-t", "folds"}
)

// modelTable are all models that bigfit fit knows.
var modelTable = []modelSpec{
	{eigenmap.Name, "least squares on eigenvectors of the Laplacian (Belkin & Niyogi 2004)", classes,
		modelSettings{eigenmap: &eigenmap.Settings{}}, slices.Concat(edgeFlags, eigenmapFlags)},

	{propagation.Harmonic.String(), "harmonic functions, label propagation (Zhu et al. 2003)", classesOrNumbers,
		onGraph(propagation.Harmonic), slices.Concat(edgeFlags, solverFlags, []string{"class-mass", "priors"})},
	{propagation.LGC.String(), "local and global consistency, label spreading (Zhou et al. 2003)", classes,
		onGraph(propagation.LGC), slices.Concat(edgeFlags, solverFlags, []string{"alpha"})},
	{propagation.Tikhonov.String(), "least squares with both norms on the graph alone", classesOrNumbers,
		onGraph(propagation.Tikhonov), slices.Concat(ambientFlags, intrinsicFlags, solverFlags)},
	{propagation.Poisson.String(), "Poisson learning, for very few labels (Calder et al. 2020)", classes,
		onGraph(propagation.Poisson), slices.Concat(edgeFlags, solverFlags, []string{"priors"})},

	{linear.RLSName, "regularized least squares, wᵀx + b", classesOrNumbers,
		linearModel(linear.LeastSquares), slices.Concat(ambientFlags, solverFlags)},
	{linear.SVMName, "support vector machine, wᵀx + b", classes,
		linearModel(linear.SquaredHinge), slices.Concat(ambientFlags, solverFlags, hingeFlags)},
	{linear.LapRLSName, "rls-linear with the intrinsic norm", classesOrNumbers,
		linearModel(linear.LeastSquares), slices.Concat(ambientFlags, intrinsicFlags, solverFlags)},
	{linear.LapSVMName, "svm-linear with the intrinsic norm", classes,
		linearModel(linear.SquaredHinge), slices.Concat(ambientFlags, intrinsicFlags, solverFlags, hingeFlags)},

	{linear.TSVMName, "svm-linear that assigns classes to the other points (Sindhwani & Keerthi 2006)", classes,
		modelSettings{linearTSVM: &linear.TSVMSettings{}}, slices.Concat(ambientFlags, transductionFlags, solverFlags, hingeFlags)},

	{nearest.Name, "vote of the nearest labeled points", classes,
		modelSettings{nearest: &nearest.Settings{}}, nearestFlags},
	{kernelmachine.RLSName, "regularized least squares with a kernel", classesOrNumbers,
		withKernel(kernelmachine.RLS), slices.Concat(ambientFlags, kernelFlags, meansFlags, solverFlags, []string{"intercept"})},
	{kernelmachine.SVMName, "support vector machine with a kernel", classes,
		withKernel(kernelmachine.SVM), slices.Concat(ambientFlags, kernelFlags, meansFlags, solverFlags)},
	{kernelmachine.TSVMName, "svm that assigns classes to the other points (Joachims 1999)", classes,
		modelSettings{tsvm: &kernelmachine.TSVMSettings{}}, slices.Concat(ambientFlags, transductionFlags, kernelFlags, solverFlags)},
	{kernelmachine.SVRName, "support vector regression with a kernel", numbers,
		withKernel(kernelmachine.SVR), slices.Concat(ambientFlags, kernelFlags, solverFlags, []string{"epsilon"})},
	{eigenfunction.Name, "least squares on eigenfunctions of a kernel over all points (Ji et al. 2012)", classesOrNumbers,
		modelSettings{sssl: &eigenfunction.Settings{}}, slices.Concat(kernelFlags, []string{"eigenvectors", "landmarks", "intercept", "folds"})},
	{kernelmachine.OneClassName, "where the labeled points are: class 1 inside, -1 outside", inside,
		withKernel(kernelmachine.OneClass), slices.Concat(kernelFlags, solverFlags, []string{"nu"})},
	{kernelmachine.LapRLSName, "rls with the intrinsic norm (Belkin, Niyogi & Sindhwani 2006)", classesOrNumbers,
		withKernel(kernelmachine.RLS), slices.Concat(ambientFlags, intrinsicFlags, kernelFlags, meansFlags, solverFlags, []string{"intercept"})},
	{kernelmachine.LapSVMName, "svm with the intrinsic norm (Belkin, Niyogi & Sindhwani 2006)", classes,
		withKernel(kernelmachine.SVM), slices.Concat(ambientFlags, intrinsicFlags, kernelFlags, meansFlags, solverFlags)},
	{kernelmachine.LapSVRName, "svr with the intrinsic norm", numbers,
		withKernel(kernelmachine.SVR), slices.Concat(ambientFlags, intrinsicFlags, kernelFlags, solverFlags, []string{"epsilon"})},
	{kernelmachine.LapOneClassName, "oneclass with the intrinsic norm", inside,
		withKernel(kernelmachine.OneClass), slices.Concat(ambientFlags, intrinsicFlags, kernelFlags, solverFlags, []string{"nu"})},

	{kernelmachine.VVMRName, "several labels a point, or several values (Minh & Sindhwani 2011)", severalOrNumbers,
		modelSettings{vvmr: &kernelmachine.VVMRSettings{}}, slices.Concat(ambientFlags, intrinsicFlags, kernelFlags, []string{"means", "landmarks", "sampling"}, solverFlags, outputFlags)},
}

func onGraph(m propagation.Method) modelSettings {
	return modelSettings{graph: &propagation.Settings{Method: m}}
}

func linearModel(l linear.Loss) modelSettings {
	return modelSettings{linear: &linear.Settings{Loss: l}}
}

func withKernel(m kernelmachine.Method) modelSettings {
	return modelSettings{kernel: &kernelmachine.Settings{Method: m}}
}

// findModel returns the row of the model with this name.
func findModel(name string) (*modelSpec, error) {
	i := slices.IndexFunc(modelTable, func(m modelSpec) bool { return m.name == name })
	if i < 0 {
		return nil, usagef("unknown model %q; the models are %s", name, modelsThat(func(*modelSpec) bool { return true }))
	}
	return &modelTable[i], nil
}

// modelsThat lists the names of models.
func modelsThat(ok func(*modelSpec) bool) string {
	var names []string
	for i := range modelTable {
		if ok(&modelTable[i]) {
			names = append(names, modelTable[i].name)
		}
	}
	return strings.Join(names, ", ")
}

// modelHelp is the table as text.
func modelHelp() string {
	var b strings.Builder
	for _, m := range modelTable {
		fmt.Fprintf(&b, "  %-14s %s\n", m.name, m.about)
	}
	return b.String()
}

// uses tells whether a flag is for the model.
func (m *modelSpec) uses(flag string) bool { return slices.Contains(m.flags, flag) }

// transductive tells whether the model knows its training points, so that a
// graph without points is enough.
func (m *modelSpec) transductive() bool { return m.base.eigenmap != nil || m.base.graph != nil }

// takesNumbers tells whether the model can learn values.
func (m *modelSpec) takesNumbers() bool {
	return m.targets == numbers || m.targets == classesOrNumbers || m.targets == severalOrNumbers
}

// tunable tells whether bigfit tune knows the model. The fits of transductive
// machines on the folds would share nothing, knn chooses for itself, and the
// measures are not of several labels a point.
func (m *modelSpec) tunable() bool {
	return m.targets != inside && m.targets != severalOrNumbers && m.base.tsvm == nil && m.base.linearTSVM == nil && m.base.nearest == nil
}

// checkFlags returns an error if a flag on the command line is for other models.
func (m *modelSpec) checkFlags(given map[string]bool) error {
	for _, flag := range slices.Sorted(maps.Keys(given)) {
		if m.uses(flag) {
			continue
		}
		if others := modelsThat(func(o *modelSpec) bool { return o.uses(flag) }); others != "" {
			return usagef("--%s is not for %s, but for %s", flag, m.name, others)
		}
	}
	return nil
}

// modelOptions are the flags of models' own settings.
type modelOptions struct {
	kernelOptions
	meansOptions
	outputs                             outputOptions
	gammaA, gammaI, gamma, alpha, power float64

	eigenvectors  int
	scaling       models.Scaling
	loss          linear.Loss
	width         float64
	classMass     bool
	priors        []float64
	intercept     bool
	epsilon, nu   float64
	penalty       eigenmap.Penalty
	heatT         float64
	folds         int
	maxIterations int

	unlabeledWeight float64
	vote            int
}

func newModelOptions() modelOptions {
	return modelOptions{kernelOptions: newKernelOptions(), loss: linear.SquaredHinge}
}

func (o *modelOptions) flags(f *pflag.FlagSet) {
	f.Float64Var(&o.gammaA, "gamma-a", o.gammaA, "weight γ_A of the ambient norm")
	f.Float64Var(&o.gammaI, "gamma-i", o.gammaI, "weight γ_I of the intrinsic norm fᵀLᵖf")
	f.Float64Var(&o.power, "power", o.power, "power of the Laplacian: p of Lᵖ (default 1), or s of the penalty λˢ (2)")
	f.Float64Var(&o.alpha, "alpha", o.alpha, "α of lgc, between 0 and 1 (default 0.99)")
	f.IntVarP(&o.eigenvectors, "eigenvectors", "p", o.eigenvectors, "eigenvectors used (default: 20 % of labels; 200 with a penalty; sssl: by cross-validation)")
	f.Float64Var(&o.gamma, "gamma", o.gamma, "strength of the eigenmap's penalty (default: by cross-validation)")
	o.kernelFlags(f)
	o.meansFlags(f)
	o.outputs.flags(f)
	nameFlag(f, &o.scaling, "scaling", "γ_I as it is or over the square of the number of points: direct, per-pair")
	nameFlag(f, &o.loss, "loss", "loss of linear support vector machines: squared-hinge, huberized-hinge")
	f.Float64Var(&o.width, "width", o.width, "half the width of the rounded corner of the huberized hinge (default 0.1)")
	f.BoolVar(&o.classMass, "class-mass", o.classMass, "scale each class of a harmonic function to its share: class mass normalization")
	f.Float64SliceVar(&o.priors, "priors", o.priors, "`shares` of the classes, ascending, for poisson, tsvm and --class-mass (default: those of the labels)")
	f.Float64Var(&o.unlabeledWeight, "unlabeled-weight", o.unlabeledWeight, "what the loss of a point without a label counts in a tsvm beside that of one with: C*/C (default 1)")
	f.IntVar(&o.vote, "vote", o.vote, "nearest labeled points that vote in knn (default: 1, 3, …, 15 by leave-one-out on the labels)")
	f.BoolVar(&o.intercept, "intercept", o.intercept, "add a constant without penalty to rls, laprls and sssl; the others have one")
	f.Float64Var(&o.epsilon, "epsilon", o.epsilon, "ε of support vector regression, in the unit of y (default 0.1)")
	f.Float64Var(&o.nu, "nu", o.nu, "share ν of the labeled points that may be outside, at most 1 (default 0.5)")
	nameFlag(f, &o.penalty, "penalty", "penalty on the eigenmap's coefficients: none, iterated, heat")
	f.Float64Var(&o.heatT, "heat-t", o.heatT, "t of the heat penalty exp(tλ) (default 1)")
	f.IntVar(&o.folds, "folds", o.folds, "folds of the cross-validation (default 5)")
	f.IntVar(&o.maxIterations, "max-iterations", o.maxIterations, "iterations after which a solver gives up (default: by the model)")
	f.Lookup("priors").DefValue = ""
}

// required returns an error if the model needs weights that are not given.
func (m *modelSpec) required(flags *pflag.FlagSet) error {
	for _, flag := range []string{"gamma-a", "gamma-i"} {
		if f := flags.Lookup(flag); m.uses(flag) && !f.Changed {
			return usagef("%s needs --%s, the %s", m.name, flag, f.Usage)
		}
	}
	return nil
}

// check returns an error if a setting of the model is out of its range, or one
// was given that its kernel or loss does not have.
func (o *modelOptions) check(m *modelSpec, given map[string]bool) error {
	if m.base.eigenmap != nil {
		return nil // by the model
	}
	least := "at least 0, which leaves the graph out"
	if m.base.graph != nil {
		least = "positive"
	}
	for _, c := range []struct {
		flag  string
		value float64
		ok    bool
		want  string
	}{
		{"gamma-a", o.gammaA, o.gammaA > 0, "positive"},
		{"gamma-i", o.gammaI, o.gammaI > 0 || o.gammaI == 0 && m.base.graph == nil, least},
		{"power", o.power, o.power == 0 && !given["power"] || o.power >= 1 && o.power == math.Trunc(o.power), "a whole number of at least 1"},
		{"alpha", o.alpha, o.alpha == 0 && !given["alpha"] || o.alpha > 0 && o.alpha < 1, "between 0 and 1"},
		{"width", o.width, o.width == 0 && !given["width"] || o.width > 0 && o.width <= 1, "positive and at most 1"},
		{"epsilon", o.epsilon, o.epsilon == 0 && !given["epsilon"] || o.epsilon > 0, "positive"},
		{"nu", o.nu, o.nu == 0 && !given["nu"] || o.nu > 0 && o.nu <= 1, "positive and at most 1"},
		{"eigenvectors", float64(o.eigenvectors), o.eigenvectors > 0 || !given["eigenvectors"], "at least 1"},
		{"landmarks", float64(o.landmarks), o.landmarks > 0 || !given["landmarks"], "at least 1"},
		{"vote", float64(o.vote), o.vote > 0 || !given["vote"], "at least 1"},
		{"unlabeled-weight", o.unlabeledWeight, o.unlabeledWeight == 0 && !given["unlabeled-weight"] || o.unlabeledWeight > 0, "positive"},
		{"folds", float64(o.folds), o.folds > 1 || !given["folds"], "at least 2"},
		{"max-iterations", float64(o.maxIterations), o.maxIterations > 0 || !given["max-iterations"], "at least 1"},
	} {
		if m.uses(c.flag) && !(c.ok && !math.IsInf(c.value, 0)) {
			return usagef("--%s is %v; it must be %s", c.flag, c.value, c.want)
		}
	}
	if m.uses("width") && given["width"] && o.loss != linear.HuberizedHinge {
		return usagef("--width is for %v, not %v", linear.HuberizedHinge, o.loss)
	}
	if m.uses("loss") && o.loss == linear.LeastSquares {
		return usagef("--loss is %v, which makes it %s", o.loss, strings.Replace(m.name, "svm", "rls", 1))
	}
	if m.uses("class-mass") && len(o.priors) > 0 && !o.classMass {
		return usagef("--priors is for --class-mass, which is not given")
	}
	if m.uses("unlabeled-weight") {
		if err := o.checkShares(); err != nil {
			return err
		}
	}
	if m.uses("gamma-o") {
		if err := o.outputs.check(given); err != nil {
			return err
		}
	}
	if m.uses("means") {
		if err := o.checkMeans(m, o, given); err != nil {
			return err
		}
	}
	if m.uses("kernel") {
		return o.checkKernel(given)
	}
	return nil
}

// settings returns the settings of the model. What they do not name has its
// default; tolerance is 0 for it.
func (o *modelOptions) settings(m *modelSpec, l sparse.Kind, tolerance float64, seed uint64) modelSettings {
	r := models.Regularizer{GammaA: o.gammaA}
	if m.uses("gamma-i") {
		r.GammaI, r.Power, r.Laplacian, r.Scaling = o.gammaI, int(o.power), l, o.scaling
	}
	switch base := m.base; {
	case base.eigenmap != nil:
		return modelSettings{eigenmap: &eigenmap.Settings{Eigenvectors: o.eigenvectors, Penalty: o.penalty, Gamma: o.gamma,
			Power: o.power, T: o.heatT, Folds: o.folds, Seed: seed}}
	case base.graph != nil:
		s := *base.graph
		s.Tolerance, s.MaxIterations = tolerance, o.maxIterations
		switch s.Method {
		case propagation.Harmonic:
			s.MassNormalization, s.Priors = o.classMass, o.priors
		case propagation.LGC:
			s.Alpha = o.alpha
		case propagation.Tikhonov:
			s.Regularizer = r
		case propagation.Poisson:
			s.Priors = o.priors
		}
		return modelSettings{graph: &s}
	case base.linear != nil:
		s := *base.linear
		s.Regularizer, s.Tolerance, s.MaxIterations = r, tolerance, o.maxIterations
		if m.uses("loss") {
			s.Loss, s.Width = o.loss, o.width
		}
		return modelSettings{linear: &s}
	case base.tsvm != nil:
		return o.tsvmSettings(r, tolerance)
	case base.linearTSVM != nil:
		return o.linearTSVMSettings(r, tolerance)
	case base.nearest != nil:
		return modelSettings{nearest: &nearest.Settings{Vote: o.vote}}
	case base.sssl != nil:
		return modelSettings{sssl: &eigenfunction.Settings{Eigenfunctions: o.eigenvectors, Landmarks: o.landmarks, Intercept: o.intercept, Folds: o.folds, Seed: seed}}
	}
	if m.base.vvmr != nil {
		return modelSettings{scale: o.scale(seed), vvmr: &kernelmachine.VVMRSettings{Regularizer: r, GammaO: o.outputs.gammaO, Tolerance: tolerance, MaxIterations: o.maxIterations}}
	}
	s := *m.base.kernel
	s.Regularizer = r
	if !m.uses("gamma-a") {
		s.GammaA = 1 // does not matter without an intrinsic norm
	}
	if m.uses("tolerance") {
		s.Tolerance, s.MaxIterations = tolerance, o.maxIterations
	}
	switch s.Method {
	case kernelmachine.RLS:
		s.Intercept = o.intercept
	case kernelmachine.SVR:
		s.Epsilon = o.epsilon
	case kernelmachine.OneClass:
		s.Nu = o.nu
	}
	out := modelSettings{kernel: &s}
	if m.uses("means") {
		out.scale = o.scale(seed)
	}
	return out
}
