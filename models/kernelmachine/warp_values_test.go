package kernelmachine_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/sparse"
)

// crossValues returns k(x_i, z_j) of the Gaussian kernel by its formula.
func crossValues(k kernel.Kernel, x, z data.Points) *mat.Dense {
	m, d := x.Dims()
	n, _ := z.Dims()
	a := make([]float64, d)
	b := make([]float64, d)
	return apply(m, n, func(i, j int) float64 {
		data.RowTo(a, x, i)
		data.RowTo(b, z, j)
		var square float64
		for c := range a {
			square += (a[c] - b[c]) * (a[c] - b[c])
		}
		return math.Exp(-square / (2 * k.Sigma * k.Sigma))
	})
}

func apply(rows, cols int, f func(i, j int) float64) *mat.Dense {
	out := mat.NewDense(rows, cols, nil)
	out.Apply(func(i, j int, _ float64) float64 { return f(i, j) }, out)
	return out
}

// denseWarp returns k̃(x, z) = k(x, z) − k_xᵀ(I + MK)⁻¹M k_z with dense matrices.
func denseWarp(t *testing.T, c *reference, l *sparse.Laplacian, r regularizer.Regularizer, x, z data.Points) *mat.Dense {
	t.Helper()
	n := len(c.gram)
	eye := apply(n, n, func(i, j int) float64 { return map[bool]float64{true: 1}[i == j] })
	m := mat.NewDense(n, n, nil)
	l.With(max(1, r.Power), 0).MulTo(m, eye)
	m.Scale(r.GammaI/r.GammaA, m)
	var a, b, right, out mat.Dense
	a.Mul(m, crossValues(c.kernel, c.Points, c.Points))
	a.Add(&a, eye)
	b.Mul(m, crossValues(c.kernel, c.Points, z))
	if err := right.Solve(&a, &b); err != nil {
		t.Fatal(err)
	}
	out.Mul(crossValues(c.kernel, x, c.Points), &right)
	out.Sub(crossValues(c.kernel, x, z), &out)
	return &out
}

// K̃, its values for new points and the variances are the formula of the paper with dense matrices; K̃ is
// symmetric and has no negative eigenvalue.
func TestWarpedValues(t *testing.T) {
	c := newReference(t, 20, 6, 1, false)
	_, d := c.Points.Dims()
	rng := rand.New(rand.NewPCG(3, 4))
	fresh := &data.Dense[float64]{Rows: 5, Cols: d}
	for range 5 * d {
		fresh.Data = append(fresh.Data, rng.NormFloat64())
	}
	all := data.Range(0, 20)
	some := []int{1, 4, 5, 11, 19}
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		l, err := sparse.NewLaplacian(c.graph, kind)
		if err != nil {
			t.Fatal(err)
		}
		p, err := kernelmachine.NewProblem(t.Context(), &kernelmachine.Data{Points: c.Points, Kernel: c.kernel, Laplacian: l})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range []regularizer.Regularizer{
			{GammaA: 1, GammaI: 0.3, Laplacian: kind}, {GammaA: 0.1, GammaI: 20, Power: 2, Laplacian: kind}, {GammaA: 1, Laplacian: kind},
		} {
			for _, points := range [][]int{all, some} {
				w, err := p.Warp(t.Context(), r, points)
				if err != nil {
					t.Fatal(err)
				}
				z := data.Select(c.Points, points)
				values, err := w.Values(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				near(t, "K̃, "+r.Describe(), values, denseWarp(t, c, l, r, z, z), 1e-10)
				sym := mat.NewSymDense(len(points), nil)
				for i := range points {
					for j := range points {
						if values.At(i, j) != values.At(j, i) {
							t.Errorf("entry %d, %d is %v and %v", i, j, values.At(i, j), values.At(j, i))
						}
						sym.SetSym(i, j, values.At(i, j))
					}
				}
				var e mat.EigenSym
				if !e.Factorize(sym, false) || !(e.Values(nil)[0] >= -1e-12) {
					t.Errorf("%s: eigenvalues from %v", r.Describe(), e.Values(nil)[0])
				}
				between, err := w.Between(t.Context(), fresh)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "new points, "+r.Describe(), between, denseWarp(t, c, l, r, fresh, z), 1e-10)
				again, err := w.Between(t.Context(), z)
				if err != nil {
					t.Fatal(err)
				}
				near(t, "the same points, "+r.Describe(), again, values, 1e-10)
				variances, err := w.Variances(t.Context(), fresh)
				if err != nil {
					t.Fatal(err)
				}
				want := denseWarp(t, c, l, r, fresh, fresh)
				for i, v := range variances {
					if !(math.Abs(v-want.At(i, i)) <= 1e-10) {
						t.Errorf("%s: variance %d is %v, not %v", r.Describe(), i, v, want.At(i, i))
					}
				}
			}
		}
	}
}

func near(t *testing.T, what string, got, want *mat.Dense, tolerance float64) {
	t.Helper()
	r, c := want.Dims()
	if a, b := got.Dims(); a != r || b != c {
		t.Fatalf("%s: %d×%d, not %d×%d", what, a, b, r, c)
	}
	for i := range r {
		for j := range c {
			if !(math.Abs(got.At(i, j)-want.At(i, j)) <= tolerance) {
				t.Fatalf("%s: entry %d, %d is %v, not %v", what, i, j, got.At(i, j), want.At(i, j))
			}
		}
	}
}

// Where rounding takes the direct solution, values are right where K̃ is, and else an error, and so are
// variances.
func TestWarpedValuesLostInRounding(t *testing.T) {
	c := newReference(t, 18, 7, 1, false)
	l, err := sparse.NewLaplacian(c.graph, sparse.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	p, err := kernelmachine.NewProblem(t.Context(), &kernelmachine.Data{Points: c.Points, Kernel: c.kernel, Laplacian: l})
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	small(sparse.Normalized, func(r regularizer.Regularizer) {
		w, err := p.Warp(t.Context(), r, c.targets.Labeled)
		if err != nil {
			t.Fatal(err)
		}
		values, err := w.Values(t.Context())
		z := data.Select(c.Points, c.targets.Labeled)
		between, other := w.Between(t.Context(), z)
		if (err == nil) != (other == nil) {
			t.Fatalf("%s: %v and %v", r.Describe(), err, other)
		}
		if err == nil {
			right++
			// The reference has K̃/γ_A.
			want := warpedReference(c, bigLaplacian(c.graph, sparse.Normalized), r)
			top := mat.Max(values)
			near(t, r.Describe(), between, apply(7, 7, func(i, j int) float64 {
				v, _ := want[i][j].Float64()
				return v * r.GammaA
			}), 1e-6*top)
		}
		if _, err := w.Variances(t.Context(), z); err == nil || !strings.Contains(err.Error(), "nearly singular") {
			t.Errorf("variances: %v", err)
		}
	})
	t.Logf("%d of 6 kernels have values", right)
}
