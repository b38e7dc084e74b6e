package pool

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// bayes returns the probabilities of two Gaussian classes, μ apart and equally frequent, at
// n points of which the share first is of class 0, and the classes.
func bayes(n int, first, mu float64) (*mat.Dense, []int) {
	r := rand.New(rand.NewPCG(3, 4))
	p, class := mat.NewDense(n, 2, nil), make([]int, n)
	for i := range n {
		x := r.NormFloat64() - mu/2
		if float64(i) >= first*float64(n) {
			class[i] = 1
			x += mu
		}
		v := 1 / (1 + math.Exp(mu*x))
		p.SetRow(i, []float64{v, 1 - v})
	}
	return p, class
}

// The shares of points are found from probabilities that take classes as equally frequent,
// and with them fewer answers are wrong: nearly as few as by the rule of Bayes.
func TestClassFactors(t *testing.T) {
	const n, first, mu = 2000, 0.8, 3
	p, class := bayes(n, first, mu)
	wrong := func() (count float64) {
		for i, c := range class {
			if p.At(i, c) < 0.5 {
				count++
			}
		}
		return count / n
	}
	before := wrong()
	factors, shares := classFactors(p, []float64{5, 5}, nil)
	if math.Abs(shares[0]-first) > 0.03 || math.Abs(factors[0]/factors[1]-shares[0]/shares[1]) > 1e-12 {
		t.Errorf("shares %v, factors %v, where the first class has %v of the points", shares, factors, first)
	}
	weighClassRows(p, factors)
	// Bayes errs on Φ(−μ/2 ± log(q_0/q_1)/μ).
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	shift := math.Log(first/(1-first)) / mu
	least := first*phi(-mu/2.-shift) + (1-first)*phi(-mu/2.+shift)
	if after := wrong(); after > before-0.005 || after > least+0.012 {
		t.Errorf("%v wrong before, %v after, %v by Bayes", before, after, least)
	}
}

// Answers that tell nothing leave the shares to the labels, and given points do not count.
func TestClassFactorsUnsure(t *testing.T) {
	p := mat.NewDense(50, 3, nil)
	for i := range 50 {
		p.SetRow(i, []float64{1. / 3, 1. / 3, 1. / 3})
	}
	factors, shares := classFactors(p, []float64{1, 2, 1}, nil)
	for k, want := range []float64{0.25, 0.5, 0.25} {
		if math.Abs(factors[k]-1) > 0.01 || math.Abs(shares[k]-want) > 0.01 {
			t.Errorf("class %d has the share %v and the factor %v", k, shares[k], factors[k])
		}
	}
	if factors, _ := classFactors(p.Slice(0, 2, 0, 3).(*mat.Dense), []float64{1, 1, 0}, []int32{0, 1}); factors != nil {
		t.Errorf("factors %v without a point that is not given", factors)
	}
	hard, class := bayes(400, 0.9, 1) // nearly a third of the answers are wrong
	if _, shares := classFactors(hard, []float64{5, 5}, nil); shares[0] > 0.75 {
		t.Errorf("uncertain answers for %d points make the share of the first class %v", len(class), shares[0])
	}
}

// A class without a label is no answer, and no probability is NaN.
func TestClassFactorsWithoutLabel(t *testing.T) {
	p := mat.NewDense(3, 3, []float64{0.6, 0.3, 0.1, 0.2, 0.5, 0.3, 0.1, 0.2, 0.7})
	factors, shares := classFactors(p, []float64{4, 4, 0}, nil)
	weighClassRows(p, factors)
	if factors[2] != 0 || shares[2] != 0 {
		t.Errorf("factors %v, shares %v", factors, shares)
	}
	for i := range 3 {
		if row := p.RawRowView(i); row[2] != 0 || math.Abs(row[0]+row[1]-1) > 1e-12 {
			t.Errorf("row %d is %v", i, row)
		}
	}
}
