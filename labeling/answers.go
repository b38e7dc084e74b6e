package labeling

import (
	"strconv"

	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/active"
	"github.com/bigfit/bigfit/pipeline"
)

// NextAnswers are points to label, the first first: their numbers in row and, unless
// numbers alone are wanted, as in .npy, the rule, its score and the component. ids are
// those of all points, nil for their numbers.
func NextAnswers(rule active.Rule, choices []active.Choice, ids *data.IDs, alone bool) pipeline.Answers {
	rows := make([]int64, len(choices))
	rules := make([]string, len(choices))
	scores := make([]float64, len(choices))
	components := make([]int32, len(choices))
	for q, c := range choices {
		rows[q], rules[q] = int64(c.Point), rule.String()
		scores[q] = c.Score
		components[q] = c.Component
		if c.First {
			rules[q] = FirstOfComponent
		}
	}

	a := pipeline.Answers{Settings: pipeline.AnswerSettings{Answers: "next"}, IDs: named(ids, rows),
		Columns: []pipeline.Column{{Name: "row", Values: rows}}}
	if !alone {
		a.Columns = append(a.Columns, pipeline.Column{Name: "rule", Values: rules},
			pipeline.Column{Name: "score", Values: scores}, pipeline.Column{Name: "component",
				Values: components})
	}
	return a
}

// FirstOfComponent is the rule by which a component without a label comes first.
const FirstOfComponent = "component"

// SuspectAnswers are labels that may be wrong, as [NextAnswers]: the given and the suggested
// label by name, and the score.
func SuspectAnswers(t *models.Targets, list []active.Suspect, ids *data.IDs, alone bool) pipeline.Answers {
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

	label := func(name string, index []int32) pipeline.Column {
		if t.Names != nil {
			return pipeline.Column{Name: name, Values: at(index, t.Names)}
		}
		return pipeline.Column{Name: name, Values: at(index, t.Classes)}
	}

	a := pipeline.Answers{Settings: pipeline.AnswerSettings{Answers: "suspects"}, IDs: named(ids, rows),
		Columns: []pipeline.Column{{Name: "row", Values: rows}}}
	if !alone {
		a.Columns = append(a.Columns, label("label", given), label("suggested", suggested),
			pipeline.Column{Name: "score", Values: scores})
	}
	return a
}

// named are the ids of some rows, their numbers without ids.
func named(ids *data.IDs, rows []int64) *data.IDs {
	out := &data.IDs{Values: make([]string, len(rows))}
	for q, i := range rows {
		if out.Values[q] = strconv.FormatInt(i, 10); ids != nil {
			out.Values[q] = ids.Values[i]
		}
	}
	return out
}

// at are the elements at the positions in index.
func at[T any](index []int32, of []T) []T {
	out := make([]T, len(index))
	for i, c := range index {
		out[i] = of[c]
	}
	return out
}
