package active

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
)

// Suspect is a label that disagrees with what the other labels say of its point.
type Suspect struct {
	Point int
	// Given and Suggested are classes, positions in Targets.Classes.
	Given, Suggested int32
	// Score is the share of the suggested class less that of the given one, by the
	// scores of a model without the label: see [Shares]. It lies in (0, 1].
	Score float64
}

// Suspects are labels that may be wrong.
type Suspects struct {
	List []Suspect // by score, the largest first
	// Labeled is the number of labels, and Unknown that of labels of which no other
	// says anything, as they are the only ones of their components.
	Labeled, Unknown int
	// Folds is the number of folds that were left out; 0 where each label was.
	Folds int
}

// Disagreeing lists the labels of t whose share is not the largest: shares has a row for each
// labeled point, which counts where known is true.
func Disagreeing(t *models.Targets, shares *mat.Dense, known []bool, folds int) *Suspects {
	out := &Suspects{Labeled: len(t.Labeled), Folds: folds}
	best := models.Argmax(shares)
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
