package knn

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn/internal/edges"
	"github.com/bigfit/bigfit/sparse"
)

// Weighting gives an edge of a neighbour graph its weight. Below, N(i) is the list of the k nearest
// other points of point i, and d is the distance of point j in this list.
type Weighting int

const (
	// One is w = 1, the choice of Belkin & Niyogi (2004), step 1.
	One Weighting = iota
	// Heat is w = exp(−d²/4t) (Belkin & Niyogi 2003).
	Heat
	// SelfTuning is w = exp(−4d²/σ_i²) for a neighbour at distance d of point
	// i, with σ_i the distance of the k-th neighbour of i, before
	// symmetrization. Where σ_i = 0 it is 1. It needs k neighbours.
	SelfTuning
	// UMAP is the fuzzy simplicial set of McInnes, Healy & Melville
	// (arXiv:1802.03426, section 3.1, algorithms 2 and 3):
	// w = exp(−max(0, d−ρ_i)/σ_i) before symmetrization, with ρ_i the smallest
	// positive distance in N(i) and σ_i such that the weights of N(i) add up to
	// log₂(k+1). umap-learn counts a point among its neighbours: its n_neighbors is k+1. It works
	// in float32 and stops the search for σ_i when the sum is within 1e-5. This package does the
	// same, and the weights agree to 1e-6. They become symmetric as w_ij + w_ji − w_ij·w_ji for
	// Either, as w_ij·w_ji for Both (set_op_mix_ratio 1 and 0) and as w_ij + w_ji for Sum.
	UMAP
	// Gauss is w = √(2σ_iσ_j/(σ_i²+σ_j²))·exp(−d²/(σ_i²+σ_j²)) with σ_i² the median
	// of the squared positive distances in N(i), as scanpy computes the kernel of Coifman et al.
	// (PNAS 2005) with the widths of Haghverdi et al. (2016) for method="gauss" and
	// n_neighbors = k+1. Where no distance is positive, σ_j stands for σ_i, and the weight is 1
	// where neither list has one.
	Gauss
	// Shared, by the name jaccard, is w = s/(2k−s) before symmetrization, with s the number of
	// points that N(i) and N(j) share, as in PhenoGraph (Levine et al., Cell 2015) with the same k
	// and in scanpy with n_neighbors = k+1. It becomes (w_ij + w_ji)/2 for Either, which halves
	// the weight of an edge that only one list names, w_ij·w_ji for Both (prune) and w_ij + w_ji for
	// Sum. Neighbours that share no point are not joined.
	Shared
)

var weightings = enum.New[Weighting]("weighting", "one", "heat", "self-tuning", "umap", "gauss", "jaccard")

// String returns the name used on the command line and in manifests.
func (w Weighting) String() string { return weightings.String(w) }

// MarshalText returns the name.
func (w Weighting) MarshalText() ([]byte, error) { return weightings.Marshal(w) }

// UnmarshalText is the inverse of MarshalText.
func (w *Weighting) UnmarshalText(text []byte) error { return weightings.Unmarshal(w, text) }

// needsLists reports whether the weights are defined by lists of neighbours and not for pairs within
// a radius.
func (w Weighting) needsLists() bool { return w != One && w != Heat }

// needsDistances reports whether the weights need distances and not only the order of neighbours.
func (w Weighting) needsDistances() bool { return w != One && w != Shared }

// Combine returns some rows of the symmetric matrix. a holds these rows of the matrix of weights
// between points and their neighbours, and t these rows of its transpose.
func (w Weighting) Combine(a, t *sparse.CSR, s sparse.Symmetry) *sparse.CSR {
	// Either takes the larger of two weights, unless the weighting says otherwise.
	by := func(a, b float64) float64 { return max(a, b) }
	switch {
	case s == sparse.Sum:
		by = func(a, b float64) float64 { return a + b }
	case w == UMAP && s == sparse.Either:
		by = func(a, b float64) float64 { return a + b - a*b }
	case w == Shared && s == sparse.Either:
		by = func(a, b float64) float64 { return (a + b) / 2 }
	case w == UMAP || w == Shared:
		by = func(a, b float64) float64 { return a * b }
	case s == sparse.Both:
		by = func(a, b float64) float64 { return min(a, b) }
	}

	return sparse.Combine(a, t, s, by)
}

// fill sets w to the weights of the edges from point i to the neighbours in its list.
type fill func(w []float64, i int, index []int32, dist []float64)

// filler returns the fill for the graph of the first K neighbours in nb.
func (s *GraphSettings) filler(nb *Neighbors) fill {
	switch s.Weights {
	case UMAP:
		return func(w []float64, _ int, _ []int32, dist []float64) { edges.UMAP(w, dist) }
	case Gauss:
		// A weight of Gauss needs the widths of both ends.
		widths := make([]float64, nb.Len())
		par.For(nb.Len(), rowGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				_, dist := nb.First(i, s.K)
				widths[i] = edges.SquaredWidth(dist)
			}
		})
		return func(w []float64, i int, index []int32, dist []float64) {
			for p, j := range index {
				w[p] = edges.Gauss(dist[p], widths[i], widths[j])
			}
		}
	case Shared:
		// Sorted lists are intersected in one pass.
		lists := nb.sortedLists(s.K)
		return func(w []float64, i int, index []int32, _ []float64) {
			for p, j := range index {
				w[p] = edges.Jaccard(lists[i], lists[j])
			}
		}
	}

	return func(w []float64, _ int, _ []int32, dist []float64) { s.byDistance(w, dist) }
}

// rowGrain is the number of lists that are weighed in one parallel chunk.
const rowGrain = 256

// weighLists returns the weights between points and the first K of their neighbours.
func (s *GraphSettings) weighLists(nb *Neighbors) *sparse.CSR {
	n := nb.Len()
	k := s.K
	m := &sparse.CSR{Rows: n, Cols: n, Ptr: make([]int64, n+1), Col: dense.Zeros[int32](n * k)}
	var weights []float64
	var by fill
	if s.Weights != One {
		weights = dense.Zeros[float64](n * k)
		by = s.filler(nb)
	}

	// Each row is written in its place, n×K, with ascending columns and without zero weights.
	kept := make([]int, n)
	par.For(n, rowGrain, func(lo, hi int) {
		w := make([]float64, k)
		order := make([]int, 0, k)
		for i := lo; i < hi; i++ {
			index, dist := nb.First(i, k)
			order = order[:0]
			for p := range index {
				order = append(order, p)
			}
			slices.SortFunc(order, func(a, b int) int { return int(index[a]) - int(index[b]) })

			if by != nil {
				by(w[:len(index)], i, index, dist)
			}
			at := i * k
			for _, p := range order {
				if by != nil {
					if w[p] == 0 {
						continue
					}
					weights[at] = w[p]
				}
				m.Col[at] = index[p]
				at++
			}
			kept[i] = at - i*k
		}
	})

	// The rows close up.
	end := 0
	for i, count := range kept {
		copy(m.Col[end:], m.Col[i*k:i*k+count])
		if weights != nil {
			copy(weights[end:], weights[i*k:i*k+count])
		}
		end += count
		m.Ptr[i+1] = int64(end)
	}
	m.Col = m.Col[:end]
	if weights != nil {
		m.Val = weights[:end]
	}

	return m
}

// byDistance sets w to the weights of One, Heat or SelfTuning at the distances of a list.
func (s *GraphSettings) byDistance(w, dist []float64) {
	for p, d := range dist {
		w[p] = s.weight(d, dist[len(dist)-1])
	}
}

// weight returns the weight of an edge of length d from a point with its k-th neighbour at distance
// sigma.
func (s *GraphSettings) weight(d, sigma float64) float64 {
	switch {
	case s.Weights == Heat:
		return math.Exp(-d * d / (4 * s.T))
	case s.Weights == SelfTuning && sigma > 0:
		return math.Exp(-4 * d * d / (sigma * sigma))
	}
	return 1
}

// sortedLists returns the first k neighbours of every point in ascending order.
func (nb *Neighbors) sortedLists(k int) [][]int32 {
	flat := make([]int32, nb.Len()*k)
	lists := make([][]int32, nb.Len())
	par.For(nb.Len(), rowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			index, _ := nb.First(i, k)
			lists[i] = append(flat[i*k:i*k:(i+1)*k], index...)
			slices.Sort(lists[i])
		}
	})
	return lists
}

// EdgeWeights returns the weights of the edges from a point outside the graph to its nearest points
// at the given distances, nearest first. Heat needs T. The weights are not symmetrized: they follow
// from the new point's own list, with its σ for SelfTuning, UMAP and Gauss. For Gauss its σ stands
// for the σ of its neighbours too, w = exp(−d²/2σ²). Weights of Shared do not follow from
// distances: see [SharedWeights].
func (s *GraphSettings) EdgeWeights(dist []float64) []float64 {
	w := make([]float64, len(dist))
	switch s.Weights {
	case UMAP:
		edges.UMAP(w, dist)
	case Gauss:
		width := edges.SquaredWidth(dist)
		for p, d := range dist {
			w[p] = edges.Gauss(d, width, width)
		}
	case Shared:
		panic(fmt.Sprintf("knn: %s weights do not follow from distances", s.Weights))
	default:
		s.byDistance(w, dist)
	}

	return w
}

// SharedWeights returns the weights of Shared, |N ∩ N(j)| / |N ∪ N(j)|, of the edges from a point
// outside the graph to its nearest points. own is its list N, and lists[p] is the list N(j) of
// j = own[p]. Lists may be in any order and are not changed.
func SharedWeights(own []int32, lists [][]int32) []float64 {
	a := slices.Sorted(slices.Values(own))
	w := make([]float64, len(own))
	for p, list := range lists {
		w[p] = edges.Jaccard(a, slices.Sorted(slices.Values(list)))
	}
	return w
}
