package cg

import "math"

// newApproximate returns a sparse factorization of L + cI, c ≥ 0, with the expectation L + cI.
//
// Vertices are eliminated by least degree. The exact elimination of a vertex v with edges of weight
// w_i to its neighbours and w = Σ w_i joins every two neighbours i and j by an edge of weight
// w_i·w_j/w. Here each neighbour gets as many edges as the edge to v had copies: with the
// neighbours in ascending order of weight and S_i = Σ_{k>i} w_k, an edge of weight w_i·S_i/w over
// the number of copies goes to a neighbour j > i that is drawn with probability w_j/S_i. On average
// this is the exact elimination; up to two neighbours, it is exact. Every edge of the graph begins
// as so many copies, and parallel edges are merged to at most [mostCopies]: the form AC-s2m2 of Gao, Kyng &
// Spielman (arXiv 2303.00709), after Kyng & Sachdeva (FOCS 2016), and s1m2 with one copy. The copies of an
// edge draw from equal parts of the distribution, which lowers the variance. Where the least degree has grown
// beyond [crowdedStar], the rest is an expander, for which one copy will do.
//
// The shift is an edge to a vertex that is never eliminated; edges to it are eliminated exactly.
// With c = 0 the inverse has a zero for one vertex of every component, and is positive definite on
// the complement of the null vectors.
//
// The factorization takes O(nnz log nnz) operations and one processor: 0.3 µs for each number in the
// factor, most of it for the memory. The factor has three numbers an edge for grids and trees, up to
// eight for graphs with hubs. Weights are rounded to float32, sums of them are not. The same seed
// gives the same factor.
func newApproximate(s *system, copies int32, seed uint64) *factors {
	n := s.w.Rows
	g := newElimination(s, copies, seed)
	return newFactors(g.run(n), nil, s.scaled(g.unit))
}

// scaled returns R^½ for weights in the given unit.
func (s *system) scaled(unit float64) []float64 {
	outer := make([]float64, len(s.outer))
	for i, r := range s.outer {
		outer[i] = r / math.Sqrt(unit)
	}
	return outer
}

const (
	// mostCopies is the number of copies to which parallel edges are merged. Merged to one, they cost a
	// third more iterations.
	mostCopies = 2
	// fewColumns is the number of right-hand sides up to which edges begin as one copy. As two copies
	// they make the factor a third larger, and save a quarter of the iterations. (One and sixteen
	// right-hand sides were measured, on chimeras and cubes: one copy took an eighth less time, and as
	// much time as two.)
	fewColumns = 4
	// crowdedStar is the number of neighbours of the vertex that is eliminated, over the mean number
	// in the graph, from which on edges have one copy; crowdedLeast is added to it.
	crowdedStar  = 4
	crowdedLeast = 16
	// columnBlock is the number of entries for which memory is taken at once: 8 MiB.
	columnBlock = 1 << 20
	// leastWeight is the least weight of an edge over the mean degree: a graph must not fall apart
	// by underflow.
	leastWeight = 1e-36
)

// copiesFor returns the number of copies as which edges begin, for so many right-hand sides.
func copiesFor(columns int) int32 {
	if columns <= fewColumns {
		return 1
	}
	return mostCopies
}

// approximateBytes bounds the memory of a factor of a graph of n vertices with nnz stored edges, which begin as one
// copy, while it is made, beside the graph.
func approximateBytes(n, nnz int) int64 { return 64*int64(nnz) + 96*int64(n) }
