package knn

import (
	"fmt"
	"runtime"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/sparse"
)

// NewBrute returns an index that compares every query with every point.
//
// Dense points cost 8nd bytes beside x (bytes 2nd with AVX-512 and 4nd with AVX2) and 2nd
// operations a query. Self compares each pair once. For more than 8192 points a sample may show
// that few principal coordinates rule out most pairs. Then all pairs are compared in these
// coordinates alone, and few are measured (package pruned): the neighbours have the same bits, and
// the search takes no more memory.
//
// Sparse points cost one transpose of x, and a query costs the number of other entries in its
// columns. Manhattan and Chebyshev distances of dense points are measured pair by pair in float64,
// without memory beside x, and distances of dense sets pair by pair on a copy of nd bits.
// [Method.Supports] lists the metrics.
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

// allPairsEngine returns the engine that compares all pairs, with all points or a chunk of them
// prepared.
func allPairsEngine(x data.Points, m Metric) (engine, error) {
	if inChunks(x, m) {
		return &chunked{x, m}, nil
	}
	return bruteEngine(x, m)
}

// bruteEngine returns the engine that compares all pairs with all points prepared.
func bruteEngine(x data.Points, m Metric) (engine, error) {
	switch z := x.(type) {
	case *sparse.CSR:
		if err := checkBits(x, m); err != nil {
			return nil, err
		}
		return newInverted(z, m), nil
	case *data.Dense[uint8]:
		if m.multiplies() {
			return newBytes(z, m), nil
		}
	}
	if m.multiplies() {
		return newDense(x, m), nil
	}

	// No matrix product computes the other metrics.
	newMeter, err := meters(x, m)
	if err != nil {
		return nil, err
	}
	return &exhaustive{x, newMeter}, nil
}

// BruteBytes returns the memory that an index of NewBrute on x and the k nearest neighbours of all
// its points take, beside x.
func BruteBytes(x data.Points, k int) int64 {
	n, d := x.Dims()
	lists := 12 * int64(n) * int64(k)
	if m, ok := x.(*sparse.CSR); ok {
		columns := int64(d) // columns of the transpose
		if prepared.Wide(m) {
			columns = 2 * int64(m.NNZ())
		}
		return lists + 16*int64(m.NNZ()) + 16*int64(n) + 16*columns + 16*int64(n)*int64(runtime.GOMAXPROCS(0))
	}

	// The heaps of candidates stand beside the lists, and the packed points beside both.
	lists += 8*int64(n)*int64(k+slack) + 8*int64(n)
	if _, ok := x.(*data.Dense[uint8]); ok && d <= dense.MaxInnerU8 {
		return lists + 2*dense.BytesU8(n, d)
	}
	if inChunks(x, Euclidean) {
		lists = lists + 12*int64(n)*int64(k+1)
		n = chunkSize
	}

	return lists + 2*4*int64(n)*int64(d)
}

// BruteOperations returns the number of floating-point operations to find the neighbours of all
// points of x.
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
