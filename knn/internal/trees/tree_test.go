package trees

import (
	"math/rand/v2"
	"testing"
)

func TestSelectKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, value := range map[string]func(i, n int) float64{
		"random":     func(int, int) float64 { return rng.Float64() },
		"equal":      func(int, int) float64 { return 1 },
		"few":        func(int, int) float64 { return float64(rng.IntN(3)) },
		"ascending":  func(i, _ int) float64 { return float64(i) },
		"descending": func(i, _ int) float64 { return float64(-i) },
		"organ pipe": func(i, n int) float64 { return float64(min(i, n-i)) },
		"saw":        func(i, _ int) float64 { return float64(i % 17) },
	} {
		for _, n := range []int{2, 3, 10, 599, 2000, 30_000} {
			for _, m := range []int{1, n / 3, n / 2, n - 1} {
				keys := make([]key[float64], n)
				for i := range keys {
					keys[i] = key[float64]{value(i, n), int32(n - i), int32(i)}
				}
				selectKeys(keys, m)
				seen := make([]bool, n)
				for i, k := range keys {
					if seen[k.row] {
						t.Fatalf("%s, n=%d, m=%d: row %d twice", name, n, m, k.row)
					}
					seen[k.row] = true
					if i < m && !k.less(keys[m]) || i > m && !keys[m].less(k) {
						t.Fatalf("%s, n=%d, m=%d: key %d on the wrong side", name, n, m, i)
					}
				}
			}
		}
	}
}

// Every position is in the leaf that leafOf names, leaves hold size or size−1
// points, and no leaf is larger than leafPoints.
func TestShape(t *testing.T) {
	for _, n := range []int{1, 2, 15, 16, 17, 31, 32, 33, 1000, 65_537} {
		tr := &tree[float32]{n: n}
		tr.levels, tr.size = levelsOf(n)
		if tr.size > leafPoints || Padded(n) < n {
			t.Fatalf("n=%d: leaves of %d, %d padded", n, tr.size, Padded(n))
		}
		next := 0
		for leaf := range 1 << tr.levels {
			lo, hi := tr.positions(leaf, tr.levels)
			if lo != next || hi-lo > tr.size || hi-lo < tr.size-1 || hi == lo {
				t.Fatalf("n=%d: leaf %d is [%d,%d)", n, leaf, lo, hi)
			}
			for p := lo; p < hi; p++ {
				if tr.leafOf(p) != leaf {
					t.Fatalf("n=%d: position %d is said to be in leaf %d, not %d", n, p, tr.leafOf(p), leaf)
				}
			}
			next = hi
		}
		if next != n {
			t.Fatalf("n=%d: %d positions", n, next)
		}
	}
}
