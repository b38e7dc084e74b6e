package knn_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
)

// uniform returns n points of the unit cube.
func uniform[T float32 | float64](n, d int) *data.Dense[T] {
	rng := rand.New(rand.NewPCG(1, uint64(d)))
	x := data.NewDense[T](n, d)
	for i := range x.Data {
		x.Data[i] = T(rng.Float64())
	}
	return x
}

// BenchmarkTree times building (build) and the 10 nearest neighbours of all
// points (self).
func BenchmarkTree(b *testing.B) {
	sets := []struct {
		name string
		make func() data.Points
	}{
		{"1000000x3/float32", func() data.Points { return uniform[float32](1_000_000, 3) }},
		{"1000000x3/float64", func() data.Points { return uniform[float64](1_000_000, 3) }},
		{"1000000x2/float32", func() data.Points { return uniform[float32](1_000_000, 2) }},
		{"100000x8/float32", func() data.Points { return uniform[float32](100_000, 8) }},
		{"1000000x3 surface/float32", func() data.Points { return synthetic.Manifold(1_000_000, 3, 2, 0, 1) }},
		{"100000x16 of 4/float32", func() data.Points { return synthetic.Manifold(100_000, 16, 4, 0, 1) }},
	}
	for _, set := range sets {
		var x data.Points
		for _, kind := range []struct {
			name  string
			build builder
		}{{"kd", knn.NewKDTree}, {"ball", knn.NewBallTree}} {
			var ix knn.Index
			setup := func(b *testing.B) {
				if x == nil {
					x = set.make()
				}
				b.ResetTimer()
			}
			b.Run(fmt.Sprintf("%s/%s/build", set.name, kind.name), func(b *testing.B) {
				setup(b)
				for range b.N {
					var err error
					if ix, err = kind.build(x, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/%s/self", set.name, kind.name), func(b *testing.B) {
				setup(b)
				if ix == nil {
					ix, _ = kind.build(x, nil)
					b.ResetTimer()
				}
				for range b.N {
					if _, err := ix.Self(context.Background(), 10); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
