package main

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
)

// train fits the model that s is for, as a stage. With a usable error comes the
// model that was reached.
func (a *app) train(ctx context.Context, o *fitOptions, s modelSettings, src *sources, t *fitTargets) (models.Model, error) {
	switch {
	case s.eigenmap != nil:
		return trainEigenmap(s.eigenmap, src, t)
	case s.graph != nil:
		return a.trainGraph(ctx, s.graph, src, t)
	case s.nearest != nil:
		return a.trainNearest(ctx, o, s.nearest, src, t)
	case s.linearTSVM != nil:
		return fitStage(a, func() (*linear.TSVM, error) { return linear.FitTSVM(ctx, src.x, t.targets, s.linearTSVM) })
	case s.linear != nil:
		l, err := src.laplacian(s.linear.Regularizer.Laplacian)
		if err != nil {
			return nil, err
		}
		return fitStage(a, func() (*linear.Model, error) { return linear.Fit(ctx, src.x, l, t.targets, s.linear) })
	}
	k, err := o.own.kernelOn(src.x, a.seed)
	if err != nil {
		return nil, err
	}
	limit := int64(a.memory)
	switch {
	case s.sssl != nil:
		return fitStage(a, func() (*eigenfunction.Model, error) {
			return eigenfunction.Fit(ctx, src.x, k, t.targets, s.sssl, limit)
		})
	case s.tsvm != nil:
		return fitStage(a, func() (*kernelmachine.TSVM, error) {
			return kernelmachine.FitTSVM(ctx, src.x, k, nil, t.targets, s.tsvm, limit)
		})
	case s.vvmr != nil:
		l, err := src.laplacian(s.vvmr.Laplacian)
		if err != nil {
			return nil, err
		}
		return fitStage(a, func() (*kernelmachine.VVMR, error) {
			return kernelmachine.FitVVMR(ctx, src.x, k, l, t.targets, src.outputs, s.vvmr, s.scale, limit)
		})
	}
	l, err := src.laplacian(s.kernel.Laplacian)
	switch {
	case err != nil:
		return nil, err
	case s.scale != nil:
		return fitStage(a, func() (*kernelmachine.Approximate, error) {
			return kernelmachine.FitApproximate(ctx, src.x, k, l, t.targets, s.kernel, s.scale, limit)
		})
	}
	return fitStage(a, func() (*kernelmachine.Machine, error) {
		return kernelmachine.Fit(ctx, src.x, k, l, t.targets, s.kernel, limit)
	})
}

// fitStage runs fit as a stage.
func fitStage[T any, M interface {
	*T
	models.Model
}](a *app, fit func() (M, error)) (models.Model, error) {
	st := a.progress.Stage("fit")
	m, err := fit()
	if m == nil {
		return nil, err
	}
	st.Done(summarizeModel(m).detail)
	return m, err
}

func trainEigenmap(s *eigenmap.Settings, src *sources, t *fitTargets) (models.Model, error) {
	m, err := eigenmap.Fit(src.eigs, src.components, t.y, s)
	if err != nil {
		return nil, err
	}
	return &eigenmap.Model{
		Classifier: m,
		Labels:     m.Transduce(src.eigs, src.components, t.y),
		Vectors:    src.eigs.Vectors.Slice(0, t.n, 0, m.Settings.Eigenvectors).(*mat.Dense),
		Degrees:    src.degrees,
		Points:     src.points, PCA: src.pca, Index: src.index,
		Metric: src.options.Graph.Metric, Method: src.options.Graph.Method, Graph: src.options.Graph.Graph, Laplacian: src.options.Laplacian,
	}, nil
}

func (a *app) trainGraph(ctx context.Context, s *propagation.Settings, src *sources, t *fitTargets) (models.Model, error) {
	columns := max(len(t.targets.Classes), t.targets.Y.RawMatrix().Cols)
	bytes, err := cg.Bytes(t.n, columns, &cg.Settings{Tolerance: s.Tolerance, MaxIterations: s.MaxIterations})
	if err != nil {
		return nil, err
	}
	if err := a.need("fit", bytes+12*int64(src.w.NNZ()), 0, "make a graph of fewer --neighbors"); err != nil {
		return nil, err
	}
	st := a.progress.Stage("fit")
	s.OnIteration = func(state cg.State) error {
		st.Update(float64(state.Converged), float64(state.Columns), state.String())
		return nil
	}
	g, err := propagation.Fit(ctx, src.w, src.components, t.targets, s)
	if g == nil {
		return nil, err
	}
	m := &propagation.Model{Solution: g, Points: src.points, PCA: src.pca,
		Metric: src.options.Graph.Metric, Search: src.options.Graph.Method, Edges: src.options.Graph.Graph}
	st.Done(summarizeModel(m).detail)
	return m, err
}

// laplacian is that of the graph, nil without one.
func (src *sources) laplacian(kind sparse.Kind) (*sparse.Laplacian, error) {
	if src.w == nil {
		return nil, nil
	}
	return sparse.NewLaplacian(src.w, kind)
}

// needMachine says what a linear model or a kernel machine takes beside points
// and graph, before the graph is made; nothing of other models.
func (a *app) needMachine(o *fitOptions, s modelSettings, x data.Points, t *models.Targets) error {
	switch {
	case s.linear != nil:
		return a.need("fit", linearBytes(x, t), 0, "give points of fewer columns, or sparse ones")
	case s.linearTSVM != nil:
		return a.need("fit", linearTSVMBytes(x, t), 0, "give points of fewer columns, or sparse ones")
	case s.tsvm != nil:
		return a.need("fit", tsvmBytes(x), 0, "give fewer points, or take --model tsvm-linear")
	case s.vvmr != nil:
		return a.needVVMR(o, s, x, t)
	case s.scale != nil:
		n, _ := x.Dims()
		bytes, operations, err := kernelmachine.ApproximateCost(x, t, o.own.kernel.Kind, n*o.graph.Graph.K, s.kernel, s.scale, int64(a.memory))
		if err != nil {
			return err
		}
		return a.need("fit", bytes, operations, scaleRemedy(s.scale))
	case s.kernel != nil:
		bytes, operations := kernelCost(x, t, o.own.kernel.Kind, s.kernel.GammaI > 0)
		return a.need("fit", bytes, operations, exactRemedy(s.kernel.Method))
	case s.sssl != nil:
		n, d := x.Dims()
		bytes, operations := eigenfunction.Cost(n, d, len(t.Labeled), s.sssl)
		return a.need("fit", bytes, operations, ssslRemedy)
	}
	return nil
}

// linearBytes is about the memory that a linear model takes: see
// models.NewLinearProblem and models.LinearProblem.Path.
func linearBytes(x data.Points, t *models.Targets) int64 {
	const formed = 5000 // largest order of the matrices that are formed
	rows, cols := x.Dims()
	n, d, l, m := int64(rows), int64(cols), int64(len(t.Labeled)), int64(t.Y.RawMatrix().Cols)
	matrix, isSparse := x.(*sparse.CSR)
	switch {
	case !isSparse && d <= formed:
		return 8 * (3*d*d + 3*n*min(d, 128) + 2*l*d + min(l, d)*min(l, d) + 8*d*m)
	case n <= formed && n < d:
		return 8 * (7*n*n + 3*n*min(n, 128) + 8*n*m + d*m)
	case isSparse:
		return 12*int64(matrix.NNZ()) + 8*(8*d*m+4*n*m)
	}
	return 8 * (8*d*m + 4*n*m)
}

// kernelCost is about what an exact kernel machine takes: see
// models.KernelProblem and models.WarpedKernel.
func kernelCost(x data.Points, t *models.Targets, kind kernel.Kind, intrinsic bool) (bytes int64, operations float64) {
	rows, cols := x.Dims()
	n, d, l := int64(rows), int64(cols), int64(len(t.Labeled))
	if !intrinsic && kind != kernel.Precomputed {
		n = l // the others are left out
	}
	bytes = 8 * (n*n + 2*l*l + n*(d+1))
	operations = float64(n)*float64(n)*float64(d) + float64(l)*float64(l)*float64(l)/3
	if intrinsic {
		bytes += 8 * (n*n + 2*n*l)
		operations += float64(n) * float64(n) * (2*float64(n)/3 + 2*float64(l))
	}
	return bytes, operations
}
