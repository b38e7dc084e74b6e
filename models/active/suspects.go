package active

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
)

// Suspect is a label that disagrees with the prediction for its point from the other labels.
type Suspect struct {
	Point int
	// Given and Suggested are classes, positions in Targets.Classes.
	Given, Suggested int32
	// Score is 1 − p of the given class, by probabilities or shares ([Shares]) of a model without
	// the label. It is in (0, 1].
	Score float64
}

// Suspects are labels that may be wrong.
type Suspects struct {
	List []Suspect // by score, the largest first
	// Labeled is the number of labels. Unknown is the number of labels that no other label
	// can check, such as the only ones of their components or classes.
	Labeled, Unknown int
	// Wrong estimates the number of wrong labels: see [WrongLabels].
	Wrong int
	// Folds is the number of folds that were left out, or 0 if every single label was.
	Folds int
	// ByFit tells that the fit held the labels out, for its choices or its probabilities.
	ByFit bool
	// Shares holds the shares of the classes at the labeled points, by which labels were judged: l×c.
	// Rows with Known false say nothing.
	Shares *mat.Dense
	Known  []bool
}

// Disagreeing lists the labels of t that have not the largest share of their point. shares has
// a row for each labeled point; rows with known false do not count.
func Disagreeing(t *models.Targets, shares *mat.Dense, known []bool) *Suspects {
	out := &Suspects{Labeled: len(t.Labeled), Wrong: WrongLabels(t, shares, known), Shares: shares, Known: known}
	best := models.Argmax(shares)
	// Argmax takes the first of tied classes, so only a positive difference is a disagreement.
	for q, i := range t.Labeled {
		if !known[q] {
			out.Unknown++
			continue
		}
		given := t.Class(q)
		row := shares.RawRowView(q)
		if row[best[q]] > row[given] {
			out.List = append(out.List, Suspect{i, int32(given), best[q], 1 - row[given]})
		}
	}

	slices.SortStableFunc(out.List, func(a, b Suspect) int { return cmp.Compare(b.Score, a.Score) })
	return out
}

// WrongLabels estimates how many labels are wrong, by confident learning (Northcutt, Jiang & Chuang
// 2021, section 3.1). A point is confidently of class c if its share of c is at least the mean share
// of c over the points with the label c; of several such classes the largest share counts. The
// estimate is the number of labels that differ from the class that their point is confidently of.
//
// shares has a row for each labeled point of t, by models that did not know its label; rows with known
// false do not count.
func WrongLabels(t *models.Targets, shares *mat.Dense, known []bool) int {
	classes := len(t.Classes)
	threshold := make([]float64, classes)
	count := make([]float64, classes)
	for q := range t.Labeled {
		if known[q] {
			given := t.Class(q)
			threshold[given] += shares.At(q, given)
			count[given]++
		}
	}
	for c := range threshold {
		threshold[c] /= count[c] // NaN without labels: no share is as large
	}

	wrong := 0
	for q := range t.Labeled {
		if !known[q] {
			continue
		}
		sure := -1
		row := shares.RawRowView(q)
		for c, p := range row {
			if p >= threshold[c] && (sure < 0 || p > row[sure]) {
				sure = c
			}
		}
		if sure >= 0 && sure != t.Class(q) {
			wrong++
		}
	}
	return wrong
}

// Outlier is a value that is far from the prediction for its point from the other values.
type Outlier struct {
	Point            int
	Given, Predicted []float64 // an element for each column of the values
	// Score is the residual in units of its spread: the root mean square, over the columns, of the
	// residuals divided by 1.4826 times the median of their absolute values in the column. That is
	// the standard deviation, if the residuals are normal.
	Score float64
}

// FarResidual is the score from which on a value is an [Outlier]: of normal residuals 0.3 % are
// farther.
const FarResidual = 3

// Outliers lists the values of t with a score of at least [FarResidual], the largest first. residuals
// has a row for each labeled point, its value less the answer of a model that did not know it.
func Outliers(t *models.Targets, residuals *mat.Dense) []Outlier {
	rows, columns := residuals.Dims()
	spread := make([]float64, columns)
	size := make([]float64, rows)
	for c := range columns {
		for q := range rows {
			size[q] = math.Abs(residuals.At(q, c))
		}
		slices.Sort(size)
		const normal = 1.4826 // the standard deviation of normal residuals in units of that median
		spread[c] = normal * size[rows/2]
	}

	var out []Outlier
	for q, i := range t.Labeled[:rows] {
		var squares float64
		for c, r := range residuals.RawRowView(q) {
			if r != 0 { // also of columns without spread
				squares += (r / spread[c]) * (r / spread[c])
			}
		}
		score := math.Sqrt(squares / float64(columns))
		if !(score >= FarResidual) {
			continue
		}
		given := slices.Clone(t.Y.RawRowView(q))
		predicted := slices.Clone(given)
		for c, r := range residuals.RawRowView(q) {
			predicted[c] -= r
		}
		out = append(out, Outlier{Point: i, Given: given, Predicted: predicted, Score: score})
	}
	slices.SortStableFunc(out, func(a, b Outlier) int { return cmp.Compare(b.Score, a.Score) })
	return out
}
