package active

import (
	"container/heap"
	"slices"
)

// The rules Typical and Cover know points and their neighbours only, and so serve before the first
// label. They look at no component: a component is a cluster to the one, and has its own balls for the
// other.

// minCluster is the smallest cluster that Typical asks in, as in Hacohen, Dekel and Weinshall, section 3.2:
// the most typical point of three is typical of nothing.
const minCluster = 5

// chooseTypical takes the most typical point of the cluster with the fewest labels, the largest of
// equals, again and again. The labels of p and the points chosen before count. Clusters of fewer than
// minCluster points come after all others.
func (p *Pool) chooseTypical(s *Settings) []Choice {
	taken := p.taken()
	count := 0
	for _, c := range p.Clusters {
		count = max(count, int(c)+1)
	}

	// Points by falling typicality, cluster by cluster; equals in the order of their numbers.
	members := make([][]int32, count)
	sizes := make([]int, count)
	labels := make([]int, count)
	for i, c := range p.Clusters {
		if c < 0 {
			continue
		}
		sizes[c]++
		if !taken[i] {
			members[c] = append(members[c], int32(i))
		}
	}
	for _, i := range p.Labeled {
		if c := p.Clusters[i]; c >= 0 {
			labels[c]++
		}
	}
	for _, m := range members {
		slices.SortStableFunc(m, func(a, b int32) int { return compareFalling(p.Typicality[a], p.Typicality[b]) })
	}

	out := make([]Choice, 0, s.Count)
	for len(out) < s.Count {
		best := -1
		for c, m := range members {
			if len(m) > 0 && (best < 0 || before(c, best, sizes, labels)) {
				best = c
			}
		}
		if best < 0 {
			break
		}

		i := members[best][0]
		members[best] = members[best][1:]
		labels[best]++
		out = append(out, Choice{Point: int(i), Rule: Typical, Component: p.Components.Of[i], Score: p.Typicality[i]})
	}

	// Points of no cluster, as those of tiny components, are what is left.
	for i, c := range p.Clusters {
		if len(out) < s.Count && c < 0 && !taken[i] {
			out = append(out, Choice{Point: i, Rule: Typical, Component: p.Components.Of[i], Score: p.Typicality[i]})
		}
	}
	return out
}

// before tells whether cluster a is asked before cluster b.
func before(a, b int, sizes, labels []int) bool {
	if small := sizes[a] < minCluster; small != (sizes[b] < minCluster) {
		return !small
	}
	if labels[a] != labels[b] {
		return labels[a] < labels[b]
	}
	return sizes[a] > sizes[b]
}

// compareFalling orders the larger number first.
func compareFalling(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// chooseCover takes the point whose ball, itself and its neighbours in the graph, has the most points
// outside the balls of the labels and of the points chosen before. A gain only falls, so that a queue of
// upper bounds finds the largest without measuring all of them again (lazy greedy, Minoux 1978).
func (p *Pool) chooseCover(s *Settings) []Choice {
	taken := p.taken()
	covered := make([]bool, p.Len())
	cover := func(i int) {
		covered[i] = true
		cols, _ := p.Weights.Row(i)
		for _, j := range cols {
			covered[j] = true
		}
	}
	for _, i := range p.Labeled {
		cover(i)
	}

	gain := func(i int) float64 {
		cols, _ := p.Weights.Row(i)
		sum := 0.0
		if !covered[i] {
			sum = 1
		}
		for _, j := range cols {
			if !covered[j] && int(j) != i {
				sum++
			}
		}
		return sum
	}
	var q bounds
	for i := range p.Len() {
		if !taken[i] {
			q = append(q, bound{int32(i), gain(i)})
		}
	}
	heap.Init(&q)

	out := make([]Choice, 0, s.Count)
	for len(out) < s.Count && len(q) > 0 {
		top := q[0]
		i := int(top.point)
		// The bound of the first was too large: it goes back with its gain of now.
		if now := gain(i); now < top.most {
			q[0].most = now
			heap.Fix(&q, 0)
			continue
		}

		heap.Pop(&q)
		cover(i)
		out = append(out, Choice{Point: i, Rule: Cover, Component: p.Components.Of[i], Score: top.most})
	}
	return out
}
