package cg

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// randomTree is a tree in which each vertex has an edge to a random earlier one, with chords, and
// weights over six decades.
func randomTree(n, chords int, rng *rand.Rand) *sparse.CSR {
	var edges [][3]float64
	add := func(i, j int) {
		if i != j {
			edges = append(edges, [3]float64{float64(i), float64(j), math.Pow(10, -6*rng.Float64())})
		}
	}
	for i := 1; i < n; i++ {
		add(rng.IntN(i), i)
	}
	for range chords {
		add(rng.IntN(n), rng.IntN(n))
	}
	return graph(n, edges)
}

// cliques is a star of cliques, each joined to vertex 0 by one edge.
func cliques(count, size int) *sparse.CSR {
	var edges [][3]float64
	n := 1
	for range count {
		edges = append(edges, [3]float64{0, float64(n), 1})
		for i := range size {
			for j := range i {
				edges = append(edges, [3]float64{float64(n + i), float64(n + j), 1})
			}
		}
		n += size
	}
	return graph(n, edges)
}

// The approximate factor solves in a moderate number of iterations whatever the graph, in any number
// of columns, with and without shift.
func TestApproximate(t *testing.T) {
	rng := newRand()
	for name, w := range map[string]*sparse.CSR{
		"grid": grid(60, 50), "star": star(3000), "path": path(2000), "complete": complete(60),
		"components": random(3000, false, rng), "binary": random(3000, true, rng),
		"tree with chords": randomTree(4000, 1000, rng), "cliques": cliques(30, 40),
		"isolated": union(union(grid(1, 1), grid(20, 20)), grid(1, 1)),
	} {
		for _, shift := range []float64{0, 1e-5, 0.1} {
			for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
				t.Run(fmt.Sprintf("%s/%v/%g", name, kind, shift), func(t *testing.T) {
					l := laplacian(t, w, kind).With(1, shift)
					b := normal(w.Rows, 3, rng)
					r, err := Laplacian(t.Context(), l, nil, b, &LaplacianSettings{Method: ApproximateCholesky,
						Settings: Settings{Project: true, Tolerance: 1e-7}})
					if err != nil {
						t.Fatal(err)
					}
					if shift == 0 {
						project(b, newComponentNull(l, w.Components()))
					}
					if got := residual(l, r.X, b); !(got <= 1e-7) {
						t.Errorf("the residual is %.2e", got)
					}
					if r.MaxIterations() > 45 {
						t.Errorf("%d iterations", r.MaxIterations())
					}
				})
			}
		}
	}
}

// Up to two neighbours elimination is exact, so that the factor of a forest is the inverse up to the
// rounding of weights.
func TestApproximateForest(t *testing.T) {
	rng := newRand()
	for name, w := range map[string]*sparse.CSR{"path": path(500), "star": star(500), "tree": randomTree(800, 0, rng),
		"cycle": graph(3, [][3]float64{{0, 1, 1}, {1, 2, 3}, {0, 2, 5}}), "forest": union(path(30), star(20))} {
		l := laplacian(t, w, sparse.Combinatorial)
		null := newComponentNull(l, w.Components())
		_, m := Precondition(l, ApproximateCholesky, 0)
		x := normal(w.Rows, 1, rng)
		project(x, null)
		y := mat.NewDense(w.Rows, 1, nil)
		z := mat.NewDense(w.Rows, 1, nil)
		l.MulTo(y, x)
		m.ApplyTo(z, y)
		project(z, null)
		same(t, name, z, x, 1e-4)
	}
}

// The mean of many factors is the operator: the draws are unbiased.
func TestApproximateMean(t *testing.T) {
	const draws = 4000
	rng := newRand()
	var edges [][3]float64
	const n = 9
	for i := range n {
		for j := range i {
			edges = append(edges, [3]float64{float64(i), float64(j), math.Exp(3 * rng.Float64())})
		}
	}
	l := laplacian(t, graph(n, edges), sparse.Combinatorial).With(1, 5)
	one := mat.NewDense(n, n, nil)
	for i := range n {
		one.Set(i, i, 1)
	}
	want := mat.NewDense(n, n, nil)
	l.MulTo(want, one)

	sum := mat.NewDense(n, n, nil)
	square := mat.NewDense(n, n, nil)
	for seed := range uint64(draws) {
		_, m := Precondition(l, ApproximateCholesky, seed)
		inverse := mat.NewDense(n, n, nil)
		m.ApplyTo(inverse, one)
		var a, b mat.Dense
		if err := a.Inverse(inverse); err != nil {
			t.Fatal(err)
		}
		b.MulElem(&a, &a)
		sum.Add(sum, &a)
		square.Add(square, &b)
	}
	for i := range n {
		for j := range n {
			mean := sum.At(i, j) / draws
			deviation := math.Sqrt(math.Max(square.At(i, j)/draws-mean*mean, 0) / draws)
			if !(math.Abs(mean-want.At(i, j)) <= 5*deviation+1e-5*want.At(i, i)) {
				t.Errorf("element (%d, %d) is %v on average ± %v, want %v", i, j, mean, deviation, want.At(i, j))
			}
		}
	}
}

// The factor follows from the seed, and a column of a block has the same bits as alone, at any number
// of threads.
func TestApproximateBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := newRand()
	l := laplacian(t, randomTree(3000, 3000, rng), sparse.Combinatorial).With(1, 1e-6)
	r := normal(3000, 19, rng)
	apply := func(threads, columns int, seed uint64) *mat.Dense {
		runtime.GOMAXPROCS(threads)
		_, m := Precondition(l, ApproximateCholesky, seed)
		x := mat.NewDense(3000, columns, nil)
		m.ApplyTo(x, r.Slice(0, 3000, 0, columns).(*mat.Dense))
		return x
	}
	want := apply(1, 19, 7)
	for _, columns := range []int{1, 3, 4, 5, 8, 16, 19} {
		for _, threads := range []int{1, 2, 5} {
			x := apply(threads, columns, 7)
			for i := range 3000 {
				if got := x.RawRowView(i); !slices.Equal(got, want.RawRowView(i)[:columns]) {
					t.Fatalf("%d columns, %d threads: row %d is %v, want %v", columns, threads, i, got, want.RawRowView(i)[:columns])
				}
			}
		}
	}
	if mat.Equal(want, apply(1, 19, 8)) {
		t.Error("another seed gives the same factor")
	}
}

// The queue hands out a vertex of the least bucket of degrees after any changes.
func TestDegreeQueue(t *testing.T) {
	rng := newRand()
	const n = 400
	vertices := make([]vertex, n)
	for i := range vertices {
		vertices[i].degree = int32(rng.IntN(300))
	}
	var q degreeQueue
	q.fill(vertices, len(vertices))
	gone := make([]bool, n)
	for range n {
		least := int32(math.MaxInt32)
		for i, v := range vertices {
			if !gone[i] {
				least = min(least, bucketOf(v.degree))
			}
		}
		i := q.pop()
		if gone[i] || bucketOf(vertices[i].degree) != least {
			t.Fatalf("vertex %d of degree %d, gone %t; the least bucket is %d", i, vertices[i].degree, gone[i], least)
		}
		gone[i] = true
		for range 20 {
			if j := int32(rng.IntN(n)); !gone[j] {
				q.change(&vertices[j], j, int32(rng.IntN(60))-min(30, vertices[j].degree))
			}
		}
	}
	for d := int32(0); d < 1<<20; d++ {
		if bucketOf(d) > bucketOf(d+1) || bucketOf(d) >= bucketCount {
			t.Fatalf("degree %d has bucket %d", d, bucketOf(d))
		}
	}
	if bucketOf(math.MaxInt32) >= bucketCount {
		t.Error("no bucket for the largest degree")
	}
}

// Lists in a store keep their links while chunks go from one to another.
func TestLinkStore(t *testing.T) {
	rng := newRand()
	s := newLinkStore(8)
	lists := make([]linkList, 30)
	want := make([][]link, len(lists))
	var got []link
	for step := range 20000 {
		i := rng.IntN(len(lists))
		if rng.IntN(60) > 0 {
			k := link{int32(step), float32(i)}
			s.add(&lists[i], k)
			want[i] = append(want[i], k)
			continue
		}
		got = s.moveTo(got[:0], &lists[i])
		slices.SortFunc(got, func(a, b link) int { return int(a.to - b.to) })
		if !slices.Equal(got, want[i]) {
			t.Fatalf("list %d is %v, want %v", i, got, want[i])
		}
		want[i] = want[i][:0]
	}
}

// Auto sees many weak ends at once, and finds other hard graphs by the iterations of the polynomial.
func TestHardGraphs(t *testing.T) {
	rng := newRand()
	hidden := cliques(400, 12)
	for i := int64(0); i < hidden.Ptr[1]; i++ {
		j := hidden.Col[i]
		w := math.Pow(10, -6*rng.Float64())
		hidden.Val[i] = w
		hidden.Val[hidden.Ptr[j]] = w // vertex 0 comes first
	}
	for name, c := range map[string]struct {
		w      *sparse.CSR
		paired bool
	}{"tree with chords": {randomTree(20000, 5000, rng), true}, "weak ends": {hidden, false}} {
		l := laplacian(t, c.w, sparse.Normalized)
		s := newSystem(l)
		if got := s.paired(); got != c.paired || got && !Hard(c.w, sparse.Normalized) {
			t.Errorf("%s: pairs: %t", name, got)
		}
		b := normal(c.w.Rows, 2, rng)
		project(b, newComponentNull(l, c.w.Components()))
		last := 0
		r, err := Laplacian(t.Context(), l, nil, b, &LaplacianSettings{Settings: Settings{
			OnIteration: func(s State) error {
				if s.Iteration != last+1 {
					t.Errorf("%s: iteration %d after %d", name, s.Iteration, last)
				}
				last = s.Iteration
				return nil
			}}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := residual(l, r.X, b); !(got <= 1e-8) || r.Method != ApproximateCholesky ||
			r.MaxIterations() != last || c.paired != (last < chebyshevPatience) {
			t.Errorf("%s: residual %.1e after %d and %d iterations with %v", name, got, r.MaxIterations(), last, r.Method)
		}
	}
}

// Where rounding allows no more, the error tells the backward error; where iterations would, it does not.
func TestRounding(t *testing.T) {
	rng := newRand()
	const count, size = 300, 20
	var edges [][3]float64
	for c := range count {
		for i := range size {
			for j := range i {
				edges = append(edges, [3]float64{float64(c*size + i), float64(c*size + j), 1})
			}
		}
		next := (c + 1) % count
		edges = append(edges, [3]float64{float64(c * size), float64(next*size + 1), math.Pow(10, -6*rng.Float64())})
	}
	l := laplacian(t, graph(count*size, edges), sparse.Combinatorial)
	b := normal(count*size, 1, rng)
	for _, method := range []Method{Auto, ApproximateCholesky} {
		r, err := Laplacian(t.Context(), l, nil, b, &LaplacianSettings{Method: method, Settings: Settings{Project: true, Tolerance: 1e-10}})
		var e *RoundingError
		if !errors.As(err, &e) || !errors.Is(err, ErrNotConverged) {
			t.Fatalf("%v: %v", method, err)
		}
		right := mat.DenseCopyOf(b)
		project(right, newComponentNull(l, l.Graph().Components()))
		backward := residual(l, r.X, right) * mat.Norm(right, 2) / (l.UpperBound()*mat.Norm(r.X, 2) + mat.Norm(right, 2))
		if !(math.Abs(backward-e.Backward) <= 0.1*backward) || !(backward <= 1e-14) || e.Columns != 1 {
			t.Errorf("%v: %v; the backward error is %.2g", method, err, backward)
		}
	}
	_, err := Laplacian(t.Context(), l, nil, b, &LaplacianSettings{Method: Jacobi, Settings: Settings{Project: true, MaxIterations: 20}})
	var e *RoundingError
	if !errors.Is(err, ErrNotConverged) || errors.As(err, &e) {
		t.Errorf("after 20 iterations: %v", err)
	}
}
