package main

import (
	"math"
	"math/rand/v2"

	"github.com/bigfit/bigfit/data"
)

// sheets returns n points on 20 curved surfaces far from each other. A point of a surface is
//
//	cos(1.5·tA + p) + 0.5·tB + 8·c
//
// with t uniform in [0, 1)². The matrices A and B (2×64) and the vectors p and c (64) of a
// surface hold normal numbers.
func sheets(n int) *data.Dense[float32] {
	const surfaces = 20
	x := data.NewDense[float32](n, columns)
	r := rand.New(rand.NewPCG(seed, 0))
	normal := func(count int) []float64 {
		out := make([]float64, count)
		for i := range out {
			out[i] = r.NormFloat64()
		}
		return out
	}

	// One generator in one order: equal points for equal n.
	for s := range surfaces {
		a := normal(2 * columns)
		b := normal(2 * columns)
		phase := normal(columns)
		middle := normal(columns)
		for i := s * n / surfaces; i < (s+1)*n/surfaces; i++ {
			t := r.Float64()
			u := r.Float64()
			row := x.Row(i)
			for j := range row {
				row[j] = float32(math.Cos(1.5*(t*a[j]+u*a[columns+j])+phase[j]) +
					0.5*(t*b[j]+u*b[columns+j]) + 8*middle[j])
			}
		}
	}

	return x
}
