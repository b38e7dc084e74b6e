package propagation

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

func TestPoissonMBOConform(t *testing.T) {
	modeltest.Conform(t, SizedLearner{Method: PoissonMBO}, modeltest.Suite{Values: conformValues(Poisson),
		Tolerances: map[string]modeltest.Tolerance{"permuted": {Relative: 1e-6,
			Reason: "steps of the heat equation are taken in single precision"}}})
}

func TestPoissonMBOCosts(t *testing.T) {
	modeltest.Costs(t, SizedLearner{Method: PoissonMBO}, conformValues(Poisson), 500, 2000, 10000)
}

// TestHeat: the sums of Chebyshev polynomials are the explicit steps, with fewer products.
func TestHeat(t *testing.T) {
	w := weightedGraph(t, 3, 60, 30)
	l, err := sparse.NewLaplacian(w, sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	n := w.Rows
	labels := make([]int32, n)
	source := mat.NewDense(n, 3, nil)
	for i := range n {
		labels[i] = int32(i*i) % 3
	}
	source.Set(4, 0, 1)
	source.Set(4, 1, -1)
	dt := 1 / slices.Max(l.Degrees())

	for _, steps := range []int{1, 2, 7, 40, 200} {
		u := mat.NewDense(n, 3, nil)
		for i, c := range labels {
			u.Set(i, int(c), 1)
		}
		for range steps {
			lu := mat.NewDense(n, 3, nil)
			l.MulTo(lu, u)
			lu.Sub(source, lu)
			lu.Scale(dt, lu)
			u.Add(u, lu)
		}

		h := newHeat(newStepMatrix(l), steps, 3)
		got := mat.DenseCopyOf(h.step(labels, nil, h.sources(source)))
		// The bound of the sources is relative to the largest value of their polynomial, steps·Δt.
		bound := heatTolerance * (math.Sqrt(float64(n)) + 2*float64(steps)*dt)
		checkNear(t, "heat", got, u, bound)
		if steps == 200 && len(h.decay) > 90 {
			t.Errorf("%d terms for %d steps", len(h.decay), steps)
		}
	}
}

// TestVolumes: classes get the shares that are asked for, from scores that ask for others, and
// points that do not count do not.
func TestVolumes(t *testing.T) {
	const n, c = 5000, 4
	u := mat.NewDense(n, c, nil)
	live := make([]bool, n)
	for i := range n {
		live[i] = i%5 != 0
		for j := range c {
			u.Set(i, j, math.Sin(float64(i*(j+1)))+0.3*float64(j)-1)
		}
	}
	for _, shares := range [][]float64{{0.25, 0.25, 0.25, 0.25}, {0.7, 0.1, 0.15, 0.05}} {
		v := newVolumes(n, shares, live)
		if off := v.project(u); off > v.tolerance() {
			t.Errorf("shares %v are off by %g", shares, off)
		}
		counts := make([]float64, c)
		factors := v.factors()
		low := v.lowest(u)
		for i, label := range v.labels {
			if !live[i] {
				continue
			}
			counts[label] += 1 / (0.8 * n)
			for j := range c {
				if factors[j]*(u.At(i, j)-low) > factors[label]*(u.At(i, int(label))-low) {
					t.Fatalf("point %d has class %d, and class %d scores higher", i, label, j)
				}
			}
		}
		for j, s := range shares {
			if math.Abs(counts[j]-s) > 1.01*v.tolerance() {
				t.Errorf("class %d has %.4f of the points, asked for %.4f", j, counts[j], s)
			}
		}
	}
}

// TestPoissonMBOFewLabels: with one label a class, classes of about equal sizes lower the error of
// Poisson learning, and sizes that are wrong raise it.
func TestPoissonMBOFewLabels(t *testing.T) {
	x, truth := synthetic.Digits(2000, 3)
	problem := modeltest.NewProblem(t, x, knn.GraphSettings{K: 10, Weights: knn.SelfTuning}, sparse.Combinatorial, 1)
	var rows []int
	for c := range truth.Classes {
		rows = append(rows, slices.Index(truth.Index, int32(c)))
	}
	y := truth.Keep(rows)
	targets := modeltest.ClassTargets(t, y)
	p, err := NewProblem(problem.W, nil)
	if err != nil {
		t.Fatal(err)
	}
	poisson, err := p.Fit(t.Context(), targets, &Settings{Method: Poisson})
	if err != nil {
		t.Fatal(err)
	}
	before := metrics.ErrorRate(poisson.Labels, truth, y)

	errorOf := func(s SizedSettings) float64 {
		g, err := p.FitPoissonMBO(t.Context(), targets, &s)
		if err != nil {
			t.Fatal(err)
		}
		if g.Off > mostVolumeTolerance {
			t.Errorf("%+v: sizes are off by %g", s, g.Off)
		}
		return metrics.ErrorRate(g.Labels, truth, y)
	}
	wrong := slices.Repeat([]float64{1}, len(y.Classes))
	wrong[0] = 20
	equal := errorOf(SizedSettings{Sizes: EqualSizes})
	estimated := errorOf(SizedSettings{})
	skewed := errorOf(SizedSettings{Settings: Settings{Priors: wrong}})
	t.Logf("errors: poisson %.3f, equal %.3f, estimated %.3f, wrong sizes %.3f", before, equal, estimated, skewed)
	if !(equal < 0.8*before) || !(estimated < before) || !(skewed > 0.5) {
		t.Errorf("errors: poisson %.3f, equal %.3f, estimated %.3f, wrong sizes %.3f", before, equal, estimated, skewed)
	}
}

// TestTwoSizes: two classes of uneven sizes and one label each get their sizes, in either order, beside a component
// without labels too. Poisson learning says little about them, and labels that speak of others are believed.
func TestTwoSizes(t *testing.T) {
	const small, n = 120, 1200
	rng := rand.New(rand.NewPCG(5, 6))
	x := data.NewDense[float64](n, 2)
	truth := make([]int64, n)
	for i := range n {
		if i >= small {
			truth[i] = 1
		}
		x.Row(i)[0] = rng.NormFloat64() + 5.0*float64(truth[i])
		x.Row(i)[1] = rng.NormFloat64()
	}
	// The last points are far away and have no label.
	const far = n - 200
	for i := far; i < n; i++ {
		x.Row(i)[0] += 1000
	}
	problem := modeltest.NewProblem(t, x, knn.GraphSettings{K: 10}, sparse.Combinatorial, 1)
	p, err := NewProblem(problem.W, nil)
	if err != nil {
		t.Fatal(err)
	}
	wrong := func(perClass [2]int, turned int64, s SizedSettings) (float64, *SizedSolution) {
		classes := slices.Clone(truth)
		labeled := make([]bool, n)
		for q := range perClass[0] {
			labeled[10+q] = true
		}
		for q := range perClass[1] {
			labeled[small+200+q] = true
		}
		for i := range classes {
			classes[i] ^= turned
		}
		y := modeltest.ClassTargets(t, data.NewLabels(classes, labeled))
		g, err := p.FitPoissonMBO(t.Context(), y, &s)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for i := range far {
			if int64(g.Labels[i]) != classes[i] {
				wrong++
			}
		}
		return float64(wrong) / far, g
	}

	for turned := range int64(2) {
		kept, _ := wrong([2]int{1, 1}, turned, SizedSettings{KeepSizes: true})
		found, g := wrong([2]int{1, 1}, turned, SizedSettings{})
		t.Logf("errors: %.3f with the estimate, %.3f with shares %v", kept, found, g.Shares)
		if !(kept > 0.1) || !(found < 0.03) || !(math.Abs(g.Shares[turned]-small/float64(far)) < 0.03) || g.Off > mostVolumeTolerance {
			t.Errorf("errors: %.3f with the estimate, %.3f with shares %v, off by %g", kept, found, g.Shares, g.Off)
		}
	}
	// 30 labels of the small class and 30 of the other say nothing; 4 and 400 leave no other size; 60 and 20 say that it is the larger
	// one.
	if e, g := wrong([2]int{30, 30}, 0, SizedSettings{}); e > 0.03 {
		t.Errorf("even labels: error %.3f with shares %v", e, g.Shares)
	}
	if e, g := wrong([2]int{4, 400}, 0, SizedSettings{}); e > 0.1 || g.Shares[0] > 0.2 {
		t.Errorf("4 of 404 labels: error %.3f with shares %v", e, g.Shares)
	}
	if _, g := wrong([2]int{60, 20}, 0, SizedSettings{}); g.Shares[0] < 0.4 {
		t.Errorf("60 of 80 labels say that the first class has most points: shares %v", g.Shares)
	}
}

// TestUnevenSizes: three classes of very uneven sizes that are clusters get those that Poisson learning gives them, where
// sizes that are about equal keep to them.
func TestUnevenSizes(t *testing.T) {
	sizes := []int{40, 100, 660}
	rng := rand.New(rand.NewPCG(9, 1))
	x := data.NewDense[float64](800, 2)
	truth := &data.Labels{Classes: []int64{0, 1, 2}}
	var rows []int
	for c, size := range sizes {
		rows = append(rows, len(truth.Index)+7)
		for range size {
			row := x.Row(len(truth.Index))
			row[0] = rng.NormFloat64() + 5.2*float64(c)
			row[1] = rng.NormFloat64()
			truth.Index = append(truth.Index, int32(c))
		}
	}
	problem := modeltest.NewProblem(t, x, knn.GraphSettings{K: 10}, sparse.Combinatorial, 1)
	p, err := NewProblem(problem.W, nil)
	if err != nil {
		t.Fatal(err)
	}
	y := truth.Keep(rows)
	errorOf := func(s SizedSettings) float64 {
		g, err := p.FitPoissonMBO(t.Context(), modeltest.ClassTargets(t, y), &s)
		if err != nil {
			t.Fatal(err)
		}
		return metrics.ErrorRate(g.Labels, truth, y)
	}
	kept, found := errorOf(SizedSettings{KeepSizes: true}), errorOf(SizedSettings{})
	t.Logf("errors: %.3f with sizes that are held, %.3f without", kept, found)
	if !(kept > 0.2) || !(found < 0.05) {
		t.Errorf("errors: %.3f with sizes that are held, %.3f without", kept, found)
	}
}

// TestLikely: shares far from those of many labels are unlikely, and about as many labels of each class say nothing.
func TestLikely(t *testing.T) {
	for _, c := range []struct {
		share  float64
		counts []float64
		want   bool
	}{
		{0.05, []float64{5, 5}, true}, {0.05, []float64{5, 7, 6}, true},
		{0.3, []float64{30, 70}, true}, {0.38, []float64{30, 70}, true}, {0.41, []float64{30, 70}, false},
		{0.2, []float64{30, 70}, false}, {0.3, []float64{30, 10, 60}, true}, {0.6, []float64{30, 10, 60}, false},
		{0, []float64{4, 400}, false},
	} {
		if got := likely(c.share, 0, c.counts); got != c.want {
			t.Errorf("%g of the points and labels %v: likely %v", c.share, c.counts, got)
		}
	}
}

// TestThreshold: about as many scores as asked for are above it, and scores that are about equal are on one side.
func TestThreshold(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		scores      []float32
		count, want int
	}{
		{[]float32{1, 2, 3, 4}, 0, 0}, {[]float32{1, 2, 3, 4}, 1, 1}, {[]float32{1, 2, 3, 4}, 4, 4},
		{[]float32{0, 0, 0, 1, 1}, 1, 2}, {[]float32{0, 0, 0, 1, 1}, 3, 2}, {[]float32{0, 0, 0, 1, 1}, 4, 5},
		{[]float32{0, 1e-7, 2e-7, 1, 1}, 3, 2}, {[]float32{-inf, 0, inf}, 1, 1},
	} {
		least := threshold(c.scores, c.count)
		got := 0
		for _, v := range c.scores {
			if v >= least {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%v, %d wanted: %d above %g, want %d", c.scores, c.count, got, least, c.want)
		}
	}
}

// TestPoissonMBOSteps: the classes are those of explicit steps, written anew.
func TestPoissonMBOSteps(t *testing.T) {
	x, truth := synthetic.Digits(600, 8)
	problem := modeltest.NewProblem(t, x, knn.GraphSettings{K: 10, Weights: knn.SelfTuning}, sparse.Combinatorial, 1)
	y, err := truth.Draw(2*len(truth.Classes), 5)
	if err != nil {
		t.Fatal(err)
	}
	targets := modeltest.ClassTargets(t, y)
	p, err := NewProblem(problem.W, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.FitPoissonMBO(t.Context(), targets, &SizedSettings{Sizes: EqualSizes, Rounds: 4, KeepPairs: true,
		KeepSizes: true})
	if err != nil {
		t.Fatal(err)
	}

	// Explicit steps in the order of the vertices, with the plain Laplacian.
	start, err := p.Fit(t.Context(), targets, &Settings{Method: Poisson})
	if err != nil {
		t.Fatal(err)
	}
	l, err := sparse.NewLaplacian(problem.W, sparse.Combinatorial)
	if err != nil {
		t.Fatal(err)
	}
	n, c := start.Scores.Dims()
	source := mat.NewDense(n, c, nil)
	for q, i := range targets.Labeled {
		for j := range c {
			share := 0.0
			for k := range targets.Labeled {
				if targets.Class(k) == j {
					share += 1 / float64(len(targets.Labeled))
				}
			}
			source.Set(i, j, -share)
			if targets.Class(q) == j {
				source.Set(i, j, 1-share)
			}
		}
	}
	v := newVolumes(n, slices.Repeat([]float64{1 / float64(c)}, c), nil)
	v.project(start.Scores)
	dt := 1 / slices.Max(l.Degrees())
	for range got.Rounds {
		u := mat.NewDense(n, c, nil)
		for i, label := range v.labels {
			u.Set(i, int(label), 1)
		}
		for range defaultSteps {
			lu := mat.NewDense(n, c, nil)
			l.MulTo(lu, u)
			lu.Sub(source, lu)
			lu.Scale(dt, lu)
			u.Add(u, lu)
		}
		v.project(u)
	}
	differ := 0
	for i, label := range v.labels {
		if label != got.Labels[i] && !slices.Contains(targets.Labeled, i) {
			differ++
		}
	}
	if differ > n/100 {
		t.Errorf("%d of %d classes differ from those of explicit steps", differ, n)
	}
}

// TestPoissonMBOUnreached: points that no label reaches get the most frequent class and no scores, and
// do not count in the sizes.
func TestPoissonMBOUnreached(t *testing.T) {
	w := weightedGraph(t, 7, 80, 60, 20)
	c := w.Components()
	targets := modeltest.ClassTargets(t, modeltest.Labels(w.Rows, map[int]int64{0: 0, 1: 1, 2: 1, 5: 0, 9: 1}))
	p, err := NewProblem(w, c)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.FitPoissonMBO(t.Context(), targets, &SizedSettings{Settings: Settings{Priors: []float64{3, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	reached := c.Reached(targets.Labeled)
	counts := make([]int, 2)
	for i, ok := range reached {
		if ok {
			counts[g.Labels[i]]++
			continue
		}
		if g.Labels[i] != g.Fallback || g.Scores.At(i, 0) != 0 || g.Scores.At(i, 1) != 0 {
			t.Fatalf("point %d out of reach: class %d, scores %v", i, g.Labels[i], g.Scores.RawRowView(i))
		}
	}
	if share := float64(counts[0]) / float64(counts[0]+counts[1]); math.Abs(share-0.75) > 0.05 {
		t.Errorf("class 0 has %.3f of the points that labels reach, asked for 0.75", share)
	}
	if want := w.Rows - counts[0] - counts[1]; g.Unreached != want {
		t.Errorf("%d points out of reach, want %d", g.Unreached, want)
	}
}
