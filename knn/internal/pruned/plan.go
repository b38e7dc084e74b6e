package pruned

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/knn/internal/blocks"
)

// Plan says in how many coordinates all pairs are compared, and what a sample of queries showed.
type Plan struct {
	// Columns is the number of principal coordinates in which all pairs are compared. The
	// length of the rest is one column more.
	Columns int
	// Left is the share of the pairs that pass the filter by bytes, and Measured the share
	// that passes the fine codes too, once the k-th distances are known.
	Left, Measured float64
	// Faster estimates the time of comparing all pairs divided by the time of pruning.
	Faster float64
}

// cost is the time that the steps of a search take for a pair of points. The unit is the time
// of one column of a product of bytes, so the numbers depend on the instruction set: the faster
// its products, the dearer is a candidate, as fine codes come from anywhere in memory.
type cost struct {
	scan float64 // to compare the bound with the limit
	left float64 // to filter a candidate by its fine codes
}

// costs returns the costs for the number of bytes that a lane of the product's instruction sums at
// a time: 4, 2 or 1.
func costs() cost {
	switch simd.Bytes().Depth {
	case 4:
		return cost{16, 2500}
	case 2:
		return cost{6, 900}
	}
	return cost{2, 150}
}

// Column returns the time of a column of a product of float32, in the unit of [cost].
func Column() float64 {
	switch simd.Bytes().Depth {
	case 4:
		return 4
	case 2:
		return 1.5
	}
	return 1
}

// Scan returns the time to compare a distance with a limit, in the unit of [cost].
func Scan() float64 { return costs().scan }

// Row returns the time to compare two rows of the given length, which lie anywhere in memory, in
// the unit of [cost].
func Row(bytes int) float64 { return costs().left * (0.5 + float64(bytes)/256) }

// sampled is a sample of queries.
type sampled struct {
	rows   []int32
	limits []float64 // the squared distance of each query's k-th neighbour, or more
}

// sample returns some points as queries, with upper bounds of the squared distances of their k-th
// neighbours.
func (ix *Index) sample(m Meter, k int) sampled {
	c := ix.codes
	last := len(ix.frame.cuts) - 1
	s := sampled{rows: slices.Collect(c.sample())}
	count := len(s.rows)
	s.limits = make([]float64, count)
	width := ix.frame.m + 1
	flat := c.columns(ix.frame.cuts, last, s.rows)
	all := c.columns(ix.frame.cuts, last, nil)

	// The bytes of all coordinates give 2k + 8 candidates for each query, and the k-th smallest of
	// their distances is the limit.
	left := dense.PackAU8(dense.NoTrans, flat, count, width, width)
	right := dense.PackBU8(dense.NoTrans, all, c.n, width, width)
	b := compare(left, right, squares(flat, count, width), squares(all, c.n, width))
	found := b.Search(b.NewWorkspace(), 0, count, min(2*k+8, c.n), nil)

	var idx []int32
	for i, q := range s.rows {
		idx = idx[:0]
		for _, h := range found.Of(i) {
			if h != blocks.NoHit && h.Index() != int(q) {
				idx = append(idx, int32(h.Index()))
			}
		}
		s.limits[i] = ix.kth(m, int(q), idx, k)
	}
	return s
}

// sample yields at most one stripe of points, spread evenly over all.
func (c *codes) sample() iter.Seq[int32] {
	panel := simd.Bytes().MR
	count := min(c.n, 112/panel*panel)
	return func(yield func(int32) bool) {
		for i := range count {
			if !yield(int32((2*i + 1) * c.n / (2 * count))) {
				return
			}
		}
	}
}

// kth returns an upper bound of the squared distance within which k of the points idx lie, or
// infinity if there are fewer than k.
func (ix *Index) kth(m Meter, i int, idx []int32, k int) float64 {
	if len(idx) < k {
		return math.Inf(1)
	}

	found := make([]float64, len(idx))
	m.UpperBound(found, i, idx)
	slices.Sort(found)
	return ix.space.Widen(found[k-1])
}

// share returns the share of the pairs of the sample with other points that a cut leaves.
func (ix *Index) share(s sampled, cut int) float64 {
	c := ix.codes
	width := ix.frame.cuts[cut] + 1
	count := len(s.rows)
	others := c.others(amongBytes)
	flat := c.columns(ix.frame.cuts, cut, s.rows)
	far := c.columns(ix.frame.cuts, cut, others)
	b := compare(
		dense.PackAU8(dense.NoTrans, flat, count, width, width),
		dense.PackBU8(dense.NoTrans, far, len(others), width, width),
		squares(flat, count, width),
		squares(far, len(others), width),
	)

	limits := make([]int32, count)
	for i, d := range s.limits {
		limits[i] = ix.limit(d, 1, 2*c.err[cut])
	}

	var sum int
	w := b.NewWorkspace()
	for j := 0; j < len(others); j += b.Block {
		block := blocks.Span{Lo: j, Hi: min(j+b.Block, len(others))}
		b.Visit(w, blocks.Span{Lo: 0, Hi: count}, block, limits, nil, func(int, int, int32) { sum++ })
	}
	return float64(sum) / (float64(count) * float64(len(others)))
}

// The pairs of a sample of queries are counted with a sample of points.
const (
	amongBytes = 1 << 14 // points for the filter by bytes
	amongFine  = 1 << 12 // points for the filter by fine codes
)

// others returns at most among points, spread evenly over all.
func (c *codes) others(among int) []int32 {
	others := make([]int32, min(c.n, among))
	for j := range others {
		others[j] = int32(j * c.n / len(others))
	}
	return others
}

// measured returns the share of the pairs of the sample with other points that the fine codes leave
// to be measured.
func (ix *Index) measured(s sampled) float64 {
	c := ix.codes
	others := c.others(amongFine)
	norms := c.squares(others)
	counts := make([]int, len(s.rows))
	par.For(len(s.rows), 1, func(i, _ int) {
		q := s.rows[i]
		limit := ix.limit(s.limits[i], fine, 2*c.fine)
		square := c.square(q)
		prods := make([]int32, len(others))
		simd.WordProducts(prods, c.row(int(q)), c.data, c.ld, others)

		for p, norm := range norms {
			if square+norm-2*prods[p] < limit {
				counts[i]++
			}
		}
	})

	sum := 0
	for _, n := range counts {
		sum += n
	}
	return float64(sum) / (float64(len(s.rows)) * float64(len(others)))
}

// choose returns the plan with the cut that costs least for a sample of queries. The error is
// [ErrNothing] where no cut is 1.5 times as fast as comparing all pairs: the estimates are rough.
func (ix *Index) choose(m Meter, s Settings) (Plan, error) {
	if s.Columns > 0 {
		return Plan{Columns: ix.frame.cuts[0]}, nil
	}
	queries := ix.sample(m, s.K)
	c := costs()
	measured := ix.measured(queries)

	best := Plan{}
	least := math.Inf(1)
	for cut, columns := range ix.frame.cuts {
		if columns > mostCompared {
			break
		}

		left := ix.share(queries, cut)

		// A pair is a candidate for either of its ends, and limits are too high at first.
		const ends = 2
		time := float64(columns+1) + c.scan + ends*(left*c.left+measured*s.Refined)
		if time < least {
			least = time
			best = Plan{columns, left, measured, s.Plain / time}
		}
	}

	if !(best.Faster > 1.5) {
		return best, fmt.Errorf(
			"%w: %.2g %% of the pairs would be left after %d principal coordinates, %.2g %% after %d",
			ErrNothing, 100*best.Left, best.Columns, 100*measured, ix.frame.m)
	}
	return best, nil
}

// limit returns an integer above the squared distance of the codes of any two points whose vectors
// are at most √d apart. steps is the number of steps of these codes in a step of the bytes, and e
// the sum of the errors of the two codes.
func (ix *Index) limit(d, steps, e float64) int32 {
	f := ix.frame
	rounding := 1 + 0x1p-50*float64(f.d+8)
	t := math.Sqrt(d*rounding)*(f.factor/f.step)*steps + e
	if t *= t * (1 + 0x1p-40); t < math.MaxInt32-1 {
		return int32(t) + 1
	}
	return math.MaxInt32
}
