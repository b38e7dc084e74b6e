package blocks

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestBlockRounds checks that in all rounds together every two blocks meet once
// and in no round does a block occur twice.
func TestBlockRounds(t *testing.T) {
	for teams := 1; teams < 12; teams++ {
		b := NewInts(1, 1)
		n := (teams-1)*b.Block + 1
		b.Row = make([]int32, n)
		b.Col = make([]int32, n)
		b.Multiply = func(*Workspace[int32], int, int, int, int) {}
		met := map[[2]int]int{}
		b.scan = func(hits []int32, c, col, limits []int32, row, limit int32) []int32 { return nil }
		b.Multiply = func(_ *Workspace[int32], i0, _, j0, _ int) {
			if i0%b.Block == 0 {
				met[[2]int{i0 / b.Block, j0 / b.Block}]++
			}
		}
		threads := runtime.GOMAXPROCS(1)
		_, err := b.Self(context.Background(), 1, func(float64) {})
		runtime.GOMAXPROCS(threads)
		if err != nil {
			t.Fatal(err)
		}
		for p := range teams {
			for q := range teams {
				want := 0
				if p <= q {
					want = 1
				}
				if met[[2]int{p, q}] != want {
					t.Errorf("%d blocks: %d and %d meet %d times", teams, p, q, met[[2]int{p, q}])
				}
			}
		}
	}
}

func TestBlockTiles(t *testing.T) {
	for _, tile := range [][2]int{{14, 32}, {6, 16}, {4, 4}, {1, 1}, {14, 16}, {100, 7}} {
		var b Blocks[int32]
		b.tiles(tile[0], tile[1])
		if b.Stripe%tile[0] != 0 || b.Block%b.Stripe != 0 || b.Block%tile[1] != 0 {
			t.Errorf("tile %v: stripe %d, block %d", tile, b.Stripe, b.Block)
		}
	}
}

// TestCandidates offers distances with ties, negative ones and NaN.
func TestCandidates(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for kept := 1; kept < 20; kept++ {
		floats := newCandidates[float32](2, kept)
		ints := newCandidates[int32](2, kept)
		var want []Hit
		for j := range 100 {
			d := rng.IntN(20) - 2
			floats.offer(1, j, float32(d), 0)
			ints.offer(1, j, int32(d), 0)
			want = append(want, Hit(max(d, 0))<<32|Hit(j))
		}
		floats.offer(0, 3, float32(math.NaN()), 0)
		slices.Sort(want)
		gotFloats := slices.Sorted(slices.Values(floats.Of(1)))
		gotInts := slices.Sorted(slices.Values(ints.Of(1)))
		if !slices.Equal(gotInts, want[:kept]) {
			t.Fatalf("%v, want %v", gotInts, want[:kept])
		}
		for p, h := range gotFloats {
			if h.Index() != want[p].Index() || DistanceOf[float32](h) != float32(want[p]>>32) {
				t.Fatalf("place %d: %d at %v", p, h.Index(), DistanceOf[float32](h))
			}
		}
		worst := DistanceOf[int32](want[kept-1])
		last := want[kept-1].Index()
		if floats.limits[1] != float32(worst) || limitOf[int32](want[kept-1], last+1) != worst || limitOf[int32](want[kept-1], last-1) != worst+1 {
			t.Fatalf("limits %v", floats.limits)
		}
		if ints.limits[0] != math.MaxInt32 || !math.IsInf(float64(Nothing[float32]()), -1) {
			t.Fatal("limits of nothing found")
		}
	}
}
