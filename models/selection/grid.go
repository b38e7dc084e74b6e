package selection

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
)

// Grid is a set of models to choose from: all combinations of the values in
// its lists. Exactly one of Linear, Kernel, Graph, Eigenmap and SSSL is set; it
// names the model and holds what all points of the grid have in common. An empty
// list stands for the value there.
type Grid struct {
	Linear   *linear.Settings
	Kernel   *kernelmachine.Settings
	Graph    *propagation.Settings
	Eigenmap *eigenmap.Settings
	SSSL     *eigenfunction.Settings

	// Scale, if not nil, says how Kernel is fitted; nil is exactly.
	Scale          *kernelmachine.ApproximationSettings
	KernelFunction kernel.Kernel // of Kernel and SSSL
	Laplacian      sparse.Kind   // of Eigenmap; other settings name their own
	// Tolerance of the eigenpairs of Eigenmap; see lanczos.Settings.
	Tolerance float64

	// GammaA, GammaI and Power are those of [models.Regularizer]: of Linear, Kernel, and
	// Graph with Tikhonov. The C of a support vector machine is 1/(2γ_A l) for l
	// labels.
	GammaA, GammaI []float64
	Power          []int
	// Neighbors of each point in the graph. Empty means TuneData's own number.
	Neighbors []int
	// Sigma is the width of KernelFunction.
	Sigma []float64
	// Alpha is that of Graph with LGC.
	Alpha []float64
	// Eigenvectors are those of Eigenmap, or the eigenfunctions of SSSL; Gamma is
	// that of Eigenmap.
	Eigenvectors []int
	Gamma        []float64
}

// Point is a point of a [Grid]. What does not matter to its model is
// zero: with γ_I = 0 that is so of the power and the neighbours.
type Point struct {
	GammaA       float64 `json:"gamma_a,omitempty"`
	GammaI       float64 `json:"gamma_i,omitempty"`
	Gamma        float64 `json:"gamma,omitempty"`
	Alpha        float64 `json:"alpha,omitempty"`
	Eigenvectors int     `json:"eigenvectors,omitempty"`
	Sigma        float64 `json:"sigma,omitempty"`
	Power        int     `json:"power,omitempty"`
	Neighbors    int     `json:"neighbors,omitempty"`
}

// String names what is not zero.
func (p Point) String() string {
	var parts []string
	for _, v := range []struct {
		name  string
		value float64
	}{{"γ_A", p.GammaA}, {"γ_I", p.GammaI}, {"γ", p.Gamma}, {"α", p.Alpha}, {"eigenvectors", float64(p.Eigenvectors)},
		{"σ", p.Sigma}, {"power", float64(p.Power)}, {"neighbours", float64(p.Neighbors)}} {
		if v.value != 0 {
			parts = append(parts, fmt.Sprintf("%s %.4g", v.name, v.value))
		}
	}
	return strings.Join(parts, ", ")
}

// stronger orders points by the strength of their regularization, strongest
// first.
func stronger(a, b Point) int {
	return cmp.Or(cmp.Compare(b.GammaA, a.GammaA), cmp.Compare(b.GammaI, a.GammaI), cmp.Compare(b.Gamma, a.Gamma),
		cmp.Compare(b.Alpha, a.Alpha), cmp.Compare(a.Eigenvectors, b.Eigenvectors), cmp.Compare(b.Sigma, a.Sigma),
		cmp.Compare(a.Power, b.Power), cmp.Compare(a.Neighbors, b.Neighbors))
}

// Points returns the points of the grid, each once, or all faults at once. They
// come in the order of the strength of regularization: larger γ_A first, then
// larger γ_I, larger γ, larger α, fewer eigenvectors, wider σ, lower power, fewer
// neighbours.
func (g *Grid) Points() ([]Point, error) {
	own, err := g.own()
	if err != nil {
		return nil, err
	}
	points := []Point{own}
	vary(&points, g.GammaA, func(p *Point, v float64) { p.GammaA = v })
	vary(&points, g.GammaI, func(p *Point, v float64) { p.GammaI = v })
	vary(&points, g.Gamma, func(p *Point, v float64) { p.Gamma = v })
	vary(&points, g.Alpha, func(p *Point, v float64) { p.Alpha = v })
	vary(&points, g.Eigenvectors, func(p *Point, v int) { p.Eigenvectors = v })
	vary(&points, g.Sigma, func(p *Point, v float64) { p.Sigma = v })
	vary(&points, g.Power, func(p *Point, v int) { p.Power = v })
	vary(&points, g.Neighbors, func(p *Point, v int) { p.Neighbors = v })
	for i := range points {
		if p := &points[i]; (g.Linear != nil || g.Kernel != nil || g.SSSL != nil) && p.GammaI == 0 {
			p.Power, p.Neighbors = 0, 0
		}
	}
	slices.SortFunc(points, stronger)
	return slices.Compact(points), nil
}

// vary replaces points by copies of them with each of the values.
func vary[T any](points *[]Point, values []T, set func(*Point, T)) {
	if len(values) == 0 {
		return
	}
	var out []Point
	for _, p := range *points {
		for _, v := range values {
			set(&p, v)
			out = append(out, p)
		}
	}
	*points = out
}

// own returns the point that the model's own settings are, or the faults of the
// grid.
func (g *Grid) own() (Point, error) {
	var p Point
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf("selection: "+format, args...)) }
	given := 0
	var regularizer *models.Regularizer
	if g.Linear != nil {
		given++
		regularizer = &g.Linear.Regularizer
	}
	if g.Kernel != nil {
		given++
		regularizer = &g.Kernel.Regularizer
		if g.Kernel.Method == kernelmachine.OneClass {
			fault("%v does not learn from labels, which cross-validation measures with", kernelmachine.OneClass)
		}
	}
	if g.SSSL != nil {
		given++
		p.Eigenvectors = g.SSSL.Eigenfunctions
	}
	if k := g.KernelFunction.Kind; g.Kernel == nil && g.SSSL == nil {
		if len(g.Sigma) > 0 || g.Scale != nil {
			fault("a width of the kernel, and means to fit it, are of kernel machines only")
		}
	} else if k == kernel.Gaussian || k == kernel.Laplace {
		p.Sigma = g.KernelFunction.Sigma
	} else if len(g.Sigma) > 0 {
		fault("a width is of Gaussian and Laplace kernels, not of the %v one", k)
	}
	if g.Graph != nil {
		given++
		if g.Graph.Method == propagation.Tikhonov {
			regularizer = &g.Graph.Regularizer
		}
		p.Alpha = g.Graph.Alpha
		if len(g.Alpha) > 0 && g.Graph.Method != propagation.LGC {
			fault("α belongs to %v, not %v", propagation.LGC, g.Graph.Method)
		}
	} else if len(g.Alpha) > 0 {
		fault("α belongs to %v", propagation.LGC)
	}
	if g.Eigenmap != nil {
		given++
		p.Eigenvectors, p.Gamma = g.Eigenmap.Eigenvectors, g.Eigenmap.Gamma
		switch {
		case g.Eigenmap.Penalty == eigenmap.NoPenalty && len(g.Gamma) > 0:
			fault("γ of the eigenmap classifier needs a penalty")
		case g.Eigenmap.Penalty != eigenmap.NoPenalty && (len(g.Gamma) == 0 && p.Gamma == 0 || len(g.Eigenvectors) == 0 && p.Eigenvectors == 0):
			fault("an eigenmap classifier with a penalty needs values of γ and numbers of eigenvectors to choose from")
		}
	} else if len(g.Gamma) > 0 || len(g.Eigenvectors) > 0 && g.SSSL == nil {
		fault("γ is of the eigenmap classifier only, numbers of eigenvectors of it and of %s", eigenfunction.Name)
	}
	if given != 1 {
		fault("settings of %d models in a grid; there must be those of one", given)
	}
	if regularizer != nil {
		p.GammaA, p.GammaI, p.Power = regularizer.GammaA, regularizer.GammaI, max(1, regularizer.Power)
	} else if len(g.GammaA) > 0 || len(g.GammaI) > 0 || len(g.Power) > 0 {
		fault("γ_A, γ_I and the power are of linear models, kernel machines and %v", propagation.Tikhonov)
	}
	for _, v := range []struct {
		name   string
		values []float64
		zero   bool // allowed
	}{{"γ_A", g.GammaA, false}, {"γ_I", g.GammaI, g.Graph == nil}, {"γ", g.Gamma, false}, {"α", g.Alpha, false}, {"σ", g.Sigma, false}} {
		for _, x := range v.values {
			if !(x > 0 || x == 0 && v.zero) || math.IsInf(x, 0) {
				fault("%s is %v; it must be positive and finite", v.name, x)
			}
		}
	}
	for _, v := range []struct {
		name   string
		values []int
	}{{"power of the Laplacian", g.Power}, {"number of neighbours", g.Neighbors}, {"number of eigenvectors", g.Eigenvectors}} {
		for _, x := range v.values {
			if x < 1 {
				fault("the %s is %d; it must be at least 1", v.name, x)
			}
		}
	}
	return p, errors.Join(faults...)
}

// regularizer returns base with the weights and the power of p.
func (p Point) regularizer(base models.Regularizer) models.Regularizer {
	base.GammaA, base.GammaI, base.Power = p.GammaA, p.GammaI, max(1, p.Power)
	return base
}
