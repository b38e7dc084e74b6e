package lanczos_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// A plantedError is a copy of true eigenpairs in which one thing is wrong.
type plantedError struct {
	name    string
	values  []float64
	vectors *mat.Dense
}

// plantErrors makes wrong copies of true pairs, the k smallest of a Laplacian, with every kind of
// error that can be told from the truth at a tolerance, which is relative to the norm.
func plantErrors(rng *rand.Rand, r *lanczos.Result, tolerance float64) []plantedError {
	n, k := r.Vectors.Dims()
	bar := 10 * tolerance * r.Norm
	var out []plantedError
	add := func(name string, change func(values []float64, v *mat.Dense) ([]float64, *mat.Dense)) {
		values, vectors := change(slices.Clone(r.Values), mat.DenseCopyOf(r.Vectors))
		out = append(out, plantedError{name, values, vectors})
	}
	column := func(v *mat.Dense, j int) []float64 { return mat.Col(nil, j, v) }
	without := func(j int) func([]float64, *mat.Dense) ([]float64, *mat.Dense) {
		return func(values []float64, v *mat.Dense) ([]float64, *mat.Dense) {
			left := mat.NewDense(n, k-1, nil)
			for i := range n {
				copy(left.RawRowView(i), slices.Delete(slices.Clone(v.RawRowView(i)), j, j+1))
			}
			return slices.Delete(values, j, j+1), left
		}
	}
	top := r.Values[k-1]
	// Without one of them the last value must show that one below it is missing.
	j := rng.IntN(k)
	if k > 1 && top-r.Values[j] > bar {
		add(fmt.Sprintf("pair %d of %d dropped", j, k), without(j))
	}
	// One of several copies: the value is still there.
	for j := 1; j < k; j++ {
		if r.Values[j]-r.Values[j-1] < bar/100 && top-r.Values[j] > bar {
			add(fmt.Sprintf("pair %d dropped of a multiplet", j), without(j))
			break
		}
	}
	a, b := rng.IntN(k), rng.IntN(k)
	if a != b {
		add(fmt.Sprintf("pair %d doubled in the place of %d", a, b), func(values []float64, v *mat.Dense) ([]float64, *mat.Dense) {
			v.SetCol(b, column(v, a))
			values[b] = values[a]
			slices.Sort(values)
			return values, v
		})
		add(fmt.Sprintf("vector %d in the place of %d, its value kept", a, b), func(values []float64, v *mat.Dense) ([]float64, *mat.Dense) {
			v.SetCol(b, column(v, a))
			return values, v
		})
	}
	// Pairs far enough apart that what is exchanged or mixed is no eigenpair.
	if lo, hi := rng.IntN(k), k-1; r.Values[hi]-r.Values[lo] > 100*bar {
		add(fmt.Sprintf("vectors %d and %d rotated by 0.1", lo, hi), func(values []float64, v *mat.Dense) ([]float64, *mat.Dense) {
			s, c := math.Sincos(0.1)
			x, y := column(v, lo), column(v, hi)
			for i := range n {
				v.Set(i, lo, c*x[i]-s*y[i])
				v.Set(i, hi, s*x[i]+c*y[i])
			}
			return values, v
		})
		add(fmt.Sprintf("values %d and %d swapped", lo, hi), func(values []float64, v *mat.Dense) ([]float64, *mat.Dense) {
			values[lo], values[hi] = values[hi], values[lo]
			return values, v
		})
		add(fmt.Sprintf("vectors %d and %d swapped", lo, hi), func(values []float64, v *mat.Dense) ([]float64, *mat.Dense) {
			x, y := column(v, lo), column(v, hi)
			v.SetCol(lo, y)
			v.SetCol(hi, x)
			return values, v
		})
	}
	add(fmt.Sprintf("value %d is wrong", j), func(values []float64, v *mat.Dense) ([]float64, *mat.Dense) {
		values[j] += bar * (1 + rng.Float64())
		slices.Sort(values[j:])
		return values, v
	})
	add(fmt.Sprintf("vector %d is random", j), func(values []float64, v *mat.Dense) ([]float64, *mat.Dense) {
		x := make([]float64, n)
		for i := range x {
			x[i] = rng.NormFloat64() / math.Sqrt(float64(n))
		}
		v.SetCol(j, x)
		return values, v
	})
	add(fmt.Sprintf("vector %d is longer", j), func(values []float64, v *mat.Dense) ([]float64, *mat.Dense) {
		x := column(v, j)
		for i := range x {
			x[i] *= 1 + 1e-6
		}
		v.SetCol(j, x)
		return values, v
	})
	add(fmt.Sprintf("value %d is NaN", j), func(values []float64, v *mat.Dense) ([]float64, *mat.Dense) {
		values[j] = math.NaN()
		return values, v
	})
	add(fmt.Sprintf("an entry of vector %d is NaN", j), func(values []float64, v *mat.Dense) ([]float64, *mat.Dense) {
		v.Set(rng.IntN(n), j, math.NaN())
		return values, v
	})
	return out
}

// graphWithMultiplets draws a graph with simple and multiple eigenvalues, in one piece or several.
func graphWithMultiplets(rng *rand.Rand, n int) *sparse.CSR {
	side := int(math.Sqrt(float64(n)))
	switch rng.IntN(6) {
	case 0:
		return torus(side, side).w // pairs of pairs
	case 1:
		return copies(3, grid(side/2, 2*side/3)).w // all in threes
	case 2:
		return star(n).w
	case 3:
		return hypercube(int(math.Log2(float64(n)))).w
	}
	var edges []edge
	for i := 1; i < n; i++ {
		if rng.IntN(n) < 3 {
			continue // begins another piece
		}
		edges = append(edges, edge{i, i - 1, 0.1 + rng.Float64()})
		if j := rng.IntN(i); j != i-1 && i-j < 40 {
			edges = append(edges, edge{i, j, rng.Float64()})
		}
	}
	return newGraph(n, edges)
}

// TestPlantedErrors: on random graphs, small ones and graphs that are verified by a search, true
// pairs are found true and every planted error is found.
func TestPlantedErrors(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "accuracy on many graphs; other tests of the package have the goroutines")
	first, count := testmode.First(), testmode.Count(12, 2000)
	planted, seen := 0, map[string]int{}
	for seed := first; seed < first+count; seed++ {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		n := 40 + rng.IntN(160)
		if seed%3 == 0 {
			n = 2100 + rng.IntN(800) // beyond the whole spectrum
		}
		kind := []sparse.Kind{sparse.Combinatorial, sparse.Normalized, sparse.RandomWalk}[rng.IntN(3)]
		l, c := newLaplacian(t, graphWithMultiplets(rng, n), kind)
		k := min(4+rng.IntN(24), l.Dim()-2)
		r, err := lanczos.Laplacian(t.Context(), l, c, &lanczos.Settings{K: k, Tolerance: 1e-10, Seed: uint64(seed)})
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			continue
		}
		at := fmt.Sprintf("seed %d: %d pairs of a %v Laplacian of dimension %d", seed, k, kind, l.Dim())
		v, err := lanczos.Verify(t.Context(), l, c, r.Values, r.Vectors, nil)
		if err != nil || len(v.Faults) > 0 {
			t.Errorf("%s: the truth: %v, %v", at, err, v)
			continue
		}
		for _, wrong := range plantErrors(rng, r, 1e-8) {
			v, err := lanczos.Verify(t.Context(), l, c, wrong.values, wrong.vectors, nil)
			if err != nil {
				t.Errorf("%s: %s: %v", at, wrong.name, err)
			} else if len(v.Faults) == 0 {
				t.Errorf("%s: %s: no fault found; values %v, next %v", at, wrong.name, wrong.values, v.Next)
			}
			planted++
			seen[map[bool]string{true: "dense", false: "search"}[v != nil && v.Exact]]++
		}
	}
	t.Logf("%d errors planted: %v", planted, seen)
	if planted < 8*count {
		t.Errorf("only %d planted errors in %d graphs", planted, count)
	}
}
