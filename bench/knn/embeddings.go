package main

import (
	"math"
	"math/rand/v2"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/par"
	"github.com/bigfit/bigfit/internal/simd"
)

// embeddings returns points like those of a text or image encoder: 512 coordinates in
// float16, norm one, around 2000 topics that lie in 24 directions about a common mean.
func embeddings(n int) func(string) (data.Points, error) {
	const d, topics, latent = 512, 2000, 24
	return func(string) (data.Points, error) {
		r := rand.New(rand.NewPCG(7, 1))
		normal := func(count int, scale float64) []float32 {
			out := make([]float32, count)
			for i := range out {
				out[i] = float32(scale * r.NormFloat64())
			}
			return out
		}
		basis, centres, mean := normal(latent*d, 1/math.Sqrt(latent)), normal(topics*latent, 1), normal(d, 0.5)
		bits := make([]uint16, n*d)
		const grain = 4096
		par.For(n, grain, func(lo, hi int) {
			r := rand.New(rand.NewPCG(7, uint64(2+lo)))
			row := make([]float32, d)
			for i := lo; i < hi; i++ {
				copy(row, mean)
				centre := centres[r.IntN(topics)*latent:]
				for l := range latent {
					z := centre[l] + 0.5*float32(r.NormFloat64())
					for j, b := range basis[l*d:][:d] {
						row[j] += z * b
					}
				}
				var sum float64
				for j := range row {
					row[j] += 0.15 * float32(r.NormFloat64())
					sum += float64(row[j]) * float64(row[j])
				}
				scale := float32(1 / math.Sqrt(sum))
				for j, v := range row {
					bits[i*d+j] = simd.ToHalf(scale * v)
				}
			}
		})
		return data.NewHalves(n, d, bits), nil
	}
}
