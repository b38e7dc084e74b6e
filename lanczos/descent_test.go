package lanczos_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// chordTree returns a random tree with n/4 chords and weights over six decades: it has no exact factor, and
// its low end is dense.
func chordTree(n int, seed uint64) *sparse.CSR {
	rng := rand.New(rand.NewPCG(seed, 11))
	weight := func() float64 { return math.Pow(10, -6*rng.Float64()) }
	seen := map[[2]int]bool{}
	var edges []edge
	join := func(a, b int) {
		if a == b || seen[[2]int{min(a, b), max(a, b)}] {
			return
		}
		seen[[2]int{min(a, b), max(a, b)}] = true
		edges = append(edges, edge{a, b, weight()})
	}
	for i := 1; i < n; i++ {
		join(rng.IntN(i), i)
	}
	for range n / 4 {
		join(rng.IntN(n), rng.IntN(n))
	}
	return newGraph(n, edges)
}

// jumpGrid returns a grid whose weights jump over six decades between patches.
func jumpGrid(side int, seed uint64) *sparse.CSR {
	rng := rand.New(rand.NewPCG(seed, 12))
	const patch = 9
	across := side/patch + 1
	weights := make([]float64, across*across)
	for i := range weights {
		weights[i] = math.Pow(10, -6*rng.Float64())
	}
	var edges []edge
	for i := range side {
		for j := range side {
			w := weights[i/patch*across+j/patch]
			if j+1 < side {
				edges = append(edges, edge{i*side + j, i*side + j + 1, w})
			}
			if i+1 < side {
				edges = append(edges, edge{i*side + j, (i+1)*side + j, w})
			}
		}
	}
	return newGraph(side*side, edges)
}

// TestDescent compares the pairs of hard graphs with their whole spectra. Values are far below the tolerance
// relative to ‖L‖, and accurate relative to themselves all the same. The certificate is a count where there
// is an exact factor, and a search elsewhere.
func TestDescent(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "decomposes matrices of 1500 rows")
	for name, w := range map[string]*sparse.CSR{"tree with chords": chordTree(1500, 1), "another tree": chordTree(1400, 2),
		"grid with jumps": jumpGrid(30, 1), "another grid": jumpGrid(29, 2)} {
		const kind = sparse.Combinatorial
		grid := name == "grid with jumps" || name == "another grid"
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, comp := newLaplacian(t, w, kind)
			want, vectors, err := dense.EigenSym(t.Context(), mat.DenseCopyOf(denseLaplacian(w, kind)))
			if err != nil {
				t.Fatal(err)
			}
			r, err := laplacian(t.Context(), l, comp, &lanczos.Settings{K: 12, DescentFrom: 1})
			if err != nil {
				t.Fatal(err)
			}
			inverted(t, r)
			if r.Certificate.Counted != grid {
				t.Errorf("the certificate is %+v", r.Certificate)
			}
			if r.Products > 5000 {
				t.Errorf("%d products", r.Products)
			}

			norm := largest(want)
			checkPairs(t, r, 12, norm, 1e-8, func(x *mat.Dense) *mat.Dense { return applyLaplacian(w, kind, x) })
			for j, v := range r.Values {
				// The whole decomposition has errors of rounding too.
				if !(math.Abs(v-want[j]) <= 1e-6*want[j]+1e-13*norm) {
					t.Errorf("value %d is %v, want %v", j, v, want[j])
				}
			}
			if next := r.Certificate.Next; !(next >= want[12]*(1-1e-6)-1e-13*norm) {
				t.Errorf("the next value is at most %v, it is %v", next, want[12])
			}
			checkSubspaces(t, r, want, vectors, 0.01*want[12])
		})
	}
}

// TestDescentMissed: known vectors that are accurate but not the smallest do not hide the smallest; pairs that
// are known begin the search and are not found twice.
func TestDescentMissed(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "needs no goroutines of its own")
	w := chordTree(1100, 3)
	l, comp := newLaplacian(t, w, sparse.Combinatorial)
	all, err := laplacian(t.Context(), l, comp, &lanczos.Settings{K: 14, DescentFrom: 1})
	if err != nil {
		t.Fatal(err)
	}
	inverted(t, all)
	for name, known := range map[string]*mat.Dense{
		"the first":     mat.DenseCopyOf(all.Vectors.Slice(0, 1100, 0, 5)),
		"not the first": mat.DenseCopyOf(all.Vectors.Slice(0, 1100, 4, 14)),
	} {
		r, err := laplacian(t.Context(), l, comp, &lanczos.Settings{K: 12, Known: known, DescentFrom: 1})
		if err != nil {
			t.Fatal(err)
		}
		checkValues(t, r.Values, all.Values[:12], 1e-6*all.Values[11])
		if r.Orthogonality > 1e-12 {
			t.Errorf("%s: orthogonality %v", name, r.Orthogonality)
		}
	}
}

// TestDescentSameBits: the bits do not depend on the number of threads, and steps that are not enough are told.
func TestDescentSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	l, comp := newLaplacian(t, chordTree(2500, 5), sparse.Combinatorial)
	var want *lanczos.Result
	for _, threads := range []int{1, 3, 2} {
		runtime.GOMAXPROCS(threads)
		steps := 0
		r, err := lanczos.Laplacian(t.Context(), l, comp, &lanczos.Settings{K: 9, Seed: 4, DescentFrom: 1,
			OnRestart: func(s lanczos.State) error { steps++; return nil }})
		if err != nil {
			t.Fatal(err)
		}
		inverted(t, r)
		if steps < 10 {
			t.Errorf("the hook was called %d times", steps)
		}
		if want == nil {
			want = r
		}
		if !sameBits(r.Values, want.Values) || !sameBits(r.Vectors.RawMatrix().Data, want.Vectors.RawMatrix().Data) {
			t.Errorf("%d threads end with other bits", threads)
		}
	}
}
