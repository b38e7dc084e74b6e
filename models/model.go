package models

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/bigfit/bigfit/archive"
	"github.com/bigfit/bigfit/calibration"
	"github.com/bigfit/bigfit/cg"
	"github.com/bigfit/bigfit/data"
	"github.com/bigfit/bigfit/internal/enum"
	"github.com/bigfit/bigfit/knn"
	"github.com/bigfit/bigfit/lanczos"
	"github.com/bigfit/bigfit/solvers"
	"github.com/bigfit/bigfit/stage"
)

// Model is a fitted model: immutable, and safe for concurrent use.
type Model interface {
	// Name returns the name of the learner.
	Name() string
	// Output describes the answers.
	Output() Output
	// Dim is the number of columns of the points that Predict takes; 0 if the model
	// was fitted without points and answers for no others.
	Dim() int
	// QueryCost estimates an answer for n points at once. A nil s means the
	// defaults.
	QueryCost(n int, s *PredictSettings) stage.Cost
	// Predict answers for m points of Dim columns. A nil s means the defaults. The
	// answer for a point does not depend on the other points asked for at once.
	Predict(ctx context.Context, x data.Points, s *PredictSettings) (*Prediction, error)
	// Summary describes the model and its fit.
	Summary() Summary
	// Encode returns what [Save] writes and the learner's Decode reads.
	Encode() (*Encoded, error)
}

// Trained is a model that keeps its answers for the training points.
type Trained interface {
	Model
	// Training returns these answers, with scores of classes only if asked for.
	Training(scores bool) *Prediction
}

// OutputKind is the kind of a model's answers.
type OutputKind int

// The kinds of answers.
const (
	OutputClasses     OutputKind = iota // one class a point
	OutputLabels                        // scores, positive for each label that a point has
	OutputValues                        // numbers
	OutputCoordinates                   // a place in a space of fewer dimensions
)

var outputKinds = enum.New[OutputKind]("kind of output", "classes", "labels", "values", "coordinates")

// String returns the name used in manifests.
func (k OutputKind) String() string { return outputKinds.String(k) }

// MarshalText returns the name.
func (k OutputKind) MarshalText() ([]byte, error) { return outputKinds.Marshal(k) }

// UnmarshalText is the inverse of MarshalText.
func (k *OutputKind) UnmarshalText(text []byte) error { return outputKinds.Unmarshal(k, text) }

// Output describes the answers of a model.
type Output struct {
	Kind OutputKind `json:"kind"`
	// Classes holds the values that Prediction.Classes are positions in.
	Classes []int64 `json:"classes,omitempty"`
	// Names are the names of the classes, labels or values; nil if they have none. See [WithNames].
	Names []string `json:"names,omitempty"`
	// Labels holds the labels of the columns of Prediction.Scores.
	Labels []int64 `json:"labels,omitempty"`
	// Columns of Prediction.Scores.
	Columns int `json:"columns"`
	// Extends and Searches tell whether [PredictSettings.Extension] and Neighbors
	// matter to the model.
	Extends  bool `json:"-"`
	Searches bool `json:"-"`
}

// OutputOf describes the answers that [NewPrediction] makes: classes, or, if classes is nil,
// columns values a point.
func OutputOf(classes []int64, columns int) Output {
	if classes == nil {
		return Output{Kind: OutputValues, Columns: columns}
	}
	return Output{Kind: OutputClasses, Classes: classes, Columns: len(classes)}
}

// Extension is a way to classify points outside the training set of an eigenmap.
type Extension int

const (
	// LabelKNN labels the training points first and then takes a vote of the k
	// nearest of them (Belkin & Niyogi 2004, section 6.5).
	LabelKNN Extension = iota
	// Nystrom extends the eigenvectors to the new points through the weights of
	// their edges to the training points and applies the classifier.
	Nystrom
)

var extensions = enum.New[Extension]("extension", "knn", "nystrom")

// String returns the name used on the command line and in manifests.
func (e Extension) String() string { return extensions.String(e) }

// MarshalText returns the name.
func (e Extension) MarshalText() ([]byte, error) { return extensions.Marshal(e) }

// UnmarshalText is the inverse of MarshalText.
func (e *Extension) UnmarshalText(text []byte) error { return extensions.Unmarshal(e, text) }

// PredictSettings are the settings of [Model.Predict]. Models ignore a setting if [Output]
// says that it does not matter to them.
type PredictSettings struct {
	Extension Extension
	// Neighbors is the number of nearest training points that decide an answer. The
	// default is the model's.
	Neighbors int
	// Probabilities asks for [Prediction.Probabilities]. Only a model with a calibration
	// has them.
	Probabilities bool
	// Found holds the nearest training points of the points asked for, where several models
	// share one search. A model that needs more of them, or finds nil, searches itself.
	Found *knn.Neighbors
	// OnProgress, if not nil, is called with the number of points answered.
	OnProgress func(done, total int)
}

// Prediction holds the answers for m points.
type Prediction struct {
	Classes []int32 // positions in Output.Classes; nil for other kinds of output
	// Scores is m×Output.Columns: a score a class or label, or the values or
	// coordinates themselves.
	Scores *mat.Dense
	// Probabilities of the classes, m×Output.Columns, rows of sum 1: see
	// [WithCalibration]. Nil unless they are asked for.
	Probabilities *mat.Dense
	// Voters lists the training points that voted for the classes of a [Trained] model, the
	// same number for each point; nil if the scores are the model's own.
	Voters []int32
	// Recall is the recall of the approximate search for neighbours, as it was estimated
	// when the index was made. It is nil if the search is exact or there is no estimate.
	Recall *knn.Recall
}

// Len returns the number of points.
func (p *Prediction) Len() int {
	if p.Classes != nil {
		return len(p.Classes)
	}
	n, _ := p.Scores.Dims()
	return n
}

// Usable tells whether err comes with a usable result, such as the last iterate of an
// iteration that did not converge. A nil err is usable.
func Usable(err error) bool {
	return err == nil || errors.Is(err, lanczos.ErrNotConverged) || errors.Is(err, cg.ErrNotConverged) ||
		errors.Is(err, solvers.ErrNotConverged) || errors.Is(err, knn.ErrRecall)
}

// Summary describes a model and its fit.
type Summary struct {
	Labeled int // number of labeled points; 0 if none took part
	// Values are the parameters in use, including the values that the fit chose.
	Values Values
	Facts  []Fact // results of the fit, in the order of importance
	Text   string // one line
	// Expected says how many answers for new points are likely to be wrong, with the unit, as
	// "estimated error 4.6 ± 1.4 %"; empty if the fit made no estimate.
	Expected string
	// Unreached is the number of training points in components without a label, and
	// Fallback the class that they got, or nil for the mean value.
	Unreached int
	Fallback  *int64
	// Warnings name likely faults of the answers and say what to do. They name parameters
	// by [param.Name].
	Warnings []string
}

// Fact is a named result of a fit. Its value marshals to JSON.
type Fact struct {
	Key   string
	Value any
}

// Manifest is the description that a file carries.
type Manifest struct {
	// Learner is the name of the learner that made the model.
	Learner string `json:"model"`
	Output  Output `json:"output"`
	Dim     int    `json:"dim"` // columns of the points that it takes; 0 for none
	// Columns are the names of these columns, nil if they have none.
	Columns []string `json:"columns,omitempty"`
	// IDColumn is the column of tables that holds the ids, [data.IDs]; empty for none.
	IDColumn string `json:"id_column,omitempty"`
	// Params are the parameters in use, as text in Values.
	Params Values `json:"params"`
	// Fit holds the other results that the learner keeps.
	Fit json.RawMessage `json:"fit"`
	// Arrays are the type and shape of every other array of the file, as in
	// "float64 (100, 3)".
	Arrays map[string]string `json:"arrays"`
	// Soft and Weighted tell that the file has the arrays given_shares and given_weights.
	Soft     bool `json:"soft,omitempty"`
	Weighted bool `json:"weighted,omitempty"`
	// Calibration of the model, nil if it has none; arrays hold a part of it.
	Calibration *calibration.Calibration `json:"calibration,omitempty"`
	// Consensus of the annotators of the labels, nil if there is none; arrays hold a part of it.
	Consensus *consensusFile `json:"consensus,omitempty"`
	// Hashes are the SHA-256 of the inputs that the model was made from.
	Hashes map[string]string `json:"-"`
}

// Encoded is the content of a model file.
type Encoded struct {
	Values Values
	Fit    any // marshals to JSON
	Arrays []archive.Array
}

// ErrNotFinite is the error of a model with a number that is not finite. Such a model is not
// written.
var ErrNotFinite = errors.New("the points or values are too large or too small for its settings; " +
	"scale them")

// marshal is json.Marshal without the escapes of HTML.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if infinite := (*json.UnsupportedValueError)(nil); errors.As(err, &infinite) {
		return nil, fmt.Errorf("models: a number of the fit is %s: %w", infinite.Str, ErrNotFinite)
	}
	if err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// Fact returns the value of a fact, nil if there is none.
func (s Summary) Fact(key string) any {
	for _, f := range s.Facts {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}
