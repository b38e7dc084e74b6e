package kernelmachine

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/multilabel"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// vvmrData is a small problem with n correlated outputs, the first l points
// labeled.
func vvmrData(t *testing.T, points, l, outputs int) (*data.Dense[float64], *sparse.Laplacian, *models.Targets) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, uint64(points)))
	x := data.NewDense[float64](points, 3)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(context.Background(), ix, knn.GraphSettings{K: 5})
	if err != nil {
		t.Fatal(err)
	}
	lap, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	y := mat.NewDense(points, outputs, nil)
	for i := range points {
		for j := range outputs {
			v := math.NaN()
			if i < l {
				v = math.Sin(x.Row(i)[0]+0.3*float64(j)) + 0.1*rng.NormFloat64()
			}
			y.Set(i, j, v)
		}
	}
	targets, err := multilabel.PartialTargets(y)
	if err != nil {
		t.Fatal(err)
	}
	return x, lap, targets
}

func vvmrOutputs(t *testing.T, targets *models.Targets) *solvers.Outputs {
	t.Helper()
	w, err := multilabel.OutputGraph(targets, 2)
	if err != nil {
		t.Fatal(err)
	}
	o, err := solvers.NewOutputs(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func closeTo(t *testing.T, what string, got, want mat.Matrix, tol float64) {
	t.Helper()
	var d mat.Dense
	d.Sub(got, want)
	if e := mat.Norm(&d, 2) / mat.Norm(want, 2); !(e <= tol) {
		t.Errorf("%s: off by %.1e", what, e)
	}
}

// Equation (17) is solved where it stands, by its Kronecker form over the known
// entries.
func TestVVMRIsEquation17(t *testing.T) {
	ctx := context.Background()
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.3}
	x, lap, targets := vvmrData(t, 60, 17, 5)
	o := vvmrOutputs(t, targets)
	for _, missing := range []bool{false, true} {
		if missing {
			targets.Y.Set(0, 1, math.NaN())
			targets.Y.Set(0, 3, math.NaN())
			targets.Y.Set(11, 0, math.NaN())
		}
		for _, power := range []int{1, 2, 3} {
			for _, gammaO := range []float64{0, 0.5, 1} {
				s := VVMRSettings{Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 0.02, Power: power, Laplacian: sparse.Normalized}, GammaO: gammaO}
				m, err := FitVVMR(ctx, &Data{Points: x, Kernel: k, Laplacian: lap}, targets, o, &s, nil)
				if err != nil {
					t.Fatal(err)
				}
				if !(m.Residual <= 1e-8) {
					t.Errorf("power %d, γ_O %v, missing %v: residual %.1e", power, gammaO, missing, m.Residual)
				}
				want := kroneckerVVMR(t, x, k, lap.With(power, 0), targets, o, s)
				closeTo(t, fmt.Sprintf("power %d, γ_O %v, missing %v", power, gammaO, missing), m.Values, want, 1e-7)
			}
		}
		// Polynomials of the Laplacian, exactly, by all landmarks and without a Gram matrix.
		for _, c := range [][]float64{{0.3, 1}, {0.1, 0, 2, 0.5}} {
			s := VVMRSettings{Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 0.02, Coefficients: c, Laplacian: sparse.Normalized}, GammaO: 0.5}
			want := kroneckerVVMR(t, x, k, newDensePolynomial(lap, c), targets, o, s)
			for _, a := range []*ApproximationSettings{nil, {Landmarks: 60}, {Approximation: MatrixFree, Landmarks: 10}} {
				m, err := FitVVMR(ctx, &Data{Points: x, Kernel: k, Laplacian: lap}, targets, o, &s, a)
				if err != nil {
					t.Fatal(err)
				}
				if !(m.Residual <= 1e-8) {
					t.Errorf("%v, %v, missing %v: residual %.1e", c, a, missing, m.Residual)
				}
				closeTo(t, fmt.Sprintf("%v, %v, missing %v", c, a, missing), m.Values, want, 1e-6)
			}
		}
	}
}

// densePolynomial is Σ c_p Lᵖ as a matrix.
type densePolynomial struct{ *mat.Dense }

func newDensePolynomial(l *sparse.Laplacian, c []float64) densePolynomial {
	n := l.Dim()
	eye, one := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		eye.Set(i, i, 1)
	}
	l.With(1, 0).MulTo(one, eye)
	sum, power := mat.NewDense(n, n, nil), eye
	for _, v := range c {
		var term, next mat.Dense
		term.Scale(v, power)
		sum.Add(sum, &term)
		next.Mul(power, one)
		power = &next
	}
	return densePolynomial{sum}
}

func (p densePolynomial) Dim() int { n, _ := p.Dims(); return n }

func (p densePolynomial) MulTo(dst, x *mat.Dense) { dst.Mul(p.Dense, x) }

// kroneckerVVMR solves (PG⊗Q + lγ_I LᵖG⊗Q + lγ_A I)a = y, equation (15), and
// returns f = GAQ.
func kroneckerVVMR(t *testing.T, x data.Points, k kernel.Kernel, lap sparse.Operator, targets *models.Targets, o *solvers.Outputs, s VVMRSettings) *mat.Dense {
	t.Helper()
	g, err := kernel.Gram(x, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	points, l, n := targets.Len, float64(len(targets.Labeled)), targets.Y.RawMatrix().Cols
	lg := mat.NewDense(points, points, nil)
	lap.MulTo(lg, g)
	var q mat.Dense
	q.Mul(o.Vectors, mat.NewDiagDense(n, o.Scaled(s.GammaO)))
	q.Mul(&q, o.Vectors.T())
	for i := range n {
		for j := range i {
			q.Set(i, j, q.At(j, i))
		}
	}
	big, y := mat.NewDense(points*n, points*n, nil), mat.NewDense(points*n, 1, nil)
	for i := range points {
		for j := range n {
			known := 0.0
			for p, r := range targets.Labeled {
				if v := targets.Y.At(p, j); r == i && !math.IsNaN(v) {
					known = 1
					y.Set(i*n+j, 0, v)
				}
			}
			for p := range points {
				v := known*g.At(i, p) + l*s.GammaI*lg.At(i, p)
				for c := range n {
					big.Set(i*n+j, p*n+c, v*q.At(c, j))
				}
			}
			big.Set(i*n+j, i*n+j, big.At(i*n+j, i*n+j)+l*s.GammaA)
		}
	}
	lu, err := dense.FactorLU(context.Background(), big)
	if err != nil {
		t.Fatal(err)
	}
	lu.Solve(context.Background(), y)
	a := mat.NewDense(points, n, y.RawMatrix().Data)
	var f mat.Dense
	f.Mul(g, a)
	f.Mul(&f, &q)
	return &f
}

func TestVVMRSpecialCases(t *testing.T) {
	ctx := context.Background()
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.3}
	x, lap, targets := vvmrData(t, 150, 30, 4)
	o := vvmrOutputs(t, targets)
	r := regularizer.Regularizer{GammaA: 1e-3, GammaI: 0.01, Power: 2, Laplacian: sparse.Normalized}
	independent, err := FitVVMR(ctx, &Data{Points: x, Kernel: k, Laplacian: lap}, targets, o, &VVMRSettings{Regularizer: r}, nil)
	if err != nil {
		t.Fatal(err)
	}
	laprls, err := Fit(ctx, &Data{Points: x, Kernel: k, Laplacian: lap}, targets, &Settings{Regularizer: r})
	if err != nil {
		t.Fatal(err)
	}
	want, err := laprls.Predict(ctx, x, nil)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "γ_O = 0 and independent LapRLS", independent.Values, want.Scores, 1e-8)

	// γ_I = 0: (K_ll β Q + lγ_A β = Y) and f = K_l β Q.
	r.GammaI = 0
	supervised, err := FitVVMR(ctx, &Data{Points: x, Kernel: k}, targets, o, &VVMRSettings{Regularizer: r, GammaO: 0.7}, nil)
	if err != nil {
		t.Fatal(err)
	}
	labeled := data.Select(x, targets.Labeled)
	g, err := kernel.Gram(labeled, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	var q, big mat.Dense
	q.Mul(o.Vectors, mat.NewDiagDense(4, o.Scaled(0.7)))
	q.Mul(&q, o.Vectors.T())
	big.Kronecker(g, &q)
	right := mat.NewDense(30*4, 1, nil)
	for i := range 30 * 4 {
		big.Set(i, i, big.At(i, i)+30*r.GammaA)
		right.Set(i, 0, targets.Y.At(i/4, i%4))
	}
	if err := right.Solve(&big, right); err != nil {
		t.Fatal(err)
	}
	beta := mat.NewDense(30, 4, right.RawMatrix().Data)
	cross := mat.NewDense(150, 30, nil)
	if err := kernel.Cross(cross, x, labeled, k); err != nil {
		t.Fatal(err)
	}
	var f mat.Dense
	f.Mul(cross, beta)
	f.Mul(&f, &q)
	closeTo(t, "γ_I = 0 and vector-valued RLS", supervised.Values, &f, 1e-8)
}

// All ways to fit give one function, which answers for its training points and
// comes back from a file.
func TestVVMRMeans(t *testing.T) {
	ctx := context.Background()
	x, lap, targets := vvmrData(t, 200, 60, 5)
	targets.Y.Set(3, 2, math.NaN())
	targets.Labels = []int64{-1, 0, 3, 4, 70}
	o := vvmrOutputs(t, targets)
	s := &VVMRSettings{Regularizer: regularizer.Regularizer{GammaA: 1e-2, GammaI: 0.05, Laplacian: sparse.Normalized}, GammaO: 0.8}
	gaussian := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.3}
	g, err := kernel.Gram(x, gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	precomputed := &data.Dense[float64]{Rows: 200, Cols: 200, Data: g.RawMatrix().Data}
	var values []*mat.Dense
	for _, c := range []struct {
		name  string
		x     kernel.Source
		scale *ApproximationSettings
	}{
		{"exact", kernel.Source{Kernel: gaussian, Points: x}, nil},
		{"precomputed", kernel.Source{Values: precomputed}, nil},
		{"matrix-free", kernel.Source{Kernel: gaussian, Points: x}, &ApproximationSettings{Approximation: MatrixFree, Landmarks: 40}},
		{"all landmarks", kernel.Source{Kernel: gaussian, Points: x}, &ApproximationSettings{Landmarks: 200}},
		{"linear", kernel.Source{Kernel: kernel.Kernel{}, Points: x}, nil},
		{"linear, sparse", kernel.Source{Kernel: kernel.Kernel{}, Points: data.ToSparse(x)}, &ApproximationSettings{}},
		{"linear, matrix-free", kernel.Source{Kernel: kernel.Kernel{}, Points: x}, &ApproximationSettings{Approximation: MatrixFree, Landmarks: 2}},
		{"few landmarks", kernel.Source{Kernel: gaussian, Points: x}, &ApproximationSettings{Landmarks: 30}},
	} {
		m, err := FitVVMR(ctx, &Data{Points: c.x.Points, Kernel: c.x.Kernel, Values: c.x.Values, Laplacian: lap}, targets, o, s, c.scale)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if !(m.Residual <= 1e-7) || m.Labeled != 60 {
			t.Errorf("%s: residual %.1e after %d iterations", c.name, m.Residual, m.Iterations)
		}
		values = append(values, m.Values)
		got, err := m.Predict(ctx, c.x.Rows(), nil)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		closeTo(t, c.name+", training points", got.Scores, m.Values, 1e-8)
		path := filepath.Join(t.TempDir(), "m.npz")
		if err := models.Save(path, m, nil); err != nil {
			t.Fatal(err)
		}
		back, _, err := load(path)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		again, err := back.Predict(ctx, c.x.Rows(), nil)
		same := reflect.DeepEqual(back.(*VVMR).Approximation, m.Approximation) && (m.Approximation == nil) == (c.scale == nil || m.Points == nil) && slices.Equal(back.(*VVMR).Labels, targets.Labels)
		if err != nil || !same || !mat.Equal(again.Scores, got.Scores) || back.Name() != VVMRName || back.Output().Kind != models.OutputLabels {
			t.Errorf("%s: another model came back: %v", c.name, err)
		}
	}
	for i, name := range []string{"precomputed", "matrix-free", "all landmarks"} {
		closeTo(t, name, values[i+1], values[0], 1e-6)
	}
	closeTo(t, "sparse", values[5], values[4], 1e-10)
	closeTo(t, "linear, matrix-free", values[6], values[4], 1e-6)
}

// With as many labels as features the other factorization is taken.
func TestVVMRManyLabels(t *testing.T) {
	ctx := context.Background()
	x, lap, targets := vvmrData(t, 120, 100, 3)
	o := vvmrOutputs(t, targets)
	s := VVMRSettings{Regularizer: regularizer.Regularizer{GammaA: 1e-2, GammaI: 0.1, Power: 1, Laplacian: sparse.Normalized}, GammaO: 0.5}
	m, err := FitVVMR(ctx, &Data{Points: x, Kernel: kernel.Kernel{}, Laplacian: lap}, targets, o, &s, nil)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "many labels", m.Values, kroneckerVVMR(t, x, kernel.Kernel{}, lap, targets, o, s), 1e-8)
	if m.Iterations > 3 {
		t.Errorf("%d iterations of an exact preconditioner", m.Iterations)
	}
}

func TestVVMRFaults(t *testing.T) {
	ctx := context.Background()
	x, lap, targets := vvmrData(t, 40, 10, 3)
	o := vvmrOutputs(t, targets)
	good := VVMRSettings{Regularizer: regularizer.Regularizer{GammaA: 1, GammaI: 1, Laplacian: sparse.Normalized}, GammaO: 0.5}
	for want, c := range map[string]struct {
		s     VVMRSettings
		o     *solvers.Outputs
		l     *sparse.Laplacian
		scale *ApproximationSettings
	}{
		"gamma-a":          {VVMRSettings{}, o, lap, nil},
		"gamma-o› is 2":    {VVMRSettings{Regularizer: good.Regularizer, GammaO: 2}, o, lap, nil},
		"graph of outputs": {good, nil, lap, nil},
		"2 outputs":        {good, solvers.IndependentOutputs(2), lap, nil},
		"no graph":         {good, o, nil, nil},
		"matrix-free":      {good, o, lap, &ApproximationSettings{Approximation: Fourier}},
	} {
		if _, err := FitVVMR(ctx, &Data{Points: x, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1}, Laplacian: c.l}, targets, c.o, &c.s, c.scale); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// The cost counts at least what must be held, and refuses what the fit refuses.
func TestVVMRCost(t *testing.T) {
	x, _, targets := vvmrData(t, 400, 50, 4)
	s := &VVMRSettings{Regularizer: regularizer.Regularizer{GammaA: 1, GammaI: 1}}
	many := data.NewDense[float64](linear.MaxFormed+1, 2)
	for _, c := range []struct {
		name  string
		x     data.Points
		k     kernel.Kind
		scale *ApproximationSettings
		least int64  // values
		fault string // or the fault
	}{
		{"exact", x, kernel.Gaussian, nil, 4 * 400 * 400, ""},
		{"linear", x, kernel.Linear, nil, 400 * 3, ""},
		{"landmarks", x, kernel.Gaussian, &ApproximationSettings{Landmarks: 100}, 400 * 100, ""},
		{"matrix-free", x, kernel.Gaussian, &ApproximationSettings{Approximation: MatrixFree, Landmarks: 100}, 400 * 100, ""},
		{"features", x, kernel.Gaussian, &ApproximationSettings{Approximation: Fourier}, 0, "matrix-free"},
		{"too many", many, kernel.Gaussian, nil, 0, "the most is 5000"},
	} {
		cost, err := vvmrCost(&models.Input{Points: c.x, Targets: targets, Edges: 2000}, kernel.Source{Kernel: kernel.Kernel{Kind: c.k}, Points: c.x}, s, c.scale)
		bytes, operations := cost.Bytes, cost.Operations
		_, faultOfFit := NewVVMRProblem(context.Background(), &Data{Points: c.x, Kernel: kernel.Kernel{Kind: c.k, Sigma: 1}}, regularizer.Regularizer{}, c.scale)
		switch {
		case c.fault != "":
			if err == nil || faultOfFit == nil || !strings.Contains(err.Error(), c.fault) || !strings.Contains(faultOfFit.Error(), c.fault) {
				t.Errorf("%s: %v, the fit says %v", c.name, err, faultOfFit)
			}
		case err != nil || faultOfFit != nil:
			t.Errorf("%s: %v, %v", c.name, err, faultOfFit)
		case bytes < 8*c.least || bytes > 1<<24+20<<20 || !(operations > 0):
			t.Errorf("%s: %d bytes, %g operations", c.name, bytes, operations)
		}
	}
	in := &models.Input{Points: x, Targets: targets, Edges: 2000}
	source := kernel.Source{Kernel: kernel.Kernel{Kind: kernel.Gaussian}, Points: x}
	few, _ := vvmrCost(in, source, s, nil)
	in.Targets, in.Edges = targets.Keep([]int{0}), 200000
	if many, _ := vvmrCost(in, source, s, nil); many.Bytes-few.Bytes < 8*198000*4 {
		t.Errorf("%d bytes with 2000 edges, %d with 200000", few.Bytes, many.Bytes)
	}
}

// vvmrLabels are 60 points in three clouds with four labels, one for each cloud and one for the last
// two, known of a third of the points.
func vvmrLabels(t *testing.T) (in models.Input, known *data.Labels) {
	t.Helper()
	const n = 60
	x, truth, _ := modeltest.NewTwoClouds(t, n/3, 3, 4)
	var labeled []int
	y := mat.NewDense(n, 4, slices.Repeat([]float64{math.NaN()}, 4*n))
	for i, c := range truth.Index {
		if i/3%3 > 0 {
			continue
		}
		labeled = append(labeled, i)
		y.SetRow(i, make([]float64, 4))
		y.Set(i, int(c), 1)
		if c > 0 {
			y.Set(i, 3, 1)
		}
	}

	targets, err := multilabel.LabelTargets(y, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := modeltest.Laplacian(t, x, 6, sparse.Normalized)
	return models.Input{Points: x, Targets: targets, Graph: models.NewGraph(l.Graph())}, truth.Keep(labeled)
}

// vvmrValues are f at the points of in, by the learner.
func vvmrValues(t *testing.T, in models.Input, more models.Values) *mat.Dense {
	t.Helper()
	in.Values = models.Values{"gamma-a": "0.001", "gamma-i": "0.01", "laplacian": "normalized", "sigma": "3"}.With(more)
	m, err := VVMRLearner{}.Fit(t.Context(), &in)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*VVMR).Values
}

// Independent outputs are LapRLS for every label by itself, a classifier of two classes.
func TestVVMRIndependentLabels(t *testing.T) {
	in, known := vvmrLabels(t)
	scores := vvmrValues(t, in, models.Values{"power": "2"})
	n := in.Len()
	for label := range 4 {
		one := make([]int64, n)
		labeled := make([]bool, n)
		for i, c := range known.Index {
			if c == data.Unlabeled {
				continue
			}
			labeled[i] = true
			if int(c) == label || c > 0 && label == 3 {
				one[i] = 1
			}
		}

		alone := in
		alone.Targets = modeltest.ClassTargets(t, data.NewLabels(one, labeled))
		alone.Values = models.Values{"gamma-a": "0.001", "gamma-i": "0.01", "laplacian": "normalized", "sigma": "3", "power": "2"}
		m, err := Learner{RLS, true}.Fit(t.Context(), &alone)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(t.Context(), in.Points, nil)
		if err != nil {
			t.Fatal(err)
		}
		closeTo(t, fmt.Sprintf("label %d", label), scores.ColView(label), p.Scores.ColView(1), 1e-8)
	}
}

// The learner fits the function of FitVVMR by its values, with the graph of the outputs that it is
// given or makes.
func TestVVMRLearner(t *testing.T) {
	in, _ := vvmrLabels(t)
	w, err := multilabel.OutputGraph(in.Targets, 1)
	if err != nil {
		t.Fatal(err)
	}
	outputs, err := solvers.NewOutputs(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	lap, err := in.LaplacianOf(sparse.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	s := &VVMRSettings{Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 0.01, Laplacian: sparse.Normalized}, GammaO: 0.7}
	want, err := FitVVMR(t.Context(), &Data{Points: in.Points, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 3}, Laplacian: lap},
		in.Targets, outputs, s, nil)
	if err != nil {
		t.Fatal(err)
	}

	made := vvmrValues(t, in, models.Values{"gamma-o": "0.7", "output-neighbors": "1"})
	closeTo(t, "the function of FitVVMR", made, want.Values, 1e-8)
	given := in
	given.Outputs = w
	if !mat.Equal(vvmrValues(t, given, models.Values{"gamma-o": "0.7"}), made) {
		t.Error("a given graph of the outputs makes another function")
	}
	if mat.Equal(vvmrValues(t, in, models.Values{"gamma-o": "0.7", "output-neighbors": "3"}), made) {
		t.Error("the graph of the outputs does not matter")
	}
	for _, means := range []models.Values{{"landmarks": "60"}, {"approximation": "matrix-free", "landmarks": "20"}} {
		got := vvmrValues(t, in, means.With(models.Values{"gamma-o": "0.7", "output-neighbors": "1"}))
		closeTo(t, means.String(), got, want.Values, 1e-5)
	}
}
