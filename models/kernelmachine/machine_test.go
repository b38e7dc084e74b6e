package kernelmachine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// targetsFor returns the targets that a method can learn from.
func targetsFor(c *modeltest.KernelCase, m kernelmachine.Method) map[string]*models.Targets {
	switch m {
	case kernelmachine.SVM:
		return map[string]*models.Targets{"three classes": c.Three, "two classes": c.Two}
	case kernelmachine.RLS:
		return map[string]*models.Targets{"three classes": c.Three, "two classes": c.Two, "values": c.Value}
	case kernelmachine.SVR:
		return map[string]*models.Targets{"values": c.Value}
	}
	return map[string]*models.Targets{"one class": c.Two}
}

var kernelMethods = []kernelmachine.Method{kernelmachine.RLS, kernelmachine.SVM, kernelmachine.SVR, kernelmachine.OneClass}

func fitKernel(t testing.TB, c *modeltest.KernelCase, y *models.Targets, s kernelmachine.Settings) *kernelmachine.Machine {
	t.Helper()
	m, err := kernelmachine.Fit(t.(interface{ Context() context.Context }).Context(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L}, y, &s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// LapRLS is equation (8) of 2006, solved as it stands there.
func TestLapRLSIsEquation8(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		for _, r := range []regularizer.Regularizer{
			{GammaA: 1e-3, GammaI: 1e-2, Laplacian: kind},
			{GammaA: 1e-3, GammaI: 0.5, Power: 2, Laplacian: kind},
			{GammaA: 1e-2, GammaI: 30, Laplacian: kind, Scaling: regularizer.PerPair},
			{GammaA: 1e-2, Laplacian: kind},
		} {
			c := modeltest.NewKernelCase(t, 120, kind)
			n, l := 120, len(c.Three.Labeled)
			k, err := kernel.Gram(c.X, modeltest.Gaussian, 0)
			if err != nil {
				t.Fatal(err)
			}
			lk, a := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
			c.L.With(max(1, r.Power), 0).MulTo(lk, k)
			weight := r.GammaI * float64(l)
			if r.Scaling == regularizer.PerPair {
				weight /= float64(n * n)
			}
			a.Scale(weight, lk)
			y := mat.NewDense(n, 3, nil)
			for p, i := range c.Three.Labeled {
				y.SetRow(i, c.Three.Y.RawRowView(p))
				for j := range n {
					a.Set(i, j, a.At(i, j)+k.At(i, j))
				}
			}
			for i := range n {
				a.Set(i, i, a.At(i, i)+r.GammaA*float64(l))
			}
			var alpha, f mat.Dense
			if err := alpha.Solve(a, y); err != nil {
				t.Fatal(err)
			}
			f.Mul(k, &alpha)
			m := fitKernel(t, c, c.Three, kernelmachine.Settings{Regularizer: r})
			modeltest.WantClose(t, fmt.Sprintf("%v, %+v", kind, r), modeltest.Raw(t, m, c.X), &f, 1e-8)
			if r.GammaI > 0 {
				modeltest.WantClose(t, fmt.Sprintf("coefficients, %v, %+v", kind, r), m.Coefficients, &alpha, 1e-8)
				if m.Name() != kernelmachine.LapRLSName {
					t.Errorf("name %s", m.Name())
				}
			}
		}
	}
}

// LapSVM is equations (10) and (11) of 2006 with Q from a general solver.
func TestLapSVMIsEquations10And11(t *testing.T) {
	c := modeltest.NewKernelCase(t, 120, sparse.Combinatorial)
	const gammaA, gammaI = 1e-2, 1e-2
	n, l := 120, len(c.Two.Labeled)
	k, err := kernel.Gram(c.X, modeltest.Gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, e := mat.NewDense(n, n, nil), mat.NewDense(n, l, nil)
	c.L.MulTo(a, k)
	a.Scale(2*gammaI, a)
	for i := range n {
		a.Set(i, i, a.At(i, i)+2*gammaA)
	}
	y := make([]float64, l)
	for p, i := range c.Two.Labeled {
		y[p] = c.Two.Y.At(p, 0)
		e.Set(i, p, y[p])
	}
	var x, kx, q mat.Dense
	if err := x.Solve(a, e); err != nil { // (2γ_A I + 2γ_I LK)⁻¹JᵀY
		t.Fatal(err)
	}
	kx.Mul(k, &x)
	q.Mul(e.T(), &kx)
	// The general solver takes Q̂ = YQY: v = Yβ.
	hat := mat.NewDense(l, l, nil)
	for i := range l {
		for j := range l {
			hat.Set(i, j, y[i]*y[j]*(q.At(i, j)+q.At(j, i))/2)
		}
	}
	r, err := solvers.SMO(t.Context(), solvers.ClassificationQP(solvers.DenseRows(hat), y, 1/float64(l)), &solvers.SMOSettings{Tolerance: 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	beta := mat.NewDense(l, 1, nil)
	for i, v := range r.V {
		beta.Set(i, 0, v*y[i])
	}
	var f mat.Dense
	f.Mul(&kx, beta)
	want := mat.NewDense(n, 2, nil)
	for i := range n {
		want.SetRow(i, []float64{r.Multiplier - f.At(i, 0), f.At(i, 0) - r.Multiplier})
	}
	m := fitKernel(t, c, c.Two, kernelmachine.Settings{Method: kernelmachine.SVM, Regularizer: regularizer.Regularizer{GammaA: gammaA, GammaI: gammaI}, Tolerance: 1e-10})
	modeltest.WantClose(t, "LapSVM", modeltest.Raw(t, m, c.X), want, 1e-7)
}

// The warped kernel by its formula, and machines on it as a precomputed kernel,
// are the manifold-regularized ones.
func TestMachinesOnTheWarpedKernel(t *testing.T) {
	c := modeltest.NewKernelCase(t, 90, sparse.Normalized)
	const n = 90
	r := regularizer.Regularizer{GammaA: 1e-2, GammaI: 0.3, Power: 2, Laplacian: sparse.Normalized}
	p, err := kernelmachine.NewProblem(t.Context(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	w, err := p.Warp(t.Context(), r, all)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Gram(c.X, modeltest.Gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	id := mat.NewDense(n, n, nil)
	for i := range n {
		id.Set(i, i, 1)
	}
	m, a := mat.NewDense(n, n, nil), new(mat.Dense)
	c.L.With(2, 0).MulTo(m, id)
	m.Scale(r.GammaI/r.GammaA, m)
	a.Mul(m, k)
	a.Add(a, id)
	var mk, inner, want mat.Dense
	mk.Mul(m, k)
	if err := inner.Solve(a, &mk); err != nil {
		t.Fatal(err)
	}
	want.Mul(k, &inner)
	want.Sub(k, &want)
	got := warpedValues(t, w, n)
	modeltest.WantClose(t, "k̃", got, &want, 1e-10)

	warped := &data.Dense[float64]{Rows: n, Cols: n, Data: got.RawMatrix().Data}
	flat := r
	flat.GammaI = 0
	for _, method := range kernelMethods {
		for name, y := range targetsFor(c, method) {
			s := kernelmachine.Settings{Method: method, Regularizer: flat, Tolerance: 1e-10}
			plain, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Values: warped}, y, &s)
			if err != nil {
				t.Fatal(err)
			}
			s.Regularizer = r
			lap, err := w.Fit(t.Context(), y, &s)
			if err != nil {
				t.Fatal(err)
			}
			modeltest.WantClose(t, fmt.Sprintf("%v, %s", method, name), modeltest.Raw(t, lap, c.X), modeltest.Raw(t, plain, warped), 1e-8)
			outputs := p.Outputs(lap)
			_, columns := outputs.Dims()
			scores := modeltest.Raw(t, lap, c.X)
			_, all := scores.Dims()
			modeltest.WantClose(t, "Outputs", outputs, scores.Slice(0, n, all-columns, all), 1e-10)
			// A kernel made for more points than are labeled, and one for those alone.
			alone := fitKernel(t, c, y, s)
			modeltest.WantClose(t, "labeled points alone", modeltest.Raw(t, alone, c.X), scores, 1e-8)
		}
	}
}

// Without the intrinsic norm the unlabeled points do not matter at all.
func TestNoIntrinsicNorm(t *testing.T) {
	c := modeltest.NewKernelCase(t, 100, sparse.Combinatorial)
	p, err := kernelmachine.NewProblem(t.Context(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range kernelMethods {
		for name, y := range targetsFor(c, method) {
			s := kernelmachine.Settings{Method: method, Regularizer: regularizer.Regularizer{GammaA: 1e-2}, Tolerance: 1e-11}
			small := fitKernel(t, c, y, s)
			w, err := p.Warp(t.Context(), s.Regularizer, y.Labeled)
			if err != nil {
				t.Fatal(err)
			}
			large, err := w.Fit(t.Context(), y, &s)
			if err != nil {
				t.Fatal(err)
			}
			modeltest.WantClose(t, fmt.Sprintf("%v, %s", method, name), modeltest.Raw(t, large, c.X), modeltest.Raw(t, small, c.X), 1e-9)
			if rows, _ := small.Points.Dims(); rows > len(y.Labeled) || small.Name() != method.String() {
				t.Errorf("%s: an expansion over %d points", small.Name(), rows)
			}
		}
	}
}

// Without a graph the programs read rows as they need them, also of several
// classes where the Gram matrix has no room; on the Gram matrix the machine is
// the same.
func TestProgramsByRows(t *testing.T) {
	c := modeltest.NewKernelCase(t, 120, sparse.Combinatorial)
	for _, method := range kernelMethods[1:] {
		for name, y := range targetsFor(c, method) {
			s := kernelmachine.Settings{Method: method, Regularizer: regularizer.Regularizer{GammaA: 0.003}, Tolerance: 1e-9}
			p, err := kernelmachine.NewProblem(t.Context(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian})
			if err != nil {
				t.Fatal(err)
			}
			w, err := p.Warp(t.Context(), s.Regularizer, y.Labeled)
			if err != nil {
				t.Fatal(err)
			}
			want, err := w.Fit(t.Context(), y, &s)
			if err != nil {
				t.Fatal(err)
			}
			for _, limit := range []int64{0, kernel.GramBytes(30) - 1, 1} {
				got, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Limit: limit}, y, &s)
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%v, %s, limit %d", method, name, limit)
				modeltest.WantClose(t, what, modeltest.Raw(t, got, c.X), modeltest.Raw(t, want, c.X), 1e-6)
				if got.Name() != want.Name() || got.Labeled != want.Labeled || !slices.Equal(got.Classes, want.Classes) || !(math.Abs(got.Gap-want.Gap) <= 1e-6) {
					t.Errorf("%s: %+v", what, got.Settings)
				}
			}
		}
	}
}

// The optimality conditions of RLS with an intercept, which shifts with the
// targets.
func TestIntercept(t *testing.T) {
	c := modeltest.NewKernelCase(t, 100, sparse.Combinatorial)
	s := kernelmachine.Settings{Regularizer: regularizer.Regularizer{GammaA: 1e-2, GammaI: 1e-3}, Intercept: true}
	one := modeltest.Raw(t, fitKernel(t, c, c.Value, s), c.X)
	residual := make([]float64, 2)
	for p, i := range c.Value.Labeled {
		for j := range residual {
			residual[j] += c.Value.Y.At(p, j) - one.At(i, j)
		}
	}
	if !(math.Abs(residual[0]) < 1e-8 && math.Abs(residual[1]) < 1e-8) {
		t.Errorf("residuals sum to %v", residual)
	}
	shifted := *c.Value
	shifted.Y = mat.DenseCopyOf(c.Value.Y)
	for i := range shifted.Labeled {
		shifted.Y.Set(i, 0, shifted.Y.At(i, 0)+100)
	}
	two := modeltest.Raw(t, fitKernel(t, c, &shifted, s), c.X)
	for i := range c.X.Rows {
		if !(math.Abs(two.At(i, 0)-one.At(i, 0)-100) < 1e-9) {
			t.Fatalf("point %d moves from %v to %v with targets 100 higher", i, one.At(i, 0), two.At(i, 0))
		}
	}
}

func TestKernelMachinesSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	c := modeltest.NewKernelCase(t, 600, sparse.Normalized)
	for _, method := range kernelMethods {
		for _, y := range targetsFor(c, method) {
			s := kernelmachine.Settings{Method: method, Regularizer: regularizer.Regularizer{GammaA: 1e-2, GammaI: 1e-2, Laplacian: sparse.Normalized}}
			var first *mat.Dense
			for _, threads := range []int{1, 2} {
				runtime.GOMAXPROCS(threads)
				m := fitKernel(t, c, y, s)
				f := modeltest.Raw(t, m, c.X)
				if first != nil && !mat.Equal(f, first) {
					t.Errorf("%s: other bits with two threads", m.Name())
				}
				first = f
				for _, part := range [][]int{{0}, {17, 3, 599}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}} {
					got := modeltest.Raw(t, m, data.Select(c.X, part))
					for p, i := range part {
						if !slices.Equal(got.RawRowView(p), f.RawRowView(i)) {
							t.Errorf("%s: other bits for point %d in a batch of %d", m.Name(), i, len(part))
						}
					}
				}
			}
		}
	}
}

func TestOneClass(t *testing.T) {
	c := modeltest.NewKernelCase(t, 300, sparse.Combinatorial)
	for _, gammaI := range []float64{0, 1e-3} {
		m := fitKernel(t, c, c.Two, kernelmachine.Settings{Method: kernelmachine.OneClass, Nu: 0.2, Regularizer: regularizer.Regularizer{GammaA: 1, GammaI: gammaI}})
		p, err := m.Predict(t.Context(), c.X, nil)
		if err != nil {
			t.Fatal(err)
		}
		outside := 0
		for _, i := range c.Two.Labeled {
			if p.Scores.At(i, 1) < -1e-5 {
				outside++
			}
		}
		if share := float64(outside) / float64(len(c.Two.Labeled)); share > 0.2 || share < 0.1 {
			t.Errorf("γ_I = %v: %.2f of the points are outside, ν = 0.2", gammaI, share)
		}
		far, err := m.Predict(t.Context(), &data.Dense[float64]{Rows: 1, Cols: 3, Data: []float64{50, 50, 50}}, nil)
		if err != nil || m.Output().Classes[far.Classes[0]] != -1 {
			t.Errorf("a far point is inside, %v", err)
		}
	}
}

func TestKernelSaveLoad(t *testing.T) {
	c := modeltest.NewKernelCase(t, 100, sparse.Combinatorial)
	dir := t.TempDir()
	gram, err := kernel.Gram(c.X, modeltest.Gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	given := &data.Dense[float64]{Rows: 100, Cols: 100, Data: gram.RawMatrix().Data}
	for _, method := range kernelMethods {
		for _, y := range targetsFor(c, method) {
			s := kernelmachine.Settings{Method: method, Regularizer: regularizer.Regularizer{GammaA: 1e-2, GammaI: 1e-3}}
			on := fitKernel(t, c, y, s)
			off, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Values: given, Laplacian: c.L}, y, &s)
			if err != nil {
				t.Fatal(err)
			}
			modeltest.WantClose(t, "precomputed "+on.Name(), modeltest.Raw(t, off, given), modeltest.Raw(t, on, c.X), 1e-9)
			for i, m := range []*kernelmachine.Machine{on, off} {
				x := []data.Points{c.X, given}[i]
				path := filepath.Join(dir, fmt.Sprint(m.Name(), i, ".npz"))
				if err := models.Save(path, m, map[string]string{"points": "1"}); err != nil {
					t.Fatal(err)
				}
				back, mf, err := kernelmachine.Load(path)
				if err != nil {
					t.Fatal(err)
				}
				if back.Name() != m.Name() || !slices.Equal(back.Output().Classes, m.Output().Classes) || mf.Hashes["points"] != "1" {
					t.Errorf("%s comes back as %s", m.Name(), back.Name())
				}
				if !mat.Equal(modeltest.Raw(t, back, x), modeltest.Raw(t, m, x)) {
					t.Errorf("%s: other answers after loading", m.Name())
				}
			}
		}
	}
}

func TestKernelDamagedFiles(t *testing.T) {
	c := modeltest.NewKernelCase(t, 40, sparse.Combinatorial)
	m := fitKernel(t, c, c.Three, kernelmachine.Settings{Regularizer: regularizer.Regularizer{GammaA: 1e-2, GammaI: 1e-3}})
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := models.Save(path, m, nil); err != nil {
		t.Fatal(err)
	}
	a, err := npy.OpenArchive(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	var entries []archive.Array
	for _, name := range a.Names() {
		x, err := a.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, archive.Array{Name: name, Shape: x.Shape, Data: x.Data})
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	replace := func(name string, e archive.Array) []archive.Array {
		out := slices.Clone(entries)
		out[slices.IndexFunc(out, func(e archive.Array) bool { return e.Name == name })] = e
		return out
	}
	text := string(entries[slices.IndexFunc(entries, func(e archive.Array) bool { return e.Name == "manifest" })].Data.([]uint8))
	edit := func(from, to string) []archive.Array {
		if !strings.Contains(text, from) {
			t.Fatalf("the manifest has no %s: %s", from, text)
		}
		return replace("manifest", archive.Array{Name: "manifest", Data: []uint8(strings.Replace(text, from, to, 1))})
	}
	for what, damaged := range map[string][]archive.Array{
		"no coefficients": entries[1:],
		"short bias":      replace("bias", archive.Array{Name: "bias", Data: []float64{1}}),
		"NaN":             replace("bias", archive.Array{Name: "bias", Data: []float64{1, 2, math.NaN()}}),
		"two classes":     replace("classes", archive.Array{Name: "classes", Data: []int64{1, 2}}),
		"few points":      replace("points", archive.Array{Name: "points", Shape: []int{2, 3}, Data: make([]float64, 6)}),
		"no points":       replace("points", archive.Array{Name: "other", Data: []float64{1}}),
		"other kernel":    edit(`"kernel":"gaussian"`, `"kernel":"precomputed"`),
		"unknown kernel":  edit(`"kernel":"gaussian"`, `"kernel":"sigmoid"`),
		"no width":        edit(`"sigma":1.5`, `"sigma":-1`),
		"no weight":       edit(`"gamma-a":0.01`, `"gamma-a":0`),
		"other model":     edit(`"model":"laprls"`, `"model":"lapfoo"`),
	} {
		if err := modeltest.Rewrite(path, damaged); err != nil {
			t.Fatal(err)
		}
		if _, _, err := kernelmachine.Load(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestKernelFaults(t *testing.T) {
	c := modeltest.NewKernelCase(t, 40, sparse.Combinatorial)
	good := kernelmachine.Settings{Regularizer: regularizer.Regularizer{GammaA: 1e-2, GammaI: 1e-3}}
	for what, change := range map[string]func(s *kernelmachine.Settings){
		"γ_A":        func(s *kernelmachine.Settings) { s.GammaA = 0 },
		"method":     func(s *kernelmachine.Settings) { s.Method = 9 },
		"ε":          func(s *kernelmachine.Settings) { s.Epsilon = -1 },
		"ν":          func(s *kernelmachine.Settings) { s.Nu = 2 },
		"tolerance":  func(s *kernelmachine.Settings) { s.Tolerance = math.NaN() },
		"normalized": func(s *kernelmachine.Settings) { s.Laplacian = sparse.Normalized },
	} {
		s := good
		change(&s)
		if _, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L}, c.Three, &s); err == nil {
			t.Errorf("%s: %+v was taken", what, s)
		}
	}
	if _, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L}, c.Three, nil); err == nil || !strings.Contains(err.Error(), "gamma-a") {
		t.Errorf("no settings: %v", err)
	}
	if _, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian}, c.Three, &good); err == nil {
		t.Error("γ_I without a graph")
	}
	if _, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L, Limit: kernel.GramBytes(40)}, c.Three, &good); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("memory: %v", err)
	}
	s := good
	s.Method = kernelmachine.SVM
	if _, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L}, c.Value, &s); err == nil {
		t.Error("classes of values")
	}
	p, err := kernelmachine.NewProblem(t.Context(), &kernelmachine.Data{Points: c.X, Kernel: modeltest.Gaussian, Laplacian: c.L})
	if err != nil {
		t.Fatal(err)
	}
	for _, points := range [][]int{nil, {-1}, {40}, {2, 1}, {1, 1}} {
		if _, err := p.Warp(t.Context(), good.Regularizer, points); err == nil {
			t.Errorf("points %v", points)
		}
	}
	w, err := p.Warp(t.Context(), good.Regularizer, c.Three.Labeled[1:])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Fit(t.Context(), c.Three, &good); err == nil {
		t.Error("a label on a point the kernel was not made for")
	}
	inner := c.Three.Keep([]int{1, 2, 3, 4})
	other := good
	other.GammaI = 1
	if _, err := w.Fit(t.Context(), inner, &other); err == nil {
		t.Error("another γ_I/γ_A")
	}
	other.GammaA, other.GammaI = 10*good.GammaA, 10*good.GammaI
	if _, err := w.Fit(t.Context(), inner, &other); err != nil {
		t.Errorf("the same γ_I/γ_A: %v", err)
	}
	s.MaxIterations = 1
	if m, err := w.Fit(t.Context(), inner, &s); !errors.Is(err, solvers.ErrNotConverged) || m == nil {
		t.Errorf("one step: %v", err)
	}
	m := fitKernel(t, c, c.Three, good)
	if _, err := m.Predict(t.Context(), data.NewDense[float64](2, 7), nil); err == nil {
		t.Error("points of 7 dimensions")
	}
	huge := regularizer.Regularizer{GammaA: 1e-20, GammaI: 1, Power: 2}
	w, err = p.Warp(t.Context(), huge, c.Three.Labeled)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Values(t.Context()); err == nil || !strings.Contains(err.Error(), "rounding") {
		t.Errorf("a kernel lost in rounding: %v", err)
	}
}

// sindhwani reads one of Sindhwani's sets.
func sindhwani(t *testing.T, name, xKey, yKey string) (data.Points, *data.Labels, string) {
	t.Helper()
	dir := os.Getenv("BIGFIT_DATA")
	if dir == "" {
		t.Skip("BIGFIT_DATA is not set: it names the folder with the papers' data")
	}
	path := filepath.Join(dir, name)
	x, err := data.ReadPoints(path, data.ReadOptions{Key: xKey})
	if err != nil {
		t.Fatal(err)
	}
	y, err := data.ReadLabels(path, data.LabelOptions{Key: yKey})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(y.Classes, []int64{1}) { // −1 marks an unlabeled point elsewhere
		y.Classes = []int64{-1, 1}
		for i, c := range y.Index {
			y.Index[i] = c + 1
		}
	}
	return x, y, path
}

// Two moons with one label a class: no error on any point.
func TestKernelTwoMoons(t *testing.T) {
	x, y, path := sindhwani(t, "sindhwani_2moons.npz", "X", "y")
	xt, yt, _ := sindhwani(t, path[strings.LastIndex(path, "/")+1:], "Xt", "yt")
	first := []int{slices.Index(y.Index, 0), slices.Index(y.Index, 1)}
	targets, err := models.ClassTargets(y.Keep(first))
	if err != nil {
		t.Fatal(err)
	}
	l := modeltest.Laplacian(t, x, 6, sparse.Combinatorial)
	for _, method := range []kernelmachine.Method{kernelmachine.RLS, kernelmachine.SVM} {
		m, err := kernelmachine.Fit(t.Context(), &kernelmachine.Data{Points: x, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.25}, Laplacian: l}, targets, &kernelmachine.Settings{Method: method, Regularizer: regularizer.Regularizer{GammaA: 1e-3, GammaI: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range []struct {
			x data.Points
			y *data.Labels
		}{{x, y}, {xt, yt}} {
			p, err := m.Predict(t.Context(), set.x, nil)
			if err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for i, c := range p.Classes {
				if c != set.y.Index[i] {
					wrong++
				}
			}
			if wrong > 0 {
				t.Errorf("%s: %d errors", m.Name(), wrong)
			}
		}
	}
}

// splits reads the labeled points of a set's draws.
func splits(t *testing.T, path string) [][]int {
	t.Helper()
	a, err := npy.OpenArchive(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	x, err := a.Read("idxLabs")
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := x.Int64s()
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]int, x.Shape[0])
	for i := range out {
		for _, v := range numbers[i*x.Shape[1] : (i+1)*x.Shape[1]] {
			out[i] = append(out[i], int(v))
		}
		slices.Sort(out[i])
	}
	return out
}

// The g50c column of the 2005 table: 5.2 for LapRLS, 5.4 for LapSVM.
func TestKernelG50C(t *testing.T) {
	x, y, path := sindhwani(t, "sindhwani_g50c.npz", "X", "y")
	sigma, err := kernel.Width(x, kernel.Mean, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := kernelmachine.NewProblem(t.Context(), &kernelmachine.Data{Points: x, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma}, Laplacian: modeltest.Laplacian(t, x, 50, sparse.Normalized)})
	if err != nil {
		t.Fatal(err)
	}
	r := regularizer.Regularizer{GammaA: 1e-6, GammaI: 1e-2, Power: 5, Laplacian: sparse.Normalized}
	draws := splits(t, path)
	w, err := p.Warp(t.Context(), r, slices.Compact(slices.Sorted(slices.Values(slices.Concat(draws...)))))
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []kernelmachine.Method{kernelmachine.RLS, kernelmachine.SVM} {
		var sum float64
		for _, rows := range draws {
			drawn := y.Keep(rows)
			targets, err := models.ClassTargets(drawn)
			if err != nil {
				t.Fatal(err)
			}
			m, err := w.Fit(t.Context(), targets, &kernelmachine.Settings{Method: method, Regularizer: r})
			if err != nil {
				t.Fatal(err)
			}
			f := p.Outputs(m)
			predicted := make([]int32, len(y.Index))
			for i := range predicted {
				if f.At(i, 0) >= 0 {
					predicted[i] = 1
				}
			}
			sum += 100 * metrics.ErrorRate(predicted, y, drawn)
		}
		mean := sum / float64(len(draws))
		t.Logf("%v: mean error %.2f %% over %d draws, σ = %.3g", method, mean, len(draws), sigma)
		if !(mean < 6) {
			t.Errorf("%v: mean error %.2f %%", method, mean)
		}
	}
}

// TestLapRLSTime prints the time of one exact solution, to be set beside NumPy's.
func TestLapRLSTime(t *testing.T) {
	if os.Getenv("BIGFIT_TIMES") == "" {
		t.Skip("set BIGFIT_TIMES to measure")
	}
	x, y, path := sindhwani(t, "sindhwani_uspst.npz", "X", "y")
	l := modeltest.Laplacian(t, x, 10, sparse.Normalized)
	drawn := y.Keep(splits(t, path)[0])
	targets, err := models.ClassTargets(drawn)
	if err != nil {
		t.Fatal(err)
	}
	sigma, _ := kernel.Width(x, kernel.Mean, 0)
	s := &kernelmachine.Settings{Regularizer: regularizer.Regularizer{GammaA: 1e-6, GammaI: 1e-2, Power: 2, Laplacian: sparse.Normalized}}
	for range 3 {
		begin := time.Now()
		p, err := kernelmachine.NewProblem(t.Context(), &kernelmachine.Data{Points: x, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma}, Laplacian: l})
		if err != nil {
			t.Fatal(err)
		}
		gram := time.Since(begin)
		w, err := p.Warp(t.Context(), s.Regularizer, targets.Labeled)
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.Fit(t.Context(), targets, s)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("Gram matrix %v, solution %v, error %.2f %%", gram.Round(1e6), (time.Since(begin) - gram).Round(1e6),
			100*metrics.ErrorRate(models.Argmax(p.Outputs(m)), y, drawn))
	}
}

// warpedValues are those among the n points of a warped kernel.
func warpedValues(t *testing.T, w *kernelmachine.Warped, n int) *mat.Dense {
	t.Helper()
	values, err := w.Values(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return mat.DenseCopyOf(values.Slice(0, n, 0, n))
}
