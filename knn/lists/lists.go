// Package lists reads neighbours that other programs found, from arrays or files, and writes the
// neighbours that bigfit found in forms that other programs read.
//
// A file of lists is a .npz archive, for n points with K neighbours each:
//
//	indices.npy        int     (n, K)  points nearest first; −1 where a list ends early
//	distances.npy      float   (n, K)  distances, or in their place
//	sq_distances.npy   float   (n, K)  squared distances, or
//	similarities.npy   float   (n, K)  inner products, the largest first
//	manifest.npy       uint8           JSON, only in files that Write made: method, settings, hashes
//
// [Write] makes indices int32 and distances float64; any integer and real type is read. Two .npy
// files, of indices and of distances, do as well.
package lists

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/knn/internal/topk"
)

// Kind says what the values beside the indices mean.
type Kind int

const (
	// Auto goes by the name of the array in a file: distances, sq_distances or similarities.
	// Distances that descend along the rows, as an index of FAISS for inner products gives
	// them, are inner products.
	Auto Kind = iota
	// Distances are distances, not squared.
	Distances
	// Squared are squared distances, as FAISS gives for L2.
	Squared
	// InnerProduct are inner products s, the largest first. Between unit vectors they become
	// Euclidean distances √(2−2s). Between other vectors they only order the neighbours.
	InnerProduct
)

var kinds = enum.New[Kind]("kind of lists", "auto", "distances", "squared", "inner-product")

// String returns the name used on the command line and in manifests.
func (k Kind) String() string { return kinds.String(k) }

// MarshalText returns the name.
func (k Kind) MarshalText() ([]byte, error) { return kinds.Marshal(k) }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(text []byte) error { return kinds.Unmarshal(k, text) }

// Raw holds lists as another program gave them: row i of Index and Value, K entries each, is the
// list of point i.
type Raw struct {
	K     int
	Index []int64
	Value []float64
}

// fill is the index that FAISS gives where it found no more neighbours. Values beside it are
// ignored.
const fill = -1

// largest is the largest magnitude of a value: the square of a value must not overflow.
const largest = 1e150

// Neighbors returns the lists of r as neighbours, and the kind by which it read the values.
//
// If a list holds the point itself, as FAISS and scikit-learn write lists, the point is left out.
// Lists without their point then lose their farthest entry, so that all keep at most K−1. Entries
// are put in the order of (distance, index). A list may end early: its indices are −1 from some
// place to the end of the row, where values are ignored. Any other index outside [0, n), a
// repeated index, a value that is not finite or beyond ±1e150, and a negative distance are errors
// that name row and column.
func (r *Raw) Neighbors(kind Kind) (*knn.Neighbors, Kind, error) {
	if r.K < 1 || len(r.Index) == 0 || len(r.Index)%r.K != 0 || len(r.Value) != len(r.Index) {
		return nil, kind, fmt.Errorf("lists: %d indices and %d values in lists of %d neighbours",
			len(r.Index), len(r.Value), r.K)
	}
	if kind == Auto {
		kind = Distances
		if r.descends() {
			kind = InnerProduct
		}
	}

	keep, err := r.check(kind)
	if err != nil {
		return nil, kind, err
	}

	n := len(r.Index) / r.K
	nb := &knn.Neighbors{K: keep, Index: make([]int32, n*keep), Distance: make([]float64, n*keep)}
	distance := r.distance(kind, &nb.Ordered)
	row := make([]topk.Pair, 0, r.K)
	for i := range n {
		row = row[:0]
		index, value := r.row(i)
		for p, j := range index {
			// The point itself is left out.
			if j != int64(i) {
				row = append(row, topk.Pair{Dist: distance(value[p]), Index: int32(j)})
			}
		}

		// By distance, then index: other programs order ties as they like.
		topk.Sort(row)
		to, dist := nb.Row(i)
		for p := range to {
			to[p] = fill
			dist[p] = math.Inf(1)
			if p < len(row) {
				to[p] = row[p].Index
				dist[p] = row[p].Dist
			}
		}
	}

	return nb, kind, nil
}

// row returns the entries of row i up to its fills.
func (r *Raw) row(i int) (index []int64, value []float64) {
	index = r.Index[i*r.K : (i+1)*r.K]
	value = r.Value[i*r.K : (i+1)*r.K]
	end := len(index)
	for end > 0 && index[end-1] == fill {
		end--
	}
	return index[:end], value[:end]
}

// descends reports whether values descend in at least one row and ascend in none.
func (r *Raw) descends() bool {
	down := false
	for i := range len(r.Index) / r.K {
		_, value := r.row(i)
		for p := 1; p < len(value); p++ {
			if value[p] > value[p-1] {
				return false
			}
			down = down || value[p] < value[p-1]
		}
	}
	return down
}

// check returns the first fault, or the length of the lists without the points themselves.
func (r *Raw) check(kind Kind) (keep int, err error) {
	n := len(r.Index) / r.K
	keep = r.K

	// at holds, for every point, one more than the place in r.Index where it last appeared.
	at := make([]int, n)
	for i := range n {
		index, value := r.row(i)
		for p, j := range index {
			fault := func(format string, args ...any) error {
				return fmt.Errorf("row %d, column %d: "+format, append([]any{i, p}, args...)...)
			}

			v := value[p]
			switch {
			case j == fill:
				return 0, fault("the index is −1, which stands for no neighbour, " +
					"but neighbours follow it; fills must be at the end of the row")
			case j < 0 || j >= int64(n):
				return 0, fault("the index is %d, outside [0, %d), the points that have lists", j, n)
			case at[j] > i*r.K:
				return 0, fault("the index %d is in column %d already", j, at[j]-1-i*r.K)
			case !(math.Abs(v) <= largest):
				return 0, fault("the value is %v; it must be finite and at most %g; "+
					"a neighbour that was not found has the index −1", v, float64(largest))
			case v < 0 && kind != InnerProduct:
				return 0, fault("the distance is %v; "+
					"if these are inner products, say so by inner-product as their kind", v)
			}

			at[j] = i*r.K + p + 1
			if j == int64(i) {
				// One list with its own point shortens all.
				keep = r.K - 1
			}
		}
	}
	if keep == 0 {
		return 0, fmt.Errorf("the lists hold nothing but the points themselves; ask for more neighbours")
	}
	return keep, nil
}

// distance returns the function from values to distances. It sets ordered if these distances only
// order neighbours.
func (r *Raw) distance(kind Kind, ordered *bool) func(v float64) float64 {
	switch kind {
	case Squared:
		return math.Sqrt
	case InnerProduct:
		// Unit vectors have distances; others are ordered by the largest product minus theirs.
		most, unit := r.products()
		if unit {
			return func(v float64) float64 { return math.Sqrt(max(0, 2-2*v)) }
		}
		*ordered = true
		return func(v float64) float64 { return most - v }
	}
	return func(v float64) float64 { return v }
}

// products returns the largest inner product, and whether all vectors can be unit vectors: products
// are at most 1, and a point's product with itself is 1, up to the error of unit vectors in float16.
func (r *Raw) products() (most float64, unit bool) {
	const tolerance = 4e-3
	most = math.Inf(-1)
	unit = true
	for i := range len(r.Index) / r.K {
		index, value := r.row(i)
		for p, v := range value {
			most = max(most, v)
			// Cauchy–Schwarz: products of unit vectors are at most 1.
			unit = unit && math.Abs(v) <= 1+tolerance && (index[p] != int64(i) || v >= 1-tolerance)
		}
	}
	return most, unit
}
