package metrics

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// ReliabilityBins is the number of bins of the expected calibration error.
const ReliabilityBins = 15

// leastProbability bounds probabilities from below in the log loss.
const leastProbability = 1e-15

// ProbabilityReport says how good probabilities of classes are. A point is of the class
// with the largest probability, the first of equals, and sure by that probability.
type ProbabilityReport struct {
	Points int `json:"points"`
	// LogLoss is the mean of −log p of the true class, p being at least 1e-15.
	LogLoss float64 `json:"log_loss"`
	// Brier is the mean of Σ_c (p_c − [c is the true class])², from 0 to 2 (Brier 1950).
	Brier float64 `json:"brier"`
	// ECE is the expected calibration error: the mean over the points of |share of right
	// ones − mean probability| in the bin of their probability (Naeini, Cooper &
	// Hauskrecht 2015; Guo et al. 2017, equation 3).
	ECE  float64 `json:"ece"`
	Bins []Bin   `json:"reliability"`
	// Coverage says how much the error falls if answers below a probability are left out.
	Coverage []Covered `json:"coverage"`
}

// Bin holds the points with a largest probability above Low and at most High.
type Bin struct {
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Points int     `json:"points"`
	Mean   Number  `json:"probability"` // mean of the probabilities; NaN without points
	Right  Number  `json:"right"`       // share of the points whose class is the true one
}

// Covered counts the points with a largest probability of at least Threshold.
type Covered struct {
	Threshold float64 `json:"threshold"`
	Share     float64 `json:"coverage"` // of all points
	Error     Number  `json:"error"`    // share of wrong ones among them; NaN of none
}

// thresholds of [ProbabilityReport.Coverage].
var thresholds = []float64{0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99}

// NewProbabilityReport measures probabilities, n×c, against the positions of the true classes among
// the columns; −1 is a class without a column and of probability 0. Lengths that differ, no points,
// and rows that are no probabilities (an entry outside [0, 1], or a sum that differs from 1 by more
// than 1e-4) are errors. O(n·c).
func NewProbabilityReport(truth []int, p *mat.Dense) (*ProbabilityReport, error) {
	n, _ := p.Dims()
	if err := samePoints(len(truth), n, "rows of probabilities"); err != nil {
		return nil, err
	}
	r := &ProbabilityReport{Points: n, Bins: make([]Bin, ReliabilityBins)}
	sure := make([]float64, n)
	right := make([]bool, n)
	for i, class := range truth {
		row := p.RawRowView(i)
		if err := distribution(row); err != nil {
			return nil, fmt.Errorf("metrics: row %d: %w", i, err)
		}
		var own, squares float64
		best := 0
		for c, v := range row {
			squares += v * v
			if v > row[best] {
				best = c
			}
		}

		// A class that the model does not know has probability zero.
		if class >= 0 {
			own = row[class]
		}
		r.LogLoss -= math.Log(max(own, leastProbability)) / float64(n)
		r.Brier += (squares - 2*own + 1) / float64(n)
		sure[i] = row[best]
		right[i] = class == best
	}

	// Reliability and coverage look at the probability of the answer alone.
	r.bin(sure, right)
	for _, t := range thresholds {
		r.Coverage = append(r.Coverage, covered(t, sure, right))
	}
	return r, nil
}

// distribution returns an error unless row holds probabilities that sum to 1.
func distribution(row []float64) error {
	var sum float64
	for c, v := range row {
		if !(v >= 0 && v <= 1+1e-9) {
			return fmt.Errorf("the probability in column %d is %v; it must lie in [0, 1]", c, v)
		}
		sum += v
	}

	if !(math.Abs(sum-1) <= 1e-4) {
		return fmt.Errorf("the probabilities sum to %v; they must sum to 1", sum)
	}
	return nil
}

// bin sets Bins and ECE.
func (r *ProbabilityReport) bin(sure []float64, right []bool) {
	means := make([]float64, ReliabilityBins)
	hits := make([]float64, ReliabilityBins)
	for i, v := range sure {
		b := min(max(int(math.Ceil(v*ReliabilityBins))-1, 0), ReliabilityBins-1)
		r.Bins[b].Points++
		means[b] += v
		if right[i] {
			hits[b]++
		}
	}

	// ECE = Σ |hits − means| over the bins, each by its share of the points.
	for b := range r.Bins {
		bin := &r.Bins[b]
		count := float64(bin.Points)
		bin.Low = float64(b) / ReliabilityBins
		bin.High = float64(b+1) / ReliabilityBins
		bin.Mean = Number(means[b] / count)
		bin.Right = Number(hits[b] / count)
		r.ECE += math.Abs(hits[b]-means[b]) / float64(len(sure))
	}
}

func covered(threshold float64, sure []float64, right []bool) Covered {
	var in, wrong float64
	for i, v := range sure {
		if v >= threshold {
			in++
			if !right[i] {
				wrong++
			}
		}
	}
	return Covered{threshold, in / float64(len(sure)), Number(wrong / in)}
}

// String is the report as text; shares are in percent.
func (r *ProbabilityReport) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "log loss %.4f, Brier score %.4f, expected calibration error %.4f (%d bins) on "+
		"%d points\n\n", r.LogLoss, r.Brier, r.ECE, ReliabilityBins, r.Points)
	rows := [][]string{{"probability", "points", "mean", "right"}}
	for _, bin := range r.Bins {
		if bin.Points > 0 {
			rows = append(rows, []string{fmt.Sprintf("%.0f–%.0f %%", 100*bin.Low, 100*bin.High),
				fmt.Sprint(bin.Points), percent(bin.Mean), percent(bin.Right)})
		}
	}

	// What a user gains by leaving unsure points to others.
	b.WriteString(alignRight(rows))
	rows = [][]string{{"answered if p ≥", "coverage", "error"}}
	for _, c := range r.Coverage {
		rows = append(rows, []string{fmt.Sprintf("%g", c.Threshold), percent(Number(c.Share)),
			percent(c.Error)})
	}
	return b.String() + "\n" + alignRight(rows)
}

// IntervalReport says how good prediction intervals are.
type IntervalReport struct {
	// Coverage is the share of the true values that lie in their interval.
	Coverage float64 `json:"coverage"`
	// Width is the mean of high − low.
	Width float64 `json:"width"`
}

// NewIntervalReport measures the intervals [low, high] of n true values. Lengths that
// differ, no values and bounds that are not finite or not in order are errors. O(n).
func NewIntervalReport(truth, low, high []float64) (*IntervalReport, error) {
	if err := samePoints(len(truth), len(low), "lower bounds"); err != nil {
		return nil, err
	}
	if err := samePoints(len(truth), len(high), "upper bounds"); err != nil {
		return nil, err
	}
	r := &IntervalReport{}
	n := float64(len(truth))
	for i, v := range truth {
		if !(low[i] <= high[i]) || math.IsInf(low[i], 0) || math.IsInf(high[i], 0) {
			return nil, fmt.Errorf("metrics: interval %d is from %v to %v; it must have finite "+
				"bounds, the lower one first", i, low[i], high[i])
		}
		if v >= low[i] && v <= high[i] {
			r.Coverage += 1 / n
		}
		r.Width += (high[i] - low[i]) / n
	}

	return r, nil
}

// String is the report as a line.
func (r *IntervalReport) String() string {
	return fmt.Sprintf("intervals cover %.2f %% of the true values, mean width %.6g", 100*r.Coverage, r.Width)
}
