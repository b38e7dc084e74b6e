package pipeline

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/file/table"
	"github.com/bigfit/bigfit/models"
	"github.com/bigfit/bigfit/models/threshold"
)

// AnswerSettings describes answers in the manifest of their file.
type AnswerSettings struct {
	Learner string `json:"learner,omitempty"`
	// Answers is classes, scores, values, labels, coordinates, clusters or features.
	Answers string `json:"answers"`
	// Threshold that decided between two classes; nil if the model did.
	Threshold *threshold.Threshold `json:"threshold,omitempty"`
}

// Answers holds results with one row for each point. [Answers.Write] writes them in the format
// that the extension of a file names.
type Answers struct {
	Settings AnswerSettings
	Columns  []Column
	IDs      *data.IDs // nil if points have numbers only
	Hashes   Hashes
	Files    archive.Files
	// CSVSafe says that csv has ' in front of ids and names that a spreadsheet would take for formulas.
	CSVSafe bool
}

// Column is one column of a file of answers.
type Column struct {
	Name string
	// Values is a slice of int64, int32, float64, float32, string or bool, row by row.
	Values any
	// Width is the number of values of a row; 0 means one value, and an array of one
	// dimension in .npy.
	Width int
	// Names holds the names of the values of a row in csv. Default: the name of the column
	// followed by _0, _1, …
	Names []string
}

// Write writes the answers. A number of ids other than the number of rows is an error.
func (a *Answers) Write(path string) error {
	m, err := archive.New(archive.Answers, a.Settings, a.Hashes, a.Files)
	if err != nil {
		return err
	}
	text, err := m.Bytes()
	if err != nil {
		return err
	}
	out := &table.Output{Manifest: string(text), CSVSafe: a.CSVSafe}
	for _, c := range a.Columns {
		out.Columns = append(out.Columns, table.Result(c))
	}
	if a.IDs != nil {
		out.IDs = a.IDs.Values
	}
	return table.Write(path, out)
}

// PredictionAnswers returns the classes of points, by name if they have names, or the values
// of a regression, scores of labels or coordinates.
func PredictionAnswers(m models.Model, p *models.Prediction) Answers {
	o := m.Output()
	a := Answers{Settings: AnswerSettings{Learner: m.Name(), Answers: o.Kind.String()}}
	switch {
	case o.Labels != nil && o.Names != nil:
		a.Columns = []Column{numbers("score", p.Scores, names("score", o.Names))}
	case o.Labels != nil:
		a.Columns = []Column{numbers("score", p.Scores, names("score", o.Labels))}
	case o.Kind == models.OutputValues && o.Names != nil:
		a.Columns = []Column{numbers("value", p.Scores, names("value", o.Names))}
	case o.Names != nil || o.Kind == models.OutputClasses:
		return ClassAnswers(m.Name(), p.Classes, o.Classes, o.Names)
	default:
		a.Columns = []Column{numbers("value", p.Scores, nil)}
	}

	return a
}

// ClassAnswers returns classes, given by their positions, by name if they have names.
func ClassAnswers(learner string, at []int32, classes []int64, names []string) Answers {
	label := Column{Name: "label"}
	if names != nil {
		label.Values = choose(at, names)
	} else {
		label.Values = choose(at, classes)
	}
	return Answers{Settings: AnswerSettings{Learner: learner, Answers: models.OutputClasses.String()},
		Columns: []Column{label}}
}

// ScoreAnswers returns the scores of all classes.
func ScoreAnswers(m models.Model, p *models.Prediction) Answers {
	o := m.Output()
	columns := names("score", o.Classes)
	if o.Names != nil {
		columns = names("score", o.Names)
	}
	return Answers{
		Settings: AnswerSettings{Learner: m.Name(), Answers: "scores"},
		Columns:  []Column{numbers("score", p.Scores, columns)},
	}
}

// CoordinateAnswers returns the coordinates of points, n×p also for p = 1.
func CoordinateAnswers(learner string, e *mat.Dense) Answers {
	_, width := e.Dims()
	c := numbers("x", e, nil)
	c.Width = width
	return Answers{Settings: AnswerSettings{Learner: learner, Answers: "coordinates"}, Columns: []Column{c}}
}

// FeaturesKind is the kind of answers that [FeatureAnswers] makes.
const FeaturesKind = "features"

// FeatureAnswers returns features of points under the names of their columns in tables.
func FeatureAnswers(f *data.Dense[float32], columns []string) Answers {
	return Answers{Settings: AnswerSettings{Answers: FeaturesKind},
		Columns: []Column{{Name: "X", Values: f.Data, Width: f.Cols, Names: columns}}}
}

// ClusterAnswers returns the numbers of clusters.
func ClusterAnswers(clusters []int64) Answers {
	return Answers{Settings: AnswerSettings{Answers: "clusters"},
		Columns: []Column{{Name: "cluster", Values: clusters}}}
}

// numbers makes a column of a matrix. A matrix of one column becomes an array of one
// dimension.
func numbers(name string, x *mat.Dense, columns []string) Column {
	r := x.RawMatrix()
	if r.Stride != r.Cols {
		r = mat.DenseCopyOf(x).RawMatrix()
	}
	out := Column{Name: name, Values: r.Data}
	if r.Cols != 1 {
		out.Width = r.Cols
		out.Names = columns
	}
	return out
}

// names returns prefix_v for every v.
func names[T any](prefix string, of []T) []string {
	out := make([]string, len(of))
	for i, v := range of {
		out[i] = fmt.Sprintf("%s_%v", prefix, v)
	}
	return out
}

// choose returns the elements of a list at the given positions.
func choose[T any](index []int32, of []T) []T {
	out := make([]T, len(index))
	for i, c := range index {
		out[i] = of[c]
	}
	return out
}
