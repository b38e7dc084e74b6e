package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/stage"
)

// TSVMLearner fits a [TSVM].
type TSVMLearner struct{}

// tsvmOptions are all that its parameters say.
type tsvmOptions struct {
	TSVMSettings
	Choice linear.TransductionChoice
	Kernel expansion.KernelChoice
}

// tsvmWeights are the weights of the norms. γ_I is 0 unless it is given: a graph is an addition to TSVM.
var tsvmWeights = normWeights.Change("gamma-i", func(p *models.Param) {
	p.Doc = "weight γ_I of the intrinsic norm fᵀLᵖf, which warps the kernel by the graph; 0 leaves the graph out"
	p.Required = false
	p.Default = "0"
	p.Few = ""
})

// tsvmParams are the parameters of tsvmOptions.
var tsvmParams = slices.Concat(
	models.Part(tsvmWeights, func(o *tsvmOptions) *regularizer.Regularizer { return &o.Regularizer }),
	models.Part(expansion.KernelParams, func(o *tsvmOptions) *expansion.KernelChoice { return &o.Kernel }),
	models.Part(normRest, func(o *tsvmOptions) *regularizer.Regularizer { return &o.Regularizer }),
	models.Part(linear.TransductionParams,
		func(o *tsvmOptions) *linear.TransductionChoice { return &o.Choice }),
	solverParams(1e-3, func(o *tsvmOptions) (*float64, *int) { return &o.Tolerance, &o.MaxIterations }),
)

// Info describes the learner.
func (TSVMLearner) Info() models.Info {
	return models.Info{Name: TSVMName, Help: "svm that assigns classes to the other points (Joachims 1999)",
		Formula: "min over f and signs y of the points without a label\n" +
			"1/l (Σ over labels of max(0, 1 − y_i f(x_i)) + C* Σ over the others of the same) + γ_A ‖f‖² [+ γ_I fᵀLᵖf],\n" +
			"a given share of the signs positive",
		Source: "Joachims 1999, algorithm 1; Sindhwani & Keerthi 2006, section 3; with γ_I Sindhwani et al. 2005",
		Scores: "margin f of the class against the others: ±1 at the edge of the margin",
		Learns: models.LearnsClasses, Needs: models.NeedsPoints | models.NeedsKernel | models.NeedsGraph,
		GraphIf: "gamma-i"}
}

// Params lists the parameters.
func (TSVMLearner) Params() []models.Param { return tsvmParams.Params() }

// decodeTSVM returns the options that v stands for, or all faults at once.
func decodeTSVM(v models.Values) (tsvmOptions, error) {
	o, err := tsvmParams.Decode(v)
	return o, errors.Join(err, o.CheckNorm())
}

// Check implements [models.Checker].
func (TSVMLearner) Check(v models.Values) error {
	_, err := decodeTSVM(v)
	return err
}

// Resolve returns the values with the width of the kernel as a number.
func (TSVMLearner) Resolve(in *models.Input) (models.Values, error) {
	return expansion.ResolveWidth(in)
}

// Cost returns the cost of the values among all points, and of the programs of as many
// outputs as run at the same time.
func (TSVMLearner) Cost(in *models.Input) (stage.Cost, error) {
	o, err := decodeTSVM(in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	source, err := o.Kernel.Of(in.Points)
	if err != nil {
		return stage.Cost{}, err
	}
	rows, cols := in.Points.Dims()
	n := int64(rows)
	c := int64(in.Targets.Y.RawMatrix().Cols)
	// Outputs run at the same time, one in each thread, and each holds vectors and the rows of its
	// active variables.
	held := min(n/2, 4096) // rows of a program
	programs := 8 * (min(c, threads())*(20*n+held*held) + 6*n*c)
	bytes := 8*n*n + max(source.Bytes(), programs+pointBytes(in.Points))
	out := stage.Cost{Operations: float64(n) * float64(n) * float64(cols),
		Remedy: "give fewer points, or take tsvm-linear"}
	if o.GammaI > 0 {
		// The kernel is warped at all points: see [Problem.Warp]. The warped values and the solution that
		// they came from stay beside the programs.
		out.Operations += float64(n) * float64(n) * float64(n) * (2./3 + 2)
		blocks := int64(max(4, 2*(o.Degree()-1)))
		bytes = max(8*n*n+source.Bytes(), 8*(6*n*n+blocks*n*256), 8*3*n*n+programs+pointBytes(in.Points))
	}
	out.Bytes = stage.DenseBytes(bytes)
	return out, nil
}

// Fit is the function [FitTSVM].
func (l TSVMLearner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	o, err := decodeTSVM(in.Values)
	if err != nil {
		return nil, err
	}
	if o.Transduction, err = o.Choice.On(in.Targets); err != nil {
		return nil, err
	}
	d, err := dataOf(l, in, o.Kernel, o.Regularizer)
	if err != nil {
		return nil, err
	}
	return modelOf(FitTSVM(ctx, d, in.Targets, &o.TSVMSettings))
}

// Name is [TSVMName].
func (m *TSVM) Name() string { return TSVMName }

// Summary adds to the summary of the machine the targets of the unlabeled points.
func (m *TSVM) Summary() models.Summary {
	s := m.Machine.Summary()
	s.Values = m.values()
	m.Describe(&s, m.Settings.Transduction)
	return s
}

func (m *TSVM) values() models.Values {
	return tsvmParams.Encode(&tsvmOptions{m.Settings, m.Settings.Choice(), m.KernelChoice()})
}

// tsvmFit is the part of a model in its manifest.
type tsvmFit struct {
	Gap      float64   `json:"gap"`
	Residual float64   `json:"residual,omitempty"`
	Positive []float64 `json:"positive"`
	farFit
	linear.FileFit
}

// Encode returns the arrays of [Machine.Encode], unlabeled (u), the numbers of the
// points that had no label, and assigned (u×c), their targets.
func (m *TSVM) Encode() (*models.Encoded, error) {
	return &models.Encoded{Values: m.values(), Fit: tsvmFit{m.Gap, m.Residual, m.Settings.Positive, m.far(), m.File(m.Labeled)},
		Arrays: append(m.Arrays(), m.Entries()...)}, nil
}

// Decode is the inverse of [TSVM.Encode].
func (TSVMLearner) Decode(r *models.Reader) (models.Model, error) {
	var f tsvmFit
	if err := r.Fit(&f); err != nil {
		return nil, err
	}
	o, err := decodeTSVM(r.Manifest.Params)
	if err != nil {
		return nil, err
	}
	machine, err := o.machine().fill()
	if err != nil {
		return nil, err
	}

	// The machine is an expansion; the rest says what became of the unlabeled points.
	e, err := expansion.Read(r, o.Kernel, true)
	if err != nil {
		return nil, err
	}
	m := &TSVM{Settings: o.TSVMSettings,
		Machine: &Machine{Settings: machine, Expansion: *e, Labeled: f.Labeled, Gap: f.Gap, Residual: f.Residual}}
	m.Settings.Regularizer = machine.Regularizer
	m.Settings.Transduction = linear.Transduction{Weight: o.Choice.Weight, Positive: f.Positive}
	if !(m.Settings.Weight > 0) || !(m.Settings.Tolerance > 0) || len(f.Positive) != len(m.Intercepts) {
		return nil, fmt.Errorf("kernelmachine: weight %v, tolerance %v and shares of %d classes for %d outputs", m.Settings.Weight, m.Settings.Tolerance, len(f.Positive), len(m.Intercepts))
	}

	for _, v := range f.Positive {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("kernelmachine: a share of %v of the points", v)
		}
	}

	if err := errors.Join(m.setFar(f.farFit), m.check()); err != nil {
		return nil, err
	}
	m.Transduced, err = linear.ReadTransduced(r, f.FileFit, len(m.Intercepts))
	return m, err
}
