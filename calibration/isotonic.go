package calibration

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// IsotonicFrom is the least number of held-out points for an isotonic regression after the
// temperature. With fewer points it is worse than the temperature alone (Niculescu-Mizil &
// Caruana 2005 found about 1,000).
const IsotonicFrom = 1000

// identityShare is the weight of the identity in g. It makes g increase strictly, so that
// different probabilities stay different.
const identityShare = 1e-3

// block is an interval of places with one value, sum/count.
type block struct{ low, high, sum, count float64 }

func (b *block) mean() float64 { return b.sum / b.count }

// isotonic returns the knots of g for held-out points.
func (c *Classes) isotonic(held []Answer) [][2]float64 {
	type pair struct{ p, right, weight float64 }
	var pairs []pair
	for _, a := range held {
		p := make([]float64, len(a.Scores))
		c.soften(p, a.Scores)
		for class, v := range p {
			w := a.weight()
			pairs = append(pairs, pair{v, w * a.share(class), w})
		}
	}

	// Pairs at one place become one block, which makes the order of equals irrelevant.
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.p, b.p) })
	var blocks []block
	for _, x := range pairs {
		if last := len(blocks) - 1; last >= 0 && blocks[last].high == x.p {
			blocks[last].sum += x.right
			blocks[last].count += x.weight
		} else {
			blocks = append(blocks, block{x.p, x.p, x.right, x.weight})
		}
	}

	return knotsOf(pool(blocks))
}

// knotsOf returns the knots of the function that has the mean of each block on it.
func knotsOf(blocks []block) [][2]float64 {
	// A finite number of points cannot show a probability of 0 or 1: the ends are smoothed as
	// the targets of Platt are.
	if first := &blocks[0]; first.sum == 0 && len(blocks) > 1 {
		first.sum = first.count * min(1/(first.count+2), blocks[1].mean())
	}
	if last := len(blocks) - 1; last > 0 && blocks[last].mean() == 1 {
		blocks[last].sum = blocks[last].count * max(1-1/(blocks[last].count+2), blocks[last-1].mean())
	}

	// g is constant on a block and linear between blocks. A smoothed end may be beyond its neighbour by
	// a rounding error, as sum/count is not exact.
	var knots [][2]float64
	least := 0.0
	for _, b := range blocks {
		least = max(least, b.mean())
		knots = append(knots, [2]float64{b.low, least})
		if b.high > b.low {
			knots = append(knots, [2]float64{b.high, least})
		}
	}

	return knots
}

// pool joins adjacent blocks until their means ascend: the algorithm of pool adjacent violators,
// which yields the least-squares non-decreasing function in one pass.
func pool(in []block) []block {
	// Means are compared by products, which need no division by small counts.
	var out []block
	for _, b := range in {
		for len(out) > 0 {
			last := out[len(out)-1]
			if last.sum*b.count < b.sum*last.count {
				break
			}
			b = block{last.low, b.high, last.sum + b.sum, last.count + b.count}
			out = out[:len(out)-1]
		}
		out = append(out, b)
	}

	return out
}

// interpolate returns g(p): the line between the knots around p, constant beyond them,
// mixed with the identity.
func interpolate(knots [][2]float64, p float64) float64 {
	at := sort.Search(len(knots), func(i int) bool { return knots[i][0] >= p })
	var v float64
	switch at {
	case 0:
		v = knots[0][1]
	case len(knots):
		v = knots[at-1][1]
	default:
		a := knots[at-1]
		b := knots[at]
		v = a[1] + (b[1]-a[1])*(p-a[0])/(b[0]-a[0])
	}

	return (1-identityShare)*v + identityShare*p
}

// checkKnots returns an error unless places ascend and values do not descend, in [0, 1].
func checkKnots(knots [][2]float64) error {
	for i, k := range knots {
		x := k[0]
		y := k[1]
		switch {
		case !(x >= 0 && x <= 1 && y >= 0 && y <= 1):
			return fmt.Errorf("calibration: knot %d is (%v, %v); it must lie in [0, 1]", i, x, y)
		case i > 0 && (x <= knots[i-1][0] || y < knots[i-1][1]):
			return fmt.Errorf("calibration: knot %d, (%v, %v), does not ascend", i, x, y)
		}
	}

	return nil
}
