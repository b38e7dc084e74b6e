package lists

import (
	"fmt"
	"math"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/internal/file/npy"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/sparse"
)

// WithSelf returns lists that are one longer: each begins with its own point at distance 0.
func WithSelf(nb *knn.Neighbors) *knn.Neighbors {
	n := nb.Len()
	k := nb.K + 1
	out := &knn.Neighbors{K: k, Index: make([]int32, n*k), Distance: make([]float64, n*k)}
	for i := range n {
		index, dist := out.Row(i)
		others, at := nb.Row(i)
		// The distance in front is 0, as dist was made.
		index[0] = int32(i)
		copy(index[1:], others)
		copy(dist[1:], at)
	}
	return out
}

// Write writes lists as a .npz file with the arrays indices, int32, and distances, float64, n×k
// each, and the manifest if it is not nil. The file appears whole or not at all.
func Write(path string, nb *knn.Neighbors, manifest []byte) error {
	shape := []int{nb.Len(), nb.K}
	entries := []archive.Array{
		{Name: "indices", Shape: shape, Data: nb.Index},
		{Name: "distances", Shape: shape, Data: nb.Distance},
	}
	if manifest != nil {
		entries = append(entries, archive.Array{Name: "manifest", Data: manifest})
	}
	return npy.WriteArchive(path, entries)
}

// WriteCSR writes lists as the sparse matrix of distances, in the form of scipy.sparse.save_npz.
// columns is the number of points among which neighbours were searched for. Rows are in the order of
// the distances, and distances of 0 are stored, as in the matrices of scikit-learn's
// kneighbors_graph(mode="distance").
func WriteCSR(path string, nb *knn.Neighbors, columns int, manifest []byte) error {
	m := &sparse.CSR{
		Rows: nb.Len(),
		Cols: columns,
		Ptr:  make([]int64, nb.Len()+1),
		Col:  nb.Index,
		Val:  nb.Distance,
	}
	if columns > math.MaxInt32 {
		return fmt.Errorf("%s: a matrix of %d columns", path, columns)
	}

	for i := range nb.Len() {
		m.Ptr[i+1] = int64((i + 1) * nb.K)
	}
	return sparse.WriteNPZ(path, m, manifest)
}
