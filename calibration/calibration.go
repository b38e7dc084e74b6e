// Package calibration turns the scores of any classifier into probabilities, and the predictions
// of any regression into intervals. A calibration is fitted to answers for labeled points that
// the model was not fitted to: the held-out folds of a cross-validation. The package knows
// nothing of learners.
//
// # Probabilities
//
// The scores s of a point, one a class, become logits z by a [Link], and these, with a
// temperature T ≥ 0 that all classes and points share,
//
//	p_c = exp(T z_c) / Σ_d exp(T z_d)
//
// (Guo, Pleiss, Sun & Weinberger 2017, equation 9, with T for their 1/T). T minimizes the log
// loss of the l held-out points with labels smoothed after Platt (1999): the true class has the
// target (l+1)/(l+2), and the other classes share the rest. Smoothed targets keep T finite even
// if all answers are right. The link of least log loss is taken. A soft label, a distribution over the
// classes, is smoothed alike: the share q of a class becomes q(l+1)/(l+2) + (1−q)/((l+2)(c−1)). Weights
// of labels weigh the mean of the losses.
//
// With [IsotonicFrom] held-out points or more an isotonic regression follows (Zadrozny & Elkan
// 2002). All l·c probabilities p_c are paired with 1 if c is the true class and else 0, or with the
// share of c in a soft label; g is the
// least-squares non-decreasing function of these pairs, joined linearly. p_c becomes
// g(p_c) / Σ_d g(p_d). One g serves all classes, so the order of the classes of a point stays.
//
// Equal scores for all classes say nothing about a point, for example in a component without a
// label. Such a point gets the shares of the classes among the labels. So does every point if
// the scores order held-out points no better than chance, T = 0.
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

	"gonum.org/v1/gonum/mat"
)

// Calibration holds the Classes or the Intervals that were fitted to held-out answers. It is
// immutable. In a model file it is JSON in the manifest, but for the residuals of Intervals,
// which are an array: see package models.
type Calibration struct {
	// Folds is the number of folds of the cross-validation that gave the answers; 0 if every label
	// was left out alone, or none.
	Folds int `json:"folds"`
	// Held is the number of points that the calibration was fitted to; 0 if it is [Rough].
	Held int `json:"held"`
	// Out holds the answers of these points, nil if they are not known.
	Out *Out `json:"-"`
	// Classes belongs to a classifier, Intervals to a regression; one of them is nil.
	Classes   *Classes   `json:"classes,omitempty"`
	Intervals *Intervals `json:"-"`
	// BreakEven is a threshold for a model with two classes: precision and recall of the
	// second class on the held-out points are equal if points with (s₁ − s₀)/2, half the
	// difference of the scores, of at least BreakEven are called the second. It is nil for
	// other models.
	BreakEven *float64 `json:"break_even,omitempty"`
}

// Out holds the answers for labeled points by models that did not know their labels.
type Out struct {
	// Points are numbers of training points, ascending. A point is left out if no model without its
	// label knew its class, or anything of the point.
	Points []int32
	// Probabilities of the classes, a row for each of Points; nil for values.
	Probabilities *mat.Dense
	// Residuals, values less answers, a row for each of Points; nil for classes.
	Residuals *mat.Dense
}

// Rough tells that no answers were held out: the temperature is a rule, not a fit. See [RoughClasses].
func (c *Calibration) Rough() bool { return c.Classes != nil && c.Held == 0 }

// ErrFew is the error of a calibration on fewer than [Fewest] points.
var ErrFew = errors.New("too few labels to hold some out")

// Fewest is the least number of held-out points that a calibration takes. Ten points give
// intervals up to the level 10/11, which is just above the usual 90 %.
const Fewest = 10

// Enough returns an [ErrFew] if there are fewer than [Fewest] points.
func Enough(points int) error {
	if points < Fewest {
		return fmt.Errorf("calibration: %w: %d held-out answers count, of points whose class has "+
			"another label; at least %d must", ErrFew, points, Fewest)
	}
	return nil
}

// Check returns an error unless c suits a model with the given number of classes, or, if classes
// is 0, of values.
func (c *Calibration) Check(classes, values int) error {
	switch {
	case c.Folds < 0 || c.Folds == 1 || c.Held < 0 || c.Held == 0 && (c.Classes == nil || c.Folds > 0):
		return fmt.Errorf("calibration: %d points held out in %d folds", c.Held, c.Folds)
	case (c.Classes != nil) != (classes > 0) || (c.Intervals != nil) == (classes > 0):
		return fmt.Errorf("calibration: of a model with %d classes there are probabilities: %v, "+
			"intervals: %v", classes, c.Classes != nil, c.Intervals != nil)
	case c.BreakEven != nil && (classes != 2 || *c.BreakEven-*c.BreakEven != 0):
		return fmt.Errorf("calibration: a break-even point at %v of a model with %d classes",
			*c.BreakEven, classes)
	}

	var faults []error
	if c.Out != nil {
		faults = append(faults, c.Out.check(classes, values))
	}
	if c.Classes != nil {
		faults = append(faults, c.Classes.check(classes))
	} else {
		faults = append(faults, c.Intervals.check(c.Held, values))
	}
	return errors.Join(faults...)
}

// String describes the calibration in a few words.
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

	switch {
	case c.Held == 0:
		return what + " by rule, as no labels were held out: rough"
	case c.Folds == 0:
		return fmt.Sprintf("%s by %d points held out one by one", what, c.Held)
	}
	return fmt.Sprintf("%s by %d points held out in %d folds", what, c.Held, c.Folds)
}

// check returns an error unless the parts fit together and suit the number of classes, or of values if
// classes is 0.
func (o *Out) check(classes, values int) error {
	answers := o.Residuals
	want := values
	if classes > 0 {
		answers = o.Probabilities
		want = classes
	}
	if answers == nil || (o.Residuals == nil) == (o.Probabilities == nil) {
		return fmt.Errorf("calibration: held-out answers of a model with %d classes are of another kind", classes)
	}
	rows, columns := answers.Dims()
	if rows != len(o.Points) || columns != want {
		return fmt.Errorf("calibration: held-out answers %d×%d of %d points and %d columns", rows, columns,
			len(o.Points), want)
	}
	for k, i := range o.Points {
		if i < 0 || k > 0 && i <= o.Points[k-1] {
			return fmt.Errorf("calibration: element %d of the held-out points is %d; they must ascend", k, i)
		}
	}
	for k := range rows {
		for _, v := range answers.RawRowView(k) {
			if classes > 0 && !(v >= 0 && v <= 1) || v-v != 0 {
				return fmt.Errorf("calibration: a held-out answer of point %d is %v", o.Points[k], v)
			}
		}
	}
	return nil
}
