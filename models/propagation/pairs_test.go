package propagation

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// rings returns the graph of a circle of groups of given sizes and the group of each point. A group is a ring with edges to
// the 4 nearest points on both sides; one edge joins it to the next group.
func rings(t *testing.T, sizes []int) (*sparse.CSR, []int32) {
	t.Helper()
	var from, to, group []int32
	join := func(a, b int) {
		from = append(from, int32(a), int32(b))
		to = append(to, int32(b), int32(a))
	}
	first := make([]int, len(sizes))
	for g, size := range sizes {
		first[g] = len(group)
		group = append(group, slices.Repeat([]int32{int32(g)}, size)...)
	}
	for g, size := range sizes {
		for i := range size {
			for step := 1; step <= 4; step++ {
				join(first[g]+i, first[g]+(i+step)%size)
			}
		}
		next := (g + 1) % len(sizes)
		join(first[g], first[next]+sizes[next]/2)
	}
	w, err := sparse.FromTriplets(len(group), len(group), from, to, slices.Repeat([]float64{1}, len(from)))
	if err != nil {
		t.Fatal(err)
	}
	return w, group
}

// pairStart returns the start of a method with equal sizes on w, with one label in each class, and the problem.
func pairStart(t *testing.T, w *sparse.CSR, labeled map[int]int64) (*Problem, *sizedStart) {
	t.Helper()
	p, err := NewProblem(w, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.beginSized(t.Context(), modeltest.ClassTargets(t, modeltest.Labels(w.Rows, labeled)),
		&SizedSettings{Sizes: EqualSizes})
	if err != nil {
		t.Fatal(err)
	}
	return p, b
}

// TestDivider: two classes that each have half of two groups are divided into the groups, and the others stay.
func TestDivider(t *testing.T) {
	const groups, size = 4, 60
	w, _ := rings(t, slices.Repeat([]int{size}, groups))
	p, b := pairStart(t, w, map[int]int64{5: 0, size + 5: 1, 2*size + 5: 2, 3*size + 5: 3})
	want := make([]int32, w.Rows)
	labels := b.volumes.labels
	for i := range want {
		want[p.place[i]] = int32(i / size)
		// Classes 1 and 2 lie across their groups.
		labels[p.place[i]] = int32(i / size)
		if i/size == 1 || i/size == 2 {
			labels[p.place[i]] = int32(1 + i%size*2/size)
		}
	}
	d := newDivider(b, defaultSteps)
	before := cutOf(d.w, labels)

	changed, err := d.sweep(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(changed, []bool{false, true, true, false}) {
		t.Errorf("changed classes %v, want 1 and 2", changed)
	}
	if !slices.Equal(labels, want) {
		t.Errorf("the cut fell from %g to %g; the groups cut %g", before, cutOf(d.w, labels), cutOf(d.w, want))
	}

	// Nothing is left to be done, for these classes or for all.
	for _, among := range [][]bool{changed, nil} {
		if again, err := d.sweep(t.Context(), among); err != nil || slices.Contains(again, true) {
			t.Errorf("a second sweep changed %v, error %v", again, err)
		}
	}
}

// TestDividerKeepsLabels: a division that cuts fewer edges but takes labels from their classes is left alone.
func TestDividerKeepsLabels(t *testing.T) {
	const groups, size = 4, 60
	w, _ := rings(t, slices.Repeat([]int{size}, groups))
	// Halves of the groups 1 and 2 have labels of both classes each.
	labeled := map[int]int64{5: 0, 3*size + 5: 3}
	for i := 0; i < size; i += 3 {
		for g := 1; g <= 2; g++ {
			labeled[g*size+i] = int64(1 + i*2/size)
		}
	}
	p, b := pairStart(t, w, labeled)
	for i := range w.Rows {
		b.volumes.labels[p.place[i]] = int32(i / size)
		if i/size == 1 || i/size == 2 {
			b.volumes.labels[p.place[i]] = int32(1 + i%size*2/size)
		}
	}
	before := slices.Clone(b.volumes.labels)
	if _, err := newDivider(b, defaultSteps).sweep(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.volumes.labels, before) {
		t.Errorf("%.3f of the points changed against their labels", changedShare(b.volumes.labels, before))
	}
}

// TestPairGraph: the graph of a pair has the cut, the labels and the sources that the whole graph has between its points.
func TestPairGraph(t *testing.T) {
	w := weightedGraph(t, 9, 120)
	p, b := pairStart(t, w, map[int]int64{0: 0, 30: 1, 60: 2, 90: 3})
	labels := b.volumes.labels
	for i := range labels {
		labels[i] = int32(i % 2 * 2)
		if i%5 == 4 {
			labels[i] = 1
		}
	}
	d := newDivider(b, defaultSteps)
	g := d.pair(classPair{a: 2, b: 0})
	if g == nil {
		t.Fatal("no graph")
	}
	inside := make([]bool, p.Len())
	for _, i := range g.points {
		inside[i] = true
	}
	var cut float64
	for i := range p.Len() {
		col, val := d.w.Row(i)
		for q, j := range col {
			if inside[i] && inside[j] && labels[i] != labels[j] {
				cut += val[q] / 2
			}
		}
	}
	if got := cutOf(g.graph, g.labels); math.Abs(got-cut) > 1e-9 {
		t.Errorf("cut %g, want %g", got, cut)
	}
	for q, i := range g.points {
		if want := map[int32]int32{2: 0, 0: 1}[labels[i]]; g.labels[q] != want {
			t.Fatalf("point %d has label %d, want %d", i, g.labels[q], want)
		}
	}
	// A flipped label takes its source from one class to the other.
	other := slices.Clone(g.labels)
	q := slices.IndexFunc(b.draw.at, func(i int32) bool { return slices.Contains(g.points, i) })
	if q < 0 {
		t.Fatal("no labeled point is in the graph")
	}
	labeled := b.draw.at[q]
	at := slices.Index(g.points, labeled)
	other[at] = 1 - other[at]
	classes := []int{2, 0}
	want := d.sources.At(int(labeled), classes[other[at]]) - d.sources.At(int(labeled), classes[g.labels[at]])
	if got := g.agreement(other) - g.agreement(g.labels); math.Abs(got-want) > 1e-12 {
		t.Errorf("agreement changed by %g, want %g", got, want)
	}
}

// TestRename: names go back to where most points had them, along a cycle too, but not for a small majority.
func TestRename(t *testing.T) {
	before := make([]int32, 400)
	labels := make([]int32, 400)
	for i := range before {
		before[i] = int32(i / 100)
		labels[i] = []int32{1, 2, 0, 3}[before[i]]
		if i%10 == 0 {
			labels[i] = 3
		}
	}
	rename(labels, before, 4)
	for i, c := range labels {
		want := before[i]
		if i%10 == 0 {
			want = 3
		}
		if c != want {
			t.Fatalf("point %d has the name %d, want %d", i, c, want)
		}
	}

	// 60 of 100 points of both parts had the other's name.
	for i := range labels {
		labels[i] = before[i]
		if before[i] < 2 && i%100 < 60 {
			labels[i] = 1 - before[i]
		}
	}
	want := slices.Clone(labels)
	rename(labels, before, 4)
	if !slices.Equal(labels, want) {
		t.Error("names changed for a small majority")
	}
}

// TestPoissonMBOPairs: new divisions of pairs lower the cut where one label is in each class.
func TestPoissonMBOPairs(t *testing.T) {
	x, truth := synthetic.Digits(1000, 11)
	problem := modeltest.NewProblem(t, x, knn.GraphSettings{K: 10, Weights: knn.SelfTuning}, sparse.Combinatorial, 1)
	p, err := NewProblem(problem.W, nil)
	if err != nil {
		t.Fatal(err)
	}
	var cuts [2]float64
	const draws = 6
	for draw := range draws {
		y, _, err := truth.DrawEach(1, uint64(draw))
		if err != nil {
			t.Fatal(err)
		}
		for i, keep := range []bool{true, false} {
			g, err := p.FitPoissonMBO(t.Context(), modeltest.ClassTargets(t, y),
				&SizedSettings{Sizes: EqualSizes, KeepPairs: keep, KeepSizes: true})
			if err != nil {
				t.Fatal(err)
			}
			if g.Off > mostVolumeTolerance {
				t.Errorf("draw %d: sizes are off by %g", draw, g.Off)
			}
			cuts[i] += cutOf(problem.W, g.Labels) / draws
		}
	}
	t.Logf("cuts %.1f", cuts)
	if !(cuts[1] < cuts[0]) {
		t.Errorf("cuts %.1f", cuts)
	}
}

// TestPoissonMBORelease: classes that begin with equal sizes find the groups of uneven sizes, unless their sizes are kept or
// given.
func TestPoissonMBORelease(t *testing.T) {
	for _, test := range []struct {
		name     string
		sizes    []int
		settings SizedSettings
		found    bool
	}{
		{"let go", []int{60, 90, 60, 120}, SizedSettings{}, true},
		{"equal sizes let go", []int{60, 90, 60, 120}, SizedSettings{Sizes: EqualSizes}, true},
		{"kept", []int{60, 90, 60, 120}, SizedSettings{KeepSizes: true, Sizes: EqualSizes}, false},
		{"given", []int{60, 90, 60, 120}, SizedSettings{Settings: Settings{Priors: []float64{1, 1, 1, 1}}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, groups := rings(t, test.sizes)
			labeled := map[int]int64{}
			at := 0
			for g, size := range test.sizes {
				labeled[at+5] = int64(g)
				at += size
			}
			p, err := NewProblem(w, nil)
			if err != nil {
				t.Fatal(err)
			}
			targets := modeltest.ClassTargets(t, modeltest.Labels(w.Rows, labeled))
			g, err := p.FitPoissonMBO(t.Context(), targets, &test.settings)
			if err != nil {
				t.Fatal(err)
			}
			if wrong := changedShare(g.Labels, groups); (wrong == 0) != test.found {
				t.Errorf("%.3f of the points are in another group, shares %.3f", wrong, g.Shares)
			}
			if g.LetGo != test.found {
				t.Errorf("sizes let go: %v", g.LetGo)
			}
			counts := make([]float64, len(test.sizes))
			for _, c := range g.Labels {
				counts[c] += 1 / float64(w.Rows)
			}
			for c, share := range g.Shares {
				if math.Abs(counts[c]-share) > 0.02 {
					t.Errorf("class %d has %.3f of the points, told %.3f", c, counts[c], share)
				}
			}
		})
	}
}

// TestPoissonMBODrift: where a class would take over others, the classes have their sizes in the end.
func TestPoissonMBODrift(t *testing.T) {
	x, truth := synthetic.Digits(1000, 11)
	problem := modeltest.NewProblem(t, x, knn.GraphSettings{K: 10, Weights: knn.SelfTuning}, sparse.Combinatorial, 1)
	p, err := NewProblem(problem.W, nil)
	if err != nil {
		t.Fatal(err)
	}
	y, _, err := truth.DrawEach(1, 0)
	if err != nil {
		t.Fatal(err)
	}
	targets := modeltest.ClassTargets(t, y)
	var labels [2][]int32
	for i, keep := range []bool{false, true} {
		g, err := p.FitPoissonMBO(t.Context(), targets, &SizedSettings{Sizes: EqualSizes, KeepSizes: keep})
		if err != nil {
			t.Fatal(err)
		}
		if g.LetGo || g.Off > 2*mostVolumeTolerance {
			t.Errorf("keep %v: let go %v, sizes are off by %g", keep, g.LetGo, g.Off)
		}
		labels[i] = g.Labels
	}
	if changed := changedShare(labels[0], labels[1]); changed > 0.01 {
		t.Errorf("%.3f of the points have another class than with sizes that are kept", changed)
	}
}

// TestApart: pairs at the same time have no class in common, and of two pairs with one in common the first comes first.
func TestApart(t *testing.T) {
	const classes = 7
	r := rand.New(rand.NewPCG(5, 6))
	var left []classPair
	for a := range classes {
		for b := range a {
			left = append(left, classPair{a: a, b: b})
		}
	}
	r.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })

	meet := func(p, q classPair) bool { return p.a == q.a || p.a == q.b || p.b == q.a || p.b == q.b }
	all := slices.Clone(left)
	for len(left) > 0 {
		before := left
		var now []classPair
		now, left = apart(left, classes)
		if len(now) == 0 || len(now)+len(left) != len(before) {
			t.Fatalf("%d pairs became %d and %d", len(before), len(now), len(left))
		}
		for i, p := range now {
			for _, q := range now[:i] {
				if meet(p, q) {
					t.Errorf("%v and %v at the same time", p, q)
				}
			}
			for _, q := range left {
				if meet(p, q) && slices.Index(all, q) < slices.Index(all, p) {
					t.Errorf("%v before %v", p, q)
				}
			}
		}
	}
}

// TestSplit: the points of the smallest values get the label 0, of equal ones the first.
func TestSplit(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const n = 60
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(r.IntN(9))
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })

	for first := 1; first < n; first++ {
		got := make([]int32, n)
		(&pairGraph{first: first}).split(values, got)
		want := make([]int32, n)
		for _, i := range order[first:] {
			want[i] = 1
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d of %v: labels %v, want %v", first, values, got, want)
		}
	}
}
