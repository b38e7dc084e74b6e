package pool

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// scale turns the scores of a member into probabilities
//
//	p_c ∝ exp(slope·z_c)
//
// where z are the scores s. If no score is negative, z are the logarithms of their shares,
// log((s_c + floor)/Σ(s + floor)) with floor a millionth of the sum: the scores of label
// spreading, for example, are sums that shrink with the distance of the labels, and only their
// ratio tells classes apart. A row without any score carries no information: all its classes
// are equal.
type scale struct {
	Shares bool    `json:"shares,omitempty"`
	Slope  float64 `json:"slope"`
}

// floor is the least share of a class. It keeps logarithms of shares finite: log 10⁻⁶ = −14.
const floor = 1e-6

// probabilities sets dst to the probabilities of a row of scores; NaN marks a class without a
// score.
func (s scale) probabilities(dst, scores []float64) {
	// The largest logit is subtracted before exp, which then cannot overflow.
	s.logits(dst, scores)
	top := math.Inf(-1)
	for c := range dst {
		dst[c] *= s.Slope
		top = max(top, dst[c])
	}

	var sum float64
	for c, v := range dst {
		dst[c] = math.Exp(v - top)
		sum += dst[c]
	}

	for c := range dst {
		dst[c] /= sum
	}
}

// logits sets dst to the z of a row of scores.
func (s scale) logits(dst, scores []float64) {
	least := math.Inf(1)
	sum := 0.
	for _, v := range scores {
		if !math.IsNaN(v) {
			least = min(least, v)
			sum += v
		}
	}

	for c, v := range scores {
		switch {
		case s.Shares && !(sum > 0):
			dst[c] = 0
		case s.Shares && math.IsNaN(v):
			dst[c] = math.Log(floor)
		case s.Shares:
			dst[c] = math.Log(max(v, 0)/sum + floor)
		case math.IsNaN(v):
			dst[c] = least // no better than the worst
		default:
			dst[c] = v
		}
	}
}

// nonnegative reports whether no score is negative.
func nonnegative(scores *mat.Dense) bool {
	return !slices.ContainsFunc(scores.RawMatrix().Data, func(v float64) bool { return v < 0 })
}

// fitSlope sets the slope that maximizes the likelihood of smoothed targets: 1−δ for the right
// class, plus δ/c for every class, with δ = 1/(l/c + 2) for l labels. Platt (1999) smooths so;
// without it, classes that are told apart without a fault would make the slope infinite. The
// likelihood is concave in the slope, so a bisection finds the zero of its derivative.
//
// The target of a distribution y is (1−δ)y plus δ/c, and weights of labels weigh the likelihood.
func (s *scale) fitSlope(scores *mat.Dense, aims *aims) {
	rows, c := scores.Dims()
	delta := 1 / (float64(rows)/float64(c) + 2)
	// The logits are centred in each row, which leaves probabilities unchanged, to find their
	// unit.
	z := mat.NewDense(rows, c, nil)
	var squares float64
	for i := range rows {
		row := z.RawRowView(i)
		s.logits(row, scores.RawRowView(i))
		var mean float64
		for _, v := range row {
			mean += v / float64(c)
		}
		for j := range row {
			row[j] -= mean
			squares += row[j] * row[j]
		}
	}

	// Where all logits are equal, any slope gives the same probabilities.
	if squares == 0 {
		s.Slope = 1
		return
	}

	unit := 1 / math.Sqrt(squares/float64(rows*c))
	p := make([]float64, c)
	own := scale{}
	// The derivative of the log-likelihood is Σ_i Σ_c (target_ic − p_ic)·z_ic.
	rising := func(slope float64) bool {
		own.Slope = slope
		var d float64
		for i := range rows {
			row := z.RawRowView(i)
			own.probabilities(p, row)
			for j, v := range row {
				target := delta / float64(c)
				if y := aims.share(i, j); y > 0 {
					target += (1 - delta) * y
				}
				d += aims.weight(i) * (target - p[j]) * v
			}
		}

		return d > 0
	}

	// 24 halvings of the range of log slope, six decades or 13.8, leave an error below 10⁻⁶.
	lo := math.Log(1e-3 * unit)
	hi := math.Log(1e3 * unit)
	for range 24 {
		if mid := (lo + hi) / 2; rising(math.Exp(mid)) {
			lo = mid
		} else {
			hi = mid
		}
	}

	s.Slope = math.Exp(lo)
}
