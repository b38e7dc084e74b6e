package models

import (
	"context"

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
