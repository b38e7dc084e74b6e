package knn

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/testmode"
)

// Every index finds of float16 points what it finds of the same float32 ones; NN-descent,
// which measures float16 where they are, nearly so.
func TestStoredNeighbors(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "files; the searches are those of other tests")
	const n, d, k = 700, 19, 6
	r := rand.New(rand.NewPCG(5, 6))
	bits := make([]uint16, n*d)
	x := data.NewDense[float32](n, d)
	for i := range bits {
		bits[i] = simd.ToHalf(float32(r.NormFloat64()))
		x.Data[i] = simd.FromHalf(bits[i])
	}
	half, err := data.Joined(data.NewHalves(300, d, bits), data.NewHalves(400, d, bits[300*d:]))
	if err != nil {
		t.Fatal(err)
	}
	found, asked := 0, 0
	for _, method := range []Method{Brute, KDTree, BallTree, NNDescent} {
		for _, metric := range []Metric{Euclidean, Angle, Manhattan, Chebyshev, Cosine, InnerProduct} {
			s := &DescentSettings{Settings: Settings{Metric: metric}, Seed: 1}
			want, err := NewIndex(x, method, s)
			if err != nil {
				if _, again := NewIndex(half, method, s); again == nil {
					t.Errorf("%v, %v: no index of float32 points (%v), but one of float16", method, metric, err)
				}
				continue
			}
			got, err := NewIndex(half, method, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, query := range []bool{false, true} {
				find := func(ix Index, q data.Points) *Neighbors {
					nb, err := ix.Self(context.Background(), k)
					if query {
						nb, err = ix.Query(context.Background(), q, k)
					}
					if err != nil {
						t.Fatal(err)
					}
					return nb
				}
				a, b := find(got, data.Slice(half, 290, 310)), find(want, data.Slice(x, 290, 310))
				if method == NNDescent {
					found += agree(a, b)
					asked += len(a.Index)
				} else if !slices.Equal(a.Index, b.Index) || !slices.Equal(a.Distance, b.Distance) {
					t.Errorf("%v, %v, query %v: other neighbours", method, metric, query)
				}
			}
		}
	}
	if !(found > asked*97/100) {
		t.Errorf("NN-descent finds %d of %d", found, asked)
	}
}

// agree counts the neighbours that two searches have at the same distance.
func agree(a, b *Neighbors) (same int) {
	for p, j := range a.Index {
		if j == b.Index[p] && a.Distance[p] == b.Distance[p] {
			same++
		}
	}
	return same
}
