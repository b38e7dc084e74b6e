// Package calibration turns the scores of any classifier into probabilities, and the
// predictions of any regression into intervals. It is fitted to answers for labeled
// points that the model was not fitted to, as folds of a cross-validation give them, and
// knows nothing of learners.
//
// # Probabilities
//
// The scores s of a point, one a class, become logits z by a [Link], and these, with a
// temperature T ≥ 0 that all classes and points share,
//
//	p_c = exp(T z_c) / Σ_d exp(T z_d)
//
// (Guo, Pleiss, Sun & Weinberger 2017, equation 9, with T for their 1/T). T minimizes the
// log loss of the held-out points, whose labels are smoothed as Platt (1999) does: with l of
// them the true class has the target (l+1)/(l+2) and the others share the rest, so that T is
// finite where all are right. Of the links the one of least log loss is taken.
//
// With [IsotonicFrom] held-out points or more an isotonic regression follows (Zadrozny &
// Elkan 2002): the least-squares non-decreasing function g of all l·c pairs of p_c and 1 if c
// is the true class, else 0, joined linearly; p_c becomes g(p_c) / Σ_d g(p_d). One g serves
// all classes, so that the order of the classes of a point stays as it is.
//
// Where the scores of a point are all the same nothing is known of it, as in components
// without a label: it gets the shares of the classes among the labels. So does every point
// where the scores order held-out points no better than chance, T = 0.
//
// # Intervals
//
// See [Intervals].
//
// # Sources
//
// Platt, Probabilistic outputs for support vector machines, Advances in Large Margin
// Classifiers, 1999. Zadrozny & Elkan, Transforming classifier scores into accurate
// multiclass probability estimates, KDD 2002. Guo, Pleiss, Sun & Weinberger, On calibration
// of modern neural networks, ICML 2017. Vovk, Gammerman & Shafer, Algorithmic Learning in a
// Random World, 2005. Lei, G'Sell, Rinaldo, Tibshirani & Wasserman, Distribution-free
// predictive inference for regression, JASA 113, 2018.
package calibration

import (
	"errors"
	"fmt"
)

// Calibration is what was fitted to held-out answers: Classes or Intervals. It is immutable.
type Calibration struct {
	// Folds of the cross-validation that gave the answers.
	Folds int `json:"folds"`
	// Held is the number of points that it was fitted to.
	Held int `json:"held"`
	// Classes is that of a classifier, Intervals that of a regression; one of them is nil.
	Classes   *Classes   `json:"classes,omitempty"`
	Intervals *Intervals `json:"-"`
	// BreakEven is the threshold of a model with two classes at which precision and recall of
	// the second are equal on the held-out points: it is a value of (s₁ − s₀)/2, half the
	// difference of their scores, from which on a point is called the second. Nil of others.
	BreakEven *float64 `json:"break_even,omitempty"`
}

// ErrFew is that of a calibration on fewer than [Fewest] points.
var ErrFew = errors.New("too few labels to hold some out")

// Fewest is the least number of held-out points that a calibration takes.
const Fewest = 10

// few returns an error if there are fewer than [Fewest] points.
func few(points int) error {
	if points < Fewest {
		return fmt.Errorf("calibration: %w: %d held-out answers count, of points whose class has "+
			"another label; at least %d must", ErrFew, points, Fewest)
	}
	return nil
}

// Check returns an error unless c can be that of a model with so many classes, or, where
// classes is 0, so many values.
func (c *Calibration) Check(classes, values int) error {
	switch {
	case c.Folds < 2 || c.Held < 1:
		return fmt.Errorf("calibration: %d points held out in %d folds", c.Held, c.Folds)
	case (c.Classes != nil) != (classes > 0) || (c.Intervals != nil) == (classes > 0):
		return fmt.Errorf("calibration: of a model with %d classes there are probabilities: %v, intervals: %v", classes, c.Classes != nil, c.Intervals != nil)
	case c.BreakEven != nil && (classes != 2 || *c.BreakEven-*c.BreakEven != 0):
		return fmt.Errorf("calibration: a break-even point at %v of a model with %d classes",
			*c.BreakEven, classes)
	case c.Classes != nil:
		return c.Classes.check(classes)
	}

	return c.Intervals.check(c.Held, values)
}

// String is a few words on it.
func (c *Calibration) String() string {
	what := "intervals"
	if c.Classes != nil {
		what = fmt.Sprintf("probabilities with T = %.3g", c.Classes.Temperature)
		if c.Classes.Link != Identity {
			what += fmt.Sprintf(" on %v", c.Classes.Link)
		}
		if len(c.Classes.Knots) > 0 {
			what += " and isotonic regression"
		}
	}

	return fmt.Sprintf("%s by %d points held out in %d folds", what, c.Held, c.Folds)
}
