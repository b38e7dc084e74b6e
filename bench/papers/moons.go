package papers

import (
	"context"
	"fmt"
	"path/filepath"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/results"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
	"github.com/bigfit/bigfit/stage"
)

// moonsDraws is the number of random labeled sets of [Moons].
const moonsDraws = 20

// moonsWeights are the values of γ_I in [Moons].
var moonsWeights = []float64{0, 1e-4, 1e-3, 0.01, 0.1, 1, 10}

// moonsGammaA is γ_A in [Moons], for all γ_I. The paper does not name it.
const moonsGammaA = 1.0 / 32

// moonsKernel is the kernel of [Moons], for all γ_I. The paper does not name its width.
var moonsKernel = kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.35}

// moonsLaplacian returns a Laplacian of the graph of 10 nearest neighbours.
func moonsLaplacian(ctx context.Context, x data.Points, kind sparse.Kind) (*sparse.Laplacian, error) {
	nb, err := Neighbors(ctx, x, 10)
	if err != nil {
		return nil, err
	}
	return Laplacian(nb, knn.GraphSettings{K: nb.K}, kind)
}

// MoonsFigure holds Figure 2 as the paper draws it: LapSVMs fitted to one labeled point a
// class, for growing γ_I, with one of the Laplacians of [Moons].
type MoonsFigure struct {
	X            data.Points
	Truth, Drawn *data.Labels
	Laplacian    sparse.Kind
	GammaI       []float64
	Machines     []*kernelmachine.Machine // one for each γ_I
	Errors       []float64                // percent of the points without a label
}

// moonsFigureWeights are the values of γ_I in [MoonsFigure].
var moonsFigureWeights = []float64{0, 1e-3, 0.01, 0.1, 1, 10}

// NewMoonsFigure fits the machines to points of two columns and two classes; the
// seed draws the labeled ones.
func NewMoonsFigure(ctx context.Context, x data.Points, truth *data.Labels, kind sparse.Kind,
	seed uint64) (*MoonsFigure, error) {
	if _, d := x.Dims(); d != 2 || len(truth.Classes) != 2 {
		return nil, fmt.Errorf("papers: moons have 2 columns and 2 classes, not %d and %d", d,
			len(truth.Classes))
	}
	draws, err := DrawPerClass(truth, 1, 1, seed)
	if err != nil {
		return nil, err
	}
	fig := &MoonsFigure{X: x, Truth: truth, Drawn: draws[0], Laplacian: kind, GammaI: moonsFigureWeights}
	t, err := models.ClassTargets(fig.Drawn)
	if err != nil {
		return nil, err
	}

	l, err := moonsLaplacian(ctx, x, kind)
	if err != nil {
		return nil, err
	}

	// The picture needs machines that predict anywhere in the plane, so they are fitted on points,
	// not on a Gram matrix.
	for _, weight := range fig.GammaI {
		// LapSVM
		s := machines[2].settings(regularizer.Regularizer{GammaA: moonsGammaA, GammaI: weight,
			Laplacian: kind})
		m, err := kernelmachine.Fit(ctx, &kernelmachine.Data{Points: x, Kernel: moonsKernel,
			Laplacian: l}, t, &s)
		if err != nil {
			return nil, fmt.Errorf("γ_I = %g: %w", weight, err)
		}
		p, err := m.Predict(ctx, x, nil)
		if err != nil {
			return nil, err
		}
		fig.Machines = append(fig.Machines, m)
		fig.Errors = append(fig.Errors, 100*metrics.ErrorRate(p.Classes, truth, fig.Drawn))
	}

	return fig, nil
}

// ReadMoonsFigures reads the points X of [Moons] and returns two figures of them: with the
// paper's Laplacian and with D − W.
func ReadMoonsFigures(ctx context.Context, o Options) ([]*MoonsFigure, error) {
	x, truth, _, err := ReadSet(o, SetsOrigin, moonsFile, moonsFile, "")
	if err != nil {
		return nil, err
	}
	var out []*MoonsFigure
	for _, v := range section5 {
		fig, err := NewMoonsFigure(ctx, x, truth, v.kind, o.Seed)
		if err != nil {
			return nil, err
		}
		out = append(out, fig)
	}

	return out, nil
}

const moonsFile = "sindhwani_2moons.npz"

// Moons repeats Figure 2 of Belkin, Niyogi & Sindhwani (2006) as a table: errors on two
// moons with one label a class, for growing γ_I, on the points X and on test points Xt. The
// graph has 10 neighbours. Its Laplacian is the normalized one, as in the paper (Remark 3),
// and D − W in columns of their own. The paper names neither the number of neighbours nor
// the other settings: here the Gaussian kernel has σ = 0.35, and γ_A is 1/32.
func Moons(ctx context.Context, o Options, obs stage.Observer) (*results.Table, error) {
	obs.Begin("data")
	x, truth, _, err := ReadSet(o, SetsOrigin, moonsFile, moonsFile, "")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(o.Dir, moonsFile)
	xt, truthT, err := Read(file+":Xt", file+":yt", o.Limit)
	if err != nil {
		return nil, err
	}

	n, _ := x.Dims()
	nt, _ := xt.Dims()
	obs.End(fmt.Sprintf("%s: %d and %d points", filepath.Base(file), n, nt))

	obs.Begin("machines")
	e := &moonsData{truth: truth, truthT: truthT, cross: mat.NewDense(nt, n, nil)}
	if e.draws, err = DrawPerClass(truth, 1, moonsDraws, o.Seed); err != nil {
		return nil, err
	}
	// The Gram matrix and the values at test points do not depend on γ_I or the Laplacian.
	gram, err := kernel.Gram(x, moonsKernel, o.Limit)
	if err != nil {
		return nil, err
	}
	if err := kernel.Cross(e.cross, xt, x, moonsKernel); err != nil {
		return nil, err
	}

	var records []results.Record
	var degree float64 // mean over the points
	for i, v := range section5 {
		l, err := moonsLaplacian(ctx, x, v.kind)
		if err != nil {
			return nil, err
		}
		// Both Laplacians keep the degrees of the graph, so either gives the mean.
		degree = floats.Sum(l.Degrees()) / float64(n)
		problem, err := newProblem(ctx, gram, l)
		if err != nil {
			return nil, err
		}

		for j, weight := range moonsWeights {
			of, err := e.fit(ctx, problem, weight, v)
			if err != nil {
				return nil, err
			}
			records = append(records, of...)
			obs.Update(float64(i*len(moonsWeights)+j+1), float64(len(section5)*len(moonsWeights)),
				fmt.Sprintf("γ_I = %g%s", weight, v.mark))
		}
	}

	obs.End(fmt.Sprintf("%d draws", len(e.draws)))
	t := MachineTable(records, section5Note,
		"the paper prints no errors and names neither the neighbours, 10 here, nor the weights of "+
			"the edges, one here",
		fmt.Sprintf("the eigenvalues of D − W are those of the normalized Laplacian times the "+
			"degree, %.1f on average: the same γ_I weighs that much more with D − W", degree))
	t.Figures = nil // [MoonsFigure] shows more
	return t, nil
}

// moonsData holds what all fits of [Moons] share.
type moonsData struct {
	truth, truthT *data.Labels
	draws         []*data.Labels
	cross         *mat.Dense // kernel values between Xt and X
}

// fit returns the records of LapSVM and LapRLS with the given γ_I.
func (e *moonsData) fit(ctx context.Context, p *kernelmachine.Problem, gammaI float64,
	v namedLaplacian) ([]results.Record, error) {
	reg := regularizer.Regularizer{GammaA: moonsGammaA, GammaI: gammaI, Laplacian: v.kind}
	// One warped kernel serves both machines and all draws.
	w, err := p.Warp(ctx, reg, union(e.draws))
	if err != nil {
		return nil, err
	}
	row := fmt.Sprintf("γ_I = %g", gammaI)
	var out []results.Record
	for _, m := range machines[2:] {
		var here, there []float64
		for _, drawn := range e.draws {
			f, ft, err := outputs(ctx, p, w, drawn, m.settings(reg), e.cross)
			if err != nil {
				return nil, fmt.Errorf("%s, %s%s: %w", row, m.name, v.mark, err)
			}
			here = append(here, wrong(f, e.truth, drawn))
			there = append(there, wrong(ft, e.truthT, nil))
		}
		out = append(out, MachineRecord(row, m.name+v.mark+", X", here, 0, ""),
			MachineRecord(row, m.name+v.mark+", Xt", there, 0, ""))
	}

	return out, nil
}
