package topk

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSetKeepsTheSmallest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := rng.IntN(60)
		limit := 1 + rng.IntN(20)
		all := make([]Pair, n)
		for i := range all {
			all[i] = Pair{Dist: float64(rng.IntN(9)), Index: int32(i)}
		}
		rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		set := New(limit)
		for _, p := range all {
			set.Add(p)
		}
		slices.SortFunc(all, func(a, b Pair) int {
			if a.Dist != b.Dist {
				return int(a.Dist - b.Dist)
			}
			return int(a.Index - b.Index)
		})
		want := all[:min(n, limit)]
		if set.Full() != (n >= limit) {
			t.Fatalf("%d pairs in a set of %d: Full is %v", n, limit, set.Full())
		}
		if n > 0 && set.Heap[0] != want[len(want)-1] {
			t.Fatalf("the root is %v, not the largest %v", set.Heap[0], want[len(want)-1])
		}
		if got := set.Take(); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		if len(set.Heap) > 0 {
			t.Fatal("Take left pairs")
		}
	}
}

func TestDropRoot(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	set := New(200)
	for i := range 200 {
		set.Add(Pair{Dist: float64(rng.IntN(30)), Index: int32(i)})
	}
	for last := set.Heap[0]; len(set.Heap) > 0; set.DropRoot() {
		if last.Less(set.Heap[0]) {
			t.Fatalf("%v after %v", set.Heap[0], last)
		}
		last = set.Heap[0]
	}
}
