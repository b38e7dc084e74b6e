// Package kernelmachine fits functions of a reproducing kernel space to labels, and
// through a graph to all points: regularized least squares, support vector machines
// for classes, values and one class (rls, svm, svr, oneclass), the same with an
// intrinsic norm (laprls, lapsvm, lapsvr, lap-oneclass), transductive ones (tsvm) and
// functions of several related outputs (vvmr).
//
// All of them are fitted on [Data]. [Problem] and [Warped] fit exactly, from
// the Gram matrix; [ApproximateProblem] fits by landmarks, Fourier features or
// products that hold no Gram matrix; [VVMRProblem] is for several outputs. What they
// answer with is an [expansion.Expansion].
//
// M. Belkin, P. Niyogi and V. Sindhwani, Manifold regularization, JMLR 7 (2006),
// 2399–2434. V. Sindhwani, P. Niyogi and M. Belkin, Beyond the point cloud: from
// transductive to semi-supervised learning, ICML 2005. T. Joachims, Transductive
// inference for text classification using support vector machines, ICML 1999.
// H. Q. Minh and V. Sindhwani, Vector-valued manifold regularization, ICML 2011.
// A. Rudi, L. Carratino and L. Rosasco, FALKON: an optimal large scale kernel
// method, NIPS 2017. A. Rahimi and B. Recht, Random features for large-scale kernel
// machines, NIPS 2007.
package kernelmachine

import (
	"errors"
	"fmt"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/expansion"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// Learners are the learners of this package.
var Learners = []models.Learner{
	Learner{RLS, false}, Learner{SVM, false}, TSVMLearner{}, Learner{SVR, false}, Learner{OneClass, false},
	Learner{RLS, true}, Learner{SVM, true}, Learner{SVR, true}, Learner{OneClass, true}, VVMRLearner{},
}

// Data holds the points, the kernel and the graph that machines are fitted on.
type Data struct {
	Points data.Points // n×d; nil where there are Values
	Kernel kernel.Kernel
	// Values of the kernel, n×n, if they are given in place of points: see
	// [kernel.Source].
	Values data.Points
	// Laplacian of the points' graph; its power and shift do not matter. Nil allows
	// γ_I = 0 only.
	Laplacian *sparse.Laplacian
	// Limit, if positive, bounds the bytes of matrices: more is an error.
	Limit int64
	// Report, if not nil, is told how far a fit is. Calls do not overlap.
	Report func(done, total float64, note string)
}

// dataOf returns the data of in with the kernel k, and the Laplacian that r names
// if γ_I is positive. It checks in for the learner l.
func dataOf(l models.Learner, in *models.Input, k expansion.KernelChoice,
	r regularizer.Regularizer) (*Data, error) {
	info := l.Info()
	if err := info.Check(in); err != nil {
		return nil, err
	}
	s, err := k.On(in.Points, in.Seed)
	if err != nil {
		return nil, err
	}
	d := &Data{Points: s.Points, Kernel: s.Kernel, Values: s.Values, Limit: in.Memory, Report: in.Report}
	if r.GammaI > 0 {
		d.Laplacian, err = in.LaplacianOf(r.Laplacian)
	}
	return d, err
}

// Source gives the values of the kernel.
func (d *Data) Source() kernel.Source {
	return kernel.Source{Kernel: d.Kernel, Points: d.Points, Values: d.Values}
}

// expansion returns an expansion for d and the classes of t, if it has any, without coefficients yet.
func (d *Data) expansion(t *models.Targets) expansion.Expansion {
	e := expansion.New(d.Kernel, d.Values != nil, t.Classes)
	e.Fallback = t.Majority()
	return e
}

// check returns the number of points and d with the defaults of its kernel.
func (d *Data) check() (int, *Data, error) {
	s, err := d.Source().Fill()
	if err != nil {
		return 0, nil, err
	}
	n, _ := s.Rows().Dims()
	if n == 0 {
		return 0, nil, errors.New("kernelmachine: there are no points")
	}
	if d.Laplacian != nil && d.Laplacian.Dim() != n {
		return 0, nil, fmt.Errorf("kernelmachine: a graph of %d vertices for %d points", d.Laplacian.Dim(), n)
	}

	out := *d
	out.Kernel = s.Kernel
	return n, &out, nil
}

// plain returns d, or if γ_I is 0 without its graph.
func (d *Data) plain(r *regularizer.Regularizer) *Data {
	if r.GammaI > 0 {
		return d
	}
	out := *d
	out.Laplacian = nil
	return &out
}

// report calls Report, if there is one.
func (d *Data) report(done, total float64, note string) {
	if d != nil && d.Report != nil {
		d.Report(done, total, note)
	}
}

// reportCG is the hook of conjugate gradients.
func (d *Data) reportCG(s cg.State) error {
	d.report(float64(s.Converged), float64(s.Columns), s.String())
	return nil
}

// unconverged tells whether err comes with a machine that falls short of its
// tolerance.
func unconverged(err error) bool {
	return errors.Is(err, cg.ErrNotConverged) || errors.Is(err, solvers.ErrNotConverged)
}
