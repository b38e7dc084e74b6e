package papers

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// graphTransReason says why the figures of Graph-Trans are not compared.
const graphTransReason = "the slides give neither formula nor settings of Graph-Trans. Ours is regularization on the " +
	"graph alone, 1/l Σ (y − f)² + γ_I fᵀLᵖf, on the graphs and powers of the grid, chosen like the others; on g50c it " +
	"errs a third of the paper's, so that the paper's is another method or stands on another graph"

// graphTransNull is added to the eigenvalues λᵖ of Lᵖ, so that vectors without a penalty have a finite
// weight in the kernel of [graphKernel].
const graphTransNull = 1e-9

// graphKernel is the kernel of Graph-Trans, the column of Sindhwani, Niyogi & Belkin (2005) for
// regularization on the graph alone. With targets Y at l labeled of n points it minimizes over f at
// the points
//
//	1/l Σ (y_i − f_i)² + γ_I fᵀ(Lᵖ + εI)f,  ε = 1e-9,
//
// by f = K_nL (K_LL + γ_I l I)⁻¹ Y with K = (Lᵖ + εI)⁻¹. The rows of K at the points that have a label
// in some draw are enough.
type graphKernel struct {
	rows   *mat.Dense // |points|×n
	points []int      // ascending
	gamma  float64
}

// graphKernels returns the kernels of the norms, which differ in their powers. It takes one
// decomposition of L, about 9n³ operations, and 2n²·|points| for each norm.
func graphKernels(ctx context.Context, l *sparse.Laplacian, norms []regularizer.Regularizer,
	points []int) ([]*graphKernel, error) {
	values, vectors, err := dense.EigenSym(ctx, l.Form(1, nil, nil).ToDense())
	if err != nil {
		return nil, err
	}
	n := len(values)
	own := dense.Gather(mat.NewDense(len(points), n, nil), vectors, points)

	var out []*graphKernel
	for _, norm := range norms {
		scale := make([]float64, n)
		for k, v := range values {
			// Eigenvalues of 0 may come out below it.
			scale[k] = 1 / (math.Pow(max(v, 0), float64(norm.Power)) + graphTransNull)
		}
		scaled := mat.DenseCopyOf(own)
		dense.ScaleColumns(scaled, scale)
		k := &graphKernel{mat.NewDense(len(points), n, nil), points, norm.GammaI}
		dense.Gemm(dense.NoTrans, dense.Transposed, 1, scaled, vectors, 0, k.rows)
		out = append(out, k)
	}
	return out, nil
}

// fit returns f at the points to, from the targets y of the points at. rows are the rows of k that
// belong to the points at.
func (k *graphKernel) fit(rows, at, to []int, y *mat.Dense) (*mat.Dense, error) {
	a := dense.Part(k.rows, rows, at)
	for i := range rows {
		a.Set(i, i, a.At(i, i)+k.gamma*float64(len(rows)))
	}
	lu := mat.LU{}
	lu.Factorize(a)
	var c mat.Dense
	if err := lu.SolveTo(&c, false, y); err != nil {
		return nil, fmt.Errorf("Graph-Trans: %w", err)
	}

	_, columns := y.Dims()
	f := mat.NewDense(len(to), columns, nil)
	f.Mul(dense.Part(k.rows, rows, to).T(), &c)
	return f, nil
}

// tryGraph scores Graph-Trans with a setting, and keeps the setting wherever it is the best so far.
func (g *gridSearch) tryGraph(k *graphKernel, at setting) error {
	score := func(i int) (score, error) { return g.scoreGraph(k, i) }
	final := func(i int) (float64, error) {
		labeled := g.draws[i].Labeled()
		f, err := k.fit(positions(k.points, labeled), labeled, data.Range(0, g.truth.Len()), g.local[i].Y)
		if err != nil {
			return 0, err
		}
		return wrong(f, g.truth, g.draws[i]), nil
	}
	return g.consider(graphTrans, at, score, final)
}

// scoreGraph cross-validates Graph-Trans on draw i.
func (g *gridSearch) scoreGraph(k *graphKernel, i int) (score, error) {
	labeled := g.draws[i].Labeled()
	rows := positions(k.points, labeled)
	y := g.local[i].Y
	_, c := y.Dims()

	var mean score
	for _, split := range g.splits[i] {
		f, err := k.fit(chosen(rows, split.Kept), chosen(labeled, split.Kept), chosen(labeled, split.Held),
			dense.Part(y, split.Kept, data.Range(0, c)))
		if err != nil {
			return score{}, err
		}
		one, err := foldScore(g.local[i], split, f, kernelmachine.RLS)
		if err != nil {
			return score{}, err
		}
		mean.add(one, 1/float64(len(g.splits[i])))
	}
	return mean, nil
}

// positions returns where the given points stand in the ascending list points.
func positions(points, some []int) []int {
	out := make([]int, len(some))
	for a, point := range some {
		out[a], _ = slices.BinarySearch(points, point)
	}
	return out
}

// chosen returns list[i] for each i in at.
func chosen(list, at []int) []int {
	out := make([]int, len(at))
	for p, i := range at {
		out[p] = list[i]
	}
	return out
}
