package propagation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/models/regularizer"
	"github.com/bigfit/bigfit/param"
	"github.com/bigfit/bigfit/sparse"
)

// weightedGraph is a random graph: components of the given sizes, each a random
// tree with as many edges again.
func weightedGraph(t testing.TB, seed uint64, sizes ...int) *sparse.CSR {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 9))
	weight := map[[2]int32]float64{}
	from := 0
	for _, size := range sizes {
		for i := 1; i < size; i++ {
			weight[[2]int32{int32(from + i), int32(from + rng.IntN(i))}] = 0.2 + rng.Float64()
			if a, b := rng.IntN(size), rng.IntN(size); a > b {
				weight[[2]int32{int32(from + a), int32(from + b)}] = 0.2 + rng.Float64()
			}
		}
		from += size
	}
	// Vertices of a component are not next to each other.
	names := rng.Perm(from)
	var i, j []int32
	var v []float64
	for _, e := range sortedKeys(weight) {
		a, b := int32(names[e[0]]), int32(names[e[1]])
		i, j, v = append(i, a, b), append(j, b, a), append(v, weight[e], weight[e])
	}
	w, err := sparse.FromTriplets(from, from, i, j, v)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func sortedKeys(m map[[2]int32]float64) [][2]int32 {
	var keys [][2]int32
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	return keys
}

// drawClasses gives each of count random points of n one of c classes, the first
// c of them one each.
func drawClasses(seed uint64, n, count, c int) *data.Labels {
	rng := rand.New(rand.NewPCG(seed, 10))
	class := map[int]int64{}
	for q, i := range rng.Perm(n)[:count] {
		class[i] = int64(q)
		if q >= c {
			class[i] = int64(rng.IntN(c))
		}
	}
	return modeltest.Labels(n, class)
}

func fitGraph(t testing.TB, w *sparse.CSR, y *models.Targets, s *Settings) *Solution {
	t.Helper()
	exact := *s
	if exact.Tolerance == 0 {
		exact.Tolerance = 1e-12
	}
	g, err := Fit(context.Background(), w, nil, y, &exact)
	if err != nil {
		t.Fatal(err)
	}
	for j, r := range g.Residuals {
		if !(r <= exact.Tolerance) {
			t.Errorf("residual %v of column %d", r, j)
		}
	}
	return g
}

// denseGraph is W and L as full matrices.
func denseGraph(w *sparse.CSR, kind sparse.Kind) (full, laplacian *mat.Dense) {
	n := w.Rows
	full, laplacian = mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	d := w.Degrees()
	for i := range n {
		if d[i] > 0 {
			laplacian.Set(i, i, d[i])
		}
		for j := range n {
			full.Set(i, j, w.At(i, j))
			laplacian.Set(i, j, laplacian.At(i, j)-w.At(i, j))
		}
	}
	if kind == sparse.Normalized {
		laplacian.Apply(func(i, j int, v float64) float64 {
			if d[i]*d[j] == 0 {
				return 0
			}
			return v / math.Sqrt(d[i]*d[j])
		}, laplacian)
	}
	return full, laplacian
}

// indicators are n×c, one for the class of a labeled point.
func indicators(y *data.Labels) *mat.Dense {
	out := mat.NewDense(y.Len(), len(y.Classes), nil)
	for i, c := range y.Index {
		if c != data.Unlabeled {
			out.Set(i, int(c), 1)
		}
	}
	return out
}

func solveDense(t testing.TB, a, b mat.Matrix) *mat.Dense {
	t.Helper()
	var x mat.Dense
	if err := x.Solve(a, b); err != nil {
		t.Fatal(err)
	}
	return &x
}

func checkNear(t testing.TB, what string, got, want mat.Matrix, tolerance float64) {
	t.Helper()
	n, m := want.Dims()
	if r, c := got.Dims(); r != n || c != m {
		t.Fatalf("%s: %d×%d, want %d×%d", what, r, c, n, m)
	}
	for i := range n {
		for j := range m {
			if !(math.Abs(got.At(i, j)-want.At(i, j)) <= tolerance) {
				t.Fatalf("%s: point %d, column %d is %v, want %v", what, i, j, got.At(i, j), want.At(i, j))
			}
		}
	}
}

// denseHarmonic solves L_uu f_u = W_ul y_l with the rows of labeled points
// replaced by those of the identity. Every component must have a label.
func denseHarmonic(t testing.TB, w *sparse.CSR, at []int, y *mat.Dense) *mat.Dense {
	_, l := denseGraph(w, sparse.Combinatorial)
	_, m := y.Dims()
	b := mat.NewDense(w.Rows, m, nil)
	for q, i := range at {
		for j := range w.Rows {
			l.Set(i, j, 0)
		}
		l.Set(i, i, 1)
		b.SetRow(i, y.RawRowView(q))
	}
	return solveDense(t, l, b)
}

func TestHarmonicDense(t *testing.T) {
	for seed := range uint64(5) {
		for _, classes := range []int{2, 4} {
			w := weightedGraph(t, seed, 60)
			y := drawClasses(seed, 60, 8, classes)
			at := y.Labeled()
			all := indicators(y)
			yl := mat.NewDense(len(at), classes, nil)
			for q, i := range at {
				yl.SetRow(q, all.RawRowView(i))
			}
			g := fitGraph(t, w, modeltest.ClassTargets(t, y), &Settings{})
			checkNear(t, "harmonic", g.Scores, denseHarmonic(t, w, at, yl), 1e-8)
			// A regression, of two columns.
			rng := rand.New(rand.NewPCG(seed, 3))
			values := mat.NewDense(60, 2, nil)
			values.Apply(func(i, _ int, _ float64) float64 {
				if !slices.Contains(at, i) {
					return math.NaN()
				}
				return 10 + rng.NormFloat64()
			}, values)
			targets, err := models.ValueTargets(values)
			if err != nil {
				t.Fatal(err)
			}
			r := fitGraph(t, w, targets, &Settings{})
			checkNear(t, "harmonic regression", r.Scores, denseHarmonic(t, w, at, targets.Y), 1e-8)
			if r.Labels != nil || r.Classes != nil {
				t.Error("a regression has classes")
			}
			// γ → 0 with γ_A ≪ γ_I interpolates by the harmonic function.
			limit := fitGraph(t, w, targets, &Settings{Method: Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 1e-11, GammaI: 1e-5}})
			checkNear(t, "Tikhonov without regularization", limit.Scores, r.Scores, 1e-3)
		}
	}
}

// TestClassMassNormalization on the path 0 − 1 − 2 − 3 − 4 with labels at both
// ends and at 4 twice as likely: f is 3/4, 1/2, 1/4 for the first class, mass 3/2
// of either, so that the scores are q_c/(3/2)·f_c.
func TestClassMassNormalization(t *testing.T) {
	p := modeltest.FromEdges(t, 5, [][2]int32{{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 2)
	y := modeltest.ClassTargets(t, modeltest.Labels(5, map[int]int64{0: 5, 4: 7}))
	g := fitGraph(t, p.W, y, &Settings{MassNormalization: true, Priors: []float64{1, 2}})
	want := mat.NewDense(5, 2, []float64{1, 0, 1. / 6, 1. / 9, 1. / 9, 2. / 9, 1. / 18, 1. / 3, 0, 1})
	checkNear(t, "scores", g.Scores, want, 1e-12)
	if !slices.Equal(g.Labels, []int32{0, 0, 1, 1, 1}) {
		t.Errorf("classes %v", g.Labels)
	}
	// By default the labels and one more: 2 and 2.
	g = fitGraph(t, p.W, y, &Settings{MassNormalization: true})
	want = mat.NewDense(5, 2, []float64{1, 0, 1. / 4, 1. / 12, 1. / 6, 1. / 6, 1. / 12, 1. / 4, 0, 1})
	checkNear(t, "scores by default", g.Scores, want, 1e-12)
	// No point is left to normalize.
	g = fitGraph(t, p.W, modeltest.ClassTargets(t, modeltest.Labels(5, map[int]int64{0: 5, 1: 5, 2: 5, 3: 7, 4: 7})), &Settings{MassNormalization: true})
	if !slices.Equal(g.Labels, []int32{0, 0, 0, 1, 1}) || g.Iterations != 0 {
		t.Errorf("classes %v after %d iterations", g.Labels, g.Iterations)
	}
}

func TestLGC(t *testing.T) {
	for _, alpha := range []float64{0.5, 0.9, 0.99} {
		w := weightedGraph(t, 3, 40, 7, 1, 1)
		y := drawClasses(4, 49, 12, 3)
		for i, d := range w.Degrees() { // one of the isolated points is labeled
			if d == 0 {
				y.Index[i] = 2
				break
			}
		}
		g := fitGraph(t, w, modeltest.ClassTargets(t, y), &Settings{Method: LGC, Alpha: alpha})
		// I − αS, and the iteration F ← αSF + (1 − α)Y.
		full, _ := denseGraph(w, sparse.Combinatorial)
		d := w.Degrees()
		s := mat.NewDense(49, 49, nil)
		s.Apply(func(i, j int, v float64) float64 {
			if v == 0 {
				return 0
			}
			return v / math.Sqrt(d[i]*d[j])
		}, full)
		a := mat.NewDense(49, 49, nil)
		a.Apply(func(i, j int, v float64) float64 {
			if i == j {
				return 1 - alpha*v
			}
			return -alpha * v
		}, s)
		b := indicators(y)
		b.Scale(1-alpha, b)
		checkNear(t, "dense", g.Scores, solveDense(t, a, b), 1e-8)
		f := mat.DenseCopyOf(b)
		for range 4000 {
			var next mat.Dense
			next.Mul(s, f)
			next.Scale(alpha, &next)
			next.Add(&next, b)
			f = &next
		}
		checkNear(t, "iteration", g.Scores, f, 1e-8)
	}
}

// densePower is Lᵖ by products.
func densePower(l *mat.Dense, p int) *mat.Dense {
	n, _ := l.Dims()
	power := mat.NewDense(n, n, nil)
	for i := range n {
		power.Set(i, i, 1)
	}
	for range p {
		var next mat.Dense
		next.Mul(power, l)
		power = &next
	}
	return power
}

// A constant r(L) leaves the graph out, and coefficients go with power 1 only.
func TestTikhonovCoefficients(t *testing.T) {
	for text, want := range map[string]string{"2": "leaves the graph out", "2,0": "leaves the graph out", "0,0": "one is positive",
		"0,-1": "at least 0"} {
		err := Learner{Method: Tikhonov}.Check(models.Values{"gamma-a": "1", "gamma-i": "1", "penalty-coefficients": text})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	err := Learner{Method: Tikhonov}.Check(models.Values{"gamma-a": "1", "gamma-i": "1", "penalty-coefficients": "0,1", "power": "2"})
	if err == nil || !strings.Contains(err.Error(), "1 with penalty-coefficients") {
		t.Error(err)
	}
}

func TestTikhonov(t *testing.T) {
	for _, reg := range []regularizer.Regularizer{
		{GammaA: 0.1, GammaI: 0.5},
		{GammaA: 1e-3, GammaI: 0.02, Power: 2},
		{GammaA: 0.01, GammaI: 1, Power: 3, Laplacian: sparse.Normalized},
		{GammaA: 0.01, GammaI: 2000, Scaling: regularizer.PerPair},
		{GammaA: 0.01, GammaI: 0.5, Coefficients: []float64{0, 2}},
		{GammaA: 0.01, GammaI: 0.5, Coefficients: []float64{0.3, 0, 1.5}},
		{GammaA: 0.01, GammaI: 0.5, Coefficients: []float64{0.1, 1, 0, 0.25, 0}, Laplacian: sparse.Normalized},
		{GammaA: 0.01, GammaI: 0.5, Coefficients: []float64{0.1, 1, 0.5}, Scaling: regularizer.PerPair},
	} {
		w := weightedGraph(t, 5, 30, 9, 1)
		n := w.Rows
		y := drawClasses(6, n, 10, 3)
		targets := modeltest.ClassTargets(t, y)
		g := fitGraph(t, w, targets, &Settings{Method: Tikhonov, Regularizer: reg, Tolerance: 1e-12})
		_, l := denseGraph(w, reg.Laplacian)
		power := densePower(l, max(1, reg.Power))
		if reg.Coefficients != nil {
			power.Zero()
			for p, c := range reg.Coefficients {
				term := densePower(l, p)
				term.Scale(c, term)
				power.Add(power, term)
			}
		}
		gamma := reg.GammaI
		if reg.Scaling == regularizer.PerPair {
			gamma /= float64(n * n)
		}
		power.Scale(gamma, power)
		b := mat.NewDense(n, 3, nil)
		for i := range n {
			power.Set(i, i, power.At(i, i)+reg.GammaA)
		}
		count := float64(len(targets.Labeled))
		for q, i := range targets.Labeled {
			power.Set(i, i, power.At(i, i)+1/count)
			for j, v := range targets.Y.RawRowView(q) {
				b.Set(i, j, v/count)
			}
		}
		want := solveDense(t, power, b)
		checkNear(t, fmt.Sprintf("%+v", reg), g.Scores, want, 1e-8)
		// One column for two classes is minus the other.
		two := drawClasses(7, n, 10, 2)
		g = fitGraph(t, w, modeltest.ClassTargets(t, two), &Settings{Method: Tikhonov, Regularizer: reg, Tolerance: 1e-12})
		for i := range n {
			if row := g.Scores.RawRowView(i); !(math.Abs(row[0]+row[1]) <= 1e-8) {
				t.Fatalf("scores %v of two classes", row)
			}
		}
	}
}

func TestPoisson(t *testing.T) {
	w := weightedGraph(t, 8, 40, 15, 6, 1)
	n, c := w.Rows, w.Components()
	y := drawClasses(9, n, 14, 3)
	g := fitGraph(t, w, modeltest.ClassTargets(t, y), &Settings{Method: Poisson})
	// By the pseudo-inverse of L, component by component.
	_, l := denseGraph(w, sparse.Combinatorial)
	var e mat.SVD
	if !e.Factorize(l, mat.SVDFull) {
		t.Fatal("no SVD")
	}
	var u, v mat.Dense
	e.UTo(&u)
	e.VTo(&v)
	inverse := mat.NewDense(n, n, nil)
	for k, s := range e.Values(nil) {
		if s > 1e-9 {
			inverse.RankOne(inverse, 1/s, v.ColView(k), u.ColView(k))
		}
	}
	all := indicators(y)
	d := w.Degrees()
	want := mat.NewDense(n, 3, nil)
	single := 0
	for id := range c.Sizes {
		var mean [3]float64
		var labels, mass float64
		for i := range n {
			if int(c.Of[i]) == id {
				mass += d[i]
				for k := range mean {
					mean[k] += all.At(i, k)
					labels += all.At(i, k)
				}
			}
		}
		if labels == 0 {
			continue
		}
		source := mat.NewDense(n, 3, nil)
		for i := range n {
			for k := range mean {
				if int(c.Of[i]) == id && y.Index[i] != data.Unlabeled {
					source.Set(i, k, all.At(i, k)-mean[k]/labels)
				}
			}
		}
		var part mat.Dense
		part.Mul(inverse, source)
		for k := range mean {
			if mean[k] == labels {
				single++
				for i := range n {
					if int(c.Of[i]) == id {
						want.Set(i, k, 1)
					}
				}
			}
			if mean[k] == 0 || mean[k] == labels {
				continue
			}
			var shift float64
			for i := range n {
				shift += d[i] * part.At(i, k) / mass * boolTo(int(c.Of[i]) == id)
			}
			for i := range n {
				if int(c.Of[i]) == id {
					want.Set(i, k, part.At(i, k)-shift)
				}
			}
		}
	}
	checkNear(t, "poisson", g.Scores, want, 1e-8)
	if single == 0 {
		t.Error("no component has labels of one class only")
	}
	// Σ d_i u_i = 0 and the classes add up to zero.
	w = weightedGraph(t, 1, 50)
	g = fitGraph(t, w, modeltest.ClassTargets(t, drawClasses(2, 50, 5, 3)), &Settings{Method: Poisson})
	var sums [3]float64
	for i, d := range w.Degrees() {
		row := g.Scores.RawRowView(i)
		if !(math.Abs(row[0]+row[1]+row[2]) <= 1e-9) {
			t.Fatalf("point %d: %v", i, row)
		}
		for k, v := range row {
			sums[k] += d * v
		}
	}
	for _, v := range sums {
		if !(math.Abs(v) <= 1e-9) {
			t.Errorf("Σ d_i u_i is %v", sums)
		}
	}
}

func boolTo(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestGraphMethodsRapid: properties that hold for any graph and labels.
func TestGraphMethodsRapid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64Range(0, 1e6).Draw(rt, "seed")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 12), 1, 4).Draw(rt, "sizes")
		w := weightedGraph(t, seed, append(sizes, 4)...)
		n := w.Rows
		classes := rapid.IntRange(2, 3).Draw(rt, "classes")
		y := drawClasses(seed, n, classes+rapid.IntRange(0, n-classes).Draw(rt, "more"), classes)
		targets := modeltest.ClassTargets(t, y)
		perm := rand.New(rand.NewPCG(seed, 4)).Perm(n)
		order := make([]int32, n)
		for i, v := range perm {
			order[i] = int32(v)
		}
		moved := modeltest.ClassTargets(t, y.Select(perm))
		other := &data.Labels{Classes: y.Classes, Index: slices.Clone(y.Index)} // classes in reverse
		for i, c := range other.Index {
			if c != data.Unlabeled {
				other.Index[i] = int32(classes-1) - c
			}
		}
		c := w.Components()
		reached := c.Reached(y.Labeled())
		for _, s := range []*Settings{
			{}, {MassNormalization: true}, {Method: LGC, Alpha: 0.9}, {Method: Poisson},
			{Method: Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 0.01, GammaI: 0.1}},
		} {
			g := fitGraph(t, w, targets, s)
			unreached := 0
			for i, class := range g.Labels {
				switch {
				case y.Index[i] != data.Unlabeled && class != y.Index[i]:
					rt.Fatalf("%v: point %d of class %d has %d", s.Method, i, y.Index[i], class)
				case !reached[i]:
					unreached++
					if class != models.Majority(y) || mat.Norm(g.Scores.RowView(i), 1) != 0 {
						rt.Fatalf("%v: point %d without a label in reach has class %d, scores %v", s.Method, i, class, g.Scores.RawRowView(i))
					}
				}
			}
			if unreached != g.Unreached || g.Fallback != models.Majority(y) || g.Labeled != len(y.Labeled()) {
				rt.Fatalf("%v: %d unreached, fallback %d, %d labeled", s.Method, g.Unreached, g.Fallback, g.Labeled)
			}
			// The maximum principle.
			if s.Method == Harmonic && !s.MassNormalization {
				for i := range n {
					var sum float64
					for _, v := range g.Scores.RawRowView(i) {
						if !(v >= -1e-10 && v <= 1+1e-10) {
							rt.Fatalf("a probability of %v", v)
						}
						sum += v
					}
					if reached[i] && !modeltest.Near(sum, 1, 1e-10) {
						rt.Fatalf("probabilities of sum %v", sum)
					}
				}
			}
			// Renamed vertices.
			p := fitGraph(t, w.Permute(order), moved, s)
			renamed := mat.NewDense(n, classes, nil)
			for i, from := range perm {
				renamed.SetRow(i, g.Scores.RawRowView(from))
			}
			checkNear(t, s.Method.String()+" with other names", p.Scores, renamed, 1e-9)
			// Classes in reverse.
			f := fitGraph(t, w, modeltest.ClassTargets(t, other), s)
			flipped := mat.NewDense(n, classes, nil)
			flipped.Apply(func(i, j int, _ float64) float64 { return g.Scores.At(i, classes-1-j) }, flipped)
			checkNear(t, s.Method.String()+" with the classes in reverse", f.Scores, flipped, 1e-9)
		}
	})
}

func TestGraphUnreachedValues(t *testing.T) {
	p := modeltest.FromEdges(t, 6, [][2]int32{{0, 1}, {1, 2}, {3, 4}}, 2)
	nan := math.NaN()
	y, err := models.ValueTargets(mat.NewDense(6, 1, []float64{1, nan, 4, nan, nan, nan}))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Settings{{}, {Method: Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 1e-10, GammaI: 1e-4}}} {
		g := fitGraph(t, p.W, y, s)
		checkNear(t, s.Method.String(), g.Scores, mat.NewDense(6, 1, []float64{1, 2.5, 4, 2.5, 2.5, 2.5}), 1e-3)
		if g.Unreached != 3 {
			t.Errorf("%d unreached", g.Unreached)
		}
	}
}

func TestGraphBesideSklearn(t *testing.T) {
	w := weightedGraph(t, 11, 60)
	y := drawClasses(12, 60, 9, 3)
	values := make([]int64, 60)
	for i, c := range y.Index {
		values[i] = int64(c)
	}
	full, _ := denseGraph(w, sparse.Combinatorial)
	dir := t.TempDir()
	modeltest.WriteArrays(t, dir, map[string]any{"w": full, "y": values})
	var theirs struct{ Propagation, Spreading [][]float64 }
	modeltest.Sklearn(t, dir, `
from sklearn.semi_supervised import LabelPropagation, LabelSpreading
w, y = np.load("w.npy"), np.load("y.npy")
x = np.arange(60.)[:, None]
kernel = lambda a, b: w.copy()
p = LabelPropagation(kernel=kernel, max_iter=100000, tol=1e-14).fit(x, y)
s = LabelSpreading(kernel=kernel, alpha=.8, max_iter=100000, tol=1e-14).fit(x, y)
print(json.dumps(dict(propagation=p.label_distributions_.tolist(), spreading=s.label_distributions_.tolist())))
`, &theirs)
	matrix := func(rows [][]float64) *mat.Dense { return mat.NewDense(60, 3, slices.Concat(rows...)) }
	checkNear(t, "LabelPropagation", fitGraph(t, w, modeltest.ClassTargets(t, y), &Settings{}).Scores, matrix(theirs.Propagation), 1e-8)
	// Label spreading ends with rows of sum one.
	f := fitGraph(t, w, modeltest.ClassTargets(t, y), &Settings{Method: LGC, Alpha: 0.8}).Scores
	for i := range 60 {
		row := f.RawRowView(i)
		sum := row[0] + row[1] + row[2]
		for j := range row {
			row[j] /= sum
		}
	}
	checkNear(t, "LabelSpreading", f, matrix(theirs.Spreading), 1e-8)
}

// TestGraphTwoMoons: a few labels are enough.
func TestGraphTwoMoons(t *testing.T) {
	x, truth := synthetic.TwoMoons(600, 0.06, 3)
	p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 8}, sparse.Combinatorial, 2)
	prepared, err := NewProblem(p.W, p.C)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(5) {
		y := modeltest.Labels(600, map[int]int64{int(2 * (seed * 17 % 300)): 0, int(2*(seed*31%300)) + 1: 1})
		for _, s := range []*Settings{
			{MassNormalization: true}, {Method: LGC}, {Method: Poisson},
			{Method: Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 1e-9, GammaI: 1e-3, Power: 2}},
		} {
			g, err := prepared.Fit(context.Background(), modeltest.ClassTargets(t, y), s)
			if err != nil {
				t.Fatal(err)
			}
			if e := metrics.ErrorRate(g.Labels, truth, y); !(e <= 0.03) {
				t.Errorf("labels %v, %v: error %.3f", y.Labeled(), s.Method, e)
			}
		}
	}
}

func TestGraphFaults(t *testing.T) {
	w := weightedGraph(t, 1, 20)
	y := modeltest.ClassTargets(t, drawClasses(1, 20, 5, 2))
	values := &models.Targets{Len: 20, Labeled: []int{3}, Y: mat.NewDense(1, 1, []float64{2})}
	nan := math.NaN()
	for _, c := range []struct {
		s    Settings
		y    *models.Targets
		want string
	}{
		{Settings{Method: 7}, y, "graph regularization"},
		{Settings{Method: LGC}, values, "lgc is for classes"},
		{Settings{Method: Poisson}, values, "poisson is for classes"},
		{Settings{Method: LGC, Alpha: 1}, y, "alpha is 1"},
		{Settings{Method: LGC, Alpha: nan}, y, "alpha is NaN"},
		{Settings{Alpha: 0.5}, y, "belongs to lgc"},
		{Settings{Method: Tikhonov}, y, "gamma-a is 0"},
		{Settings{Method: Tikhonov, Regularizer: regularizer.Regularizer{GammaA: 1}}, y, "gamma-i is 0"},
		{Settings{Regularizer: regularizer.Regularizer{GammaA: 1}}, y, "belong to tikhonov"},
		{Settings{Method: LGC, MassNormalization: true}, y, "mass normalization belongs to harmonic"},
		{Settings{MassNormalization: true}, values, "class-mass is for classes"},
		{Settings{Priors: []float64{1, 2}}, values, "priors and class-shares are for classes"},
		{Settings{ClassShares: EqualShares}, values, "priors and class-shares are for classes"},
		{Settings{Method: Poisson, Priors: []float64{1}}, y, "priors names 1 shares for 2 classes"},
		{Settings{Method: Poisson, Priors: []float64{1, -1}}, y, "priors has the value -1"},
		{Settings{Method: LGC, Priors: []float64{0, 0}}, y, "priors are all 0"},
		{Settings{Tolerance: -1}, y, "tolerance is -1"},
		{Settings{MaxIterations: -1}, y, "max-iterations is -1"},
		{Settings{}, &models.Targets{Len: 19}, "19 points for a graph of 20"},
	} {
		if g, err := Fit(context.Background(), w, nil, c.y, &c.s); err == nil || g != nil || !strings.Contains(param.Plain(err.Error()), c.want) {
			t.Errorf("%+v: error %v, want one with %q", c.s, err, c.want)
		}
	}
	// All faults at once.
	_, err := Fit(context.Background(), w, nil, y, &Settings{Alpha: 2, Tolerance: 3, MaxIterations: -4})
	for _, part := range []string{"α is 2", "tolerance› is 3", "max-iterations› is -4"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v lacks %q", err, part)
		}
	}
	bad := *w
	bad.Val = slices.Clone(w.Val)
	bad.Val[0] = -1
	if _, err := NewProblem(&bad, nil); err == nil {
		t.Error("a negative weight: no error")
	}
	if _, err := NewProblem(w, &sparse.Components{Of: make([]int32, 3), Sizes: []int{3}}); err == nil || !strings.Contains(err.Error(), "components of 3 points") {
		t.Errorf("other components: %v", err)
	}
	if _, err := NewProblem(&sparse.CSR{Ptr: []int64{0}}, nil); err == nil {
		t.Error("no points: no error")
	}
	// Not converged, and cancelled: what was reached.
	g, err := Fit(context.Background(), w, nil, y, &Settings{MaxIterations: 1})
	if !errors.Is(err, cg.ErrNotConverged) || g == nil || len(g.Labels) != 20 || !(slices.Max(g.Residuals) > 1e-8) {
		t.Errorf("one iteration: %v, %+v", err, g)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(ctx, w, nil, y, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	stop := errors.New("stop")
	if _, err := Fit(context.Background(), w, nil, y, &Settings{OnIteration: func(cg.State) error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("a hook that stops: %v", err)
	}
}

func TestGraphMethodNames(t *testing.T) {
	for m := Harmonic; m <= Poisson; m++ {
		var back Method
		if text, err := m.MarshalText(); err != nil || back.UnmarshalText(text) != nil || back != m {
			t.Errorf("%s: %v", text, back)
		}
	}
}
