package metrics

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Paired compares two methods by measurements on the same n draws: with dᵢ = aᵢ − bᵢ and
// their mean d̄, the standard error is s = √(Σ(dᵢ−d̄)²/(n(n−1))), and P is the two-sided
// probability of |t| ≥ |d̄/s| under Student's distribution with n−1 degrees of freedom:
// the paired t-test. Draws from one set of points are not independent, which P does not
// know.
type Paired struct {
	Pairs  int    `json:"pairs"` // n: draws with both measurements
	Mean   Number `json:"mean"`
	StdErr Number `json:"std_err"` // NaN with fewer than two pairs
	// Wins counts the draws on which a is better, Losses those on which it is worse.
	Wins   int `json:"wins"`
	Ties   int `json:"ties"`
	Losses int `json:"losses"`
	// P is NaN with fewer than two pairs, and where all differences are 0.
	P Number `json:"p"`
}

// NewPaired compares a with b, which have the same length. Draws with a measurement that is NaN are
// left out. larger says that larger values are the better ones.
func NewPaired(a, b []float64, larger bool) Paired {
	var p Paired
	var d []float64
	var sum float64
	for i := range a {
		v := a[i] - b[i]
		if math.IsNaN(v) {
			continue
		}
		d = append(d, v)
		sum += v
		switch {
		case v == 0:
			p.Ties++
		case (v > 0) == larger:
			p.Wins++
		default:
			p.Losses++
		}
	}

	// The standard error of the mean difference, and Student's t with one degree less than pairs.
	p.Pairs = len(d)
	n := float64(len(d))
	mean := sum / n
	var squares float64
	for _, v := range d {
		squares += (v - mean) * (v - mean)
	}
	se := math.Sqrt(squares / n / (n - 1))
	p.Mean = Number(mean)

	p.StdErr = Number(se)
	p.P = Number(math.NaN())
	if t := math.Abs(mean / se); len(d) > 1 && !math.IsNaN(t) {
		p.P = Number(2 * distuv.StudentsT{Sigma: 1, Nu: n - 1}.CDF(-t))
	} else if len(d) < 2 {
		p.StdErr = Number(math.NaN())
	}
	return p
}
