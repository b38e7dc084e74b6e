package nndescent

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

func TestForest(t *testing.T) {
	const n, d, leaf = 100_000, 3, 100
	sets := map[string]func(r *rand.Rand, row []float32){
		"normal": func(r *rand.Rand, row []float32) {
			row[0] = float32(r.NormFloat64())
			row[1] = float32(r.NormFloat64())
		},
		"equal":   func(*rand.Rand, []float32) {},
		"halves":  func(r *rand.Rand, row []float32) { row[2] = float32(r.IntN(2)) },
		"integer": func(r *rand.Rand, row []float32) { row[0] = float32(r.IntN(30)) },
	}
	for name, set := range sets {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			flat := make([]float32, n*d)
			for i := range n {
				set(r, flat[i*d:][:d])
			}
			f := newForest(NewFloats(n, d, func(to []float32, _ []int32) { copy(to, flat) }), n, leaf, 7)
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			root := f.grow(3)
			alone := slices.Clone(f.order)
			runtime.GOMAXPROCS(3)
			f.grow(3)
			if !slices.Equal(alone, f.order) {
				t.Error("another tree at another number of threads")
			}
			at := 0
			for _, p := range root.appendLeaves(nil) {
				if p.lo != at || p.size() > leaf || p.size() < leaf/4 {
					t.Fatalf("a leaf from %d to %d after %d", p.lo, p.hi, at)
				}
				at = p.hi
			}
			f.grow(4)
			if name != "equal" && slices.Equal(alone, f.order) {
				t.Error("two trees are the same")
			}
			slices.Sort(f.order)
			for i, v := range f.order {
				if int(v) != i {
					t.Fatalf("point %d is %d", i, v)
				}
			}
			if at != n {
				t.Errorf("%d points in leaves", at)
			}
		})
	}
}

// The same bits at any number of threads rest on this.
func TestOffersInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	type offer struct {
		j int32
		d float32
	}
	var offers []offer
	for j := range int32(60) {
		o := offer{j + 1, float32(r.IntN(20))}
		for range 1 + r.IntN(3) {
			offers = append(offers, o)
		}
	}
	var want *candidateGraph
	for range 50 {
		r.Shuffle(len(offers), func(a, b int) { offers[a], offers[b] = offers[b], offers[a] })
		g := newCandidateGraph(nil, 1, 10)
		for _, o := range offers {
			if o.d <= g.worst(0) {
				g.offer(0, o.j, o.d)
			}
		}
		if want == nil {
			want = g
		}
		if !slices.Equal(g.index, want.index) || !slices.Equal(g.dist, want.dist) || !slices.IsSorted(g.dist) {
			t.Fatalf("%v %v, before %v %v", g.index, g.dist, want.index, want.dist)
		}
	}
}
