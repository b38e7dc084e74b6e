package eigenmap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/nearest"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

func TestEigenmapTwoMoons(t *testing.T) {
	x, truth := synthetic.TwoMoons(600, 0.06, 3)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 8}, sparse.Combinatorial, 30)
	for seed := range uint64(10) {
		// One label a class.
		y := modeltest.Labels(600, map[int]int64{int(2 * (seed * 17 % 300)): 0, int(2*(seed*31%300)) + 1: 1})
		for _, s := range []*Settings{{Eigenvectors: 2}, {Penalty: Iterated, Gamma: 1}, {Penalty: HeatKernel, T: 10, Gamma: 1}} {
			got := fit(t, p, y, s).Transduce(p.Eigs, p.C, y)
			if e := metrics.ErrorRate(got, truth, y); !(e <= 0.03) {
				t.Errorf("labels %v, %+v: error %.3f", y.Labeled(), *s, e)
			}
		}
	}
}

func TestEigenmapDigits(t *testing.T) {
	x, truth := synthetic.Digits(1500, 5)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 8}, sparse.Normalized, 100)
	var ours, theirs float64
	const draws = 5
	for seed := range uint64(draws) {
		y, err := truth.Draw(100, seed)
		if err != nil {
			t.Fatal(err)
		}
		s := &Settings{Penalty: Iterated, Gamma: 0.1}
		ours += metrics.ErrorRate(fit(t, p, y, s).Transduce(p.Eigs, p.C, y), truth, y) / draws
		nearest, err := nearest.KNN(context.Background(), x, knn.Euclidean, nil, y, []int{1})
		if err != nil {
			t.Fatal(err)
		}
		theirs += metrics.ErrorRate(nearest[0], truth, y) / draws
	}
	t.Logf("eigenmap %.3f, nearest neighbour %.3f", ours, theirs)
	if !(ours <= 0.6*theirs) {
		t.Errorf("error %.3f, of the nearest neighbour %.3f", ours, theirs)
	}
}

// direct solves the least-squares problem of Fit as it is written, by
// the singular value decomposition of the stacked and column-scaled system.
// Scaling does not change which minimizer is the smallest, as those columns
// that are scaled have a penalty and are determined.
func direct(e *lanczos.Result, y *data.Labels, p int, penalty []float64) *mat.Dense {
	n, _ := e.Vectors.Dims()
	rows := y.Labeled()
	l, c := len(rows), len(y.Classes)
	a, b := mat.NewDense(l+p, p, nil), mat.NewDense(l+p, c, nil)
	for i, r := range rows {
		for j := range p {
			a.Set(i, j, math.Sqrt(float64(n)/float64(l))*e.Vectors.At(r, j))
		}
		for j := range c {
			b.Set(i, j, -1)
		}
		b.Set(i, int(y.Index[r]), 1)
	}
	for i := range l {
		for j := range c {
			b.Set(i, j, b.At(i, j)/math.Sqrt(float64(l)))
		}
	}
	scale := make([]float64, p)
	for j := range p {
		scale[j] = 1
		if penalty != nil {
			scale[j] = 1 / math.Sqrt(1+penalty[j])
			a.Set(l+j, j, math.Sqrt(penalty[j]))
		}
		for i := range l + p {
			a.Set(i, j, a.At(i, j)*scale[j])
		}
	}
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThin) {
		panic("SVD failed")
	}
	var out mat.Dense
	svd.SolveTo(&out, b, svd.Rank(1e-9))
	for j := range p {
		for q := range c {
			out.Set(j, q, out.At(j, q)*scale[j])
		}
	}
	return &out
}

// difference returns max |a − b| relative to max |b|.
func difference(a, b mat.Matrix) float64 {
	var d mat.Dense
	d.Sub(a, b)
	return largestAbs(&d) / largestAbs(b)
}

func largestAbs(a mat.Matrix) float64 {
	var v float64
	r, c := a.Dims()
	for i := range r {
		for j := range c {
			if x := math.Abs(a.At(i, j)); !(x <= v) {
				v = x
			}
		}
	}
	return v
}

func TestCoefficients(t *testing.T) {
	x, truth := synthetic.Digits(500, 1)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Combinatorial, 120)
	reference := p.Eigs.Values[19]
	for _, c := range []struct {
		labels int
		s      Settings
		r      func(lambda float64) float64
	}{
		{80, Settings{Eigenvectors: 12}, nil},
		{400, Settings{Eigenvectors: 120}, nil},
		{40, Settings{Eigenvectors: 40}, nil},
		{40, Settings{Eigenvectors: 41}, nil},
		{25, Settings{Eigenvectors: 120}, nil}, // p > l: the smallest
		{60, Settings{Penalty: Iterated, Gamma: 0.1}, func(v float64) float64 { return math.Pow(v/reference, 2) }},
		{60, Settings{Penalty: Iterated, Gamma: 1e-4, Power: 1, Eigenvectors: 100}, func(v float64) float64 { return v / reference }},
		{60, Settings{Penalty: Iterated, Gamma: 3, Power: 3.5}, func(v float64) float64 { return math.Pow(v/reference, 3.5) }},
		{60, Settings{Penalty: HeatKernel, Gamma: 0.01}, func(v float64) float64 { return math.Exp(v / reference) }},
		{20, Settings{Penalty: HeatKernel, Gamma: 0.01, T: 4}, func(v float64) float64 { return math.Exp(4 * v / reference) }},
		{20, Settings{Penalty: HeatKernel, Gamma: 1, T: 20}, func(v float64) float64 { return math.Exp(20 * v / reference) }},
		{60, Settings{Penalty: Iterated, Gamma: 0.2, Unit: One}, func(v float64) float64 { return v * v }},
		{60, Settings{Penalty: Sum, Gamma: 0.1, Order: 3}, func(v float64) float64 {
			return math.Pow(v/reference, 2) + math.Pow(v/reference, 4) + math.Pow(v/reference, 6)
		}},
		{30, Settings{Penalty: Sum, Gamma: 0.05, Unit: One}, func(v float64) float64 { return math.Pow(v, 2) + math.Pow(v, 4) }},
		{60, Settings{Penalty: Polynomial, Gamma: 0.1}, func(v float64) float64 { return v / reference }},
		{30, Settings{Penalty: Polynomial, Gamma: 0.1, Coefficients: []float64{0.5, 0, 2, 0.25}}, func(v float64) float64 {
			x := v / reference
			return 0.5 + 2*math.Pow(x, 2) + 0.25*math.Pow(x, 3)
		}},
	} {
		t.Run(fmt.Sprintf("%d labels, %v, %d", c.labels, c.s.Penalty, c.s.Eigenvectors), func(t *testing.T) {
			y, err := truth.Draw(c.labels, 9)
			if err != nil {
				t.Fatal(err)
			}
			m := fit(t, p, y, &c.s)
			var penalty []float64
			if c.r != nil {
				for _, v := range m.Values {
					penalty = append(penalty, c.s.Gamma*c.r(math.Max(v, 0)))
				}
			}
			want := direct(p.Eigs, y, m.Settings.Eigenvectors, penalty)
			if d := difference(m.Coefficients, want); !(d <= 1e-8) {
				t.Errorf("coefficients differ by %.2g", d)
			}
			rank := m.Settings.Eigenvectors
			if c.r == nil {
				rank = min(rank, c.labels)
			}
			if m.Rank != rank {
				t.Errorf("rank %d, want %d", m.Rank, rank)
			}
			if m.Labeled != c.labels || m.Unreached != 0 && p.C.Count() == 1 {
				t.Errorf("%d labeled, %d unreached", m.Labeled, m.Unreached)
			}
		})
	}
}

// islands are two cliques of 6 joined by an edge, a clique of 5, a pair, and
// two isolated points.
func islands(t testing.TB) *modeltest.Problem {
	var edges [][2]int32
	clique := func(lo, hi int32) {
		for i := lo; i < hi; i++ {
			for j := lo; j < i; j++ {
				edges = append(edges, [2]int32{j, i})
			}
		}
	}
	clique(0, 6)
	clique(6, 12)
	edges = append(edges, [2]int32{5, 6})
	clique(12, 17)
	clique(17, 19)
	return modeltest.FromEdges(t, 21, edges, 21)
}

func TestComponentsWithoutLabel(t *testing.T) {
	p := islands(t)
	// The labels miss the clique of 5, the pair and one isolated point. 9 is the
	// majority.
	y := modeltest.Labels(21, map[int]int64{0: -4, 7: 9, 20: 9})
	want := []int32{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	for _, s := range []Settings{
		{}, {Eigenvectors: 3}, {Eigenvectors: 21}, {Penalty: Iterated, Gamma: 0.01}, {Penalty: Iterated, Gamma: 100}, {Penalty: HeatKernel, Gamma: 0.01},
		{Penalty: Iterated},
	} {
		m := fit(t, p, y, &s)
		if m.Unreached != 8 || m.Fallback != 1 || m.Classes[m.Fallback] != 9 {
			t.Errorf("%+v: %d unreached with class %d", s, m.Unreached, m.Classes[m.Fallback])
		}
		scores := m.Scores(m.Select(p.Eigs.Vectors), 21)
		if v := largestAbs(scores); !(v <= 100) {
			t.Errorf("%+v: a score of %v", s, v)
		}
		for i := 12; i < 20; i++ {
			if !(math.Abs(scores.At(i, 1)) <= 1e-9) {
				t.Errorf("%+v: point %d, out of reach, scores %v", s, i, scores.At(i, 1))
			}
		}
		if s.Eigenvectors == 21 {
			// The answer of smallest norm meets the labels exactly.
			for i, v := range map[int]float64{0: -1, 7: 1, 20: 1} {
				if !(math.Abs(scores.At(i, 1)-v) <= 1e-9) {
					t.Errorf("%+v: label %v at point %d scores %v", s, v, i, scores.At(i, 1))
				}
			}
			continue // which says nothing of the neighbours
		}
		if got := m.Transduce(p.Eigs, p.C, y); !slices.Equal(got, want) {
			t.Errorf("%+v: %v, want %v", s, got, want)
		}
	}
	// Equal numbers of labels: the smaller class.
	if m := fit(t, p, modeltest.Labels(21, map[int]int64{0: 5, 7: 2}), &Settings{Eigenvectors: 6}); m.Classes[m.Fallback] != 2 {
		t.Errorf("fallback class %d of equals, want 2", m.Classes[m.Fallback])
	}
}

func TestAllIsolated(t *testing.T) {
	p := modeltest.FromEdges(t, 5, nil, 5)
	y := modeltest.Labels(5, map[int]int64{1: 7, 3: 8, 4: 8})
	for _, s := range []*Settings{nil, {Eigenvectors: 5}, {Penalty: Iterated, Gamma: 1}, {Penalty: HeatKernel, Gamma: 1}, {Penalty: HeatKernel}} {
		m := fit(t, p, y, s)
		if got, want := m.Transduce(p.Eigs, p.C, y), []int32{1, 0, 1, 1, 1}; !slices.Equal(got, want) || m.Unreached != 2 {
			t.Errorf("%+v: classes %v, want %v; %d unreached", s, got, want, m.Unreached)
		}
		if v := largestAbs(m.Scores(m.Select(p.Eigs.Vectors), 5)); !(v <= 1+1e-12) {
			t.Errorf("%+v: a score of %v", s, v)
		}
	}
}

// TestUnseenVectors: one eigenvector is spent on the component with labels, which all lie
// in one. Eigenvectors of other components alone are refused.
func TestUnseenVectors(t *testing.T) {
	p := islands(t)
	y := modeltest.Labels(21, map[int]int64{13: 1, 14: 2, 15: 2})
	for _, s := range []Settings{{Eigenvectors: 1}, {Eigenvectors: 1, Penalty: Iterated, Gamma: 1}, {Eigenvectors: 1, Penalty: HeatKernel, Gamma: 1}} {
		m := fit(t, p, y, &s)
		used := m.Select(p.Eigs.Vectors)
		for i := range 21 {
			if inside := p.C.Of[i] == p.C.Of[13]; inside != (used.At(i, 0) != 0) {
				t.Errorf("%+v: the eigenvector is %v at point %d", s, used.At(i, 0), i)
			}
		}
		for i, c := range m.Transduce(p.Eigs, p.C, y) {
			if want := y.Index[i]; want != data.Unlabeled && c != want || p.C.Of[i] != p.C.Of[13] && c != 1 {
				t.Errorf("%+v: point %d is of class %d", s, i, c)
			}
		}
	}
	first := *p.Eigs
	first.Values, first.Nullity = first.Values[:1], 1
	first.Vectors = mat.DenseCopyOf(first.Vectors.Slice(0, 21, 0, 1))
	if _, err := Fit(t.Context(), &first, p.C, y, nil); err == nil || !strings.Contains(err.Error(), "components without a label") {
		t.Errorf("an eigenvector of another component: %v", err)
	}
}

// TestTwoClassesOrMany lets a third class be absent, so that two of many columns
// must say what the single one does.
func TestTwoClassesOrMany(t *testing.T) {
	x, truth := synthetic.TwoMoons(300, 0.15, 1)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 7}, sparse.Combinatorial, 40)
	two, err := truth.Draw(20, 1)
	if err != nil {
		t.Fatal(err)
	}
	three := &data.Labels{Classes: []int64{0, 1, 2}, Index: two.Index}
	for _, s := range []Settings{{Eigenvectors: 5}, {Eigenvectors: 20}, {Penalty: Iterated, Gamma: 0.1}, {Penalty: Iterated}} {
		one, many := fit(t, p, two, &s), fit(t, p, three, &s)
		if d := difference(one.Coefficients, many.Coefficients.Slice(0, len(one.Values), 1, 2)); !(d <= 1e-12) {
			t.Errorf("%+v: coefficients differ by %g", s, d)
		}
		a, b := one.Scores(p.Eigs.Vectors, 300), many.Scores(p.Eigs.Vectors, 300)
		if d := difference(a, b.Slice(0, 300, 0, 2)); !(d <= 1e-12) {
			t.Errorf("%+v: scores differ by %g", s, d)
		}
		if got, want := many.Transduce(p.Eigs, p.C, three), one.Transduce(p.Eigs, p.C, two); !slices.Equal(got, want) {
			t.Errorf("%+v: other classes", s)
		}
		if len(one.Candidates) > 0 && one.Settings.Gamma != many.Settings.Gamma {
			t.Errorf("γ %v and %v", one.Settings.Gamma, many.Settings.Gamma)
		}
	}
}

func TestAbsentClass(t *testing.T) {
	x, truth := synthetic.Digits(400, 2)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 8}, sparse.Combinatorial, 30)
	if p.C.Count() != 1 {
		t.Fatalf("%d components", p.C.Count())
	}
	var rows []int
	for i, c := range truth.Index {
		if c != 3 && c != 8 && len(rows) < 60 {
			rows = append(rows, i)
		}
	}
	y := truth.Keep(rows)
	for _, s := range []Settings{{Eigenvectors: 12}, {Penalty: Iterated, Gamma: 0.1}} {
		for i, c := range fit(t, p, y, &s).Transduce(p.Eigs, p.C, y) {
			if c == 3 || c == 8 {
				t.Errorf("%+v: point %d gets class %d, which no label has", s, i, c)
			}
		}
	}
}

func TestAnyIntegersAsClasses(t *testing.T) {
	x, truth := synthetic.TwoMoons(120, 0.05, 1)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 7}, sparse.Combinatorial, 10)
	values := make([]int64, 120)
	for i, c := range truth.Index {
		values[i] = []int64{math.MaxInt64, math.MinInt64}[c] // the other way round
	}
	y, err := data.NewLabels(values, nil).Draw(10, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := &Settings{Eigenvectors: 4}
	m := fit(t, p, y, s)
	straight := fit(t, p, truth.Keep(y.Labeled()), s)
	for i, c := range m.Transduce(p.Eigs, p.C, y) {
		if want := []int64{math.MaxInt64, math.MinInt64}[straight.Transduce(p.Eigs, p.C, truth.Keep(y.Labeled()))[i]]; m.Classes[c] != want {
			t.Fatalf("point %d is of class %d, want %d", i, m.Classes[c], want)
		}
	}
	// Exchanging the classes negates f.
	var sum mat.Dense
	sum.Add(m.Coefficients, straight.Coefficients)
	if d := largestAbs(&sum); !(d <= 1e-12) {
		t.Errorf("coefficients off by %g after exchanging the classes", d)
	}
}

// TestEquivariance permutes classes; Conform permutes points.
func TestEquivariance(t *testing.T) {
	x, truth := synthetic.Digits(350, 4)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Combinatorial, 50)
	y, err := truth.Draw(60, 2)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	classes := rng.Perm(10)
	renamed := &data.Labels{Classes: y.Classes, Index: make([]int32, 350)}
	for i, c := range y.Index {
		renamed.Index[i] = c
		if c != data.Unlabeled {
			renamed.Index[i] = int32(classes[c])
		}
	}
	for _, s := range []Settings{{Eigenvectors: 20}, {Penalty: Iterated, Gamma: 0.03}, {Penalty: HeatKernel, Gamma: 0.01}} {
		m := fit(t, p, y, &s)
		want := m.Transduce(p.Eigs, p.C, y)

		flipped := fit(t, p, renamed, &s)
		for c, to := range classes {
			if d := difference(flipped.Coefficients.ColView(to), m.Coefficients.ColView(c)); !(d <= 1e-12) {
				t.Errorf("%+v: column of class %d differs by %g", s, c, d)
			}
		}
		for i, c := range flipped.Transduce(p.Eigs, p.C, renamed) {
			if int(c) != classes[want[i]] {
				t.Fatalf("%+v: point %d is of class %d, want %d", s, i, c, classes[want[i]])
			}
		}
	}
}

func TestRefit(t *testing.T) {
	x, truth := synthetic.Digits(300, 4)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Combinatorial, 40)
	y, err := truth.Draw(50, 2)
	if err != nil {
		t.Fatal(err)
	}
	vectors, index := mat.DenseCopyOf(p.Eigs.Vectors), slices.Clone(y.Index)
	for _, s := range []Settings{{}, {Penalty: Iterated}, {Penalty: HeatKernel, Gamma: 1}} {
		given := s
		a, b := fit(t, p, y, &s), fit(t, p, y, &s)
		if !mat.Equal(a.Coefficients, b.Coefficients) || !reflect.DeepEqual(a.Settings, b.Settings) {
			t.Errorf("%+v: a second fit differs", s)
		}
		if c := fit(t, p, y, &a.Settings); !mat.Equal(a.Coefficients, c.Coefficients) {
			t.Errorf("%+v: a fit with the settings filled in differs", s)
		}
		if !reflect.DeepEqual(s, given) {
			t.Errorf("the settings were changed to %+v", s)
		}
	}
	if !mat.Equal(vectors, p.Eigs.Vectors) || !slices.Equal(index, y.Index) {
		t.Error("the input was changed")
	}
}

func TestDefaults(t *testing.T) {
	x, truth := synthetic.Digits(300, 4)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 6}, sparse.Combinatorial, 40)
	for _, c := range []struct{ labels, eigenvectors int }{{4, 2}, {7, 2}, {12, 2}, {13, 3}, {100, 20}, {299, 40}} {
		y, err := truth.Draw(c.labels, 2)
		if err != nil {
			t.Fatal(err)
		}
		m := fit(t, p, y, nil)
		if want := (Settings{Eigenvectors: c.eigenvectors, Power: 2, T: 1, Order: 2, Coefficients: []float64{0, 1}, Folds: min(5, c.labels)}); !reflect.DeepEqual(m.Settings, want) {
			t.Errorf("%d labels: settings %+v, want %+v", c.labels, m.Settings, want)
		}
		if m := fit(t, p, y, &Settings{Penalty: Iterated, Gamma: 1}); m.Settings.Eigenvectors != 40 {
			t.Errorf("%d eigenvectors with a penalty, want 40", m.Settings.Eigenvectors)
		}
	}
}

func TestCrossValidation(t *testing.T) {
	x, truth := synthetic.Digits(400, 6)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 8}, sparse.Combinatorial, 40)
	for _, labels := range []int{3, 20, 60} {
		y, err := truth.Draw(labels, 1)
		if err != nil {
			t.Fatal(err)
		}
		m := fit(t, p, y, &Settings{Penalty: Iterated, Seed: 3})
		if len(m.Candidates) != len(gammaGrid) || m.Settings.Folds != min(5, labels) {
			t.Fatalf("%d candidates, %d folds", len(m.Candidates), m.Settings.Folds)
		}
		best := m.Candidates[0]
		for i, c := range m.Candidates {
			if c.Gamma != gammaGrid[i] || !(c.Error >= 0 && c.Error <= 1) {
				t.Errorf("candidate %+v", c)
			}
			if c.Error <= best.Error {
				best = c // the largest of equals
			}
		}
		if m.Settings.Gamma != best.Gamma {
			t.Errorf("γ = %v chosen, the best is %+v", m.Settings.Gamma, best)
		}
		fixed := fit(t, p, y, &Settings{Penalty: Iterated, Gamma: best.Gamma})
		if !mat.Equal(fixed.Coefficients, m.Coefficients) {
			t.Error("the coefficients are not those of the γ chosen")
		}
		if again := fit(t, p, y, &Settings{Penalty: Iterated, Seed: 3}); !slices.Equal(again.Candidates, m.Candidates) {
			t.Error("the same seed gives other candidates")
		}
		if labels == 60 {
			if other := fit(t, p, y, &Settings{Penalty: Iterated, Seed: 4}); slices.Equal(other.Candidates, m.Candidates) {
				t.Error("another seed gives the same folds")
			}
			// Leaving out one at a time is the definition: refit without it.
			loo := fit(t, p, y, &Settings{Penalty: Iterated, Folds: 1000})
			const g = 8
			wrong := 0
			rows := y.Labeled()
			for q, r := range rows {
				rest := y.Keep(slices.Delete(slices.Clone(rows), q, q+1))
				m := fit(t, p, rest, &Settings{Penalty: Iterated, Gamma: gammaGrid[g]})
				if models.Argmax(m.Scores(p.Eigs.Vectors, 400))[r] != truth.Index[r] {
					wrong++
				}
			}
			if want := float64(wrong) / float64(labels); loo.Candidates[g].Error != want {
				t.Errorf("leaving out one: error %v, want %v", loo.Candidates[g].Error, want)
			}
		}
	}
}

// TestFitAll compares several fits at once with single ones; with more than
// half of the points labeled they take another way.
func TestFitAll(t *testing.T) {
	ctx := context.Background()
	x, truth := synthetic.Digits(400, 6)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 8}, sparse.Combinatorial, 60)
	settings := []Settings{{Eigenvectors: 7}, {Eigenvectors: 60}, {}, {Penalty: Iterated, Gamma: 0.1}, {Penalty: HeatKernel, Gamma: 0.01, Eigenvectors: 30}}
	for _, labels := range []int{20, 150, 350} {
		var ys []*data.Labels
		for seed := range uint64(3) {
			y, err := truth.Draw(labels, seed)
			if err != nil {
				t.Fatal(err)
			}
			ys = append(ys, y)
		}
		all, err := FitAll(ctx, p.Eigs, p.C, ys, settings)
		if err != nil {
			t.Fatal(err)
		}
		for j, s := range settings {
			var ms []*Classifier
			for i, y := range ys {
				one, m := fit(t, p, y, &s), all[i][j]
				if d := difference(m.Coefficients, one.Coefficients); !(d <= 1e-8) {
					t.Errorf("%d labels, %+v: coefficients differ by %g", labels, s, d)
				}
				if !reflect.DeepEqual(m.Settings, one.Settings) || m.Rank != one.Rank || m.Labeled != one.Labeled || m.Fallback != one.Fallback || m.Unreached != one.Unreached {
					t.Errorf("%d labels, %+v: %+v, alone %+v", labels, s, m, one)
				}
				ms = append(ms, m)
			}
			for i, got := range TransduceAll(p.Eigs, p.C, ms, ys) {
				if !slices.Equal(got, ms[i].Transduce(p.Eigs, p.C, ys[i])) {
					t.Errorf("%d labels, %+v, draw %d: other classes at once than alone", labels, s, i)
				}
			}
		}
	}
	// Mixed widths in one call of TransduceAll.
	two := truth.Keep(truth.Labeled()[:40])
	for i, c := range two.Index {
		if c != data.Unlabeled {
			two.Index[i] = c % 2
		}
	}
	two.Classes = []int64{0, 1}
	many, err := truth.Draw(40, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := &Settings{Eigenvectors: 8}
	ms, ys := []*Classifier{fit(t, p, two, s), fit(t, p, many, s), fit(t, p, many, nil)}, []*data.Labels{two, many, many}
	for i, got := range TransduceAll(p.Eigs, p.C, ms, ys) {
		if !slices.Equal(got, ms[i].Transduce(p.Eigs, p.C, ys[i])) {
			t.Errorf("model %d: other classes at once than alone", i)
		}
	}
	if _, err := FitAll(ctx, p.Eigs, p.C, ys, []Settings{{Penalty: Iterated}}); err == nil || !strings.Contains(err.Error(), "γ") {
		t.Errorf("several fits without γ: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := FitAll(cancelled, p.Eigs, p.C, ys, settings); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFitRejects(t *testing.T) {
	p := islands(t)
	good := modeltest.Labels(21, map[int]int64{0: 1, 7: 2})
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		y     *data.Labels
		s     Settings
		parts []string
	}{
		{"no label", modeltest.Labels(21, nil), Settings{}, []string{"no point is labeled"}},
		{"one class", modeltest.Labels(21, map[int]int64{0: -3, 7: -3}), Settings{}, []string{"all labels are of class -3"}},
		{"one class of two", (&data.Labels{Classes: []int64{4, 5}, Index: modeltest.Labels(21, map[int]int64{0: 4}).Index}), Settings{}, []string{"of class 4"}},
		{"too few labels", modeltest.Labels(20, map[int]int64{0: 1, 7: 2}), Settings{}, []string{"20 labels for 21 points"}},
		{"p > n", good, Settings{Eigenvectors: 22}, []string{"eigenvectors is 22", "21 eigenvectors are there"}},
		{"p < 0", good, Settings{Eigenvectors: -1}, []string{"eigenvectors is -1"}},
		{"γ without penalty", good, Settings{Gamma: 1}, []string{"γ is 1 but"}},
		{"all at once", good, Settings{Eigenvectors: 30, Penalty: 7, Gamma: -1, Power: nan, T: math.Inf(1), Order: 51, Unit: 2, Coefficients: []float64{1, -0.5}, Folds: 1},
			[]string{"eigenvectors is 30", "penalty is \"unknown (7)\"", "gamma is -1", "penalty-power is NaN", "heat-t is +Inf", "penalty-order is 51", "penalty-unit is \"unknown (2)\"", "penalty-coefficients has the value -0.5", "folds is 1"}},
		{"folds", good, Settings{Penalty: Iterated, Folds: -2}, []string{"folds is -2"}},
	} {
		m, err := Fit(t.Context(), p.Eigs, p.C, c.y, &c.s)
		if err == nil || m != nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		_, all := FitAll(context.Background(), p.Eigs, p.C, []*data.Labels{c.y}, []Settings{c.s})
		if all == nil || all.Error() != err.Error() {
			t.Errorf("%s: error %v, from several fits %v", c.name, err, all)
		}
		for _, part := range c.parts {
			if !strings.Contains(param.Plain(err.Error()), part) {
				t.Errorf("%s: error %q does not say %q", c.name, err, part)
			}
		}
	}
}

func TestArgmaxAndErrorRate(t *testing.T) {
	if got := models.Argmax(mat.NewDense(3, 3, []float64{1, 2, 2, -5, -7, -6, 0, 0, 0})); !slices.Equal(got, []int32{1, 0, 0}) {
		t.Errorf("Argmax %v", got)
	}
	truth := modeltest.Labels(5, map[int]int64{0: 1, 1: 2, 2: 1, 3: 2})
	if got := metrics.ErrorRate([]int32{1, 1, 1, 1, 1}, truth, truth.Keep([]int{0})); !(math.Abs(got-1./3) <= 1e-15) {
		t.Errorf("error %v, want 1/3: one is drawn, one unknown", got)
	}
	if got := metrics.ErrorRate([]int32{1, 1, 1, 1, 1}, truth, truth); !math.IsNaN(got) {
		t.Errorf("error %v of no points", got)
	}
}

func fit(t testing.TB, p *modeltest.Problem, y *data.Labels, s *Settings) *Classifier {
	t.Helper()
	m, err := Fit(context.Background(), p.Eigs, p.C, y, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
