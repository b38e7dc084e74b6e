package main

import (
	"math"
	"math/rand/v2"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/internal/num/simd"
)

// embeddings returns points that resemble the output of a text or image encoder: 512
// coordinates in float16, norm one, around 2000 topics, which differ from a common mean in
// 24 directions.
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

		basis := normal(latent*d, 1/math.Sqrt(latent))
		centres := normal(topics*latent, 1)
		mean := normal(d, 0.5)
		bits := make([]uint16, n*d)
		const grain = 4096
		// A block of points has a generator of its own, so the number of threads changes nothing.
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

				// Noise in all coordinates: what no topic explains.
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

// unitClusters returns points in float32 of norm one, in 384 coordinates around 2000 centres.
// The variance falls as 1, 1/2, 1/3 and so on along random directions, so that no coordinate
// alone tells much. The variance of the points around a centre is half the variance of the
// centres.
func unitClusters(n int) func(string) (data.Points, error) {
	const d, topics = 384, 2000
	return func(string) (data.Points, error) {
		r := rand.New(rand.NewPCG(9, 1))
		turn := make([]float32, d*d)
		centres := make([]float32, topics*d)
		for i := range turn {
			turn[i] = float32(r.NormFloat64() / math.Sqrt(d*float64(1+i/d)))
		}
		for i := range centres {
			centres[i] = float32(r.NormFloat64())
		}
		x := data.NewDense[float32](n, d)

		along := make([]float32, n*d)
		const grain = 4096
		par.For(n, grain, func(lo, hi int) {
			r := rand.New(rand.NewPCG(9, uint64(2+lo)))
			for i := lo; i < hi; i++ {
				c := centres[r.IntN(topics)*d:]
				for j := range d {
					along[i*d+j] = c[j] + math.Sqrt2/2*float32(r.NormFloat64())
				}
			}
		})

		// Turn the axes: one product in place of a product for each point.
		dense.Gemm32(dense.NoTrans, dense.NoTrans, n, d, d, 1, along, d, turn, d, 0, x.Data, d)
		for i := range n {
			row := x.Row(i)
			var sum float64
			for _, v := range row {
				sum += float64(v) * float64(v)
			}
			for j, v := range row {
				row[j] = float32(float64(v) / math.Sqrt(sum))
			}
		}

		return x, nil
	}
}
