package kernelmachine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/stage"
)

// VVMRLearner fits a [VVMR].
type VVMRLearner struct{}

// vvmrOptions are all that its parameters say.
type vvmrOptions struct {
	VVMRSettings
	Kernel        expansion.KernelChoice
	Approximation ApproximationSettings
}

// vvmrParams are the parameters of vvmrOptions for a user. [withApproximation] fills in the
// approximation.
var vvmrParams = slices.Concat(
	models.Part(normWeights, func(o *vvmrOptions) *regularizer.Regularizer { return &o.Regularizer }),
	models.Part(expansion.KernelParams, func(o *vvmrOptions) *expansion.KernelChoice { return &o.Kernel }),
	models.Part(normRest, func(o *vvmrOptions) *regularizer.Regularizer { return &o.Regularizer }),
	models.Table[vvmrOptions]{
		{Param: models.Param{Name: "gamma-o", Doc: "weight γ_O of the likeness of outputs: at 0 each " +
			"output is fitted by itself; at 1 outputs without an edge, and the common part of all, are lost; it " +
			"needs a graph of the outputs", Default: "0", Range: models.Within(0, 1),
			Axis: true},
			At: func(o *vvmrOptions) any { return &o.GammaO }},
		{Param: models.Param{Name: "output-neighbors", Doc: "number of other outputs, those with " +
			"the nearest targets, that each output is joined with; for use without a graph of the outputs",
			Default: "the graph that is given", Range: models.AtLeast(1)},
			At: func(o *vvmrOptions) any { return &o.OutputNeighbors }},
		{Param: models.Param{Name: "loss", Doc: "loss: squared; or hinge, for labels: a lapsvm for each label, " +
			"fitted together where outputs are alike", Default: SquaredLoss.String(), Choices: vvmrLosses.All()},
			At: func(o *vvmrOptions) any { return &o.Loss }},
	},
	models.Part(withoutChoice(approximationParams.Without("features"), Fourier,
		"vvmr has no Fourier features"),
		func(o *vvmrOptions) *ApproximationSettings { return &o.Approximation }),
	solverParams(1e-10, func(o *vvmrOptions) (*float64, *int) { return &o.Tolerance, &o.MaxIterations }).
		Change("tolerance", func(p *models.Param) {
			p.Range = models.Between(0, 1)
			p.Default += ", with loss hinge 1e-06"
		}).
		Change("max-iterations", func(p *models.Param) { p.Default = "1000, with loss hinge by the solver" }),
)

// Info describes the learner.
func (VVMRLearner) Info() models.Info {
	return models.Info{Name: VVMRName, Help: "several labels a point, or several values (Minh & " +
		"Sindhwani 2011)", Formula: "min over f  1/l Σ ‖f(x_i) − y_i‖² + γ_A ‖f‖² + γ_I Σ over outputs of fᵀLᵖf,\n" +
		"‖f‖ the norm of the kernel k(x, z) Q, Q made of the graph of the outputs and γ_O",
		Source: "Minh & Sindhwani 2011, section 4 and equation (17)",
		Scores: "least-squares estimate of 1 for a label of the point and −1 for one it lacks, or the value; with " +
			"hinge the margin",
		Learns:  models.LearnsLabels | models.LearnsValues,
		Needs:   models.NeedsPoints | models.NeedsGraph | models.NeedsKernel | models.NeedsOutputGraph,
		GraphIf: "gamma-i", ShrinksToZero: true}
}

// Params lists the parameters.
func (VVMRLearner) Params() []models.Param { return vvmrParams.Params() }

// decodeVVMR returns the options that v stands for, or all faults at once; [expansion.DecodeAny]
// chooses the approximation.
func decodeVVMR(v models.Values) (vvmrOptions, error) {
	return expansion.DecodeAny(v, func(v models.Values) (vvmrOptions, error) {
		o, err := onlyFor(vvmrParams, approximationOnly).Decode(v)
		return o, errors.Join(err, o.CheckNorm(), o.checkLoss())
	})
}

// Choose implements [models.Chooser]: see [expansion.ChooseApproximation].
func (l VVMRLearner) Choose(in *models.Input) (models.Values, string, error) {
	n := 0
	if in.Targets != nil {
		n = in.Targets.Len
	}
	return expansion.ChooseApproximation(in, n, l.Check, l.cost)
}

// Check implements [models.Checker].
func (VVMRLearner) Check(v models.Values) error {
	_, err := decodeVVMR(v)
	return err
}

// options decodes the values of in, with the approximation that Choose chooses.
func (l VVMRLearner) options(in *models.Input) (vvmrOptions, error) {
	if l.Check(in.Values) != nil {
		return decodeWith(in, in.Values) // all faults at once
	}
	v, _, err := l.Choose(in)
	if err != nil {
		return vvmrOptions{}, err
	}
	return decodeWith(in, v)
}

// decodeWith decodes v, which names the approximation, and checks that γ_O has one graph of
// outputs.
func decodeWith(in *models.Input, v models.Values) (vvmrOptions, error) {
	o, err := decodeVVMR(v)
	if _, given := in.Values["output-neighbors"]; given && in.Outputs != nil {
		err = errors.Join(err, models.Faultf("%s makes a graph of the outputs and one is given; give one of them", param.Name("output-neighbors")))
	} else if in.OutputKernel != nil && (given || in.Outputs != nil || in.Values.Float("gamma-o") > 0) {
		err = errors.Join(err, models.Faultf("%s takes the place of a graph of the outputs; leave "+
			"out %s, %s and %s", param.Name("output-kernel"), param.Name("output-graph"),
			param.Name("output-neighbors"), param.Name("gamma-o")))
	} else if !given && in.Outputs == nil && in.Values.Float("gamma-o") > 0 {
		err = errors.Join(err, models.Faultf("%s is %s, which needs a graph of the outputs; give %s or %s",
			param.Name("gamma-o"), in.Values["gamma-o"], param.Name("output-graph"),
			param.Name("output-neighbors")))
	}
	if o.Loss == HingeLoss && in.OutputNorm != nil {
		err = errors.Join(err, models.Faultf("%s is for %s squared", param.Name("output-norm"), param.Name("loss")))
	}
	if in.OutputNorm != nil {
		for _, name := range []string{"power", "penalty-coefficients"} {
			if v, given := in.Values[name]; given && v != "1" {
				err = errors.Join(err, models.Faultf("%s has a matrix of the outputs for every power of L; leave out %s",
					param.Name("output-norm"), param.Name(name)))
			}
		}
		if in.Values.Float("gamma-i") == 0 {
			err = errors.Join(err, models.Faultf("%s needs a positive %s; without it there is no intrinsic norm",
				param.Name("output-norm"), param.Name("gamma-i")))
		}
	}
	return o, err
}

// approximation returns the settings of the approximation, nil for exact.
func (o *vvmrOptions) approximation() *ApproximationSettings {
	if o.Approximation.Approximation == Exact {
		return nil
	}
	return &o.Approximation
}

// Resolve returns the values with the width of the kernel as a number.
func (VVMRLearner) Resolve(in *models.Input) (models.Values, error) {
	return expansion.ResolveWidth(in)
}

// Cost returns the cost of the way that Fit goes.
func (l VVMRLearner) Cost(in *models.Input) (stage.Cost, error) {
	v, _, err := l.Choose(in)
	if err != nil {
		return stage.Cost{}, errors.Join(l.Check(in.Values), err)
	}
	chosen := *in
	chosen.Values = v
	return l.cost(&chosen)
}

// cost is Cost where the approximation is given.
func (VVMRLearner) cost(in *models.Input) (stage.Cost, error) {
	o, err := decodeWith(in, in.Values)
	if err != nil {
		return stage.Cost{}, err
	}
	source, err := o.Kernel.Of(in.Points)
	if err != nil {
		return stage.Cost{}, err
	}
	remedy := fmt.Sprintf("take %s nystrom or matrix-free, or give fewer points", param.Name("approximation"))

	a := o.approximation()
	// A refusal names the way to fit in less memory.
	c, err := vvmrCost(in, source, &o.VVMRSettings, a)
	switch {
	case err != nil && a == nil:
		return c, fmt.Errorf("%w: %s", err, remedy)
	case a != nil:
		remedy = a.remedy()
	}

	c.Remedy = remedy
	return c, err
}

// Fit is the function [FitVVMR]. Without γ_O a graph of the outputs is not looked at.
func (l VVMRLearner) Fit(ctx context.Context, in *models.Input) (models.Model, error) {
	o, err := l.options(in)
	if err != nil {
		return nil, err
	}
	d, err := dataOf(l, in, o.Kernel, o.Regularizer)
	if err != nil {
		return nil, err
	}
	var outputs *solvers.Outputs
	if o.GammaO > 0 && in.Outputs != nil {
		if outputs, err = solvers.NewOutputs(ctx, in.Outputs); err != nil {
			return nil, err
		}
	}

	// A given kernel takes the place of a graph of the outputs.
	if in.OutputKernel != nil {
		if outputs, err = solvers.NewOutputKernel(ctx, in.OutputKernel); err != nil {
			return nil, err
		}
	}

	if in.OutputNorm != nil {
		if outputs == nil {
			outputs = solvers.IndependentOutputs(in.Targets.Y.RawMatrix().Cols)
			if o.GammaO > 0 {
				if outputs, err = outputsOf(ctx, in.Targets, o.OutputNeighbors); err != nil {
					return nil, err
				}
			}
		}
		if outputs, err = outputs.WithPenalty(ctx, in.OutputNorm); err != nil {
			return nil, fmt.Errorf("%s: %w", param.Name("output-norm"), err)
		}
	}

	o.Approximation.Seed = in.Seed
	m, err := FitVVMR(ctx, d, in.Targets, outputs, &o.VVMRSettings, o.approximation())
	if m != nil {
		m.OutputKernel = in.OutputKernel
	}
	return modelOf(m, err)
}
