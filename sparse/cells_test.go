package sparse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestCells: every vertex is in the cell of a nearest seed, by distances counted anew, and cells merge to PᵀWP
// without its diagonal, divided by the roots of its degrees.
func TestCells(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(5, 6))
	for _, binary := range []bool{false, true} {
		w := randomGraph(rng, n, 0.006, binary, false)
		seeds := []int32{7, 300, 150, 7, 20, 90}
		cell := w.Cells(seeds)

		distance := make([][]int, len(seeds))
		for c, v := range seeds {
			distance[c] = distancesFrom(w, v)
		}
		for i := range n {
			least := math.MaxInt
			for c := range seeds {
				least = min(least, distance[c][i])
			}
			switch {
			case least == math.MaxInt && cell[i] != -1:
				t.Fatalf("vertex %d is in cell %d, and no seed reaches it", i, cell[i])
			case least < math.MaxInt && (cell[i] < 0 || distance[cell[i]][i] != least):
				t.Fatalf("vertex %d is in cell %d, and the nearest seed is %d edges away", i, cell[i], least)
			}
		}
		if cell[7] != 0 || slices.Contains(cell, 3) {
			t.Errorf("a seed that comes twice has the cells %d and 3", cell[7])
		}

		p := mat.NewDense(n, len(seeds), nil)
		for i, c := range cell {
			if c >= 0 {
				p.Set(i, int(c), 1)
			}
		}
		var want mat.Dense
		want.Product(p.T(), w.ToDense(), p)
		degree := make([]float64, len(seeds))
		for c := range seeds {
			want.Set(c, c, 0)
			degree[c] = mat.Sum(want.RowView(c))
		}
		want.Apply(func(a, b int, s float64) float64 {
			if s == 0 {
				return 0
			}
			return s / math.Sqrt(degree[a]*degree[b])
		}, &want)
		got := w.Merge(cell, len(seeds), len(seeds))
		if err := got.CheckGraph(); err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(got.ToDense(), &want, 1e-12) {
			t.Errorf("binary %t: cells merge to\n%v, want\n%v", binary, mat.Formatted(got.ToDense()), mat.Formatted(&want))
		}

		// The heaviest neighbour of each cell is kept, and every edge is the heaviest of one of its two cells.
		one := w.Merge(cell, len(seeds), 1).ToDense()
		for a := range seeds {
			heaviest := slices.Max(want.RawRowView(a))
			if math.Abs(slices.Max(one.RawRowView(a))-heaviest) > 1e-12 {
				t.Errorf("the heaviest edge of cell %d is %v, want %v", a, slices.Max(one.RawRowView(a)), heaviest)
			}
			for b, v := range one.RawRowView(a) {
				other := slices.Max(want.RawRowView(b))
				if v > 0 && v < min(heaviest, other)-1e-12 {
					t.Errorf("cells %d and %d are joined by %v; their heaviest are %v and %v", a, b, v, heaviest, other)
				}
			}
		}
	}
}

// distancesFrom returns the numbers of edges to each vertex, by Bellman and Ford.
func distancesFrom(w *CSR, v int32) []int {
	d := slices.Repeat([]int{math.MaxInt}, w.Rows)
	d[v] = 0
	for changed := true; changed; {
		changed = false
		for i := range w.Rows {
			col, _ := w.Row(i)
			for _, j := range col {
				if d[j] < math.MaxInt && d[j]+1 < d[i] {
					d[i] = d[j] + 1
					changed = true
				}
			}
		}
	}
	return d
}
