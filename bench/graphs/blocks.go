package graphs

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/bigfit/bigfit/sparse"
)

// Numbers of the GraphChallenge specification of stochastic block graphs (Kao et al., arXiv 1708.07883, and the
// settings of its generator).
const (
	blockExponent   = 0.35 // of the number of blocks, as a power of that of vertices
	blockEvenness   = 10.0 // of the Dirichlet distribution of their sizes
	degreeExponent  = -2.5
	minBlockDegree  = 10
	maxBlockDegree  = 100
	withinToBetween = 5.0 // edges within blocks for one between blocks
)

// BlockCount returns the number of blocks of [Blocks] of n vertices.
func BlockCount(n int) int { return int(math.Pow(float64(n), blockExponent)) }

// Blocks returns a graph of the degree-corrected stochastic block model (Karrer & Newman, Phys. Rev. E 83 (2011),
// 016107) with n^0.35 blocks: every vertex has an outgoing and an incoming degree d from 10 to 100 with a
// probability in proportion to d^-2.5; an edge goes from each outgoing end to a vertex of its block, or with
// probability 1/6 of another, chosen in proportion to its incoming degree. The weights are A + Aᵀ. The second
// result is the block of every vertex.
func Blocks(n int, rng *rand.Rand) (*sparse.CSR, []int) {
	blocks := BlockCount(n)
	block := memberships(n, blocks, rng)

	// Every vertex stands in its block as often as its incoming degree says.
	degree := degrees()
	ends := make([][]int32, blocks)
	total := 0
	for i, b := range block {
		for range degree(rng) {
			ends[b] = append(ends[b], int32(i))
			total++
		}
	}
	starts := make([]int, blocks+1) // of the blocks in all ends
	for b, of := range ends {
		starts[b+1] = starts[b] + len(of)
	}

	e := &edges{n: n}
	for i, b := range block {
		for range degree(rng) {
			if rng.Float64() < withinToBetween/(withinToBetween+1) || blocks == 1 {
				e.add(i, int(ends[b][rng.IntN(len(ends[b]))]), 1)
				continue
			}
			// An end of another block, those of this one left out.
			at := rng.IntN(total - len(ends[b]))
			if at >= starts[b] {
				at += len(ends[b])
			}
			other, found := slices.BinarySearch(starts, at)
			if !found {
				other--
			}
			for len(ends[other]) == 0 {
				other++
			}
			e.add(i, int(ends[other][at-starts[other]]), 1)
		}
	}
	return e.matrix(), block
}

// memberships draws sizes of blocks from a Dirichlet distribution, and a block for every vertex.
func memberships(n, blocks int, rng *rand.Rand) []int {
	shares := make([]float64, blocks)
	sum := 0.0
	for b := range shares {
		// A gamma variable of a whole shape is a sum of exponential ones.
		for range int(blockEvenness) {
			shares[b] += rng.ExpFloat64()
		}
		sum += shares[b]
	}
	below := 0.0
	for b, s := range shares {
		below += s / sum
		shares[b] = below
	}

	out := make([]int, n)
	for i := range out {
		b, _ := slices.BinarySearch(shares, rng.Float64())
		out[i] = min(b, blocks-1)
	}
	return out
}

// degrees returns a function that draws degrees.
func degrees() func(*rand.Rand) int {
	var cumulative []float64
	sum := 0.0
	for d := minBlockDegree; d <= maxBlockDegree; d++ {
		sum += math.Pow(float64(d), degreeExponent)
		cumulative = append(cumulative, sum)
	}
	return func(rng *rand.Rand) int {
		at, _ := slices.BinarySearch(cumulative, rng.Float64()*sum)
		return minBlockDegree + min(at, len(cumulative)-1)
	}
}
