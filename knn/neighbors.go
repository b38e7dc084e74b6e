package knn

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// Neighbors holds the K nearest neighbours of each of n points, nearest first. In lists
// of other programs a row may end early: from there on its indices are −1 and its
// distances infinite.
type Neighbors struct {
	K        int
	Index    []int32   // n×K, row-major
	Distance []float64 // n×K, not squared
	// Ordered says that Distance only orders the neighbours and measures no length, as
	// with inner products.
	Ordered bool
}

// Len returns the number of points.
func (nb *Neighbors) Len() int { return len(nb.Index) / nb.K }

// Row returns the neighbours of point i and their distances; both alias nb.
func (nb *Neighbors) Row(i int) (index []int32, distance []float64) {
	lo := i * nb.K
	hi := (i + 1) * nb.K
	return nb.Index[lo:hi:hi], nb.Distance[lo:hi:hi]
}

// Trim returns the first k neighbours of all points. It returns nil if a point has fewer or the
// lists have no distances.
func (nb *Neighbors) Trim(k int) *Neighbors {
	switch {
	case nb.Ordered || slices.Contains(nb.Index, -1):
		return nil
	case nb.K == k:
		return nb
	}
	n := nb.Len()
	out := &Neighbors{K: k, Index: make([]int32, 0, n*k), Distance: make([]float64, 0, n*k)}
	for i := range n {
		index, distance := nb.Row(i)
		out.Index = append(out.Index, index[:k]...)
		out.Distance = append(out.Distance, distance[:k]...)
	}

	return out
}

// First returns the first k neighbours of point i, or all if it has fewer, and their distances;
// both alias nb.
func (nb *Neighbors) First(i, k int) (index []int32, distance []float64) {
	index, distance = nb.Row(i)
	if end := slices.Index(index[:k], -1); end >= 0 {
		k = end
	}
	return index[:k:k], distance[:k:k]
}

// newNeighbors returns n empty lists of k.
func newNeighbors(n, k int) *Neighbors {
	return &Neighbors{K: k, Index: dense.Zeros[int32](n * k), Distance: dense.Zeros[float64](n * k)}
}

// set writes the list of query i.
func (nb *Neighbors) set(i int, list []topk.Pair) {
	index, distance := nb.Row(i)
	for p, b := range list {
		index[p] = b.Index
		distance[p] = b.Dist
	}
}

// setOthers makes row from of found, which holds one neighbour more, the list of point i without i
// itself.
func (nb *Neighbors) setOthers(i int, found *Neighbors, from int) {
	index, dist := found.Row(from)
	list := make([]topk.Pair, 0, nb.K)
	for p, j := range index {
		if int(j) != i && len(list) < nb.K { // i itself is missing if k+1 duplicates come before it
			list = append(list, topk.Pair{Dist: dist[p], Index: j})
		}
	}
	nb.set(i, list)
}

// last returns the distance of the last neighbour of point i.
func (nb *Neighbors) last(i int) float64 { return nb.Distance[(i+1)*nb.K-1] }

// meanSquare returns the mean of the squared distances of the k-th neighbours.
func (nb *Neighbors) meanSquare(k int) float64 {
	var mean float64
	for i := range nb.Len() {
		if _, dist := nb.First(i, k); len(dist) > 0 {
			last := dist[len(dist)-1]
			mean += last * last / float64(nb.Len())
		}
	}
	return mean
}

// Distances returns the n×n matrix with the distances of the first k
// neighbours of point i in row i, with explicit zeros. It is not symmetric.
func (nb *Neighbors) Distances(k int) *sparse.CSR {
	rows := make([][]topk.Pair, nb.Len())
	for i := range rows {
		index, dist := nb.Row(i)
		row := make([]topk.Pair, k)
		for p := range row {
			row[p] = topk.Pair{Dist: dist[p], Index: index[p]}
		}
		// A row of a CSR matrix ascends by column.
		slices.SortFunc(row, func(a, b topk.Pair) int { return int(a.Index) - int(b.Index) })
		rows[i] = row
	}

	return fromRows(rows)
}

// fromRows assembles rows of (distance, index) pairs, ascending by index, into a square matrix.
func fromRows(rows [][]topk.Pair) *sparse.CSR {
	m := &sparse.CSR{Rows: len(rows), Cols: len(rows), Ptr: make([]int64, len(rows)+1)}
	for i, row := range rows {
		m.Ptr[i+1] = m.Ptr[i] + int64(len(row))
	}
	// The lengths of the rows are known, so nothing grows.
	m.Col = make([]int32, 0, m.Ptr[len(rows)])
	m.Val = make([]float64, 0, m.Ptr[len(rows)])
	for _, row := range rows {
		for _, p := range row {
			m.Col = append(m.Col, p.Index)
			m.Val = append(m.Val, p.Dist)
		}
	}

	return m
}

// Bytes returns the memory of the lists, which is 0 for nil.
func (nb *Neighbors) Bytes() int64 {
	if nb == nil {
		return 0
	}
	return 12 * int64(len(nb.Index))
}

// ListIndices and ListDistances are the names of the arrays in files of graphs and models:
//
//	neighbor_indices    int32   (n, K)  other points, nearest first
//	neighbor_distances  float64 (n, K)  distances by the metric, ascending, not squared
const (
	ListIndices   = "neighbor_indices"
	ListDistances = "neighbor_distances"
)

// Entries returns the arrays as files hold them. Nil has none.
func (nb *Neighbors) Entries() []archive.Array {
	if nb == nil {
		return nil
	}
	shape := []int{nb.Len(), nb.K}
	return []archive.Array{
		{Name: ListIndices, Shape: shape, Data: nb.Index},
		{Name: ListDistances, Shape: shape, Data: nb.Distance},
	}
}

// CheckIndices is [Neighbors.CheckLists] without the distances.
func (nb *Neighbors) CheckIndices(n int) error {
	if nb.K < 1 || nb.K >= n || len(nb.Index) != n*nb.K {
		return fmt.Errorf("knn: neighbor_indices has %d elements for %d neighbours of each of %d points",
			len(nb.Index), nb.K, n)
	}
	for p, j := range nb.Index {
		if i := p / nb.K; j < 0 || int(j) >= n || int(j) == i {
			return fmt.Errorf("knn: element (%d, %d) of neighbor_indices is %d; it must be another point of %d",
				i, p%nb.K, j, n)
		}
	}
	return nil
}

// CheckLists returns an error unless nb can be the lists of n points in a file: n×K other points,
// nearest first by the metric. The error names the arrays as files do, neighbor_indices and
// neighbor_distances.
func (nb *Neighbors) CheckLists(n int, m Metric) error {
	if nb.K < 1 || nb.K >= n || len(nb.Index) != n*nb.K || len(nb.Distance) != n*nb.K {
		return fmt.Errorf(
			"knn: neighbor_indices has %d elements and neighbor_distances %d for %d neighbours of each of %d points",
			len(nb.Index), len(nb.Distance), nb.K, n)
	}
	if err := nb.CheckIndices(n); err != nil {
		return err
	}

	least, kind := 0.0, "finite, not negative"
	if m.Space() == Products {
		least = math.Inf(-1)
		kind = "finite"
	}

	for i := range n {
		index, dist := nb.Row(i)
		for p, j := range index {
			// Distances ascend, and points at the same distance are different ones.
			d := dist[p]
			falls := p > 0 && (d < dist[p-1] || d == dist[p-1] && j == index[p-1])
			if !(d >= least) || d-d != 0 || falls {
				return fmt.Errorf("knn: element (%d, %d) of neighbor_distances is %v; "+
					"%v distances must be %s and ascend, and no neighbour may be there twice", i, p, d, m, kind)
			}
		}
	}

	return nil
}
