package selection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/dense"
	"github.com/bigfit/bigfit/kernel"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/eigenfunction"
	"github.com/bigfit/bigfit/models/eigenmap"
	"github.com/bigfit/bigfit/models/kernelmachine"
	"github.com/bigfit/bigfit/models/linear"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/propagation"
	"github.com/bigfit/bigfit/sparse"
)

// tuneCase is a small set of c clusters on a line, or a sine of the first
// coordinate, of which some points have a target.
func tuneCase(t testing.TB, n, labels, c int, regression bool) *Data {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, uint64(c)))
	x := data.NewDense[float64](n, 4)
	classes, known := make([]int64, n), make([]bool, n)
	y := mat.NewDense(n, 2, nil)
	for i := range n {
		classes[i] = int64(3 * (i % max(c, 1)))
		for j := range 4 {
			x.Row(i)[j] = rng.NormFloat64()
		}
		x.Row(i)[0] += 0.6 * float64(classes[i])
		y.SetRow(i, []float64{math.Sin(x.Row(i)[0]) + 0.1*rng.NormFloat64(), x.Row(i)[1]})
	}
	for q, i := range rng.Perm(n) {
		known[i] = q < labels
		if q >= labels {
			y.SetRow(i, []float64{math.NaN(), math.NaN()})
		}
	}
	d := &Data{Points: x, Edges: knn.GraphSettings{K: 5}}
	var err error
	if regression {
		d.Targets, err = models.ValueTargets(y)
	} else {
		d.Targets, err = models.ClassTargets(data.NewLabels(classes, known))
	}
	if err != nil {
		t.Fatal(err)
	}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Neighbors, err = ix.Self(context.Background(), 9); err != nil {
		t.Fatal(err)
	}
	return d
}

func tune(t testing.TB, d *Data, g *Grid, s *Settings) *Result {
	t.Helper()
	r, err := Search(context.Background(), d, g, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// alone fits a point of the grid to targets, by itself, and answers for points.
func alone(t *testing.T, d *Data, g *Grid, p Point, y *models.Targets, points []int) ([]int32, *mat.Dense) {
	t.Helper()
	ctx := context.Background()
	var w *sparse.CSR
	var err error
	laplacian := func(kind sparse.Kind) *sparse.Laplacian {
		k := p.Neighbors
		if k == 0 {
			k = d.Edges.K
		}
		if w, _, err = knn.FromNeighbors(d.Neighbors, knn.GraphSettings{K: k, Weights: d.Edges.Weights}); err != nil {
			t.Fatal(err)
		}
		l, err := sparse.NewLaplacian(w, kind)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	var m models.Model
	switch {
	case g.Linear != nil:
		s := *g.Linear
		s.Regularizer.GammaA, s.Regularizer.GammaI, s.Regularizer.Power = p.GammaA, p.GammaI, max(1, p.Power)
		m, err = linear.Fit(ctx, d.Points, laplacian(s.Regularizer.Laplacian), y, &s)
	case g.SSSL != nil:
		s, k := *g.SSSL, g.KernelFunction
		s.Eigenfunctions, k.Sigma = p.Eigenvectors, p.Sigma
		m, err = eigenfunction.Fit(ctx, d.Points, k, y, &s, 0)
	case g.Scale != nil:
		s, k := *g.Kernel, g.KernelFunction
		s.GammaA, s.GammaI, s.Power, k.Sigma = p.GammaA, p.GammaI, max(1, p.Power), p.Sigma
		m, err = kernelmachine.FitApproximate(ctx, d.Points, k, laplacian(s.Laplacian), y, &s, g.Scale, 0)
	case g.Kernel != nil:
		s, k := *g.Kernel, g.KernelFunction
		s.GammaA, s.GammaI, s.Power, k.Sigma = p.GammaA, p.GammaI, max(1, p.Power), p.Sigma
		m, err = kernelmachine.Fit(ctx, d.Points, k, laplacian(s.Laplacian), y, &s, 0)
	case g.Graph != nil:
		s := *g.Graph
		s.Alpha = p.Alpha
		if s.Method == propagation.Tikhonov {
			s.Regularizer.GammaA, s.Regularizer.GammaI, s.Regularizer.Power = p.GammaA, p.GammaI, p.Power
		}
		laplacian(sparse.Combinatorial)
		f, err := propagation.Fit(ctx, w, nil, y, &s)
		if err != nil {
			t.Fatal(err)
		}
		var classes []int32
		scores := mat.NewDense(len(points), f.Scores.RawMatrix().Cols, nil)
		for q, i := range points {
			scores.SetRow(q, f.Scores.RawRowView(i))
			if y.Classes != nil {
				classes = append(classes, f.Labels[i])
			}
		}
		return classes, scores
	default:
		s := *g.Eigenmap
		s.Eigenvectors, s.Gamma = p.Eigenvectors, p.Gamma
		l := laplacian(g.Laplacian)
		c := w.Components()
		e, err := lanczos.Laplacian(ctx, l, c, &lanczos.Settings{K: slices.Max(g.Eigenvectors)})
		if err != nil {
			t.Fatal(err)
		}
		labels := &data.Labels{Classes: y.Classes, Index: slices.Repeat([]int32{data.Unlabeled}, y.Len)}
		for q, i := range y.Labeled {
			labels.Index[i] = int32(y.Class(q))
		}
		f, err := eigenmap.Fit(e, c, labels, &s)
		if err != nil {
			t.Fatal(err)
		}
		all, classes := f.Transduce(e, c, labels), []int32{}
		scores := dense.Gather(mat.NewDense(len(points), len(y.Classes), nil), f.Scores(e.Vectors, y.Len), points)
		for _, i := range points {
			classes = append(classes, all[i])
		}
		return classes, scores
	}
	if err != nil {
		t.Fatal(err)
	}
	pred, err := m.Predict(ctx, data.Select(d.Points, points), nil)
	if err != nil {
		t.Fatal(err)
	}
	return pred.Classes, pred.Scores
}

// byHand is the criterion, from the metrics themselves.
func byHand(t *testing.T, c Criterion, d *Data, held []int, classes []int32, scores *mat.Dense) float64 {
	t.Helper()
	var wrong float64
	var truth, predicted []float64
	positive := make([]bool, len(held))
	for i, q := range held {
		if d.Targets.Classes == nil {
			truth = append(truth, mat.Row(nil, q, d.Targets.Y)...)
			predicted = append(predicted, mat.Row(nil, i, scores)...)
			continue
		}
		if positive[i] = d.Targets.Class(q) == 1; int(classes[i]) != d.Targets.Class(q) {
			wrong++
		}
	}
	var v float64
	var err error
	switch c {
	case ErrorCriterion:
		v = wrong / float64(len(held))
	case RMSECriterion:
		v, err = metrics.RMSE(truth, predicted)
	case AUCCriterion:
		v, err = metrics.AUC(mat.Col(nil, 1, scores), positive)
	case PRBEPCriterion:
		v, err = metrics.PRBEP(mat.Col(nil, 1, scores), positive)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTuneEqualsIndependentFits(t *testing.T) {
	three, two, values := tuneCase(t, 90, 33, 3, false), tuneCase(t, 90, 41, 2, false), tuneCase(t, 90, 30, 0, true)
	wide := tuneCase(t, 90, 30, 0, true)
	wide.Points = data.ToSparse(wide.Points)
	many := tuneCase(t, 90, 30, 0, true)
	columns := data.NewDense[float64](90, 130)
	for i := range columns.Data {
		columns.Data[i] = math.Sin(float64(i * i))
	}
	many.Points = data.ToSparse(columns)
	weights := Grid{GammaA: []float64{1e-3, 1e-1}, GammaI: []float64{0, 1e-3, 1e-1}, Power: []int{1, 2}, Neighbors: []int{4, 8}}
	grid := func(set func(*Grid)) *Grid {
		g := weights
		set(&g)
		return &g
	}
	gauss := kernel.Kernel{Kind: kernel.Gaussian}
	regularizer := models.Regularizer{Laplacian: sparse.Normalized, Scaling: models.PerPair}
	for name, c := range map[string]struct {
		d         *Data
		g         *Grid
		criterion Criterion
		points    int
	}{
		"linear, values":  {values, grid(func(g *Grid) { g.Linear = &linear.Settings{} }), RMSECriterion, 18},
		"linear, sparse":  {wide, grid(func(g *Grid) { g.Linear = &linear.Settings{Regularizer: regularizer} }), RMSECriterion, 18},
		"linear, classes": {three, grid(func(g *Grid) { g.Linear = &linear.Settings{} }), ErrorCriterion, 18},
		"linear, hinge":   {two, grid(func(g *Grid) { g.Linear = &linear.Settings{Loss: linear.SquaredHinge, Tolerance: 1e-12} }), AUCCriterion, 18},
		"kernel, values": {values, grid(func(g *Grid) {
			g.Kernel, g.KernelFunction, g.Sigma = &kernelmachine.Settings{}, gauss, []float64{0.7, 2}
		}), RMSECriterion, 36},
		"kernel, intercept": {values, grid(func(g *Grid) { g.Kernel = &kernelmachine.Settings{Intercept: true, Regularizer: regularizer} }), RMSECriterion, 18},
		"kernel, classes":   {three, grid(func(g *Grid) { g.Kernel, g.KernelFunction, g.Sigma = &kernelmachine.Settings{}, gauss, []float64{2} }), ErrorCriterion, 18},
		"kernel, svm": {two, grid(func(g *Grid) {
			g.Kernel, g.KernelFunction, g.Sigma = &kernelmachine.Settings{Method: kernelmachine.SVM}, gauss, []float64{2}
		}), PRBEPCriterion, 18},
		"landmarks, values": {values, grid(func(g *Grid) {
			g.Kernel, g.KernelFunction, g.Scale = &kernelmachine.Settings{Intercept: true, Regularizer: regularizer}, gauss, &kernelmachine.ApproximationSettings{Landmarks: 25, Seed: 1}
			g.Sigma = []float64{0.7, 2}
		}), RMSECriterion, 36},
		"landmarks, svm": {two, grid(func(g *Grid) {
			g.Kernel, g.KernelFunction, g.Scale = &kernelmachine.Settings{Method: kernelmachine.SVM, Tolerance: 1e-12}, gauss, &kernelmachine.ApproximationSettings{Landmarks: 25}
			g.Sigma = []float64{2}
		}), AUCCriterion, 18},
		"features, classes": {three, grid(func(g *Grid) {
			g.Kernel, g.KernelFunction, g.Scale = &kernelmachine.Settings{}, gauss, &kernelmachine.ApproximationSettings{Approximation: kernelmachine.Fourier, Features: 40, Seed: 2}
			g.Sigma = []float64{2}
		}), ErrorCriterion, 18},
		"matrix-free, values": {values, &Grid{Kernel: &kernelmachine.Settings{Tolerance: 1e-13}, KernelFunction: gauss, Scale: &kernelmachine.ApproximationSettings{Approximation: kernelmachine.MatrixFree, Landmarks: 60},
			GammaA: []float64{1e-1}, GammaI: []float64{0, 1e-3}, Sigma: []float64{1, 2}}, RMSECriterion, 4},
		"sssl":                 {values, &Grid{SSSL: &eigenfunction.Settings{Intercept: true}, KernelFunction: gauss, Sigma: []float64{1, 2}, Eigenvectors: []int{1, 4, 12}}, RMSECriterion, 6},
		"sssl, its own choice": {three, &Grid{SSSL: &eigenfunction.Settings{Folds: 3, Seed: 5}, KernelFunction: gauss, Sigma: []float64{1, 3}}, ErrorCriterion, 2},
		"tikhonov, values": {values, grid(func(g *Grid) {
			g.Graph, g.GammaI = &propagation.Settings{Method: propagation.Tikhonov, Tolerance: 1e-12}, []float64{1e-3, 1e-1}
		}), RMSECriterion, 16},
		"harmonic, values":    {values, &Grid{Graph: &propagation.Settings{}, Neighbors: []int{3, 5, 8}}, RMSECriterion, 3},
		"lgc":                 {two, &Grid{Graph: &propagation.Settings{Method: propagation.LGC}, Neighbors: []int{3, 5}, Alpha: []float64{0.5, 0.99}}, AUCCriterion, 4},
		"poisson":             {three, &Grid{Graph: &propagation.Settings{Method: propagation.Poisson}}, ErrorCriterion, 1},
		"eigenmap":            {two, &Grid{Eigenmap: &eigenmap.Settings{}, Eigenvectors: []int{2, 5, 12}, Neighbors: []int{4, 8}}, AUCCriterion, 6},
		"eigenmap, penalized": {three, &Grid{Eigenmap: &eigenmap.Settings{Penalty: eigenmap.Iterated}, Eigenvectors: []int{9, 20}, Gamma: []float64{1e-2, 1}, Laplacian: sparse.Normalized}, ErrorCriterion, 4},
	} {
		t.Run(name, func(t *testing.T) {
			r := tune(t, c.d, c.g, &Settings{Folds: 4, Repeats: 2, Seed: 3, Criterion: c.criterion})
			if len(r.Scores) != c.points || r.Done != 8*c.points || r.Total != r.Done {
				t.Fatalf("%d points, %d of %d fits, want %d points", len(r.Scores), r.Done, r.Total, c.points)
			}
			for _, score := range r.Scores {
				var sum, squares float64
				for repeat := range 2 {
					folds, err := c.d.Targets.Folds(4, 3+uint64(repeat))
					if err != nil {
						t.Fatal(err)
					}
					for f, held := range folds {
						var rest, points []int
						for q, i := range c.d.Targets.Labeled {
							if slices.Contains(held, q) {
								points = append(points, i)
							} else {
								rest = append(rest, q)
							}
						}
						classes, scores := alone(t, c.d, c.g, score.Point, c.d.Targets.Keep(rest), points)
						want := byHand(t, c.criterion, c.d, held, classes, scores)
						got := float64(score.Folds[4*repeat+f])
						sum, squares = sum+want, squares+want*want
						if !(math.Abs(got-want) <= 1e-10) {
							t.Errorf("%s, repeat %d, fold %d: %v, alone %v", score, repeat, f, got, want)
						}
					}
				}
				deviation := math.Sqrt((squares - sum*sum/8) / 7 / 8)
				if !(math.Abs(float64(score.Mean)-sum/8) <= 1e-10) || !(math.Abs(float64(score.StdErr)-deviation) <= 1e-9) {
					t.Errorf("%s: mean %v ± %v, want %v ± %v", score, score.Mean, score.StdErr, sum/8, deviation)
				}
			}
			better := func(a, b Score) bool {
				return c.criterion.Larger() != (a.Mean < b.Mean) && math.Abs(float64(a.Mean-b.Mean)) > 1e-10
			}
			for i, score := range r.Scores[1:] {
				if better(score, r.Scores[i]) {
					t.Errorf("%s stands behind %s", score, r.Scores[i])
				}
			}
		})
	}
}

func TestFolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(4, 60).Draw(rt, "n")
		classes := rapid.IntRange(0, 5).Draw(rt, "classes")
		k := rapid.IntRange(2, n).Draw(rt, "folds")
		seed := rapid.Uint64().Draw(rt, "seed")
		var targets *models.Targets
		counts := map[int]int{}
		if classes < 2 {
			targets, _ = models.ValueTargets(mat.NewDense(n, 1, nil))
		} else {
			values := make([]int64, n)
			for i := range values {
				values[i] = int64(rapid.IntRange(0, classes-1).Draw(rt, "class"))
			}
			values[0], values[1] = 0, 1
			y := data.NewLabels(values, nil)
			targets, _ = models.ClassTargets(y)
			for q := range n {
				if c := targets.Class(q); int32(c) != y.Index[q] {
					rt.Fatalf("class %d of point %d, want %d", c, q, y.Index[q])
				}
				counts[targets.Class(q)]++
			}
		}
		folds, err := targets.Folds(k, seed)
		if err != nil {
			rt.Fatal(err)
		}
		again, _ := targets.Folds(k, seed)
		if !reflect.DeepEqual(folds, again) {
			rt.Fatal("the same seed gives other folds")
		}
		all := slices.Concat(folds...)
		slices.Sort(all)
		if len(folds) != k || len(all) != n || all[0] != 0 || all[n-1] != n-1 || len(slices.Compact(all)) != n {
			rt.Fatalf("%d folds of %v", len(folds), all)
		}
		for _, f := range folds {
			if !slices.IsSorted(f) || len(f) < n/k || len(f) > (n+k-1)/k {
				rt.Fatalf("a fold %v of %d points in %d folds", f, n, k)
			}
			for c, count := range counts {
				have := 0
				for _, q := range f {
					if targets.Class(q) == c {
						have++
					}
				}
				if have < count/k || have > (count+k-1)/k {
					rt.Fatalf("%d of %d points of class %d in one of %d folds", have, count, c, k)
				}
			}
		}
	})
	targets := tuneCase(t, 30, 8, 2, false).Targets
	a, _ := targets.Folds(2, 1)
	b, _ := targets.Folds(2, 2)
	if reflect.DeepEqual(a, b) {
		t.Error("two seeds give the same folds")
	}
	for _, k := range []int{-1, 0, 1, 9} {
		if _, err := targets.Folds(k, 0); err == nil {
			t.Errorf("%d folds of 8 points are no error", k)
		}
	}
}

func TestTuneSameBits(t *testing.T) {
	d := tuneCase(t, 120, 40, 3, false)
	grids := map[string]*Grid{
		"linear":   {Linear: &linear.Settings{Loss: linear.SquaredHinge}, GammaA: []float64{1e-3, 1}, GammaI: []float64{0, 1e-2}, Neighbors: []int{4, 7}},
		"kernel":   {Kernel: &kernelmachine.Settings{Method: kernelmachine.SVM}, GammaA: []float64{1e-3, 1}, GammaI: []float64{0, 1e-2}},
		"graph":    {Graph: &propagation.Settings{Method: propagation.LGC}, Alpha: []float64{0.5, 0.9}},
		"eigenmap": {Eigenmap: &eigenmap.Settings{}, Eigenvectors: []int{3, 6}},
	}
	for name, g := range grids {
		var results []*Result
		for _, threads := range []int{1, 4, 4} {
			before := runtime.GOMAXPROCS(threads)
			results = append(results, tune(t, d, g, &Settings{Seed: 8, Criterion: AUCCriterion}))
			runtime.GOMAXPROCS(before)
		}
		other := tune(t, d, g, &Settings{Seed: 9, Criterion: AUCCriterion})
		for _, r := range results[1:] {
			if !reflect.DeepEqual(r, results[0]) {
				t.Errorf("%s: %v and %v", name, r, results[0])
			}
		}
		if reflect.DeepEqual(other.Scores, results[0].Scores) {
			t.Errorf("%s: another seed gives the same scores", name)
		}
	}
}

// TestTuneFindsPlantedOptimum has few labels on two moons, where only the
// intrinsic norm helps, and noise in many dimensions, where γ_A must be large.
func TestTuneFindsPlantedOptimum(t *testing.T) {
	x, y := data.TwoMoons(300, 0.08, 5)
	few, err := y.Draw(16, 2)
	if err != nil {
		t.Fatal(err)
	}
	d := &Data{Points: x, Targets: modeltest.ClassTargets(t, few)}
	ix, err := knn.NewBrute(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d.Neighbors, err = ix.Self(context.Background(), 8); err != nil {
		t.Fatal(err)
	}
	r := tune(t, d, &Grid{Kernel: &kernelmachine.Settings{}, KernelFunction: kernel.Kernel{Kind: kernel.Gaussian},
		GammaA: []float64{1e-4, 1e-2}, GammaI: []float64{0, 1e-2, 1}, Sigma: []float64{0.3, 30}, Neighbors: []int{8}}, &Settings{Folds: 4, Repeats: 3})
	if b := r.Best(); b.GammaI == 0 || b.Sigma != 0.3 || b.Mean > 0.05 {
		t.Errorf("best is %s with error %v", b, b.Mean)
	}

	rng := rand.New(rand.NewPCG(1, 2))
	noisy, values := data.NewDense[float64](60, 50), mat.NewDense(60, 1, nil)
	for i := range noisy.Data {
		noisy.Data[i] = rng.NormFloat64()
	}
	for i := range 60 {
		values.Set(i, 0, noisy.Row(i)[0]+0.5*rng.NormFloat64())
	}
	targets, err := models.ValueTargets(values)
	if err != nil {
		t.Fatal(err)
	}
	r = tune(t, &Data{Points: noisy, Targets: targets}, &Grid{Linear: &linear.Settings{}, GammaA: []float64{1e-8, 1e-4, 1, 1e6}}, nil)
	if b := r.Best(); b.GammaA != 1 {
		t.Errorf("best is %s with RMSE %v", b, b.Mean)
	}
}

func TestTuneTiesGoToTheStronger(t *testing.T) {
	x := data.NewDense[float64](20, 1)
	classes := make([]int64, 20)
	for i := range 20 {
		classes[i] = int64(i % 2)
		x.Row(i)[0] = float64(2*classes[i]-1) + 0.01*float64(i)
	}
	d := &Data{Points: x, Targets: modeltest.ClassTargets(t, data.NewLabels(classes, nil))}
	for _, c := range []Criterion{ErrorCriterion, F1Criterion, AUCCriterion, PRBEPCriterion} {
		r := tune(t, d, &Grid{Linear: &linear.Settings{}, GammaA: []float64{1e-4, 1e-2, 1e-3, 1e-3}}, &Settings{Criterion: c})
		var order []float64
		for _, s := range r.Scores {
			order = append(order, s.GammaA)
		}
		if !slices.Equal(order, []float64{1e-2, 1e-3, 1e-4}) {
			t.Errorf("%v: order %v", c, order)
		}
	}
}

func TestTuneClassesOutsideFolds(t *testing.T) {
	d := tuneCase(t, 60, 20, 3, false)
	// Keep one label of the last class.
	var keep []int
	lone := -1
	for q := range d.Targets.Labeled {
		if d.Targets.Class(q) < 2 || lone < 0 {
			keep = append(keep, q)
		}
		if d.Targets.Class(q) == 2 {
			lone = q
		}
	}
	d.Targets = d.Targets.Keep(keep)
	for name, g := range map[string]*Grid{
		"linear": {Linear: &linear.Settings{}, GammaA: []float64{0.1}}, "kernel": {Kernel: &kernelmachine.Settings{Method: kernelmachine.SVM}, GammaA: []float64{0.1}},
		"graph": {Graph: &propagation.Settings{}}, "eigenmap": {Eigenmap: &eigenmap.Settings{}},
	} {
		l := len(keep)
		r := tune(t, d, g, &Settings{Folds: l})
		for f, v := range r.Best().Folds {
			folds, _ := d.Targets.Folds(l, 0)
			if v != 0 && v != 1 || d.Targets.Class(folds[f][0]) == 2 && v != 1 {
				t.Errorf("%s: error %v on fold %d", name, v, f)
			}
		}
		if _, err := Search(context.Background(), d, g, &Settings{Folds: l, Criterion: AUCCriterion}); err == nil || !strings.Contains(err.Error(), "not defined on any fold") {
			t.Errorf("%s: AUC of single points: %v", name, err)
		}
	}
	two := tuneCase(t, 60, 20, 2, false)
	var first []int
	for q := range two.Targets.Labeled {
		if two.Targets.Class(q) == 0 || len(first) == 0 {
			first = append(first, q)
		}
	}
	if two.Targets.Class(0) == 0 {
		first = append(first, slices.IndexFunc(two.Targets.Labeled, func(i int) bool { return i%2 == 1 }))
	}
	two.Targets = two.Targets.Keep(first)
	_, err := Search(context.Background(), two, &Grid{Linear: &linear.Settings{}, GammaA: []float64{1}}, nil)
	if err == nil || !strings.Contains(err.Error(), "all labels are of class 0") {
		t.Errorf("one label of a class: %v", err)
	}
}

func TestTuneFaultsOfPoints(t *testing.T) {
	d := tuneCase(t, 60, 20, 2, false)
	g := &Grid{Kernel: &kernelmachine.Settings{}, GammaA: []float64{1e-12}, GammaI: []float64{1e-12, 1e12}, Power: []int{6}}
	r := tune(t, d, g, nil)
	if r.Best().Fault != "" || r.Scores[1].Fault == "" || r.Done != r.Total {
		t.Errorf("faults %q and %q", r.Best().Fault, r.Scores[1].Fault)
	}
	g.GammaI = []float64{1e12}
	if _, err := Search(context.Background(), d, g, nil); err == nil || !strings.Contains(err.Error(), "lost in rounding") {
		t.Errorf("all points failed: %v", err)
	}
	// In a linear path the others are fitted all the same.
	d.Targets = tuneCase(t, 60, 60, 2, false).Targets
	x := data.NewDense[float64](60, 2)
	for i := range 60 {
		x.Row(i)[0] = float64(i)
		x.Row(i)[1] = float64(i)
	}
	d.Points = x
	r = tune(t, d, &Grid{Linear: &linear.Settings{}, GammaA: []float64{1e-300, 1}}, nil)
	if r.Best().GammaA != 1 || r.Best().Fault != "" || !strings.Contains(r.Scores[1].Fault, "too small") {
		t.Errorf("faults %q and %q", r.Best().Fault, r.Scores[1].Fault)
	}
}

func TestTuneCost(t *testing.T) {
	d := tuneCase(t, 60, 20, 2, false)
	for name, g := range map[string]*Grid{
		"linear": {Linear: &linear.Settings{}, GammaA: []float64{1}, GammaI: []float64{1}}, "kernel": {Kernel: &kernelmachine.Settings{}, GammaA: []float64{1}, GammaI: []float64{1}},
		"graph": {Graph: &propagation.Settings{}}, "eigenmap": {Eigenmap: &eigenmap.Settings{}},
		"landmarks": {Kernel: &kernelmachine.Settings{Intercept: true}, Scale: &kernelmachine.ApproximationSettings{Landmarks: 20}, GammaA: []float64{1}, GammaI: []float64{1}},
	} {
		bytes, operations := Cost(d, g, nil)
		again := &Settings{Repeats: 3}
		same, more := Cost(d, g, again)
		if bytes < 8*60 || bytes > 1<<24 || same != bytes || !(operations > 0) || !(more > operations) {
			t.Errorf("%s: %d bytes and %g operations, repeated %d and %g", name, bytes, operations, same, more)
		}
		if _, err := Search(context.Background(), d, g, &Settings{MemoryLimit: bytes}); err != nil {
			t.Errorf("%s: with as much memory as estimated: %v", name, err)
		}
		if _, err := Search(context.Background(), d, g, &Settings{MemoryLimit: bytes - 1}); err == nil && name != "eigenmap" {
			t.Errorf("%s: with less memory than estimated", name)
		}
	}
}

func TestTuneUnconverged(t *testing.T) {
	d := tuneCase(t, 60, 20, 2, false)
	r, err := Search(context.Background(), d, &Grid{Graph: &propagation.Settings{Method: propagation.LGC, MaxIterations: 1, Tolerance: 1e-14}}, nil)
	if !errors.Is(err, cg.ErrNotConverged) || r == nil || r.Best().Unconverged != 5 || math.IsNaN(float64(r.Best().Mean)) {
		t.Errorf("%v, %v", r, err)
	}
}

func TestTuneCancelled(t *testing.T) {
	d := tuneCase(t, 60, 20, 2, false)
	ctx, cancel := context.WithCancel(context.Background())
	var last *Result
	r, err := Search(ctx, d, &Grid{Linear: &linear.Settings{}, GammaA: []float64{1, 2}, GammaI: []float64{0, 1}, Neighbors: []int{3, 4, 5}}, &Settings{
		OnProgress: func(r *Result) {
			if r.Done <= 0 || last != nil && r.Done <= last.Done {
				t.Errorf("%d fits done after %v", r.Done, last)
			}
			if last = r; r.Done >= 14 {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) || r == nil || r.Done < 14 || r.Done >= r.Total || r.Total != 40 {
		t.Fatalf("%v, %v", r, err)
	}
	if !bytes.Equal(asJSON(t, r), asJSON(t, last)) {
		t.Error("the result is not the last one told")
	}
	if b := r.Best(); b.Done != 5 || b.Neighbors != 3 {
		t.Errorf("the best point has %d folds: %s", b.Done, b)
	}
	if last := r.Scores[7]; last.Done != 0 || !math.IsNaN(float64(last.Mean)) {
		t.Errorf("the last point has %d folds: %v", last.Done, last.Mean)
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTuneRefuses(t *testing.T) {
	classes, values := tuneCase(t, 30, 10, 2, false), tuneCase(t, 30, 10, 0, true)
	linearGrid := func(g Grid) *Grid {
		g.Linear = &linear.Settings{}
		if g.GammaA == nil {
			g.GammaA = []float64{1}
		}
		return &g
	}
	bare := &Data{Targets: classes.Targets, Points: classes.Points}
	given := &Data{Targets: classes.Targets, Points: classes.Points}
	given.Graph, _, _ = knn.FromNeighbors(classes.Neighbors, classes.Edges)
	for i, c := range []struct {
		d    *Data
		g    *Grid
		s    Settings
		want string
	}{
		{classes, &Grid{}, Settings{}, "settings of 0 models"},
		{classes, linearGrid(Grid{Kernel: &kernelmachine.Settings{}}), Settings{}, "settings of 2 models"},
		{classes, linearGrid(Grid{GammaA: []float64{0, math.Inf(1)}}), Settings{}, "γ_A is +Inf"},
		{classes, linearGrid(Grid{GammaI: []float64{-1}}), Settings{}, "γ_I is -1"},
		{classes, linearGrid(Grid{GammaI: []float64{math.NaN()}}), Settings{}, "γ_I is NaN"},
		{classes, linearGrid(Grid{Power: []int{0}}), Settings{}, "the power of the Laplacian is 0"},
		{classes, linearGrid(Grid{Neighbors: []int{-1}}), Settings{}, "the number of neighbours is -1"},
		{classes, linearGrid(Grid{Sigma: []float64{1}}), Settings{}, "kernel machines only"},
		{classes, linearGrid(Grid{Alpha: []float64{0.5}}), Settings{}, "belongs to lgc"},
		{classes, linearGrid(Grid{Gamma: []float64{0.5}}), Settings{}, "eigenmap classifier only"},
		{classes, &Grid{Kernel: &kernelmachine.Settings{}, GammaA: []float64{1}, Sigma: []float64{1}}, Settings{}, "not of the linear one"},
		{classes, &Grid{Kernel: &kernelmachine.Settings{Method: kernelmachine.OneClass}, GammaA: []float64{1}}, Settings{}, "does not learn from labels"},
		{classes, &Grid{Graph: &propagation.Settings{}, Alpha: []float64{0.5}}, Settings{}, "belongs to lgc, not harmonic"},
		{classes, &Grid{Graph: &propagation.Settings{}, GammaA: []float64{0.5}}, Settings{}, "γ_A, γ_I and the power are of"},
		{classes, &Grid{Graph: &propagation.Settings{Method: propagation.Tikhonov}, GammaA: []float64{0.5}, GammaI: []float64{0}}, Settings{}, "γ_I is 0"},
		{classes, &Grid{Eigenmap: &eigenmap.Settings{}, Gamma: []float64{1}}, Settings{}, "needs a penalty"},
		{classes, &Grid{Eigenmap: &eigenmap.Settings{Penalty: eigenmap.Iterated}, Gamma: []float64{1}}, Settings{}, "to choose from"},
		{values, &Grid{Eigenmap: &eigenmap.Settings{}}, Settings{}, "is for classes"},
		{values, &Grid{Linear: &linear.Settings{Loss: linear.SquaredHinge}, GammaA: []float64{1}}, Settings{}, "is for classes"},
		{classes, linearGrid(Grid{Scale: &kernelmachine.ApproximationSettings{}}), Settings{}, "kernel machines only"},
		{classes, linearGrid(Grid{Eigenvectors: []int{2}}), Settings{}, "and of sssl"},
		{classes, &Grid{Kernel: &kernelmachine.Settings{Method: kernelmachine.SVR}, Scale: &kernelmachine.ApproximationSettings{}, GammaA: []float64{1}}, Settings{}, "fitted exactly only"},
		{classes, &Grid{Kernel: &kernelmachine.Settings{Method: kernelmachine.SVM}, Scale: &kernelmachine.ApproximationSettings{Approximation: kernelmachine.MatrixFree}, GammaA: []float64{1}}, Settings{}, "without a bias"},
		{classes, &Grid{Kernel: &kernelmachine.Settings{}, Scale: &kernelmachine.ApproximationSettings{Landmarks: -3}, GammaA: []float64{1}}, Settings{}, "-3 landmarks"},
		{classes, &Grid{SSSL: &eigenfunction.Settings{}, Eigenvectors: []int{11}}, Settings{}, "11 eigenfunctions for 10 labeled points"},
		{values, linearGrid(Grid{}), Settings{Criterion: AUCCriterion}, "criterion auc"},
		{classes, linearGrid(Grid{}), Settings{Criterion: RMSECriterion}, "criterion rmse"},
		{classes, linearGrid(Grid{}), Settings{Folds: 1}, "1 folds"},
		{classes, linearGrid(Grid{}), Settings{Folds: 11}, "11 folds of 10"},
		{classes, linearGrid(Grid{}), Settings{Repeats: -1}, "repeated -1 times"},
		{classes, linearGrid(Grid{}), Settings{MemoryLimit: 100}, "100 are allowed"},
		{classes, linearGrid(Grid{GammaI: []float64{1}, Neighbors: []int{10}}), Settings{}, "10 neighbours from lists of 9"},
		{bare, linearGrid(Grid{GammaI: []float64{1}}), Settings{}, "neither neighbours nor a graph"},
		{given, linearGrid(Grid{GammaI: []float64{1}, Neighbors: []int{3}}), Settings{}, "its own neighbours"},
		{&Data{Targets: classes.Targets}, linearGrid(Grid{}), Settings{}, "there are no points"},
		{&Data{Targets: classes.Targets, Points: data.NewDense[float64](7, 2)}, linearGrid(Grid{}), Settings{}, "targets for 30 points, there are 7"},
	} {
		r, err := Search(context.Background(), c.d, c.g, &c.s)
		if r != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d: %v, want an error with %q", i, err, c.want)
		}
	}
	r := tune(t, given, linearGrid(Grid{GammaI: []float64{0, 1}}), nil)
	if len(r.Scores) != 2 || fmt.Sprint(r.Best().Point) == "" {
		t.Errorf("on a graph: %v", r)
	}
}
