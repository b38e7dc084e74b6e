package pipeline

import (
	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
)

// SurfaceValues returns the values for contour lines: half the difference of two scores, or the
// first output of a regression. It returns nil for more than two classes.
func SurfaceValues(scores *mat.Dense, outcomes []int64) []float64 {
	if len(outcomes) > 2 || scores == nil {
		return nil
	}
	values := mat.Col(nil, 0, scores)
	if outcomes == nil {
		return values
	}
	for i := range values {
		values[i] = (scores.At(i, 1) - values[i]) / 2
	}
	return values
}

// SurfaceAreas returns the number of the class of each cell in the order of labels, or in the
// order of the model if labels is nil or lacks the class.
func SurfaceAreas(classes []int32, o models.Output, labels *data.Labels) []int {
	number := make([]int, len(o.Classes))
	for k := range number {
		number[k] = k
		for c := 0; labels != nil && c < len(labels.Classes); c++ {
			if labels.Name(int32(c)) == data.ClassName(o.Classes, o.Names, int32(k)) {
				number[k] = c
			}
		}
	}

	out := make([]int, len(classes))
	for i, c := range classes {
		out[i] = number[c]
	}
	return out
}
