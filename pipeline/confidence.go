package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/param"
)

// Unsure is the answer for a point with a class that is less probable than asked for. A file
// that can hold integers only has [UnsureClass] in its place.
const Unsure = "unsure"

// UnsureClass is [Unsure] among integers.
const UnsureClass = -1

// Confidence holds how sure the classes of a prediction are.
type Confidence struct {
	P      []float64 // probability of the class of each point
	Second []int32   // the most probable of the other classes
	Margin []float64 // P minus the probability of Second
}

// ConfidenceOf reads the probabilities of p. The class of a point need not have the largest
// probability: a training point has its given label, and training points vote on new points of
// an eigenmap. Such a margin may be negative.
func ConfidenceOf(p *models.Prediction) *Confidence {
	n := len(p.Classes)
	c := &Confidence{P: make([]float64, n), Second: make([]int32, n), Margin: make([]float64, n)}
	for i, class := range p.Classes {
		row := p.Probabilities.RawRowView(i)
		// The most probable class beside the answer, which need not be the most probable itself.
		second := int32(-1)
		for j, v := range row {
			if int32(j) != class && (second < 0 || v > row[second]) {
				second = int32(j)
			}
		}
		c.P[i] = row[class]
		c.Second[i] = second
		c.Margin[i] = row[class] - row[second]
	}

	return c
}

// Rejected counts the points with a class of a probability below least.
func (c *Confidence) Rejected(least float64) (count int) {
	for _, v := range c.P {
		if v < least {
			count++
		}
	}
	return count
}

// HasProbabilities tells whether m gives probabilities of classes.
func HasProbabilities(m models.Model) bool {
	c := models.CalibrationOf(m)
	return c != nil && c.Classes != nil
}

// Training returns the answers of m for its training points, nil if m keeps none. It returns
// scores of classes and probabilities only if they are asked for.
func Training(m models.Model, scores, probabilities bool) (*models.Prediction, error) {
	t, ok := m.(models.Trained)
	if !ok {
		return nil, nil
	}
	p := *t.Training(scores)
	var err error
	if probabilities {
		p.Probabilities, err = models.TrainingProbabilities(m)
	}
	return &p, err
}

// AnswersTo returns the answers for a file of the given name. A table shows the probabilities
// of answers that have them: see [SureAnswers]. Points with a class less probable than least
// are unsure; a level above 0 adds the bounds of intervals.
func AnswersTo(path string, m models.Model, p *models.Prediction, least, level float64) (Answers, error) {
	switch {
	case level > 0:
		return IntervalAnswers(m, p, level)
	case p.Probabilities == nil:
		return PredictionAnswers(m, p), nil
	}

	whole := !table.IsTable(path)
	a, err := SureAnswers(m, p, least, whole)
	if whole {
		a.Columns = a.Columns[:1]
	}
	return a, err
}

// SureAnswers returns the classes of points with their probability p, the second class and the
// margin. Points with a probability below least are [Unsure]. If classes are integers and
// whole is set, as for an array, their label is [UnsureClass]; else all labels become text.
func SureAnswers(m models.Model, p *models.Prediction, least float64, whole bool) (Answers, error) {
	a := PredictionAnswers(m, p)
	o := m.Output()
	c := ConfidenceOf(p)
	label := &a.Columns[0]
	values, integers := label.Values.([]int64)
	switch {
	case least == 0:
	case integers && whole && slices.Contains(o.Classes, UnsureClass):
		return a, fmt.Errorf("%d is a class of the model, and in an array of integers the answer for "+
			"unsure points; write a .csv, .jsonl or .parquet file, or leave %s out", UnsureClass,
			param.Name("reject"))
	case integers && whole:
		label.Values = reject(c.P, least, values, UnsureClass)
	case integers:
		text := make([]string, len(values))
		for i, v := range values {
			text[i] = strconv.FormatInt(v, 10)
		}
		label.Values = reject(c.P, least, text, Unsure)
	case slices.Contains(o.Names, Unsure):
		return a, fmt.Errorf("a class is called %q, which is the answer for unsure points; leave %s out",
			Unsure, param.Name("reject"))
	default:
		label.Values = reject(c.P, least, choose(p.Classes, o.Names), Unsure)
	}

	second := Column{Name: "second", Values: choose(c.Second, o.Classes)}
	if o.Names != nil {
		second.Values = choose(c.Second, o.Names)
	}
	a.Columns = append(a.Columns, Column{Name: "p", Values: c.P}, second,
		Column{Name: "margin", Values: c.Margin})
	return a, nil
}

// reject replaces answers with a probability below least by by.
func reject[T any](p []float64, least float64, answers []T, by T) []T {
	for i, v := range p {
		if v < least {
			answers[i] = by
		}
	}
	return answers
}

// ProbabilityAnswers returns the probabilities of all classes, n×c.
func ProbabilityAnswers(m models.Model, p *models.Prediction) Answers {
	o := m.Output()
	columns := names("p", o.Classes)
	if o.Names != nil {
		columns = names("p", o.Names)
	}
	return Answers{Settings: AnswerSettings{Learner: m.Name(), Answers: "probabilities"},
		Columns: []Column{numbers("p", p.Probabilities, columns)}}
}

// IntervalAnswers returns the values of a regression with the bounds of their intervals of a
// level: see [calibration.Intervals].
func IntervalAnswers(m models.Model, p *models.Prediction, level float64) (Answers, error) {
	low, high, err := Interval(m, p, level)
	if err != nil {
		return Answers{}, err
	}
	a := PredictionAnswers(m, p)
	of := m.Output().Names
	if of == nil {
		a.Columns = append(a.Columns, numbers("low", low, nil), numbers("high", high, nil))
	} else {
		a.Columns = append(a.Columns, numbers("low", low, names("low", of)), numbers("high", high, names("high", of)))
	}
	return a, nil
}

// Interval returns the bounds of intervals of a level around the values of p.
func Interval(m models.Model, p *models.Prediction, level float64) (low, high *mat.Dense, err error) {
	c := models.CalibrationOf(m)
	if c == nil || c.Intervals == nil {
		return nil, nil, errors.New("the model has no intervals")
	}
	half, err := c.Intervals.Half(level)
	if err != nil {
		return nil, nil, err
	}
	n, m0 := p.Scores.Dims()

	// Half the length of an interval depends on the output, not on the point.
	low = mat.NewDense(n, m0, nil)
	high = mat.NewDense(n, m0, nil)
	for i := range n {
		for j, v := range p.Scores.RawRowView(i) {
			low.Set(i, j, v-half[j])
			high.Set(i, j, v+half[j])
		}
	}

	return low, high, nil
}
