package audit

import (
	"cmp"
	"math"
	"slices"

	"github.com/bigfit/bigfit/knn"
)

const (
	// FewestPairs is the number of pairs from which on the order is judged.
	FewestPairs = 20
	// SurelyOrdered and VisiblyOrdered are the largest p value and the least distance of the distributions of an
	// order that is not random.
	SurelyOrdered  = 0.001
	VisiblyOrdered = 0.05
)

// Order tells whether the order of the rows has to do with what the points are: whether the row numbers of
// neighbours are nearer to each other, or farther, than those of any two points.
//
// Pairs are a matching: of all points whose nearest neighbour is strictly nearer than the second, the pair with
// the smallest distance is taken first, and each point is in one pair at most. Which pairs are taken depends on
// the points and not on their order, so that in a random order the gap g = |i−j| of a pair has the distribution of
// two rows drawn without replacement,
//
//	F(t) = P(g ≤ t) = t(2n−t−1)/(n(n−1)), t = 1 … n−1
//
// and no permutation has to be tried. D is the largest difference between F and the share of the m pairs with a
// gap of at most t (Kolmogorov & Smirnov), and
//
//	p = 2 Σ (−1)^(j−1) exp(−2j²λ²), λ = (√m + 0.12 + 0.11/√m)·D (Stephens 1970)
//
// Pairs that share no point are nearly independent, which the p value supposes.
type Order struct {
	Pairs int
	D, P  float64
	// Gaps are the gaps of the pairs, ascending.
	Gaps []int
}

// Sorted tells whether the order is not random: p ≤ [SurelyOrdered] and D ≥ [VisiblyOrdered].
func (o *Order) Sorted() bool { return o != nil && o.P <= SurelyOrdered && o.D >= VisiblyOrdered }

// RandomGap returns F(t), the probability that two of n rows in random order are at most t apart.
func RandomGap(t, n int) float64 {
	return float64(t) * float64(2*n-t-1) / (float64(n) * float64(n-1))
}

// order compares the gaps of neighbours with those of any two points.
func (r *run) order() {
	gaps := matchedGaps(r.lists, r.row)
	if len(gaps) < FewestPairs {
		return
	}
	slices.Sort(gaps)
	o := &Order{Pairs: len(gaps), Gaps: gaps}
	m := float64(len(gaps))
	for q := 0; q < len(gaps); {
		next := q
		for next < len(gaps) && gaps[next] == gaps[q] {
			next++
		}
		// Both distributions are steps: they differ most at a gap, or just below it.
		o.D = max(o.D, math.Abs(float64(next)/m-RandomGap(gaps[q], r.out.Points)),
			math.Abs(float64(q)/m-RandomGap(gaps[q]-1, r.out.Points)))
		q = next
	}
	root := math.Sqrt(m)
	o.P = kolmogorov((root + 0.12 + 0.11/root) * o.D)
	r.out.Order = o
}

// matchedGaps returns the gaps of the pairs of [Order]; row gives the number of a point in the order.
func matchedGaps(lists *knn.Neighbors, row func(i int) int) []int {
	n := lists.Len()
	var from []int32
	for i := range n {
		_, distance := lists.Row(i)
		// Ties go to the smaller number, which would tell the order.
		if len(distance) < 2 || distance[0] < distance[1] {
			from = append(from, int32(i))
		}
	}
	slices.SortFunc(from, func(a, b int32) int {
		_, da := lists.Row(int(a))
		_, db := lists.Row(int(b))
		return cmp.Or(cmp.Compare(da[0], db[0]), cmp.Compare(a, b))
	})

	taken := make([]bool, n)
	var gaps []int
	for _, i := range from {
		index, _ := lists.Row(int(i))
		j := index[0]
		if taken[i] || taken[j] {
			continue
		}
		taken[i] = true
		taken[j] = true
		gap := row(int(i)) - row(int(j))
		gaps = append(gaps, max(gap, -gap))
	}
	return gaps
}

// kolmogorov returns the probability that the statistic of Kolmogorov & Smirnov is at least λ.
func kolmogorov(lambda float64) float64 {
	if lambda < 0.2 { // the series converges slowly, and the probability is 1 to 12 digits
		return 1
	}
	var sum float64
	sign := 1.0
	for j := 1.0; j <= 100; j++ {
		term := math.Exp(-2 * j * j * lambda * lambda)
		sum += sign * term
		if term < 1e-18 {
			break
		}
		sign = -sign
	}
	return max(0, min(1, 2*sum))
}
