package kernelmachine_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// bits is the precision of the reference: beside 53 of float64 it has room for the
// condition of the worst system of the grids, some 10²⁵.
const bits = 320

// bigMatrix is a matrix of numbers of so many bits.
type bigMatrix [][]*big.Float

func number(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }

func newBig(rows, cols int) bigMatrix {
	m := make(bigMatrix, rows)
	for i := range m {
		m[i] = make([]*big.Float, cols)
		for j := range m[i] {
			m[i][j] = number(0)
		}
	}
	return m
}

func (a bigMatrix) times(b bigMatrix) bigMatrix {
	out, t := newBig(len(a), len(b[0])), number(0)
	for i := range a {
		for k, v := range a[i] {
			if v.Sign() == 0 {
				continue
			}
			for j := range out[i] {
				out[i][j].Add(out[i][j], t.Mul(v, b[k][j]))
			}
		}
	}
	return out
}

// solve overwrites b with a⁻¹b by Gaussian elimination with pivots, and a with
// what that leaves.
func (a bigMatrix) solve(b bigMatrix) {
	n, t, factor := len(a), number(0), number(0)
	minus := func(to, from []*big.Float) {
		for j := range to {
			to[j].Sub(to[j], t.Mul(factor, from[j]))
		}
	}
	for c := range n {
		p := c
		for i := c; i < n; i++ {
			if new(big.Float).Abs(a[i][c]).Cmp(new(big.Float).Abs(a[p][c])) > 0 {
				p = i
			}
		}
		a[c], a[p], b[c], b[p] = a[p], a[c], b[p], b[c]
		for i := c + 1; i < n; i++ {
			factor.Quo(a[i][c], a[c][c])
			minus(a[i][c:], a[c][c:])
			minus(b[i], b[c])
		}
	}
	for c := n - 1; c >= 0; c-- {
		for j := range b[c] {
			b[c][j].Quo(b[c][j], a[c][c])
		}
		for i := range c {
			factor.Set(a[i][c])
			minus(b[i], b[c])
		}
	}
}

// bigLaplacian is D − W or I − D^-½WD^-½ of a graph without isolated vertices.
func bigLaplacian(w *sparse.CSR, kind sparse.Kind) bigMatrix {
	m, degree := newBig(w.Rows, w.Rows), make([]*big.Float, w.Rows)
	for i := range m {
		degree[i] = number(0)
		for p := w.Ptr[i]; p < w.Ptr[i+1]; p++ {
			j := int(w.Col[p])
			degree[i].Add(degree[i], number(w.At(i, j)))
			m[i][j].SetFloat64(-w.At(i, j))
		}
		m[i][i].Set(degree[i])
	}
	if kind == sparse.Normalized {
		for i := range m {
			for j := range m {
				s := number(0).Mul(degree[i], degree[j])
				m[i][j].Quo(m[i][j], s.Sqrt(s))
			}
		}
	}
	return m
}

// equation8 returns f = Kα for (γ_A I + (J/l + γ_I s Lᵖ)K)α = Jy/l.
func equation8(k, l bigMatrix, t *models.Targets, r regularizer.Regularizer) bigMatrix {
	n, labeled := len(k), number(float64(len(t.Labeled)))
	b, g := newBig(n, n), newBig(n, t.Y.RawMatrix().Cols)
	for i := range b {
		b[i][i].SetInt64(1)
	}
	for range max(1, r.Power) {
		b = l.times(b)
	}
	for i := range b {
		for j := range b {
			b[i][j].Mul(b[i][j], number(r.GammaI))
			if r.Scaling == regularizer.PerPair {
				b[i][j].Quo(b[i][j], number(float64(n*n)))
			}
		}
	}
	for p, i := range t.Labeled {
		b[i][i].Add(b[i][i], number(0).Quo(number(1), labeled))
		for j, v := range t.Y.RawRowView(p) {
			g[i][j].Quo(number(v), labeled)
		}
	}
	a := b.times(k)
	for i := range a {
		a[i][i].Add(a[i][i], number(r.GammaA))
	}
	a.solve(g)
	return k.times(g)
}

// reference are few points, their kernel matrix and graph, and targets for some.
type reference struct {
	data.Points
	kernel  kernel.Kernel
	graph   *sparse.CSR
	gram    bigMatrix
	targets *models.Targets
}

// newReference returns points whose kernel matrix is well conditioned or, with
// coordinates that are integers and the linear kernel, of a rank of 3 exactly.
func newReference(t *testing.T, n, labeled, outputs int, singular bool) *reference {
	t.Helper()
	rng := rand.New(rand.NewPCG(15, 8))
	x := &data.Dense[float64]{Rows: n, Cols: 3, Data: make([]float64, 3*n)}
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.6}
	for i := range x.Data {
		if x.Data[i] = rng.NormFloat64(); singular {
			x.Data[i], k = math.Round(8*x.Data[i]), kernel.Kernel{Kind: kernel.Linear}
		}
	}
	gram, err := kernel.Gram(x, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	exact := newBig(n, n)
	for i := range n {
		for j := range n {
			exact[i][j].SetFloat64(gram.At(i, j))
		}
	}
	y := mat.NewDense(labeled, outputs, nil)
	for i := range labeled {
		for j := range outputs {
			y.Set(i, j, rng.NormFloat64())
		}
	}
	targets := &models.Targets{Len: n, Labeled: data.Range(0, labeled), Y: y}
	return &reference{x, k, modeltest.Laplacian(t, x, 5, sparse.Combinatorial).Graph(), exact, targets}
}

// references are the weights at which machines are compared with exact ones.
func references(kind sparse.Kind, visit func(r regularizer.Regularizer)) {
	for p := 1; p <= 5; p++ {
		for _, gammaA := range []float64{1e-12, 1e-9, 1e-6, 1e-3, 1, 1e2} {
			for _, gammaI := range []float64{0, 1e-6, 1e-2, 1, 1e2} {
				if gammaI > 0 || p == 1 {
					visit(regularizer.Regularizer{GammaA: gammaA, GammaI: gammaI, Power: p, Laplacian: kind})
				}
			}
		}
	}
}

// farFrom returns max |f − g| relative to max |g|.
func farFrom(f mat.Matrix, g bigMatrix) float64 {
	var worst, size float64
	for i := range g {
		for j, v := range g[i] {
			exact, _ := v.Float64()
			worst, size = math.Max(worst, math.Abs(f.At(i, j)-exact)), math.Max(size, math.Abs(exact))
		}
	}
	return worst / size
}

// LapRLS is within 1e-10 of equation (8) in numbers of many digits, on a
// grid that begins where γ_A is next to nothing and ends where γ_I is large, and says
// how far it is from it.
func TestLapRLSIsExact(t *testing.T) {
	const n = 18
	for _, singular := range []bool{false, true} {
		c := newReference(t, n, 7, 2, singular)
		for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
			l, err := sparse.NewLaplacian(c.graph, kind)
			if err != nil {
				t.Fatal(err)
			}
			exact, worst := bigLaplacian(c.graph, kind), 0.0
			references(kind, func(r regularizer.Regularizer) {
				want := equation8(c.gram, exact, c.targets, r)
				m, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Points: c.Points, Kernel: c.kernel, Laplacian: l}, c.targets, &kernelmachine.Settings{Regularizer: r})
				if err != nil {
					t.Errorf("%s: %v", r.Describe(), err)
					return
				}
				p, err := m.Predict(t.Context(), c.Points, nil)
				if err != nil {
					t.Fatal(err)
				}
				e := farFrom(p.Scores, want)
				if worst = math.Max(worst, e); !(e <= 1e-10) {
					t.Errorf("singular %t, %s: off by %.1e", singular, r.Describe(), e)
				}
				if r.GammaI > 0 && !(m.Residual > 0 && m.Residual <= 1e-7) {
					t.Errorf("singular %t, %s: a residual of %v", singular, r.Describe(), m.Residual)
				}
			})
			t.Logf("singular %t, %v: off by at most %.1e", singular, kind, worst)
		}
	}
}

// With outputs that have nothing in common vvmr is LapRLS, and as exact.
func TestVVMRIsExact(t *testing.T) {
	c := newReference(t, 18, 7, 2, false)
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		l, err := sparse.NewLaplacian(c.graph, kind)
		if err != nil {
			t.Fatal(err)
		}
		exact, worst := bigLaplacian(c.graph, kind), 0.0
		references(kind, func(r regularizer.Regularizer) {
			m, err := kernelmachine.FitVVMR(t.Context(), &kernelmachine.Data{Points: c.Points, Kernel: c.kernel, Laplacian: l}, c.targets, nil, &kernelmachine.VVMRSettings{Regularizer: r}, nil)
			if err != nil {
				t.Errorf("%s: %v", r.Describe(), err)
				return
			}
			e := farFrom(m.Values, equation8(c.gram, exact, c.targets, r))
			if worst = math.Max(worst, e); !(e <= 1e-10) {
				t.Errorf("%s: off by %.1e, after %d iterations, residual %.1e", r.Describe(), e, m.Iterations, m.Residual)
			}
		})
		t.Logf("%v: off by at most %.1e", kind, worst)
	}
}
