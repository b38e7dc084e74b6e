package audit

import (
	"cmp"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
)

// RareShare is the share of the labels that a class has at least, in shares of an even division, so as not to be
// rare.
const RareShare = 0.1

// Classes compares classes by their sizes and by their neighbourhoods.
type Classes struct {
	Labels *data.Labels // of the points as given
	Count  []int        // labels of each class, in the order of Labels.Classes
	Total  int          // labels
	// Rare are the classes with fewer than [RareShare]·Total/c labels, of c classes, the smallest first. Classes
	// without a label are among them.
	Rare []int32

	// K is the number of labeled neighbours that are looked at; 0 if there are none.
	K int
	// Mixed are the pairs of classes whose points are neighbours, by their Share.
	Mixed []MixedPair
	// Confused counts the labeled points by their class and by the answer of their K labeled neighbours: the
	// most frequent class, of ties the class of the nearest.
	Confused []Confusion
	Right    int // points whose answer is their class
}

// MixedPair is two classes that mingle.
type MixedPair struct {
	A, B int32 // A < B
	// Links counts the neighbours of class B of points of class A, and the reverse. Share is their part of all
	// labeled neighbours of both classes.
	Links int
	Share float64
}

// Confusion counts points of class Given that their neighbours take for class Answer.
type Confusion struct {
	Given, Answer int32
	Count         int
}

// classesOf counts labels. lists has the labeled neighbours of the labeled points, numbered in their order, whose
// classes are in class; nil if there are none.
func classesOf(labels *data.Labels, lists *knn.Neighbors, class []int32) *Classes {
	c := len(labels.Classes)
	out := &Classes{Labels: labels, Count: make([]int, c)}
	for _, v := range labels.Index {
		if v != data.Unlabeled {
			out.Count[v]++
			out.Total++
		}
	}
	for v, count := range out.Count {
		if float64(count)*float64(c) < RareShare*float64(out.Total) {
			out.Rare = append(out.Rare, int32(v))
		}
	}
	slices.SortStableFunc(out.Rare, func(a, b int32) int { return cmp.Compare(out.Count[a], out.Count[b]) })
	if lists == nil {
		return out
	}

	out.K = lists.K
	links := map[[2]int32]int{}
	confused := map[[2]int32]int{}
	points := make([]int, c)
	votes := make([]int, c)
	for q, given := range class {
		index, _ := lists.Row(q)
		points[given]++
		for _, j := range index {
			if other := class[j]; other != given {
				links[[2]int32{min(given, other), max(given, other)}]++
			}
		}
		answer := vote(index, class, votes)
		confused[[2]int32{given, answer}]++
		if answer == given {
			out.Right++
		}
	}

	for pair, count := range links {
		of := lists.K * (points[pair[0]] + points[pair[1]])
		out.Mixed = append(out.Mixed, MixedPair{pair[0], pair[1], count, float64(count) / float64(of)})
	}
	slices.SortFunc(out.Mixed, func(a, b MixedPair) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	for pair, count := range confused {
		out.Confused = append(out.Confused, Confusion{pair[0], pair[1], count})
	}
	slices.SortFunc(out.Confused, func(a, b Confusion) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Given, b.Given), cmp.Compare(a.Answer, b.Answer))
	})
	return out
}

// vote returns the most frequent class of neighbours, the nearest first; of ties the class of the nearest. votes is
// zero for all classes, before and after.
func vote(index, class []int32, votes []int) int32 {
	for _, j := range index {
		votes[class[j]]++
	}
	best := class[index[0]]
	for _, j := range index {
		if votes[class[j]] > votes[best] {
			best = class[j]
		}
	}
	for _, j := range index {
		votes[class[j]] = 0
	}
	return best
}
