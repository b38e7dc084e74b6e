package lanczos_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// twoSquares is a graph of two cycles of length four.
func twoSquares() *sparse.CSR {
	var i, j []int32
	var v []float64
	for c := range int32(2) {
		for k := range int32(4) {
			a, b := 4*c+k, 4*c+(k+1)%4
			i, j, v = append(i, a, b), append(j, b, a), append(v, 1, 1)
		}
	}
	w, err := sparse.FromTriplets(8, 8, i, j, v)
	if err != nil {
		panic(err)
	}
	return w
}

// squash hides the rounding of values near zero.
func squash(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Abs(math.Round(v*1e9) / 1e9)
	}
	return out
}

func ExampleLaplacian() {
	w := twoSquares()
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := lanczos.Laplacian(context.Background(), l, w.Components(), &lanczos.Settings{K: 6})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(squash(r.Values))
	fmt.Println("nullity", r.Nullity)
	fmt.Println("certified:", r.MaxResidual() <= 1e-8*r.Norm && r.Orthogonality <= 1e-10)
	// Output:
	// [0 0 2 2 2 2]
	// nullity 2
	// certified: true
}

// chain is the second difference matrix tridiag(−1, 2, −1).
type chain int

func (n chain) Dim() int { return int(n) }

func (n chain) MulTo(dst, x *mat.Dense) {
	for i := range int(n) {
		d := dst.RawRowView(i)
		for j, v := range x.RawRowView(i) {
			d[j] = 2 * v
			if i > 0 {
				d[j] -= x.At(i-1, j)
			}
			if i < int(n)-1 {
				d[j] -= x.At(i+1, j)
			}
		}
	}
}

// Any type with the methods of sparse.Operator can be solved.
func ExampleSolve() {
	r, err := lanczos.Solve(context.Background(), chain(99), &lanczos.Settings{K: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	for j, v := range r.Values {
		exact := 4 * math.Pow(math.Sin(float64(j+1)*math.Pi/200), 2)
		fmt.Printf("%.9f, exactly %.9f\n", v, exact)
	}
	// Output:
	// 0.000986879, exactly 0.000986879
	// 0.003946543, exactly 0.003946543
	// 0.008876071, exactly 0.008876071
}

// A tolerance that rounding makes unreachable is an error with a Result.
func ExampleSolve_notConverged() {
	r, err := lanczos.Solve(context.Background(), chain(99), &lanczos.Settings{K: 3, Tolerance: 1e-30})
	fmt.Println(errors.Is(err, lanczos.ErrNotConverged), len(r.Values), r.MaxResidual() < 1e-10)
	// Output: true 3 true
}

func ExampleSettings() {
	_, err := lanczos.Solve(context.Background(), chain(99), &lanczos.Settings{Tolerance: -1})
	fmt.Println(err)
	// Output:
	// lanczos: 0 eigenpairs asked; the number must be at least 1
	// lanczos: tolerance -1; it must not be negative
}

func ExampleResult_MaxResidual() {
	r := lanczos.Result{Residuals: []float64{1e-12, 3e-9, 0}}
	fmt.Println(r.MaxResidual())
	// Output: 3e-09
}

func ExampleBytes() {
	need, err := lanczos.Bytes(1_000_000, &lanczos.Settings{K: 50})
	fmt.Println(need > 400_000_000, need < 4_000_000_000, err)
	// Output: true true <nil>
}

func ExampleOperations() {
	s := &lanczos.Settings{K: 1000}
	fmt.Println(lanczos.Operations(60_000, 600_000, s) > lanczos.Operations(6_000, 60_000, s))
	// Output: true
}

func ExampleLoad() {
	w := twoSquares()
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		fmt.Println(err)
		return
	}
	s := &lanczos.Settings{K: 3}
	r, err := lanczos.Laplacian(context.Background(), l, w.Components(), s)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := archive.New(archive.Eigs, map[string]int{"k": s.K}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "eigs.npz") // numpy.load reads it
	f := &lanczos.File{Result: r, Components: w.Components(), Degrees: l.Degrees(), Manifest: m}
	if err := f.Save(path); err != nil {
		fmt.Println(err)
		return
	}
	back, err := lanczos.Load(path, 1<<30)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(squash(back.Result.Values), back.Components.Sizes)
	// Output: [0 0 1] [4 4]
}
