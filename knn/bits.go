package knn

import (
	"fmt"
	"math/bits"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/prepared"
	"github.com/bigfit/bigfit/sparse"
)

// checkBits returns an error with the first coordinate that is neither 0 nor 1, for points under a
// metric of sets. For Jaccard every entry of sparse points counts as 1.
func checkBits(x data.Points, m Metric) error {
	if _, ok := x.(*sparse.CSR); ok && m != Hamming {
		return nil
	}
	if f := prepared.NotBit(x); f != nil {
		return fmt.Errorf("knn: %v distance is for points of zeros and ones; row %d, column %d is %v; "+
			"make them 0 and 1, or take another distance, such as euclidean", m, f.Row, f.Column, f.Value)
	}
	return nil
}

// overlap returns the distance of two sets of a and b elements that share common elements, out of d
// possible ones.
func (m Metric) overlap(a, b, common float64, d int) float64 {
	either := a + b - common
	if m == Hamming {
		return (either - common) / float64(d)
	}
	if either == 0 {
		return 0
	}
	return (either - common) / either
}

// bitMeter is the meter of dense points of zeros and ones.
type bitMeter struct {
	*prepared.Bits
	metric Metric
	q      []uint64
	count  int // the number of ones in q
	row64  []float64
}

func newBitMeter(b *prepared.Bits, m Metric) *bitMeter {
	return &bitMeter{Bits: b, metric: m, q: make([]uint64, b.Words), row64: make([]float64, b.D)}
}

func (m *bitMeter) load(x data.Points, i int) {
	m.Pack(m.q, x, i, m.row64)
	m.count = 0
	for _, w := range m.q {
		m.count += bits.OnesCount64(w)
	}
}

func (m *bitMeter) distance(j int) float64 {
	row := m.Row(j)
	q := m.q[:len(row)]
	if m.metric == Hamming {
		differ := 0
		for p, w := range row {
			differ += bits.OnesCount64(w ^ q[p])
		}
		return float64(differ) / float64(m.D)
	}

	either, common := 0, 0
	for p, w := range row {
		either += bits.OnesCount64(w | q[p])
		common += bits.OnesCount64(w & q[p])
	}
	if either == 0 {
		return 0
	}

	return float64(either-common) / float64(either)
}
