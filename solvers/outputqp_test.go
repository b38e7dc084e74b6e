package solvers_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/solvers"
)

// outputProgram makes a program of n labels, much alike, at l points, a tenth of the labels missing.
func outputProgram(l, n int) *solvers.OutputQP {
	rng := rand.New(rand.NewPCG(3, 5))
	random := func(rows, columns int) *mat.Dense {
		x := mat.NewDense(rows, columns, nil)
		x.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, x)
		return x
	}
	p := &solvers.OutputQP{Y: mat.NewDense(l, n, nil)}
	var qr mat.QR
	qr.Factorize(random(n, n))
	p.Vectors = mat.NewDense(n, n, nil)
	qr.QTo(p.Vectors)
	for q := range n {
		root := random(l, l/2) // K of half the rank
		k := mat.NewDense(l, l, nil)
		k.Mul(root, root.T())
		p.Grams = append(p.Grams, k)
		p.Theta = append(p.Theta, math.Pow(10, float64(1-3*q)))
		p.Bounds = append(p.Bounds, 0.01*float64(q+1))
	}
	common := random(l, 1)
	p.Y.Apply(func(i, _ int, _ float64) float64 {
		if rng.Float64() < 0.1 {
			return math.NaN()
		}
		return math.Copysign(1, common.At(i, 0)+rng.NormFloat64())
	}, p.Y)
	return p
}

// The conditions of the minimum hold as the definitions have them: bounds, sums, and a hinge that is exact where a
// variable is between its bounds, at least there where it is at the upper and at most where it is zero.
func TestOutputQP(t *testing.T) {
	const l, n, tolerance = 70, 4, 1e-9
	p := outputProgram(l, n)
	r, err := p.Solve(t.Context(), &solvers.SMOSettings{Tolerance: tolerance})
	if err != nil {
		t.Fatal(err)
	}

	f := mat.NewDense(l, n, nil)
	for q, k := range p.Grams {
		var part mat.VecDense
		part.MulVec(r.V, p.Vectors.ColView(q))
		part.MulVec(k, &part)
		f.RankOne(f, p.Theta[q], &part, p.Vectors.ColView(q))
	}
	between := 0
	for c := range n {
		sum := 0.0
		for i := range l {
			y, v := p.Y.At(i, c), r.V.At(i, c)
			sum += v
			if math.IsNaN(y) {
				if v != 0 {
					t.Errorf("%v without a label at %d, %d", v, i, c)
				}
				continue
			}
			margin := y * (f.At(i, c) + r.Intercepts[c])
			switch a := y * v; {
			case a < 0 || a > p.Bounds[c]:
				t.Errorf("variable %v of %v at %d, %d", a, p.Bounds[c], i, c)
			case a == 0 && margin < 1-2*tolerance, a == p.Bounds[c] && margin > 1+2*tolerance,
				a > 0 && a < p.Bounds[c] && math.Abs(margin-1) > 2*tolerance:
				t.Errorf("margin %v with variable %v of %v at %d, %d", margin, a, p.Bounds[c], i, c)
			case a > 0 && a < p.Bounds[c]:
				between++
			}
		}
		if math.Abs(sum) > 1e-12 {
			t.Errorf("label %d: sum %v", c, sum)
		}
	}
	if between == 0 || r.Gap > 1e-9 || r.Violation > tolerance {
		t.Errorf("%d variables between their bounds, gap %v, violation %v", between, r.Gap, r.Violation)
	}
}

// One label without others is the program of SMO.
func TestOutputQPOfOne(t *testing.T) {
	p := outputProgram(40, 1)
	y := mat.Col(nil, 0, p.Y)
	for i, v := range y {
		if math.IsNaN(v) {
			y[i] = 1
			p.Y.Set(i, 0, 1)
		}
	}
	var k mat.Dense
	k.Scale(p.Theta[0]*p.Vectors.At(0, 0)*p.Vectors.At(0, 0), p.Grams[0])
	s := &solvers.SMOSettings{Tolerance: 1e-10}
	want, err := solvers.SMO(t.Context(), solvers.ClassificationQP(solvers.DenseRows(&k), y, p.Bounds[0]), s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Solve(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want.V {
		if math.Abs(v-got.V.At(i, 0)) > 1e-9 {
			t.Errorf("%d: %v and %v", i, got.V.At(i, 0), v)
		}
	}
	if got.Sweeps != 1 || math.Abs(got.Intercepts[0]+want.Multiplier) > 1e-8 {
		t.Errorf("%d sweeps, intercept %v and %v", got.Sweeps, got.Intercepts[0], -want.Multiplier)
	}
}

// What does not fit together is refused, and a tolerance that rounding does not allow is told.
func TestOutputQPFaults(t *testing.T) {
	p := outputProgram(20, 2)
	p.Bounds = p.Bounds[:1]
	if _, err := p.Solve(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "1 bounds for 2 labels") {
		t.Error(err)
	}
	p = outputProgram(20, 2)
	p.Grams[1] = mat.NewDense(3, 3, nil)
	if _, err := p.Solve(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "3×3 for 20 points") {
		t.Error(err)
	}
	p = outputProgram(70, 4)
	r, err := p.Solve(t.Context(), &solvers.SMOSettings{Tolerance: 1e-30, MaxIterations: 100})
	if r == nil || !errors.Is(err, solvers.ErrNotConverged) {
		t.Errorf("%+v, %v", r, err)
	}
}
