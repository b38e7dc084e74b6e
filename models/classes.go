package models

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/num/par"
)

// scoreTie is the largest difference of equal scores, relative to the largest magnitude in
// the row. Another order of summation changes a score by some 1e-15, and such a change must
// not decide between classes that are in the same position to a point; 2⁻⁴⁰ is 1e-12.
const scoreTie = 0x1p-40

// Argmax returns the position of the largest entry of every row of scores, n×c. Entries
// within 2⁻⁴⁰ of the largest magnitude in the row count as equal to the largest one, and the
// first of equals wins: the class that comes first in the list. See [Decide] for two classes.
func Argmax(scores *mat.Dense) []int32 {
	n, _ := scores.Dims()
	out := make([]int32, n)
	par.For(n, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			out[i] = argmax(scores.RawRowView(i))
		}
	})
	return out
}

// argmax is [Argmax] of one row. It returns 0 if a score is NaN.
func argmax(row []float64) int32 {
	const sign, infinite = 1 << 63, 0x7ff << 52
	top := int64(math.MinInt64)
	size := uint64(0)
	for _, v := range row {
		bits := math.Float64bits(v)
		size = max(size, bits&^sign)
		top = max(top, ordered(bits))
	}
	// Bits beyond the bits of infinity are a NaN.
	if size > infinite {
		return 0
	}

	// From the last score to the first, so that the first of equals remains.
	most := math.Float64frombits(uint64(ordered(uint64(top))))
	tie := math.Float64bits(scoreTie * math.Float64frombits(size))
	at := 0
	for j := len(row) - 1; j >= 0; j-- {
		below := math.Float64bits(most - row[j])
		if ordered(math.Float64bits(row[j])) == top {
			below = 0 // two infinities have no difference
		}
		if below <= tie {
			at = j
		}
	}
	return int32(at)
}

// ordered returns integers in the order of the numbers with these bits, and turns them back into the bits.
func ordered(bits uint64) int64 {
	return int64(bits) ^ int64(uint64(int64(bits)>>63)>>1)
}

// classCounts returns the number of labeled points of every class.
func classCounts(y *data.Labels) []int {
	counts := make([]int, len(y.Classes))
	for _, c := range y.Index {
		if c != data.Unlabeled {
			counts[c]++
		}
	}
	return counts
}

// Majority returns the most frequent class among the labeled points. Of equally frequent
// classes it returns the smallest.
func Majority(y *data.Labels) int32 {
	best := 0
	counts := classCounts(y)
	for c, n := range counts {
		if n > counts[best] {
			best = c
		}
	}
	return int32(best)
}

// OneSided returns a warning if one class has more than 80 % of a classifier's answers for
// its training points, and its share of the answers exceeds its share of the labels by more
// than 10 percentage points. answers are positions of classes below the number classes;
// given names the labeled points, and nil means that they are not known.
func OneSided(classes int, answers []int32, given *Given) []string {
	if given == nil || len(given.Points) == 0 {
		return nil
	}
	got := make([]int, classes)
	known := make([]int, classes)
	for _, c := range answers {
		got[c]++
	}
	for _, i := range given.Points {
		known[answers[i]]++
	}

	// A large share alone is no fault: most labels may be of that class.
	for c := range classes {
		share := float64(got[c]) / float64(len(answers))
		labels := float64(known[c]) / float64(len(given.Points))
		if share > 0.8 && share > labels+0.1 {
			return []string{fmt.Sprintf("%.0f %% of the points got the same class, which has %.0f %% "+
				"of the labels: compare with other models or settings", 100*share, 100*labels)}
		}
	}

	return nil
}

// CheckLabels returns an error unless y can train a classifier of n points.
func CheckLabels(y *data.Labels, n int) error {
	if y.Len() != n {
		return fmt.Errorf("models: %d labels for %d points", y.Len(), n)
	}
	present := 0
	for _, count := range classCounts(y) {
		if count > 0 {
			present++
		}
	}

	// A learner needs something to tell apart.
	switch present {
	case 0:
		return fmt.Errorf("models: no point is labeled; at least two classes must have a label")
	case 1:
		return fmt.Errorf("models: all labels are of class %s; at least two classes must have a label",
			y.Name(Majority(y)))
	}

	return nil
}
