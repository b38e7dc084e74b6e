package cg_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/sparse"
)

// chain is a path of four vertices.
func chain() *sparse.CSR {
	w, err := sparse.FromTriplets(4, 4, []int32{0, 1, 1, 2, 2, 3}, []int32{1, 0, 2, 1, 3, 2}, []float64{1, 1, 1, 1, 1, 1})
	if err != nil {
		panic(err)
	}
	return w
}

func ExampleLaplacian() {
	w := chain()
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		fmt.Println(err)
		return
	}
	// One in, one out: the potentials between the ends of three resistors.
	b := mat.NewDense(4, 1, []float64{1, 0, 0, -1})
	r, err := cg.Laplacian(context.Background(), l, w.Components(), b, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", mat.Formatted(r.X))
	fmt.Println("solved:", r.MaxResidual() <= 1e-8)
	// A current that only flows in has no solution.
	b.Set(3, 0, 0)
	_, err = cg.Laplacian(context.Background(), l, w.Components(), b, nil)
	fmt.Println(err)
	// Output:
	// ⎡ 1.5000⎤
	// ⎢ 0.5000⎥
	// ⎢-0.5000⎥
	// ⎣-1.5000⎦
	// solved: true
	// cg: right-hand side 0 has 0.5 of its norm along null vector 0, so that there is no solution; set Project to solve for the rest
}

func ExampleSolve() {
	l, err := sparse.NewLaplacian(chain(), sparse.Combinatorial)
	if err != nil {
		fmt.Println(err)
		return
	}
	a := l.With(1, 1) // L + I
	m, err := cg.NewJacobi([]float64{2, 3, 3, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	b := mat.NewDense(4, 2, []float64{2, 0, 0, 0, 0, 0, 0, 5})
	r, err := cg.Solve(context.Background(), a, b, &cg.Settings{Preconditioner: m})
	if err != nil {
		fmt.Println(err)
		return
	}
	r.X.Apply(func(_, _ int, v float64) float64 { return math.Round(v*1e4) / 1e4 }, r.X)
	fmt.Println(mat.Formatted(r.X))
	fmt.Println(r.MaxIterations(), "iterations")
	// Output:
	// ⎡1.2381  0.2381⎤
	// ⎢0.4762  0.4762⎥
	// ⎢0.1905  1.1905⎥
	// ⎣0.0952  3.0952⎦
	// 2 iterations
}
