package kernelmachine_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// eigenpairs returns the eigenvalues and eigenvectors, the columns of v, of the symmetric matrix a
// by Jacobi's method, which overwrites a.
func (a bigMatrix) eigenpairs() (values []*big.Float, v bigMatrix) {
	n := len(a)
	v = newBig(n, n)
	for i := range n {
		v[i][i].SetInt64(1)
	}
	zero := new(big.Float).SetMantExp(number(1), -290)
	one, two, s1, s2 := number(1), number(2), number(0), number(0)
	for rotated := true; rotated; {
		rotated = false
		for p := range n {
			for q := p + 1; q < n; q++ {
				if new(big.Float).Abs(a[p][q]).Cmp(zero) < 0 {
					continue
				}
				rotated = true

				// tan of the angle is sign(θ)/(|θ| + √(θ² + 1)) with θ = (a_qq − a_pp)/2a_pq.
				theta := number(0).Sub(a[q][q], a[p][p])
				theta.Quo(theta, s1.Mul(two, a[p][q]))
				tangent := number(0).Mul(theta, theta)
				tangent.Sqrt(tangent.Add(tangent, one)).Add(tangent, s1.Abs(theta))
				tangent.Quo(one, tangent)
				if theta.Sign() < 0 {
					tangent.Neg(tangent)
				}
				cosine := number(0).Mul(tangent, tangent)
				cosine.Quo(one, cosine.Sqrt(cosine.Add(cosine, one)))
				sine := number(0).Mul(tangent, cosine)
				rotate := func(x, y *big.Float) {
					before := number(0).Set(x)
					x.Sub(s1.Mul(cosine, x), s2.Mul(sine, y))
					y.Add(s1.Mul(sine, before), s2.Mul(cosine, y))
				}
				for k := range n {
					rotate(a[k][p], a[k][q])
				}
				for k := range n {
					rotate(a[p][k], a[q][k])
				}
				for k := range n {
					rotate(v[k][p], v[k][q])
				}
			}
		}
	}
	for i := range n {
		values = append(values, a[i][i])
	}
	return values, v
}

// decay returns e^{−x}, by halving x and the power series.
func decay(x *big.Float) *big.Float {
	y := number(0).Abs(x) // the smallest eigenvalue is 0 but for 90 digits
	halvings := 0
	for ; y.Cmp(number(0.5)) > 0; halvings++ {
		y.Quo(y, number(2))
	}
	y.Neg(y)
	sum, term := number(1), number(1)
	for k := range 70 {
		term.Quo(term.Mul(term, y), number(float64(k+1)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum
}

// heatCase are points with labels, one graph, and e^{−tL} in numbers of many digits.
type heatCase struct {
	points   *data.Dense[float64]
	graph    *sparse.Laplacian
	values   []*big.Float
	vectors  bigMatrix
	smooth   map[float64]bigMatrix
	classes  *models.Targets
	measures *models.Targets
}

// heatLabels is the number of labels: more of one class than of the other, so that there is one
// intercept only.
const heatLabels = 9

func newHeatCase(t *testing.T, n int, kind sparse.Kind) *heatCase {
	t.Helper()
	r := newReference(t, n, heatLabels, 1, false)
	l, err := sparse.NewLaplacian(r.graph, kind)
	if err != nil {
		t.Fatal(err)
	}
	c := &heatCase{points: r.Points.(*data.Dense[float64]), graph: l, smooth: map[float64]bigMatrix{},
		measures: r.targets}
	c.values, c.vectors = bigLaplacian(r.graph, kind).eigenpairs()
	classes := *r.targets
	classes.Y = mat.NewDense(heatLabels, 1, []float64{1, 1, -1, 1, -1, -1, 1, 1, -1})
	classes.Classes = []int64{0, 1}
	c.classes = &classes
	return c
}

// semigroup returns e^{−tL}.
func (c *heatCase) semigroup(t float64) bigMatrix {
	if a, ok := c.smooth[t]; ok {
		return a
	}
	n := len(c.values)
	left, right := newBig(n, n), newBig(n, n)
	for j, lambda := range c.values {
		factor := decay(number(0).Mul(lambda, number(t)))
		for i := range n {
			left[i][j].Mul(c.vectors[i][j], factor)
			right[j][i].Set(c.vectors[i][j])
		}
	}
	c.smooth[t] = left.times(right)
	return c.smooth[t]
}

// warped returns K(I + (γ_I/γ_A)e^{tL}K)⁻¹ at the labels, n×l, as K(A + (γ_I/γ_A)K)⁻¹A for A =
// e^{−tL}: it has no large numbers.
func (c *heatCase) warped(k bigMatrix, t, gammaA, gammaI float64) bigMatrix {
	n := len(k)
	a, smooth := newBig(n, n), c.semigroup(t)
	b := newBig(n, heatLabels)
	ratio := number(0).Quo(number(gammaI), number(gammaA))
	for i := range n {
		for j := range n {
			a[i][j].Add(smooth[i][j], a[i][j].Mul(ratio, k[i][j]))
		}
		for j := range heatLabels {
			b[i][j].Set(smooth[i][j])
		}
	}
	a.solve(b)
	return k.times(b)
}

// plain returns the scores of the machine without a graph on the warped kernel f, which makes it
// the machine with the norm. The kernel is rounded; its least squares are solved with many digits.
func (c *heatCase) plain(t *testing.T, f bigMatrix, s kernelmachine.Settings, y *models.Targets) bigMatrix {
	t.Helper()
	beta := newBig(heatLabels, 1)
	if s.Method == kernelmachine.RLS {
		size := heatLabels
		if s.Intercept {
			size++ // the sum of β is 0, and b is its multiplier
		}
		a, x := newBig(size, size), newBig(size, 1)
		for i := range heatLabels {
			for j := range heatLabels {
				a[i][j].Set(f[i][j])
			}
			a[i][i].Add(a[i][i], number(0).Mul(number(s.GammaA), number(heatLabels)))
			x[i][0].SetFloat64(y.Y.At(i, 0))
			if s.Intercept {
				a[i][heatLabels].SetInt64(1)
				a[heatLabels][i].SetInt64(1)
			}
		}
		a.solve(x)
		out := f.times(x[:heatLabels])
		if s.Intercept {
			for i := range out {
				out[i][0].Add(out[i][0], x[heatLabels][0])
			}
		}
		return out
	}

	gram := data.NewDense[float64](heatLabels, heatLabels)
	for i := range heatLabels {
		for j := range heatLabels {
			gram.Data[i*heatLabels+j], _ = number(0).Quo(number(0).Add(f[i][j], f[j][i]), number(2)).Float64()
		}
	}
	s.Regularizer = regularizer.Regularizer{GammaA: s.GammaA}
	s.Heat = 0
	inner := *y
	inner.Len = heatLabels
	m, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Values: gram}, &inner, &s)
	if err != nil {
		t.Fatalf("on the exact kernel: %v", err)
	}
	for i := range heatLabels {
		beta[i][0].SetFloat64(m.Coefficients.At(i, 0))
	}
	out := f.times(beta)
	for i := range out {
		out[i][0].Add(out[i][0], number(m.Intercepts[0]))
	}
	return out
}

// heatMachine is a machine of the test below.
type heatMachine struct {
	name     string
	settings kernelmachine.Settings
	values   bool // fitted to values, not to classes
}

var heatMachines = []heatMachine{
	{"laprls", kernelmachine.Settings{Method: kernelmachine.RLS}, true},
	{"laprls with an intercept", kernelmachine.Settings{Method: kernelmachine.RLS, Intercept: true}, true},
	{"lapsvm", kernelmachine.Settings{Method: kernelmachine.SVM}, false},
	{"lapsvr", kernelmachine.Settings{Method: kernelmachine.SVR, Epsilon: 0.2}, true},
	{"lap-oneclass", kernelmachine.Settings{Method: kernelmachine.OneClass, Nu: 0.4}, false},
}

// heatTimes are the t of the test, and heatWeights its γ_A and γ_I.
var (
	heatTimes   = []float64{1e-3, 1e-2, 0.1, 1, 2, 10, 100, 1000}
	heatWeights = [][2]float64{{1e-2, 1e-2}, {1e-6, 1e-2}, {1e-2, 1e-6}, {1e-9, 1e-9}}
	heatKernels = []kernel.Kernel{{Kind: kernel.Gaussian, Sigma: 0.6}, {Kind: kernel.Gaussian, Sigma: 1.5},
		{Kind: kernel.Gaussian, Sigma: 10}, {Kind: kernel.Linear}}
)

// mustAnswer tells whether the machine may not refuse: on kernels that are not nearly singular at
// any t, but for scores that are less than 1e-8 of the kernel, as those of one class are where all
// functions are constant; on the other kernels where exp(tL) is not large.
func (m *heatMachine) mustAnswer(k kernel.Kernel, kind sparse.Kind, t float64) bool {
	switch {
	case k.Kind == kernel.Linear || k.Sigma > 2:
		return t <= 0.1
	case m.settings.Method == kernelmachine.OneClass:
		return t <= 2 || kind == sparse.Normalized
	}
	return true
}

// leaveOut tells whether there is no answer of 1e-8 to compare with. All β of lapsvr may be at their
// bounds with a kernel of rank 3, and its intercept is anywhere in an interval then. Beside a γ_A next
// to nothing quadratic programs do not reach a tolerance of 1e-11, and rounding of a singular kernel
// matrix is not small.
func (m *heatMachine) leaveOut(k kernel.Kernel, gammaA float64) bool {
	if gammaA < 1e-8 {
		return m.settings.Method != kernelmachine.RLS || k.Kind == kernel.Linear
	}
	return m.settings.Method == kernelmachine.SVR && k.Kind == kernel.Linear
}

// Machines with exp(tL) are within 1e-8 of machines on the warped kernel in numbers of 320 bits, or
// refuse with a [kernelmachine.HeatError].
func TestHeatIsExactOrRefused(t *testing.T) {
	const n = 36
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		c := newHeatCase(t, n, kind)
		for _, k := range heatKernels {
			gram, err := kernel.Gram(c.points, k, 0)
			if err != nil {
				t.Fatal(err)
			}
			exact := newBig(n, n)
			for i := range n {
				for j := range n {
					exact[i][j].SetFloat64(gram.At(i, j))
				}
			}
			for _, time := range heatTimes {
				for _, weights := range heatWeights {
					f := c.warped(exact, time, weights[0], weights[1])
					for _, m := range heatMachines {
						if m.leaveOut(k, weights[0]) {
							continue
						}
						s := m.settings
						s.Regularizer = regularizer.Regularizer{GammaA: weights[0], GammaI: weights[1], Power: 1,
							Laplacian: kind}
						s.Heat = time
						name := fmt.Sprintf("%s/%v/%v %g/t=%g/%g", m.name, kind, k.Kind, k.Sigma, time, weights)
						t.Run(name, func(t *testing.T) { checkHeat(t, c, k, f, &m, s) })
					}
				}
			}
		}
	}
}

// checkHeat fits a machine whose exact warped kernel is f.
func checkHeat(t *testing.T, c *heatCase, k kernel.Kernel, f bigMatrix, m *heatMachine,
	s kernelmachine.Settings) {
	y := c.classes
	if m.values {
		y = c.measures
	}
	s.Tolerance, s.MaxIterations = 1e-11, 1e6
	if s.Method == kernelmachine.OneClass { // its scores have the size of the kernel
		top, _ := f[0][0].Float64()
		s.Tolerance = 1e-13*math.Abs(top) + 1e-25
	}
	d := &kernelmachine.Data{Points: c.points, Kernel: k, Laplacian: c.graph}
	fitted, err := kernelmachine.Fit(t.Context(), d, y, &s)
	var lost *kernelmachine.HeatError
	if errors.As(err, &lost) {
		text := err.Error()
		if m.mustAnswer(k, s.Laplacian, s.Heat) || !(lost.Loss > 1e-8 && lost.Loss <= 1 && lost.T == s.Heat) ||
			!strings.Contains(text, "exp(tL) reaches e^") || !strings.Contains(text, "take a smaller") ||
			strings.Contains(text, "the normalized") != (s.Laplacian == sparse.Combinatorial) {
			t.Errorf("refused: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}

	p, err := fitted.Predict(t.Context(), c.points, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, columns := p.Scores.Dims() // one column, or one of each class
	e := farFrom(p.Scores.Slice(0, rows, columns-1, columns), c.plain(t, f, s, y))
	if !(e <= 1e-8 && fitted.Residual <= 1e-7) {
		t.Errorf("off by %.1e, residual %.1e", e, fitted.Residual)
	}
}
