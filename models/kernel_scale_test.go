package models_test

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

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

func fitScaled(t testing.TB, c *kernelCase, k kernel.Kernel, y *models.Targets, r models.KernelSettings, s models.ScaleSettings) *models.ScaledKernel {
	t.Helper()
	m, err := models.FitScaled(t.(interface{ Context() context.Context }).Context(), c.x, k, c.l, y, &r, &s, 0)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// With all points as landmarks the expansion is the exact one.
func TestAllLandmarksAreExact(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		c := newKernelCase(t, 160, kind)
		for i := range 10 { // duplicates
			copy(c.x.Row(150+i), c.x.Row(i))
		}
		for _, r := range []models.Regularizer{
			{GammaA: 1e-3, GammaI: 1e-2, Laplacian: kind},
			{GammaA: 1e-3, GammaI: 0.1, Power: 3, Laplacian: kind},
			{GammaA: 1e-2, GammaI: 30, Laplacian: kind, Scaling: models.PerPair},
			{GammaA: 1e-2, Laplacian: kind},
		} {
			for _, intercept := range []bool{false, true} {
				for name, y := range c.targets(models.KernelRLS) {
					s := models.KernelSettings{Regularizer: r, Intercept: intercept}
					exact := fitKernel(t, c, y, s)
					for _, sampling := range []solvers.Sampling{solvers.RandomPivots, solvers.Uniform, solvers.PlusPlus} {
						m := fitScaled(t, c, gaussian, y, s, models.ScaleSettings{Landmarks: 160, Sampling: sampling})
						wantClose(t, fmt.Sprintf("%v, %+v, %s, %v", kind, s, name, sampling), raw(t, m, c.x), raw(t, exact, c.x), 1e-8)
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
	c := newKernelCase(t, 200, sparse.Normalized)
	for _, means := range []models.Means{models.ByLandmarks, models.ByFeatures} {
		p, err := models.NewScaledProblem(ctx, c.x, gaussian, c.l, 2, &models.ScaleSettings{Means: means, Landmarks: 60, Features: 60}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []models.KernelMethod{models.KernelRLS, models.KernelSVM} {
			for _, count := range []int{2, 20} {
				var settings []models.KernelSettings
				for i := range count {
					r := models.Regularizer{GammaA: math.Pow(10, -float64(1+i%3)), GammaI: 0.01 * float64(i), Power: 2, Laplacian: sparse.Normalized}
					settings = append(settings, models.KernelSettings{Method: method, Regularizer: r, Tolerance: 1e-10, Intercept: i%2 == 1})
				}
				path, err := p.Path(ctx, c.three, settings)
				if err != nil {
					t.Fatal(err)
				}
				for i, s := range settings {
					one, err := p.Path(ctx, c.three, []models.KernelSettings{s})
					if err != nil {
						t.Fatal(err)
					}
					wantClose(t, fmt.Sprintf("%v %v %d of %d", means, method, i, count), raw(t, path[i], c.x), raw(t, one[0], c.x), 1e-8)
				}
			}
		}
	}
}

// At the solution for the squared hinge the gradient of the objective vanishes.
func TestScaledHingeGradient(t *testing.T) {
	c := newKernelCase(t, 200, sparse.Combinatorial)
	r := models.KernelSettings{Method: models.KernelSVM, Tolerance: 1e-11, Regularizer: models.Regularizer{GammaA: 1e-3, GammaI: 1e-2, Power: 2}}
	m := fitScaled(t, c, gaussian, c.two, r, models.ScaleSettings{Landmarks: 40})
	if m.Name() != models.LapSVMName || m.Report.Iterations == 0 {
		t.Errorf("%s: %+v", m.Name(), m.Report)
	}
	n, size := 200, m.Report.Landmarks
	knm, kmm := mat.NewDense(n, size, nil), mat.NewDense(size, size, nil)
	for x, to := range map[data.Points]*mat.Dense{c.x: knm, m.Points: kmm} {
		if err := kernel.Cross(to, x, m.Points, gaussian); err != nil {
			t.Fatal(err)
		}
	}
	var f, kf, g mat.Dense
	f.Mul(knm, m.Coefficients)
	lf := mat.NewDense(n, 1, nil)
	c.l.With(2, 0).MulTo(lf, &f)
	lf.Scale(2*r.GammaI, lf)
	var slope float64
	for p, i := range c.two.Labeled {
		y := c.two.Y.At(p, 0)
		v := -2 * y * max(0, 1-y*(f.At(i, 0)+m.Bias[0])) / float64(len(c.two.Labeled))
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
		c := newKernelCase(t, n, kind)
		r := models.KernelSettings{Tolerance: 1e-11, Regularizer: models.Regularizer{GammaA: 1e-3, GammaI: 1e-3, Power: power, Laplacian: kind}}
		m := fitScaled(t, c, gaussian, c.three, r, models.ScaleSettings{Means: models.MatrixFree, Landmarks: n / 10})
		wantClose(t, fmt.Sprintf("%d points, %v, power %d", n, kind, power), raw(t, m, c.x), raw(t, fitKernel(t, c, c.three, r), c.x), 1e-7)
		if m.Report.Iterations == 0 || !(m.Report.Residual <= 1e-9) {
			t.Errorf("%v, power %d: %+v", kind, power, m.Report)
		}
	}
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		for power := 1; power <= 4; power++ {
			run(300, power, kind)
		}
	}
	if !testing.Short() {
		run(2000, 2, sparse.Normalized)
	}
	c := newKernelCase(t, 200, sparse.Normalized)
	r := models.KernelSettings{Regularizer: models.Regularizer{GammaA: 1e-3}}
	wantClose(t, "γ_I = 0", raw(t, fitScaled(t, c, gaussian, c.value, r, models.ScaleSettings{Means: models.MatrixFree, Landmarks: 20}), c.x), raw(t, fitKernel(t, c, c.value, r), c.x), 1e-5)
	r.GammaI, r.Laplacian, r.MaxIterations, r.Tolerance = 1, sparse.Normalized, 1, 1e-12
	m, err := models.FitScaled(context.Background(), c.x, gaussian, c.l, c.three, &r, &models.ScaleSettings{Means: models.MatrixFree, Landmarks: 3}, 0)
	if !errors.Is(err, cg.ErrNotConverged) || m == nil || !(m.Report.Residual > 0) {
		t.Errorf("one iteration: %v", err)
	}
}

// Where memory does not allow for n·m values, conjugate gradients find the same
// expansion as the direct way.
func TestLandmarksByConjugateGradients(t *testing.T) {
	c := newKernelCase(t, 400, sparse.Normalized)
	r := models.KernelSettings{Tolerance: 1e-12, Regularizer: models.Regularizer{GammaA: 1e-3, GammaI: 1e-2, Power: 2, Laplacian: sparse.Normalized}}
	s := &models.ScaleSettings{Landmarks: 400}
	m, err := models.FitScaled(context.Background(), c.x, gaussian, c.l, c.three, &r, s, 3<<20)
	if err != nil {
		t.Fatal(err)
	}
	if m.Report.Iterations == 0 || m.Report.Landmarks < 300 || !(m.Report.KernelError < 1e-8) {
		t.Errorf("%+v", m.Report)
	}
	wantClose(t, "400 landmarks by iteration", raw(t, m, c.x), raw(t, fitKernel(t, c, c.three, r), c.x), 1e-7)
	r.Method = models.KernelSVM
	if _, err := models.FitScaled(context.Background(), c.x, gaussian, c.l, c.three, &r, s, 3<<20); err == nil {
		t.Error("a hinge by conjugate gradients")
	}
	if _, err := models.FitScaled(context.Background(), c.x, gaussian, c.l, c.three, &r, nil, 100); err == nil {
		t.Error("no memory, no error")
	}
}

func TestFourierFeatures(t *testing.T) {
	c := newKernelCase(t, 300, sparse.Normalized)
	r := models.KernelSettings{Regularizer: models.Regularizer{GammaA: 1e-2, GammaI: 1e-2, Laplacian: sparse.Normalized}}
	for _, kind := range []kernel.Kind{kernel.Gaussian, kernel.Laplace} {
		k := kernel.Kernel{Kind: kind, Sigma: 2}
		exact, err := models.FitKernel(context.Background(), c.x, k, c.l, c.three, &r, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := raw(t, exact, c.x)
		var errs, far []float64
		for _, features := range []int{40, 400, 4000} {
			m := fitScaled(t, c, k, c.three, r, models.ScaleSettings{Means: models.ByFeatures, Features: features, Seed: 4})
			var d mat.Dense
			d.Sub(raw(t, m, c.x), want)
			errs, far = append(errs, m.Report.KernelError), append(far, mat.Norm(&d, 2)/mat.Norm(want, 2))
		}
		// Like D^-½.
		if !(errs[1] < errs[0]/2 && errs[2] < errs[1]/2 && errs[2] < 0.03) || !(far[2] < far[0] && far[2] < 0.1) {
			t.Errorf("%v: kernel errors %v, of f %v", kind, errs, far)
		}
	}
	csr := data.ToSparse(c.x)
	s := models.ScaleSettings{Means: models.ByFeatures, Features: 100}
	m := fitScaled(t, c, gaussian, c.three, r, s)
	wantClose(t, "sparse points", raw(t, m, csr), raw(t, m, c.x), 1e-12)
}

func TestScaledIsDeterministic(t *testing.T) {
	c := newKernelCase(t, 300, sparse.Normalized)
	r := models.KernelSettings{Regularizer: models.Regularizer{GammaA: 1e-3, GammaI: 1e-2, Laplacian: sparse.Normalized}}
	for _, means := range []models.Means{models.ByLandmarks, models.ByFeatures, models.MatrixFree} {
		fit := func(threads int, seed uint64) *models.ScaledKernel {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			return fitScaled(t, c, gaussian, c.three, r, models.ScaleSettings{Means: means, Landmarks: 30, Features: 30, Seed: seed})
		}
		one, four, other := fit(1, 2), fit(4, 2), fit(1, 3)
		if !mat.Equal(one.Coefficients, four.Coefficients) || !reflect.DeepEqual(one.Report, four.Report) {
			t.Errorf("%v: different at 4 threads", means)
		}
		if mat.Equal(one.Coefficients, other.Coefficients) {
			t.Errorf("%v: the seed does not matter", means)
		}
	}
}

// scaledModels are one of every kind.
func scaledModels(t *testing.T) (*kernelCase, map[string]*models.ScaledKernel) {
	c := newKernelCase(t, 250, sparse.Normalized)
	out := map[string]*models.ScaledKernel{}
	for _, means := range []models.Means{models.ByLandmarks, models.ByFeatures, models.MatrixFree} {
		for _, method := range []models.KernelMethod{models.KernelRLS, models.KernelSVM} {
			if means == models.MatrixFree && method == models.KernelSVM {
				continue
			}
			for name, y := range c.targets(method) {
				for _, gammaI := range []float64{0, 0.1} {
					r := models.KernelSettings{Method: method, Regularizer: models.Regularizer{GammaA: 1e-3, GammaI: gammaI, Laplacian: sparse.Normalized}}
					m := fitScaled(t, c, gaussian, y, r, models.ScaleSettings{Means: means, Landmarks: 40, Features: 40})
					out[fmt.Sprintf("%v %s %s", means, m.Name(), name)] = m
				}
			}
		}
	}
	return c, out
}

func TestScaledFiles(t *testing.T) {
	c, all := scaledModels(t)
	path := filepath.Join(t.TempDir(), "m.npz")
	for name, m := range all {
		if err := m.Save(path, map[string]string{"x": "y"}); err != nil {
			t.Fatal(err)
		}
		back, mf, err := models.Load(path, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := back.(*models.ScaledKernel)
		if back.Name() != m.Name() || mf.Hashes["x"] != "y" || !reflect.DeepEqual(got.Report, m.Report) || got.Scale != m.Scale || got.Settings != m.Settings {
			t.Errorf("%s: came back as %s, %+v", name, back.Name(), got)
		}
		if !mat.Equal(raw(t, got, c.x), raw(t, m, c.x)) || !reflect.DeepEqual(back.Outcomes(), m.Outcomes()) {
			t.Errorf("%s: answers differ", name)
		}
	}
}

func TestDamagedScaledFiles(t *testing.T) {
	_, all := scaledModels(t)
	path := filepath.Join(t.TempDir(), "m.npz")
	for name, m := range all {
		if err := m.Save(path, nil); err != nil {
			t.Fatal(err)
		}
		a, err := npy.OpenArchive(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		var entries []npy.Entry
		for _, key := range []string{"coefficients", "bias", "classes", "points", "frequencies", "manifest"} {
			if a.Has(key) {
				x, err := a.Read(key)
				if err != nil {
					t.Fatal(err)
				}
				entries = append(entries, npy.Entry{Name: key, Shape: x.Shape, Data: x.Data})
			}
		}
		a.Close()
		damaged := func(what string, entries []npy.Entry) {
			if err := npy.WriteArchive(path, entries); err != nil {
				t.Fatal(err)
			}
			if _, _, err := models.Load(path, 0); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		for i, e := range entries {
			damaged("no "+e.Name, append(append([]npy.Entry{}, entries[:i]...), entries[i+1:]...))
			if e.Name == "manifest" {
				continue
			}
			long := append([]npy.Entry{}, entries...)
			switch v := e.Data.(type) {
			case []float64:
				long[i] = npy.Entry{Name: e.Name, Data: append(slices.Clone(v), v[0])}
			case []int64:
				long[i] = npy.Entry{Name: e.Name, Data: append(slices.Clone(v), v[0])}
			}
			damaged("long "+e.Name, long)
		}
	}
}

// Answers do not depend on what else is asked for.
func TestScaledPredictsInBatches(t *testing.T) {
	c, all := scaledModels(t)
	big := data.NewDense[float64](5000, 3)
	for i := range 5000 {
		copy(big.Row(i), c.x.Row(i*7%250))
		big.Row(i)[0] += float64(i) / 5000
	}
	rows := []int{4999, 3, 2047, 2048, 17}
	for name, m := range all {
		whole, part := raw(t, m, big), raw(t, m, data.Select(big, rows))
		for p, i := range rows {
			if !mat.Equal(whole.RowView(i), part.RowView(p)) {
				t.Errorf("%s: row %d differs", name, i)
			}
		}
	}
	m := all["features laprls three classes"]
	for _, bad := range []data.Points{data.NewDense[float64](3, 2), data.NewDense[float64](0, 3)} {
		if _, err := m.Predict(context.Background(), bad, nil); err == nil {
			t.Error("no error for points that do not fit")
		}
	}
}

func TestScaledOfPrecomputedKernel(t *testing.T) {
	c := newKernelCase(t, 120, sparse.Normalized)
	g, err := kernel.Gram(c.x, gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	gram := &data.Dense[float64]{Rows: 120, Cols: 120, Data: g.RawMatrix().Data}
	r := models.KernelSettings{Tolerance: 1e-11, Regularizer: models.Regularizer{GammaA: 1e-3, GammaI: 1e-2, Laplacian: sparse.Normalized}}
	for _, means := range []models.Means{models.ByLandmarks, models.MatrixFree} {
		s := models.ScaleSettings{Means: means, Landmarks: 30}
		m, err := models.FitScaled(context.Background(), gram, kernel.Kernel{Kind: kernel.Precomputed}, c.l, c.three, &r, &s, 0)
		if err != nil {
			t.Fatal(err)
		}
		wantClose(t, means.String(), raw(t, m, gram), raw(t, fitScaled(t, c, gaussian, c.three, r, s), c.x), 1e-8)
	}
}

func TestScaledFaults(t *testing.T) {
	c := newKernelCase(t, 60, sparse.Normalized)
	good := models.KernelSettings{Regularizer: models.Regularizer{GammaA: 1e-3, GammaI: 1e-2, Laplacian: sparse.Normalized}}
	with := func(change func(r *models.KernelSettings)) *models.KernelSettings {
		r := good
		change(&r)
		return &r
	}
	for name, f := range map[string]func() error{
		"no settings": func() error { return fault(c, gaussian, c.l, c.three, nil, nil) },
		"one class": func() error {
			return fault(c, gaussian, c.l, c.two, with(func(r *models.KernelSettings) { r.Method = models.KernelOneClass }), nil)
		},
		"hinge of values": func() error {
			return fault(c, gaussian, c.l, c.value, with(func(r *models.KernelSettings) { r.Method = models.KernelSVM }), nil)
		},
		"matrix-free hinge": func() error {
			return fault(c, gaussian, c.l, c.two, with(func(r *models.KernelSettings) { r.Method = models.KernelSVM }), &models.ScaleSettings{Means: models.MatrixFree})
		},
		"no graph": func() error { return fault(c, gaussian, nil, c.two, &good, nil) },
		"other Laplacian": func() error {
			return fault(c, gaussian, c.l, c.two, with(func(r *models.KernelSettings) { r.Laplacian = sparse.Combinatorial }), nil)
		},
		"odd features": func() error {
			return fault(c, gaussian, c.l, c.two, &good, &models.ScaleSettings{Means: models.ByFeatures, Features: 7})
		},
		"linear features": func() error {
			return fault(c, kernel.Kernel{}, c.l, c.two, &good, &models.ScaleSettings{Means: models.ByFeatures})
		},
		"no width": func() error { return fault(c, kernel.Kernel{Kind: kernel.Gaussian}, c.l, c.two, &good, nil) },
		"landmarks": func() error {
			return fault(c, gaussian, c.l, c.two, &good, &models.ScaleSettings{Landmarks: -1, Means: 7, Sampling: 9})
		},
		"other graph":   func() error { return fault(c, gaussian, newKernelCase(t, 70, sparse.Normalized).l, c.two, &good, nil) },
		"other targets": func() error { return fault(c, gaussian, c.l, newKernelCase(t, 70, sparse.Normalized).two, &good, nil) },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func fault(c *kernelCase, k kernel.Kernel, l *sparse.Laplacian, y *models.Targets, r *models.KernelSettings, s *models.ScaleSettings) error {
	_, err := models.FitScaled(context.Background(), c.x, k, l, y, r, s, 0)
	return err
}

// What a problem holds, and what it is refused for, is what ScaledCost says.
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
	plain := models.KernelSettings{Regularizer: models.Regularizer{GammaA: 1e-3}}
	biased, svr := plain, plain
	biased.Intercept, svr.Method = true, models.KernelSVR
	cost := func(s models.ScaleSettings, r models.KernelSettings, limit int64) (int64, float64, error) {
		return models.ScaledCost(x, values, kernel.Gaussian, 0, &r, &s, limit)
	}
	for _, s := range []models.ScaleSettings{{Landmarks: 100}, {Landmarks: 300}, {Means: models.ByFeatures, Features: 200}, {Means: models.MatrixFree, Landmarks: 50}} {
		bytes, operations, err := cost(s, plain, 0)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.GC() // pools take two
		runtime.ReadMemStats(&before)
		p, err := models.NewScaledProblem(context.Background(), x, gaussian, nil, 1, &s, 0)
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
		twice := models.ScaleSettings{Means: s.Means, Landmarks: 2 * s.Landmarks, Features: 2 * s.Features}
		if b, o, _ := cost(twice, plain, 0); b <= bytes || o <= operations {
			t.Errorf("%+v: %d bytes and %g operations, for half %d and %g", twice, b, o, bytes, operations)
		}
		if _, err := models.NewScaledProblem(context.Background(), x, gaussian, nil, 1, &s, 1000); err == nil {
			t.Errorf("%+v: fits in 1000 bytes", s)
		}
	}
	// Least squares without a bias can have time for memory, others not.
	all := models.ScaleSettings{Landmarks: n}
	whole, _, err := cost(all, plain, 0)
	if err != nil {
		t.Fatal(err)
	}
	if bytes, _, err := cost(all, plain, 90<<20); err != nil || bytes >= whole {
		t.Errorf("under a limit %d bytes, without %d; %v", bytes, whole, err)
	}
	whole, _, _ = cost(all, biased, 0)
	if bytes, _, err := cost(all, biased, 90<<20); err != nil || bytes != whole {
		t.Errorf("with a bias %d bytes under a limit, %d without; %v", bytes, whole, err)
	}
	for _, c := range []struct {
		s    models.ScaleSettings
		r    models.KernelSettings
		want string
	}{
		{all, svr, "exactly only"},
		{models.ScaleSettings{Means: models.MatrixFree}, biased, "without a bias"},
		{models.ScaleSettings{Means: models.ByFeatures, Features: 5002}, plain, "the most is 5000"},
		{models.ScaleSettings{Means: models.ByFeatures, Features: 3}, plain, "must be even"},
	} {
		if _, _, err := cost(c.s, c.r, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want an error with %q", err, c.want)
		}
	}
}
