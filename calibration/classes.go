package calibration

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/internal/num/par"
)

// Link makes logits z of the scores s of a point.
type Link int

const (
	// Identity is z = s, for margins.
	Identity Link = iota
	// Shares is z_c = log((s_c + ε S) / S), S = Σ_d s_d, ε = 1e-3, for nonnegative scores. A
	// factor that all classes of a point have in common does not matter: in a graph the
	// distance of a point from all labels is such a factor.
	Shares
	// Unit is z = (s − s̄) / ‖s − s̄‖₂ with the mean s̄ of the row. Again a common factor does
	// not matter.
	Unit
)

// shareFloor is the ε of Shares: it keeps the logarithm of a zero score finite.
const shareFloor = 1e-3

var links = enum.New[Link]("link", "scores", "shares", "unit scores")

// String returns the name used in manifests.
func (l Link) String() string { return links.String(l) }

// MarshalText returns the name.
func (l Link) MarshalText() ([]byte, error) { return links.Marshal(l) }

// UnmarshalText is the inverse of MarshalText.
func (l *Link) UnmarshalText(text []byte) error { return links.Unmarshal(l, text) }

// Classes makes probabilities of the scores of classes.
type Classes struct {
	Link        Link    `json:"link"`
	Temperature float64 `json:"temperature"`
	// Vanishing is the size up to which scores are rounding error. A point without a larger
	// score gets Priors.
	Vanishing float64 `json:"vanishing"`
	// Priors are the shares of the classes among the labels.
	Priors []float64 `json:"priors"`
	// Knots of the isotonic regression: places in [0, 1], ascending, and the values there. Nil
	// without isotonic regression.
	Knots [][2]float64 `json:"knots,omitempty"`
}

// Answer holds the scores of a held-out point, one for each class that the model of its fold
// knows, and the position of its true class among these classes.
type Answer struct {
	Scores []float64
	Class  int
	// Shares is the distribution of a soft label over these classes, nil for one class; Class is then its
	// most probable class.
	Shares []float64
	// Weight of the label; 0 stands for 1.
	Weight float64
}

// share returns the target of class c before smoothing: 1 for the true class, or its share.
func (a *Answer) share(c int) float64 {
	switch {
	case a.Shares != nil:
		return a.Shares[c]
	case c == a.Class:
		return 1
	}
	return 0
}

// weight returns the weight with its default.
func (a *Answer) weight() float64 {
	if a.Weight == 0 {
		return 1
	}
	return a.Weight
}

// vanishing is the size of rounding errors relative to the mean magnitude of scores: solvers
// stop far above 1e-16.
const vanishing = 1e-9

// FitClasses fits a calibration to held-out answers. priors holds the shares of all classes
// among the labels. Fewer than [Fewest] answers with scores that differ are an [ErrFew]. It
// costs some fifty passes over the scores for each link.
func FitClasses(held []Answer, priors []float64) (*Classes, error) {
	c := &Classes{Priors: priors}
	var size float64
	for i, a := range held {
		if a.Class < 0 || a.Class >= len(a.Scores) {
			return nil, fmt.Errorf("calibration: answer %d is of class %d of %d", i, a.Class, len(a.Scores))
		}
		for _, v := range a.Scores {
			if v-v != 0 {
				return nil, fmt.Errorf("calibration: a score of answer %d is %v", i, v)
			}
			size += math.Abs(v) / float64(len(held)*len(a.Scores))
		}
	}

	// Points without information say nothing about the temperature.
	c.Vanishing = vanishing * size
	var known []Answer
	for _, a := range held {
		if !c.blank(a.Scores) {
			known = append(known, a)
		}
	}

	if err := Enough(len(known)); err != nil {
		return nil, err
	}

	// The scores of a learner do not tell which link suits them, so all are tried.
	least := math.Inf(1)
	for _, link := range []Link{Identity, Shares, Unit} {
		if link == Shares && slices.ContainsFunc(known,
			func(a Answer) bool { return slices.Min(a.Scores) < -c.Vanishing }) {
			continue
		}
		logits := linked(link, known)
		t := temperature(logits)
		if loss := logits.loss(t); loss < least {
			least = loss
			c.Link = link
			c.Temperature = t
		}
	}

	if len(known) >= IsotonicFrom {
		c.Knots = c.isotonic(known)
	}
	return c, nil
}

// RoughClasses returns a calibration for scores of all points, n×c, of a model that held no labels
// out. Nonnegative scores are taken by their shares with T = 1; for others z = s, and T is 2
// divided by the standard deviation of the scores around the mean of their row, so that scores of
// any unit become moderately certain probabilities.
func RoughClasses(scores *mat.Dense, priors []float64) *Classes {
	c := &Classes{Link: Shares, Temperature: 1, Priors: priors}
	rows, columns := scores.Dims()
	var size, squares float64
	for i := range rows {
		row := scores.RawRowView(i)
		var mean float64
		for _, v := range row {
			size += math.Abs(v) / float64(rows*columns)
			mean += v / float64(columns)
			if v < 0 {
				c.Link = Identity
			}
		}
		for _, v := range row {
			squares += (v - mean) * (v - mean)
		}
	}

	c.Vanishing = vanishing * size
	if c.Link == Identity && squares > 0 {
		c.Temperature = 2 / math.Sqrt(squares/float64(rows*columns))
	}
	return c
}

// Of returns the probabilities of a row of scores; nil if the scores say nothing.
func (c *Classes) Of(scores []float64) []float64 {
	if c.blank(scores) {
		return nil
	}
	out := make([]float64, len(scores))
	c.row(out, scores)
	return out
}

// Operations estimates the operations of [FitClasses]: three links with fifteen passes each, and
// in every pass an exponential for every score. An exponential takes the time of 100 operations
// of a matrix product.
func Operations(labels, classes int) float64 {
	return 3 * 15 * 100 * float64(labels) * float64(classes)
}

// blank tells whether scores have no information: all are equal, or all are rounding error.
func (c *Classes) blank(scores []float64) bool {
	low := slices.Min(scores)
	high := slices.Max(scores)
	if low == high || high <= 0 && c.Link == Shares {
		return true
	}
	return c.Link != Shares && high <= c.Vanishing && low >= -c.Vanishing
}

// to sets dst to the logits of scores.
func (l Link) to(dst, scores []float64) {
	switch l {
	case Identity:
		copy(dst, scores)
	case Shares:
		var sum float64
		for _, v := range scores {
			sum += math.Max(v, 0)
		}
		for i, v := range scores {
			dst[i] = math.Log(math.Max(v, 0)/sum + shareFloor)
		}
	case Unit:
		var mean, squares float64
		for _, v := range scores {
			mean += v / float64(len(scores))
		}
		for _, v := range scores {
			squares += (v - mean) * (v - mean)
		}
		for i, v := range scores {
			dst[i] = (v - mean) / math.Sqrt(squares)
		}
	}
}

// sample holds logits of held-out points.
type sample []Answer

// linked returns the logits of held-out points by a link.
func linked(l Link, held []Answer) sample {
	out := make(sample, len(held))
	for i, a := range held {
		out[i] = Answer{make([]float64, len(a.Scores)), a.Class, a.Shares, a.Weight}
		l.to(out[i].Scores, a.Scores)
	}
	return out
}

// targets returns the smoothed target of the true class, and the target of every other of c
// classes.
func (s sample) targets(c int) (right, wrong float64) {
	right = float64(len(s)+1) / float64(len(s)+2)
	return right, (1 - right) / float64(max(c-1, 1))
}

// loss returns the mean log loss at the temperature t.
func (s sample) loss(t float64) float64 {
	loss, _ := s.lossAndSlope(t)
	return loss
}

// lossAndSlope returns the mean log loss at the temperature t and its derivative by t. The target of a class
// with the share p is p·right + (1 − p)·wrong.
func (s sample) lossAndSlope(t float64) (loss, slope float64) {
	var total float64
	for _, a := range s {
		right, wrong := s.targets(len(a.Scores))

		// The largest logit is subtracted, so that no exponential overflows.
		top := slices.Max(a.Scores)
		var sum, weighted, target float64
		for c, z := range a.Scores {
			e := math.Exp(t * (z - top))
			sum += e
			weighted += e * (z - top)
			share := wrong
			switch {
			case a.Shares != nil:
				share += a.Shares[c] * (right - wrong)
			case c == a.Class:
				share = right
			}
			target += share * (z - top)
		}

		total += a.weight()
		loss += a.weight() * (math.Log(sum) - t*target)
		slope += a.weight() * (weighted/sum - target)
	}

	return loss / total, slope / total
}

// temperature returns the T ≥ 0 of least loss. The loss is convex in T, so its derivative has one zero.
// False position finds it (the Illinois variant: Dowell & Jarratt, BIT 11, 1971), in a third of the passes of
// bisection, which takes over where the bracket does not halve in two steps.
func temperature(s sample) float64 {
	_, below := s.lossAndSlope(0)
	if !(below < 0) {
		return 0
	}

	// Scores may have any scale: the upper end grows until the slope is not negative there.
	const largest = 1e300
	low, high := 0.0, 1.0
	var above float64
	for ; high < largest; high *= 4 {
		if _, above = s.lossAndSlope(high); above >= 0 {
			break
		}
		low = high
		below = above
	}

	const digits = 1e-12
	t := high
	width := math.Inf(1) // of the bracket two steps ago
	for k := range 400 {
		before := t
		t = low + (high-low)*(below/(below-above))
		if k%2 == 0 {
			if !(high-low <= width/2) || !(low < t && t < high) {
				t = low + (high-low)/2
			}
			width = high - low
		}
		if t == low || t == high || math.Abs(t-before) <= digits*t || high-low <= digits*high {
			break
		}

		// The slope at an end that stays is halved, so that the next step passes the zero.
		switch _, slope := s.lossAndSlope(t); {
		case slope < 0:
			low = t
			below = slope
			if before < t {
				above /= 2
			}
		case slope > 0:
			high = t
			above = slope
			if before > t {
				below /= 2
			}
		default:
			return t
		}
	}

	return t
}

// ProbabilitiesTo sets dst, n×c, to the probabilities of points with the scores, n×c; they
// may be the same matrix. Rows sum to 1.
func (c *Classes) ProbabilitiesTo(dst, scores *mat.Dense) {
	n, _ := scores.Dims()
	par.For(n, 256, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c.row(dst.RawRowView(i), scores.RawRowView(i))
		}
	})
}

// row is ProbabilitiesTo for one point.
func (c *Classes) row(dst, scores []float64) {
	if c.Temperature == 0 || c.blank(scores) {
		copy(dst, c.Priors)
		return
	}

	// g is applied to each class apart, so the sum is made 1 again.
	c.soften(dst, scores)
	if len(c.Knots) > 0 {
		for i, p := range dst {
			dst[i] = interpolate(c.Knots, p)
		}
		normalize(dst)
	}
}

// soften sets dst to softmax(T z).
func (c *Classes) soften(dst, scores []float64) {
	c.Link.to(dst, scores)
	top := slices.Max(dst)
	for i, z := range dst {
		dst[i] = math.Exp(c.Temperature * (z - top))
	}
	normalize(dst)
}

// normalize divides p by its sum.
func normalize(p []float64) {
	var sum float64
	for _, v := range p {
		sum += v
	}
	for i := range p {
		p[i] /= sum
	}
}

// check returns an error unless the parts fit together and suit the number of classes.
func (c *Classes) check(classes int) error {
	if len(c.Priors) != classes {
		return fmt.Errorf("calibration: shares of %d classes for a model of %d", len(c.Priors), classes)
	}
	var sum float64
	for i, v := range c.Priors {
		if !(v >= 0 && v <= 1) {
			return fmt.Errorf("calibration: the share of class %d is %v; it must lie in [0, 1]", i, v)
		}
		sum += v
	}

	switch {
	case !(math.Abs(sum-1) < 1e-6):
		return fmt.Errorf("calibration: the shares of the classes sum to %v, not 1", sum)
	case !links.Valid(c.Link):
		return fmt.Errorf("calibration: the link is %v", c.Link)
	case !(c.Temperature >= 0) || math.IsInf(c.Temperature, 0):
		return fmt.Errorf("calibration: the temperature is %v; it must be finite and not negative",
			c.Temperature)
	case !(c.Vanishing >= 0) || math.IsInf(c.Vanishing, 0):
		return fmt.Errorf("calibration: the size of vanishing scores is %v; it must be finite and "+
			"not negative", c.Vanishing)
	}

	return checkKnots(c.Knots)
}
