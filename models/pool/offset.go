package pool

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/num/dense"
	"github.com/bigfit/bigfit/models"
)

// centre makes the members fit values less their mean over the labeled points, of each column by itself. The model adds
// the mean again, also to the answers for labels that were held out, whose values the mean has seen: a share of 1/l.
// The norms of the members draw f to zero, far from values such as grades of 5 to 9. Classes and several labels a point
// are left as they are.
func (f *fit) centre() {
	t := f.in.Targets
	if kindOf(t) != models.LearnsValues {
		return
	}
	l, c := t.Y.Dims()
	own := *t
	own.Y = mat.DenseCopyOf(t.Y)
	f.offset = make([]float64, c)
	for j := range c {
		var sum, count float64
		for q := range l {
			if y := t.Y.At(q, j); !math.IsNaN(y) {
				sum += y
				count++
			}
		}
		if count > 0 {
			f.offset[j] = sum / count
		}
	}

	f.offsetRows(own.Y, -1)
	f.in.Targets = &own
}

// offsetRows adds sign times the mean to every row of x, if there is one.
func (f *fit) offsetRows(x *mat.Dense, sign float64) {
	if f.offset == nil {
		return
	}
	row := slices.Clone(f.offset)
	for j := range row {
		row[j] *= sign
	}
	dense.AddRow(x, row)
}

// checkOffset returns an error unless the mean in a file belongs to values of c columns.
func checkOffset(offset []float64, c int, classes bool) error {
	if offset == nil {
		return nil
	}
	if classes || len(offset) != c {
		return fmt.Errorf("pool: a mean of %d values for %d outputs", len(offset), c)
	}
	if j := slices.IndexFunc(offset, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); j >= 0 {
		return fmt.Errorf("pool: the mean of output %d is %v", j, offset[j])
	}
	return nil
}
