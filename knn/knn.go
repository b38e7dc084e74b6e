// Package knn finds nearest neighbours and turns them into weighted graphs.
//
// Exact neighbours of bytes come from integers. For other dense points candidates
// come from a float32 product of blocks, are measured again in float64, and a
// rounding bound decides for every query whether a point outside the candidates
// could still be nearer; where it could, all such points are measured. Ties go to
// the smaller index.
package knn

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/sparse"
)

// Neighbors are the K nearest neighbours of each of n points, nearest first. In lists
// of other programs a row may end early: from there on its indices are −1 and its
// distances infinite.
type Neighbors struct {
	K        int
	Index    []int32   // n×K, row-major
	Distance []float64 // n×K, not squared
	// Ordered says that Distance orders the neighbours and measures nothing, as
	// inner products of vectors of any length do.
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

// Trim returns the first k neighbours of all points, or nil if one has fewer or there are
// no distances.
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

// First returns the first k neighbours of point i, or as many as there are, and
// their distances; both alias nb.
func (nb *Neighbors) First(i, k int) (index []int32, distance []float64) {
	index, distance = nb.Row(i)
	if end := slices.Index(index[:k], -1); end >= 0 {
		k = end
	}
	return index[:k:k], distance[:k:k]
}

// Index answers nearest-neighbour queries on a fixed set of points; safe for
// concurrent use.
type Index interface {
	// Dims returns the number of indexed points and their dimension.
	Dims() (n, d int)
	// Metric returns the distance in use.
	Metric() Metric
	// Query returns the k nearest indexed points of every row of x.
	Query(ctx context.Context, x data.Points, k int) (*Neighbors, error)
	// Self returns the k nearest indexed points of every indexed point. A
	// point is not its own neighbour, but its duplicates are.
	Self(ctx context.Context, k int) (*Neighbors, error)
	// Within returns, as an n×n matrix of distances with explicit zeros, all
	// pairs of different indexed points at most radius apart.
	Within(ctx context.Context, radius float64) (*sparse.CSR, error)
}

// Settings of an index. The zero value is ready for use.
type Settings struct {
	// Metric defaults to Euclidean.
	Metric Metric
	// MaxPairs, if positive, is the number of pairs at which Within gives up, so
	// that a radius that is too large does not fill the memory. A pair takes up
	// to 48 bytes on the way to a graph.
	MaxPairs int64
	// OnProgress, if not nil, is called with the number of queries answered so far.
	// Calls come from several goroutines, one after the other; the number grows.
	OnProgress func(done, total int)
	// Note, if not nil, is told whether a search of all pairs prunes, and why not.
	Note func(text string)
}

// NewBrute returns an index that compares every query with every point.
//
// Dense sets of n points cost 8nd bytes beside x, of bytes 2nd with AVX-512 and
// 4nd with AVX2, and 2nd operations a query; Self compares each pair once. Of more than
// 8192 points whose first principal coordinates, as a sample shows, tell most pairs from
// near ones, all pairs are compared in these alone, and few are measured: package pruned.
// The answers have the same bits, and it takes no more memory.
// Sparse sets cost one transpose of x, and a query as many operations as its
// words have other occurrences. Manhattan and Chebyshev distance of dense points
// are measured pair by pair in float64, without memory beside x, and distances of
// dense sets pair by pair on a copy of nd bits. [Method.Supports] lists the metrics.
func NewBrute(x data.Points, s *Settings) (Index, error) {
	if s == nil {
		s = &Settings{}
	}
	if n, d := x.Dims(); n < 1 || d < 1 {
		return nil, fmt.Errorf("knn: a set of %d points in %d dimensions has no neighbours", n, d)
	}
	if err := Brute.Supports(s.Metric, x); err != nil {
		return nil, err
	}
	if n, _ := x.Dims(); prunes(x, s.Metric, n, 1) {
		return newIndex(&prunedIndex{x: x, metric: s.Metric, note: s.Note}, x, s), nil
	}
	e, err := allPairsEngine(x, s.Metric)
	if err != nil {
		return nil, err
	}
	return newIndex(e, x, s), nil
}

// allPairsEngine returns the engine that compares all pairs, at once or in parts.
func allPairsEngine(x data.Points, m Metric) (engine, error) {
	if inParts(x, m) {
		return &parts{x, m}, nil
	}
	return bruteEngine(x, m)
}

// bruteEngine returns the engine that compares all pairs at once.
func bruteEngine(x data.Points, m Metric) (engine, error) {
	switch z := x.(type) {
	case *sparse.CSR:
		if err := checkBits(x, m); err != nil {
			return nil, err
		}
		return newInverted(z, m), nil
	case *data.Dense[uint8]:
		if m == Euclidean || m == InnerProduct || m.angular() {
			return newBytes(z, m), nil
		}
	}
	if m == Euclidean || m == InnerProduct || m.angular() {
		return newDense(x, m), nil
	}
	newMeter, err := meters(x, m)
	if err != nil {
		return nil, err
	}
	return &exhaustive{x, newMeter}, nil
}

// BruteBytes returns the memory that an index of NewBrute on x and the k nearest
// neighbours of all its points take, beside x.
func BruteBytes(x data.Points, k int) int64 {
	n, d := x.Dims()
	lists := 12 * int64(n) * int64(k)
	if m, ok := x.(*sparse.CSR); ok {
		columns := int64(d) // of the transpose
		if prepared.Wide(m) {
			columns = 2 * int64(m.NNZ())
		}
		return lists + 16*int64(m.NNZ()) + 16*int64(n) + 16*columns + 16*int64(n)*int64(runtime.GOMAXPROCS(0))
	}
	lists += 8*int64(n)*int64(k+slack) + 8*int64(n) // while they are found
	if _, ok := x.(*data.Dense[uint8]); ok && d <= dense.MaxInnerU8 {
		return lists + 2*dense.BytesU8(n, d)
	}
	if inParts(x, Euclidean) {
		lists = lists + 12*int64(n)*int64(k+1)
		n = partSize
	}
	return lists + 2*4*int64(n)*int64(d)
}

// BruteOperations returns the number of floating-point operations of finding
// the neighbours of all points of x.
func BruteOperations(x data.Points) float64 {
	n, d := x.Dims()
	if m, ok := x.(*sparse.CSR); ok {
		if prepared.Wide(m) {
			m, _ = m.Narrow()
		}
		count := make([]float64, m.Cols)
		for _, c := range m.Col {
			count[c]++
		}
		var sum float64
		for _, c := range count {
			sum += 2 * c * c
		}
		return sum
	}
	return float64(n) * float64(n) * float64(d) // each pair once
}

// checkK returns an error unless k neighbours can be had from available points.
func checkK(k, available int) error {
	if k < 1 || k > available {
		return fmt.Errorf("knn: %d neighbours asked of %d points; the number must be between 1 and %d", k, available, available)
	}
	return nil
}

func checkQuery(x data.Points, d int) error {
	if _, xd := x.Dims(); xd != d {
		return fmt.Errorf("knn: the query points have %d dimensions, the indexed points %d", xd, d)
	}
	return nil
}
