package nndescent

import (
	"context"
	"slices"
	"testing"
)

// firstOf is the set of the first n of rows.
func firstOf(rows [][]float32, n int) Set {
	d := len(rows[0])
	return Set{N: n, Rows: NewFloats(n, d, func(flat []float32, order []int32) {
		for i := range n {
			at := i
			if order != nil {
				at = int(order[i])
			}
			copy(flat[i*d:], rows[at])
		}
	})}
}

// New points join the graph where they belong, also where all of them fall into one leaf:
// its state can be read again, old lists stay but for what is given, and queries find the
// new points.
func TestInsert(t *testing.T) {
	const k, d = 6, 4
	for _, c := range []struct {
		old, more int
		crowded   bool
	}{{2000, 300, false}, {2000, 1500, true}, {200, 1, false}, {2000, 0, false}} {
		n := c.old + c.more
		rows, _ := randomSet(n, d)
		if c.crowded {
			for i := c.old; i < n; i++ {
				for j := range rows[i] {
					rows[i][j] = rows[0][j] + rows[i][j]*1e-3
				}
			}
		}
		before, err := Search(context.Background(), firstOf(rows, c.old), settings(k))
		if err != nil {
			t.Fatal(err)
		}
		st := before.State()
		lists := make([][]int32, n)
		for i := c.old; i < n; i++ {
			lists[i] = nearestOf(rows, rows[i], k, i)
		}
		changed := nearestOf(rows, rows[5], k, 5)
		lists[5] = changed
		g, err := Insert(firstOf(rows, n), st, lists, 3)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := Restore(firstOf(rows, n), g.State()); err != nil || !slices.Equal(back.index, g.index) {
			t.Fatalf("%+v: the state is not restored: %v", c, err)
		}
		place := make([]int32, n)
		for i, v := range g.Order() {
			place[v] = int32(i)
		}
		for i, v := range before.Order() {
			own := g.AppendList(nil, place[v])
			want := before.AppendList(nil, int32(i))
			if v == 5 {
				if !slices.Equal(own[:k], changed) {
					t.Errorf("%+v: the list given is %v, not %v", c, own, changed)
				}
			} else if !slices.Equal(own, want) {
				t.Fatalf("%+v: the list of point %d is %v, was %v", c, v, own, want)
			}
		}
		found := 0
		s := g.NewSearcher(g.rows.Meter(), 1, 20, 0.1)
		for i := c.old; i < n; i++ {
			s.At(place[i])
			if slices.Contains(s.Append(nil), int32(i)) {
				found++
			}
		}
		if found < c.more*99/100 {
			t.Errorf("%+v: %d of %d new points are found", c, found, c.more)
		}
	}
}

func TestInsertRefuses(t *testing.T) {
	rows, set := randomSet(300, 3)
	g, err := Search(context.Background(), firstOf(rows, 290), settings(5))
	if err != nil {
		t.Fatal(err)
	}
	lists := make([][]int32, 300)
	for _, damage := range []func(st *State){
		func(st *State) { st.Neighbors[7] = 290 },
		func(st *State) { st.Splits[0] = 0 },
	} {
		st := g.State()
		damage(st)
		if _, err := Insert(set, st, lists, 1); err == nil {
			t.Error("a damaged state is no error")
		}
	}
}
