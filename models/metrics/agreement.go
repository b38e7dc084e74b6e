package metrics

import (
	"cmp"
	"math"
	"slices"
)

// contingency counts in how many points two partitions meet.
type contingency struct {
	points  float64
	cells   [][3]float64 // points in both, in the class, in the cluster
	classes []float64    // points in each class
	groups  []float64    // points in each cluster
}

// newContingency counts n points in O(n log n).
func newContingency(truth, clusters []int64) (*contingency, error) {
	if err := samePoints(len(truth), len(clusters), "clusters"); err != nil {
		return nil, err
	}
	pairs := make([][2]int64, len(truth))
	for i, c := range truth {
		pairs[i] = [2]int64{c, clusters[i]}
	}
	slices.SortFunc(pairs, func(a, b [2]int64) int {
		return cmp.Or(cmp.Compare(a[0], b[0]),
			cmp.Compare(a[1], b[1]))
	})
	// Sorted pairs lie together, so that a cell is a run.
	sizes := func(x []int64) (values []int64, counts []float64) {
		x = slices.Sorted(slices.Values(x))
		for i, v := range x {
			if i == 0 || v != x[i-1] {
				values = append(values, v)
				counts = append(counts, 0)
			}
			counts[len(counts)-1]++
		}
		return values, counts
	}

	t := &contingency{points: float64(len(truth))}
	classes, classCounts := sizes(truth)
	groups, groupCounts := sizes(clusters)
	t.classes = classCounts
	t.groups = groupCounts
	// Each cell bears the sizes of its class and its group.
	for i, p := range pairs {
		if i == 0 || p != pairs[i-1] {
			a, _ := slices.BinarySearch(classes, p[0])
			b, _ := slices.BinarySearch(groups, p[1])
			t.cells = append(t.cells, [3]float64{0, classCounts[a], groupCounts[b]})
		}
		t.cells[len(t.cells)-1][0]++
	}

	return t, nil
}

// NMI returns the normalized mutual information of two partitions of n points,
//
//	I(C, K) / ½(H(C) + H(K)),  I = Σ_ck n_ck/n · log(n·n_ck / n_c·n_k)
//
// with H the entropies: 1 if they are the same up to names, near 0 if they know
// nothing of each other. Two partitions of one part each are the same. Lengths
// that differ and no points are errors. O(n log n).
func NMI(truth, clusters []int64) (float64, error) {
	t, err := newContingency(truth, clusters)
	if err != nil {
		return 0, err
	}

	entropy := func(counts []float64) (h float64) {
		for _, c := range counts {
			h -= c / t.points * math.Log(c/t.points)
		}
		return h
	}

	var information float64
	for _, c := range t.cells {
		information += c[0] / t.points * math.Log(t.points*c[0]/(c[1]*c[2]))
	}
	// Two partitions without entropy are one part each, and equal.
	h := (entropy(t.classes) + entropy(t.groups)) / 2
	if h == 0 {
		return 1, nil
	}
	return min(1, max(0, information/h)), nil
}

// AdjustedRand returns the adjusted Rand index of two partitions: with the pairs
// of points that are together in both, S, in the classes, A, and in the clusters,
// B, of all N pairs,
//
//	(S − AB/N) / (½(A + B) − AB/N)
//
// 1 if they are the same up to names, 0 on average for random ones (Hubert & Arabie, J.
// Classification 2, 1985). Errors and cost are the same as for NMI.
func AdjustedRand(truth, clusters []int64) (float64, error) {
	t, err := newContingency(truth, clusters)
	if err != nil {
		return 0, err
	}
	pairs := func(n float64) float64 { return n * (n - 1) / 2 }
	var s, a, b float64
	for _, c := range t.cells {
		s += pairs(c[0])
	}
	for _, c := range t.classes {
		a += pairs(c)
	}
	for _, c := range t.groups {
		b += pairs(c)
	}
	if a == s && b == s {
		return 1, nil
	}

	// AB/N is the number of pairs together in both by chance.
	chance := a / pairs(t.points) * b
	return (s - chance) / ((a+b)/2 - chance), nil
}
