package sparse

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Narrow keeps the entries, under other numbers, and needs no memory for columns.
func TestNarrow(t *testing.T) {
	m := &CSR{Rows: 3, Cols: 1<<31 - 1, Ptr: []int64{0, 2, 2, 5}, Col: []int32{5, 1<<31 - 2, 0, 5, 1 << 30}, Val: []float64{1, 2, 3, 4, 5}}
	got, used := m.Narrow()
	if want := []int32{0, 5, 1 << 30, 1<<31 - 2}; !slices.Equal(used, want) || got.Cols != 4 {
		t.Fatalf("columns %v, %d of them", used, got.Cols)
	}
	if err := got.Validate(); err != nil {
		t.Fatal(err)
	}
	for i := range m.Rows {
		for p, c := range used {
			if a, b := m.At(i, int(c)), got.At(i, p); a != b {
				t.Errorf("entry (%d, %d) is %v, was %v", i, c, b, a)
			}
		}
	}
	if empty, used := (&CSR{Rows: 2, Cols: 9, Ptr: []int64{0, 0, 0}}).Narrow(); empty.Cols != 0 || len(used) != 0 {
		t.Errorf("no entries: %d columns, %v", empty.Cols, used)
	}
}

// Distances have the bits of those between dense rows.
func TestSquaredDistance(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := &CSR{Rows: 30, Cols: 40, Ptr: make([]int64, 31), Val: []float64{}}
	for i := range m.Rows {
		for c := range m.Cols {
			if rng.IntN(3) == 0 {
				m.Col, m.Val = append(m.Col, int32(c)), append(m.Val, rng.NormFloat64())
			}
		}
		m.Ptr[i+1] = int64(len(m.Col))
	}
	ones := &CSR{Rows: m.Rows, Cols: m.Cols, Ptr: m.Ptr, Col: m.Col}
	for i := range m.Rows {
		for j := range m.Rows {
			for _, x := range []*CSR{m, ones} {
				for _, s := range []float64{1, 3} {
					var want float64
					for c := range m.Cols {
						d := x.At(i, c)/s - m.At(j, c)/7
						want += d * d
					}
					if got := SquaredDistance(x, i, s, m, j, 7); got != want {
						t.Fatalf("rows %d and %d: %v, want %v", i, j, got, want)
					}
				}
			}
		}
	}
}
