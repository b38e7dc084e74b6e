package cg

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// TestExact: the factor of grids, of several components and of dense parts solves with the
// operator in any number of columns, with and without ground; every vertex is in one front.
func TestExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, w := range map[string]*sparse.CSR{"grid": grid(40, 35), "strip": grid(3, 500), "grids": union(grid(20, 20), union(grid(1, 1), grid(30, 9))),
		"complete": complete(70), "wheel": union(complete(3), wheel(60))} {
		for p := range w.Val { // symmetric and of several sizes
			i := slices.IndexFunc(w.Ptr, func(at int64) bool { return at > int64(p) }) - 1
			w.Val[p] = 1 / float64(1+(i+int(w.Col[p]))%7)
		}
		for _, shift := range []float64{0, 1e-3} {
			for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
				plain, err := sparse.NewLaplacian(w, kind)
				if err != nil {
					t.Fatal(err)
				}
				l := plain.With(1, shift)
				m := newExact(newSystem(l), false, exactMost)
				if m == nil {
					t.Fatalf("%s: no factor", name)
				}
				order := slices.Clone(m.order)
				slices.Sort(order)
				for i, v := range order {
					if int(v) != i {
						t.Fatalf("%s: vertex %d is eliminated at %d", name, v, i)
					}
				}
				null := newComponentNull(l, w.Components())
				for _, b := range []int{1, 3, 8, 19} {
					x, y, z := mat.NewDense(w.Rows, b, nil), mat.NewDense(w.Rows, b, nil), mat.NewDense(w.Rows, b, nil)
					x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
					if shift == 0 {
						project(x, null)
					}
					l.MulTo(y, x)
					m.ApplyTo(z, y)
					if shift == 0 {
						project(z, null)
					}
					z.Sub(z, x)
					if off := mat.Norm(z, 2) / mat.Norm(x, 2); !(off <= 1e-9) {
						t.Errorf("%s, %v shifted by %v, %d columns: off by %.1e", name, kind, shift, b, off)
					}
				}
			}
		}
	}
}

// TestExactThreads: the factor of a grid whose subtrees several threads eliminate, what it solves after blocks of other
// widths, and the count of eigenvalues have the same bits, and the same count, with any number of threads.
func TestExactThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(5, 6))
	w := grid(130, 140) // above forkFrom
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(w.Rows, 19, nil)
	x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
	want, wantCount := mat.NewDense(w.Rows, 19, nil), 0
	for _, threads := range []int{1, 2, 3, 7} {
		runtime.GOMAXPROCS(threads)
		m := newExact(newSystem(l.With(1, 1e-3)), false, exactMost)
		if m == nil {
			t.Fatal("no factor")
		}
		if subtrees, rest := m.subtrees(); len(subtrees) < 16 || len(rest) == 0 {
			t.Fatalf("%d subtrees, and %d fronts above them", len(subtrees), len(rest))
		}
		got := mat.NewDense(w.Rows, 19, nil)
		m.ApplyTo(mat.NewDense(w.Rows, 3, nil), x.Slice(0, w.Rows, 0, 3).(*mat.Dense))
		m.ApplyTo(got, x)
		count, ok := CountBelow(l, 0.1, nil)
		if !ok {
			t.Fatal("no count")
		}
		if threads == 1 {
			want, wantCount = got, count
		}
		if !mat.Equal(got, want) || count != wantCount || count == 0 {
			t.Errorf("%d threads: other bits, or %d eigenvalues below 0.1 for %d", threads, count, wantCount)
		}
	}
}

// TestExactLimit: where a factor would be large there is none, and an approximate one
// takes its place.
func TestExactLimit(t *testing.T) {
	const n = 4000 // an expander
	rng := rand.New(rand.NewPCG(5, 6))
	var edges [][3]float64
	for i := range n {
		for range 4 {
			if j := rng.IntN(n); j != i {
				edges = append(edges, [3]float64{float64(i), float64(j), 1})
			}
		}
	}
	l, err := sparse.NewLaplacian(graph(n, edges), sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	if d := dissect(l.Graph(), exactPerEdge*l.Graph().NNZ()); d != nil {
		t.Errorf("a factor of %d numbers for %d edges", d.entries, l.Graph().NNZ())
	}
	if d := dissect(l.Graph(), math.MaxInt); d == nil || d.entries < exactPerEdge*l.Graph().NNZ() {
		t.Error("no factor without a limit, or a small one")
	}
	if method, _ := Precondition(l.With(1, 1e-9), Cholesky, 0); method != ApproximateCholesky {
		t.Errorf("%v for an expander", method)
	}
}

// A cut of a dense random graph may leave no vertex in the separator: the update of the part below goes
// on to the front above.
func TestExactEmptySeparator(t *testing.T) {
	rng := newRand()
	empty := 0
	for range 30 {
		const n = 100
		var edges [][3]float64
		for i := range n {
			for range 6 {
				if j := rng.IntN(n); j != i {
					edges = append(edges, [3]float64{float64(i), float64(j), 1})
				}
			}
		}
		l := laplacian(t, graph(n, edges), sparse.Combinatorial).With(1, 0.1)
		m := newExact(newSystem(l), true, exactMost)
		if m == nil {
			continue
		}
		if slices.ContainsFunc(m.fronts, func(f front) bool { return f.lo == f.hi }) {
			empty++
		}

		x := normal(n, 2, rng)
		y := mat.NewDense(n, 2, nil)
		z := mat.NewDense(n, 2, nil)
		l.MulTo(y, x)
		m.ApplyTo(z, y)
		z.Sub(z, x)
		if off := mat.Norm(z, 2) / mat.Norm(x, 2); !(off <= 1e-9) {
			t.Errorf("off by %.1e", off)
		}
	}
	if empty == 0 {
		t.Error("no separator was empty")
	}
}

// union is two graphs side by side.
func union(a, b *sparse.CSR) *sparse.CSR {
	var edges [][3]float64
	for at, w := range map[int]*sparse.CSR{0: a, a.Rows: b} {
		for i := range w.Rows {
			for _, j := range w.Col[w.Ptr[i]:w.Ptr[i+1]] {
				if i < int(j) {
					edges = append(edges, [3]float64{float64(at + i), float64(at + int(j)), 1})
				}
			}
		}
	}
	return graph(a.Rows+b.Rows, edges)
}

func complete(n int) *sparse.CSR {
	var edges [][3]float64
	for i := range n {
		for j := range i {
			edges = append(edges, [3]float64{float64(i), float64(j), 1})
		}
	}
	return graph(n, edges)
}

// wheel is a hub joined with a cycle of n vertices.
func wheel(n int) *sparse.CSR {
	var edges [][3]float64
	for i := range n {
		edges = append(edges, [3]float64{0, float64(i + 1), 1}, [3]float64{float64(i + 1), float64((i+1)%n + 1), 1})
	}
	return graph(n+1, edges)
}
