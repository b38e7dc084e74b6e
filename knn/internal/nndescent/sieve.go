package nndescent

import (
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// A coordinates is a meter of rows of numbers.
type coordinates interface {
	Meter
	// Columns returns the number of coordinates.
	Columns() int
	// Load writes the rows with the numbers ids to dst, one after the other.
	Load(dst []float32, ids []int32)
	// Correct changes the squared Euclidean distances dist of the loaded row a from the loaded rows rest to the
	// distances of the meter.
	Correct(dist []float32, a int, rest []int32)
}

// A sieve finds the near pairs among rows of float32 by their inner products, ‖x‖² + ‖y‖² − 2⟨x, y⟩. That takes a fraction of
// the time of as many differences, which measure only what may be below a limit.
type sieve struct {
	d           int
	flat        []float32 // the rows, without gaps, and zeros up to a whole tile
	norms       []float32 // squared norms, lowered by the largest rounding of a distance
	left, right *dense.Packed32
	products    []float32 // of a stripe of rows with all rows
	scratch     dense.Scratch
	hits        []int32
	dist        []float32
}

// sieveStripe is the least number of rows whose products are computed at a time: the products and the
// rows stay in the second-level cache.
const sieveStripe = 48

// load loads rows.
func (s *sieve) load(m coordinates, ids []int32) {
	d := m.Columns()
	if s.left == nil || s.d != d || len(s.norms) < len(ids) {
		rows := max(len(ids), carveLeaf)
		s.d = d
		s.left = dense.NewPackedA32(rows, d)
		s.right = dense.NewPackedB32(rows, d)
		s.norms = make([]float32, rows)
		s.flat = make([]float32, rows*d)
		s.hits = make([]int32, rows)
		s.dist = make([]float32, rows)
		s.products = make([]float32, s.stripe()*rows)
	}
	count := len(ids)
	m.Load(s.flat[:count*d], ids)
	clear(s.flat[count*d : min(count+s.left.Panel()+s.right.Panel(), len(s.norms))*d])
	for _, side := range []*dense.Packed32{s.left, s.right} {
		panel := side.Panel()
		side.Set(0, min((count+panel-1)/panel*panel, len(s.norms)), s.flat, d)
	}

	lower := 1 - rounding(d)
	for i := range count {
		s.norms[i] = squaredNorm(s.flat[i*d:][:d]) * lower
	}
}

// rounding bounds the error of ‖x‖² + ‖y‖² − 2⟨x, y⟩ in float32, relative to ‖x‖² + ‖y‖².
func rounding(d int) float32 { return float32(2*d+8) * 0x1p-24 }

func squaredNorm(x []float32) (sum float32) {
	for _, v := range x {
		sum += v * v
	}
	return sum
}

// stripe is the number of rows whose products are computed at a time, whole panels.
func (s *sieve) stripe() int {
	panel := s.left.Panel()
	return (sieveStripe + panel - 1) / panel * panel
}

// sift calls near(a, rest, dist) for every one of the first count rows in turn, with all later rows whose distances
// are at most limits[a] or their own limit, and some others, and with the distances. near may lower limits.
func (s *sieve) sift(m coordinates, count int, limits []float32, near func(a int, rest []int32, dist []float32)) {
	d := s.d
	all := len(s.norms)
	stripe := s.stripe()
	block := s.right.Panel()
	for from := 0; from < count; from += stripe {
		to := min(from+stripe, count)
		first := from / block * block // products with earlier rows are known
		dense.Mul32(s.left, from, to, s.right, first, count, s.products, all, &s.scratch)
		for a := from; a < min(to, count-1); a++ {
			c := s.products[(a-from)*all+a+1-first:][:count-a-1]
			hits := simd.ScanFloats(s.hits, c, s.norms[a+1:count], limits[a+1:count], s.norms[a], limits[a])
			if len(hits) == 0 {
				continue
			}
			for p := range hits {
				hits[p] += int32(a + 1)
			}
			dist := s.dist[:len(hits)]
			simd.SquaredDistances32(dist, s.flat[a*d:][:d], s.flat, d, hits)
			m.Correct(dist, a, hits)
			near(a, hits, dist)
		}
	}
}

// above returns the next number after a distance v, or infinity: a distance below it is at most v.
func above(v float32) float32 {
	const infinity = 0xff << 23
	return math.Float32frombits(min(math.Float32bits(v)+1, infinity))
}

// Columns returns the number of coordinates.
func (m *FloatMeter) Columns() int { return m.rows.d }

// Load copies rows.
func (m *FloatMeter) Load(dst []float32, ids []int32) {
	d := m.rows.d
	for p, i := range ids {
		if next := p + ahead; next < len(ids) {
			simd.PrefetchRows(m.rows.flat, d, ids[next:next+1], d)
		}
		copy(dst[p*d:][:d], m.rows.flat[int(i)*d:])
	}
}

// Correct leaves distances as they are.
func (m *FloatMeter) Correct([]float32, int, []int32) {}

// Columns returns the number of coordinates.
func (m *HalfMeter) Columns() int { return m.rows.d }

// Load widens rows.
func (m *HalfMeter) Load(dst []float32, ids []int32) {
	d := m.rows.d
	m.apart = slices.Grow(m.apart[:0], len(ids))[:len(ids)]
	for p, i := range ids {
		m.apart[p] = m.load(dst[p*d:(p+1)*d], i, ids[min(p+ahead, len(ids)-1)])
	}
}

// Correct sets the distances of rows of scale 0 to [Apart].
func (m *HalfMeter) Correct(dist []float32, a int, rest []int32) {
	if m.rows.scale == nil {
		return
	}
	for p, b := range rest {
		if m.apart[a] || m.apart[b] {
			dist[p] = Apart
		}
	}
}
