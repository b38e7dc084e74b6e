package calibration

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Intervals makes prediction intervals around the values of a regression, from the
// residuals of held-out points: of l residuals r the interval of the level 1−α around a
// prediction f(x) is
//
//	f(x) ± q,  q the ⌈(l+1)(1−α)⌉-th smallest |r|
//
// for each value of a point. This is split conformal prediction (Vovk, Gammerman & Shafer 2005;
// Lei et al. 2018, algorithm 2). If f was fitted without the points of r, and new and labeled
// points are drawn alike, the intervals cover at least 1−α of new points. With folds every
// labeled point is held out once and f is fitted to all of them: the residuals belong to models
// of fewer labels, so the intervals tend to be wider than needed.
type Intervals struct {
	// Residuals |r|, l×m, ascending in each column.
	Residuals *mat.Dense
}

// FitIntervals makes intervals of the residuals of held-out points, l×m. Fewer than [Fewest]
// points are an [ErrFew].
func FitIntervals(residuals *mat.Dense) (*Intervals, error) {
	l, m := residuals.Dims()
	if err := Enough(l); err != nil {
		return nil, err
	}
	out := mat.NewDense(l, m, nil)
	for j := range m {
		column := mat.Col(nil, j, residuals)
		for i, v := range column {
			if v-v != 0 {
				return nil, fmt.Errorf("calibration: residual %d is %v", i, v)
			}
			column[i] = math.Abs(v)
		}
		slices.Sort(column)
		out.SetCol(j, column)
	}

	return &Intervals{out}, nil
}

// Half returns half the width of the intervals of a level in (0, 1), for each value. l residuals
// give levels up to l/(l+1); a higher level is an error.
func (c *Intervals) Half(level float64) ([]float64, error) {
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("calibration: the level of an interval is %v; it must lie between 0 and 1",
			level)
	}
	l, _ := c.Residuals.Dims()
	// (l+1)·level may be above an integer by rounding alone.
	at := int(math.Ceil(float64(l+1)*level - 1e-9))
	if at > l {
		return nil, fmt.Errorf("calibration: %d held-out points give intervals up to the level %.3g, "+
			"and %.3g is asked for; give more labels or a lower level", l, float64(l)/float64(l+1), level)
	}
	return slices.Clone(c.Residuals.RawRowView(max(at, 1) - 1)), nil
}

// check returns an error unless the residuals have the given numbers of points and values, and
// ascend.
func (c *Intervals) check(points, values int) error {
	l, m := c.Residuals.Dims()
	if l != points || m != values {
		return fmt.Errorf("calibration: residuals of %d points and %d values; %d and %d are needed", l, m,
			points, values)
	}

	for i := range l {
		for j, v := range c.Residuals.RawRowView(i) {
			if !(v >= 0) || math.IsInf(v, 1) || i > 0 && v < c.Residuals.At(i-1, j) {
				return fmt.Errorf("calibration: residual %d of value %d is %v; residuals must ascend "+
					"from 0", i, j, v)
			}
		}
	}

	return nil
}
