package cg

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// ring is a cycle of n vertices.
func ring(n int) *sparse.CSR {
	edges := make([][3]float64, n)
	for i := range edges {
		edges[i] = [3]float64{float64(i), float64((i + 1) % n), 1 + float64(i%7)}
	}
	return graph(n, edges)
}

// Every vertex is in one slab or between, slabs have no edge to each other, and the parts are not small.
func TestSlabs(t *testing.T) {
	rng := newRand()
	for name, w := range map[string]*sparse.CSR{
		"grid": grid(60, 50), "path": path(2000), "ring": ring(3000), "two grids": union(grid(30, 40), grid(50, 20)),
		"isolated": union(union(grid(1, 1), grid(30, 40)), grid(1, 1)),
	} {
		s := newSystem(laplacian(t, w, sparse.Combinatorial))
		s.spread()
		d := newSlabs(s, 300)
		if d == nil {
			t.Errorf("%s: no slabs", name)
			continue
		}
		of := make([]int, w.Rows)
		for k, part := range d.parts {
			if len(part) < 150 || !slices.IsSorted(part) {
				t.Errorf("%s: slab %d of %d vertices", name, k, len(part))
			}
			for i, v := range part {
				of[v] += k + 1
				if d.number[v] != int32(i) {
					t.Fatalf("%s: vertex %d has number %d", name, v, d.number[v])
				}
			}
		}
		for i, v := range d.between {
			of[v] -= 1000
			if d.number[v] != int32(-1-i) {
				t.Fatalf("%s: vertex %d between has number %d", name, v, d.number[v])
			}
		}

		for v, k := range of {
			if k == 0 || k > len(d.parts) || k < 0 && k != -1000 {
				t.Fatalf("%s: vertex %d is nowhere or twice", name, v)
			}
			s.eachEdge(int32(v), func(to int32, _ float64) {
				if k > 0 && of[to] > 0 && of[to] != k {
					t.Fatalf("%s: slabs %d and %d have an edge", name, k, of[to])
				}
			})
		}
	}

	// Wide levels, and few vertices.
	for name, w := range map[string]*sparse.CSR{"complete": complete(700), "random": randomTree(4000, 8000, rng), "small": grid(20, 20)} {
		s := newSystem(laplacian(t, w, sparse.Combinatorial))
		s.spread()
		if d := newSlabs(s, 300); d != nil {
			t.Errorf("%s: slabs, and %d vertices between them", name, len(d.between))
		}
	}
}

// A factor by slabs is as good as the one of the whole graph, in any number of columns, with and without shift. Its bits do
// not depend on the number of processors.
func TestDivided(t *testing.T) {
	rng := newRand()
	for name, w := range map[string]*sparse.CSR{
		"grid": grid(60, 50), "path": path(2000), "ring": ring(3000), "two grids": union(grid(30, 40), grid(50, 20)),
		"isolated": union(union(grid(1, 1), grid(30, 40)), grid(1, 1)),
	} {
		for _, shift := range []float64{0, 1e-5} {
			for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
				for _, copies := range []int32{1, 2} {
					l := laplacian(t, w, kind).With(1, shift)
					s := newSystem(l)
					s.spread()
					d := newSlabs(s, 300)
					m := newDivided(s, d, copies, 3)
					for _, columns := range []int{1, 9} {
						what := fmt.Sprintf("%s, %v, shift %g, %d copies, %d columns", name, kind, shift, copies, columns)
						b := normal(w.Rows, columns, rng)
						got := steps(t, what, l, b, m)
						if whole := steps(t, what, l, b, newApproximate(s, copies, 3)); got > whole+whole/3+2 {
							t.Errorf("%s: %d iterations, the factor of the whole takes %d", what, got, whole)
						}
					}

					before := runtime.GOMAXPROCS(1)
					again := newDivided(s, d, copies, 3)
					x := normal(w.Rows, 5, rng)
					y := mat.NewDense(w.Rows, 5, nil)
					z := mat.NewDense(w.Rows, 5, nil)
					again.ApplyTo(y, x)
					runtime.GOMAXPROCS(before)
					m.ApplyTo(z, x)
					if !mat.Equal(y, z) {
						t.Errorf("%s, %v: other bits on one processor", name, kind)
					}
				}
			}
		}
	}
}

// steps returns the iterations that a preconditioner takes.
func steps(t *testing.T, what string, l *sparse.Laplacian, b *mat.Dense, m Preconditioner) int {
	t.Helper()
	r, err := Laplacian(t.Context(), l, nil, b, &LaplacianSettings{
		Settings: Settings{Project: true, Tolerance: 1e-7, Preconditioner: m}})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return r.MaxIterations()
}

// On a path elimination is exact, by slabs too: the vertices that are left between them form a path again.
func TestDividedPath(t *testing.T) {
	w := path(3000)
	l := laplacian(t, w, sparse.Combinatorial)
	s := newSystem(l)
	s.spread()
	m := newDivided(s, newSlabs(s, 300), 1, 0)
	null := newComponentNull(l, w.Components())
	x := normal(w.Rows, 1, newRand())
	project(x, null)
	y := mat.NewDense(w.Rows, 1, nil)
	z := mat.NewDense(w.Rows, 1, nil)
	l.MulTo(y, x)
	m.ApplyTo(z, y)
	project(z, null)
	same(t, "path", z, x, 1e-4)
}
