package graphs

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Five of six edges lie within blocks, blocks are as many and as even as the specification says, and degrees have
// the mean of their distribution.
func TestBlocks(t *testing.T) {
	const n = 20000
	w, block := Blocks(n, rand.New(rand.NewPCG(1, 2)))
	if BlockCount(n) != 32 || BlockCount(500_000) != 98 || BlockCount(2_000_000) != 160 {
		t.Errorf("%d, %d and %d blocks", BlockCount(n), BlockCount(500_000), BlockCount(2_000_000))
	}

	var within, all float64
	sizes := make([]float64, BlockCount(n))
	for i := range n {
		sizes[block[i]]++
		for p := w.Ptr[i]; p < w.Ptr[i+1]; p++ {
			j, v := w.Col[p], w.Val[p]
			all += v
			if block[i] == block[j] {
				within += v
			}
		}
	}
	if share := within / all; math.Abs(share-5.0/6) > 0.005 {
		t.Errorf("%v of the edges are within blocks", share)
	}

	// The sizes of Dirichlet's blocks deviate by about 1/√10 of their mean.
	mean := float64(n) / float64(len(sizes))
	square := 0.0
	for _, s := range sizes {
		square += (s/mean - 1) * (s/mean - 1)
	}
	if d := math.Sqrt(square / float64(len(sizes))); d < 0.2 || d > 0.45 {
		t.Errorf("sizes deviate by %v of their mean", d)
	}

	var sum, weight float64
	for d := minBlockDegree; d <= maxBlockDegree; d++ {
		p := math.Pow(float64(d), degreeExponent)
		sum += p * float64(d)
		weight += p
	}
	if want := 2 * sum / weight; math.Abs(all/n-want) > 0.02*want {
		t.Errorf("mean degree %v, want %v", all/n, want)
	}
}
