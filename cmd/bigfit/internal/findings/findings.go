// Package findings makes the sections of a report on somebody's own points: how often the answers are
// right and what to do next, where the points lie, how sure the answers are, and which of them a
// person should look at.
//
// It fits nothing itself: answers come from a model, for all points, and places from
// [pipeline.Pipeline.Plane]. All that a report says of right and wrong rests on answers for labels
// that the answering model did not know: labels that were held out, or the held-out answers that the
// model was calibrated by. The same Fit gives the same sections.
//
// # Places and images
//
// Sections of a report on somebody's points are made of plain results: answers, scores or
// probabilities, labels used and held out, a graph, and places from Pipeline.Plane; commands
// add the run around them. Places are a layout of the graph, or principal components without
// one. Points are shown as images where their columns are a square number,
// their values are bytes or within [0, 1] or [−1, 1], and pixels above each other are more
// alike than others: tests of numbers alone take embeddings of 1024 columns for images.
package findings

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/view/report"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/pipeline"
	"github.com/bigfit/bigfit/sparse"
)

// A Fit is n points with their labels and the answers of a model. A nil field leaves out the
// parts that need it; without Answers the report is on points and labels.
type Fit struct {
	Points data.Points // looked at for images
	IDs    *data.IDs   // what points are called; nil: their numbers from 0
	Graph  *sparse.CSR // of the points
	Plane  *pipeline.Plane

	Targets *pipeline.Targets
	Answers *models.Prediction // for all points, with the scores of classes
	// Probabilities holds the probabilities of the classes, n×c; each row sums to 1. Without
	// it certainty is the difference between the two largest scores.
	Probabilities *mat.Dense
	// Calibration is that of the model, with its held-out answers.
	Calibration *calibration.Calibration
	// Suspects and Outliers are labels and values that may be wrong; nil if they are not known.
	Suspects *active.Suspects
	Outliers []active.Outlier
	// Unreached is the number of points in components of the graph without a label.
	Unreached int
	// Model is the file of the model, for the commands that are advised.
	Model string
	// Shown holds a text for each point; nil for none.
	Shown *Shown
}

// Sections returns the sections of the report.
func (f *Fit) Sections() []report.Section {
	switch {
	case f.Targets.Labels != nil:
		return f.labels()
	case f.insideOnly():
		return f.sides()
	case f.Targets.Used() == nil:
		return f.values()
	}

	// Sections without content are left out, by what the Fit has.
	v := newView(f)
	var sections []report.Section
	if v.answers != nil {
		sections = []report.Section{{Blocks: append([]report.Block{v.headline()}, v.advice()...)}}
	}
	add := func(title string, blocks []report.Block) {
		if len(blocks) > 0 {
			sections = append(sections, report.Section{Title: title, Blocks: blocks})
		}
	}

	add("How often the answers are right", v.reliability())
	add("The points in the plane", v.maps())
	add("Points to look at", v.lists())
	add("Classes", v.shares())
	return sections
}

// A view is a Fit of classes with what follows from it.
type view struct {
	*Fit
	known, used *data.Labels
	answers     []int32   // nil without
	sure        []float64 // the certainty of each answer; nil without
	checked     *evidence // nil without
	images      *imageShape
}

func newView(f *Fit) *view {
	v := &view{Fit: f, known: f.Targets.Known(), used: f.Targets.Used(), images: findImages(f.Points)}
	if f.Answers != nil {
		v.answers = f.Answers.Classes
		v.sure = certainty(f.Answers, f.Probabilities)
		v.checked = v.gather()
	}
	return v
}

// held tells whether the label of point i is known and was held out of the fit.
func (v *view) held(i int) bool {
	return v.known.Index[i] != data.Unlabeled && v.used.Index[i] == data.Unlabeled
}

// wrong tells whether the answer for point i differs from its label held out.
func (v *view) wrong(i int) bool { return v.held(i) && v.answers[i] != v.known.Index[i] }

// name returns the id of point i, or its number.
func (f *Fit) name(i int) string {
	if f.IDs != nil {
		return f.IDs.Values[i]
	}
	return strconv.Itoa(i)
}

// names returns the names of the classes.
func (v *view) names() []string {
	out := make([]string, len(v.known.Classes))
	for c := range out {
		out[c] = v.known.Name(int32(c))
	}
	return out
}

// certainty returns the probability of each answer or, where p is nil, the largest score
// less the second largest. It is nil if there are neither. An answer need not be the most
// probable class: a training point may keep the label that was given.
func certainty(a *models.Prediction, p *mat.Dense) []float64 {
	// Scores of one column have no second class to be compared with.
	from := p
	if from == nil {
		from = a.Scores
	}
	if from == nil {
		return nil
	}
	n, c := from.Dims()
	if n != len(a.Classes) || c < 2 {
		return nil
	}

	out := make([]float64, n)
	for i := range out {
		if p != nil {
			out[i] = p.At(i, int(a.Classes[i]))
			continue
		}
		// The two largest scores in one pass.
		first := math.Inf(-1)
		second := math.Inf(-1)
		for _, x := range from.RawRowView(i) {
			if x > first {
				first, second = x, first
			} else if x > second {
				second = x
			}
		}
		out[i] = first - second
	}

	return out
}

// second returns the class of point i that is second, by probabilities or scores.
func (v *view) second(i int) int32 {
	from := v.Probabilities
	if from == nil {
		from = v.Answers.Scores
	}
	// Classes other than the answer are compared; of equal ones the first counts.
	best := int32(-1)
	for c, x := range from.RawRowView(i) {
		if int32(c) != v.answers[i] && (best < 0 || x > from.At(i, int(best))) {
			best = int32(c)
		}
	}
	return best
}

// percent writes a share of counts.
func percent(part, of int) string {
	if of == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(of))
}
