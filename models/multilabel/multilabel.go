// Package multilabel makes targets of points that may have several labels, and the graph of
// the labels that vector-valued learners join their outputs by.
package multilabel

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/models"
)

// LabelTargets makes targets of points that may have several labels. y is an N×n block of 1
// and −1, or of 1 and 0, which becomes −1. NaN is an entry that is not known; a row of NaN is
// a point without labels. Anything else is an error, and so are both −1 and 0 in one block.
// values holds the labels of the columns, ascending; nil numbers them from 0.
func LabelTargets(y *mat.Dense, values []int64) (*models.Targets, error) {
	_, n := y.Dims()
	if values == nil {
		for j := range n {
			values = append(values, int64(j))
		}
	}

	if len(values) != n {
		return nil, fmt.Errorf("models: %d labels for %d columns", len(values), n)
	}
	coded, err := Signs(y)
	if err != nil {
		return nil, err
	}
	t, err := PartialTargets(coded)
	if err != nil {
		return nil, err
	}

	t.Labels = values
	return t, nil
}

// Signs returns a copy of y with −1 in place of 0.
func Signs(y *mat.Dense) (*mat.Dense, error) {
	// Both forms in one block would leave open what 0 means beside −1.
	out := mat.DenseCopyOf(y)
	var minus, zero bool
	n, _ := y.Dims()
	for i := range n {
		row := out.RawRowView(i)
		for j, v := range row {
			switch {
			case v == 1 || math.IsNaN(v):
			case v == -1:
				minus = true
			case v == 0:
				zero = true
				row[j] = -1
			default:
				return nil, fmt.Errorf("models: label %d of point %d is %v; it must be 1, and −1 or "+
					"0, or NaN", j, i, v)
			}
			if minus && zero {
				return nil, fmt.Errorf("models: label %d of point %d is %v, but others are −1 and 0; "+
					"a block must have one of them", j, i, v)
			}
		}
	}

	return out, nil
}

// PartialTargets makes targets of a regression with n outputs. y is an N×n block with NaN for
// every value that is not known. Y of the targets keeps these NaN, which
// [kernelmachine.VVMRProblem.Fit] expects. A row of NaN is a point without a target.
// Infinities are errors.
func PartialTargets(y *mat.Dense) (*models.Targets, error) {
	n, m := y.Dims()
	t := &models.Targets{Len: n}
	var values []float64
	for i := range n {
		row := y.RawRowView(i)
		known := false

		// Comparisons with NaN are false, so an unknown value passes the bound.
		for j, v := range row {
			if math.Abs(v) > models.MaxTarget {
				return nil, fmt.Errorf("models: the target of point %d, column %d, is %v; beyond ±%g "+
					"its square overflows: scale the targets", i, j, v, models.MaxTarget)
			}
			known = known || !math.IsNaN(v)
		}
		if known {
			t.Labeled = append(t.Labeled, i)
			values = append(values, row...)
		}
	}

	if len(t.Labeled) == 0 {
		return nil, fmt.Errorf("models: no point has a target")
	}
	t.Y = mat.NewDense(len(t.Labeled), m, values)
	return t, nil
}
