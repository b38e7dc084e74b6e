package models

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// HeldOut holds answers for labeled points by models that were fitted without their labels.
type HeldOut struct {
	// Folds in which the labels were left out; 0 if every label was left out alone.
	Folds int
	// Labels are positions in [Targets.Labeled], each at most once.
	Labels []int
	// Scores has a row for each of Labels and a column for each class or value of the targets; NaN marks
	// a class that the model did not know without the label.
	Scores *mat.Dense
}

// LeaveOutProbes returns the number of right-hand sides by which labels are left out one by one: the
// classes, in full blocks of the solver. With 24 the calibration errors of docs/probabilities.md are the
// same, and the time is twice as long.
func LeaveOutProbes(t *Targets) int { return (len(t.Classes) + 15) / 16 * 16 }

// LeftOut returns the answers for labels that were left out one by one. A class with one label is not
// known without it. Of m labels of a class m − 1 are left, so that its score, a sum over its labels, is
// multiplied by m/(m − 1): without that, probabilities of five labels a class were too low by a tenth.
func LeftOut(t *Targets, scores *mat.Dense, known []bool) *HeldOut {
	// Of soft labels the mass of a class that is left out is the share of the label.
	count := t.Masses()
	var labels []int
	for q := range t.Labeled {
		if known[q] {
			labels = append(labels, q)
		}
	}
	out := &HeldOut{Labels: labels, Scores: mat.NewDense(max(1, len(labels)), len(t.Classes), nil)}
	for row, q := range labels {
		copy(out.Scores.RawRowView(row), scores.RawRowView(q))
		w := t.Weight(q)
		for class, share := range t.SharesTo(nil, q) {
			if share == 0 {
				continue
			}
			if m := count[class]; m-w*share > 1e-9*m {
				out.Scores.Set(row, class, scores.At(q, class)*m/(m-w*share))
			} else {
				out.Scores.Set(row, class, math.NaN())
			}
		}
	}
	return out
}

// Validated is a model with a fit that held labels out to make its choices. Their answers calibrate
// the model at no cost.
type Validated interface {
	Model
	// HeldOut returns the answers, on the scale of the scores of the model; nil if there are none,
	// as for a model that was read from a file.
	HeldOut() *HeldOut
}

// Disagreeing is a model of several members.
type Disagreeing interface {
	Model
	// Disagreement returns for each training point how far the members disagree about its class, from 0
	// to 1.
	Disagreement(ctx context.Context) ([]float64, error)
}
