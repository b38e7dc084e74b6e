package solvers_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/solvers"
)

// rows is a dense design.
type rows struct{ *mat.Dense }

func (x rows) MulTo(dst, w *mat.Dense)      { dst.Mul(x.Dense, w) }
func (x rows) MulTransTo(dst, r *mat.Dense) { dst.Mul(x.T(), r) }

// form is a symmetric matrix as an operator.
type form struct{ *mat.Dense }

func (h form) Dim() int                { r, _ := h.Dims(); return r }
func (h form) MulTo(dst, x *mat.Dense) { dst.Mul(h.Dense, x) }

// newProblem returns l points in d dimensions with m columns of targets that a
// plane predicts up to noise, and a positive definite form.
func newProblem(seed uint64, l, d, m int, loss solvers.Loss) *solvers.NewtonProblem {
	rng := rand.New(rand.NewPCG(seed, 5))
	x, w, root := mat.NewDense(l, d, nil), mat.NewDense(d, m, nil), mat.NewDense(d, d, nil)
	for _, a := range []*mat.Dense{x, w, root} {
		for i, v := range a.RawMatrix().Data {
			a.RawMatrix().Data[i] = v + rng.NormFloat64()
		}
	}
	y := mat.NewDense(l, m, nil)
	y.Mul(x, w)
	for i, v := range y.RawMatrix().Data {
		y.RawMatrix().Data[i] = math.Copysign(1, v+1+rng.NormFloat64())
	}
	h := mat.NewDense(d, d, nil)
	h.Mul(root, root.T())
	return &solvers.NewtonProblem{X: rows{x}, Y: y, Operator: form{h}, Ridge: 0.1, C: 0.7, Loss: loss, Width: 0.5}
}

// loss returns V and V' at margin m.
func value(p *solvers.NewtonProblem, m float64) (v, slope float64) {
	h := p.Width
	switch {
	case p.Loss == solvers.SquaredHinge:
		return math.Pow(math.Max(0, 1-m), 2), -2 * math.Max(0, 1-m)
	case m >= 1+h:
		return 0, 0
	case m <= 1-h:
		return 1 - m, -1
	}
	return (1 + h - m) * (1 + h - m) / (4 * h), -(1 + h - m) / (2 * h)
}

// objective evaluates p for one column, and the gradient in (w, b).
func objective(p *solvers.NewtonProblem, j int, w []float64, b float64) (f float64, g []float64) {
	d := len(w)
	x, h := p.X.(rows), p.Operator.(form)
	g = make([]float64, d+1)
	for a := range d {
		for c := range d {
			v := h.At(a, c)
			if a == c {
				v += p.Ridge
			}
			f += w[a] * v * w[c] / 2
			g[a] += v * w[c]
		}
	}
	l, _ := x.Dims()
	for i := range l {
		y, s := p.Y.At(i, j), b
		for a := range d {
			s += x.At(i, a) * w[a]
		}
		v, slope := value(p, y*s)
		f += p.C * v
		for a := range d {
			g[a] += p.C * slope * y * x.At(i, a)
		}
		g[d] += p.C * slope * y
	}
	return f, g
}

var losses = []solvers.Loss{solvers.SquaredHinge, solvers.HuberizedHinge}

func TestNewtonFindsTheMinimum(t *testing.T) {
	for _, loss := range losses {
		for _, size := range [][3]int{{60, 5, 1}, {200, 12, 4}, {8, 30, 3}} {
			p := newProblem(1, size[0], size[1], size[2], loss)
			res, err := solvers.Newton(context.Background(), p, &solvers.NewtonSettings{Tolerance: 1e-11})
			if err != nil {
				t.Fatalf("%v %v: %v", loss, size, err)
			}
			rng := rand.New(rand.NewPCG(9, 9))
			for j := range size[2] {
				w := mat.Col(nil, j, res.W)
				f, g := objective(p, j, w, res.B[j])
				_, g0 := objective(p, j, make([]float64, len(w)), 0)
				if !(math.Abs(f-res.Objective[j]) <= 1e-12*f) {
					t.Errorf("%v %v: reported objective %v, it is %v", loss, size, res.Objective[j], f)
				}
				norm := norm2(g) / norm2(g0)
				if !(norm <= 1e-10) || !(math.Abs(norm-res.Gradient[j]) <= 1e-12) {
					t.Errorf("%v %v: gradient %v, reported %v", loss, size, norm, res.Gradient[j])
				}
				for range 20 { // no point nearby is better
					v := append([]float64{}, w...)
					for a := range v {
						v[a] += 1e-3 * rng.NormFloat64()
					}
					if other, _ := objective(p, j, v, res.B[j]+1e-3*rng.NormFloat64()); other < f {
						t.Errorf("%v %v: a neighbour has %v < %v", loss, size, other, f)
					}
				}
			}
		}
	}
}

func norm2(v []float64) float64 { return mat.Norm(mat.NewVecDense(len(v), v), 2) }

// The gradient that the tests and Newton agree on is that of the objective.
func TestGradientByDifferences(t *testing.T) {
	for _, loss := range losses {
		p := newProblem(3, 40, 6, 1, loss)
		w := []float64{0.1, -0.2, 0.3, 0.05, -0.4, 0.2}
		_, g := objective(p, 0, w, 0.3)
		const e = 1e-6
		for a := range 7 {
			shifted := func(by float64) float64 {
				v, b := append([]float64{}, w...), 0.3
				if a < 6 {
					v[a] += by
				} else {
					b += by
				}
				f, _ := objective(p, 0, v, b)
				return f
			}
			if d := (shifted(e) - shifted(-e)) / (2 * e); !(math.Abs(d-g[a]) <= 1e-6*(1+math.Abs(d))) {
				t.Errorf("%v: derivative %d is %v, by differences %v", loss, a, g[a], d)
			}
		}
	}
}

func TestNewtonStartsWarm(t *testing.T) {
	for _, loss := range losses {
		p := newProblem(4, 150, 10, 3, loss)
		cold, err := solvers.Newton(context.Background(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		warm, err := solvers.Newton(context.Background(), p, &solvers.NewtonSettings{StartW: cold.W, StartB: cold.B})
		if err != nil || warm.Iterations != 0 || !mat.Equal(warm.W, cold.W) {
			t.Errorf("%v: %d steps from the answer, %v", loss, warm.Iterations, err)
		}
		p.C *= 1.3
		near, err := solvers.Newton(context.Background(), p, &solvers.NewtonSettings{StartW: cold.W, StartB: cold.B})
		if err != nil {
			t.Fatal(err)
		}
		far, err := solvers.Newton(context.Background(), p, nil)
		if err != nil || !mat.EqualApprox(near.W, far.W, 1e-6) || near.Products > far.Products {
			t.Errorf("%v: a warm start took %d products and a cold one %d, %v", loss, near.Products, far.Products, err)
		}
	}
}

func TestColumnsAreIndependent(t *testing.T) {
	p := newProblem(5, 120, 8, 5, solvers.SquaredHinge)
	all, err := solvers.Newton(context.Background(), p, &solvers.NewtonSettings{Tolerance: 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	for j := range 5 {
		one := *p
		one.Y = mat.DenseCopyOf(p.Y.Slice(0, 120, j, j+1))
		got, err := solvers.Newton(context.Background(), &one, &solvers.NewtonSettings{Tolerance: 1e-10})
		if err != nil || !mat.EqualApprox(got.W, all.W.Slice(0, 8, j, j+1), 1e-8) {
			t.Errorf("column %d alone has another answer, %v", j, err)
		}
	}
}

// A weight of k is k copies of the point, and one of 0 none.
func TestNewtonWeights(t *testing.T) {
	for _, loss := range losses {
		p := newProblem(11, 90, 7, 3, loss)
		var copies []int
		for i := range 90 {
			p.Weights = append(p.Weights, float64(i%4))
			for range i % 4 {
				copies = append(copies, i)
			}
		}
		same := newProblem(11, 90, 7, 3, loss)
		x, y := mat.NewDense(len(copies), 7, nil), mat.NewDense(len(copies), 3, nil)
		for a, i := range copies {
			x.SetRow(a, p.X.(rows).RawRowView(i))
			y.SetRow(a, p.Y.RawRowView(i))
		}
		same.X, same.Y = rows{x}, y
		for _, start := range []float64{0, -50} { // from the second no point is on a curved piece
			s := &solvers.NewtonSettings{Tolerance: 1e-11, StartB: []float64{start, -start, start}}
			got, err := solvers.Newton(context.Background(), p, s)
			if err != nil {
				t.Fatal(err)
			}
			want, err := solvers.Newton(context.Background(), same, s)
			if err != nil {
				t.Fatal(err)
			}
			if !mat.EqualApprox(got.W, want.W, 1e-8) || !mat.EqualApprox(mat.NewVecDense(3, got.Objective), mat.NewVecDense(3, want.Objective), 1e-9) {
				t.Errorf("%v from b = %v: weights give objectives %v, copies %v", loss, start, got.Objective, want.Objective)
			}
		}
	}
	for what, weights := range map[string][]float64{"number": {1}, "none": make([]float64, 90), "negative": append([]float64{-1}, make([]float64, 89)...), "NaN": append([]float64{math.NaN()}, make([]float64, 89)...)} {
		p := newProblem(11, 90, 7, 3, solvers.SquaredHinge)
		p.Weights = weights
		if _, err := solvers.Newton(context.Background(), p, nil); err == nil {
			t.Errorf("weights were taken: %s", what)
		}
	}
}

func TestPreconditionedIsTheSame(t *testing.T) {
	p := newProblem(6, 100, 9, 2, solvers.HuberizedHinge)
	plain, err := solvers.Newton(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	for a := range 9 {
		p.Diagonal = append(p.Diagonal, p.Operator.(form).At(a, a)+10)
	}
	got, err := solvers.Newton(context.Background(), p, nil)
	if err != nil || !mat.EqualApprox(got.W, plain.W, 1e-6) {
		t.Errorf("preconditioning changes the answer, %v", err)
	}
}

// As its width goes to zero, the objective with the Huberized hinge goes to that
// with the hinge, from above and by at most C·l·h/4.
func TestHuberizedHingeTendsToTheHinge(t *testing.T) {
	p := newProblem(7, 80, 4, 1, solvers.HuberizedHinge)
	var values []float64
	widths := []float64{0.5, 0.1, 0.01, 0.001}
	for _, h := range widths {
		p.Width = h
		res, err := solvers.Newton(context.Background(), p, nil)
		if err != nil {
			t.Fatalf("h = %v: %v", h, err)
		}
		values = append(values, res.Objective[0])
	}
	for i, v := range values[1:] {
		if v > values[i] || values[i]-v > p.C*80*widths[i]/4 {
			t.Errorf("objectives %v for widths %v", values, widths)
		}
	}
}

func TestNewtonSaysWhatIsWrong(t *testing.T) {
	p := newProblem(8, 100, 6, 2, solvers.SquaredHinge)
	res, err := solvers.Newton(context.Background(), p, &solvers.NewtonSettings{MaxIterations: 1, MaxInner: 1})
	if !errors.Is(err, solvers.ErrNotConverged) || res == nil || !(res.Gradient[0] > 1e-8) {
		t.Errorf("one step of one gradient: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := solvers.Newton(ctx, p, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	bad := *p
	bad.C = math.NaN()
	bad.Diagonal = []float64{1}
	bad.Loss, bad.Width = solvers.HuberizedHinge, 2
	res, err = solvers.Newton(context.Background(), &bad, &solvers.NewtonSettings{Tolerance: -1})
	var all interface{ Unwrap() []error }
	if res != nil || !errors.As(err, &all) || len(all.Unwrap()) != 4 {
		t.Errorf("four faults are told as %v", err)
	}
	bad = *p
	bad.Y = mat.DenseCopyOf(p.Y)
	bad.Y.Set(3, 1, 0.5)
	if _, err := solvers.Newton(context.Background(), &bad, nil); err == nil {
		t.Error("a target of 0.5 was taken")
	}
}

// The hook hears of every step, and its error stops the run.
func TestNewtonOnIteration(t *testing.T) {
	p := newProblem(12, 120, 8, 3, solvers.SquaredHinge)
	var states []solvers.NewtonState
	hear := &solvers.NewtonSettings{OnIteration: func(s solvers.NewtonState) error {
		states = append(states, s)
		return nil
	}}
	res, err := solvers.Newton(context.Background(), p, hear)
	if err != nil || len(states) != res.Iterations+1 {
		t.Fatalf("%d states of %d steps, %v", len(states), res.Iterations, err)
	}
	for i, s := range states {
		last := i == len(states)-1
		if s.Iteration != i || s.Columns != 3 || (s.Converged == 3) != last || (s.Gradient <= 1e-8) != last {
			t.Errorf("state %d of %d: %+v", i, len(states), s)
		}
	}
	stop := errors.New("stop")
	res, err = solvers.Newton(context.Background(), p, &solvers.NewtonSettings{OnIteration: func(s solvers.NewtonState) error {
		if s.Iteration == 2 {
			return stop
		}
		return nil
	}})
	if !errors.Is(err, stop) || res == nil || res.Iterations != 2 {
		t.Errorf("stopped after 2 steps: %v", err)
	}
}

func TestNewtonHasTheSameBitsAtAnyThreads(t *testing.T) {
	p := newProblem(10, 1500, 700, 3, solvers.SquaredHinge)
	two, err := solvers.Newton(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := solvers.Newton(context.Background(), p, nil)
	if err != nil || !mat.Equal(one.W, two.W) {
		t.Errorf("one thread gives other bits, %v", err)
	}
}
