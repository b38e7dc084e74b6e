package labeling

import (
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/pipeline"
)

// NextAnswers returns points to label, best first, with the columns row, the number of the
// point, label, rule, score and component. today holds the answers of the model m for all points, which
// fill the column label, and p, the probability of the label, if m has probabilities. Without answers,
// nil, the column label is empty, for whoever labels. With alone, as for .npy files, it returns the column
// row only. ids holds the ids of all points; nil means that they have numbers only.
func NextAnswers(choices []active.Choice, ids *data.IDs, alone bool, m models.Model,
	today *models.Prediction) pipeline.Answers {
	rows := make([]int64, len(choices))
	rules := make([]string, len(choices))
	scores := make([]float64, len(choices))
	components := make([]int32, len(choices))
	for q, c := range choices {
		rows[q] = int64(c.Point)
		rules[q] = c.Rule.String()
		scores[q] = c.Score
		components[q] = c.Component
		if c.First {
			rules[q] = FirstOfComponent
		}
	}

	a := pipeline.Answers{Settings: pipeline.AnswerSettings{Answers: "next"}, IDs: named(ids, rows),
		Columns: []pipeline.Column{{Name: "row", Values: rows}}}
	if !alone {
		if today != nil && m.Output().Kind == models.OutputClasses {
			a.Columns = append(a.Columns, todayColumns(m, today, rows)...)
		} else {
			a.Columns = append(a.Columns, pipeline.Column{Name: "label", Values: make([]string, len(rows))})
		}
		a.Columns = append(a.Columns, pipeline.Column{Name: "rule", Values: rules},
			pipeline.Column{Name: "score", Values: scores},
			pipeline.Column{Name: "component", Values: components})
	}
	return a
}

// todayColumns returns the classes of some points, by name if they have names, and how probable
// the model finds them.
func todayColumns(m models.Model, today *models.Prediction, rows []int64) []pipeline.Column {
	o := m.Output()
	classes := make([]int32, len(rows))
	p := make([]float64, len(rows))
	for q, i := range rows {
		classes[q] = today.Classes[i]
		if today.Probabilities != nil {
			p[q] = today.Probabilities.At(int(i), int(classes[q]))
		}
	}

	out := []pipeline.Column{{Name: "label", Values: at(classes, o.Classes)}}
	if o.Names != nil {
		out[0].Values = at(classes, o.Names)
	}
	if today.Probabilities != nil {
		out = append(out, pipeline.Column{Name: "p", Values: p})
	}
	return out
}

// FirstOfComponent is the name of the rule for the first point of a component without a label.
const FirstOfComponent = "component"

// SuspectAnswers returns labels that may be wrong, with the columns row, label, suggested and
// score; labels are named. alone and ids have the meaning that they have in [NextAnswers]. fit holds
// the numbers of the points in the fit ([RowsOf]).
func SuspectAnswers(t *models.Targets, list []active.Suspect, ids *data.IDs, alone bool,
	fit []int32) pipeline.Answers {
	rows := make([]int64, len(list))
	scores := make([]float64, len(list))
	given := make([]int32, len(list))
	suggested := make([]int32, len(list))
	for q, s := range list {
		rows[q] = int64(s.Point)
		given[q] = s.Given
		suggested[q] = s.Suggested
		scores[q] = s.Score
	}

	// Classes appear by their names, or as the integers of the label file.
	label := func(name string, index []int32) pipeline.Column {
		if t.Names != nil {
			return pipeline.Column{Name: name, Values: at(index, t.Names)}
		}
		return pipeline.Column{Name: name, Values: at(index, t.Classes)}
	}

	a := pipeline.Answers{Settings: pipeline.AnswerSettings{Answers: "suspects"}, IDs: named(ids, rows),
		Columns: []pipeline.Column{{Name: "row", Values: rows}}}
	for q, s := range list {
		rows[q] = int64(rowAt(fit, s.Point))
	}
	if !alone {
		a.Columns = append(a.Columns, label("label", given), label("suggested", suggested),
			pipeline.Column{Name: "score", Values: scores})
	}
	return a
}

// OutlierAnswers returns values of the targets t that may be wrong, with the columns row, value, predicted and score; several
// values a point have their names behind value and predicted. alone and ids have the meaning that they have in [NextAnswers].
func OutlierAnswers(t *models.Targets, list []active.Outlier, ids *data.IDs, alone bool) pipeline.Answers {
	rows := make([]int64, len(list))
	scores := make([]float64, len(list))
	var given, predicted []float64
	for q, v := range list {
		rows[q] = int64(v.Point)
		scores[q] = v.Score
		given = append(given, v.Given...)
		predicted = append(predicted, v.Predicted...)
	}

	a := pipeline.Answers{Settings: pipeline.AnswerSettings{Answers: "suspects"}, IDs: named(ids, rows),
		Columns: []pipeline.Column{{Name: "row", Values: rows}}}
	if !alone {
		width := 0
		if _, m := t.Y.Dims(); m > 1 {
			width = m
		}
		column := func(name string, values []float64) pipeline.Column {
			c := pipeline.Column{Name: name, Values: values, Width: width}
			for _, of := range t.Names {
				c.Names = append(c.Names, name+"_"+of)
			}
			return c
		}
		a.Columns = append(a.Columns, column("value", given), column("predicted", predicted),
			pipeline.Column{Name: "score", Values: scores})
	}
	return a
}

// named returns the ids of some rows, nil if ids is nil.
func named(ids *data.IDs, rows []int64) *data.IDs {
	if ids == nil {
		return nil
	}
	out := &data.IDs{Values: make([]string, len(rows))}
	for q, i := range rows {
		out.Values[q] = ids.Values[i]
	}
	return out
}

// at returns the elements at the positions in index.
func at[T any](index []int32, of []T) []T {
	out := make([]T, len(index))
	for i, c := range index {
		out[i] = of[c]
	}
	return out
}
