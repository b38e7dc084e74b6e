package kernelmachine_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/sparse"
)

// warpAll is the kernel among all points.
func warpAll(t testing.TB, x data.Points, k kernel.Kernel, r regularizer.Regularizer) (*kernelmachine.Problem, *kernelmachine.Warped) {
	t.Helper()
	p, err := kernelmachine.NewProblem(t.Context(), &kernelmachine.Data{Points: x, Kernel: k})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := x.Dims()
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	w, err := p.Warp(t.Context(), r, all)
	if err != nil {
		t.Fatal(err)
	}
	return p, w
}

func TestTSVM(t *testing.T) {
	for _, test := range []struct {
		name     string
		classes  int
		distance float64
		k        kernel.Kernel
		gammaA   float64
		error    float64
	}{
		{"linear", 2, 7, kernel.Kernel{}, 0.01, 0},
		{"Gaussian", 2, 7, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 3}, 0.001, 0},
		{"overlapping, labels beyond the middle", 2, 2, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 2}, 0.1, 1},
		{"three classes", 3, 8, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 4}, 0.001, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			x, truth, drawn := modeltest.NewTwoClouds(t, 60, test.classes, test.distance)
			reg := regularizer.Regularizer{GammaA: test.gammaA}
			p, w := warpAll(t, x, test.k, reg)
			targets := modeltest.CodedClasses(t, drawn)
			m, err := w.FitTSVM(context.Background(), targets, &kernelmachine.TSVMSettings{Regularizer: reg})
			if err != nil {
				t.Fatal(err)
			}
			prediction, err := m.Predict(context.Background(), x, nil)
			if err != nil {
				t.Fatal(err)
			}
			if e := metrics.ErrorRate(prediction.Classes, truth, drawn); !(e <= test.error) {
				t.Errorf("error %v on the unlabeled points", e)
			}
			checkTSVM(t, p, m, targets, reg)
		})
	}
}

// checkTSVM holds m against the definition: balance, objective, and that no
// exchange of two assigned targets is left that would lower it.
func checkTSVM(t *testing.T, p *kernelmachine.Problem, m *kernelmachine.TSVM, targets *models.Targets, reg regularizer.Regularizer) {
	t.Helper()
	f := p.Outputs(m.Machine)
	l, c := targets.Y.Dims()
	at, err := m.Predict(context.Background(), m.Points, nil)
	if err != nil {
		t.Fatal(err)
	}
	coefficients, columns := at.Scores.Dims()
	if len(m.Unlabeled)+l != targets.Len || slices.ContainsFunc(m.Unlabeled, func(i int) bool { return slices.Contains(targets.Labeled, i) }) {
		t.Fatalf("unlabeled %v", m.Unlabeled)
	}
	for j := range c {
		var share, loss, positive float64
		for q, i := range targets.Labeled {
			loss += max(0, 1-targets.Y.At(q, j)*f.At(i, j))
			share += (1 + targets.Y.At(q, j)) / 2 / float64(l)
		}
		worst, best := math.Inf(1), math.Inf(-1) // least output of a positive, largest of a negative
		for q, i := range m.Unlabeled {
			y := m.Assigned.At(q, j)
			loss += max(0, 1-y*f.At(i, j))
			if y == 1 {
				positive++
				worst = min(worst, f.At(i, j))
			} else {
				best = max(best, f.At(i, j))
			}
		}
		if want := math.Round(share * float64(len(m.Unlabeled))); positive != want {
			t.Errorf("output %d: %v positive targets, want %v", j, positive, want)
		}
		if worst < 1 && best > -1 && best > worst+0.01 {
			t.Errorf("output %d: a positive target at %v and a negative at %v", j, worst, best)
		}
		if !(m.Objective[j] <= m.Start[j]*(1+1e-9)) {
			t.Errorf("output %d: objective %v, at the start %v", j, m.Objective[j], m.Start[j])
		}
		// ‖f‖² from the machine of all points with their targets, which is the
		// same.
		all := &models.Targets{Len: targets.Len, Classes: []int64{0, 1}, Y: mat.NewDense(targets.Len, 1, nil)}
		for i := range targets.Len {
			all.Labeled = append(all.Labeled, i)
		}
		for q, i := range targets.Labeled {
			all.Y.Set(i, 0, targets.Y.At(q, j))
		}
		for q, i := range m.Unlabeled {
			all.Y.Set(i, 0, m.Assigned.At(q, j))
		}
		scaled := reg // γ_A l is the same
		scaled.GammaA *= float64(l) / float64(targets.Len)
		w, err := p.Warp(t.Context(), scaled, all.Labeled)
		if err != nil {
			t.Fatal(err)
		}
		machine, err := w.Fit(context.Background(), all, &kernelmachine.Settings{Method: kernelmachine.SVM, Regularizer: scaled})
		if err != nil {
			t.Fatal(err)
		}
		g := p.Outputs(machine)
		for i := range targets.Len {
			if d := f.At(i, j) - g.At(i, 0); !(math.Abs(d) <= 0.01) {
				t.Errorf("output %d: %v at point %d, trained on the assigned targets %v", j, f.At(i, j), i, g.At(i, 0))
				break
			}
		}
		norm := 0.0
		for i := range coefficients {
			norm += m.Coefficients.At(i, j) * (at.Scores.At(i, columns-c+j) - m.Intercepts[j])
		}
		if want := reg.GammaA*norm + loss/float64(l); !(math.Abs(m.Objective[j]-want) <= 1e-9*want) {
			t.Errorf("output %d: objective %v, by hand %v", j, m.Objective[j], want)
		}
	}
}

func TestTSVMBalance(t *testing.T) {
	x, _, drawn := modeltest.NewTwoClouds(t, 40, 2, 6)
	reg := regularizer.Regularizer{GammaA: 0.01}
	_, w := warpAll(t, x, kernel.Kernel{}, reg)
	for _, share := range []float64{0, 0.25, 0.5, 1} {
		m, err := w.FitTSVM(context.Background(), modeltest.CodedClasses(t, drawn), &kernelmachine.TSVMSettings{Regularizer: reg, Transduction: linear.Transduction{Positive: []float64{share}, Weight: 0.5}})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := mat.Sum(m.Assigned), (2*share-1)*76; got != want {
			t.Errorf("share %v: the targets sum to %v, want %v", share, got, want)
		}
		if !(m.Objective[0] <= m.Start[0]) {
			t.Errorf("share %v: objective %v, at the start %v", share, m.Objective[0], m.Start[0])
		}
	}
}

func TestTSVMSameBits(t *testing.T) {
	x, _, drawn := modeltest.NewTwoClouds(t, 50, 3, 3)
	reg := regularizer.Regularizer{GammaA: 0.01}
	var first *kernelmachine.TSVM
	for _, threads := range []int{1, 2, 5} {
		old := runtime.GOMAXPROCS(threads)
		_, w := warpAll(t, x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 2}, reg)
		m, err := w.FitTSVM(context.Background(), modeltest.CodedClasses(t, drawn), &kernelmachine.TSVMSettings{Regularizer: reg})
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = m
		}
		if !mat.Equal(m.Coefficients, first.Coefficients) || !slices.Equal(m.Intercepts, first.Intercepts) || !mat.Equal(m.Assigned, first.Assigned) || m.Rounds != first.Rounds {
			t.Errorf("%d threads: another machine", threads)
		}
	}
}

func TestTSVMFile(t *testing.T) {
	x, _, drawn := modeltest.NewTwoClouds(t, 30, 2, 4)
	reg := regularizer.Regularizer{GammaA: 0.01}
	_, w := warpAll(t, x, kernel.Kernel{Kind: kernel.Gaussian, Sigma: 2}, reg)
	var m models.Model
	m, err := w.FitTSVM(context.Background(), modeltest.CodedClasses(t, drawn), &kernelmachine.TSVMSettings{Regularizer: reg})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.npz")
	if err := models.Save(path, m, nil); err != nil {
		t.Fatal(err)
	}
	loaded, _, err := kernelmachine.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Predict(context.Background(), x, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := loaded.Predict(context.Background(), x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(a.Scores, b.Scores) || !slices.Equal(m.Output().Classes, loaded.Output().Classes) {
		t.Error("the loaded machine answers otherwise")
	}
}

func TestTSVMRefuses(t *testing.T) {
	x, truth, drawn := modeltest.NewTwoClouds(t, 10, 2, 4)
	reg := regularizer.Regularizer{GammaA: 0.01}
	p, w := warpAll(t, x, kernel.Kernel{}, reg)
	targets := modeltest.CodedClasses(t, drawn)
	values := &models.Targets{Len: targets.Len, Labeled: targets.Labeled, Y: targets.Y}
	labeledOnly, err := p.Warp(t.Context(), reg, targets.Labeled)
	if err != nil {
		t.Fatal(err)
	}
	for name, fit := range map[string]func() (*kernelmachine.TSVM, error){
		"no settings": func() (*kernelmachine.TSVM, error) { return w.FitTSVM(context.Background(), targets, nil) },
		"a regression": func() (*kernelmachine.TSVM, error) {
			return w.FitTSVM(context.Background(), values, &kernelmachine.TSVMSettings{Regularizer: reg})
		},
		"all labeled": func() (*kernelmachine.TSVM, error) {
			return w.FitTSVM(context.Background(), modeltest.CodedClasses(t, truth), &kernelmachine.TSVMSettings{Regularizer: reg})
		},
		"none unlabeled": func() (*kernelmachine.TSVM, error) {
			return labeledOnly.FitTSVM(context.Background(), targets, &kernelmachine.TSVMSettings{Regularizer: reg})
		},
		"weight": func() (*kernelmachine.TSVM, error) {
			return w.FitTSVM(context.Background(), targets, &kernelmachine.TSVMSettings{Regularizer: reg, Transduction: linear.Transduction{Weight: -1}})
		},
		"share": func() (*kernelmachine.TSVM, error) {
			return w.FitTSVM(context.Background(), targets, &kernelmachine.TSVMSettings{Regularizer: reg, Transduction: linear.Transduction{Positive: []float64{1.5}}})
		},
		"shares": func() (*kernelmachine.TSVM, error) {
			return w.FitTSVM(context.Background(), targets, &kernelmachine.TSVMSettings{Regularizer: reg, Transduction: linear.Transduction{Positive: []float64{0.5, 0.5}}})
		},
	} {
		m, err := fit()
		if err == nil || m != nil || errors.Is(err, solvers.ErrNotConverged) {
			t.Errorf("%s: %v", name, err)
		}
		if errors.Is(err, linear.ErrNoUnlabeled) != strings.HasSuffix(name, "labeled") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if m, err := w.FitTSVM(ctx, targets, &kernelmachine.TSVMSettings{Regularizer: reg}); m != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// With γ_I the learner is TSVM on the kernel that the graph warps, and two moons with one label each are told
// apart, which they are not without the graph.
func TestTSVMOnGraph(t *testing.T) {
	x, truth := synthetic.TwoMoons(200, 0.05, 1)
	drawn := truth.Keep([]int{slices.Index(truth.Index, 0), slices.Index(truth.Index, 1)})
	targets := modeltest.CodedClasses(t, drawn)
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(t.Context(), ix, knn.GraphSettings{K: 6})
	if err != nil {
		t.Fatal(err)
	}
	graph := models.NewGraph(w)

	fit := func(v models.Values) (models.Model, float64) {
		t.Helper()
		in := &models.Input{Points: x, Targets: targets, Graph: graph, Values: v}
		m, err := kernelmachine.TSVMLearner{}.Fit(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(t.Context(), x, nil)
		if err != nil {
			t.Fatal(err)
		}
		return m, metrics.ErrorRate(p.Classes, truth, drawn)
	}
	values := models.Values{"gamma-a": "1e-4", "sigma": "0.4"}
	if _, e := fit(values); !(e > 0.02) {
		t.Errorf("error %v without the graph", e)
	}
	m, e := fit(values.With(models.Values{"gamma-i": "10", "laplacian": "normalized", "power": "2"}))
	if e != 0 {
		t.Errorf("error %v with the graph", e)
	}

	// The same by the library's own steps.
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		t.Fatal(err)
	}
	p, err := kernelmachine.NewProblem(t.Context(), &kernelmachine.Data{Points: x, Kernel: kernel.Kernel{Kind: kernel.Gaussian, Sigma: 0.4}, Laplacian: l})
	if err != nil {
		t.Fatal(err)
	}
	reg := regularizer.Regularizer{GammaA: 1e-4, GammaI: 10, Laplacian: sparse.Normalized, Power: 2}
	warped, err := p.Warp(t.Context(), reg, data.Range(0, 200))
	if err != nil {
		t.Fatal(err)
	}
	own, err := warped.FitTSVM(t.Context(), targets, &kernelmachine.TSVMSettings{Regularizer: reg})
	if err != nil {
		t.Fatal(err)
	}
	if got := m.(*kernelmachine.TSVM); !mat.Equal(got.Coefficients, own.Coefficients) {
		t.Error("the learner has other coefficients than Warped.FitTSVM")
	}
}
