package eigenfunction_test

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// load reads a model of this package.
func load(path string, limit int64) (models.Model, *models.Manifest, error) {
	return models.Load(path, limit, func(string) models.Decoder { return eigenfunction.Learner{}.Decode })
}

func fitSSSL(t testing.TB, x data.Points, k kernel.Kernel, y *models.Targets, s eigenfunction.Settings) *eigenfunction.Model {
	t.Helper()
	m, err := eigenfunction.Fit(t.(interface{ Context() context.Context }).Context(), kernel.Source{Kernel: k, Points: x}, y, &s, eigenfunction.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func eigenfunctions(t testing.TB, x kernel.Source, s, landmarks int, limit int64) (*eigenfunction.Functions, *mat.Dense) {
	t.Helper()
	e, err := eigenfunction.New(t.(interface{ Context() context.Context }).Context(), x, &eigenfunction.FunctionSettings{Count: s, Landmarks: landmarks, Seed: 1, Limits: eigenfunction.Limits{Memory: limit}})
	if err != nil {
		t.Fatal(err)
	}
	at, err := e.At(context.Background(), x.Rows())
	if err != nil {
		t.Fatal(err)
	}
	return e, at
}

// At the training points the eigenfunctions are eigenvectors of K/n of mean square
// 1, by a held Gram matrix, by tiles and on all points as landmarks.
func TestEigenfunctionsAreEigenvectors(t *testing.T) {
	const n, s = 1200, 12
	x := synthetic.Manifold(n, 6, 2, 0.01, 3)
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.5}
	gram, err := kernel.Gram(x, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		landmarks int
		limit     int64
	}{"held": {}, "tiles": {limit: 12 << 20}, "landmarks": {landmarks: n}} {
		e, at := eigenfunctions(t, kernel.Source{Kernel: k, Points: x}, s, c.landmarks, c.limit)
		if len(e.Values) != s || math.Abs(e.Trace-1) > 1e-12 || !(e.Captured(s) > e.Captured(1) && e.Captured(s) < 1) {
			t.Fatalf("%s: values %v of %v", name, e.Values, e.Trace)
		}
		var ktimes, unit mat.Dense
		ktimes.Mul(gram, at)
		unit.Mul(at.T(), at)
		for j := range s {
			for i := range n {
				if d := ktimes.At(i, j)/n - e.Values[j]*at.At(i, j); !(math.Abs(d) < 1e-8) {
					t.Fatalf("%s: eigenfunction %d at %d: %v", name, j, i, d)
				}
			}
			for i := range s {
				want := 0.0
				if i == j {
					want = 1
				}
				if d := unit.At(i, j)/n - want; !(math.Abs(d) < 1e-7) {
					t.Errorf("%s: inner product %d, %d: off by %v", name, i, j, d)
				}
			}
		}
	}
}

// With landmarks the values grow with their number, to the exact ones.
func TestEigenfunctionsOfLandmarks(t *testing.T) {
	x := synthetic.Manifold(1000, 6, 2, 0.01, 3)
	k := kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.4}
	exact, _ := eigenfunctions(t, kernel.Source{Kernel: k, Points: x}, 15, 0, 0)
	some, at := eigenfunctions(t, kernel.Source{Kernel: k, Points: x}, 15, 300, 0)
	for j, v := range some.Values {
		if !(v <= exact.Values[j]*(1+1e-9) && v >= 0.97*exact.Values[j]) {
			t.Errorf("value %d: %v, exact %v", j, v, exact.Values[j])
		}
	}
	var unit mat.Dense
	unit.Mul(at.T(), at)
	unit.Scale(1.0/1000, &unit)
	for i := range 15 {
		unit.Set(i, i, unit.At(i, i)-1)
	}
	if e := mat.Max(&unit); !(e < 1e-9) {
		t.Errorf("not orthonormal by %v", e)
	}
	gram, err := kernel.Gram(x, k, 0)
	if err != nil {
		t.Fatal(err)
	}
	pre := &data.Dense[float64]{Rows: 1000, Cols: 1000, Data: gram.RawMatrix().Data}
	_, same := eigenfunctions(t, kernel.Source{Values: pre}, 15, 300, 0)
	modeltest.WantClose(t, "precomputed", same, at, 1e-7)
}

// planted is a function in the span of eight eigenfunctions with labels at every
// eighth point.
func planted(t *testing.T) (x *data.Dense[float32], k kernel.Kernel, y *models.Targets, fitted *mat.Dense) {
	x = synthetic.Manifold(600, 5, 2, 0.01, 2)
	k = kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.6}
	_, at := eigenfunctions(t, kernel.Source{Kernel: k, Points: x}, 8, 0, 0)
	fitted = mat.NewDense(600, 2, nil)
	values := mat.NewDense(600, 2, nil)
	for i := range 600 {
		values.SetRow(i, []float64{math.NaN(), math.NaN()})
		row := at.RawRowView(i)
		fitted.SetRow(i, []float64{row[0] - 2*row[3] + row[7], 5*row[1] - row[7]})
		if i%8 == 0 {
			values.SetRow(i, fitted.RawRowView(i))
		}
	}
	y, err := models.ValueTargets(values)
	if err != nil {
		t.Fatal(err)
	}
	return x, k, y, fitted
}

func TestSSSLFindsPlanted(t *testing.T) {
	x, k, y, fitted := planted(t)
	for _, s := range []eigenfunction.Settings{{Eigenfunctions: 8}, {Eigenfunctions: 8, Intercept: true}, {Eigenfunctions: 8, Landmarks: 600}, {Eigenfunctions: 12}} {
		modeltest.WantClose(t, "planted", modeltest.Raw(t, fitSSSL(t, x, k, y, s), x), fitted, 1e-7)
	}
	// With noise, cross-validation finds the number.
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range y.Labeled {
		for j := range 2 {
			y.Y.Set(i, j, y.Y.At(i, j)+0.05*rng.NormFloat64())
		}
	}
	m := fitSSSL(t, x, k, y, eigenfunction.Settings{Seed: 1})
	if s := m.Settings.Eigenfunctions; s < 8 || s > 11 || len(m.Risk) != 60 || m.Risk[s-1] != slices.Min(m.Risk) || !(m.Captured() > 0.5) {
		t.Errorf("%d eigenfunctions of %d, %v captured", s, len(m.Risk), m.Captured())
	}
}

// The risk of every number of eigenfunctions is that of fits without the fold.
func TestSSSLRisk(t *testing.T) {
	x, k, y, _ := planted(t)
	y.Y.Set(3, 0, 9)
	m := fitSSSL(t, x, k, y, eigenfunction.Settings{Folds: 4, Repeats: 2, Seed: 5, Intercept: true})
	var folds [][]int
	for seed := range uint64(2) {
		more, err := y.Folds(4, 5+seed)
		if err != nil {
			t.Fatal(err)
		}
		folds = append(folds, more...)
	}
	for _, s := range []int{1, 5, 20} {
		var sum float64
		for _, held := range folds {
			var kept []int
			for q := range y.Labeled {
				if !slices.Contains(held, q) {
					kept = append(kept, q)
				}
			}
			f := modeltest.Raw(t, fitSSSL(t, x, k, y.Keep(kept), eigenfunction.Settings{Eigenfunctions: s, Intercept: true}), x)
			for _, q := range held {
				for j := range 2 {
					d := f.At(y.Labeled[q], j) - y.Y.At(q, j)
					sum += d * d / float64(2*len(y.Labeled))
				}
			}
		}
		if got := m.Risk[s-1]; !(math.Abs(got-sum) < 1e-6*sum) {
			t.Errorf("%d eigenfunctions: risk %v, want %v", s, got, sum)
		}
	}
}

// The order of the points does not matter.
func TestSSSLPermuted(t *testing.T) {
	c := modeltest.NewKernelCase(t, 240, sparse.Normalized)
	order := rand.New(rand.NewPCG(3, 3)).Perm(240)
	values := mat.NewDense(240, 2, nil)
	for i := range 240 {
		values.SetRow(i, []float64{math.NaN(), math.NaN()})
	}
	for p, i := range order {
		if q, ok := slices.BinarySearch(c.Value.Labeled, i); ok {
			values.SetRow(p, c.Value.Y.RawRowView(q))
		}
	}
	y, err := models.ValueTargets(values)
	if err != nil {
		t.Fatal(err)
	}
	s := eigenfunction.Settings{Eigenfunctions: 10}
	modeltest.WantClose(t, "permuted", modeltest.Raw(t, fitSSSL(t, data.Select(c.X, order), modeltest.Gaussian, y, s), c.X), modeltest.Raw(t, fitSSSL(t, c.X, modeltest.Gaussian, c.Value, s), c.X), 1e-8)
}

// ssslModels are one of every kind.
func ssslModels(t *testing.T) (*modeltest.KernelCase, map[string]*eigenfunction.Model) {
	c := modeltest.NewKernelCase(t, 250, sparse.Normalized)
	out := map[string]*eigenfunction.Model{}
	for name, y := range map[string]*models.Targets{"three classes": c.Three, "two classes": c.Two, "values": c.Value} {
		out[name] = fitSSSL(t, c.X, modeltest.Gaussian, y, eigenfunction.Settings{})
		out[name+", fixed"] = fitSSSL(t, c.X, modeltest.Gaussian, y, eigenfunction.Settings{Eigenfunctions: 9, Intercept: true})
		out[name+", landmarks"] = fitSSSL(t, c.X, modeltest.Gaussian, y, eigenfunction.Settings{Landmarks: 80, Seed: 2})
	}
	return c, out
}

func TestSSSLFiles(t *testing.T) {
	c, fitted := ssslModels(t)
	path := filepath.Join(t.TempDir(), "m.npz")
	for name, m := range fitted {
		if err := models.Save(path, m, map[string]string{"x": "y"}); err != nil {
			t.Fatal(err)
		}
		back, mf, err := load(path, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := back.(*eigenfunction.Model)
		if back.Name() != "sssl" || mf.Hashes["x"] != "y" || got.Settings != m.Settings || got.Trace != m.Trace || !reflect.DeepEqual(got.Values, m.Values) || !reflect.DeepEqual(got.Risk, m.Risk) {
			t.Errorf("%s: came back as %s, %+v", name, back.Name(), got)
		}
		if !mat.Equal(modeltest.Raw(t, got, c.X), modeltest.Raw(t, m, c.X)) || !reflect.DeepEqual(back.Output(), m.Output()) || !reflect.DeepEqual(back.Summary(), m.Summary()) {
			t.Errorf("%s: answers differ", name)
		}
	}
}

func TestDamagedSSSLFiles(t *testing.T) {
	_, fitted := ssslModels(t)
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
		for _, key := range []string{"coefficients", "bias", "values", "risk", "classes", "points", "manifest"} {
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
			if _, _, err := load(path, 0); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		for i, e := range entries {
			damaged("no "+e.Name, slices.Delete(slices.Clone(entries), i, i+1))
			if e.Name == "manifest" {
				continue
			}
			changed := slices.Clone(entries)
			switch v := e.Data.(type) {
			case []float64:
				changed[i] = archive.Array{Name: e.Name, Data: append(slices.Clone(v), v[len(v)-1])}
				damaged("long "+e.Name, changed)
				worse := slices.Clone(v)
				worse[0] = math.NaN()
				changed[i] = archive.Array{Name: e.Name, Shape: e.Shape, Data: worse}
				damaged("NaN in "+e.Name, changed)
			case []int64:
				changed[i] = archive.Array{Name: e.Name, Data: append(slices.Clone(v), 77)}
				damaged("long "+e.Name, changed)
			}
		}
	}
}

// Answers do not depend on what else is asked for, nor anything on threads.
func TestSSSLSameBits(t *testing.T) {
	c, fitted := ssslModels(t)
	big := data.NewDense[float64](3000, 3)
	for i := range 3000 {
		copy(big.Row(i), c.X.Row(i*7%250))
	}
	for name, m := range fitted {
		few, many := modeltest.Raw(t, m, c.X), modeltest.Raw(t, m, big)
		for i := range 3000 {
			if !slices.Equal(many.RawRowView(i), few.RawRowView(i*7%250)) {
				t.Fatalf("%s: point %d differs", name, i)
			}
		}
	}
	x := synthetic.Manifold(1500, 6, 2, 0.01, 3)
	y := mat.NewDense(1500, 1, nil)
	for i := range 1500 {
		y.Set(i, 0, math.NaN())
		if i%10 == 0 {
			y.Set(i, 0, float64(x.Row(i)[0]))
		}
	}
	targets, err := models.ValueTargets(y)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, landmarks := range []int{0, 200} {
		var first *mat.Dense
		for _, threads := range []int{1, 3} {
			runtime.GOMAXPROCS(threads)
			f := modeltest.Raw(t, fitSSSL(t, x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.5}, targets, eigenfunction.Settings{Eigenfunctions: 20, Landmarks: landmarks}), x)
			if first == nil {
				first = f
			} else if !mat.Equal(f, first) {
				t.Errorf("%d landmarks: other bits with %d threads", landmarks, threads)
			}
		}
	}
}

func TestSSSLFaults(t *testing.T) {
	c := modeltest.NewKernelCase(t, 60, sparse.Normalized)
	for want, s := range map[string]eigenfunction.Settings{
		"eigenfunctions› is -1": {Eigenfunctions: -1},
		"a labeled point for":   {Eigenfunctions: 16},
		"and one for an inter":  {Eigenfunctions: 15, Intercept: true},
		"16 folds":              {Folds: 16},
		"1 folds":               {Folds: 1},
		"repeats› is -1":        {Repeats: -1},
		"as many landmarks":     {Eigenfunctions: 9, Landmarks: 8},
	} {
		if _, err := eigenfunction.Fit(t.Context(), kernel.Source{Kernel: modeltest.Gaussian, Points: c.X}, c.Value, &s, eigenfunction.Limits{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if _, err := eigenfunction.Fit(t.Context(), kernel.Source{Kernel: modeltest.Gaussian, Points: c.X}, c.Value.Keep([]int{0, 1}), &eigenfunction.Settings{Intercept: true}, eigenfunction.Limits{}); err == nil || !strings.Contains(err.Error(), "too few") {
		t.Errorf("two labels: %v", err)
	}
	if _, err := eigenfunction.Fit(t.Context(), kernel.Source{Kernel: modeltest.Gaussian, Points: data.Select(c.X, []int{1, 2})}, c.Value, nil, eigenfunction.Limits{}); err == nil {
		t.Error("fewer points than targets")
	}
	same := data.NewDense[float64](60, 3)
	if m := fitSSSL(t, same, modeltest.Gaussian, c.Value, eigenfunction.Settings{Eigenfunctions: 5}); m.Settings.Eigenfunctions != 1 {
		t.Errorf("%d eigenfunctions of points that coincide", m.Settings.Eigenfunctions)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := eigenfunction.Fit(ctx, kernel.Source{Kernel: modeltest.Gaussian, Points: c.X}, c.Value, nil, eigenfunction.Limits{}); err == nil {
		t.Error("a cancelled fit")
	}
}

func TestPowerLaw(t *testing.T) {
	var values []float64
	for k := 1.0; k <= 40; k++ {
		values = append(values, 3*math.Pow(k, -2.1))
	}
	if a2, p := eigenfunction.PowerLaw(values); !(math.Abs(a2-3) < 1e-9 && math.Abs(p-2.1) < 1e-9) {
		t.Errorf("%v k^-%v", a2, p)
	}
	if _, p := eigenfunction.PowerLaw(values[:1]); !math.IsNaN(p) {
		t.Error("a law of one value")
	}
}

// 200 eigenfunctions on 5000 landmarks.
func BenchmarkSSSL(b *testing.B) {
	for _, n := range []int{50_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			x := synthetic.Manifold(n, 64, 5, 0.01, 1)
			y := mat.NewDense(n, 1, nil)
			for i := range n {
				y.Set(i, 0, math.NaN())
				if i < n/100 {
					y.Set(i, 0, float64(x.Row(i)[0]))
				}
			}
			targets, err := models.ValueTargets(y)
			if err != nil {
				b.Fatal(err)
			}
			sigma, err := kernel.Width(x, kernel.Median, 1)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				m := fitSSSL(b, x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma}, targets, eigenfunction.Settings{Eigenfunctions: 200, Landmarks: 5000})
				b.ReportMetric(m.Captured(), "captured")
			}
		})
	}
}
