package findings

import (
	"fmt"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models/metrics"
)

// evidence holds answers for labeled points by models that did not know their labels. A report
// measures with nothing else.
type evidence struct {
	points []int     // ascending
	truth  []int32   // their labels
	answer []int32   // what the models said
	sure   []float64 // the certainty of each answer; nil without
	// probable tells that certainties are probabilities.
	probable bool
	how      string // ends a sentence: "labels that were held out of the fit"
}

// gather returns the labels that were held out of the fit, or the held-out answers of the
// calibration, whichever are more.
func (v *view) gather() *evidence {
	out := v.heldOut()
	back := v.heldBack()
	if out == nil || back != nil && len(back.points) >= len(out.points) {
		return back
	}
	return out
}

// heldBack returns the answers of the model for the labels that were held out; nil without any.
func (v *view) heldBack() *evidence {
	if v.answers == nil {
		return nil
	}
	e := &evidence{probable: v.Probabilities != nil, how: "labels that were held out of the fit"}
	for i := range v.used.Index {
		if !v.held(i) {
			continue
		}
		e.points = append(e.points, i)
		e.truth = append(e.truth, v.known.Index[i])
		e.answer = append(e.answer, v.answers[i])
		if v.sure != nil {
			e.sure = append(e.sure, v.sure[i])
		}
	}
	if len(e.points) == 0 {
		return nil
	}
	return e
}

// heldOut returns the answers of the folds that the model was calibrated by; nil without any.
func (v *view) heldOut() *evidence {
	c := v.Calibration
	if c == nil || c.Out == nil || c.Out.Probabilities == nil || len(c.Out.Points) == 0 {
		return nil
	}
	e := &evidence{probable: true, how: "labels, each answered by a fit without it (" + folds(c.Folds) + ")"}
	for k, i := range c.Out.Points {
		p := c.Out.Probabilities.RawRowView(k)
		best := 0
		for class := range p {
			if p[class] > p[best] {
				best = class
			}
		}

		// A label that joined later may lie beyond the labels of this run.
		if int(i) >= len(v.used.Index) || v.used.Index[i] == data.Unlabeled {
			continue
		}
		e.points = append(e.points, int(i))
		e.truth = append(e.truth, v.used.Index[i])
		e.answer = append(e.answer, int32(best))
		e.sure = append(e.sure, p[best])
	}
	return e
}

// folds names a cross-validation; 0 folds leave every label out alone.
func folds(n int) string {
	if n == 0 {
		return "labels left out one by one"
	}
	return fmt.Sprintf("cross-validation in %d folds", n)
}

// count returns the number of answers; 0 of nil.
func (e *evidence) count() int {
	if e == nil {
		return 0
	}
	return len(e.points)
}

// right tells whether answer k is right.
func (e *evidence) right(k int) bool { return e.answer[k] == e.truth[k] }

// rate returns the share of right answers and its standard error.
func (e *evidence) rate() (share, deviation float64) {
	right := 0
	for k := range e.points {
		if e.right(k) {
			right++
		}
	}
	n := float64(len(e.points))
	share = float64(right) / n

	return share, metrics.ShareError(share, n)
}

// trivial returns the share of the most frequent label among the checked ones.
func (e *evidence) trivial() float64 {
	counts := map[int32]int{}
	most := 0
	for _, c := range e.truth {
		counts[c]++
		most = max(most, counts[c])
	}
	return float64(most) / float64(len(e.truth))
}

// wrongAbove counts the answers with a certainty of at least p, and the wrong ones among them.
func (e *evidence) wrongAbove(p float64) (wrong, of int) {
	for k, s := range e.sure {
		if s < p {
			continue
		}
		of++
		if !e.right(k) {
			wrong++
		}
	}
	return wrong, of
}

// confusion counts the answers by label and answer.
func (e *evidence) confusion(classes int) [][]int {
	out := make([][]int, classes)
	for c := range out {
		out[c] = make([]int, classes)
	}
	for k := range e.points {
		out[e.truth[k]][e.answer[k]]++
	}
	return out
}
