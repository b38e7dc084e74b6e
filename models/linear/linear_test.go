package linear

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// planes are n points of d dimensions in three noisy groups, and their groups.
func planes(n, d int, seed uint64) (*data.Dense[float64], *data.Labels) {
	rng := rand.New(rand.NewPCG(seed, 3))
	x := data.NewDense[float64](n, d)
	classes := make([]int64, n)
	for i := range n {
		classes[i] = int64(i % 3)
		for j := range d {
			x.Data[i*d+j] = rng.NormFloat64() + 2
			if j%3 == i%3 {
				x.Data[i*d+j] += 1
			}
		}
	}
	return x, data.NewLabels(classes, nil)
}

// linearCase are points with a graph and targets.
type linearCase struct {
	x     *data.Dense[float64]
	w     *sparse.CSR
	truth *data.Labels
	drawn *data.Labels
	t     *models.Targets
}

func newLinearCase(t *testing.T, n, d, labels int) *linearCase {
	t.Helper()
	c := &linearCase{}
	c.x, c.truth = planes(n, d, 1)
	ix, err := knn.NewBrute(c.x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.w, _, err = knn.NewGraph(context.Background(), ix, knn.GraphSettings{K: 5, Weights: knn.Heat}); err != nil {
		t.Fatal(err)
	}
	if c.drawn, err = c.truth.Draw(labels, 1); err != nil {
		t.Fatal(err)
	}
	if c.t, err = models.ClassTargets(c.drawn); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *linearCase) laplacian(t *testing.T, kind sparse.Kind) *sparse.Laplacian {
	t.Helper()
	l, err := sparse.NewLaplacian(c.w, kind)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (c *linearCase) fit(t *testing.T, x data.Points, y *models.Targets, s Settings) *Model {
	t.Helper()
	m, err := Fit(context.Background(), x, c.laplacian(t, s.Regularizer.Laplacian), y, &s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// free fits by products alone, though the points are dense and few.
func (c *linearCase) free(t *testing.T, x data.Points, y *models.Targets, s Settings) *Model {
	t.Helper()
	p := &Problem{given: x, x: data.ToSparse(x)}
	if err := p.setNorm(c.laplacian(t, s.Regularizer.Laplacian), s.Regularizer); err != nil {
		t.Fatal(err)
	}
	p.design = solvers.NewDesign(p.x)
	m, err := p.Fit(context.Background(), y, &s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// values are the outputs at all points.
func (c *linearCase) values(m *Model) *mat.Dense {
	return m.values(solvers.DenseDesign{Points: c.x}, c.x.Rows)
}

// far returns max |a − b| / max |a|.
func far(a, b *mat.Dense) float64 {
	var diff mat.Dense
	diff.Sub(a, b)
	return mat.Norm(&diff, math.Inf(1)) / mat.Norm(a, math.Inf(1))
}

var (
	both      = []sparse.Kind{sparse.Combinatorial, sparse.Normalized}
	allLosses = []Loss{LeastSquares, SquaredHinge, HuberizedHinge}
)

// regular are weights that matter on the points of planes.
func regular(kind sparse.Kind, power int) regularizer.Regularizer {
	return regularizer.Regularizer{GammaA: 0.03, GammaI: 0.01, Power: power, Laplacian: kind}
}

// LapRLS with the kernel K = XXᵀ: f = Kα + b with
//
//	(JK + γ_A l I + γ_I s l LᵖK)α + b·1_l = Y,   1_lᵀ(Y − J(Kα + b)) = 0,
//
// solved as one dense system. Belkin, Niyogi & Sindhwani (2006), equation 8, has
// it without b.
func (c *linearCase) kernelFormula(s Settings) *mat.Dense {
	n, l := c.x.Rows, len(c.t.Labeled)
	_, outputs := c.t.Y.Dims()
	x := mat.NewDense(n, c.x.Cols, c.x.Data)
	k, lap := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	k.Mul(x, x.T())
	op, _ := sparse.NewLaplacian(c.w, s.Regularizer.Laplacian)
	unit := mat.NewDense(n, n, nil)
	for i := range n {
		unit.Set(i, i, 1)
	}
	one := mat.NewDense(n, n, nil)
	op.MulTo(one, unit)
	coefficients := s.Regularizer.Coefficients
	if coefficients == nil {
		coefficients = make([]float64, s.Regularizer.Power+1)
		coefficients[s.Regularizer.Power] = 1
	}
	power := unit
	for _, c := range coefficients {
		var term, next mat.Dense
		term.Scale(c, power)
		lap.Add(lap, &term)
		next.Mul(power, one)
		power = &next
	}
	lk := mat.NewDense(n, n, nil)
	lk.Mul(lap, k)
	a, b := mat.NewDense(n+1, n+1, nil), mat.NewDense(n+1, outputs, nil)
	for i := range n {
		for j := range n {
			a.Set(i, j, float64(l)*s.Regularizer.Intrinsic(n, nil)*lk.At(i, j))
		}
		a.Set(i, i, a.At(i, i)+float64(l)*s.Regularizer.GammaA)
	}
	for p, i := range c.t.Labeled {
		for j := range n {
			a.Set(i, j, a.At(i, j)+k.At(i, j))
			a.Set(n, j, a.At(n, j)+k.At(i, j))
		}
		a.Set(i, n, 1)
		a.Set(n, n, a.At(n, n)+1)
		for j := range outputs {
			b.Set(i, j, c.t.Y.At(p, j))
			b.Set(n, j, b.At(n, j)+c.t.Y.At(p, j))
		}
	}
	var solution mat.Dense
	if err := solution.Solve(a, b); err != nil {
		panic(err)
	}
	f := mat.NewDense(n, outputs, nil)
	f.Mul(k, solution.Slice(0, n, 0, outputs))
	dense.AddRow(f, solution.RawRowView(n))
	return f
}

func TestLinearIsTheKernelFormula(t *testing.T) {
	for _, labels := range []int{9, 60} { // fewer than dimensions, and more
		c := newLinearCase(t, 120, 12, labels)
		for _, kind := range both {
			for _, power := range []int{1, 2, 3} {
				s := Settings{Regularizer: regular(kind, power), Tolerance: 1e-12}
				want := c.kernelFormula(s)
				if e := far(want, c.values(c.fit(t, c.x, c.t, s))); !(e <= 1e-8) {
					t.Errorf("%d labels, %v, power %d: direct is %.1e from the kernel formula", labels, kind, power, e)
				}
				if e := far(want, c.values(c.free(t, c.x, c.t, s))); !(e <= 1e-8) {
					t.Errorf("%d labels, %v, power %d: by products it is %.1e from the kernel formula", labels, kind, power, e)
				}
			}
			for _, coefficients := range [][]float64{{0.5}, {0.3, 1}, {0.1, 0, 2, 0.05}} {
				s := Settings{Regularizer: regular(kind, 0), Tolerance: 1e-12}
				s.Regularizer.Coefficients = coefficients
				want := c.kernelFormula(s)
				if e := far(want, c.values(c.fit(t, c.x, c.t, s))); !(e <= 1e-8) {
					t.Errorf("%d labels, %v, %v: direct is %.1e from the kernel formula", labels, kind, coefficients, e)
				}
				if e := far(want, c.values(c.free(t, c.x, c.t, s))); !(e <= 1e-8) {
					t.Errorf("%d labels, %v, %v: by products it is %.1e from the kernel formula", labels, kind, coefficients, e)
				}
			}
		}
	}
}

// steepest returns the largest slope of the objective at m, by differences, along the coefficients and the intercept
// of every output; NaN if one of them is NaN.
func steepest(p *Problem, m *Model, y *models.Targets) float64 {
	const e = 1e-5
	d, outputs := m.Coefficients.Dims()
	most := 0.0
	for o := range outputs {
		for j := range d + 1 { // d is the intercept
			at := func(by float64) float64 {
				moved := &Model{Settings: m.Settings, Classes: m.Classes, Coefficients: mat.DenseCopyOf(m.Coefficients),
					Intercepts: slices.Clone(m.Intercepts)}
				if j < d {
					moved.Coefficients.Set(j, o, moved.Coefficients.At(j, o)+by)
				} else {
					moved.Intercepts[o] += by
				}
				return p.Objective(moved, y)[o]
			}
			most = max(most, math.Abs(at(e)-at(-e))/(2*e))
		}
	}
	return most
}

// With weights of the labels all ways of fitting agree, and the weighted objective has no slope there, by differences.
func TestLinearWeights(t *testing.T) {
	for _, labels := range []int{6, 60} { // fewer than dimensions, and more
		c := newLinearCase(t, 150, 9, labels)
		weights := make([]float64, 150)
		for i := range weights {
			weights[i] = 0.5 + float64(i%7)
		}
		y, err := c.t.Weighted(weights)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range both {
			s := Settings{Regularizer: regular(kind, 1), Tolerance: 1e-12}
			p, err := NewProblem(context.Background(), c.x, c.laplacian(t, kind), s.Regularizer)
			if err != nil {
				t.Fatal(err)
			}
			m, err := p.Fit(context.Background(), y, &s)
			if err != nil {
				t.Fatal(err)
			}
			for what, other := range map[string]*Model{"sparse points": c.fit(t, data.ToSparse(c.x), y, s), "products": c.free(t, c.x, y, s)} {
				if e := far(m.Coefficients, other.Coefficients); !(e <= 1e-8) {
					t.Errorf("%d labels, %v: %s are %.1e away", labels, kind, what, e)
				}
			}
			if e := far(m.Coefficients, c.fit(t, c.x, c.t, s).Coefficients); e < 1e-3 {
				t.Errorf("%d labels, %v: weights change the coefficients by %.1e", labels, kind, e)
			}

			if slope := steepest(p, m, y); !(slope <= 1e-8) {
				t.Errorf("%d labels, %v: slope %.2e", labels, kind, slope)
			}
			s.Loss = SquaredHinge
			if _, err := p.Fit(context.Background(), y, &s); err == nil || !strings.Contains(err.Error(), "no weights") {
				t.Errorf("weights with the hinge: %v", err)
			}
		}
	}
}

// The objective has no slope at the minimum, by differences.
func TestLinearMinimizes(t *testing.T) {
	c := newLinearCase(t, 150, 9, 40)
	for _, loss := range allLosses {
		for _, kind := range both {
			s := Settings{Regularizer: regular(kind, 0), Loss: loss, Tolerance: 1e-11}
			s.Regularizer.Coefficients = []float64{0.2, 0, 1}
			p, err := NewProblem(context.Background(), c.x, c.laplacian(t, kind), s.Regularizer)
			if err != nil {
				t.Fatal(err)
			}
			m, err := p.Fit(context.Background(), c.t, &s)
			if err != nil {
				t.Fatal(err)
			}
			if slope := steepest(p, m, c.t); !(slope <= 1e-8) {
				t.Errorf("%v %v: slope %.2e", loss, kind, slope)
			}
		}
	}
}

func TestLinearWithoutIntrinsicNorm(t *testing.T) {
	for _, labels := range []int{7, 60} {
		c := newLinearCase(t, 120, 12, labels)
		for _, loss := range allLosses {
			s := Settings{Regularizer: regularizer.Regularizer{GammaA: 0.1}, Loss: loss}
			with := c.fit(t, c.x, c.t, s)
			without, err := Fit(context.Background(), c.x, nil, c.t, &s, nil)
			if err != nil || !mat.Equal(with.Coefficients, without.Coefficients) || !slices.Equal(with.Intercepts, without.Intercepts) {
				t.Errorf("%v: γ_I = 0 depends on the graph, %v", loss, err)
			}
			p, err := NewProblem(context.Background(), c.x, c.laplacian(t, sparse.Combinatorial), regularizer.Regularizer{})
			if err != nil {
				t.Fatal(err)
			}
			prepared, err := p.Fit(context.Background(), c.t, &s)
			if err != nil || !(far(with.Coefficients, prepared.Coefficients) <= 1e-7) {
				t.Errorf("%v: γ_I = 0 in a problem with a graph has another answer, %v", loss, err)
			}
			if name := with.Name(); name != RLSName && name != SVMName {
				t.Errorf("γ_I = 0 is called %s", name)
			}
		}
	}
}

func TestLinearScalings(t *testing.T) {
	c := newLinearCase(t, 120, 12, 20)
	for _, loss := range allLosses {
		s := Settings{Regularizer: regular(sparse.Combinatorial, 1), Loss: loss}
		direct := c.fit(t, c.x, c.t, s)
		s.Regularizer.Scaling = regularizer.PerPair
		s.Regularizer.GammaI *= 120 * 120
		if e := far(direct.Coefficients, c.fit(t, c.x, c.t, s).Coefficients); !(e <= 1e-12) {
			t.Errorf("%v: the conventions of scaling differ by %.1e", loss, e)
		}
	}
}

// Three ways to the same minimum: with d×d matrices, in the space of the rows,
// and by products alone.
func TestLinearWaysAgree(t *testing.T) {
	for _, size := range [][3]int{{150, 20, 10}, {150, 20, 60}, {40, 90, 12}} {
		c := newLinearCase(t, size[0], size[1], size[2])
		for _, loss := range allLosses {
			for _, kind := range both {
				s := Settings{Regularizer: regular(kind, 2), Loss: loss, Tolerance: 1e-11}
				want := c.fit(t, c.x, c.t, s)
				bySparse := c.fit(t, data.ToSparse(c.x), c.t, s) // by the space of the rows if n < d
				if e := far(want.Coefficients, bySparse.Coefficients); !(e <= 1e-7) {
					t.Errorf("%v %v %v: sparse points are %.1e away", size, loss, kind, e)
				}
				if e := far(want.Coefficients, c.free(t, c.x, c.t, s).Coefficients); !(e <= 1e-7) {
					t.Errorf("%v %v %v: products alone are %.1e away", size, loss, kind, e)
				}
			}
		}
	}
}

func TestLinearPath(t *testing.T) {
	for _, size := range [][3]int{{120, 15, 10}, {120, 15, 60}, {40, 90, 12}} {
		c := newLinearCase(t, size[0], size[1], size[2])
		for _, x := range []data.Points{c.x, data.ToSparse(c.x)} {
			p, err := NewProblem(context.Background(), x, c.laplacian(t, sparse.Combinatorial), regularizer.Regularizer{})
			if err != nil {
				t.Fatal(err)
			}
			for _, loss := range allLosses {
				var path []Settings
				for _, a := range []float64{0.01, 0.1, 1} {
					for _, i := range []float64{0, 0.001, 0.1} {
						path = append(path, Settings{Regularizer: regularizer.Regularizer{GammaA: a, GammaI: i}, Loss: loss, Tolerance: 1e-10})
					}
				}
				got, err := p.Path(context.Background(), c.t, path)
				if err != nil {
					t.Fatal(err)
				}
				for i, m := range got {
					if e := far(c.fit(t, x, c.t, path[i]).Coefficients, m.Coefficients); !(e <= 1e-7) {
						t.Errorf("%v %v: step %d of the path is %.1e from its own fit", size, loss, i, e)
					}
				}
			}
		}
	}
}

// Scaling points by k and γ_A by k², exchanging two classes, or moving the
// origin (with the combinatorial Laplacian) changes nothing else.
func TestLinearSymmetries(t *testing.T) {
	c := newLinearCase(t, 120, 10, 30)
	rng := rand.New(rand.NewPCG(4, 4))
	for _, loss := range allLosses {
		s := Settings{Regularizer: regular(sparse.Combinatorial, 1), Loss: loss, Tolerance: 1e-11}
		f := c.values(c.fit(t, c.x, c.t, s))

		scaled, moved := data.NewDense[float64](120, 10), data.NewDense[float64](120, 10)
		for i, v := range c.x.Data {
			scaled.Data[i] = 4 * v
			moved.Data[i] = v + 1.5
		}
		larger := s
		larger.Regularizer.GammaA *= 16
		if e := far(f, c.fit(t, scaled, c.t, larger).values(solvers.DenseDesign{Points: scaled}, 120)); !(e <= 1e-8) {
			t.Errorf("%v: scaling changes f by %.1e", loss, e)
		}
		if e := far(f, c.fit(t, moved, c.t, s).values(solvers.DenseDesign{Points: moved}, 120)); !(e <= 1e-8) {
			t.Errorf("%v: another origin changes f by %.1e", loss, e)
		}

		order := rng.Perm(120)
		perm := make([]int32, 120)
		for i, v := range order {
			perm[i] = int32(v)
		}
		y, err := models.ClassTargets(c.drawn.Select(order))
		if err != nil {
			t.Fatal(err)
		}
		other := &linearCase{w: c.w.Permute(perm)}
		g := other.fit(t, data.Select(c.x, order), y, s)
		if e := far(f, c.values(g)); !(e <= 1e-8) {
			t.Errorf("%v: another order of the points changes f by %.1e", loss, e)
		}

		flipped := *c.t
		flipped.Y = mat.DenseCopyOf(c.t.Y)
		flipped.Y.Scale(-1, flipped.Y)
		h := c.values(c.fit(t, c.x, &flipped, s))
		h.Scale(-1, h)
		if e := far(f, h); !(e <= 1e-8) {
			t.Errorf("%v: opposite targets give more than the opposite, by %.1e", loss, e)
		}
	}
}

func TestLinearTypesOfPoints(t *testing.T) {
	digits, truth := synthetic.Digits(300, 1)
	ix, err := knn.NewBrute(digits, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &linearCase{}
	if c.w, _, err = knn.NewGraph(context.Background(), ix, knn.GraphSettings{K: 5}); err != nil {
		t.Fatal(err)
	}
	drawn, err := truth.Draw(60, 1)
	if err != nil {
		t.Fatal(err)
	}
	y, err := models.ClassTargets(drawn)
	if err != nil {
		t.Fatal(err)
	}
	bytes := data.Points(digits)
	_, d := bytes.Dims()
	single, double := data.NewDense[float32](300, d), data.NewDense[float64](300, d)
	for i := range 300 {
		data.RowTo(double.Row(i), bytes, i)
		for j, v := range double.Row(i) {
			single.Row(i)[j] = float32(v)
		}
	}
	for _, loss := range allLosses {
		s := Settings{Regularizer: regularizer.Regularizer{GammaA: 100, GammaI: 1e-3}, Loss: loss}
		want := c.fit(t, double, y, s)
		for _, x := range []data.Points{bytes, single} {
			got := c.fit(t, x, y, s)
			if !mat.Equal(got.Coefficients, want.Coefficients) {
				t.Errorf("%v: %T gives other coefficients than float64", loss, x)
			}
			p, err := got.Predict(context.Background(), x, nil)
			if err != nil {
				t.Fatal(err)
			}
			part, err := got.Predict(context.Background(), data.Select(x, []int{17}), nil)
			if err != nil || !slices.Equal(part.Scores.RawRowView(0), p.Scores.RawRowView(17)) {
				t.Errorf("%v: the answer for one point depends on the others, %v", loss, err)
			}
		}
	}
}

func TestLinearRegression(t *testing.T) {
	c := newLinearCase(t, 120, 8, 30)
	values := mat.NewDense(120, 2, nil)
	for i := range 120 {
		for o := range 2 {
			v := math.NaN()
			if i%3 == 0 {
				v = 3*c.x.Row(i)[o] - c.x.Row(i)[o+2] + 5
			}
			values.Set(i, o, v)
		}
	}
	y, err := models.ValueTargets(values)
	if err != nil {
		t.Fatal(err)
	}
	m := c.fit(t, c.x, y, Settings{Regularizer: regularizer.Regularizer{GammaA: 1e-9}})
	p, err := m.Predict(context.Background(), c.x, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 120 {
		if want := 3*c.x.Row(i)[1] - c.x.Row(i)[3] + 5; !(math.Abs(p.Scores.At(i, 1)-want) <= 1e-6) {
			t.Fatalf("point %d is %v, want %v", i, p.Scores.At(i, 1), want)
		}
	}
	if p.Classes != nil || m.Output().Kind != models.OutputValues {
		t.Error("a regression has classes")
	}
	if _, err := Fit(context.Background(), c.x, nil, y, &Settings{Regularizer: regularizer.Regularizer{GammaA: 1}, Loss: SquaredHinge}, nil); err == nil {
		t.Error("a hinge took values")
	}
}

func TestLinearSaysWhatIsWrong(t *testing.T) {
	ctx := context.Background()
	c := newLinearCase(t, 60, 6, 20)
	_, err := Fit(ctx, c.x, nil, c.t, &Settings{Loss: 9, Width: 2, Tolerance: math.NaN(), MaxIterations: -1}, nil)
	for _, part := range []string{"gamma-a", "loss", "width", "tolerance", "iterations"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
	if _, err := Fit(ctx, c.x, nil, c.t, nil, nil); err == nil || !strings.Contains(err.Error(), "gamma-a") {
		t.Errorf("no settings: %v", err)
	}
	l := c.laplacian(t, sparse.Combinatorial)
	p, err := NewProblem(ctx, c.x, l, regularizer.Regularizer{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Fit(ctx, &models.Targets{Len: 60}, &Settings{Regularizer: regularizer.Regularizer{GammaA: 1}}); err == nil {
		t.Error("targets of no point were taken")
	}
	for what, r := range map[string]regularizer.Regularizer{
		"power":     {GammaA: 1, GammaI: 1, Power: 2},
		"Laplacian": {GammaA: 1, GammaI: 1, Laplacian: sparse.Normalized},
	} {
		if _, err := p.Fit(ctx, c.t, &Settings{Regularizer: r}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	if _, err := Fit(ctx, c.x, nil, c.t, &Settings{Regularizer: regularizer.Regularizer{GammaA: 1, GammaI: 1}}, nil); err == nil {
		t.Error("an intrinsic norm without a graph")
	}
	small, _ := planes(30, 6, 1)
	if _, err := Fit(ctx, small, l, c.t, &Settings{Regularizer: regularizer.Regularizer{GammaA: 1, GammaI: 1}}, nil); err == nil {
		t.Error("a graph of other points was taken")
	}
	if _, err := Fit(ctx, small, nil, c.t, &Settings{Regularizer: regularizer.Regularizer{GammaA: 1}}, nil); err == nil {
		t.Error("targets of other points were taken")
	}
	m := c.fit(t, c.x, c.t, Settings{Regularizer: regularizer.Regularizer{GammaA: 1}})
	wide, _ := planes(5, 7, 1)
	if _, err := m.Predict(ctx, wide, nil); err == nil {
		t.Error("points of other dimensions were answered")
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := p.Fit(cancelled, c.t, &Settings{Regularizer: regularizer.Regularizer{GammaA: 1}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, loss := range allLosses {
		q := &Problem{given: c.x, x: data.ToSparse(c.x)}
		if err := q.setNorm(l, regularizer.Regularizer{}); err != nil {
			t.Fatal(err)
		}
		q.design = solvers.NewDesign(q.x)
		m, err := q.Fit(ctx, c.t, &Settings{Regularizer: regular(sparse.Combinatorial, 1), Loss: loss, MaxIterations: 1, Tolerance: 1e-12})
		if m == nil || !errors.Is(err, cg.ErrNotConverged) && !errors.Is(err, solvers.ErrNotConverged) {
			t.Errorf("%v: one iteration: %v", loss, err)
		}
	}
}

func TestLinearFile(t *testing.T) {
	c := newLinearCase(t, 80, 6, 20)
	two := c.drawn.Keep(c.drawn.Labeled())
	two.Classes = []int64{4, 9}
	for i, v := range two.Index {
		if v == 2 {
			two.Index[i] = 0
		}
	}
	pair, err := models.ClassTargets(two)
	if err != nil {
		t.Fatal(err)
	}
	values := &models.Targets{Len: 80, Labeled: c.t.Labeled, Y: c.t.Y}
	for _, y := range []*models.Targets{c.t, pair, values} {
		for _, loss := range allLosses {
			for _, gammaI := range []float64{0, 0.1} {
				if y == values && loss != LeastSquares {
					continue
				}
				m := c.fit(t, c.x, y, Settings{Regularizer: regularizer.Regularizer{GammaA: 1, GammaI: gammaI, Scaling: regularizer.PerPair}, Loss: loss})
				path := filepath.Join(t.TempDir(), "m.npz")
				if err := models.Save(path, m, map[string]string{"points": "abc"}); err != nil {
					t.Fatal(err)
				}
				got, mf, err := load(path, 0)
				if err != nil {
					t.Fatal(err)
				}
				back := got.(*Model)
				if !reflect.DeepEqual(back.Settings, m.Settings) || back.Name() != m.Name() || !reflect.DeepEqual(back.Output(), m.Output()) || mf.Hashes["points"] != "abc" ||
					!mat.Equal(back.Coefficients, m.Coefficients) || !slices.Equal(back.Intercepts, m.Intercepts) || back.Labeled != m.Labeled || back.Iterations != m.Iterations {
					t.Errorf("%s: %+v came back as %+v", m.Name(), m, back)
				}
				if _, _, err := load(path, 50); err == nil {
					t.Error("50 bytes were enough")
				}
			}
		}
	}
}

func TestLinearFileDamage(t *testing.T) {
	dir := t.TempDir()
	for what, damage := range map[string]func(m *Model, arrays map[string]archive.Array){
		"gamma-a": func(m *Model, _ map[string]archive.Array) { m.Settings.Regularizer.GammaA = -1 },
		"gamma-i is missing": func(_ *Model, arrays map[string]archive.Array) {
			if x, ok := arrays["manifest"]; ok {
				arrays["manifest"] = archive.Array{Name: "manifest", Data: bytes.Replace(x.Data.([]uint8), []byte(`"rls-linear"`), []byte(`"laprls-linear"`), 1)}
			}
		},
		"2 intercepts":       func(m *Model, _ map[string]archive.Array) { m.Intercepts = []float64{1, 2} },
		"coefficients":       func(_ *Model, arrays map[string]archive.Array) { delete(arrays, "coefficients") },
		"3 outputs for 2":    func(m *Model, _ map[string]archive.Array) { m.Classes = []int64{1, 2} },
		"element 1 of inter": func(m *Model, _ map[string]archive.Array) { m.Intercepts = []float64{1, math.NaN(), 3} },
	} {
		m := &Model{Settings: Settings{Regularizer: regularizer.Regularizer{GammaA: 1}}, Coefficients: mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}), Intercepts: []float64{1, 2, 3}}
		path := filepath.Join(dir, "m.npz")
		damage(m, map[string]archive.Array{})
		if err := models.Save(path, m, nil); err != nil {
			if !strings.Contains(err.Error(), "not finite") {
				t.Fatal(err)
			}
			continue
		}
		arrays := modeltest.Entries(t, path)
		damage(m, arrays)
		if err := modeltest.Rewrite(path, slices.Collect(maps.Values(arrays))); err != nil {
			t.Fatal(err)
		}
		if _, _, err := load(path, 0); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	c := newLinearCase(t, 60, 6, 20)
	m := c.fit(t, c.x, c.t, Settings{Regularizer: regularizer.Regularizer{GammaA: 1}})
	path := filepath.Join(dir, "whole.npz")
	if err := models.Save(path, m, nil); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.npz")
	for _, size := range []int{0, 10, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(cut, whole[:size], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, _, err := load(cut, 0); err == nil {
			t.Errorf("%d of %d bytes were read as a model", size, len(whole))
		}
	}
}

func TestLinearHasTheSameBitsAtAnyThreads(t *testing.T) {
	c := newLinearCase(t, 700, 140, 200)
	fit := func(loss Loss, free bool) *Model {
		s := Settings{Regularizer: regular(sparse.Normalized, 2), Loss: loss}
		if free {
			return c.free(t, c.x, c.t, s)
		}
		return c.fit(t, c.x, c.t, s)
	}
	for _, loss := range allLosses {
		for _, free := range []bool{false, true} {
			many := fit(loss, free)
			old := runtime.GOMAXPROCS(1)
			one := fit(loss, free)
			runtime.GOMAXPROCS(old)
			if !mat.Equal(one.Coefficients, many.Coefficients) || !slices.Equal(one.Intercepts, many.Intercepts) {
				t.Errorf("%v, products alone %v: one thread gives other bits", loss, free)
			}
		}
	}
}
