package active

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// poolOf is a pool of points in clouds, with p eigenpairs of the normalized Laplacian.
func poolOf(t testing.TB, n, clouds, p int, labeled []int) *Pool {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	x := data.NewDense[float64](n, 2)
	for i := range n {
		x.Row(i)[0] = rng.NormFloat64() + 40*float64(i%clouds)
		x.Row(i)[1] = rng.NormFloat64()
	}
	l := modeltest.Laplacian(t, x, 4, sparse.Normalized)
	c := l.Graph().Components()
	r, err := lanczos.Laplacian(t.Context(), l, c, &lanczos.Settings{K: p})
	if err != nil {
		t.Fatal(err)
	}
	margins := make([]float64, n)
	for i := range margins {
		margins[i] = rng.Float64()
	}
	groups := make([]int32, n)
	typicality := make([]float64, n)
	for i := range n {
		groups[i] = int32(i % 3)
		typicality[i] = rng.Float64()
	}
	return &Pool{Components: c, Values: r.Values, Vectors: r.Vectors, Labeled: labeled, Margins: margins, Classes: 2,
		Clusters: groups, Typicality: typicality, Weights: l.Graph()}
}

// checkGreedy compares choices with scores of n×n covariances that are made anew from the
// labels for each of them. Twins of equal scores may be chosen in any order.
func checkGreedy(t *testing.T, p *Pool, s Settings, choices []Choice) {
	t.Helper()
	n := p.Len()
	var first []float64
	labeled := slices.Clone(p.Labeled)
	for q, choice := range choices {
		c, noise := denseCovariance(t, p, labeled, &s)
		if first == nil {
			for i := range n {
				first = append(first, c.At(i, i))
			}
		}
		scores := make([]float64, n)
		for i := range n {
			if slices.Contains(labeled, i) {
				continue
			}
			var square, sum float64
			for j := range n {
				square += c.At(j, i) * c.At(j, i)
				sum += c.At(j, i)
			}
			u := 1 - p.Margins[i]
			apart := u * c.At(i, i) / first[i]
			combined := apart
			if len(labeled) < max(FewLabels*p.Classes, LeastExplored) {
				combined = u * sum * sum / (c.At(i, i) + noise)
			}
			scores[i] = map[Rule]float64{
				VOpt: square / (c.At(i, i) + noise), SOpt: sum * sum / (c.At(i, i) + noise),
				Uncertainty: apart, Committee: apart, Combined: combined,
			}[s.Rule]
		}
		want := slices.Max(scores)
		if got := scores[choice.Point]; !(got >= want*(1-1e-7)) || !(math.Abs(choice.Score-got) <= 1e-7*want) {
			t.Errorf("%v, labels %v: choice %d is point %d with %v; by brute force it has %v and the best %v", s.Rule, p.Labeled, q, choice.Point, choice.Score, got, want)
			return
		}
		labeled = append(labeled, choice.Point)
	}
}

// denseCovariance is (C⁰⁻¹ + J/σ²)⁻¹ by Schur complements of the n×n matrix C⁰.
func denseCovariance(t *testing.T, p *Pool, labeled []int, s *Settings) (*mat.Dense, float64) {
	t.Helper()
	n := p.Len()
	scaled := mat.DenseCopyOf(p.Vectors)
	var trace float64
	for j, v := range p.Values {
		trace += 1 / (v + s.Delta)
		for i := range n {
			scaled.Set(i, j, scaled.At(i, j)/(v+s.Delta))
		}
	}
	noise := s.Noise * trace / float64(n)
	var c mat.Dense
	c.Mul(scaled, p.Vectors.T())
	if len(labeled) == 0 {
		return &c, noise
	}
	columns, block := mat.NewDense(n, len(labeled), nil), mat.NewDense(len(labeled), len(labeled), nil)
	for q, i := range labeled {
		columns.SetCol(q, mat.Col(nil, i, &c))
		for r, j := range labeled {
			block.Set(q, r, c.At(i, j))
		}
		block.Set(q, q, block.At(q, q)+noise)
	}
	var solved, less mat.Dense
	if err := solved.Solve(block, columns.T()); err != nil {
		t.Fatal(err)
	}
	less.Mul(columns, &solved)
	c.Sub(&c, &less)
	return &c, noise
}

func points(choices []Choice) []int {
	var out []int
	for _, c := range choices {
		out = append(out, c.Point)
	}
	return out
}

// Greedy choices by updates of rank one are those of covariances made anew.
func TestChooseAsByBruteForce(t *testing.T) {
	for _, pairs := range []int{12, 60} {
		for _, labeled := range [][]int{nil, {3}, {3, 17, 40, 41}} {
			p := poolOf(t, 60, 1, pairs, labeled)
			for _, rule := range []Rule{VOpt, SOpt, Uncertainty, Committee, Combined} {
				// Enough for combined to stop exploring.
				s := Settings{Rule: rule, Count: LeastExplored + 4, Delta: 0.02, Noise: 0.05, Tiny: math.Inf(1)}
				got, err := Choose(t.Context(), p, &s)
				if err != nil {
					t.Fatal(err)
				}
				checkGreedy(t, p, s, got)
			}
		}
	}
}

// Components without a label come first, the largest first, unless they are tiny.
func TestComponentsFirst(t *testing.T) {
	p := poolOf(t, 90, 3, 20, nil)
	// The clouds have equal sizes: of one all points but a few are closed by other means.
	p.Labeled = []int{0} // cloud 0
	for _, rule := range []Rule{Combined, VOpt, SOpt, Uncertainty} {
		got, err := Choose(t.Context(), p, &Settings{Rule: rule, Count: 4})
		if err != nil {
			t.Fatal(err)
		}
		of := func(q int) int { return got[q].Point % 3 }
		if of(0) != 1 || of(1) != 2 || !got[0].First || !got[1].First || got[2].First || got[3].First {
			t.Errorf("%v: chose %+v; points of components 1 and 2 come first", rule, got)
		}
	}
	sizes := &sparse.Components{Of: []int32{0, 0, 0, 1, 2, 2, 3, 3, 3, 3}, Sizes: []int{3, 1, 2, 4}}
	q := &Pool{Components: sizes, Labeled: []int{0}, Closed: make([]bool, 10)}
	for _, c := range []struct {
		tiny float64
		want []int32
	}{{-1, []int32{3, 2, 1}}, {0.1, []int32{3, 2, 1}}, {0.9, []int32{3}}, {0.3, []int32{3, 2, 1}}, {0.6, []int32{3, 2}}} {
		if got := q.unlabeledComponents(&Settings{Count: 2, Tiny: c.tiny}); !slices.Equal(got, c.want) {
			t.Errorf("tiny %v: components %v first, want %v", c.tiny, got, c.want)
		}
	}
	for i := 6; i < 10; i++ {
		q.Closed[i] = true
	}
	if got := q.unlabeledComponents(&Settings{Count: 2, Tiny: -1}); !slices.Equal(got, []int32{2, 1}) {
		t.Errorf("a component that is closed is among %v", got)
	}
}

// Isolated points, of which nothing is known, do not take the place of points whose labels tell of others; they are
// chosen when no others are left.
func TestIsolatedPointsLast(t *testing.T) {
	const n, alone = 600, 3
	p := poolOf(t, n, 1, 20, data.Range(0, 30))
	_, pairs := p.Vectors.Dims()
	vectors := mat.NewDense(n+alone, pairs+alone, nil)
	vectors.Slice(0, n, 0, pairs).(*mat.Dense).Copy(p.Vectors)
	for q := range alone {
		vectors.Set(n+q, pairs+q, 1)
		p.Values = append(p.Values, 0)
		p.Margins = append(p.Margins, 0)
		p.Components.Of = append(p.Components.Of, int32(len(p.Components.Sizes)))
		p.Components.Sizes = append(p.Components.Sizes, 1)
	}
	p.Vectors = vectors
	for _, rule := range []Rule{Combined, VOpt, SOpt, Uncertainty} {
		for _, count := range []int{5, n + alone - 30} {
			got, err := Choose(t.Context(), p, &Settings{Rule: rule, Count: count})
			if err != nil {
				t.Fatal(err)
			}
			isolated := 0
			for _, i := range points(got) {
				if i >= n {
					isolated++
				}
			}
			if all := count > 5; all && isolated != alone || !all && isolated > 0 {
				t.Errorf("%v: %d of %d points are isolated", rule, isolated, count)
			}
		}
	}
}

// No point is chosen twice, or that has a label or is closed; all can be chosen.
func TestChooseAll(t *testing.T) {
	p := poolOf(t, 40, 2, 10, []int{1, 2})
	p.Closed = make([]bool, 40)
	p.Closed[7] = true
	for _, rule := range Rules {
		got, err := Choose(t.Context(), p, &Settings{Rule: rule, Count: 37, Seed: 4})
		if err != nil {
			t.Fatal(err)
		}
		all := points(got)
		slices.Sort(all)
		want := slices.DeleteFunc(data.Range(0, 40), func(i int) bool { return i == 1 || i == 2 || i == 7 })
		if !slices.Equal(all, want) {
			t.Errorf("%v: chose %v", rule, all)
		}
		for _, c := range got {
			if c.Component != p.Components.Of[c.Point] {
				t.Errorf("%v: point %d is not in component %d", rule, c.Point, c.Component)
			}
		}
	}
}

// A batch is spread: no point of it is a neighbour of another, as the least certain
// points are when they are taken one by one.
func TestBatchIsDiverse(t *testing.T) {
	p := poolOf(t, 400, 1, 40, []int{0, 100})
	for i := range p.Margins {
		p.Margins[i] = min(1, float64((i+300)%400)/400) // uncertain at 100, 101, …: anywhere in the plane
	}
	x := p.Vectors
	near := func(rule Rule, noise float64) float64 {
		got, err := Choose(t.Context(), p, &Settings{Rule: rule, Count: 12, Noise: noise})
		if err != nil {
			t.Fatal(err)
		}
		least := math.Inf(1)
		for q, a := range got {
			for _, b := range got[:q] {
				var dot, aa, bb float64
				for j, v := range p.Values {
					w := 1 / (v + 0.01)
					dot += w * x.At(a.Point, j) * x.At(b.Point, j)
					aa += w * x.At(a.Point, j) * x.At(a.Point, j)
					bb += w * x.At(b.Point, j) * x.At(b.Point, j)
				}
				least = min(least, 1-dot/math.Sqrt(aa*bb))
			}
		}
		return least
	}
	for _, rule := range []Rule{Combined, VOpt, SOpt, Uncertainty} {
		spread, blind := near(rule, 0), near(rule, 1e9) // with much noise nothing is learned from a label
		if !(spread > 2*blind) {
			t.Errorf("%v: the closest two of a batch are %.3g apart, without updates %.3g", rule, spread, blind)
		}
	}
}

func TestSameChoicesAtAnyNumberOfThreads(t *testing.T) {
	p := poolOf(t, 3000, 2, 30, []int{5, 9, 2000})
	for _, rule := range Rules {
		var want []Choice
		for _, threads := range []int{1, 2, 5} {
			before := runtime.GOMAXPROCS(threads)
			got, err := Choose(t.Context(), p, &Settings{Rule: rule, Count: 10, Seed: 1})
			runtime.GOMAXPROCS(before)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v: %d threads choose %v, 1 thread %v", rule, threads, got, want)
			}
		}
	}
}

func TestChooseFaults(t *testing.T) {
	good := func() (*Pool, *Settings) { return poolOf(t, 20, 1, 5, []int{3}), &Settings{Count: 2} }
	for _, c := range []struct {
		change func(*Pool, *Settings)
		want   string
	}{
		{func(p *Pool, s *Settings) { s.Count = 0 }, "0 points asked for"},
		{func(p *Pool, s *Settings) { s.Count = 20 }, "20 points asked for and only 19 can be chosen, of 20 points with 1 labels; ask for fewer"},
		{func(p *Pool, s *Settings) { s.Rule = 9 }, "rule unknown (9)"},
		{func(p *Pool, s *Settings) { s.Delta = -1 }, "δ is -1"},
		{func(p *Pool, s *Settings) { s.Noise = math.NaN() }, "the noise is NaN"},
		{func(p *Pool, s *Settings) { s.Tiny = math.NaN() }, "tiny component is NaN"},
		{func(p *Pool, s *Settings) { p.Labeled = []int{20} }, "labeled point 20 of 20"},
		{func(p *Pool, s *Settings) { p.Closed = make([]bool, 3) }, "3 marks of closed points for 20"},
		{func(p *Pool, s *Settings) { p.Margins, s.Rule = nil, Uncertainty }, "0 margins for 20 points; the rule uncertainty needs those of a model"},
		{func(p *Pool, s *Settings) { p.Clusters, s.Rule = nil, Typical }, "clusters of 0 points"},
		{func(p *Pool, s *Settings) { p.Weights, s.Rule = nil, Cover }, "needs the edges between the 20 points"},
		{func(p *Pool, s *Settings) { p.Margins[4] = 1.5 }, "the margin of point 4 is 1.5"},
		{func(p *Pool, s *Settings) { p.Vectors = nil }, "needs eigenpairs"},
		{func(p *Pool, s *Settings) { p.Values = p.Values[:3] }, "20×5 and 3 eigenvalues"},
		{func(p *Pool, s *Settings) { p.Values[1] = -1 }, "eigenvalue 1 is -1"},
		{func(p *Pool, s *Settings) { p.Components = nil }, "no points"},
	} {
		p, s := good()
		c.change(p, s)
		if _, err := Choose(t.Context(), p, s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	p, s := good()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Choose(ctx, p, s); err == nil {
		t.Error("a cancelled choice is no error")
	}
}

func TestMargins(t *testing.T) {
	for _, c := range []struct {
		scores []float64
		c      int
		want   []float64
	}{
		{[]float64{3, 1, 0, 0, 0, 0, 2, 2, 0, 0, 0, 1e-300}, 3, []float64{0.5, 0, 0, 1}}, // shares of what is not negative
		{[]float64{-0.5, 0.5, 0.2, -0.2, 0, 0, -3, 3}, 2, []float64{0.5, 0.2, 0, 1}},     // one class against the other
		{[]float64{1, -1, -1, 0, 0, -1}, 3, []float64{1, 0}},
	} {
		got := Margins(mat.NewDense(len(c.scores)/c.c, c.c, c.scores))
		for i, want := range c.want {
			if !(math.Abs(got[i]-want) <= 1e-12) {
				t.Errorf("margins of %v are %v, want %v", c.scores, got, c.want)
				break
			}
		}
	}
	shares := Shares(mat.NewDense(1, 3, []float64{math.NaN(), 1, 2}))
	for j := range 3 {
		if shares.At(0, j) != 1./3 {
			t.Errorf("a row with NaN has the shares %v", mat.Formatted(shares))
		}
	}
}

func ExampleChoose() {
	// Two triangles joined by an edge, of which the first has a label.
	w, err := sparse.FromTriplets(6, 6,
		[]int32{0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 5}, []int32{1, 2, 0, 2, 0, 1, 3, 2, 4, 5, 3, 5, 3, 4},
		[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	if err != nil {
		panic(err)
	}
	l, err := sparse.NewLaplacian(w, sparse.Normalized)
	if err != nil {
		panic(err)
	}
	c := w.Components()
	r, err := lanczos.Laplacian(context.Background(), l, c, &lanczos.Settings{K: 6})
	if err != nil {
		panic(err)
	}
	choices, err := Choose(context.Background(), &Pool{Components: c, Values: r.Values, Vectors: r.Vectors, Labeled: []int{0}}, &Settings{Rule: VOpt, Count: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(choices[0].Point)
	// Output: 3
}
