package lanczos_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/bigfit/bigfit/internal/testmode"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/sparse"
)

// tight is the tolerance of the tests of eigenvalues.
const tight = 1e-10

func largest(x []float64) float64 { return math.Abs(x[len(x)-1]) }

// solveFamily computes k pairs of a graph with known spectrum and checks them.
func solveFamily(t *testing.T, f family, kind sparse.Kind, k int) *lanczos.Result {
	t.Helper()
	l, c := newLaplacian(t, f.w, kind)
	r, err := laplacian(context.Background(), l, c, &lanczos.Settings{K: k, Tolerance: tight})
	if err != nil {
		t.Fatal(err)
	}
	want := f.spectrum(kind)
	k = min(k, len(want))
	// The tolerance refers to the bound that the Result gives for ‖L‖.
	norm := largest(want)
	if !(r.Norm <= l.UpperBound()*(1+1e-12)) {
		t.Errorf("‖L‖ = %v, bounded by %v", norm, r.Norm)
	}
	checkPairs(t, r, k, math.Max(norm, r.Norm), tight, func(x *mat.Dense) *mat.Dense { return applyLaplacian(f.w, kind, x) })
	checkValues(t, r.Values, want, 1e-10)
	if r.Nullity != min(c.Count(), k) {
		t.Errorf("nullity %d, want %d", r.Nullity, min(c.Count(), k))
	}
	for j := range r.Nullity {
		if r.Values[j] != 0 {
			t.Errorf("null value %d is %v", j, r.Values[j])
		}
	}
	return r
}

// TestSpectraDense goes through n ≤ 800, where the dense method is used.
func TestSpectraDense(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "accuracy; other tests of the package have the goroutines")
	for _, f := range []family{
		path(1), path(2), path(3), path(57), cycle(3), cycle(64), cycle(101), complete(2), complete(90), star(3), star(80),
		grid(1, 1), grid(9, 13), torus(8, 8), torus(5, 9), hypercube(1), hypercube(7), isolated(1), isolated(40),
		copies(20, path(5)), copies(7, complete(6)), copies(150, cycle(3)),
		union("mixed", grid(5, 5), isolated(3), cycle(12), isolated(4), complete(7), star(9)),
		twoBlocks(path(20), 1e-3), twoBlocks(grid(6, 7), 1e-6),
	} {
		for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
			if f.spectrum(kind) == nil {
				continue
			}
			n := f.w.Rows
			for _, k := range []int{1, 2, n / 3, n - 1, n, n + 5} {
				if k > 0 {
					t.Run(fmt.Sprintf("%s/%v/%d", f.name, kind, k), func(t *testing.T) { solveFamily(t, f, kind, k) })
				}
			}
		}
	}
}

// TestSpectraKrylov goes through graphs beyond the dense method. The
// multiplicities of the hypercube, the complete graph, the star and the disjoint
// unions exceed the block.
// many adds numbers of pairs that take long in a campaign.
func many(ks []int, more ...int) []int {
	if testmode.Soak() {
		return append(ks, more...)
	}
	return ks
}

func TestSpectraKrylov(t *testing.T) {
	testmode.Skip(t, testmode.Race, "accuracy; TestSameBits has the goroutines")
	both := []sparse.Kind{sparse.Combinatorial, sparse.Normalized}
	for _, c := range []struct {
		f     family
		kinds []sparse.Kind
		ks    []int
	}{
		{path(1000), both, []int{1, 2, 12}},
		{cycle(2000), both, many([]int{2, 40}, 8)},
		{cycle(3001), both[:1], []int{24}},
		{star(2000), both, []int{1, 2, 10, 40}},
		{grid(50, 60), both[:1], many([]int{5, 60}, 1)},
		{torus(48, 48), both, []int{4, 64}},
		{torus(40, 100), both[:1], many([]int{40}, 150)},
		{hypercube(10), both, []int{5, 56}},
		{hypercube(12), both[:1], many([]int{13, 14, 79}, 2, 299)},
		{hypercube(12), both[1:], []int{14, 79}},
		{complete(1500), both[:1], []int{1, 2, 40}},
		{complete(1500), both[1:], []int{10}},
		{copies(500, cycle(8)), both[:1], many([]int{500, 501}, 10, 580)},
		{copies(500, cycle(8)), both[1:], []int{501}},
		{copies(500, path(4)), both[:1], []int{510}},
		{copies(4, torus(20, 30)), both, []int{30}},
		{union("grid and 500 points", grid(40, 40), isolated(500)), both[:1], []int{100, 500, 501, 530}},
		{isolated(1000), both, []int{1, 30}},
		{isolated(400), both[:1], many([]int{400})},
	} {
		for _, kind := range c.kinds {
			for _, k := range c.ks {
				if (testmode.In(testmode.Race) || testing.Short()) && c.f.w.Rows*k > 4000 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%d", c.f.name, kind, k), func(t *testing.T) {
					r := solveFamily(t, c.f, kind, k)
					// One distinct eigenvalue needs no iteration; small components are dense.
					if r.Nullity < k && !strings.HasPrefix(c.f.name, "complete") && r.Nullity == 1 {
						notDense(t, r)
					}
				})
			}
		}
	}
}

// TestTinyGap separates eigenvalues that differ by 1e-10.
func TestTinyGap(t *testing.T) {
	const gap = 1e-10
	for _, f := range []family{twoBlocks(grid(8, 9), gap), twoBlocks(complete(30), gap), twoBlocks(grid(20, 25), gap), twoBlocks(torus(30, 30), gap)} {
		for _, k := range []int{2, 3, 10} {
			t.Run(fmt.Sprintf("%s/%d", f.name, k), func(t *testing.T) {
				r := solveFamily(t, f, sparse.Combinatorial, k)
				n := f.w.Rows
				if !(math.Abs(r.Values[1]-gap) <= 1e-3*gap) {
					t.Errorf("λ₁ = %.6g, want %g", r.Values[1], gap)
				}
				// The two vectors are 1 and ±1, constant on the blocks.
				for j, second := range []float64{1, -1} {
					var inner float64
					for i := range n {
						sign := 1.0
						if i >= n/2 {
							sign = second
						}
						inner += sign * r.Vectors.At(i, j) / math.Sqrt(float64(n))
					}
					if !(math.Abs(math.Abs(inner)-1) <= 1e-10) {
						t.Errorf("vector %d has the cosine %.12f with the exact one", j, inner)
					}
				}
			})
		}
	}
}

// TestPowers takes powers of a Laplacian with their null vectors.
func TestPowers(t *testing.T) {
	for _, c := range []struct {
		f           family
		power, k    int
		nonzeroFrom int
	}{
		{path(40), 3, 40, 1}, {path(400), 3, 20, 1}, {path(300), 4, 12, 1}, {copies(3, cycle(20)), 2, 30, 3},
		{grid(9, 9), 5, 20, 1}, {torus(40, 40), 2, 30, 1}, {copies(3, torus(18, 18)), 3, 25, 3},
	} {
		if testmode.In(testmode.Race) && c.f.w.Rows > 500 {
			continue
		}
		t.Run(fmt.Sprintf("%s^%d", c.f.name, c.power), func(t *testing.T) {
			l, comp := newLaplacian(t, c.f.w, sparse.Combinatorial)
			lp := l.With(c.power, 0)
			r, err := laplacian(context.Background(), lp, comp, &lanczos.Settings{K: c.k, Tolerance: tight})
			if err != nil {
				t.Fatal(err)
			}
			want := sorted(c.f.w.Rows, func(k int) float64 { return math.Pow(c.f.combinatorial[k], float64(c.power)) })
			checkPairs(t, r, c.k, math.Max(largest(want), r.Norm), tight, apply(lp))
			checkValues(t, r.Values, want, 1e-10*math.Max(1, largest(want)))
			if r.Nullity != c.nonzeroFrom {
				t.Errorf("nullity %d, want %d", r.Nullity, c.nonzeroFrom)
			}
		})
	}
}

// TestShift solves (L + cI)ᵖ, which has no null vectors to put in front.
func TestShift(t *testing.T) {
	for _, f := range []family{torus(7, 9), torus(40, 40), copies(3, torus(18, 18))} {
		for _, c := range []struct {
			power int
			shift float64
		}{{1, 0.5}, {2, 0.25}, {1, -1}} {
			l, _ := newLaplacian(t, f.w, sparse.Normalized)
			op := l.With(c.power, c.shift)
			r, err := solve(context.Background(), op, &lanczos.Settings{K: 20, Tolerance: tight})
			if err != nil {
				t.Errorf("%s, %+v: %v", f.name, c, err)
				continue
			}
			want := sorted(f.w.Rows, func(k int) float64 { return math.Pow(f.normalized[k]+c.shift, float64(c.power)) })
			checkPairs(t, r, 20, math.Max(math.Abs(want[0]), largest(want)), tight*1.05, apply(op))
			checkValues(t, r.Values, want, 1e-10)
			if r.Nullity != 0 {
				t.Errorf("%s, %+v: nullity %d without known null vectors", f.name, c, r.Nullity)
			}
		}
	}
}

// TestNearBipartite takes the largest eigenvalues of normalized Laplacians, near
// 2, as the smallest of the negated operator.
func TestNearBipartite(t *testing.T) {
	testmode.Skip(t, testmode.Race, "accuracy; TestSameBits has the goroutines")
	bipartite := torus(28, 30)
	// A chord across one square makes an odd cycle.
	chord := []edge{{0, 31, 1}}
	for i := range bipartite.w.Rows {
		col, _ := bipartite.w.Row(i)
		for _, j := range col {
			if int(j) < i {
				chord = append(chord, edge{i, int(j), 1})
			}
		}
	}
	for _, c := range []struct {
		name string
		w    *sparse.CSR
		k    int
		want []float64 // of the normalized Laplacian, nil for a dense reference
	}{
		{"odd cycle", cycle(301).w, 12, cycle(301).normalized},
		{"long odd cycle", cycle(1501).w, 12, cycle(1501).normalized},
		{"torus", bipartite.w, 16, bipartite.normalized},
		{"torus with a chord", newGraph(bipartite.w.Rows, chord), 16, nil},
		{"hypercube", hypercube(10).w, 11, hypercube(10).normalized},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, _ := newLaplacian(t, c.w, sparse.Normalized)
			want := c.want
			if want == nil {
				var e mat.EigenSym
				if !e.Factorize(denseLaplacian(c.w, sparse.Normalized), false) {
					t.Fatal("gonum's decomposition failed")
				}
				want = e.Values(nil)
			}
			r, err := solve(context.Background(), negated{l}, &lanczos.Settings{K: c.k, Tolerance: tight})
			if err != nil {
				t.Fatal(err)
			}
			checkPairs(t, r, c.k, 2, tight, apply(negated{l}))
			checkValues(t, r.Values, scaled(want, -1), 1e-10)
		})
	}
}

// TestOperators solves operators that are no Laplacians: indefinite, clustered,
// of rank one, zero, multiples of the identity, of widely different scales.
func TestOperators(t *testing.T) {
	const n = 1100
	rng := rand.New(rand.NewPCG(4, 0))
	fill := func(f func(i int) float64) diagonal {
		d := make(diagonal, n)
		for i := range d {
			d[i] = f(i)
		}
		rng.Shuffle(n, func(i, j int) { d[i], d[j] = d[j], d[i] })
		return d
	}
	for _, c := range []struct {
		name string
		d    diagonal
	}{
		{"uniform", fill(func(i int) float64 { return float64(i) / n })},
		{"indefinite", fill(func(i int) float64 { return float64(i)/n - 0.5 })},
		{"negative", fill(func(i int) float64 { return -1 - float64(i)/n })},
		{"threefold", fill(func(i int) float64 { return float64(i / 3) })},
		{"clusters", fill(func(i int) float64 { return float64(i/20) + 1e-9*float64(i%20) })},
		{"outlier", fill(func(i int) float64 {
			if i == 0 {
				return -1e6
			}
			return float64(i) / n
		})},
		{"large", fill(func(i int) float64 { return 1e12 * float64(i) })},
		{"small", fill(func(i int) float64 { return 1e-12 * float64(i) })},
		{"rank one", fill(func(i int) float64 { return float64(i / (n - 1)) })},
		{"negative rank one", fill(func(i int) float64 { return -float64(i / (n - 1)) })},
		{"zero", fill(func(int) float64 { return 0 })},
		{"identity", fill(func(int) float64 { return 1 })},
		{"minus seven", fill(func(int) float64 { return -7 })},
		{"two values", fill(func(i int) float64 { return float64(2 * (i % 2)) })},
	} {
		for _, d := range []diagonal{c.d, c.d[:60]} {
			for _, k := range []int{1, 25} {
				if testmode.In(testmode.Race) && len(d) > 60 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%d/%d", c.name, len(d), k), func(t *testing.T) {
					r, err := solve(context.Background(), d, &lanczos.Settings{K: k, Tolerance: tight})
					if err != nil {
						t.Fatal(err)
					}
					want := slices.Clone(d)
					slices.Sort(want)
					norm := math.Max(math.Abs(want[0]), math.Abs(want[len(d)-1]))
					if !(r.Norm <= 1.1*norm) {
						t.Errorf("Norm %v for ‖A‖ = %v", r.Norm, norm)
					}
					checkPairs(t, r, k, math.Max(norm, r.Norm), tight, apply(d))
					checkValues(t, r.Values, want, tight*norm)
				})
			}
		}
	}
}

// randomGraph draws a graph of n points: some isolated, some components, weights
// one or spread over several orders of magnitude.
func randomGraph(rt *rapid.T, low, high int) *sparse.CSR {
	n := rapid.IntRange(low, high).Draw(rt, "n")
	perPoint := rapid.SampledFrom([]float64{0.3, 1, 2, 5}).Draw(rt, "edges per point")
	spread := rapid.SampledFrom([]float64{0, 1, 8}).Draw(rt, "spread of log weights")
	loops := rapid.Bool().Draw(rt, "loops")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
	seen := map[[2]int]bool{}
	var edges []edge
	for range int(perPoint * float64(n)) {
		i, j := rng.IntN(n), rng.IntN(n)
		key := [2]int{min(i, j), max(i, j)}
		if i == j && !loops || seen[key] {
			continue
		}
		seen[key] = true
		edges = append(edges, edge{i, j, math.Exp(spread * (rng.Float64() - 1))})
	}
	return newGraph(n, edges)
}

// checkRandom solves one kind of Laplacian of a random graph and compares it with
// gonum's complete decomposition.
func checkRandom(rt *rapid.T, w *sparse.CSR, k int) {
	kind := rapid.SampledFrom([]sparse.Kind{sparse.Combinatorial, sparse.Normalized, sparse.RandomWalk}).Draw(rt, "kind")
	l, c := newLaplacian(rt, w, kind)
	r, err := laplacian(context.Background(), l, c, &lanczos.Settings{K: k, Tolerance: tight, Seed: uint64(k)})
	if err != nil {
		rt.Fatalf("%v", err)
	}
	k = min(k, w.Rows)
	values, vectors := eigenSym(rt, denseLaplacian(w, kind))
	// With self-loops alone L is 0 up to rounding of its entries.
	norm := max(largest(values), r.Norm, 1e-4*l.UpperBound())
	symmetric := *r
	if kind == sparse.RandomWalk {
		// Residual of (I − D⁻¹W)x = λx, then back to the normalized problem.
		checkRandomWalk(rt, w, r, norm, tight)
		symmetric.Vectors = mat.DenseCopyOf(r.Vectors)
		for i, d := range w.Degrees() {
			row := symmetric.Vectors.RawRowView(i)
			for j := range row {
				if d > 0 {
					row[j] *= math.Sqrt(d)
				}
			}
		}
		kind = sparse.Normalized
	}
	checkPairs(rt, &symmetric, k, norm, tight, func(x *mat.Dense) *mat.Dense { return applyLaplacian(w, kind, x) })
	checkValues(rt, r.Values, values, 1e-10*math.Max(1, norm))
	checkSubspaces(rt, &symmetric, values, vectors, 1e-4)
	if r.Nullity != min(k, c.Count()) {
		rt.Errorf("nullity %d for %d components and %d pairs", r.Nullity, c.Count(), k)
	}
}

// checkRandomWalk checks XᵀDX = I, with 1 for a vertex of degree zero, and the
// residuals of I − D⁻¹W in the norm of D.
func checkRandomWalk(t tb, w *sparse.CSR, r *lanczos.Result, norm, tolerance float64) {
	t.Helper()
	d := w.Degrees()
	for i, v := range d {
		if v == 0 {
			d[i] = 1
		}
	}
	if e := gramError(r.Vectors, d); !(e <= 1e-10) {
		t.Errorf("max |XᵀDX − I| = %.2e", e)
	}
	y := applyLaplacian(w, sparse.RandomWalk, r.Vectors)
	n, k := y.Dims()
	sum := make([]float64, k)
	for i := range n {
		for j, v := range y.RawRowView(i) {
			v -= r.Values[j] * r.Vectors.At(i, j)
			sum[j] += d[i] * v * v
		}
	}
	for j, s := range sum {
		if s = math.Sqrt(s); !(s <= tolerance*norm*(1+1e-6)+1e-14*norm) {
			t.Errorf("pair %d: ‖(I − D⁻¹W)x − λx‖ = %.2e in the norm of D, want ≤ %.1e", j, s, tolerance*norm)
		}
		if !(math.Abs(s-r.Residuals[j]) <= 1e-13) {
			t.Errorf("pair %d: residual %.2e reported, %.2e recomputed", j, r.Residuals[j], s)
		}
	}
}

func TestRandomGraphsDense(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := randomGraph(rt, 1, 60)
		checkRandom(rt, w, rapid.IntRange(1, 70).Draw(rt, "k"))
	})
}

func TestRandomGraphsKrylov(t *testing.T) {
	testmode.Skip(t, testmode.Race, "accuracy; TestSameBits has the goroutines")
	f := flag.Lookup("rapid.checks")
	old := f.Value.String()
	defer f.Value.Set(old)
	if old == "100" { // the default; each check decomposes a matrix of this size
		f.Value.Set("3")
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := randomGraph(rt, 801, 880)
		checkRandom(rt, w, rapid.SampledFrom([]int{1, 7, 40}).Draw(rt, "k beyond the components")+w.Components().Count())
	})
}

func TestRandomWalk(t *testing.T) {
	for _, f := range []family{path(50), path(1000), star(40), star(1200), union("", path(30), isolated(3)), copies(3, path(400))} {
		r := solveRandomWalk(t, f, 10)
		checkValues(t, r.Values, f.normalized, 1e-10)
		// A null vector is constant on its component.
		c := f.w.Components()
		for j := range r.Nullity {
			var constant float64
			for i := range f.w.Rows {
				if int(c.Of[i]) == j {
					constant = r.Vectors.At(i, j)
					break
				}
			}
			for i := range f.w.Rows {
				want := constant
				if int(c.Of[i]) != j {
					want = 0
				}
				if !(math.Abs(r.Vectors.At(i, j)-want) <= 1e-14) || constant == 0 {
					t.Fatalf("%s: null vector %d is %v at %d, want %v", f.name, j, r.Vectors.At(i, j), i, want)
				}
			}
		}
	}
}

func solveRandomWalk(t *testing.T, f family, k int) *lanczos.Result {
	t.Helper()
	l, c := newLaplacian(t, f.w, sparse.RandomWalk)
	r, err := laplacian(context.Background(), l, c, &lanczos.Settings{K: k, Tolerance: tight})
	if err != nil {
		t.Fatal(err)
	}
	checkRandomWalk(t, f.w, r, math.Max(2, r.Norm), tight)
	return r
}

// TestSameBits compares runs at several GOMAXPROCS and repeated runs.
func TestSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	weighted := twoBlocks(grid(25, 30), 1e-3)
	for _, c := range []struct {
		f    family
		kind sparse.Kind
		k    int
	}{
		{grid(15, 20), sparse.Normalized, 40}, {torus(40, 40), sparse.Combinatorial, 30}, {weighted, sparse.RandomWalk, 20},
		{copies(200, cycle(9)), sparse.Normalized, 230},
	} {
		if testmode.In(testmode.Race) && c.k > 30 {
			continue
		}
		l, comp := newLaplacian(t, c.f.w, c.kind)
		var first *lanczos.Result
		for _, procs := range []int{1, 2, 3, 1} {
			runtime.GOMAXPROCS(procs)
			r, err := laplacian(context.Background(), l, comp, &lanczos.Settings{K: c.k, Seed: 7})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = r
				continue
			}
			if !sameBits(r.Values, first.Values) || !sameBits(r.Residuals, first.Residuals) ||
				!sameBits(r.Vectors.RawMatrix().Data, first.Vectors.RawMatrix().Data) ||
				r.Orthogonality != first.Orthogonality || r.Norm != first.Norm || r.Products != first.Products || r.Restarts != first.Restarts || r.Degree != first.Degree {
				t.Errorf("%s: the result at GOMAXPROCS %d differs from that at 1", c.f.name, procs)
			}
		}
	}
}

func sameBits(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
}

// TestSeed: another seed finds the same spaces.
func TestSeed(t *testing.T) {
	f := torus(30, 31)
	l, c := newLaplacian(t, f.w, sparse.Normalized)
	for seed := range uint64(3) {
		r, err := laplacian(context.Background(), l, c, &lanczos.Settings{K: 21, Tolerance: tight, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		checkValues(t, r.Values, f.normalized, 1e-10)
	}
}

// TestDefaults: the zero settings beside K ask for 1e-8·‖A‖.
func TestDefaults(t *testing.T) {
	f := grid(40, 45)
	l, c := newLaplacian(t, f.w, sparse.Combinatorial)
	s := &lanczos.Settings{K: 50}
	r, err := laplacian(context.Background(), l, c, s)
	if err != nil {
		t.Fatal(err)
	}
	notDense(t, r)
	checkPairs(t, r, 50, largest(f.combinatorial), 1e-8*1.01, apply(l))
	checkValues(t, r.Values, f.combinatorial, 1e-10)
	if s.Tolerance != 0 || s.Basis != 0 || s.MaxRestarts != 0 {
		t.Errorf("the settings were modified: %+v", s)
	}
	// Norm is an estimate from below: what is within the tolerance is so for any bound.
	if !(r.Norm >= largest(f.combinatorial)*(1-1e-3)) || !(r.Norm <= largest(f.combinatorial)*(1+1e-12)) {
		t.Errorf("Norm %v for ‖L‖ = %v", r.Norm, largest(f.combinatorial))
	}
	if r.Products <= 0 || r.MaxResidual() != slices.Max(r.Residuals) {
		t.Errorf("%d products, largest residual %v", r.Products, r.MaxResidual())
	}
	if text := r.String(); !strings.Contains(text, "50 pairs") || strings.Contains(text, "NaN") {
		t.Errorf("the result describes itself as %q", text)
	}
}

// TestStringOfNull: ‖A‖ = 0 gives no NaN.
func TestStringOfNull(t *testing.T) {
	for _, n := range []int{1, 5, 1000} {
		l, c := newLaplacian(t, isolated(n).w, sparse.Combinatorial)
		r, err := laplacian(context.Background(), l, c, &lanczos.Settings{K: 1})
		if err != nil {
			t.Fatal(err)
		}
		if text := r.String(); strings.Contains(text, "NaN") {
			t.Errorf("n = %d: %q", n, text)
		}
	}
}

func TestMaxResidualKeepsNaN(t *testing.T) {
	r := lanczos.Result{Residuals: []float64{1, math.NaN(), 2}}
	if !math.IsNaN(r.MaxResidual()) {
		t.Errorf("%v hides a NaN", r.MaxResidual())
	}
}

// TestCancelled: a cancelled context stops every method before it begins, and
// the iteration at its next step.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, f := range []family{grid(10, 10), grid(40, 50), isolated(30)} {
		l, c := newLaplacian(t, f.w, sparse.Normalized)
		if _, err := laplacian(ctx, l, c, &lanczos.Settings{K: 5}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Laplacian with a cancelled context: %v", f.name, err)
		}
		if _, err := solve(ctx, l, &lanczos.Settings{K: 5}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: Solve with a cancelled context: %v", f.name, err)
		}
	}

	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	l, c := newLaplacian(t, grid(40, 50).w, sparse.Normalized)
	calls := 0
	_, err := laplacian(ctx, l, c, &lanczos.Settings{K: 60, OnRestart: func(lanczos.State) error {
		if calls++; calls == 2 {
			cancel()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("cancelled in call 2 of the hook: %v after %d calls", err, calls)
	}
}

func TestHook(t *testing.T) {
	l, c := newLaplacian(t, grid(40, 50).w, sparse.Combinatorial)
	stop := errors.New("enough")
	total := 0 // calls of the undisturbed run, which is the first
	for _, share := range []float64{0, 0, 0.5, 1} {
		at := -1
		if total > 0 {
			at = max(1, int(share*float64(total)))
		}
		calls := 0
		_, err := laplacian(context.Background(), l, c, &lanczos.Settings{K: 30, OnRestart: func(lanczos.State) error {
			if calls++; calls == at {
				return stop
			}
			return nil
		}})
		if total == 0 {
			if total = calls; err != nil || calls == 0 {
				t.Fatalf("%d calls, %v", calls, err)
			}
			continue
		}
		if !errors.Is(err, stop) || calls != at {
			t.Errorf("error in call %d of %d: %v after %d calls", at, total, err, calls)
		}
	}

	var last lanczos.State
	r, err := laplacian(context.Background(), l, c, &lanczos.Settings{K: 30, OnRestart: func(s lanczos.State) error {
		if s.Basis < 1 || s.Basis > s.BasisMax || s.Products <= last.Products || s.Restart < last.Restart || s.Converged < 0 || s.Converged > 30 {
			t.Errorf("state %+v after %+v", s, last)
		}
		if !strings.Contains(s.String(), fmt.Sprintf("basis %d of %d", s.Basis, s.BasisMax)) {
			t.Errorf("%+v describes itself as %q", s, s)
		}
		last = s
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last.Products == 0 || r.Products < last.Products {
		t.Errorf("%d products in the result, %d in the last state", r.Products, last.Products)
	}
}

// TestNotConverged: a limit that is too low and a tolerance below rounding give
// ErrNotConverged with a Result that is honest.
func TestNotConverged(t *testing.T) {
	for _, c := range []struct {
		name string
		f    family
		s    lanczos.Settings
	}{
		{"restarts", path(9000), lanczos.Settings{K: 8, MaxRestarts: 1, Basis: 1, Tolerance: 1e-13}},
		{"steps", grid(90, 81), lanczos.Settings{K: 12, MaxRestarts: 1, Tolerance: 1e-14, DescentFrom: 1}},
		{"rounding", torus(30, 40), lanczos.Settings{K: 12, Tolerance: 1e-19}},
		{"rounding, dense", torus(8, 9), lanczos.Settings{K: 12, Tolerance: 1e-19}},
	} {
		if testmode.In(testmode.Race) && c.f.w.Rows > 800 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			l, comp := newLaplacian(t, c.f.w, sparse.Combinatorial)
			r, err := laplacian(context.Background(), l, comp, &c.s)
			if !errors.Is(err, lanczos.ErrNotConverged) {
				t.Fatalf("error %v, want ErrNotConverged", err)
			}
			if r == nil {
				t.Fatal("no result")
			}
			worst := r.MaxResidual()
			if !(worst > c.s.Tolerance*r.Norm) {
				t.Errorf("largest residual %.2e is within the tolerance", worst)
			}
			// Residuals and orthonormality are still those of the vectors.
			checkPairs(t, r, c.s.K, largest(c.f.combinatorial), math.Max(worst/largest(c.f.combinatorial), 1e-15), apply(l))
			if !strings.Contains(err.Error(), fmt.Sprintf("%.2e", worst)) {
				t.Errorf("error %q does not tell what was reached, %.2e", err, worst)
			}
			// An eigenvalue lies within the residual of every value.
			for j, v := range r.Values {
				near := math.Inf(1)
				for _, w := range c.f.combinatorial {
					near = math.Min(near, math.Abs(v-w))
				}
				if !(near <= r.Residuals[j]+1e-13) {
					t.Errorf("value %d, %v, is %.2e from the spectrum, residual %.2e", j, v, near, r.Residuals[j])
				}
			}
		})
	}
}

func TestSettings(t *testing.T) {
	l, c := newLaplacian(t, grid(3, 3).w, sparse.Combinatorial)
	for _, test := range []struct {
		s     *lanczos.Settings
		parts []string
	}{
		{nil, []string{"settings"}},
		{&lanczos.Settings{}, []string{"0 eigenpairs"}},
		{&lanczos.Settings{K: -3}, []string{"-3 eigenpairs"}},
		{&lanczos.Settings{K: 1, Tolerance: -1}, []string{"tolerance -1"}},
		{&lanczos.Settings{K: 1, Tolerance: math.NaN()}, []string{"tolerance NaN"}},
		{&lanczos.Settings{K: 1, Basis: -2}, []string{"basis -2"}},
		{&lanczos.Settings{K: 1, MaxRestarts: -2}, []string{"restarts -2"}},
		{&lanczos.Settings{K: 0, Tolerance: -1, Basis: -4}, []string{"0 eigenpairs", "tolerance -1", "basis -4"}},
	} {
		r1, err1 := laplacian(context.Background(), l, c, test.s)
		r2, err2 := solve(context.Background(), l, test.s)
		_, err3 := lanczos.Bytes(9, test.s)
		for _, err := range []error{err1, err2, err3} {
			wantError(t, err, test.parts...)
		}
		if r1 != nil || r2 != nil {
			t.Errorf("%+v: a result beside the error", test.s)
		}
	}
	_, err := lanczos.Bytes(0, &lanczos.Settings{K: 1})
	wantError(t, err, "dimension 0")
	empty, _ := newLaplacian(t, &sparse.CSR{Ptr: []int64{0}}, sparse.Combinatorial)
	_, err = solve(context.Background(), empty, &lanczos.Settings{K: 1})
	wantError(t, err, "dimension 0")
	_, err = laplacian(context.Background(), empty, empty.Graph().Components(), &lanczos.Settings{K: 1})
	wantError(t, err, "dimension 0")
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not mention %q", err, p)
		}
	}
}

func TestEstimates(t *testing.T) {
	s := &lanczos.Settings{K: 100}
	small, err := lanczos.Bytes(100, s)
	if err != nil || small != 8*4*100*100 {
		t.Errorf("n = 100: %d bytes (%v)", small, err)
	}
	// Two million points hold their basis, never n².
	const n = 2000000
	large, err := lanczos.Bytes(n, s)
	if err != nil || large < 8*n*200 || large > 8*n*1000 {
		t.Errorf("n = %d: %d bytes (%v)", n, large, err)
	}
	thousand, _ := lanczos.Bytes(n, &lanczos.Settings{K: 1000})
	if thousand <= large {
		t.Errorf("1000 pairs need %d bytes, 100 pairs %d", thousand, large)
	}
	if a, b := lanczos.Operations(n, 10*n, s), lanczos.Operations(n, 20*n, s); !(a > 0) || !(b > a) {
		t.Errorf("operations %v for 10 entries a row, %v for 20", a, b)
	}
	if d := lanczos.Operations(100, 500, s); !(d > 0) || lanczos.Operations(100, 500, nil) != 0 {
		t.Errorf("operations %v of the dense method", d)
	}
}

// TestShiftedLaplacian: the values put in for the known vectors must be those of
// the operator.
func TestShiftedLaplacian(t *testing.T) {
	f := copies(2, cycle(15))
	l, c := newLaplacian(t, f.w, sparse.Normalized)
	op := l.With(2, 0.5)
	r, err := laplacian(context.Background(), op, c, &lanczos.Settings{K: 6})
	if err != nil {
		return // refusing is as good
	}
	checkValues(t, r.Values, sorted(30, func(k int) float64 { return math.Pow(f.normalized[k]+0.5, 2) }), 1e-10)
}
