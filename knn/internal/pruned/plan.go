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

// Plan says in how many coordinates all pairs are compared, and what the sample showed.
type Plan struct {
	// Columns is the number of principal coordinates of which all pairs are compared; the
	// length of the rest is one more.
	Columns int
	// Left and Measured are the shares of the pairs that the comparison leaves, and that
	// are measured, once the k-th distances are known.
	Left, Measured float64
	// Faster is by what factor this takes less time than comparing all pairs, about.
	Faster float64
}

// cost is the time that steps of a search take for a pair of points, in that of a column of
// a product of bytes, which depends on the instructions in use.
type cost struct {
	scan float64 // to look at the bound
	left float64 // to compare a pair that is left in all coordinates that are kept
}

func costs() cost {
	switch simd.Bytes().Depth {
	case 4:
		return cost{16, 2500}
	case 2:
		return cost{6, 900}
	}
	return cost{2, 150}
}

// Column returns the time of a column of a product of float32 in that of one of bytes.
func Column() float64 {
	switch simd.Bytes().Depth {
	case 4:
		return 4
	case 2:
		return 1.5
	}
	return 1
}

// Scan returns the time of looking at a distance, in that of a column of bytes.
func Scan() float64 { return costs().scan }

// Row returns the time of comparing rows of so many bytes in any order, in that of a column
// of bytes.
func Row(bytes int) float64 { return costs().left * (0.5 + float64(bytes)/256) }

// sampled is the queries of a sample.
type sampled struct {
	rows   []int32
	limits []float64 // of squared distances: those of the k-th neighbours
}

// sample finds how far the k-th neighbours of some points are, or somewhat farther.
func (ix *Index) sample(m Meter, k int) sampled {
	c := ix.codes
	last := len(ix.frame.cuts) - 1
	s := sampled{rows: slices.Collect(c.sample())}
	count := len(s.rows)
	s.limits = make([]float64, count)
	width := ix.frame.m + 1
	flat := c.columns(ix.frame.cuts, last, s.rows)
	all := c.columns(ix.frame.cuts, last, nil)
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

// sample yields some points, spread over all, no more than a stripe.
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

// kth returns the squared distance within which k of the points idx lie, infinity if they
// are fewer.
func (ix *Index) kth(m Meter, i int, idx []int32, k int) float64 {
	if len(idx) < k {
		return math.Inf(1)
	}
	found := make([]float64, len(idx))
	m.Bound(found, i, idx)
	slices.Sort(found)
	return ix.space.Widen(found[k-1])
}

// share returns the share of pairs of the sample and other points that a cut leaves.
func (ix *Index) share(s sampled, cut int) float64 {
	c := ix.codes
	width := ix.frame.cuts[cut] + 1
	count := len(s.rows)
	others := c.others(amongBytes)
	flat := c.columns(ix.frame.cuts, cut, s.rows)
	far := c.columns(ix.frame.cuts, cut, others)
	b := compare(dense.PackAU8(dense.NoTrans, flat, count, width, width), dense.PackBU8(dense.NoTrans, far,
		len(others), width, width),
		squares(flat, count, width), squares(far, len(others), width))
	limits := make([]int32, count)
	for i, d := range s.limits {
		limits[i] = ix.limit(d, 1, 2*c.err[cut])
	}
	var sum int
	w := b.NewWorkspace()
	for j := 0; j < len(others); j += b.Block {
		b.Visit(w, blocks.Span{Lo: 0, Hi: count}, blocks.Span{Lo: j, Hi: min(j+b.Block, len(others))}, limits,
			nil, func(int, int, int32) { sum++ })
	}
	return float64(sum) / (float64(count) * float64(len(others)))
}

// Pairs of a sample are counted with so many points: by bytes, and by fine codes.
const (
	amongBytes = 1 << 14
	amongFine  = 1 << 12
)

// others returns so many points, spread over all.
func (c *codes) others(among int) []int32 {
	others := make([]int32, min(c.n, among))
	for j := range others {
		others[j] = int32(j * c.n / len(others))
	}
	return others
}

// measured returns the share of pairs of the sample and other points that the fine codes
// leave to be measured.
func (ix *Index) measured(s sampled) float64 {
	c := ix.codes
	others := c.others(amongFine)
	norms := c.squares(others)
	counts := make([]int, len(s.rows))
	par.For(len(s.rows), 1, func(i, _ int) {
		q := s.rows[i]
		limit, own := ix.limit(s.limits[i], fine, 2*c.fine), c.square(q)
		prods := make([]int32, len(others))
		simd.WordProducts(prods, c.row(int(q)), c.data, c.ld, others)
		for p, norm := range norms {
			if own+norm-2*prods[p] < limit {
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

// choose takes the cut that costs least by a sample of queries.
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
		// Both points of a pair look for neighbours, and their limits begin too high.
		const sides = 2
		time := float64(columns+1) + c.scan + sides*(left*c.left+measured*s.Refined)
		if time < least {
			least = time
			best = Plan{columns, left, measured, s.Plain / time}
		}
	}

	if !(best.Faster > 1.5) {
		return best, fmt.Errorf("%w: %.2g %% of the pairs would be left after %d principal "+
			"coordinates, %.2g %% after %d",
			ErrNothing, 100*best.Left, best.Columns, 100*measured, ix.frame.m)
	}
	return best, nil
}

// limit returns the limit below which lie the squared distances of the codes of all points
// whose vectors are as near as √d, where a step has so many of the codes and their errors
// are e together.
func (ix *Index) limit(d, steps, e float64) int32 {
	f := ix.frame
	rounding := 1 + 0x1p-50*float64(f.d+8)
	t := math.Sqrt(d*rounding)*(f.factor/f.step)*steps + e
	if t *= t * (1 + 0x1p-40); t < math.MaxInt32-1 {
		return int32(t) + 1
	}
	return math.MaxInt32
}
