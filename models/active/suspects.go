package active

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
)

// Suspect is a label that disagrees with the prediction for its point from the other labels.
type Suspect struct {
	Point int
	// Given and Suggested are classes, positions in Targets.Classes.
	Given, Suggested int32
	// Score is the share of the suggested class minus the share of the given class, by the
	// scores of a model without the label: see [Shares]. It is in (0, 1].
	Score float64
}

// Suspects are labels that may be wrong.
type Suspects struct {
	List []Suspect // by score, the largest first
	// Labeled is the number of labels. Unknown is the number of labels that no other label
	// can check, because they are the only ones in their components.
	Labeled, Unknown int
	// Folds is the number of folds that were left out, or 0 if every single label was.
	Folds int
}

// Disagreeing lists the labels of t that have not the largest share of their point. shares has
// a row for each labeled point; rows with known false do not count.
func Disagreeing(t *models.Targets, shares *mat.Dense, known []bool, folds int) *Suspects {
	out := &Suspects{Labeled: len(t.Labeled), Folds: folds}
	best := models.Argmax(shares)
	// Argmax takes the first of tied classes, so only a positive difference is a disagreement.
	for q, i := range t.Labeled {
		if !known[q] {
			out.Unknown++
			continue
		}
		given := t.Class(q)
		row := shares.RawRowView(q)
		if score := row[best[q]] - row[given]; score > 0 {
			out.List = append(out.List, Suspect{i, int32(given), best[q], score})
		}
	}

	slices.SortStableFunc(out.List, func(a, b Suspect) int { return cmp.Compare(b.Score, a.Score) })
	return out
}
