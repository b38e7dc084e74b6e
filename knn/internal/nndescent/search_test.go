package nndescent

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomSet returns n normal points of d coordinates as rows and as a Set.
func randomSet(n, d int) ([][]float32, Set) {
	r := rand.New(rand.NewPCG(uint64(n), uint64(d)))
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, d)
		for j := range rows[i] {
			rows[i][j] = float32(r.NormFloat64())
		}
	}
	return rows, Set{N: n, Rows: NewFloats(n, d, func(flat []float32, order []int32) {
		for i := range n {
			at := i
			if order != nil {
				at = int(order[i])
			}
			copy(flat[i*d:], rows[at])
		}
	})}
}

// newPoint returns a meter with room for a query of d coordinates.
func newPoint(g *Graph, d int) *FloatMeter {
	m := g.rows.Meter().(*FloatMeter)
	m.Point = make([]float32, d)
	return m
}

// nearestOf returns the k nearest rows to q but for row self.
func nearestOf(rows [][]float32, q []float32, k, self int) []int32 {
	dist := make([]float64, len(rows))
	var all []int32
	for i, row := range rows {
		for j, v := range row {
			e := float64(q[j]) - float64(v)
			dist[i] += e * e
		}
		if i != self {
			all = append(all, int32(i))
		}
	}
	slices.SortFunc(all, func(a, b int32) int { return cmp.Compare(dist[a], dist[b]) })
	return all[:k]
}

// share returns the share of want that is in got.
func share(got, want []int32) float64 {
	found := 0
	for _, i := range want {
		if slices.Contains(got, i) {
			found++
		}
	}
	return float64(found) / float64(len(want))
}

func settings(k int) Settings {
	return Settings{
		K: k, Trees: 8, Candidates: 12, Exchanges: 12, Tolerance: 0.01, Seed: 3,
		Enough: func(*Graph) (bool, error) { return true, nil }, Step: func() {},
	}
}

func TestSearchFindsNeighbours(t *testing.T) {
	const k = 10
	for _, c := range []struct {
		n, d  int
		least float64
	}{{LeafSize, 6, 1}, {carveLeaf, 6, 1}, {3000, 6, 0.97}, {3000, 300, 0.8}} {
		rows, set := randomSet(c.n, c.d)
		g, err := Search(context.Background(), set, settings(k))
		if err != nil {
			t.Fatal(err)
		}
		lists, queries := 0.0, 0.0
		query := newPoint(g, c.d)
		s := g.NewSearcher(query, k, k+8, 0.1)
		const sample = 100
		for i := range int32(sample) {
			point := int(g.Order()[i])
			list := g.AppendList(nil, i)
			if slices.Contains(list, int32(point)) {
				t.Fatalf("%d points: %d is its own neighbour", c.n, point)
			}
			lists += share(list[:k], nearestOf(rows, rows[point], k, point)) / sample
			copy(query.Point, rows[point])
			query.Point[0] += 0.1
			queries += share(s.Append(nil), nearestOf(rows, query.Point, k, -1)) / sample
		}
		if !(lists >= c.least) || !(queries >= c.least) {
			t.Errorf("%d points: recall %v of lists and %v of queries, want %v", c.n, lists, queries, c.least)
		}
	}
}

func TestRestoredGraphAnswersAlike(t *testing.T) {
	const n, k = 2000, 7
	rows, set := randomSet(n, 4)
	g, err := Search(context.Background(), set, settings(k))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Restore(set, g.State())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := g.Stats(), again.Stats(); a.K != b.K || a.Width != b.Width || b.K != k {
		t.Errorf("%+v restored as %+v", a, b)
	}
	at, too := newPoint(g, 4), newPoint(again, 4)
	a, b := g.NewSearcher(at, k, k+8, 0.1), again.NewSearcher(too, k, k+8, 0.1)
	for i := range int32(n) {
		if x, y := g.AppendList(nil, i), again.AppendList(nil, i); !slices.Equal(x, y) {
			t.Fatalf("point %d: %v restored as %v", i, x, y)
		}
		copy(at.Point, rows[i])
		copy(too.Point, rows[i])
		if x, y := a.Append(nil), b.Append(nil); !slices.Equal(x, y) {
			t.Fatalf("query %d: %v restored as %v", i, x, y)
		}
	}
}

func TestSearchGoesOnUntilEnough(t *testing.T) {
	_, set := randomSet(3000, 8)
	s := settings(5)
	s.Efforts = 3
	calls, steps := 0, 0
	s.Step = func() { steps++ }
	s.Enough = func(g *Graph) (bool, error) {
		if e := g.Stats().Effort; e != calls {
			t.Errorf("effort %d in call %d", e, calls)
		}
		calls++
		return calls == 3, nil
	}
	g, err := Search(context.Background(), set, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Stats(); calls != 3 || got.Effort != 2 || got.Trees <= s.Trees || got.Trees > 4*s.Trees+1 || steps < (got.Trees-1)/carveTrees+got.Exchanges {
		t.Errorf("%d calls, %d steps, %+v", calls, steps, got)
	}

	fault := errors.New("no sample")
	s.Enough = func(*Graph) (bool, error) { return false, fault }
	if g, err := Search(context.Background(), set, s); g != nil || !errors.Is(err, fault) {
		t.Errorf("%v, %v", g, err)
	}
	s.Enough = func(*Graph) (bool, error) { return false, nil }
	g, err = Search(context.Background(), set, s)
	if err != nil || g.Stats().Effort != s.Efforts {
		t.Errorf("never enough: %v, %v", g, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.Step = cancel
	if g, err := Search(ctx, set, s); g != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", g, err)
	}
}
