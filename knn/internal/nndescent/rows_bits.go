package nndescent

import "math/bits"

// Bits are rows of bits, 64 in a word. The distance is the number of bits that differ (Hamming).
// With Overlap it is the Jaccard distance of the sets of ones, 1 − |a∩b| / |a∪b|.
type Bits struct {
	numbering
	words   int
	data    []uint64
	overlap bool
}

// NewBits returns rows of the given number of words, row-major without gaps.
func NewBits(words int, data []uint64, overlap bool) *Bits {
	return &Bits{words: words, data: data, overlap: overlap}
}

// Meter returns a *BitMeter.
func (b *Bits) Meter() Meter { return &BitMeter{rows: b} }

// BitMeter is the meter of [Bits].
type BitMeter struct {
	Point []uint64
	rows  *Bits
}

// At makes row i the point.
func (m *BitMeter) At(i int32) { m.Point = m.rows.row(m.rows.of(i)) }

// row returns the words of a point of the set.
func (b *Bits) row(point int32) []uint64 { return b.data[int(point)*b.words:][:b.words] }

// Measure sets dst to the distances.
func (m *BitMeter) Measure(dst []float32, ids []int32) {
	b := m.rows
	for p, i := range ids {
		row := b.row(b.of(i))
		q := m.Point[:len(row)]
		if !b.overlap {
			differ := 0
			for j, w := range row {
				differ += bits.OnesCount64(w ^ q[j])
			}
			dst[p] = float32(differ)
			continue
		}

		either, both := 0, 0
		for j, w := range row {
			either += bits.OnesCount64(w | q[j])
			both += bits.OnesCount64(w & q[j])
		}
		dst[p] = 0
		if either > 0 {
			dst[p] = float32(either-both) / float32(either)
		}
	}
}
