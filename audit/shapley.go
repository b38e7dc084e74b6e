package audit

import (
	"cmp"
	"slices"

	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/knn"
)

// Worth is the value of each label: see [Shapley].
type Worth struct {
	Rows  []int     // the labeled points, ascending
	Value []float64 // of their labels, in the order of Rows
	K     int       // neighbours that vote
	Lists int       // K*, the neighbours that are looked at
	// Negative are positions in Rows of the labels with a negative value, the most negative first.
	Negative []int
}

// Shapley returns the value of each of n labels for the classification of the others by their neighbours: Data
// Shapley of the unweighted k-nearest-neighbour classifier (Jia et al. 2019, Theorem 1), with every labeled point
// as a test point in turn and all others as its training points. The utility of a test point t is the share of
// its k nearest training points that have its class. With its N = n−1 training points by distance, and
// eⱼ = 1 if the j-th has the class of t, else 0, the value of the j-th is
//
//	s_N = min(k,N)/N · e_N/k, s_j = s_{j+1} + (e_j − e_{j+1})/k · min(k,j)/j
//
// lists has the K* nearest for each point, k ≤ K* ≤ N, and class their classes. From j = K* on each term is
// (e_j − e_{j+1})/j, so that with K* < N
//
//	s_{K*} = e_{K*}/K* − Σ_{j>K*} e_j (1/(j−1) − 1/j)
//
// where the e_j that are not in the lists are replaced by their mean: the share p of the other points with the
// class of t that are not in the list. The sum is then p (1/K* − 1/N). The error is at most 1/K* a test point, the
// bound of Theorem 2 there, which puts s_{K*} = 0. Points beyond the lists get nothing.
//
// The value of a label is the sum over all test points, in units of points that are classified right: the values
// of all labels add up to the sum of all utilities if K* = N. A label that does more harm than good is negative.
// The cost is n·K*.
func Shapley(lists *knn.Neighbors, class []int32, k int) []float64 {
	n := lists.Len()
	k = min(k, lists.K)
	size := map[int32]int{}
	for _, c := range class {
		size[c]++
	}

	// Terms are computed at once and added in the order of the test points, whatever the number of threads.
	terms := make([]float64, n*lists.K)
	par.For(n, 1024, func(lo, hi int) {
		for t := lo; t < hi; t++ {
			index, _ := lists.Row(t)
			shapleyOf(terms[t*lists.K:(t+1)*lists.K], index, class, k, testPoint{class[t], n - 1, size[class[t]] - 1})
		}
	})
	value := make([]float64, n)
	for t := range n {
		index, _ := lists.Row(t)
		for p, j := range index {
			value[j] += terms[t*lists.K+p]
		}
	}
	return value
}

// testPoint is a point that training points are valued for.
type testPoint struct {
	class    int32
	training int // training points
	alike    int // of them of its class
}

// shapleyOf writes to dst the values of the training points index for a test point.
func shapleyOf(dst []float64, index, class []int32, k int, to testPoint) {
	e := func(p int) float64 {
		if class[index[p]] == to.class {
			return 1
		}
		return 0
	}
	last := len(index) - 1
	found := 0.0
	for p := range index {
		found += e(p)
	}
	length := float64(len(index))
	dst[last] = e(last) / length
	if rest := to.training - len(index); rest > 0 {
		share := (float64(to.alike) - found) / float64(rest)
		dst[last] -= share * (1/length - 1/float64(to.training))
	}
	// Place p is the (p+1)-th neighbour.
	for p := last - 1; p >= 0; p-- {
		dst[p] = dst[p+1] + (e(p)-e(p+1))/float64(max(k, p+1))
	}
}

// worthOf values the labels of rows.
func worthOf(rows []int, lists *knn.Neighbors, class []int32, k int) *Worth {
	out := &Worth{Rows: slices.Clone(rows), Value: Shapley(lists, class, k), K: min(k, lists.K), Lists: lists.K}
	for q, v := range out.Value {
		if v < 0 {
			out.Negative = append(out.Negative, q)
		}
	}
	slices.SortStableFunc(out.Negative, func(a, b int) int { return cmp.Compare(out.Value[a], out.Value[b]) })
	return out
}
