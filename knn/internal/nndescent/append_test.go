package nndescent

import (
	"context"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/internal/testmode"
)

func TestAppend(t *testing.T) {
	testmode.Skip(t, testmode.Race, "recall; other tests of the package have the goroutines")
	const k = 10
	for _, c := range []struct {
		old, more, d int
		least        float64
	}{{60, 20, 6, 1}, {100, 900, 6, 0.95}, {2500, 500, 6, 0.97}, {3000, 1, 6, 0.97}, {3000, 0, 6, 0.97}} {
		rows, set := randomSet(c.old+c.more, c.d)
		oldSet := set
		oldSet.N = c.old
		oldSet.Rows = NewFloats(c.old, c.d, func(flat []float32, order []int32) {
			for i := range c.old {
				at := i
				if order != nil {
					at = int(order[i])
				}
				copy(flat[i*c.d:], rows[at])
			}
		})
		g, err := Search(context.Background(), oldSet, settings(k))
		if err != nil {
			t.Fatal(err)
		}
		st := g.State()
		grown, err := Append(context.Background(), set, st, settings(k))
		if err != nil {
			t.Fatal(err)
		}
		place := make([]int32, set.N)
		for i, v := range grown.Order() {
			place[v] = int32(i)
		}
		oldLists, newLists := 0.0, 0.0
		for i := range set.N {
			list := grown.AppendList(nil, place[i])
			if len(list) < k {
				t.Fatalf("%v: a list of %d", c, len(list))
			}
			s := share(list[:k], nearestOf(rows, rows[i], k, i))
			if i < c.old {
				oldLists += s / float64(c.old)
			} else {
				newLists += s / float64(c.more)
			}
		}
		if !(oldLists >= c.least) || c.more > 0 && !(newLists >= c.least) {
			t.Errorf("%v: recall %.4f of old points, %.4f of new ones", c, oldLists, newLists)
		}
		// The state can be written, read and grown again.
		back, err := Restore(set, grown.State())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(back.index, grown.index) {
			t.Error("another graph is restored")
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	_, set := randomSet(300, 3)
	g, err := Search(context.Background(), set, settings(5))
	if err != nil {
		t.Fatal(err)
	}
	_, smaller := randomSet(200, 3)
	if _, err := Append(context.Background(), smaller, g.State(), settings(5)); err == nil {
		t.Error("a graph of more points than there are is no error")
	}
	st := g.State()
	st.Neighbors[7] = 300
	if _, err := Append(context.Background(), set, st, settings(5)); err == nil {
		t.Error("a neighbour that is not there is no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Append(ctx, set, g.State(), settings(5)); err == nil {
		t.Error("a cancelled context is no error")
	}
}
