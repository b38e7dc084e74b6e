package cg

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/sparse"
)

// sparseGraphs are graphs in which many vertices have few neighbours.
func sparseGraphs() map[string]*sparse.CSR {
	rng := newRand()
	return map[string]*sparse.CSR{
		"grid":             grid(9, 8),
		"path":             path(20),
		"star":             star(30),
		"tree with chords": randomTree(120, 30, rng),
		"components":       random(90, false, rng),
		"binary":           random(90, true, rng),
		"isolated":         union(union(grid(1, 1), grid(5, 6)), path(2)),
		"ladder":           grid(200, 3),
		"ring":             ring(620),
		"two ladders":      union(union(grid(150, 2), grid(1, 1)), grid(100, 3)),
	}
}

// The core is the Schur complement of the vertices that stay: its solutions, unfolded, solve the whole system, with
// edges to the ground and without.
func TestCore(t *testing.T) {
	for name, w := range sparseGraphs() {
		for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
			for _, shift := range []float64{0.3, 1e-5} {
				l := laplacian(t, w, kind).With(1, shift)
				s := newSystem(l)
				s.spread()
				c := newCore(s, newSlabs(s, 80))
				if c == nil {
					t.Fatalf("%s: no core", name)
				}
				peeled := 0
				for _, of := range c.peeled {
					peeled += len(of)
				}
				if len(c.kept)+peeled != w.Rows {
					t.Fatalf("%s: %d vertices stay and %d do not, of %d", name, len(c.kept), peeled, w.Rows)
				}
				if bySlabs := len(c.peeled) > 1; bySlabs != (w.Rows >= 600) {
					t.Errorf("%s: %d slabs", name, len(c.peeled))
				}
				if err := c.w.CheckGraph(); err != nil {
					t.Errorf("%s: %v", name, err)
				}

				b := normal(w.Rows, 3, newRand())
				m := &reduced{c, inverse(t, c.operator())}
				x := mat.NewDense(w.Rows, 3, nil)
				m.ApplyTo(x, b)
				if r := residual(l, x, b); !(r < 1e-10) {
					t.Errorf("%s, %v, shift %g: the residual is %g", name, kind, shift, r)
				}
			}
		}
	}
}

// inverse returns the inverse of an operator as a preconditioner.
func inverse(t *testing.T, a sparse.Operator) Preconditioner {
	t.Helper()
	n := a.Dim()
	full := mat.NewDense(n, n, nil)
	a.MulTo(full, unit(n))
	var out mat.Dense
	if err := out.Inverse(full); err != nil {
		t.Fatal(err)
	}
	return densePreconditioner{&out}
}

// densePreconditioner is a matrix as a preconditioner.
type densePreconditioner struct{ m *mat.Dense }

func (p densePreconditioner) ApplyTo(dst, r *mat.Dense) { dst.Mul(p.m, r) }

// Few vertices of a graph of neighbours have few neighbours: there is no core.
func TestNoCore(t *testing.T) {
	if c := newCore(newSystem(laplacian(t, complete(20), sparse.Combinatorial)), nil); c != nil {
		t.Errorf("a complete graph has a core of %d vertices", len(c.kept))
	}
}

// By the core, Laplacian finds the solutions that conjugate gradients find without a preconditioner.
func TestSolveOnCore(t *testing.T) {
	ctx := context.Background()
	for name, w := range sparseGraphs() {
		for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
			for _, method := range []Method{Auto, Cholesky, ApproximateCholesky} {
				l := laplacian(t, w, kind)
				b := normal(w.Rows, 3, newRand())
				settings := Settings{Tolerance: 1e-10, Project: true}
				want, err := Laplacian(ctx, l, nil, b, &LaplacianSettings{Settings: settings, Method: None})
				if err != nil {
					t.Fatalf("%s, %v: %v", name, kind, err)
				}
				calls := 0
				settings.OnIteration = func(State) error {
					calls++
					return nil
				}
				settings.Block = 2
				got, err := Laplacian(ctx, l, nil, b, &LaplacianSettings{Settings: settings, Method: method})
				what := fmt.Sprintf("%s, %v, %v", name, kind, method)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				same(t, what, got.X, want.X, 1e-7)
				// Trees end as single vertices.
				most := got.MaxIterations()
				if calls < most || most == 0 && (name == "grid" || name == "tree with chords") {
					t.Errorf("%s: %d iterations, %d reported", what, most, calls)
				}
			}
		}
	}
}

// What stops the iterations on the core stops the solution.
func TestCoreStops(t *testing.T) {
	l := laplacian(t, grid(60, 60), sparse.Combinatorial)
	b := normal(3600, 1, newRand())
	ctx := context.Background()
	stop := errors.New("stop")
	set := LaplacianSettings{Method: ApproximateCholesky, Settings: Settings{Project: true,
		OnIteration: func(s State) error {
			if s.Iteration == 3 {
				return stop
			}
			return nil
		}}}
	r, err := Laplacian(ctx, l, nil, b, &set)
	if !errors.Is(err, stop) {
		t.Fatalf("the error is %v", err)
	}
	if got := residual(l, r.X, b); !(got < 1.5) || math.Abs(got-r.MaxResidual()) > 0.01 {
		t.Errorf("the residual is %g, and said to be %g", got, r.MaxResidual())
	}

	set.OnIteration = nil
	set.MaxIterations = 4
	if r, err = Laplacian(ctx, l, nil, b, &set); !errors.Is(err, ErrNotConverged) || r.MaxIterations() != 4 {
		t.Errorf("%d iterations of at most 4, and the error %v", r.MaxIterations(), err)
	}

	set.Project = false
	var null *NullComponentError
	if _, err = Laplacian(ctx, l, nil, b, &set); !errors.As(err, &null) {
		t.Errorf("a right-hand side with a part along a null vector: %v", err)
	}
}

// Harmonic functions go by the core too, with the vertices pinned that have labels.
func TestGroundedOnCore(t *testing.T) {
	ctx := context.Background()
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		l := laplacian(t, grid(400, 30), kind)
		n := l.Dim()
		ground := make([]float64, n)
		pinned := make([]bool, n)
		pinned[7] = true
		pinned[n/2] = true
		ground[n/3] = 0.2
		_, m := Grounded(l, ground, pinned, 0)
		if _, ok := m.(*reduced); !ok {
			t.Fatalf("the preconditioner is a %T", m)
		}

		a := l.Form(1, ground, pinned)
		b := normal(n, 3, newRand())
		for j := range 3 {
			b.Set(7, j, 0)
			b.Set(n/2, j, 0)
		}
		r, err := Solve(ctx, matrixOperator{a}, b, &Settings{Preconditioner: m, Tolerance: 1e-10})
		if err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		if got := residual(matrixOperator{a}, r.X, b); !(got <= 1e-10) || r.MaxIterations() > 3 {
			t.Errorf("%v: the residual is %g after %d iterations", kind, got, r.MaxIterations())
		}

		// Another operator than the one the factor was made for is solved with nevertheless.
		twice := matrixOperator{l.Form(2, ground, pinned)}
		if r, err = Solve(ctx, twice, b, &Settings{Preconditioner: m, Tolerance: 1e-10}); err != nil {
			t.Fatalf("%v: %v", kind, err)
		}
		if got := residual(twice, r.X, b); !(got <= 1e-10) {
			t.Errorf("%v: the residual with another operator is %g", kind, got)
		}
	}
}

// matrixOperator is a square sparse matrix as an operator.
type matrixOperator struct{ *sparse.CSR }

func (a matrixOperator) Dim() int { return a.Rows }

// One right-hand side of an ill-conditioned graph goes by the approximate factor, several and powers by the exact
// one.
func TestAutoByColumns(t *testing.T) {
	l := laplacian(t, grid(300, 20), sparse.Normalized)
	for _, c := range []struct {
		columns, power int
		want           Method
	}{{1, 1, ApproximateCholesky}, {2, 1, Cholesky}, {1, 2, Cholesky}} {
		b := normal(l.Dim(), c.columns, newRand())
		r, err := Laplacian(context.Background(), l.With(c.power, 0), nil, b,
			&LaplacianSettings{Settings: Settings{Project: true, Tolerance: 1e-5}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Method != c.want {
			t.Errorf("%d columns, power %d: %v, want %v", c.columns, c.power, r.Method, c.want)
		}
	}
}

// LaplacianBytes counts the factor of a graph that is hard, where one is made.
func TestLaplacianBytes(t *testing.T) {
	hard := laplacian(t, path(3000), sparse.Combinatorial)
	easy := laplacian(t, complete(30), sparse.Combinatorial)
	for _, c := range []struct {
		what    string
		l       *sparse.Laplacian
		columns int
		m       Preconditioner
		factor  bool
	}{
		{"a path, one column", hard, 1, nil, true},
		{"a path, five columns", hard, 5, nil, true},
		{"a path with a large shift", hard.With(1, 3), 5, nil, false},
		{"a path with a preconditioner", hard, 5, identity{}, false},
		{"a complete graph", easy, 5, nil, false},
	} {
		s := &LaplacianSettings{Settings: Settings{Preconditioner: c.m}}
		least, err := Bytes(c.l.Dim(), c.columns, &s.Settings)
		if err != nil {
			t.Fatal(err)
		}
		got, err := LaplacianBytes(c.l, c.columns, s)
		if err != nil {
			t.Fatal(err)
		}
		if (got > least) != c.factor {
			t.Errorf("%s: %d bytes, and %d without a factor", c.what, got, least)
		}
	}
}
