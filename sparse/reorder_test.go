package sparse

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestProductOrder: every vertex has one place, and more edges of a graph of many dimensions are within a piece than in
// one breadth-first order; of a narrow one about as many.
func TestProductOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		w    *CSR
		more float64 // edges within a piece, as a multiple of those in reverse Cuthill–McKee order
	}{
		{"five dimensions", lattice(t, 8, 5), 1.3},
		{"two dimensions", lattice(t, 100, 2), 0.98},
	} {
		order := c.w.ProductOrder()
		sorted := slices.Sorted(slices.Values(order))
		for i, v := range sorted {
			if int(v) != i {
				t.Fatalf("%s: place %d of the sorted order has vertex %d", c.name, i, v)
			}
		}
		have, before := near(c.w.Permute(order)), near(c.w.Permute(breadthFirst(c.w)))
		t.Logf("%s: %.3f of the edges, %.3f before", c.name, have, before)
		if !(have >= c.more*before) {
			t.Errorf("%s: %.3f of the edges are within %d places, %.3f in reverse Cuthill–McKee order", c.name, have,
				pieceSize/2, before)
		}
	}
}

// breadthFirst is the order of a single breadth-first search from the vertex that such a search reaches last, neighbours
// by ascending degree, and then the vertices out of reach.
func breadthFirst(m *CSR) []int32 {
	search := func(roots ...int32) (out []int32) {
		seen := make([]bool, m.Rows)
		for _, root := range roots {
			if seen[root] {
				continue
			}
			seen[root] = true
			out = append(out, root)
			for head := len(out) - 1; head < len(out); head++ {
				col, _ := m.Row(int(out[head]))
				from := len(out)
				for _, j := range col {
					if !seen[j] {
						seen[j] = true
						out = append(out, j)
					}
				}
				slices.SortStableFunc(out[from:], func(a, b int32) int {
					return int(m.Ptr[a+1]-m.Ptr[a]) - int(m.Ptr[b+1]-m.Ptr[b])
				})
			}
		}
		return out
	}

	reached := search(0)
	roots := []int32{reached[len(reached)-1]}
	for v := range m.Rows {
		roots = append(roots, int32(v))
	}
	return search(roots...)
}

// near returns the share of the entries that are at most half of a piece off the diagonal.
func near(m *CSR) float64 {
	count := 0
	for i := range m.Rows {
		col, _ := m.Row(i)
		for _, j := range col {
			if d := int(j) - i; max(d, -d) <= pieceSize/2 {
				count++
			}
		}
	}
	return float64(count) / float64(m.NNZ())
}

// lattice returns a grid of side vertices in each of dim dimensions and one vertex more, in an order of their own.
func lattice(t *testing.T, side, dim int) *CSR {
	t.Helper()
	n := 1
	for range dim {
		n *= side
	}
	place := rand.New(rand.NewPCG(3, 4)).Perm(n + 1)
	var rows, cols []int32
	var ones []float64
	for i := range n {
		for step := 1; step < n; step *= side {
			if i/step%side+1 < side {
				a, b := int32(place[i]), int32(place[i+step])
				rows = append(rows, a, b)
				cols = append(cols, b, a)
				ones = append(ones, 1, 1)
			}
		}
	}
	w, err := FromTriplets(n+1, n+1, rows, cols, ones)
	if err != nil {
		t.Fatal(err)
	}
	return w
}
