package knn

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/npy"
	"github.com/bigfit/bigfit/internal/topk"
)

// FromLists makes Neighbors of lists that another program found: k neighbours
// of each of n points, index and dist row by row. squared says that dist holds
// squared distances, as FAISS writes them.
//
// Where lists hold the point itself, as those of FAISS and scikit-learn do, it
// is left out; lists without it then lose their farthest entry, so that all
// keep k−1. Entries are put in the order of (distance, index). An index outside
// [0, n) (FAISS writes −1 for a neighbour it did not find), a repeated one, and a
// distance that is negative or not finite are errors.
func FromLists(n, k int, index []int64, dist []float64, squared bool) (*Neighbors, error) {
	if n < 1 || k < 1 || len(index) != n*k || len(dist) != n*k {
		return nil, fmt.Errorf("knn: %d indices and %d distances for %d lists of %d neighbours", len(index), len(dist), n, k)
	}
	keep := k
	for i := range n {
		if slices.Contains(index[i*k:(i+1)*k], int64(i)) {
			keep = k - 1
			break
		}
	}
	if keep == 0 {
		return nil, fmt.Errorf("knn: the lists hold nothing but the points themselves")
	}
	nb := &Neighbors{K: keep, Index: make([]int32, 0, n*keep), Distance: make([]float64, 0, n*keep)}
	row := make([]topk.Pair, 0, k)
	for i := range n {
		row = row[:0]
		for p := i * k; p < (i+1)*k; p++ {
			j, d := index[p], dist[p]
			if j < 0 || j >= int64(n) {
				return nil, fmt.Errorf("knn: neighbour %d of point %d has index %d, outside [0, %d)", p-i*k, i, j, n)
			}
			if !(d >= 0) || math.IsInf(d, 0) {
				return nil, fmt.Errorf("knn: neighbour %d of point %d has distance %v", p-i*k, i, d)
			}
			if j == int64(i) {
				continue
			}
			if squared {
				d = math.Sqrt(d)
			}
			row = append(row, topk.Pair{Dist: d, Index: int32(j)})
		}
		topk.Sort(row)
		for p, e := range row {
			for _, before := range row[:p] {
				if before.Index == e.Index {
					return nil, fmt.Errorf("knn: point %d lists neighbour %d twice", i, e.Index)
				}
			}
		}
		if len(row) < keep {
			return nil, fmt.Errorf("knn: point %d lists itself more than once", i)
		}
		for _, e := range row[:keep] {
			nb.Index, nb.Distance = append(nb.Index, e.Index), append(nb.Distance, e.Dist)
		}
	}
	return nb, nil
}

// ReadLists reads the arrays indices and distances, n×k each, of a .npz file.
// In place of distances there may be sq_distances, squared ones. Limit bounds
// the memory in bytes if it is positive.
func ReadLists(path string, limit int64) (*Neighbors, error) {
	a, err := npy.OpenArchive(path, limit)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	name := "distances"
	squared := !a.Has(name) && a.Has("sq_distances")
	if squared {
		name = "sq_distances"
	}
	h, err := a.Header("indices")
	if err != nil {
		return nil, err
	}
	if len(h.Shape) != 2 {
		return nil, fmt.Errorf("%s: indices is %s; it must be n×k", path, h)
	}
	if err := a.Expect(name, "", h.Shape...); err != nil {
		return nil, fmt.Errorf("%w; indices is %s", err, h)
	}
	index, err := a.Read("indices")
	if err != nil {
		return nil, err
	}
	dist, err := a.Read(name)
	if err != nil {
		return nil, err
	}
	i, err := index.Int64s()
	if err != nil {
		return nil, fmt.Errorf("%s: indices: %w", path, err)
	}
	d, err := dist.Float64s()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", path, name, err)
	}
	nb, err := FromLists(index.Shape[0], index.Shape[1], i, d, squared)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return nb, nil
}
