package knn

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
)

// relisted are points, metrics and methods whose lists are found and then measured again.
func relisted(t *testing.T) map[string]struct {
	x data.Points
	m Metric
} {
	t.Helper()
	single := synthetic.Manifold(900, 12, 4, 0.05, 3)
	double := &data.Dense[float64]{Rows: single.Rows, Cols: single.Cols}
	for _, v := range single.Data {
		double.Data = append(double.Data, float64(v))
	}
	return map[string]struct {
		x data.Points
		m Metric
	}{
		"float32":        {single, Euclidean},
		"float64":        {double, Euclidean},
		"cosine":         {single, Cosine},
		"city blocks":    {double, Manhattan},
		"inner products": {double, InnerProduct},
		"sparse":         {data.ToSparse(double), Euclidean},
	}
}

// Lists of every method follow from the points, and lists of NN-descent from its state, bit by bit.
func TestListsFollow(t *testing.T) {
	for name, c := range relisted(t) {
		for _, method := range []Method{Brute, NNDescent} {
			if method.Supports(c.m, c.x) != nil {
				continue // the method does not have this metric
			}
			t.Run(name+" "+method.String(), func(t *testing.T) {
				ix, err := NewIndex(c.x, method, &DescentSettings{Settings: Settings{Metric: c.m}})
				if err != nil {
					t.Fatal(err)
				}
				nb, err := ix.Self(context.Background(), 7)
				if err != nil {
					t.Fatal(err)
				}

				st := StateOf(ix)
				want := FollowDistances
				if method == NNDescent {
					want = FollowLists
				}
				if got, err := Follows(nb, c.x, c.m, st); got != want || err != nil {
					t.Fatalf("what follows is %v (%v), want %v", got, err, want)
				}

				again, err := Relist(c.x, c.m, nb.K, nb.Index)
				if err != nil || !slices.Equal(again.Distance, nb.Distance) {
					t.Errorf("Relist measures other distances (%v)", err)
				}
				if st == nil {
					return
				}
				for _, k := range []int{7, 4} {
					lists, err := st.Lists(c.x, c.m, k)
					if err != nil || !reflect.DeepEqual(lists, nb.Trim(k)) {
						t.Errorf("lists of %d neighbours differ from those that the search returned (%v)", k, err)
					}
				}

				nb.Distance[20] *= 1 + 1e-15
				if got, err := Follows(nb, c.x, c.m, st); got != FollowsNothing || err != nil {
					t.Errorf("after a change of a distance %v follows (%v)", got, err)
				}
			})
		}
	}
}

// Lists in another order than that of the state keep their indices.
func TestListsOfAnotherOrder(t *testing.T) {
	x := synthetic.Manifold(900, 12, 4, 0.05, 3)
	ix, err := NewDescent(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	nb, err := ix.Self(context.Background(), 5)
	if err != nil {
		t.Fatal(err)
	}
	index, distance := nb.Row(3)
	index[0], index[4] = index[4], index[0]
	distance[0], distance[4] = distance[4], distance[0]
	if got, err := Follows(nb, x, Euclidean, StateOf(ix)); got != FollowDistances || err != nil {
		t.Errorf("of lists in another order %v follows (%v)", got, err)
	}
}

func TestFaultsOfLists(t *testing.T) {
	x := synthetic.Manifold(900, 12, 4, 0.05, 3)
	ix, err := NewDescent(x, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ix.Self(context.Background(), 5); err != nil {
		t.Fatal(err)
	}
	st := StateOf(ix)
	poked := *st
	poked.Neighbors = slices.Clone(st.Neighbors)
	poked.Neighbors[2*st.Stats.Width] = 900
	short := *st
	short.Neighbors = slices.Clone(st.Neighbors)
	short.Neighbors[2*st.Stats.Width+1] = -1

	for _, c := range []struct {
		name string
		make func() (*Neighbors, error)
		want string
	}{
		{"too many", func() (*Neighbors, error) { return st.Lists(x, Euclidean, 6) }, "lists of 6 neighbours of an index of 5"},
		{"other points", func() (*Neighbors, error) { return st.Lists(data.Slice(x, 0, 800), Euclidean, 5) }, "for 800 points"},
		{"no state", func() (*Neighbors, error) { return (*State)(nil).Lists(x, Euclidean, 5) }, "no index"},
		{"beyond the points", func() (*Neighbors, error) { return poked.Lists(x, Euclidean, 5) }, "element (2, 0) of index_neighbors is 900"},
		{"a short list", func() (*Neighbors, error) { return short.Lists(x, Euclidean, 5) }, "element (2, 1) of index_neighbors is -1"},
		{"indices of too few points", func() (*Neighbors, error) { return Relist(x, Euclidean, 2, make([]int32, 9)) }, "neighbor_indices has 9 elements"},
		{"an index beyond", func() (*Neighbors, error) {
			index := make([]int32, 1800)
			index[5] = 900
			return Relist(x, Euclidean, 2, index)
		}, "element (2, 1) of neighbor_indices is 900"},
	} {
		if _, err := c.make(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
