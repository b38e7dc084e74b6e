package models_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// kernelCase is points of three classes with few labels, and their graph.
type kernelCase struct {
	x     *data.Dense[float64]
	l     *sparse.Laplacian
	three *models.Targets
	two   *models.Targets
	value *models.Targets
}

func laplacian(t testing.TB, x data.Points, k int, kind sparse.Kind) *sparse.Laplacian {
	t.Helper()
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(t.(interface{ Context() context.Context }).Context(), ix, knn.GraphSettings{K: k})
	if err != nil {
		t.Fatal(err)
	}
	l, err := sparse.NewLaplacian(w, kind)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func newKernelCase(t testing.TB, n int, kind sparse.Kind) *kernelCase {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	x := data.NewDense[float64](n, 3)
	values, labeled := make([]int64, n), make([]bool, n)
	z := mat.NewDense(n, 2, nil)
	for i := range n {
		values[i] = int64(i % 3)
		labeled[i] = i%4 == 0
		for j := range x.Row(i) {
			x.Row(i)[j] = rng.NormFloat64() + 1.2*float64((i%3)*(j+1)%3)
		}
		z.SetRow(i, []float64{math.NaN(), math.NaN()})
		if labeled[i] {
			z.SetRow(i, []float64{math.Sin(x.Row(i)[0]), x.Row(i)[1] + 10})
		}
	}
	c := &kernelCase{x: x, l: laplacian(t, x, 6, kind)}
	var err error
	if c.three, err = models.ClassTargets(data.NewLabels(values, labeled)); err != nil {
		t.Fatal(err)
	}
	for i := range values {
		values[i] %= 2
	}
	if c.two, err = models.ClassTargets(data.NewLabels(values, labeled)); err != nil {
		t.Fatal(err)
	}
	if c.value, err = models.ValueTargets(z); err != nil {
		t.Fatal(err)
	}
	return c
}

// targets are those a method can learn from.
func (c *kernelCase) targets(m models.KernelMethod) map[string]*models.Targets {
	switch m {
	case models.KernelSVM:
		return map[string]*models.Targets{"three classes": c.three, "two classes": c.two}
	case models.KernelRLS:
		return map[string]*models.Targets{"three classes": c.three, "two classes": c.two, "values": c.value}
	case models.KernelSVR:
		return map[string]*models.Targets{"values": c.value}
	}
	return map[string]*models.Targets{"one class": c.two}
}

var (
	kernelMethods = []models.KernelMethod{models.KernelRLS, models.KernelSVM, models.KernelSVR, models.KernelOneClass}
	gaussian      = kernel.Kernel{Kind: kernel.Gaussian, Sigma: 1.5}
)

func fitKernel(t testing.TB, c *kernelCase, y *models.Targets, s models.KernelSettings) *models.KernelMachine {
	t.Helper()
	m, err := models.FitKernel(t.(interface{ Context() context.Context }).Context(), c.x, gaussian, c.l, y, &s, 0)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func raw(t testing.TB, m models.Model, x data.Points) *mat.Dense {
	t.Helper()
	p, err := m.Predict(t.(interface{ Context() context.Context }).Context(), x, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.Scores
}

func wantClose(t *testing.T, what string, got, want mat.Matrix, tol float64) {
	t.Helper()
	var d mat.Dense
	d.Sub(got, want)
	if e, size := mat.Norm(&d, math.Inf(1)), mat.Norm(want, math.Inf(1)); !(e <= tol*size) {
		t.Errorf("%s: off by %.2g of %.2g", what, e, size)
	}
}

// LapRLS is equation (8) of 2006, solved as it stands there.
func TestLapRLSIsEquation8(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		for _, r := range []models.Regularizer{
			{GammaA: 1e-3, GammaI: 1e-2, Laplacian: kind},
			{GammaA: 1e-3, GammaI: 0.5, Power: 2, Laplacian: kind},
			{GammaA: 1e-2, GammaI: 30, Laplacian: kind, Scaling: models.PerPair},
			{GammaA: 1e-2, Laplacian: kind},
		} {
			c := newKernelCase(t, 120, kind)
			n, l := 120, len(c.three.Labeled)
			k, err := kernel.Gram(c.x, gaussian, 0)
			if err != nil {
				t.Fatal(err)
			}
			lk, a := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
			c.l.With(max(1, r.Power), 0).MulTo(lk, k)
			weight := r.GammaI * float64(l)
			if r.Scaling == models.PerPair {
				weight /= float64(n * n)
			}
			a.Scale(weight, lk)
			y := mat.NewDense(n, 3, nil)
			for p, i := range c.three.Labeled {
				y.SetRow(i, c.three.Y.RawRowView(p))
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
			m := fitKernel(t, c, c.three, models.KernelSettings{Regularizer: r})
			wantClose(t, fmt.Sprintf("%v, %+v", kind, r), raw(t, m, c.x), &f, 1e-8)
			if r.GammaI > 0 {
				wantClose(t, fmt.Sprintf("coefficients, %v, %+v", kind, r), m.Coefficients, &alpha, 1e-8)
				if m.Name() != models.LapRLSName {
					t.Errorf("name %s", m.Name())
				}
			}
		}
	}
}

// LapSVM is equations (10) and (11) of 2006 with Q from a general solver.
func TestLapSVMIsEquations10And11(t *testing.T) {
	c := newKernelCase(t, 120, sparse.Combinatorial)
	const gammaA, gammaI = 1e-2, 1e-2
	n, l := 120, len(c.two.Labeled)
	k, err := kernel.Gram(c.x, gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, e := mat.NewDense(n, n, nil), mat.NewDense(n, l, nil)
	c.l.MulTo(a, k)
	a.Scale(2*gammaI, a)
	for i := range n {
		a.Set(i, i, a.At(i, i)+2*gammaA)
	}
	y := make([]float64, l)
	for p, i := range c.two.Labeled {
		y[p] = c.two.Y.At(p, 0)
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
	m := fitKernel(t, c, c.two, models.KernelSettings{Method: models.KernelSVM, Regularizer: models.Regularizer{GammaA: gammaA, GammaI: gammaI}, Tolerance: 1e-10})
	wantClose(t, "LapSVM", raw(t, m, c.x), want, 1e-7)
}

// The warped kernel by its formula, and machines on it as a precomputed kernel,
// are the manifold-regularized ones.
func TestMachinesOnTheWarpedKernel(t *testing.T) {
	c := newKernelCase(t, 90, sparse.Normalized)
	const n = 90
	r := models.Regularizer{GammaA: 1e-2, GammaI: 0.3, Power: 2, Laplacian: sparse.Normalized}
	p, err := models.NewKernelProblem(c.x, gaussian, c.l, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	w, err := p.Warp(r, all)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Gram(c.x, gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	id := mat.NewDense(n, n, nil)
	for i := range n {
		id.Set(i, i, 1)
	}
	m, a := mat.NewDense(n, n, nil), new(mat.Dense)
	c.l.With(2, 0).MulTo(m, id)
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
	got := warpedValues(w, n)
	wantClose(t, "k̃", got, &want, 1e-10)

	warped := &data.Dense[float64]{Rows: n, Cols: n, Data: got.RawMatrix().Data}
	flat := r
	flat.GammaI = 0
	for _, method := range kernelMethods {
		for name, y := range c.targets(method) {
			s := models.KernelSettings{Method: method, Regularizer: flat, Tolerance: 1e-10}
			plain, err := models.FitKernel(t.Context(), warped, kernel.Kernel{Kind: kernel.Precomputed}, nil, y, &s, 0)
			if err != nil {
				t.Fatal(err)
			}
			s.Regularizer = r
			lap, err := w.Fit(t.Context(), y, &s)
			if err != nil {
				t.Fatal(err)
			}
			wantClose(t, fmt.Sprintf("%v, %s", method, name), raw(t, lap, c.x), raw(t, plain, warped), 1e-8)
			outputs := p.Outputs(lap)
			_, columns := outputs.Dims()
			scores := raw(t, lap, c.x)
			_, all := scores.Dims()
			wantClose(t, "Outputs", outputs, scores.Slice(0, n, all-columns, all), 1e-10)
			// A kernel made for more points than are labeled, and one for those alone.
			alone := fitKernel(t, c, y, s)
			wantClose(t, "labeled points alone", raw(t, alone, c.x), scores, 1e-8)
		}
	}
}

// Without the intrinsic norm the unlabeled points do not matter at all.
func TestNoIntrinsicNorm(t *testing.T) {
	c := newKernelCase(t, 100, sparse.Combinatorial)
	p, err := models.NewKernelProblem(c.x, gaussian, c.l, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range kernelMethods {
		for name, y := range c.targets(method) {
			s := models.KernelSettings{Method: method, Regularizer: models.Regularizer{GammaA: 1e-2}, Tolerance: 1e-11}
			small := fitKernel(t, c, y, s)
			w, err := p.Warp(s.Regularizer, y.Labeled)
			if err != nil {
				t.Fatal(err)
			}
			large, err := w.Fit(t.Context(), y, &s)
			if err != nil {
				t.Fatal(err)
			}
			wantClose(t, fmt.Sprintf("%v, %s", method, name), raw(t, large, c.x), raw(t, small, c.x), 1e-9)
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
	c := newKernelCase(t, 120, sparse.Combinatorial)
	for _, method := range kernelMethods[1:] {
		for name, y := range c.targets(method) {
			s := models.KernelSettings{Method: method, Regularizer: models.Regularizer{GammaA: 0.003}, Tolerance: 1e-9}
			p, err := models.NewKernelProblem(c.x, gaussian, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			w, err := p.Warp(s.Regularizer, y.Labeled)
			if err != nil {
				t.Fatal(err)
			}
			want, err := w.Fit(t.Context(), y, &s)
			if err != nil {
				t.Fatal(err)
			}
			for _, limit := range []int64{0, kernel.GramBytes(30) - 1, 1} {
				got, err := models.FitKernel(t.Context(), c.x, gaussian, nil, y, &s, limit)
				if err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%v, %s, limit %d", method, name, limit)
				wantClose(t, what, raw(t, got, c.x), raw(t, want, c.x), 1e-6)
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
	c := newKernelCase(t, 100, sparse.Combinatorial)
	s := models.KernelSettings{Regularizer: models.Regularizer{GammaA: 1e-2, GammaI: 1e-3}, Intercept: true}
	one := raw(t, fitKernel(t, c, c.value, s), c.x)
	residual := make([]float64, 2)
	for p, i := range c.value.Labeled {
		for j := range residual {
			residual[j] += c.value.Y.At(p, j) - one.At(i, j)
		}
	}
	if !(math.Abs(residual[0]) < 1e-8 && math.Abs(residual[1]) < 1e-8) {
		t.Errorf("residuals sum to %v", residual)
	}
	shifted := *c.value
	shifted.Y = mat.DenseCopyOf(c.value.Y)
	for i := range shifted.Labeled {
		shifted.Y.Set(i, 0, shifted.Y.At(i, 0)+100)
	}
	two := raw(t, fitKernel(t, c, &shifted, s), c.x)
	for i := range c.x.Rows {
		if !(math.Abs(two.At(i, 0)-one.At(i, 0)-100) < 1e-9) {
			t.Fatalf("point %d moves from %v to %v with targets 100 higher", i, one.At(i, 0), two.At(i, 0))
		}
	}
}

func TestKernelMachinesSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	c := newKernelCase(t, 600, sparse.Normalized)
	for _, method := range kernelMethods {
		for _, y := range c.targets(method) {
			s := models.KernelSettings{Method: method, Regularizer: models.Regularizer{GammaA: 1e-2, GammaI: 1e-2, Laplacian: sparse.Normalized}}
			var first *mat.Dense
			for _, threads := range []int{1, 2} {
				runtime.GOMAXPROCS(threads)
				m := fitKernel(t, c, y, s)
				f := raw(t, m, c.x)
				if first != nil && !mat.Equal(f, first) {
					t.Errorf("%s: other bits with two threads", m.Name())
				}
				first = f
				for _, part := range [][]int{{0}, {17, 3, 599}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}} {
					got := raw(t, m, data.Select(c.x, part))
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
	c := newKernelCase(t, 300, sparse.Combinatorial)
	for _, gammaI := range []float64{0, 1e-3} {
		m := fitKernel(t, c, c.two, models.KernelSettings{Method: models.KernelOneClass, Nu: 0.2, Regularizer: models.Regularizer{GammaA: 1, GammaI: gammaI}})
		p, err := m.Predict(t.Context(), c.x, nil)
		if err != nil {
			t.Fatal(err)
		}
		outside := 0
		for _, i := range c.two.Labeled {
			if p.Scores.At(i, 1) < -1e-5 {
				outside++
			}
		}
		if share := float64(outside) / float64(len(c.two.Labeled)); share > 0.2 || share < 0.1 {
			t.Errorf("γ_I = %v: %.2f of the points are outside, ν = 0.2", gammaI, share)
		}
		far, err := m.Predict(t.Context(), &data.Dense[float64]{Rows: 1, Cols: 3, Data: []float64{50, 50, 50}}, nil)
		if err != nil || m.Outcomes()[far.Classes[0]] != -1 {
			t.Errorf("a far point is inside, %v", err)
		}
	}
}

func TestKernelSaveLoad(t *testing.T) {
	c := newKernelCase(t, 100, sparse.Combinatorial)
	dir := t.TempDir()
	gram, err := kernel.Gram(c.x, gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	given := &data.Dense[float64]{Rows: 100, Cols: 100, Data: gram.RawMatrix().Data}
	for _, method := range kernelMethods {
		for _, y := range c.targets(method) {
			s := models.KernelSettings{Method: method, Regularizer: models.Regularizer{GammaA: 1e-2, GammaI: 1e-3}}
			on := fitKernel(t, c, y, s)
			off, err := models.FitKernel(t.Context(), given, kernel.Kernel{Kind: kernel.Precomputed}, c.l, y, &s, 0)
			if err != nil {
				t.Fatal(err)
			}
			wantClose(t, "precomputed "+on.Name(), raw(t, off, given), raw(t, on, c.x), 1e-9)
			for i, m := range []*models.KernelMachine{on, off} {
				x := []data.Points{c.x, given}[i]
				path := filepath.Join(dir, fmt.Sprint(m.Name(), i, ".npz"))
				if err := m.Save(path, map[string]string{"points": "1"}); err != nil {
					t.Fatal(err)
				}
				back, mf, err := models.Load(path, 0)
				if err != nil {
					t.Fatal(err)
				}
				if back.Name() != m.Name() || !slices.Equal(back.Outcomes(), m.Outcomes()) || mf.Hashes["points"] != "1" {
					t.Errorf("%s comes back as %s", m.Name(), back.Name())
				}
				if !mat.Equal(raw(t, back, x), raw(t, m, x)) {
					t.Errorf("%s: other answers after loading", m.Name())
				}
			}
		}
	}
}

func TestKernelDamagedFiles(t *testing.T) {
	c := newKernelCase(t, 40, sparse.Combinatorial)
	m := fitKernel(t, c, c.three, models.KernelSettings{Regularizer: models.Regularizer{GammaA: 1e-2, GammaI: 1e-3}})
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := m.Save(path, nil); err != nil {
		t.Fatal(err)
	}
	a, err := npy.OpenArchive(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	var entries []npy.Entry
	for _, name := range a.Names() {
		x, err := a.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, npy.Entry{Name: name, Shape: x.Shape, Data: x.Data})
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	replace := func(name string, e npy.Entry) []npy.Entry {
		out := slices.Clone(entries)
		out[slices.IndexFunc(out, func(e npy.Entry) bool { return e.Name == name })] = e
		return out
	}
	text := string(entries[slices.IndexFunc(entries, func(e npy.Entry) bool { return e.Name == "manifest" })].Data.([]uint8))
	edit := func(from, to string) []npy.Entry {
		if !strings.Contains(text, from) {
			t.Fatalf("the manifest has no %s: %s", from, text)
		}
		return replace("manifest", npy.Entry{Name: "manifest", Data: []uint8(strings.Replace(text, from, to, 1))})
	}
	for what, damaged := range map[string][]npy.Entry{
		"no coefficients": entries[1:],
		"short bias":      replace("bias", npy.Entry{Name: "bias", Data: []float64{1}}),
		"NaN":             replace("bias", npy.Entry{Name: "bias", Data: []float64{1, 2, math.NaN()}}),
		"two classes":     replace("classes", npy.Entry{Name: "classes", Data: []int64{1, 2}}),
		"few points":      replace("points", npy.Entry{Name: "points", Shape: []int{2, 3}, Data: make([]float64, 6)}),
		"no points":       replace("points", npy.Entry{Name: "other", Data: []float64{1}}),
		"other kernel":    edit(`"kind":"gaussian"`, `"kind":"precomputed"`),
		"unknown kernel":  edit(`"kind":"gaussian"`, `"kind":"sigmoid"`),
		"no width":        edit(`"sigma":1.5`, `"sigma":-1`),
		"no weight":       edit(`"gamma_a":0.01`, `"gamma_a":0`),
		"other model":     edit(`"model":"laprls"`, `"model":"lapfoo"`),
	} {
		if err := npy.WriteArchive(path, damaged); err != nil {
			t.Fatal(err)
		}
		if _, _, err := models.Load(path, 0); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestKernelFaults(t *testing.T) {
	c := newKernelCase(t, 40, sparse.Combinatorial)
	good := models.KernelSettings{Regularizer: models.Regularizer{GammaA: 1e-2, GammaI: 1e-3}}
	for what, change := range map[string]func(s *models.KernelSettings){
		"γ_A":        func(s *models.KernelSettings) { s.GammaA = 0 },
		"method":     func(s *models.KernelSettings) { s.Method = 9 },
		"ε":          func(s *models.KernelSettings) { s.Epsilon = -1 },
		"ν":          func(s *models.KernelSettings) { s.Nu = 2 },
		"tolerance":  func(s *models.KernelSettings) { s.Tolerance = math.NaN() },
		"normalized": func(s *models.KernelSettings) { s.Laplacian = sparse.Normalized },
	} {
		s := good
		change(&s)
		if _, err := models.FitKernel(t.Context(), c.x, gaussian, c.l, c.three, &s, 0); err == nil {
			t.Errorf("%s: %+v was taken", what, s)
		}
	}
	if _, err := models.FitKernel(t.Context(), c.x, gaussian, c.l, c.three, nil, 0); err == nil || !strings.Contains(err.Error(), "γ_A") {
		t.Errorf("no settings: %v", err)
	}
	if _, err := models.FitKernel(t.Context(), c.x, gaussian, nil, c.three, &good, 0); err == nil {
		t.Error("γ_I without a graph")
	}
	if _, err := models.FitKernel(t.Context(), c.x, gaussian, c.l, c.three, &good, kernel.GramBytes(40)); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("memory: %v", err)
	}
	s := good
	s.Method = models.KernelSVM
	if _, err := models.FitKernel(t.Context(), c.x, gaussian, c.l, c.value, &s, 0); err == nil {
		t.Error("classes of values")
	}
	p, err := models.NewKernelProblem(c.x, gaussian, c.l, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, points := range [][]int{nil, {-1}, {40}, {2, 1}, {1, 1}} {
		if _, err := p.Warp(good.Regularizer, points); err == nil {
			t.Errorf("points %v", points)
		}
	}
	w, err := p.Warp(good.Regularizer, c.three.Labeled[1:])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Fit(t.Context(), c.three, &good); err == nil {
		t.Error("a label on a point the kernel was not made for")
	}
	inner := c.three.Keep([]int{1, 2, 3, 4})
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
	m := fitKernel(t, c, c.three, good)
	if _, err := m.Predict(t.Context(), data.NewDense[float64](2, 7), nil); err == nil {
		t.Error("points of 7 dimensions")
	}
	huge := models.Regularizer{GammaA: 1e-12, GammaI: 1e6, Power: 7}
	if _, err := p.Warp(huge, c.three.Labeled); err == nil || !strings.Contains(err.Error(), "rounding") {
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
	l := laplacian(t, x, 6, sparse.Combinatorial)
	for _, method := range []models.KernelMethod{models.KernelRLS, models.KernelSVM} {
		m, err := models.FitKernel(t.Context(), x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.25}, l, targets,
			&models.KernelSettings{Method: method, Regularizer: models.Regularizer{GammaA: 1e-3, GammaI: 1}}, 0)
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
	p, err := models.NewKernelProblem(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma}, laplacian(t, x, 50, sparse.Normalized), 0)
	if err != nil {
		t.Fatal(err)
	}
	r := models.Regularizer{GammaA: 1e-6, GammaI: 1e-2, Power: 5, Laplacian: sparse.Normalized}
	draws := splits(t, path)
	w, err := p.Warp(r, slices.Compact(slices.Sorted(slices.Values(slices.Concat(draws...)))))
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []models.KernelMethod{models.KernelRLS, models.KernelSVM} {
		var sum float64
		for _, rows := range draws {
			drawn := y.Keep(rows)
			targets, err := models.ClassTargets(drawn)
			if err != nil {
				t.Fatal(err)
			}
			m, err := w.Fit(t.Context(), targets, &models.KernelSettings{Method: method, Regularizer: r})
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
			sum += 100 * models.ErrorRate(predicted, y, drawn)
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
	l := laplacian(t, x, 10, sparse.Normalized)
	drawn := y.Keep(splits(t, path)[0])
	targets, err := models.ClassTargets(drawn)
	if err != nil {
		t.Fatal(err)
	}
	sigma, _ := kernel.Width(x, kernel.Mean, 0)
	s := &models.KernelSettings{Regularizer: models.Regularizer{GammaA: 1e-6, GammaI: 1e-2, Power: 2, Laplacian: sparse.Normalized}}
	for range 3 {
		begin := time.Now()
		p, err := models.NewKernelProblem(x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: sigma}, l, 0)
		if err != nil {
			t.Fatal(err)
		}
		gram := time.Since(begin)
		w, err := p.Warp(s.Regularizer, targets.Labeled)
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.Fit(t.Context(), targets, s)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("Gram matrix %v, solution %v, error %.2f %%", gram.Round(1e6), (time.Since(begin) - gram).Round(1e6),
			100*models.ErrorRate(models.Argmax(p.Outputs(m)), y, drawn))
	}
}

// warpedValues are those among the n points of a warped kernel.
func warpedValues(w *models.WarpedKernel, n int) *mat.Dense {
	out := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			out.Set(i, j, w.At(i, j))
		}
	}
	return out
}

// WarpBy takes any function of the Laplacian: λ² is the power 2, and the heat
// kernel's norm gives the kernel of the definition, on which machines are fitted
// as on any other.
func TestWarpBy(t *testing.T) {
	const n = 60
	c := newKernelCase(t, n, sparse.Normalized)
	r := models.Regularizer{GammaA: 1e-2, GammaI: 0.3, Power: 2, Laplacian: sparse.Normalized}
	p, err := models.NewKernelProblem(c.x, gaussian, c.l, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, n)
	id := mat.NewDense(n, n, nil)
	for i := range all {
		all[i] = i
		id.Set(i, i, 1)
	}
	square, err := sparse.NewFunction(c.l, func(l float64) float64 { return l * l })
	if err != nil {
		t.Fatal(err)
	}
	powers, err := p.Warp(r, all)
	if err != nil {
		t.Fatal(err)
	}
	same, err := p.WarpBy(square, r, all)
	if err != nil {
		t.Fatal(err)
	}
	wantClose(t, "λ²", warpedValues(same, n), warpedValues(powers, n), 1e-10)

	heat, err := sparse.NewFunction(c.l, func(l float64) float64 { return math.Exp(3*l) - 0.5 }) // no null vector
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.WarpBy(heat, r, all)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Gram(c.x, gaussian, 0)
	if err != nil {
		t.Fatal(err)
	}
	var a, mk, inner, want mat.Dense
	m := mat.NewDense(n, n, nil)
	heat.MulTo(m, id)
	m.Scale(r.GammaI/r.GammaA, m)
	mk.Mul(m, k)
	a.Add(&mk, id)
	if err := inner.Solve(&a, &mk); err != nil {
		t.Fatal(err)
	}
	want.Mul(k, &inner)
	want.Sub(k, &want)
	wantClose(t, "heat", warpedValues(w, n), &want, 1e-8)

	flat := r
	flat.GammaI = 0
	warped := &data.Dense[float64]{Rows: n, Cols: n, Data: warpedValues(w, n).RawMatrix().Data}
	for name, y := range c.targets(models.KernelSVM) {
		s := models.KernelSettings{Method: models.KernelSVM, Regularizer: flat, Tolerance: 1e-10}
		plain, err := models.FitKernel(t.Context(), warped, kernel.Kernel{Kind: kernel.Precomputed}, nil, y, &s, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.Regularizer = r
		lap, err := w.Fit(t.Context(), y, &s)
		if err != nil {
			t.Fatal(err)
		}
		wantClose(t, "SVM, "+name, raw(t, lap, c.x), raw(t, plain, warped), 1e-7)
	}
	short, err := sparse.NewFunction(newKernelCase(t, n-1, sparse.Normalized).l, math.Exp)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.WarpBy(short, r, all); err == nil {
		t.Error("an operator of other points passes")
	}
}
