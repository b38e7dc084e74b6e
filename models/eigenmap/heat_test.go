package eigenmap

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/bigfit/bigfit/data/synthetic"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/models/modeltest"
	"github.com/bigfit/bigfit/sparse"
)

// The penalty exp(tλ) of any strength gives the least squares of numbers of 320 bits, in which
// exp(tλ) has a range of its own.
func TestHeatPenaltyIsExact(t *testing.T) {
	const n, pairs, labels = 60, 25, 12
	x, truth := synthetic.Digits(n, 3)
	keep := make([]int, labels)
	for i := range keep {
		keep[i] = 5 * i
	}
	y := truth.Keep(keep)
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(320).SetFloat64(v) }
	for _, kind := range []sparse.Kind{sparse.Combinatorial, sparse.Normalized} {
		p := modeltest.NewProblem(t, x, knn.GraphSettings{K: 5}, kind, pairs)
		for _, unit := range []Unit{Twentieth, One} {
			scale := 1.0
			if unit == Twentieth {
				scale = p.Eigs.Values[referencePair-1]
			}
			for _, time := range []float64{1e-3, 1e-2, 0.1, 1, 2, 10, 100, 1000} {
				for _, gamma := range []float64{1e-4, 1} {
					t.Run(fmt.Sprintf("%v/%v/t=%g/gamma=%g", kind, unit, time, gamma), func(t *testing.T) {
						m, err := Fit(t.Context(), p.Eigs, p.C, y, &Settings{Penalty: HeatKernel, T: time, Gamma: gamma, Unit: unit})
						if err != nil {
							t.Fatal(err)
						}
						f := m.Scores(p.Eigs.Vectors, n)
						_, classes := f.Dims()
						for c := range classes {
							// (EᵀE + lγ/n·diag(r))a = Eᵀy, by elimination.
							a := make([][]*big.Float, pairs)
							for i := range a {
								a[i] = make([]*big.Float, pairs+1)
								for j := range a[i] {
									a[i][j] = number(0)
									for _, row := range keep {
										v := -1.0
										if j < pairs {
											v = p.Eigs.Vectors.At(row, j)
										} else if int(y.Index[row]) == c {
											v = 1
										}
										a[i][j].Add(a[i][j], number(0).Mul(number(p.Eigs.Vectors.At(row, i)), number(v)))
									}
								}
								r := bigExp(number(time * math.Max(p.Eigs.Values[i], 0) / scale))
								a[i][i].Add(a[i][i], r.Mul(r, number(labels*gamma/n)))
							}
							for k := range pairs {
								for i := range pairs {
									if i == k {
										continue
									}
									factor := number(0).Quo(a[i][k], a[k][k])
									for j := k; j <= pairs; j++ {
										a[i][j].Sub(a[i][j], number(0).Mul(factor, a[k][j]))
									}
								}
							}
							var worst, top float64
							for row := range n {
								sum := number(0)
								for j := range pairs {
									v := number(0).Quo(a[j][pairs], a[j][j])
									sum.Add(sum, v.Mul(v, number(p.Eigs.Vectors.At(row, j))))
								}
								want, _ := sum.Float64()
								worst, top = math.Max(worst, math.Abs(f.At(row, c)-want)), math.Max(top, math.Abs(want))
							}
							if !(worst <= 1e-8*top) {
								t.Errorf("class %d is off by %.1e of %.1e", c, worst, top)
							}
						}
					})
				}
			}
		}
	}
}

// bigExp returns e^x for x ≥ 0.
func bigExp(x *big.Float) *big.Float {
	doublings := 0
	half := new(big.Float).SetPrec(320).SetFloat64(0.5)
	for ; x.Cmp(half) > 0; doublings++ {
		x.Mul(x, half)
	}
	sum := new(big.Float).SetPrec(320).SetInt64(1)
	term := new(big.Float).SetPrec(320).SetInt64(1)
	for k := range int64(70) {
		term.Mul(term, x).Quo(term, new(big.Float).SetPrec(320).SetInt64(k+1))
		sum.Add(sum, term)
	}
	for range doublings {
		sum.Mul(sum, sum)
	}
	return sum
}
