package nearest

import (
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/modeltest"
)

// TestRanks compares the votes that float32 decides, and those it leaves, with votes of exact
// neighbours: of points in general, on a lattice with ties, far from the origin, and so large
// that squares overflow.
func TestRanks(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 1))
	const n, d = 700, 20
	kinds := map[string]func() float32{
		"normal":  func() float32 { return float32(r.NormFloat64()) },
		"lattice": func() float32 { return float32(r.IntN(2)) },
		"far":     func() float32 { return 1e4 + float32(r.NormFloat64()) },
		"huge":    func() float32 { return 1e18 * float32(r.NormFloat64()) },
	}
	for name, draw := range kinds {
		x := data.NewDense[float32](n, d)
		for i := range x.Data {
			x.Data[i] = draw()
		}
		copy(x.Row(7), x.Row(8)) // equal points
		poll := NewPoll(x, knn.Euclidean, nil)
		for _, labels := range []int{6, 40, 300} {
			class := map[int]int64{7: 0, 8: 1}
			for _, i := range r.Perm(n)[:labels] {
				class[i] = int64(r.IntN(4))
			}
			y := modeltest.Labels(n, class)
			labeled, ks := y.Labeled(), []int{1, 3, 5}
			got, err := poll.KNN(t.Context(), y, ks)
			if err != nil {
				t.Fatal(err)
			}
			ix, err := knn.NewBrute(data.Select(x, labeled), nil)
			if err != nil {
				t.Fatal(err)
			}
			nb, err := ix.Query(t.Context(), x, 5)
			if err != nil {
				t.Fatal(err)
			}
			for j, k := range ks {
				want := slices.Clone(y.Index)
				for i, c := range want {
					if c == data.Unlabeled {
						index, _ := nb.Row(i)
						var voters []int32
						for _, at := range index[:k] {
							voters = append(voters, y.Index[labeled[at]])
						}
						want[i] = Vote(voters)
					}
				}
				if !slices.Equal(got[j], want) {
					t.Errorf("%s, %d labels, k = %d: other classes", name, labels, k)
				}
			}
		}
		var certain atomic.Int64
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		err := knn.NewRanks(x).Nearest(t.Context(), all[:100], all[100:], 5, func(_ int, near []int) {
			if near != nil {
				certain.Add(1)
			}
		})
		if err != nil || (certain.Load() > 500) != (name == "normal" || name == "far") {
			t.Errorf("%s: float32 decides %d of 600, %v", name, certain.Load(), err)
		}
	}
}
