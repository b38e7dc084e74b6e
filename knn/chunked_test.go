package knn

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/simd"
	"github.com/bigfit/bigfit/internal/testmode"
)

// Points in chunks have the neighbours that they have at once, with many ties, where the last chunk has fewer points
// than neighbours are sought, and where distances are lost in rounding to float32.
func TestChunks(t *testing.T) {
	testmode.Skip(t, testmode.Race|testmode.PureGo, "many points; the searches are those of other tests")
	const n, d, k = 2*chunkSize + 7, 5, 12
	ctx := context.Background()
	for name, value := range map[string]func(r *rand.Rand) float32{
		"ties":    func(r *rand.Rand) float32 { return float32(r.IntN(6)) },
		"spread":  func(r *rand.Rand) float32 { return float32(r.NormFloat64()) },
		"far off": func(r *rand.Rand) float32 { return 1000 + float32(r.IntN(2)) },
	} {
		r := rand.New(rand.NewPCG(5, 6))
		bits := make([]uint16, n*d)
		for i := range bits {
			bits[i] = simd.ToHalf(value(r))
		}
		x := data.NewHalves(n, d, bits)
		some := data.Slice(x, chunkSize-20, chunkSize+20)
		own := func(i int) int { return chunkSize - 20 + i }
		for _, metric := range []Metric{Euclidean, Angle, Cosine, InnerProduct} {
			e := &chunked{x, metric}
			got, err := e.search(ctx, some, k, own, nil)
			if err != nil {
				t.Fatal(err)
			}
			queried, err := e.query(ctx, some, k, nil)
			if err != nil {
				t.Fatal(err)
			}
			ix, err := bruteEngine(x, metric)
			if err != nil {
				t.Fatal(err)
			}
			want, err := ix.query(ctx, some, k+1, nil)
			if err != nil {
				t.Fatal(err)
			}

			without := newNeighbors(40, k)
			with := newNeighbors(40, k)
			for i := range 40 {
				index, dist := want.Row(i)
				at := 0
				for p, j := range index {
					if at < k && int(j) != own(i) {
						without.Index[i*k+at] = j
						without.Distance[i*k+at] = dist[p]
						at++
					}
				}
				copy(with.Index[i*k:][:k], index)
				copy(with.Distance[i*k:][:k], dist)
			}
			if !sameLists(got, without) {
				t.Errorf("%s, %v: other neighbours of the points", name, metric)
			}
			if !sameLists(queried, with) {
				t.Errorf("%s, %v: other neighbours of queries", name, metric)
			}
		}
	}
}
