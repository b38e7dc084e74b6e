package propagation

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

func TestCutConform(t *testing.T) {
	modeltest.Conform(t, SizedLearner{Method: Cut}, modeltest.Suite{Values: conformValues(Poisson),
		Tolerances: map[string]modeltest.Tolerance{"permuted": {Relative: 1e-6,
			Reason: "rounds are taken in single precision"}}})
}

func TestCutCosts(t *testing.T) {
	modeltest.Costs(t, SizedLearner{Method: Cut}, conformValues(Poisson), 500, 2000, 10000)
}

// TestCutRounds: a round is the one of the definition, by dense matrices and a linear system that has
// both constraints in it.
func TestCutRounds(t *testing.T) {
	w := weightedGraph(t, 5, 40)
	n := w.Rows
	labeled := map[int]int64{0: 0, 7: 1, 13: 2, 20: 2}
	targets := modeltest.ClassTargets(t, modeltest.Labels(n, labeled))
	p, err := NewProblem(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &SizedSettings{Settings: Settings{Tolerance: 1e-12, Priors: []float64{2, 1, 1.5}}}
	start, err := p.beginSized(t.Context(), targets, s)
	if err != nil {
		t.Fatal(err)
	}
	const shift, tolerance = penalty - defaultPerturbation, 2e-6
	c, err := newCut(t.Context(), start.draw, start.volumes, shift)
	if err != nil {
		t.Fatal(err)
	}
	c.begin(start.volumes.labels)

	// The unknowns are X of the free points, a column after the other, then both kinds of multipliers.
	var free []int
	for i := range n {
		if c.root[i] != 0 {
			free = append(free, i)
		}
	}
	m, k := len(free), len(c.sizes)
	l := p.plain
	full := mat.NewDense(n, n, nil)
	unit := mat.NewDense(n, n, nil)
	for i := range n {
		unit.Set(i, i, 1)
	}
	l.MulTo(full, unit)
	degrees := l.Degrees()
	x, z, dual := mat.NewDense(m, k, nil), mat.NewDense(m, k, nil), mat.NewDense(m, k, nil)
	for a, i := range free {
		z.Set(a, int(start.volumes.labels[i]), 1)
	}
	for round := range 6 {
		before := slices.Clone(c.sum)
		for range 40 { // until the system is solved: one round of c has two steps only
			copy(c.sum, before)
			c.round()
		}

		size := m*k + m + k
		a := mat.NewDense(size, size, nil)
		b := mat.NewVecDense(size, nil)
		for j := range k {
			for r, i := range free {
				row := j*m + r
				for r2, i2 := range free {
					a.Set(row, j*m+r2, full.At(i, i2))
				}
				a.Set(row, row, a.At(row, row)+shift*degrees[i])
				var flow float64
				for q, at := range start.draw.at {
					flow -= full.At(i, int(at)) * start.draw.y.At(q, j)
				}
				b.SetVec(row, flow+penalty*degrees[i]*(z.At(r, j)-dual.At(r, j)))
				a.Set(row, m*k+r, 1)
				a.Set(m*k+r, row, 1)
				a.Set(row, m*k+m+j, 1)
				a.Set(m*k+m+j, row, 1)
			}
			b.SetVec(m*k+m+j, c.sizes[j])
		}
		for r := range m {
			b.SetVec(m*k+r, 1)
		}
		// One constraint follows from the others; its multiplier is zero.
		for j := range size {
			a.Set(size-1, j, 0)
		}
		a.Set(size-1, size-1, 1)
		b.SetVec(size-1, 0)
		var solution mat.VecDense
		if err := solution.SolveVec(a, b); err != nil {
			t.Fatal(err)
		}
		for j := range k {
			for r, i := range free {
				x.Set(r, j, solution.AtVec(j*m+r))
				sum := x.At(r, j) + dual.At(r, j)
				z.Set(r, j, max(sum, 0))
				dual.Set(r, j, sum-z.At(r, j))
				// The rounding of single precision, over six rounds.
				if got := c.row(c.v, i)[j] * c.invert[i]; !(math.Abs(float64(got)-x.At(r, j)) < tolerance) {
					t.Fatalf("round %d, point %d, class %d: %.12f, want %.12f", round, i, j, got, x.At(r, j))
				}
				if got := max(c.row(c.sum, i)[j], 0) * c.invert[i]; !(math.Abs(float64(got)-z.At(r, j)) < tolerance) {
					t.Fatalf("round %d, point %d, class %d: copy %.12f, want %.12f", round, i, j, got, z.At(r, j))
				}
			}
		}
	}
}

// TestCutFewLabels: the cut is within 3 % of that of Poisson MBO, classes have their sizes, and the error with one label a
// class is below that of Poisson learning.
func TestCutFewLabels(t *testing.T) {
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

	mbo, err := p.FitPoissonMBO(t.Context(), targets, &SizedSettings{Sizes: EqualSizes})
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.FitCut(t.Context(), targets, &SizedSettings{Sizes: EqualSizes})
	if err != nil {
		t.Fatal(err)
	}
	if g.Off > mostVolumeTolerance {
		t.Errorf("sizes are off by %g", g.Off)
	}
	cuts := []float64{cutOf(problem.W, mbo.Labels), cutOf(problem.W, g.Labels)}
	before, after := metrics.ErrorRate(poisson.Labels, truth, y), metrics.ErrorRate(g.Labels, truth, y)
	t.Logf("cuts %.1f and %.1f, errors %.3f and %.3f, %d rounds", cuts[0], cuts[1], before, after, g.Rounds)
	if !(cuts[1] < 1.03*cuts[0]) || !(after < 0.8*before) {
		t.Errorf("cuts %.1f and %.1f, errors %.3f and %.3f", cuts[0], cuts[1], before, after)
	}
}

// TestCutFarPoints: points whose edges weigh next to nothing, as those of a heat kernel far from all others do, leave the
// classes of the others as they are.
func TestCutFarPoints(t *testing.T) {
	x, truth := synthetic.Digits(600, 3)
	w := modeltest.NewProblem(t, x, knn.GraphSettings{K: 10, Weights: knn.SelfTuning}, sparse.Combinatorial, 1).W
	var rows []int
	for c := range truth.Classes {
		rows = append(rows, slices.Index(truth.Index, int32(c)))
	}
	targets := modeltest.ClassTargets(t, truth.Keep(rows))
	settings := &SizedSettings{Sizes: EqualSizes, KeepPairs: true, KeepSizes: true}
	var labels [2][]int32
	far := map[int]float64{}
	for run := range labels {
		weak := &sparse.CSR{Rows: w.Rows, Cols: w.Cols, Ptr: w.Ptr, Col: w.Col, Val: slices.Clone(w.Val)}
		for i := range w.Rows {
			for e := w.Ptr[i]; e < w.Ptr[i+1]; e++ {
				for _, end := range []int{i, int(w.Col[e])} {
					weak.Val[e] *= cmp.Or(far[end], 1)
				}
			}
		}
		p, err := NewProblem(weak, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := p.FitCut(t.Context(), targets, settings)
		if !models.Usable(err) {
			t.Fatal(err)
		}
		for _, v := range g.Scores.RawMatrix().Data {
			if !(v >= 0 && v < math.MaxFloat32) {
				t.Fatalf("a score is %v", v)
			}
		}
		labels[run] = g.Labels
		far[300], far[301] = 1e-100, 1e-60
	}
	if changed := changedShare(labels[0], labels[1]); changed > 0.05 {
		t.Errorf("%.3f of the classes changed", changed)
	}
}

// TestCutUnreached: points that no label reaches get no scores, and a graph whose points are all labeled
// keeps its labels.
func TestCutUnreached(t *testing.T) {
	w := weightedGraph(t, 7, 80, 60, 20)
	targets := modeltest.ClassTargets(t, modeltest.Labels(w.Rows, map[int]int64{0: 0, 1: 1, 2: 1, 5: 0, 9: 1}))
	p, err := NewProblem(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.FitCut(t.Context(), targets, &SizedSettings{Settings: Settings{Priors: []float64{3, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]float64, 2)
	for i, ok := range w.Components().Reached(targets.Labeled) {
		if ok {
			counts[g.Labels[i]]++
		} else if g.Labels[i] != g.Fallback || g.Scores.At(i, 0) != 0 || g.Scores.At(i, 1) != 0 {
			t.Fatalf("point %d out of reach: class %d, scores %v", i, g.Labels[i], g.Scores.RawRowView(i))
		}
	}
	if share := counts[0] / (counts[0] + counts[1]); math.Abs(share-0.75) > 0.05 {
		t.Errorf("class 0 has %.3f of the points that labels reach, asked for 0.75", share)
	}

	all := map[int]int64{}
	for i := range w.Rows {
		all[i] = int64(i % 2)
	}
	g, err = p.FitCut(t.Context(), modeltest.ClassTargets(t, modeltest.Labels(w.Rows, all)), &SizedSettings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, class := range g.Labels {
		if int64(class) != all[i] {
			t.Fatalf("point %d has class %d, its label is %d", i, class, all[i])
		}
	}
}
