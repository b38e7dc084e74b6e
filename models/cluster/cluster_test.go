package cluster

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/models/metrics"
	"github.com/bigfit/bigfit/sparse"
)

// planted returns a graph of blocks of vertices, joined with probability in
// within a block and out between blocks, in random order, and the blocks.
func planted(sizes []int, in, out float64, seed uint64) (*sparse.CSR, []int64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	var truth []int64
	for b, size := range sizes {
		truth = append(truth, slices.Repeat([]int64{int64(b)}, size)...)
	}
	rng.Shuffle(len(truth), func(i, j int) { truth[i], truth[j] = truth[j], truth[i] })
	n := len(truth)
	var i, j []int32
	for a := range n {
		for b := range a {
			p := out
			if truth[a] == truth[b] {
				p = in
			}
			if rng.Float64() < p {
				i, j = append(i, int32(a), int32(b)), append(j, int32(b), int32(a))
			}
		}
	}
	w, err := sparse.FromTriplets(n, n, i, j, slices.Repeat([]float64{1}, len(i)))
	if err != nil {
		panic(err)
	}
	return w, truth
}

func wide(labels []int32) []int64 {
	out := make([]int64, len(labels))
	for i, c := range labels {
		out[i] = int64(c)
	}
	return out
}

func agreement(t *testing.T, truth []int64, labels []int32) (nmi, rand float64) {
	t.Helper()
	nmi, err := metrics.NMI(truth, wide(labels))
	if err != nil {
		t.Fatal(err)
	}
	if rand, err = metrics.AdjustedRand(truth, wide(labels)); err != nil {
		t.Fatal(err)
	}
	return nmi, rand
}

func cluster(t *testing.T, w *sparse.CSR, s Settings) *Clustering {
	t.Helper()
	c, err := NormalizedCut(context.Background(), w, &s)
	if err != nil {
		t.Fatal(err)
	}
	s = c.Settings // with the number of clusters that was chosen
	total := c.LeftOut
	for q, size := range c.Sizes {
		if size == 0 {
			t.Errorf("cluster %d is empty", q)
		}
		total += size
	}
	if total != w.Rows || len(c.Sizes) != s.Clusters || len(c.Values) != s.Clusters {
		t.Errorf("sizes %v, %d left out and %d values for %d vertices in %d clusters", c.Sizes, c.LeftOut, len(c.Values), w.Rows, s.Clusters)
	}
	if !(c.Cuts.NCut >= c.Bound()-1e-9) || !(c.Cuts.Cheeger >= 0 && c.Cuts.Cheeger <= 1+1e-12) {
		t.Errorf("ncut %v with the bound %v, Cheeger %v", c.Cuts.NCut, c.Bound(), c.Cuts.Cheeger)
	}
	next := int32(0)
	for i, q := range c.Labels {
		if q > next {
			t.Fatalf("vertex %d is in cluster %d before there was %d", i, q, next)
		}
		if q == next {
			next++
		}
	}
	return c
}

// Two cliques of 5 and 4 vertices and a bridge: all volumes can be counted.
func TestTwoBlocks(t *testing.T) {
	dense := mat.NewDense(9, 9, nil)
	for i := range 9 {
		for j := range 9 {
			if i != j && (i < 5) == (j < 5) {
				dense.Set(i, j, 2)
			}
		}
	}
	dense.Set(4, 5, 0.5)
	dense.Set(5, 4, 0.5)
	w := sparse.FromDense(dense)
	const v1, v2 = 5*4*2 + 0.5, 4*3*2 + 0.5
	for _, s := range []Settings{{Clusters: 2}, {Clusters: 2, RowNormalize: true}, {Clusters: 2, Rule: Sign}, {Clusters: 2, Rule: Sweep}} {
		c := cluster(t, w, s)
		if !slices.Equal(c.Labels, []int32{0, 0, 0, 0, 0, 1, 1, 1, 1}) {
			t.Errorf("%v: %v", s.Rule, c.Labels)
		}
		if want := 0.5/v1 + 0.5/v2; !(math.Abs(c.Cuts.NCut-want) <= 1e-15) {
			t.Errorf("%v: ncut %v, want %v", s.Rule, c.Cuts.NCut, want)
		}
		if want := 0.5 / v2; !(math.Abs(c.Cuts.Cheeger-want) <= 1e-15) {
			t.Errorf("%v: Cheeger %v, want %v", s.Rule, c.Cuts.Cheeger, want)
		}
		if λ := c.Values[1]; !(λ/2 <= c.Cuts.Cheeger && c.Cuts.Cheeger <= math.Sqrt(2*λ)) {
			t.Errorf("%v: Cheeger %v is not within λ/2 and √(2λ) of λ = %v", s.Rule, c.Cuts.Cheeger, λ)
		}
	}
}

// On a path the sign cuts in the middle; with a heavy end the sweep finds the
// better place.
func TestSweep(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		w, _ := planted([]int{15, 40}, 0.5, 0.08, rng.Uint64())
		parts, _ := bigComponents(w, 2)
		if len(parts) != 1 || parts[0].graph != w {
			continue
		}
		sign, swept := cluster(t, w, Settings{Clusters: 2, Rule: Sign}), cluster(t, w, Settings{Clusters: 2, Rule: Sweep})
		if !(swept.Cuts.Cheeger <= sign.Cuts.Cheeger+1e-12) {
			t.Errorf("the sweep has %v, the sign %v", swept.Cuts.Cheeger, sign.Cuts.Cheeger)
		}
		// Against all thresholds.
		p, err := parts[0].pairs(context.Background(), 2, &Settings{})
		if err != nil {
			t.Fatal(err)
		}
		f := mat.Col(nil, 1, p.Vectors)
		best := math.Inf(1)
		for _, cut := range f {
			labels := make([]int32, len(f))
			for i, v := range f {
				if v > cut {
					labels[i] = 1
				}
			}
			if slices.Max(labels) == 0 {
				continue
			}
			m, err := MeasureCuts(w, labels, 2)
			if err != nil {
				t.Fatal(err)
			}
			best = min(best, m.Cheeger)
		}
		if !(math.Abs(best-swept.Cuts.Cheeger) <= 1e-12) {
			t.Errorf("the sweep has %v, the best threshold %v", swept.Cuts.Cheeger, best)
		}
	}
}

func TestPlantedPartition(t *testing.T) {
	w, truth := planted([]int{60, 90, 120, 40}, 0.4, 0.02, 3)
	for _, normalize := range []bool{false, true} {
		c := cluster(t, w, Settings{Clusters: 4, RowNormalize: normalize})
		if nmi, ari := agreement(t, truth, c.Labels); !(nmi >= 1-1e-12) || ari != 1 {
			t.Errorf("NMI %v, adjusted Rand %v", nmi, ari)
		}
	}
}

// Rings around each other: k-means on the points fails where the graph does not.
func TestRings(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(1, 1))
	x := data.NewDense[float64](n, 2)
	truth := make([]int64, n)
	for i := range n {
		truth[i] = int64(i % 2)
		r, a := 1+2*float64(i%2)+0.05*rng.NormFloat64(), 2*math.Pi*float64(i/2)/(n/2)
		copy(x.Data[2*i:], []float64{r * math.Cos(a), r * math.Sin(a)})
	}
	plain, _, err := kmeans(context.Background(), mat.NewDense(n, 2, x.Data), kmeansSettings{2, 10, 300, 0})
	if err != nil {
		t.Fatal(err)
	}
	if nmi, _ := agreement(t, truth, plain); !(nmi < 0.2) {
		t.Errorf("k-means tells rings apart: NMI %v", nmi)
	}
	ix, err := knn.NewIndex(x, knn.Brute, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, _, err := knn.NewGraph(context.Background(), ix, knn.GraphSettings{K: 8})
	if err != nil {
		t.Fatal(err)
	}
	if nmi, ari := agreement(t, truth, cluster(t, w, Settings{Clusters: 2}).Labels); !(nmi >= 1-1e-12) || ari != 1 {
		t.Errorf("NMI %v, adjusted Rand %v", nmi, ari)
	}
}

// union puts graphs beside each other.
func union(graphs ...*sparse.CSR) *sparse.CSR {
	out := &sparse.CSR{Ptr: []int64{0}}
	for _, g := range graphs {
		for i := range g.Rows {
			col, _ := g.Row(i)
			for _, j := range col {
				out.Col = append(out.Col, j+int32(out.Rows))
			}
			out.Ptr = append(out.Ptr, int64(len(out.Col)))
		}
		out.Rows += g.Rows
		out.Cols = out.Rows
	}
	return out
}

func TestDisconnected(t *testing.T) {
	two, truth := planted([]int{30, 30}, 0.6, 0.02, 2)
	clique, _ := planted([]int{12}, 1, 0, 1)
	point := &sparse.CSR{Rows: 1, Cols: 1, Ptr: []int64{0, 0}}
	w := union(two, clique, point, clique)
	// One cluster a component, and the split goes to the first.
	c := cluster(t, w, Settings{Clusters: 5})
	if c.Components != 4 || !slices.Equal(c.Values[:4], make([]float64, 4)) || !(c.Values[4] > 0) {
		t.Errorf("%d components, values %v", c.Components, c.Values)
	}
	if _, ari := agreement(t, truth, c.Labels[:60]); ari != 1 {
		t.Errorf("the first component: adjusted Rand %v", ari)
	}
	if !slices.Equal(c.Sizes[2:], []int{12, 1, 12}) {
		t.Errorf("sizes %v", c.Sizes)
	}
	// As many as components, and fewer: no edge is cut.
	for k := 1; k <= 4; k++ {
		c := cluster(t, w, Settings{Clusters: k})
		if c.Cuts.NCut != 0 || c.Cuts.Cheeger != 0 {
			t.Errorf("%d clusters: ncut %v, Cheeger %v", k, c.Cuts.NCut, c.Cuts.Cheeger)
		}
	}
	if c := cluster(t, w, Settings{Clusters: 2, Rule: Sign}); !slices.Equal(c.Sizes, []int{60, 25}) {
		t.Errorf("two clusters of %v", c.Sizes)
	}
	// Without the small components.
	c = cluster(t, w, Settings{Clusters: 3, MinComponent: 12})
	if c.LeftOut != 1 || c.Labels[72] != Unassigned || c.Components != 3 {
		t.Errorf("%d points left out, label %d, %d components", c.LeftOut, c.Labels[72], c.Components)
	}
	// All isolated: any partition is as good, and none is empty.
	lonely := &sparse.CSR{Rows: 7, Cols: 7, Ptr: make([]int64, 8)}
	if c := cluster(t, lonely, Settings{Clusters: 3}); slices.Max(c.Sizes) > 3 {
		t.Errorf("sizes %v", c.Sizes)
	}
}

func TestClusterNumbers(t *testing.T) {
	w, _ := planted([]int{12, 12}, 0.7, 0.1, 4)
	if c := cluster(t, w, Settings{Clusters: 1}); c.Cuts.NCut != 0 || slices.Max(c.Labels) != 0 {
		t.Errorf("one cluster: %+v", c)
	}
	if c := cluster(t, w, Settings{Clusters: 24}); slices.Max(c.Sizes) != 1 || !(math.Abs(c.Cuts.NCut-24) <= 1e-12) {
		t.Errorf("as many clusters as vertices: sizes %v, ncut %v", c.Sizes, c.Cuts.NCut)
	}
	for _, s := range []*Settings{nil, {}, {Clusters: 25}, {Clusters: -1}, {Clusters: 3, Rule: Sign}, {Clusters: 2, Rule: 9},
		{Clusters: 2, Rule: Sweep, RowNormalize: true}, {Clusters: 2, Restarts: -1}, {Clusters: 2, MinComponent: 25}} {
		if c, err := NormalizedCut(context.Background(), w, s); err == nil || c != nil {
			t.Errorf("%+v is accepted", s)
		}
	}
	if _, err := NormalizedCut(context.Background(), sparse.FromDense(mat.NewDense(2, 2, []float64{0, 1, 2, 0})), &Settings{Clusters: 1}); err == nil {
		t.Error("a graph that is not symmetric is accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NormalizedCut(ctx, w, &Settings{Clusters: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("after a cancel: %v", err)
	}
}

func TestClusterPermutation(t *testing.T) {
	w, _ := planted([]int{50, 70, 30}, 0.3, 0.02, 8)
	for _, s := range []Settings{{Clusters: 3}, {Clusters: 2, Rule: Sign}, {Clusters: 2, Rule: Sweep}} {
		a := cluster(t, w, s)
		order := make([]int32, w.Rows)
		for p, v := range rand.New(rand.NewPCG(2, 2)).Perm(w.Rows) {
			order[p] = int32(v)
		}
		b := cluster(t, w.Permute(order), s)
		back := make([]int32, w.Rows)
		for p, v := range order {
			back[v] = b.Labels[p]
		}
		if _, ari := agreement(t, wide(a.Labels), back); ari != 1 {
			t.Errorf("%v: adjusted Rand %v with the same graph in another order", s.Rule, ari)
		}
	}
}

func TestClusterThreads(t *testing.T) {
	w, _ := planted([]int{700, 500, 300}, 0.02, 0.004, 9)
	s := Settings{Clusters: 6, Seed: 5}
	a := cluster(t, w, s)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b := cluster(t, w, s)
	if !slices.Equal(a.Labels, b.Labels) || !slices.Equal(a.Values, b.Values) {
		t.Error("one thread gives another clustering")
	}
}

func TestKMeans(t *testing.T) {
	// Duplicates: fewer different rows than clusters.
	x := mat.NewDense(9, 2, []float64{1, 1, 1, 1, 1, 1, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 1, 1})
	for k := 1; k <= 9; k++ {
		labels, centres, err := kmeans(context.Background(), x, kmeansSettings{k, 3, 50, 1})
		if err != nil {
			t.Fatal(err)
		}
		sizes := make([]int, k)
		for i, c := range labels {
			sizes[c]++
			if k > 1 && squaredDistance(x.RawRowView(i), centres.RawRowView(int(c))) != 0 {
				t.Errorf("%d clusters: row %d is not its centre", k, i)
			}
		}
		if slices.Min(sizes) == 0 {
			t.Errorf("%d clusters of sizes %v", k, sizes)
		}
	}
	// Far from the origin, where products lose digits.
	rng := rand.New(rand.NewPCG(1, 3))
	const n = 9000
	y := mat.NewDense(n, 3, nil)
	truth := make([]int64, n)
	for i := range n {
		truth[i] = int64(i % 4)
		y.SetRow(i, []float64{1e9 + float64(i%2)*20 + rng.NormFloat64(), 1e9 + float64(i%4/2)*20 + rng.NormFloat64(), -1e9})
	}
	labels, centres, err := kmeans(context.Background(), y, kmeansSettings{4, 10, 300, 0})
	if err != nil {
		t.Fatal(err)
	}
	if _, ari := agreement(t, truth, labels); ari != 1 {
		t.Errorf("four clouds: adjusted Rand %v", ari)
	}
	for c := range 4 {
		for j, v := range centres.RawRowView(c)[:2] {
			if m := math.Mod(v-1e9, 20); math.Min(math.Abs(m), 20-math.Abs(m)) > 0.2 {
				t.Errorf("centre %d, coordinate %d: %v", c, j, v)
			}
		}
	}
}

// Values of scikit-learn's normalized_mutual_info_score and adjusted_rand_score.
func TestAgreement(t *testing.T) {
	for _, c := range []struct {
		a, b     []int64
		nmi, ari float64
	}{
		{[]int64{0, 0, 1, 1}, []int64{7, 7, -3, -3}, 1, 1},
		{[]int64{0, 0, 1, 1}, []int64{0, 1, 0, 1}, 0, -0.5},
		{[]int64{5, 5, 5}, []int64{1, 1, 1}, 1, 1},
		{[]int64{0, 1, 2}, []int64{2, 1, 0}, 1, 1},
		{[]int64{0, 0, 0}, []int64{0, 1, 2}, 0, 0},
		{[]int64{0, 0, 1, 1, 2, 2}, []int64{0, 0, 1, 2, 2, 2}, 0.7396673768007591, 0.4444444444444444},
	} {
		nmi, err := metrics.NMI(c.a, c.b)
		if err != nil || !(math.Abs(nmi-c.nmi) <= 1e-9) {
			t.Errorf("NMI(%v, %v) = %v, %v, want %v", c.a, c.b, nmi, err, c.nmi)
		}
		ari, err := metrics.AdjustedRand(c.a, c.b)
		if err != nil || !(math.Abs(ari-c.ari) <= 1e-12) {
			t.Errorf("AdjustedRand(%v, %v) = %v, %v, want %v", c.a, c.b, ari, err, c.ari)
		}
	}
	if _, err := metrics.NMI([]int64{1}, nil); err == nil {
		t.Error("lengths that differ are accepted")
	}
	if _, err := metrics.AdjustedRand(nil, nil); err == nil {
		t.Error("no points are accepted")
	}
}

func TestMeasureCutsFaults(t *testing.T) {
	w, _ := planted([]int{3}, 1, 0, 1)
	for _, labels := range [][]int32{{0, 0}, {0, 0, 2}, {0, -2, 0}} {
		if _, err := MeasureCuts(w, labels, 2); err == nil {
			t.Errorf("labels %v are accepted", labels)
		}
	}
}

// Eigenpairs that fall short still give clusters, and the error.
func TestClusterNotConverged(t *testing.T) {
	w, truth := planted([]int{500, 500}, 0.05, 0.005, 3)
	c, err := NormalizedCut(context.Background(), w, &Settings{Clusters: 2, Tolerance: 1e-17})
	if !errors.Is(err, lanczos.ErrNotConverged) || c == nil {
		t.Fatalf("%v, %v", c, err)
	}
	if nmi, _ := agreement(t, truth, c.Labels); !(nmi > 0.9) {
		t.Errorf("NMI %v", nmi)
	}
}
