package pool

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/par"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
)

// Shares says where the shares of the classes come from.
type Shares int

const (
	// FromPoints adapts the shares to the points without a label: often each class gets
	// the same number of labels, whatever its share of the points. See classFactors.
	FromPoints Shares = iota
	// FromLabels takes the shares of the labels, as if these were drawn at random from all
	// points.
	FromLabels
)

var sharesNames = enum.New[Shares]("origin of the shares of classes", "points", "labels")

// String returns the name used on the command line and in manifests.
func (s Shares) String() string { return sharesNames.String(s) }

// MarshalText returns the name.
func (s Shares) MarshalText() ([]byte, error) { return sharesNames.Marshal(s) }

// UnmarshalText is the inverse of MarshalText.
func (s *Shares) UnmarshalText(text []byte) error { return sharesNames.Unmarshal(s, text) }

// checkPriors returns an error unless there is a share for each class of t, or none at all.
func (s *settings) checkPriors(t *models.Targets) error {
	switch {
	case s.Priors == nil:
	case t.Classes == nil:
		return models.Faultf("%s are for classes, not for values", param.Name("priors"))
	case len(s.Priors) != len(t.Classes):
		return models.Faultf("%s names %d shares for %d classes", param.Name("priors"), len(s.Priors), len(t.Classes))
	case slices.Max(s.Priors) == 0:
		return models.Faultf("%s are all 0; a class must have a share", param.Name("priors"))
	}
	return nil
}

const (
	// sureShares is the mean probability of a wrong answer at which the n points without a
	// label and the prior, n points with the shares of the labels, count the same. The
	// prior grows with the cube of this probability, so surer answers outweigh it quickly.
	sureShares = 0.15
	// mostShares bounds the points that shares are taken from: 20,000 of them give a share
	// to within 0.4 percentage points (one standard error), and a step costs O(20,000·c).
	mostShares = 20_000
	// shareSteps and shareTolerance end the iteration: a change of 10⁻⁶ of a share moves
	// only decisions that are nearly ties.
	shareSteps     = 200
	shareTolerance = 1e-6
)

// classFactors returns the factors q_c/r_c of the probabilities p_ic of points. Here r_c =
// counts_c/Σ counts is the share of class c in the labels, and q_c its share in the points
// without a label, the fixed point of
//
//	q_c = (Σ_i p'_ic + s r_c)/(n + s),  p'_ic ∝ p_ic q_c/r_c,  s = l + n(e/0.15)³
//
// over the n points that are not among the l given ones, or a regular choice of 20,000 of
// them. This is the EM algorithm of Saerens, Latinne & Decaestecker (Neural Computation 14,
// 2002) for the shares, with a Dirichlet distribution around r as their prior. e is the mean
// of 1 − max_c p_ic: where answers are uncertain, the labels decide. classFactors returns q
// beside the factors, and nil for both if all points are given. It costs O(nc) a step.
func classFactors(p *mat.Dense, counts []float64, given []int32) (factors, shares []float64) {
	rows, c := p.Dims()
	known := make([]bool, rows)
	for _, i := range given {
		known[i] = true
	}
	// Every k-th point is a regular choice that needs no random numbers.
	var points []int
	for i := 0; i < rows; i += (rows-1)/mostShares + 1 {
		if !known[i] {
			points = append(points, i)
		}
	}

	if len(points) == 0 {
		return nil, nil
	}
	// The strength of the prior, s in the formula, follows from the mean uncertainty e =
	// unsure/n.
	var labels, unsure float64
	for _, v := range counts {
		labels += v
	}
	for _, i := range points {
		unsure += 1 - slices.Max(p.RawRowView(i))
	}
	n := float64(len(points))
	strength := labels + n*math.Pow(unsure/n/sureShares, 3)
	factors = slices.Repeat([]float64{1}, c)
	shares = make([]float64, c)
	for k := range shares {
		shares[k] = counts[k] / labels
		if counts[k] == 0 {
			factors[k] = 0 // a class without a label is no answer
		}
	}
	row := make([]float64, c)

	sums := make([]float64, c)
	// Expectation step: the expected number of points of each class under the present factors.
	// Maximization step: the share of each class from this number and the prior.
	for range shareSteps {
		clear(sums)
		for _, i := range points {
			copy(row, p.RawRowView(i))
			weighClassRow(row, factors)
			for k, v := range row {
				sums[k] += v
			}
		}

		change := 0.0
		for k := range shares {
			r := counts[k] / labels
			q := (sums[k] + strength*r) / (n + strength)
			change = max(change, math.Abs(q-shares[k]))
			shares[k] = q
			if r > 0 {
				factors[k] = q / r
			}
		}

		if change < shareTolerance {
			break
		}
	}

	return factors, shares
}

// weighClassRow multiplies probabilities by factors and makes their sum one. Where all of it is of classes without a
// share, the others get the shares of their factors.
func weighClassRow(row, factors []float64) {
	var sum float64
	for k, f := range factors {
		row[k] *= f
		sum += row[k]
	}
	if sum == 0 {
		for k, f := range factors {
			row[k] = f
			sum += f
		}
	}
	for k := range row {
		row[k] /= sum
	}
}

// weighClassRows multiplies all rows by factors and makes the sum of each row one; nil factors
// are ones.
func weighClassRows(p *mat.Dense, factors []float64) {
	if factors == nil {
		return
	}
	rows, _ := p.Dims()
	par.For(rows, 1024, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			weighClassRow(p.RawRowView(i), factors)
		}
	})
}
