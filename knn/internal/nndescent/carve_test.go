package nndescent

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"
)

// setOf returns rows as a Set.
func setOf(rows [][]float32) Set {
	d := len(rows[0])
	return Set{N: len(rows), Rows: NewFloats(len(rows), d, func(flat []float32, order []int32) {
		for i := range rows {
			at := i
			if order != nil {
				at = int(order[i])
			}
			copy(flat[i*d:], rows[at])
		}
	})}
}

// A sieve finds all pairs within the limits, and tells their distances by their differences; it may find some more.
func TestSieve(t *testing.T) {
	for _, c := range []struct{ n, d int }{{2, 1}, {49, 3}, {130, 17}, {700, 64}, {1024, 5}} {
		rows, set := randomSet(c.n, c.d)
		for i := range rows[0] { // far from the origin beside its distance from the last
			rows[0][i] = 1000 + rows[c.n-1][i]
			rows[c.n-1][i] += 1000.001
		}
		set = setOf(rows)
		m := set.Rows.Meter().(coordinates)
		ids := make([]int32, c.n)
		limits := make([]float32, c.n)
		for i := range ids {
			ids[i] = int32(c.n - 1 - i)
			limits[i] = float32(c.d) * float32(i%7) / 5
		}
		var s sieve
		s.load(m, ids)
		found := map[[2]int]float32{}
		s.sift(m, c.n, limits, func(a int, rest []int32, dist []float32) {
			for p, b := range rest {
				found[[2]int{a, int(b)}] = dist[p]
			}
		})
		for a := range ids {
			for b := a + 1; b < len(ids); b++ {
				var want [1]float32
				m.At(ids[a])
				m.Measure(want[:], ids[b:b+1])
				got, ok := found[[2]int{a, b}]
				if want[0] < max(limits[a], limits[b]) && !ok || ok && got != want[0] {
					t.Fatalf("%v: rows %d and %d are at distance %v, found %t at %v", c, a, b, want[0], ok, got)
				}
			}
		}
		if c.n == 700 && len(found) > c.n*c.n/3 {
			t.Errorf("%d of %d pairs are measured", len(found), c.n*(c.n-1)/2)
		}
	}
}

// The leaves of a carving hold every point, in ascending order and at most carveLeaf of them, whatever the points are; they are the same at any number of threads.
func TestCarving(t *testing.T) {
	blobs, _ := randomSet(9000, 4)
	same := make([][]float32, 5000)
	for i := range same {
		same[i] = []float32{1, 2, 3, 4}
		if i%10 == 0 {
			same[i] = blobs[i]
		}
	}
	for name, rows := range map[string][][]float32{"clouds": blobs, "duplicates": same, "one": same[1:1500:1500]} {
		set := setOf(rows)
		g := newCandidateGraph(set.Rows, set.N, 8)
		c := newCarver(g, 7)
		leavesOf := func(c *carver) (leaves [][]int32) {
			for _, part := range c.first(1) {
				for _, leaf := range c.leaves(t.Context(), part, 1) {
					leaves = append(leaves, slices.Clone(leaf))
				}
			}
			return leaves
		}
		leaves := leavesOf(c)
		members := make([]int, set.N)
		for _, leaf := range leaves {
			if len(leaf) > carveLeaf || !slices.IsSorted(leaf) || len(slices.Compact(slices.Clone(leaf))) != len(leaf) {
				t.Fatalf("%s: a leaf of %d points, ascending: %t", name, len(leaf), slices.IsSorted(leaf))
			}
			for _, i := range leaf {
				members[i]++
			}
		}
		least := slices.Min(members)
		if least < 1 {
			t.Errorf("%s: a point is in no leaf", name)
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		if again := leavesOf(newCarver(g, 7)); !slices.EqualFunc(leaves, again, slices.Equal[[]int32]) {
			t.Errorf("%s: other leaves with one thread", name)
		}
	}
}

// merge is the union of two lists, nearest first, each point once.
func TestMerge(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		old, from, want   []uint32
		oldD, fromD, dist []float32
	}{
		{[]uint32{1, 2, number}, []uint32{3 | newborn, number, number}, []uint32{1, 2, 3 | newborn}, []float32{1, 2, inf}, []float32{3, inf, inf}, []float32{1, 2, 3}},
		{[]uint32{1, 2, 5}, []uint32{2 | newborn, 3 | newborn, 4 | newborn}, []uint32{1, 2, 3 | newborn}, []float32{1, 2, 5}, []float32{2, 3, 4}, []float32{1, 2, 3}},
		{[]uint32{4, 6, 8}, []uint32{5 | newborn, 6 | newborn, 9 | newborn}, []uint32{4, 5 | newborn, 6}, []float32{1, 1, 1}, []float32{1, 1, 1}, []float32{1, 1, 1}},
		{[]uint32{7, 8, 9}, []uint32{1 | newborn, 2 | newborn, 3 | newborn}, []uint32{1 | newborn, 2 | newborn, 3 | newborn}, []float32{5, 6, 7}, []float32{1, 2, 3}, []float32{1, 2, 3}},
		{[]uint32{7, 8, 9}, []uint32{1 | newborn, 2 | newborn, 3 | newborn}, []uint32{7, 8, 9}, []float32{1, 2, 3}, []float32{5, 6, 7}, []float32{1, 2, 3}},
	} {
		g := &candidateGraph{n: 1, width: 3, index: slices.Clone(c.old), dist: slices.Clone(c.oldD)}
		g.merge(0, &candidateGraph{n: 1, width: 3, index: c.from, dist: c.fromD}, 0, &joiner{})
		if !slices.Equal(g.index, c.want) || !slices.Equal(g.dist, c.dist) {
			t.Errorf("%v and %v: %v %v, want %v", c.old, c.from, g.index, g.dist, c.want)
		}
	}
}

// With all points alike a search ends, and lists are full.
func TestSearchOfDuplicates(t *testing.T) {
	rows := make([][]float32, 4000)
	for i := range rows {
		rows[i] = []float32{3, 4}
	}
	g, err := Search(context.Background(), setOf(rows), settings(5))
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(len(rows)) {
		if len(g.AppendList(nil, i)) < 5 {
			t.Fatalf("point %d has a short list", i)
		}
	}
}
