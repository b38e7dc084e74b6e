package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
)

// CheckGraph returns an error unless m can be the weight matrix of an undirected graph: valid,
// square, non-negative, symmetric and with finite degrees. Two entries w_ij and w_ji count as equal
// if they differ by at most 1e-12·max(w_ij, w_ji). It searches for the place of an asymmetry only
// where two sums of hashes differ.
func (m *CSR) CheckGraph() error {
	if err := m.Validate(); err != nil {
		return err
	}
	if m.Rows != m.Cols {
		return fmt.Errorf("sparse: a graph needs a square matrix, this one is %d×%d", m.Rows, m.Cols)
	}
	err := m.pass(0, m.Rows, func(lo, hi int) error { return m.eachRow(lo, hi, m.checkWeights) })
	if err != nil || m.balanced() {
		return err
	}

	// Hashes tell that the matrix is not symmetric to the last bit. Now look at each pair, for
	// weights that agree up to rounding or for the place of the fault.
	return m.pass(0, m.Rows, func(lo, hi int) error {
		defer m.Release(0, m.Rows) // partners lie anywhere
		return m.eachRow(lo, hi, m.checkPartners)
	})
}

// CheckRows returns an error unless rows lo to hi can be rows of the weights of a graph, whatever
// other rows hold. It checks offsets, columns, weights and degrees as [CSR.CheckGraph] does, but
// not symmetry. It is for rows of a matrix from [Open].
func (m *CSR) CheckRows(lo, hi int) error {
	return m.pass(lo, hi, func(lo, hi int) error {
		return m.eachRow(lo, hi, func(i int) error {
			if err := m.checkRow(i); err != nil {
				return err
			}
			return m.checkWeights(i)
		})
	})
}

// checkWeights returns an error unless the weights of row i are not negative and have a sum.
func (m *CSR) checkWeights(i int) error {
	col, val := m.Row(i)
	var degree float64
	for p, v := range val {
		if v < 0 {
			return fmt.Errorf("sparse: weight (%d, %d) is %v; weights must not be negative", i, col[p], v)
		}
		if degree += v; math.IsInf(degree, 1) {
			return fmt.Errorf("sparse: the weights of vertex %d, up to %v, add up to more than the "+
				"largest float64; divide all weights by a constant, such as 1e100", i, slices.Max(val))
		}
	}

	return nil
}

// balanced reports whether the entries above and below the diagonal are the same to the last bit.
// It compares two sums of hashes, so that one pass in order is enough and nothing is transposed.
// The probability that different entries have equal sums is 2⁻¹²⁸.
func (m *CSR) balanced() bool {
	var total [2]uint64
	_ = m.pass(0, m.Rows, func(lo, hi int) error {
		sum := m.imbalance(lo, hi)
		total[0] += sum[0]
		total[1] += sum[1]
		return nil
	})
	return total == [2]uint64{}
}

// imbalance returns the two sums of hashes over rows from to end: entries above the diagonal count
// positive, and entries below it negative.
func (m *CSR) imbalance(from, end int) (total [2]uint64) {
	sums := make([][2]uint64, par.Chunks(end-from, rowGrain))
	par.For(end-from, rowGrain, func(lo, hi int) {
		var sum [2]uint64
		for i := from + lo; i < from+hi; i++ {
			col, val := m.Row(i)
			for p, j := range col {
				if int(j) == i {
					continue
				}
				weight := uint64(0)
				if val != nil {
					weight = math.Float64bits(val[p])
				}

				// Both entries of a pair have the same hash; the two constants make two of it.
				h := mix(uint64(min(i, int(j)))<<32|uint64(max(i, int(j)))) ^ weight
				first := mix(h + 0x9e3779b97f4a7c15)
				second := mix(h + 0x6a09e667f3bcc909)
				if int(j) < i {
					first = -first
					second = -second
				}

				sum[0] += first
				sum[1] += second
			}
		}

		sums[lo/rowGrain] = sum
	})

	for _, s := range sums {
		total[0] += s[0]
		total[1] += s[1]
	}
	return total
}

// mix maps numbers one to one to others that look random (Stafford's variant 13 of the
// finalizer of MurmurHash3).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// checkPartners returns an error unless every entry of row i has its partner, equal up to rounding.
func (m *CSR) checkPartners(i int) error {
	col, val := m.Row(i)
	for p, j := range col {
		back, weights := m.Row(int(j))
		q, stored := slices.BinarySearch(back, int32(i))
		if !stored {
			return fmt.Errorf("sparse: the graph is not symmetric: of entries (%d, %d) and (%d, %d) "+
				"only one is stored; use max(W, Wᵀ)", min(i, int(j)), max(i, int(j)), max(i, int(j)),
				min(i, int(j)))
		}
		if val != nil && math.Abs(val[p]-weights[q]) > 1e-12*max(val[p], weights[q]) {
			return fmt.Errorf("sparse: the graph is not symmetric: weight (%d, %d) is %v but (%d, %d) is %v",
				i, j, val[p], j, i, weights[q])
		}
	}

	return nil
}
