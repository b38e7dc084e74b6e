package active

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/sparse"
)

// Without margins the default rule is that of the graph alone, and says so.
func TestCombinedWithoutScores(t *testing.T) {
	p := poolOf(t, 80, 1, 20, nil)
	p.Margins = nil
	got, err := Choose(t.Context(), p, &Settings{Count: 6})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Choose(t.Context(), p, &Settings{Rule: SOpt, Count: 6})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) || got[0].Rule != SOpt || got[0].First {
		t.Errorf("combined chooses %+v, sopt %+v", got, want)
	}
}

// The most typical point of each cluster comes first, the largest cluster before the others, and clusters
// with a label and those of a few points wait.
func TestTypical(t *testing.T) {
	t.Parallel()
	of := slices.Concat(slices.Repeat([]int32{0}, 6), slices.Repeat([]int32{1}, 8), slices.Repeat([]int32{2}, 7),
		slices.Repeat([]int32{3}, 2), []int32{-1})
	p := &Pool{Components: &sparse.Components{Of: make([]int32, len(of)), Sizes: []int{len(of)}}, Clusters: of,
		Typicality: make([]float64, len(of)), Labeled: []int{15}}
	for i := range of {
		p.Typicality[i] = float64(i * 7 % 24)
	}
	got, err := Choose(t.Context(), p, &Settings{Rule: Typical, Count: 23})
	if err != nil {
		t.Fatal(err)
	}

	// Cluster 1 is the largest, 0 follows, 2 has a label and comes when they have one too.
	var clusters []int32
	for _, c := range got[:4] {
		clusters = append(clusters, of[c.Point])
	}
	if !slices.Equal(clusters, []int32{1, 0, 1, 2}) {
		t.Errorf("the clusters %v come first", clusters)
	}
	for i := range of {
		if of[i] == 1 && p.Typicality[i] > p.Typicality[got[0].Point] {
			t.Errorf("point %d is more typical than %d", i, got[0].Point)
		}
	}
	for q, c := range got {
		if small := of[c.Point] == 3 || of[c.Point] < 0; small != (q >= 20) {
			t.Errorf("choice %d is of cluster %d", q, of[c.Point])
		}
	}
}

// The queue of bounds chooses what measuring all gains anew does.
func TestCoverIsGreedy(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 9))
	const n = 120
	var rows, cols []int32
	var values []float64
	for range 300 {
		a, b := int32(rng.IntN(n)), int32(rng.IntN(n))
		if a != b {
			rows = append(rows, a, b)
			cols = append(cols, b, a)
			values = append(values, 1, 1)
		}
	}
	w, err := sparse.FromTriplets(n, n, rows, cols, values)
	if err != nil {
		t.Fatal(err)
	}
	p := &Pool{Components: w.Components(), Weights: w, Labeled: []int{3, 77}}
	got, err := Choose(t.Context(), p, &Settings{Rule: Cover, Count: 60})
	if err != nil {
		t.Fatal(err)
	}

	covered := make([]bool, n)
	ball := func(i int) []int32 {
		col, _ := w.Row(i)
		return append(slices.Clone(col), int32(i))
	}
	gain := func(i int) int {
		count := 0
		for _, j := range ball(i) {
			if !covered[j] {
				count++
			}
		}
		return count
	}
	taken := p.taken()
	for _, i := range p.Labeled {
		for _, j := range ball(i) {
			covered[j] = true
		}
	}
	for q, c := range got {
		best := -1
		for i := range n {
			if !taken[i] && (best < 0 || gain(i) > gain(best)) {
				best = i
			}
		}
		if c.Point != best || c.Score != float64(gain(best)) {
			t.Fatalf("choice %d is point %d with %v, want %d with %d", q, c.Point, c.Score, best, gain(best))
		}
		taken[best] = true
		for _, j := range ball(best) {
			covered[j] = true
		}
	}
}
