package kernelmachine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

func fitScaled(t testing.TB, c *modeltest.KernelCase, k kernel.Kernel, y *models.Targets, r kernelmachine.Settings, s kernelmachine.ApproximationSettings) *kernelmachine.Approximate {
	t.Helper()
	m, err := kernelmachine.FitApproximate(t.(interface{ Context() context.Context }).Context(), &kernelmachine.Data{Points: c.X, Kernel: k, Laplacian: c.L}, y, &r, &s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// With all points as landmarks the expansion is the exact one.
func TestAllLandmarksAreExact(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		c := modeltest.NewKernelCase(t, 160, kind)
		for i := range 10 { // duplicates
			copy(c.X.Row(150+i), c.X.Row(i))
		}
		for _, r := range []regularizer.Regularizer{
			{GammaA: 1e-3, GammaI: 1e-2, Laplacian: kind},
			{GammaA: 1e-3, GammaI: 0.1, Power: 3, Laplacian: kind},
			{GammaA: 1e-2, GammaI: 30, Laplacian: kind, Scaling: regularizer.PerPair},
			{GammaA: 1e-2, Laplacian: kind},
			{GammaA: 1e-3, GammaI: 1e-2, Laplacian: kind, Coefficients: []float64{0.2, 1, 0, 0.5}},
		} {
			for _, intercept := range []bool{false, true} {
				for name, y := range targetsFor(c, kernelmachine.RLS) {
					s := kernelmachine.Settings{Regularizer: r, Intercept: intercept}
					exact := fitKernel(t, c, y, s)
					for _, sampling := range []solvers.Sampling{solvers.RandomPivots, solvers.Uniform, solvers.PlusPlus} {
						m := fitScaled(t, c, modeltest.Gaussian, y, s, kernelmachine.ApproximationSettings{Landmarks: 160, Sampling: sampling})
						modeltest.WantClose(t, fmt.Sprintf("%v, %+v, %s, %v", kind, s, name, sampling), modeltest.Raw(t, m, c.X), modeltest.Raw(t, exact, c.X), 1e-8)
						if m.Report.Landmarks > 150 || !(m.Report.KernelError < 1e-9) || m.Name() != exact.Name() {
							t.Errorf("%s: %+v", m.Name(), m.Report)
						}
					}
				}
			}
		}
	}
}

// A path of few and of many settings, by factorizations and by the
// eigendecomposition, holds what single fits give.
func TestScaledPathIsFits(t *testing.T) {
	ctx := context.Background()
	c := modeltest.NewKernelCase(t, 200, sparse.Normalized)
	for _, means := range []kernelmachine.Approximation{kernelmachine.Nystrom, kernelmachine.Fourier} {
		p, err := kernelmachine.NewApproximateProblem(ctx, &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L}, regularizer.Regularizer{Power: 2}, &kernelmachine.ApproximationSettings{Approximation: means, Landmarks: 60, Features: 60})
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []kernelmachine.Method{kernelmachine.RLS, kernelmachine.SVM} {
			for _, count := range []int{2, 20} {
				var settings []kernelmachine.Settings
				for i := range count {
					r := regularizer.Regularizer{GammaA: math.Pow(10, -float64(1+i%3)), GammaI: 0.01 * float64(i), Power: 2, Laplacian: sparse.Normalized}
					settings = append(settings, kernelmachine.Settings{Method: method, Regularizer: r, Tolerance: 1e-10, Intercept: i%2 == 1})
				}
				path, err := p.Path(ctx, c.Three, settings)
				if err != nil {
					t.Fatal(err)
				}
				for i, s := range settings {
					one, err := p.Path(ctx, c.Three, []kernelmachine.Settings{s})
					if err != nil {
						t.Fatal(err)
					}
					modeltest.WantClose(t, fmt.Sprintf("%v %v %d of %d", means, method, i, count), modeltest.Raw(t, path[i], c.X), modeltest.Raw(t, one[0], c.X), 1e-8)
				}
			}
		}
	}
}

// At the solution for the squared hinge the gradient of the objective vanishes.
func TestScaledHingeGradient(t *testing.T) {
	c := modeltest.NewKernelCase(t, 200, sparse.Combinatorial)
	r := kernelmachine.Settings{Method: kernelmachine.SVM, Tolerance: 1e-11, Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 1e-2, Power: 2}}
	m := fitScaled(t, c, modeltest.Gaussian, c.Two, r, kernelmachine.ApproximationSettings{Landmarks: 40})
	if m.Name() != kernelmachine.LapSVMName || m.Report.Iterations == 0 {
		t.Errorf("%s: %+v", m.Name(), m.Report)
	}
	n, size := 200, m.Report.Landmarks
	knm, kmm := mat.NewDense(n, size, nil), mat.NewDense(size, size, nil)
	for x, to := range map[data.Points]*mat.Dense{c.X: knm, m.Points: kmm} {
		if err := kernel.Cross(to, x, m.Points, modeltest.Gaussian); err != nil {
			t.Fatal(err)
		}
	}
	var f, kf, g mat.Dense
	f.Mul(knm, m.Coefficients)
	lf := mat.NewDense(n, 1, nil)
	c.L.With(2, 0).MulTo(lf, &f)
	lf.Scale(2*r.GammaI, lf)
	var slope float64
	for p, i := range c.Two.Labeled {
		y := c.Two.Y.At(p, 0)
		v := -2 * y * max(0, 1-y*(f.At(i, 0)+m.Intercepts[0])) / float64(len(c.Two.Labeled))
		slope += v
		lf.Set(i, 0, lf.At(i, 0)+v)
	}
	g.Mul(knm.T(), lf)
	kf.Mul(kmm, m.Coefficients)
	kf.Scale(2*r.GammaA, &kf)
	g.Add(&g, &kf)
	if e := mat.Norm(&g, 2); !(e <= 1e-7) || !(math.Abs(slope) <= 1e-9) {
		t.Errorf("gradient %v in a, %v in b", e, slope)
	}
}

// Conjugate gradients on products with K give the exact machine.
func TestMatrixFreeIsExact(t *testing.T) {
	run := func(n, power int, kind sparse.Kind) {
		c := modeltest.NewKernelCase(t, n, kind)
		r := kernelmachine.Settings{Tolerance: 1e-11, Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 1e-3, Power: power, Laplacian: kind}}
		m := fitScaled(t, c, modeltest.Gaussian, c.Three, r, kernelmachine.ApproximationSettings{Approximation: kernelmachine.MatrixFree, Landmarks: n / 10})
		modeltest.WantClose(t, fmt.Sprintf("%d points, %v, power %d", n, kind, power), modeltest.Raw(t, m, c.X), modeltest.Raw(t, fitKernel(t, c, c.Three, r), c.X), 1e-7)
		if m.Report.Iterations == 0 || !(m.Report.Residual <= 1e-9) {
			t.Errorf("%v, power %d: %+v", kind, power, m.Report)
		}

		r.Coefficients = []float64{0.2, 1, 0.5}
		r.Power = 1
		m = fitScaled(t, c, modeltest.Gaussian, c.Three, r, kernelmachine.ApproximationSettings{Approximation: kernelmachine.MatrixFree, Landmarks: n / 10})
		modeltest.WantClose(t, fmt.Sprintf("%d points, %v, polynomial", n, kind), modeltest.Raw(t, m, c.X), modeltest.Raw(t, fitKernel(t, c, c.Three, r), c.X), 1e-7)
	}
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		for power := 1; power <= 4; power++ {
			run(300, power, kind)
		}
	}
	if !testing.Short() {
		run(2000, 2, sparse.Normalized)
	}
	c := modeltest.NewKernelCase(t, 200, sparse.Normalized)
	r := kernelmachine.Settings{Regularizer: regularizer.Regularizer{GammaA: 1e-3}}
	modeltest.WantClose(t, "γ_I = 0", modeltest.Raw(t, fitScaled(t, c, modeltest.Gaussian, c.Value, r, kernelmachine.ApproximationSettings{Approximation: kernelmachine.MatrixFree, Landmarks: 20}), c.X), modeltest.Raw(t, fitKernel(t, c, c.Value, r), c.X), 1e-5)
	r.GammaI, r.Laplacian, r.MaxIterations, r.Tolerance = 1, sparse.Normalized, 1, 1e-12
	m, err := kernelmachine.FitApproximate(context.Background(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L}, c.Three, &r, &kernelmachine.ApproximationSettings{Approximation: kernelmachine.MatrixFree, Landmarks: 3})
	if !errors.Is(err, cg.ErrNotConverged) || m == nil || !(m.Report.Residual > 0) {
		t.Errorf("one iteration: %v", err)
	}
}

// Where memory does not allow for n·m values, conjugate gradients find the same
// expansion as the direct way.
func TestLandmarksByConjugateGradients(t *testing.T) {
	c := modeltest.NewKernelCase(t, 400, sparse.Normalized)
	r := kernelmachine.Settings{Tolerance: 1e-12, Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 1e-2, Power: 2, Laplacian: sparse.Normalized}}
	s := &kernelmachine.ApproximationSettings{Landmarks: 400}
	m, err := kernelmachine.FitApproximate(context.Background(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L, Limit: 3 << 20}, c.Three, &r, s)
	if err != nil {
		t.Fatal(err)
	}
	if m.Report.Iterations == 0 || m.Report.Landmarks < 300 || !(m.Report.KernelError < 1e-8) {
		t.Errorf("%+v", m.Report)
	}
	modeltest.WantClose(t, "400 landmarks by iteration", modeltest.Raw(t, m, c.X), modeltest.Raw(t, fitKernel(t, c, c.Three, r), c.X), 1e-7)
	r.Method = kernelmachine.SVM
	if _, err := kernelmachine.FitApproximate(context.Background(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L, Limit: 3 << 20}, c.Three, &r, s); err == nil {
		t.Error("a hinge by conjugate gradients")
	}
	if _, err := kernelmachine.FitApproximate(context.Background(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L, Limit: 100}, c.Three, &r, nil); err == nil {
		t.Error("no memory, no error")
	}
}

func TestFourierFeatures(t *testing.T) {
	c := modeltest.NewKernelCase(t, 300, sparse.Normalized)
	r := kernelmachine.Settings{Regularizer: regularizer.Regularizer{GammaA: 1e-2, GammaI: 1e-2, Laplacian: sparse.Normalized}}
	for _, kind := range []kernel.Kind{kernel.Gaussian, kernel.Laplace} {
		k := kernel.Kernel{Kind: kind, Sigma: 2}
		exact, err := kernelmachine.Fit(context.Background(), &kernelmachine.Data{Points: c.X, Kernel: k, Laplacian: c.L}, c.Three, &r)
		if err != nil {
			t.Fatal(err)
		}
		want := modeltest.Raw(t, exact, c.X)
		var errs, far []float64
		for _, features := range []int{40, 400, 4000} {
			m := fitScaled(t, c, k, c.Three, r, kernelmachine.ApproximationSettings{Approximation: kernelmachine.Fourier, Features: features, Seed: 4})
			var d mat.Dense
			d.Sub(modeltest.Raw(t, m, c.X), want)
			errs, far = append(errs, m.Report.KernelError), append(far, mat.Norm(&d, 2)/mat.Norm(want, 2))
		}
		// Like D^-½.
		if !(errs[1] < errs[0]/2 && errs[2] < errs[1]/2 && errs[2] < 0.03) || !(far[2] < far[0] && far[2] < 0.1) {
			t.Errorf("%v: kernel errors %v, of f %v", kind, errs, far)
		}
	}
	csr := data.ToSparse(c.X)
	s := kernelmachine.ApproximationSettings{Approximation: kernelmachine.Fourier, Features: 100}
	m := fitScaled(t, c, modeltest.Gaussian, c.Three, r, s)
	modeltest.WantClose(t, "sparse points", modeltest.Raw(t, m, csr), modeltest.Raw(t, m, c.X), 1e-12)
}

func TestScaledIsDeterministic(t *testing.T) {
	c := modeltest.NewKernelCase(t, 300, sparse.Normalized)
	reg := regularizer.Regularizer{GammaA: 1e-3, GammaI: 1e-2, Laplacian: sparse.Normalized}
	for _, by := range []struct {
		means  kernelmachine.Approximation
		method kernelmachine.Method
	}{
		{kernelmachine.Nystrom, kernelmachine.RLS},
		{kernelmachine.Fourier, kernelmachine.RLS},
		{kernelmachine.MatrixFree, kernelmachine.RLS},
		{kernelmachine.Nystrom, kernelmachine.SVM},
		{kernelmachine.Fourier, kernelmachine.SVM},
	} {
		t.Run(fmt.Sprintf("%v %v", by.method, by.means), func(t *testing.T) {
			r := kernelmachine.Settings{Method: by.method, Regularizer: reg}
			fit := func(threads int, seed uint64) *kernelmachine.Approximate {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
				s := kernelmachine.ApproximationSettings{Approximation: by.means, Landmarks: 30, Features: 30, Seed: seed}
				return fitScaled(t, c, modeltest.Gaussian, c.Three, r, s)
			}
			one, four, other := fit(1, 2), fit(4, 2), fit(1, 3)
			if !mat.Equal(one.Coefficients, four.Coefficients) || !reflect.DeepEqual(one.Report, four.Report) {
				t.Error("different at 4 threads")
			}
			if mat.Equal(one.Coefficients, other.Coefficients) {
				t.Error("the seed does not matter")
			}
		})
	}
}

// scaledModels are one of every kind.
func scaledModels(t *testing.T) (*modeltest.KernelCase, map[string]*kernelmachine.Approximate) {
	c := modeltest.NewKernelCase(t, 250, sparse.Normalized)
	out := map[string]*kernelmachine.Approximate{}
	for _, means := range []kernelmachine.Approximation{kernelmachine.Nystrom, kernelmachine.Fourier, kernelmachine.MatrixFree} {
		for _, method := range []kernelmachine.Method{kernelmachine.RLS, kernelmachine.SVM} {
			if means == kernelmachine.MatrixFree && method == kernelmachine.SVM {
				continue
			}
			for name, y := range targetsFor(c, method) {
				for _, gammaI := range []float64{0, 0.1} {
					r := kernelmachine.Settings{Method: method, Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: gammaI, Laplacian: sparse.Normalized}}
					m := fitScaled(t, c, modeltest.Gaussian, y, r, kernelmachine.ApproximationSettings{Approximation: means, Landmarks: 40, Features: 40})
					out[fmt.Sprintf("%v %s %s", means, m.Name(), name)] = m
				}
			}
		}
	}
	return c, out
}

func TestScaledFiles(t *testing.T) {
	c, fitted := scaledModels(t)
	path := filepath.Join(t.TempDir(), "m.npz")
	for name, m := range fitted {
		if err := models.Save(path, m, map[string]string{"x": "y"}); err != nil {
			t.Fatal(err)
		}
		back, mf, err := kernelmachine.Load(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := back.(*kernelmachine.Approximate)
		if back.Name() != m.Name() || mf.Hashes["x"] != "y" || !reflect.DeepEqual(got.Report, m.Report) || got.ApproximationSettings != m.ApproximationSettings || !reflect.DeepEqual(got.Settings, m.Settings) {
			t.Errorf("%s: came back as %s, %+v", name, back.Name(), got)
		}
		if !mat.Equal(modeltest.Raw(t, got, c.X), modeltest.Raw(t, m, c.X)) || !reflect.DeepEqual(back.Output().Classes, m.Output().Classes) {
			t.Errorf("%s: answers differ", name)
		}
	}
}

func TestDamagedScaledFiles(t *testing.T) {
	_, fitted := scaledModels(t)
	path := filepath.Join(t.TempDir(), "m.npz")
	for name, m := range fitted {
		if err := models.Save(path, m, nil); err != nil {
			t.Fatal(err)
		}
		a, err := npy.OpenArchive(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		var entries []archive.Array
		for _, key := range []string{"coefficients", "bias", "classes", "points", "frequencies", "manifest"} {
			if a.Has(key) {
				x, err := a.Read(key)
				if err != nil {
					t.Fatal(err)
				}
				entries = append(entries, archive.Array{Name: key, Shape: x.Shape, Data: x.Data})
			}
		}
		a.Close()
		damaged := func(what string, entries []archive.Array) {
			if err := modeltest.Rewrite(path, entries); err != nil {
				t.Fatal(err)
			}
			if _, _, err := kernelmachine.Load(path); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		for i, e := range entries {
			damaged("no "+e.Name, append(append([]archive.Array{}, entries[:i]...), entries[i+1:]...))
			if e.Name == "manifest" {
				continue
			}
			long := append([]archive.Array{}, entries...)
			switch v := e.Data.(type) {
			case []float64:
				long[i] = archive.Array{Name: e.Name, Data: append(slices.Clone(v), v[0])}
			case []int64:
				long[i] = archive.Array{Name: e.Name, Data: append(slices.Clone(v), v[0])}
			}
			damaged("long "+e.Name, long)
		}
	}
}

// Answers do not depend on what else is asked for.
func TestScaledPredictsInBatches(t *testing.T) {
	c, fitted := scaledModels(t)
	big := data.NewDense[float64](5000, 3)
	for i := range 5000 {
		copy(big.Row(i), c.X.Row(i*7%250))
		big.Row(i)[0] += float64(i) / 5000
	}
	rows := []int{4999, 3, 2047, 2048, 17}
	for name, m := range fitted {
		whole, part := modeltest.Raw(t, m, big), modeltest.Raw(t, m, data.Select(big, rows))
		for p, i := range rows {
			if !mat.Equal(whole.RowView(i), part.RowView(p)) {
				t.Errorf("%s: row %d differs", name, i)
			}
		}
	}
	m := fitted["fourier laprls three classes"]
	for _, bad := range []data.Points{data.NewDense[float64](3, 2), data.NewDense[float64](0, 3)} {
		if _, err := m.Predict(context.Background(), bad, nil); err == nil {
			t.Error("no error for points that do not fit")
		}
	}
}

func TestScaledOfPrecomputedKernel(t *testing.T) {
	c := modeltest.NewKernelCase(t, 120, sparse.Normalized)
	g, err := kernel.Gram(c.X, modeltest.Gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	gram := &data.Dense[float64]{Rows: 120, Cols: 120, Data: g.RawMatrix().Data}
	r := kernelmachine.Settings{Tolerance: 1e-11, Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 1e-2, Laplacian: sparse.Normalized}}
	for _, means := range []kernelmachine.Approximation{kernelmachine.Nystrom, kernelmachine.MatrixFree} {
		s := kernelmachine.ApproximationSettings{Approximation: means, Landmarks: 30}
		m, err := kernelmachine.FitApproximate(context.Background(), &kernelmachine.Data{Values: gram, Laplacian: c.L}, c.Three, &r, &s)
		if err != nil {
			t.Fatal(err)
		}
		modeltest.WantClose(t, means.String(), modeltest.Raw(t, m, gram), modeltest.Raw(t, fitScaled(t, c, modeltest.Gaussian, c.Three, r, s), c.X), 1e-8)
	}
}

func TestScaledFaults(t *testing.T) {
	c := modeltest.NewKernelCase(t, 60, sparse.Normalized)
	good := kernelmachine.Settings{Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 1e-2, Laplacian: sparse.Normalized}}
	with := func(change func(r *kernelmachine.Settings)) *kernelmachine.Settings {
		r := good
		change(&r)
		return &r
	}
	for name, f := range map[string]func() error{
		"no settings": func() error { return fault(c, modeltest.Gaussian, c.L, c.Three, nil, nil) },
		"one class": func() error {
			return fault(c, modeltest.Gaussian, c.L, c.Two, with(func(r *kernelmachine.Settings) { r.Method = kernelmachine.OneClass }), nil)
		},
		"hinge of values": func() error {
			return fault(c, modeltest.Gaussian, c.L, c.Value, with(func(r *kernelmachine.Settings) { r.Method = kernelmachine.SVM }), nil)
		},
		"matrix-free hinge": func() error {
			return fault(c, modeltest.Gaussian, c.L, c.Two, with(func(r *kernelmachine.Settings) { r.Method = kernelmachine.SVM }), &kernelmachine.ApproximationSettings{Approximation: kernelmachine.MatrixFree})
		},
		"no graph": func() error { return fault(c, modeltest.Gaussian, nil, c.Two, &good, nil) },
		"other Laplacian": func() error {
			return fault(c, modeltest.Gaussian, c.L, c.Two, with(func(r *kernelmachine.Settings) { r.Laplacian = sparse.Combinatorial }), nil)
		},
		"odd features": func() error {
			return fault(c, modeltest.Gaussian, c.L, c.Two, &good, &kernelmachine.ApproximationSettings{Approximation: kernelmachine.Fourier, Features: 7})
		},
		"linear features": func() error {
			return fault(c, kernel.Kernel{}, c.L, c.Two, &good, &kernelmachine.ApproximationSettings{Approximation: kernelmachine.Fourier})
		},
		"no width": func() error { return fault(c, kernel.Kernel{Kind: kernel.Gaussian}, c.L, c.Two, &good, nil) },
		"landmarks": func() error {
			return fault(c, modeltest.Gaussian, c.L, c.Two, &good, &kernelmachine.ApproximationSettings{Landmarks: -1, Approximation: 7, Sampling: 9})
		},
		"other graph": func() error {
			return fault(c, modeltest.Gaussian, modeltest.NewKernelCase(t, 70, sparse.Normalized).L, c.Two, &good, nil)
		},
		"other targets": func() error {
			return fault(c, modeltest.Gaussian, c.L, modeltest.NewKernelCase(t, 70, sparse.Normalized).Two, &good, nil)
		},
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func fault(c *modeltest.KernelCase, k kernel.Kernel, l *sparse.Laplacian, y *models.Targets, r *kernelmachine.Settings, s *kernelmachine.ApproximationSettings) error {
	_, err := kernelmachine.FitApproximate(context.Background(), &kernelmachine.Data{Points: c.X, Kernel: k, Laplacian: l}, y, r, s)
	return err
}

// A problem holds no more than its cost says, and is refused for that cost.
func TestScaledCost(t *testing.T) {
	const n, d = 3000, 5
	rng := rand.New(rand.NewPCG(1, 2))
	x := data.NewDense[float32](n, d)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	values, err := models.ValueTargets(mat.NewDense(n, 2, nil))
	if err != nil {
		t.Fatal(err)
	}
	plain := kernelmachine.Settings{Regularizer: regularizer.Regularizer{GammaA: 1e-3}}
	biased, svr := plain, plain
	biased.Intercept, svr.Method = true, kernelmachine.SVR
	cost := func(s kernelmachine.ApproximationSettings, r kernelmachine.Settings, limit int64) (int64, float64, error) {
		c, err := kernelmachine.ApproximateCost(&models.Input{Points: x, Targets: values, Memory: limit}, kernel.Source{Kernel: modeltest.Gaussian, Points: x}, &r, &s)
		return c.Bytes, c.Operations, err
	}
	for _, s := range []kernelmachine.ApproximationSettings{{Landmarks: 100}, {Landmarks: 300}, {Approximation: kernelmachine.Fourier, Features: 200}, {Approximation: kernelmachine.MatrixFree, Landmarks: 50}} {
		bytes, operations, err := cost(s, plain, 0)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.GC() // pools take two
		runtime.ReadMemStats(&before)
		p, err := kernelmachine.NewApproximateProblem(context.Background(), &kernelmachine.Data{Points: x, Kernel: modeltest.Gaussian}, regularizer.Regularizer{}, &s)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		held, least := int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(8*n*(s.Features+s.Landmarks))
		runtime.KeepAlive(p)
		if held < least || bytes < held || !(operations > n*float64(s.Features+s.Landmarks)*d) {
			t.Errorf("%+v: %d bytes held, at least %d, %d estimated; %g operations", s, held, least, bytes, operations)
		}
		twice := kernelmachine.ApproximationSettings{Approximation: s.Approximation, Landmarks: 2 * s.Landmarks, Features: 2 * s.Features}
		if b, o, _ := cost(twice, plain, 0); b <= bytes || o <= operations {
			t.Errorf("%+v: %d bytes and %g operations, for half %d and %g", twice, b, o, bytes, operations)
		}
		if _, err := kernelmachine.NewApproximateProblem(context.Background(), &kernelmachine.Data{Points: x, Kernel: modeltest.Gaussian, Limit: 1000}, regularizer.Regularizer{}, &s); err == nil {
			t.Errorf("%+v: fits in 1000 bytes", s)
		}
	}
	// Least squares without a bias can have time for memory, others not.
	fitted := kernelmachine.ApproximationSettings{Landmarks: n}
	whole, _, err := cost(fitted, plain, 0)
	if err != nil {
		t.Fatal(err)
	}
	if bytes, _, err := cost(fitted, plain, 90<<20); err != nil || bytes >= whole {
		t.Errorf("under a limit %d bytes, without %d; %v", bytes, whole, err)
	}
	whole, _, _ = cost(fitted, biased, 0)
	if bytes, _, err := cost(fitted, biased, 90<<20); err != nil || bytes != whole {
		t.Errorf("with a bias %d bytes under a limit, %d without; %v", bytes, whole, err)
	}
	for _, c := range []struct {
		s    kernelmachine.ApproximationSettings
		r    kernelmachine.Settings
		want string
	}{
		{fitted, svr, "exactly only"},
		{kernelmachine.ApproximationSettings{Approximation: kernelmachine.MatrixFree}, biased, "without an intercept"},
		{kernelmachine.ApproximationSettings{Approximation: kernelmachine.Fourier, Features: 5002}, plain, "the most is 5000"},
		{kernelmachine.ApproximationSettings{Approximation: kernelmachine.Fourier, Features: 3}, plain, "must be even"},
	} {
		if _, _, err := cost(c.s, c.r, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", err, c.want)
		}
	}
}
