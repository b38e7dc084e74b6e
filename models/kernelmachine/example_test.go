package kernelmachine_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// A Gaussian process with the covariance k̃ answers for new points, and its variances say how much it
// knows: two labels on two moons, and the graph of all points.
func ExampleWarped_Between() {
	ctx := context.Background()
	x, truth := synthetic.TwoMoons(200, 0.05, 3)
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		panic(err)
	}
	w, _, err := knn.NewGraph(ctx, ix, knn.GraphSettings{K: 6})
	if err != nil {
		panic(err)
	}
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		panic(err)
	}

	// One labeled point of each moon: z are their numbers, y their values.
	z := []int{0, 0}
	for i, c := range truth.Index {
		z[c] = i
	}
	y := mat.NewVecDense(2, []float64{-1, 1})
	if z[0] > z[1] {
		z[0], z[1] = z[1], z[0]
		y = mat.NewVecDense(2, []float64{1, -1})
	}

	p, err := kernelmachine.NewProblem(ctx, &kernelmachine.Data{Points: x,
		Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.3}, Laplacian: l})
	if err != nil {
		panic(err)
	}
	warped, err := p.Warp(ctx, regularizer.Regularizer{GammaA: 1, GammaI: 30, Laplacian: sparse.Normalized}, z)
	if err != nil {
		panic(err)
	}
	k, err := warped.Values(ctx)
	if err != nil {
		panic(err)
	}

	// The posterior for the noise 10⁻³: mean k̃ₓᵀA⁻¹y and variance k̃(x, x) − k̃ₓᵀA⁻¹k̃ₓ with A = K̃ + 10⁻³.
	a := mat.NewSymDense(2, nil)
	for i := range 2 {
		for j := range 2 {
			a.SetSym(i, j, k.At(i, j))
		}
		a.SetSym(i, i, k.At(i, i)+1e-3)
	}
	var chol mat.Cholesky
	if !chol.Factorize(a) {
		panic("K̃ + 10⁻³ is not positive definite")
	}
	fresh, classes := synthetic.TwoMoons(100, 0.05, 4)
	far := &data.Dense[float64]{Rows: 1, Cols: 2, Data: []float64{50, 50}}
	between, err := warped.Between(ctx, fresh)
	if err != nil {
		panic(err)
	}
	var alpha mat.VecDense
	if err := chol.SolveVecTo(&alpha, y); err != nil {
		panic(err)
	}
	right := 0
	for i := range 100 {
		mean := mat.Dot(between.RowView(i), &alpha)
		if (mean > 0) == (classes.Index[i] == 1) {
			right++
		}
	}
	fmt.Printf("%d of 100 new points are right\n", right)

	// The deviation of the process at a labeled point, and far away, where nothing is known.
	for _, at := range []data.Points{data.Select(x, z[:1]), far} {
		prior, err := warped.Variances(ctx, at)
		if err != nil {
			panic(err)
		}
		kx, err := warped.Between(ctx, at)
		if err != nil {
			panic(err)
		}
		var gain mat.VecDense
		if err := chol.SolveVecTo(&gain, kx.RowView(0)); err != nil {
			panic(err)
		}
		fmt.Printf("deviation %.2f\n", math.Sqrt(prior[0]-mat.Dot(kx.RowView(0), &gain)))
	}
	// Output:
	// 100 of 100 new points are right
	// deviation 0.03
	// deviation 1.00
}
