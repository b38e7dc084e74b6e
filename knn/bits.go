package knn

import (
	"fmt"
	"math/bits"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/sparse"
)

// bitRows are points of zeros and ones, 64 coordinates in a word.
type bitRows struct {
	d, words int
	data     []uint64
}

// packBits packs dense points. A coordinate that is neither 0 nor 1 is an error.
func packBits(x data.Points, m Metric) (*bitRows, error) {
	if err := checkBits(x, m); err != nil {
		return nil, err
	}
	n, d := x.Dims()
	b := &bitRows{d: d, words: (d + 63) / 64}
	b.data = make([]uint64, n*b.words)
	par.For(n, 1024, func(lo, hi int) {
		row := make([]float64, d)
		for i := lo; i < hi; i++ {
			b.pack(b.row(i), x, i, row)
		}
	})
	return b, nil
}

func (b *bitRows) row(i int) []uint64 { return b.data[i*b.words:][:b.words:b.words] }

// pack writes point i of x to dst; row is scratch memory.
func (b *bitRows) pack(dst []uint64, x data.Points, i int, row []float64) {
	data.RowTo(row, x, i)
	clear(dst)
	for j, v := range row {
		if v != 0 {
			dst[j/64] |= 1 << (j % 64)
		}
	}
}

// checkBits returns an error with the first coordinate that is neither 0 nor 1 of
// points under a metric of sets. Any entry of sparse points is one for Jaccard.
func checkBits(x data.Points, m Metric) error {
	n, d := x.Dims()
	fault := func(i, j int, v float64) error {
		return fmt.Errorf("knn: %v distance is for points of zeros and ones; row %d, column %d is %v; make them 0 and 1, or take another distance, such as euclidean", m, i, j, v)
	}
	if s, ok := x.(*sparse.CSR); ok {
		for p, v := range s.Val {
			if m == Hamming && v != 0 && v != 1 {
				i := rowOf(s, p)
				return fault(i, int(s.Col[p]), v)
			}
		}
		return nil
	}
	const grain = 1024
	faults := make([]error, par.Chunks(n, grain))
	par.For(n, grain, func(lo, hi int) {
		row := make([]float64, d)
		for i := lo; i < hi; i++ {
			data.RowTo(row, x, i)
			for j, v := range row {
				if v != 0 && v != 1 {
					faults[lo/grain] = fault(i, j, v)
					return
				}
			}
		}
	})
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return nil
}

// rowOf returns the row of entry p.
func rowOf(x *sparse.CSR, p int) int {
	lo, hi := 0, x.Rows
	for lo < hi {
		if middle := (lo + hi) / 2; x.Ptr[middle+1] <= int64(p) {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	return lo
}

// overlap returns the distance of two sets of a and b elements, of which they share
// common, out of d.
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

// bitMeter is the meter of bitRows.
type bitMeter struct {
	*bitRows
	metric Metric
	q      []uint64
	count  int // of the bits of q
	row64  []float64
}

func (b *bitRows) newMeter(m Metric) *bitMeter {
	return &bitMeter{bitRows: b, metric: m, q: make([]uint64, b.words), row64: make([]float64, b.d)}
}

func (m *bitMeter) load(x data.Points, i int) {
	m.pack(m.q, x, i, m.row64)
	m.count = 0
	for _, w := range m.q {
		m.count += bits.OnesCount64(w)
	}
}

func (m *bitMeter) distance(j int) float64 {
	row := m.row(j)
	q := m.q[:len(row)]
	if m.metric == Hamming {
		differ := 0
		for p, w := range row {
			differ += bits.OnesCount64(w ^ q[p])
		}
		return float64(differ) / float64(m.d)
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
