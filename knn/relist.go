package knn

import (
	"context"
	"fmt"
	"slices"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn/internal/topk"
	"github.com/bigfit/bigfit/sparse"
)

// Every search measures the lists that it returns in float64, each distance by itself. The distances
// of a list follow from the points and the neighbours' numbers then, and the lists of NN-descent
// follow from the points and the state of the index. Files leave out what follows.

// Relist returns the neighbours index (n×k, row-major) of all n points of x with their distances,
// measured as searches measure the lists that they return. It costs O(nkd) and 12nk bytes. index is
// kept. An index outside of x is an error.
func Relist(x data.Points, m Metric, k int, index []int32) (*Neighbors, error) {
	n, _ := x.Dims()
	if k < 1 || len(index) != n*k {
		return nil, fmt.Errorf("knn: neighbor_indices has %d elements for %d neighbours of each of %d points",
			len(index), k, n)
	}
	if p := slices.IndexFunc(index, func(j int32) bool { return j < 0 || int(j) >= n }); p >= 0 {
		return nil, fmt.Errorf("knn: element (%d, %d) of neighbor_indices is %d; it must be another point of %d",
			p/k, p%k, index[p], n)
	}

	out := &Neighbors{K: k, Index: index, Distance: make([]float64, n*k)}
	err := relist(x, m, given(out), func(i int, list []topk.Pair) {
		_, distance := out.Row(i)
		for p, b := range list {
			distance[p] = b.Dist
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Lists returns the lists of k neighbours that the index of NN-descent on x with this state gives for
// its own points. k is at most Stats.K. It costs O(n·Width·d), and beside the lists 8 bytes a point.
// A state that cannot belong to x is an error; its order must be one: see [State.Check].
func (s *State) Lists(x data.Points, m Metric, k int) (*Neighbors, error) {
	if err := s.gives(x, k); err != nil {
		return nil, err
	}
	n, _ := x.Dims()
	out := newNeighbors(n, k)
	err := relist(x, m, s.lister(), func(i int, list []topk.Pair) {
		topk.Sort(list)
		out.set(i, list[:k])
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// gives returns an error unless the state can give lists of k neighbours of the points x.
func (s *State) gives(x data.Points, k int) error {
	if s == nil || s.Method != NNDescent || s.Stats == nil {
		return fmt.Errorf("knn: there is no index of NN-descent that holds the lists of neighbours")
	}
	if n, _ := x.Dims(); n != len(s.Order) || s.Stats.Width < 1 || n*s.Stats.Width != len(s.Neighbors) {
		return fmt.Errorf("knn: an index of NN-descent of %d points with %d neighbours in all for %d points",
			len(s.Order), len(s.Neighbors), n)
	}
	if k < 1 || k > min(s.Stats.K, s.Stats.Width) {
		return fmt.Errorf("knn: lists of %d neighbours of an index of %d", k, s.Stats.K)
	}
	for p, v := range s.Neighbors {
		if v < 0 && p%s.Stats.Width < k || int(v) >= len(s.Order) {
			return fmt.Errorf("knn: element (%d, %d) of index_neighbors is %d of %d points", p/s.Stats.Width,
				p%s.Stats.Width, v, len(s.Order))
		}
	}
	return nil
}

// Follow says what of lists follows from other data.
type Follow int

const (
	// FollowsNothing says that a distance differs from the one that [Relist] measures.
	FollowsNothing Follow = iota
	// FollowDistances says that [Relist] gives the distances, in every bit.
	FollowDistances
	// FollowLists says that [State.Lists] gives the neighbours and distances, in every bit.
	FollowLists
)

// Follows says what of nb, lists of the points x, follows from the points and from the state of their
// index, which may be nil. It costs as much as [Relist] and [State.Lists], and no memory of their size.
func Follows(nb *Neighbors, x data.Points, m Metric, s *State) (Follow, error) {
	n, _ := x.Dims()
	if nb.Len() != n || slices.Contains(nb.Index, -1) {
		return FollowsNothing, nil
	}
	same := func(l lister, sorted bool) (bool, error) {
		differs := make([]bool, n)
		err := relist(x, m, l, func(i int, list []topk.Pair) {
			if sorted {
				topk.Sort(list)
			}
			index, distance := nb.Row(i)
			for p, j := range index {
				differs[i] = differs[i] || list[p].Index != j || list[p].Dist != distance[p]
			}
		})
		return err == nil && !slices.Contains(differs, true), err
	}

	if s.gives(x, nb.K) == nil {
		if ok, err := same(s.lister(), true); ok || err != nil {
			return FollowLists, err
		}
	}
	if ok, err := same(given(nb), false); ok || err != nil {
		return FollowDistances, err
	}
	return FollowsNothing, nil
}

// A lister names the point that is measured i-th, and appends its neighbours to dst.
type lister func(dst []int32, i int) (point int, list []int32)

// given lists what nb does.
func given(nb *Neighbors) lister {
	return func(dst []int32, i int) (int, []int32) {
		index, _ := nb.Row(i)
		return i, append(dst, index...)
	}
}

// lister lists the neighbours in the index, from the first point of its order on: neighbours of a
// point are near it in this order.
func (s *State) lister() lister {
	return func(dst []int32, i int) (int, []int32) {
		for _, v := range s.Neighbors[i*s.Stats.Width : (i+1)*s.Stats.Width] {
			if v >= 0 {
				dst = append(dst, s.Order[v])
			}
		}
		return int(s.Order[i]), dst
	}
}

// relist measures the lists of all points of x in float64, in parallel, and hands each one to done. A
// list is valid until done returns.
func relist(x data.Points, m Metric, lists lister, done func(point int, list []topk.Pair)) error {
	if z, ok := x.(*sparse.CSR); ok {
		if err := checkBits(x, m); err != nil {
			return err
		}
		x = m.entries(z)
	}
	newMeter, err := meters(x, m)
	if err != nil {
		return err
	}

	return measureLists(context.Background(), x, newMeter, lists, done)
}

// measureLists is relist for points that are as newMeter measures them.
func measureLists(ctx context.Context, x data.Points, newMeter func() meter, lists lister,
	done func(point int, list []topk.Pair)) error {
	n, _ := x.Dims()
	return inStripes(ctx, n, relistStripe, nil, func() func(lo, hi int) {
		m := &listMeasurer{meter: newMeter()}
		var current, ahead []int32
		return func(lo, hi int) {
			var point int
			point, current = lists(current[:0], lo)
			for i := lo; i < hi; i++ {
				// The memory brings the points of the next list while this one is measured.
				next := 0
				if i+1 < hi {
					next, ahead = lists(ahead[:0], i+1)
					ahead = append(ahead, int32(next))
					data.Prefetch(x, ahead)
					ahead = ahead[:len(ahead)-1]
				}

				m.rows = current
				m.load(x, point)
				done(point, m.measure())
				point = next
				current, ahead = ahead, current
			}
		}
	})
}

// relistStripe is the number of points that a goroutine measures at a time.
const relistStripe = 256
